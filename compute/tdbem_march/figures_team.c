/* What a run tells of its GPUs. */
#include <stdio.h>

#include "compute/tdbem_march/march.h"
#include "compute/tdbem_march/team.h"

static void report_times(ps_report *report, const char *prefix, const ps_device_stream_times *t)
{
    char name[64];
    const struct {
        const char *what;
        double value;
        const char *unit;
    } rows[] = {{"sweeps", (double)t->sweeps, NULL},
                   {"elapsed", t->elapsed_seconds, "s"},
                   {"compute", t->compute_seconds, "s"},
                   {"copy", t->copy_seconds, "s"},
                   {"read", t->read_seconds, "s"},
                   {"unpack", t->unpack_seconds, "s"},
                   {"wait", t->wait_seconds, "s"},
                   {"copied", (double)t->bytes_copied / 1e9, "GB"},
                   {"stored_read", (double)t->raw_bytes_read / 1e9, "GB"},
                   {"fraction_of_ceiling", t->fraction, NULL}};
    for (size_t f = 0; f < sizeof rows / sizeof *rows; ++f) {
        snprintf(name, sizeof name, "%s_%s", prefix, rows[f].what);
        ps_report_real(report, name, rows[f].value, rows[f].unit);
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
    ps_report_int(report, "device_memory_budget", at->device_memory, "bytes");
    if (!at->sums.tiles) return;
    ps_device_stream_get_stats(at->sums.tiles, &stats);
    ps_report_int(report, "tiles_on_device", stats.bytes[PS_TIER_DEVICE], "bytes");
    ps_report_int(report, "tiles_in_host_memory", stats.bytes[PS_TIER_HOST], "bytes");
    ps_report_int(report, "tiles_on_disk", stats.bytes[PS_TIER_DISK], "bytes");
    report_times(report, "loading", &stats.loading);
    report_times(report, "streaming", &stats.streaming);
    if (!at->far.tiles) return;
    ps_device_stream_get_stats(at->far.tiles, &stats);
    ps_report_int(report, "far_tiles_on_device", stats.bytes[PS_TIER_DEVICE], "bytes");
    ps_report_int(report, "far_tiles_in_host_memory", stats.bytes[PS_TIER_HOST], "bytes");
    ps_report_int(report, "far_tiles_on_disk", stats.bytes[PS_TIER_DISK], "bytes");
    report_times(report, "far", &stats.streaming);
}

void team_report(const team *t, ps_report *report)
{
    for (int d = 0; d < t->devices; ++d) report_device(report, &t->at[d], d);
    if (!t->with_cpu) return;
    ps_report_section(report, "cpu_worker");
    ps_report_int(report, "tiles", t->cpu_tiles.count, NULL);
    ps_report_int(report, "sweeps", t->cpu.sweeps, NULL);
    ps_report_real(report, "seconds", t->cpu.seconds, "s");
}
