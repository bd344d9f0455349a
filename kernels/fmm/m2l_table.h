/*
 * m2l_table: the M2L table of a level (kernels/fmm/m2l.h) from kernel and accuracy in two steps, so
 * that the caller allocates:
 *
 *     ps_fmm_table_make(&spec, workspace, &table);  block = ... ps_fmm_m2l_bytes(&table) ...
 *     ps_fmm_m2l_attach(&table, block);  ps_fmm_table_fill(&spec, workspace, &table);
 */
#ifndef PS_KERNELS_FMM_M2L_TABLE_H
#define PS_KERNELS_FMM_M2L_TABLE_H

#include "kernels/fmm/m2l.h"

typedef struct ps_fmm_table_spec {
    ps_fmm_function function;
    int order;            /* l                                                        */
    double epsilon, rho;  /* as in kernels/fmm/m2l_operators.h                        */
    double basis_epsilon; /* a common basis cut there; 0: each operator by itself     */
    ps_precision precision;
} ps_fmm_table_spec;

/* Where to cut the common basis so that it is not seen in the result: at epsilon for kernels with a
 * pole, at epsilon / 16 for others (specs/fmm.md). */
double ps_fmm_basis_epsilon(ps_fmm_kernel kernel, double epsilon);

int64_t ps_fmm_table_workspace(const ps_fmm_table_spec *spec); /* bytes; 64-byte aligned */
/* Computes the operators and the shape of the table, on one thread: equal bits whatever the number
 * of processors. Errors as ps_fmm_operators_build. */
ps_status ps_fmm_table_make(const ps_fmm_table_spec *spec, void *workspace,
                            ps_fmm_m2l_table *table);
/* Fills the arrays, with the workspace as ps_fmm_table_make left it. */
void ps_fmm_table_fill(const ps_fmm_table_spec *spec, void *workspace, ps_fmm_m2l_table *table);

/* The mean rank over the 189 offsets of a full interaction list, of a child at any of its eight
 * places: an offset of 3 along an axis is there for one of two. 5.0, 12.5, 25.0 for 1/r, l = 3,
 * 5, 7. */
double ps_fmm_mean_rank(const ps_fmm_m2l_table *table);

#endif
