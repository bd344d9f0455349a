#include "kernels/dgtd/mesh.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/common/mesh_topology.h"
#include "kernels/common/space_curve.h"
#include "kernels/common/vec3.h"
#include "kernels/dgtd/reference.h"

void ps_dgtd_sort_vertices(int32_t *elements, int64_t count)
{
#pragma omp parallel for if (count > 1)
    for (int64_t e = 0; e < count; ++e)
        for (int32_t *v = elements + 4 * e, i = 1; i < 4; ++i)
            for (int32_t j = i; j > 0 && v[j] < v[j - 1]; --j) {
                int32_t t = v[j];
                v[j] = v[j - 1];
                v[j - 1] = t;
            }
}

void ps_dgtd_order_elements(const double *vertices, const int32_t *elements, int64_t count,
                            double *centroids, void *workspace, int32_t *order)
{
#pragma omp parallel for
    for (int64_t e = 0; e < count; ++e)
        for (int c = 0; c < 3; ++c) {
            double sum = 0;
            for (int v = 0; v < 4; ++v) sum += vertices[3 * (int64_t)elements[4 * e + v] + c];
            centroids[3 * e + c] = sum / 4;
        }
    ps_space_curve_order(PS_CURVE_HILBERT, centroids, count, workspace, order);
}

int32_t ps_dgtd_facet_face(uint32_t id)
{
    static const int8_t opposite_to_face[4] = {2, 3, 1, 0};
    const int8_t *local = ps_tetrahedron_faces.local[id % 4];
    int opposite = 6 - local[0] - local[1] - local[2];
    return (int32_t)(id / 4 * 4) + opposite_to_face[opposite];
}

ps_status ps_dgtd_link_faces(const int32_t *elements, int64_t count, int64_t vertex_count,
                             uint32_t *start, uint32_t *ids, int32_t *links)
{
    ps_facets_sort(&ps_tetrahedron_faces, elements, count, vertex_count, start, ids);
    for (int64_t first = 0, end; first < 4 * count; first = end) {
        end = ps_facets_run(&ps_tetrahedron_faces, elements, ids, 4 * count, first);
        int32_t a = ps_dgtd_facet_face(ids[first]);
        if (end - first > 2)
            return ps_fail(PS_INVALID,
                           "%" PRId64 " elements share a face of element %d; a face may belong "
                           "to two at most",
                           end - first, a / 4);
        links[a] = -1;
        if (end - first == 1) continue;
        int32_t b = ps_dgtd_facet_face(ids[first + 1]);
        links[a] = b;
        links[b] = a;
    }
    return PS_OK;
}

enum { SHAPE_BUCKETS = 4 * PS_DGTD_MAX_TILE };

/* A number for the shape of an element: its edges from vertex 1 in 1/1000 of the longest, mixed. */
static uint64_t shape_of(const double *vertices, const int32_t *element)
{
    double edges[3][3], longest = 0;
    uint64_t mixed = 0;
    for (int a = 0; a < 3; ++a) {
        double square = 0;
        for (int c = 0; c < 3; ++c) {
            edges[a][c] =
                vertices[3 * (int64_t)element[a + 1] + c] - vertices[3 * (int64_t)element[0] + c];
            square += edges[a][c] * edges[a][c];
        }
        longest = fmax(longest, sqrt(square));
    }
    for (int k = 0; k < 9; ++k) {
        mixed ^= (uint64_t)llrint(1000 * edges[k / 3][k % 3] / longest) + 1000;
        mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9u;
    }
    return mixed | 1;
}

