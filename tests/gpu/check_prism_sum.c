/*
 * check_prism_sum: sums of prisms on a device (stage/prism_sum) against those of the cores, all
 * kinds, with and without trees: V, g and T by relative L2 norm, NaN at the same stations; samples,
 * another order, the transpose, <J m, d> = <m, J^T d>; and the same bits when repeated. Thin prisms
 * are cut into parts: there both sides lose up to 1e-9. Ends with "N passed, N failed, N skipped".
 * Argument: the number of one case alone.
 */
#include <stdio.h>

#include "tests/support/prism_case.h"
#include "tests/support/verdict.h"

typedef struct sum_case {
    ps_prism_kind kind;
    int64_t prisms, stations;
    double spread; /* of sides; above 1e3 with thin prisms */
    int height, order;
    double limit;
} sum_case;

static const sum_case cases[] = {
    {PS_PRISM_GRAVITY, 500, 400, 30, 1, 3, 1e-11},
    {PS_PRISM_GRAVITY, 500, 400, 30, 3, 3, 1e-11},
    {PS_PRISM_GRAVITY, 3000, 4001, 30, 5, 6, 1e-11},
    {PS_PRISM_GRAVITY, 3000, 1, 30, 4, 7, 1e-11},
    {PS_PRISM_GRAVITY, 20000, 3000, 100, 0, 8, 1e-11},
    {PS_PRISM_GRAVITY, 400, 200, 1e6, 7, 6, 1e-8},
    {PS_PRISM_TENSOR, 500, 400, 30, 2, 3, 1e-10},
    {PS_PRISM_TENSOR, 500, 400, 30, 4, 8, 1e-10},
    {PS_PRISM_TENSOR, 2000, 3000, 30, 5, 10, 1e-10},
    {PS_PRISM_TENSOR, 400, 200, 1e6, 7, 5, 1e-8},
    {PS_PRISM_MAGNETIC, 500, 400, 30, 1, 3, 1e-10},
    {PS_PRISM_MAGNETIC, 500, 400, 30, 3, 4, 1e-10},
    {PS_PRISM_MAGNETIC, 4000, 1500, 30, 5, 7, 1e-10},
    {PS_PRISM_MAGNETIC, 400, 200, 1e6, 6, 6, 1e-8},
};
enum { CASES = sizeof cases / sizeof *cases, SAMPLES = 64 };

typedef struct check {
    const sum_case *of;
    int number;
    prism_case m;
    ps_prism_sum *sum[2]; /* of the cores, of the device */
} check;

static void tell(check *k, const char *what, bool good, double error)
{
    if (verdict_count(good))
        printf("%s case %d %s: %.2e, at most %.0e\n", good ? "ok" : "FAILED", k->number, what,
               error, k->of->limit);
}

static double largest(const double found[3]) { return fmax(found[0], fmax(found[1], found[2])); }

static void tell_difference(check *k, const char *what, double *const *a, double *const *b)
{
    double found[3];
    bool same = prism_case_differences(&k->m, a, b, found);
    tell(k, what, same && largest(found) <= k->of->limit, largest(found));
}

static ps_status open_sums(check *k, ps_device *device)
{
    ps_prism_sum_options o = {.height = k->of->height, .threads = 4};
    PS_TRY(ps_prism_sum_open(&k->m.bodies, &o, &k->sum[0]));
    o.device = device;
    PS_TRY(ps_prism_sum_open(&k->m.bodies, &o, &k->sum[1]));
    for (int i = 0; i < 2; ++i)
        PS_TRY(ps_prism_sum_operators(k->sum[i], k->of->order, pow(10, -k->of->order)));
    return PS_OK;
}

/* apply, the same again, another order with the near field kept. */
static ps_status check_apply(check *k)
{
    const double *const *weight = (const double *const *)k->m.weight;
    const size_t bytes = (size_t)k->m.bodies.stations * sizeof(double);
    double *again = malloc(bytes);
    PS_TRY(ps_prism_sum_apply(k->sum[0], weight, k->m.direct));
    PS_TRY(ps_prism_sum_apply(k->sum[1], weight, k->m.out));
    tell_difference(k, "forward", k->m.out, k->m.direct);
    memcpy(again, k->m.out[0], bytes);
    PS_TRY(ps_prism_sum_apply(k->sum[1], weight, k->m.out));
    tell(k, "repeated", memcmp(again, k->m.out[0], bytes) == 0, 0);
    free(again);
    for (int i = 0; i < 2; ++i) {
        PS_TRY(ps_prism_sum_operators(k->sum[i], 5, 1e-5));
        PS_TRY(ps_prism_sum_apply(k->sum[i], NULL, i ? k->m.out : k->m.direct));
    }
    tell_difference(k, "of another order", k->m.out, k->m.direct);
    return PS_OK;
}

