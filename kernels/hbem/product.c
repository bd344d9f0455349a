#include "kernels/common/reals.h"
#include "kernels/hbem/product_transposed.h"

#include <string.h>

PS_ISA_SELECT(struct ps_product_functions, ps_product)

/* Rows [begin, end). */
typedef struct span {
    int64_t begin, end;
} span;

/* Whether the leaf stands for its transpose too. */
static bool mirrored(const ps_hmatrix *matrix, int64_t leaf)
{
    return matrix->symmetric && matrix->leaves[leaf].row_begin != matrix->leaves[leaf].column_begin;
}

ps_product_share ps_product_share_of(const ps_hmatrix *matrix, int64_t index)
{
    const ps_hmatrix_leaf *at = &matrix->leaves[index / 2];
    ps_product_share s = {index / 2,        at->row_begin,  at->row_end,
                          at->column_begin, at->column_end, matrix->blocks[index / 2].rank,
                          index % 2 != 0};
    if (s.transposed) {
        s.row_begin = at->column_begin;
        s.row_end = at->column_end;
        s.column_begin = at->row_begin;
        s.column_end = at->row_end;
    }
    return s;
}

bool ps_product_share_exists(const ps_hmatrix *matrix, int64_t index)
{
    return index % 2 == 0 || mirrored(matrix, index / 2);
}

int64_t ps_product_segments(const ps_hmatrix *matrix)
{
    return (matrix->rows + PS_PRODUCT_SEGMENT - 1) / PS_PRODUCT_SEGMENT;
}

/* Which shares a plan is of. */
typedef bool share_test(const ps_hmatrix *matrix, int64_t index);

static bool is_mirrored_share(const ps_hmatrix *matrix, int64_t index) { return index % 2 != 0; }

static int64_t visits_of(const ps_hmatrix *matrix, share_test *exists)
{
    int64_t visits = 0;
    for (int64_t index = 0; index < 2 * matrix->leaf_count; ++index) {
        if (!exists(matrix, index)) continue;
        ps_product_share s = ps_product_share_of(matrix, index);
        visits += (s.row_end - 1) / PS_PRODUCT_SEGMENT - s.row_begin / PS_PRODUCT_SEGMENT + 1;
    }
    return visits;
}

int64_t ps_product_visits(const ps_hmatrix *matrix)
{
    return visits_of(matrix, ps_product_share_exists);
}

int64_t ps_product_transposed_visits(const ps_hmatrix *view)
{
    return visits_of(view, is_mirrored_share);
}

/* Fills a plan whose arrays are there. */
static void fill_plan(ps_product_plan *plan, share_test *exists)
{
    const ps_hmatrix *matrix = plan->matrix;
    int64_t *first = plan->first, *visits = plan->visits, *shares = plan->shares;
    memset(first, 0, (size_t)(plan->segments + 1) * sizeof *first);
    shares[0] = 0;
    for (int fill = 0; fill < 2; ++fill) {
        for (int64_t index = 0; index < 2 * matrix->leaf_count; ++index) {
            ps_product_share s = ps_product_share_of(matrix, index);
            bool here = exists(matrix, index);
            shares[index + 1] = shares[index] + (here && s.rank > 0 ? s.rank * matrix->parts : 0);
            if (!here) continue;
            for (int64_t g = s.row_begin / PS_PRODUCT_SEGMENT;
                 g <= (s.row_end - 1) / PS_PRODUCT_SEGMENT; ++g) {
                if (fill)
                    visits[first[g]++] = index;
                else
                    ++first[g + 1];
            }
        }
        for (int64_t g = 0; !fill && g < plan->segments; ++g) first[g + 1] += first[g];
    }
    for (int64_t g = plan->segments; g > 0; --g) first[g] = first[g - 1];
    first[0] = 0;
}

void ps_product_plan_init(ps_product_plan *plan, const ps_hmatrix *matrix, int64_t *first,
                          int64_t *visits, int64_t *shares)
{
    *plan = (ps_product_plan){matrix, ps_product_segments(matrix), first, visits, shares};
    fill_plan(plan, ps_product_share_exists);
}

void ps_product_plan_transposed(ps_product_plan *plan, const ps_hmatrix *view, int64_t *first,
                                int64_t *visits, int64_t *shares)
{
    *plan = (ps_product_plan){view, ps_product_segments(view), first, visits, shares};
    fill_plan(plan, is_mirrored_share);
}

ps_status ps_product_transposed_view(const ps_hmatrix *matrix, ps_hmatrix *view)
{
    if (matrix->symmetric)
        return ps_fail(PS_USAGE, "a symmetric matrix is its own transpose: multiply with it");
    *view = *matrix;
    view->rows = matrix->columns;
    view->columns = matrix->rows;
    return PS_OK;
}

int64_t ps_product_scratch(const ps_product_plan *plan, int64_t sides)
{
    return plan->shares[2 * plan->matrix->leaf_count] * sides;
}

/* Vectors of a leaf's values, from value `offset` on. */
static ps_product_vectors vectors_at(const ps_hmatrix *matrix, int64_t leaf, int64_t offset,
                                     int64_t count, int64_t vector, int64_t part)
{
    const char *values = matrix->blocks[leaf].values;
    return (ps_product_vectors){.values = values + offset * ps_real_bytes(matrix->precision),
                                .count = count,
                                .vector = vector,
                                .part = part,
                                .parts = matrix->parts};
}

/* The factor of a share on the side of its rows or of its columns. */
static ps_product_vectors factor_of(const ps_hmatrix *matrix, const ps_product_share *s,
                                    bool of_rows)
{
    const ps_hmatrix_leaf *at = &matrix->leaves[s->leaf];
    int64_t m = at->row_end - at->row_begin, n = at->column_end - at->column_begin;
    bool left = of_rows != s->transposed;
    int64_t length = left ? m : n, offset = left ? 0 : s->rank * matrix->parts * m;
    return vectors_at(matrix, s->leaf, offset, s->rank, matrix->parts * length, length);
}

