#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>
#include <cuda_runtime.h>
#include <thrust/iterator/counting_iterator.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/fmm/adaptive_tree.h"
#include "kernels/fmm/device_tree_cuda.h"
}
#include "kernels/fmm/grid_body.h"

namespace
{

#define KERNEL_INLINE __device__ inline
#include "kernels/fmm/morton_body.h"

cudaStream_t handle_of(ps_stream *stream)
{
    return static_cast<cudaStream_t>(ps_stream_handle(stream));
}

/* ---- keys: as kernels/fmm/tree.c, operation by operation ---- */

struct axis_scale {
    double corner[3], end[3], scale, last;
};

axis_scale scale_of(const ps_octree_box &box, int level)
{
    axis_scale s;
    s.scale = (double)((int64_t)1 << level) / box.width;
    s.last = (double)(((int64_t)1 << level) - 1);
    for (int d = 0; d < 3; ++d) {
        s.corner[d] = box.corner[d];
        s.end[d] = box.corner[d] + box.width;
    }
    return s;
}

__device__ inline uint64_t cell_of(double x, double corner, double scale, double last)
{
    double cell = (x - corner) * scale;
    cell = cell < last ? cell : last;
    return (uint64_t)(int32_t)(cell > 0 ? cell : 0);
}

/* Bit i to bit 3 i, 21 bits. */
__device__ inline uint64_t spread(uint64_t v)
{
    v = (v | v << 32) & 0x001f00000000ffffull;
    v = (v | v << 16) & 0x001f0000ff0000ffull;
    v = (v | v << 8) & 0x100f00f00f00f00full;
    v = (v | v << 4) & 0x10c30c30c30c30c3ull;
    return (v | v << 2) & 0x1249249249249249ull;
}

template <typename key_type>
__global__ void __launch_bounds__(THREADS) make_keys(ps_tree_points p, axis_scale s, key_type *keys,
                                                     int32_t *order, unsigned long long *outside)
{
    for (int64_t i = thread_index(); i < p.count; i += thread_count()) {
        double at[3] = {p.x[i], p.y[i], p.z[i]};
        uint64_t key = 0;
        bool inside = true;
        for (int d = 0; d < 3; ++d) {
            key |= spread(cell_of(at[d], s.corner[d], s.scale, s.last)) << (2 - d);
            inside = inside && at[d] >= s.corner[d] && at[d] <= s.end[d];
        }
        keys[i] = (key_type)key;
        order[i] = (int32_t)i;
        if (!inside) atomicAdd(outside, 1ull);
    }
}

/* How many levels above theirs two keys first share a cell; 0 for equal keys. */
__device__ inline int levels_apart(uint64_t a, uint64_t b)
{
    return a == b ? 0 : (66 - __clzll((long long)(a ^ b))) / 3;
}

template <typename key_type>
__global__ void __launch_bounds__(THREADS)
    take_census(const key_type *keys, int64_t count, unsigned long long *census)
{
    __shared__ unsigned int here[PS_OCTREE_LEVELS_MAX + 1];
    for (int l = threadIdx.x; l <= PS_OCTREE_LEVELS_MAX; l += THREADS) here[l] = 0;
    __syncthreads();
    for (int64_t i = thread_index() + 1; i < count; i += thread_count()) {
        int apart = levels_apart(keys[i - 1], keys[i]);
        if (apart) atomicAdd(&here[apart], 1u);
    }
    __syncthreads();
    for (int l = threadIdx.x; l <= PS_OCTREE_LEVELS_MAX; l += THREADS)
        if (here[l]) atomicAdd(&census[l], (unsigned long long)here[l]);
}

/* ---- order ---- */

template <typename key_type>
cudaError_t sort_pairs(const ps_device_sort *s, void *workspace, size_t *bytes, cudaStream_t on,
                       int *current)
{
    cub::DoubleBuffer<key_type> keys(static_cast<key_type *>(s->key_space[0]),
                                     static_cast<key_type *>(s->key_space[1]));
    cub::DoubleBuffer<int32_t> order(s->order_space[0], s->order_space[1]);
    cudaError_t error = cub::DeviceRadixSort::SortPairs(
        workspace, *bytes, keys, order, (int)s->count, 0, s->level > 0 ? 3 * s->level : 1, on);
    *current = keys.selector;
    return error;
}

/* On the adaptive tree's deepest level, as ps_adaptive_low_key has it. */
__device__ inline void deep_place(const ps_tree_points &p, const axis_scale &s, int32_t i,
                                  int64_t place[3])
{
    const double at[3] = {p.x[i], p.y[i], p.z[i]};
    for (int d = 0; d < 3; ++d) {
        double cell = (at[d] - s.corner[d]) * s.scale;
        cell = cell < s.last ? cell : s.last;
        place[d] = (int64_t)(cell > 0 ? cell : 0);
    }
}

/* By insertion: [first, end) share a key. */
__device__ void refine_run(const ps_tree_points &p, const axis_scale &s, int64_t first, int64_t end,
                           int32_t *order)
{
    for (int64_t i = first + 1; i < end; ++i) {
        int64_t place[3], other[3], j = i;
        int32_t item = order[i];
        deep_place(p, s, item, place);
        for (; j > first; --j) {
            deep_place(p, s, order[j - 1], other);
            if (!comes_before(place, other)) break;
            order[j] = order[j - 1];
        }
        order[j] = item;
    }
}

template <typename key_type>
__global__ void __launch_bounds__(THREADS)
    refine(ps_tree_points p, axis_scale s, const key_type *keys, int64_t most, int32_t *order)
{
    for (int64_t i = thread_index(); i < p.count; i += thread_count()) {
        key_type key = keys[i];
        if (i > 0 && keys[i - 1] == key) continue;
        int64_t end = i + 1;
        while (end < p.count && end - i <= most && keys[end] == key) ++end;
        if (end - i <= most) refine_run(p, s, i, end, order);
    }
}

/* Items that differ from their predecessor. */
template <typename key_type> struct begins_run {
    const key_type *keys;
    int shift;
    __device__ bool operator()(int32_t i) const
    {
        return i == 0 || keys[i] >> shift != keys[i - 1] >> shift;
    }
};

template <typename key_type>
cudaError_t select_runs(void *workspace, size_t *bytes, const key_type *keys, int64_t count,
                        int shift, int32_t *start, int32_t *found, cudaStream_t on)
{
    begins_run<key_type> begins = {keys, shift};
    return cub::DeviceSelect::If(workspace, *bytes, thrust::counting_iterator<int32_t>(0), start,
                                 found, (int)count, begins, on);
}

template <typename key_type> ps_status workspace_of(const ps_device_sort *s, int64_t *bytes)
{
    size_t sorting = 0, selecting = 0, above = 0;
    int current;
    PS_CUDA(sort_pairs<key_type>(s, nullptr, &sorting, nullptr, &current));
    PS_CUDA(select_runs<key_type>(nullptr, &selecting, nullptr, s->count, 0, nullptr, nullptr,
                                  nullptr));
    PS_CUDA(
        select_runs<uint64_t>(nullptr, &above, nullptr, s->count, 3, nullptr, nullptr, nullptr));
    size_t most = sorting > selecting ? sorting : selecting;
    *bytes = (int64_t)(most > above ? most : above);
    return PS_OK;
}

template <typename key_type>
ps_status sort_points(ps_device_sort *s, const ps_tree_points *points, cudaStream_t on)
{
    size_t bytes = (size_t)s->workspace_bytes;
    unsigned long long *census = reinterpret_cast<unsigned long long *>(s->census);
    int current = 0;
    PS_CUDA(cudaMemsetAsync(s->census, 0, (PS_OCTREE_LEVELS_MAX + 1) * sizeof *s->census, on));
    make_keys<key_type><<<blocks_for(s->count), THREADS, 0, on>>>(
        *points, scale_of(s->box, s->level), static_cast<key_type *>(s->key_space[0]),
        s->order_space[0], census);
    PS_CUDA(cudaGetLastError());
    if (s->level > 0) PS_CUDA(sort_pairs<key_type>(s, s->workspace, &bytes, on, &current));
    s->keys = s->key_space[current];
    s->order = s->order_space[current];
    int64_t some = s->count / 16 + 1; /* few adds to the census */
    take_census<key_type><<<blocks_for(some), THREADS, 0, on>>>(
        static_cast<const key_type *>(s->keys), s->count, census);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

/* ---- columns ---- */

__global__ void __launch_bounds__(THREADS)
    invert(const int32_t *order, int64_t count, int32_t *inverse)
{
    for (int64_t i = thread_index(); i < count; i += thread_count()) inverse[order[i]] = (int32_t)i;
}

/* Columns of a record; the last one is repeated where there are fewer. */
enum { RECORD = 4 };
struct record_columns {
    const double *from[RECORD];
    double *to[RECORD];
};

__global__ void __launch_bounds__(THREADS)
    pack(record_columns columns, int64_t count, double2 *records)
{
    for (int64_t i = thread_index(); i < count; i += thread_count()) {
        double numbers[RECORD];
        for (int c = 0; c < RECORD; ++c) numbers[c] = __ldcs(columns.from[c] + i);
        records[2 * i] = make_double2(numbers[0], numbers[1]);
        records[2 * i + 1] = make_double2(numbers[2], numbers[3]);
    }
}

__global__ void __launch_bounds__(THREADS)
    unpack(record_columns columns, const int32_t *index, int64_t count, const double2 *records)
{
    for (int64_t i = thread_index(); i < count; i += thread_count()) {
        int64_t from = __ldcs(index + i);
        double2 low = records[2 * from], high = records[2 * from + 1];
        double numbers[RECORD] = {low.x, low.y, high.x, high.y};
        for (int c = 0; c < RECORD; ++c) __stcs(columns.to[c] + i, numbers[c]);
    }
}

__global__ void __launch_bounds__(THREADS)
    gather(const double *from, const int32_t *index, int64_t count, double *to)
{
    for (int64_t i = thread_index(); i < count; i += thread_count())
        __stcs(to + i, from[__ldcs(index + i)]);
}

/* ---- cells ---- */

/* Keys of the cells of a level from where their first items are. */
template <typename key_type>
__global__ void __launch_bounds__(THREADS)
    name_cells(const key_type *items, int shift, int32_t *start, int64_t cells, int64_t count,
               uint64_t *keys)
{
    for (int64_t c = thread_index(); c <= cells; c += thread_count())
        if (c < cells)
            keys[c] = (uint64_t)items[start[c]] >> shift;
        else
            start[c] = (int32_t)count;
}

/* A thread for each octant of each parent. */
__global__ void __launch_bounds__(THREADS)
    meet_children(const uint64_t *keys, const int32_t *start, int64_t cells, int32_t *children,
                  int32_t *parent)
{
    for (int64_t i = thread_index(); i < cells * OCTANTS; i += thread_count()) {
        int64_t cell = i / OCTANTS;
        int32_t found = -1;
        for (int32_t child = start[cell]; child < start[cell + 1]; ++child)
            if ((int64_t)(keys[child] % OCTANTS) == i % OCTANTS) found = child;
        children[i] = found;
        if (found >= 0) parent[found] = (int32_t)cell;
    }
}

/* Where CUB says how many cells it found, which is known by now. */
int32_t *found_of(const ps_device_sort *s)
{
    return reinterpret_cast<int32_t *>(s->census + PS_OCTREE_LEVELS_MAX + 1);
}

template <typename key_type>
ps_status fill_leaves(const ps_device_sort *s, const ps_device_tree *t, cudaStream_t on)
{
    const key_type *items = static_cast<const key_type *>(s->keys);
    int level = t->height - 1;
    size_t bytes = (size_t)s->workspace_bytes;
    PS_CUDA(select_runs<key_type>(s->workspace, &bytes, items, s->count, 0, t->particle_start,
                                  found_of(s), on));
    name_cells<key_type><<<blocks_for(t->cells[level] + 1), THREADS, 0, on>>>(
        items, 0, t->particle_start, t->cells[level], s->count, t->keys[level]);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

ps_status fill_above(const ps_device_sort *s, const ps_device_tree *t, int level, cudaStream_t on)
{
    const uint64_t *items = t->keys[level + 1];
    int64_t count = t->cells[level + 1], cells = t->cells[level];
    size_t bytes = (size_t)s->workspace_bytes;
    PS_CUDA(select_runs<uint64_t>(s->workspace, &bytes, items, count, 3, t->child_start[level],
                                  found_of(s), on));
    name_cells<uint64_t><<<blocks_for(cells + 1), THREADS, 0, on>>>(items, 3, t->child_start[level],
                                                                    cells, count, t->keys[level]);
    PS_CUDA(cudaGetLastError());
    meet_children<<<blocks_for(cells * OCTANTS), THREADS, 0, on>>>(
        items, t->child_start[level], cells, t->children[level], t->parent[level + 1]);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

} // namespace

extern "C" ps_status ps_device_sort_cuda_workspace(const ps_device_sort *sort, int64_t *bytes)
{
    return sort->wide ? workspace_of<uint64_t>(sort, bytes) : workspace_of<uint32_t>(sort, bytes);
}

extern "C" ps_status ps_device_sort_cuda(ps_device_sort *sort, const ps_tree_points *points,
                                         ps_stream *stream)
{
    cudaStream_t on = handle_of(stream);
    return sort->wide ? sort_points<uint64_t>(sort, points, on)
                      : sort_points<uint32_t>(sort, points, on);
}

extern "C" ps_status ps_device_refine_cuda(const ps_device_sort *s, const ps_tree_points *points,
                                           int64_t most, ps_stream *stream)
{
    cudaStream_t on = handle_of(stream);
    axis_scale scale = scale_of(s->box, PS_ADAPTIVE_DEEPEST);
    if (s->wide)
        refine<<<blocks_for(s->count), THREADS, 0, on>>>(
            *points, scale, static_cast<const uint64_t *>(s->keys), most, s->order);
    else
        refine<<<blocks_for(s->count), THREADS, 0, on>>>(
            *points, scale, static_cast<const uint32_t *>(s->keys), most, s->order);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_device_invert_cuda(const ps_device_sort *sort, ps_stream *stream)
{
    invert<<<blocks_for(sort->count), THREADS, 0, handle_of(stream)>>>(sort->order, sort->count,
                                                                       sort->inverse);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_device_columns_cuda(const ps_device_sort *sort,
                                            const ps_device_columns *columns, const int32_t *index,
                                            ps_stream *stream)
{
    unsigned blocks = blocks_for(sort->count);
    cudaStream_t on = handle_of(stream);
    double2 *records = reinterpret_cast<double2 *>(sort->records);
    for (int first = 0; first < columns->count; first += RECORD) {
        record_columns some;
        int last = columns->count - 1;
        for (int c = 0; c < RECORD; ++c) {
            int column = first + c < last ? first + c : last;
            some.from[c] = columns->from[column];
            some.to[c] = columns->to[column];
        }
        if (first == last) {
            gather<<<blocks, THREADS, 0, on>>>(some.from[0], index, sort->count, some.to[0]);
        } else {
            pack<<<blocks, THREADS, 0, on>>>(some, sort->count, records);
            PS_CUDA(cudaGetLastError());
            unpack<<<blocks, THREADS, 0, on>>>(some, index, sort->count, records);
        }
        PS_CUDA(cudaGetLastError());
    }
    return PS_OK;
}

extern "C" ps_status ps_device_tree_cuda(const ps_device_sort *sort, ps_device_tree *tree,
                                         ps_stream *stream)
{
    cudaStream_t on = handle_of(stream);
    PS_TRY(sort->wide ? fill_leaves<uint64_t>(sort, tree, on)
                      : fill_leaves<uint32_t>(sort, tree, on));
    for (int l = tree->height - 2; l >= 0; --l) PS_TRY(fill_above(sort, tree, l, on));
    return PS_OK;
}
