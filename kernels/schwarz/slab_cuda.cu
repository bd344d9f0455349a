/* Tridiagonal systems along x on CUDA (fast_device.h, slab_device.h): a warp a piece of 32 modes of
 * a slab, or, where a slab has more than 527 planes, a thread a mode. */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/schwarz/device_kernels.h"
}

namespace
{

/* Of numbers far from the ends of the range: 20 bits of x are looked at. */
__device__ __forceinline__ double roughly(double x)
{
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    return r;
}

#define LEAF __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define ROUGHLY(x) roughly(x)
#include "kernels/schwarz/mode_pieces_body.h"

enum {
    THREADS = 128,
    AHEAD = 8, /* planes that are asked for at once */
    LANES = 32,
    FEW_PIECES = 8,      /* of a block of 32 modes; two blocks of a multiprocessor */
    MOST_PIECES = 16,    /* of one of 16 */
    SEPARATOR_ITEMS = 3, /* that others look at */
    ITEMS = 2 * SEPARATOR_ITEMS
};

static_assert(ITEMS >= (int)PIECE_ITEMS, "items of pieces are where separators go, twice");

/* What a sweep has: arrays by mode, plane after plane `size` apart. */
template <typename real> struct sweep_view {
    const ps_slab_entry *entries;
    int64_t size;
    double h, mass[2]; /* M(0), M(1) along x */
    const double *mu, *inverse;
    const real *load, *g;
    real *field, *factor, *out;
    double p, q;
};

/* A thread's mode of a slab. */
template <typename real> struct mode_view {
    const ps_slab_entry *slab;
    const real *load; /* NULL: none */
    real *field, *factor;
    double mu, inverse, trace[2];
    int first, last; /* open planes */
};

/* Of two values that stay in registers. */
__device__ double pick(const double of[2], int side) { return side == 0 ? of[0] : of[1]; }

template <typename real>
__device__ mode_view<real> find_mode(const sweep_view<real> &v, int64_t mode)
{
    const ps_slab_entry *s = v.entries + blockIdx.y;
    mode_view<real> m = {s,
                         v.load ? v.load + s->load * v.size + mode : nullptr,
                         v.field + s->field * v.size + mode,
                         v.factor + s->field * v.size + mode,
                         v.mu[mode],
                         v.inverse[mode]};
#pragma unroll
    for (int side = 0; side < 2; ++side)
        m.trace[side] = s->trace[side] >= 0 ? (double)v.g[s->trace[side] * v.size + mode] : 0;
    m.first = s->free[0] ? 0 : 1;
    m.last = (int)s->planes - (s->free[1] ? 1 : 2);
    return m;
}

/* Right-hand side of a plane, times 1 / (m_j m_k): loads of planes between slabs are halved. */
template <typename real> __device__ double right_side(const mode_view<real> &m, int i, double load)
{
    const int side = i == 0 ? 0 : i == m.slab->planes - 1 ? 1 : -1;
    if (side < 0 || m.slab->trace[side] < 0) return load * m.inverse;
    return (load / 2 + pick(m.trace, side)) * m.inverse;
}

template <typename real>
__device__ double diagonal(const sweep_view<real> &v, const mode_view<real> &m, int i)
{
    const int side = i == 0 ? 0 : i == m.slab->planes - 1 ? 1 : -1;
    if (side < 0) return 2 / v.h + m.mu * v.mass[0];
    return 1 / v.h + m.slab->p[side] + m.mu * (v.mass[0] / 2 + m.slab->q[side]);
}

/* Elimination from the first open plane to the last; returns the value there. */
template <typename real>
__device__ double eliminate(const sweep_view<real> &v, const mode_view<real> &m)
{
    const double off = -1 / v.h + m.mu * v.mass[1];
    double w = 0, c = 0;
    for (int start = m.first; start <= m.last; start += AHEAD) {
        real load[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; ++a)
            load[a] = m.load && start + a <= m.last ? m.load[(start + a) * v.size] : real(0);
#pragma unroll
        for (int a = 0; a < AHEAD; ++a) {
            const int i = start + a;
            if (i > m.last) break;
            const double r = 1 / (diagonal(v, m, i) - off * c);
            w = (right_side(m, i, load[a]) - off * w) * r;
            c = off * r;
            m.field[i * v.size] = (real)w;
            m.factor[i * v.size] = (real)c;
        }
    }
    return w;
}

/* Back from the last open plane to the first; returns the value there. */
template <typename real>
__device__ double substitute(const sweep_view<real> &v, const mode_view<real> &m, double w)
{
    for (int start = m.last - 1; start >= m.first; start -= AHEAD) {
        real value[AHEAD], factor[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; ++a) {
            const bool there = start - a >= m.first;
            value[a] = there ? m.field[(start - a) * v.size] : real(0);
            factor[a] = there ? m.factor[(start - a) * v.size] : real(0);
        }
#pragma unroll
        for (int a = 0; a < AHEAD; ++a) {
            if (start - a < m.first) break;
            w = value[a] - factor[a] * w;
            m.field[(start - a) * v.size] = (real)w;
        }
    }
    return w;
}

/* Fixed planes have their load, unless they lie there, padding has zeros. */
template <typename real>
__device__ void set_fixed_planes(const sweep_view<real> &v, const mode_view<real> &m)
{
    const int64_t last = m.slab->planes - 1;
    if (m.load == m.field) return;
    if (!m.slab->free[0]) m.field[0] = m.load ? m.load[0] : real(0);
    if (!m.slab->free[1]) m.field[last * v.size] = m.load ? m.load[last * v.size] : real(0);
}

template <typename real>
__global__ void __launch_bounds__(THREADS) sweep(const __grid_constant__ sweep_view<real> v)
{
    const int64_t mode = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (mode >= v.size) return;
    const mode_view<real> m = find_mode(v, mode);
    if (m.inverse == 0) { /* padding */
        for (int i = 0; i < m.slab->planes; ++i) m.field[i * v.size] = 0;
        for (int side = 0; side < 2; ++side)
            if (v.out && m.slab->sent[side] >= 0) v.out[m.slab->sent[side] * v.size + mode] = 0;
        return;
    }
    double face[2];
    face[1] = eliminate(v, m);
    face[0] = substitute(v, m, face[1]);
    set_fixed_planes(v, m);
    const double both = (v.p + v.q * m.mu) / m.inverse;
#pragma unroll
    for (int side = 0; side < 2; ++side)
        if (v.out && m.slab->sent[side] >= 0)
            v.out[m.slab->sent[side] * v.size + mode] = (real)(both * face[side] - m.trace[side]);
}

/* What a thread's separator is for others, in one half of the items or the other. */
__device__ void put_separator(double *item, int half, int row, const separator &s)
{
    item += SEPARATOR_ITEMS * half * row;
    item[0] = s.value;
    item[row] = s.next;
    item[2 * row] = s.inverse;
}

__device__ separator get_separator(const double *item, int half, int row, bool there)
{
    item += SEPARATOR_ITEMS * half * row;
    if (!there) return {};
    return {item[0], item[row], 0, item[2 * row]};
}

/* The separators on both sides of a piece, by all threads of a block. */
__device__ void solve_separators(const piece_rows &p, double beside, double *item, double *left,
                                 double *right)
{
    const int pieces = blockDim.y, piece = threadIdx.y, width = blockDim.x, row = pieces * width;
    separator s = {};
    int half = 0;
    __syncthreads();
    if (piece < pieces - 1)
        s = separator_between(&p, beside, item, item + width, piece == pieces - 2, row);
    __syncthreads();
    put_separator(item, half, row, s);
    __syncthreads();
    for (int apart = 1; apart < pieces - 1; apart *= 2) {
        const separator before = get_separator(item - apart * width, half, row, piece >= apart);
        const separator after =
            get_separator(item + apart * width, half, row, piece + apart < pieces);
        if (piece < pieces - 1) s = reduce(&before, &s, &after);
        half ^= 1;
        put_separator(item, half, row, s);
        __syncthreads();
    }
    const separator before = get_separator(item - width, half, row, piece > 0);
    *left = before.value * before.inverse;
    *right = s.value * s.inverse;
}

/* The same by WIDTH threads for each piece of as many modes, rows in registers
 * (mode_pieces_body.h). */
template <typename real, int WIDTH, int MOST>
__global__ void __launch_bounds__(WIDTH *MOST, 2)
    sweep_pieces(const __grid_constant__ sweep_view<real> v, int longest)
{
    extern __shared__ double memory[]; /* factors [longest][pieces][WIDTH], items likewise */
    const int pieces = blockDim.y, piece = threadIdx.y, row = pieces * WIDTH;
    const int64_t asked = (int64_t)blockIdx.x * WIDTH + threadIdx.x;
    const bool there = asked < v.size;
    const int64_t mode = there ? asked : v.size - 1;
    const mode_view<real> m = find_mode(v, mode);
    const int rows = m.last - m.first + 2; /* and one where the last separator would be */
    const int begin = m.first + rows * piece / pieces;
    const int end = m.first + rows * (piece + 1) / pieces - 1; /* the separator */
    piece_rows p = {end - begin, -1 / v.h + m.mu * v.mass[1], 2 / v.h + m.mu * v.mass[0],
                    diagonal(v, m, begin), diagonal(v, m, end - 1)};
    double *factor = memory + piece * WIDTH + threadIdx.x, *item = factor + longest * row;
    double value[PIECE_ROWS], beside = 0;
    const real *from = m.load + begin * v.size;
#pragma unroll
    for (int i = 0; i < PIECE_ROWS; ++i) {
        value[i] = m.load && i < p.count ? (double)*from : 0;
        from += v.size;
    }
    if (m.load && piece < pieces - 1) beside = (double)m.load[end * v.size];
    const int traced = m.slab->trace[1] >= 0 && piece == pieces - 1 ? p.count - 1 : -1;
    if (m.slab->trace[0] >= 0 && piece == 0) value[0] = value[0] / 2 + m.trace[0];
#pragma unroll
    for (int i = 0; i < PIECE_ROWS; ++i) {
        if (i == traced) value[i] = value[i] / 2 + m.trace[1];
        value[i] *= m.inverse;
    }
    eliminate_piece(&p, value, factor, item, row);
    double left = 0, right = 0;
    if (pieces > 1) solve_separators(p, beside * m.inverse, item, &left, &right);
    const double last = finish_piece(&p, value, factor, row, left, right);
    if (!there) return;
    const mode_view<real> n = find_mode(v, mode); /* again: registers were for rows */
    real *to = n.field + begin * v.size;
#pragma unroll
    for (int i = 0; i < PIECE_ROWS; ++i, to += v.size)
        if (i < p.count) *to = (real)value[i];
    if (piece < pieces - 1) n.field[end * v.size] = (real)right;
    if (piece == 0) set_fixed_planes(v, n);
    const double both = n.inverse == 0 ? 0 : (v.p + v.q * n.mu) / n.inverse;
#pragma unroll
    for (int side = 0; side < 2; ++side)
        if (piece == (side == 0 ? 0 : pieces - 1) && v.out && n.slab->sent[side] >= 0)
            v.out[n.slab->sent[side] * v.size + mode] =
                (real)(both * (side == 0 ? value[0] : last) - pick(n.trace, side));
}

/* The nodes that are fixed: all of a fixed face, and of each other plane its first and last line
 * and the ends of all lines. */
struct fixed_nodes {
    int64_t nx, ny, nz, faces, of_plane; /* of_plane: beside those of faces */
    __host__ __device__ explicit fixed_nodes(const ps_slab &slab)
        : nx(slab.grid.nodes[0]), ny(slab.grid.nodes[1]), nz(slab.grid.nodes[2]),
          faces(!slab.free[0] + !slab.free[1]), of_plane(2 * (ny + nz))
    {
    }
    __host__ __device__ int64_t count() const { return faces * ny * nz + (nx - faces) * of_plane; }
    __device__ int64_t node(bool first_free, int64_t i) const
    {
        const int64_t face = ny * nz, others = i - faces * face;
        if (others < 0) return i < face && !first_free ? i : (nx - 1) * face + i % face;
        const int64_t plane = (others / of_plane + (first_free ? 0 : 1)) * face;
        const int64_t at = others % of_plane;
        if (at < 2 * nz) return plane + (at < nz ? at : face - 2 * nz + at);
        return plane + (at - 2 * nz) / 2 * nz + at % 2 * (nz - 1);
    }
};

template <typename real> __global__ void copy_fixed(const ps_slab slab, const real *b, real *x)
{
    const fixed_nodes fixed(slab);
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= fixed.count()) return;
    const int64_t at = fixed.node(slab.free[0], i);
    x[at] = b[at];
}

