/*
 * device_summation: the sums of a group by one sweep of a device over its tiles: the device side
 * of summation.h. Tiles are blocks (not slices), resident or streamed as the memory allows.
 */
#ifndef PS_TDBEM_MARCH_DEVICE_SUMMATION_H
#define PS_TDBEM_MARCH_DEVICE_SUMMATION_H

#include "compute/tdbem_march/tiles.h"
#include "kernels/tdbem/past_window.h"
#include "kernels/tdbem/slice_batch.h"
#include "runtime/device_stream.h"

/* Partial sums of two batches, in units of the sums. Of few unknowns there are more in whole
 * batches, as many as fill the device: 100 MB at most in single precision, beside the 16 GB of such
 * budgets. */
enum { DEVICE_PARTIAL_SUMS = 64 };

typedef struct device_summation_config {
    ps_device *device;
    ps_stream *stream;                  /* all computing of the device                       */
    tiles *share;                       /* of the rank; borrowed                             */
    int64_t first, count;               /* chunks of the share that are this device's        */
    const ps_past_window *window;       /* on the device; borrowed                           */
    int64_t group;                      /* steps of a sweep; above PS_GROUP_MAX a multiple of it, or
                                           of `pass`                                         */
    int64_t host_memory, device_memory; /* for tiles and their buffers alone */
} device_summation_config;

/* Batches are multiplied on streams of their own in turn, so that one fills what the one before
 * leaves idle at its end; their sums are added on the stream of the device, in their order. */
enum { SUMMATION_LANES = 2 };
typedef struct summation_lane {
    ps_stream *stream;
    ps_event *multiplied, *added; /* of its latest batch: its scratch is full, and free again */
} summation_lane;

typedef struct device_summation {
    device_summation_config config;
    tile_list list;
    int64_t pass; /* steps of one kernel: at most PS_GROUP_MAX */
    int multiprocessors;
    void *sums;    /* [unknowns][group] on the device */
    void *scratch; /* of the lanes, one behind the other */
    int64_t scratch_bytes, table_bytes;
    summation_lane lanes[SUMMATION_LANES];
    int64_t turn; /* of the lanes */
    ps_device_stream *tiles;
    struct symmetric_batch *held; /* of tiles that the device holds; NULL: a stream's */
    /* Of the two latest sweeps, by their number modulo 2: */
    ps_event *start[2], *end[2];
    bool loads[2]; /* it read tiles for the first time */
    bool reset;    /* the next one will */
    int64_t sweeps;
} device_summation;

/* Bytes on the device beside the tiles: the sums, and what partial sums and tables take at most. */
int64_t device_summation_fixed(const ps_slice_header *header, int64_t group);

/* Bytes of a batch of tiles under these budgets; 0: for the stream to choose, as they are small. */
int64_t device_summation_batch(int64_t device_memory, int64_t host_memory);

/* Scratch memory of at least `bytes`, for all batches. Waits for the stream if it grows. */
ps_status device_summation_scratch(device_summation *summation, int64_t bytes);

/* PS_USAGE for slices: only blocks are taken. */
ps_status device_summation_open(const device_summation_config *config, device_summation *out);
void device_summation_close(device_summation *summation);

/* Enqueues a sweep: the sums are there for what is enqueued on the stream later. */
ps_status device_summation_sweep(device_summation *summation);
/* Goes over to another interval of chunks; the next sweep loads what is new. */
ps_status device_summation_move(device_summation *summation, int64_t first, int64_t count);
/* Seconds of sweep number `sweep` (from 0), one of the two latest, once it is over; *loads: it read
 * tiles for the first time. */
ps_status device_summation_seconds(const device_summation *summation, int64_t sweep, double *out,
                                   bool *loads);

#endif
