#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/history.h"
#include "formats/surface_mesh.h"
#include "formats/trace.h"
#include "kernels/common/mesh_measure.h"
#include "postprocess/compare/compare.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* A trace, held whole, or a history, read in blocks of steps. A sample has `parts` x
 * `channels` values: real parts, then imaginary parts. */
typedef struct signal {
    const char *path;
    int64_t samples, channels, parts;
    ps_trace trace;
    ps_history *history;
    double first_time, step; /* of a history                               */
    double *block, *sample;  /* rows [block_first, + block_rows); one sample */
    int64_t block_first, block_rows, block_capacity;
} signal;

enum { BLOCK_BYTES = 16 << 20 };

static void signal_release(signal *s)
{
    ps_trace_release(&s->trace);
    ps_history_close(&s->history);
    PS_FREE(s->block, s->sample);
}

static ps_status open_history(signal *s)
{
    PS_TRY(ps_history_open(s->path, &s->history));
    const ps_history_header *header = ps_history_header_of(s->history);
    s->samples = header->steps;
    s->channels = header->slices.unknowns;
    s->parts = 1;
    s->step = header->slices.dt;
    s->first_time = header->slices.formulation == PS_SOUND_HARD ? s->step : 0.5 * s->step;
    int64_t rows = BLOCK_BYTES / 8 / s->channels;
    s->block_capacity = rows < 1 ? 1 : rows;
    return PS_ALLOC(&s->block, s->block_capacity * s->channels, "a block of steps");
}

static ps_status open_trace(signal *s)
{
    PS_TRY(ps_trace_load(s->path, &s->trace));
    s->samples = s->trace.samples;
    s->channels = s->trace.channels;
    s->parts = s->trace.complex_values ? 2 : 1;
    return PS_OK;
}

static ps_status signal_open(signal *s, const char *path)
{
    *s = (signal){.path = path};
    ps_store *store = NULL;
    PS_TRY(ps_store_open(path, NULL, 1 << 20, &store));
    bool history = strcmp(ps_store_format(store), PS_HISTORY_FORMAT) == 0;
    bool trace = strcmp(ps_store_format(store), PS_TRACE_FORMAT) == 0;
    ps_store_close(&store);
    if (!history && !trace)
        return ps_fail(PS_INVALID, "%s: space-time norms are of histories and traces", path);
    PS_TRY(history ? open_history(s) : open_trace(s));
    return PS_ALLOC(&s->sample, s->parts * s->channels, "a sample");
}

static double signal_time(const signal *s, int64_t i)
{
    return s->history ? s->first_time + (double)i * s->step : s->trace.axis[i];
}

static ps_status load_block(signal *s, int64_t i)
{
    s->block_rows = 0;
    int64_t rows = s->samples - i < s->block_capacity ? s->samples - i : s->block_capacity;
    PS_TRY(ps_history_read(s->history, i + 1, rows, s->block));
    s->block_first = i;
    s->block_rows = rows;
    return PS_OK;
}

/* Copies sample i to out[parts][channels]. */
static ps_status signal_read(signal *s, int64_t i, double *out)
{
    size_t bytes = (size_t)s->channels * sizeof *out;
    if (!s->history) {
        memcpy(out, s->trace.real + i * s->channels, bytes);
        if (s->parts == 2) memcpy(out + s->channels, s->trace.imaginary + i * s->channels, bytes);
        return PS_OK;
    }
    if (i < s->block_first || i >= s->block_first + s->block_rows) PS_TRY(load_block(s, i));
    memcpy(out, s->block + (i - s->block_first) * s->channels, bytes);
    return PS_OK;
}

/* Sample of b at time t: interpolated between two of its samples if `resample`, else the one
 * that stands there. *found is false outside of b's axis. */
typedef struct reference_sampler {
    signal *source;
    double *upper; /* second sample for interpolation */
    int64_t at;    /* advances with t                 */
    double slack;  /* times this close are the same   */
    bool resample;
} reference_sampler;

