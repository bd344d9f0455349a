/*
 * h5zstd: the zstd filter of HDF5, registered number 32015, as our files use it.
 *
 * The same function serves inside our programs (registered by the store) and in the plugin
 * libh5zstd.so, through which h5dump, h5py and ParaView read our files.
 */
#ifndef PS_FORMATS_H5ZSTD_H
#define PS_FORMATS_H5ZSTD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PS_H5ZSTD_ID = 32015, PS_H5ZSTD_LEVEL = 1 };

/* The filter function as H5Z_func_t wants it: compresses (values[0] is the level, 1 if absent)
 * values[1], if there, the bytes of a whole chunk, which a frame must then expand to) or, with
 * H5Z_FLAG_REVERSE, decompresses *buffer of `bytes` bytes; *buffer is replaced by
 * memory from malloc of *size bytes. Returns the valid bytes in it, 0 on failure (*buffer is
 * then as it was). Frames carry a checksum. Thread-safe. */
size_t ps_h5zstd_filter(unsigned flags, size_t value_count, const unsigned values[], size_t bytes,
                        size_t *size, void **buffer);

/* Whether so many stored bytes may expand to so many: chunks up to 256 MiB may be anything, larger
 * ones at most a thousand times what is stored. */
bool ps_h5zstd_plausible(uint64_t stored, uint64_t expanded);

/* The bytes of a whole chunk of the dataset that this thread reads through HDF5; 0: not known. A
 * frame of another size is then an error: HDF5 1.10 believes what a filter gives, and reads on
 * behind it. */
void ps_h5zstd_expect(size_t bytes);

#endif
