/*
 * box_field: values on the nodes or in the cells of a structured grid of bricks,
 * "penstock-box-field" (specs/box_field.md); at the same time a ParaView file (VTKHDF, ImageData).
 *
 * Arrays run z fastest (down), then y, then x: a plane of equal x is contiguous, a chunk is some
 * planes.
 */
#ifndef PS_FORMATS_BOX_FIELD_H
#define PS_FORMATS_BOX_FIELD_H

#include <stdbool.h>

#include "formats/store.h"

#define PS_BOX_FIELD_FORMAT "penstock-box-field"
enum { PS_BOX_FIELD_VERSION = 1 };

typedef struct ps_box_field_header {
    int64_t nodes[3];             /* along x, y, z; each >= 2                                  */
    double origin[3], spacing[3]; /* of node (0, 0, 0); m                                      */
    bool cells;                   /* a value a cell; otherwise a value a node                  */
    char quantity[32], units[32]; /* "density", "kg/m3"                                        */
} ps_box_field_header;

typedef struct ps_box_field {
    ps_box_field_header header;
    int64_t shape[3];             /* values along x, y, z                                      */
    int64_t plane;                /* values in a plane of equal x                              */
    int64_t chunk_planes, chunks; /* planes a chunk (the last may have fewer), chunks          */
    ps_store *store;              /* borrowed by who wants to add inputs or attributes         */
    int dataset;
} ps_box_field;

/* Makes a file to be written chunk by chunk, in any order and from several threads. identity:
 * format and version are set here. PS_USAGE for a grid that is none. */
ps_status ps_box_field_create(const char *path, const ps_store_identity *identity,
                              const ps_box_field_header *header, ps_box_field *out);
/* The part of a rank: planes [first, end) of the whole grid that the header tells; chunks and
 * shape[0] are those of the part. ps_store_write_master joins the parts. */
ps_status ps_box_field_create_part(const char *path, const ps_store_identity *identity,
                                   const ps_box_field_header *header, int64_t first, int64_t end,
                                   ps_box_field *out);
/* Planes [first, end) of a chunk. */
void ps_box_field_chunk(const ps_box_field *field, int64_t chunk, int64_t *first, int64_t *end);
/* values: all planes of the chunk. PS_INVALID, naming the place, for one that is not finite. */
ps_status ps_box_field_write(ps_box_field *field, int64_t chunk, const double *values);
ps_status ps_box_field_commit(ps_box_field *field); /* closes, on failure too */
void ps_box_field_close(ps_box_field *field);       /* before commit: discards. Zeroes the struct */

/* Opens a file of this quantity (NULL: any). PS_INVALID, naming file and reason. */
ps_status ps_box_field_open(const char *path, const char *quantity, ps_box_field *out);
/* Planes [first, first + count). Thread-safe. */
ps_status ps_box_field_read(ps_box_field *field, int64_t first, int64_t count, double *values);

#endif
