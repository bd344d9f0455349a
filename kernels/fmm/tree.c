#include "kernels/fmm/tree.h"

#include <math.h>
#include <string.h>

#include <omp.h>

#include "kernels/common/space_curve.h"
#include "kernels/common/word_sort.h"

ps_status ps_tree_check_span(const double lower[3], const double upper[3])
{
    static const double least = 1e-60, most = 1e60;
    double span = 0;
    for (int d = 0; d < 3; ++d) span = fmax(span, upper[d] - lower[d]);
    if (span == 0 || (span >= least && span <= most)) return PS_OK;
    return ps_fail(PS_INVALID,
                   "the particles span %.3g: powers of their distances are numbers of fp64 from "
                   "%g to %g; give lengths in another unit",
                   span, least, most);
}

/* ---- keys ---- */

typedef struct axis_scale {
    double corner[3], end[3], scale, last;
} axis_scale;

static axis_scale scale_of(const ps_octree_box *box, int level)
{
    axis_scale s = {.scale = (double)((int64_t)1 << level) / box->width,
                    .last = (double)(((int64_t)1 << level) - 1)};
    for (int d = 0; d < 3; ++d) {
        s.corner[d] = box->corner[d];
        s.end[d] = box->corner[d] + box->width;
    }
    return s;
}

static inline uint32_t cell_of(double x, double corner, double scale, double last)
{
    double cell = (x - corner) * scale;
    cell = cell < last ? cell : last;
    return (uint32_t)(int32_t)(cell > 0 ? cell : 0);
}

static inline uint64_t key_of(const axis_scale *s, double x, double y, double z)
{
    return ps_morton_key(cell_of(x, s->corner[0], s->scale, s->last),
                         cell_of(y, s->corner[1], s->scale, s->last),
                         cell_of(z, s->corner[2], s->scale, s->last));
}

static inline bool is_outside(const axis_scale *s, double x, double y, double z)
{
    return x < s->corner[0] || y < s->corner[1] || z < s->corner[2] || x > s->end[0] ||
           y > s->end[1] || z > s->end[2];
}

/* Key and, where `low_bits` >= 0, the particle's number in the low bits; `width` words apart. */
static inline __attribute__((always_inline)) int64_t
make_words(const axis_scale *s, const ps_tree_points *p, int low_bits, int width, uint64_t *words)
{
    int64_t outside = 0;
#pragma omp parallel for reduction(+ : outside) schedule(static)
    for (int64_t i = 0; i < p->count; ++i) {
        uint64_t key = key_of(s, p->x[i], p->y[i], p->z[i]);
        outside += is_outside(s, p->x[i], p->y[i], p->z[i]);
        words[i * width] = low_bits < 0 ? key : key << low_bits | (width == 1 ? (uint64_t)i : 0);
        if (width == 2) words[i * 2 + 1] = (uint64_t)i;
    }
    return outside;
}

int64_t ps_tree_keys(const ps_octree_box *box, int level, const ps_tree_points *points,
                     uint64_t *keys)
{
    axis_scale s = scale_of(box, level);
    return make_words(&s, points, -1, 1, keys);
}

/* ---- order ---- */

/* Bits for numbers below count. */
static int number_bits(int64_t count)
{
    int bits = 0;
    while (bits < 63 && ((int64_t)1 << bits) < count) ++bits;
    return bits;
}

/* A word holds key and number where both fit; otherwise there are two. */
static int words_each(int64_t count, int level)
{
    return 3 * level + number_bits(count) <= 64 ? 1 : 2;
}

int64_t ps_tree_sort_workspace(int64_t count, int level)
{
    return 2 * count * words_each(count, level);
}

static void unpack(const uint64_t *words, int64_t count, int low_bits, uint64_t *keys,
                   int64_t *order)
{
    uint64_t mask = ((uint64_t)1 << low_bits) - 1;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; ++i) {
        keys[i] = low_bits < 64 ? words[i] >> low_bits : 0;
        order[i] = (int64_t)(words[i] & mask);
    }
}

static void unpack_pairs(const uint64_t *words, int64_t count, uint64_t *keys, int64_t *order)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; ++i) {
        keys[i] = words[2 * i];
        order[i] = (int64_t)words[2 * i + 1];
    }
}

