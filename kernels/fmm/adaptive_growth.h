/*
 * adaptive_growth: an adaptive tree and its lists, made where the particles are: what
 * ps_adaptive_divide and ps_adaptive_plan_make do, level by level and each step for all cells side
 * by side, by an *engine*: a CUDA device, or the host in tests. One set of particles whose keys on
 * level PS_GROWTH_LEVEL are sorted; a tree that would be deeper, or has a leaf of more particles
 * than allowed, is refused, for the host to make. Leaves are in the order of cells.
 */
#ifndef PS_KERNELS_FMM_ADAPTIVE_GROWTH_H
#define PS_KERNELS_FMM_ADAPTIVE_GROWTH_H

#include "kernels/fmm/adaptive_plan.h"

enum { PS_GROWTH_LEVEL = 20, PS_GROWTH_LEVELS = PS_GROWTH_LEVEL + 1 };
enum {
    PS_GROWTH_SLOTS = 1024,     /* of sums that many add to                            */
    PS_GROWTH_BUCKETS = 1 << 16 /* stretches of particles whose work is told together  */
};

typedef enum ps_growth_step {                        /* and what each index is */
                              PS_GROWTH_ROOT,        /* 1: the root            */
                              PS_GROWTH_BORDERS,     /* cells of the level x 8 */
                              PS_GROWTH_COUNT,       /* cells of the level     */
                              PS_GROWTH_FILL,        /* cells of the level x 8 */
                              PS_GROWTH_AROUND,      /* their children x 27    */
                              PS_GROWTH_KINDS,       /* cells                  */
                              PS_GROWTH_BOXES,       /* cells                  */
                              PS_GROWTH_FAR,         /* cells x 28             */
                              PS_GROWTH_LABELS,      /* cells                  */
                              PS_GROWTH_ORDER,       /* cells                  */
                              PS_GROWTH_OCTANTS,     /* levels x 9             */
                              PS_GROWTH_LIST_COUNT,  /* leaves                 */
                              PS_GROWTH_LIST_FILL,   /* leaves                 */
                              PS_GROWTH_NEAR_COUNT,  /* cells                  */
                              PS_GROWTH_NEAR_FILL,   /* cells                  */
                              PS_GROWTH_SHARE_WORK,  /* cells                  */
                              PS_GROWTH_CUTS,        /* ranks x levels         */
                              PS_GROWTH_OWN_CELLS,   /* levels x 2             */
                              PS_GROWTH_OWN_LEAVES,  /* leaves                 */
                              PS_GROWTH_WORK_LEAVES, /* leaves                */
                              PS_GROWTH_WORK_CELLS,  /* cells                  */
                              PS_GROWTH_STEPS
} ps_growth_step;

/* A cell as ps_adaptive_cell, of one set: 32 bytes, which a memory fetches at once, as lists read
 * cells that lie anywhere. */
typedef struct ps_growth_cell {
    int32_t place[3]; /* on its level              */
    int32_t begin, end;
    int32_t parent, child; /* the first child; -1: a leaf */
    uint8_t children, octant, level;
} __attribute__((aligned(16))) ps_growth_cell;

/* Lists of a leaf as they are counted: a run is a stretch of the Morton order. */
enum { PS_GROWTH_KEPT_RUNS = 20, PS_GROWTH_KEPT_FAR = 16 };
typedef struct ps_growth_kept {
    ps_fmm_device_run direct[PS_GROWTH_KEPT_RUNS];
    int32_t far[PS_GROWTH_KEPT_FAR];
} ps_growth_kept;

/* What the steps read and write: arrays of the engine's memory. */
typedef struct ps_growth_arrays {
    ps_octree_box box;
    const uint64_t *keys;
    int32_t leaf_size, points; /* points: of the rule, whose pairs are 0 */
    int32_t level, levels, first, end, cells, leaves;
    int32_t level_start[PS_GROWTH_LEVELS + 1];
    int32_t divided_start[PS_GROWTH_LEVELS + 1]; /* divided cells before each level */
    ps_growth_cell *cell;
    uint32_t *leaves_around; /* [cells] bit n: the colleague at place n is a leaf     */
    int32_t (*around)[27];
    int32_t *borders;               /* [cells of the level][8]                           */
    int32_t *count[2], *start[2];   /* what is scanned, and its sums                     */
    int32_t *leaf_number, *divided; /* [cells + 1]: leaves, divided cells before each    */
    ps_growth_kept *kept;           /* [leaves] */
    uint64_t *labels;
    int32_t *numbers;
    int32_t *overfull; /* [1] */
    int64_t *work;     /* [4][PS_GROWTH_SLOTS]: direct, m2l, m2p, p2l of ps_adaptive_work */
    /* ---- of a share: targets [own_begin, own_end) ---- */
    bool shared;
    int32_t particles, own_begin, own_end;
    ps_adaptive_costs costs;
    int64_t *buckets;   /* [PS_GROWTH_BUCKETS] work of the targets that begin there       */
    int32_t *cuts;      /* [ranks][levels]: a particle; then where cells begin behind it   */
    int32_t *own_cells; /* [levels][2]: the first one, and behind the last one             */
    void *part[PS_PLAN_PARTS];
} ps_growth_arrays;

/* All but `take` only enqueue. */
typedef struct ps_growth_engine {
    void *self;
    ps_status (*each)(void *self, ps_growth_step step, const ps_growth_arrays *arrays,
                      int64_t count);
    /* to[i] = from[0] + .. + from[i - 1], i < count */
    ps_status (*scan)(void *self, const int32_t *from, int32_t *to, int64_t count);
    /* Stable, by labels; both arrays are replaced. */
    ps_status (*sort)(void *self, uint64_t **labels, int32_t **numbers, int64_t count, int bits);
    ps_status (*zero)(void *self, void *at, int64_t bytes);
    ps_status (*take)(void *self, void *host, const void *from, int64_t bytes); /* waits */
    ps_status (*give)(void *self, void *to, const void *host, int64_t bytes);   /* waits */
    /* PS_EXHAUSTED if there is no more. Kept until the engine's memory is used anew. */
    ps_status (*room)(void *self, int64_t bytes, void **out);
} ps_growth_engine;

/* tree: box, leaf_size and sets[0].points.count are set, and same, with a share room, too; shape
 * alone is made: levels, level_start, cells, leaves. plan: counts of parts, block_start;
 * the parts themselves are `parts`, of the engine. work, if not NULL: pairs of all kinds.
 * PS_INVALID: the host is to make it; PS_EXHAUSTED without memory. share: lists are of a share of
 * the targets (NULL: of all), balanced by direct pairs, M2L and M2P, as X is direct or short here;
 * `work` then is that of all shares, but for p2l and numbers of cells. */
ps_status ps_adaptive_grow(const ps_growth_engine *engine, const uint64_t *keys,
                           ps_adaptive_rule rule, const ps_adaptive_own *share,
                           ps_adaptive_tree *tree, ps_adaptive_plan *plan,
                           void *parts[PS_PLAN_PARTS], ps_adaptive_work *work);
/* Bytes of an engine's memory that most trees do with, the work's count included. */
int64_t ps_adaptive_growth_bytes(int64_t particles, int64_t leaf_size);

#endif
