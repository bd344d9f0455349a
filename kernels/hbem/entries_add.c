#include "kernels/hbem/entries_add.h"

#include <string.h>

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Products of the surface curls of the hats of two triangles, times J J. Those of a triangle add up
 * to 0. */
static void multiply_curls(const ps_hbem_triangle *x, const ps_hbem_triangle *y, double out[3][3])
{
    double edge[2][2][3];
    for (int l = 0; l < 2; ++l)
        for (int c = 0; c < 3; ++c) {
            edge[0][l][c] = x->corner[(l + 2) % 3][c] - x->corner[l + 1][c];
            edge[1][l][c] = y->corner[(l + 2) % 3][c] - y->corner[l + 1][c];
        }
    for (int l = 0; l < 2; ++l) {
        for (int m = 0; m < 2; ++m) out[l][m] = dot(edge[0][l], edge[1][m]);
        out[l][2] = -out[l][0] - out[l][1];
    }
    for (int m = 0; m < 3; ++m) out[2][m] = -out[0][m] - out[1][m];
}

/* What k^2, which may be complex, adds to the weak form of HYPS: `own` are the moments of g. */
static void subtract_normals(const ps_hbem_operator *op, double normals, ps_hbem_pair_sum own,
                             ps_hbem_pair_sum sum)
{
    double k = op->wavenumber, loss = op->absorption;
    double product = (k * k - loss * loss) * normals, across = 2 * k * loss * normals;
    for (int e = 0; e < 9; ++e) {
        int l = e / 3, m = e % 3;
        sum[0][l][m] += across * own[1][l][m] - product * own[0][l][m];
        sum[1][l][m] -= across * own[0][l][m] + product * own[1][l][m];
    }
}

/* The weak form of HYPS from the moments of g on the two triangles. */
static void by_parts(const ps_hbem_near_target *to, const int32_t pair_of[2], ps_hbem_pair_sum sum)
{
    const ps_hbem_triangle *x = &to->op->test->surface->triangles[pair_of[0]];
    const ps_hbem_triangle *y = &to->op->test->surface->triangles[pair_of[1]];
    const bool wave = to->op->wavenumber != 0;
    double curls[3][3];
    ps_hbem_pair_sum own;
    if (wave) memcpy(own, sum, sizeof own);
    multiply_curls(x, y, curls);
    for (int part = 0; part <= wave; ++part) {
        double total = sum[part][0][0];
        for (int e = 1; e < 9 && !to->sums; ++e) total += sum[part][e / 3][e % 3];
        total /= x->jacobian * y->jacobian;
        for (int e = 0; e < 9; ++e) sum[part][e / 3][e % 3] = curls[e / 3][e % 3] * total;
    }
    if (wave) subtract_normals(to->op, dot(x->normal, y->normal), own, sum);
}

/* Adds sum[l][m], hats of row triangle and column triangle, to the entries they belong to. */
static void spread(const ps_hbem_near_target *to, const int32_t pair_of[2], double sum[3][3],
                   double *values)
{
    const int32_t *row = to->op->test->dof_of + 3 * (int64_t)pair_of[0];
    const int32_t *column = to->op->trial->dof_of + 3 * (int64_t)pair_of[1];
    int64_t height = to->rows.end - to->rows.begin;
    for (int m = 0; m < 3; ++m) {
        if (column[m] < to->columns.begin || column[m] >= to->columns.end) continue;
        double *into = values + (column[m] - to->columns.begin) * height - to->rows.begin;
        for (int l = 0; l < 3; ++l)
            if (row[l] >= to->rows.begin && row[l] < to->rows.end) into[row[l]] += sum[l][m];
    }
}

static void transpose(double sum[3][3], double out[3][3])
{
    for (int e = 0; e < 9; ++e) out[e % 3][e / 3] = sum[e / 3][e % 3];
}

/* Adds a sum over all hats to the one entry of two triangles in P0. */
static void add_whole(const ps_hbem_near_target *to, const int32_t pair_of[2], double sum,
                      double *values)
{
    int64_t i = to->op->test->dof_of[3 * (int64_t)pair_of[0]] - to->rows.begin;
    int64_t j = to->op->trial->dof_of[3 * (int64_t)pair_of[1]] - to->columns.begin;
    int64_t height = to->rows.end - to->rows.begin;
    values[j * height + i] += sum;
    if (to->mirror && i != j) values[i * height + j] += sum;
}

void ps_hbem_near_add(const ps_hbem_near_target *to, const int32_t pair_of[2], ps_hbem_pair_sum sum)
{
    double turned[3][3];
    int64_t size = (to->rows.end - to->rows.begin) * (to->columns.end - to->columns.begin);
    const bool hyps = to->op->kernel == PS_KERNEL_HYPS, whole = to->sums && !hyps;
    if (hyps) by_parts(to, pair_of, sum);
    for (int part = 0; part < ps_hbem_parts(to->op); ++part) {
        double *values = to->values + part * size;
        if (whole) {
            add_whole(to, pair_of, sum[part][0][0], values);
            continue;
        }
        spread(to, pair_of, sum[part], values);
        if (!to->mirror || pair_of[0] == pair_of[1]) continue;
        transpose(sum[part], turned);
        spread(to, (int32_t[2]){pair_of[1], pair_of[0]}, turned, values);
    }
}

void ps_hbem_near_add_turned(const ps_hbem_near_target *to, const int32_t pair_of[2],
                             ps_hbem_pair_sum sum)
{
    ps_hbem_pair_sum turned;
    for (int part = 0; part < ps_hbem_parts(to->op); ++part) transpose(sum[part], turned[part]);
    ps_hbem_near_add(to, pair_of, turned);
}
