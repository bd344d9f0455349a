/*
 * level_tables: the M2L operators of all levels of a tree, with their memory.
 */
#ifndef PS_PARTICLE_SUM_LEVEL_TABLES_H
#define PS_PARTICLE_SUM_LEVEL_TABLES_H

#include "kernels/fmm/evaluate.h"
#include "kernels/fmm/m2l_table.h"

/* Where they go: arrays by level, the caller's. */
typedef struct ps_fmm_level_set {
    int last; /* levels 2 .. last */
    const ps_octree_box *box;
    const ps_fmm_m2l_table **tables; /* of each level, with its factor and mean rank */
    double *factors, *mean_rank;
    ps_fmm_m2l_table *own; /* where tables and their memory are */
    void **blocks;         /* for free(), even on failure       */
} ps_fmm_level_set;

/* One table serves all levels where the kernel has a degree. *spec: all but rho. Errors as
 * ps_fmm_table_make, PS_EXHAUSTED. */
ps_status ps_fmm_level_tables(ps_fmm_table_spec *spec, ps_fmm_level_set *set);

#endif
