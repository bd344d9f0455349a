#include "runtime/heteroprio.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

enum { MARGIN = 2 /* of a task's time, for what waits for it */ };

typedef struct item {
    ps_ready_task ready;
    uint64_t sequence; /* of its push */
} item;

/* Those that wait, in the order of their pushes. */
typedef struct ring {
    item *items;
    int64_t capacity, head, count;
} ring;

typedef struct bucket {
    ps_bucket spec;
    ring *rings; /* [places] */
    int64_t count;
    double gpu_seconds;                       /* forecast of those that wait             */
    double expected_seconds[PS_WORKER_KINDS]; /* forecasts of all expected        */
    double by_cpu[PS_WORKER_KINDS];           /* forecasts of those that CPU workers took */
    double taken[PS_WORKER_KINDS];            /* forecasts of those that anybody took     */
    double pushed[PS_WORKER_KINDS];           /* forecasts of all that were ever pushed  */
    double expected[PS_WORKER_KINDS];         /* forecasts and seconds of those observed */
    double observed[PS_WORKER_KINDS];
    double factor[PS_WORKER_KINDS]; /* seconds over forecast, once both kinds of worker have
                                       been observed                           */
    double scale[PS_WORKER_KINDS];  /* the same of each kind of worker by itself */
} bucket;

struct ps_heteroprio {
    bucket buckets[PS_BUCKETS_MAX];
    int bucket_count, workers[PS_WORKER_KINDS];
    ps_schedule_policy policy;
    ps_termination termination;
    bool keep_order;
    int places; /* GPU workers, at least 1: rings of a bucket */
    int order[PS_WORKER_KINDS][PS_BUCKETS_MAX], polled[PS_WORKER_KINDS];
    uint64_t sequence;
    int64_t waiting;
};

static int priority(const bucket *b, ps_worker_kind kind)
{
    return kind == PS_WORKER_GPU ? b->spec.gpu : b->spec.cpu;
}

/* Buckets in ascending priority, those of equal priority as in the table. */
static void sort_orders(ps_heteroprio *h)
{
    for (int kind = 0; kind < PS_WORKER_KINDS; ++kind) {
        int n = 0, *order = h->order[kind];
        for (int b = 0; b < h->bucket_count; ++b) {
            int own = priority(&h->buckets[b], kind), at = n;
            if (own < 0) continue;
            for (; at > 0 && priority(&h->buckets[order[at - 1]], kind) > own; --at)
                order[at] = order[at - 1];
            order[at] = b;
            ++n;
        }
        h->polled[kind] = n;
    }
}

ps_status ps_heteroprio_open(const ps_heteroprio_config *config, ps_heteroprio **out)
{
    *out = NULL;
    if (config->cpus < 0 || config->gpus < 0 || config->cpus + config->gpus < 1)
        return ps_fail(PS_USAGE, "a scheduler for %d CPU and %d GPU workers", config->cpus,
                       config->gpus);
    if (config->bucket_count < 1 || config->bucket_count > PS_BUCKETS_MAX)
        return ps_fail(PS_USAGE, "a scheduler with %d buckets; from 1 to %d can be",
                       config->bucket_count, PS_BUCKETS_MAX);
    ps_heteroprio *h;
    PS_TRY(PS_ALLOC(&h, 1, "a scheduler"));
    h->bucket_count = config->bucket_count;
    h->workers[PS_WORKER_CPU] = config->cpus;
    h->workers[PS_WORKER_GPU] = config->gpus;
    h->policy = config->policy;
    h->termination = config->termination;
    h->keep_order = config->keep_order;
    h->places = config->gpus > 1 ? config->gpus : 1;
    ring *rings;
    ps_status status = PS_ALLOC(&rings, config->bucket_count * h->places, "a scheduler");
    if (status != PS_OK) free(h);
    PS_TRY(status);
    for (int b = 0; b < config->bucket_count; ++b) {
        h->buckets[b].rings = rings + b * h->places;
        h->buckets[b].spec = config->buckets[b];
        for (int w = 0; w < PS_WORKER_KINDS; ++w)
            h->buckets[b].factor[w] = h->buckets[b].scale[w] = 1;
    }
    sort_orders(h);
    *out = h;
    return PS_OK;
}

