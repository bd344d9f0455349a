/*
 * interaction_case: a mesh of a test, set up for assembly, and all its matrices as one dense array.
 */
#ifndef PS_TESTS_SUPPORT_INTERACTION_CASE_H
#define PS_TESTS_SUPPORT_INTERACTION_CASE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/tdbem/cut.h"
#include "kernels/tdbem/interaction.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "tests/support/icosphere.h"
#include "tests/support/must.h"

/* Benchmarks use this too, without cmocka: a failure ends the program. */
typedef struct interaction_case {
    ps_interaction interaction;
    icosphere sphere; /* its own mesh, if it has one */
    ps_triangle *triangles;
    double *reach, *spread;
    int64_t *around_start;
    int32_t *around;
} interaction_case;

static inline void interaction_case_release(interaction_case *c)
{
    icosphere_release(&c->sphere);
    PS_FREE(c->triangles, c->reach, c->spread, c->around_start, c->around);
    memset(c, 0, sizeof *c);
}

/* Triangles at each vertex, ascending. */
static inline void interaction_case_around(interaction_case *c, const icosphere *mesh)
{
    int64_t corners = 3 * mesh->triangle_count;
    int64_t *start = c->around_start = calloc((size_t)mesh->vertex_count + 2, sizeof *start);
    c->around = calloc((size_t)corners, sizeof *c->around);
    for (int64_t n = 0; n < corners; ++n) ++start[mesh->triangles[n] + 2];
    for (int64_t v = 0; v < mesh->vertex_count; ++v) start[v + 2] += start[v + 1];
    for (int64_t n = 0; n < corners; ++n)
        c->around[start[mesh->triangles[n] + 1]++] = (int32_t)(n / 3);
}

/* The mesh must live as long as the case. D is the shell width; wave speed 1 unless changed. */
static inline void interaction_case_init(interaction_case *c, const icosphere *mesh,
                                         ps_formulation formulation, int points, double shell)
{
    memset(c, 0, sizeof *c);
    c->triangles = malloc((size_t)mesh->triangle_count * sizeof *c->triangles);
    must(ps_triangles_init(mesh->vertices, mesh->triangles, mesh->triangle_count, c->triangles));
    PS_SCOPED_MEMORY int32_t *order = malloc((size_t)mesh->triangle_count * sizeof *order);
    ps_triangles_set_cut(c->triangles, mesh->triangle_count, order);
    bool hard = formulation == PS_SOUND_HARD;
    if (hard) interaction_case_around(c, mesh);
    c->interaction = (ps_interaction){.formulation = formulation,
                                      .shell = shell,
                                      .speed = 1,
                                      .unknowns = hard ? mesh->vertex_count : mesh->triangle_count,
                                      .triangle_count = mesh->triangle_count,
                                      .triangles = c->triangles,
                                      .vertices = (const double(*)[3])mesh->vertices,
                                      .corners = (const int32_t(*)[3])mesh->triangles,
                                      .around_start = c->around_start,
                                      .around = c->around};
    must(ps_triangle_rule_init(points, &c->interaction.rule));
    c->reach = calloc((size_t)c->interaction.unknowns, sizeof *c->reach);
    ps_interaction_set_reach(&c->interaction, c->reach);
}

/* The same with a sphere of its own, of 20 4^levels triangles, whose vertices are moved by
 * `jitter`. */
static inline void interaction_case_sphere(interaction_case *c, int levels, double jitter,
                                           ps_formulation formulation, int points, double shell)
{
    icosphere sphere;
    icosphere_init(&sphere, levels);
    icosphere_jitter(&sphere, jitter);
    interaction_case_init(c, &sphere, formulation, points, shell);
    c->sphere = sphere;
}

/* Puts planes before the mesh, which lies on the side of their normals. */
static inline void interaction_case_mirror(interaction_case *c, const icosphere *mesh,
                                           const ps_reflectors *mirrors)
{
    int64_t count = mesh->triangle_count, images = ps_reflectors_images(mirrors);
    PS_SCOPED_MEMORY double *image = malloc((size_t)(3 * mesh->vertex_count) * sizeof *image);
    c->triangles = realloc(c->triangles, (size_t)(images * count) * sizeof *c->triangles);
    for (int m = 1; m < images; ++m) {
        for (int64_t v = 0; v < mesh->vertex_count; ++v)
            ps_reflectors_point(mirrors, m, mesh->vertices + 3 * v, image + 3 * v);
        must(ps_triangles_init(image, mesh->triangles, count, c->triangles + m * count));
    }
    c->interaction.triangles = c->triangles;
    c->interaction.mirrors = *mirrors;
    c->spread = calloc((size_t)c->interaction.unknowns, sizeof *c->spread);
    ps_interaction_set_spread(&c->interaction, c->spread);
}

/* A tile with room for all its values; interaction_tile_release frees. */
static inline void interaction_tile_init(const ps_interaction *interaction, int64_t first_row,
                                         int64_t rows, int64_t first_slice, int64_t slices,
                                         ps_interaction_tile *tile)
{
    size_t entries = (size_t)(rows * slices);
    memset(tile, 0, sizeof *tile);
    tile->first_row = first_row;
    tile->rows = rows;
    tile->first_slice = first_slice;
    tile->slices = slices;
    tile->value_capacity =
        ps_interaction_value_bound(interaction, first_row, rows, first_slice, slices);
    tile->starts = calloc(entries, sizeof *tile->starts);
    tile->lengths = calloc(entries, sizeof *tile->lengths);
    tile->values = calloc((size_t)tile->value_capacity, sizeof *tile->values);
    tile->near_rows = calloc(entries, sizeof *tile->near_rows);
    tile->near_columns = calloc(entries, sizeof *tile->near_columns);
    tile->near_values = calloc(entries, sizeof *tile->near_values);
}

static inline void interaction_tile_release(ps_interaction_tile *tile)
{
    PS_FREE(tile->starts, tile->lengths, tile->values, tile->near_rows, tile->near_columns,
            tile->near_values);
    memset(tile, 0, sizeof *tile);
}

static inline void interaction_tile_compute(const ps_interaction *interaction,
                                            ps_interaction_tile *tile)
{
    int64_t bytes = ps_interaction_workspace(interaction, tile->first_row, tile->rows,
                                             tile->first_slice, tile->slices);
    PS_SCOPED_MEMORY void *workspace = malloc((size_t)bytes);
    must(ps_interaction_compute(interaction, tile, workspace, bytes));
}

/* All M^k, k = 0 .. *k_max, as matrices[k][j][i] (N x N each, by slices); free() it. */
static inline double *interaction_dense(const ps_interaction *interaction, int64_t *k_max)
{
    int64_t n = interaction->unknowns;
    PS_SCOPED(interaction_tile_release) ps_interaction_tile tile = {0};
    interaction_tile_init(interaction, 0, n, 0, n, &tile);
    interaction_tile_compute(interaction, &tile);
    double *out = calloc((size_t)((tile.k_max + 1) * n * n), sizeof *out);
    const double *value = tile.values;
    for (int64_t v = 0; v < n * n; ++v)
        for (int q = 0; q < tile.lengths[v]; ++q) out[(tile.starts[v] + q) * n * n + v] = *value++;
    for (int64_t e = 0; e < tile.near_count; ++e)
        out[tile.near_columns[e] * n + tile.near_rows[e]] = tile.near_values[e];
    *k_max = tile.k_max;
    return out;
}

#endif
