#include "kernels/linear/krylov_team.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "runtime/isa.h"

PS_ISA_SELECT(struct ps_krylov_functions, ps_krylov_table)
PS_ISA_SELECT(struct ps_krylov_functions, ps_krylov_narrow_table)

enum { MATRIX_BLOCK = 512, THREADED_ROWS = 16384 };

static const struct ps_krylov_functions *table_of(const ps_krylov_system *system)
{
    return system->narrow ? ps_krylov_narrow_table_select() : ps_krylov_table_select();
}

static const void *values_of(const ps_krylov_system *system)
{
    return system->narrow ? (const void *)system->narrow_values : system->matrix->values;
}

static int64_t rows_of(const ps_krylov_system *system)
{
    return system->stencil ? ps_stencil_rows(system->stencil) : system->matrix->rows;
}

static int64_t block_of(const ps_krylov_system *system)
{
    return system->stencil ? system->stencil->nodes[1] * system->stencil->nodes[2] : MATRIX_BLOCK;
}

/* Doubles from one vector to the next: not a multiple of a page, lest they share the sets of a
 * cache. */
static int64_t stride_of(const ps_krylov_system *system)
{
    int64_t rows = rows_of(system), doubles = system->narrow ? (rows + 1) / 2 : rows;
    return (doubles + 511) / 512 * 512 + 72;
}

int64_t ps_krylov_cpu_state(ps_krylov_method method, const ps_krylov_system *system)
{
    return ps_krylov_vector_count(method) * stride_of(system);
}

int64_t ps_krylov_cpu_workspace(ps_krylov_method method, const ps_krylov_system *system)
{
    int64_t rows = rows_of(system), block = block_of(system);
    int64_t blocks = system->ranks ? system->ranks->all : (rows + block - 1) / block;
    return ps_krylov_cpu_state(method, system) + 3 * blocks;
}

ps_status ps_krylov_cpu_begin(ps_krylov_method method, const ps_krylov_system *system,
                              double *workspace, ps_krylov_cpu_team *out)
{
    if (!system->stencil == !system->matrix || (system->matrix && !system->inverse_diagonal))
        return ps_fail(PS_USAGE, "a system is a matrix with its diagonal, or a stencil");
    if (system->narrow && (system->ranks || (system->matrix && !system->narrow_values)))
        return ps_fail(PS_USAGE, "vectors in fp32 are for one rank, with the matrix in fp32");
    int64_t rows = rows_of(system), block = block_of(system);
    *out = (ps_krylov_cpu_team){*system,
                                {.b = system->b,
                                 .x = system->x,
                                 .scale = system->stencil ? NULL : system->inverse_diagonal},
                                rows,
                                block,
                                (rows + block - 1) / block,
                                NULL};
    out->sums = ps_krylov_lay_out(method, workspace, stride_of(system) * (int64_t)sizeof *workspace,
                                  &out->vectors);
    return PS_OK;
}

/* ---- sweeps ---- */

typedef struct sweep {
    const ps_krylov_cpu_team *team;
    const struct ps_krylov_functions *table;
    ps_krylov_pass pass;
    bool change;    /* whether vectors change before the product */
    void *in, *out; /* what A multiplies, NULL: nothing; the product */
    const double *scalars;
} sweep;

/* Where the sums of a block go: to its number in the whole box. */
static double *sums_of(const ps_krylov_cpu_team *t, int64_t block)
{
    const ps_krylov_ranks *r = t->system.ranks;
    return t->sums + 3 * (r ? r->first + block - r->beside[0] : block);
}

static void change_block(const sweep *s, int64_t block)
{
    const ps_krylov_cpu_team *t = s->team;
    const ps_slab_stencil *stencil = t->system.stencil;
    double *sums = sums_of(t, block);
    int64_t first = block * t->block, end = first + t->block;
    ps_krylov_vectors v = t->vectors;
    memset(sums, 0, 3 * sizeof *sums);
    if (!s->change) return;
    if (stencil)
        v.uniform = 1 / stencil->plane[block == 0 ? 1 : block == t->blocks - 1 ? 2 : 0][0][0];
    s->table->before[s->pass](&v, first, end < t->rows ? end : t->rows, s->scalars, sums);
}

