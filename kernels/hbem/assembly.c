#include "kernels/hbem/assembly.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/hbem/entries_internal.h"
#include "kernels/hbem/skeleton.h"
#include "runtime/blas_threads.h"
#include "runtime/first_failure.h"

/* Pivots that are rounding errors, relative to the largest entry (numerics guide 2). */
static const double zero_of[PS_PRECISION_COUNT] = {[PS_SINGLE] = 4e-7, [PS_DOUBLE] = 1e-13};

static ps_hbem_range rows_of(const ps_hmatrix_leaf *leaf)
{
    return (ps_hbem_range){leaf->row_begin, leaf->row_end};
}

static ps_hbem_range columns_of(const ps_hmatrix_leaf *leaf)
{
    return (ps_hbem_range){leaf->column_begin, leaf->column_end};
}

double ps_hbem_cross_tolerance(const ps_hbem_operator *op, double tolerance)
{
    /* In fp32 the residual of a block rounds to 1e-6 of it. */
    const double share = .1, least = op->far_precision == PS_SINGLE ? 2e-6 : 0;
    if (op->kernel != PS_KERNEL_DLP && op->kernel != PS_KERNEL_ADLP) return tolerance;
    return fmin(tolerance, fmax(share * tolerance, least));
}

/* From this rank on, factors are larger than the block. */
static int64_t dense_rank(int64_t m, int64_t n) { return m * n / (m + n) + 1; }

static int64_t rank_limit(const ps_hbem_assembly *assembly, int64_t m, int64_t n)
{
    int64_t limit = dense_rank(m, n);
    return limit < assembly->max_rank ? limit : assembly->max_rank;
}

int64_t ps_hbem_leaf_bytes(const ps_hbem_assembly *assembly, int64_t leaf, int64_t crosses)
{
    const ps_hmatrix_leaf *at = &assembly->leaves[leaf];
    int parts = ps_hbem_parts(assembly->op);
    int64_t m = at->row_end - at->row_begin, n = at->column_end - at->column_begin;
    int64_t entries = ps_hbem_entries_bytes(assembly->op, rows_of(at), columns_of(at));
    int64_t dense = 8 * parts * (m * n + m) + 128, most = rank_limit(assembly, m, n);
    int64_t limit = crosses < most ? crosses : most;
    if (!at->far) return entries + dense;
    int64_t packed = 8 * parts * limit * (m + n) + 64;
    int64_t aca = ps_aca_bytes(m, n, parts, limit) + m + 64, points = 0;
    if (assembly->skeleton)
        points = entries + ps_skeleton_bytes(assembly->op, rows_of(at), columns_of(at), crosses);
    int64_t bytes =
        (aca > points ? aca : points) + packed + ps_recompress_bytes(m, n, parts, limit);
    if (limit == dense_rank(m, n) && dense > bytes) bytes = dense;
    return entries + bytes;
}

/* Waves are told apart by a spread of 6/k. */
double ps_hbem_expected_rank(double tolerance, double wavenumber, double spread)
{
    return 1 - log10(tolerance) * (1 + wavenumber * spread / 6);
}

double ps_hbem_spread_of_rank(double tolerance, double wavenumber, double rank)
{
    double digits = -log10(tolerance);
    return fmax(6 * (rank - 1 - digits) / digits, 1) / wavenumber;
}

int64_t ps_hbem_expected_numbers(const ps_hmatrix_leaf *leaf, double tolerance, double wavenumber,
                                 double spread)
{
    int64_t m = leaf->row_end - leaf->row_begin, n = leaf->column_end - leaf->column_begin;
    int64_t parts = wavenumber != 0 ? 2 : 1;
    double rank = ps_hbem_expected_rank(tolerance, wavenumber, spread);
    double factors = ceil(rank) * (double)(m + n), dense = (double)(m * n);
    return parts * (int64_t)(leaf->far && factors < dense ? factors : dense);
}

int64_t ps_hbem_assembly_bytes(const ps_hbem_assembly *assembly)
{
    int64_t most = 0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t leaf = 0; leaf < assembly->leaf_count; ++leaf) {
        int64_t bytes = ps_hbem_leaf_bytes(assembly, leaf, INT64_MAX);
        most = bytes > most ? bytes : most;
    }
    return most + 4096;
}

