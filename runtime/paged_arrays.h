/*
 * paged_arrays: arrays larger than memory. Each keeps one range of addresses for all its rows, but
 * only some ranges of rows are in memory, and the others in a file. Code that works on rows by
 * their number needs to know nothing of it, but that its rows are there.
 *
 * Ranges are read ahead and written behind by a thread. There are two files: one may hold a state
 * that is to be kept (a checkpoint) while ranges are changed, which are written to the other one.
 * Each range in a file has a hash, checked when it is read.
 *
 * Functions are called by one thread.
 */
#ifndef PS_RUNTIME_PAGED_ARRAYS_H
#define PS_RUNTIME_PAGED_ARRAYS_H

#include <stdint.h>

#include "runtime/status.h"

typedef struct ps_paged ps_paged;

enum { PS_PAGED_ARRAYS_MAX = 8 };

typedef struct ps_paged_request {
    int64_t ranges;
    const int64_t *bounds; /* [ranges + 1] rows, ascending; copied                      */
    int arrays;
    const int64_t *row_bytes; /* [arrays]; copied                                          */
    const char *paths[2];     /* the files, made if they are not there; copied             */
    int64_t capacity;         /* bytes of ranges in memory                                 */
} ps_paged_request;

/* No range is anywhere yet: see ps_paged_fresh and ps_paged_adopt. PS_EXHAUSTED if the address
 * space, PS_FAILED if the files cannot be had. */
ps_status ps_paged_open(const ps_paged_request *request, ps_paged **out);
void ps_paged_close(ps_paged **paged); /* keeps the files; NULL is fine */

/* The address of row 0 of an array. */
void *ps_paged_array(const ps_paged *paged, int array);
/* Bytes of a range in memory, all arrays. */
int64_t ps_paged_range_bytes(const ps_paged *paged, int64_t range);

/* Brings a range into memory, zeroed; what was in a file is forgotten. */
ps_status ps_paged_fresh(ps_paged *paged, int64_t range);
/* Asks for a range ahead of its use. Nothing happens where there is no room. */
ps_status ps_paged_prefetch(ps_paged *paged, int64_t range);
/* A range is in memory on return and stays there until ps_paged_done. PS_INVALID if the file has
 * been damaged, PS_EXHAUSTED if ranges in use leave no room or the disk is full. */
ps_status ps_paged_need(ps_paged *paged, int64_t range);
/* Nothing that is in memory leaves before it was done with again: a new pass begins. */
void ps_paged_hold(ps_paged *paged);
/* A range may leave, the one that was done first before others. `changed`: since it was needed. */
void ps_paged_done(ps_paged *paged, int64_t range, int changed);

/* Writes all that is changed to the file in use and syncs it. It holds all ranges then if all were
 * changed since the other was kept. hashes[ranges]. */
ps_status ps_paged_flush(ps_paged *paged, int64_t *hashes);
int ps_paged_file(const ps_paged *paged); /* the file in use, 0 or 1                         */
/* From now on the file in use is left as it is, and the other one is written. */
void ps_paged_keep(ps_paged *paged);
/* All ranges are in this file, which is kept. Checks them all, PS_INVALID if one is damaged. */
ps_status ps_paged_adopt(ps_paged *paged, int file, const int64_t *hashes);

typedef struct ps_paged_stats {
    int64_t bytes_read, bytes_written;
    double read_seconds, write_seconds, waited_seconds; /* the latter by the caller          */
} ps_paged_stats;
void ps_paged_get_stats(const ps_paged *paged, ps_paged_stats *out);

#endif
