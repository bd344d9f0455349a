#include "kernels/dgtd/border.h"

#include <math.h>
#include <string.h>

#include "kernels/dgtd/mesh.h"
#include "runtime/search.h"

enum { NF = PS_DGTD_MAX_FACE_NODES, THREADED_ELEMENTS = 256 };

static int at_surface(const ps_dgtd_body *body, const uint8_t *total, int64_t e, int f)
{
    int32_t link = body->links[4 * e + f];
    return total && link >= 0 && total[e] != total[link / 4];
}

static int is_absorbing(const ps_dgtd_body *body, int64_t e, int f)
{
    return body->kinds[4 * e + f] == PS_DGTD_ABSORBING;
}

/* Order of the matrix of an element with so many absorbing faces. */
static int matrix_order(const ps_dgtd_system *system, int absorbing)
{
    return system->reference->face_nodes * (absorbing > 1 ? 2 * absorbing : absorbing);
}

void ps_dgtd_border_count(ps_dgtd_border *border, const ps_dgtd_system *system,
                          const ps_dgtd_body *body, const uint8_t *total)
{
    border->count = border->matrix_count = 0;
    for (int64_t e = 0; e < body->elements; ++e) {
        int absorbing = 0, surface = 0;
        for (int f = 0; f < 4; ++f) {
            absorbing += is_absorbing(body, e, f);
            surface += at_surface(body, total, e, f);
        }
        border->count += absorbing + surface > 0;
        int order = border->averaged ? matrix_order(system, absorbing) : 0;
        border->matrix_count += 2 * (int64_t)order * order;
    }
}

static void set_frame(ps_dgtd_border_face *x, const ps_dgtd_body *body, int64_t e)
{
    double edge = 0, along[3];
    for (int v = 0; v < 3; ++v) {
        int32_t vertex = body->tetrahedra[4 * e + ps_dgtd_face_vertices[x->face][v]];
        memcpy(x->corner[v], body->vertices + 3 * (int64_t)vertex, 3 * sizeof(double));
    }
    for (int c = 0; c < 3; ++c) {
        along[c] = x->corner[1][c] - x->corner[0][c];
        edge += along[c] * along[c];
    }
    for (int c = 0; c < 3; ++c) x->tangent[0][c] = along[c] / sqrt(edge);
    for (int c = 0; c < 3; ++c)
        x->tangent[1][c] = x->normal[(c + 1) % 3] * x->tangent[0][(c + 2) % 3] -
                           x->normal[(c + 2) % 3] * x->tangent[0][(c + 1) % 3];
}

/* side: 0 absorbing, 1 total, -1 scattered. With upwind flux both jumps of a half step miss the
 * incident field at the surface of the total field, and that of the own field is of before the half
 * step (upwind.h); with the same impedance on both sides the factors are those of absorbing faces.
 */
static void set_factors(ps_dgtd_border_face *x, const ps_dgtd_material *m, double scale, double dt,
                        int side, int upwind)
{
    int own = side ? side * upwind : 1;
    double a = m->sigma * dt / (2 * m->eps), impedance = sqrt(m->mu / m->eps);
    double half[2] = {dt * scale / (2 * m->eps * (1 + a)), dt * scale / (2 * m->mu)};
    x->turned[0] = side ? side * half[0] : half[0];
    x->turned[1] = side ? -side * half[1] : -half[1];
    x->own[0] = own * half[0] / impedance;
    x->own[1] = own * half[1] * impedance;
    x->lag = side && upwind ? dt / 2 : 0;
    x->weight[0] = 1 / impedance;
    x->weight[1] = impedance;
    x->decay[0] = side ? 0 : x->own[0] / 2;
    x->decay[1] = side ? 0 : x->own[1] / 2;
}

/* Entry (row node m of face f, node q of face g) of R_f LIFT_g. */
static double trace_lift(const ps_dgtd_reference *reference, int f, int m, int g, int q)
{
    return reference->lift[g][reference->face[f][m] * reference->face_nodes + q];
}

/* Row and column (k, a, m): absorbing face k, tangent a, node m; with one face only m. */
static double coupling(const ps_dgtd_border_element *x, const ps_dgtd_reference *reference, int row,
                       int column, double decay)
{
    int nf = reference->face_nodes, single = x->absorbing == 1;
    int k = row / nf / 2, j = column / nf / 2;
    const double *u = x->face[k].tangent[row / nf % 2], *v = x->face[j].tangent[column / nf % 2];
    double across = single ? 1 : u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    return across * decay *
           trace_lift(reference, x->face[k].face, row % nf, x->face[j].face, column % nf);
}

