/* From prisms and stations to trees and pieces. */
#include <math.h>
#include <stdlib.h>

#include "kernels/common/space_curve.h"
#include "kernels/common/word_sort.h"
#include "kernels/fmm/tree.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/search.h"
#include "stage/prism_sum/internal.h"

/* ---- cells of a prism ---- */

static int64_t within(double cell, int level)
{
    double last = (double)(((int64_t)1 << level) - 1);
    return (int64_t)fmax(0, fmin(cell, last));
}

void prism_cells_of(const ps_prism_sum *s, int level, int64_t prism, prism_cells *out)
{
    double scale = (double)((int64_t)1 << level) / s->box.width;
    for (int d = 0; d < 3; ++d) {
        out->first[d] = within(floor((s->low[d][prism] - s->box.corner[d]) * scale), level);
        out->last[d] = within(ceil((s->high[d][prism] - s->box.corner[d]) * scale) - 1, level);
        if (out->last[d] < out->first[d]) out->last[d] = out->first[d];
    }
}

void prism_cut(const ps_prism_sum *s, int level, int64_t prism, const prism_cells *cells,
               const int64_t first[3], const int64_t last[3], double low[3], double high[3])
{
    double width = ldexp(s->box.width, -level);
    for (int d = 0; d < 3; ++d) {
        bool own_low = first[d] <= cells->first[d], own_high = last[d] >= cells->last[d];
        low[d] = own_low ? s->low[d][prism] : s->box.corner[d] + (double)first[d] * width;
        high[d] = own_high ? s->high[d][prism] : s->box.corner[d] + (double)(last[d] + 1) * width;
        if (!(low[d] < high[d])) high[d] = low[d];
    }
}

/* ---- orders ---- */

static ps_octree_box box_around(const ps_prism_bodies *b)
{
    double lower[3], upper[3];
    for (int d = 0; d < 3; ++d) {
        double least = INFINITY, most = -INFINITY;
#pragma omp parallel for reduction(min : least) reduction(max : most)
        for (int64_t i = 0; i < b->prisms; ++i) {
            least = fmin(least, b->low[d][i]);
            most = fmax(most, b->high[d][i]);
        }
        for (int64_t i = 0; i < b->stations; ++i) {
            least = fmin(least, b->place[d][i]);
            most = fmax(most, b->place[d][i]);
        }
        lower[d] = least;
        upper[d] = most;
    }
    return ps_octree_bounding_box(lower, upper);
}

/* As deep as one word holds key and number, so that sorting is fast; 20 levels at most. */
static int deepest(int64_t count)
{
    int bits = 0;
    while (((int64_t)1 << bits) < count) ++bits;
    int level = (64 - bits) / 3;
    return level < PS_OCTREE_LEVELS_MAX - 1 ? level : PS_OCTREE_LEVELS_MAX - 1;
}

/* Keys on `level` and order of points, and the points' coordinates in that order. */
static ps_status sort_points(const ps_prism_sum *s, int level, const ps_tree_points *points,
                             uint64_t **keys, int64_t **order)
{
    PS_SCOPED_MEMORY uint64_t *workspace = NULL;
    PS_TRY(ps_alloc_buffer((void **)order, 8 * points->count, "the order of prisms and stations"));
    PS_TRY(ps_alloc_buffer((void **)keys, 8 * points->count, "keys"));
    PS_TRY(ps_alloc_buffer((void **)&workspace, 8 * ps_tree_sort_workspace(points->count, level),
                           "sorting"));
    ps_tree_sort(&s->box, level, points, workspace, *keys, *order);
    return PS_OK;
}

static ps_status gather(const double *from, const int64_t *order, int64_t count, double **out)
{
    PS_TRY(ps_alloc_buffer((void **)out, 8 * count, "sorted prisms and stations"));
    ps_tree_gather(from, order, count, *out);
    return PS_OK;
}

static ps_status sort_prisms(ps_prism_sum *s, int level, uint64_t **keys)
{
    const ps_prism_bodies *b = &s->bodies;
    double *centre[3] = {NULL, NULL, NULL};
    ps_status status = PS_OK;
    for (int d = 0; d < 3 && status == PS_OK; ++d) {
        status = ps_alloc_buffer((void **)&centre[d], 8 * b->prisms, "centres of prisms");
        if (status != PS_OK) break;
#pragma omp parallel for
        for (int64_t i = 0; i < b->prisms; ++i)
            centre[d][i] = b->low[d][i] + 0.5 * (b->high[d][i] - b->low[d][i]);
    }
    ps_tree_points points = {b->prisms, centre[0], centre[1], centre[2]};
    if (status == PS_OK) status = sort_points(s, level, &points, keys, &s->prism_order);
    for (int d = 0; d < 3; ++d) free(centre[d]);
    for (int d = 0; d < 3 && status == PS_OK; ++d) {
        status = gather(b->low[d], s->prism_order, b->prisms, &s->low[d]);
        if (status == PS_OK) status = gather(b->high[d], s->prism_order, b->prisms, &s->high[d]);
    }
    return status;
}

