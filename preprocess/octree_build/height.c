/* height: how many cells each level would have, and which height that suggests. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "kernels/common/counter_random.h"
#include "kernels/fmm/tree.h"
#include "runtime/memory.h"

enum { REGISTER_BITS = 15, REGISTERS = 1 << REGISTER_BITS, BLOCK = 1 << 17, DEEPEST = 20 };

/* registers[level][REGISTERS]: the longest run of leading zeros, plus one, among the hashes. */
static void count_block(const uint64_t *keys, int64_t count, uint8_t *registers)
{
#pragma omp parallel for schedule(dynamic)
    for (int level = 0; level <= DEEPEST; ++level) {
        uint8_t *own = registers + (int64_t)level * REGISTERS;
        for (int64_t i = 0; i < count; ++i) {
            uint64_t h = ps_counter_mix((keys[i] >> 3 * (DEEPEST - level)) + 0x9e3779b97f4a7c15u);
            uint64_t rest = h << REGISTER_BITS | (uint64_t)1 << (REGISTER_BITS - 1);
            uint8_t rank = (uint8_t)(__builtin_clzll(rest) + 1);
            uint8_t *r = &own[h >> (64 - REGISTER_BITS)];
            if (rank > *r) *r = rank;
        }
    }
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
                           uint64_t *keys, uint8_t *registers)
{
    int64_t total = ps_particles_header(file)->count;
    double *const xyz[3] = {columns, columns + BLOCK, columns + 2 * BLOCK};
    for (int64_t first = 0; first < total; first += BLOCK) {
        ps_tree_points points = {total - first < BLOCK ? total - first : BLOCK, xyz[0], xyz[1],
                                 xyz[2]};
        PS_TRY(ps_particles_read(file, first, points.count, xyz, 3));
        ps_tree_keys(box, DEEPEST, &points, keys);
        count_block(keys, points.count, registers);
    }
    return PS_OK;
}

ps_status count_cells(ps_particle_file *file, const ps_octree_box *box,
                      double cells[PS_OCTREE_LEVELS_MAX])
{
    double *columns;
    const int64_t levels = DEEPEST + 1;
    PS_TRY(ps_alloc((void **)&columns, 4 * 8 * BLOCK + levels * REGISTERS, 1, "counting of cells"));
    uint8_t *registers = (uint8_t *)(columns + 4 * BLOCK);
    ps_status status =
        count_all(file, box, columns, (uint64_t *)(columns + 3 * BLOCK), registers);
    for (int l = 0; l < levels; ++l)
        cells[l] = fmin(estimate(registers + (int64_t)l * REGISTERS), ldexp(1, 3 * l));
    free(columns);
    return status;
}

int height_for_leaf_size(int64_t particles, const double *cells, double leaf_size)
{
    int level = 0;
    while (level < DEEPEST && (double)particles / cells[level] > leaf_size) ++level;
    return level + 1;
}

/* Cells of a set of dimension d have 3^d neighbours and 6^d - 3^d cells to interact with; each
 * level has 2^d times the cells of the one above. Pairs cost 46 flop, shared by two; M2L 4 l^3 r
 * with r = l^2 / 2 about. */
int height_of_least_work(int64_t particles, const double *cells, int order)
{
    double l = order, m2l = 4 * l * l * l * (l * l / 2), far = 0, least = INFINITY;
    int best = 1;
    for (int level = 0; level <= DEEPEST; ++level) {
        double d = level > 0 ? log2(fmax(cells[level] / cells[level - 1], 1)) : 0;
        double all = level > 1 ? pow(3, d) : fmin(cells[level], 27);
        if (level > 1) far += m2l * cells[level] * (pow(6, d) - pow(3, d));
        double work = far + 23 * (double)particles * ((double)particles / cells[level]) * all;
        if (work < 0.99 * least) { /* the counts are not better than that */
            least = work;
            best = level + 1;
        }
    }
    return best;
}
