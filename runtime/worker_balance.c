#include "runtime/worker_balance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"
#include "runtime/search.h"

enum { PATIENCE = 8 }; /* iterations without a better one before the step is halved */

struct ps_worker_balance {
    int workers;
    int64_t items, iterations, done;
    bool settled, plain;
    double best;                 /* smallest largest time so far */
    double step;                 /* part of the rule's change that is made */
    int64_t since_best;          /* iterations without a better one, or since the last halving */
    double *best_seconds;        /* [workers] of that iteration */
    int64_t *first, *best_first; /* [workers + 1] bounds: current, and those of `best` */
    int64_t *count, *cap;        /* [workers] being worked out; cap: in items */
    double *wish;                /* [workers] items by the rule, not whole */
    bool *held;                  /* [workers] bounded already */
    int64_t *item_caps;          /* [workers]; `items` where there is none */
    int64_t *byte_caps;          /* [workers], 0: none; NULL: no bytes known */
    int64_t *bytes_before;       /* [items + 1] prefix sums */
};

/* ---- whole numbers from wishes ---- */

static int64_t least_items(const ps_worker_balance *b) { return b->items >= b->workers; }

/* The scaled wish of worker i brought within its bounds. */
static double within_bounds(const ps_worker_balance *b, int i, double scale)
{
    return fmin(fmax(b->wish[i] * scale, (double)least_items(b)), (double)b->cap[i]);
}

/* Holds at their bound free workers whose scaled wish lies beyond: those below if all bounds
 * together would add items, those above if they would take some. True if there was one. */
static bool hold_those_beyond(ps_worker_balance *b, double scale)
{
    double added = 0;
    bool any = false;
    for (int i = 0; i < b->workers; ++i)
        if (!b->held[i]) added += within_bounds(b, i, scale) - b->wish[i] * scale;
    for (int i = 0; i < b->workers; ++i) {
        double bound = within_bounds(b, i, scale), change = bound - b->wish[i] * scale;
        if (b->held[i] || change == 0 || change * added < 0) continue;
        b->wish[i] = bound;
        b->held[i] = any = true;
    }
    return any;
}

/* What the wishes of the free workers are multiplied by so that all wishes sum up to the items. */
static double free_scale(const ps_worker_balance *b)
{
    double free_sum = 0, left = (double)b->items;
    for (int i = 0; i < b->workers; ++i) {
        if (b->held[i])
            left -= b->wish[i];
        else
            free_sum += b->wish[i];
    }
    return free_sum > 0 ? fmax(0, left / free_sum) : 0;
}

/* Brings the wishes to the bounds and to the right sum, bounds first. At most W rounds, as each
 * holds a worker. */
static void bound_wishes(ps_worker_balance *b)
{
    double scale;
    memset(b->held, 0, (size_t)b->workers * sizeof *b->held);
    do {
        scale = free_scale(b);
    } while (hold_those_beyond(b, scale));
    for (int i = 0; i < b->workers; ++i)
        if (!b->held[i]) b->wish[i] *= scale;
}

/* The worker that gets the next item left over: largest remainder, then room, then the first. */
static int neediest(const ps_worker_balance *b)
{
    int found = -1;
    double most = -INFINITY;
    for (int i = 0; i < b->workers; ++i) {
        double rest = b->wish[i] - (double)b->count[i];
        if (b->count[i] >= b->cap[i] || rest <= most) continue;
        most = rest;
        found = i;
    }
    return found;
}

static int64_t sum_of(const int64_t *values, int count)
{
    int64_t sum = 0;
    for (int i = 0; i < count; ++i) sum += values[i];
    return sum;
}

/* Rounds down and deals out the rest. */
static void round_wishes(ps_worker_balance *b)
{
    for (int i = 0; i < b->workers; ++i) b->count[i] = (int64_t)floor(b->wish[i]);
    for (int64_t left = b->items - sum_of(b->count, b->workers); left > 0; --left) {
        int i = neediest(b);
        ++b->count[i < 0 ? b->workers - 1 : i];
    }
}

/* ---- caps ---- */

/* Items from `begin` on that weigh at most `bytes` together. */
static int64_t items_that_fit(const ps_worker_balance *b, int64_t begin, int64_t bytes)
{
    int64_t beyond; /* the first end that is too far */
    PS_LOWER_BOUND(beyond, begin + 1, b->items + 1, at,
                   b->bytes_before[at] - b->bytes_before[begin] <= bytes);
    return beyond - 1 - begin;
}

/* Lowers the cap of the first worker whose items weigh too much where they now lie; true if there
 * is one. */
static bool lower_a_cap(ps_worker_balance *b)
{
    int64_t begin = 0, least = least_items(b);
    for (int i = 0; i < b->workers; begin += b->count[i++]) {
        if (!b->byte_caps || !b->byte_caps[i] || b->count[i] <= least) continue;
        int64_t fit = items_that_fit(b, begin, b->byte_caps[i]);
        if (fit >= b->count[i]) continue;
        b->cap[i] = fit > least ? fit : least;
        return true;
    }
    return false;
}

