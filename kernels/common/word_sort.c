#include "kernels/common/word_sort.h"

#include <omp.h>
#include <string.h>

#include "kernels/common/digit_places.h"

enum { THREADS_MAX = 64 };

typedef struct pass {
    const uint64_t *in;
    uint64_t *out;
    int64_t count;
    int shift, bits;
    int64_t place[THREADS_MAX][PS_DIGITS];
} pass;

static inline __attribute__((always_inline)) void count_digits(pass *p, int width, int thread,
                                                               int64_t first, int64_t end)
{
    int64_t *place = p->place[thread];
    uint64_t mask = ((uint64_t)1 << p->bits) - 1;
    memset(place, 0, sizeof p->place[thread]);
    for (int64_t i = first; i < end; ++i) ++place[p->in[i * width] >> p->shift & mask];
}

static inline __attribute__((always_inline)) void move_items(pass *p, int width, int thread,
                                                             int64_t first, int64_t end)
{
    int64_t *place = p->place[thread];
    uint64_t mask = ((uint64_t)1 << p->bits) - 1;
    for (int64_t i = first; i < end; ++i) {
        int64_t to = place[p->in[i * width] >> p->shift & mask]++;
        for (int w = 0; w < width; ++w) p->out[to * width + w] = p->in[i * width + w];
    }
}

/* Returns whether anything was moved to the output. */
static inline __attribute__((always_inline)) bool run_pass(pass *p, int width)
{
    bool moved = false;
    int wanted = p->count < PS_DIGITS_SERIAL_BELOW ? 1 : omp_get_max_threads();
    if (wanted > THREADS_MAX) wanted = THREADS_MAX;
#pragma omp parallel num_threads(wanted)
    {
        int t = omp_get_thread_num(), threads = omp_get_num_threads();
        int64_t first = p->count * t / threads, end = p->count * (t + 1) / threads;
        count_digits(p, width, t, first, end);
#pragma omp barrier
#pragma omp single
        moved = ps_digit_places(p->place, 1 << p->bits, threads, p->count);
        if (moved) move_items(p, width, t, first, end);
    }
    return moved;
}

uint64_t *ps_word_sort(uint64_t *items, int64_t count, int width, int shift, int bits,
                       uint64_t *scratch)
{
    pass p = {.in = items, .out = scratch, .count = count, .shift = shift};
    int passes = (bits + PS_DIGIT_BITS - 1) / PS_DIGIT_BITS;
    for (int left = passes; left > 0 && count > 1; --left) {
        int done = p.shift - shift;
        p.bits = (bits - done + left - 1) / left;
        bool moved = width == 1 ? run_pass(&p, 1) : run_pass(&p, 2);
        p.shift += p.bits;
        if (!moved) continue;
        uint64_t *sorted = p.out;
        p.out = sorted == items ? scratch : items;
        p.in = sorted;
    }
    return p.in == items ? items : scratch;
}
