#include <cub/device/device_radix_sort.cuh>
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/fmm/device_lists_cuda.h"
}
#include "kernels/fmm/grid_body.h"

namespace
{

enum { AROUND = PS_DEVICE_AROUND, LABEL_BITS = AROUND + 3 + 5 /* pattern, octant, level */ };

/* ---- around ---- */

__global__ void around_root(int32_t *around)
{
    if (threadIdx.x < AROUND) around[threadIdx.x] = threadIdx.x == AROUND / 2 ? 0 : -1;
}

__global__ void __launch_bounds__(THREADS)
    around_children(const uint64_t *keys, const int32_t *parent, int64_t cells,
                    const int32_t *source_children, const int32_t *above, int32_t *around)
{
    for (int64_t i = thread_index(); i < cells * AROUND; i += thread_count()) {
        int64_t cell = i / AROUND;
        int n = (int)(i - cell * AROUND), octant = (int)(keys[cell] % OCTANTS);
        int x = (octant >> 2) + n / 9 + 1, y = (octant >> 1 & 1) + n / 3 % 3 + 1;
        int z = (octant & 1) + n % 3 + 1; /* 2 more than the place in the parent */
        int place = (x / 2 * 3 + y / 2) * 3 + z / 2;
        int child = (x & 1) << 2 | (y & 1) << 1 | (z & 1);
        int32_t uncle = above[(int64_t)parent[cell] * AROUND + place];
        around[i] = uncle >= 0 ? source_children[(int64_t)uncle * OCTANTS + child] : -1;
    }
}

/* The children of all cells around a parent; a thread for each of these cells. */
__global__ void __launch_bounds__(THREADS)
    list_far(const int32_t *around, int64_t count, const int32_t *source_children, int32_t *far)
{
    for (int64_t i = thread_index(); i < count; i += thread_count()) {
        int32_t uncle = around[i];
        int4 none = make_int4(-1, -1, -1, -1);
        const int4 *from = reinterpret_cast<const int4 *>(source_children) + 2 * (int64_t)uncle;
        int4 *to = reinterpret_cast<int4 *>(far) + 2 * i;
        to[0] = uncle >= 0 ? from[0] : none;
        to[1] = uncle >= 0 ? from[1] : none;
    }
}

/* ---- by octant, all levels at once ---- */

struct level_cells {
    int levels; /* of far lists */
    int64_t start[PS_OCTREE_LEVELS_MAX + 1];
    const uint64_t *keys[PS_OCTREE_LEVELS_MAX];
    const int32_t *parent[PS_OCTREE_LEVELS_MAX];
    const int32_t *above[PS_OCTREE_LEVELS_MAX]; /* cells around parents; NULL: not sparse */
};

__device__ inline uint64_t label_of(int level, int octant)
{
    return (uint64_t)(level * OCTANTS + octant) << AROUND;
}

__global__ void __launch_bounds__(THREADS)
    label_cells(level_cells all, uint64_t *labels, int32_t *numbers)
{
    for (int64_t i = thread_index(); i < all.start[all.levels]; i += thread_count()) {
        int level = 0;
        while (i >= all.start[level + 1]) ++level;
        int64_t cell = i - all.start[level];
        uint64_t label = label_of(level, (int)(all.keys[level][cell] % OCTANTS));
        if (all.above[level]) {
            const int32_t *around = all.above[level] + (int64_t)all.parent[level][cell] * AROUND;
            for (int n = 0; n < AROUND; ++n) label |= (uint64_t)(around[n] >= 0) << n;
        }
        labels[i] = label;
        numbers[i] = (int32_t)cell;
    }
}

struct octant_starts {
    int32_t *of[PS_OCTREE_LEVELS_MAX];
};

/* A block a level: where each octant begins among its sorted labels. */
__global__ void find_octants(level_cells all, const uint64_t *labels, octant_starts starts)
{
    int level = blockIdx.x, octant = threadIdx.x;
    int64_t first = all.start[level], low = first, high = all.start[level + 1];
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (labels[middle] < label_of(level, octant))
            low = middle + 1;
        else
            high = middle;
    }
    if (octant <= OCTANTS) starts.of[level][octant] = (int32_t)(low - first);
}