int64_t ps_hbem_pairs_bytes(const ps_hbem_assembly *assembly)
{
    const int numbers = ps_hbem_pair_numbers(assembly->op);
    int64_t triangles = assembly->op->test->surface->triangle_count;
    return numbers > 0 ? ps_hbem_pair_table_bytes(triangles, numbers) : 0;
}

void ps_hbem_pairs_init(const ps_hbem_assembly *assembly, void *memory, ps_hbem_pair_table *table)
{
    ps_hbem_pair_table_init(table, assembly->op->test->surface->triangle_count,
                            ps_hbem_pair_numbers(assembly->op), memory);
}

static void far_line(const void *context, bool column, int64_t index, double *values)
{
    ps_hbem_far_line(context, column, index, values);
}

/* Rows and columns of a block from elsewhere, up to the first failure. */
typedef struct far_source {
    const ps_hbem_far *far;
    const ps_hbem_row_source *rows;
    ps_status *status;
} far_source;

static void source_line(const void *context, bool column, int64_t index, double *values)
{
    const far_source *from = context;
    const ps_hbem_range *other = column ? &from->far->row.range : &from->far->column.range;
    int64_t length = other->end - other->begin;
    if (*from->status == PS_OK)
        *from->status = from->rows->get(from->rows->context, from->far, column, index, values);
    if (*from->status != PS_OK)
        memset(values, 0, (size_t)(length * ps_hbem_parts(from->far->op)) * sizeof *values);
}

static uint8_t group_of(const ps_hbem_space *space, int64_t dof)
{
    if (space->start[dof] == space->start[dof + 1]) return 0;
    return ps_hbem_normal_group(&space->surface->triangles[space->item[space->start[dof]] / 3]);
}

/* What an entry may be: the integrals of the hats of the largest triangles times 1/(4 pi r^p). By
 * areas: by the edges of needles, entries of small triangles beside them would pass for zero. */
static double scale_of(const ps_hbem_far *far)
{
    double square = 0, areas = far->row.jacobian * far->column.jacobian;
    for (int c = 0; c < 3; ++c) {
        double d = far->row.centre[c] - far->column.centre[c];
        square += d * d;
    }
    static const double power[PS_HBEM_KERNELS] = {1, 2, 2, 3};
    return areas / (4 * M_PI) * pow(square, -power[far->op->kernel] / 2) / 16;
}

/* The far block, by columns. */
static ps_status fill_dense(const ps_hbem_far *far, int64_t m, int64_t n,
                            ps_hbem_workspace *workspace, ps_hmatrix_block *block)
{
    int parts = ps_hbem_parts(far->op);
    double *values, *column;
    PS_TRY(ps_hbem_take(workspace, 8 * parts * m * n, &values));
    PS_TRY(ps_hbem_take(workspace, 8 * parts * m, &column));
    for (int64_t j = 0; j < n; ++j) {
        ps_hbem_far_column(far, j, column);
        for (int part = 0; part < parts; ++part)
            memcpy(values + (part * n + j) * m, column + part * m, (size_t)m * sizeof *values);
    }
    *block = (ps_hmatrix_block){.rank = PS_RANK_DENSE, .values = values};
    return PS_OK;
}

/* U and V one after the other. */
static ps_status pack_factors(const ps_aca_block *aca, const ps_aca_result *result,
                              ps_hbem_workspace *workspace, ps_hmatrix_block *block)
{
    double *values;
    int64_t left = result->rank * aca->parts * aca->rows;
    int64_t right = result->rank * aca->parts * aca->columns;
    PS_TRY(ps_hbem_take(workspace, 8 * (left + right), &values));
    memcpy(values, result->u, (size_t)left * sizeof *values);
    memcpy(values + left, result->v, (size_t)right * sizeof *values);
    *block = (ps_hmatrix_block){.rank = result->rank, .error = result->error, .values = values};
    return PS_OK;
}

/* ---- a sample of entries, for crosses that were taken through points ---- */

enum { SAMPLE_ROWS = 8, SAMPLE_RUNS = 4, SAMPLE_RUN = 8 };

