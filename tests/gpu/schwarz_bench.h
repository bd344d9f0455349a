/*
 * schwarz_bench: a problem of the schwarz family on a device, medians of its times and JSON
 * records, for tests/gpu/bench_schwarz.c.
 */
#ifndef PS_TESTS_SCHWARZ_BENCH_H
#define PS_TESTS_SCHWARZ_BENCH_H

#include <stdio.h>

#include "runtime/compare.h"
#include "tests/support/device_clock.h"
#include "tests/support/record.h"
#include "tests/support/schwarz_device.h"

enum { ROUNDS = 7 };

typedef struct problem {
    const char *name; /* of its records */
    ps_precision precision;
    ps_q1_grid grid;
    ps_slab slab;
    ps_slab_stencil stencil;
    int64_t n, planes; /* planes: that a warp marches */
    double *host;      /* [n], f = 1 */
    void *b, *x, *y;
    place here;
} problem;

static inline void record(const problem *p, const char *what, const char *quantity, double seconds,
                          double floor)
{
    bench_record(bench_device(p->here.device), what,
                 text("%s, %s", quantity, p->precision == PS_SINGLE ? "fp32" : "fp64"),
                 1e6 * seconds, "us", 1e6 * floor, text("%lld unknowns", (long long)p->n));
}

/* The median of ROUNDS times of `count` runs that are enqueued, after one that is not counted. */
static inline ps_status timed(problem *p, ps_status (*run)(problem *, void *), void *context,
                              int count, double *out)
{
    PS_SCOPED(device_clock_close) device_clock clock = {0};
    double seconds[ROUNDS];
    PS_TRY(device_clock_open(&clock, p->here.stream));
    PS_TRY(run(p, context));
    for (int r = 0; r < ROUNDS; ++r) {
        PS_TRY(device_clock_start(&clock));
        for (int i = 0; i < count; ++i) PS_TRY(run(p, context));
        PS_TRY(device_clock_stop(&clock, &seconds[r]));
    }
    qsort(seconds, ROUNDS, sizeof *seconds, ps_compare_reals);
    *out = seconds[ROUNDS / 2] / count;
    return PS_OK;
}

static inline ps_status problem_make(const ps_q1_grid *grid, ps_precision precision,
                                     const char *name, problem *p)
{
    *p = (problem){.name = name, .precision = precision, .grid = *grid};
    p->slab = ps_slab_whole(grid);
    p->n = ps_q1_grid_size(grid);
    ps_slab_stencil_make(&p->slab, &p->stencil);
    PS_TRY(place_open(&p->here));
    ps_device_info info = ps_device_describe(p->here.device);
    p->planes = ps_stencil_device_planes(&p->stencil, info.multiprocessors);
    PS_TRY(PS_ALLOC(&p->host, p->n, "a load"));
    ps_unit_load(grid, &p->stencil, p->host);
    PS_TRY(place_vector(&p->here, precision, p->n, p->host, &p->b));
    PS_TRY(place_vector(&p->here, precision, p->n, p->host, &p->x));
    return place_vector(&p->here, precision, p->n, p->host, &p->y);
}

static inline void problem_drop(problem *p)
{
    place_close(&p->here);
    free(p->host);
}

/* Nodes along x, y, z; NULL: the largest matrix of the paper. */
static inline ps_status problem_of(const int64_t nodes[3], ps_precision precision, const char *name,
                                   problem *p)
{
    ps_q1_grid grid;
    if (nodes)
        PS_TRY(ps_q1_grid_make(nodes, (const double[3]){250, 250, 15}, &grid));
    else
        PS_TRY(ps_gravi_grid(PS_GRAVI_MATRICES - 1, &grid));
    return problem_make(&grid, precision, name, p);
}

#endif