static void multiply_block(const sweep *s, int64_t block)
{
    const ps_krylov_cpu_team *t = s->team;
    int64_t first = block * t->block, end = first + t->block < t->rows ? first + t->block : t->rows;
    if (t->system.stencil)
        s->table->plane(t->system.stencil, s->in, s->out, block);
    else
        s->table->csr(t->system.matrix, values_of(&t->system), s->in, s->out,
                      (const int64_t[2]){first, end});
    if (s->change && s->table->after[s->pass])
        s->table->after[s->pass](&t->vectors, first, end, sums_of(t, block));
}

/* A thread's blocks. Products read the blocks beside; what other threads read is changed first. */
static void sweep_blocks(const sweep *s, int64_t first, int64_t end)
{
    bool local = s->in && s->team->system.stencil; /* products reach one block away */
    int64_t ahead = first;
    if (local && end > first) {
        change_block(s, first);
        if (end - 1 > first) change_block(s, end - 1);
        ahead = first + 1;
    } else {
        for (; ahead < end; ++ahead) change_block(s, ahead);
    }
#pragma omp barrier
    if (!s->in) return;
    for (int64_t block = first; block < end; ++block) {
        for (; local && ahead <= block + 1 && ahead < end - 1; ++ahead) change_block(s, ahead);
        multiply_block(s, block);
    }
}

static void sweep_range(const sweep *s, int64_t first, int64_t end)
{
#pragma omp parallel if (s->team->rows >= THREADED_ROWS)
    {
        int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num(), n = end - first;
        sweep_blocks(s, first + n * thread / threads, first + n * (thread + 1) / threads);
    }
}

/* The planes at the ends first, so that they travel while the others are swept. */
static ps_status sweep_ranks(const sweep *s, int64_t first, int64_t end)
{
    const ps_krylov_ranks *r = s->team->system.ranks;
    int64_t n = s->team->block;
    change_block(s, first);
    change_block(s, end - 1);
    double *in = s->in; /* its halo planes are the neighbours' to fill */
    if (r->beside[0])
        PS_TRY(r->links->pass(r->links->context, 0, n, in + first * n, in + (first - 1) * n));
    if (r->beside[1])
        PS_TRY(r->links->pass(r->links->context, 1, n, in + (end - 1) * n, in + end * n));
    sweep_range(s, first + 1, end - 1);
    for (int side = 0; side < 2; ++side)
        if (r->beside[side]) PS_TRY(r->links->wait(r->links->context, side));
    multiply_block(s, first);
    multiply_block(s, end - 1);
    return PS_OK;
}

static ps_status run_sweep(const sweep *s, double sums[3])
{
    const ps_krylov_cpu_team *t = s->team;
    const ps_krylov_ranks *r = t->system.ranks;
    int64_t first = r && r->beside[0], end = t->blocks - (r && r->beside[1]);
    int64_t all = r ? r->all : t->blocks;
    if (r) memset(t->sums, 0, (size_t)(3 * all) * sizeof *t->sums);
    if (r && s->in)
        PS_TRY(sweep_ranks(s, first, end));
    else
        sweep_range(s, first, end);
    if (r) PS_TRY(r->links->sum(r->links->context, t->sums, 3 * all));
    sums[0] = sums[1] = sums[2] = 0;
    for (int64_t block = 0; block < all; ++block)
        for (int i = 0; i < 3; ++i) sums[i] += t->sums[3 * block + i];
    return PS_OK;
}

/* Fixed rows of x take the values of b: their residuals are 0 ever after. size: of a value. */
static void set_fixed_rows(const ps_slab_stencil *s, int64_t size, const void *b, void *x)
{
    const int64_t *n = s->nodes;
    for (int64_t i = 0; i < n[0]; ++i)
        for (int64_t j = 0; j < n[1]; ++j) {
            int64_t row = (i * n[1] + j) * n[2];
            int64_t step = ps_stencil_fixed(s, i, j, 1) ? 1 : n[2] - 1;
            for (int64_t k = 0; k < n[2]; k += step)
                memcpy((char *)x + (row + k) * size, (const char *)b + (row + k) * size,
                       (size_t)size);
        }
}