void ps_heteroprio_close(ps_heteroprio **scheduler)
{
    ps_heteroprio *h = *scheduler;
    for (int r = 0; h && r < h->bucket_count * h->places; ++r) free(h->buckets[0].rings[r].items);
    if (h) free(h->buckets[0].rings);
    free(h);
    *scheduler = NULL;
}

/* ---- push ---- */

static ps_status make_room(ring *r)
{
    int64_t capacity = r->capacity ? 2 * r->capacity : 16;
    item *items;
    PS_TRY(PS_ALLOC(&items, capacity, "ready tasks"));
    for (int64_t i = 0; i < r->count; ++i) items[i] = r->items[(r->head + i) & (r->capacity - 1)];
    free(r->items);
    r->items = items;
    r->capacity = capacity;
    r->head = 0;
    return PS_OK;
}

static double finite_or_zero(double seconds) { return isfinite(seconds) ? seconds : 0; }

void ps_heteroprio_expect(ps_heteroprio *h, int bucket_number, const ps_ready_task *task)
{
    bucket *b = &h->buckets[bucket_number];
    b->expected_seconds[PS_WORKER_CPU] += finite_or_zero(task->cpu_seconds);
    b->expected_seconds[PS_WORKER_GPU] += finite_or_zero(task->gpu_seconds);
}

static bool has_taker(const ps_heteroprio *h, const bucket *b)
{
    return (b->spec.cpu >= 0 && h->workers[PS_WORKER_CPU]) ||
           (b->spec.gpu >= 0 && h->workers[PS_WORKER_GPU]);
}

ps_status ps_heteroprio_push(ps_heteroprio *h, int bucket_number, const ps_ready_task *task)
{
    if (bucket_number < 0 || bucket_number >= h->bucket_count)
        return ps_fail(PS_USAGE, "a task for bucket %d of %d", bucket_number, h->bucket_count);
    bucket *b = &h->buckets[bucket_number];
    if (!has_taker(h, b))
        return ps_fail(PS_USAGE, "no worker here takes tasks of bucket %d", bucket_number);
    ring *r = &b->rings[task->place % h->places];
    if (r->count == r->capacity) PS_TRY(make_room(r));
    ps_ready_task ready = *task;
    ready.gpu_seconds = finite_or_zero(ready.gpu_seconds);
    r->items[(r->head + r->count) & (r->capacity - 1)] = (item){ready, h->sequence++};
    ++r->count;
    ++b->count;
    ++h->waiting;
    b->gpu_seconds += ready.gpu_seconds;
    b->pushed[PS_WORKER_CPU] += ready.cpu_seconds;
    b->pushed[PS_WORKER_GPU] += ready.gpu_seconds;
    return PS_OK;
}

/* ---- pop ---- */

static const item *head_of(const ring *r) { return &r->items[r->head]; }

/* The ring whose first task a worker takes: its own place's, otherwise the one with the oldest. The
 * bucket is not empty. */
static ring *ring_for(const ps_heteroprio *h, const bucket *b, int place)
{
    ring *best = NULL;
    if (place >= 0 && b->rings[place].count) return &b->rings[place];
    for (int r = 0; r < h->places; ++r)
        if (b->rings[r].count &&
            (!best || head_of(&b->rings[r])->sequence < head_of(best)->sequence))
            best = &b->rings[r];
    return best;
}

static double speedup(const bucket *b)
{
    double s = b->spec.speedup;
    if (!(s > 0)) s = b->pushed[PS_WORKER_CPU] / b->pushed[PS_WORKER_GPU];
    return s * b->factor[PS_WORKER_CPU] / b->factor[PS_WORKER_GPU];
}

/* The speedup of all tasks of a kind together, of those that CPU workers take, too; INFINITY if
 * they take none. */
static double kind_speedup(const ps_heteroprio *h, int kind)
{
    double cpu = 0, gpu = 0;
    bool alone = false;
    for (int i = 0; i < h->bucket_count; ++i) {
        const bucket *b = &h->buckets[i];
        if (b->spec.kind != kind || b->spec.gpu < 0 || !(b->pushed[PS_WORKER_GPU] > 0)) continue;
        alone = alone || b->spec.cpu < 0;
        if (b->spec.cpu < 0) continue;
        cpu += b->pushed[PS_WORKER_GPU] * speedup(b);
        gpu += b->pushed[PS_WORKER_GPU];
    }
    if (gpu > 0) return cpu / gpu;
    return alone ? INFINITY : 0;
}

