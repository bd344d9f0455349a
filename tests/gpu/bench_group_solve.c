/*
 * The steps of a group on the CUDA device: near matrices of the size that the airplane has, 21
 * entries a row of M^0. Floor: the bytes of the near matrices that the passes must read, at the
 * card's measured bandwidth. Prints JSON records.
 */
#include <stdio.h>

#include "tests/support/device_clock.h"
#include "tests/support/group_case.h"
#include "tests/support/record.h"

static const double bandwidth = 4.58e12; /* bytes/s */
enum { ROUNDS = 12 };

/* Bytes of near matrices that a group must read. */
static double near_traffic(const ps_packed_near *p, int64_t item)
{
    double bytes = 0;
    for (int64_t g = PS_NEAR_STRIDE; g < p->group; g += PS_NEAR_STRIDE)
        for (int64_t w = 0; w * PS_NEAR_ROWS < p->unknowns; ++w) {
            int64_t last =
                g + PS_NEAR_STRIDE - 1 < p->group ? g + PS_NEAR_STRIDE - 1 : p->group - 1;
            const ps_near_vector *v = p->vectors + p->vector_start[w];
            for (int32_t k = 0; k < p->reach[w * p->group + last]; ++k) {
                int64_t width =
                    last + 1 - v[k].first < v[k].width ? last + 1 - v[k].first : v[k].width;
                bytes += (double)(PS_NEAR_ROWS * (width * item + 1) + (int64_t)sizeof *v);
            }
        }
    return bytes;
}

static ps_status time_groups(group_place *p, double *seconds)
{
    PS_SCOPED(device_clock_close) device_clock clock = {0};
    PS_TRY(device_clock_open(&clock, p->stream));
    for (int round = -3; round < ROUNDS; ++round) {
        if (round == 0) PS_TRY(device_clock_start(&clock));
        PS_TRY(ps_group_solve_run(&p->solve, p->stream));
    }
    PS_TRY(device_clock_stop(&clock, seconds));
    *seconds /= ROUNDS;
    return PS_OK;
}

static ps_status measure(group_case *c, const char *what)
{
    group_place p = {0};
    group_answer a = {0};
    double seconds = 0, iterations = 0;
    ps_status status;
    PS_GUARD(status, done, group_case_make(c));
    PS_GUARD(status, done, group_case_place(c, "cuda:0", &p));
    PS_GUARD(status, done, time_groups(&p, &seconds));
    PS_GUARD(status, done, group_case_fetch(c, &p, &a));
    for (int64_t g = 0; g < c->count; ++g) {
        iterations += a.steps[g].iterations / (double)c->count;
        if (a.steps[g].state != PS_GROUP_SOLVED)
            status = ps_fail(PS_FAILED, "step %d ended as %g", (int)g, a.steps[g].state);
    }
    double floor =
        near_traffic(&c->packed, ps_real_bytes(c->precision)) / bandwidth / (double)c->count;
    double step = seconds / (double)c->count;
    bench_record(bench_device(p.device), text("group-solve/%s-n_g-%lld", what, (long long)c->group),
                 "time-per-step", 1e6 * step, "us", 1e6 * floor,
                 text("%lld unknowns, %.3g near entries, %.1f iterations", (long long)c->unknowns,
                      (double)ps_near_entries(&c->near), iterations));
done:
    group_answer_free(&a);
    if (p.device) group_case_leave(&p);
    group_case_drop(c);
    return status;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 5; /* the first cases alone */
    static const struct {
        const char *what;
        int64_t group;
        double crowd;
        ps_precision precision;
    } cases[] = {{"fp32-cg-alone", 16, 1e-9, PS_SINGLE},
                 {"fp32", 8, 0.93, PS_SINGLE},
                 {"fp32", 16, 0.93, PS_SINGLE},
                 {"fp32", 32, 0.93, PS_SINGLE},
                 {"fp64", 16, 0.93, PS_DOUBLE}};
    for (int i = 0; i < count && i < 5; ++i) {
        group_case c = {.unknowns = 24001,
                        .group = cases[i].group,
                        .count = cases[i].group,
                        .precision = cases[i].precision,
                        .crowd = cases[i].crowd,
                        .limit = 200,
                        .dominance = 1.05,
                        .seed = 3,
                        .tolerance = cases[i].precision == PS_SINGLE ? 1e-7 : 1e-12};
        if (measure(&c, cases[i].what) == PS_OK) continue;
        fprintf(stderr, "bench_group_solve: %s\n", ps_message());
        return 1;
    }
    return 0;
}