void ps_stencil_set_fixed(const ps_slab_stencil *stencil, const double *b, double *x)
{
    set_fixed_rows(stencil, (int64_t)sizeof *x, b, x);
}

static ps_status run_pass(void *context, ps_krylov_pass pass, const double scalars[2],
                          double sums[3])
{
    const ps_krylov_cpu_team *t = context;
    const ps_krylov_vectors *v = &t->vectors;
    sweep s = {t, table_of(&t->system), pass, true, NULL, NULL, scalars};
    if (ps_krylov_starts(pass)) {
        if (t->system.stencil)
            set_fixed_rows(t->system.stencil, t->system.narrow ? 4 : 8, v->b, v->x);
        s.change = false, s.in = v->x, s.out = v->q;
        PS_TRY(run_sweep(&s, sums));
        s.change = true;
    }
    ps_krylov_product_of(pass, v, &s.in, &s.out);
    return run_sweep(&s, sums);
}

ps_krylov_team ps_krylov_cpu_team_of(ps_krylov_cpu_team *team)
{
    return (ps_krylov_team){.context = team, .run = run_pass};
}

static bool negligible(const ps_krylov_system *s)
{
    const double *wide = s->b;
    const float *narrow = s->b;
    for (int64_t i = 0, rows = rows_of(s); i < rows; ++i)
        if (!(fabs(s->narrow ? (double)narrow[i] : wide[i]) < 1e-140)) return false;
    return true;
}

ps_status ps_krylov_cpu_solve(ps_krylov_method method, const ps_krylov_system *system,
                              double tolerance, int64_t limit, double *workspace,
                              ps_krylov_result *result)
{
    ps_krylov_cpu_team team;
    *result = (ps_krylov_result){0};
    PS_TRY(ps_krylov_cpu_begin(method, system, workspace, &team));
    if (negligible(system)) {
        memset(system->x, 0, (size_t)(team.rows * (system->narrow ? 4 : 8)));
        result->converged = true;
        return PS_OK;
    }
    ps_krylov_team control = ps_krylov_cpu_team_of(&team);
    return ps_krylov_solve(method, &control, tolerance, limit, result);
}

/* ---- products and diagonals alone ---- */

ps_status ps_csr_inverse_diagonal(const ps_csr *matrix, bool definite, double *inverse)
{
    for (int64_t r = 0; r < matrix->rows; ++r) {
        double d = 0;
        for (int64_t e = matrix->row_start[r]; e < matrix->row_start[r + 1]; ++e)
            if (matrix->columns[e] == r) d = matrix->values[e];
        if (d == 0 || !isfinite(d) || (definite && d < 0))
            return ps_fail(PS_INVALID,
                           "the diagonal entry of row %lld is %g: Jacobi scaling needs a finite "
                           "one that is %s 0",
                           (long long)r, d, definite ? "above" : "not");
        inverse[r] = 1 / d;
    }
    return PS_OK;
}

static void multiply(const ps_krylov_system *system, const void *x, void *y)
{
    int64_t rows = rows_of(system), block = block_of(system);
    const struct ps_krylov_functions *table = table_of(system);
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < rows; first += block)
        if (system->stencil)
            table->plane(system->stencil, x, y, first / block);
        else
            table->csr(system->matrix, values_of(system), x, y,
                       (const int64_t[2]){first, first + block < rows ? first + block : rows});
}

void ps_csr_multiply(const ps_csr *matrix, const double *x, double *y)
{
    multiply(&(ps_krylov_system){.matrix = matrix}, x, y);
}

void ps_stencil_multiply(const ps_slab_stencil *stencil, const double *x, double *y)
{
    multiply(&(ps_krylov_system){.stencil = stencil}, x, y);
}

void ps_csr_multiply_narrow(const ps_csr *matrix, const float *values, const float *x, float *y)
{
    multiply(&(ps_krylov_system){.matrix = matrix, .narrow = true, .narrow_values = values}, x, y);
}

void ps_stencil_multiply_narrow(const ps_slab_stencil *stencil, const float *x, float *y)
{
    multiply(&(ps_krylov_system){.stencil = stencil, .narrow = true}, x, y);
}