/* Whether a rule counts what waits in `other` where a task of b is asked for. */
static bool counts(const ps_heteroprio *h, const bucket *b, const bucket *other)
{
    switch (h->termination) {
    case PS_TERMINATION_BALANCE:
        return true;
    case PS_TERMINATION_BACKLOG:
        return other->spec.gpu <= b->spec.gpu;
    default:
        return other->spec.kind == b->spec.kind;
    }
}

/* Number, or GPU seconds, of the waiting tasks of the buckets that a rule counts for bucket b. */
static double in_scope(const ps_heteroprio *h, const bucket *b, bool seconds)
{
    double sum = 0;
    for (int i = 0; i < h->polled[PS_WORKER_GPU]; ++i) {
        const bucket *other = &h->buckets[h->order[PS_WORKER_GPU][i]];
        if (!counts(h, b, other)) continue;
        sum += seconds ? other->gpu_seconds * other->factor[PS_WORKER_GPU] : (double)other->count;
    }
    return sum;
}

/* Whether CPU workers, with all that is for them alone, what they took beside it and `more`
 * (seconds by kinds of worker), are done no later than the GPUs with the rest of all that is
 * expected. */
static bool keeps_balance(const ps_heteroprio *h, const double more[PS_WORKER_KINDS])
{
    double cpu = more[PS_WORKER_CPU], gpu = -more[PS_WORKER_GPU];
    for (int i = 0; i < h->bucket_count; ++i) {
        const bucket *other = &h->buckets[i];
        if (other->spec.gpu < 0) {
            cpu += other->expected_seconds[PS_WORKER_CPU] * other->scale[PS_WORKER_CPU];
            continue;
        }
        cpu += other->by_cpu[PS_WORKER_CPU] * other->scale[PS_WORKER_CPU];
        gpu += (other->expected_seconds[PS_WORKER_GPU] - other->by_cpu[PS_WORKER_GPU]) *
               other->scale[PS_WORKER_GPU];
    }
    return cpu * h->workers[PS_WORKER_GPU] <= gpu * h->workers[PS_WORKER_CPU];
}

static bool first_keeps_balance(const ps_heteroprio *h, const bucket *b)
{
    const ps_ready_task *first = &head_of(ring_for(h, b, -1))->ready;
    double more[PS_WORKER_KINDS] = {first->cpu_seconds * b->scale[PS_WORKER_CPU],
                                    first->gpu_seconds * b->scale[PS_WORKER_GPU]};
    return keeps_balance(h, more);
}

/* Whether CPU workers have time for all that is left of b's kind. */
static bool kind_keeps_balance(const ps_heteroprio *h, const bucket *b)
{
    double more[PS_WORKER_KINDS] = {0};
    for (int i = 0; i < h->bucket_count; ++i) {
        const bucket *other = &h->buckets[i];
        for (int w = 0; w < PS_WORKER_KINDS && other->spec.kind == b->spec.kind; ++w)
            more[w] += (other->expected_seconds[w] - other->taken[w]) * other->scale[w];
    }
    return keeps_balance(h, more);
}

/* Whether a CPU worker may take the first task of b. */
static bool may_take(const ps_heteroprio *h, const bucket *b)
{
    double gpus = h->workers[PS_WORKER_GPU];
    if (gpus == 0 || b->spec.gpu < 0) return true;
    double own = head_of(ring_for(h, b, -1))->ready.cpu_seconds * b->factor[PS_WORKER_CPU];
    switch (h->termination) {
    case PS_TERMINATION_BUCKET:
        return (double)b->count >= speedup(b) * gpus;
    case PS_TERMINATION_KIND:
        return in_scope(h, b, false) >= speedup(b) * gpus;
    case PS_TERMINATION_TIME:
        return in_scope(h, b, true) >= own * gpus;
    case PS_TERMINATION_BACKLOG:
        return in_scope(h, b, true) >= MARGIN * own * gpus;
    case PS_TERMINATION_BALANCE:
        return in_scope(h, b, true) >= MARGIN * own * gpus && first_keeps_balance(h, b);
    default:
        return true;
    }
}

