/*
 * entries: matrix entries of the four boundary operators, a block at a time (numerics guide 2):
 *
 *     SLP  int int psi_i g phi_j                    DLP  int int psi_i d_ny g phi_j
 *     ADLP int int psi_i d_nx g phi_j               HYPS minus the normal derivative of DLP
 *
 * Near blocks take, pair of triangles by pair, the singular rule of its contact or the regular rule
 * of its distance, fp64; HYPS by parts: int int g [curl psi_i . curl phi_j - k^2 n_x.n_y psi_i
 * phi_j]. Far blocks (disjoint supports) take one regular rule, the one of the distance of the two,
 * in fp64 or fp32, by rows and columns; HYPS by its own kernel. An entry is never mixed from both
 * forms.
 *
 * The edge rule is not symmetric: every singular pair is integrated in one order and mirrored, so
 * that S = S^T, W = W^T, K' = K^T hold up to rounding in near blocks of equal spaces.
 *
 * Numbers: value[part][..], one part for Laplace (k = 0), real and imaginary one for Helmholtz.
 */
#ifndef PS_KERNELS_HBEM_ENTRIES_H
#define PS_KERNELS_HBEM_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/hbem/pair_integrals.h"
#include "kernels/hbem/pair_table.h"
#include "kernels/hbem/surface.h"

/* Borrows all. The spaces are on one surface and in cluster order (or any other). HYPS needs a
 * continuous space on both sides for its weak form. */
typedef struct ps_hbem_operator {
    ps_hbem_kernel kernel;
    double wavenumber; /* k, rad/m; 0: Laplace */
    double absorption; /* the imaginary part of k, Np/m           */
    const ps_hbem_space *test, *trial;
    const ps_hbem_quadrature *quadrature;
    ps_precision far_precision;
    bool weak_far; /* HYPS in far blocks by its weak form, three to six times as dear and in fp32 a
                      hundred times less accurate than the direct one; for comparison          */
    bool one_rule; /* of a far block, as devices take it, not one for each pair of functions   */
} ps_hbem_operator;

/* PS_USAGE where HYPS is asked for on a space that is not continuous, k is negative, or there is
 * absorption without waves, or of the weak far form. */
ps_status ps_hbem_operator_check(const ps_hbem_operator *op);

/* Which functions of pair_integrals.h it takes. */
static inline int ps_hbem_mode(const ps_hbem_operator *op)
{
    return op->wavenumber == 0 ? 0 : op->absorption > 0 ? 2 : 1;
}

static inline int ps_hbem_parts(const ps_hbem_operator *op) { return op->wavenumber != 0 ? 2 : 1; }

/* Functions [begin, end) of a space. */
typedef struct ps_hbem_range {
    int64_t begin, end;
} ps_hbem_range;

/* Memory of a thread, cut into pieces from the front: base is 64-byte aligned; used <= bytes.
 * pairs: of the operator at hand, or NULL; threads share it. */
typedef struct ps_hbem_workspace {
    char *base;
    int64_t bytes, used;
    const ps_hbem_pair_table *pairs;
} ps_hbem_workspace;

/* A piece of the workspace; PS_EXHAUSTED where it is full. Given back by setting `used` back. */
ps_status ps_hbem_take(ps_hbem_workspace *workspace, int64_t bytes, void *out);

/* Bytes that a block of rows x columns needs in the functions below: an upper bound. */
int64_t ps_hbem_entries_bytes(const ps_hbem_operator *op, ps_hbem_range rows,
                              ps_hbem_range columns);

/* values[part][column][row] of the block, any block, touching or not; overwritten. */
ps_status ps_hbem_near_block(const ps_hbem_operator *op, ps_hbem_range rows, ps_hbem_range columns,
                             ps_hbem_workspace *workspace, double *values);

/* One side of a far block: its triangles in lanes. */
typedef struct ps_hbem_panel {
    ps_hbem_range range;
    const ps_hbem_space *space;
    int64_t triangle_count, blocks, items;
    int32_t *triangles; /* [triangle_count]                                       */
    int32_t *target;    /* [3 * triangle_count] position in the range, -1: outside */
    void *lanes;        /* [blocks][12][lanes]                                    */
    double low[3], high[3], centre[3];
    double diameter, jacobian; /* the largest of a triangle */
    struct ps_hbem_extent *extents; /* of the functions; NULL: the block's rule is the first one */
} ps_hbem_panel;

/* The box of a function's support, and its longest edge. */
typedef struct ps_hbem_extent {
    double low[3], high[3], diameter;
} ps_hbem_extent;

typedef struct ps_hbem_far {
    const ps_hbem_operator *op;
    ps_hbem_panel row, column;
    const ps_hbem_rule *rule; /* of all, or of the closest ones */
    double origin[3];
    void *sources, *sums;
    uint8_t *rule_of; /* [larger side] of a row or column: the rule with each function of the other
                         side */
    int32_t *some;    /* the triangles of the functions of one rule, and their lanes */
    void *some_lanes;
} ps_hbem_far;

/* Prepares rows and columns of a block whose supports are disjoint; everything is put into the
 * workspace. PS_FAILED where the supports touch. */
ps_status ps_hbem_far_open(ps_hbem_far *far, const ps_hbem_operator *op, ps_hbem_range rows,
                           ps_hbem_range columns, ps_hbem_workspace *workspace);

/* Row i (column j), counted from the begin of the range: values[part][columns] ([part][rows]). */
void ps_hbem_far_row(const ps_hbem_far *far, int64_t i, double *values);
void ps_hbem_far_column(const ps_hbem_far *far, int64_t j, double *values);

/* The same for one point instead of a function: the centroid of triangle t of the row panel, times
 * its area. First the kernel at the centroids of the column panel's triangles, times their areas,
 * then the integrals against the columns: values[part][column.triangle_count + columns]. And with
 * rows and columns exchanged. */
void ps_hbem_far_point_row(const ps_hbem_far *far, int64_t t, double *values);
void ps_hbem_far_point_column(const ps_hbem_far *far, int64_t t, double *values);

static inline void ps_hbem_far_line(const ps_hbem_far *far, bool column, int64_t index,
                                    double *values)
{
    column ? ps_hbem_far_column(far, index, values) : ps_hbem_far_row(far, index, values);
}

#endif
