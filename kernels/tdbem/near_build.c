#include "kernels/tdbem/near_build.h"

#include <string.h>

#include "kernels/common/reals.h"
#include "kernels/tdbem/near_walk.h"
#include "runtime/sizes.h"

enum { ROWS = PS_NEAR_ROWS, NONE = 255 };

static int64_t warp_count(const ps_packed_near *p) { return (p->unknowns + ROWS - 1) / ROWS; }

/* ---- memory ---- */

static int64_t lay_out(ps_near_build *b, const ps_packed_near *p, char *memory)
{
    int64_t used = 0, warps = warp_count(p), bins = warps * p->group;
    b->met = ps_host_part(memory, &used, warps * (int64_t)sizeof *b->met);
    b->values = ps_host_part(memory, &used, bins * ROWS * ps_real_bytes(p->precision));
    b->vectors = ps_host_part(memory, &used, bins * (int64_t)sizeof *b->vectors);
    b->rows = ps_host_part(memory, &used, bins * (int64_t)sizeof *b->rows);
    return used;
}

int64_t ps_near_build_bytes(int64_t unknowns, int64_t group, ps_precision precision)
{
    ps_near_build build;
    ps_packed_near packed = {.unknowns = unknowns, .group = group, .precision = precision};
    return lay_out(&build, &packed, NULL);
}

void ps_near_build_init(ps_near_build *b, ps_packed_near *packed, void *memory)
{
    *b = (ps_near_build){.packed = packed};
    memset(memory, 0, (size_t)lay_out(b, packed, NULL));
    lay_out(b, packed, memory);
    for (int64_t w = 0; w < warp_count(packed); ++w) b->met[w].column = -1;
}

/* ---- a vector ---- */

typedef struct extent {
    int64_t first, width;
} extent;

static extent extent_of(const ps_near_met *met)
{
    extent e = {NONE, 0};
    for (int r = 0; r < ROWS; ++r) {
        if (met->first[r] == NONE) continue;
        if (met->first[r] < e.first) e.first = met->first[r];
        if (met->last[r] - met->first[r] + 1 > e.width) e.width = met->last[r] - met->first[r] + 1;
    }
    return e;
}

/* values[row of values][lane] of the vector at hand, m = 0 .. n_g - 1 */
static char *values_of(const ps_near_build *b, int64_t warp)
{
    return (char *)b->values + warp * b->packed->group * ROWS * ps_real_bytes(b->packed->precision);
}

/* Moves the value of a lane at m, leaving zero. */
static void move_value(ps_precision precision, void *to, void *from)
{
    memcpy(to, from, (size_t)ps_real_bytes(precision));
    memset(from, 0, (size_t)ps_real_bytes(precision));
}

static void write_vector(const ps_near_build *b, int64_t warp, const ps_near_met *met, extent e,
                         int64_t bin)
{
    const ps_packed_near *p = b->packed;
    int64_t v = p->vector_start[warp] + b->vectors[bin], size = ps_real_bytes(p->precision);
    char *from = values_of(b, warp), *to = (char *)p->values + b->rows[bin] * ROWS * size;
    p->vectors[v] =
        (ps_near_vector){met->column, (int32_t)e.first, (int32_t)e.width, (int32_t)b->rows[bin]};
    for (int64_t r = 0; r < ROWS; ++r) {
        int64_t start = met->first[r] == NONE ? e.first : met->first[r];
        if (start > p->group - e.width) start = p->group - e.width;
        p->starts[v * ROWS + r] = (uint8_t)start;
        for (int64_t q = 0; q < e.width; ++q)
            move_value(p->precision, to + (q * ROWS + r) * size,
                       from + ((start + q) * ROWS + r) * size);
    }
}

static void close_vector(ps_near_build *b, int64_t warp)
{
    ps_near_met *met = &b->met[warp];
    if (met->column < 0) return;
    extent e = extent_of(met);
    int64_t bin = warp * b->packed->group + e.first;
    if (b->filling) write_vector(b, warp, met, e, bin);
    ++b->vectors[bin];
    b->rows[bin] += e.width;
    met->column = -1;
}

static void meet(void *context, int64_t m, int64_t row, int64_t column, double value)
{
    ps_near_build *b = context;
    int64_t warp = row / ROWS, lane = row % ROWS;
    ps_near_met *met = &b->met[warp];
    if (met->column != column) {
        close_vector(b, warp);
        met->column = (int32_t)column;
        memset(met->first, NONE, ROWS);
        memset(met->last, 0, ROWS);
    }
    if (m < met->first[lane]) met->first[lane] = (uint8_t)m;
    if (m > met->last[lane]) met->last[lane] = (uint8_t)m;
    if (b->filling) ps_real_put(b->packed->precision, values_of(b, warp), m * ROWS + lane, value);
}

void ps_near_build_take(ps_near_build *b, const ps_slice_product *tile)
{
    ps_near_walk walk = {b->packed->group, b->packed->precision, meet, b};
    ps_near_walk_tile(&walk, tile);
}

static void close_all(ps_near_build *b)
{
    for (int64_t w = 0; w < warp_count(b->packed); ++w) close_vector(b, w);
}

/* ---- between the passes ---- */

ps_status ps_near_build_measure(ps_near_build *b)
{
    ps_packed_near *p = b->packed;
    close_all(b);
    p->inner = false;
    p->vector_count = p->value_count = p->inner_count = 0;
    for (int64_t bin = 0; bin < warp_count(p) * p->group; ++bin) {
        p->vector_count += b->vectors[bin];
        p->value_count += b->rows[bin];
    }
    if (p->unknowns > INT32_MAX || p->value_count > INT32_MAX)
        return ps_fail(PS_USAGE,
                       "the near matrices of a group of %lld steps hold %lld rows of values: more "
                       "than can be; lower --group",
                       (long long)p->group, (long long)p->value_count);
    return PS_OK;
}

/* Turns counts into places: of vectors within their warp, of values within all. */
void ps_near_build_fill(ps_near_build *b)
{
    ps_packed_near *p = b->packed;
    int64_t bin = 0, start = 0, row = 0;
    b->filling = true;
    for (int64_t w = 0; w < warp_count(p); ++w) {
        int32_t before = 0;
        p->vector_start[w] = start;
        for (int64_t m = 0; m < p->group; ++m, ++bin) {
            int32_t vectors = b->vectors[bin];
            int64_t rows = b->rows[bin];
            b->vectors[bin] = before;
            b->rows[bin] = row;
            p->reach[bin] = before += vectors;
            row += rows;
        }
        start += before;
    }
    p->vector_start[warp_count(p)] = start;
}

void ps_near_build_finish(ps_near_build *b) { close_all(b); }
