/*
 * stencil: the 27-point operator of a box of nodes (i, j, k) with the index (i ny + j) nz + k, which
 * krylov_team.h and krylov_device.h multiply by without a matrix (kernels/schwarz/grid.h makes it).
 */
#ifndef PS_KERNELS_LINEAR_STENCIL_H
#define PS_KERNELS_LINEAR_STENCIL_H

#include <stdbool.h>
#include <stdint.h>

/* 8 weights [|dx|][|dy|][|dz|] inside, other weights for dx = 0 on the faces of least and largest x
 * that are free. Nodes of all other faces are fixed: their rows are those of the identity. */
typedef struct ps_slab_stencil {
    int64_t nodes[3];
    bool free[2];
    double plane[3][2][2]; /* dx = 0: planes inside, the first, the last plane where free */
    double side[2][2];     /* dx = -1 and +1                                              */
} ps_slab_stencil;

static inline int64_t ps_stencil_rows(const ps_slab_stencil *s)
{
    return s->nodes[0] * s->nodes[1] * s->nodes[2];
}

/* True where the row of the node is that of the identity. */
static inline bool ps_stencil_fixed(const ps_slab_stencil *s, int64_t i, int64_t j, int64_t k)
{
    return (i == 0 && !s->free[0]) || (i == s->nodes[0] - 1 && !s->free[1]) || j == 0 ||
           j == s->nodes[1] - 1 || k == 0 || k == s->nodes[2] - 1;
}

#endif
