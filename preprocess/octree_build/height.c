/* height: how many cells each level would have, how many pairs of particles, and which height that
 * suggests. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "kernels/common/counter_random.h"
#include "kernels/fmm/tree.h"
#include "runtime/memory.h"

enum { REGISTER_BITS = 15, REGISTERS = 1 << REGISTER_BITS, BLOCK = 1 << 17, DEEPEST = 20 };

/* Of all levels, [DEEPEST + 1][REGISTERS]: the longest run of leading zeros, plus one, among the
 * hashes of a register; and sums of random signs, one for each cell. */
typedef struct sketches {
    uint8_t *longest;
    int64_t *signs;
} sketches;

static void count_block(const uint64_t *keys, int64_t count, const sketches *all)
{
#pragma omp parallel for schedule(dynamic)
    for (int level = 0; level <= DEEPEST; ++level) {
        uint8_t *own = all->longest + (int64_t)level * REGISTERS;
        int64_t *signs = all->signs + (int64_t)level * REGISTERS;
        for (int64_t i = 0; i < count; ++i) {
            uint64_t h = ps_counter_mix((keys[i] >> 3 * (DEEPEST - level)) + 0x9e3779b97f4a7c15u);
            uint64_t rest = h << REGISTER_BITS | (uint64_t)1 << (REGISTER_BITS - 1);
            uint8_t rank = (uint8_t)(__builtin_clzll(rest) + 1);
            uint64_t at = h >> (64 - REGISTER_BITS);
            if (rank > own[at]) own[at] = rank;
            signs[at] += h & 1 ? 1 : -1;
        }
    }
}

/* Fast-AGMS (Cormode, Garofalakis 2005). */
static double estimate_squares(const int64_t *signs)
{
    double sum = 0;
    for (int r = 0; r < REGISTERS; ++r) sum += (double)signs[r] * (double)signs[r];
    return sum;
}

static double estimate(const uint8_t *registers)
{
    const double m = REGISTERS;
    double sum = 0;
    int zeros = 0;
    for (int r = 0; r < REGISTERS; ++r) {
        sum += ldexp(1, -registers[r]);
        zeros += registers[r] == 0;
    }
    double raw = 0.7213 / (1 + 1.079 / m) * m * m / sum;
    return raw <= 2.5 * m && zeros > 0 ? m * log(m / zeros) : raw;
}

static ps_status count_all(ps_particle_file *file, const ps_octree_box *box, double *columns,
                           uint64_t *keys, const sketches *all)
{
    int64_t total = ps_particles_header(file)->count;
    double *const xyz[3] = {columns, columns + BLOCK, columns + 2 * BLOCK};
    for (int64_t first = 0; first < total; first += BLOCK) {
        ps_tree_points points = {total - first < BLOCK ? total - first : BLOCK, xyz[0], xyz[1],
                                 xyz[2]};
        PS_TRY(ps_particles_read(file, first, points.count, xyz, 3));
        ps_tree_keys(box, DEEPEST, &points, keys);
        count_block(keys, points.count, all);
    }
    return PS_OK;
}

ps_status count_cells(ps_particle_file *file, const ps_octree_box *box, tree_counts *out)
{
    double *columns;
    const int64_t levels = DEEPEST + 1;
    PS_TRY(ps_alloc((void **)&columns, 4 * 8 * BLOCK + levels * REGISTERS * 9, 1,
                    "counting of cells"));
    sketches all = {.signs = (int64_t *)(columns + 4 * BLOCK)};
    all.longest = (uint8_t *)(all.signs + levels * REGISTERS);
    double n = (double)ps_particles_header(file)->count;
    ps_status status = count_all(file, box, columns, (uint64_t *)(columns + 3 * BLOCK), &all);
    for (int l = 0; l < levels; ++l) {
        int64_t own = (int64_t)l * REGISTERS;
        out->cells[l] = fmin(estimate(all.longest + own), ldexp(1, 3 * l));
        out->squares[l] = fmin(fmax(estimate_squares(all.signs + own), n), n * n);
    }
    free(columns);
    return status;
}

int height_for_leaf_size(int64_t particles, const tree_counts *counts, double leaf_size)
{
    int level = 0;
    while (level < DEEPEST && (double)particles / counts->cells[level] > leaf_size) ++level;
    return level + 1;
}

/* Neighbours (3, itself among them) or children of the parents' neighbours (6) of a cell, of a set
 * of dimension d that fills a block n = cells^(1/d) wide: (3 - 2/n)^d, (6 - 8/n)^d. A surface or a
 * line lies askew and meets 2^(3 - d) times as many (measured: 46.6 M2L a leaf on the ellipsoid).
 */
static double around(double cells, double d, double reach)
{
    double n = pow(cells, 1 / d), beyond = reach == 3 ? 2 : 8;
    return pow(2, 3 - d) * pow(fmax(reach - beyond / n, 1), d);
}

double work_of_height(int64_t particles, const tree_counts *counts, const work_rates *rates,
                      int height)
{
    double work = (double)particles * rates->particle, near = 1;
    for (int l = 1; l < height; ++l) {
        double cells = counts->cells[l],
               d = fmin(fmax(log2(fmax(cells / counts->cells[l - 1], 1)), 0.1), 3);
        near = fmin(l > 1 ? around(cells, d, 3) : 27, cells);
        double far = fmin(around(cells, d, 6), cells) - near;
        if (l > 1) work += cells * (rates->cell + fmax(far, 0) * rates->m2l);
    }
    /* of particles spread at random: those of another cell know nothing of this one's */
    double own = counts->squares[height - 1], n = (double)particles;
    double pairs = fmin(own + (near - 1) * (own - n), n * n);
    return work + pairs * rates->pair + counts->cells[height - 1] * rates->leaf;
}

work_rates flop_rates(int order)
{
    double l = order;
    return (work_rates){.pair = 23, .m2l = 4 * l * l * l * (l * l / 2)};
}

int height_of_least_work(int64_t particles, const tree_counts *counts, const work_rates *rates)
{
    double least = INFINITY;
    int best = 1;
    for (int height = 1; height <= DEEPEST + 1; ++height) {
        double work = work_of_height(particles, counts, rates, height);
        if (work < 0.99 * least) { /* the counts are not better than that */
            least = work;
            best = height;
        }
    }
    return best;
}
