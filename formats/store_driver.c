/* store_driver: a file driver of HDF5 that leaves the transfer of chunks to their threads. */
#include "formats/store_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct driver_file {
    H5FD_t base; /* HDF5's own, first */
    int file;
    bool writable;
    dev_t device;
    ino_t inode;
    haddr_t allocated; /* "eoa": the end of what HDF5 uses */
    haddr_t end;       /* "eof": of the file, once announced transfers are made */
} driver_file;

/* Smaller chunks are left to the system: their files are small, or their pages are shared. */
enum { BEHIND_BYTES = 1 << 20 };

static ps_transfer *expected; /* guarded by ps_hdf5_lock */

/* ---- moving bytes ---- */

static int write_at(int file, const char *bytes, size_t size, off_t address)
{
    while (size > 0) {
        ssize_t done = pwrite(file, bytes, size, address);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return done < 0 ? errno : ENOSPC;
        bytes += done;
        address += done;
        size -= (size_t)done;
    }
    return 0;
}

/* Sets *missing to the bytes past the end of the file. */
static int read_at(int file, char *bytes, size_t size, off_t address, size_t *missing)
{
    while (size > 0) {
        ssize_t done = pread(file, bytes, size, address);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return errno;
        if (done == 0) break;
        bytes += done;
        address += done;
        size -= (size_t)done;
    }
    *missing = size;
    return 0;
}

void ps_driver_expect(ps_transfer *transfer)
{
    if (transfer) transfer->file = -1;
    expected = transfer;
}

/* True if this is the announced transfer: its place is noted. */
static bool take(const driver_file *file, haddr_t address, size_t size, const void *buffer)
{
    if (!expected || expected->buffer != buffer || expected->size != size) return false;
    expected->file = file->file;
    expected->address = (int64_t)address;
    expected = NULL;
    return true;
}

/* Lets the system begin to bring bytes to disk, so that a commit has less to wait for. Nothing
 * depends on it. */
static void write_behind(const ps_transfer *transfer)
{
    if (transfer->size >= BEHIND_BYTES)
        (void)sync_file_range(transfer->file, transfer->address, (off_t)transfer->size,
                              SYNC_FILE_RANGE_WRITE);
}

int ps_transfer_write(const ps_transfer *transfer)
{
    if (transfer->file < 0) return 0;
    int error = write_at(transfer->file, transfer->buffer, transfer->size, transfer->address);
    if (!error) write_behind(transfer);
    return error;
}

int ps_transfer_read(const ps_transfer *transfer)
{
    size_t missing = 0;
    if (transfer->file < 0) return 0;
    int error =
        read_at(transfer->file, transfer->buffer, transfer->size, transfer->address, &missing);
    return error ? error : missing ? ENODATA : 0;
}

/* ---- what HDF5 calls ---- */

/* The number is what ps_hdf5_fail looks for. */
static herr_t fail(const char *what, int error)
{
    H5Epush2(H5E_DEFAULT, __FILE__, "store_driver", __LINE__, H5E_ERR_CLS, H5E_VFL, H5E_CANTGET,
             "%s, errno = %d", what, error);
    return -1;
}

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    struct stat found;
    int mode = (flags & H5F_ACC_RDWR ? O_RDWR : O_RDONLY) | (flags & H5F_ACC_TRUNC ? O_TRUNC : 0) |
               (flags & H5F_ACC_CREAT ? O_CREAT : 0) | (flags & H5F_ACC_EXCL ? O_EXCL : 0) |
               (flags & H5F_ACC_RDWR ? O_NOFOLLOW : 0); /* what is written is ours, and no link */
    driver_file *file = calloc(1, sizeof *file);
    if (!file) return NULL;
    file->file = open(name, mode | O_CLOEXEC, 0666);
    if (file->file >= 0 && fstat(file->file, &found) == 0) {
        file->writable = flags & H5F_ACC_RDWR;
        file->device = found.st_dev;
        file->inode = found.st_ino;
        file->end = (haddr_t)found.st_size;
        return &file->base;
    }
    fail("the file cannot be opened", errno);
    if (file->file >= 0) close(file->file);
    free(file);
    return NULL;
}

static herr_t driver_close(H5FD_t *base)
{
    driver_file *file = (driver_file *)base;
    int error = close(file->file) != 0 ? errno : 0;
    free(file);
    return error ? fail("the file cannot be closed", error) : 0;
}

static int driver_compare(const H5FD_t *a, const H5FD_t *b)
{
    const driver_file *f = (const driver_file *)a, *g = (const driver_file *)b;
    if (f->device != g->device) return f->device < g->device ? -1 : 1;
    if (f->inode != g->inode) return f->inode < g->inode ? -1 : 1;
    return 0;
}

/* HDF5 also asks before there is a file. */
static herr_t driver_query(const H5FD_t *base, unsigned long *features)
{
    const driver_file *file = (const driver_file *)base;
    *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_DATA_SIEVE |
                H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    if (file && !file->writable) *features |= H5FD_FEAT_ACCUMULATE_METADATA;
    return 0;
}

static haddr_t driver_allocated(const H5FD_t *base, H5FD_mem_t type)
{
    return ((const driver_file *)base)->allocated;
}

static herr_t driver_allocate(H5FD_t *base, H5FD_mem_t type, haddr_t end)
{
    ((driver_file *)base)->allocated = end;
    return 0;
}

static haddr_t driver_end(const H5FD_t *base, H5FD_mem_t type)
{
    return ((const driver_file *)base)->end;
}

/* What is past the end reads as zeros, but not in a chunk. */
static herr_t driver_read(H5FD_t *base, H5FD_mem_t type, hid_t list, haddr_t address, size_t size,
                          void *buffer)
{
    const driver_file *file = (const driver_file *)base;
    size_t missing = 0;
    if (take(file, address, size, buffer)) return 0;
    int error = read_at(file->file, buffer, size, (off_t)address, &missing);
    if (error) return fail("the file cannot be read", error);
    memset((char *)buffer + size - missing, 0, missing);
    return 0;
}

static herr_t driver_write(H5FD_t *base, H5FD_mem_t type, hid_t list, haddr_t address, size_t size,
                           const void *buffer)
{
    driver_file *file = (driver_file *)base;
    int error =
        take(file, address, size, buffer) ? 0 : write_at(file->file, buffer, size, (off_t)address);
    if (error) return fail("the file cannot be written", error);
    if (file->end < address + size) file->end = address + size;
    return 0;
}

/* Announced chunks lie below `allocated`: none is cut off, made or not. */
static herr_t driver_truncate(H5FD_t *base, hid_t list, hbool_t closing)
{
    driver_file *file = (driver_file *)base;
    if (file->allocated == file->end) return 0;
    if (ftruncate(file->file, (off_t)file->allocated) != 0)
        return fail("the file cannot be given its length", errno);
    file->end = file->allocated;
    return 0;
}

static const H5FD_class_t driver = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)511, /* of the range for trials: no file records it */
#endif
    .name = "penstock",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_WEAK,
    .open = driver_open,
    .close = driver_close,
    .cmp = driver_compare,
    .query = driver_query,
    .get_eoa = driver_allocated,
    .set_eoa = driver_allocate,
    .get_eof = driver_end,
    .read = driver_read,
    .write = driver_write,
    .truncate = driver_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

ps_hid ps_driver_id(void)
{
    static hid_t id = -1; /* guarded by ps_hdf5_lock */
    if (id < 0) id = H5FDregister(&driver);
    return id;
}
