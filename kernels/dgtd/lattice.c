#include "kernels/dgtd/lattice.h"

#include <math.h>

#include "kernels/common/vec3.h"
#include "kernels/dgtd/mesh.h"

/* How far outside, in barycentric coordinates, still counts as on the face. */
static const double ON_FACE = 1e-12;

int64_t ps_dgtd_lattice_points(const ps_dgtd_lattice *x)
{
    return x->size[0] * x->size[1] * x->size[2];
}

void ps_dgtd_lattice_point(const ps_dgtd_lattice *x, int64_t number, double point[3])
{
    double i = (double)(number % x->size[0]), j = (double)(number / x->size[0] % x->size[1]);
    double k = (double)(number / (x->size[0] * x->size[1]));
    for (int c = 0; c < 3; ++c)
        point[c] = x->origin[c] + i * x->step[0][c] + j * x->step[1][c] + k * x->step[2][c];
}

/* inverse[i] . x is the coordinate of x along axes[i]. */
static void invert(const double axes[3][3], double inverse[3][3])
{
    for (int i = 0; i < 3; ++i) ps_cross3(axes[(i + 1) % 3], axes[(i + 2) % 3], inverse[i]);
    double det = ps_dot3(axes[0], inverse[0]);
    for (int i = 0; i < 9; ++i) inverse[i / 3][i % 3] /= det;
}

/* A tetrahedron as a map from lattice indices to barycentric coordinates: the vertices ascending.
 */
typedef struct simplex {
    double first[4], slope[3][4]; /* l(i, j, k) = first + i slope[0] + j slope[1] + k slope[2] */
    int64_t low[3], high[3];      /* indices of the points in its bounding box, high exclusive */
} simplex;

/* Indices of the box around the vertices. Returns whether there are any. */
static int bound(const ps_dgtd_lattice *x, const double inverse[3][3], const double *corner[4],
                 simplex *s)
{
    for (int a = 0; a < 3; ++a) {
        double low = INFINITY, high = -INFINITY;
        for (int v = 0; v < 4; ++v) {
            double d[3] = {corner[v][0] - x->origin[0], corner[v][1] - x->origin[1],
                           corner[v][2] - x->origin[2]};
            low = fmin(low, ps_dot3(inverse[a], d));
            high = fmax(high, ps_dot3(inverse[a], d));
        }
        double slack = 1e-9 * (1 + fabs(low) + fabs(high));
        low = fmax(ceil(low - slack), 0);
        high = fmin(floor(high + slack) + 1, (double)x->size[a]);
        if (!(low < high)) return 0;
        s->low[a] = (int64_t)low;
        s->high[a] = (int64_t)high;
    }
    return 1;
}

static int open_simplex(const ps_dgtd_lattice *x, const double inverse[3][3],
                        const ps_dgtd_tets *mesh, int64_t e, simplex *s)
{
    int32_t vertex[4];
    const double *corner[4];
    double edges[3][3], gradients[3][3], from[3];
    for (int v = 0; v < 4; ++v) vertex[v] = mesh->tetrahedra[4 * e + v];
    ps_dgtd_sort_vertices(vertex, 1);
    for (int v = 0; v < 4; ++v) corner[v] = mesh->vertices + 3 * (int64_t)vertex[v];
    if (!bound(x, inverse, corner, s)) return 0;
    for (int i = 0; i < 9; ++i) edges[i / 3][i % 3] = corner[i / 3 + 1][i % 3] - corner[0][i % 3];
    invert(edges, gradients);
    for (int c = 0; c < 3; ++c) from[c] = x->origin[c] - corner[0][c];
    s->first[0] = 1;
    for (int a = 0; a < 3; ++a) s->slope[a][0] = 0;
    for (int v = 1; v < 4; ++v) {
        s->first[v] = ps_dot3(gradients[v - 1], from);
        s->first[0] -= s->first[v];
        for (int a = 0; a < 3; ++a) {
            s->slope[a][v] = ps_dot3(gradients[v - 1], x->step[a]);
            s->slope[a][0] -= s->slope[a][v];
        }
    }
    return 1;
}