/* result->norm = |U V^T|: what the crosses knew was the norm with the points. */
static void set_norm(const ps_aca_block *aca, ps_aca_result *result)
{
    int64_t m = aca->rows * aca->parts, n = aca->columns * aca->parts;
    double square = 0;
    for (int64_t l = 0; l < result->rank; ++l)
        for (int64_t k = l; k < result->rank; ++k) {
            double a[2], b[2];
            ps_aca_inner(result->u + l * m, result->u + k * m, aca->parts, aca->rows, a);
            ps_aca_inner(result->v + l * n, result->v + k * n, aca->parts, aca->columns, b);
            square += (k > l ? 2 : 1) * (a[0] * b[0] - a[1] * b[1]);
        }
    result->norm = sqrt(fmax(square, 0));
}

/* |entries - factors|^2 and their number, of row i and columns [j, end) of the block. */
static ps_status compare_run(const ps_hbem_far *far, const ps_aca_block *aca,
                             const ps_aca_result *result, int64_t i, int64_t j, int64_t end,
                             ps_hbem_workspace *workspace, double sums[3])
{
    ps_hbem_far own;
    double values[2 * SAMPLE_RUN];
    int64_t before = workspace->used, count = end - j, m = aca->rows, n = aca->columns;
    int64_t row = far->row.range.begin + i, column = far->column.range.begin;
    PS_TRY(ps_hbem_far_open(&own, far->op, (ps_hbem_range){row, row + 1},
                            (ps_hbem_range){column + j, column + end}, workspace));
    ps_hbem_far_row(&own, 0, values);
    for (int64_t e = 0; e < count; ++e) {
        double re = values[e], im = aca->parts > 1 ? values[count + e] : 0;
        sums[1] += re * re + im * im;
        for (int64_t l = 0; l < result->rank; ++l) {
            const double *u = result->u + l * aca->parts * m + i;
            const double *v = result->v + l * aca->parts * n + j + e;
            double b = aca->parts > 1 ? u[m] : 0, d = aca->parts > 1 ? v[n] : 0;
            re -= u[0] * v[0] - b * d;
            im -= u[0] * d + b * v[0];
        }
        sums[0] += re * re + im * im;
    }
    sums[2] += (double)count;
    workspace->used = before;
    return PS_OK;
}

/* Sets the error from 8 rows in equal parts of the block, 32 columns of each, and tells whether it
 * is below the tolerance: points may agree where entries do not. */
static ps_status sample_entries(const ps_hbem_far *far, const ps_aca_block *aca,
                                const ps_aca_options *options, ps_hbem_workspace *workspace,
                                ps_aca_result *result, bool *good)
{
    double sums[3] = {0};
    int64_t m = aca->rows, n = aca->columns, rows = m < SAMPLE_ROWS ? m : SAMPLE_ROWS;
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < SAMPLE_RUNS; ++c) {
            /* The middles of the parts; runs move on from row to row. */
            int64_t i = (2 * r + 1) * m / (2 * rows);
            int64_t j = (c * rows + r) * n / (SAMPLE_RUNS * rows);
            int64_t end = j + SAMPLE_RUN < n ? j + SAMPLE_RUN : n;
            PS_TRY(compare_run(far, aca, result, i, j, end, workspace, sums));
        }
    double share = (double)m * (double)n / sums[2], estimate = sqrt(share * sums[0]);
    double floor =
        options->zero * fmax(aca->scale, sqrt(sums[1] / sums[2])) * sqrt((double)m * (double)n);
    *good = estimate <= fmax(options->tolerance * result->norm, floor);
    if (result->norm > 0) result->error = fmax(result->error, estimate / result->norm);
    return PS_OK;
}

