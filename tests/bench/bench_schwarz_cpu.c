/*
 * Kernels and solvers of the schwarz family on CPU cores: CSR and stencil products, CG and the
 * direct solver at 1,325,848 unknowns (106 x 106 x 118 nodes, -Lap u = 1, 250 x 250 x 15 km), the
 * search for transmission conditions. Records to stdout; fraction = floor / value.
 * Floors: bytes at 14.5 GB/s a core (triad of the machine whose peers the numerics guide names).
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/schwarz/fast_solve.h"
#include "kernels/linear/krylov_team.h"
#include "kernels/schwarz/symbol.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "tests/support/record.h"

enum { WHICH = 13, TIMES = 7 };
static const double bandwidth = 14.5e9;

typedef struct bench {
    ps_slab slab;
    ps_slab_stencil stencil;
    ps_csr matrix;
    ps_fast_solver fast;
    double *inverse, *b, *x, *work, *tables;
    int64_t rows;
    int threads;
    ps_krylov_method method;
    bool rowwise;
    ps_krylov_result result;
} bench;

static void record(const bench *a, const char *name, const char *quantity, double value,
                   double floor)
{
    bench_record("cpu", name, quantity, 1e3 * value, "ms", 1e3 * floor,
                 text("%lld unknowns, %d thread%s", (long long)a->rows, a->threads,
                      a->threads == 1 ? "" : "s"));
    fprintf(stderr, "%-18s %-34s %9.3f ms  (floor %.3f)\n", name, quantity, 1e3 * value,
            1e3 * floor);
}

static ps_status setup(bench *a)
{
    ps_q1_grid grid;
    PS_TRY(ps_gravi_grid(WHICH, &grid));
    a->slab = ps_slab_whole(&grid);
    a->rows = ps_q1_grid_size(&grid);
    a->threads = omp_get_max_threads();
    ps_slab_stencil_make(&a->slab, &a->stencil);
    PS_TRY(ps_stencil_assemble(&a->stencil, &a->matrix));
    int64_t work = ps_fast_workspace(&a->slab, a->threads);
    int64_t mixed = ps_krylov_cpu_mixed_workspace(&a->stencil);
    if (mixed > work) work = mixed;
    for (int m = 0; m < PS_KRYLOV_METHODS; ++m) {
        ps_krylov_system system = {.stencil = &a->stencil};
        int64_t need = ps_krylov_cpu_workspace(m, &system);
        if (need > work) work = need;
    }
    PS_TRY(PS_ALLOC(&a->inverse, a->rows, "diagonal"));
    PS_TRY(PS_ALLOC(&a->b, a->rows, "b"));
    PS_TRY(PS_ALLOC(&a->x, a->rows, "x"));
    PS_TRY(PS_ALLOC(&a->work, work, "workspace"));
    PS_TRY(PS_ALLOC(&a->tables, ps_fast_solver_size(&a->slab), "tables"));
    PS_TRY(ps_csr_inverse_diagonal(&a->matrix, false, a->inverse));
    ps_unit_load(&grid, &a->stencil, a->b);
    return ps_fast_solver_make(&a->slab, a->tables, &a->fast);
}

/* The least of TIMES runs, after one that is not counted. */
static ps_status timed(bench *a, ps_status (*run)(bench *), double *best)
{
    *best = 1e300;
    for (int i = 0; i <= TIMES; ++i) {
        double start = ps_clock();
        PS_TRY(run(a));
        double seconds = ps_clock() - start;
        if (i > 0 && seconds < *best) *best = seconds;
    }
    return PS_OK;
}

static ps_status run_csr(bench *a)
{
    ps_csr_multiply(&a->matrix, a->b, a->x);
    return PS_OK;
}

static ps_status run_stencil(bench *a)
{
    ps_stencil_multiply(&a->stencil, a->b, a->x);
    return PS_OK;
}

static ps_status run_fast(bench *a)
{
    ps_fast_solve(&a->fast, a->b, a->x, a->work, a->threads);
    return PS_OK;
}

static ps_status run_krylov(bench *a)
{
    ps_krylov_system system = {.b = a->b, .x = a->x};
    if (a->rowwise)
        system.matrix = &a->matrix, system.inverse_diagonal = a->inverse;
    else
        system.stencil = &a->stencil;
    for (int64_t i = 0; i < a->rows; ++i) a->x[i] = 0;
    return ps_krylov_cpu_solve(a->method, &system, 1e-6, 2000, a->work, &a->result);
}

