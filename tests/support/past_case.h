/*
 * past_case: a window of the past on any device, filled group by group, against a plain history.
 */
#ifndef PS_TESTS_PAST_CASE_H
#define PS_TESTS_PAST_CASE_H

#include <stdlib.h>

#include "kernels/common/reals.h"
#include "kernels/tdbem/past_window.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { PAST_CASE_GROUPS = 40, PAST_CASE_K = 37, PAST_CASE_COLUMNS = 9 };

/* a_j at step n; exact in fp32. */
static inline double past_case_value(int64_t n, int64_t j)
{
    return n < 0 ? 0 : (double)((n * 7919 + j * 104729) % 65521 + 1);
}

/* All that products read: `steps` steps are done. */
static inline ps_status past_case_compare(const ps_past_window *w, const void *data, int64_t steps)
{
    for (int64_t j = 0; j < w->unknowns; ++j)
        for (int64_t t = -w->before; t < w->after; ++t) {
            double value = ps_real_at(w->precision, data, j * w->stride + w->origin + t);
            double expected = t < 0 ? past_case_value(steps + t, j) : 0;
            if (value != expected)
                return ps_fail(PS_FAILED, "after %lld steps, unknown %lld at %lld is %g, not %g",
                               (long long)steps, (long long)j, (long long)t, value, expected);
        }
    return PS_OK;
}

typedef struct past_case {
    ps_device *device;
    ps_stream *stream;
    ps_past_window window;
    void *recent, *host, *host_recent;
} past_case;

static inline ps_status past_case_group(past_case *c, int64_t *steps, int64_t count)
{
    ps_past_window *w = &c->window;
    for (int64_t i = 0; i < count * w->unknowns; ++i)
        ps_real_put(w->precision, c->host_recent, i,
                    past_case_value(*steps + i / w->unknowns, i % w->unknowns));
    PS_TRY(ps_copy_to_device(c->stream, c->recent, c->host_recent,
                             count * w->unknowns * ps_real_bytes(w->precision)));
    PS_TRY(ps_past_window_append_on(w, c->recent, count, c->stream));
    PS_TRY(ps_copy_to_host(c->stream, c->host, w->data, ps_past_window_bytes(w)));
    PS_TRY(ps_stream_wait(c->stream));
    return past_case_compare(w, c->host, *steps += count);
}

static inline ps_status past_case_open(past_case *c, const char *device, int64_t unknowns,
                                       int64_t group, ps_precision precision)
{
    ps_slice_header header = {.unknowns = unknowns, .k_max = PAST_CASE_K, .precision = precision};
    c->window = ps_past_window_shape(&header, PAST_CASE_COLUMNS, group);
    int64_t bytes = ps_past_window_bytes(&c->window), recent = group * unknowns * 8;
    PS_TRY(ps_device_open(device, 0, &c->device));
    PS_TRY(ps_stream_open(c->device, &c->stream));
    PS_TRY(ps_device_alloc(c->device, bytes, &c->window.data));
    PS_TRY(ps_device_alloc(c->device, recent, &c->recent));
    PS_TRY(ps_alloc(&c->host, bytes, 1, "a test"));
    PS_TRY(ps_alloc(&c->host_recent, recent, 1, "a test"));
    return ps_fill_zero(c->stream, c->window.data, bytes);
}

static inline void past_case_close(past_case *c)
{
    ps_device_free(c->device, c->window.data);
    ps_device_free(c->device, c->recent);
    ps_stream_close(&c->stream);
    ps_device_close(&c->device);
    PS_FREE(c->host, c->host_recent);
}

/* Marches through several slides; groups are whole ones, but for some short ones. */
static inline ps_status past_case_check(const char *device, int64_t unknowns, int64_t group,
                                        ps_precision precision)
{
    PS_SCOPED(past_case_close) past_case c = {0};
    int64_t steps = 0;
    PS_TRY(past_case_open(&c, device, unknowns, group, precision));
    for (int k = 0; k < PAST_CASE_GROUPS; ++k)
        PS_TRY(past_case_group(&c, &steps, k % 9 == 5 ? (group + 1) / 2 : group));
    return PS_OK;
}

#endif
