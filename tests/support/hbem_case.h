/*
 * hbem_case: surfaces for tests of hbem (sphere from the octahedron, bodies of unit cells), spaces
 * on them, and dense matrices.
 */
#ifndef PS_TESTS_SUPPORT_HBEM_CASE_H
#define PS_TESTS_SUPPORT_HBEM_CASE_H

#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "kernels/hbem/entries.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "tests/support/must.h"

typedef struct hbem_case {
    int64_t vertex_count, triangle_count;
    double *vertices;
    int32_t *corners;
    ps_hbem_triangle *triangles;
    ps_hbem_surface surface;
    ps_hbem_space space;
    ps_hbem_quadrature quadrature;
    ps_hbem_joint_point *points;
} hbem_case;

/* Stops the test or bench program with the message. */
/* Vertices on a lattice of (2 side + 1)^3 points, made when first asked for. */
typedef struct hbem_lattice {
    hbem_case *into;
    int side;
    int32_t *index;
} hbem_lattice;

static inline int32_t hbem_lattice_vertex(hbem_lattice *lattice, const int at[3])
{
    int width = 2 * lattice->side + 1;
    int32_t *known =
        &lattice->index[((at[0] + lattice->side) * width + at[1] + lattice->side) * width + at[2] +
                        lattice->side];
    if (*known == 0) {
        double *to = lattice->into->vertices + 3 * lattice->into->vertex_count;
        for (int c = 0; c < 3; ++c) to[c] = (double)at[c] / lattice->side;
        *known = (int32_t)++lattice->into->vertex_count;
    }
    return *known - 1;
}

static inline void hbem_lattice_triangle(hbem_lattice *lattice, int corner[3][3])
{
    int32_t *to = lattice->into->corners + 3 * lattice->into->triangle_count++;
    for (int l = 0; l < 3; ++l) to[l] = hbem_lattice_vertex(lattice, corner[l]);
}

static inline hbem_lattice hbem_lattice_begin(hbem_case *c, int side, int64_t most)
{
    memset(c, 0, sizeof *c);
    size_t width = (size_t)(2 * side + 1);
    c->vertices = calloc((size_t)most * 3, 3 * sizeof *c->vertices);
    c->corners = calloc((size_t)most, 3 * sizeof *c->corners);
    return (hbem_lattice){c, side, calloc(width * width * width, sizeof(int32_t))};
}

static inline void hbem_lattice_end(hbem_lattice *lattice)
{
    hbem_case *c = lattice->into;
    free(lattice->index);
    c->triangles = calloc((size_t)c->triangle_count, sizeof *c->triangles);
}

static inline void hbem_case_surface(hbem_case *c)
{
    must(ps_hbem_surface_init(&c->surface, c->vertices, c->vertex_count, c->corners,
                              c->triangle_count, c->triangles));
}

/* Number of the octahedron's vertex (x, y, z), |x| + |y| + |z| = n: known[(x, y)][z < 0]. */
static inline int32_t hbem_sphere_vertex(hbem_case *c, int32_t *known, int n, const int at[3])
{
    int32_t *to = &known[2 * ((int64_t)(at[0] + n) * (2 * n + 1) + at[1] + n) + (at[2] < 0)];
    if (*to == 0) {
        double *p = c->vertices + 3 * c->vertex_count, r;
        for (int d = 0; d < 3; ++d) p[d] = (double)at[d] / n;
        r = ps_norm3(p);
        for (int d = 0; d < 3; ++d) p[d] /= r;
        *to = (int32_t)++c->vertex_count;
    }
    return *to - 1;
}

/* The unit sphere: every face of the octahedron cut n^2-fold, projected: 8 n^2 triangles. */
static inline void hbem_case_sphere(hbem_case *c, int n)
{
    int64_t width = 2 * n + 1, triangles = 8 * (int64_t)n * n;
    PS_SCOPED_MEMORY int32_t *known = calloc(2 * (size_t)(width * width), sizeof *known);
    memset(c, 0, sizeof *c);
    c->vertices = calloc((size_t)triangles, 3 * sizeof *c->vertices);
    c->corners = calloc((size_t)triangles, 3 * sizeof *c->corners);
    c->triangles = calloc((size_t)triangles, sizeof *c->triangles);
    for (int octant = 0; octant < 8; ++octant) {
        const int s[3] = {octant & 1 ? -1 : 1, octant & 2 ? -1 : 1, octant & 4 ? -1 : 1};
        int turn = s[0] * s[1] * s[2] < 0;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n - i; ++j)
                for (int down = 0; down < (i + j + 1 < n ? 2 : 1); ++down) {
                    const int up[3][2] = {{i, j}, {i + 1, j}, {i, j + 1}};
                    const int turned[3][2] = {{i + 1, j + 1}, {i, j + 1}, {i + 1, j}};
                    for (int l = 0; l < 3; ++l) {
                        const int *xy = (down ? turned : up)[turn && l ? 3 - l : l];
                        const int at[3] = {s[0] * xy[0], s[1] * xy[1], s[2] * (n - xy[0] - xy[1])};
                        c->corners[3 * c->triangle_count + l] =
                            hbem_sphere_vertex(c, known, n, at);
                    }
                    ++c->triangle_count;
                }
    }
    hbem_case_surface(c);
}

/* The surface of [-1, 1]^3 of (2 n)^3 cells, with `l_shape` without the quarter x > 0, y > 0. */
static inline int hbem_cell(const int at[3], int n, int l_shape)
{
    for (int c = 0; c < 3; ++c)
        if (at[c] < -n || at[c] >= n) return 0;
    return !(l_shape && at[0] >= 0 && at[1] >= 0);
}

