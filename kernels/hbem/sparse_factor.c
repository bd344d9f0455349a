#include "kernels/hbem/sparse_factor.h"

#include <cblas.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { SMALL = 16, COLUMNS = 48 };

int64_t ps_factor_front_size(const ps_dissection *d, int64_t node)
{
    int64_t size = ps_dissection_pivots(d, node) + ps_dissection_rows(d, node);
    return size * size;
}

int64_t ps_factor_scratch(const ps_dissection *d, int64_t node)
{
    int64_t pivots = ps_dissection_pivots(d, node), rows = 0;
    for (int side = 0; side < 2 && d->child[2 * node] >= 0; ++side) {
        int64_t own = ps_dissection_rows(d, d->child[2 * node + side]);
        rows = own > rows ? own : rows;
    }
    return 2 * pivots * pivots + (rows + 1) / 2;
}

/* C = factor A B + keep C; columns one after the other; by turns. */
typedef struct block {
    const double *at;
    int64_t stride;
    bool turned;
} block;

static void multiply(const int64_t size[3], double factor, block a, block b, double keep, double *c,
                     int64_t stride)
{
    const double alpha[2] = {factor, 0}, beta[2] = {keep, 0};
    if (size[0] == 0 || size[1] == 0) return;
    cblas_zgemm(CblasColMajor, a.turned ? CblasTrans : CblasNoTrans,
                b.turned ? CblasTrans : CblasNoTrans, (int)size[0], (int)size[1], (int)size[2],
                alpha, a.at, (int)a.stride, b.at, (int)b.stride, beta, c, (int)stride);
}

/* ---- inverses ---- */

/* y += a x of complex numbers. */
static inline void add_scaled(int64_t n, const double a[2], const double *x, double *y)
{
    double re = a[0], im = a[1];
    for (int64_t i = 0; i < n; ++i) {
        y[2 * i] += re * x[2 * i] - im * x[2 * i + 1];
        y[2 * i + 1] += re * x[2 * i + 1] + im * x[2 * i];
    }
}

/* A <- A^-1 by Gauss and Jordan; false: a pivot is no number. */
static bool invert_small(int64_t n, double *a, int64_t stride)
{
    for (int64_t k = 0; k < n; ++k) {
        double *own = a + 2 * k * stride, re = own[2 * k], im = own[2 * k + 1];
        double size = re * re + im * im, inverse[2] = {re / size, -im / size};
        if (!(size > 0) || !isfinite(inverse[0] + inverse[1])) return false;
        own[2 * k] = own[2 * k + 1] = 0;
        for (int64_t j = 0; j < n; ++j) {
            double *column = a + 2 * j * stride, x = column[2 * k], y = column[2 * k + 1];
            if (j == k) continue;
            double minus[2] = {y * inverse[1] - x * inverse[0], -x * inverse[1] - y * inverse[0]};
            column[2 * k] = -minus[0];
            column[2 * k + 1] = -minus[1];
            add_scaled(n, minus, own, column);
        }
        for (int64_t i = 0; i < n; ++i) {
            double x = own[2 * i], y = own[2 * i + 1];
            own[2 * i] = y * inverse[1] - x * inverse[0];
            own[2 * i + 1] = -x * inverse[1] - y * inverse[0];
        }
        own[2 * k] = inverse[0];
        own[2 * k + 1] = inverse[1];
    }
    return true;
}

static void mirror(int64_t n, double *a, int64_t stride)
{
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = j + 1; i < n; ++i)
            memcpy(a + 2 * (i * stride + j), a + 2 * (j * stride + i), 2 * sizeof *a);
}

/* A <- A^-1, symmetric and full: with halves A, B, C: T = B A^-1, C' = (C - T B^T)^-1, B' = -C' T,
 * A' = A^-1 - T^T B'. */
