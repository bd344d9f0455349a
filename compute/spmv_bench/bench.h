/*
 * spmv-bench: what its files share.
 */
#ifndef PS_SPMV_BENCH_BENCH_H
#define PS_SPMV_BENCH_BENCH_H

#include "kernels/schwarz/grid.h"
#include "kernels/linear/krylov.h"
#include "runtime/device.h"
#include "runtime/isa.h"
#include "runtime/program.h"
#include "runtime/report.h"

typedef enum bench_operation {
    BENCH_SCALE,
    BENCH_AXPY,
    BENCH_ELEMENTS,
    BENCH_DOT,
    BENCH_SPARSE,
    BENCH_STENCIL,
    BENCH_OPERATIONS
} bench_operation;

typedef struct bench {
    const ps_run *run;
    ps_report *report;
    /* options */
    int64_t limit;
    double tolerance, least_time;
    bool krylov;
    ps_precision precision;
    /* the problem */
    ps_csr matrix;
    bool box; /* the stencil is there and is timed */
    ps_slab_stencil stencil;
    double *x, *y, *b, *inverse;
    void *own[5]; /* x, y, b, inverse and the matrix's values in the precision, on the cores */
    /* seconds on the cores, 0 where not timed: operations; methods with rows and with the stencil
     */
    double host[BENCH_OPERATIONS], host_methods[2][PS_KRYLOV_METHODS];
} bench;

/* Names of operations and of methods [with the stencil][method]. */
extern const char *const bench_names[BENCH_OPERATIONS];
extern const char *const bench_methods[2][PS_KRYLOV_METHODS];

/* Operations that are timed: without the stencil for a matrix from a file. */
static inline int bench_operations(const bench *s)
{
    return s->box ? BENCH_OPERATIONS : BENCH_STENCIL;
}

/* Repetitions: at least BENCH_REPEATS, and as long as the option says. */
enum { BENCH_REPEATS = 10, BENCH_SAMPLES = 1000 };
double bench_median(double *samples, int count); /* sorts them */

/* Adds time, rate and traffic of an operation with reals of so many bytes. */
void bench_report_operation(const bench *s, bench_operation which, double seconds, int real_bytes);
/* Adds the figures of a method; or, a matrix that it is not made for being a finding and not an
 * end, why there are none. */
void bench_report_method(const bench *s, ps_status status, const ps_krylov_result *result,
                         double seconds);

ps_status bench_host(bench *s);
ps_status bench_device(bench *s, ps_device *device);

/* ---- cuBLAS and cuSPARSE (vendor.c), opened at run time ---- */

typedef struct bench_vendor bench_vendor;
typedef struct bench_vectors {
    ps_precision precision;
    int64_t rows, nnz;
    void *x, *y, *scale, *sum; /* device memory; sum: one real */
    const void *columns, *values;
} bench_vectors;
/* *out is NULL where the libraries are not found. row_start: of the host. */
ps_status bench_vendor_open(ps_stream *stream, const bench_vectors *vectors,
                            const int64_t *row_start, bench_vendor **out);
void bench_vendor_close(bench_vendor **vendor);
/* Enqueues an operation, BENCH_SCALE .. BENCH_SPARSE. */
ps_status bench_vendor_run(bench_vendor *vendor, bench_operation which);

#endif