int64_t ps_tree_sort(const ps_octree_box *box, int level, const ps_tree_points *points,
                     uint64_t *workspace, uint64_t *keys, int64_t *order)
{
    axis_scale s = scale_of(box, level);
    int64_t count = points->count, outside;
    int bits = number_bits(count);
    if (words_each(count, level) == 1) {
        outside = make_words(&s, points, bits, 1, workspace);
        workspace = ps_word_sort(workspace, count, 1, bits, 3 * level, workspace + count);
        unpack(workspace, count, bits, keys, order);
    } else {
        outside = make_words(&s, points, 0, 2, workspace);
        workspace = ps_word_sort(workspace, count, 2, 0, 3 * level, workspace + 2 * count);
        unpack_pairs(workspace, count, keys, order);
    }
    return outside;
}

void ps_tree_gather(const double *in, const int64_t *order, int64_t count, double *out)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; ++i) out[i] = in[order[i]];
}

/* ---- cells ---- */

/* How many levels above `level` two keys of that level first share a cell; 0 for equal keys. */
static inline int levels_apart(uint64_t a, uint64_t b)
{
    return a == b ? 0 : (66 - __builtin_clzll(a ^ b)) / 3;
}

void ps_tree_count(const uint64_t *keys, int64_t count, int level, int64_t *cells)
{
    int64_t apart[PS_OCTREE_LEVELS_MAX + 1] = {0};
#pragma omp parallel for reduction(+ : apart[:PS_OCTREE_LEVELS_MAX + 1]) schedule(static)
    for (int64_t i = 1; i < count; ++i) ++apart[levels_apart(keys[i - 1], keys[i])];
    cells[0] = count > 0;
    for (int l = 1; l <= level; ++l) cells[l] = cells[l - 1] + apart[level - l + 1];
}

int64_t ps_tree_runs(const uint64_t *keys, int64_t count, int shift, uint64_t *out_keys,
                     int64_t *start)
{
    int64_t runs = 0;
    uint64_t last = 0;
    for (int64_t i = 0; i < count; ++i) {
        uint64_t key = keys[i] >> shift;
        if (runs > 0 && key == last) continue;
        if (start) start[runs] = i;
        out_keys[runs++] = last = key;
    }
    if (start) start[runs] = count;
    return runs;
}

/* First of [first, count) whose key >> shift differs from that of its predecessor. */
static int64_t next_run(const uint64_t *keys, int64_t first, int64_t count, int shift)
{
    while (first > 0 && first < count && keys[first] >> shift == keys[first - 1] >> shift) ++first;
    return first;
}

static int64_t count_runs(const uint64_t *keys, int64_t first, int64_t end, int shift)
{
    int64_t runs = 0;
    for (int64_t i = first; i < end; ++i)
        runs += i == first || keys[i] >> shift != keys[i - 1] >> shift;
    return runs;
}

enum { THREADS_MAX = 64, SERIAL_BELOW = 1 << 15 };

/* As ps_tree_runs, by several threads: each takes whole runs, after all have counted theirs. */
static void fill_runs(const uint64_t *keys, int64_t count, int shift, uint64_t *out_keys,
                      int64_t *start)
{
    int64_t before[THREADS_MAX + 1] = {0};
    int wanted = count < SERIAL_BELOW ? 1 : omp_get_max_threads();
    if (wanted > THREADS_MAX) wanted = THREADS_MAX;
#pragma omp parallel num_threads(wanted)
    {
        int t = omp_get_thread_num(), threads = omp_get_num_threads();
        int64_t first = next_run(keys, count * t / threads, count, shift);
        int64_t end = next_run(keys, count * (t + 1) / threads, count, shift);
        before[t + 1] = count_runs(keys, first, end, shift);
#pragma omp barrier
#pragma omp single
        for (int s = 0; s < threads; ++s) before[s + 1] += before[s];
        int64_t run = before[t];
        for (int64_t i = first; i < end; ++i) {
            if (i > first && keys[i] >> shift == keys[i - 1] >> shift) continue;
            start[run] = i;
            out_keys[run++] = keys[i] >> shift;
        }
        if (t == threads - 1) start[run] = count;
    }
}

void ps_tree_fill_above(ps_octree *tree)
{
    for (int l = tree->height - 2; l >= 0; --l)
        fill_runs(tree->keys[l + 1], tree->cells[l + 1], 3, tree->keys[l], tree->child_start[l]);
}

void ps_tree_fill(const uint64_t *keys, int64_t count, ps_octree *tree)
{
    tree->particles = count;
    fill_runs(keys, count, 0, tree->keys[tree->height - 1], tree->particle_start);
    ps_tree_fill_above(tree);
}
