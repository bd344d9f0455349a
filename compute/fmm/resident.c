/* All on one CUDA device at once (kernels/fmm/device_evaluate.h), by the octree's tree. */
#include <stdlib.h>
#include <string.h>

#include "compute/fmm/traffic.h"
#include "kernels/fmm/device_evaluate.h"
#include "runtime/comm.h"
#include "runtime/log.h"
#include "runtime/memory.h"

struct fmm_resident {
    ps_device *device;
    ps_stream *streams[2];
    ps_event *forked, *met, *marks[PS_FMM_RESIDENT_MARKS];
    fmm_traffic traffic;
    ps_fmm_resident run;
    ps_fmm_device_table tables[PS_OCTREE_LEVELS_MAX];
    void *table_blocks[PS_OCTREE_LEVELS_MAX];
    void *blocks[2];
    int64_t bytes;
    double seconds[PS_FMM_RESIDENT_STAGES], evaluation, reading, returning;
};

/* ---- whether ---- */

static bool for_tasks(const fmm_options *o) { return o->journal || o->trace || o->mapping; }

static ps_status wanted(const fmm_run *r, bool *out)
{
    const char *device = r->run->device;
    bool cuda = strncmp(device, "cuda", 4) == 0, must = r->options->resident == FMM_RESIDENT_YES;
    bool can = !for_tasks(r->options) && ps_comm_size() == 1;
    *out = r->options->resident != FMM_RESIDENT_NO && can && strcmp(device, "cpu") != 0 &&
           (cuda || must || ps_device_count() > 0);
    if (must && !can)
        return ps_fail(PS_USAGE, "--resident yes is for one rank, without a journal, --trace "
                                 "and --mapping, which are of tasks");
    if (must && !*out)
        return ps_fail(PS_USAGE, "--resident yes needs a CUDA device, and --device is %s", device);
    return PS_OK;
}

ps_status fmm_resident_open(fmm_run *r)
{
    bool want;
    PS_TRY(wanted(r, &want));
    if (!want) {
        ps_device_expect_tasks();
        return PS_OK;
    }
    PS_TRY(PS_ALLOC(&r->resident, 1, "the evaluation on a device"));
    fmm_resident *d = r->resident;
    PS_TRY(ps_device_open(strcmp(r->run->device, "auto") ? r->run->device : "cuda", 0, &d->device));
    PS_TRY(ps_stream_open_ahead(d->device, &d->streams[0]));
    PS_TRY(ps_stream_open(d->device, &d->streams[1]));
    PS_TRY(ps_event_open(d->device, &d->forked));
    PS_TRY(ps_event_open(d->device, &d->met));
    for (int i = 0; i < PS_FMM_RESIDENT_MARKS; ++i) PS_TRY(ps_event_open(d->device, &d->marks[i]));
    return fmm_traffic_open(d->device, d->streams[0], &d->traffic);
}

void fmm_resident_close(fmm_run *r)
{
    fmm_resident *d = r->resident;
    if (!d) return;
    if (d->device) {
        fmm_traffic_close(&d->traffic);
        for (int i = 0; i < 2; ++i) ps_device_free(d->device, d->blocks[i]);
        for (int l = 0; l < PS_OCTREE_LEVELS_MAX; ++l)
            ps_device_free(d->device, d->table_blocks[l]);
        for (int i = 0; i < PS_FMM_RESIDENT_MARKS; ++i) ps_event_close(&d->marks[i]);
        ps_event_close(&d->forked);
        ps_event_close(&d->met);
        for (int i = 0; i < 2; ++i) ps_stream_close(&d->streams[i]);
        ps_device_close(&d->device);
    }
    free(d);
    r->resident = NULL;
}

/* ---- the plan ---- */

static ps_status copy_operators(const fmm_run *r)
{
    fmm_resident *d = r->resident;
    const fmm_problem *p = &r->problem;
    for (int l = 2; l <= p->leaf; ++l) {
        int own = (int)(p->fmm.tables[l] - p->tables);
        d->run.tables[l] = &d->tables[own];
        if (own != l) continue;
        PS_TRY(
            fmm_operators_upload(&p->tables[l], d->streams[0], &d->table_blocks[l], &d->tables[l]));
        d->bytes += ps_fmm_device_table_bytes(&p->tables[l]);
    }
    return PS_OK;
}

static void configure(const fmm_run *r)
{
    fmm_resident *d = r->resident;
    const fmm_problem *p = &r->problem;
    d->run.method = (ps_fmm_device_method){.sides = p->fmm.sides,
                                           .far = p->fmm.far,
                                           .near = p->fmm.near,
                                           .function = p->fmm.function,
                                           .interpolation = p->fmm.interpolation};
    d->run.height = p->header->height;
    d->run.box = p->header->box;
    d->run.count[PS_FMM_SOURCES] = p->header->count[0];
    d->run.count[PS_FMM_TARGETS] = p->same ? 0 : p->header->count[1];
    d->run.gradient = true;
    d->run.near_blocks = ps_fmm_resident_near_blocks(p->fmm.interpolation.order);
    d->run.lanes =
        (ps_fmm_resident_lanes){d->streams[0], d->streams[1], d->forked, d->met, d->marks};
}

