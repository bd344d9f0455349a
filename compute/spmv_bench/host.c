/* The cores. */
#include <stdlib.h>
#include <string.h>

#include "compute/spmv_bench/bench.h"
#include "kernels/schwarz/krylov_team.h"
#include "runtime/memory.h"

const char *const bench_names[BENCH_OPERATIONS] = {"dscal", "daxpy",    "element_wise",
                                                   "dot",   "spmv_csr", "stencil"};
const char *const bench_methods[2][PS_KRYLOV_METHODS] = {
    {"cg_csr", "bicgstab_csr", "bicgcr_csr"}, {"cg_stencil", "bicgstab_stencil", "bicgcr_stencil"}};

/* ---- what is timed ---- */

static void scale(bench *s)
{
    double *x = s->x;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < s->matrix.rows; ++i) x[i] *= 1.0000001;
}

static void axpy(bench *s)
{
    const double *x = s->x;
    double *y = s->y;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < s->matrix.rows; ++i) y[i] += 1e-7 * x[i];
}

static void multiply_elements(bench *s)
{
    const double *x = s->inverse;
    double *y = s->y;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < s->matrix.rows; ++i) y[i] *= x[i];
}

static void dot(bench *s)
{
    const double *x = s->x, *y = s->y;
    double sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
    for (int64_t i = 0; i < s->matrix.rows; ++i) sum += x[i] * y[i];
    s->x[0] = sum != sum ? 0 : s->x[0]; /* so that it is needed */
}

static void product(bench *s) { ps_csr_multiply(&s->matrix, s->x, s->y); }
static void stencil_product(bench *s) { ps_stencil_multiply(&s->stencil, s->x, s->y); }

/* ---- timing ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *samples, int count)
{
    qsort(samples, (size_t)count, sizeof *samples, ascending);
    return samples[count / 2];
}

static double median_time(bench *s, void (*work)(bench *))
{
    double samples[BENCH_SAMPLES];
    int count = 0;
    double begin = ps_clock();
    work(s);
    while (count < BENCH_REPEATS || (ps_clock() - begin < s->least_time && count < BENCH_SAMPLES)) {
        double start = ps_clock();
        work(s);
        samples[count++] = ps_clock() - start;
    }
    return bench_median(samples, count);
}

void bench_report_operation(const bench *s, bench_operation which, double seconds, int real_bytes)
{
    double n = (double)s->matrix.rows, nnz = (double)s->matrix.nnz, size = real_bytes;
    const double flops[BENCH_OPERATIONS] = {n, 2 * n, n, 2 * n, 2 * nnz, 21 * n};
    const double bytes[BENCH_OPERATIONS] = {2 * size * n,
                                            3 * size * n,
                                            3 * size * n,
                                            2 * size * n,
                                            (4 + size) * nnz + (8 + 2 * size) * n,
                                            2 * size * n};
    ps_report_real(s->report, "time", 1e3 * seconds, "ms");
    ps_report_real(s->report, "rate", flops[which] / seconds / 1e9, "GF/s");
    ps_report_real(s->report, "traffic", bytes[which] / seconds / 1e9, "GB/s");
}

static void time_operations(bench *s)
{
    void (*const work[BENCH_OPERATIONS])(bench *) = {scale, axpy,    multiply_elements,
                                                     dot,   product, stencil_product};
    for (int i = 0; i < bench_operations(s); ++i) {
        for (int64_t k = 0; k < s->matrix.rows; ++k) s->x[k] = s->y[k] = 1;
        s->host[i] = median_time(s, work[i]);
        ps_report_section(s->report, bench_names[i]);
        bench_report_operation(s, (bench_operation)i, s->host[i], 8);
    }
}

/* ---- methods ---- */

void bench_report_method(const bench *s, ps_status status, const ps_krylov_result *result,
                         double seconds)
{
    if (status != PS_OK) {
        ps_report_text(s->report, "failed", ps_message());
        return;
    }
    ps_report_int(s->report, "iterations", result->iterations, "");
    ps_report_real(s->report, "time", seconds, "s");
    ps_report_real(s->report, "time_of_iteration", 1e3 * seconds / (double)result->iterations,
                   "ms");
    ps_report_real(s->report, "residual", result->residual, "");
}

static ps_status time_method(bench *s, ps_krylov_method method, bool stencil)
{
    ps_krylov_system system = {.b = s->b, .x = s->x};
    ps_krylov_cpu_team team;
    ps_krylov_result result;
    double *workspace = NULL;
    if (stencil)
        system.stencil = &s->stencil;
    else
        system.matrix = &s->matrix, system.inverse_diagonal = s->inverse;
    PS_TRY(PS_ALLOC(&workspace, ps_krylov_cpu_workspace(method, &system), "a Krylov method"));
    memset(s->x, 0, (size_t)s->matrix.rows * sizeof *s->x);
    double start = ps_clock();
    ps_status status = ps_krylov_cpu_begin(method, &system, workspace, &team);
    ps_krylov_team control = ps_krylov_cpu_team_of(&team);
    if (status == PS_OK)
        status = ps_krylov_solve(method, &control, s->tolerance, s->limit, &result);
    double seconds = ps_clock() - start;
    free(workspace);
    ps_report_section(s->report, bench_methods[stencil][method]);
    bench_report_method(s, status, &result, seconds);
    s->host_methods[stencil][method] = status == PS_OK ? seconds : 0;
    return PS_OK;
}

ps_status bench_host(bench *s)
{
    time_operations(s);
    for (int stencil = 0; stencil <= s->box && s->krylov; ++stencil)
        for (int m = 0; m < PS_KRYLOV_METHODS; ++m)
            PS_TRY(time_method(s, (ps_krylov_method)m, stencil));
    return PS_OK;
}
