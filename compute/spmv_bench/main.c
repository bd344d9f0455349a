/* penstock-spmv-bench: vector operations, sparse products and Krylov methods, timed. */

#include "compute/spmv_bench/figure_table.h"
#include "compute/spmv_bench/bench.h"
#include "formats/matrix_market.h"
#include "kernels/linear/krylov_team.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "stage/plan.h"

static struct {
    const char *nodes, *length;
    int64_t gravi, limit;
    double tolerance, least_time;
    bool krylov, stencil, host;
    int precision; /* 0: fp64, 1: fp32 */
} chosen = {
    .gravi = -1,
    .limit = 100000,
    .tolerance = 1e-6,
    .least_time = 0.1,
    .krylov = true,
    .stencil = true,
    .host = true,
};

static const ps_option options[] = {
    PS_INT("gravi", &chosen.gravi, "I", -1, PS_GRAVI_MATRICES - 1, PS_IDENTITY,
           "matrix I = 0..14 of table 5 of Magoules, Cheik Ahamed and Putanowicz (2015) instead of "
           "a file"),
    PS_TEXT("nodes", &chosen.nodes, "NX,NY,NZ", PS_IDENTITY,
            "or the matrix of a box with so many nodes, boundary nodes eliminated"),
    PS_TEXT("length", &chosen.length, "LX,LY,LZ", PS_IDENTITY, "of the box; default 250,250,15"),
    PS_FLAG("krylov", &chosen.krylov, 0, "time P-CG, BiCGStab and P-BiCGCR, too"),
    PS_FLAG("stencil", &chosen.stencil, 0, "of a box: products and methods without a matrix, too"),
    PS_FLAG("host", &chosen.host, 0, "time the cores, too, where there is a device"),
    PS_CHOICE("precision", &chosen.precision, PS_FP64 "|" PS_FP32, 0,
              "of vectors, matrix and methods; sums are in fp64"),
    PS_REAL("tolerance", &chosen.tolerance, "T", 1e-14, 0.5, 0,
            "of the methods, relative residual"),
    PS_INT("limit", &chosen.limit, "N", 1, 1e9, 0, "iterations at most"),
    PS_SECONDS("least-time", &chosen.least_time, "TIME", 0,
               "an operation is repeated at least this long, and 10 times"),
    PS_OPTION_END};

/* ---- the matrix ---- */

static ps_status three(const char *option, const char *text, double out[3])
{
    int count;
    PS_TRY_IN(ps_parse_reals(text, ',', out, 3, &count), "--%s", option);
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

static ps_status make_box(bench *s)
{
    ps_q1_grid grid;
    PS_TRY(choose_grid(&grid));
    ps_slab whole = ps_slab_whole(&grid);
    ps_slab_stencil_make(&whole, &s->stencil);
    s->box = chosen.stencil;
    PS_TRY(ps_stencil_assemble(&s->stencil, &s->matrix));
    PS_TRY(PS_ALLOC(&s->b, s->matrix.rows, "right-hand side"));
    ps_unit_load(&grid, &s->stencil, s->b);
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
    return ps_csr_inverse_diagonal(&s->matrix, false, s->inverse);
}

static void report_matrix(bench *s)
{
    ps_row_figures f = ps_csr_row_figures(&s->matrix);
    ps_report_int(s->report, "rows", f.rows);
    ps_report_int(s->report, "entries", f.entries);
    ps_report_real(s->report, "density",
                   100 * (double)f.entries / ((double)f.rows * (double)f.rows));
    ps_report_real(s->report, "mean_row", f.mean);
    ps_report_int(s->report, "longest_row", f.longest);
    ps_report_real(s->report, "row_deviation", f.deviation);
    ps_report_int(s->report, "threads", s->run->threads);
}

static void release(bench *s)
{
    ps_csr_release(&s->matrix);
    PS_FREE(s->x, s->y, s->b, s->inverse);
}

static ps_status time_all(bench *s, ps_device *device)
{
    bool cuda = ps_device_describe(device).kind == PS_DEVICE_CUDA;
    if (chosen.host || !cuda) PS_TRY(bench_host(s));
    return cuda ? bench_device(s, device) : PS_OK;
}

static ps_status run_bench(ps_run *run)
{
    PS_SCOPED(release)
    bench s = {.run = run,
               .limit = chosen.limit,
               .tolerance = chosen.tolerance,
               .least_time = chosen.least_time,
               .krylov = chosen.krylov,
               .precision = chosen.precision ? PS_SINGLE : PS_DOUBLE};
    PS_SCOPED(ps_device_close) ps_device *device = NULL;
    PS_TRY(ps_device_open(run->device, 0, &device));
    PS_TRY(make_matrix(&s));
    s.report = ps_report_new(run);
    report_matrix(&s);
    int64_t rows = s.matrix.rows;
    const ps_need need = {.arrays = 8 * 12 * rows + 12 * s.matrix.row_start[rows],
                          .needs = "how fast this machine is, which it finds out"};
    ps_status status = run->plan ? ps_plan_take(run, &need, s.report) : time_all(&s, device);
    ps_report_print(&s.report);
    return status;
}

const ps_program ps_this_program = {
    .name = "spmv-bench",
    .synopsis = "[MATRIX.mtx]",
    .description =
        "Times on this machine what a Krylov method is made of: scaling, axpy, element-wise and "
        "inner products, the product with a sparse matrix (compressed rows, and without a matrix "
        "on boxes), and P-CG, BiCGStab and P-BiCGCR with Jacobi scaling. Matrices come from files "
        "of the Matrix Market (also .gz) or are those of trilinear elements on boxes. The median "
        "of at least 10 repetitions is given; traffic counts what must move at least. Where there "
        "is a CUDA device, it is timed beside the cores, and cuBLAS and cuSPARSE where their "
        "libraries are found.",
    .examples = "  penstock-spmv-bench --gravi 14\n"
                "  penstock-spmv-bench matrix.mtx.gz --no-krylov --json\n"
                "  penstock-spmv-bench --nodes 264,264,286 --device cuda --precision fp32",
    .options = options,
    .figures = figure_table,
    .reads_only = true,
    .run = run_bench};
