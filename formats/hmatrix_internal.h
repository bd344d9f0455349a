/* hmatrix_internal: what the files of formats/hmatrix share. */
#ifndef PS_FORMATS_HMATRIX_INTERNAL_H
#define PS_FORMATS_HMATRIX_INTERNAL_H

#include "formats/columns.h"
#include "formats/hmatrix.h"

/* Header to and from root attributes; _get checks ranges. */
ps_status ps_hmatrix_header_put(ps_store *store, const ps_hmatrix_header *header);
ps_status ps_hmatrix_header_get(ps_store *store, ps_hmatrix_header *header);

/* Opens the part of a chunk. */
ps_status ps_hmatrix_part_open(const char *path, int64_t generation, int64_t chunk, ps_store **out);
/* The small tables of a part: [leaf_count]. PS_INVALID unless chunk, leaves and sizes are these. */
ps_status ps_hmatrix_part_tables(ps_store *store, const ps_hmatrix_part *part, int32_t *rank,
                                 double *error, int64_t *xxh3);

/* The tables after the trees, as arrays. */
typedef struct ps_hmatrix_arrays {
    int64_t leaves, chunks;
    int32_t *rank;
    double *error;
    int64_t *xxh3, *first, *numbers, *stored;
    char *content_hash; /* [chunks][16] */
} ps_hmatrix_arrays;
/* By the counts that are set. */
ps_status ps_hmatrix_arrays_pass(ps_store *store, const ps_hmatrix_arrays *arrays,
                                 ps_columns_pass *each);
void ps_hmatrix_arrays_release(ps_hmatrix_arrays *arrays);

uint64_t ps_hmatrix_hash(const ps_hmatrix *run, int64_t leaf); /* XXH3-64 of a leaf's bytes */

#endif