/* One tile: shapes are numbered as they come (kind), then counted and the tile filled again. */
static void group_tile(const double *vertices, const int32_t *elements, int32_t *order,
                       int64_t count)
{
    uint64_t known[SHAPE_BUCKETS] = {0};
    int16_t number[SHAPE_BUCKETS], kind[PS_DGTD_MAX_TILE], kinds = 0;
    int32_t start[PS_DGTD_MAX_TILE + 1] = {0}, old[PS_DGTD_MAX_TILE];
    memcpy(old, order, (size_t)count * sizeof *old);
    for (int64_t i = 0; i < count; ++i) {
        uint64_t shape = shape_of(vertices, elements + 4 * (int64_t)order[i]);
        size_t at = (shape >> 20) % SHAPE_BUCKETS;
        while (known[at] && known[at] != shape) at = (at + 1) % SHAPE_BUCKETS;
        if (!known[at]) number[at] = kinds++;
        known[at] = shape;
        kind[i] = number[at];
        ++start[kind[i] + 1];
    }
    for (int k = 0; k < kinds; ++k) start[k + 1] += start[k];
    for (int64_t i = 0; i < count; ++i) order[start[kind[i]]++] = old[i];
}

void ps_dgtd_group_shapes(const double *vertices, const int32_t *elements, int64_t count,
                          int64_t tile, int32_t *order)
{
#pragma omp parallel for schedule(static) if (count > 65536)
    for (int64_t i = 0; i < count; i += tile)
        group_tile(vertices, elements, order + i, count - i < tile ? count - i : tile);
}

void ps_dgtd_tangents(const double *vertices, const int32_t element[4], double tangents[3][3])
{
    const double *origin = vertices + 3 * (int64_t)element[0];
    for (int a = 0; a < 3; ++a)
        for (int c = 0; c < 3; ++c)
            tangents[a][c] = (vertices[3 * (int64_t)element[a + 1] + c] - origin[c]) / 2;
}

double ps_dgtd_determinant(const double t[3][3])
{
    double n[3];
    ps_cross3(t[1], t[2], n);
    return t[0][0] * n[0] + t[0][1] * n[1] + t[0][2] * n[2];
}

void ps_dgtd_faces(const double t[3][3], double areas[4], double normals[4][3])
{
    double sign = ps_dgtd_determinant(t) < 0 ? -1 : 1, inner[3][3];
    for (int a = 0; a < 3; ++a)
        ps_cross3(t[(a + 1) % 3], t[(a + 2) % 3], inner[a]); /* det grad r_a */
    for (int c = 0; c < 3; ++c) {
        normals[0][c] = -sign * inner[2][c];
        normals[1][c] = -sign * inner[1][c];
        normals[2][c] = sign * (inner[0][c] + inner[1][c] + inner[2][c]);
        normals[3][c] = -sign * inner[0][c];
    }
    for (int f = 0; f < 4; ++f) {
        double length = sqrt(normals[f][0] * normals[f][0] + normals[f][1] * normals[f][1] +
                             normals[f][2] * normals[f][2]);
        areas[f] = 2 * length;
        for (int c = 0; c < 3; ++c) normals[f][c] /= length;
    }
}

double ps_dgtd_size(const double t[3][3])
{
    double areas[4], normals[4][3];
    ps_dgtd_faces(t, areas, normals);
    return 4. / 3 * fabs(ps_dgtd_determinant(t)) / (areas[0] + areas[1] + areas[2] + areas[3]);
}

static double longest_edge(const double t[3][3])
{
    double longest = 0;
    for (int a = 0; a < 3; ++a)
        for (int b = a; b < 3; ++b) {
            double square = 0;
            for (int c = 0; c < 3; ++c) square += 4 * pow(a == b ? t[a][c] : t[a][c] - t[b][c], 2);
            longest = fmax(longest, square);
        }
    return sqrt(longest);
}

ps_status ps_dgtd_check_volumes(const double *vertices, const int32_t *elements, int64_t count,
                                double least)
{
    for (int64_t e = 0; e < count; ++e) {
        double t[3][3];
        ps_dgtd_tangents(vertices, elements + 4 * e, t);
        double volume = 4. / 3 * fabs(ps_dgtd_determinant(t));
        if (!(volume > least * pow(longest_edge(t), 3)) || !isfinite(volume))
            return ps_fail(PS_INVALID,
                           "element %" PRId64 " has volume %.3g: it is flat; repair the mesh", e,
                           volume);
    }
    return PS_OK;
}
