/*
 * device_prism_body: cells and cuts of prisms, as stage/prism_sum/tree.c has them, and how kernels
 * of a kind are started: what prism_near_cuda.cu and prism_far_cuda.cu share. Private to them.
 */
#ifndef PS_KERNELS_FMM_DEVICE_PRISM_BODY_H
#define PS_KERNELS_FMM_DEVICE_PRISM_BODY_H

extern "C" {
#include "kernels/fmm/device_ops.h"
#include "kernels/fmm/device_prism.h"
}

namespace
{

#include "kernels/fmm/device_body.h"

enum { WARP = 32, WARPS = 4, THREADS = WARPS * WARP };

__host__ __device__ constexpr int numbers_of_kind(int kind)
{
    return kind == PS_PRISM_GRAVITY ? 4 : kind == PS_PRISM_TENSOR ? 10 : 3;
}
__host__ __device__ constexpr int weights_of_kind(int kind)
{
    return kind == PS_PRISM_MAGNETIC ? 3 : 1;
}

/* ---- cells and cuts ---- */

struct cells_of {
    int64_t first[3], last[3];
};

KERNEL_INLINE int64_t within(double cell, int level)
{
    double last = (double)(((int64_t)1 << level) - 1);
    return (int64_t)fmax(0., fmin(cell, last));
}

KERNEL_INLINE cells_of find_cells(const ps_device_prisms &s, int level, int64_t prism)
{
    cells_of out;
    double scale = (double)((int64_t)1 << level) / s.box.width;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        out.first[d] = within(floor((s.low[d][prism] - s.box.corner[d]) * scale), level);
        out.last[d] = within(ceil((s.high[d][prism] - s.box.corner[d]) * scale) - 1, level);
        if (out.last[d] < out.first[d]) out.last[d] = out.first[d];
    }
    return out;
}

/* What of a prism lies in cells [first, last]; whether that is anything. */
KERNEL_INLINE bool cut(const ps_device_prisms &s, int level, int64_t prism, const cells_of &cells,
                       const int64_t first[3], const int64_t last[3], double low[3], double high[3])
{
    double width = ldexp(s.box.width, -level);
    bool any = true;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        low[d] = first[d] <= cells.first[d] ? s.low[d][prism]
                                            : s.box.corner[d] + (double)first[d] * width;
        high[d] = last[d] >= cells.last[d] ? s.high[d][prism]
                                           : s.box.corner[d] + (double)(last[d] + 1) * width;
        if (!(low[d] < high[d])) {
            high[d] = low[d];
            any = false;
        }
    }
    return any;
}

KERNEL_INLINE void stations_of(const ps_device_tree &t, int level, int64_t cell, int32_t *first,
                               int32_t *end)
{
    int64_t low = cell, high = cell + 1;
    for (int l = level; l < t.height - 1; ++l) {
        low = t.child_start[l][low];
        high = t.child_start[l][high];
    }
    *first = t.particle_start[low];
    *end = t.particle_start[high];
}

/* The cell of this key, or -1. */
KERNEL_INLINE int32_t find_key(const uint64_t *keys, int64_t count, uint64_t key)
{
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && keys[low] == key ? (int32_t)low : -1;
}

KERNEL_INLINE uint64_t spread(uint64_t x)
{
    x = (x ^ x << 32) & 0x1f00000000ffff;
    x = (x ^ x << 16) & 0x1f0000ff0000ff;
    x = (x ^ x << 8) & 0x100f00f00f00f00f;
    x = (x ^ x << 4) & 0x10c30c30c30c30c3;
    return (x ^ x << 2) & 0x1249249249249249;
}
KERNEL_INLINE uint64_t key_of(const int64_t at[3])
{
    return spread((uint64_t)at[0]) << 2 | spread((uint64_t)at[1]) << 1 | spread((uint64_t)at[2]);
}
KERNEL_INLINE void place_of(uint64_t key, int64_t out[3])
{
    for (int d = 0; d < 3; ++d) out[d] = key_axis(key >> (2 - d));
}

/* ---- launches ---- */

cudaStream_t handle_of(ps_stream *stream)
{
    return static_cast<cudaStream_t>(ps_stream_handle(stream));
}

unsigned blocks_for(int64_t count, int64_t a_block)
{
    return (unsigned)((count + a_block - 1) / a_block);
}

/* Calls start<kind>(..) of the kind of a sum. */
#define WITH_KIND(kind, call)                                                                      \
    switch (kind) {                                                                                \
    case PS_PRISM_GRAVITY:                                                                         \
        call(PS_PRISM_GRAVITY);                                                                    \
        break;                                                                                     \
    case PS_PRISM_TENSOR:                                                                          \
        call(PS_PRISM_TENSOR);                                                                     \
        break;                                                                                     \
    default:                                                                                       \
        call(PS_PRISM_MAGNETIC);                                                                   \
    }

} // namespace

#endif