static void coordinates(const simplex *s, int64_t i, int64_t j, int64_t k, double l[4])
{
    for (int v = 0; v < 4; ++v)
        l[v] = s->first[v] + (double)i * s->slope[0][v] + (double)j * s->slope[1][v] +
               (double)k * s->slope[2][v];
}

static int contains(const double l[4])
{
    return l[0] >= -ON_FACE && l[1] >= -ON_FACE && l[2] >= -ON_FACE && l[3] >= -ON_FACE;
}

static void take(int32_t *owner, int32_t e)
{
    int32_t now = __atomic_load_n(owner, __ATOMIC_RELAXED);
    while (e < now &&
           !__atomic_compare_exchange_n(owner, &now, e, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* What is done at each point of the bounding box. */
typedef struct visit {
    int32_t *owner;      /* to be taken, or */
    const int32_t *held; /* to be looked at */
    const ps_dgtd_reference *reference;
    const float *values; /* [6][nodes] of the tetrahedron */
    float (*fields)[6], *squares;
} visit;

static void sample(const visit *v, const double l[4], int64_t at)
{
    double shape[PS_DGTD_MAX_NODES], field[6] = {0}, square = 0;
    int nodes = v->reference->nodes;
    ps_dgtd_reference_values(v->reference, l, shape);
    for (int q = 0; q < 6; ++q) {
        for (int n = 0; n < nodes; ++n) field[q] += shape[n] * v->values[q * nodes + n];
        square += field[q] * field[q];
    }
    if (v->squares) v->squares[at] = (float)square;
    for (int q = 0; v->fields && q < 6; ++q) v->fields[at][q] = (float)field[q];
}

static void walk(const ps_dgtd_lattice *x, const simplex *s, int32_t e, const visit *v)
{
    double l[4];
    for (int64_t k = s->low[2]; k < s->high[2]; ++k)
        for (int64_t j = s->low[1]; j < s->high[1]; ++j)
            for (int64_t i = s->low[0]; i < s->high[0]; ++i) {
                int64_t at = i + x->size[0] * (j + x->size[1] * k);
                if (v->held && v->held[at] != e) continue;
                coordinates(s, i, j, k, l);
                if (v->held)
                    sample(v, l, at);
                else if (contains(l))
                    take(&v->owner[at], e);
            }
}

void ps_dgtd_lattice_owners(const ps_dgtd_lattice *x, const ps_dgtd_tets *mesh,
                            const uint8_t *wanted, int32_t *owner)
{
    double inverse[3][3];
    const visit v = {.owner = owner};
    invert(x->step, inverse);
    int64_t points = ps_dgtd_lattice_points(x);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < points; ++i) owner[i] = INT32_MAX;
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t e = 0; e < mesh->count; ++e) {
        simplex s;
        if (wanted && !wanted[e]) continue;
        if (open_simplex(x, inverse, mesh, e, &s)) walk(x, &s, (int32_t)e, &v);
    }
}

void ps_dgtd_lattice_sample(const ps_dgtd_lattice *x, const int32_t *owner,
                            const ps_dgtd_reference *reference, const ps_dgtd_tets *mesh,
                            const ps_dgtd_rows *rows, float (*fields)[6], float *squares)
{
    double inverse[3][3];
    invert(x->step, inverse);
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t r = 0; r < rows->rows; ++r) {
        simplex s;
        const visit v = {.held = owner,
                         .reference = reference,
                         .fields = fields,
                         .values = rows->values + 6 * reference->nodes * r,
                         .squares = squares};
        int32_t e = rows->number[r];
        if (open_simplex(x, inverse, mesh, e, &s)) walk(x, &s, e, &v);
    }
}
