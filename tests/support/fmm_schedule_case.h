/*
 * The task set of fmm guide 6: cube, h = 7, n_g = 2000, nine X5650 cores and three M2070, at the
 * published rates. Kinds and priorities are those of Table 3 (heterogeneous row).
 */
#ifndef PS_TESTS_SUPPORT_FMM_SCHEDULE_CASE_H
#define PS_TESTS_SUPPORT_FMM_SCHEDULE_CASE_H

#include <math.h>
#include <stdlib.h>

#include "tests/support/schedule_simulate.h"

enum { CASE_P2M, CASE_M2M, CASE_L2L, CASE_M2L, CASE_P2P, CASE_L2P, CASE_KINDS };
enum { CASE_LARGE = 3, CASE_SMALL = 8, CASE_BUCKETS = 10, CASE_TASKS_MAX = 2000, CASE_LEVELS = 7 };

/* P2M, M2M, L2L, P2P large, M2L of levels 3 .. 6, P2P small, L2P. */
static const ps_bucket fmm_case_buckets[CASE_BUCKETS] = {
    {CASE_P2M, 0, -1, 0}, {CASE_M2M, 1, -1, 0}, {CASE_L2L, 2, -1, 0}, {CASE_P2P, 10, 0, 0},
    {CASE_M2L, 3, 2, 0},  {CASE_M2L, 4, 3, 0},  {CASE_M2L, 5, 4, 0},  {CASE_M2L, 6, 5, 0},
    {CASE_P2P, 7, 1, 0},  {CASE_L2P, 8, -1, 0}};

typedef struct fmm_case {
    int64_t count, edges, edge_capacity;
    double cpu[CASE_TASKS_MAX], gpu[CASE_TASKS_MAX];
    int buckets[CASE_TASKS_MAX];
    int64_t first[CASE_TASKS_MAX + 1], *before;
} fmm_case;

/* Appends a task that waits for the tasks from .. to - 1. */
static inline void fmm_case_add(fmm_case *c, int bucket, double cpu, double gpu, int64_t from,
                                int64_t to)
{
    int64_t t = c->count++;
    if (c->edges + to - from > c->edge_capacity) {
        c->edge_capacity = 2 * (c->edges + to - from);
        c->before = realloc(c->before, (size_t)c->edge_capacity * sizeof *c->before);
    }
    for (int64_t b = from; b < to; ++b) c->before[c->edges++] = b;
    c->buckets[t] = bucket;
    c->cpu[t] = cpu;
    c->gpu[t] = gpu;
    c->first[t + 1] = c->edges;
}

/* The share of group g of `cells` cells in a total, groups of 2000. */
static inline double fmm_case_share(int64_t cells, int g)
{
    int64_t left = cells - 2000 * (int64_t)g;
    return (double)(left < 2000 ? left : 2000) / (double)cells;
}

/* Acc is 3, 5 or 7. M2L waits for all M2M, L2L for all M2L, L2P for all L2L; M2M for nothing, for
 * so the guide's numbers were found. */
static inline void fmm_case_init(fmm_case *c, int accuracy)
{
    static const double m2l_flop[3] = {2.865e10, 3.295e11, 1.803e12};
    static const double cpu_rate[3] = {1.65e9, 3.87e9, 5.38e9};
    static const double gpu_rate[3] = {4.68e9, 17.7e9, 25.3e9};
    enum { LEAVES = 262144, GROUPS = 132, TRANSFERS = 150 };
    int a = (accuracy - 3) / 2;
    double l = accuracy, n = 30e6, core = 2e9, gpu = 66e9, cells = 0, p2p = 46 * 4.493e10;
    double p2m = n * (2 * l * l * l + 6 * l * l + 12 * l) / core;
    double l2p = n * (8 * l * l * l + 20 * l * l) / core, m2m = 12000 * l * l * l * l / core;
    *c = (fmm_case){0};
    for (int g = 0; g < GROUPS; ++g)
        fmm_case_add(c, 0, p2m * fmm_case_share(LEAVES, g), INFINITY, 0, 0);
    for (int g = 0; g < TRANSFERS; ++g) fmm_case_add(c, 1, m2m, INFINITY, 0, 0);
    int64_t up = c->count;
    for (int level = 3; level < CASE_LEVELS; ++level) cells += pow(8, level);
    for (int level = 3; level < CASE_LEVELS; ++level) {
        int64_t own = (int64_t)pow(8, level);
        for (int g = 0; 2000 * g < own; ++g) {
            double flop = m2l_flop[a] * (double)own / cells * fmm_case_share(own, g);
            fmm_case_add(c, level + 1, flop / cpu_rate[a], flop / gpu_rate[a], GROUPS, up);
        }
    }
    int64_t down = c->count;
    for (int g = 0; g < TRANSFERS; ++g) fmm_case_add(c, 2, m2m, INFINITY, up, down);
    for (int g = 0; g < GROUPS; ++g) {
        double flop = p2p * fmm_case_share(LEAVES, g);
        fmm_case_add(c, g < 66 ? CASE_LARGE : CASE_SMALL, flop / core, flop / gpu, 0, 0);
    }
    for (int g = 0; g < GROUPS; ++g)
        fmm_case_add(c, 9, l2p * fmm_case_share(LEAVES, g), INFINITY, down, down + TRANSFERS);
}

static inline void fmm_case_release(fmm_case *c) { free(c->before); }

static inline ps_schedule_problem fmm_case_problem(const fmm_case *c, int cpus, int gpus)
{
    return (ps_schedule_problem){.times = {c->count, c->cpu, c->gpu, cpus, gpus},
                                 .buckets = c->buckets,
                                 .first = c->first,
                                 .before = c->before};
}

static inline ps_heteroprio_config fmm_case_config(ps_termination termination, int cpus, int gpus)
{
    return (ps_heteroprio_config){.buckets = fmm_case_buckets,
                                  .bucket_count = CASE_BUCKETS,
                                  .cpus = cpus,
                                  .gpus = gpus,
                                  .termination = termination};
}

#endif
