/* growth_host: the engine of kernels/fmm/adaptive_growth.h on the host: each step index by index.
 */
#ifndef PS_TESTS_SUPPORT_GROWTH_HOST_H
#define PS_TESTS_SUPPORT_GROWTH_HOST_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/word_sort.h"
#include "kernels/fmm/adaptive_growth.h"

#undef KERNEL_INLINE
#define KERNEL_INLINE static inline
#define GROWTH_ADD(to, value) (*(to) += (value))
#include "kernels/fmm/adaptive_growth_body.h"
#include "runtime/scope.h"

typedef struct growth_host {
    void *memory[256];
    int used;
} growth_host;

static inline ps_status growth_host_each(void *self, ps_growth_step step,
                                         const ps_growth_arrays *arrays, int64_t count)
{
    for (int64_t i = count - 1; i >= 0; --i) growth_step(step, arrays, i); /* in any order */
    return PS_OK;
}

static inline ps_status growth_host_scan(void *self, const int32_t *from, int32_t *to,
                                         int64_t count)
{
    int32_t sum = 0;
    for (int64_t i = 0; i < count; ++i) {
        int32_t here = from[i];
        to[i] = sum;
        sum += here;
    }
    return PS_OK;
}

static inline ps_status growth_host_sort(void *self, uint64_t **labels, int32_t **numbers,
                                         int64_t count, int bits)
{
    PS_SCOPED_MEMORY uint64_t *words = malloc((size_t)count * 32);
    for (int64_t i = 0; i < count; ++i) {
        words[2 * i] = (*labels)[i];
        words[2 * i + 1] = (uint64_t)(*numbers)[i];
    }
    uint64_t *sorted = ps_word_sort(words, count, 2, 0, bits, words + 2 * count);
    for (int64_t i = 0; i < count; ++i) {
        (*labels)[i] = sorted[2 * i];
        (*numbers)[i] = (int32_t)sorted[2 * i + 1];
    }
    return PS_OK;
}

static inline ps_status growth_host_zero(void *self, void *at, int64_t bytes)
{
    memset(at, 0, (size_t)bytes);
    return PS_OK;
}

static inline ps_status growth_host_take(void *self, void *host, const void *from, int64_t bytes)
{
    memcpy(host, from, (size_t)bytes);
    return PS_OK;
}

static inline ps_status growth_host_give(void *self, void *to, const void *host, int64_t bytes)
{
    memcpy(to, host, (size_t)bytes);
    return PS_OK;
}

/* Filled with what no number should be. */
static inline ps_status growth_host_room(void *self, int64_t bytes, void **out)
{
    growth_host *h = self;
    *out = h->used < 256 ? malloc((size_t)bytes + 1) : NULL;
    if (!*out) return ps_fail(PS_EXHAUSTED, "no memory");
    memset(*out, 0xa5, (size_t)bytes);
    h->memory[h->used++] = *out;
    return PS_OK;
}

static inline ps_growth_engine growth_host_engine(growth_host *h)
{
    *h = (growth_host){{NULL}, 0};
    return (ps_growth_engine){h,
                              growth_host_each,
                              growth_host_scan,
                              growth_host_sort,
                              growth_host_zero,
                              growth_host_take,
                              growth_host_give,
                              growth_host_room};
}

static inline void growth_host_release(growth_host *h)
{
    for (int i = 0; i < h->used; ++i) free(h->memory[i]);
}

#endif
