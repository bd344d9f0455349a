#include "kernels/hbem/aca.h"

#include <math.h>
#include <string.h>

#include "kernels/hbem/strata.h"

enum { GROUPS = 8, REST_LEAST = 2, CHECK_LINES = 2, ANY = -2 };

typedef struct state {
    const ps_aca_block *block;
    const ps_aca_options *options;
    ps_aca_result *result;
    uint8_t *used;    /* [rows]                             */
    int64_t *pivot;   /* [rank] columns                     */
    double *residual; /* [parts][columns or rows]           */
    double largest;   /* of the unsubtracted entries so far */
    uint64_t random;
    int64_t used_count, rows, columns; /* that pivots may be of */
} state;

int64_t ps_aca_bytes(int64_t rows, int64_t columns, int parts, int64_t max_rank)
{
    return 8 * (max_rank + 2) * parts * (rows + columns) + rows + 8 * max_rank + 640;
}

/* ---- arithmetic on vectors of parts ---- */

static double square_at(const double *vector, int parts, int64_t n, int64_t i)
{
    return vector[i] * vector[i] + (parts > 1 ? vector[n + i] * vector[n + i] : 0);
}

static double square_norm(const double *vector, int parts, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < parts * n; ++i) sum += vector[i] * vector[i];
    return sum;
}

/* out -= sum_l basis_l[at] other_l: basis[rank][part][height], other and out of length n. */
static void subtract_crosses(const state *s, const double *basis, int64_t height, int64_t at,
                             const double *other, int64_t n, double *out)
{
    int parts = s->block->parts;
    for (int64_t l = 0; l < s->result->rank; ++l) {
        const double *from = other + l * parts * n;
        double re = basis[l * parts * height + at];
        if (parts == 1) {
            for (int64_t i = 0; i < n; ++i) out[i] -= re * from[i];
            continue;
        }
        double im = basis[(l * parts + 1) * height + at];
        for (int64_t i = 0; i < n; ++i) {
            out[i] -= re * from[i] - im * from[n + i];
            out[n + i] -= re * from[n + i] + im * from[i];
        }
    }
}

/* vector /= vector[at] */
static void divide_by(double *vector, int parts, int64_t n, int64_t at)
{
    double re = vector[at], im = parts > 1 ? vector[n + at] : 0, square = re * re + im * im;
    for (int64_t i = 0; i < n; ++i) {
        double a = vector[i], b = parts > 1 ? vector[n + i] : 0;
        vector[i] = (a * re + b * im) / square;
        if (parts > 1) vector[n + i] = (b * re - a * im) / square;
    }
}

void ps_aca_inner(const double *a, const double *b, int parts, int64_t n, double out[2])
{
    out[0] = out[1] = 0;
    for (int64_t i = 0; i < parts * n; ++i) out[0] += a[i] * b[i];
    for (int64_t i = 0; parts > 1 && i < n; ++i) out[1] += a[i] * b[n + i] - a[n + i] * b[i];
}

/* |S_k|^2 = |S_{k-1}|^2 + 2 Re sum_{l<k} (u_l^H u_k)(v_l^H v_k) + |u_k|^2 |v_k|^2 */
static void grow_norm(state *s, double product)
{
    int parts = s->block->parts;
    int64_t m = s->block->rows, n = s->block->columns, k = s->result->rank;
    double square = s->result->norm * s->result->norm + product * product;
    for (int64_t l = 0; l < k; ++l) {
        double a[2], b[2];
        ps_aca_inner(s->result->u + l * parts * m, s->result->u + k * parts * m, parts, m, a);
        ps_aca_inner(s->result->v + l * parts * n, s->result->v + k * parts * n, parts, n, b);
        square += 2 * (a[0] * b[0] - a[1] * b[1]);
    }
    s->result->norm = sqrt(fmax(square, product * product * 1e-30));
}

static void residual_row(state *s, int64_t i, double *out)
{
    int64_t n = s->block->columns;
    int parts = s->block->parts;
    s->block->line(s->block->context, false, i, out);
    ++s->result->evaluated;
    for (int64_t j = 0; j < n; ++j) {
        double square = square_at(out, parts, n, j);
        s->largest = square > s->largest ? square : s->largest;
    }
    subtract_crosses(s, s->result->u, s->block->rows, i, s->result->v, n, out);
}

/* ---- which row next ---- */

static uint64_t next_random(state *s)
{
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return s->random >> 33;
}

