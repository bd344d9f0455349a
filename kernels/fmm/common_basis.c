#include "kernels/fmm/common_basis.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARITIES = 8 };

/* A singular vector of a class of parity: vector number `column` of the class. */
typedef struct candidate {
    double value;
    int parity, column;
} candidate;

/* Points of a class at most: each axis contributes its even or its odd functions. */
static int64_t class_points(int64_t order)
{
    int64_t even = (order + 1) / 2;
    return even * even * even;
}

/* Where the parts of the workspace are. */
typedef struct build {
    ps_fmm_basis *basis;
    ps_fmm_interpolation interpolation;
    int core_t[PS_FMM_CORES][3];
    ps_fmm_operators fine; /* the 16 operators, truncated far below eps                       */
    double *weights;
    double *row;           /* [l^3]: W A of one rank of one offset                            */
    uint16_t *q;           /* [l^3]                                                           */
    candidate *candidates; /* [l^3]                                                           */
    double *left;          /* [8 classes][class points^2]                                     */
    double *stack;         /* [56 l^3][class points]; later the cores                         */
    void *rest;            /* of LAPACK                                                       */
} build;

int ps_fmm_core_of(const int t[3])
{
    int a = abs(t[0]), b = abs(t[1]), c = abs(t[2]), number = a * 16 + b * 4 + c;
    /* Less the near ones (all at most 1) before it. */
    for (int near = 0; near < 8; ++near)
        if ((near >> 2) * 16 + (near >> 1 & 1) * 4 + (near & 1) < a * 16 + b * 4 + c) --number;
    return number;
}

static int64_t rest_bytes(int64_t order)
{
    int64_t points = order * order * order, columns = PS_FMM_CORES * points;
    int64_t svd = (columns + 70 * class_points(order)) * 8;
    int64_t eigen = 2 * points * points * 8 + points * 8 + ps_fmm_eigen_workspace(points);
    int64_t first = ps_fmm_operators_workspace((int)order);
    int64_t most = svd > eigen ? svd : eigen;
    return (most > first ? most : first) + 64;
}

static int64_t fine_values(int64_t order)
{
    return ps_fmm_operators_rows_max((int)order) * (order * order * order + 1);
}

int64_t ps_fmm_basis_workspace(int order)
{
    int64_t points = (int64_t)order * order * order, side = class_points(order);
    return (int64_t)sizeof(build) + 8 * (3 * points + fine_values(order)) +
           points * (int64_t)sizeof(candidate) +
           8 * (PARITIES * side * side + PS_FMM_CORES * points * side) + rest_bytes(order) + 256;
}

/* Carves the workspace. */
static build *start(ps_fmm_basis *basis, void *workspace)
{
    build *b = workspace;
    int64_t points = (int64_t)basis->order * basis->order * basis->order;
    int64_t side = class_points(basis->order);
    b->basis = basis;
    b->weights = (double *)(b + 1);
    b->row = b->weights + points;
    b->q = (uint16_t *)(b->row + points);
    b->fine = (ps_fmm_operators){.function = basis->function,
                                 .order = basis->order,
                                 .epsilon = basis->basis_epsilon / 100,
                                 .rho = basis->rho};
    b->fine.factors = b->row + 2 * points;
    b->fine.signs = b->fine.factors + ps_fmm_operators_rows_max(basis->order) * points;
    b->candidates = (candidate *)(b->fine.signs + ps_fmm_operators_rows_max(basis->order));
    b->left = (double *)(b->candidates + points);
    b->stack = b->left + PARITIES * side * side;
    b->rest = b->stack + PS_FMM_CORES * points * side;
    return b;
}

/* b->row = W A of rank k of offset t, a representative's permuted; returns the sign. */
static double row_of(build *b, int p, int k)
{
    int points = b->interpolation.points;
    int64_t at = b->fine.start[p] + k;
    for (int m = 0; m < points; ++m)
        b->row[m] = b->weights[m] * b->fine.factors[at * points + b->q[m]];
    return b->fine.signs[at];
}

/* ---- classes of parity ---- */

/* Visits the points m of a class that stand for their images: index of the image under reflection
 * g is image[g]; orbit: how many differ. Returns how many points the class has. */
typedef struct orbit_point {
    int image[8], distinct;
} orbit_point;