/* a <- a^-1 in place, n x n, without pivots: the matrices are I + a product of positive ones. */
static void invert(double *a, int n)
{
    for (int k = 0; k < n; ++k) {
        double pivot = 1 / a[k * n + k];
        a[k * n + k] = 1;
        for (int j = 0; j < n; ++j) a[k * n + j] *= pivot;
        for (int i = 0; i < n; ++i) {
            double ratio = a[i * n + k];
            if (i == k) continue;
            a[i * n + k] = 0;
            for (int j = 0; j < n; ++j) a[i * n + j] -= ratio * a[k * n + j];
        }
    }
}

static void set_matrix(const ps_dgtd_border_element *x, const ps_dgtd_system *system, int field,
                       double *matrix)
{
    int nf = system->reference->face_nodes, n = matrix_order(system, x->absorbing);
    for (int row = 0; row < n; ++row)
        for (int column = 0; column < n; ++column) {
            double decay = x->face[column / nf / 2].decay[field];
            matrix[row * n + column] =
                (row == column) + coupling(x, system->reference, row, column, decay);
        }
    invert(matrix, n);
    for (int row = 0; row < n; ++row)
        for (int column = 0; column < n; ++column)
            matrix[row * n + column] *= x->face[row / nf / 2].decay[field];
}

static void add_faces(ps_dgtd_border_element *x, const ps_dgtd_border *border,
                      const ps_dgtd_body *body, const uint8_t *total, double dt, int absorbing)
{
    int64_t e = x->slot;
    const ps_dgtd_material *m = body->material + (body->tags ? body->tags[e] : 0);
    double tangents[3][3], areas[4], normals[4][3];
    ps_dgtd_tangents(body->vertices, body->tetrahedra + 4 * e, tangents);
    ps_dgtd_faces(tangents, areas, normals);
    for (int f = 0; f < 4; ++f) {
        if (!(absorbing ? is_absorbing(body, e, f) : at_surface(body, total, e, f))) continue;
        ps_dgtd_border_face *face = x->face + x->faces++;
        face->face = f;
        memcpy(face->normal, normals[f], sizeof face->normal);
        face->area = areas[f];
        set_frame(face, body, e);
        set_factors(face, m, areas[f] / (2 * fabs(ps_dgtd_determinant(tangents))), dt,
                    absorbing  ? 0
                    : total[e] ? 1
                               : -1,
                    border->upwind);
        if (absorbing && total && !total[e]) memset(face->own, 0, sizeof face->own);
        if (absorbing && total && !total[e]) memset(face->turned, 0, sizeof face->turned);
    }
    if (absorbing) x->absorbing = x->faces;
}

void ps_dgtd_border_fill(ps_dgtd_border *border, const ps_dgtd_system *system,
                         const ps_dgtd_body *body, const uint8_t *total, double dt)
{
    int64_t at = 0, matrix = 0;
    for (int64_t e = 0; e < body->elements && at < border->count; ++e) {
        ps_dgtd_border_element *x = border->elements + at;
        *x = (ps_dgtd_border_element){.slot = e, .matrix = matrix};
        add_faces(x, border, body, total, dt, 1);
        add_faces(x, border, body, total, dt, 0);
        if (!x->faces) continue;
        ++at;
        if (!border->averaged || !x->absorbing) continue;
        int64_t size = (int64_t)matrix_order(system, x->absorbing);
        for (int field = 0; field < 2; ++field, matrix += size * size)
            set_matrix(x, system, field, border->matrices + matrix);
    }
}

/* Tangential components of a field at the nodes of a face. */
static void take_trace(const ps_dgtd_border_face *face, const ps_dgtd_system *system,
                       const void *field, int64_t slot, double *trace)
{
    const ps_dgtd_reference *reference = system->reference;
    for (int m = 0; m < reference->face_nodes; ++m) {
        double value[3];
        for (int c = 0; c < 3; ++c)
            value[c] = ps_dgtd_get(system, field, slot, c, reference->face[face->face][m]);
        for (int a = 0; a < 2; ++a)
            trace[a * reference->face_nodes + m] = face->tangent[a][0] * value[0] +
                                                   face->tangent[a][1] * value[1] +
                                                   face->tangent[a][2] * value[2];
    }
}

