/*
 * group_solve_device: what group_solve.c and group_solve_cuda.cu share. Private to them.
 */
#ifndef PS_KERNELS_TDBEM_GROUP_SOLVE_DEVICE_H
#define PS_KERNELS_TDBEM_GROUP_SOLVE_DEVICE_H

#include "kernels/tdbem/group_solve.h"

/* Bytes of workspace on CUDA. */
int64_t ps_group_solve_cuda_workspace(int64_t unknowns, int64_t group, int64_t halo);
ps_status ps_group_solve_cuda(const ps_group_solve *solve, ps_stream *stream);

#endif
