#include "kernels/fmm/m2l_operators.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const int8_t ps_fmm_representatives[PS_FMM_CLASSES][3] = {
    {2, 0, 0}, {2, 1, 0}, {2, 1, 1}, {2, 2, 0}, {2, 2, 1}, {2, 2, 2}, {3, 0, 0}, {3, 1, 0},
    {3, 1, 1}, {3, 2, 0}, {3, 2, 1}, {3, 2, 2}, {3, 3, 0}, {3, 3, 1}, {3, 3, 2}, {3, 3, 3}};

/* Orders of the axes, by what they permute to the front. */
static const int8_t axis_orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

void ps_fmm_offset_class(const int t[3], int *representative, int *permutation)
{
    int axes[3] = {0, 1, 2}, reflect = 0, order = 0;
    for (int d = 0; d < 3; ++d) reflect |= (t[d] < 0) << d;
    for (int pass = 0; pass < 2; ++pass) /* bubble sort: stable */
        for (int d = 0; d < 2; ++d)
            if (abs(t[axes[d]]) < abs(t[axes[d + 1]])) {
                int axis = axes[d];
                axes[d] = axes[d + 1];
                axes[d + 1] = axis;
            }
    while (axis_orders[order][0] != axes[0] || axis_orders[order][1] != axes[1]) ++order;
    *permutation = order * 8 + reflect;
    *representative = 0;
    for (int p = 0; p < PS_FMM_CLASSES; ++p)
        if (ps_fmm_representatives[p][0] == abs(t[axes[0]]) &&
            ps_fmm_representatives[p][1] == abs(t[axes[1]]) &&
            ps_fmm_representatives[p][2] == abs(t[axes[2]]))
            *representative = p;
}

void ps_fmm_permutation(int order, int permutation, uint16_t *q)
{
    const int8_t *axes = axis_orders[permutation / 8];
    for (int m = 0; m < order * order * order; ++m) {
        int index[3] = {m / (order * order), m / order % order, m % order};
        for (int d = 0; d < 3; ++d)
            if (permutation >> d & 1) index[d] = order - 1 - index[d];
        q[m] = (uint16_t)((index[axes[0]] * order + index[axes[1]]) * order + index[axes[2]]);
    }
}

void ps_fmm_operator_exact(const ps_fmm_function *function, double rho,
                           const ps_fmm_interpolation *interpolation, const int t[3],
                           double *matrix)
{
    int points = interpolation->points;
    for (int m = 0; m < points; ++m)
        for (int n = 0; n < points; ++n) {
            double x[3], y[3], r2 = 0, c;
            ps_fmm_point(interpolation, m, x);
            ps_fmm_point(interpolation, n, y);
            for (int d = 0; d < 3; ++d) r2 += pow(x[d] - y[d] - 2 * t[d], 2);
            ps_fmm_function_at(function, rho * sqrt(r2), &matrix[m * points + n], &c);
        }
}

int ps_fmm_rank(const double *values, int count, double epsilon)
{
    double total = 0, tail = 0;
    for (int k = count - 1; k >= 0; --k) total += values[k] * values[k];
    int rank = count;
    while (rank > 1) {
        tail += values[rank - 1] * values[rank - 1];
        if (sqrt(tail) > epsilon * sqrt(total)) break;
        --rank;
    }
    return rank;
}

/* ---- the decomposition ---- */

typedef struct spectrum {
    double value;
    int column;
} spectrum;

int64_t ps_fmm_eigen_workspace(int64_t n)
{
    int64_t lapack = (1 + 6 * n + 2 * n * n) * 8 + (3 + 5 * n) * (int64_t)sizeof(lapack_int);
    return n * n * 8 + n * (int64_t)sizeof(spectrum) + lapack + 256;
}

static int by_size(const void *a, const void *b)
{
    const spectrum *first = a, *second = b;
    double x = fabs(first->value), y = fabs(second->value);
    if (x != y) return x > y ? -1 : 1;
    return first->column - second->column;
}