/* field += LIFT of tangential vectors. */
static void add_lifted(const ps_dgtd_border_face *face, const ps_dgtd_system *system, void *field,
                       int64_t slot, const double *trace)
{
    const ps_dgtd_reference *reference = system->reference;
    int nf = reference->face_nodes;
    for (int i = 0; i < reference->nodes; ++i) {
        double sum[2] = {0, 0};
        for (int m = 0; m < nf; ++m) {
            double lift = reference->lift[face->face][i * nf + m];
            sum[0] += lift * trace[m];
            sum[1] += lift * trace[nf + m];
        }
        for (int c = 0; c < 3; ++c)
            ps_dgtd_set_node(system, field, slot, c, i,
                             ps_dgtd_get(system, field, slot, c, i) + face->tangent[0][c] * sum[0] +
                                 face->tangent[1][c] * sum[1]);
    }
}

/* Node m of a face: face nodes run over (j, k) of its second and third vertex, j fastest. */
static void face_point(const ps_dgtd_border_face *face, const ps_dgtd_reference *reference, int m,
                       double point[3])
{
    double l[4];
    ps_dgtd_reference_node(reference, reference->face[face->face][m], l);
    for (int c = 0; c < 3; ++c) {
        point[c] = 0;
        for (int v = 0; v < 3; ++v)
            point[c] += l[ps_dgtd_face_vertices[face->face][v]] * face->corner[v][c];
    }
}

/* The incident field, of `which` so much earlier. */
static void incident_at(const ps_dgtd_incident *incident, const double point[3], double t,
                        double lag, ps_dgtd_field which, double out[2][3])
{
    double early[2][3];
    ps_dgtd_incident_at(incident, point, t, out[PS_DGTD_E], out[PS_DGTD_H]);
    if (lag == 0) return;
    ps_dgtd_incident_at(incident, point, t - lag, early[PS_DGTD_E], early[PS_DGTD_H]);
    memcpy(out[which], early[which], sizeof early[which]);
}

/* The incident field as it enters a row, tangential components at the nodes of a face. */
static void incident_trace(const ps_dgtd_border *border, const ps_dgtd_border_face *face,
                           const ps_dgtd_system *system, ps_dgtd_field which, double t,
                           double *trace)
{
    int nf = system->reference->face_nodes;
    for (int m = 0; m < nf; ++m) {
        double point[3], inc[2][3];
        face_point(face, system->reference, m, point);
        incident_at(border->incident, point, t, face->lag, which, inc);
        const double *own = inc[which], *other = inc[!which], *n = face->normal;
        for (int a = 0; a < 2; ++a) {
            double sum = 0;
            for (int c = 0; c < 3; ++c) {
                int d = (c + 1) % 3, e = (c + 2) % 3;
                sum += face->tangent[a][c] *
                       (face->own[which] * own[c] +
                        face->turned[which] * (n[d] * other[e] - n[e] * other[d]));
            }
            trace[a * nf + m] = sum;
        }
    }
}

static void add_incident(const ps_dgtd_border *border, const ps_dgtd_border_face *face,
                         const ps_dgtd_system *system, ps_dgtd_field which, void *field,
                         int64_t slot, double t)
{
    double trace[2 * NF];
    incident_trace(border, face, system, which, t, trace);
    add_lifted(face, system, field, slot, trace);
}

/* out = - Z in over all traces of the element; in, out [absorbing][2][face nodes]. */
static void solve_traces(const ps_dgtd_border *border, const ps_dgtd_border_element *x,
                         const ps_dgtd_system *system, ps_dgtd_field which, const double *in,
                         double *out)
{
    int n = matrix_order(system, x->absorbing), sides = x->absorbing == 1 ? 2 : 1;
    const double *matrix = border->matrices + x->matrix + (int64_t)which * n * n;
    for (int side = 0; side < sides; ++side)
        for (int row = 0; row < n; ++row) {
            double sum = 0;
            for (int column = 0; column < n; ++column)
                sum += matrix[row * n + column] * in[side * n + column];
            out[side * n + row] = -sum;
        }
}

static void absorb(const ps_dgtd_border *border, const ps_dgtd_border_element *x,
                   const ps_dgtd_system *system, ps_dgtd_field which, void *field,
                   const double *former)
{
    double in[4 * 2 * NF], out[4 * 2 * NF];
    int size = 2 * system->reference->face_nodes;
    for (int k = 0; k < x->absorbing; ++k) {
        take_trace(x->face + k, system, field, x->slot, in + k * size);
        for (int i = 0; i < size; ++i) {
            in[k * size + i] += former[k * size + i];
            out[k * size + i] = -2 * x->face[k].decay[which] * former[k * size + i];
        }
    }
    if (border->averaged) solve_traces(border, x, system, which, in, out);
    for (int k = 0; k < x->absorbing; ++k)
        add_lifted(x->face + k, system, field, x->slot, out + k * size);
}

