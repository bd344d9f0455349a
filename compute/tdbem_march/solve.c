#include "compute/tdbem_march/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/linear/krylov_team.h"
#include "kernels/tdbem/group_solve.h"
#include "runtime/memory.h"

static const double growth_limit = 1e6;
/* Squares of this and of its inverse keep their digits. */
static const double faintest = 1e-140;
enum { ITERATIONS_MAX = 2000, THREADED = 65536 };

static ps_krylov_method method_of(solver_kind kind)
{
    return kind == SOLVER_BICGSTAB ? PS_KRYLOV_BICGSTAB : PS_KRYLOV_CG;
}

static int64_t workspace_of(solver_kind kind, int64_t rows)
{
    ps_krylov_system system = {.matrix = &(ps_csr){.rows = rows}};
    return ps_krylov_cpu_workspace(method_of(kind), &system);
}

ps_status solver_choose(int wanted, bool unsymmetric, solver_kind *out)
{
    *out = (solver_kind)wanted;
    if (!unsymmetric) return PS_OK;
    *out = SOLVER_BICGSTAB;
    if (wanted == SOLVER_CG) return PS_OK;
    return ps_fail(PS_USAGE, "--solver cholesky is for symmetric matrices: those of the combined "
                             "field equation and of linings are not; leave it out");
}

const char *solver_name(solver_kind kind)
{
    static const char *const names[] = {"conjugate gradients", "Cholesky", "BiCGStab"};
    return names[kind];
}

ps_status solver_take(solver *s, ps_ledger *ledger)
{
    static const char line[] = "solver";
    double **const vectors[] = {&s->scale, &s->x, &s->last[0], &s->last[1]};
    for (int k = 0; k < 4; ++k) PS_TRY(PS_LEDGER_TAKE(ledger, vectors[k], s->rows, line));
    int64_t work = s->kind == SOLVER_CHOLESKY ? 0 : workspace_of(s->kind, s->rows);
    return PS_LEDGER_TAKE(ledger, &s->work, work, line);
}

ps_status solver_diagonal(const ps_csr *m0, double *scale)
{
    ps_status status = ps_csr_inverse_diagonal(m0, true, scale);
    return status == PS_OK ? PS_OK : ps_context(status, "M^0 is not positive definite");
}

ps_status solver_open(solver_kind kind, ps_csr *m0, ps_precision precision, double tolerance,
                      solver *out)
{
    *out = (solver){
        .kind = kind, .m0 = *m0, .rows = m0->rows, .precision = precision, .tolerance = tolerance};
    memset(m0, 0, sizeof *m0);
    PS_TRY(solver_take(out, NULL));
    PS_TRY(solver_diagonal(&out->m0, out->scale));
    if (kind != SOLVER_CHOLESKY) return PS_OK;
    const ps_csr *m = &out->m0;
    ps_status status = ps_cholesky_open(
        &(ps_symmetric_rows){m->rows, m->row_start, m->columns, m->values}, &out->factor);
    return status == PS_OK ? PS_OK : ps_context(status, "--solver cholesky: M^0");
}

void solver_close(solver *s)
{
    ps_cholesky_close(&s->factor);
    ps_csr_release(&s->m0);
    PS_FREE(s->scale, s->work, s->x, s->last[0], s->last[1]);
    memset(s, 0, sizeof *s);
}

ps_status solver_not_converged(int64_t n, double residual, int64_t iterations, double tolerance)
{
    return ps_fail(PS_FAILED,
                   "step %lld: the iteration stands at a relative residual of %.3g after %lld "
                   "iterations, wanted %.3g; raise --tolerance or (of symmetric matrices) use "
                   "--solver cholesky",
                   (long long)n, residual, (long long)iterations, tolerance);
}

