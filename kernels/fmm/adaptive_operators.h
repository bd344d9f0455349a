/*
 * adaptive_operators: the operators of adaptive_evaluate.h on ranges of cells, of leaves, and of
 * portions of the leaves, by one thread. Private to adaptive_evaluate.c.
 */
#ifndef PS_KERNELS_FMM_ADAPTIVE_OPERATORS_H
#define PS_KERNELS_FMM_ADAPTIVE_OPERATORS_H

#include "kernels/fmm/adaptive_evaluate.h"
#include "kernels/fmm/m2l_block.h"

/* Of a thread: pairs of M2L and their sums; the points of a cell as particles: positions, charges
 * and results. */
typedef struct ps_adaptive_thread {
    ps_fmm_m2l_block *block;
    char *sums;
    double *points;
    ps_adaptive_lists lists;
    ps_fmm_range *runs;
    int64_t capacity;
} ps_adaptive_thread;

/* Its part of the workspace. */
ps_adaptive_thread ps_adaptive_thread_of(const ps_adaptive_problem *problem, void *workspace,
                                         int thread);
void ps_adaptive_thread_release(ps_adaptive_thread *thread);

/* What a run shares. */
typedef struct ps_adaptive_scene {
    ps_adaptive_problem *p;
    const ps_adaptive_tree *t;
    const ps_fmm_particles *targets;
    char *multipoles, *locals, *coded[PS_ADAPTIVE_LEVELS];
    bool mutual; /* pairs of leaves of a portion are summed from both sides */
} ps_adaptive_scene;

/* With vectors of ps_adaptive_vector_bytes. */
ps_adaptive_scene ps_adaptive_scene_of(ps_adaptive_problem *problem, void *vectors);
/* Locals become 0, and multipoles, too, unless they are given. */
void ps_adaptive_clear(const ps_adaptive_scene *s, bool given);
/* What the boxes beyond the images do: to cells, once, and to leaves above those among `targets`.
 * OpenMP inside. */
void ps_adaptive_beyond(const ps_adaptive_scene *s, bool cells, ps_fmm_range targets);

/* On what lies in [first, end): cells of a level, leaves (L2P), portions (P2P). */
typedef ps_status ps_adaptive_operator(const ps_adaptive_scene *s, int level, int64_t first,
                                       int64_t end, ps_adaptive_thread *r);
ps_adaptive_operator ps_adaptive_lift; /* P2M, M2M */
ps_adaptive_operator ps_adaptive_encode;
ps_adaptive_operator ps_adaptive_m2l; /* PS_FMM_BLOCK cells at most */
ps_adaptive_operator ps_adaptive_p2l;
ps_adaptive_operator ps_adaptive_lower; /* L2L */
ps_adaptive_operator ps_adaptive_l2p;   /* M2P, too */
ps_adaptive_operator ps_adaptive_p2p;

#endif
