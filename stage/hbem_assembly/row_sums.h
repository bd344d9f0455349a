/*
 * row_sums: what operators of Laplace on a closed surface are known to do to constants:
 *
 *     sum_j K_ij = -1/2 int psi_i,       of K' the sums over rows i: -1/2 int phi_j,
 *     sum_j W_ij = 0
 *
 * for trial functions (of K': test functions) that add up to 1. It shows wrong integrals of pairs
 * of triangles wherever they do not cancel along a row (of W they do: curls of constants are 0),
 * and blocks that are badly approximated.
 */
#ifndef PS_HBEM_ASSEMBLY_ROW_SUMS_H
#define PS_HBEM_ASSEMBLY_ROW_SUMS_H

#include "formats/hmatrix_blocks.h"
#include "kernels/hbem/surface.h"
#include "runtime/program.h"

/* Adds, over the leaves of a real matrix, sum_j A_ij to sums[rows], or with `columns`, of one that
 * is not symmetric, sum_i A_ij to sums[columns]. By all threads: last bits depend on them. */
void ps_hbem_row_sums_add(const ps_hmatrix *matrix, bool columns, double *sums);

/* diagonal[rows]: A_ii of the rows whose dense leaves on the diagonal are there; others stay. */
void ps_hbem_row_sums_diagonal(const ps_hmatrix *matrix, double *diagonal);

typedef struct ps_hbem_row_check {
    double error;         /* largest |sum_i + m_i/2| / (m_i/2), m_i = int psi_i; of W
                             |sum_i| / W_ii; or of a thirtieth of the mean of what is divided by
                             where that is larger; two digits                                     */
    int64_t worst, above; /* the function of it; functions above the limit                        */
    double place[3];      /* of the middle of one of its triangles, m                            */
    double aspect, angle; /* of its triangles: worst longest edge over height; sharpest angle
                             between two faces at an edge of theirs, degrees                      */
} ps_hbem_row_check;

/* Of sums[dofs] of the space. diagonal[dofs]: of W; NULL: of a double layer. integrals[dofs]:
 * scratch. limit: of `above`. */
void ps_hbem_row_sums_check(const ps_hbem_space *space, const double *sums, const double *diagonal,
                            double limit, double *integrals, ps_hbem_row_check *out);

/* Warns of an error above 2 eps, and refuses one above the limit of 10 (--allow row-sums). name: of
 * the matrix, or "". */
ps_status ps_hbem_row_sums_judge(const ps_hbem_row_check *check, double limit, const char *name,
                                 const ps_run *run);

/* To two digits, so that a figure does not depend on the last bits. */
double ps_hbem_two_digits(double value);

/* 10 eps, eps the larger of the tolerances of crosses and rules; fp32: 1e-5 at least. */
double ps_hbem_row_sums_limit(double tolerance, double rules, ps_precision precision);

#endif
