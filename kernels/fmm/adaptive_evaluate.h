/*
 * adaptive_evaluate: the method over an adaptive tree in memory (adaptive_tree.h), by the lists of
 * adaptive_lists.h:
 *
 *     P2M, M2M up to level 2; M2L, P2L; L2L; L2P; M2P; P2P
 *
 * of charges, of dipoles, or of both; potentials and gradients, and second derivatives where the
 * targets have room for them (particle_set.h).
 *
 *     M2P   phi_i += sum_m M_m K(x_i - y_m)     y_m: the Chebyshev points of the cell
 *     P2L   L_m += sum_j q_j K(y_m - x_j)
 *
 * Both are direct sums with the points as particles. Targets are evaluated by portions
 * (adaptive_share.h), all at once or a few after the other: the bits do not depend on that, nor on
 * the number of threads.
 */
#ifndef PS_KERNELS_FMM_ADAPTIVE_EVALUATE_H
#define PS_KERNELS_FMM_ADAPTIVE_EVALUATE_H

#include "kernels/fmm/adaptive_images.h"
#include "kernels/fmm/adaptive_share.h"
#include "kernels/fmm/cell.h"
#include "kernels/fmm/m2l.h"
#include "kernels/fmm/p2p.h"

typedef enum ps_adaptive_stage {
    PS_ADAPTIVE_P2M, /* with M2M */
    PS_ADAPTIVE_ENCODE,
    PS_ADAPTIVE_M2L,
    PS_ADAPTIVE_P2L,
    PS_ADAPTIVE_L2L,
    PS_ADAPTIVE_L2P, /* with M2P */
    PS_ADAPTIVE_P2P,
    PS_ADAPTIVE_STAGES
} ps_adaptive_stage;
extern const char *const ps_adaptive_stage_names[PS_ADAPTIVE_STAGES];

/* What is to be evaluated. All is borrowed. */
typedef struct ps_adaptive_problem {
    const ps_adaptive_tree *tree;
    ps_adaptive_rule rule;
    ps_fmm_particles sources, targets; /* sorted; sources alone if they are the same */
    ps_fmm_function function;
    int sides;
    const ps_periodic *periodic; /* NULL: one box, without images */
    ps_precision far, near;      /* of vectors and their operators; of P2P */
    ps_fmm_interpolation interpolation;
    /* Of levels 2 .. levels - 1: the table, and (w/2)^a or 1. */
    const ps_fmm_m2l_table *tables[PS_ADAPTIVE_LEVELS];
    double factors[PS_ADAPTIVE_LEVELS];
    double seconds[PS_ADAPTIVE_STAGES]; /* of all processors */
} ps_adaptive_problem;

/* Bytes of all vectors, and of the workspace for so many threads. Vectors begin with multipoles:
 * real [sides][cells][l^3]. */
int64_t ps_adaptive_vector_bytes(const ps_adaptive_problem *problem);
int64_t ps_adaptive_workspace(const ps_adaptive_problem *problem, int threads);

/* Overwrites all potentials and gradients. vectors and workspace: blocks of these sizes, 64-byte
 * aligned. OpenMP inside. PS_EXHAUSTED without memory for lists. */
ps_status ps_adaptive_evaluate(ps_adaptive_problem *problem, int threads, void *vectors,
                               void *workspace);

/* The same by stretches of portions. */
typedef struct ps_adaptive_evaluation {
    ps_adaptive_problem *problem;
    int threads;
    void *vectors, *workspace;
    bool given;                       /* the caller has put multipoles there           */
    bool lifted;                      /* all of them are there                         */
    int64_t done[PS_ADAPTIVE_LEVELS]; /* of each level, the cells before have locals   */
} ps_adaptive_evaluation;

/* Nothing is computed yet; all is borrowed, and stays as it is until the last stretch. */
void ps_adaptive_begin(ps_adaptive_problem *problem, int threads, void *vectors, void *workspace,
                       ps_adaptive_evaluation *out);
/* Potentials and gradients of the targets of portions [first, end), overwritten; stretches come in
 * ascending order. The first one makes all multipoles. OpenMP inside. */
ps_status ps_adaptive_evaluate_portions(ps_adaptive_evaluation *evaluation, int64_t first,
                                        int64_t end);

/* P2M and M2M alone, added to the multipoles that the vectors begin with: what is neither a leaf
 * nor has children keeps its own. No other vector is touched. OpenMP inside. */
ps_status ps_adaptive_multipoles(ps_adaptive_problem *problem, int threads, void *vectors,
                                 void *workspace);

#endif
