#include "kernels/tdbem/near_pack.h"

#include <omp.h>
#include <string.h>

#include "kernels/common/reals.h"
#include "runtime/sizes.h"

enum {
    ROWS = PS_NEAR_ROWS,
    INNER = PS_NEAR_STRIDE - 1,
    ALIGN = 64,
    NONE = 255,
    THREADED_VALUES = 1 << 14
};

static int64_t warp_count(int64_t unknowns) { return (unknowns + ROWS - 1) / ROWS; }

/* ---- one warp ---- */

/* The vectors of a warp, found in the order of their first m. */
typedef struct warp_vectors {
    int64_t count;
    int32_t *slot;          /* [unknowns] vector of a column, -1: none yet */
    ps_near_vector *vector; /* [unknowns] offset: from the warp's first    */
    uint8_t *first, *last;  /* [unknowns][32] m of a row; NONE in first    */
} warp_vectors;

int64_t ps_near_packing_scratch(int64_t unknowns)
{
    return unknowns * (int64_t)(sizeof(int32_t) + sizeof(ps_near_vector) + 2 * ROWS) + ALIGN;
}

static warp_vectors scratch_of(const ps_near_packing *packing, int thread)
{
    int64_t n = packing->near->unknowns;
    char *at = (char *)packing->scratch + thread * ps_near_packing_scratch(n);
    warp_vectors w = {0};
    w.vector = (ps_near_vector *)((uintptr_t)(at + ALIGN - 1) / ALIGN * ALIGN);
    w.slot = (int32_t *)(w.vector + n);
    w.first = (uint8_t *)(w.slot + n);
    w.last = w.first + n * ROWS;
    for (int64_t j = 0; j < n; ++j) w.slot[j] = -1;
    return w;
}

/* Entries of M^m(row, .) */
static int64_t row_entries(const ps_near *near, int64_t m, int64_t row, int64_t *begin)
{
    const int64_t *start = near->row_start + (m - 1) * (near->unknowns + 1) + row;
    *begin = start[0];
    return start[1] - start[0];
}

static void meet_entry(warp_vectors *w, int32_t column, int lane, int64_t m)
{
    int32_t v = w->slot[column];
    if (v < 0) {
        w->slot[column] = v = (int32_t)w->count++;
        w->vector[v] = (ps_near_vector){.column = column, .first = (int32_t)m};
        memset(w->first + (int64_t)v * ROWS, NONE, ROWS);
    }
    if (w->first[v * ROWS + lane] == NONE) w->first[v * ROWS + lane] = (uint8_t)m;
    w->last[v * ROWS + lane] = (uint8_t)m;
}

static int32_t width_of(const warp_vectors *w, int64_t v)
{
    int width = 0;
    for (int64_t at = v * ROWS; at < (v + 1) * ROWS; ++at)
        if (w->first[at] != NONE && w->last[at] - w->first[at] + 1 > width)
            width = w->last[at] - w->first[at] + 1;
    return width;
}

/* Where a row's values begin: earlier than its first m where they would reach n_g else. */
static uint8_t start_of(const warp_vectors *w, int64_t v, int lane, int64_t group)
{
    int64_t first = w->first[v * ROWS + lane], latest = group - w->vector[v].width;
    if (first == NONE) first = w->vector[v].first;
    return (uint8_t)(first < latest ? first : latest);
}

/* Finds the vectors of a warp; returns the rows of values they take. */
static int64_t find_vectors(const ps_near *near, int64_t warp, warp_vectors *w)
{
    int64_t begin, values = 0;
    w->count = 0;
    for (int64_t m = 1; m < near->group; ++m)
        for (int lane = 0; lane < ROWS && warp * ROWS + lane < near->unknowns; ++lane) {
            int64_t count = row_entries(near, m, warp * ROWS + lane, &begin);
            for (int64_t e = begin; e < begin + count; ++e)
                meet_entry(w, near->columns[e], lane, m);
        }
    for (int64_t v = 0; v < w->count; ++v) {
        w->vector[v].offset = (int32_t)values;
        values += w->vector[v].width = width_of(w, v);
    }
    return values;
}

