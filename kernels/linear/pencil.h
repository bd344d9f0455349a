/*
 * pencil: two sparse symmetric matrices M and L of one pattern, of which systems M - c L are made.
 */
#ifndef PS_KERNELS_LINEAR_PENCIL_H
#define PS_KERNELS_LINEAR_PENCIL_H

#include <stdint.h>

/* All arrays are the caller's. Columns ascend in a row. */
typedef struct ps_pencil {
    int64_t dofs, nnz;
    int64_t *start;    /* [dofs + 1]      */
    int32_t *column;   /* [nnz]           */
    double *mass;      /* [nnz] M, m^2    */
    double *stiffness; /* [nnz] L, 1      */
} ps_pencil;

#endif
