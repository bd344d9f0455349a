/* The cores. */
#include <stdlib.h>
#include <string.h>

#include "compute/spmv_bench/bench.h"
#include "kernels/common/reals.h"
#include "kernels/linear/krylov_team.h"
#include "runtime/memory.h"

const char *const bench_names[BENCH_OPERATIONS] = {"dscal", "daxpy",    "element_wise",
                                                   "dot",   "spmv_csr", "stencil"};
const char *const bench_methods[2][PS_KRYLOV_METHODS] = {
    {"cg_csr", "bicgstab_csr", "bicgcr_csr"}, {"cg_stencil", "bicgstab_stencil", "bicgcr_stencil"}};

/* ---- what is timed ---- */

enum { OWN_X, OWN_Y, OWN_B, OWN_INVERSE, OWN_VALUES };

#define real double
#define NAME(what) wide_##what
#include "compute/spmv_bench/host_body.h"
#undef real
#undef NAME
#define real float
#define NAME(what) narrow_##what
#include "compute/spmv_bench/host_body.h"
#include "runtime/compare.h"
#undef real
#undef NAME

static void wide_product(const bench *s)
{
    ps_csr_multiply(&s->matrix, s->own[OWN_X], s->own[OWN_Y]);
}
static void wide_stencil(const bench *s)
{
    ps_stencil_multiply(&s->stencil, s->own[OWN_X], s->own[OWN_Y]);
}
static void narrow_product(const bench *s)
{
    ps_csr_multiply_narrow(&s->matrix, s->own[OWN_VALUES], s->own[OWN_X], s->own[OWN_Y]);
}
static void narrow_stencil(const bench *s)
{
    ps_stencil_multiply_narrow(&s->stencil, s->own[OWN_X], s->own[OWN_Y]);
}

typedef void operation(const bench *s);
static operation *const operations[PS_PRECISION_COUNT][BENCH_OPERATIONS] = {
    [PS_SINGLE] = {narrow_scale, narrow_axpy, narrow_multiply_elements, narrow_dot, narrow_product,
                   narrow_stencil},
    [PS_DOUBLE] = {wide_scale, wide_axpy, wide_multiply_elements, wide_dot, wide_product,
                   wide_stencil}};

/* ---- timing ---- */

double bench_median(double *samples, int count)
{
    qsort(samples, (size_t)count, sizeof *samples, ps_compare_reals);
    return samples[count / 2];
}

static double median_time(const bench *s, operation *work)
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
    ps_report_real(s->report, "time", seconds);
    ps_report_real(s->report, "rate", flops[which] / seconds);
    ps_report_real(s->report, "traffic", bytes[which] / seconds);
}

/* `from`, or ones, to a vector of the precision. */
static void fill(const bench *s, const double *from, int which)
{
    if (s->precision == PS_SINGLE)
        narrow_fill(s, from, s->own[which]);
    else if (from != s->own[which])
        wide_fill(s, from, s->own[which]);
}

static void time_operations(bench *s)
{
    for (int i = 0; i < bench_operations(s); ++i) {
        fill(s, NULL, OWN_X);
        fill(s, NULL, OWN_Y);
        s->host[i] = median_time(s, operations[s->precision][i]);
        ps_report_section(s->report, bench_names[i]);
        bench_report_operation(s, (bench_operation)i, s->host[i], ps_real_bytes(s->precision));
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
    ps_report_int(s->report, "iterations", result->iterations);
    ps_report_real(s->report, "time", seconds);
    ps_report_real(s->report, "time_of_iteration", seconds / (double)result->iterations);
    ps_report_real(s->report, "residual", result->residual);
}

static ps_status time_method(bench *s, ps_krylov_method method, bool stencil)
{
    ps_krylov_system system = {.b = s->own[OWN_B],
                               .x = s->own[OWN_X],
                               .narrow = s->precision == PS_SINGLE,
                               .narrow_values = s->own[OWN_VALUES]};
    ps_krylov_result result;
    double *workspace = NULL;
    if (stencil)
        system.stencil = &s->stencil;
    else
        system.matrix = &s->matrix, system.inverse_diagonal = s->own[OWN_INVERSE];
    PS_TRY(PS_ALLOC(&workspace, ps_krylov_cpu_workspace(method, &system), "a Krylov method"));
    memset(s->own[OWN_X], 0, (size_t)(s->matrix.rows * ps_real_bytes(s->precision)));
    double start = ps_clock();
    ps_status status =
        ps_krylov_cpu_solve(method, &system, s->tolerance, s->limit, workspace, &result);
    double seconds = ps_clock() - start;
    free(workspace);
    ps_report_section(s->report, bench_methods[stencil][method]);
    bench_report_method(s, status, &result, seconds);
    s->host_methods[stencil][method] = status == PS_OK ? seconds : 0;
    return PS_OK;
}

/* The vectors themselves, or copies in fp32. */
static ps_status open_vectors(bench *s)
{
    int64_t n = s->matrix.rows;
    float *vectors;
    if (s->precision == PS_DOUBLE) {
        double *const all[] = {s->x, s->y, s->b, s->inverse};
        for (int i = 0; i < 4; ++i) s->own[i] = all[i];
        return PS_OK;
    }
    PS_TRY(PS_ALLOC(&vectors, 4 * n + s->matrix.nnz, "numbers in fp32"));
    for (int i = 0; i < 5; ++i) s->own[i] = vectors + i * n;
    for (int64_t e = 0; e < s->matrix.nnz; ++e) vectors[4 * n + e] = (float)s->matrix.values[e];
    fill(s, s->b, OWN_B);
    fill(s, s->inverse, OWN_INVERSE);
    return PS_OK;
}

static ps_status time_all(bench *s)
{
    time_operations(s);
    for (int stencil = 0; stencil <= s->box && s->krylov; ++stencil)
        for (int m = 0; m < PS_KRYLOV_METHODS; ++m)
            PS_TRY(time_method(s, (ps_krylov_method)m, stencil));
    return PS_OK;
}

ps_status bench_host(bench *s)
{
    PS_TRY(open_vectors(s));
    ps_status status = time_all(s);
    if (s->precision == PS_SINGLE) free(s->own[OWN_X]);
    return status;
}
