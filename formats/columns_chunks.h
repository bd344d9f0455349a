/* columns_chunks: chunks of datasets that other programs wrote. Lock of HDF5 held. Private to
 * formats/. */
#ifndef PS_FORMATS_COLUMNS_CHUNKS_H
#define PS_FORMATS_COLUMNS_CHUNKS_H

#include "formats/store_private.h"

/* PS_INVALID if values of a dataset of the file `path` lie in another one, which may change, or be
 * missing, while this one stays as it is. `name` is the dataset's, for the message. */
ps_status ps_hdf5_check_own(ps_hid set, const char *path, const char *name);

/* PS_INVALID, with their number, if chunks within the extent of a dataset were never written, or if
 * an array without chunks has no storage. Looks at the index alone. What was allocated early and
 * never written cannot be told from values. */
ps_status ps_hdf5_check_written(ps_hid set, const char *path, const char *name);

/* Bytes of a whole chunk of a dataset of 1 or 2 dimensions; 0 if it has none, or filters that are
 * not known to keep sizes. */
size_t ps_hdf5_chunk_bytes(ps_hid set);

/* PS_INVALID unless each chunk with rows [first, first + count) was written and, if it was
 * deflated, holds a whole stream of exactly its bytes, or if there are filters of which nothing
 * like that is known. */
ps_status ps_hdf5_check_chunks(ps_hid set, const uint64_t first[2], const uint64_t count[2]);

#endif
