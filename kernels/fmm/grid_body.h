/* Grids of threads over items, for tree_cuda.cu and lists_cuda.cu. */
namespace
{

enum { THREADS = 256, BLOCKS_MAX = 1 << 20, OCTANTS = 8 };

unsigned blocks_for(int64_t items)
{
    int64_t blocks = (items + THREADS - 1) / THREADS;
    return static_cast<unsigned>(blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX);
}

__device__ inline int64_t thread_index() { return (int64_t)blockIdx.x * THREADS + threadIdx.x; }
__device__ inline int64_t thread_count() { return (int64_t)gridDim.x * THREADS; }

} // namespace