ps_status ps_fmm_eigen(double *matrix, int n, double *values, void *workspace)
{
    int64_t square = (int64_t)n * n;
    double *copy = workspace, *work = copy + square;
    lapack_int lwork = (lapack_int)(1 + 6 * n + 2 * square), liwork = 3 + 5 * n;
    spectrum *order = (spectrum *)(work + lwork);
    lapack_int *iwork = (lapack_int *)(order + n);
    memcpy(copy, matrix, (size_t)square * sizeof *copy);
    lapack_int info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', n, copy, n, values, work,
                                          lwork, iwork, liwork);
    if (info)
        return ps_fail(PS_FAILED, "dsyevd failed on an operator of %d rows: %d", n, (int)info);
    for (int k = 0; k < n; ++k) order[k] = (spectrum){values[k], k};
    qsort(order, (size_t)n, sizeof *order, by_size);
    for (int k = 0; k < n; ++k) {
        values[k] = order[k].value;
        memcpy(matrix + (int64_t)k * n, copy + (int64_t)order[k].column * n,
               (size_t)n * sizeof *matrix);
    }
    return PS_OK;
}

int64_t ps_fmm_operators_workspace(int order)
{
    int64_t points = (int64_t)order * order * order;
    return (points * points + 2 * points) * 8 + ps_fmm_eigen_workspace(points);
}

/* Khat R of representative p. */
static ps_status weighted(const ps_fmm_operators *operators,
                          const ps_fmm_interpolation *interpolation, int p, const double *weights,
                          double *matrix)
{
    int points = interpolation->points;
    const int t[3] = {ps_fmm_representatives[p][0], ps_fmm_representatives[p][1],
                      ps_fmm_representatives[p][2]};
    ps_fmm_operator_exact(&operators->function, operators->rho, interpolation, t, matrix);
    for (int m = 0; m < points; ++m) {
        double *row = matrix + (int64_t)m * points;
        for (int n = 0; n < points / 2; ++n) { /* R: columns backwards */
            double value = row[n];
            row[n] = row[points - 1 - n];
            row[points - 1 - n] = value;
        }
        for (int n = 0; n < points; ++n) {
            row[n] *= weights[m] * weights[points - 1 - n];
            if (!isfinite(row[n]))
                return ps_fail(PS_FAILED, "kernel %s is not finite between distant cells",
                               ps_fmm_kernel_name(operators->function.kernel));
        }
    }
    return PS_OK;
}

static ps_status build_one(ps_fmm_operators *operators, const ps_fmm_interpolation *interpolation,
                           int p, const double *weights, double *workspace)
{
    int points = interpolation->points;
    double *matrix = workspace, *values = matrix + (int64_t)points * points;
    PS_TRY(weighted(operators, interpolation, p, weights, matrix));
    PS_TRY(ps_fmm_eigen(matrix, points, values, values + points));
    int rank = ps_fmm_rank(values, points, operators->epsilon);
    operators->rank[p] = rank;
    operators->start[p + 1] = operators->start[p] + rank;
    for (int k = 0; k < rank; ++k) {
        int64_t row = operators->start[p] + k;
        operators->signs[row] = values[k] < 0 ? -1 : 1;
        for (int m = 0; m < points; ++m)
            operators->factors[row * points + m] =
                matrix[(int64_t)k * points + m] * sqrt(fabs(values[k])) / weights[m];
    }
    return PS_OK;
}

ps_status ps_fmm_operators_build(ps_fmm_operators *operators, void *workspace)
{
    ps_fmm_interpolation interpolation;
    PS_TRY(ps_fmm_interpolation_init(&interpolation, operators->order));
    if (!(operators->epsilon >= 0 && operators->epsilon < 1))
        return ps_fail(PS_USAGE, "a truncation of %g; it must be at least 0 and below 1",
                       operators->epsilon);
    double *weights = workspace;
    ps_fmm_weights(&interpolation, weights);
    operators->start[0] = 0;
    for (int p = 0; p < PS_FMM_CLASSES; ++p)
        PS_TRY(build_one(operators, &interpolation, p, weights, weights + interpolation.points));
    return PS_OK;
}
