/* The operators of M2L as kernels/fmm/device_table.h lays them out for the device, multiplied piece
 * by piece as a warp does it, against the CPU's on the same vectors. */
#include "kernels/common/reals.h"
#include "kernels/fmm/device_table.h"

#include "tests/check.h"
#include "tests/support/distance.h"
#include "tests/support/fmm_case.h"

enum { LENGTH = 1024 };

/* Number k, n of a piece of 8 x 8; half: of one that has even k alone. */
static double piece_at(const double *piece, bool half, int k, int n)
{
    int lane = 4 * n + k / 2;
    if (half) return k % 2 ? 0 : piece[lane];
    return piece[2 * lane + k % 2];
}

/* to[8] += from[8] times a piece. */
static void multiply(const double *piece, bool half, const double *from, double *to)
{
    for (int n = 0; n < 8; ++n)
        for (int k = 0; k < 8; ++k) to[n] += from[k] * piece_at(piece, half, k, n);
}

/* f += the operator of one unit times m; returns where its numbers end. */
static const double *run_unit(const ps_fmm_device_shape *s, int ranks, const double *unit,
                              const double *m, double *f)
{
    int tiles = (ranks + 7) / 8;
    double g[2][8] = {{0}};
    for (int tile = 0; tile < tiles; ++tile)
        for (int j = 0; j < s->octets; ++j, unit += PS_FMM_PIECE)
            multiply(unit, false, m + 8 * j, g[tile]);
    for (int chunk = 0; chunk < s->chunks; ++chunk)
        for (int tile = 0; tile < tiles; ++tile) {
            bool half = ranks - 8 * tile <= 4;
            for (int j = 0; j < s->width; ++j, unit += half ? PS_FMM_PIECE / 2 : PS_FMM_PIECE)
                multiply(unit, half, g[tile], f + 8 * (chunk * s->width + j));
        }
    return unit;
}

/* A table, packed. */
typedef struct packed {
    fmm_case c; /* its tables alone */
    const ps_fmm_m2l_table *table;
    ps_fmm_device_table device;
    ps_fmm_device_shape shape;
    double *block;
} packed;

static void pack(packed *p, int order, int basis, ps_precision precision)
{
    const ps_octree_box box = {{0, 0, 0}, 1};
    fmm_options o = {.order = order,
                     .basis = basis,
                     .epsilon = pow(10, -order),
                     .function = {PS_FMM_INVERSE, 0},
                     .far = precision};
    memset(p, 0, sizeof *p);
    check_ok(fmm_case_tables(&p->c, &o, &box, 3));
    p->table = p->c.problem.tables[2];
    int64_t bytes = ps_fmm_device_table_bytes(p->table);
    check_ok(ps_alloc_untouched((void **)&p->block, bytes, "operators"));
    memset(p->block, 0xff, (size_t)bytes); /* NaN where nothing is written */
    check_ok(ps_fmm_device_table_pack(p->table, p->block, &p->device));
    p->shape = ps_fmm_device_shape_of(&p->device);
    assert_int_equal(bytes, p->shape.size * 8);
    for (int64_t i = 0; i < p->shape.size; ++i) assert_true(isfinite(p->block[i]));
}

static void unpack(packed *p) { PS_FREE(p->c.blocks[2], p->block); }

/* |a - b| / |b| over count numbers, b of the table's precision. */
static double difference(const packed *p, const double *a, const void *b, int64_t count)
{
    double error = 0, norm = 0;
    for (int64_t i = 0; i < count; ++i) {
        error += pow(a[i] - ps_real_at(p->table->precision, b, i), 2);
        norm += pow(ps_real_at(p->table->precision, b, i), 2);
    }
    return sqrt(error / norm);
}

static void fill(const packed *p, double *v, int64_t count, uint64_t *seed)
{
    memset(v, 0, LENGTH * sizeof *v);
    for (int64_t i = 0; i < count; ++i)
        ps_real_put(p->table->precision, v, i, check_random(seed) - 0.5);
}

