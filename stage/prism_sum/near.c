/* The near field: closed forms of prisms, cut to the 27 cells around a cell of stations. */

#include <omp.h>

#include "kernels/fmm/tree_lists.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "stage/prism_sum/internal.h"

/* Prisms that are cut to the cells around one. */
typedef struct pack {
    int64_t count, prism[PRISM_PACK];
    double low[3][PRISM_PACK], high[3][PRISM_PACK], weight[3][PRISM_PACK];
} pack;

typedef struct target_cell {
    const ps_prism_sum *sum;
    int level;
    int64_t place[3], first, end; /* stations [first, end) */
    bool count_only;
    int64_t pairs;
} target_cell;

static ps_prism_set set_of(const pack *p)
{
    ps_prism_set set = {.count = p->count};
    for (int d = 0; d < 3; ++d) {
        set.low[d] = p->low[d];
        set.high[d] = p->high[d];
        set.weight[d] = p->weight[d];
    }
    return set;
}

static void add_forward(const target_cell *t, const pack *p)
{
    const ps_prism_sum *s = t->sum;
    const struct ps_prism_field_functions *f = ps_prism_field_functions_here();
    ps_prism_set set = set_of(p);
    for (int64_t i = t->first; i < t->end; ++i) {
        const double station[3] = {s->place[0][i], s->place[1][i], s->place[2][i]};
        double out[PS_PRISM_NUMBERS] = {0};
        f->add(s->bodies.kind, &set, 0, p->count, station, out);
        for (int k = 0; k < s->numbers; ++k) s->result[k][i] += out[k];
    }
}

/* Each vector of prisms by one thread, over all stations: the order of a prism's sum is fixed. */
static void add_transposed(const target_cell *t, const pack *p)
{
    enum { SHARE = 32 };
    const ps_prism_sum *s = t->sum;
    const struct ps_prism_field_functions *f = ps_prism_field_functions_here();
    const int64_t shares = (p->count + SHARE - 1) / SHARE;
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->threads)
    for (int64_t h = 0; h < shares; ++h) {
        int64_t first = h * SHARE, end = first + SHARE < p->count ? first + SHARE : p->count;
        double out[3][SHARE] = {{0}}, *rows[3] = {out[0], out[1], out[2]};
        ps_prism_set set = set_of(p);
        for (int64_t i = t->first; i < t->end; ++i) {
            const double station[3] = {s->place[0][i], s->place[1][i], s->place[2][i]};
            double data[PS_PRISM_NUMBERS] = {0};
            for (int k = 0; k < s->numbers; ++k) data[k] = s->result[k][i];
            f->add_transposed(s->bodies.kind, &set, first, end, station, data, rows);
        }
        for (int w = 0; w < s->weights; ++w)
            for (int64_t i = first; i < end; ++i) s->weight[w][p->prism[i]] += out[w][i - first];
    }
}

static void flush(target_cell *t, pack *p, bool transposed)
{
    t->pairs += p->count * (t->end - t->first);
    if (!t->count_only && p->count > 0) (transposed ? add_transposed : add_forward)(t, p);
    p->count = 0;
}

/* The prism, unless another of the cells around is the first one of them that it is in. */
static void take(target_cell *t, const int64_t cell[3], int64_t prism, bool transposed, pack *p)
{
    const ps_prism_sum *s = t->sum;
    prism_cells cells;
    int64_t first[3], last[3];
    double low[3], high[3];
    prism_cells_of(s, t->level, prism, &cells);
    for (int d = 0; d < 3; ++d) {
        first[d] = cells.first[d] > t->place[d] - 1 ? cells.first[d] : t->place[d] - 1;
        last[d] = cells.last[d] < t->place[d] + 1 ? cells.last[d] : t->place[d] + 1;
        if (cell[d] != first[d]) return;
    }
    prism_cut(s, t->level, prism, &cells, first, last, low, high);
    for (int d = 0; d < 3; ++d) {
        if (!(low[d] < high[d])) return;
        p->low[d][p->count] = low[d];
        p->high[d][p->count] = high[d];
    }
    for (int w = 0; w < s->weights; ++w) p->weight[w][p->count] = s->weight[w][prism];
    p->prism[p->count++] = prism;
    if (p->count == PRISM_PACK) flush(t, p, transposed);
}