static int orbits(int order, int parity, orbit_point *points)
{
    int half = (order + 1) / 2, count = 0;
    for (int m = 0; m < half * half * half; ++m) {
        int index[3] = {m / (half * half), m / half % half, m % half}, fixed = 0;
        for (int d = 0; d < 3; ++d) fixed |= (2 * index[d] + 1 == order) << d;
        if (fixed & parity) continue; /* an odd function is 0 in the middle */
        orbit_point *point = &points[count++];
        point->distinct = 8 >> __builtin_popcount((unsigned)fixed);
        for (int g = 0; g < 8; ++g) {
            int at[3];
            for (int d = 0; d < 3; ++d) at[d] = g >> d & 1 ? order - 1 - index[d] : index[d];
            point->image[g] = (at[0] * order + at[1]) * order + at[2];
        }
    }
    return count;
}

static double parity_sign(int g, int parity)
{
    return __builtin_popcount((unsigned)(g & parity)) & 1 ? -1 : 1;
}

/* Coefficients of `row` in the class: sqrt(distinct)/8 sum_g sign v[image_g]. */
static void project(const double *row, int parity, const orbit_point *points, int count,
                    double scale, double *coefficients)
{
    for (int i = 0; i < count; ++i) {
        double sum = 0;
        for (int g = 0; g < 8; ++g) sum += parity_sign(g, parity) * row[points[i].image[g]];
        coefficients[i] = scale * sum * sqrt(points[i].distinct) / 8;
    }
}

/* The stacked operators of a class, one column for each rank of each core; returns the columns. */
static int64_t stack_class(build *b, int parity, const orbit_point *points, int count)
{
    int64_t columns = 0;
    for (int core = 0; core < PS_FMM_CORES; ++core) {
        int p, permutation, images = 1;
        const int *t = b->core_t[core];
        ps_fmm_offset_class(t, &p, &permutation);
        ps_fmm_permutation(b->basis->order, permutation, b->q);
        for (int d = 0; d < 3; ++d) images *= t[d] ? 2 : 1;
        for (int k = 0; k < b->fine.rank[p]; ++k, ++columns) {
            row_of(b, p, k);
            double square = 0; /* of W A: the singular value */
            for (int m = 0; m < b->interpolation.points; ++m) square += b->row[m] * b->row[m];
            project(b->row, parity, points, count, sqrt(images * square),
                    b->stack + columns * count);
        }
    }
    return columns;
}

/* Singular vectors of one class into b->left and the list of candidates. */
static ps_status decompose_class(build *b, int parity, int *candidates)
{
    orbit_point points[216];
    int count = orbits(b->basis->order, parity, points);
    if (count == 0) return PS_OK;
    int64_t columns = stack_class(b, parity, points, count);
    double *left = b->left + parity * class_points(b->basis->order) * class_points(b->basis->order);
    double *values = b->rest, *work = values + count;
    lapack_int lwork = (lapack_int)(columns + 68 * count);
    lapack_int info =
        LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, 'A', 'N', count, (lapack_int)columns, b->stack, count,
                            values, left, count, NULL, 1, work, lwork);
    if (info) return ps_fail(PS_FAILED, "dgesvd failed on the common basis: %d", (int)info);
    int singular = columns < count ? (int)columns : count;
    for (int k = 0; k < singular; ++k)
        b->candidates[(*candidates)++] = (candidate){values[k], parity, k};
    return PS_OK;
}

static int by_value(const void *a, const void *b)
{
    const candidate *first = a, *second = b;
    if (first->value != second->value) return first->value > second->value ? -1 : 1;
    if (first->parity != second->parity) return first->parity - second->parity;
    return first->column - second->column;
}

/* The cut, behind the multiplet that it meets. */
static int basis_size(const candidate *candidates, int count, double epsilon)
{
    double total = 0, tail = 0;
    for (int k = count - 1; k >= 0; --k) total += candidates[k].value * candidates[k].value;
    int size = count;
    while (size > 1) {
        tail += candidates[size - 1].value * candidates[size - 1].value;
        if (sqrt(tail) > epsilon * sqrt(total)) break;
        --size;
    }
    while (size > 0 && size < count &&
           candidates[size].value > (1 - 1e-6) * candidates[size - 1].value)
        ++size;
    return size;
}

