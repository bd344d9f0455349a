#include "kernels/tdbem/group_solve.h"

#include <math.h>
#include <string.h>

#include "kernels/common/reals.h"
#include "kernels/linear/krylov_team.h"
#include "kernels/tdbem/group_solve_device.h"
#include "runtime/sizes.h"

int64_t ps_group_solve_workspace(int64_t unknowns, int64_t group, int64_t halo)
{
    const ps_krylov_system system = {.matrix = &(ps_csr){.rows = unknowns}};
    int64_t here =
        (2 * unknowns + ps_larger(ps_krylov_cpu_workspace(PS_KRYLOV_CG, &system),
                                  ps_krylov_cpu_workspace(PS_KRYLOV_BICGSTAB, &system))) *
        (int64_t)sizeof(double);
    int64_t there = ps_group_solve_cuda_workspace(unknowns, group, halo);
    return here > there ? here : there;
}

/* w of the present step, and on CUDA what a pass says of the coming ones. */
int64_t ps_group_lining_workspace(int64_t unknowns)
{
    return (1 + PS_NEAR_STRIDE) * unknowns * (int64_t)sizeof(double);
}

/* ---- the CPU ---- */

enum { THREADED = 65536 };

/* out[N] = what the sweep and the steps of the group so far give to step g. */
static void add_known(const ps_group_solve *s, const void *sums, const ps_packed_near *near,
                      int64_t g, double *out)
{
    for (int64_t i = 0; i < s->unknowns; ++i)
        out[i] = ps_real_at(s->precision, sums, i * s->sums_stride + g);
    ps_packed_near_add(near, s->recent, g, out);
}

/* right += beta * w but for its own step. */
static void add_lining(const ps_group_solve *s, const ps_group_lining *l, int64_t g, double *right)
{
    add_known(s, l->sums, &l->near, g, l->w);
    for (int64_t i = 0; i < s->unknowns; ++i) right[i] += l->filter.direct * l->w[i];
    ps_admittance_past(&l->filter, s->unknowns, l->state, right);
}

/* The answer x completes w, with which the states go on. */
static void advance_lining(const ps_group_solve *s, const ps_group_lining *l, const double *x)
{
    for (int64_t i = 0; i < s->unknowns; ++i)
        for (int64_t e = l->m0.row_start[i]; e < l->m0.row_start[i + 1]; ++e)
            l->w[i] += l->m0.values[e] * x[l->m0.columns[e]];
    ps_admittance_advance(&l->filter, s->unknowns, l->w, l->state);
}

double ps_group_largest(const double *x, const double *scale, int64_t rows)
{
    double most = 0, sum = 0;
#pragma omp parallel for schedule(static) reduction(max : most) reduction(+ : sum) \
    if (rows > THREADED)
    for (int64_t i = 0; i < rows; ++i) {
        double value = fabs(scale ? x[i] * scale[i] : x[i]);
        most = value > most ? value : most;
        sum += value - value; /* NaN unless finite */
    }
    return most + sum;
}

/* Rounds x to the run's precision, in place and into step g of recent. */
static void keep(const ps_group_solve *s, int64_t g, double *x)
{
    for (int64_t i = 0; i < s->unknowns; ++i) {
        if (s->precision == PS_SINGLE)
            x[i] = ((float *)s->recent)[g * s->unknowns + i] = (float)x[i];
        else
            ((double *)s->recent)[g * s->unknowns + i] = x[i];
    }
}

static void fill_right(const ps_group_solve *s, int64_t g, double *right)
{
    const double *load = s->loads + g * s->unknowns;
    add_known(s, s->sums, &s->near, g, right);
    for (int q = 0; q < s->lining_count; ++q) add_lining(s, &s->linings[q], g, right);
    for (int64_t i = 0; i < s->unknowns; ++i) right[i] = load[i] - right[i];
}

/* Step g; the state is in step->state. */
static void solve_step(const ps_group_solve *s, int64_t g, ps_group_step *step)
{
    int64_t n = s->unknowns;
    double *right = s->workspace, *x = right + n, *work = x + n;
    const double *load = s->loads + g * n;
    fill_right(s, g, right);
    step->load = ps_group_largest(load, NULL, n);
    step->response = ps_group_largest(load, s->scale, n);
    step->right = ps_group_largest(right, NULL, n);
    step->state = PS_GROUP_NOT_FINITE;
    if (!isfinite(step->right) || !isfinite(step->load)) return;
    for (int64_t i = 0; i < n; ++i) x[i] = 2 * s->last[0][i] - s->last[1][i];
    ps_krylov_result result;
    ps_krylov_system system = {.matrix = s->rows, .inverse_diagonal = s->scale, .b = right, .x = x};
    (void)ps_krylov_cpu_solve(s->unsymmetric ? PS_KRYLOV_BICGSTAB : PS_KRYLOV_CG, &system,
                              s->tolerance, s->limit, work, &result);
    step->iterations = (double)result.iterations;
    step->residual = result.residual;
    step->state = result.converged ? PS_GROUP_SOLVED : PS_GROUP_NOT_CONVERGED;
    if (!result.converged) return;
    keep(s, g, x);
    for (int q = 0; q < s->lining_count; ++q) advance_lining(s, &s->linings[q], x);
    step->largest = ps_group_largest(x, NULL, n);
    for (int64_t i = 0; i < n; ++i) step->mean += s->weights[i] * x[i];
    memcpy(s->last[1], s->last[0], (size_t)n * sizeof *x);
    memcpy(s->last[0], x, (size_t)n * sizeof *x);
}

static void run_here(const ps_group_solve *s)
{
    memset(s->steps, 0, (size_t)s->group * sizeof *s->steps);
    for (int64_t g = 0; g < s->count; ++g) {
        solve_step(s, g, &s->steps[g]);
        if (s->steps[g].state != PS_GROUP_SOLVED) return;
    }
}

ps_status ps_group_solve_run(const ps_group_solve *s, ps_stream *stream)
{
    if (s->unknowns < 1 || s->group < 1 || s->group > PS_GROUP_MAX || s->count < 1 ||
        s->count > s->group || s->sums_stride < s->group)
        return ps_fail(PS_USAGE,
                       "a group of %lld of %lld steps of %lld unknowns, sums %lld apart, cannot be "
                       "solved",
                       (long long)s->count, (long long)s->group, (long long)s->unknowns,
                       (long long)s->sums_stride);
    if (s->near.unknowns != s->unknowns || s->near.group != s->group || s->m0.rows != s->unknowns ||
        s->near.precision != s->precision || (s->lining_count > 0 && !s->unsymmetric))
        return ps_fail(PS_USAGE, "the near matrices or M^0 are not of this group");
    if (ps_stream_handle(stream)) return ps_group_solve_cuda(s, stream);
    run_here(s);
    return PS_OK;
}