/* Pieces that so many rows take. */
int pieces_of(int64_t rows) { return (int)(rows / (PIECE_ROWS + 1)) + 1; }

template <typename real>
ps_status launch_pieces(const sweep_view<real> &v, int64_t slabs, int64_t rows, cudaStream_t on)
{
    const int pieces = pieces_of(rows), longest = (int)(rows / pieces);
    const int width = pieces > FEW_PIECES ? LANES / 2 : LANES;
    const int bytes = (int)sizeof(double) * width * pieces * (longest + ITEMS);
    const dim3 blocks((unsigned)((v.size + width - 1) / width), (unsigned)slabs);
    const dim3 threads((unsigned)width, (unsigned)pieces);
    auto kernel = width < LANES ? sweep_pieces<real, LANES / 2, MOST_PIECES>
                                : sweep_pieces<real, LANES, FEW_PIECES>;
    PS_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    kernel<<<blocks, threads, bytes, on>>>(v, longest);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

template <typename real> ps_status launch_sweep(const ps_slab_sweep *s, cudaStream_t on)
{
    const ps_fast_device *f = s->tables;
    const ps_q1_grid *grid = &f->slab.grid;
    const double h = grid->spacing[0];
    const sweep_view<real> v = {s->entries,
                                f->my * f->stride,
                                h,
                                {ps_mass_here(h, grid->lumped), ps_mass_beside(h, grid->lumped)},
                                f->mu,
                                f->inverse,
                                static_cast<const real *>(s->load),
                                static_cast<const real *>(s->g),
                                static_cast<real *>(s->field),
                                static_cast<real *>(s->factor),
                                static_cast<real *>(s->out),
                                s->p,
                                s->q};
    const dim3 blocks((unsigned)((v.size + THREADS - 1) / THREADS), (unsigned)s->slabs);
    if (pieces_of(s->rows) <= MOST_PIECES) return launch_pieces(v, s->slabs, s->rows, on);
    sweep<<<blocks, THREADS, 0, on>>>(v);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

} // namespace

extern "C" ps_status ps_slab_sweep_cuda(const ps_slab_sweep *s, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    return s->tables->precision == PS_SINGLE ? launch_sweep<float>(s, on)
                                             : launch_sweep<double>(s, on);
}

extern "C" ps_status ps_copy_fixed_cuda(ps_precision precision, const ps_slab *slab, const void *b,
                                        void *x, ps_stream *stream)
{
    PS_TRY(ps_stream_enter(stream));
    cudaStream_t on = static_cast<cudaStream_t>(ps_stream_handle(stream));
    const unsigned blocks = (unsigned)((fixed_nodes(*slab).count() + THREADS - 1) / THREADS);
    if (precision == PS_SINGLE)
        copy_fixed<<<blocks, THREADS, 0, on>>>(*slab, static_cast<const float *>(b),
                                               static_cast<float *>(x));
    else
        copy_fixed<<<blocks, THREADS, 0, on>>>(*slab, static_cast<const double *>(b),
                                               static_cast<double *>(x));
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}
