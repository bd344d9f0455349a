/* Priorities, forecasts and the trace. */
#include <string.h>

#include "compute/fmm/run.h"

enum {
    P2P_LARGE = FMM_KINDS,
    REDUCE_SOON,             /* of each SAMPLE-th group: from these calibration learns in time what
                                all of them will take */
    LEVELS = REDUCE_SOON + 1 /* the first bucket of a level */
};
enum { SAMPLE = 12 };

/* Priorities of CPU workers alone, of CPU workers and of GPU workers (-1: never). The first and the
 * last of the others are Table 3 of RR-8513; the rest made the shortest simulated runs with times
 * as measured (specs/fmm_run.md). The upper levels first, where there is a bucket for each. */
enum { STEP = PS_OCTREE_LEVELS_MAX };
static const struct {
    int alone, cpu[4], gpu[4]; /* from FMM_GPU_DOWN on */
} priorities[LEVELS] = {[FMM_P2M] = {0, {1, 2, 1, 0}, {-1, -1, 4, -1}},
                        [FMM_M2M] = {1, {0, 1, 0, 1}, {-1, -1, 1, -1}},
                        [FMM_ENCODE] = {2, {2, 3, 2, 2}, {-1, -1, 6, -1}},
                        [FMM_L2L] = {3, {-1, 0, 5, 3}, {0, -1, 7, -1}},
                        [P2P_LARGE] = {4, {6, 7, 8, 8}, {3, 1, 0, 0}},
                        [FMM_M2L] = {5, {3, 5, 3, 4}, {2, 0, 3, 2}},
                        [FMM_P2P] = {6, {5, 6, 7, 5}, {3, 1, 5, 1}},
                        [FMM_L2P] = {7, {-1, 4, 6, 6}, {1, -1, 2, -1}},
                        [FMM_REDUCE] = {8, {4, 8, 4, 7}, {-1, -1, -1, -1}},
                        [REDUCE_SOON] = {8, {0, 0, 4, 7}, {-1, -1, -1, -1}}};

static ps_bucket bucket_of(int entry, int kind, int level, int gpus, int gpu_kinds)
{
    int cpu = gpus ? priorities[entry].cpu[gpu_kinds - FMM_GPU_DOWN] : priorities[entry].alone;
    int gpu = gpus ? priorities[entry].gpu[gpu_kinds - FMM_GPU_DOWN] : -1;
    return (ps_bucket){.kind = kind,
                       .cpu = cpu < 0 ? -1 : STEP * cpu + level,
                       .gpu = gpu < 0 ? -1 : STEP * gpu + level};
}

/* What all the rest waits for: M2L above the leaves, and what makes its codes but for the level
 * above the leaves, which is most of it. A core is at one of these tasks for longer than a GPU at
 * all of them. */
static bool is_of_top(const fmm_problem *p, int kind, int level)
{
    return kind == FMM_M2L ? level < p->leaf : level < p->leaf - 1;
}

/* The bucket of a level; that of the top is for GPUs alone, and the first for them. */
static ps_bucket level_bucket(const fmm_problem *p, int kind, int level, int gpu_kinds)
{
    ps_bucket bucket = bucket_of(kind, kind, level, p->gpus, gpu_kinds);
    bool top = p->gpus && (gpu_kinds == FMM_GPU_DOWN || gpu_kinds == FMM_GPU_TWO);
    if (top && kind != FMM_L2L && is_of_top(p, kind, level)) {
        bucket.cpu = -1;
        bucket.gpu = level;
    }
    return bucket;
}

/* Kinds with a bucket for each level, in this order. */
static const int by_level[] = {FMM_L2L, FMM_M2L, FMM_ENCODE, FMM_M2M};
enum { BY_LEVEL = sizeof by_level / sizeof *by_level };

int fmm_buckets(const fmm_problem *p, int gpu_kinds, ps_bucket *table)
{
    for (int k = 0; k < FMM_KINDS; ++k) table[k] = bucket_of(k, k, 0, p->gpus, gpu_kinds);
    table[P2P_LARGE] = bucket_of(P2P_LARGE, FMM_P2P, 0, p->gpus, gpu_kinds);
    table[REDUCE_SOON] = bucket_of(REDUCE_SOON, FMM_REDUCE, 0, p->gpus, gpu_kinds);
    for (int k = 0; k < BY_LEVEL; ++k)
        for (int l = 0; l < PS_OCTREE_LEVELS_MAX; ++l)
            table[LEVELS + k * PS_OCTREE_LEVELS_MAX + l] =
                level_bucket(p, by_level[k], l, gpu_kinds);
    return LEVELS + BY_LEVEL * PS_OCTREE_LEVELS_MAX;
}

