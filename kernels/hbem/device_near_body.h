/*
 * Part of the near_*_cuda.cu files, inside a namespace: the slots of a near leaf, whether it has
 * close pairs, and the choice among launches by precision, kernel and wave number.
 */
#ifndef PS_KERNELS_HBEM_DEVICE_NEAR_BODY_H
#define PS_KERNELS_HBEM_DEVICE_NEAR_BODY_H

#include "kernels/hbem/device_close_body.h"

/* Slots of the two clusters of a leaf. */
struct leaf_slots {
    int row_begin, rows, column_begin, columns;
};

__device__ leaf_slots slots_of(const ps_hbem_near_launch &in, int64_t leaf)
{
    const ps_hbem_device_leaf at = in.near.leaves[leaf];
    const int r = in.op.test.cluster_of[at.row_begin];
    const int c = in.op.trial.cluster_of[at.column_begin];
    const int32_t *rows = in.op.test.slot_begin + r, *columns = in.op.trial.slot_begin + c;
    return {rows[0], rows[1] - rows[0], columns[0], columns[1] - columns[0]};
}

/* Whether the boxes are so far apart that no pair is close. */
__device__ bool all_apart(const ps_hbem_near_launch &in, int64_t leaf)
{
    const ps_hbem_device_leaf at = in.near.leaves[leaf];
    const double *a = in.op.test.box + 8 * (int64_t)in.op.test.cluster_of[at.row_begin];
    const double *b = in.op.trial.box + 8 * (int64_t)in.op.trial.cluster_of[at.column_begin];
    double gap2 = 0, reach = (2.1 + in.op.rules.distance[0]) * fmax(a[6], b[6]);
    for (int c = 0; c < 3; ++c) {
        double gap = fmax(a[c] - b[3 + c], b[c] - a[3 + c]);
        if (gap > 0) gap2 += gap * gap;
    }
    return gap2 > reach * reach;
}

/* Loads a function ahead of its first launch. */
template <class function> ps_status load_function(function *of)
{
    cudaFuncAttributes unused;
    PS_CUDA(cudaFuncGetAttributes(&unused, of));
    return PS_OK;
}

typedef ps_status (*near_function)(const ps_hbem_near_launch *, cudaStream_t);

#define NEAR_MODES(launch, store, real, kernel)                                                    \
    {                                                                                              \
        launch<store, real, kernel, STILL>, launch<store, real, kernel, WAVES>,                    \
            launch<store, real, kernel, DAMPED>                                                    \
    }
#define NEAR_TABLE(launch, store, real)                                                            \
    {                                                                                              \
        NEAR_MODES(launch, store, real, PS_KERNEL_SLP),                                            \
            NEAR_MODES(launch, store, real, PS_KERNEL_DLP),                                        \
            NEAR_MODES(launch, store, real, PS_KERNEL_ADLP),                                       \
            NEAR_MODES(launch, store, double, PS_KERNEL_HYPS),                                     \
    }

ps_status run_table(const near_function (*table)[PS_HBEM_KERNELS][MODES],
                    const ps_hbem_near_launch *launch, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    return table[launch->op.precision][launch->op.kernel][mode_of(launch->op)](
        launch, static_cast<cudaStream_t>(ps_stream_handle(stream)));
}

#endif