static bool invert(int64_t n, double *a, int64_t stride, double *t)
{
    if (n <= SMALL) return invert_small(n, a, stride);
    int64_t h = n / 2, r = n - h;
    double *b = a + 2 * h, *c = a + 2 * (h * stride + h), *turned = a + 2 * h * stride;
    if (!invert(h, a, stride, t)) return false;
    multiply((int64_t[]){r, h, h}, 1, (block){b, stride, false}, (block){a, stride, false}, 0, t,
             r);
    multiply((int64_t[]){r, r, h}, -1, (block){t, r, false}, (block){b, stride, true}, 1, c,
             stride);
    if (!invert(r, c, stride, t + 2 * r * h)) return false;
    multiply((int64_t[]){r, h, r}, -1, (block){c, stride, false}, (block){t, r, false}, 0, b,
             stride);
    multiply((int64_t[]){h, h, r}, -1, (block){t, r, true}, (block){b, stride, false}, 1, a,
             stride);
    for (int64_t j = 0; j < h; ++j)
        for (int64_t i = 0; i < r; ++i)
            memcpy(turned + 2 * (i * stride + j), b + 2 * (j * stride + i), 2 * sizeof *a);
    return true;
}

/* ---- fronts ---- */

static void add_entries(const ps_dissection *d, const ps_pencil *m, const double shift[2],
                        int64_t node, double *front)
{
    int64_t pivots = ps_dissection_pivots(d, node), size = pivots + ps_dissection_rows(d, node);
    for (int64_t k = 0; k < pivots; ++k) {
        int64_t i = d->dof[d->first[node] + k];
        for (int64_t e = m->start[i]; e < m->start[i + 1]; ++e) {
            double *to = front + 2 * (k * size + d->entry[e]);
            if (d->entry[e] < k) continue;
            to[0] = m->mass[e] - shift[0] * m->stiffness[e];
            to[1] = -shift[1] * m->stiffness[e];
        }
    }
}

/* Adds what a child left. at: scratch for its rows' positions. */
static void add_child(const ps_dissection *d, int64_t node, int side, const double *child,
                      double *front, int32_t *at)
{
    int64_t size = ps_dissection_pivots(d, node) + ps_dissection_rows(d, node);
    int64_t below = d->child[2 * node + side], rows = ps_dissection_rows(d, below);
    int64_t skip = ps_dissection_pivots(d, below), stride = skip + rows;
    const int32_t *gather = ps_dissection_gather(d, node);
    for (int64_t q = 0; q < size; ++q)
        if (gather[2 * q + side] >= 0) at[gather[2 * q + side]] = (int32_t)q;
    for (int64_t j = 0; j < rows; ++j) {
        const double *from = child + 2 * ((skip + j) * stride + skip);
        double *to = front + 2 * at[j] * size;
        for (int64_t i = j; i < rows; ++i) {
            to[2 * at[i]] += from[2 * i];
            to[2 * at[i] + 1] += from[2 * i + 1];
        }
    }
}

static ps_status eliminate(int64_t pivots, int64_t rows, double *front, double *numbers,
                           double *scratch)
{
    int64_t size = pivots + rows;
    double *w = numbers + 2 * pivots * pivots, *b = front + 2 * pivots;
    for (int64_t k = 0; k < pivots; ++k)
        memcpy(numbers + 2 * k * pivots, front + 2 * k * size, 16 * (size_t)pivots);
    mirror(pivots, numbers, pivots);
    if (!invert(pivots, numbers, pivots, scratch))
        return ps_fail(PS_FAILED, "a block of mass and stiffness is singular or not finite: are "
                                  "there triangles without area?");
    multiply((int64_t[]){rows, pivots, pivots}, 1, (block){b, size, false},
             (block){numbers, pivots, false}, 0, w, rows);
    for (int64_t j = 0; j < rows && pivots > 0; j += COLUMNS) {
        int64_t count = rows - j < COLUMNS ? rows - j : COLUMNS;
        multiply((int64_t[]){rows - j, count, pivots}, -1, (block){w + 2 * j, rows, false},
                 (block){b + 2 * j, size, true}, 1, front + 2 * ((pivots + j) * size + pivots + j),
                 size);
    }
    return PS_OK;
}