static void forget_vectors(warp_vectors *w)
{
    for (int64_t v = 0; v < w->count; ++v) w->slot[w->vector[v].column] = -1;
}

/* ---- measuring ---- */

/* tally[2 w], tally[2 w + 1]: vectors and values of warp w, made where they begin. */
static void accumulate(int64_t *tally, int64_t warps)
{
    int64_t vectors = 0, values = 0;
    for (int64_t w = 0; w <= warps; ++w) {
        int64_t more[2] = {w < warps ? tally[2 * w] : 0, w < warps ? tally[2 * w + 1] : 0};
        tally[2 * w] = vectors;
        tally[2 * w + 1] = values;
        vectors += more[0];
        values += more[1];
    }
}

ps_status ps_near_packing_measure(const ps_near_packing *packing, ps_packed_near *out)
{
    const ps_near *near = packing->near;
    int64_t warps = warp_count(near->unknowns);
    if (near->unknowns >= (int64_t)1 << PS_NEAR_COLUMN_BITS)
        return ps_fail(PS_USAGE, "%lld unknowns are more than the near matrices on a device hold",
                       (long long)near->unknowns);
#pragma omp parallel num_threads(packing->threads)
    {
        warp_vectors w = scratch_of(packing, omp_get_thread_num());
#pragma omp for schedule(dynamic, 4)
        for (int64_t k = 0; k < warps; ++k) {
            packing->tally[2 * k + 1] = find_vectors(near, k, &w);
            packing->tally[2 * k] = w.count;
            forget_vectors(&w);
        }
    }
    accumulate(packing->tally, warps);
    *out = (ps_packed_near){.unknowns = near->unknowns,
                            .group = near->group,
                            .precision = near->precision,
                            .inner = true,
                            .vector_count = packing->tally[2 * warps],
                            .value_count = packing->tally[2 * warps + 1]};
    for (int64_t m = 1; m <= INNER && m < near->group; ++m)
        out->inner_count += near->row_start[m * (near->unknowns + 1) - 1] -
                            near->row_start[(m - 1) * (near->unknowns + 1)];
    if (out->value_count > INT32_MAX || out->inner_count > INT32_MAX)
        return ps_fail(PS_USAGE,
                       "the near matrices of a group of %lld steps hold %lld values in "
                       "rows of %d and %lld near ones: more than a device takes; lower --group",
                       (long long)near->group, (long long)out->value_count, ROWS,
                       (long long)out->inner_count);
    return PS_OK;
}

/* ---- memory ---- */

int64_t ps_packed_near_attach(ps_packed_near *p, void *memory)
{
    int64_t used = 0, warps = warp_count(p->unknowns), item = ps_real_bytes(p->precision);
    p->vector_start = ps_host_part(memory, &used, (warps + 1) * (int64_t)sizeof *p->vector_start);
    p->reach = ps_host_part(memory, &used, warps * p->group * (int64_t)sizeof *p->reach);
    p->vectors = ps_host_part(memory, &used, p->vector_count * (int64_t)sizeof *p->vectors);
    p->starts = ps_host_part(memory, &used, p->vector_count * ROWS);
    p->values = ps_host_part(memory, &used, p->value_count * ROWS * item);
    p->inner_start = NULL;
    p->inner_words = NULL;
    p->inner_values = NULL;
    if (!p->inner) return used;
    p->inner_start =
        ps_host_part(memory, &used, (INNER * p->unknowns + 1) * (int64_t)sizeof(int32_t));
    p->inner_words = ps_host_part(memory, &used, p->inner_count * (int64_t)sizeof(uint32_t));
    p->inner_values = ps_host_part(memory, &used, p->inner_count * item);
    return used;
}

int64_t ps_packed_near_bytes(const ps_packed_near *packed)
{
    ps_packed_near copy = *packed;
    return ps_packed_near_attach(&copy, NULL);
}

/* ---- filling ---- */