static ps_status sort_stations(ps_prism_sum *s, int level, uint64_t **keys)
{
    const ps_prism_bodies *b = &s->bodies;
    ps_tree_points points = {b->stations, b->place[0], b->place[1], b->place[2]};
    PS_TRY(sort_points(s, level, &points, keys, &s->station_order));
    for (int d = 0; d < 3; ++d)
        PS_TRY(gather(b->place[d], s->station_order, b->stations, &s->place[d]));
    return PS_OK;
}

/* ---- pieces ---- */

static int64_t cell_count(const prism_cells *c)
{
    int64_t count = 1;
    for (int d = 0; d < 3; ++d) count *= c->last[d] - c->first[d] + 1;
    return count;
}

static ps_status set_levels(ps_prism_sum *s)
{
    PS_TRY(ps_alloc_untouched((void **)&s->level, s->bodies.prisms, "levels of prisms"));
#pragma omp parallel for
    for (int64_t i = 0; i < s->bodies.prisms; ++i) {
        int own = prism_size_level(s, i);
        s->level[i] = (int8_t)(own < s->height - 1 ? own : s->height - 1);
    }
    return PS_OK;
}

/* Pieces of a prism of the level, 0 of another one. */
static int64_t pieces_of(const ps_prism_sum *s, int level, int64_t prism, prism_cells *cells)
{
    if (s->level[prism] != level) return 0;
    prism_cells_of(s, level, prism, cells);
    return cell_count(cells);
}

/* first[prisms + 1]: where the pieces of each prism begin. */
static void count_pieces(const ps_prism_sum *s, int level, int64_t *first)
{
    const int64_t n = s->bodies.prisms;
#pragma omp parallel for num_threads(s->threads)
    for (int64_t i = 0; i < n; ++i) {
        prism_cells cells;
        first[i + 1] = pieces_of(s, level, i, &cells);
    }
    first[0] = 0;
    for (int64_t i = 0; i < n; ++i) first[i + 1] += first[i];
}

static void write_pieces(const ps_prism_sum *s, int level, const int64_t *first, uint64_t *pairs)
{
#pragma omp parallel for num_threads(s->threads)
    for (int64_t i = 0; i < s->bodies.prisms; ++i) {
        uint64_t *to = pairs + 2 * first[i];
        prism_cells cells;
        if (pieces_of(s, level, i, &cells) == 0) continue;
        for (int64_t x = cells.first[0]; x <= cells.last[0]; ++x)
            for (int64_t y = cells.first[1]; y <= cells.last[1]; ++y)
                for (int64_t z = cells.first[2]; z <= cells.last[2]; ++z) {
                    *to++ = ps_morton_key((uint32_t)x, (uint32_t)y, (uint32_t)z);
                    *to++ = (uint64_t)i;
                }
    }
}

/* Keys and prisms of the pieces of a level, by keys, then prisms: pairs[count][2]. first[prisms +
 * 1] is scratch. */
static ps_status list_pieces(const ps_prism_sum *s, int level, int64_t *first, uint64_t **pairs,
                             int64_t *count)
{
    uint64_t *scratch = NULL;
    *pairs = NULL;
    count_pieces(s, level, first);
    *count = first[s->bodies.prisms];
    if (*count == 0) return PS_OK;
    PS_TRY(ps_alloc_buffer((void **)pairs, 16 * *count, "pieces of prisms"));
    PS_TRY(ps_alloc_buffer((void **)&scratch, 16 * *count, "pieces of prisms"));
    write_pieces(s, level, first, *pairs);
    uint64_t *sorted = ps_word_sort(*pairs, *count, 2, 0, 3 * level, scratch);
    free(sorted == scratch ? *pairs : scratch);
    *pairs = sorted;
    return PS_OK;
}

