/* Shared by device_tree.c and tree_cuda.cu. Private to them. */
#ifndef PS_KERNELS_FMM_DEVICE_TREE_CUDA_H
#define PS_KERNELS_FMM_DEVICE_TREE_CUDA_H

#include "kernels/fmm/device_tree.h"

/* Workspace of CUB for sorting and selecting. */
ps_status ps_device_sort_cuda_workspace(const ps_device_sort *sort, int64_t *bytes);
ps_status ps_device_sort_cuda(ps_device_sort *sort, const ps_tree_points *points,
                              ps_stream *stream);
ps_status ps_device_refine_cuda(const ps_device_sort *sort, const ps_tree_points *points,
                                int64_t most, ps_stream *stream);
ps_status ps_device_invert_cuda(const ps_device_sort *sort, ps_stream *stream);
/* to[c][i] = from[c][index[i]]. */
ps_status ps_device_columns_cuda(const ps_device_sort *sort, const ps_device_columns *columns,
                                 const int32_t *index, ps_stream *stream);
ps_status ps_device_tree_cuda(const ps_device_sort *sort, ps_device_tree *tree, ps_stream *stream);

#endif
