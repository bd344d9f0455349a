/*
 * device_window: arrays of the host, cut into ranges of rows, of which some consecutive ranges lie
 * on a device. Each array keeps one device address for all its rows (ps_device_alloc_ring), so
 * kernels that work on rows by their number need to know nothing of it, but that their rows are
 * there. For passes to and fro over the ranges.
 *
 * Ranges come and leave by copies on two streams of their own, beside what is computed: all is
 * enqueued, and events keep the order. A range that leaves frees its place for the next one when
 * its copy to the host has passed. Host memory should be pinned, or copies wait.
 *
 * Functions are called by one thread. Errors: those of the device and of the source.
 */
#ifndef PS_RUNTIME_DEVICE_WINDOW_H
#define PS_RUNTIME_DEVICE_WINDOW_H

#include "runtime/device.h"

typedef struct ps_window ps_window;

/* All of them; and those that come and leave. */
enum { PS_WINDOW_ARRAYS_MAX = 24, PS_WINDOW_COPIED_MAX = 8 };

typedef struct ps_window_array {
    void *host; /* row 0; NULL: nothing comes or leaves, rows that come are as they may be */
    int64_t row_bytes;
    bool changes; /* is written back */
} ps_window_array;

/* Where the host's rows come from, if they are not always there (runtime/paged_arrays.h). */
typedef struct ps_window_source {
    void *of;
    ps_status (*need)(void *of, int64_t range); /* in host memory from now on              */
    void (*done)(void *of, int64_t range);      /* no longer used; changed where any array is */
} ps_window_source;

typedef struct ps_window_request {
    ps_stream *compute; /* where work on the rows is enqueued                         */
    int64_t ranges;
    const int64_t *bounds; /* [ranges + 1] rows, ascending; copied                       */
    int arrays;
    const ps_window_array *array;   /* [arrays]; copied                                           */
    int64_t rows;                   /* that are on the device at once; at least the largest range */
    const ps_window_source *source; /* NULL: all is in host memory                            */
} ps_window_request;

ps_status ps_window_open(const ps_window_request *request, ps_window **out);
void ps_window_close(ps_window **window); /* what changed is not written back; NULL is fine */

/* The device address of row 0 of an array; only rows of ranges in use may be touched. */
void *ps_window_array_at(const ps_window *window, int array);

/* Whether an array comes and goes with the others (at first all do); all ranges must be done with,
 * and leave. */
ps_status ps_window_use(ps_window *window, int array, bool used);

/* Asks for ranges [first, end) beside those on the device ahead of their use, in place of ranges at
 * the other end that were done with, as far as there is room. The more at once, the larger the
 * copies. */
ps_status ps_window_prefetch(ps_window *window, int64_t first, int64_t end);
/* What is enqueued on the compute stream from now on finds the ranges there, until they are done
 * with. PS_EXHAUSTED if ranges in use leave no room. */
ps_status ps_window_need(ps_window *window, int64_t first, int64_t end);
/* Nothing that is there leaves before it was done with again: a new pass begins. */
void ps_window_hold(ps_window *window);
/* Ranges may leave when what is enqueued so far has passed. */
ps_status ps_window_done(ps_window *window, int64_t first, int64_t end, bool changed);

/* The host has all that changed, on return; nothing leaves. All ranges must be done with. */
ps_status ps_window_flush(ps_window *window);
/* Forgets what is on the device: the host's rows are newer. All ranges must be done with. */
ps_status ps_window_drop(ps_window *window);

typedef struct ps_window_stats {
    int64_t bytes_in, bytes_out;
} ps_window_stats;
void ps_window_get_stats(const ps_window *window, ps_window_stats *out);

#endif
