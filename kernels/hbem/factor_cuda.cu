/* Factors of sparse matrices on CUDA (kernels/hbem/factor_device.h). */
#include <cuda_runtime.h>

#include "runtime/cuda_check.h"
extern "C" {
#include "kernels/hbem/factor_device.h"
}

namespace
{

#include "kernels/hbem/factor_make_body.h"
#include "kernels/hbem/factor_solve_body.h"

view view_of(const ps_factor_device *f)
{
    const ps_dissection *d = &f->there;
    const auto numbers = [](double *at) { return reinterpret_cast<complex *>(at); };
    view v = {f->d.dofs,         f->d.rows,          f->d.numbers,      f->square,
              f->scratch,        f->count,           d->dof,            d->first,
              d->child,          d->by_depth,        d->row,            d->gather,
              d->entry,          d->row_first,       d->number_first,   f->square_first,
              f->scratch_first,  f->matrix.start,    f->matrix.mass,    f->matrix.stiffness,
              numbers(f->numbers), numbers(f->scratches), numbers(f->in), numbers(f->pivots),
              numbers(f->x),     numbers(f->left),   f->bad,            {}};
    for (int j = 0; j < f->count; ++j) v.shift[j] = {f->shift[j][0], f->shift[j][1]};
    return v;
}

int64_t parts_of(int64_t count, int64_t size) { return (count + size - 1) / size; }

/* The most pivots, rows and both of a node of a depth. */
struct extent {
    int64_t pivots, rows, both;
};
extent extent_of(const ps_dissection *d, int64_t depth)
{
    extent e = {0, 0, 0};
    for (int64_t at = d->depth_first[depth]; at < d->depth_first[depth + 1]; ++at) {
        const int64_t pivots = ps_dissection_pivots(d, d->by_depth[at]);
        const int64_t rows = ps_dissection_rows(d, d->by_depth[at]);
        e.pivots = pivots > e.pivots ? pivots : e.pivots;
        e.rows = rows > e.rows ? rows : e.rows;
        e.both = pivots + rows > e.both ? pivots + rows : e.both;
    }
    return e;
}

level level_of(const ps_factor_device *f, int64_t depth, int64_t tiles)
{
    return {f->d.depth_first[depth], (int)tiles,
            reinterpret_cast<complex *>(f->squares[1 - depth % 2]),
            reinterpret_cast<complex *>(f->squares[depth % 2])};
}

dim3 grid_of(const ps_factor_device *f, int64_t depth, int64_t tiles)
{
    const int64_t nodes = f->d.depth_first[depth + 1] - f->d.depth_first[depth];
    return dim3((unsigned)(nodes * tiles), (unsigned)f->count);
}

template <int sides>
ps_status solve_sides(const ps_factor_device *f, const view &v, const weights &w, int given,
                      cudaStream_t queue)
{
    const dim3 all((unsigned)parts_of(v.dofs, THREADS), (unsigned)given);
    arrange<<<all, THREADS, 0, queue>>>(v, f->b);
    for (int64_t depth = 0; depth < f->d.depth; ++depth) {
        const extent e = extent_of(&f->d, depth);
        const int64_t tiles = e.rows > 0 ? parts_of(e.rows, 32) : 1;
        down<sides><<<grid_of(f, depth, tiles), THREADS, 0, queue>>>(v, level_of(f, depth, tiles));
    }
    for (int64_t depth = f->d.depth - 1; depth >= 0; --depth) {
        const extent e = extent_of(&f->d, depth);
        const int64_t tiles = parts_of(e.pivots, 32);
        if (tiles > 0)
            up<sides><<<grid_of(f, depth, tiles), THREADS, 0, queue>>>(v,
                                                                       level_of(f, depth, tiles));
    }
    combine<<<all, THREADS, 0, queue>>>(v, w, f->y);
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

ps_status enter(const ps_factor_device *f, cudaStream_t *queue)
{
    *queue = static_cast<cudaStream_t>(ps_stream_handle(f->stream));
    if (!*queue) return ps_fail(PS_FAILED, "sparse factors on a device need a stream of CUDA");
    return ps_stream_enter(f->stream);
}

} // namespace

extern "C" ps_status ps_factor_device_factorise(const ps_factor_device *f)
{
    const view v = view_of(f);
    cudaStream_t queue;
    PS_TRY(enter(f, &queue));
    for (int64_t depth = 0; depth < f->d.depth; ++depth) {
        const extent e = extent_of(&f->d, depth);
        const int64_t rows = parts_of(e.rows, TILE), pivots = parts_of(e.pivots, TILE);
        const int64_t columns = parts_of(e.both, COLUMNS);
        if (columns == 0) continue;
        assemble<<<grid_of(f, depth, columns), THREADS, 0, queue>>>(v, level_of(f, depth, columns));
        invert<<<grid_of(f, depth, 1), THREADS, 0, queue>>>(v, level_of(f, depth, 1));
        if (rows * pivots > 0)
            multiply<false><<<grid_of(f, depth, rows * pivots), THREADS, 0, queue>>>(
                v, level_of(f, depth, rows * pivots));
        if (rows > 0)
            multiply<true><<<grid_of(f, depth, rows * rows), THREADS, 0, queue>>>(
                v, level_of(f, depth, rows * rows));
    }
    PS_CUDA(cudaGetLastError());
    return PS_OK;
}

extern "C" ps_status ps_factor_device_solve(const ps_factor_device *f, int sides,
                                            const double (*weight)[2])
{
    const view v = view_of(f);
    weights w = {};
    cudaStream_t queue;
    PS_TRY(enter(f, &queue));
    for (int j = 0; j < f->count; ++j) w.weight[j] = {weight[j][0], weight[j][1]};
    return sides == 1   ? solve_sides<1>(f, v, w, sides, queue)
           : sides == 2 ? solve_sides<2>(f, v, w, sides, queue)
           : sides <= 4 ? solve_sides<4>(f, v, w, sides, queue)
                        : solve_sides<8>(f, v, w, sides, queue);
}
