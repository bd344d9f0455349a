#include "kernels/hbem/sparse.h"

#include "kernels/common/vec3.h"
#include "runtime/search.h"

int64_t ps_hbem_sparse_bound(const ps_hbem_space *space)
{
    return 9 * space->surface->triangle_count;
}

/* Puts a column into a row of `count` ascending ones; returns their number. */
static int64_t insert(int32_t *columns, int64_t count, int32_t column)
{
    int64_t at = count;
    while (at > 0 && columns[at - 1] > column) --at;
    if (at > 0 && columns[at - 1] == column) return count;
    for (int64_t i = count; i > at; --i) columns[i] = columns[i - 1];
    columns[at] = column;
    return count + 1;
}

/* Columns of row i, put where 3 an item have room. */
static int64_t row_columns(const ps_hbem_space *space, int64_t i, int32_t *columns)
{
    int64_t count = 0;
    for (int64_t e = space->start[i]; e < space->start[i + 1]; ++e)
        for (int l = 0; l < 3; ++l)
            count = insert(columns, count, space->dof_of[space->item[e] / 3 * 3 + l]);
    return count;
}

ps_status ps_hbem_sparse_pattern(const ps_hbem_space *space, ps_pencil *matrix)
{
    int32_t *column = matrix->column;
    matrix->dofs = space->dofs;
    for (int64_t i = 0; i < space->dofs; ++i)
        if (space->start[i] == space->start[i + 1])
            return ps_fail(PS_INVALID,
                           "function %lld of the space lies on no triangle: import the mesh "
                           "again without unused vertices",
                           (long long)i);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < space->dofs; ++i)
        matrix->start[i + 1] = row_columns(space, i, column + 3 * space->start[i]);
    matrix->start[0] = 0;
    for (int64_t i = 0; i < space->dofs; ++i) {
        int64_t to = matrix->start[i], count = matrix->start[i + 1];
        for (int64_t e = 0; e < count; ++e) column[to + e] = column[3 * space->start[i] + e];
        matrix->start[i + 1] = to + count;
    }
    matrix->nnz = matrix->start[space->dofs];
    return PS_OK;
}

static int64_t find(const ps_pencil *matrix, int64_t row, int32_t column)
{
    int64_t next;
    PS_LOWER_BOUND(next, matrix->start[row] + 1, matrix->start[row + 1], at,
                   matrix->column[at] <= column);
    return next - 1;
}

/* Adds item (t, l) of row i with all items of its triangle. */
static void add_item(const ps_hbem_space *space, int64_t i, int64_t item, ps_pencil *matrix)
{
    const ps_hbem_triangle *t = &space->surface->triangles[item / 3];
    double own[3], other[3];
    ps_hbem_curl(t, (int)(item % 3), own);
    for (int l = 0; l < 3; ++l) {
        int64_t e = find(matrix, i, space->dof_of[item / 3 * 3 + l]);
        ps_hbem_curl(t, l, other);
        matrix->mass[e] += t->jacobian / (l == item % 3 ? 12 : 24);
        matrix->stiffness[e] += ps_dot3(own, other) / (2 * t->jacobian);
    }
}

void ps_hbem_sparse_fill(const ps_hbem_space *space, ps_pencil *matrix)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < space->dofs; ++i) {
        for (int64_t e = matrix->start[i]; e < matrix->start[i + 1]; ++e)
            matrix->mass[e] = matrix->stiffness[e] = 0;
        for (int64_t e = space->start[i]; e < space->start[i + 1]; ++e)
            add_item(space, i, space->item[e], matrix);
    }
}

void ps_hbem_sparse_fix(const bool *fixed, ps_pencil *matrix)
{
    for (int64_t i = 0; i < matrix->dofs; ++i)
        for (int64_t e = matrix->start[i]; e < matrix->start[i + 1]; ++e) {
            if (!fixed[i] && !fixed[matrix->column[e]]) continue;
            matrix->stiffness[e] = 0;
            if (matrix->column[e] != i) matrix->mass[e] = 0;
        }
}

void ps_hbem_mass_add(const ps_pencil *matrix, double factor, const double *x, double *y)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < matrix->dofs; ++i) {
        double sum = 0;
        for (int64_t e = matrix->start[i]; e < matrix->start[i + 1]; ++e)
            sum += matrix->mass[e] * x[matrix->column[e]];
        y[i] += factor * sum;
    }
}
