/* What a run tells of its GPUs, before and after. */
#include <stdio.h>

#include "compute/tdbem_march/march.h"
#include "compute/tdbem_march/team.h"

static void report_times(ps_report *report, const char *prefix, const ps_device_stream_times *t)
{
    char name[64];
    const struct {
        const char *what;
        double value;
    } rows[] = {{"sweeps", (double)t->sweeps},
                {"elapsed", t->elapsed_seconds},
                {"compute", t->compute_seconds},
                {"copy", t->copy_seconds},
                {"read", t->read_seconds},
                {"unpack", t->unpack_seconds},
                {"wait", t->wait_seconds},
                {"copied", (double)t->bytes_copied},
                {"stored_read", (double)t->raw_bytes_read},
                {"fraction_of_ceiling", t->fraction}};
    for (size_t f = 0; f < sizeof rows / sizeof *rows; ++f) {
        snprintf(name, sizeof name, "%s_%s", prefix, rows[f].what);
        ps_report_real(report, name, rows[f].value);
    }
}

static void report_device(ps_report *report, const team_device *at, int d)
{
    char section[32];
    ps_device_info info = ps_device_describe(at->device);
    ps_device_stream_stats stats;
    snprintf(section, sizeof section, "gpu_%d", d);
    ps_report_section(report, section);
    ps_report_text(report, "device", info.name);
    ps_report_int(report, "device_memory_budget", at->device_memory);
    const held_tiles *own = at->sums.config.share ? at->sums.config.share->held : NULL;
    if (own) ps_report_int(report, "tiles_on_device", held_bytes(own));
    if (!at->sums.tiles) return;
    ps_device_stream_get_stats(at->sums.tiles, &stats);
    ps_report_int(report, "tiles_on_device", stats.bytes[PS_TIER_DEVICE]);
    ps_report_int(report, "tiles_in_host_memory", stats.bytes[PS_TIER_HOST]);
    ps_report_int(report, "tiles_on_disk", stats.bytes[PS_TIER_DISK]);
    report_times(report, "loading", &stats.loading);
    report_times(report, "streaming", &stats.streaming);
    if (!at->far.tiles) return;
    ps_device_stream_get_stats(at->far.tiles, &stats);
    ps_report_int(report, "far_tiles_on_device", stats.bytes[PS_TIER_DEVICE]);
    ps_report_int(report, "far_tiles_in_host_memory", stats.bytes[PS_TIER_HOST]);
    ps_report_int(report, "far_tiles_on_disk", stats.bytes[PS_TIER_DISK]);
    report_times(report, "far", &stats.streaming);
}

void team_report(const team *t, ps_report *report)
{
    for (int d = 0; d < t->devices; ++d) report_device(report, &t->at[d], d);
    if (!t->with_cpu) return;
    ps_report_section(report, "cpu_worker");
    ps_report_int(report, "tiles", t->cpu_tiles.count);
    ps_report_int(report, "sweeps", t->cpu.sweeps);
    ps_report_real(report, "seconds", t->cpu.seconds);
}

/* ---- the plan ---- */

/* Rates of today's cards, links and disks, bytes a second: a guess to tell minutes from days. */
static const double device_rate = 3e12, link_rate = 5e10, disk_rate = 2e9;

/* The first device's part of the near tiles; the others' are alike. */
static ps_status plan_tiles(const tiles *t, int devices, int64_t host, int64_t device,
                            ps_device_plan *out)
{
    ps_device_plan_request request = {.chunk_count = t->count,
                                      .raw_bytes = t->raw_bytes,
                                      .unpacked_bytes = t->unpacked_bytes,
                                      .count = (t->count + devices - 1) / devices,
                                      .host_memory = host / devices,
                                      .device_memory = device,
                                      .batch_bytes = device_summation_batch(device, host / devices),
                                      .slots = 3,
                                      .host_slots = 3,
                                      .raws = 3};
    return ps_device_plan_make(&request, out);
}

