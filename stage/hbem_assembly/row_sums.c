#include "stage/hbem_assembly/row_sums.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/log.h"
#include "stage/hbem_assembly/suspects.h"

enum { GROUP = 64 };

/* ---- sums ---- */

/* A leaf's values as rows of `height` numbers, each of which is to be summed up (`along`), or
 * weighted with one number a row and added to `to`. */
#define LEAF_SUMS(real)                                                                            \
    static double total_##real(const real *values, int64_t count)                                  \
    {                                                                                              \
        double sum = 0;                                                                            \
        for (int64_t e = 0; e < count; ++e) sum += (double)values[e];                              \
        return sum;                                                                                \
    }                                                                                              \
    static void add_rows_##real(const real *values, int64_t height, int64_t count,                 \
                                const double *weight, double *to)                                  \
    {                                                                                              \
        for (int64_t first = 0; first < height; first += GROUP) {                                  \
            double sum[GROUP] = {0};                                                               \
            int64_t rows = height - first < GROUP ? height - first : GROUP;                        \
            for (int64_t l = 0; l < count; ++l)                                                    \
                for (int64_t i = 0; i < rows; ++i)                                                 \
                    sum[i] += weight[l] * (double)values[l * height + first + i];                  \
            for (int64_t i = 0; i < rows; ++i) {                                                   \
                _Pragma("omp atomic") to[first + i] += sum[i];                                     \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void add_leaf_##real(const real *values, int64_t rank, const int64_t size[2],           \
                                bool columns, double *to)                                          \
    {                                                                                              \
        double weight[GROUP];                                                                      \
        bool dense = rank == PS_RANK_DENSE;                                                        \
        const real *u = values, *v = dense ? NULL : values + rank * size[0];                       \
        const real *own = columns ? v : u, *other = columns ? u : v;                               \
        if (dense && columns) {                                                                    \
            for (int64_t j = 0; j < size[1]; ++j) {                                                \
                double sum = total_##real(values + j * size[0], size[0]);                          \
                _Pragma("omp atomic") to[j] += sum;                                                \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        int64_t vectors = dense ? size[1] : rank;                                                  \
        for (int64_t first = 0; first < vectors; first += GROUP) {                                 \
            int64_t count = vectors - first < GROUP ? vectors - first : GROUP;                     \
            for (int64_t l = 0; l < count; ++l)                                                    \
                weight[l] =                                                                        \
                    dense ? 1                                                                      \
                          : total_##real(other + (first + l) * size[!columns], size[!columns]);    \
            add_rows_##real(own + first * size[columns], size[columns], count, weight, to);        \
        }                                                                                          \
    }

LEAF_SUMS(float)
LEAF_SUMS(double)

void ps_hbem_row_sums_add(const ps_hmatrix *matrix, bool columns, double *sums)
{
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t l = 0; l < matrix->leaf_count; ++l) {
        const ps_hmatrix_leaf *at = &matrix->leaves[l];
        const ps_hmatrix_block *block = &matrix->blocks[l];
        const int64_t size[2] = {at->row_end - at->row_begin, at->column_end - at->column_begin};
        if (block->rank == 0) continue;
        bool mirrored = matrix->symmetric && at->row_begin != at->column_begin;
        for (int side = columns; side <= (mirrored ? 1 : columns); ++side) {
            double *to = sums + (side ? at->column_begin : at->row_begin);
            if (matrix->precision == PS_SINGLE)
                add_leaf_float(block->values, block->rank, size, side, to);
            else
                add_leaf_double(block->values, block->rank, size, side, to);
        }
    }
}

void ps_hbem_row_sums_diagonal(const ps_hmatrix *matrix, double *diagonal)
{
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t l = 0; l < matrix->leaf_count; ++l) {
        const ps_hmatrix_leaf *at = &matrix->leaves[l];
        const void *values = matrix->blocks[l].values;
        int64_t rows = at->row_end - at->row_begin;
        if (at->row_begin != at->column_begin || at->row_end != at->column_end) continue;
        for (int64_t i = 0; i < rows; ++i)
            diagonal[at->row_begin + i] = matrix->precision == PS_SINGLE
                                              ? (double)((const float *)values)[i * (rows + 1)]
                                              : ((const double *)values)[i * (rows + 1)];
    }
}

/* ---- the check ---- */

double ps_hbem_row_sums_limit(double tolerance, double rules, ps_precision precision)
{
    return fmax(10 * fmax(tolerance, rules), precision == PS_SINGLE ? 1e-5 : 0);
}

static int shared_corners(const ps_hbem_triangle *a, const ps_hbem_triangle *b)
{
    int shared = 0;
    for (int e = 0; e < 9; ++e) shared += a->vertex[e / 3] == b->vertex[e % 3];
    return shared;
}

/* Of the triangles of a function: the worst shape, and the sharpest angle at an edge. */
static void describe(const ps_hbem_space *space, int64_t dof, ps_hbem_row_check *out)
{
    const ps_hbem_surface *surface = space->surface;
    out->aspect = 0;
    out->angle = 180;
    for (int64_t e = space->start[dof]; e < space->start[dof + 1]; ++e) {
        const ps_hbem_triangle *t = &surface->triangles[space->item[e] / 3];
        memcpy(out->place, t->centroid, sizeof out->place);
        out->aspect = fmax(out->aspect, ps_hbem_aspect(t));
        for (int64_t u = 0; u < surface->triangle_count; ++u)
            if (shared_corners(t, &surface->triangles[u]) == 2)
                out->angle = fmin(out->angle, ps_hbem_face_angle(t, &surface->triangles[u]));
    }
}

double ps_hbem_two_digits(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.1e", value);
    return strtod(text, NULL);
}

void ps_hbem_row_sums_check(const ps_hbem_space *space, const double *sums, const double *diagonal,
                            double limit, double *integrals, ps_hbem_row_check *out)
{
    double mean = 0;
    *out = (ps_hbem_row_check){.worst = -1};
    ps_hbem_space_integrals(space, integrals);
    for (int64_t i = 0; i < space->dofs; ++i)
        mean += (diagonal ? diagonal[i] : integrals[i] / 2) / (double)space->dofs;
    for (int64_t i = 0; i < space->dofs; ++i) {
        if (space->start[i] == space->start[i + 1]) continue;
        double norm = diagonal ? diagonal[i] : integrals[i] / 2;
        double error = fabs(sums[i] + (diagonal ? 0 : norm)) / fmax(norm, mean / 30);
        out->above += !(error <= limit);
        if (out->worst >= 0 && error <= out->error) continue;
        out->worst = i;
        out->error = error;
        if (!isfinite(error)) break;
    }
    out->error = ps_hbem_two_digits(out->error);
    if (out->worst >= 0) describe(space, out->worst, out);
}

ps_status ps_hbem_row_sums_judge(const ps_hbem_row_check *check, double limit, const char *name,
                                 const ps_run *run)
{
    const char *colon = *name ? ": " : "";
    const double *at = check->place;
    if (check->error > limit / 5 && check->error <= limit)
        ps_warning(
            "%s%sconstants give row sums that are off by %.2g, which is more than 2 eps; most at "
            "(%.6g, %.6g, %.6g): crosses of entries, without --skeleton, or a finer --epsilon "
            "give better ones",
            name, colon, check->error, at[0], at[1], at[2]);
    if (check->error <= limit) return PS_OK;
    return ps_refuse(run, "row-sums",
                     "%s%sentries are wrong: constants give row sums that are off by %.2g (at most "
                     "%.2g, 10 eps, is allowed) in %lld rows; the worst is at (%.6g, %.6g, %.6g), "
                     "where triangles of aspect %.3g meet at %.3g degrees. Mesh it with better "
                     "shaped triangles, or take finer --rules, or crosses of entries, without "
                     "--skeleton",
                     name, colon, check->error, limit, (long long)check->above, at[0], at[1], at[2],
                     check->aspect, check->angle);
}
