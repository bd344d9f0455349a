/*
 * Direct sums of samples on the device that has all sources, by its P2P: the sources are cut into
 * spans, which stand for leaves, and each span has a target leaf of its own with a copy of all
 * samples, whose only neighbour is the span. What the spans do is added here in ascending order, so
 * the sums are always the same for the same numbers of sources, samples and bytes.
 */
#include <math.h>
#include <string.h>

#include "compute/fmm/check_device.h"
#include "kernels/fmm/device_ops.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum {
    BLOCKS = 64,        /* of charges, summed apart */
    BATCH = 2048,       /* samples at a time */
    COPIES = 1 << 18,   /* of samples, about: enough tiles for all multiprocessors */
    SOURCES_LEAST = 32, /* of a span */
    ALIGNED = 256,
    OWN = PS_FMM_DEVICE_NEAR / 2 /* the place itself, where a pair may be at distance 0 */
};

/* Where everything lies in the workspace, in bytes. */
typedef struct layout {
    int64_t spans, some; /* samples of a batch */
    int64_t rows, results, target_start, source_start, near, tiles, size;
} layout;

static int64_t take(int64_t *at, int64_t bytes)
{
    int64_t here = *at;
    *at += (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
    return here;
}

static layout lay_out_spans(const fmm_check *c, int64_t spans)
{
    layout l = {.spans = spans, .some = c->count < BATCH ? c->count : BATCH};
    int64_t at = 0, copies = l.spans * l.some;
    l.rows = take(&at, 8 * 3 * copies);
    l.results = take(&at, 8 * 4 * c->sides * copies);
    l.target_start = take(&at, 4 * (l.spans + 1));
    l.source_start = take(&at, 4 * (l.spans + 1));
    l.near = take(&at, 4 * PS_FMM_DEVICE_NEAR * l.spans);
    l.tiles = take(&at, ps_fmm_device_p2p_workspace(l.spans, copies));
    l.size = at;
    return l;
}

/* As many spans as are of use and fit; 0: none fits. */
static layout lay_out(const fmm_check *c, int64_t sources, int64_t bytes)
{
    layout one = lay_out_spans(c, 1);
    int64_t spans = COPIES / one.some, most = sources / SOURCES_LEAST;
    if (spans > most) spans = most > 1 ? most : 1;
    layout l = lay_out_spans(c, spans);
    while (l.size > bytes && spans > 0) l = lay_out_spans(c, spans /= 2);
    return l;
}

bool fmm_check_fits_device(const fmm_check *c, int64_t sources, int64_t bytes)
{
    return lay_out(c, sources, bytes).spans > 0;
}

static int64_t of_batch(const layout *l, const fmm_check *c, int64_t from)
{
    return c->count - from < l->some ? c->count - from : l->some;
}

/* What goes to the device: everything before the tiles but the results. */
static void fill(const layout *l, const fmm_check *c, int64_t from, int64_t sources, char *host)
{
    int64_t copies = l->spans * l->some, some = of_batch(l, c, from);
    double *rows = (double *)(host + l->rows);
    int32_t *target = (int32_t *)(host + l->target_start);
    int32_t *source = (int32_t *)(host + l->source_start), *near = (int32_t *)(host + l->near);
    for (int d = 0; d < 3; ++d)
        for (int64_t s = 0; s < l->spans; ++s)
            memcpy(rows + d * copies + s * some, c->positions + d * c->count + from,
                   (size_t)some * sizeof *rows);
    for (int64_t s = 0; s <= l->spans; ++s) {
        target[s] = (int32_t)(s * some);
        source[s] = (int32_t)(sources * s / l->spans);
    }
    for (int64_t i = 0; i < PS_FMM_DEVICE_NEAR * l->spans; ++i) near[i] = -1;
    for (int64_t s = 0; s < l->spans; ++s) near[s * PS_FMM_DEVICE_NEAR + OWN] = (int32_t)s;
}

/* Potentials of all sides are first, then gradients, in the check too. */
static void add_results(const layout *l, fmm_check *c, int64_t from, const double *results)
{
    int64_t copies = l->spans * l->some, some = of_batch(l, c, from);
    for (int row = 0; row < 4 * c->sides; ++row) {
        double *to = c->direct + row * c->count + from;
        for (int64_t s = 0; s < l->spans; ++s)
            for (int64_t i = 0; i < some; ++i) to[i] += results[row * copies + s * some + i];
    }
}

static ps_status start(const fmm_problem *p, const layout *l, int64_t particles,
                       const fmm_device_sources *from, char *workspace)
{
    int64_t copies = l->spans * l->some;
    ps_fmm_device_method method = {
        .sides = p->fmm.sides, .near = PS_DOUBLE, .function = p->fmm.function};
    double *results = (double *)(workspace + l->results);
    ps_fmm_device_p2p p2p = {
        .targets = {.cells = l->spans,
                    .particles = particles,
                    .box = p->header->box,
                    .set = {(const double *)(workspace + l->rows), copies,
                            (const int32_t *)(workspace + l->target_start)},
                    .potential = results,
                    .gradient = results + p->fmm.sides * copies},
        .near = (const int32_t *)(workspace + l->near),
        .sources.one = {from->columns, from->count, (const int32_t *)(workspace + l->source_start)},
        .workspace = workspace + l->tiles};
    return ps_fmm_device_p2p_run(&method, &p2p, from->stream);
}

static ps_status sum_batch(const fmm_problem *p, fmm_check *c, const layout *l, int64_t first,
                           const fmm_device_sources *from, char *workspace, char *host)
{
    fill(l, c, first, from->count, host);
    PS_TRY(ps_copy_to_device(from->stream, workspace, host, l->tiles));
    PS_TRY(start(p, l, l->spans * of_batch(l, c, first), from, workspace));
    PS_TRY(ps_copy_to_host(from->stream, host + l->results, workspace + l->results,
                           8 * 4 * c->sides * l->spans * l->some));
    PS_TRY(ps_stream_wait(from->stream));
    add_results(l, c, first, (const double *)(host + l->results));
    return PS_OK;
}

ps_status fmm_check_sum_on_device(const fmm_problem *p, fmm_check *c,
                                  const fmm_device_sources *from, void *workspace, int64_t bytes)
{
    layout l = lay_out(c, from->count, bytes);
    PS_SCOPED_MEMORY void *host = NULL;
    PS_TRY(ps_alloc_untouched(&host, l.tiles, "direct sums"));
    for (int64_t first = 0; first < c->count; first += l.some)
        PS_TRY(sum_batch(p, c, &l, first, from, workspace, host));
    return PS_OK;
}

void fmm_check_charges(const fmm_problem *p, fmm_check *c, const double *charges, int64_t stride,
                       int64_t count)
{
    double sources = (double)p->header->count[0];
    for (int side = 0; side < c->sides; ++side) {
        double sums[BLOCKS] = {0};
#pragma omp parallel for schedule(static)
        for (int b = 0; b < BLOCKS; ++b)
            for (int64_t i = count * b / BLOCKS; i < count * (b + 1) / BLOCKS; ++i)
                sums[b] += fabs(charges[side * stride + i]);
        for (int b = 0; b < BLOCKS; ++b) c->charge[side] += sums[b] / sources;
    }
}
