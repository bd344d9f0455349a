/*
 * factor_front_body: what the kernels of factor_cuda.cu know of a factor, of a depth and of a node.
 */
#ifndef PS_KERNELS_HBEM_FACTOR_FRONT_BODY_H
#define PS_KERNELS_HBEM_FACTOR_FRONT_BODY_H

#include "kernels/linear/complex_body.h"

enum { THREADS = 256, WARPS = THREADS / 32, BAND = PS_FACTOR_BAND };
static_assert(THREADS == BAND * BAND, "a thread a number of a block that is swept");

/* Of a factor: names as in ps_dissection and ps_factor_device. */
struct view {
    int64_t dofs, rows, stored, square, scratch; /* of a shift */
    int count;
    const int32_t *dof, *pivot_first, *child, *by_depth, *row, *gather, *entry;
    const int64_t *row_first, *number_first, *square_first, *scratch_first, *start;
    const double *mass, *stiffness;
    complex *numbers, *scratches, *in, *pivots, *x, *left;
    int32_t *bad;
    complex shift[PS_FACTOR_SHIFTS];
};

struct weights {
    complex weight[PS_FACTOR_SHIFTS];
};

/* Nodes by_depth[first ..], `tiles` blocks each; what those below left, and what these leave. */
struct level {
    int64_t first;
    int tiles;
    const complex *below;
    complex *left;
};

/* A node, of the shift blockIdx.y: scratch is B [pivots][rows], then twice [BAND][pivots]. */
struct front {
    int64_t first, pivots, rows, row_first;
    const int32_t *child, *gather;
    complex *numbers, *scratch, *square;
};

__device__ __forceinline__ front front_of(const view &v, const level &at, int64_t index)
{
    const int64_t node = v.by_depth[at.first + index], shift = blockIdx.y;
    front n;
    n.first = v.pivot_first[node];
    n.pivots = v.pivot_first[node + 1] - n.first;
    n.row_first = v.row_first[node];
    n.rows = v.row_first[node + 1] - n.row_first;
    n.child = v.child + 2 * node;
    n.gather = v.gather + 2 * (n.first + n.row_first);
    n.numbers = v.numbers + shift * v.stored + v.number_first[node];
    n.scratch = v.scratches + shift * v.scratch + v.scratch_first[node];
    n.square = at.left + shift * v.square + v.square_first[node];
    return n;
}

#endif
