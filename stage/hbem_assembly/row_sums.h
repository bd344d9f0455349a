/*
 * row_sums: what a double layer of Laplace on a closed surface is known to do to constants:
 *
 *     sum_j K_ij = -1/2 int psi_i,       of K' the sums over rows i: -1/2 int phi_j
 *
 * for trial functions (of K': test functions) that add up to 1. It shows wrong integrals of pairs
 * of triangles wherever they do not cancel along a row, and blocks that are badly approximated.
 */
#ifndef PS_HBEM_ASSEMBLY_ROW_SUMS_H
#define PS_HBEM_ASSEMBLY_ROW_SUMS_H

#include "formats/hmatrix_blocks.h"
#include "kernels/hbem/surface.h"

/* Adds, over the leaves of a real matrix that is not symmetric, sum_j A_ij to sums[rows], or
 * with `columns` sum_i A_ij to sums[columns]. By all threads: last bits depend on them. */
void ps_hbem_row_sums_add(const ps_hmatrix *matrix, bool columns, double *sums);

typedef struct ps_hbem_row_check {
    double error;         /* largest |sum_i + m_i/2| / (m_i/2), m_i = int psi_i; or of a thirtieth
                             of the mean m where that is larger; two digits                       */
    int64_t worst, above; /* the function of it; functions above the limit                        */
    double place[3];      /* of the middle of one of its triangles, m                            */
    double aspect, angle; /* of its triangles: worst longest edge over height; sharpest angle
                             between two faces at an edge of theirs, degrees                      */
} ps_hbem_row_check;

/* Of sums[dofs] of the space. integrals[dofs]: scratch. limit: of `above`. */
void ps_hbem_row_sums_check(const ps_hbem_space *space, const double *sums, double limit,
                            double *integrals, ps_hbem_row_check *out);

/* What a program says of a check above its limit, after "operands: ". */
#define PS_HBEM_ROW_SUMS_REFUSED                                                                   \
    "entries are wrong: constants give row sums that are off by %.2g (at most %.2g, 10 eps, is "   \
    "allowed) in %lld rows; the worst is at (%.6g, %.6g, %.6g), where triangles of aspect %.3g "   \
    "meet at %.3g degrees. Mesh it with better shaped triangles, or take finer --rules"
#define PS_HBEM_ROW_SUMS_FIGURES(check, limit)                                                     \
    (check).error, (limit), (long long)(check).above, (check).place[0], (check).place[1],          \
        (check).place[2], (check).aspect, (check).angle

/* 10 eps, eps the larger of the tolerances of crosses and rules; fp32: 1e-5 at least. */
double ps_hbem_row_sums_limit(double tolerance, double rules, ps_precision precision);

#endif
