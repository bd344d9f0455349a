#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "kernels/tdbem/lag_sum.h"
#include "kernels/tdbem/radiated.h"
#include "postprocess/probe/probe.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/progress.h"
#include "runtime/scope.h"

enum { READ_ROWS = 32, TASK_SAMPLES = 512, LEAST_BLOCK = 32 };

/* Densities by unknown: series[unknowns][width], column i is step `begin` + i; zeros where
 * there is no such step. */
typedef struct past {
    double *series, *rows; /* rows: [READ_ROWS][unknowns] as read */
    int64_t begin, width, capacity;
} past;

/* A group of receivers whose weights fit the memory. */
typedef struct group {
    int64_t first, count, bytes;
    ps_lag_rows *rows; /* [count]                         */
    int64_t lowest, highest;
    double *out; /* [count][block]                  */
    int64_t out_capacity;
} group;

typedef struct field_sum {
    const probe_source *source;
    const ps_receivers *receivers;
    const probe_range *range;
    ps_potential potential; /* of an image                        */
    double factor;          /* that it is multiplied by           */
    int64_t before;         /* samples of the images before it    */
    int64_t memory;
    ps_trace *trace;
    past past;
    group group;
    ps_progress progress;
} field_sum;

/* ---- the past ---- */

static void transpose(const past *p, int64_t unknowns, int64_t column, int64_t count)
{
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < unknowns; ++j)
        for (int64_t i = 0; i < count; ++i)
            p->series[j * p->width + column + i] = p->rows[i * unknowns + j];
}

/* Loads steps [begin, begin + width), unless they are there. */
static ps_status past_load(past *p, const probe_source *source, int64_t begin, int64_t width)
{
    int64_t n = source->unknowns;
    if (p->series && begin == p->begin && width == p->width) return PS_OK;
    if (n * width > p->capacity) {
        free(p->series);
        p->capacity = 0;
        PS_TRY(PS_ALLOC(&p->series, n * width, "past densities"));
        p->capacity = n * width;
    }
    if (!p->rows) PS_TRY(PS_ALLOC(&p->rows, READ_ROWS * n, "densities"));
    p->begin = begin;
    p->width = 0; /* nothing valid until all is read */
    past filled = *p;
    filled.width = width;
    memset(p->series, 0, (size_t)(n * width) * sizeof *p->series);
    int64_t end = begin + width - 1 < source->steps ? begin + width - 1 : source->steps;
    for (int64_t m = begin < 1 ? 1 : begin; m <= end; m += READ_ROWS) {
        int64_t count = end - m + 1 < READ_ROWS ? end - m + 1 : READ_ROWS;
        PS_TRY(ps_history_read(source->history, m, count, p->rows));
        transpose(&filled, n, m - begin, count);
    }
    p->width = width;
    return PS_OK;
}

/* ---- weights ---- */

static ps_receiver receiver_of(const field_sum *sum, int64_t r)
{
    ps_receiver out = {.far_field = sum->receivers->far_field};
    memcpy(out.place, sum->receivers->places + 3 * r, sizeof out.place);
    return out;
}

static void group_release(group *g)
{
    for (int64_t i = 0; g->rows && i < g->count; ++i)
        PS_FREE(g->rows[i].first, g->rows[i].offset, g->rows[i].values);
    PS_FREE(g->rows, g->out);
    memset(g, 0, sizeof *g);
}

static ps_status add_receiver(field_sum *sum, group *g)
{
    ps_lag_rows *rows = &g->rows[g->count];
    ps_receiver receiver = receiver_of(sum, g->first + g->count);
    int64_t n = sum->source->unknowns, lowest, highest;
    ++g->count; /* from here group_release frees it */
    PS_TRY(PS_ALLOC(&rows->first, n, "lags"));
    PS_TRY(PS_ALLOC(&rows->offset, n + 1, "lags"));
    ps_potential_extent(&sum->potential, &receiver, rows, &lowest, &highest);
    PS_TRY(PS_ALLOC(&rows->values, rows->offset[n], "weights"));
    if (lowest < g->lowest) g->lowest = lowest;
    if (highest > g->highest) g->highest = highest;
    g->bytes += 12 * n + 8 * rows->offset[n];
    return PS_OK;
}

