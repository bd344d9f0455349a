/*
 * group_near: direct interactions of the leaves of a group with whatever sources are at hand: the
 * group itself (mutual), copies of neighbour leaves of later groups ("augmented", mutual: results
 * go to the copies; RR-8513, section 3.1, guide 3), a group of another tree (one-sided).
 * kernels/fmm/evaluate.h uses the same code with all sources in one array.
 */
#ifndef PS_KERNELS_FMM_GROUP_NEAR_H
#define PS_KERNELS_FMM_GROUP_NEAR_H

#include "kernels/fmm/evaluate.h"

/* Sources at hand: leaves of a range, or those of a list. */
typedef struct ps_fmm_near_sources {
    const ps_fmm_particles *particles; /* with results where leaves are mutual               */
    /* a range: leaves [first, end); the arrays begin with sorted particle `begin`           */
    int64_t first, end, begin;
    int64_t mutual_first, mutual_end; /* leaves of one tree that are targets of this very call
                                         range: each pair of them is met once                */
    /* a list (leaves != NULL): ascending leaves, all mutual; leaf i has the particles
     * [start[i], start[i + 1]) of the arrays                                                 */
    const int64_t *leaves, *start;
    int64_t count;
} ps_fmm_near_sources;

/* Target leaves [first, end) with the neighbours of theirs that are at hand. targets: arrays that
 * begin with sorted particle `begin`; results are added. Serial. */
void ps_fmm_group_p2p(const ps_fmm_problem *problem, int64_t first, int64_t end,
                      const ps_fmm_particles *targets, int64_t begin,
                      const ps_fmm_near_sources *sources);

/* Places of the particles of listed leaves one after the other: start[count + 1]. */
void ps_fmm_near_start(const ps_octree *tree, const int64_t *leaves, int64_t count, int64_t *start);

/* Particles of one group: an array [3 + sides][particles] (positions, charges) and one of results
 * [4 sides][particles] (potentials, then gradients [sides][3]); either may be NULL. */
ps_fmm_particles ps_fmm_group_particles(const double *columns, double *results, int64_t particles,
                                        int sides);

#endif