static bool caps_take_all(const ps_worker_balance *b)
{
    int64_t left = b->items;
    for (int i = 0; i < b->workers && left > 0; ++i) left -= b->cap[i] < left ? b->cap[i] : left;
    return left <= 0;
}

static void drop_caps(ps_worker_balance *b)
{
    for (int i = 0; i < b->workers; ++i) b->cap[i] = b->items;
}

/* New bounds from the rule's wishes target(i). The wishes are set anew in each round, as the
 * bounds change them; a round lowers a cap, so there is an end. */
static void assign(ps_worker_balance *b, const double *target)
{
    memcpy(b->cap, b->item_caps, (size_t)b->workers * sizeof *b->cap);
    bool bytes = true;
    do {
        if (!caps_take_all(b)) {
            drop_caps(b);
            bytes = false;
        }
        memcpy(b->wish, target, (size_t)b->workers * sizeof *b->wish);
        bound_wishes(b);
        round_wishes(b);
    } while (bytes && lower_a_cap(b));
    for (int i = 0; i < b->workers; ++i) b->first[i + 1] = b->first[i] + b->count[i];
}

/* ---- the rule ---- */

/* The times of the iteration: their mean and largest; false if there is none to speak of. */
static bool summarise(const ps_worker_balance *b, const double *seconds, double *mean,
                      double *largest)
{
    double sum = 0;
    *largest = 0;
    for (int i = 0; i < b->workers; ++i) {
        sum += seconds[i];
        *largest = fmax(*largest, seconds[i]);
    }
    *mean = sum / b->workers;
    return *mean > 0;
}

/* target[i] = s_i - r_i or s_i + o_i (sum r)/(sum o), or a part of the way there. A time of 0
 * counts as a thousandth of the mean, or its worker would get all. */
static void apply_rule(const ps_worker_balance *b, const double *seconds, double *target)
{
    double removed = 0, given = 0, mean, largest;
    summarise(b, seconds, &mean, &largest);
    for (int i = 0; i < b->workers; ++i) {
        double items = (double)(b->first[i + 1] - b->first[i]);
        double time = fmax(seconds[i], 1e-3 * mean);
        target[i] = (time - mean) * items / time; /* r_i, or -o_i */
        if (target[i] > 0)
            removed += target[i];
        else
            given -= target[i];
    }
    double share = given > 0 ? removed / given : 0;
    for (int i = 0; i < b->workers; ++i) {
        double items = (double)(b->first[i + 1] - b->first[i]);
        target[i] = items - b->step * (target[i] > 0 ? target[i] : target[i] * share);
    }
}

/* One item from the slowest to the fastest that can take it. */
static void nudge(ps_worker_balance *b, const double *seconds)
{
    int slow = -1, fast = -1;
    for (int i = 0; i < b->workers; ++i) {
        int64_t count = b->first[i + 1] - b->first[i];
        if (count > 1 && (slow < 0 || seconds[i] > seconds[slow])) slow = i;
        if (count < b->cap[i] && (fast < 0 || seconds[i] < seconds[fast])) fast = i;
    }
    if (slow < 0 || fast < 0 || seconds[fast] >= seconds[slow]) return;
    int from = slow < fast ? slow : fast, to = slow < fast ? fast : slow;
    for (int i = from + 1; i <= to; ++i) b->first[i] += slow < fast ? -1 : 1;
}

/* Moves the intervals by the rule. */
static void move(ps_worker_balance *b, const double *seconds)
{
    double *target = b->wish + b->workers;
    int64_t *before = b->count + b->workers;
    size_t bounds = (size_t)(b->workers + 1) * sizeof *b->first;
    memcpy(before, b->first, bounds);
    apply_rule(b, seconds, target);
    assign(b, target);
    bool stuck = memcmp(before, b->first, bounds) == 0;
    if (stuck && !b->plain && !b->byte_caps) nudge(b, seconds);
}

static void note(ps_worker_balance *b, const double *seconds, double largest)
{
    ++b->since_best;
    if (largest >= b->best) return;
    b->best = largest;
    b->since_best = 0;
    memcpy(b->best_first, b->first, (size_t)(b->workers + 1) * sizeof *b->first);
    memcpy(b->best_seconds, seconds, (size_t)b->workers * sizeof *seconds);
}

static void go_back(ps_worker_balance *b)
{
    memcpy(b->first, b->best_first, (size_t)(b->workers + 1) * sizeof *b->first);
}

/* Back to the best intervals, to leave them by smaller steps; its seconds. */
static const double *try_smaller_steps(ps_worker_balance *b)
{
    b->step /= 2;
    b->since_best = 0;
    go_back(b);
    return b->best_seconds;
}

ps_status ps_worker_balance_update(ps_worker_balance *b, const double *seconds)
{
    double mean, largest;
    for (int i = 0; i < b->workers; ++i)
        if (!(seconds[i] >= 0 && isfinite(seconds[i])))
            return ps_fail(PS_USAGE, "worker %d is said to have taken %g seconds", i, seconds[i]);
    if (b->settled || !summarise(b, seconds, &mean, &largest)) return PS_OK;
    note(b, seconds, largest);
    if (++b->done == b->iterations) {
        go_back(b);
        b->settled = true;
    } else if (b->items >= b->workers) {
        bool lost = !b->plain && b->since_best == PATIENCE;
        move(b, lost ? try_smaller_steps(b) : seconds);
    }
    return PS_OK;
}