/* Whether something waits that GPUs poll later though they are better at it. */
static bool has_better(const ps_heteroprio *h, const bucket *b)
{
    double own = kind_speedup(h, b->spec.kind);
    for (int i = h->polled[PS_WORKER_GPU] - 1; i >= 0; --i) {
        const bucket *other = &h->buckets[h->order[PS_WORKER_GPU][i]];
        if (other->spec.gpu <= b->spec.gpu) break;
        if (other->count && other->spec.kind != b->spec.kind &&
            kind_speedup(h, other->spec.kind) > own)
            return true;
    }
    return false;
}

/* Whether a GPU worker leaves the tasks of b to CPU workers, which may take them yet. */
static bool leaves(const ps_heteroprio *h, const bucket *b)
{
    return h->termination == PS_TERMINATION_BALANCE && h->workers[PS_WORKER_CPU] &&
           b->spec.cpu >= 0 && has_better(h, b) && kind_keeps_balance(h, b) && may_take(h, b);
}

static bool is_older(const ps_heteroprio *h, const bucket *a, const bucket *b, int place)
{
    return head_of(ring_for(h, a, place))->sequence < head_of(ring_for(h, b, place))->sequence;
}

/* Tasks whose forecasts for a GPU are within these. */
typedef struct length {
    double least, most; /* s */
} length;
static const length any_length = {-INFINITY, INFINITY};

/* Whether the first task for a place takes a GPU so long. */
static bool is_of_length(const ps_heteroprio *h, const bucket *b, int place, length wanted)
{
    double seconds = head_of(ring_for(h, b, place))->ready.gpu_seconds;
    return seconds >= wanted.least && seconds < wanted.most;
}

/* The bucket that a worker of this kind takes from, of those with tasks for a place (-1: of all),
 * with first tasks of a length; NULL: none. Without priorities all buckets are one queue, as are
 * those of equal priority. */
static bucket *choose(const ps_heteroprio *h, ps_worker_kind kind, int place, length wanted)
{
    const bucket *best = NULL;
    bool eager = h->policy == PS_SCHEDULE_EAGER;
    for (int i = 0; i < h->polled[kind]; ++i) {
        const bucket *b = &h->buckets[h->order[kind][i]];
        if ((place < 0 ? b->count : b->rings[place].count) == 0) continue;
        if (!is_of_length(h, b, place, wanted)) continue;
        if (best && !eager && priority(b, kind) != priority(best, kind)) break;
        if (best && !is_older(h, b, best, place)) continue;
        if (eager || (kind == PS_WORKER_GPU ? !leaves(h, b) : may_take(h, b))) best = b;
    }
    return (bucket *)best;
}

/* Takes the first task for a place out of a bucket. */
static int64_t take(ps_heteroprio *h, bucket *b, ps_worker_kind kind, int place)
{
    ring *r = ring_for(h, b, place);
    ps_ready_task ready = head_of(r)->ready;
    r->head = (r->head + 1) & (r->capacity - 1);
    --r->count;
    --b->count;
    --h->waiting;
    b->gpu_seconds = b->count ? b->gpu_seconds - ready.gpu_seconds : 0;
    double *by_kind[] = {b->taken, b->by_cpu};
    for (int i = 0; i < (kind == PS_WORKER_CPU ? 2 : 1); ++i) {
        by_kind[i][PS_WORKER_CPU] += finite_or_zero(ready.cpu_seconds);
        by_kind[i][PS_WORKER_GPU] += ready.gpu_seconds;
    }
    return ready.task;
}

int64_t ps_heteroprio_pop(ps_heteroprio *h, ps_worker_kind kind, int place)
{
    if (h->places == 1) place = -1;
    bucket *b = h->waiting ? choose(h, kind, place, any_length) : NULL;
    if (h->waiting && !b && place >= 0) b = choose(h, kind, -1, any_length);
    return b ? take(h, b, kind, place) : -1;
}

int64_t ps_heteroprio_pop_between(ps_heteroprio *h, int place, double least, double most)
{
    if (h->places == 1) place = -1;
    bucket *b = h->waiting ? choose(h, PS_WORKER_GPU, place, (length){least, most}) : NULL;
    return b ? take(h, b, PS_WORKER_GPU, place) : -1;
}

