#include "runtime/balance.h"

#include "runtime/search.h"

/* The end of the longest interval that begins at `begin` and weighs at most `limit`. */
static int64_t reach(const int64_t *weights, int64_t begin, int64_t count, int64_t limit)
{
    int64_t sum = 0, end = begin;
    while (end < count && weights[end] <= limit - sum) sum += weights[end++];
    return end;
}

static int fits(const int64_t *weights, int64_t count, int parts, int64_t limit)
{
    int64_t begin = 0;
    for (int p = 0; p < parts && begin < count; ++p) begin = reach(weights, begin, count, limit);
    return begin == count;
}

static int64_t smallest_limit(const int64_t *weights, int64_t count, int parts, int64_t sum)
{
    int64_t limit; /* within sum / parts .. sum */
    PS_LOWER_BOUND(limit, sum / parts, sum, at, !fits(weights, count, parts, at));
    return limit;
}

/* first[p] = the earliest begin from which parts p .. parts-1 can still cover the rest. */
static void earliest_begins(const int64_t *weights, int64_t count, int parts, int64_t limit,
                            int64_t *first)
{
    int64_t begin = count;
    first[parts] = count;
    for (int p = parts - 1; p > 0; --p) {
        int64_t sum = 0;
        while (begin > 0 && weights[begin - 1] <= limit - sum) sum += weights[--begin];
        first[p] = begin;
    }
    first[0] = 0;
}

/* The end nearest to a fair share of what is left, not beyond `limit`, at least `earliest`. */
static int64_t fair_end(const int64_t *weights, int64_t begin, int64_t latest, int64_t earliest,
                        int64_t share)
{
    int64_t sum = 0, end = begin;
    while (end < latest && (end < earliest || share - sum >= weights[end] - (share - sum)))
        sum += weights[end++];
    return end;
}

void ps_split_equal(const int64_t *weights, int64_t count, int parts, int64_t *first)
{
    int64_t left = 0;
    for (int64_t i = 0; i < count; ++i) left += weights[i];
    int64_t limit = smallest_limit(weights, count, parts, left);
    earliest_begins(weights, count, parts, limit, first);
    for (int p = 0; p + 1 < parts; ++p) {
        int64_t latest = reach(weights, first[p], count, limit);
        first[p + 1] = fair_end(weights, first[p], latest, first[p + 1], left / (parts - p));
        for (int64_t i = first[p]; i < first[p + 1]; ++i) left -= weights[i];
    }
}
