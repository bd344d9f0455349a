/* height: how many cells each level would have, how many pairs of particles, and which height that
 * suggests. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "build.h"
#include "kernels/common/counter_random.h"
#include "kernels/fmm/tree.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

enum { REGISTER_BITS = 15, REGISTERS = 1 << REGISTER_BITS, BLOCK = 1 << 14, DEEPEST = 20 };

/* Of all levels, [levels][REGISTERS]: the longest run of leading zeros, plus one, among the
 * hashes of a register; and sums of random signs, one for each cell. */
typedef struct sketches {
    uint8_t *longest;
    int64_t *signs;
} sketches;

/* A thread's: chunks of positions, their keys, what it has counted. */
typedef struct counter {
    double *xyz[3];
    uint64_t *keys;
    sketches own;
} counter;

static void count_keys(const uint64_t *keys, int64_t count, int level, const sketches *all)
{
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

static ps_status counter_init(counter *c, int64_t rows, int levels)
{
    char *room;
    int64_t positions = 8 * 4 * rows;
    PS_TRY(ps_alloc((void **)&room, positions + (int64_t)levels * REGISTERS * 9, 1,
                    "counting of cells"));
    for (int d = 0; d < 3; ++d) c->xyz[d] = (double *)room + d * rows;
    c->keys = (uint64_t *)room + 3 * rows;
    c->own.signs = (int64_t *)(room + positions);
    c->own.longest = (uint8_t *)(c->own.signs + levels * REGISTERS);
    return PS_OK;
}

/* One chunk of the file, a block of keys after the other, which stays in the cache. */
static ps_status count_chunk(ps_particle_file *file, const ps_octree_box *box, int64_t chunk,
                             int levels, const counter *c)
{
    int64_t first = chunk * ps_particles_chunk_rows(file),
            count = ps_particles_chunk_size(file, chunk);
    ps_tree_points points = {count, c->xyz[0], c->xyz[1], c->xyz[2]};
    PS_TRY(ps_particles_read(file, first, count, c->xyz, 3));
    ps_tree_keys(box, DEEPEST, &points, c->keys);
    for (int64_t at = 0; at < count; at += BLOCK)
        for (int level = 0; level < levels; ++level)
            count_keys(c->keys + at, ps_smaller(BLOCK, count - at), level, &c->own);
    return PS_OK;
}

/* Numbers and the longest of them do not depend on who has counted what. */
static void add_sketches(const sketches *from, int levels, const sketches *to)
{
    for (int64_t i = 0; i < (int64_t)levels * REGISTERS; ++i) {
        to->signs[i] += from->signs[i];
        if (from->longest[i] > to->longest[i]) to->longest[i] = from->longest[i];
    }
}

static ps_status count_all(ps_particle_file *file, const ps_octree_box *box, int levels,
                           const sketches *all)
{
    int64_t chunks = ps_particles_chunk_count(file), rows = ps_particles_chunk_size(file, 0);
    ps_failure failure = {0};
    int threads = (int)ps_smaller(omp_get_max_threads(), chunks);
#pragma omp parallel num_threads(threads)
    {
        counter own = {0};
        ps_note_failure(&failure, counter_init(&own, rows, levels));
#pragma omp for schedule(dynamic, 1)
        for (int64_t c = 0; c < chunks; ++c)
            if (!ps_has_failed(&failure))
                ps_note_failure(&failure, count_chunk(file, box, c, levels, &own));
#pragma omp critical(octree_build_sketches)
        if (!ps_has_failed(&failure)) add_sketches(&own.own, levels, all);
        free(own.xyz[0]);
    }
    return ps_first_failure(&failure);
}

ps_status count_cells(ps_particle_file *file, const ps_octree_box *box, int levels,
                      tree_counts *out)
{
    sketches all;
    PS_TRY(PS_ALLOC(&all.signs, (int64_t)levels * REGISTERS * 9 / 8 + 1, "counting of cells"));
    all.longest = (uint8_t *)(all.signs + levels * REGISTERS);
    double n = (double)ps_particles_header(file)->count;
    ps_status status = count_all(file, box, levels, &all);
    for (int l = 0; l < levels; ++l) {
        int64_t own = (int64_t)l * REGISTERS;
        out->cells[l] = fmin(estimate(all.longest + own), ldexp(1, 3 * l));
        out->squares[l] = fmin(fmax(estimate_squares(all.signs + own), n), n * n);
    }
    free(all.signs);
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