static ps_status check_samples(check *k)
{
    int64_t places[SAMPLES], all = k->m.bodies.stations;
    prism_case some = k->m;
    some.bodies.stations = all < SAMPLES ? all : SAMPLES;
    for (int64_t i = 0; i < some.bodies.stations; ++i) places[i] = i * all / some.bodies.stations;
    PS_TRY(ps_prism_sum_samples(k->sum[0], places, some.bodies.stations, k->m.direct));
    PS_TRY(ps_prism_sum_samples(k->sum[1], places, some.bodies.stations, k->m.out));
    double found[3];
    bool same = prism_case_differences(&some, k->m.out, k->m.direct, found);
    tell(k, "directly", same && largest(found) <= k->of->limit, largest(found));
    return PS_OK;
}

/* Not at stations on edges: they are moved off. */
static ps_status check_transposed(check *k, ps_device *device)
{
    double *back[2][3], forward = 0, backward = 0, sizes = 0, error = 0, size = 0;
    uint64_t state = 23;
    for (int64_t i = 0; i < k->m.bodies.stations; ++i)
        for (int d = 0; d < 3; ++d) k->m.place[d][i] += 1e-3 * congruence_uniform(&state);
    for (int i = 0; i < 2; ++i) ps_prism_sum_close(&k->sum[i]);
    PS_TRY(open_sums(k, device));
    PS_TRY(ps_prism_sum_apply(k->sum[1], (const double *const *)k->m.weight, k->m.out));
    for (int n = 0; n < PRISM_NUMBERS; ++n)
        for (int64_t i = 0; i < k->m.bodies.stations; ++i)
            k->m.direct[n][i] = congruence_uniform(&state) - .5;
    for (int i = 0; i < 2; ++i) {
        for (int d = 0; d < 3; ++d) back[i][d] = prism_numbers(k->m.bodies.prisms);
        PS_TRY(ps_prism_sum_transposed(k->sum[i], (const double *const *)k->m.direct, back[i]));
    }
    for (int n = 0; n < ps_prism_kind_numbers(k->of->kind); ++n)
        for (int64_t i = 0; i < k->m.bodies.stations; ++i) {
            forward += k->m.out[n][i] * k->m.direct[n][i];
            sizes += fabs(k->m.out[n][i] * k->m.direct[n][i]);
        }
    for (int w = 0; w < ps_prism_kind_weights(k->of->kind); ++w)
        for (int64_t i = 0; i < k->m.bodies.prisms; ++i) {
            double off = back[1][w][i] - back[0][w][i];
            backward += k->m.weight[w][i] * back[1][w][i];
            error += off * off;
            size += back[0][w][i] * back[0][w][i];
        }
    tell(k, "transposed", sqrt(error / size) <= k->of->limit, sqrt(error / size));
    tell(k, "<J m, d> = <m, J^T d>", fabs(forward - backward) <= 1e-12 * sizes,
         fabs(forward - backward) / sizes);
    for (int i = 0; i < 6; ++i) free(back[i / 3][i % 3]);
    return PS_OK;
}

static ps_status run_case(check *k, ps_device *device)
{
    PS_TRY(open_sums(k, device));
    PS_TRY(check_apply(k));
    PS_TRY(check_samples(k));
    return check_transposed(k, device);
}

int main(int argc, char **argv)
{
    for (int i = verdict_open(0) ? 0 : CASES; i < CASES; ++i) {
        if (argc > 1 && atoi(argv[1]) != i) continue;
        check k = {.of = &cases[i], .number = i};
        prism_case_random(&k.m, k.of->kind, k.of->prisms, k.of->stations, k.of->spread);
        verdict_of(run_case(&k, verdict.device), "case %d (kind %d, height %d, l %d)", i,
                   (int)k.of->kind, k.of->height, k.of->order);
        for (int s = 0; s < 2; ++s) ps_prism_sum_close(&k.sum[s]);
        prism_case_release(&k.m);
    }
    return verdict_end();
}
