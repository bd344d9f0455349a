/*
 * vtkhdf: the part of a file that makes it a ParaView file: the group /VTKHDF of version 1.0,
 * type UnstructuredGrid, as ParaView 5.11 reads it (specs/field.md).
 */
#ifndef PS_FORMATS_VTKHDF_H
#define PS_FORMATS_VTKHDF_H

#include "formats/store.h"

/* What arrays of a grid run over (ps_dataset_spec.dimensions): vertices, cells, and the vertices of
 * each cell one after the other. */
#define PS_VTKHDF_POINT "/point"
#define PS_VTKHDF_CELL "/cell"
#define PS_VTKHDF_CORNER "/corner"

/* Borrowed arrays of a grid of one kind of cell: 3 vertices a cell are triangles, 4 are
 * tetrahedra. */
typedef struct ps_vtkhdf_grid {
    int64_t vertex_count, cell_count;
    int cell_size;          /* vertices a cell: 3 or 4                              */
    const double *vertices; /* [vertex_count][3], m                                */
    const int32_t *cells;   /* [cell_count][cell_size]                             */
    bool single;            /* vertices are stored as f32                          */
} ps_vtkhdf_grid;

/* Sizes that fit (below 2^31 indices in Connectivity), indices in range, finite vertices.
 * PS_INVALID with the first fault; `what` names a cell in the message. */
ps_status ps_vtkhdf_check(const ps_vtkhdf_grid *grid, const char *what);

/* Writes Version, Type, NumberOfPoints, NumberOfCells, NumberOfConnectivityIds, Points,
 * Connectivity, Offsets and Types. Arrays that are not in memory (Offsets, Types, f32 points)
 * are made chunk by chunk. */
ps_status ps_vtkhdf_put_grid(ps_store *store, const ps_vtkhdf_grid *grid);

/* Makers of Points (rows of 3) and Connectivity (rows of 1; first and count are multiples of the
 * cell's vertices), for grids that are not in memory: `grid` gives the sizes only. NULL: they are.
 */
typedef struct ps_vtkhdf_makers {
    const void *context;
    ps_row_maker *vertices, *connectivity;
} ps_vtkhdf_makers;
ps_status ps_vtkhdf_put_made(ps_store *store, const ps_vtkhdf_grid *grid,
                             const ps_vtkhdf_makers *makers);

/* Reads the sizes back: PS_INVALID unless the cells have `cell_size` vertices throughout. */
ps_status ps_vtkhdf_get_sizes(ps_store *store, int cell_size, int64_t *vertex_count,
                              int64_t *cell_count);

/* A regular grid, z down, whose arrays [nodes[0]][nodes[1]][nodes[2]] have x slowest. */
typedef struct ps_vtkhdf_image {
    int64_t nodes[3];
    double origin[3], spacing[3]; /* m */
} ps_vtkhdf_image;

/* Writes the attributes of /VTKHDF, type ImageData: axes are permuted and z is turned up by
 * Direction. */
ps_status ps_vtkhdf_put_image(ps_store *store, const ps_vtkhdf_image *image);

/* Reads a whole array. PS_INVALID unless it has exactly `count` rows. */
ps_status ps_vtkhdf_get_i32(ps_store *store, const char *name, int64_t count, int64_t width,
                            int32_t *data);
ps_status ps_vtkhdf_get_f64(ps_store *store, const char *name, int64_t count, int64_t width,
                            double *data);

#endif
