/*
 * volume_mesh: a mesh of tetrahedra, "penstock-volume-mesh" (specs/volume_mesh.md).
 *
 * The file is at the same time a ParaView file (VTKHDF 1.0, UnstructuredGrid): vertices are
 * /VTKHDF/Points, tetrahedra /VTKHDF/Connectivity, tags /VTKHDF/CellData/tag. The tagged
 * triangles (boundaries and interfaces) lie beside it in /boundary, so that cell data of a
 * field has one value a tetrahedron.
 */
#ifndef PS_FORMATS_VOLUME_MESH_H
#define PS_FORMATS_VOLUME_MESH_H

#include <stdint.h>

#include "formats/store.h"
#include "formats/tag_names.h"
#include "formats/vtkhdf.h"

#define PS_VOLUME_MESH_FORMAT "penstock-volume-mesh"
enum { PS_VOLUME_MESH_VERSION = 1 };

typedef struct ps_volume_mesh {
    int64_t vertex_count, tetrahedron_count, triangle_count; /* triangle_count may be 0       */
    double *vertices;       /* [vertex_count][3], m                                            */
    int32_t *tetrahedra;    /* [tetrahedron_count][4], det(b-a, c-a, d-a) > 0                  */
    int32_t *tags;          /* [tetrahedron_count] physical group; 0 where there is none       */
    int32_t *triangles;     /* [triangle_count][3]: faces that the imported file named         */
    int32_t *triangle_tags; /* [triangle_count]                                             */
    /* Where each came from: position in the imported file's own order, from 0. */
    int32_t *vertex_source;           /* [vertex_count]                                          */
    int32_t *tetrahedron_source;      /* [tetrahedron_count]                                     */
    int32_t *triangle_source;         /* [triangle_count]                                        */
    char order[16];                   /* "none", "morton", "hilbert", "random" */
    char tag_names[PS_TAG_NAMES_MAX]; /* names of physical groups: "1 skin\n2 skull"; "" if none */
    char uuid[40], content_hash[17];  /* of the file it was read from; "" otherwise          */
} ps_volume_mesh;

/* Allocates the arrays, zeroed. */
ps_status ps_volume_mesh_init(ps_volume_mesh *mesh, int64_t vertex_count, int64_t tetrahedron_count,
                              int64_t triangle_count);
void ps_volume_mesh_release(ps_volume_mesh *mesh); /* frees the arrays, zeroes the struct */

/* Reads a file whole; `mesh` is released on failure. PS_INVALID as ps_store_open, and where
 * sizes or indices do not fit. */
ps_status ps_volume_mesh_load(const char *path, ps_volume_mesh *mesh);

/* Checks, writes chunk by chunk and commits. options: ps_run.record or "". Nothing is left on
 * failure. */
ps_status ps_volume_mesh_save(const char *path, const ps_volume_mesh *mesh, const char *creator,
                              const char *options);

/* A mesh that is made chunk by chunk while it is written, and never in memory whole. Rows: vertices
 * f64 [3], connectivity i32 (4 a tetrahedron, asked for in multiples of 4), tags i32, triangles
 * i32 [3], triangle_tags i32. Makers are called by several threads at once. */
typedef struct ps_volume_mesh_makers {
    int64_t vertex_count, tetrahedron_count, triangle_count;
    const char *tag_names;
    const void *context;
    ps_row_maker *vertices, *connectivity, *tags, *triangles, *triangle_tags;
} ps_volume_mesh_makers;

/* Writes and commits; the makers answer for what ps_volume_mesh_check would ask. */
ps_status ps_volume_mesh_save_made(const char *path, const ps_volume_mesh_makers *makers,
                                   const char *creator, const char *options);

/* Sizes, index ranges, finite vertices, positive volumes. PS_INVALID with the first fault. */
ps_status ps_volume_mesh_check(const ps_volume_mesh *mesh);

#endif