/* Stations of a cell of any level. */
void prism_stations_of(const ps_octree *tree, int level, int64_t cell, int64_t *first, int64_t *end)
{
    int64_t low = cell, high = cell + 1;
    for (int l = level; l < tree->height - 1; ++l) {
        low = tree->child_start[l][low];
        high = tree->child_start[l][high];
    }
    *first = tree->particle_start[low];
    *end = tree->particle_start[high];
}

static int64_t near_cell(const ps_prism_sum *s, int level, int64_t cell, bool transposed,
                         bool count_only, pack *p)
{
    target_cell t = {.sum = s, .level = level, .count_only = count_only};
    int64_t around[27], place[3];
    uint64_t key = s->targets.keys[level][cell];
    prism_stations_of(&s->targets, level, cell, &t.first, &t.end);
    ps_tree_cell(key, t.place);
    ps_tree_around(&s->sources, level, key, around);
    p->count = 0;
    for (int n = 0; n < 27; ++n) {
        if (around[n] < 0) continue;
        ps_tree_cell(s->sources.keys[level][around[n]], place);
        for (int64_t i = s->start[level][around[n]]; i < s->start[level][around[n] + 1]; ++i)
            take(&t, place, s->piece[i], transposed, p);
    }
    flush(&t, p, transposed);
    return t.pairs;
}

/* Everything with everything. */
static ps_status all_pairs(ps_prism_sum *s, bool transposed)
{
    PS_SCOPED_MEMORY pack *p = NULL;
    target_cell t = {.sum = s};
    const int64_t step = 64;
    PS_TRY(ps_alloc_untouched((void **)&p, (int64_t)sizeof *p, "prisms of a cell"));
    for (int64_t at = 0; at < s->bodies.prisms; at += PRISM_PACK) {
        int64_t left = s->bodies.prisms - at;
        p->count = left < PRISM_PACK ? left : PRISM_PACK;
        for (int64_t i = 0; i < p->count; ++i) {
            p->prism[i] = at + i;
            for (int d = 0; d < 3; ++d) {
                p->low[d][i] = s->low[d][at + i];
                p->high[d][i] = s->high[d][at + i];
            }
            for (int w = 0; w < s->weights; ++w) p->weight[w][i] = s->weight[w][at + i];
        }
        t.end = s->bodies.stations;
        if (transposed) {
            add_transposed(&t, p);
            continue;
        }
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->threads)
        for (int64_t i = 0; i < s->bodies.stations; i += step) {
            target_cell some = {.sum = s, .first = i, .end = i + step};
            if (some.end > s->bodies.stations) some.end = s->bodies.stations;
            add_forward(&some, p);
        }
    }
    return PS_OK;
}

/* A level; forward, cells of stations side by side. */
static int64_t near_level(const ps_prism_sum *s, int level, bool transposed, bool count_only,
                          pack *packs)
{
    int64_t pairs = 0;
    const int team = transposed ? 1 : s->threads;
#pragma omp parallel for schedule(dynamic, 4) num_threads(team) reduction(+ : pairs)
    for (int64_t c = 0; c < s->targets.cells[level]; ++c)
        pairs += near_cell(s, level, c, transposed, count_only,
                           packs + (transposed ? 0 : omp_get_thread_num()));
    return pairs;
}

static ps_status near_levels(const ps_prism_sum *s, bool transposed, bool count_only,
                             int64_t *pairs)
{
    PS_SCOPED_MEMORY pack *packs = NULL;
    PS_TRY(ps_alloc_untouched((void **)&packs, (int64_t)sizeof *packs * s->threads,
                              "prisms of a cell"));
    *pairs = 0;
    for (int l = 0; l < s->height; ++l)
        if (s->start[l]) *pairs += near_level(s, l, transposed, count_only, packs);
    return PS_OK;
}

ps_status prism_near(ps_prism_sum *s, bool transposed)
{
    s->figures.near_pairs = s->bodies.prisms * s->bodies.stations;
    if (s->height < 3) return all_pairs(s, transposed);
    return near_levels(s, transposed, false, &s->figures.near_pairs);
}
