/* entries_add: where the moments of a pair of triangles go in a near block. */
#ifndef PS_KERNELS_HBEM_ENTRIES_ADD_H
#define PS_KERNELS_HBEM_ENTRIES_ADD_H

#include "kernels/hbem/entries_internal.h"

/* Of a pair, by part and hats of its triangles, J J included. Where their sum alone is wanted:
 * [part][0][0]. */
typedef double ps_hbem_pair_sum[2][3][3];

typedef struct ps_hbem_near_target {
    const ps_hbem_operator *op;
    ps_hbem_range rows, columns;
    double *values;
    bool mirror; /* a symmetric diagonal block: a pair of triangles stands for both orders */
    bool sums;   /* ps_hbem_wants_sums                                                     */
} ps_hbem_near_target;

/* Adds the moments, by hats of row triangle and column triangle, to the entries they belong to;
 * HYPS by parts. Overwrites them. */
void ps_hbem_near_add(const ps_hbem_near_target *to, const int32_t pair_of[2],
                      ps_hbem_pair_sum sum);

/* The same by hats of the column's and of the row's. */
void ps_hbem_near_add_turned(const ps_hbem_near_target *to, const int32_t pair_of[2],
                             ps_hbem_pair_sum sum);

#endif
