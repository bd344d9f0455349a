/*
 * product: y += A x with an H-matrix in memory, several right-hand sides at once.
 *
 * First every leaf of low rank computes V^T x (and, for the leaf's transpose in a symmetric matrix,
 * U^T x), then every segment of 256 rows adds up its share of all leaves, in their order: the bits
 * do not depend on the number of threads. Sums are fp64.
 *
 * x and y have the parts of the matrix; a real matrix is applied to the parts of a complex vector
 * as two right-hand sides.
 */
#ifndef PS_KERNELS_HBEM_PRODUCT_H
#define PS_KERNELS_HBEM_PRODUCT_H

#include <stdint.h>

#include "formats/hmatrix_blocks.h"

enum { PS_PRODUCT_SEGMENT = 256 };

/* A leaf as it is (index 2 leaf), or transposed (2 leaf + 1) as a symmetric matrix mirrors those
 * that are not on its diagonal. */
typedef struct ps_product_share {
    int64_t leaf, row_begin, row_end, column_begin, column_end, rank;
    bool transposed;
} ps_product_share;
ps_product_share ps_product_share_of(const ps_hmatrix *matrix, int64_t index);
bool ps_product_share_exists(const ps_hmatrix *matrix, int64_t index);

/* Which leaves touch which segment: index 2 leaf + transposed. Arrays are the caller's. */
typedef struct ps_product_plan {
    const ps_hmatrix *matrix;
    int64_t segments;
    int64_t *first;  /* [segments + 1]                                                  */
    int64_t *visits; /* [ps_product_visits]                                             */
    int64_t *shares; /* [2 leaf_count + 1] where the products of a leaf begin in scratch */
} ps_product_plan;

int64_t ps_product_segments(const ps_hmatrix *matrix);
int64_t ps_product_visits(const ps_hmatrix *matrix);

/* Sets up a plan whose arrays are there; the matrix must be complete and stays borrowed. */
void ps_product_plan_init(ps_product_plan *plan, const ps_hmatrix *matrix, int64_t *first,
                          int64_t *visits, int64_t *shares);

/* Doubles of scratch for `sides` right-hand sides. */
int64_t ps_product_scratch(const ps_product_plan *plan, int64_t sides);

/* y[sides][parts][rows] += A x[sides][parts][columns]. */
void ps_hmatrix_product(const ps_product_plan *plan, int64_t sides, const double *x, double *y,
                        double *scratch);

/* Vectors of a block: number e of vector l, part p is at l vector + p part + e. */
typedef struct ps_product_vectors {
    const void *values;
    int64_t count, vector, part;
    int parts;
} ps_product_vectors;

/* Vectors of right-hand sides: element e of part p of side s is at data + s side + p part + e. */
typedef struct ps_product_lanes {
    double *data;
    int64_t part, side;
} ps_product_lanes;

enum { PS_PRODUCT_SIDES = 4, PS_PRODUCT_VECTORS = 4 }; /* taken at once */

/* Of the instruction sets, elements [begin, begin + n) of `count` vectors; x and y begin at the
 * first of them. reduce: out[l] = sum_e basis_l[e] x[e] expand: y[e] += sum_l basis_l[e] t[l] both
 * with the product of complex numbers, no conjugate, where there are two parts. */
struct ps_product_functions {
    void (*reduce[PS_PRECISION_COUNT])(const ps_product_vectors *basis, int64_t begin, int64_t n,
                                       int sides, ps_product_lanes x, ps_product_lanes out);
    void (*expand[PS_PRECISION_COUNT])(const ps_product_vectors *basis, int64_t begin, int64_t n,
                                       int sides, ps_product_lanes t, ps_product_lanes y);
};

#endif