ps_status ps_factor_front(const ps_dissection *d, const ps_pencil *matrix, const double shift[2],
                          int64_t node, const double *const child[2], double *front,
                          double *numbers, double *scratch)
{
    int64_t pivots = ps_dissection_pivots(d, node);
    int32_t *at = (int32_t *)(scratch + 2 * pivots * pivots);
    memset(front, 0, (size_t)ps_factor_front_size(d, node) * 16);
    add_entries(d, matrix, shift, node, front);
    for (int side = 0; side < 2 && d->child[2 * node] >= 0; ++side)
        add_child(d, node, side, child[side], front, at);
    return eliminate(pivots, ps_dissection_rows(d, node), front,
                     numbers + 2 * d->number_first[node], scratch);
}

/* ---- solutions ---- */

static inline void add(const double *from, double *to)
{
    to[0] += from[0];
    to[1] += from[1];
}

/* Adds what the children left to the pivots (to b) and to the rows (in left). */
static void collect(const ps_dissection *d, int64_t node, double *b, double *left)
{
    int64_t pivots = ps_dissection_pivots(d, node), rows = ps_dissection_rows(d, node);
    const int32_t *gather = ps_dissection_gather(d, node);
    double *own = left + 2 * d->row_first[node], *at = b + 2 * d->first[node];
    memset(own, 0, 16 * (size_t)rows);
    for (int side = 0; side < 2 && d->child[2 * node] >= 0; ++side) {
        const double *from = left + 2 * d->row_first[d->child[2 * node + side]];
        for (int64_t q = 0; q < pivots + rows; ++q)
            if (gather[2 * q + side] >= 0)
                add(from + 2 * gather[2 * q + side],
                    q < pivots ? at + 2 * q : own + 2 * (q - pivots));
    }
}

void ps_factor_down(const ps_dissection *d, const double *numbers, const ps_factor_vectors *v,
                    int64_t node)
{
    int64_t pivots = ps_dissection_pivots(d, node), rows = ps_dissection_rows(d, node);
    const double *w = numbers + 2 * (d->number_first[node] + pivots * pivots);
    for (int64_t s = 0; s < v->sides; ++s) {
        double *b = v->b + 2 * s * d->dofs, *left = v->left + 2 * s * d->rows;
        collect(d, node, b, left);
        const double *own = b + 2 * d->first[node];
        for (int64_t k = 0; k < pivots; ++k)
            add_scaled(rows, (double[]){-own[2 * k], -own[2 * k + 1]}, w + 2 * k * rows,
                       left + 2 * d->row_first[node]);
    }
}

/* Sum of a b, without conjugate. */
static inline void product(int64_t n, const double *a, const double *b, double out[2])
{
    double re = 0, im = 0;
#pragma omp simd reduction(+ : re, im)
    for (int64_t i = 0; i < n; ++i) {
        re += a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
        im += a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];
    }
    out[0] = re;
    out[1] = im;
}

void ps_factor_up(const ps_dissection *d, const double *numbers, const ps_factor_vectors *v,
                  int64_t node)
{
    int64_t pivots = ps_dissection_pivots(d, node), rows = ps_dissection_rows(d, node);
    const double *inverse = numbers + 2 * d->number_first[node];
    const double *w = inverse + 2 * pivots * pivots;
    const int32_t *row = d->row + d->row_first[node];
    for (int64_t s = 0; s < v->sides; ++s) {
        double *x = v->x + 2 * s * d->dofs, *own = x + 2 * d->first[node];
        double *there = v->left + 2 * (s * d->rows + d->row_first[node]), sum[2];
        const double *b = v->b + 2 * (s * d->dofs + d->first[node]);
        for (int64_t i = 0; i < rows; ++i) memcpy(there + 2 * i, x + 2 * row[i], 16);
        for (int64_t k = 0; k < pivots; ++k) {
            product(rows, w + 2 * k * rows, there, sum);
            own[2 * k] = -sum[0];
            own[2 * k + 1] = -sum[1];
        }
        for (int64_t k = 0; k < pivots; ++k)
            add_scaled(pivots, b + 2 * k, inverse + 2 * k * pivots, own);
    }
}
