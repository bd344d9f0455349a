#include "runtime/device_plan.h"

#include <stdbool.h>
#include <stdlib.h>

#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

static const int64_t default_batch = (int64_t)128 << 20, least_batch = 4096;

/* ---- cutting ---- */

/* A batch before neighbours are joined, and its turn. */
typedef struct unit {
    ps_device_batch batch;
    int64_t cell;
} unit;

typedef struct work {
    const ps_device_plan_request *request;
    ps_device_plan *plan;
    unit *units;
    int64_t *order; /* units by turn */
    int64_t count, total;
} work;

static int64_t choose_batch(const ps_device_plan_request *request)
{
    if (request->batch_bytes > 0) return request->batch_bytes;
    int64_t bytes = default_batch;
    int64_t room = ps_smaller(request->device_memory / 4, request->host_memory / 8);
    while (bytes > least_batch && bytes > room) bytes /= 2;
    return bytes;
}

static void cut(work *w)
{
    const ps_device_plan_request *request = w->request;
    int64_t start = 0, end = request->first + request->count;
    for (int64_t c = 0; c < end; ++c) {
        int64_t size = ps_device_padded(request->unpacked_bytes[c]);
        int64_t cell = start / w->plan->batch_bytes;
        start += size;
        if (c < request->first) continue;
        if (w->count == 0 || w->units[w->count - 1].cell != cell)
            w->units[w->count++] = (unit){.batch = {.first = c}, .cell = cell};
        ps_device_batch *batch = &w->units[w->count - 1].batch;
        batch->count += 1;
        batch->bytes += size;
        w->total += size;
        w->plan->slot_bytes = ps_larger(w->plan->slot_bytes, batch->bytes);
        w->plan->raw_bytes = ps_larger(w->plan->raw_bytes, ps_device_padded(request->raw_bytes[c]));
    }
}

static int64_t turn(int64_t cell)
{
    int64_t reversed = 0;
    for (int bit = 0; bit < 10; ++bit) reversed |= (cell >> bit & 1) << (9 - bit);
    return reversed;
}

static int by_turn(const void *a, const void *b)
{
    const unit *x = a, *y = b;
    int64_t p = turn(x->cell), q = turn(y->cell);
    if (p != q) return p < q ? -1 : 1;
    return x->cell < y->cell ? -1 : x->cell > y->cell;
}

static ps_status find_order(work *w)
{
    PS_SCOPED_MEMORY unit *sorted = NULL;
    PS_TRY(PS_ALLOC(&w->order, w->count, "the plan of a device stream"));
    PS_TRY(PS_ALLOC(&sorted, w->count, "the plan of a device stream"));
    for (int64_t u = 0; u < w->count; ++u) {
        sorted[u] = w->units[u];
        sorted[u].batch.count = u; /* where it stands */
    }
    qsort(sorted, (size_t)w->count, sizeof *sorted, by_turn);
    for (int64_t u = 0; u < w->count; ++u) w->order[u] = sorted[u].batch.count;
    return PS_OK;
}

/* ---- tiers ---- */

/* Moves units of tier `from`, in their turn, to tier `to` as long as the next one fits; returns
 * the bytes moved. */
static int64_t fill(work *w, ps_tier from, ps_tier to, int64_t room)
{
    int64_t taken = 0;
    for (int64_t i = 0; i < w->count; ++i) {
        ps_device_batch *batch = &w->units[w->order[i]].batch;
        if (batch->tier != from) continue;
        if (taken + batch->bytes > room) break;
        batch->tier = to;
        taken += batch->bytes;
    }
    return taken;
}

static int64_t bytes_of(const work *w, ps_tier tier)
{
    int64_t bytes = 0;
    for (int64_t u = 0; u < w->count; ++u)
        if (w->units[u].batch.tier == tier) bytes += w->units[u].batch.bytes;
    return bytes;
}

static ps_status too_small(const char *option, int64_t budget, int64_t needed, const work *w)
{
    return ps_fail(
        PS_EXHAUSTED,
        "a budget of %.3f MB cannot stream these chunks: the largest batch takes "
        "%.3f MB, the largest chunk %.3f MB as stored; give %s at least %.3f MB, or make "
        "the batches smaller (%.3f MB now)",
        (double)budget / 1e6, (double)w->plan->slot_bytes / 1e6, (double)w->plan->raw_bytes / 1e6,
        option, (double)needed / 1e6, (double)w->plan->batch_bytes / 1e6);
}

static ps_status plan_device(work *w)
{
    ps_device_plan *plan = w->plan;
    int64_t budget = w->request->device_memory;
    for (int64_t u = 0; u < w->count; ++u) w->units[u].batch.tier = PS_TIER_DISK;
    plan->slots = (int)ps_smaller(w->request->slots, w->count);
    if (w->total <= budget) plan->slots = 0;
    while (plan->slots > 1 && plan->slots * plan->slot_bytes > budget) plan->slots -= 1;
    int64_t room = budget - plan->slots * plan->slot_bytes;
    if (room < 0) return too_small("--device-memory", budget, plan->slot_bytes, w);
    plan->device_bytes =
        plan->slots * plan->slot_bytes + fill(w, PS_TIER_DISK, PS_TIER_DEVICE, room);
    return PS_OK;
}

/* Neighbours on the device are joined where they lie in one cell of `join` bytes: so joined
 * batches, too, stay the same when the interval moves. */