static ps_product_lanes lanes_of(const double *data, int64_t part, int64_t side)
{
    return (ps_product_lanes){(double *)data, part, side};
}

/* Of x and y from an element on. */
static ps_product_lanes columns_of(const ps_hmatrix *matrix, const double *x, int64_t from)
{
    return lanes_of(x + from, matrix->columns, matrix->parts * matrix->columns);
}

static ps_product_lanes rows_of(const ps_hmatrix *matrix, double *y, int64_t from)
{
    return lanes_of(y + from, matrix->rows, matrix->parts * matrix->rows);
}

/* The products of a share in scratch. */
static ps_product_lanes numbers_of(const ps_product_plan *plan, int64_t index, int64_t rank,
                                   const double *scratch)
{
    return lanes_of(scratch + plan->shares[index], rank, ps_product_scratch(plan, 1));
}

static void reduce_share(const ps_product_plan *plan, int64_t index, int64_t sides, const double *x,
                         double *scratch)
{
    const ps_hmatrix *matrix = plan->matrix;
    if (plan->shares[index] == plan->shares[index + 1]) return; /* dense, or not of this plan */
    ps_product_share s = ps_product_share_of(matrix, index);
    ps_product_vectors basis = factor_of(matrix, &s, false);
    ps_product_select()->reduce[matrix->precision](
        &basis, 0, s.column_end - s.column_begin, (int)sides, columns_of(matrix, x, s.column_begin),
        numbers_of(plan, index, s.rank, scratch));
}

/* Columns of a dense leaf as vectors, from `first` on. */
static ps_product_vectors columns_from(const ps_hmatrix *matrix, const ps_product_share *s,
                                       int64_t first, int64_t count)
{
    const ps_hmatrix_leaf *at = &matrix->leaves[s->leaf];
    int64_t m = at->row_end - at->row_begin, n = at->column_end - at->column_begin;
    return vectors_at(matrix, s->leaf, first * m, count, m, m * n);
}

/* y of rows [begin, end) of a transposed dense share: products with its leaf's columns. */
static void reduce_dense(const ps_hmatrix *matrix, const ps_product_share *s, span rows,
                         int64_t sides, const double *x, double *y)
{
    double numbers[PS_PRODUCT_SIDES * 2 * PS_PRODUCT_SEGMENT];
    int64_t count = rows.end - rows.begin;
    ps_product_vectors columns = columns_from(matrix, s, rows.begin - s->row_begin, count);
    ps_product_lanes to = lanes_of(numbers, count, matrix->parts * count);
    ps_product_lanes from = columns_of(matrix, x, s->column_begin);
    for (int64_t first = 0; first < sides; first += PS_PRODUCT_SIDES) {
        int group = sides - first < PS_PRODUCT_SIDES ? (int)(sides - first) : PS_PRODUCT_SIDES;
        ps_product_lanes own =
            rows_of(matrix, y + first * matrix->parts * matrix->rows, rows.begin);
        ps_product_select()->reduce[matrix->precision](&columns, 0, s->column_end - s->column_begin,
                                                       group, from, to);
        for (int64_t e = 0; e < group * matrix->parts; ++e)
            for (int64_t i = 0; i < count; ++i)
                own.data[e * matrix->rows + i] += numbers[e * count + i];
        from.data += PS_PRODUCT_SIDES * from.side;
    }
}

/* y of rows [begin, end) of a share. */
static void expand_share(const ps_product_plan *plan, int64_t index, span rows, int64_t sides,
                         const double *x, double *y, const double *scratch)
{
    const ps_hmatrix *matrix = plan->matrix;
    ps_product_share s = ps_product_share_of(matrix, index);
    ps_product_vectors basis;
    ps_product_lanes numbers;
    if (s.rank == PS_RANK_DENSE && s.transposed) {
        reduce_dense(matrix, &s, rows, sides, x, y);
        return;
    }
    if (s.rank == PS_RANK_DENSE) {
        basis = columns_from(matrix, &s, 0, s.column_end - s.column_begin);
        numbers = columns_of(matrix, x, s.column_begin);
    } else {
        basis = factor_of(matrix, &s, true);
        numbers = numbers_of(plan, index, s.rank, scratch);
    }
    ps_product_select()->expand[matrix->precision](&basis, rows.begin - s.row_begin,
                                                   rows.end - rows.begin, (int)sides, numbers,
                                                   rows_of(matrix, y, rows.begin));
}

static void expand_segment(const ps_product_plan *plan, int64_t segment, int64_t sides,
                           const double *x, double *y, const double *scratch)
{
    int64_t low = segment * PS_PRODUCT_SEGMENT, high = low + PS_PRODUCT_SEGMENT;
    for (int64_t v = plan->first[segment]; v < plan->first[segment + 1]; ++v) {
        ps_product_share s = ps_product_share_of(plan->matrix, plan->visits[v]);
        span rows = {s.row_begin > low ? s.row_begin : low, s.row_end < high ? s.row_end : high};
        expand_share(plan, plan->visits[v], rows, sides, x, y, scratch);
    }
}

void ps_hmatrix_product(const ps_product_plan *plan, int64_t sides, const double *x, double *y,
                        double *scratch)
{
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 16)
        for (int64_t index = 0; index < 2 * plan->matrix->leaf_count; ++index)
            reduce_share(plan, index, sides, x, scratch);
#pragma omp for schedule(dynamic)
        for (int64_t segment = 0; segment < plan->segments; ++segment)
            expand_segment(plan, segment, sides, x, y, scratch);
    }
}
