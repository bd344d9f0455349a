/* Prisms that share volume, and stations inside of prisms. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/fmm/tree_lists.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "stage/prism_sum/internal.h"

/* Shared lengths up to this part of the shorter side are rounding of what touches. */
static const double touching = 1e-6;

static bool share_volume(const ps_prism_sum *s, int64_t p, int64_t q)
{
    for (int d = 0; d < 3; ++d) {
        double low = fmax(s->low[d][p], s->low[d][q]), high = fmin(s->high[d][p], s->high[d][q]);
        double shorter = fmin(s->high[d][p] - s->low[d][p], s->high[d][q] - s->low[d][q]);
        if (!(high - low > touching * shorter)) return false;
    }
    return true;
}

/* Pieces of a cell, along the axis that tells them apart best. */
typedef struct row {
    int64_t count, capacity;
    struct piece_end {
        double low, high;
        int64_t prism;
    } * pieces;
} row;

static int by_low(const void *a, const void *b)
{
    const struct piece_end *x = a, *y = b;
    if (x->low != y->low) return x->low > y->low ? 1 : -1;
    return (x->prism > y->prism) - (x->prism < y->prism);
}

static ps_status fill_row(const ps_prism_sum *s, int level, int64_t cell, int axis, row *out)
{
    const int64_t *start = s->start[level] + cell;
    out->count = start[1] - start[0];
    PS_TRY(ps_grow((void **)&out->pieces, &out->capacity, out->count + 1, sizeof *out->pieces,
                   "pieces of a cell"));
    for (int64_t i = 0; i < out->count; ++i) {
        int64_t p = s->piece[start[0] + i];
        out->pieces[i] = (struct piece_end){s->low[axis][p], s->high[axis][p], p};
    }
    qsort(out->pieces, (size_t)out->count, sizeof *out->pieces, by_low);
    return PS_OK;
}

/* The axis along which the sides of the cell's prisms are shortest together. */
static int best_axis(const ps_prism_sum *s, int level, int64_t cell)
{
    double sums[3] = {0};
    for (int64_t i = s->start[level][cell]; i < s->start[level][cell + 1]; ++i)
        for (int d = 0; d < 3; ++d) sums[d] += s->high[d][s->piece[i]] - s->low[d][s->piece[i]];
    return sums[0] <= sums[1] && sums[0] <= sums[2] ? 0 : sums[1] <= sums[2] ? 1 : 2;
}

typedef struct found {
    int64_t pairs, first[2];
} found;

static void note(found *f, int64_t p, int64_t q)
{
    if (f->pairs++ == 0) {
        f->first[0] = p;
        f->first[1] = q;
    }
}

/* Pairs within a cell; a pair that meets in several cells is met again there. */
static void within_row(const ps_prism_sum *s, const row *r, found *f)
{
    for (int64_t i = 0; i < r->count; ++i)
        for (int64_t j = i + 1; j < r->count && r->pieces[j].low < r->pieces[i].high; ++j)
            if (share_volume(s, r->pieces[i].prism, r->pieces[j].prism))
                note(f, r->pieces[i].prism, r->pieces[j].prism);
}

/* Pairs of a cell with larger prisms, which belong to a cell above. */
static void with_row(const ps_prism_sum *s, int level, int64_t cell, int axis, const row *above,
                     found *f)
{
    for (int64_t i = s->start[level][cell]; i < s->start[level][cell + 1]; ++i) {
        int64_t p = s->piece[i];
        for (int64_t j = 0; j < above->count && above->pieces[j].low < s->high[axis][p]; ++j)
            if (above->pieces[j].high > s->low[axis][p] &&
                share_volume(s, p, above->pieces[j].prism))
                note(f, p, above->pieces[j].prism);
    }
}

/* All pairs of which one prism belongs to this cell, the other to cells below it or to itself. */
static ps_status search_below(const ps_prism_sum *s, int level, int64_t cell, row *r, found *f)
{
    int64_t low = cell, high = cell + 1;
    if (s->start[level][cell] == s->start[level][cell + 1]) return PS_OK;
    int axis = best_axis(s, level, cell);
    PS_TRY(fill_row(s, level, cell, axis, r));
    within_row(s, r, f);
    for (int l = level + 1; l < s->height; ++l) {
        low = s->sources.child_start[l - 1][low];
        high = s->sources.child_start[l - 1][high];
        for (int64_t c = low; c < high && s->start[l]; ++c) with_row(s, l, c, axis, r, f);
    }
    return PS_OK;
}