static void fill_row(const ps_near *near, int64_t row, int64_t m, const warp_vectors *w,
                     ps_packed_near *packed, int64_t first_vector)
{
    int64_t begin, lane = row % ROWS, count = row_entries(near, m, row, &begin);
    for (int64_t e = begin; e < begin + count; ++e) {
        int64_t v = first_vector + w->slot[near->columns[e]];
        int64_t q = m - packed->starts[v * ROWS + lane];
        ps_real_copy(near->precision, packed->values, (packed->vectors[v].offset + q) * ROWS + lane,
                     near->values, e);
    }
}

static void fill_reach(const warp_vectors *w, int64_t group, int32_t *reach)
{
    int64_t v = 0;
    for (int64_t m = 0; m < group; ++m) {
        while (v < w->count && w->vector[v].first <= m) ++v;
        reach[m] = (int32_t)v;
    }
}

static void fill_warp(const ps_near *near, int64_t warp, const int64_t *tally, warp_vectors *w,
                      ps_packed_near *packed)
{
    int64_t item = ps_real_bytes(near->precision);
    int64_t values = find_vectors(near, warp, w), vector = tally[0], value = tally[1];
    packed->vector_start[warp] = vector;
    fill_reach(w, near->group, packed->reach + warp * near->group);
    memset((char *)packed->values + value * ROWS * item, 0, (size_t)(values * ROWS * item));
    for (int64_t v = 0; v < w->count; ++v) {
        packed->vectors[vector + v] = w->vector[v];
        packed->vectors[vector + v].offset += (int32_t)value;
        for (int lane = 0; lane < ROWS; ++lane)
            packed->starts[(vector + v) * ROWS + lane] = start_of(w, v, lane, near->group);
    }
    for (int64_t row = warp * ROWS; row < (warp + 1) * ROWS && row < near->unknowns; ++row)
        for (int64_t m = 1; m < near->group; ++m) fill_row(near, row, m, w, packed, vector);
    forget_vectors(w);
}

static void fill_inner(const ps_near *near, ps_packed_near *packed)
{
    int64_t at = 0, begin;
    for (int64_t row = 0; row < near->unknowns; ++row)
        for (int64_t m = 1; m <= INNER; ++m) {
            packed->inner_start[INNER * row + m - 1] = (int32_t)at;
            int64_t count = m < near->group ? row_entries(near, m, row, &begin) : 0;
            for (int64_t e = 0; e < count; ++e, ++at) {
                packed->inner_words[at] =
                    (uint32_t)near->columns[begin + e] | (uint32_t)(m - 1) << PS_NEAR_COLUMN_BITS;
                ps_real_copy(near->precision, packed->inner_values, at, near->values, begin + e);
            }
        }
    packed->inner_start[INNER * near->unknowns] = (int32_t)at;
}

void ps_near_packing_fill(const ps_near_packing *packing, ps_packed_near *packed)
{
    const ps_near *near = packing->near;
    int64_t warps = warp_count(near->unknowns);
#pragma omp parallel num_threads(packing->threads)
    {
        warp_vectors w = scratch_of(packing, omp_get_thread_num());
#pragma omp for schedule(dynamic, 4)
        for (int64_t k = 0; k < warps; ++k) fill_warp(near, k, packing->tally + 2 * k, &w, packed);
    }
    packed->vector_start[warps] = packed->vector_count;
    fill_inner(near, packed);
}

/* ---- the product ---- */

void ps_packed_near_add(const ps_packed_near *packed, const void *recent, int64_t g, double *sums)
{
    int64_t n = packed->unknowns;
#pragma omp parallel for schedule(static, ROWS) if (packed->value_count > THREADED_VALUES)
    for (int64_t row = 0; row < n; ++row) {
        int64_t warp = row / ROWS, lane = row % ROWS, begin = packed->vector_start[warp];
        int64_t end = begin + packed->reach[warp * packed->group + g];
        for (int64_t p = begin; p < end; ++p) {
            const ps_near_vector *v = &packed->vectors[p];
            int64_t start = packed->starts[p * ROWS + lane];
            for (int64_t m = start; m < start + v->width && m <= g; ++m)
                sums[row] += ps_real_at(packed->precision, packed->values,
                                        (v->offset + m - start) * ROWS + lane) *
                             ps_real_at(packed->precision, recent, (g - m) * n + v->column);
        }
    }
}
