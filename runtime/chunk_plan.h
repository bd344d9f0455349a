/*
 * chunk_plan: which chunks of a stream stay in memory, and how large its buffers are.
 * Part of chunk_stream; apart so that it can be tested and asked by --plan.
 *
 * Memory counted: resident chunks, `slots` buffers for the largest streamed chunk unpacked,
 * `raws` buffers for the largest chunk as stored; every piece rounded up to 64 bytes.
 */
#ifndef PS_RUNTIME_CHUNK_PLAN_H
#define PS_RUNTIME_CHUNK_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

typedef struct ps_chunk_plan {
    int raws, slots;             /* buffers for stored bytes; for unpacked streamed chunks    */
    int64_t raw_size, slot_size; /* bytes of one buffer                                       */
    int64_t resident_count, resident_bytes;
    bool *resident; /* [chunk_count], owned; NULL without chunks                 */
} ps_chunk_plan;

typedef struct ps_chunk_plan_request {
    int64_t chunk_count;
    const int64_t *raw_bytes, *unpacked_bytes; /* [chunk_count] */
    int64_t host_memory;
    int raws, slots; /* wanted, >= 1; fewer are taken where the budget is too small for them */
    bool one_pass;   /* nothing resident */
} ps_chunk_plan_request;

/* Resident chunks are spread evenly, by bytes, over the order: so every stretch of a sweep has
 * computing to hide the reading of its streamed chunks behind (with resident chunks in front, a
 * sweep would compute them while the reader waits, and then wait for the reader). As much as
 * fits is resident. PS_EXHAUSTED if one buffer of each kind does not fit; the message says how
 * much memory is needed. */
ps_status ps_chunk_plan_make(const ps_chunk_plan_request *request, ps_chunk_plan *out);
void ps_chunk_plan_release(ps_chunk_plan *plan);

/* out[2][count]: sizes as stored and unpacked, to be freed. PS_INVALID if one is negative. */
ps_status ps_chunk_sizes_copy(int64_t count, const int64_t *raw, const int64_t *unpacked,
                              int64_t **out);

int64_t ps_chunk_plan_bytes(const ps_chunk_plan *plan); /* all that is counted above */
int64_t ps_chunk_padded(int64_t bytes); /* rounded up to 64, at least 64: no piece is empty */

#endif
