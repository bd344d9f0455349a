#include "kernels/common/radix_sort.h"

#include <omp.h>
#include <string.h>

#include "kernels/common/digit_places.h"

enum { THREADS_MAX = 32 };

typedef struct pass {
    const uint64_t *keys;
    const int32_t *items;
    uint64_t *keys_out;
    int32_t *items_out;
    int64_t count;
    int shift;
    int64_t place[THREADS_MAX][PS_DIGITS];
} pass;

static int digit(uint64_t key, int shift) { return (int)(key >> shift) & (PS_DIGITS - 1); }

/* Returns whether anything was moved to the output arrays. */
static bool run_pass(pass *p)
{
    bool moved = false;
    int wanted = p->count < PS_DIGITS_SERIAL_BELOW ? 1 : omp_get_max_threads();
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
        moved = ps_digit_places(p->place, PS_DIGITS, threads, p->count);
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
    for (; p.shift < bits && count > 1; p.shift += PS_DIGIT_BITS) {
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
