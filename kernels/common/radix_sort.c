#include "kernels/common/radix_sort.h"

#include <omp.h>
#include <stdbool.h>
#include <string.h>

enum { DIGIT_BITS = 8, BUCKETS = 1 << DIGIT_BITS, THREADS_MAX = 32, SERIAL_BELOW = 1 << 14 };

typedef struct pass {
    const uint64_t *keys;
    const int32_t *items;
    uint64_t *keys_out;
    int32_t *items_out;
    int64_t count;
    int shift;
    int64_t place[THREADS_MAX][BUCKETS];
} pass;

static int digit(uint64_t key, int shift) { return (int)(key >> shift) & (BUCKETS - 1); }

/* Counts become first places: bucket by bucket, thread by thread, which keeps the sort stable.
 * False if all keys share one digit. */
static bool counts_to_places(pass *p, int threads)
{
    int64_t place = 0;
    for (int b = 0; b < BUCKETS; ++b) {
        int64_t before = place;
        for (int t = 0; t < threads; ++t) {
            int64_t here = p->place[t][b];
            p->place[t][b] = place;
            place += here;
        }
        if (place - before == p->count) return false;
    }
    return true;
}

/* Returns whether anything was moved to the output arrays. */
static bool run_pass(pass *p)
{
    bool moved = false;
    int wanted = p->count < SERIAL_BELOW ? 1 : omp_get_max_threads();
    if (wanted > THREADS_MAX) wanted = THREADS_MAX;
#pragma omp parallel num_threads(wanted)
    {
        int t = omp_get_thread_num(), threads = omp_get_num_threads();
        int64_t first = p->count * t / threads, end = p->count * (t + 1) / threads;
        int64_t *place = p->place[t];
        memset(place, 0, sizeof p->place[t]);
        for (int64_t i = first; i < end; ++i) ++place[digit(p->keys[i], p->shift)];
#pragma omp barrier
#pragma omp single
        moved = counts_to_places(p, threads);
        for (int64_t i = first; moved && i < end; ++i) {
            int64_t to = place[digit(p->keys[i], p->shift)]++;
            p->keys_out[to] = p->keys[i];
            p->items_out[to] = p->items[i];
        }
    }
    return moved;
}

void ps_radix_sort(uint64_t *keys, int32_t *items, int64_t count, int bits, uint64_t *keys_scratch,
                   int32_t *items_scratch)
{
    pass p = {keys, items, keys_scratch, items_scratch, count, 0, {{0}}};
    for (; p.shift < bits && count > 1; p.shift += DIGIT_BITS) {
        if (!run_pass(&p)) continue;
        uint64_t *keys_done = p.keys_out;
        int32_t *items_done = p.items_out;
        p.keys_out = p.keys == keys ? keys : keys_scratch;
        p.items_out = p.items == items ? items : items_scratch;
        p.keys = keys_done;
        p.items = items_done;
    }
    if (p.keys == keys || count < 1) return;
    memcpy(keys, p.keys, (size_t)count * sizeof *keys);
    memcpy(items, p.items, (size_t)count * sizeof *items);
}