static ps_status sample_at(reference_sampler *sampler, double t, double *out, bool *found)
{
    signal *s = sampler->source;
    while (sampler->at + 1 < s->samples && signal_time(s, sampler->at + 1) <= t + sampler->slack)
        ++sampler->at;
    int64_t i = sampler->at;
    double below = signal_time(s, i);
    bool exact = fabs(below - t) <= sampler->slack;
    bool inside = t > below && i + 1 < s->samples;
    *found = exact || (sampler->resample && inside);
    if (!*found) return PS_OK;
    PS_TRY(signal_read(s, i, out));
    if (exact) return PS_OK;
    double part = (t - below) / (signal_time(s, i + 1) - below);
    PS_TRY(signal_read(s, i + 1, sampler->upper));
    for (int64_t c = 0; c < s->parts * s->channels; ++c)
        out[c] += part * (sampler->upper[c] - out[c]);
    return PS_OK;
}

/* ---- weights ---- */

static ps_status area_weights(const char *path, int64_t channels, double *weights)
{
    PS_SCOPED(ps_surface_mesh_release) ps_surface_mesh mesh = {0};
    PS_TRY(ps_surface_mesh_load(path, &mesh));
    bool cells = channels == mesh.triangle_count, nodes = channels == mesh.vertex_count;
    for (int64_t c = 0; nodes && !cells && c < channels; ++c) weights[c] = 0;
    for (int64_t t = 0; (cells || nodes) && t < mesh.triangle_count; ++t) {
        const int32_t *v = mesh.triangles + 3 * t;
        double area = ps_triangle_area(mesh.vertices + 3 * v[0], mesh.vertices + 3 * v[1],
                                       mesh.vertices + 3 * v[2]);
        if (cells) weights[t] = area;
        for (int k = 0; !cells && k < 3; ++k) weights[v[k]] += area / 3;
    }
    if (!cells && !nodes)
        return ps_fail(PS_INVALID,
                       "--weights: %s has %lld triangles and %lld vertices, the signals have "
                       "%lld channels",
                       path, (long long)mesh.triangle_count, (long long)mesh.vertex_count,
                       (long long)channels);
    return PS_OK;
}

/* ---- comparison ---- */

typedef struct space_time {
    signal signals[2];
    reference_sampler sampler;
    double *weights;
    difference total, *channels; /* [channels] */
    int64_t used, skipped;       /* samples of the first signal */
} space_time;

static void take_sample(space_time *st, const double *a, const double *b, int64_t index)
{
    const signal *s = &st->signals[0];
    for (int64_t i = 0; i < s->parts * s->channels; ++i) {
        int64_t c = i % s->channels;
        bool differs = memcmp(&a[i], &b[i], sizeof a[i]) != 0;
        if (differs && st->total.differing++ == 0) st->total.first = index * s->channels + c;
        difference_add(&st->total, a[i], b[i], st->weights[c]);
        difference_add(&st->channels[c], a[i], b[i], 1);
    }
    for (int64_t c = 0; c < s->channels; ++c) {
        bool complex_values = s->parts == 2;
        difference_add_magnitudes(&st->total,
                                  complex_values ? hypot(a[c], a[s->channels + c]) : fabs(a[c]),
                                  complex_values ? hypot(b[c], b[s->channels + c]) : fabs(b[c]));
    }
    st->total.values += s->parts * s->channels;
}

static ps_status take_all(space_time *st, const compare_settings *settings)
{
    signal *a = &st->signals[0], *b = &st->signals[1];
    for (int64_t i = 0; i < a->samples; ++i) {
        double t = signal_time(a, i);
        bool found;
        if (t < settings->from || t > settings->to) continue;
        PS_TRY(sample_at(&st->sampler, t, b->sample, &found));
        if (!found) {
            ++st->skipped;
            continue;
        }
        PS_TRY(signal_read(a, i, a->sample));
        take_sample(st, a->sample, b->sample, i);
        ++st->used;
    }
    return PS_OK;
}

