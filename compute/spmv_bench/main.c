/* penstock-spmv-bench: vector operations, sparse products and Krylov methods, timed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/matrix_market.h"
#include "kernels/schwarz/grid.h"
#include "kernels/schwarz/krylov_team.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/report.h"

enum { REPEATS = 10, SAMPLES_MAX = 1000 };

static struct {
    const char *nodes, *length;
    int64_t gravi, limit;
    double tolerance, least_time;
    bool krylov, stencil;
} chosen = {.gravi = -1,
            .limit = 100000,
            .tolerance = 1e-6,
            .least_time = 0.1,
            .krylov = true,
            .stencil = true};

static const ps_option options[] = {
    {"gravi", PS_OPTION_INT, &chosen.gravi, "I",
     "matrix I = 0..14 of table 5 of Magoules, Cheik Ahamed and Putanowicz (2015) instead of a "
     "file",
     -1, PS_GRAVI_MATRICES - 1, PS_IDENTITY},
    {"nodes", PS_OPTION_TEXT, &chosen.nodes, "NX,NY,NZ",
     "or the matrix of a box with so many nodes, boundary nodes eliminated", 0, 0, PS_IDENTITY},
    {"length", PS_OPTION_TEXT, &chosen.length, "LX,LY,LZ", "of the box; default 250,250,15", 0, 0,
     PS_IDENTITY},
    {"krylov", PS_OPTION_FLAG, &chosen.krylov, NULL, "time P-CG, BiCGStab and P-BiCGCR, too", 0, 0,
     0},
    {"stencil", PS_OPTION_FLAG, &chosen.stencil, NULL,
     "of a box: products and methods without a matrix, too", 0, 0, 0},
    {"tolerance", PS_OPTION_REAL, &chosen.tolerance, "T", "of the methods, relative residual",
     1e-14, 0.5, 0},
    {"limit", PS_OPTION_INT, &chosen.limit, "N", "iterations at most", 1, 1e9, 0},
    {"least-time", PS_OPTION_SECONDS, &chosen.least_time, "TIME",
     "an operation is repeated at least this long, and 10 times", 0, 0, 0},
    {NULL, PS_OPTION_FLAG, NULL, NULL, NULL, 0, 0, 0}};

typedef struct bench {
    const ps_run *run;
    ps_report *report;
    ps_csr matrix;
    bool box; /* the stencil is there */
    ps_slab_stencil stencil;
    double *x, *y, *b, *inverse, *workspace;
} bench;

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
    s->workspace[0] = sum; /* so that it is needed */
}

static void product(bench *s) { ps_csr_multiply(&s->matrix, s->x, s->y); }
static void stencil_product(bench *s) { ps_stencil_multiply(&s->stencil, s->x, s->y); }

/* ---- timing ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of repetitions. */
static double median_time(bench *s, void (*work)(bench *))
{
    static double samples[SAMPLES_MAX];
    int count = 0;
    double begin = ps_clock();
    work(s);
    while (count < REPEATS || (ps_clock() - begin < chosen.least_time && count < SAMPLES_MAX)) {
        double start = ps_clock();
        work(s);
        samples[count++] = ps_clock() - start;
    }
    qsort(samples, (size_t)count, sizeof *samples, ascending);
    return samples[count / 2];
}

typedef struct operation {
    const char *name;
    void (*work)(bench *);
    double flops, bytes; /* in all */
} operation;

static void time_operation(bench *s, const operation *o)
{
    double seconds = median_time(s, o->work);
    ps_report_section(s->report, o->name);
    ps_report_real(s->report, "time", 1e3 * seconds, "ms");
    ps_report_real(s->report, "rate", o->flops / seconds / 1e9, "GF/s");
    ps_report_real(s->report, "traffic", o->bytes / seconds / 1e9, "GB/s");
}