cudaError_t sort_labels(const ps_device_lists *lists, int64_t cells, bool patterns, void *workspace,
                        size_t *bytes, cudaStream_t on, int *current)
{
    cub::DoubleBuffer<uint64_t> labels(lists->labels[0], lists->labels[1]);
    cub::DoubleBuffer<int32_t> numbers(lists->numbers[0], lists->numbers[1]);
    cudaError_t error = cub::DeviceRadixSort::SortPairs(
        workspace, *bytes, labels, numbers, (int)cells, patterns ? 0 : AROUND, LABEL_BITS, on);
    *current = numbers.selector;
    return error;
}

ps_status order_by_octant(const ps_device_tree *targets, ps_device_lists *lists, cudaStream_t on)
{
    level_cells all = {};
    octant_starts starts = {};
    bool any = false;
    size_t bytes = (size_t)lists->workspace_bytes;
    int current;
    for (int l = PS_DEVICE_LISTED; l < targets->height; ++l) {
        all.keys[all.levels] = targets->keys[l];
        all.parent[all.levels] = targets->parent[l];
        all.above[all.levels] = ps_device_sparse(targets, l) ? lists->around[l - 1] : nullptr;
        any = any || all.above[all.levels];
        starts.of[all.levels] = lists->octant_start[l];
        all.start[all.levels + 1] = all.start[all.levels] + targets->cells[l];
        ++all.levels;
    }
    int64_t cells = all.start[all.levels];
    label_cells<<<blocks_for(cells), THREADS, 0, on>>>(all, lists->labels[0], lists->numbers[0]);
    PS_CUDA(cudaGetLastError());
    PS_CUDA(sort_labels(lists, cells, any, lists->workspace, &bytes, on, &current));
    find_octants<<<all.levels, 32, 0, on>>>(all, lists->labels[current], starts);
    PS_CUDA(cudaGetLastError());
    for (int i = 0; i < all.levels; ++i)
        lists->by_octant[PS_DEVICE_LISTED + i] = lists->numbers[current] + all.start[i];
    return PS_OK;
}

} // namespace

extern "C" ps_status ps_device_lists_cuda_workspace(int64_t cells, int64_t *bytes)
{
    ps_device_lists none = {};
    size_t needed = 0;
    int current;
    PS_CUDA(sort_labels(&none, cells, true, nullptr, &needed, nullptr, &current));
    *bytes = (int64_t)needed;
    return PS_OK;
}

extern "C" ps_status ps_device_lists_cuda(const ps_device_tree *targets,
                                          const ps_device_tree *sources, ps_device_lists *lists,
                                          ps_stream *stream)
{
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    around_root<<<1, 32, 0, on>>>(lists->around[0]);
    PS_CUDA(cudaGetLastError());
    for (int l = 1; l < targets->height; ++l) {
        around_children<<<blocks_for(targets->cells[l] * AROUND), THREADS, 0, on>>>(
            targets->keys[l], targets->parent[l], targets->cells[l], sources->children[l - 1],
            lists->around[l - 1], lists->around[l]);
        PS_CUDA(cudaGetLastError());
    }
    for (int l = PS_DEVICE_LISTED; l < targets->height; ++l) {
        int64_t places = targets->cells[l - 1] * AROUND;
        list_far<<<blocks_for(places), THREADS, 0, on>>>(lists->around[l - 1], places,
                                                         sources->children[l - 1], lists->far[l]);
        PS_CUDA(cudaGetLastError());
    }
    return targets->height > PS_DEVICE_LISTED ? order_by_octant(targets, lists, on) : PS_OK;
}
