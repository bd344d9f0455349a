/* The depth of the trees: what pairs, cells and pieces would cost on each level, by counts. */
#include <math.h>

#include "kernels/common/space_curve.h"
#include "kernels/fmm/tree_lists.h"
#include "runtime/search.h"
#include "stage/prism_sum/internal.h"

enum { SAMPLES = 200 };

/* Seconds on a core: a closed form, a pair of cells, a cell of sources, a piece, a cell of targets.
 * Of l = 7; that all of them are larger for others hardly moves the least. */
static const double form = 1.0e-7, pair_of_cells = 1.5e-6, source_cell = 1.2e-5, piece = 1e-7,
                    target_cell = 2e-5;

int prism_size_level(const ps_prism_sum *s, int64_t prism)
{
    static const double most = 24; /* pieces, about */
    double side[3], width = s->box.width;
    int level = 0;
    for (int d = 0; d < 3; ++d) side[d] = s->high[d][prism] - s->low[d][prism];
    while (level < PS_OCTREE_LEVELS_MAX - 1) {
        width /= 2;
        double pieces = 1;
        for (int d = 0; d < 3; ++d) pieces *= 1 + side[d] / width;
        if (pieces > most) break;
        ++level;
    }
    return level;
}

/* First of keys[count] that is no less than key. */
static int64_t first_from(const uint64_t *keys, int64_t count, uint64_t key)
{
    int64_t low;
    PS_LOWER_BOUND(low, 0, count, at, keys[at] < key);
    return low;
}

typedef struct sorted_keys {
    const uint64_t *keys;
    int64_t count;
    int level;
} sorted_keys;

/* Items in a cell of a level. */
static int64_t items_in(const sorted_keys *k, int level, uint64_t cell)
{
    int shift = 3 * (k->level - level);
    return first_from(k->keys, k->count, (cell + 1) << shift) -
           first_from(k->keys, k->count, cell << shift);
}

static int64_t cells_on(const sorted_keys *k, int level)
{
    int shift = 3 * (k->level - level);
    int64_t cells = k->count > 0;
#pragma omp parallel for reduction(+ : cells)
    for (int64_t i = 1; i < k->count; ++i) cells += k->keys[i] >> shift != k->keys[i - 1] >> shift;
    return cells;
}

/* Prisms around a cell, and cells of its interaction list that have any. */
static void around(const sorted_keys *prisms, int level, uint64_t key, double *near, double *far)
{
    int64_t cell[3], parent[3], side = (int64_t)1 << level;
    ps_tree_cell(key, cell);
    *near = *far = 0;
    for (int d = 0; d < 3; ++d) parent[d] = cell[d] / 2;
    for (int n = 0; n < 216; ++n) {
        int64_t at[3] = {2 * parent[0] - 2 + n / 36, 2 * parent[1] - 2 + n / 6 % 6,
                         2 * parent[2] - 2 + n % 6};
        bool there = true, close = true;
        for (int d = 0; d < 3; ++d) {
            there = there && at[d] >= 0 && at[d] < side;
            close = close && at[d] >= cell[d] - 1 && at[d] <= cell[d] + 1;
        }
        if (!there) continue;
        int64_t items = items_in(prisms, level,
                                 ps_morton_key((uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2]));
        if (close)
            *near += (double)items;
        else
            *far += items > 0;
    }
}

/* Means over stations: prisms around, and, over cells, lists. */
static void sample(const sorted_keys *prisms, const sorted_keys *stations, int level, double *near,
                   double *far)
{
    int64_t count = stations->count < SAMPLES ? stations->count : SAMPLES;
    int shift = 3 * (stations->level - level);
    *near = *far = 0;
    for (int64_t i = 0; i < count; ++i) {
        int64_t at = (int64_t)(((double)i + 0.5) * (double)stations->count / (double)count);
        double some, cells;
        around(prisms, level, stations->keys[at] >> shift, &some, &cells);
        *near += some / (double)count;
        *far += cells / (double)count;
    }
}

int prism_height(const ps_prism_sum *s, int level, const uint64_t *prism_keys,
                 const uint64_t *station_keys)
{
    sorted_keys prisms = {prism_keys, s->bodies.prisms, level},
                stations = {station_keys, s->bodies.stations, level};
    double sizes[PS_OCTREE_LEVELS_MAX] = {0}, near[PS_OCTREE_LEVELS_MAX] = {0}, cells = 0;
    const double n = (double)prisms.count, m = (double)stations.count;
    int64_t numbers[PS_OCTREE_LEVELS_MAX] = {0};
    double best = n * m * form;
    int height = 1;
#pragma omp parallel for reduction(+ : numbers[:PS_OCTREE_LEVELS_MAX])
    for (int64_t i = 0; i < prisms.count; ++i) ++numbers[prism_size_level(s, i)];
    for (int l = 0; l < PS_OCTREE_LEVELS_MAX; ++l) sizes[l] = (double)numbers[l] / n;
    near[0] = near[1] = n;
    for (int l = 2; l <= level && l < PS_OCTREE_LEVELS_MAX - 1; ++l) {
        double far, work, pairs = 0, parts = 0;
        sample(&prisms, &stations, l, &near[l], &far);
        double sources = (double)cells_on(&prisms, l), targets = (double)cells_on(&stations, l);
        cells += targets * (far * pair_of_cells + target_cell) + sources * source_cell;
        for (int size = 0; size < PS_OCTREE_LEVELS_MAX; ++size) {
            int own = size < l ? size : l;
            double side = 1.3 * ldexp(1, own - size); /* in cells of its level */
            pairs += sizes[size] * fmin(n, near[own] * pow(1 + side / 3, 3));
            parts += sizes[size] * pow(1 + side, 3);
        }
        work = cells + pairs * m * form + parts * n * piece;
        if (work < best) {
            best = work;
            height = l + 1;
        }
        if (work > 3 * best && l > 4) break;
    }
    return height;
}
