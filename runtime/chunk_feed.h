/*
 * chunk_feed: the front of a stream of chunks. Readers, one thread or more, fetch stored bytes in
 * the order that the owner names, workers unpack them into the places that the owner gives. Part of
 * chunk_stream and device_stream, which decide what is read, where it goes and when it may go.
 *
 * A chunk goes: free raw buffer -> reader -> queue -> worker -> the owner's place. The queue is
 * first in, first out, in the order that the owner named whichever reader is done first, and only
 * its head asks for a place: so all chunks that have places come before all that wait for one. An owner that takes them in order frees their places, and nothing
 * can lock up whatever the numbers of buffers and workers.
 *
 * The feed has one lock. It guards the owner's state too: the owner's callbacks are called with
 * it held, and the owner takes it wherever it touches what they touch.
 */
#ifndef PS_RUNTIME_CHUNK_FEED_H
#define PS_RUNTIME_CHUNK_FEED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

typedef struct ps_chunk_feed ps_chunk_feed;

typedef struct ps_chunk_feed_config {
    const int64_t *raw_bytes, *unpacked_bytes; /* by chunk; borrowed while the feed lives */
    int raws, unpackers; /* buffers for stored bytes, worker threads; both >= 1 */
    int readers;         /* threads that read; 0: one                           */
    int64_t raw_size;    /* of one such buffer: no chunk read is larger */
    void *context;       /* handed to read and unpack, as in chunk_stream */
    ps_status (*read)(void *context, int64_t chunk, void *raw);
    ps_status (*unpack)(void *context, int64_t chunk, const void *raw, void *unpacked);
    void *owner;                  /* handed to the following, which are called with the lock held */
    int64_t (*next)(void *owner); /* the chunk to read now; -1: no more, ever   */
    char *(*place)(void *owner, int64_t chunk); /* where to unpack it; NULL: nowhere yet      */
    void (*ready)(void *owner, int64_t chunk, char *place); /* unpacked                        */
} ps_chunk_feed_config;

typedef struct ps_chunk_feed_stats {
    int64_t raw_bytes_read, bytes_unpacked;
    double read_seconds, unpack_seconds; /* summed over threads */
} ps_chunk_feed_stats;

/* Makes a feed that is not running yet: its lock can be used, so that the owner can get ready. */
ps_status ps_chunk_feed_open(const ps_chunk_feed_config *config, ps_chunk_feed **out);
/* Starts the threads, with all signals blocked. Once. */
ps_status ps_chunk_feed_start(ps_chunk_feed *feed);
/* After `next` has said that there is no more and all has been unpacked: joins the threads and
 * frees the raw buffers. The lock stays. Further calls do nothing. */
void ps_chunk_feed_retire(ps_chunk_feed *feed);
/* Stops at any moment, waiting for the callbacks that run; then releases. NULL is fine. */
void ps_chunk_feed_close(ps_chunk_feed **feed);

void ps_chunk_feed_lock(ps_chunk_feed *feed);
void ps_chunk_feed_unlock(ps_chunk_feed *feed);
void ps_chunk_feed_wait(ps_chunk_feed *feed); /* lock held: until woken, or something is ready */
void ps_chunk_feed_wake(ps_chunk_feed *feed); /* wakes those who wait                          */
void ps_chunk_feed_place_freed(ps_chunk_feed *feed); /* `place` may now say yes                 */

/* Keeps the first failure, with this thread's message, stops the threads and wakes all. Not with
 * the lock held. */
void ps_chunk_feed_fail(ps_chunk_feed *feed, ps_status status);
/* The first failure, its message now this thread's; PS_OK if there is none. Lock held. */
ps_status ps_chunk_feed_failure(const ps_chunk_feed *feed);
/* Lock held. */
ps_chunk_feed_stats ps_chunk_feed_get_stats(const ps_chunk_feed *feed);

/* Starts a thread that leaves signals to the program's own threads; `what` for the message. */
ps_status ps_chunk_feed_thread(pthread_t *thread, void *(*main)(void *), void *argument,
                               const char *what);

#endif