/* Vector k of the basis from its class. */
static void spread(build *b, int k)
{
    const candidate *c = &b->candidates[k];
    orbit_point points[216];
    int count = orbits(b->basis->order, c->parity, points);
    int64_t side = class_points(b->basis->order);
    const double *left = b->left + c->parity * side * side + (int64_t)c->column * count;
    double *vector = b->basis->vectors + (int64_t)k * b->interpolation.points;
    memset(vector, 0, (size_t)b->interpolation.points * sizeof *vector);
    for (int i = 0; i < count; ++i)
        for (int g = 0; g < 8; ++g)
            vector[points[i].image[g]] =
                parity_sign(g, c->parity) * left[i] / sqrt(points[i].distinct);
    b->basis->parity[k] = (uint8_t)c->parity;
}

static ps_status find_vectors(build *b)
{
    int candidates = 0;
    for (int parity = 0; parity < PARITIES; ++parity)
        PS_TRY(decompose_class(b, parity, &candidates));
    qsort(b->candidates, (size_t)candidates, sizeof *b->candidates, by_value);
    b->basis->size = basis_size(b->candidates, candidates, b->basis->basis_epsilon);
    for (int k = 0; k < b->basis->size; ++k) spread(b, k);
    return PS_OK;
}

/* ---- cores ---- */

/* C_t R_k of a core into matrix[k][k]: sum over ranks of sign (B^T W A)(B^T W A)^T. */
static void core_matrix(build *b, int core, double *matrix, double *rows)
{
    int p, permutation, k = b->basis->size, points = b->interpolation.points;
    ps_fmm_offset_class(b->core_t[core], &p, &permutation);
    ps_fmm_permutation(b->basis->order, permutation, b->q);
    int rank = b->fine.rank[p];
    double *projected = b->stack, *negated = projected + (int64_t)rank * k;
    for (int r = 0; r < rank; ++r) {
        row_of(b, p, r);
        memcpy(rows + (int64_t)r * points, b->row, (size_t)points * sizeof *rows);
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rank, k, points, 1, rows, points,
                b->basis->vectors, points, 0, projected, k);
    for (int r = 0; r < rank; ++r)
        for (int i = 0; i < k; ++i)
            negated[(int64_t)r * k + i] =
                b->fine.signs[b->fine.start[p] + r] * projected[(int64_t)r * k + i];
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, k, k, rank, 1, projected, k, negated, k, 0,
                matrix, k);
}

static ps_status truncate_core(build *b, int core)
{
    ps_fmm_basis *basis = b->basis;
    int k = basis->size;
    double *matrix = b->rest, *rows = matrix + (int64_t)k * k, *values = rows;
    core_matrix(b, core, matrix, rows);
    PS_TRY(ps_fmm_eigen(matrix, k, values, values + k));
    int rank = ps_fmm_rank(values, k, basis->epsilon);
    basis->rank[core] = rank;
    basis->start[core + 1] = basis->start[core] + rank;
    for (int r = 0; r < rank; ++r) {
        int64_t row = basis->start[core] + r;
        basis->signs[row] = values[r] < 0 ? -1 : 1;
        for (int i = 0; i < k; ++i)
            basis->cores[row * k + i] = sqrt(fabs(values[r])) * matrix[(int64_t)r * k + i];
    }
    return PS_OK;
}

ps_status ps_fmm_basis_build(ps_fmm_basis *basis, void *workspace)
{
    ps_fmm_interpolation interpolation;
    PS_TRY(ps_fmm_interpolation_init(&interpolation, basis->order));
    build *b = start(basis, workspace);
    b->interpolation = interpolation;
    ps_fmm_weights(&interpolation, b->weights);
    for (int number = 0, core = 0; number < PS_FMM_OFFSETS; ++number) {
        int t[3];
        if (!ps_fmm_offset_of(number, t) || t[0] < 0 || t[1] < 0 || t[2] < 0) continue;
        memcpy(b->core_t[core++], t, sizeof t);
    }
    PS_TRY(ps_fmm_operators_build(&b->fine, b->rest));
    PS_TRY(find_vectors(b));
    basis->start[0] = 0;
    for (int core = 0; core < PS_FMM_CORES; ++core) PS_TRY(truncate_core(b, core));
    return PS_OK;
}