/* Cells of the sources: those with pieces, each with a leaf in it, so that the tree is one. */
static ps_status make_sources(ps_prism_sum *s, uint64_t *const *pairs, const int64_t *counts)
{
    const int leaves = s->height - 1;
    uint64_t *scratch = NULL;
    PS_SCOPED_MEMORY uint64_t *keys = NULL;
    int64_t all = 0, used = 0, cells[PS_OCTREE_LEVELS_MAX];
    for (int l = 0; l < s->height; ++l) all += counts[l];
    PS_TRY(ps_alloc_buffer((void **)&keys, 16 * all, "keys of cells"));
    for (int l = 0; l < s->height; ++l)
        for (int64_t i = 0; i < counts[l]; ++i) {
            uint64_t key = pairs[l][2 * i];
            if (i == 0 || key != pairs[l][2 * i - 2]) keys[used++] = key << 3 * (leaves - l);
        }
    scratch = keys + used;
    uint64_t *sorted = ps_word_sort(keys, used, 1, 0, 3 * leaves, scratch);
    ps_tree_count(sorted, used, leaves, cells);
    PS_TRY(ps_octree_init(&s->sources, s->height, &s->box, cells, cells[leaves]));
    ps_tree_fill(sorted, used, &s->sources);
    return PS_OK;
}

/* First of pairs[count][2] whose key is no less. */
static int64_t first_from(const uint64_t *pairs, int64_t count, uint64_t key)
{
    int64_t low;
    PS_LOWER_BOUND(low, 0, count, at, pairs[2 * at] < key);
    return low;
}

/* Where the pieces of each cell of a level begin. */
static ps_status place_pieces(ps_prism_sum *s, int level, const uint64_t *pairs, int64_t count,
                              int64_t *used)
{
    const int64_t cells = s->sources.cells[level], before = *used;
    const uint64_t *keys = s->sources.keys[level];
    if (count == 0) return PS_OK;
    PS_TRY(ps_alloc_untouched((void **)&s->start[level], 8 * (cells + 1), "pieces of cells"));
#pragma omp parallel for num_threads(s->threads)
    for (int64_t c = 0; c < cells; ++c)
        s->start[level][c] = before + first_from(pairs, count, keys[c]);
    s->start[level][cells] = before + count;
#pragma omp parallel for num_threads(s->threads)
    for (int64_t i = 0; i < count; ++i) s->piece[before + i] = (int64_t)pairs[2 * i + 1];
    *used += count;
    return PS_OK;
}

static ps_status make_pieces(ps_prism_sum *s)
{
    uint64_t *pairs[PS_OCTREE_LEVELS_MAX] = {NULL};
    int64_t counts[PS_OCTREE_LEVELS_MAX] = {0}, used = 0, *first = NULL;
    ps_status status = set_levels(s);
    if (status == PS_OK)
        status = ps_alloc_buffer((void **)&first, 8 * (s->bodies.prisms + 1), "pieces of prisms");
    s->pieces = 0;
    for (int l = 0; l < s->height && status == PS_OK; ++l) {
        status = list_pieces(s, l, first, &pairs[l], &counts[l]);
        s->pieces += counts[l];
    }
    free(first);
    if (status == PS_OK) status = make_sources(s, pairs, counts);
    if (status == PS_OK)
        status = ps_alloc_buffer((void **)&s->piece, 8 * s->pieces, "pieces of prisms");
    for (int l = 0; l < s->height; ++l) {
        if (status == PS_OK) status = place_pieces(s, l, pairs[l], counts[l], &used);
        free(pairs[l]);
    }
    return status;
}

/* Keys come on a level that is no higher than the leaves. */
static ps_status make_targets(ps_prism_sum *s, int level, uint64_t *keys)
{
    const int leaves = s->height - 1;
    int64_t cells[PS_OCTREE_LEVELS_MAX];
    for (int64_t i = 0; i < s->bodies.stations; ++i) keys[i] >>= 3 * (level - leaves);
    ps_tree_count(keys, s->bodies.stations, leaves, cells);
    PS_TRY(ps_octree_init(&s->targets, s->height, &s->box, cells, cells[leaves]));
    ps_tree_fill(keys, s->bodies.stations, &s->targets);
    return PS_OK;
}

ps_status prism_tree_make(ps_prism_sum *s, int height)
{
    const ps_prism_bodies *b = &s->bodies;
    uint64_t *prisms = NULL, *stations = NULL;
    int level = deepest(b->prisms > b->stations ? b->prisms : b->stations);
    if (level < height - 1) level = height - 1;
    s->box = box_around(b);
    ps_status status = sort_prisms(s, level, &prisms);
    if (status == PS_OK) status = sort_stations(s, level, &stations);
    if (status == PS_OK) s->height = height > 0 ? height : prism_height(s, level, prisms, stations);
    free(prisms);
    if (status == PS_OK && s->height > 2) status = make_pieces(s);
    if (status == PS_OK && s->height > 2) status = make_targets(s, level, stations);
    free(stations);
    return status;
}
