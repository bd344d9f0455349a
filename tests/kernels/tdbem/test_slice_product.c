#include "tests/check.h"
#include "tests/support/synthetic_slices.h"

static const synthetic_slices odd = {.unknowns = 149, .shells = 23, .spread = 6.3, .empty = 0.07,
                                     .seed = 3};
/* Row-vectors longer than a copy of them: fp32 32, fp64 16 columns at a time. */
static const synthetic_slices wide = {.unknowns = 37, .shells = 90, .spread = 40, .empty = 0.2,
                                      .seed = 5};

/* Everything of one product: pasts and sums in both precisions. */
typedef struct bench {
    const synthetic_slices *m;
    ps_precision precision;
    int64_t group, stride, origin;
    double *past;
    void *past_own, *sums;
    size_t size;
} bench;

static void bench_init(bench *b, const synthetic_slices *m, ps_precision precision, int64_t group)
{
    uint64_t state = 11;
    int64_t before = ps_product_past_before(synthetic_k_bound(m), synthetic_d_bound(m));
    *b = (bench){.m = m, .precision = precision, .group = group, .origin = before,
                 .stride = before + ps_product_past_after(group),
                 .size = precision == PS_SINGLE ? 4 : 8};
    check_ok(PS_ALLOC(&b->past, m->unknowns * b->stride, "past"));
    check_ok(ps_alloc(&b->past_own, m->unknowns * b->stride, b->size, "past"));
    check_ok(ps_alloc(&b->sums, m->unknowns * (group + 1), b->size, "sums"));
    for (int64_t i = 0; i < m->unknowns * b->stride; ++i) {
        double x = i % b->stride < before ? (float)(2 * check_random(&state) - 1) : 0;
        b->past[i] = x;
        if (precision == PS_SINGLE) ((float *)b->past_own)[i] = (float)x;
        else ((double *)b->past_own)[i] = x;
    }
}

static void bench_release(bench *b)
{
    free(b->past);
    free(b->past_own);
    free(b->sums);
}

static ps_slice_product bench_product(const bench *b)
{
    return (ps_slice_product){.past = b->past_own, .past_stride = b->stride,
                              .past_origin = b->origin, .group = b->group, .sums = b->sums,
                              .sums_stride = b->group + 1};
}

static double bench_sum(const bench *b, int64_t i, int64_t g)
{
    int64_t at = i * (b->group + 1) + g;
    return b->precision == PS_SINGLE ? ((float *)b->sums)[at] : ((double *)b->sums)[at];
}

static void bench_check(const bench *b)
{
    int64_t n = b->m->unknowns;
    double *exact, difference = 0, norm = 0;
    check_ok(PS_ALLOC(&exact, n * b->group, "oracle"));
    synthetic_front(b->m, b->past, b->stride, b->origin, b->group, exact);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t g = 0; g < b->group; ++g) {
            difference += pow(bench_sum(b, i, g) - exact[i * b->group + g], 2);
            norm += pow(exact[i * b->group + g], 2);
        }
    for (int64_t i = 0; i < n; ++i) assert_true(bench_sum(b, i, b->group) == 0); /* untouched */
    check_at_most(sqrt(difference / norm), b->precision == PS_SINGLE ? 1e-6 : 1e-13);
    free(exact);
}

static void run_slices(const bench *b, const ps_slice_tiling *tiling, int threads)
{
    ps_slice_product product = bench_product(b);
    memset(b->sums, 0, (size_t)(b->m->unknowns * (b->group + 1)) * b->size);
    for (int64_t t = 0; t < ps_slice_tiling_count(tiling); ++t) {
        ps_slice_tile tile = {0};
        ps_slice_tiling_range(tiling, t, &tile);
        synthetic_tile(b->m, b->precision, true, &tile);
        ps_slice_product_set_slices(&product, &tile);
        check_ok(ps_slice_product_tile(&product, b->precision, threads));
        synthetic_tile_free(&tile);
    }
}

static ps_slice_tiling whole(const synthetic_slices *m)
{
    return (ps_slice_tiling){.unknowns = m->unknowns, .tile_rows = m->unknowns,
                             .tile_slices = 13, .end_slice = m->unknowns};
}

static void every_group_agrees_with_the_front_oracle(void **state)
{
    const synthetic_slices *cases[] = {&odd, &wide};
    for (int c = 0; c < 2; ++c)
        for (int precision = 0; precision < 2; ++precision)
            for (int64_t group = 1; group <= PS_GROUP_MAX; ++group) {
                bench b;
                bench_init(&b, cases[c], (ps_precision)precision, group);
                ps_slice_tiling tiling = whole(cases[c]);
                run_slices(&b, &tiling, 2);
                bench_check(&b);
                bench_release(&b);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_group_agrees_with_the_front_oracle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