static bool are_joined(const work *w, const unit *a, const unit *b, int64_t join)
{
    if (a->batch.tier != PS_TIER_DEVICE || b->batch.tier != PS_TIER_DEVICE || join <= 0)
        return false;
    int64_t cell = w->plan->batch_bytes;
    return a->cell * cell / join == b->cell * cell / join;
}

/* Writes the batches: units, or several joined. */
static void write_batches(work *w, int64_t join)
{
    ps_device_plan *plan = w->plan;
    plan->batch_count = plan->staging_bytes = 0;
    for (int64_t u = 0; u < w->count; ++u) {
        ps_device_batch next = w->units[u].batch, *last = plan->batches + plan->batch_count - 1;
        if (u > 0 && are_joined(w, &w->units[u - 1], &w->units[u], join)) {
            last->count += next.count;
            last->bytes += next.bytes;
        } else {
            last = &plan->batches[plan->batch_count++];
            *last = next;
        }
        if (last->tier == PS_TIER_DEVICE)
            plan->staging_bytes = ps_larger(plan->staging_bytes, last->bytes);
    }
}

static int64_t host_buffers(const ps_device_plan *plan)
{
    return plan->host_slots * plan->slot_bytes + plan->raws * plan->raw_bytes +
           plan->stagings * plan->staging_bytes;
}

/* Gives up one host buffer, in the order in which it hurts least; false if none is left. */
static bool one_buffer_less(ps_device_plan *plan)
{
    int *const order[] = {&plan->stagings, &plan->raws, &plan->host_slots};
    for (int least = 2; least >= 1; --least)
        for (int i = 0; i < 3; ++i)
            if (*order[i] > least) {
                *order[i] -= 1;
                return true;
            }
    return false;
}

/* Takes the host's buffers for the batches as they are joined; false if they do not fit. */
static bool fit_host(work *w, int64_t rest)
{
    ps_device_plan *plan = w->plan;
    int64_t budget = w->request->host_memory;
    plan->raws = (int)ps_smaller(w->request->raws, w->request->count);
    plan->stagings = (int)ps_smaller(2, plan->tier_batches[PS_TIER_DEVICE]);
    plan->host_slots = 0;
    while (host_buffers(plan) + rest > budget &&
           (rest == 0 || plan->stagings > 1 || plan->raws > 2))
        if (!one_buffer_less(plan)) break;
    if (host_buffers(plan) + rest <= budget) return true;
    if (rest == 0) return false;
    plan->stagings = (int)ps_smaller(2, plan->tier_batches[PS_TIER_DEVICE]);
    plan->raws = (int)ps_smaller(w->request->raws, w->request->count);
    plan->host_slots = (int)ps_smaller(w->request->host_slots, w->count);
    while (host_buffers(plan) > budget)
        if (!one_buffer_less(plan)) return false;
    return true;
}

static void count_tiers(ps_device_plan *plan)
{
    for (int t = 0; t < PS_TIERS; ++t) plan->tier_batches[t] = plan->tier_bytes[t] = 0;
    for (int64_t b = 0; b < plan->batch_count; ++b) {
        plan->tier_batches[plan->batches[b].tier] += 1;
        plan->tier_bytes[plan->batches[b].tier] += plan->batches[b].bytes;
    }
}

static ps_status plan_host(work *w)
{
    ps_device_plan *plan = w->plan;
    int64_t budget = w->request->host_memory, rest = bytes_of(w, PS_TIER_DISK);
    int64_t join = w->request->resident_batch_bytes;
    for (;; join /= 2) {
        write_batches(w, join);
        count_tiers(plan);
        if (fit_host(w, rest)) break;
        if (join <= plan->slot_bytes)
            return too_small("--host-memory", budget, host_buffers(plan), w);
    }
    fill(w, PS_TIER_DISK, PS_TIER_HOST, budget - host_buffers(plan));
    write_batches(w, join);
    count_tiers(plan);
    if (plan->host_slots > plan->tier_batches[PS_TIER_DISK])
        plan->host_slots = (int)plan->tier_batches[PS_TIER_DISK];
    plan->slots =
        (int)ps_smaller(plan->slots, plan->batch_count - plan->tier_batches[PS_TIER_DEVICE]);
    plan->host_bytes = host_buffers(plan) + plan->tier_bytes[PS_TIER_HOST];
    plan->device_bytes = plan->slots * plan->slot_bytes + plan->tier_bytes[PS_TIER_DEVICE];
    return PS_OK;
}

static ps_status make(work *w)
{
    int64_t chunks = w->request->count;
    PS_TRY(PS_ALLOC(&w->units, chunks, "the plan of a device stream"));
    PS_TRY(PS_ALLOC(&w->plan->batches, chunks, "the plan of a device stream"));
    w->plan->batch_bytes = choose_batch(w->request);
    cut(w);
    PS_TRY(find_order(w));
    PS_TRY(plan_device(w));
    return plan_host(w);
}

ps_status ps_device_plan_make(const ps_device_plan_request *request, ps_device_plan *out)
{
    work w = {.request = request, .plan = out};
    *out = (ps_device_plan){0};
    if (request->first < 0 || request->count < 0 ||
        request->first + request->count > request->chunk_count)
        return ps_fail(PS_FAILED, "a device stream of chunks %lld to %lld of %lld",
                       (long long)request->first, (long long)(request->first + request->count),
                       (long long)request->chunk_count);
    if (request->count == 0) return PS_OK;
    ps_status status = make(&w);
    free(w.units);
    free(w.order);
    if (status != PS_OK) ps_device_plan_release(out);
    return status;
}

void ps_device_plan_release(ps_device_plan *plan)
{
    free(plan->batches);
    *plan = (ps_device_plan){0};
}
