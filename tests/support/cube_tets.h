/*
 * cube_tets: the unit cube in n x n x n cells of six tetrahedra v, v+e_a, v+e_a+e_b, v+(1,1,1)h,
 * one for each order of the axes (Kuhn), with elements along the space curve, vertices ascending,
 * faces linked. cube_tets_init allocates; cube_tets_release frees.
 */
#ifndef PS_TESTS_SUPPORT_CUBE_TETS_H
#define PS_TESTS_SUPPORT_CUBE_TETS_H

#include <stdlib.h>
#include <string.h>

#include "kernels/common/space_curve.h"
#include "kernels/dgtd/mesh.h"
#include "kernels/dgtd/system.h"
#include "runtime/scope.h"
#include "tests/support/pool.h"
#include "tests/support/random.h"

typedef struct cube_tets {
    int64_t side, vertex_count, elements;
    double *vertices;
    int32_t *tetrahedra, *links;
    uint8_t *kinds;
    uint16_t *tags;
    memory_pool memory; /* of these arrays, and of what else lives as long */
} cube_tets;

static inline void cube_tets_release(cube_tets *mesh) { pool_release(&mesh->memory); }

static inline void cube_tets_cell(int32_t *out, int64_t n, const int64_t cell[3])
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int k = 0; k < 6; ++k) {
        int64_t at[3] = {cell[0], cell[1], cell[2]};
        for (int v = 0; v < 4; ++v) {
            out[4 * k + v] = (int32_t)((at[2] * (n + 1) + at[1]) * (n + 1) + at[0]);
            if (v < 3) ++at[orders[k][v]];
        }
    }
}

/* Vertices move by `shake` times the cell size at random, those of the surface stay. */
static inline void cube_tets_vertices(cube_tets *mesh, double shake)
{
    int64_t n = mesh->side;
    uint64_t seed = 12345;
    for (int64_t v = 0; v < mesh->vertex_count; ++v)
        for (int c = 0; c < 3; ++c) {
            int64_t rest = c == 0 ? v : c == 1 ? v / (n + 1) : v / (n + 1) / (n + 1);
            int64_t i = rest % (n + 1);
            double move = shake * ((double)(congruence_next(&seed) >> 33) * 0x1p-31 - 0.5);
            mesh->vertices[3 * v + c] = ((double)i + (i % n ? move : 0)) / (double)n;
        }
}

static inline ps_status cube_tets_link(cube_tets *mesh, int kind)
{
    size_t count = (size_t)mesh->elements;
    PS_SCOPED_MEMORY uint32_t *start = malloc(((size_t)mesh->vertex_count + 1) * sizeof *start);
    PS_SCOPED_MEMORY uint32_t *ids = malloc(4 * count * sizeof *ids);
    ps_status status = ps_dgtd_link_faces(mesh->tetrahedra, mesh->elements, mesh->vertex_count,
                                          start, ids, mesh->links);
    for (size_t f = 0; f < 4 * count; ++f)
        mesh->kinds[f] = (uint8_t)(mesh->links[f] < 0 ? kind : PS_DGTD_INNER);
    return status;
}

/* tile: of ps_dgtd_group_shapes; 0: none. */
static inline void cube_tets_order(cube_tets *mesh, int64_t tile)
{
    size_t count = (size_t)mesh->elements;
    PS_SCOPED_MEMORY double *centroids = malloc(3 * count * sizeof *centroids);
    PS_SCOPED_MEMORY int32_t *order = malloc(count * sizeof *order),
                             *old = malloc(4 * count * sizeof *old);
    PS_SCOPED_MEMORY void *workspace = malloc(ps_space_curve_workspace(mesh->elements));
    ps_dgtd_order_elements(mesh->vertices, mesh->tetrahedra, mesh->elements, centroids, workspace,
                           order);
    if (tile) ps_dgtd_group_shapes(mesh->vertices, mesh->tetrahedra, mesh->elements, tile, order);
    memcpy(old, mesh->tetrahedra, 4 * count * sizeof *old);
    for (size_t e = 0; e < count; ++e)
        memcpy(mesh->tetrahedra + 4 * e, old + 4 * (size_t)order[e], 4 * sizeof *old);
}

/* Of side x side x height cubes. */
static inline void cube_tets_allocate(cube_tets *mesh, int64_t side, int64_t height)
{
    size_t count = 6 * (size_t)(side * side * height);
    memset(mesh, 0, sizeof *mesh);
    mesh->side = side;
    mesh->elements = (int64_t)count;
    mesh->vertex_count = (side + 1) * (side + 1) * (height + 1);
    mesh->vertices =
        pool_take(&mesh->memory, 3 * (size_t)mesh->vertex_count * sizeof *mesh->vertices);
    mesh->tetrahedra = pool_take(&mesh->memory, 4 * count * sizeof *mesh->tetrahedra);
    mesh->links = pool_take(&mesh->memory, 4 * count * sizeof *mesh->links);
    mesh->kinds = pool_take(&mesh->memory, 4 * count);
    mesh->tags = pool_take(&mesh->memory, count * sizeof *mesh->tags);
}

/* The boundary is of one kind; tile as above. */
static inline ps_status cube_tets_init_tiled(cube_tets *mesh, int64_t side, double shake, int kind,
                                             int64_t tile)
{
    cube_tets_allocate(mesh, side, side);
    cube_tets_vertices(mesh, shake);
    for (int64_t c = 0; c < side * side * side; ++c)
        cube_tets_cell(mesh->tetrahedra + 24 * c, side,
                       (const int64_t[3]){c % side, c / side % side, c / side / side});
    ps_dgtd_sort_vertices(mesh->tetrahedra, mesh->elements);
    cube_tets_order(mesh, tile);
    return cube_tets_link(mesh, kind);
}

/* The cube in 3 n breadth-first layers from z = 0 up, each of which touches only those beside it;
 * in a layer by rows, in a row one shape after the other. */
static inline ps_status cube_tets_init_layers(cube_tets *mesh, int64_t side, int kind)
{
    static const int shapes[3][2] = {{0, 2}, {1, 3}, {4, 5}}; /* z last, in the middle, first */
    cube_tets_allocate(mesh, side, side);
    cube_tets_vertices(mesh, 0);
    for (int64_t row = 0; row < 6 * side * side; ++row) {
        int64_t layer = row / (2 * side), j = row / 2 % side;
        int32_t cell[24], *to = mesh->tetrahedra + 4 * row * side;
        for (int64_t i = 0; i < side; ++i) {
            cube_tets_cell(cell, side, (const int64_t[3]){i, j, layer / 3});
            memcpy(to + 4 * i, cell + 4 * shapes[layer % 3][row % 2], 4 * sizeof *to);
        }
    }
    ps_dgtd_sort_vertices(mesh->tetrahedra, mesh->elements);
    return cube_tets_link(mesh, kind);
}

static inline ps_status cube_tets_init(cube_tets *mesh, int64_t side, double shake, int kind)
{
    return cube_tets_init_tiled(mesh, side, shake, kind, 0);
}

#endif
