/*
 * device_plan: how an interval of chunks is cut into batches, and where each batch lives while it
 * is swept again and again. Part of device_stream; apart so that it can be tested and asked by
 * --plan.
 *
 * Cutting: chunks lie one after the other, each padded to 256 bytes; a batch holds the chunks of
 * the interval that begin in one cell of `batch_bytes` of all chunks together. So it is at most
 * one chunk longer than batch_bytes, and where it begins and ends depends neither on budgets nor
 * (except at the ends) on the interval.
 *
 * Tiers: as many batches as fit are kept on the device, then in pinned host memory; the rest is
 * read from disk in every sweep. Cells take their turn in bit-reversed order (0, 512, 256, 768,
 * 128, ... of every 1024), so that each tier is spread evenly over the sweep and computing hides
 * copying; more memory only moves batches up, it moves none down.
 */
#ifndef PS_RUNTIME_DEVICE_PLAN_H
#define PS_RUNTIME_DEVICE_PLAN_H

#include <stdint.h>

#include "runtime/status.h"

typedef enum ps_tier { PS_TIER_DEVICE, PS_TIER_HOST, PS_TIER_DISK, PS_TIERS } ps_tier;

typedef struct ps_device_batch {
    int64_t first, count; /* chunks */
    int64_t bytes;        /* padded */
    ps_tier tier;
} ps_device_batch;

typedef struct ps_device_plan_request {
    int64_t chunk_count;
    const int64_t *raw_bytes, *unpacked_bytes; /* [chunk_count] */
    int64_t first, count;                      /* the interval of chunks that is swept */
    int64_t host_memory, device_memory;        /* budgets, bytes */
    int64_t batch_bytes; /* 0: 128 MiB, or less so that 4 fit the device, 8 the host */
    int64_t
        resident_batch_bytes; /* neighbours on the device are joined in cells of this; 0: never */
    int slots, host_slots, raws; /* wanted, >= 1; fewer are taken where a budget is too small */
} ps_device_plan_request;

/*
 * Memory: device_bytes = batches on the device + slots x slot_bytes <= device_memory;
 *         host_bytes = batches in host memory + host_slots x slot_bytes + raws x raw_bytes
 *                      + stagings x staging_bytes <= host_memory.
 * Stagings hold batches on their way to the device in the first sweep, and go after it.
 */
typedef struct ps_device_plan {
    int64_t batch_count;
    ps_device_batch *batches; /* [batch_count], owned */
    int64_t batch_bytes;      /* the cell taken */
    int slots, host_slots, raws, stagings;
    int64_t slot_bytes, raw_bytes, staging_bytes;
    int64_t tier_batches[PS_TIERS], tier_bytes[PS_TIERS];
    int64_t device_bytes, host_bytes;
} ps_device_plan;

/* PS_EXHAUSTED if a budget cannot hold one buffer of each kind that is needed; the message says
 * which, and how much it takes. */
ps_status ps_device_plan_make(const ps_device_plan_request *request, ps_device_plan *out);
void ps_device_plan_release(ps_device_plan *plan);

#endif