static void time_operations(bench *s)
{
    double n = (double)s->matrix.rows, nnz = (double)s->matrix.nnz;
    const operation all[] = {{"dscal", scale, n, 16 * n},
                             {"daxpy", axpy, 2 * n, 24 * n},
                             {"element_wise", multiply_elements, n, 24 * n},
                             {"dot", dot, 2 * n, 16 * n},
                             {"spmv_csr", product, 2 * nnz, 12 * nnz + 24 * n},
                             {"stencil", stencil_product, 21 * n, 16 * n}};
    int count = s->box && chosen.stencil ? 6 : 5;
    for (int i = 0; i < count; ++i) {
        for (int64_t k = 0; k < s->matrix.rows; ++k) s->x[k] = s->y[k] = 1;
        time_operation(s, &all[i]);
    }
}

/* ---- methods ---- */

static ps_status time_method(bench *s, ps_krylov_method method, bool stencil)
{
    static const char *const names[2][PS_KRYLOV_METHODS] = {
        {"cg_csr", "bicgstab_csr", "bicgcr_csr"},
        {"cg_stencil", "bicgstab_stencil", "bicgcr_stencil"}};
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
        status = ps_krylov_solve(method, &control, chosen.tolerance, chosen.limit, &result);
    double seconds = ps_clock() - start;
    free(workspace);
    ps_report_section(s->report, names[stencil][method]);
    if (status != PS_OK) { /* a matrix that a method is not made for is a finding, not an end */
        ps_report_text(s->report, "failed", ps_message());
        return PS_OK;
    }
    ps_report_int(s->report, "iterations", result.iterations, "");
    ps_report_real(s->report, "time", seconds, "s");
    ps_report_real(s->report, "time_of_iteration", 1e3 * seconds / (double)result.iterations, "ms");
    ps_report_real(s->report, "residual", result.residual, "");
    return PS_OK;
}

static ps_status time_methods(bench *s)
{
    if (!chosen.krylov) return PS_OK;
    for (int stencil = 0; stencil <= (s->box && chosen.stencil); ++stencil)
        for (int m = 0; m < PS_KRYLOV_METHODS; ++m)
            PS_TRY(time_method(s, (ps_krylov_method)m, stencil));
    return PS_OK;
}

/* ---- the matrix ---- */

static ps_status three(const char *option, const char *text, double out[3])
{
    int count;
    ps_status status = ps_parse_reals(text, ',', out, 3, &count);
    if (status != PS_OK) return ps_context(status, "--%s", option);
    if (count == 3 && out[0] > 0 && out[1] > 0 && out[2] > 0) return PS_OK;
    return ps_fail(PS_USAGE, "--%s: \"%s\" is not three numbers above 0", option, text);
}

static ps_status choose_grid(ps_q1_grid *grid)
{
    double nodes[3], length[3] = {250, 250, 15};
    int64_t counts[3];
    if (chosen.gravi >= 0) return ps_gravi_grid((int)chosen.gravi, grid);
    PS_TRY(three("nodes", chosen.nodes, nodes));
    if (chosen.length) PS_TRY(three("length", chosen.length, length));
    for (int a = 0; a < 3; ++a) counts[a] = (int64_t)nodes[a];
    return ps_q1_grid_make(counts, length, grid);
}

/* f = 1: the volume of the elements around a node, an eighth of each; fixed rows 0. */
static void unit_load(const ps_q1_grid *grid, const ps_slab_stencil *stencil, double *b)
{
    const int64_t *n = grid->nodes;
    double volume = grid->spacing[0] * grid->spacing[1] * grid->spacing[2];
    for (int64_t row = 0; row < ps_q1_grid_size(grid); ++row)
        b[row] = ps_stencil_fixed(stencil, row / (n[1] * n[2]), row / n[2] % n[1], row % n[2])
                     ? 0
                     : volume;
}