/* All 316 offsets: the largest difference of a sum. */
static double interactions(const packed *p, const struct ps_fmm_m2l_functions *f, uint64_t *seed)
{
    double worst = 0;
    int length = p->table->length;
    for (int t = 0; t < PS_FMM_OFFSETS; ++t) {
        static double m[LENGTH] __attribute__((aligned(64))),
            want[LENGTH] __attribute__((aligned(64)));
        double wide[LENGTH] = {0}, got[2 * LENGTH] = {0};
        const void *source = m;
        int64_t target = 0;
        ps_fmm_m2l_pairs pair = {t, 1, &target, &source};
        if (p->table->rank[t] == 0) continue;
        fill(p, m, p->table->size ? p->table->size : length, seed);
        if (!p->table->size) /* behind l^3 coded vectors are 0 */
            for (int i = p->table->order * p->table->order * p->table->order; i < length; ++i)
                ps_real_put(p->table->precision, m, i, 0);
        for (int i = 0; i < length; ++i) wide[i] = ps_real_at(p->table->precision, m, i);
        memset(want, 0, sizeof want);
        f->interact(p->table, &pair, want);
        const double *unit = p->block + (int64_t)p->shape.unit[t] * 32;
        for (int rank = p->table->rank[t]; rank > 0; rank -= p->shape.unit_ranks)
            unit = run_unit(&p->shape, rank < p->shape.unit_ranks ? rank : p->shape.unit_ranks,
                            unit, wide, got);
        worst = worse_of(worst, difference(p, got, want, length));
    }
    return worst;
}

/* Encoder and decoder, [to octets][from octets] of pieces. */
static void run_codes(const double *pieces, int from_octets, int to_octets, const double *from,
                      double *to)
{
    for (int n = 0; n < to_octets; ++n)
        for (int j = 0; j < from_octets; ++j, pieces += PS_FMM_PIECE)
            multiply(pieces, false, from + 8 * j, to + 8 * n);
}

static double codes(const packed *p, const struct ps_fmm_m2l_functions *f, uint64_t *seed)
{
    static double from[LENGTH] __attribute__((aligned(64))),
        want[LENGTH] __attribute__((aligned(64)));
    double wide[2 * LENGTH] = {0}, got[2 * LENGTH] = {0};
    int points = p->table->order * p->table->order * p->table->order;
    int all = p->shape.width * p->shape.chunks;
    fill(p, from, points, seed);
    for (int i = 0; i < points; ++i) wide[i] = ps_real_at(p->table->precision, from, i);
    f->encode(p->table, from, 1, want);
    run_codes(p->block + p->shape.encoder, p->shape.point_octets, all, wide, got);
    double worst = difference(p, got, want, p->table->size);
    memset(wide, 0, sizeof wide);
    memset(got, 0, sizeof got);
    fill(p, from, p->table->size, seed);
    for (int i = 0; i < p->table->size; ++i) wide[i] = ps_real_at(p->table->precision, from, i);
    memset(want, 0, sizeof want);
    f->decode(p->table, from, 1, 1, want);
    run_codes(p->block + p->shape.decoder, all, p->shape.point_octets, wide, got);
    return fmax(worst, difference(p, got, want, points));
}

static void pieces_make_the_operators(void **state)
{
    const struct {
        int order, basis;
        ps_precision precision;
    } cases[] = {{3, 1, PS_DOUBLE}, {4, 1, PS_DOUBLE}, {5, 1, PS_DOUBLE}, {6, 1, PS_DOUBLE},
                 {7, 1, PS_DOUBLE}, {8, 1, PS_DOUBLE}, {3, 0, PS_DOUBLE}, {5, 0, PS_DOUBLE},
                 {7, 0, PS_DOUBLE}, {9, 0, PS_DOUBLE}, {3, 1, PS_SINGLE}, {5, 1, PS_SINGLE},
                 {4, 0, PS_SINGLE}};
    uint64_t seed = 12;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        packed p;
        const struct ps_fmm_m2l_functions *f =
            ps_fmm_m2l_functions_of(PS_BACKEND_CPU, cases[i].precision);
        double bound = cases[i].precision == PS_SINGLE ? 1e-5 : 1e-13;
        pack(&p, cases[i].order, cases[i].basis, cases[i].precision);
        check_at_most(interactions(&p, f, &seed), bound);
        if (cases[i].basis) check_at_most(codes(&p, f, &seed), bound);
        unpack(&p);
    }
}

static void too_long_is_refused(void **state)
{
    ps_fmm_m2l_table table = {.order = 11, .length = 1336};
    ps_fmm_device_table device;
    check_fails(ps_fmm_device_table_pack(&table, NULL, &device), PS_USAGE, "1336 numbers");
}
