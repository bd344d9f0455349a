/*
 * partition: a mesh of tetrahedra cut into parts, reordered and linked, "penstock-partition"
 * (specs/partition.md).
 *
 * Elements lie part by part: part q is elements [part_start[q], part_start[q + 1]). Vertices keep
 * the numbers of the mesh, and those of an element ascend, so that the arithmetic of an element
 * depends neither on the number of parts nor on the order.
 */
#ifndef PS_FORMATS_PARTITION_H
#define PS_FORMATS_PARTITION_H

#include <stdint.h>

#include "formats/store.h"
#include "formats/tag_names.h"

#define PS_PARTITION_FORMAT "penstock-partition"
enum { PS_PARTITION_VERSION = 1 };

/* Arrays of a mesh that is ordered and linked. Fits in memory whole: 56 bytes an element and 24 a
 * vertex. Elements < 2^29. */
typedef struct ps_partition {
    int64_t parts, elements, vertex_count;
    int64_t *part_start;  /* [parts + 1] first element of each part                          */
    int64_t *interior;    /* [parts] elements of a part that come first and touch no other
                             part; 0 .. its size                                             */
    double *vertices;     /* [vertex_count][3], m                                            */
    int32_t *tetrahedra;  /* [elements][4] vertices, ascending                               */
    int32_t *links;       /* [elements][4] 4 * element + face of the other side, -1: none    */
    int32_t *tags;        /* [elements] physical group of the volume, 0 none                 */
    int32_t *source;      /* [elements] place in the mesh file                               */
    int64_t face_count;   /* of faces with a tag: outer ones, and inner ones from both sides */
    int32_t *faces;       /* [face_count] 4 * element + face, ascending                      */
    int32_t *face_tags;   /* [face_count] physical group of the surface                      */
    int64_t layer_count;  /* of all parts; 0 unless the order is "layers"                    */
    int64_t *layer_start; /* [layer_count + 1] first element of each breadth-first layer;
                             each part begins one. NULL without layers                       */
    int64_t components;   /* pieces that do not hang together across faces                   */
    char method[16];      /* "scotch", "hilbert", "boxes"                                    */
    char order[16];       /* "hilbert", "layers"                                             */
    char tag_names[PS_TAG_NAMES_MAX];  /* "1 skin\n2 skull"  */
    char mesh_uuid[40], mesh_hash[17]; /* uuid and content hash of the volume mesh file      */
} ps_partition;

/* Allocates the arrays of the sizes that are set in *partition, zeroed. */
ps_status ps_partition_allocate(ps_partition *partition);
void ps_partition_release(ps_partition *partition); /* frees the arrays, zeroes the struct */

/* Sizes, ranges, ascending vertices, links that agree from both sides, layers that touch only
 * their neighbours. PS_INVALID with the first fault. */
ps_status ps_partition_check(const ps_partition *partition);

/* Defines and writes all datasets and attributes of a partition into a store: its own, or that of
 * a format that contains one. */
ps_status ps_partition_write(ps_store *store, const ps_partition *partition);
/* Reads them whole, and checks. *out is released on failure. */
ps_status ps_partition_read(ps_store *store, ps_partition *out);

#endif
