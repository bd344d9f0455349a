#include "kernels/dgtd/reference.h"

#include <math.h>
#include <string.h>

enum { N = PS_DGTD_MAX_NODES, F = PS_DGTD_MAX_FACE_NODES, TERMS = PS_DGTD_MAX_ORDER + 1 };

const int8_t ps_dgtd_face_vertices[4][3] = {{0, 1, 2}, {0, 1, 3}, {1, 2, 3}, {0, 2, 3}};

/* P_n(z) = z (z-1) .. (z-n+1)/n! and its derivative at integers: exact but for the division. */
static double factor(int n, double z)
{
    double product = 1, factorial = 1;
    for (int q = 0; q < n; ++q) {
        product *= z - q;
        factorial *= q + 1;
    }
    return product / factorial;
}

static double factor_derivative(int n, double z)
{
    double sum = 0, factorial = 1;
    for (int skip = 0; skip < n; ++skip) {
        double product = 1;
        for (int q = 0; q < n; ++q)
            if (q != skip) product *= z - q;
        sum += product;
        factorial *= skip + 1;
    }
    return sum / factorial;
}

void ps_dgtd_reference_node(const ps_dgtd_reference *reference, int node, double l[4])
{
    for (int a = 0; a < 4; ++a) l[a] = (double)reference->index[node][a] / reference->order;
}

void ps_dgtd_reference_values(const ps_dgtd_reference *reference, const double l[4], double *values)
{
    for (int n = 0; n < reference->nodes; ++n) {
        values[n] = 1;
        for (int a = 0; a < 4; ++a)
            values[n] *= factor(reference->index[n][a], reference->order * l[a]);
    }
}

/* Which nodes have l_{opposite + 1} = 0: they lie on the face. */
static void list_nodes(ps_dgtd_reference *x)
{
    static const int opposite[4] = {3, 2, 0, 1};
    int p = x->order, n = 0, count[4] = {0};
    for (int k = 0; k <= p; ++k)
        for (int j = 0; j + k <= p; ++j)
            for (int i = 0; i + j + k <= p; ++i, ++n) {
                const int8_t index[4] = {(int8_t)(p - i - j - k), (int8_t)i, (int8_t)j, (int8_t)k};
                memcpy(x->index[n], index, sizeof index);
                for (int f = 0; f < 4; ++f)
                    if (index[opposite[f]] == 0) x->face[f][count[f]++] = (int16_t)n;
            }
    x->nodes = n;
    x->face_nodes = count[0];
}

/* d/dl_a of polynomial c at node n, l taken as independent. */
static double slope(const ps_dgtd_reference *x, int n, int c, int a)
{
    double value = x->order * factor_derivative(x->index[c][a], x->index[n][a]);
    for (int b = 0; b < 4; ++b)
        if (b != a) value *= factor(x->index[c][b], x->index[n][b]);
    return value;
}

/* l1 = -(1+r+s+t)/2, l2 = (1+r)/2, ..: d/dr = (d/dl2 - d/dl1)/2. */
static void fill_derivatives(ps_dgtd_reference *x)
{
    for (int b = 0; b < 3; ++b)
        for (int n = 0; n < x->nodes; ++n)
            for (int c = 0; c < x->nodes; ++c)
                x->derivative[b][n * x->nodes + c] =
                    (slope(x, n, c, b + 1) - slope(x, n, c, 0)) / 2;
}

/* Coefficients of P_m(p l) P_n(p l) in powers of l. */
static void multiply_factors(int p, int m, int n, long double out[2 * TERMS])
{
    int degree = 0;
    memset(out, 0, 2 * TERMS * sizeof *out);
    out[0] = 1;
    for (int side = 0; side < 2; ++side)
        for (int q = 0; q < (side ? n : m); ++q, ++degree)
            for (int e = degree + 1; e >= 0; --e)
                out[e] = ((e ? out[e - 1] * p : 0) - out[e] * q) / (q + 1);
}

void ps_dgtd_solve_lower(int64_t n, const double *l, double *b)
{
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t k = 0; k < i; ++k) b[i] -= l[i * n + k] * b[k];
        b[i] /= l[i * n + i];
    }
    for (int64_t i = n - 1; i >= 0; --i) {
        for (int64_t k = i + 1; k < n; ++k) b[i] -= l[k * n + i] * b[k];
        b[i] /= l[i * n + i];
    }
}

long double ps_dgtd_factorial(int n)
{
    long double product = 1;
    for (int q = 2; q <= n; ++q) product *= q;
    return product;
}

