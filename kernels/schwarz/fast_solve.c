#include "kernels/schwarz/fast_solve.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "runtime/isa.h"
#include "runtime/sizes.h"

PS_ISA_SELECT(struct ps_fast_functions, ps_fast_table)

enum { TILE = 64, ALIGN = 8 }; /* modes at a time; doubles in 64 bytes */

static const double pi = 3.14159265358979323846;

static int64_t stride_of(const ps_slab *slab)
{
    return ps_round_up(slab->grid.nodes[2] - 2, PS_FAST_COLUMNS);
}

int64_t ps_slab_open_planes(const ps_slab *slab)
{
    return slab->grid.nodes[0] - !slab->free[0] - !slab->free[1];
}

int64_t ps_fast_solver_size(const ps_slab *slab)
{
    int64_t my = slab->grid.nodes[1] - 2, mz = slab->grid.nodes[2] - 2, stride = stride_of(slab);
    return ps_round_up(my * my, ALIGN) + mz * stride + 2 * my * stride;
}

/* sine[n][stride], zeros beyond column n. */
static void fill_sines(int64_t n, int64_t stride, double *sine)
{
    double scale = sqrt(2 / (double)(n + 1));
    for (int64_t j = 0; j < n; ++j)
        for (int64_t l = 0; l < stride; ++l) {
            int64_t turn = (j + 1) * (l + 1) % (2 * (n + 1)); /* exact reduction of the angle */
            sine[j * stride + l] = l < n ? scale * sin(pi * (double)turn / (double)(n + 1)) : 0;
        }
}

static void line_eigenvalues(const ps_q1_grid *grid, int axis, int64_t j, double *stiffness,
                             double *mass)
{
    double h = grid->spacing[axis], c = cos(pi * (double)j / (double)(grid->nodes[axis] - 1));
    *stiffness = (2 - 2 * c) / h;
    *mass = ps_mass_here(h, grid->lumped) + 2 * c * ps_mass_beside(h, grid->lumped);
}

ps_status ps_slab_check(const ps_slab *slab)
{
    for (int s = 0; s < 2; ++s)
        if (slab->free[s] &&
            !(slab->p[s] >= 0 && slab->q[s] >= 0 && isfinite(slab->p[s]) && isfinite(slab->q[s])))
            return ps_fail(PS_INVALID,
                           "transmission coefficients p = %g, q = %g: they must be 0 or more",
                           slab->p[s], slab->q[s]);
    if (ps_slab_open_planes(slab) < 1)
        return ps_fail(PS_USAGE, "a slab of %lld planes has none that is open",
                       (long long)slab->grid.nodes[0]);
    return PS_OK;
}

ps_status ps_fast_solver_make(const ps_slab *slab, double *memory, ps_fast_solver *out)
{
    const ps_q1_grid *grid = &slab->grid;
    PS_TRY(ps_slab_check(slab));
    ps_fast_solver f = {*slab, grid->nodes[1] - 2, grid->nodes[2] - 2, stride_of(slab), 0, 0, 0, 0};
    f.sine_y = memory;
    f.sine_z = f.sine_y + ps_round_up(f.my * f.my, ALIGN);
    f.mu = f.sine_z + f.mz * f.stride;
    f.inverse = f.mu + f.my * f.stride;
    fill_sines(f.my, f.my, f.sine_y);
    fill_sines(f.mz, f.stride, f.sine_z);
    for (int64_t j = 0; j < f.my; ++j)
        for (int64_t k = 0; k < f.stride; ++k) {
            double ky, my, kz, mz;
            bool real_mode = k < f.mz;
            line_eigenvalues(grid, 1, j + 1, &ky, &my);
            line_eigenvalues(grid, 2, real_mode ? k + 1 : 1, &kz, &mz);
            f.mu[j * f.stride + k] = ky / my + kz / mz;
            f.inverse[j * f.stride + k] = real_mode ? 1 / (my * mz) : 0;
        }
    *out = f;
    return PS_OK;
}

