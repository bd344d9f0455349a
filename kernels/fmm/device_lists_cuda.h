/* Shared by device_lists.c and lists_cuda.cu. Private to them. */
#ifndef PS_KERNELS_FMM_DEVICE_LISTS_CUDA_H
#define PS_KERNELS_FMM_DEVICE_LISTS_CUDA_H

#include "kernels/fmm/device_lists.h"

enum { PS_DEVICE_LISTED = 2 /* the first level with far lists */ };

/* Target cells on the levels that have far lists. */
static inline int64_t ps_device_lists_cells(const ps_device_tree *targets)
{
    int64_t cells = 0;
    for (int l = PS_DEVICE_LISTED; l < targets->height; ++l) cells += targets->cells[l];
    return cells;
}

/* Workspace of CUB to sort so many cells. */
ps_status ps_device_lists_cuda_workspace(int64_t cells, int64_t *bytes);
ps_status ps_device_lists_cuda(const ps_device_tree *targets, const ps_device_tree *sources,
                               ps_device_lists *lists, ps_stream *stream);

#endif
