/* Tables of sine transforms on CUDA (fast_device.h): the sines of a line, the modes of a plane. */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/schwarz/device_kernels.h"
}

namespace
{

enum { THREADS = 256 };

/* What the sums or modes of a parity are multiplied with, the odd parity's only where it has a
 * matrix of its own. The middle of an odd line is its own counterpart, and its sum is twice what it
 * should be. */
__global__ void fill_sines(const ps_sine_table t, int64_t size)
{
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x, n = t.n;
    if (at >= size) return;
    const int64_t lane = at / 2 % 32, tile = at / 64 % t.chunk_tiles;
    const int64_t matrix = at / 64 / t.chunk_tiles, parity = matrix % t.matrices;
    const int64_t piece = matrix / t.matrices, chunk = piece / t.steps % t.chunks;
    const int64_t row = piece % t.steps * PS_SINE_DEPTH + lane % 4 + 4 * (at % 2);
    const int64_t column = 8 * (chunk * t.chunk_tiles + tile) + lane / 4;
    const bool to_nodes = piece >= (int64_t)t.steps * t.chunks;
    const int64_t k = to_nodes ? column : row, j = 2 * (to_nodes ? row : column) + parity;
    const int64_t turn = (j + 1) * (k + 1) % (2 * (n + 1)); /* exact reduction of the angle */
    double value = sqrt(2. / (double)(n + 1)) * sinpi((double)turn / (double)(n + 1));
    if (!to_nodes && 2 * k == n - 1) value /= 2;
    t.values[at] = j < n && 2 * k < n ? value : 0;
}

__device__ void line_eigenvalues(const ps_q1_grid &grid, int axis, int64_t j, double *stiffness,
                                 double *mass)
{
    const double c = cospi((double)j / (double)(grid.nodes[axis] - 1)), h = grid.spacing[axis];
    *stiffness = (2 - 2 * c) / h;
    *mass = h * (4 + 2 * grid.lumped + 2 * c * (1 - grid.lumped)) / 6;
}

__global__ void fill_modes(const ps_q1_grid grid, int64_t stride, double *mu, double *inverse)
{
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int64_t j = at / stride, k = at % stride;
    double ky, my, kz, mz;
    if (j >= grid.nodes[1] - 2) return;
    const bool there = k < grid.nodes[2] - 2;
    line_eigenvalues(grid, 1, j + 1, &ky, &my);
    line_eigenvalues(grid, 2, there ? k + 1 : 1, &kz, &mz);
    mu[at] = ky / my + kz / mz;
    inverse[at] = there ? 1 / (my * mz) : 0;
}

unsigned blocks_of(int64_t n) { return (unsigned)((n + THREADS - 1) / THREADS); }

} // namespace

extern "C" ps_status ps_fast_tables_cuda(const ps_fast_device *f, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    for (const ps_sine_table *s = f->sines; s < f->sines + 2; ++s) {
        const int64_t size = ps_sine_table_size(s);
        fill_sines<<<blocks_of(size), THREADS, 0, on>>>(*s, size);
    }
    fill_modes<<<blocks_of(f->my * f->stride), THREADS, 0, on>>>(f->slab.grid, f->stride, f->mu,
                                                                 f->inverse);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
