/*
 * group_far: the operators of the far field on cells whose vectors lie in groups: what a task works
 * on. kernels/fmm/evaluate.h uses the same code with one group a level, so that the bits of each
 * vector depend on neither groups nor tasks.
 *
 * A group is `size` consecutive cells of a level; its vectors are one array of its own, real
 * [sides][cells of the group][length]. A task knows only the groups that it was given.
 */
#ifndef PS_KERNELS_FMM_GROUP_FAR_H
#define PS_KERNELS_FMM_GROUP_FAR_H

#include "kernels/fmm/evaluate.h"

/* base[g]: the vectors of group g; those of groups that a function does not meet may be anything.
 */
typedef struct ps_fmm_groups {
    int64_t size, cells; /* of a group (the last one may be shorter), of the level */
    void *const *base;
} ps_fmm_groups;

/* Cells [first, end) of group g. */
static inline void ps_fmm_group_range(const ps_fmm_groups *groups, int64_t g, int64_t *first,
                                      int64_t *end)
{
    *first = g * groups->size;
    *end = groups->cells - *first < groups->size ? groups->cells : *first + groups->size;
}

/* All functions: cells [first, end) of the level of what is written, which lie in one of its
 * groups; vectors of the problem are not used. Serial; disjoint ranges may run at the same time.
 * Results are added, by M2L as well. */

/* particles: arrays that begin with particle `begin` of the sorted order. */
void ps_fmm_group_p2m(const ps_fmm_problem *problem, int64_t first, int64_t end,
                      const ps_fmm_particles *particles, int64_t begin,
                      const ps_fmm_groups *multipoles);
/* Parents on `level` from their children. */
void ps_fmm_group_m2m(const ps_fmm_problem *problem, int level, int64_t first, int64_t end,
                      const ps_fmm_groups *children, const ps_fmm_groups *parents);
/* Overwrites the codes. */
void ps_fmm_group_encode(const ps_fmm_problem *problem, int level, int64_t first, int64_t end,
                         const ps_fmm_groups *multipoles, const ps_fmm_groups *coded);
/* workspace: ps_fmm_m2l_workspace bytes, 64-byte aligned. */
void ps_fmm_group_m2l(const ps_fmm_problem *problem, int level, int64_t first, int64_t end,
                      const ps_fmm_groups *coded, const ps_fmm_groups *locals, void *workspace);
/* Children on `level` from their parents. */
void ps_fmm_group_l2l(const ps_fmm_problem *problem, int level, int64_t first, int64_t end,
                      const ps_fmm_groups *parents, const ps_fmm_groups *children);
void ps_fmm_group_l2p(const ps_fmm_problem *problem, int64_t first, int64_t end,
                      const ps_fmm_particles *particles, int64_t begin,
                      const ps_fmm_groups *locals);

/* The parent, a cell of the level above, of cell `child` of `level`. O(log). */
int64_t ps_fmm_parent(const ps_octree *tree, int level, int64_t child);

/* Bytes of a vector, and of a code, of one cell and side. */
int64_t ps_fmm_vector_bytes(const ps_fmm_problem *problem);
int64_t ps_fmm_code_bytes(const ps_fmm_problem *problem, int level);

/* Centre and width of a cell. */
void ps_fmm_cell_centre(const ps_octree *tree, int level, int64_t cell, double centre[3],
                        double *width);

#endif