/* Integral of the product of two polynomials of barycentric indices m and n (`size` of them) over
 * a simplex of measure 1: l1^a l2^b .. integrates to (size-1)! a! b! ../(size-1+a+b+..)!. The
 * sum runs over the exponents as over the digits of a number. */
static long double simplex_product(int p, int size, const int8_t *m, const int8_t *n)
{
    long double terms[4][2 * TERMS], sum = 0;
    int total = 1;
    for (int a = 0; a < size; ++a) {
        multiply_factors(p, m[a], n[a], terms[a]);
        for (int e = 0; e <= m[a] + n[a]; ++e) terms[a][e] *= ps_dgtd_factorial(e);
        total *= m[a] + n[a] + 1;
    }
    for (int code = 0; code < total; ++code) {
        long double value = 1;
        int degree = 0;
        for (int a = 0, rest = code; a < size; rest /= m[a] + n[a] + 1, ++a) {
            int e = rest % (m[a] + n[a] + 1);
            value *= terms[a][e];
            degree += e;
        }
        sum += value * ps_dgtd_factorial(size - 1) / ps_dgtd_factorial(size - 1 + degree);
    }
    return sum;
}

/* Solves a y = b for `columns` right sides in place by Gauss with pivots: n x n, n x columns. */
static void solve(int n, int columns, long double a[N][N], long double b[N][F])
{
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k; i < n; ++i)
            if (fabsl(a[i][k]) > fabsl(a[pivot][k])) pivot = i;
        for (int j = 0; j < n; ++j) {
            long double t = a[k][j];
            a[k][j] = a[pivot][j];
            a[pivot][j] = t;
        }
        for (int j = 0; j < columns; ++j) {
            long double t = b[k][j];
            b[k][j] = b[pivot][j];
            b[pivot][j] = t;
        }
        for (int i = 0; i < n; ++i) {
            long double ratio = i == k ? 0 : a[i][k] / a[k][k];
            if (ratio == 0) continue;
            for (int j = k; j < n; ++j) a[i][j] -= ratio * a[k][j];
            for (int j = 0; j < columns; ++j) b[i][j] -= ratio * b[k][j];
        }
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < columns; ++j) b[i][j] /= a[i][i];
}

static void fill_lift(ps_dgtd_reference *x, long double mass[N][N], int f)
{
    long double a[N][N], b[N][F];
    memset(b, 0, sizeof b);
    memcpy(a, mass, sizeof a);
    for (int m = 0; m < x->face_nodes; ++m)
        for (int q = 0; q < x->face_nodes; ++q)
            b[x->face[f][m]][q] = x->face_mass[m * x->face_nodes + q];
    solve(x->nodes, x->face_nodes, a, b);
    for (int i = 0; i < x->nodes; ++i)
        for (int m = 0; m < x->face_nodes; ++m)
            x->lift[f][i * x->face_nodes + m] = fabsl(b[i][m]) < 1e-12L ? 0 : (double)b[i][m];
}

void ps_dgtd_reference_init(ps_dgtd_reference *x, int order)
{
    long double mass[N][N];
    memset(x, 0, sizeof *x);
    x->order = order;
    list_nodes(x);
    fill_derivatives(x);
    for (int m = 0; m < x->nodes; ++m)
        for (int n = 0; n < x->nodes; ++n) {
            mass[m][n] = 4.0L / 3 * simplex_product(order, 4, x->index[m], x->index[n]);
            x->mass[m * x->nodes + n] = (double)mass[m][n];
        }
    /* Face 0 has no fourth index. */
    for (int m = 0; m < x->face_nodes; ++m)
        for (int n = 0; n < x->face_nodes; ++n)
            x->face_mass[m * x->face_nodes + n] =
                (double)(2 * simplex_product(order, 3, x->index[x->face[0][m]],
                                             x->index[x->face[0][n]]));
    for (int f = 0; f < 4; ++f) fill_lift(x, mass, f);
}

void ps_dgtd_gauss(int n, double *points, double *weights)
{
    for (int i = 0; i < n; ++i) {
        double x = cos(3.14159265358979323846 * (i + 0.75) / (n + 0.5)), slope = 1;
        for (int turn = 0; turn < 30; ++turn) {
            double p0 = 1, p1 = x;
            for (int k = 2; k <= n; ++k) {
                double p2 = ((2 * k - 1) * x * p1 - (k - 1) * p0) / k;
                p0 = p1;
                p1 = p2;
            }
            slope = n * (x * p1 - p0) / (x * x - 1);
            x -= p1 / slope;
        }
        points[i] = (1 - x) / 2;
        weights[i] = 1 / ((1 - x * x) * slope * slope);
    }
}