static ps_status iterate(solver *s, int64_t n, const double *right, figures *f)
{
    for (int64_t i = 0; i < s->rows; ++i) s->x[i] = 2 * s->last[0][i] - s->last[1][i];
    ps_krylov_result result;
    ps_krylov_system system = {
        .matrix = &s->m0, .inverse_diagonal = s->scale, .b = right, .x = s->x};
    ps_status status = ps_krylov_cpu_solve(method_of(s->kind), &system, s->tolerance,
                                           ITERATIONS_MAX, s->work, &result);
    f->iterations += (double)result.iterations;
    f->iterations_max = fmax(f->iterations_max, (double)result.iterations);
    ++f->solves;
    if (result.converged) return PS_OK;
    if (result.iterations < ITERATIONS_MAX) return ps_context(status, "step %lld", (long long)n);
    return solver_not_converged(n, result.residual, result.iterations, s->tolerance);
}

/* Rounds x to the run's precision, in place and into out. */
static void store(solver *s, void *out)
{
    for (int64_t i = 0; i < s->rows; ++i) {
        if (s->precision == PS_SINGLE)
            s->x[i] = ((float *)out)[i] = (float)s->x[i];
        else
            ((double *)out)[i] = s->x[i];
    }
}

ps_status solver_note_load(int64_t n, double load, double response, double right, figures *f)
{
    if (!isfinite(load))
        return ps_fail(PS_FAILED,
                       "step %lld: the load is not finite; does a point source lie on the "
                       "surface?",
                       (long long)n);
    if (load > 1 / faintest)
        return ps_fail(PS_FAILED,
                       "step %lld: the load, %.3g, is too large for double numbers: give "
                       "what comes in a smaller amplitude",
                       (long long)n, load);
    f->load = fmax(f->load, load);
    f->response = fmax(f->response, response);
    if (load > 1e-12 * f->load) f->last_load = (double)n;
    if (isfinite(right)) return PS_OK;
    return ps_fail(PS_FAILED,
                   "step %lld: the sums are not finite: the march is unstable. Assemble "
                   "with at least 3 outer points and with symmetrised entries",
                   (long long)n);
}

ps_status solver_note_answer(int64_t n, double answer, figures *f)
{
    f->largest = answer > f->largest ? answer : f->largest;
    f->latest = answer;
    if (answer <= growth_limit * f->response) return PS_OK;
    return ps_fail(
        PS_FAILED,
        "step %lld: the densities reach %.3g, more than %.0g times what the loads explain "
        "(%.3g): the march is unstable. Assemble with at least 3 outer points and with "
        "symmetrised entries, and check the mesh",
        (long long)n, answer, growth_limit, f->response);
}

ps_status solver_check_sizes(ps_precision precision, const figures *f)
{
    const double least = precision == PS_SINGLE ? 1e-28 : faintest;
    if (f->load == 0 || (f->load >= faintest && f->largest >= least)) return PS_OK;
    return ps_fail(PS_FAILED,
                   "loads of at most %.3g and densities of at most %.3g are too small for %s "
                   "precision: fields are proportional to what comes in, so give it a larger "
                   "amplitude%s",
                   f->load, f->largest, precision == PS_SINGLE ? "single" : "double",
                   precision == PS_SINGLE ? ", or take --precision fp64" : "");
}

ps_status solver_step(solver *s, int64_t n, const double *load, const double *right, void *out,
                      figures *f)
{
    PS_TRY(solver_note_load(n, ps_group_largest(load, NULL, s->rows),
                            ps_group_largest(load, s->scale, s->rows),
                            ps_group_largest(right, NULL, s->rows), f));
    if (s->kind != SOLVER_CHOLESKY)
        PS_TRY(iterate(s, n, right, f));
    else
        PS_TRY(ps_cholesky_solve(s->factor, right, s->x));
    store(s, out);
    solver_push(s, f);
    return solver_note_answer(n, ps_group_largest(s->x, NULL, s->rows), f);
}

void solver_push(solver *s, figures *f)
{
    double *last = s->last[0], *oldest = s->last[1], most = 0;
#pragma omp parallel for schedule(static) reduction(max : most) if (s->rows > THREADED)
    for (int64_t i = 0; i < s->rows; ++i) {
        double bend = fabs(s->x[i] - 2 * last[i] + oldest[i]);
        most = bend > most ? bend : most;
        oldest[i] = s->x[i];
    }
    s->last[0] = oldest;
    s->last[1] = last;
    f->alternating = most / 4;
    f->alternating_largest = fmax(f->alternating_largest, f->alternating);
}