/* Receivers from `first` on, as many as fit a third of the memory, at least one. */
static ps_status group_open(field_sum *sum, int64_t first)
{
    group *g = &sum->group;
    int64_t left = sum->receivers->count - first, largest = 0;
    *g = (group){.first = first, .lowest = INT32_MAX, .highest = INT32_MIN};
    PS_TRY(PS_ALLOC(&g->rows, left, "receivers"));
    while (g->count < left && (g->count == 0 || g->bytes + largest <= sum->memory / 3)) {
        int64_t before = g->bytes;
        PS_TRY(add_receiver(sum, g));
        if (g->bytes - before > largest) largest = g->bytes - before;
    }
    return PS_OK;
}

static ps_status fill_weights(const field_sum *sum)
{
    const group *g = &sum->group;
    int threads = omp_get_max_threads();
    int64_t each = (ps_potential_workspace(&sum->potential) + 7) / 8 * 8;
    PS_SCOPED_MEMORY double *workspace = NULL;
    PS_TRY(PS_ALLOC(&workspace, each * threads, "workspace"));
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t i = 0; i < g->count; ++i) {
        ps_receiver receiver = receiver_of(sum, g->first + i);
        ps_potential_weights(&sum->potential, &receiver, &g->rows[i],
                             workspace + each * omp_get_thread_num());
    }
    return PS_OK;
}

/* ---- sums ---- */

/* Output steps n0 + begin .. of one receiver of the group: a fixed order over unknowns. */
static void sum_task(const field_sum *sum, int64_t i, int64_t n0, int64_t begin, int64_t count,
                     double *out)
{
    const ps_lag_rows *rows = &sum->group.rows[i];
    const ps_lag_sum_functions *functions = ps_lag_sum_functions_here();
    memset(out, 0, (size_t)count * sizeof *out);
    for (int64_t j = 0; j < sum->source->unknowns; ++j) {
        const double *series = sum->past.series + j * sum->past.width;
        int64_t column = n0 + begin - rows->first[j] - sum->past.begin;
        functions->add(rows->offset[j + 1] - rows->offset[j], rows->values + rows->offset[j], count,
                       series + column, out);
    }
}

static void sum_block(const field_sum *sum, int64_t n0, int64_t count)
{
    const group *g = &sum->group;
    int64_t tasks = (count + TASK_SAMPLES - 1) / TASK_SAMPLES;
#pragma omp parallel for collapse(2) schedule(dynamic, 1)
    for (int64_t i = 0; i < g->count; ++i)
        for (int64_t t = 0; t < tasks; ++t) {
            int64_t begin = t * TASK_SAMPLES;
            int64_t samples = count - begin < TASK_SAMPLES ? count - begin : TASK_SAMPLES;
            sum_task(sum, i, n0, begin, samples, g->out + i * count + begin);
        }
    double *real = sum->trace->real + (n0 - sum->range->first) * sum->trace->channels + g->first;
    for (int64_t s = 0; s < count; ++s)
        for (int64_t i = 0; i < g->count; ++i)
            real[s * sum->trace->channels + i] += sum->factor * g->out[i * count + s];
}

/* Steps a block may have so that the past and the output of the group fit the rest. */
static ps_status block_size(const field_sum *sum, int64_t *out)
{
    int64_t span = sum->group.highest - sum->group.lowest, n = sum->source->unknowns;
    int64_t room = sum->memory - sum->group.bytes - 8 * READ_ROWS * n - 8 * n * span;
    int64_t fits = room / (8 * (n + sum->group.count));
    if (fits < LEAST_BLOCK && fits < sum->range->count)
        return ps_fail(PS_EXHAUSTED,
                       "--host-memory: %lld densities over %lld steps of delay need at least "
                       "%.0f MB beside the trace, there are %.0f MB",
                       (long long)n, (long long)span,
                       12e-6 * (double)(n * (span + LEAST_BLOCK + READ_ROWS)),
                       1e-6 * (double)sum->memory);
    *out = fits < sum->range->count ? fits : sum->range->count;
    return PS_OK;
}

static ps_status sum_group(field_sum *sum)
{
    group *g = &sum->group;
    int64_t block = 0, end = sum->range->first + sum->range->count;
    PS_TRY(block_size(sum, &block));
    PS_TRY(fill_weights(sum));
    PS_TRY(PS_ALLOC(&g->out, block * g->count, "fields"));
    for (int64_t n0 = sum->range->first; n0 < end; n0 += block) {
        int64_t count = end - n0 < block ? end - n0 : block;
        PS_TRY(past_load(&sum->past, sum->source, n0 - g->highest, count + g->highest - g->lowest));
        sum_block(sum, n0, count);
        int64_t done = n0 + count - sum->range->first;
        ps_progress_update(&sum->progress,
                           sum->before + g->first * sum->range->count + g->count * done);
    }
    return PS_OK;
}

