/* device_tree_floor: bytes of device memory that the steps of kernels/fmm/device_tree.h and
 * device_lists.h move at least. */
#ifndef PS_TESTS_SUPPORT_DEVICE_TREE_FLOOR_H
#define PS_TESTS_SUPPORT_DEVICE_TREE_FLOOR_H

#include "kernels/fmm/device_lists.h"

typedef struct device_tree_bytes {
    double sort, cells, lists;
    double columns; /* of four columns moved to another order */
    double invert;
} device_tree_bytes;

static inline device_tree_bytes device_tree_floor(const ps_device_sort *sort,
                                                  const ps_device_tree *tree)
{
    double n = (double)sort->count, key = sort->wide ? 8 : 4, cells = 0;
    for (int l = 0; l < tree->height; ++l) cells += (double)tree->cells[l];
    double inner = cells - (double)tree->cells[tree->height - 1];
    double passes = (3 * sort->level + 7) / 8; /* of 8 bits */
    return (device_tree_bytes){.sort = n * (24 + key + 4) + 2 * n * (key + 4) * passes + n * key,
                               .cells = n * key + 28 * cells + 44 * inner,
                               .lists = (108 + 8 + 4 + 44) * cells + 864 * inner,
                               .columns = n * (32 + 32 + 4 + 64 + 32),
                               .invert = n * (4 + 64)};
}

#endif