/* ---- opening ---- */

static ps_status check_config(const ps_worker_balance_config *config)
{
    bool bad = config->workers < 1 || config->items < 0 || config->iterations < 0 ||
               (config->byte_caps && !config->item_bytes);
    for (int i = 0; i < config->workers && !bad; ++i)
        bad = (config->item_caps && config->item_caps[i] < 0) ||
              (config->byte_caps && config->byte_caps[i] < 0);
    for (int64_t k = 0; k < config->items && !bad && config->byte_caps; ++k)
        bad = config->item_bytes[k] < 0;
    if (!bad) return PS_OK;
    return ps_fail(PS_USAGE,
                   "a balance of %d workers over %lld items and %lld iterations: one of these or a "
                   "cap is out of range",
                   config->workers, (long long)config->items, (long long)config->iterations);
}

static ps_status allocate(ps_worker_balance *b, const ps_worker_balance_config *config)
{
    static const char what[] = "the balance of workers";
    int workers = config->workers;
    PS_TRY(PS_ALLOC(&b->first, workers + 1, what));
    PS_TRY(PS_ALLOC(&b->best_first, workers + 1, what));
    PS_TRY(PS_ALLOC(&b->best_seconds, workers, what));
    PS_TRY(PS_ALLOC(&b->count, 2 * workers + 1, what)); /* and the bounds before */
    PS_TRY(PS_ALLOC(&b->cap, workers, what));
    PS_TRY(PS_ALLOC(&b->wish, 2 * workers, what)); /* and the targets of the rule */
    PS_TRY(PS_ALLOC(&b->held, workers, what));
    PS_TRY(PS_ALLOC(&b->item_caps, workers, what));
    if (!config->byte_caps) return PS_OK;
    PS_TRY(PS_ALLOC(&b->byte_caps, workers, what));
    return PS_ALLOC(&b->bytes_before, config->items + 1, what);
}

static void take_caps(ps_worker_balance *b, const ps_worker_balance_config *config)
{
    for (int i = 0; i < b->workers; ++i) {
        int64_t cap = config->item_caps ? config->item_caps[i] : 0;
        b->item_caps[i] = cap > 0 && cap < b->items ? cap : b->items;
    }
    if (!config->byte_caps) return;
    memcpy(b->byte_caps, config->byte_caps, (size_t)b->workers * sizeof *b->byte_caps);
    for (int64_t k = 0; k < b->items; ++k)
        b->bytes_before[k + 1] = b->bytes_before[k] + config->item_bytes[k];
}

static void start_equal(ps_worker_balance *b)
{
    double *target = b->wish + b->workers;
    for (int i = 0; i < b->workers; ++i) target[i] = (double)b->items / b->workers;
    assign(b, target);
    memcpy(b->best_first, b->first, (size_t)(b->workers + 1) * sizeof *b->first);
}

ps_status ps_worker_balance_open(const ps_worker_balance_config *config, ps_worker_balance **out)
{
    ps_worker_balance *b;
    *out = NULL;
    PS_TRY(check_config(config));
    PS_TRY(PS_ALLOC(&b, 1, "the balance of workers"));
    ps_status status = allocate(b, config);
    if (status != PS_OK) {
        ps_worker_balance_close(&b);
        return status;
    }
    b->workers = config->workers;
    b->items = config->items;
    b->iterations = config->iterations;
    b->best = INFINITY;
    b->settled = config->iterations == 0;
    b->plain = config->plain;
    b->step = 1;
    take_caps(b, config);
    start_equal(b);
    *out = b;
    return PS_OK;
}

void ps_worker_balance_close(ps_worker_balance **balance)
{
    ps_worker_balance *b = *balance;
    if (!b) return;
    void *const owned[] = {b->first, b->best_first, b->count,     b->cap,          b->wish,
                           b->held,  b->item_caps,  b->byte_caps, b->bytes_before, b->best_seconds};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i) free(owned[i]);
    free(b);
    *balance = NULL;
}

/* ---- asking ---- */

void ps_worker_balance_interval(const ps_worker_balance *b, int worker, int64_t *first,
                                int64_t *end)
{
    *first = b->first[worker];
    *end = b->first[worker + 1];
}

bool ps_worker_balance_settled(const ps_worker_balance *b) { return b->settled; }

ps_status ps_worker_balance_fix(ps_worker_balance *b, const int64_t *first)
{
    bool good = first[0] == 0 && first[b->workers] == b->items;
    for (int i = 0; i < b->workers && good; ++i) good = first[i] <= first[i + 1];
    if (!good)
        return ps_fail(PS_USAGE, "the bounds of %d workers do not rise from 0 to %lld", b->workers,
                       (long long)b->items);
    memcpy(b->first, first, (size_t)(b->workers + 1) * sizeof *first);
    b->settled = true;
    return PS_OK;
}