/* Without resampling every sample in the window must have its partner. */
static ps_status check_axes(const space_time *st, const compare_settings *settings)
{
    const signal *a = &st->signals[0], *b = &st->signals[1];
    if (st->used && (settings->resample || !st->skipped)) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%lld samples of %s find no partner in %s: the first runs over %.9g .. %.9g, "
                   "the reference over %.9g .. %.9g; %s",
                   (long long)(st->skipped), a->path, b->path, signal_time(a, 0),
                   signal_time(a, a->samples - 1), signal_time(b, 0),
                   signal_time(b, b->samples - 1),
                   settings->resample ? "widen the reference or --from, --to"
                                      : "--resample interpolates, --from and --to cut");
}

static ps_status prepare(space_time *st, const compare_settings *settings)
{
    signal *a = &st->signals[0], *b = &st->signals[1];
    if (a->channels != b->channels || a->parts != b->parts)
        return ps_fail(PS_INVALID, "%s has %lld %s channels, %s has %lld %s", a->path,
                       (long long)a->channels, a->parts == 2 ? "complex" : "real", b->path,
                       (long long)b->channels, b->parts == 2 ? "complex" : "real");
    PS_TRY(PS_ALLOC(&st->weights, a->channels, "weights"));
    PS_TRY(PS_ALLOC(&st->channels, a->channels, "channel errors"));
    PS_TRY(PS_ALLOC(&st->sampler.upper, b->parts * b->channels, "a sample"));
    for (int64_t c = 0; c < a->channels; ++c) {
        st->weights[c] = 1;
        difference_clear(&st->channels[c]);
    }
    difference_clear(&st->total);
    double range = signal_time(a, a->samples - 1) - signal_time(a, 0);
    st->sampler.source = b;
    st->sampler.resample = settings->resample;
    st->sampler.slack =
        a->samples > 1 ? 1e-6 * range / (double)(a->samples - 1) : 1e-9 * fabs(signal_time(a, 0));
    return settings->weights ? area_weights(settings->weights, a->channels, st->weights) : PS_OK;
}

static ps_status report_channels(const space_time *st, const compare_settings *settings,
                                 ps_report *report)
{
    int64_t channels = st->signals[0].channels, worst = 0, best = 0;
    PS_SCOPED_MEMORY double *errors = NULL;
    PS_TRY(PS_ALLOC(&errors, channels, "channel errors"));
    for (int64_t c = 0; c < channels; ++c) {
        errors[c] = difference_relative_l2(&st->channels[c]);
        if (errors[c] > errors[worst]) worst = c;
        if (errors[c] < errors[best]) best = c;
    }
    ps_report_real(report, "channel_smallest", errors[best]);
    ps_report_real(report, "channel_largest", errors[worst]);
    ps_report_int(report, "channel_worst", worst);
    if (settings->per_channel) ps_report_reals(report, "channel_errors", errors, channels);
    return PS_OK;
}

static ps_status judge(space_time *st, const compare_settings *settings, ps_report *report,
                       compare_result *result)
{
    PS_TRY(check_axes(st, settings));
    ps_report_section(report, "space_time");
    ps_report_int(report, "samples", st->used);
    ps_report_int(report, "samples_skipped", st->skipped);
    difference_report(report, &st->total);
    PS_TRY(report_channels(st, settings, report));
    if (difference_passes(&st->total, settings)) return PS_OK;
    char text[256];
    snprintf(text, sizeof text, "relative L2 in space and time %.4g, largest difference %.3g",
             difference_relative_l2(&st->total), st->total.largest);
    compare_note(result, text);
    return PS_OK;
}

static void release(space_time *st)
{
    for (int s = 0; s < 2; ++s) signal_release(&st->signals[s]);
    PS_FREE(st->weights, st->channels, st->sampler.upper);
}

ps_status compare_signals(const char *path, const char *reference, const compare_settings *settings,
                          ps_report *report, compare_result *result)
{
    PS_SCOPED(release) space_time st = {.used = 0};
    PS_TRY(signal_open(&st.signals[0], path));
    PS_TRY(signal_open(&st.signals[1], reference));
    PS_TRY(prepare(&st, settings));
    PS_TRY(take_all(&st, settings));
    return judge(&st, settings, report, result);
}
