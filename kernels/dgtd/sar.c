#include "kernels/dgtd/sar.h"

#include <math.h>

#include "kernels/dgtd/mesh.h"
#include "kernels/dgtd/system.h"

void ps_dgtd_mean_squares(const ps_dgtd_reference *reference, const ps_dgtd_rows *rows,
                          double *mean, double *most)
{
    int n = reference->nodes;
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < rows->rows; ++r) {
        const float *values = rows->values + 6 * n * r;
        double sum = 0, square[PS_DGTD_MAX_NODES] = {0}, largest = 0;
        for (int q = 0; q < 6; ++q) {
            double u[PS_DGTD_MAX_NODES];
            for (int i = 0; i < n; ++i) {
                u[i] = values[q * n + i];
                square[i] += u[i] * u[i];
            }
            for (int i = 0; i < n; ++i) {
                double row = 0;
#pragma omp simd reduction(+ : row)
                for (int j = 0; j < n; ++j) row += reference->mass[i * n + j] * u[j];
                sum += u[i] * row;
            }
        }
        for (int i = 0; i < n; ++i) largest = fmax(largest, square[i]);
        mean[r] = sum * 3 / 4; /* M^ is of volume 4/3 */
        most[r] = largest;
    }
}

void ps_dgtd_volumes(const ps_dgtd_tets *mesh, double *volumes)
{
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->count; ++e) {
        double tangents[3][3];
        ps_dgtd_tangents(mesh->vertices, mesh->tetrahedra + 4 * e, tangents);
        volumes[e] = 4. / 3 * fabs(ps_dgtd_determinant(tangents));
    }
}

/* 1/2 Re int (E^ x H^*) . n over one face of an element; e, h [6][nodes]. */
static double face_outflow(const ps_dgtd_reference *reference, int face, double area,
                           const double normal[3], const float *e, const float *h)
{
    int n = reference->nodes, nf = reference->face_nodes;
    const int16_t *node = reference->face[face];
    double sum = 0;
    for (int part = 0; part < 2; ++part) /* Re E x Re H + Im E x Im H */
        for (int c = 0; c < 3; ++c) {
            int a = (c + 1) % 3, b = (c + 2) % 3;
            const float *ea = e + (3 * part + a) * n, *eb = e + (3 * part + b) * n;
            const float *ha = h + (3 * part + a) * n, *hb = h + (3 * part + b) * n;
            for (int i = 0; i < nf; ++i)
                for (int j = 0; j < nf; ++j)
                    sum += normal[c] * reference->face_mass[i * nf + j] *
                           ((double)ea[node[i]] * hb[node[j]] - (double)eb[node[i]] * ha[node[j]]);
        }
    return sum * area / 2 / 2; /* M^f is of area 2 */
}

/* int |n x u|^2 over one face of an element; u [6][nodes]. */
static double tangential_square(const ps_dgtd_reference *reference, int face, double area,
                                const double normal[3], const float *u)
{
    int n = reference->nodes, nf = reference->face_nodes;
    double sum = 0;
    for (int part = 0; part < 2; ++part)
        for (int i = 0; i < nf; ++i)
            for (int j = 0; j < nf; ++j) {
                const float *a = u + 3 * part * n + reference->face[face][i];
                const float *b = u + 3 * part * n + reference->face[face][j];
                double dot = 0, along_a = 0, along_b = 0;
                for (int c = 0; c < 3; ++c) {
                    dot += (double)a[c * n] * b[c * n];
                    along_a += a[c * n] * normal[c];
                    along_b += b[c * n] * normal[c];
                }
                sum += reference->face_mass[i * nf + j] * (dot - along_a * along_b);
            }
    return sum * area / 2;
}

double ps_dgtd_face_power(const ps_dgtd_reference *reference, const ps_dgtd_tets *mesh,
                          int64_t tetrahedron, int face, int kind, double impedance,
                          const float *electric, const float *magnetic)
{
    double tangents[3][3], areas[4], normals[4][3];
    if (kind == PS_DGTD_PEC || kind == PS_DGTD_PMC) return 0;
    ps_dgtd_tangents(mesh->vertices, mesh->tetrahedra + 4 * tetrahedron, tangents);
    ps_dgtd_faces(tangents, areas, normals);
    if (kind != PS_DGTD_ABSORBING)
        return face_outflow(reference, face, areas[face], normals[face], electric, magnetic);
    return (tangential_square(reference, face, areas[face], normals[face], electric) / impedance +
            tangential_square(reference, face, areas[face], normals[face], magnetic) * impedance) /
           4;
}

void ps_dgtd_outflow(const ps_dgtd_reference *reference, const ps_dgtd_tets *mesh,
                     const ps_dgtd_surface *surface, const ps_dgtd_rows *electric,
                     const float *magnetic, double *out)
{
    int64_t width = 6 * reference->nodes;
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < electric->rows; ++r) {
        const int32_t *links = surface->links + 4 * electric->number[r];
        const float *e = electric->values + width * r, *h = magnetic + width * r;
        out[r] = 0;
        for (int f = 0; f < 4; ++f)
            if (links[f] < 0)
                out[r] +=
                    ps_dgtd_face_power(reference, mesh, electric->number[r], f,
                                       surface->kinds ? surface->kinds[4 * r + f] : PS_DGTD_INNER,
                                       surface->kinds ? surface->impedance[r] : 0, e, h);
    }
}