static void print_tiers(ps_report *report, const int64_t *bytes, int64_t sweeps)
{
    double all = (double)(bytes[PS_TIER_DEVICE] + bytes[PS_TIER_HOST] + bytes[PS_TIER_DISK]);
    double streamed = (double)(bytes[PS_TIER_HOST] + bytes[PS_TIER_DISK]);
    double sweep = all / device_rate;
    if (sweep < streamed / link_rate) sweep = streamed / link_rate;
    if (sweep < (double)bytes[PS_TIER_DISK] / disk_rate)
        sweep = (double)bytes[PS_TIER_DISK] / disk_rate;
    ps_report_int(report, "tiles_on_device", bytes[PS_TIER_DEVICE]);
    ps_report_int(report, "tiles_in_host_memory", bytes[PS_TIER_HOST]);
    ps_report_int(report, "tiles_on_disk", bytes[PS_TIER_DISK]);
    ps_report_real(report, "summation_estimate", (double)sweeps * sweep);
}

/* The first device's parts of matrix and linings, which share its memory by their sizes. */
static ps_status plan_all_tiles(problem *p, int devices, int64_t host, int64_t device,
                                int64_t *bytes)
{
    int64_t all = tiles_unpacked(problem_swept(p));
    for (int q = 0; q < p->linings.count; ++q) all += tiles_unpacked(&p->linings.each[q].tiles);
    for (int q = -1; q < p->linings.count; ++q) {
        const tiles *t = q < 0 ? problem_swept(p) : &p->linings.each[q].tiles;
        double share = all > 0 ? (double)tiles_unpacked(t) / (double)all : 1;
        ps_device_plan plan;
        PS_TRY(plan_tiles(t, devices, (int64_t)(share * (double)host),
                          (int64_t)(share * (double)device), &plan));
        for (int tier = 0; tier < PS_TIERS; ++tier) bytes[tier] += plan.tier_bytes[tier];
        ps_device_plan_release(&plan);
    }
    return PS_OK;
}

/* Those that the device holds from the start on. */
static void print_held(ps_report *report, const tiles *t, int64_t sweeps)
{
    int64_t bytes[PS_TIERS] = {0};
    for (int64_t k = 0; k < t->count; ++k) bytes[PS_TIER_DEVICE] += t->unpacked_bytes[k];
    print_tiers(report, bytes, sweeps);
}

ps_status team_plan(const ps_run *run, const march_options *options, problem *p,
                    const march_plan *m, ps_report *report)
{
    int ordinals[TEAM_DEVICES], devices;
    ps_device *device;
    int64_t bytes[PS_TIERS] = {0};
    PS_TRY(team_devices(run, p, ordinals, &devices));
    if (devices == 0 || options->solver == SOLVER_CHOLESKY) return PS_OK;
    PS_TRY(ps_device_open_ordinal(ordinals[0], &device));
    ps_device_info info = ps_device_describe(device);
    ps_device_close(&device);
    int64_t memory = run->device_memory > 0 ? run->device_memory : team_free_memory(&info);
    int64_t fixed =
        ps_ledger_now(&m->ledger, "past") + 2 * ps_ledger_now(&m->ledger, "sums") +
        ps_ledger_most(&m->ledger, "near_matrices") + ps_ledger_now(&m->ledger, "solver") +
        (1 + p->linings.count) * device_summation_fixed(&p->tiles.header, options->group) +
        ps_ledger_most(&m->ledger, "lining_near") + ps_ledger_now(&m->ledger, "linings");
    ps_report_section(report, "gpus");
    ps_report_int(report, "count", devices);
    ps_report_text(report, "first", info.name);
    ps_report_int(report, "memory_budget", memory);
    ps_report_int(report, "beside_tiles_estimate", fixed);
    int64_t sweeps = (p->steps + options->group - 1) / options->group;
    if (p->assembling && p->assembling->holds) {
        print_held(report, problem_swept(p), sweeps);
        return PS_OK;
    }
    PS_TRY(plan_all_tiles(p, devices, m->budget - m->fixed, memory - fixed, bytes));
    print_tiers(report, bytes, sweeps);
    return PS_OK;
}