static ps_status krylov_case(bench *a, ps_krylov_method method)
{
    char text[96];
    double start = ps_clock();
    a->method = method;
    PS_TRY(run_krylov(a));
    double seconds = ps_clock() - start;
    snprintf(text, sizeof text, "%s to 1e-6, stencil, %lld iterations", ps_krylov_name(method),
             (long long)a->result.iterations);
    /* CG: p and q, x and r pass once each, 88 bytes a row */
    record(a, method == PS_KRYLOV_CG ? "cg-cpu-1325848" : "krylov-cpu-1325848", text, seconds,
           88.0 * (double)(a->rows * a->result.iterations) / bandwidth);
    return PS_OK;
}

static ps_status mixed_case(bench *a)
{
    ps_krylov_system system = {.stencil = &a->stencil, .b = a->b, .x = a->x};
    const ps_krylov_cpu_control control = {.tolerance = 1e-6, .limit = 2000};
    char text[96];
    for (int64_t i = 0; i < a->rows; ++i) a->x[i] = 0;
    double start = ps_clock();
    PS_TRY(ps_krylov_cpu_mixed(&system, &control, a->work, &a->result));
    double seconds = ps_clock() - start;
    snprintf(text, sizeof text, "P-CG to 1e-6, stencil, %lld iterations (vectors in fp32)",
             (long long)a->result.iterations);
    record(a, "cg-cpu-1325848", text, seconds,
           44.0 * (double)(a->rows * a->result.iterations) / bandwidth);
    return PS_OK;
}

static ps_status fast_case(bench *a)
{
    double best;
    PS_TRY(timed(a, run_fast, &best));
    record(a, "best-cpu-1325848", "direct solution (fast diagonalisation)", best,
           6 * 16.0 * (double)a->rows / bandwidth);
    return PS_OK;
}

/* What the targets say: one core. */
static ps_status one_core(bench *a)
{
    omp_set_num_threads(1);
    a->threads = 1;
    PS_TRY(fast_case(a));
    return krylov_case(a, PS_KRYLOV_CG);
}

static ps_status search_case(const bench *a)
{
    static double memory[3][500];
    static const char *const name[] = {"oo0 symmetric", "oo0 unsymmetric", "oo2 symmetric",
                                       "oo2 unsymmetric"};
    ps_symbol symbol = {500, memory[0], memory[1], memory[2]};
    ps_symbol_fill(&(ps_symbol_range){.017386, 4.415, .02462, 0}, &symbol);
    for (int kind = 0; kind < PS_TRANSMISSION_KINDS; ++kind) {
        double worst = 0;
        for (uint64_t seed = 1; seed <= 20; ++seed) {
            ps_transmission_search search = {kind, &symbol, {-1, -1}, seed};
            ps_transmission t;
            ps_cmaes_result result;
            double rho, start = ps_clock();
            PS_TRY(ps_transmission_optimise(&search, &t, &rho, &result));
            double seconds = ps_clock() - start;
            if (seconds > worst) worst = seconds;
        }
        char text[96];
        snprintf(text, sizeof text, "CMA-ES %s, slowest of 20 seeds", name[kind]);
        record(a, "transmission-optimize", text, worst, 5e-3);
    }
    return PS_OK;
}

static ps_status run_all(bench *a)
{
    double best, rows;
    PS_TRY(setup(a));
    rows = (double)a->rows;
    PS_TRY(timed(a, run_csr, &best));
    record(a, "spmv-cpu-1325848", "CSR product", best,
           (12 * (double)a->matrix.nnz + 20 * rows) / bandwidth);
    PS_TRY(timed(a, run_stencil, &best));
    record(a, "stencil-cpu-1325848", "stencil product", best, 16 * rows / bandwidth);
    PS_TRY(fast_case(a));
    for (int m = 0; m < PS_KRYLOV_METHODS; ++m) PS_TRY(krylov_case(a, m));
    PS_TRY(mixed_case(a));
    PS_TRY(one_core(a));
    return search_case(a);
}

int main(void)
{
    bench a = {0};
    ps_status status = run_all(&a);
    if (status != PS_OK) fprintf(stderr, "bench_schwarz_cpu: %s\n", ps_message());
    ps_csr_release(&a.matrix);
    PS_FREE(a.inverse, a.b, a.x, a.work, a.tables);
    return status;
}