/* Crosses through points where asked for, and of entries. */
static ps_status approximate(const ps_hbem_assembly *assembly, const ps_hbem_far *far,
                             const ps_aca_options *options, ps_hbem_workspace *workspace,
                             ps_aca_block *aca, ps_aca_result *result)
{
    uint8_t *group;
    int64_t before = workspace->used;
    if (assembly->skeleton) {
        PS_TRY(ps_skeleton(far, options, aca->scale, assembly->plane, workspace, result));
        bool good = result->converged && result->rank < options->max_rank;
        if (good) set_norm(aca, result);
        if (good) PS_TRY(sample_entries(far, aca, options, workspace, result, &good));
        if (good) return PS_OK;
        workspace->used = before;
    }
    PS_TRY(ps_hbem_take(workspace, aca->rows, &group));
    for (int64_t i = 0; i < aca->rows; ++i)
        group[i] = group_of(assembly->op->test, far->row.range.begin + i);
    aca->group = group;
    if (assembly->stratum) aca->stratum = assembly->stratum + far->row.range.begin;
    if (!assembly->rows) return ps_aca(aca, options, workspace, result);
    ps_status status = PS_OK;
    far_source from = {far, assembly->rows, &status};
    ps_aca_block own = *aca;
    own.context = &from;
    own.line = source_line;
    PS_TRY(ps_aca(&own, options, workspace, result));
    return status;
}

static ps_status far_leaf(const ps_hbem_assembly *assembly, const ps_hmatrix_leaf *leaf,
                          ps_hbem_workspace *workspace, ps_hmatrix_block *block)
{
    ps_hbem_far far;
    PS_TRY(ps_hbem_far_open(&far, assembly->op, rows_of(leaf), columns_of(leaf), workspace));
    int64_t before = workspace->used, m = leaf->row_end - leaf->row_begin;
    int64_t n = leaf->column_end - leaf->column_begin;
    ps_aca_block aca = {.rows = m,
                        .columns = n,
                        .parts = ps_hbem_parts(assembly->op),
                        .context = &far,
                        .line = far_line,
                        .scale = scale_of(&far)};
    double crosses = assembly->crosses > 0 ? assembly->crosses : assembly->tolerance;
    ps_aca_options options = {.tolerance = crosses,
                              .zero = zero_of[assembly->op->far_precision],
                              .check_rows = assembly->check_rows,
                              .max_rank = rank_limit(assembly, m, n)};
    ps_aca_result result;
    PS_TRY(approximate(assembly, &far, &options, workspace, &aca, &result));
    bool converged = result.converged && result.rank < dense_rank(m, n);
    if (!converged && options.max_rank < dense_rank(m, n))
        return ps_fail(PS_EXHAUSTED,
                       "a block of %lld x %lld is not approximated with rank %lld: "
                       "allow a larger rank, a larger tolerance or a smaller eta",
                       (long long)m, (long long)n, (long long)options.max_rank);
    if (converged && assembly->recompress)
        PS_TRY(ps_recompress(&aca, assembly->tolerance, workspace, &result));
    if (converged) return pack_factors(&aca, &result, workspace, block);
    workspace->used = before;
    return fill_dense(&far, m, n, workspace, block);
}

ps_status ps_hbem_assemble_leaf(const ps_hbem_assembly *assembly, int64_t leaf,
                                ps_hbem_workspace *workspace, ps_hmatrix_block *block)
{
    const ps_hmatrix_leaf *at = &assembly->leaves[leaf];
    workspace->used = 0;
    if (at->far) return far_leaf(assembly, at, workspace, block);
    int64_t m = at->row_end - at->row_begin, n = at->column_end - at->column_begin;
    double *values;
    PS_TRY(ps_hbem_take(workspace, 8 * ps_hbem_parts(assembly->op) * m * n, &values));
    *block = (ps_hmatrix_block){.rank = PS_RANK_DENSE, .values = values};
    return ps_hbem_near_block(assembly->op, rows_of(at), columns_of(at), workspace, values);
}

ps_status ps_hbem_assemble(const ps_hbem_assembly *assembly, int threads,
                           const ps_hbem_workspace *workspaces, ps_hbem_store store, void *context)
{
    ps_failure failure = {0};
    PS_TRY(ps_hbem_operator_check(assembly->op));
    (void)ps_blas_threads_single(); /* threads own leaves */
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int64_t leaf = 0; leaf < assembly->leaf_count; ++leaf) {
        if (ps_has_failed(&failure)) continue;
        ps_hbem_workspace own = workspaces[omp_get_thread_num()];
        ps_hmatrix_block block;
        ps_status status = ps_hbem_assemble_leaf(assembly, leaf, &own, &block);
        if (status == PS_OK) status = store(context, leaf, &block);
        ps_note_failure(&failure, status);
    }
    return ps_first_failure(&failure);
}