/* ---- the incident field ---- */

static void add_incident(const field_sum *sum)
{
    ps_trace *trace = sum->trace;
#pragma omp parallel for schedule(static)
    for (int64_t s = 0; s < trace->samples; ++s)
        for (int64_t c = 0; c < trace->channels; ++c)
            trace->real[s * trace->channels + c] += ps_incident_field(
                &sum->source->incident, sum->receivers->places + 3 * c, trace->axis[s], NULL);
}

/* ---- what the surface radiates by itself ---- */

/* The lags at which the surface is heard at a receiver; false: after the last step. */
static bool radiated_lags(const probe_source *s, const ps_receiver *receiver, int64_t *first,
                          int64_t *lags)
{
    double least = INFINITY, most = -INFINITY, shell = s->dt * s->speed;
    for (int64_t t = 0; t < s->mesh.triangle_count; ++t) {
        const ps_triangle *triangle = &s->triangles[t];
        double r = receiver->far_field ? -ps_dot3(receiver->place, triangle->centroid)
                                       : ps_distance3(receiver->place, triangle->centroid);
        least = fmin(least, r - triangle->radius);
        most = fmax(most, r + triangle->radius);
    }
    if (least > (double)s->steps * shell) return false;
    *first = (int64_t)floor((receiver->far_field || least > 0 ? least : 0) / shell);
    *lags = (int64_t)floor(most / shell) - *first + 3;
    return true;
}

static ps_status add_radiated(const field_sum *sum)
{
    const probe_source *s = sum->source;
    const ps_radiated radiated = {&s->velocity, s->triangles, s->dt, s->speed, 0};
    ps_trace *trace = sum->trace;
    ps_failure failure = {0};
    if (s->velocity.modes == 0) return PS_OK;
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t c = 0; c < trace->channels; ++c) {
        int64_t first, lags;
        PS_SCOPED_MEMORY double *weights = NULL;
        ps_receiver receiver = receiver_of(sum, c);
        if (!radiated_lags(s, &receiver, &first, &lags)) continue;
        ps_status status = PS_ALLOC(&weights, ps_radiated_weights(&radiated, lags), "weights");
        ps_note_failure(&failure, status);
        if (status != PS_OK) continue;
        ps_radiated_field(&radiated, receiver.place, receiver.far_field, first, lags, weights);
        for (int64_t i = 0; i < trace->samples; ++i)
            trace->real[i * trace->channels + c] +=
                ps_radiated_sum(&s->velocity, s->dt, weights, first, lags, sum->range->first + i);
    }
    return ps_first_failure(&failure);
}

static ps_potential potential_of(const probe_source *s, int image)
{
    return (ps_potential){.hard = s->hard,
                          .unknowns = s->unknowns,
                          .triangle_count = s->mesh.triangle_count,
                          .triangles = s->triangles + image * s->mesh.triangle_count,
                          .vertices = s->vertices + 3 * image * s->mesh.vertex_count,
                          .corners = s->mesh.triangles,
                          .reach = s->reach,
                          .dt = s->dt,
                          .speed = s->speed,
                          .lags = s->steps};
}

/* What the densities send to all receivers through the potential that is set. */
static ps_status sum_receivers(field_sum *sum)
{
    for (int64_t first = 0; first < sum->receivers->count;) {
        ps_status status = group_open(sum, first);
        if (status == PS_OK) status = sum_group(sum);
        first += sum->group.count;
        group_release(&sum->group);
        PS_TRY(status);
    }
    return PS_OK;
}

/* Of the body, or of one of its images. */
static ps_status add_image(field_sum *sum, int image)
{
    const ps_reflectors *mirrors = &sum->source->header->slices.mirrors;
    sum->potential = potential_of(sum->source, image);
    sum->before = image * sum->receivers->count * sum->range->count;
    sum->factor = ps_reflectors_sign(mirrors, image);
    /* The records of images keep the order of corners, which turns normals with the hand. */
    if (sum->source->hard) sum->factor *= ps_reflectors_hand(mirrors, image);
    return sum_receivers(sum);
}

/* ---- what gives way ---- */

