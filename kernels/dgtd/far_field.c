#include "kernels/dgtd/far_field.h"

#include <math.h>

#include "kernels/dgtd/face_rule.h"
#include "kernels/dgtd/mesh.h"

static const double Z0 = 376.730313668; /* ohm */

/* Re and Im of a field at a point: out[part][component]. */
static void trace_at(const float *values, int nodes, const double *shape, double out[2][3])
{
    for (int k = 0; k < 6; ++k) {
        double sum = 0;
        for (int i = 0; i < nodes; ++i) sum += shape[i] * values[k * nodes + i];
        out[k / 3][k % 3] = sum;
    }
}

/* Currents times the area that the point stands for: current[J, M][part][component]. */
typedef struct source_point {
    double x[3], current[2][2][3];
} source_point;

static void currents_at(const double normal[3], double area, double e[2][3], double h[2][3],
                        double current[2][2][3])
{
    for (int part = 0; part < 2; ++part)
        for (int c = 0; c < 3; ++c) {
            int a = (c + 1) % 3, b = (c + 2) % 3;
            current[0][part][c] = area * (normal[a] * h[part][b] - normal[b] * h[part][a]);
            current[1][part][c] = -area * (normal[a] * e[part][b] - normal[b] * e[part][a]);
        }
}

static void radiate(const ps_dgtd_far *far, int64_t d, const source_point *points, int count)
{
    const double *e = far->direction[d];
    for (int q = 0; q < count; ++q) {
        const source_point *p = &points[q];
        double phase = far->wavenumber * (e[0] * p->x[0] + e[1] * p->x[1] + e[2] * p->x[2]);
        double re = cos(phase), im = sin(phase);
        for (int k = 0; k < 2; ++k)
            for (int c = 0; c < 3; ++c) {
                double a = p->current[k][0][c], b = p->current[k][1][c];
                far->sums[d][k][c][0] += re * a - im * b;
                far->sums[d][k][c][1] += re * b + im * a;
            }
    }
}

/* The points of one face. */
static void open_face(const ps_dgtd_face_rule *rule, const ps_dgtd_reference *reference,
                      const ps_dgtd_tets *mesh, const ps_dgtd_rows *electric, const float *magnetic,
                      int64_t face, double factor, source_point *points)
{
    double tangents[3][3], areas[4], normals[4][3];
    int64_t row = face / 4, width = 6 * reference->nodes;
    int f = (int)(face % 4);
    const int32_t *vertex = mesh->tetrahedra + 4 * (int64_t)electric->number[row];
    ps_dgtd_tangents(mesh->vertices, vertex, tangents);
    ps_dgtd_faces(tangents, areas, normals);
    for (int q = 0; q < rule->count; ++q) {
        double e[2][3], h[2][3];
        trace_at(electric->values + row * width, reference->nodes, rule->shape[f][q], e);
        trace_at(magnetic + row * width, reference->nodes, rule->shape[f][q], h);
        currents_at(normals[f], factor * areas[f] * rule->weight[q], e, h, points[q].current);
        ps_dgtd_face_rule_point(rule, mesh->vertices, vertex, f, q, points[q].x);
    }
}

/* Threads own directions, so that sums run in one order. */
void ps_dgtd_far_add(const ps_dgtd_far *far, const ps_dgtd_reference *reference,
                     const ps_dgtd_tets *mesh, const ps_dgtd_rows *electric, const float *magnetic,
                     int64_t count, const int64_t *faces, const int8_t *outward,
                     const double *weight)
{
    enum { FACES_AT_ONCE = 64 };
    ps_dgtd_face_rule rule;
    source_point points[FACES_AT_ONCE][PS_DGTD_FACE_POINTS];
    ps_dgtd_face_rule_init(&rule, reference, reference->order + 3);
    for (int64_t at = 0; at < count; at += FACES_AT_ONCE) {
        int64_t some = count - at < FACES_AT_ONCE ? count - at : FACES_AT_ONCE;
#pragma omp parallel
        {
#pragma omp for schedule(static)
            for (int64_t i = 0; i < some; ++i)
                open_face(&rule, reference, mesh, electric, magnetic, faces[at + i],
                          outward[at + i] * weight[at + i], points[i]);
#pragma omp for schedule(static)
            for (int64_t d = 0; d < far->directions; ++d)
                for (int64_t i = 0; i < some; ++i) radiate(far, d, points[i], rule.count);
        }
    }
}

void ps_dgtd_far_field(const ps_dgtd_far *far, double (*out)[3][2])
{
    double factor = far->wavenumber / (4 * M_PI);
    for (int64_t d = 0; d < far->directions; ++d) {
        const double *e = far->direction[d];
        double field[2][3];
        for (int part = 0; part < 2; ++part) {
            double n[3], l[3], along = 0;
            for (int c = 0; c < 3; ++c) {
                n[c] = far->sums[d][0][c][part];
                l[c] = far->sums[d][1][c][part];
                along += e[c] * n[c];
            }
            for (int c = 0; c < 3; ++c) {
                int a = (c + 1) % 3, b = (c + 2) % 3;
                field[part][c] =
                    Z0 * far->impedance * (n[c] - e[c] * along) - (e[a] * l[b] - e[b] * l[a]);
            }
        }
        for (int c = 0; c < 3; ++c) { /* times -i */
            out[d][c][0] = factor * field[1][c];
            out[d][c][1] = -factor * field[0][c];
        }
    }
}