/* The first border element from group `group` on. */
static int64_t first_from(const ps_dgtd_border *border, const ps_dgtd_system *system, int64_t group)
{
    int64_t low, slot = group * ps_dgtd_lanes(system->precision);
    PS_LOWER_BOUND(low, 0, border->count, at, border->elements[at].slot < slot);
    return low;
}

static double *former_of(const ps_dgtd_border *border, const ps_dgtd_system *system, int64_t k)
{
    return border->former + k * 8 * system->reference->face_nodes;
}

void ps_dgtd_border_keep(const ps_dgtd_border *border, const ps_dgtd_system *system,
                         const void *field, int64_t begin, int64_t end)
{
    int64_t first = first_from(border, system, begin), last = first_from(border, system, end);
#pragma omp parallel for schedule(static) if (last - first > THREADED_ELEMENTS)
    for (int64_t k = first; k < last; ++k) {
        const ps_dgtd_border_element *x = border->elements + k;
        for (int i = 0; i < x->absorbing; ++i)
            take_trace(x->face + i, system, field, x->slot,
                       former_of(border, system, k) + 2 * i * system->reference->face_nodes);
    }
}

void ps_dgtd_border_apply(const ps_dgtd_border *border, const ps_dgtd_system *system,
                          ps_dgtd_field which, void *field, double t, int64_t begin, int64_t end)
{
    int64_t first = first_from(border, system, begin), last = first_from(border, system, end);
#pragma omp parallel for schedule(static) if (last - first > THREADED_ELEMENTS)
    for (int64_t k = first; k < last; ++k) {
        const ps_dgtd_border_element *x = border->elements + k;
        for (int i = 0; border->incident && i < x->faces; ++i)
            add_incident(border, x->face + i, system, which, field, x->slot, t);
        if (x->absorbing) absorb(border, x, system, which, field, former_of(border, system, k));
    }
}

double ps_dgtd_border_power(const ps_dgtd_border *border, const ps_dgtd_system *system,
                            ps_dgtd_field which, const void *const fields[3],
                            const double factors[3])
{
    const ps_dgtd_reference *reference = system->reference;
    int nf = reference->face_nodes;
    double power = 0;
    for (int64_t k = 0; k < border->count; ++k)
        for (int f = 0; f < border->elements[k].absorbing; ++f) {
            const ps_dgtd_border_face *face = border->elements[k].face + f;
            double trace[2 * NF], sum[2 * NF] = {0};
            for (int q = 0; q < 3; ++q) {
                if (!fields[q]) continue;
                take_trace(face, system, fields[q], border->elements[k].slot, trace);
                for (int i = 0; i < 2 * nf; ++i) sum[i] += factors[q] * trace[i];
            }
            for (int a = 0; a < 2; ++a)
                for (int i = 0; i < nf * nf; ++i)
                    power += face->weight[which] / 2 * face->area / 2 * reference->face_mass[i] *
                             sum[a * nf + i / nf] * sum[a * nf + i % nf];
        }
    return power;
}

/* int over a face of u . v, tangential components at its nodes. */
static double face_product(const ps_dgtd_border_face *face, const ps_dgtd_reference *reference,
                           const double *u, const double *v)
{
    int nf = reference->face_nodes;
    double sum = 0;
    for (int a = 0; a < 2; ++a)
        for (int i = 0; i < nf * nf; ++i)
            sum += reference->face_mass[i] * u[a * nf + i / nf] * v[a * nf + i % nf];
    return face->area / 2 * sum;
}

void ps_dgtd_border_terms(const ps_dgtd_border *border, const ps_dgtd_system *system,
                          ps_dgtd_field which, const void *u, const void *v, double t,
                          int64_t begin, int64_t end, double *lost, double *work)
{
    int lanes = ps_dgtd_lanes(system->precision);
    int64_t last = first_from(border, system, end);
    for (int64_t k = first_from(border, system, begin); k < last; ++k) {
        const ps_dgtd_border_element *x = border->elements + k;
        int64_t group = x->slot / lanes;
        for (int f = 0; f < x->faces; ++f) {
            const ps_dgtd_border_face *face = x->face + f;
            double of_u[2 * NF], of_v[2 * NF], size = fabs(face->turned[which]);
            take_trace(face, system, u, x->slot, of_u);
            take_trace(face, system, v, x->slot, of_v);
            if (f < x->absorbing)
                lost[group] +=
                    face->weight[which] / 2 * face_product(face, system->reference, of_u, of_v);
            if (!border->incident || size == 0) continue;
            incident_trace(border, face, system, which, t, of_v);
            work[group] += face_product(face, system->reference, of_u, of_v) / (2 * size);
        }
    }
}