/* Takes beta * w from the samples of `range` in the trace: w has all samples that there can be
 * before them, too, as the recursion begins at rest. */
static ps_status subtract_filtered(const ps_admittance *beta, double dt, const ps_trace *w,
                                   ps_trace *trace)
{
    PS_SCOPED_MEMORY double *state = NULL;
    PS_SCOPED_MEMORY double *out = NULL;
    ps_admittance_filter filter;
    int64_t channels = trace->channels, before = w->samples - trace->samples;
    ps_admittance_filter_init(beta, dt, &filter);
    if (filter.states > 0) PS_TRY(PS_ALLOC(&state, filter.states * channels, "a lining"));
    PS_TRY(PS_ALLOC(&out, channels, "a lining"));
    for (int64_t s = 0; s < w->samples; ++s) {
        const double *row = w->real + s * channels;
        double *to = trace->real + (s - before) * channels;
        for (int64_t c = 0; c < channels; ++c) out[c] = filter.direct * row[c];
        ps_admittance_past(&filter, channels, state, out);
        ps_admittance_advance(&filter, channels, row, state);
        for (int64_t c = 0; s >= before && c < channels; ++c) to[c] -= out[c];
    }
    return PS_OK;
}

/* -S lambda of a lining: beta commutes with S, so it is applied to what the slopes send. */
static ps_status subtract_lining(field_sum *sum, const probe_lining *lining, const probe_range *all)
{
    PS_SCOPED(ps_trace_release) ps_trace w = {0};
    field_sum whole = *sum;
    PS_TRY(ps_trace_init(&w, all->count, sum->trace->channels, false));
    whole.range = all;
    whole.trace = &w;
    whole.memory -= 8 * w.samples * w.channels;
    const ps_reflectors *mirrors = &sum->source->header->slices.mirrors;
    ps_status status = PS_OK;
    for (int m = 0; m < ps_reflectors_images(mirrors) && status == PS_OK; ++m) {
        whole.factor = ps_reflectors_sign(mirrors, m);
        whole.potential = potential_of(sum->source, m);
        whole.potential.lined = lining->lined;
        status = sum_receivers(&whole);
        whole.before += all->count * sum->receivers->count;
    }
    sum->past = whole.past; /* what was read is used again */
    sum->progress = whole.progress;
    sum->before = whole.before;
    return status == PS_OK ? subtract_filtered(&lining->beta, sum->source->dt, &w, sum->trace)
                           : status;
}

static ps_status subtract_linings(field_sum *sum, const probe_range *all)
{
    const probe_source *source = sum->source;
    for (int q = 0; q < source->lining_count; ++q)
        PS_TRY(subtract_lining(sum, &source->linings[q], all));
    return PS_OK;
}

/* The samples from the first that any density reaches to the last of the range. */
static ps_status find_all(const field_sum *sum, probe_range *out)
{
    PS_TRY(probe_range_find(sum->source, sum->receivers, -INFINITY, INFINITY, out));
    out->count = sum->range->first + sum->range->count - out->first;
    return PS_OK;
}

ps_status probe_fields(const probe_source *source, const ps_receivers *receivers, bool total,
                       const probe_range *range, int64_t memory, ps_trace *trace)
{
    field_sum sum = {
        .source = source, .receivers = receivers, .range = range, .memory = memory, .trace = trace};
    int images = ps_reflectors_images(&source->header->slices.mirrors);
    probe_range all;
    ps_status status = PS_OK;
    PS_TRY(find_all(&sum, &all));
    if (total && source->incident.count == 0)
        return ps_fail(PS_USAGE,
                       "--field total: the history was marched with --incident FILE, which "
                       "tells what comes in on the surface, not at points; there is the "
                       "scattered field, with what the surface radiates by itself");
    for (int64_t s = 0; s < range->count; ++s)
        trace->axis[s] = (double)(range->first + s) * source->dt;
    ps_progress_start(&sum.progress, "summing", "samples", 0,
                      receivers->count * images *
                          (range->count + source->lining_count * all.count));
    for (int m = 0; m < images && status == PS_OK; ++m) status = add_image(&sum, m);
    sum.before = images * receivers->count * range->count;
    if (status == PS_OK) status = subtract_linings(&sum, &all);
    ps_progress_end(&sum.progress);
    if (status == PS_OK) status = add_radiated(&sum);
    if (status == PS_OK && total) add_incident(&sum);
    PS_FREE(sum.past.series, sum.past.rows);
    return status;
}