static inline void hbem_case_cells(hbem_case *c, int n, int l_shape)
{
    hbem_lattice lattice = hbem_lattice_begin(c, n, 56 * (int64_t)n * n + 8);
    int width = 2 * n;
    for (int e = 0; e < width * width * width * 6; ++e) {
        int cell[3] = {e / 6 / width / width - n, e / 6 / width % width - n, e / 6 % width - n};
        int axis = e % 3, up = e % 6 / 3, other[3], at[4][3], half[3][3];
        memcpy(other, cell, sizeof other);
        other[axis] += up ? 1 : -1;
        if (!hbem_cell(cell, n, l_shape) || hbem_cell(other, n, l_shape)) continue;
        for (int v = 0; v < 4; ++v) {
            memcpy(at[v], cell, sizeof at[v]);
            at[v][axis] += up;
            at[v][(axis + (up ? 1 : 2)) % 3] += v == 1 || v == 2;
            at[v][(axis + (up ? 2 : 1)) % 3] += v >= 2;
        }
        for (int part = 0; part < 2; ++part) {
            const int corner[2][3] = {{0, 1, 2}, {0, 2, 3}};
            for (int l = 0; l < 3; ++l) memcpy(half[l], at[corner[part][l]], sizeof half[l]);
            hbem_lattice_triangle(&lattice, half);
        }
    }
    hbem_lattice_end(&lattice);
    hbem_case_surface(c);
}

static inline void hbem_space_make(ps_hbem_space *space, ps_hbem_space_kind kind,
                                   const ps_hbem_surface *surface)
{
    size_t dofs = (size_t)ps_hbem_space_dofs(kind, surface);
    size_t items = 3 * (size_t)surface->triangle_count;
    ps_hbem_space_init(space, kind, surface, calloc(dofs + 1, 8), calloc(items, 8),
                       calloc(items, 4));
}

static inline void hbem_space_free(ps_hbem_space *space)
{
    PS_FREE(space->start, space->item, space->dof_of);
}

/* tolerance 0: the paper's rules with n = 4. */
static inline void hbem_case_rules(hbem_case *c, double tolerance)
{
    int count = tolerance > 0 ? ps_hbem_quadrature_points(tolerance) : 13 * 256;
    free(c->points);
    c->points = calloc((size_t)count, sizeof *c->points);
    if (tolerance > 0)
        ps_hbem_quadrature_init(&c->quadrature, tolerance, c->points);
    else
        ps_hbem_quadrature_fixed(&c->quadrature, 4, c->points);
}

static inline void hbem_case_finish(hbem_case *c, ps_hbem_space_kind kind, double tolerance)
{
    hbem_case_rules(c, tolerance);
    hbem_space_make(&c->space, kind, &c->surface);
}

/* Bodies with the functions of a space and rules. */
static inline void hbem_sphere(hbem_case *c, int n, ps_hbem_space_kind kind, double tolerance)
{
    hbem_case_sphere(c, n);
    hbem_case_finish(c, kind, tolerance);
}

static inline void hbem_cells(hbem_case *c, int n, int l_shape, ps_hbem_space_kind kind,
                              double tolerance)
{
    hbem_case_cells(c, n, l_shape);
    hbem_case_finish(c, kind, tolerance);
}

static inline void hbem_case_release(hbem_case *c)
{
    hbem_space_free(&c->space);
    PS_FREE(c->vertices, c->corners, c->triangles, c->points);
    memset(c, 0, sizeof *c);
}

static inline ps_hbem_operator hbem_case_operator(const hbem_case *c, ps_hbem_kernel kernel,
                                                  double k)
{
    return (ps_hbem_operator){.kernel = kernel,
                              .wavenumber = k,
                              .test = &c->space,
                              .trial = &c->space,
                              .quadrature = &c->quadrature,
                              .far_precision = PS_DOUBLE};
}

/* Workspace of a block. */
static inline ps_hbem_workspace hbem_workspace_make(int64_t bytes)
{
    void *base = NULL;
    if (posix_memalign(&base, 64, (size_t)bytes + 64)) abort();
    return (ps_hbem_workspace){.base = base, .bytes = bytes};
}
static inline void hbem_workspace_free(ps_hbem_workspace *workspace) { free(workspace->base); }

/* The near-field form of a block as values[part][column][row]; free() it. */
static inline double *hbem_block(const ps_hbem_operator *op, ps_hbem_range rows,
                                 ps_hbem_range columns)
{
    int64_t size = (rows.end - rows.begin) * (columns.end - columns.begin);
    double *values = calloc((size_t)(size * ps_hbem_parts(op)), sizeof *values);
    PS_SCOPED(hbem_workspace_free)
    ps_hbem_workspace workspace = hbem_workspace_make(ps_hbem_entries_bytes(op, rows, columns));
    must(ps_hbem_near_block(op, rows, columns, &workspace, values));
    return values;
}

/* The near-field form of the whole matrix, as a block; a thread has a run of columns, and triangles
 * at the ends of runs are done twice. */
static inline double *hbem_dense(const ps_hbem_operator *op)
{
    int64_t m = op->test->dofs, n = op->trial->dofs, run = n / omp_get_max_threads() + 1;
    double *values = calloc((size_t)(ps_hbem_parts(op) * m * n), sizeof *values);
#pragma omp parallel for schedule(dynamic)
    for (int64_t begin = 0; begin < n; begin += run) {
        int64_t end = begin + run < n ? begin + run : n, size = (end - begin) * m;
        PS_SCOPED_MEMORY double *block =
            hbem_block(op, (ps_hbem_range){0, m}, (ps_hbem_range){begin, end});
        for (int part = 0; part < ps_hbem_parts(op); ++part)
            memcpy(values + (part * n + begin) * m, block + part * size, (size_t)size * 8);
    }
    return values;
}

#endif
