#include "kernels/dgtd/bernstein.h"

#include <math.h>

enum { N = PS_DGTD_MAX_NODES, F = PS_DGTD_MAX_FACE_NODES };

/* B of index a at the node of index `at`. */
static long double value(int order, const int8_t *a, const int8_t *at)
{
    long double product = ps_dgtd_factorial(order);
    for (int v = 0; v < 4; ++v)
        product *= powl((long double)at[v] / order, a[v]) / ps_dgtd_factorial(a[v]);
    return product;
}

/* out = in^-1, n x n, by Gauss-Jordan with pivots; `in` is lost. */
static void invert(int n, long double *in, double *out)
{
    long double inverse[N * N] = {0};
    for (int i = 0; i < n; ++i) inverse[i * n + i] = 1;
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k; i < n; ++i)
            if (fabsl(in[i * n + k]) > fabsl(in[pivot * n + k])) pivot = i;
        for (int j = 0; j < n; ++j) {
            long double t = in[k * n + j], u = inverse[k * n + j];
            in[k * n + j] = in[pivot * n + j];
            in[pivot * n + j] = t;
            inverse[k * n + j] = inverse[pivot * n + j];
            inverse[pivot * n + j] = u;
        }
        for (int i = 0; i < n; ++i) {
            long double ratio = i == k ? 0 : in[i * n + k] / in[k * n + k];
            if (ratio == 0) continue;
            for (int j = 0; j < n; ++j) {
                in[i * n + j] -= ratio * in[k * n + j];
                inverse[i * n + j] -= ratio * inverse[k * n + j];
            }
        }
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) out[i * n + j] = (double)(inverse[i * n + j] / in[i * n + i]);
}

void ps_dgtd_bernstein_init(ps_dgtd_bernstein *x, const ps_dgtd_reference *nodal)
{
    long double all[N * N], face[F * F];
    int n = nodal->nodes, nf = nodal->face_nodes;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            all[i * n + j] = value(nodal->order, nodal->index[j], nodal->index[i]);
            x->to_nodes[i * n + j] = (double)all[i * n + j];
        }
    for (int i = 0; i < nf; ++i)
        for (int j = 0; j < nf; ++j) {
            face[i * nf + j] = all[nodal->face[0][i] * n + nodal->face[0][j]];
            x->face_to_nodes[i * nf + j] = (double)face[i * nf + j];
        }
    invert(n, all, x->from_nodes);
    invert(nf, face, x->face_from_nodes);
}

/* out = a b, rows x inner times inner x columns; what is rounding only becomes 0. */
static void multiply(int rows, int inner, int columns, const double *a, const double *b,
                     double *out)
{
    double most = 0;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
            long double sum = 0;
            for (int k = 0; k < inner; ++k)
                sum += (long double)a[i * inner + k] * b[k * columns + j];
            out[i * columns + j] = (double)sum;
            most = fmax(most, fabs((double)sum));
        }
    for (int i = 0; i < rows * columns; ++i)
        if (fabs(out[i]) < 1e-13 * most) out[i] = 0;
}

/* a <- V' a V, n x n. */
static void turn_form(int n, const double *v, double *a)
{
    double transposed[N * N], half[N * N];
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) transposed[j * n + i] = v[i * n + j];
    multiply(n, n, n, a, v, half);
    multiply(n, n, n, transposed, half, a);
}

void ps_dgtd_bernstein_reference(const ps_dgtd_bernstein *x, const ps_dgtd_reference *nodal,
                                 ps_dgtd_reference *out)
{
    int n = nodal->nodes, nf = nodal->face_nodes;
    double half[N * N];
    *out = *nodal;
    for (int b = 0; b < 3; ++b) {
        multiply(n, n, n, nodal->derivative[b], x->to_nodes, half);
        multiply(n, n, n, x->from_nodes, half, out->derivative[b]);
    }
    for (int f = 0; f < 4; ++f) {
        multiply(n, nf, nf, nodal->lift[f], x->face_to_nodes, half);
        multiply(n, n, nf, x->from_nodes, half, out->lift[f]);
    }
    turn_form(n, x->to_nodes, out->mass);
    turn_form(nf, x->face_to_nodes, out->face_mass);
}