/* PS_USAGE: numbers that the kernels do not take; PS_EXHAUSTED: too much for the memory. */
static ps_status make_plan(const fmm_run *r)
{
    fmm_resident *d = r->resident;
    const fmm_problem *p = &r->problem;
    const int64_t *cells[2] = {p->fmm.sources->cells, p->fmm.targets->cells};
    int64_t first, free_bytes = ps_device_describe(d->device).memory_free;
    if (r->run->device_memory > 0 && r->run->device_memory < free_bytes)
        free_bytes = r->run->device_memory;
    configure(r);
    PS_TRY(copy_operators(r));
    PS_TRY(ps_fmm_resident_init(&d->run, &first));
    PS_TRY(ps_fmm_resident_expect(&d->run, cells));
    d->bytes += fmm_traffic_device_bytes(p) + first + d->run.plan.second;
    if (d->bytes <= free_bytes) return PS_OK;
    return ps_fail(PS_EXHAUSTED,
                   "all on one device takes %.2f GB of device memory, and %.2f GB are free or "
                   "allowed; --resident no does with less, by tasks on cores and GPUs",
                   1e-9 * (double)d->bytes, 1e-9 * (double)free_bytes);
}

ps_status fmm_resident_plan(fmm_run *r)
{
    ps_status status = make_plan(r);
    bool too_much = status == PS_EXHAUSTED || status == PS_USAGE;
    if (!too_much || r->options->resident == FMM_RESIDENT_YES) return status;
    ps_info("computing by tasks: %s", ps_message());
    fmm_resident_close(r);
    return PS_OK;
}

/* ---- the run ---- */

static ps_status evaluate(fmm_run *r)
{
    fmm_resident *d = r->resident;
    const ps_fmm_particles *sets = d->traffic.sets, *results = &sets[r->problem.same ? 0 : 1];
    PS_TRY(ps_fmm_resident_sort(&d->run, &sets[0], &sets[1], d->blocks[0]));
    PS_TRY(ps_fmm_resident_run(&d->run, results, d->blocks[1]));
    PS_TRY(ps_stream_wait(d->streams[0]));
    PS_TRY(ps_fmm_resident_seconds(&d->run, d->seconds));
    return ps_event_seconds(d->marks[0], d->marks[PS_FMM_RESIDENT_SCATTER + 1], &d->evaluation);
}

ps_status fmm_resident_prepare(fmm_run *r)
{
    r->groups = ps_octree_groups(r->problem.fmm.targets, r->problem.leaf);
    r->work.problem = &r->problem;
    return fmm_share_memory(r, fmm_traffic_staging(r), r->resident->bytes);
}

ps_status fmm_resident_run(fmm_run *r)
{
    fmm_resident *d = r->resident;
    double start = ps_clock();
    PS_TRY(fmm_traffic_send(r, &d->traffic));
    PS_TRY(ps_device_alloc(d->device, d->run.plan.first, &d->blocks[0]));
    PS_TRY(ps_device_alloc(d->device, d->run.plan.second, &d->blocks[1]));
    PS_TRY(fmm_traffic_check(r, &d->traffic, d->blocks[1], d->run.plan.second));
    d->reading = ps_clock() - start;
    PS_TRY(evaluate(r));
    double done = ps_clock();
    ps_status status = fmm_traffic_take(r, &d->traffic);
    d->returning = ps_clock() - done;
    r->seconds = ps_clock() - start;
    return status;
}

void fmm_resident_report(const fmm_run *r, ps_report *report)
{
    const fmm_resident *d = r->resident;
    const ps_fmm_resident_plan *plan = &d->run.plan;
    ps_report_section(report, "device");
    ps_report_text(report, "device", ps_device_describe(d->device).name);
    ps_report_int(report, "device_memory", d->bytes);
    ps_report_int(report, "of_columns", fmm_traffic_device_bytes(&r->problem));
    ps_report_int(report, "of_sorting", plan->sorting);
    ps_report_int(report, "of_sorted_particles", plan->particles);
    ps_report_int(report, "of_tree", plan->tree);
    ps_report_int(report, "of_lists", plan->lists);
    ps_report_int(report, "of_vectors", plan->vectors);
    ps_report_int(report, "of_near_field", plan->workspace);
    if (r->seconds <= 0) return; /* a plan */
    ps_report_real(report, "reading", d->reading);
    ps_report_real(report, "sort_to_results", d->evaluation);
    ps_report_real(report, "returning", d->returning);
    ps_report_section(report, "device_stages");
    for (int s = 0; s < PS_FMM_RESIDENT_STAGES; ++s)
        ps_report_real(report, ps_fmm_resident_stage_names[s], d->seconds[s]);
}
