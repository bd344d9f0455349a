/*
 * product_transposed: y += A^T x by the plans and functions of product.h: of every leaf the share
 * that a symmetric matrix mirrors is taken alone.
 */
#ifndef PS_KERNELS_HBEM_PRODUCT_TRANSPOSED_H
#define PS_KERNELS_HBEM_PRODUCT_TRANSPOSED_H

#include "kernels/hbem/product.h"

/* Sets *view to the matrix with rows and columns exchanged, leaves and blocks as they are and
 * borrowed: to be planned with these functions, and for nothing else. Of a symmetric matrix
 * PS_USAGE: it is its own transpose. */
ps_status ps_product_transposed_view(const ps_hmatrix *matrix, ps_hmatrix *view);

int64_t ps_product_transposed_visits(const ps_hmatrix *view);

/* As ps_product_plan_init; ps_hmatrix_product then takes x[sides][parts][view columns] to
 * y[sides][parts][view rows]. */
void ps_product_plan_transposed(ps_product_plan *plan, const ps_hmatrix *view, int64_t *first,
                                int64_t *visits, int64_t *shares);

#endif
