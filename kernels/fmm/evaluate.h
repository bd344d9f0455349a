/*
 * evaluate: the whole method over trees in memory, operator by operator on ranges of cells, and one
 * plain evaluation with threads over ranges. The ranges are what tasks work on; the plain
 * evaluation is the reference of whatever schedules them.
 *
 *     P2M, M2M up to level 2; M2L on levels 2 .. h-1; L2L down; L2P; P2P of neighbour leaves
 *
 * Trees of height 1 and 2 are P2P alone. Sources and targets may be one tree (pairs of leaves are
 * then mutual) or two in the same box.
 */
#ifndef PS_KERNELS_FMM_EVALUATE_H
#define PS_KERNELS_FMM_EVALUATE_H

#include "formats/octree.h"
#include "kernels/fmm/cell.h"
#include "kernels/fmm/m2l.h"
#include "kernels/fmm/p2p.h"

enum {
    PS_FMM_BLOCK = 256 /* cells of M2L at a time: sources of one offset share its operator */
};

typedef enum ps_fmm_stage {
    PS_FMM_P2M,
    PS_FMM_M2M,
    PS_FMM_ENCODE,
    PS_FMM_M2L,
    PS_FMM_L2L,
    PS_FMM_L2P,
    PS_FMM_P2P,
    PS_FMM_STAGES
} ps_fmm_stage;

/* What is to be evaluated. All is borrowed; vectors get their places by ps_fmm_problem_attach. */
typedef struct ps_fmm_problem {
    const ps_octree *sources, *targets;      /* one pointer if they are the same             */
    ps_fmm_particles source_set, target_set; /* sorted; source_set alone if they are the same */
    ps_fmm_function function;
    int sides;              /* right-hand sides                             */
    ps_precision far, near; /* of vectors and their operators; of P2P       */
    ps_fmm_interpolation interpolation;
    /* Levels 2 .. h-1: the table, and what its result is multiplied with: (w/2)^a, or 1. */
    const ps_fmm_m2l_table *tables[PS_OCTREE_LEVELS_MAX];
    double factors[PS_OCTREE_LEVELS_MAX];
    /* real [sides][cells][l^3], coded [sides][cells][length]; levels 2 .. h-1. */
    void *multipoles[PS_OCTREE_LEVELS_MAX], *coded[PS_OCTREE_LEVELS_MAX];
    void *locals[PS_OCTREE_LEVELS_MAX];
    double seconds[PS_FMM_STAGES]; /* by ps_fmm_evaluate; of all processors         */
} ps_fmm_problem;

/* (w/2)^a on a level of a box: exact under scaling by powers of 2. 1 if the kernel has no degree.
 * */
double ps_fmm_level_factor(const ps_octree_box *box, int level, ps_fmm_kernel kernel);

/* Bytes of all vectors; their places in a block of that size (64-byte aligned). Multipoles and
 * locals must be 0 before P2M and L2L: ps_fmm_problem_attach clears them. */
int64_t ps_fmm_problem_bytes(const ps_fmm_problem *problem);
int64_t ps_fmm_problem_attach(ps_fmm_problem *problem, void *block);

/* Operators on cells [first, end) of a level, of the leaves' level for P2M, L2P and P2P; serial;
 * disjoint ranges may run at the same time. workspace: ps_fmm_m2l_workspace bytes, 64-byte aligned,
 * for M2L alone. */
typedef void ps_fmm_cells(const ps_fmm_problem *problem, int level, int64_t first, int64_t end,
                          void *workspace);
ps_fmm_cells ps_fmm_p2m_cells;
ps_fmm_cells ps_fmm_m2m_cells; /* parents on the level from their children, 2 <= level < h-1 */
ps_fmm_cells ps_fmm_encode_cells;
int64_t ps_fmm_m2l_workspace(const ps_fmm_problem *problem);
ps_fmm_cells ps_fmm_m2l_cells; /* targets on the level */
ps_fmm_cells ps_fmm_l2l_cells; /* from parents on the level to their children */
ps_fmm_cells ps_fmm_l2p_cells;
/* Target leaves: mutual among themselves (one tree), one-sided from all other neighbours. Results
 * of other leaves are not touched. */
ps_fmm_cells ps_fmm_p2p_cells;

/* Bytes of workspace for ps_fmm_evaluate with this many threads. */
int64_t ps_fmm_evaluate_workspace(const ps_fmm_problem *problem, int threads);

/* All between P2M and L2P: from multipoles, of cells of any levels, to locals. Trees of height 3 at
 * least. OpenMP inside. */
void ps_fmm_transfer(ps_fmm_problem *problem, int threads, void *workspace);

/* Adds all potentials and gradients. OpenMP inside; leaves are cut into `threads` ranges for P2P,
 * so the last bits of its sums depend on that number, nothing else does. */
void ps_fmm_evaluate(ps_fmm_problem *problem, int threads, void *workspace);

/* The same sums directly, for targets number indices[0 .. count) (sorted order) from all sources,
 * with fp64 P2P: potential[side][count], gradient[side][3][count] are overwritten. OpenMP inside.
 * */
void ps_fmm_direct(const ps_fmm_problem *problem, const int64_t *indices, int64_t count,
                   double *potential, double *gradient);

/* Adds the same sums for `count` targets from source_count sources, with fp64 P2P, as sources come
 * in pieces; width: of the box. Particles at one place do not act on each other. OpenMP inside. */
void ps_fmm_direct_add(const ps_fmm_function *function, int sides, double width,
                       const ps_fmm_particles *targets, int64_t count,
                       const ps_fmm_particles *sources, int64_t source_count);

#endif
