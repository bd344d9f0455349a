/*
 * Coded vectors on the device (kernels/fmm/m2l.h): the points of multipoles reversed, or times the
 * encoder of a common basis, 16 cells a warp on tensor cores.
 */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/fmm/device_table.h"
}

namespace
{

#include "kernels/fmm/device_body.h"
#include "kernels/fmm/tensor_body.h"

enum { WARP = 32, ROWS = 16 /* cells of a product */ };

struct encoding {
    ps_fmm_device_vectors from, to;
    const double *encoder;
    int64_t cells;
    int points, point_octets, length, chunk, all;
};

template <typename real, int width>
__global__ __launch_bounds__(128) void encode_cells(const __grid_constant__ encoding in)
{
    const int lane = threadIdx.x % WARP, side = blockIdx.y;
    const int64_t cell = ((int64_t)blockIdx.x * 4 + threadIdx.x / WARP) * ROWS + lane / 4;
    const real *from[2];
    real *to[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        bool there = cell + 8 * h < in.cells;
        int64_t safe = there ? cell + 8 * h : 0;
        from[h] =
            static_cast<const real *>(in.from.values) + side * in.from.stride + safe * in.points;
        to[h] = there ? static_cast<real *>(in.to.values) + side * in.to.stride + safe * in.length
                      : nullptr;
    }
    fragment f[width] = {};
    for (int j = 0; j < in.point_octets; ++j) {
        fragment a;
        int column = 8 * j + 2 * (lane % 4);
#pragma unroll
        for (int i = 0; i < 4; ++i)
            a.v[i] = column + i % 2 < in.points ? (double)from[i / 2][column + i % 2] : 0;
        const double *b = in.encoder + 2 * lane +
                          ((int64_t)in.chunk * width * in.point_octets + j) * PS_FMM_PIECE;
#pragma unroll
        for (int n = 0; n < width; ++n)
            product(f[n], a, pair_at(b + (int64_t)n * in.point_octets * PS_FMM_PIECE));
    }
#pragma unroll
    for (int n = 0; n < width; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            int column = 8 * (in.chunk * width + n) + 2 * (lane % 4) + i % 2;
            if (to[i / 2] && column < in.length) to[i / 2][column] = (real)f[n].v[i];
        }
    for (int column = 8 * in.all + 2 * (lane % 4); column < in.length; column += 8)
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (to[i / 2]) to[i / 2][column + i % 2] = 0;
}

/* Without a basis: coded = the points reversed, and 0. */
template <typename real> __global__ void reverse_cells(const __grid_constant__ encoding in)
{
    int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, cell = at / in.length;
    int n = (int)(at % in.length);
    if (cell >= in.cells) return;
    const real *from = static_cast<const real *>(in.from.values) + blockIdx.y * in.from.stride;
    real *to = static_cast<real *>(in.to.values) + blockIdx.y * in.to.stride;
    to[at] = n < in.points ? from[cell * in.points + in.points - 1 - n] : 0;
}

/* ---- launches ---- */

/* The kernel of a width (device_table.c has which there are). */
template <typename real> void (*encoder_of(int width))(encoding)
{
    switch (width) {
    case 3:
        return encode_cells<real, 3>;
    case 4:
        return encode_cells<real, 4>;
    case 6:
        return encode_cells<real, 6>;
    case 9:
        return encode_cells<real, 9>;
    case 12:
        return encode_cells<real, 12>;
    case 16:
        return encode_cells<real, 16>;
    default:
        return encode_cells<real, 19>;
    }
}

template <typename real>
ps_status encode(const encoding &in, const ps_fmm_device_shape &shape, bool basis, int sides,
                 cudaStream_t stream)
{
    if (!basis) {
        dim3 grid((unsigned)((in.cells * in.length + 255) / 256), (unsigned)sides);
        reverse_cells<real><<<grid, 256, 0, stream>>>(in);
        PS_CUDA(cudaGetLastError());
        return PS_OK;
    }
    dim3 grid((unsigned)((in.cells + 4 * ROWS - 1) / (4 * ROWS)), (unsigned)sides);
    for (encoding part = in; part.chunk < shape.chunks; ++part.chunk) {
        encoder_of<real>(shape.width)<<<grid, 4 * WARP, 0, stream>>>(part);
        PS_CUDA(cudaGetLastError());
    }
    return PS_OK;
}

} // namespace

extern "C" ps_status ps_fmm_device_encode(const ps_fmm_device_method *method,
                                          const ps_fmm_device_table *table, int64_t cells,
                                          const ps_fmm_device_vectors *multipoles,
                                          const ps_fmm_device_vectors *coded, ps_stream *stream)
{
    if (cells == 0) return PS_OK;
    PS_TRY(ps_stream_enter(stream));
    ps_fmm_device_shape shape = ps_fmm_device_shape_of(table);
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    encoding in = {.from = *multipoles,
                   .to = *coded,
                   .encoder = static_cast<const double *>(table->block) + shape.encoder,
                   .cells = cells,
                   .points = table->order * table->order * table->order,
                   .point_octets = shape.point_octets,
                   .length = table->length,
                   .chunk = 0,
                   .all = shape.width * shape.chunks};
    return method->far == PS_SINGLE ? encode<float>(in, shape, table->size > 0, method->sides, on)
                                    : encode<double>(in, shape, table->size > 0, method->sides, on);
}
