/*
 * exact_row: a row of a boundary operator by nothing that matrix entries use, for comparison: pairs
 * of triangles that are near by polar.h, the others by tensor products of Gauss rules with one
 * point more an axis than their distance needs; the weak form of HYPS in all places.
 */
#ifndef PS_KERNELS_HBEM_EXACT_ROW_H
#define PS_KERNELS_HBEM_EXACT_ROW_H

#include "kernels/hbem/entries.h"
#include "kernels/hbem/polar.h"

enum { PS_HBEM_EXACT_SIDE = 8 };

/* Borrows the operator, whose rules and precision are not used. */
typedef struct ps_hbem_exact {
    const ps_hbem_operator *op;
    double error; /* of a near pair, of the norm that entries are measured with */
    ps_hbem_polar_rules polar;
    ps_hbem_rule rule[PS_HBEM_EXACT_SIDE + 1];
} ps_hbem_exact;

void ps_hbem_exact_init(const ps_hbem_operator *op, double error, ps_hbem_exact *exact);

/* values[part][columns] of row `row`, overwritten. Returns what is estimated to be left of near
 * pairs, the root of the sum of its squares, in the unit of the values. Thread-safe. */
double ps_hbem_exact_row(const ps_hbem_exact *exact, int64_t row, double *values);

#endif