static ps_status make_box(bench *s)
{
    ps_q1_grid grid;
    PS_TRY(choose_grid(&grid));
    ps_slab whole = ps_slab_whole(&grid);
    ps_slab_stencil_make(&whole, &s->stencil);
    s->box = true;
    PS_TRY(ps_csr_init(&s->matrix, ps_q1_grid_size(&grid), ps_stencil_entries(&s->stencil)));
    PS_TRY(ps_stencil_assemble(&s->stencil, &s->matrix));
    PS_TRY(PS_ALLOC(&s->b, s->matrix.rows, "right-hand side"));
    unit_load(&grid, &s->stencil, s->b);
    return PS_OK;
}

static ps_status load_matrix(bench *s)
{
    const char *path = s->run->operands[0];
    int64_t columns;
    PS_TRY(ps_matrix_market_load(path, &s->matrix, &columns));
    if (columns != s->matrix.rows)
        return ps_fail(PS_INVALID, "%s is %lld x %lld; a square matrix is expected", path,
                       (long long)s->matrix.rows, (long long)columns);
    PS_TRY(PS_ALLOC(&s->b, s->matrix.rows, "right-hand side"));
    for (int64_t i = 0; i < s->matrix.rows; ++i) s->b[i] = 1;
    return PS_OK;
}

static ps_status make_matrix(bench *s)
{
    int given = (s->run->operand_count > 0) + (chosen.gravi >= 0) + (chosen.nodes != NULL);
    if (given != 1)
        return ps_fail(PS_USAGE, "give one matrix: a file, --gravi I or --nodes NX,NY,NZ");
    PS_TRY(s->run->operand_count ? load_matrix(s) : make_box(s));
    int64_t n = s->matrix.rows;
    PS_TRY(PS_ALLOC(&s->x, n, "vectors"));
    PS_TRY(PS_ALLOC(&s->y, n, "vectors"));
    PS_TRY(PS_ALLOC(&s->inverse, n, "vectors"));
    PS_TRY(PS_ALLOC(&s->workspace, 1, "vectors"));
    return ps_csr_inverse_diagonal(&s->matrix, s->inverse);
}

static void report_matrix(bench *s)
{
    ps_row_figures f = ps_csr_row_figures(&s->matrix);
    ps_report_int(s->report, "rows", f.rows, "");
    ps_report_int(s->report, "entries", f.entries, "");
    ps_report_real(s->report, "density",
                   100 * (double)f.entries / ((double)f.rows * (double)f.rows), "%");
    ps_report_real(s->report, "mean_row", f.mean, "");
    ps_report_int(s->report, "longest_row", f.longest, "");
    ps_report_real(s->report, "row_deviation", f.deviation, "");
    ps_report_int(s->report, "threads", s->run->threads, "");
}

static ps_status run_bench(ps_run *run)
{
    bench s = {.run = run};
    ps_status status = make_matrix(&s);
    if (status == PS_OK) {
        s.report = ps_report_new(run->json);
        report_matrix(&s);
        if (!run->plan) {
            time_operations(&s);
            status = time_methods(&s);
        }
        ps_report_print(&s.report);
    }
    ps_csr_release(&s.matrix);
    free(s.x);
    free(s.y);
    free(s.b);
    free(s.inverse);
    free(s.workspace);
    return status;
}

int main(int argc, char **argv)
{
    static const ps_program program = {
        .name = "spmv-bench",
        .synopsis = "[MATRIX.mtx]",
        .description = "Times on this machine what a Krylov method is made of: scaling, axpy, "
                       "element-wise and\n"
                       "inner products, the product with a sparse matrix (compressed rows, and "
                       "without a matrix\n"
                       "on boxes), and P-CG, BiCGStab and P-BiCGCR with Jacobi scaling. Matrices "
                       "come from files\n"
                       "of the Matrix Market (also .gz) or are those of trilinear elements on "
                       "boxes. The median of\n"
                       "at least 10 repetitions is given; traffic counts what must move at least.",
        .examples = "  penstock-spmv-bench --gravi 14\n"
                    "  penstock-spmv-bench matrix.mtx.gz --no-krylov --json",
        .options = options,
        .operands_min = 0,
        .operands_max = 1,
        .run = run_bench};
    return ps_main(&program, argc, argv);
}
