#include "runtime/chunk_plan.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

int64_t ps_chunk_padded(int64_t bytes) { return bytes > 0 ? (bytes + 63) / 64 * 64 : 64; }

int64_t ps_chunk_plan_bytes(const ps_chunk_plan *plan)
{
    return plan->resident_bytes + plan->raws * plan->raw_size + plan->slots * plan->slot_size;
}

/* Recounts the resident chunks and the size of a slot from plan->resident. */
static void count(const ps_chunk_plan_request *request, ps_chunk_plan *plan)
{
    plan->resident_count = plan->resident_bytes = plan->slot_size = 0;
    for (int64_t c = 0; c < request->chunk_count; ++c) {
        int64_t size = ps_chunk_padded(request->unpacked_bytes[c]);
        if (plan->resident[c]) {
            plan->resident_count += 1;
            plan->resident_bytes += size;
        } else if (size > plan->slot_size) {
            plan->slot_size = size;
        }
    }
}

/* Marks about `fraction` of the bytes resident, evenly spread; 1 marks all, 0 none. */
static void spread(const ps_chunk_plan_request *request, double fraction, ps_chunk_plan *plan)
{
    int64_t seen = 0, kept = 0;
    for (int64_t c = 0; c < request->chunk_count; ++c) {
        int64_t size = ps_chunk_padded(request->unpacked_bytes[c]);
        seen += size;
        plan->resident[c] = (double)(kept + size) <= fraction * (double)seen;
        if (plan->resident[c]) kept += size;
    }
    count(request, plan);
}

static bool fits(const ps_chunk_plan_request *request, const ps_chunk_plan *plan)
{
    return ps_chunk_plan_bytes(plan) <= request->host_memory;
}

/* Adds what still fits beside the buffers as they are. */
static void fill(const ps_chunk_plan_request *request, ps_chunk_plan *plan)
{
    int64_t left = request->host_memory - ps_chunk_plan_bytes(plan);
    for (int64_t c = 0; c < request->chunk_count; ++c) {
        int64_t size = ps_chunk_padded(request->unpacked_bytes[c]);
        if (plan->resident[c] || size > left) continue;
        plan->resident[c] = true;
        left -= size;
    }
    count(request, plan);
}

/* The largest evenly spread part that fits; false if not even none does. */
static bool choose(const ps_chunk_plan_request *request, ps_chunk_plan *plan)
{
    double low = 0, high = 1;
    spread(request, 0, plan);
    if (request->one_pass) return fits(request, plan);
    spread(request, 1, plan);
    if (fits(request, plan)) return true;
    spread(request, 0, plan);
    if (!fits(request, plan)) return false;
    for (int round = 0; round < 30; ++round) {
        double middle = 0.5 * (low + high);
        spread(request, middle, plan);
        *(fits(request, plan) ? &low : &high) = middle;
    }
    spread(request, low, plan);
    fill(request, plan);
    return true;
}

/* Gives up one buffer, in the order in which it hurts least; false if none is left. */
static bool one_buffer_less(ps_chunk_plan *plan)
{
    if (plan->raws > 2)
        plan->raws -= 1;
    else if (plan->slots > 2)
        plan->slots -= 1;
    else if (plan->raws > 1)
        plan->raws -= 1;
    else if (plan->slots > 1)
        plan->slots -= 1;
    else
        return false;
    return true;
}

static ps_status too_small(const ps_chunk_plan_request *request, const ps_chunk_plan *plan)
{
    return ps_fail(PS_EXHAUSTED,
                   "a memory budget of %.3f MB cannot stream these chunks: the largest takes "
                   "%.3f MB stored and %.3f MB unpacked; give --host-memory at least %.3f MB",
                   (double)request->host_memory / 1e6, (double)plan->raw_size / 1e6,
                   (double)plan->slot_size / 1e6, (double)(plan->raw_size + plan->slot_size) / 1e6);
}

ps_status ps_chunk_plan_make(const ps_chunk_plan_request *request, ps_chunk_plan *out)
{
    int64_t chunks = request->chunk_count;
    ps_chunk_plan plan = {.raws = request->raws, .slots = request->slots};
    *out = (ps_chunk_plan){0};
    if (chunks <= 0) return PS_OK;
    if (plan.raws > chunks) plan.raws = (int)chunks;
    if (plan.slots > chunks) plan.slots = (int)chunks;
    PS_TRY(PS_ALLOC(&plan.resident, chunks, "the plan of a chunk stream"));
    for (int64_t c = 0; c < chunks; ++c) {
        int64_t size = ps_chunk_padded(request->raw_bytes[c]);
        if (size > plan.raw_size) plan.raw_size = size;
    }
    while (!choose(request, &plan))
        if (!one_buffer_less(&plan)) {
            ps_status status = too_small(request, &plan);
            free(plan.resident);
            return status;
        }
    if (plan.resident_count == chunks) plan.slots = 0;
    *out = plan;
    return PS_OK;
}

void ps_chunk_plan_release(ps_chunk_plan *plan)
{
    free(plan->resident);
    *plan = (ps_chunk_plan){0};
}

ps_status ps_chunk_sizes_copy(int64_t count, const int64_t *raw, const int64_t *unpacked,
                              int64_t **out)
{
    for (int64_t c = 0; c < count; ++c)
        if (raw[c] < 0 || unpacked[c] < 0)
            return ps_fail(PS_INVALID, "chunk %lld has a negative size", (long long)c);
    PS_TRY(PS_ALLOC(out, 2 * count, "the sizes of chunks"));
    if (count <= 0) return PS_OK;
    memcpy(*out, raw, (size_t)count * sizeof **out);
    memcpy(*out + count, unpacked, (size_t)count * sizeof **out);
    return PS_OK;
}
