/*
 * Radiation of a group of steps (kernels/tdbem/radiation_pass.h) over synthetic near matrices: rows
 * in a line, shells whose columns grow with their lag, as on a surface
 * (tests/support/group_case.h). Floor: reading what the passes read at the rate at which these
 * threads sum up the matrices; fraction = floor / time. Times are those of the busiest thread's
 * processor clock, best of several. BENCH_UNKNOWNS: default 4000.
 */
#include <omp.h>
#include <stdio.h>

#include "kernels/tdbem/radiation_pass.h"
#include "runtime/program.h"
#include "tests/check.h"
#include "tests/support/group_case.h"
#include "tests/support/record.h"
#include "tests/support/thread_clock.h"

enum { REPEATS = 5 };

/* ---- what is timed ---- */

static volatile double sink;

/* Bytes a second at which the threads sum up the values. */
static double read_rate(const ps_packed_near *p)
{
    int64_t bytes = p->value_count * PS_NEAR_ROWS * (p->precision == PS_SINGLE ? 4 : 8);
    double best = 1e30, clocks[THREADS_MAX];
    for (int repeat = 0; repeat < REPEATS; ++repeat) {
        int64_t sum = 0;
        read_clocks(clocks);
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (int64_t i = 0; i < bytes / 8; ++i) sum += ((const int64_t *)p->values)[i];
        best = fmin(best, busiest_since(clocks));
        sink = (double)sum;
    }
    return (double)bytes / best;
}

/* Of all passes of a group: heads and values of vectors that begin early enough. */
static double bytes_read(const ps_packed_near *p)
{
    double bytes = 0;
    int64_t item = p->precision == PS_SINGLE ? 4 : 8;
    for (int64_t g = 1; g < p->group; ++g)
        for (int64_t v = 0; v < p->vector_count; ++v) {
            int64_t lags = 2 * (g & -g) - p->vectors[v].first;
            if (lags <= 0) continue;
            int64_t width = p->vectors[v].width < lags ? p->vectors[v].width : lags;
            bytes += (double)(sizeof *p->vectors + PS_NEAR_ROWS * (1 + (size_t)(width * item)));
        }
    return bytes;
}

static double time_of_group(const ps_radiation *r, double *sums)
{
    double best = 1e30, clocks[THREADS_MAX];
    for (int repeat = 0; repeat < REPEATS; ++repeat) {
        read_clocks(clocks);
        for (int64_t g = 0; g < r->near->group; ++g) ps_radiation_step(r, g, sums);
        best = fmin(best, busiest_since(clocks));
    }
    return best;
}

/* ---- a case ---- */

static void bench(int64_t unknowns, int64_t group, ps_precision precision)
{
    PS_SCOPED(group_case_drop)
    group_case c = {.unknowns = unknowns,
                    .group = group,
                    .count = group,
                    .precision = precision,
                    .crowd = 3,
                    .dominance = 1.2,
                    .limit = 200,
                    .seed = 5};
    if (group_case_make(&c) != PS_OK) return;
    ps_radiation r = {.near = &c.packed, .recent = calloc((size_t)(group * unknowns), 8)};
    r.owed = calloc((size_t)(group * unknowns), sizeof *r.owed);
    r.past = calloc((size_t)ps_radiation_past_bytes(unknowns, group, precision), 1);
    PS_SCOPED_MEMORY double *sums = calloc((size_t)unknowns, sizeof *sums);
    double seconds = time_of_group(&r, sums), floor = bytes_read(&c.packed) / read_rate(&c.packed);
    bench_record_cores(
        "tdbem-radiation",
        text("a group, n_g = %d, %s", (int)group, precision == PS_SINGLE ? "f32" : "f64"),
        1e3 * seconds, "ms", 1e3 * floor, floor / seconds, (double)ps_near_entries(&c.near));
    PS_FREE((void *)r.recent, r.owed, r.past);
}

int main(void)
{
    const char *wanted = getenv("BENCH_UNKNOWNS");
    for (int precision = 0; precision < 2; ++precision)
        for (int64_t group = 8; group <= 32; group *= 2)
            bench(wanted ? atoll(wanted) : 4000, group, (ps_precision)precision);
    return 0;
}
