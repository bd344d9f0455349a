/*
 * surface_mesh: a triangulated surface, "penstock-surface-mesh" (specs/surface_mesh.md).
 *
 * The file is at the same time a ParaView file (VTKHDF 1.0, UnstructuredGrid): vertices are
 * /VTKHDF/Points, triangles /VTKHDF/Connectivity, tags /VTKHDF/CellData/tag.
 */
#ifndef PS_FORMATS_SURFACE_MESH_H
#define PS_FORMATS_SURFACE_MESH_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/store.h"
#include "formats/tag_names.h"
#include "formats/vtkhdf.h"

#define PS_SURFACE_MESH_FORMAT "penstock-surface-mesh"
enum { PS_SURFACE_MESH_VERSION = 1 };

typedef struct ps_surface_mesh {
    int64_t vertex_count, triangle_count;
    double *vertices;   /* [vertex_count][3], m                                             */
    int32_t *triangles; /* [triangle_count][3], counterclockwise seen from outside          */
    int32_t *tags;      /* [triangle_count] physical group; 0 where there is none           */
    /* Where each came from: position in the imported file's own order, from 0. */
    int32_t *vertex_source;   /* [vertex_count]                                             */
    int32_t *triangle_source; /* [triangle_count]                                           */
    bool closed;              /* every edge has two triangles                               */
    bool oriented;            /* closed, consistently oriented, normals outward             */
    char order[16];           /* "none", "morton", "hilbert", "random" */
    char tag_names[PS_TAG_NAMES_MAX]; /* names of physical groups: "1 skin\n7 wing"; "" if none */
    char uuid[40], content_hash[17];  /* of the file it was read from; "" otherwise          */
} ps_surface_mesh;

/* Allocates the arrays, zeroed. */
ps_status ps_surface_mesh_init(ps_surface_mesh *mesh, int64_t vertex_count, int64_t triangle_count);
void ps_surface_mesh_release(ps_surface_mesh *mesh); /* frees the arrays, zeroes the struct */

/* Reads a file whole; `mesh` is released on failure. PS_INVALID as ps_store_open, and where
 * sizes or indices do not fit. Release it with ps_surface_mesh_release. */
ps_status ps_surface_mesh_load(const char *path, ps_surface_mesh *mesh);

/* Checks, writes and commits. options: ps_run.record or "". Nothing is left on failure. */
ps_status ps_surface_mesh_save(const char *path, const ps_surface_mesh *mesh, const char *creator,
                               const char *options);
/* Sizes, index range, finite vertices, positive areas. PS_INVALID with the first fault. */
ps_status ps_surface_mesh_check(const ps_surface_mesh *mesh);

/* The tag of a part of the mesh that is given by number or by name; -1: "all". PS_USAGE: there is
 * no such name, or no triangle has that tag. */
ps_status ps_surface_mesh_find_tag(const ps_surface_mesh *mesh, const char *where, int64_t *out);

/* The mesh as a grid (borrowed), to save fields on it. */
ps_vtkhdf_grid ps_surface_mesh_grid(const ps_surface_mesh *mesh);

#endif