double ps_heteroprio_gpu_backlog(const ps_heteroprio *h)
{
    double seconds = 0;
    for (int i = 0; i < h->polled[PS_WORKER_GPU]; ++i)
        seconds += h->buckets[h->order[PS_WORKER_GPU][i]].gpu_seconds;
    return seconds;
}

bool ps_heteroprio_has(const ps_heteroprio *h, ps_worker_kind kind)
{
    return h->waiting && choose(h, kind, -1, any_length);
}

int64_t ps_heteroprio_waiting(const ps_heteroprio *h) { return h->waiting; }

/* ---- calibration ---- */

void ps_heteroprio_observe(ps_heteroprio *h, int bucket_number, ps_worker_kind kind,
                           double forecast, double seconds)
{
    bucket *b = &h->buckets[bucket_number];
    if (!(forecast > 0) || !isfinite(forecast)) return;
    b->expected[kind] += forecast;
    b->observed[kind] += seconds;
}

/* Forecasts and seconds of one kind, by kinds of worker. */
typedef struct kind_sums {
    double expected[PS_WORKER_KINDS], observed[PS_WORKER_KINDS]; /* of tasks that were observed  */
    double all[PS_WORKER_KINDS];                                 /* forecasts of all expected    */
} kind_sums;

static kind_sums sums_of(const ps_heteroprio *h, int kind)
{
    kind_sums sums = {0};
    for (int b = 0; b < h->bucket_count; ++b)
        for (int w = 0; w < PS_WORKER_KINDS && h->buckets[b].spec.kind == kind; ++w) {
            sums.expected[w] += h->buckets[b].expected[w];
            sums.observed[w] += h->buckets[b].observed[w];
            sums.all[w] += h->buckets[b].expected_seconds[w];
        }
    return sums;
}

/* The scales of the buckets of one kind, of workers that have done a good part of it (first come
 * the upper levels, which say little of the others), and their factors, from all observations. */
static void calibrate_kind(ps_heteroprio *h, int kind)
{
    enum { PART = 16 };
    kind_sums sums = sums_of(h, kind);
    bool both = sums.observed[PS_WORKER_CPU] > 0 && sums.observed[PS_WORKER_GPU] > 0;
    for (int b = 0; b < h->bucket_count; ++b)
        for (int w = 0; w < PS_WORKER_KINDS && h->buckets[b].spec.kind == kind; ++w) {
            double ratio = sums.observed[w] / sums.expected[w];
            if (sums.observed[w] > 0 && PART * sums.expected[w] >= sums.all[w])
                h->buckets[b].scale[w] = ratio;
            if (both) h->buckets[b].factor[w] = ratio;
        }
}

/* Insertion sort of the GPU order by the speedup of the kinds: it is stable and the order short. */
static void order_by_speedup(ps_heteroprio *h)
{
    double key[PS_BUCKETS_MAX];
    int *order = h->order[PS_WORKER_GPU], n = h->polled[PS_WORKER_GPU];
    for (int b = 0; b < h->bucket_count; ++b) key[b] = kind_speedup(h, h->buckets[b].spec.kind);
    for (int i = 1; i < n; ++i) {
        int moved = order[i], at = i;
        for (; at > 0 && key[moved] > key[order[at - 1]]; --at) order[at] = order[at - 1];
        order[at] = moved;
    }
    for (int i = 0; i < n; ++i) h->buckets[order[i]].spec.gpu = i;
}

void ps_heteroprio_calibrate(ps_heteroprio *h)
{
    for (int b = 0; b < h->bucket_count; ++b) {
        bool first = true;
        for (int before = 0; before < b && first; ++before)
            first = h->buckets[before].spec.kind != h->buckets[b].spec.kind;
        if (first) calibrate_kind(h, h->buckets[b].spec.kind);
    }
    if (!h->keep_order) order_by_speedup(h);
}

double ps_heteroprio_speedup(const ps_heteroprio *h, int bucket_number)
{
    return speedup(&h->buckets[bucket_number]);
}

int ps_heteroprio_order(const ps_heteroprio *h, ps_worker_kind kind, int *out)
{
    memcpy(out, h->order[kind], (size_t)h->polled[kind] * sizeof *out);
    return h->polled[kind];
}
