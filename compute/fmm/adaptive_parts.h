/*
 * adaptive_parts: what adaptive.c, which decides and plans, and adaptive_run.c share. Private to
 * them.
 */
#ifndef PS_COMPUTE_FMM_ADAPTIVE_PARTS_H
#define PS_COMPUTE_FMM_ADAPTIVE_PARTS_H

#include "compute/fmm/adaptive.h"
#include "compute/fmm/adaptive_gpu.h"
#include "kernels/fmm/adaptive_evaluate.h"

enum { FMM_ADAPTIVE_PIECE = 1 << 16 /* targets whose results are taken at a time */ };

struct fmm_adaptive {
    ps_adaptive_tree tree;
    ps_adaptive_work work;
    ps_adaptive_problem problem;
    double *columns[2]; /* sorted: [3 + S][sources], targets apart: [3][targets]          */
    double *results;    /* of the targets, sorted: [4 S][targets]                         */
    int64_t *inverse;   /* of each target of the file its place among the sorted ones     */
    ps_fmm_m2l_table tables[PS_ADAPTIVE_LEVELS];
    void *blocks[PS_ADAPTIVE_LEVELS], *vectors, *workspace;
    double ranks[PS_ADAPTIVE_LEVELS]; /* mean ones */
    double building;
    int64_t least; /* memory that the octree's tree takes at least, for a plan; 0: not asked */
    fmm_adaptive_gpu *gpu; /* NULL: on cores */
};

/* Rows of a set of particles, the set of the targets, and which side of the file a set is. */
static inline int fmm_adaptive_rows(const fmm_problem *p, int set)
{
    return set ? 3 : 3 + p->fmm.sides;
}
static inline int fmm_adaptive_last(const fmm_problem *p) { return p->same ? 0 : 1; }
static inline ps_octree_side fmm_adaptive_side(int set)
{
    return set ? PS_OCTREE_TARGETS : PS_OCTREE_SOURCES;
}

/* The problem of the order and the precision that hold now; results where there are some. */
void fmm_adaptive_configure(fmm_adaptive *a, const fmm_problem *p);

#endif