/* ---- transforms ---- */

static void products(const ps_fast_solver *s, ps_small_product first, ps_small_product second)
{
    const struct ps_fast_functions *table = ps_fast_table_select();
    first.b = s->sine_z;
    first.m = second.m = second.k = s->my;
    first.k = s->mz;
    first.b_stride = second.b_stride = s->stride;
    second.a = s->sine_y;
    second.a_stride = s->my;
    table->product(&first);
    table->product(&second);
}

void ps_fast_to_modes(const ps_fast_solver *s, const double *nodes, double *modes, double *scratch)
{
    int64_t nz = s->slab.grid.nodes[2];
    products(s,
             (ps_small_product){.n = s->stride,
                                .a = nodes + nz + 1,
                                .a_stride = nz,
                                .c = scratch,
                                .c_stride = s->stride},
             (ps_small_product){.n = s->stride, .b = scratch, .c = modes, .c_stride = s->stride});
}

void ps_fast_to_nodes(const ps_fast_solver *s, const double *modes, double *nodes, double *scratch)
{
    int64_t nz = s->slab.grid.nodes[2];
    products(
        s,
        (ps_small_product){
            .n = s->stride, .a = modes, .a_stride = s->stride, .c = scratch, .c_stride = s->stride},
        (ps_small_product){.n = s->mz, .b = scratch, .c = nodes + nz + 1, .c_stride = nz});
}

void ps_fast_solve_modes(const ps_fast_solver *s, int64_t first, int64_t end, double *planes,
                         double *factor)
{
    ps_fast_table_select()->modes(s, first, end, planes, factor);
}

/* ---- the whole ---- */

/* A thread's part: the scratch of a transform or the factors of a tile. */
static int64_t part_of(const ps_slab *slab)
{
    int64_t scratch = (slab->grid.nodes[1] - 2) * stride_of(slab);
    int64_t factor = ps_slab_open_planes(slab) * TILE;
    return scratch > factor ? scratch : factor;
}

int64_t ps_fast_workspace(const ps_slab *slab, int threads)
{
    return ps_slab_open_planes(slab) * (slab->grid.nodes[1] - 2) * stride_of(slab) +
           threads * part_of(slab);
}

static void copy_fixed(const ps_fast_solver *s, int64_t i, const double *b, double *x)
{
    const int64_t *n = s->slab.grid.nodes;
    bool whole = (i == 0 && !s->slab.free[0]) || (i == n[0] - 1 && !s->slab.free[1]);
    for (int64_t j = 0; j < n[1]; ++j) {
        int64_t row = (i * n[1] + j) * n[2];
        int64_t step = whole || j == 0 || j == n[1] - 1 ? 1 : n[2] - 1;
        for (int64_t k = 0; k < n[2]; k += step) x[row + k] = b[row + k];
    }
}

void ps_fast_solve(const ps_fast_solver *s, const double *b, double *x, double *workspace,
                   int threads)
{
    int64_t open = ps_slab_open_planes(&s->slab), size = s->my * s->stride;
    int64_t shift = s->slab.free[0] ? 0 : 1, part = part_of(&s->slab);
    int64_t plane = s->slab.grid.nodes[1] * s->slab.grid.nodes[2];
    double *planes = workspace, *parts = workspace + open * size;
#pragma omp parallel num_threads(threads)
    {
        double *own = parts + part * omp_get_thread_num();
#pragma omp for schedule(static)
        for (int64_t i = 0; i < open; ++i)
            ps_fast_to_modes(s, b + (i + shift) * plane, planes + i * size, own);
#pragma omp for schedule(static)
        for (int64_t first = 0; first < size; first += TILE)
            ps_fast_solve_modes(s, first, first + TILE < size ? first + TILE : size, planes, own);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < open; ++i)
            ps_fast_to_nodes(s, planes + i * size, x + (i + shift) * plane, own);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < s->slab.grid.nodes[0]; ++i) copy_fixed(s, i, b, x);
    }
}