int fmm_bucket(const fmm_problem *p, const fmm_task *task)
{
    for (int k = 0; k < BY_LEVEL; ++k)
        if (task->kind == (fmm_kind)by_level[k])
            return LEVELS + k * PS_OCTREE_LEVELS_MAX + task->level;
    if (task->kind == FMM_P2P && p->lists.near_flop[task->group] > p->lists.median_flop)
        return P2P_LARGE;
    return task->kind == FMM_REDUCE && task->group % SAMPLE == 0 ? REDUCE_SOON : (int)task->kind;
}

/* Flop/s for orders up to 4, up to 6, above: of a core of a Xeon with AVX-512 in fp64 while all
 * cores are at work, and of an H200 with groups of a thousand cells, eight tasks side by side
 * (specs/fmm_run.md). The task queue's calibration corrects what is wrong for a machine. */
static const struct {
    double cpu[3], gpu[3];
} rates[FMM_KINDS] = {[FMM_P2M] = {{16e9, 19e9, 22e9}, {3e12, 5e12, 8e12}},
                      [FMM_M2M] = {{5e9, 13e9, 17e9}, {0.3e12, 0.8e12, 1.5e12}},
                      [FMM_ENCODE] = {{12e9, 31e9, 47e9}, {1e12, 3e12, 5e12}},
                      [FMM_M2L] = {{14e9, 53e9, 75e9}, {7e12, 30e12, 26e12}},
                      [FMM_L2L] = {{5e9, 12e9, 15e9}, {0.3e12, 0.8e12, 1.5e12}},
                      [FMM_L2P] = {{19e9, 36e9, 40e9}, {4e12, 9e12, 10e12}},
                      [FMM_P2P] = {{40e9, 40e9, 40e9}, {15e12, 15e12, 15e12}},
                      [FMM_REDUCE] = {{0.145e9, 0.145e9, 0.145e9}, {0, 0, 0}}};

static int rate_of(const fmm_problem *p)
{
    int order = p->fmm.interpolation.order;
    return order <= 4 ? 0 : order <= 6 ? 1 : 2;
}

/* By how much longer a core takes beside twice as many others, from the 15 of the rates on, as they
 * share the memory. */
static const double crowding[FMM_KINDS] = {
    [FMM_P2M] = 0.25, [FMM_M2M] = 0.3,  [FMM_ENCODE] = 0.3, [FMM_M2L] = 0.3,
    [FMM_L2L] = 0.4,  [FMM_L2P] = 0.75, [FMM_REDUCE] = 0.6, [FMM_P2P] = 0};

double fmm_forecast(const fmm_problem *p, const fmm_task *task)
{
    enum { CORES = 15, MOST = 4 * CORES };
    double rate = rates[task->kind].cpu[rate_of(p)], crowd = crowding[task->kind];
    int workers = p->workers < CORES ? CORES : p->workers > MOST ? MOST : p->workers;
    if (task->kind == FMM_REDUCE && p->leaves_at_once) { /* no far results of their own */
        rate *= 1.1;
        crowd = 0.35;
    }
    if ((task->kind == FMM_P2P ? p->fmm.near : p->fmm.far) == PS_SINGLE) rate *= 2;
    return 1e-6 + task->flop / rate * (1 + crowd * ((double)workers / CORES - 1));
}

/* With what a launch takes: M2L goes through a list of offsets one after the other. */
double fmm_gpu_forecast(const fmm_problem *p, const fmm_task *task)
{
    double rate = rates[task->kind].gpu[rate_of(p)], launch = task->kind == FMM_M2L ? 6e-5 : 1e-5;
    return rate > 0 ? launch + task->flop / rate : 0;
}

ps_status fmm_save_trace(fmm_run *r)
{
    static const int64_t colours[FMM_KINDS] = {
        [FMM_P2M] = 0x0072b2, [FMM_M2M] = 0x56b4e9,   [FMM_ENCODE] = 0x8c6d31,
        [FMM_M2L] = 0x009e73, [FMM_L2L] = 0xe69f00,   [FMM_L2P] = 0xcc79a7,
        [FMM_P2P] = 0xffffff, [FMM_REDUCE] = 0x000000};
    ps_store_identity own = ps_run_identity(r->run, "penstock-task-trace", 1);
    for (int k = 0; k < FMM_KINDS; ++k) {
        ps_task_kind *kind = &r->trace.kinds[k];
        strncpy(kind->name, fmm_codelets[k].name, sizeof kind->name - 1);
        kind->colour = colours[k];
    }
    char path[4096];
    if (r->problem.ranks == 1) return ps_task_trace_save(r->options->trace, &r->trace, &own);
    ps_store_part_path(r->options->trace, 0, r->problem.rank, path); /* a trace for each rank */
    return ps_task_trace_save(path, &r->trace, &own);
}