/* An unused row of [begin, end), of the class unless that is ANY; -1 where there is none. */
#define PICK(name, type)                                                                           \
    static int64_t name(state *s, int64_t begin, int64_t end, const type *classes, int class)      \
    {                                                                                              \
        if (end <= begin) return -1;                                                               \
        int64_t start = begin + (int64_t)(next_random(s) % (uint64_t)(end - begin));               \
        for (int64_t e = 0; e < end - begin; ++e) {                                                \
            int64_t i = start + e < end ? start + e : start + e - (end - begin);                   \
            if (!s->used[i] && (class == ANY || classes[i] == class)) return i;                    \
        }                                                                                          \
        return -1;                                                                                 \
    }

PICK(pick_group, uint8_t)
PICK(pick_stratum, int32_t)

static int64_t pick(state *s, int64_t begin, int64_t end, int group)
{
    return pick_group(s, begin, end, s->block->group, group);
}

typedef struct check {
    int64_t worst, rows, of_strata;
    double worst_square, sum, all, last;
} check;

/* Rows that are checked are marked 2 while the check goes on, so that none is taken twice. */
static void check_row(state *s, int64_t i, check *c)
{
    if (i < 0) return;
    s->used[i] = 2;
    residual_row(s, i, s->residual);
    double square = square_norm(s->residual, s->block->parts, s->block->columns);
    if (c->worst < 0 || square > c->worst_square) {
        c->worst = i;
        c->worst_square = square;
    }
    c->last = square;
    c->sum += square;
    c->all += square;
    ++c->rows;
}

/* Its rows that no cross has used. */
static int64_t unused_of(const state *s, int32_t stratum)
{
    int64_t count = 0;
    for (int64_t i = 0; i < s->rows; ++i) count += s->block->stratum[i] == stratum && !s->used[i];
    return count;
}

/* Checks a row of a stratum; returns how many of it no cross has used. */
static int64_t check_stratum(state *s, int32_t stratum, check *c)
{
    int64_t unused = unused_of(s, stratum);
    c->last = 0;
    if (unused > 0) check_row(s, pick_stratum(s, 0, s->rows, s->block->stratum, stratum), c);
    return unused;
}

/* One row of each stratum, weighted with its unused ones, whose number is returned; *weighted: sum
 * n_s |residual row|^2. c->sum has one of those in no stratum, where there are strata: they may be
 * what is hidden. */
static int64_t check_strata(state *s, check *c, double *weighted)
{
    ps_hbem_stratum strata[PS_HBEM_STRATA_SHARE];
    const int32_t *own = s->block->stratum;
    int64_t covered = 0;
    int count = own ? ps_hbem_strata_of(own, s->rows, strata) : 0;
    *weighted = 0;
    for (int e = 0; e < count; ++e) {
        int64_t unused = check_stratum(s, strata[e].number, c);
        *weighted += (double)unused * c->last;
        covered += unused;
    }
    c->of_strata = c->rows;
    c->sum = 0;
    if (count > 0) check_stratum(s, PS_HBEM_NO_STRATUM, c);
    return covered;
}

/* Column `at` less the crosses so far. */
static void residual_column(state *s, int64_t at, double *out)
{
    int64_t m = s->block->rows;
    s->block->line(s->block->context, true, at, out);
    ++s->result->evaluated;
    subtract_crosses(s, s->result->v, s->block->columns, at, s->result->u, m, out);
}

static bool is_pivot(const state *s, int64_t column)
{
    for (int64_t l = 0; l < s->result->rank; ++l)
        if (s->pivot[l] == column) return true;
    return false;
}

static int64_t largest_unused(const state *s, const double *u, double *square)
{
    int64_t best = -1;
    *square = -1;
    for (int64_t i = 0; i < s->rows; ++i) {
        double own = square_at(u, s->block->parts, s->block->rows, i);
        if (!s->used[i] && own > *square) {
            best = i;
            *square = own;
        }
    }
    return best;
}

/* A column of each half, that no cross has, against all rows: a few rows that are far from what
 * crosses took are seen there. Returns what they say of the square of the error; may set the row to
 * go on with. */
static double check_columns(state *s, int64_t *worst)
{
    double sum = 0, best = -1;
    for (int64_t half = 0; half < CHECK_LINES; ++half) {
        int64_t n = s->columns, tries = 0;
        int64_t j = (half * n + (int64_t)(next_random(s) % (uint64_t)n)) / CHECK_LINES;
        while (tries++ < n && is_pivot(s, j)) j = j + 1 < n ? j + 1 : 0;
        residual_column(s, j, s->residual);
        for (int64_t i = 0; i < s->rows; ++i)
            sum += square_at(s->residual, s->block->parts, s->block->rows, i);
        double square;
        int64_t row = largest_unused(s, s->residual, &square);
        if (row < 0 || square <= best) continue;
        best = square;
        *worst = row;
    }
    return (double)s->columns / CHECK_LINES * sum;
}

/* The row to go on with, or -1: the approximation is good enough. Sets result->error. Two columns
 * stand for as many of the rows that are wanted. */
