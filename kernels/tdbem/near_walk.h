/*
 * near_walk: the entries M^k(i,j) of a tile with k < n_g, whatever its layout; exact zeros are left
 * out, so all layouts give the same ones.
 */
#ifndef PS_KERNELS_TDBEM_NEAR_WALK_H
#define PS_KERNELS_TDBEM_NEAR_WALK_H

#include <stdint.h>

#include "kernels/tdbem/slice_product.h"

typedef struct ps_near_walk {
    int64_t group; /* n_g */
    ps_precision precision;
    void (*visit)(void *context, int64_t k, int64_t row, int64_t column, double value);
    void *context;
} ps_near_walk;

/* Visits them slice by slice, k ascending in a row; rows and columns are those of the matrix. Of
 * the product only `layout`, tile and block shape are used. Large tiles of warps are walked by
 * several threads at once, each warps (PS_WARP_ROWS rows) of its own. */
void ps_near_walk_tile(const ps_near_walk *walk, const ps_slice_product *tile);

#endif