/* Cells of a level, side by side; of pairs the first in the order of cells is kept. */
static ps_status search_level(const ps_prism_sum *s, int level, found *f)
{
    ps_failure failure = {.status = PS_OK};
    int64_t first_cell = INT64_MAX;
#pragma omp parallel num_threads(s->threads)
    {
        row r = {.count = 0};
#pragma omp for schedule(dynamic, 64)
        for (int64_t c = 0; c < s->sources.cells[level]; ++c) {
            found own = {.pairs = 0};
            ps_note_failure(&failure, search_below(s, level, c, &r, &own));
            if (own.pairs == 0) continue;
#pragma omp critical(prism_overlap)
            {
                if (f->pairs == 0 || c < first_cell) {
                    memcpy(f->first, own.first, sizeof f->first);
                    first_cell = c;
                }
                f->pairs += own.pairs;
            }
        }
        free(r.pieces);
    }
    return ps_first_failure(&failure);
}

static ps_status search(const ps_prism_sum *s, found *f)
{
    for (int l = 0; l < s->height && f->pairs == 0; ++l)
        if (s->start[l]) PS_TRY(search_level(s, l, f));
    return PS_OK;
}

ps_status ps_prism_overlap(const ps_prism_bodies *bodies, int threads, bool *overlap,
                           int64_t prisms[2])
{
    PS_SCOPED(ps_prism_sum_close) ps_prism_sum *s = NULL;
    ps_prism_bodies alone = *bodies;
    ps_prism_sum_options options = {.threads = threads, .height = 3};
    found f = {.pairs = 0};
    alone.kind = PS_PRISM_GRAVITY;
    alone.stations = 1;
    for (int d = 0; d < 3; ++d) alone.place[d] = bodies->low[d];
    while (options.height < 9 && ldexp(1, 3 * options.height - 3) < (double)bodies->prisms)
        ++options.height;
    PS_TRY(ps_prism_sum_open(&alone, &options, &s));
    PS_TRY(search(s, &f));
    *overlap = f.pairs > 0;
    for (int i = 0; i < 2 && f.pairs > 0; ++i) prisms[i] = s->prism_order[f.first[i]];
    return PS_OK;
}

/* ---- stations inside ---- */

static bool inside(const ps_prism_sum *s, int64_t prism, int64_t station)
{
    for (int d = 0; d < 3; ++d)
        if (!(s->place[d][station] > s->low[d][prism] && s->place[d][station] < s->high[d][prism]))
            return false;
    return true;
}

/* A prism that holds a station lies in the station's cell, whatever the prism's level. */
static void inside_cell(const ps_prism_sum *s, int level, int64_t target, int64_t source,
                        int64_t *containing)
{
    int64_t first, end;
    prism_stations_of(&s->targets, level, target, &first, &end);
    for (int64_t k = s->start[level][source]; k < s->start[level][source + 1]; ++k)
        for (int64_t i = first; i < end; ++i)
            if (inside(s, s->piece[k], i))
                containing[s->station_order[i]] = s->prism_order[s->piece[k]];
}

static void inside_directly(const ps_prism_sum *s, int64_t *containing)
{
#pragma omp parallel for num_threads(s->threads)
    for (int64_t i = 0; i < s->bodies.stations; ++i)
        for (int64_t p = 0; p < s->bodies.prisms; ++p)
            if (inside(s, p, i)) containing[s->station_order[i]] = s->prism_order[p];
}

/* The source cell where the target cell is, or -1. */
static int64_t source_at(const ps_prism_sum *s, int level, int64_t target)
{
    int64_t around[27];
    ps_tree_around(&s->sources, level, s->targets.keys[level][target], around);
    return around[13];
}

void ps_prism_sum_inside(const ps_prism_sum *s, int64_t *containing)
{
    for (int64_t i = 0; i < s->bodies.stations; ++i) containing[i] = -1;
    if (s->height < 3) {
        inside_directly(s, containing);
        return;
    }
    for (int l = 0; l < s->height; ++l) {
        if (!s->start[l]) continue;
#pragma omp parallel for schedule(dynamic, 64) num_threads(s->threads)
        for (int64_t c = 0; c < s->targets.cells[l]; ++c) {
            int64_t source = source_at(s, l, c);
            if (source >= 0) inside_cell(s, l, c, source, containing);
        }
    }
}

const int64_t *ps_prism_sum_station_order(const ps_prism_sum *s) { return s->station_order; }