static int64_t check_rows(state *s)
{
    check c = {.worst = -1};
    int64_t m = s->rows, wanted = s->options->check_rows - CHECK_LINES, of_column = -1;
    double weighted = 0;
    if (wanted < 1) wanted = 1;
    int64_t covered = check_strata(s, &c, &weighted);
    for (int g = 0; s->block->group && g < GROUPS && c.rows < wanted; ++g)
        check_row(s, pick(s, 0, m, g), &c);
    int64_t rest = m - s->used_count - covered, strata = wanted - c.rows;
    if (rest > 0 && strata < REST_LEAST) strata = REST_LEAST;
    for (int64_t p = 0; p < strata; ++p) {
        int64_t i = pick(s, m * p / strata, m * (p + 1) / strata, ANY);
        check_row(s, i >= 0 ? i : pick(s, 0, m, ANY), &c);
    }
    for (int64_t i = 0; i < m; ++i)
        if (s->used[i] == 2) s->used[i] = 0;
    if (c.rows > c.of_strata) weighted += (double)rest / (double)(c.rows - c.of_strata) * c.sum;
    if (c.rows > 0) weighted = fmax(weighted, (double)(m - s->used_count) / (double)c.rows * c.all);
    double columns = check_columns(s, &of_column);
    if (columns > weighted && of_column >= 0) {
        weighted = columns;
        c.worst = of_column;
    }
    double estimate = sqrt(weighted);
    double norm = s->result->norm;
    double floor = s->options->zero * fmax(s->block->scale, sqrt(s->largest)) *
                   sqrt((double)m * (double)s->block->columns);
    estimate *= sqrt((double)s->block->rows / (double)m);
    s->result->error = norm > 0 ? estimate / norm : 0;
    return estimate <= fmax(s->options->tolerance * norm, floor) ? -1 : c.worst;
}

/* ---- crosses ---- */

/* One cross from row i. Returns false where the row is zero; *product = |u| |v|. */
static bool add_cross(state *s, int64_t i, double *product)
{
    int parts = s->block->parts;
    int64_t m = s->block->rows, n = s->block->columns, k = s->result->rank, j = 0;
    double *u = s->result->u + k * parts * m, *v = s->result->v + k * parts * n;
    residual_row(s, i, v);
    s->used[i] = 1;
    ++s->used_count;
    for (int64_t c = 1; c < s->columns; ++c)
        if (square_at(v, parts, n, c) > square_at(v, parts, n, j)) j = c;
    double zero = s->options->zero * fmax(s->block->scale, sqrt(s->largest));
    if (!(square_at(v, parts, n, j) > zero * zero)) return false;
    divide_by(v, parts, n, j);
    residual_column(s, j, u);
    s->pivot[k] = j;
    *product = sqrt(square_norm(u, parts, m)) * sqrt(square_norm(v, parts, n));
    grow_norm(s, *product);
    ++s->result->rank;
    return true;
}

static void iterate(state *s)
{
    ps_aca_result *result = s->result;
    int64_t i = s->rows / 2;
    while (i >= 0) {
        double product = 0, square;
        if (result->rank == s->options->max_rank) return;
        bool cross = add_cross(s, i, &product);
        if (s->used_count == s->rows) break;
        if (cross && product > s->options->tolerance * result->norm)
            i = largest_unused(s, result->u + (result->rank - 1) * s->block->parts * s->block->rows,
                               &square);
        else if (s->options->check_rows > 0)
            i = check_rows(s);
        else
            i = -1;
    }
    if (s->used_count == s->rows) result->error = 0;
    result->converged = true;
}

ps_status ps_aca(const ps_aca_block *block, const ps_aca_options *options,
                 ps_hbem_workspace *workspace, ps_aca_result *result)
{
    memset(result, 0, sizeof *result);
    state s = {.block = block, .options = options, .result = result, .random = 20261120};
    s.rows = block->pivot_rows > 0 ? block->pivot_rows : block->rows;
    s.columns = block->pivot_columns > 0 ? block->pivot_columns : block->columns;
    int64_t row = 8 * block->parts * block->columns, column = 8 * block->parts * block->rows;
    PS_TRY(ps_hbem_take(workspace, options->max_rank * column, &result->u));
    PS_TRY(ps_hbem_take(workspace, options->max_rank * row, &result->v));
    int64_t before = workspace->used;
    PS_TRY(ps_hbem_take(workspace, row > column ? row : column, &s.residual));
    PS_TRY(ps_hbem_take(workspace, 8 * options->max_rank, &s.pivot));
    PS_TRY(ps_hbem_take(workspace, block->rows, &s.used));
    memset(s.used, 0, (size_t)block->rows);
    iterate(&s);
    workspace->used = before;
    return PS_OK;
}
