/*
 * store_driver: where the bytes of chunks go. Not for other modules than store_*.c.
 *
 * A file driver of HDF5 that reads and writes a plain POSIX file, as HDF5's own (sec2) does: the
 * files are the same, and any HDF5 reads them. It differs in one thing: the transfer of a
 * chunk can be taken out of HDF5. The thread that holds ps_hdf5_lock announces its buffer, calls
 * H5Dwrite_chunk or H5Dread_chunk, which finds the chunk's place and enters it in the index,
 * and moves the bytes itself once the lock is released. So the lock is held for the
 * bookkeeping alone. Reading scales with threads; in writing Linux itself lets one thread at a time
 * fill a file (ext4, XFS, tmpfs: the lock of the inode), so that what is gained there is what HDF5
 * and its lock cost.
 *
 * While a file is written, HDF5 must not keep bytes of it that it was not told to write: between
 * the bookkeeping and the transfer it might read a place ahead, and put what it read back
 * afterwards. Its accumulator of metadata can do so and is off for such files. The other caches are
 * no danger: page buffering is off, and the sieve buffer serves contiguous datasets only.
 */
#ifndef PS_FORMATS_STORE_DRIVER_H
#define PS_FORMATS_STORE_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "formats/store_private.h"

/* One transfer. The caller sets buffer and size; the rest is told by the driver. */
typedef struct ps_transfer {
    void *buffer; /* the caller's; only read from when writing */
    size_t size;
    int file;        /* descriptor, the store's; < 0: HDF5 has moved the bytes itself */
    int64_t address; /* in the file */
} ps_transfer;

/* The driver's number, for H5Pset_driver; < 0 if HDF5 refuses it. Lock held. */
ps_hid ps_driver_id(void);

/* Announces a transfer to HDF5's next call, or none (NULL). Lock held, and to be taken back under
 * the same hold of it. Sets file to -1. */
void ps_driver_expect(ps_transfer *transfer);

/* Moves the bytes; the store must stay open meanwhile. Lock not held, any number of threads at a
 * time. Returns 0 or an errno; ENODATA: the file ends before the chunk does. Nothing is done, and 0
 * returned, where HDF5 has moved the bytes. */
int ps_transfer_write(const ps_transfer *transfer);
int ps_transfer_read(const ps_transfer *transfer);

#endif
