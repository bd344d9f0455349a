/*
 * window_checks: what must hold of a window of arrays on every device; run by
 * tests/runtime/test_device_window.c on the CPU and by tests/gpu/check_device.c on CUDA devices.
 */
#ifndef PS_TESTS_WINDOW_CHECKS_H
#define PS_TESTS_WINDOW_CHECKS_H

#include <stdlib.h>
#include <string.h>

#include "runtime/device_window.h"
#include "runtime/memory.h"

enum { WINDOW_RANGES = 40, WINDOW_ROW = 1000, WINDOW_FIXED_ROW = 7000 };

typedef struct window_check {
    int64_t bounds[WINDOW_RANGES + 1];
    char *host[2], *model; /* rows that change, rows that do not; what is expected of the first */
    int64_t needed[WINDOW_RANGES], done[WINDOW_RANGES]; /* calls of the source */
    ps_device *device;
    ps_stream *stream;
    ps_window *window;
} window_check;

static inline ps_status window_check_need(void *of, int64_t range)
{
    ++((window_check *)of)->needed[range];
    return PS_OK;
}

static inline void window_check_done(void *of, int64_t range)
{
    ++((window_check *)of)->done[range];
}

/* Ranges of 11 to 42 rows. */
static inline ps_status window_check_open(window_check *x, ps_device *device, int64_t rows)
{
    memset(x, 0, sizeof *x);
    x->device = device;
    for (int r = 0; r < WINDOW_RANGES; ++r) x->bounds[r + 1] = x->bounds[r] + 11 + r * 7 % 32;
    int64_t all = x->bounds[WINDOW_RANGES];
    PS_TRY(ps_stream_open(device, &x->stream));
    const int64_t bytes[2] = {WINDOW_ROW, WINDOW_FIXED_ROW};
    for (int k = 0; k < 2; ++k) {
        PS_TRY(ps_device_alloc_pinned(device, all * bytes[k], (void **)&x->host[k]));
        for (int64_t i = 0; i < all * bytes[k]; ++i) x->host[k][i] = (char)(i * 7 + i / 256 + k);
    }
    PS_TRY(ps_alloc((void **)&x->model, all, WINDOW_ROW, "a test"));
    memcpy(x->model, x->host[0], (size_t)all * WINDOW_ROW);
    const ps_window_array arrays[2] = {{x->host[0], WINDOW_ROW, true},
                                       {x->host[1], WINDOW_FIXED_ROW, false}};
    const ps_window_source source = {x, window_check_need, window_check_done};
    const ps_window_request request = {x->stream, WINDOW_RANGES, x->bounds, 2,
                                       arrays,    rows,          &source};
    return ps_window_open(&request, &x->window);
}

static inline void window_check_close(window_check *x)
{
    ps_window_close(&x->window);
    ps_stream_close(&x->stream);
    for (int k = 0; k < 2; ++k) ps_device_free_pinned(x->device, x->host[k]);
    free(x->model);
}

/* The first row of range r takes its start from the first row of range `from`, and the rest from
 * the fixed rows of that range. */
static inline ps_status window_check_work(window_check *x, int64_t r, int64_t from)
{
    enum { HALF = WINDOW_ROW / 2 };
    char *changing = ps_window_array_at(x->window, 0), *fixed = ps_window_array_at(x->window, 1);
    char *to = changing + x->bounds[r] * WINDOW_ROW, *model = x->model + x->bounds[r] * WINDOW_ROW;
    int64_t there = x->bounds[from];
    PS_TRY(ps_copy_on_device(x->stream, to, changing + there * WINDOW_ROW, HALF));
    PS_TRY(ps_copy_on_device(x->stream, to + HALF, fixed + there * WINDOW_FIXED_ROW, HALF));
    memcpy(model, x->model + there * WINDOW_ROW, HALF);
    memcpy(model + HALF, x->host[1] + there * WINDOW_FIXED_ROW, HALF);
    return PS_OK;
}

/* A pass up or down; each range is worked on while the one before is there. */
static inline ps_status window_check_pass(window_check *x, bool up)
{
    ps_window_hold(x->window);
    for (int64_t i = 0; i < WINDOW_RANGES; ++i) {
        int64_t r = up ? i : WINDOW_RANGES - 1 - i, before = up ? r - 1 : r + 1;
        int64_t ahead = i + 3 < WINDOW_RANGES ? 3 : WINDOW_RANGES - i;
        PS_TRY(ps_window_need(x->window, r, r + 1));
        PS_TRY(ps_window_prefetch(x->window, up ? r : r - ahead + 1, up ? r + ahead : r + 1));
        if (i == 0) continue;
        PS_TRY(window_check_work(x, r, before));
        PS_TRY(ps_window_done(x->window, before, before + 1, true));
    }
    int64_t last = up ? WINDOW_RANGES - 1 : 0;
    return ps_window_done(x->window, last, last + 1, true);
}

static inline ps_status window_check_result(window_check *x)
{
    PS_TRY(ps_window_flush(x->window));
    if (memcmp(x->host[0], x->model, (size_t)(x->bounds[WINDOW_RANGES] * WINDOW_ROW)) != 0)
        return ps_fail(PS_FAILED, "the rows on the host are not what was made of them");
    return PS_OK;
}

/* An array that is not used neither comes nor goes. */
static inline ps_status window_check_unused(window_check *x)
{
    ps_window_stats before, after;
    PS_TRY(ps_window_use(x->window, 1, false));
    ps_window_get_stats(x->window, &before);
    PS_TRY(ps_window_need(x->window, 0, 2));
    PS_TRY(ps_window_done(x->window, 0, 2, false));
    ps_window_get_stats(x->window, &after);
    if (after.bytes_in - before.bytes_in != x->bounds[2] * WINDOW_ROW)
        return ps_fail(PS_FAILED, "an array that is not used came");
    return PS_OK;
}

/* Passes to and fro through windows from three ranges to all. */
static inline ps_status window_check_all(ps_device *device)
{
    static const int64_t rows[] = {130, 200, 500, 2000};
    for (int i = 0; i < 4; ++i) {
        window_check x;
        ps_window_stats stats;
        PS_TRY(window_check_open(&x, device, rows[i]));
        ps_status status = PS_OK;
        for (int pass = 0; pass < 5 && status == PS_OK; ++pass) {
            status = window_check_pass(&x, pass != 1 && pass != 3);
            if (status == PS_OK && pass != 2) status = window_check_result(&x);
        }
        int64_t all = x.bounds[WINDOW_RANGES] * (WINDOW_ROW + WINDOW_FIXED_ROW);
        ps_window_get_stats(x.window, &stats);
        if (status == PS_OK && (stats.bytes_in < all || (i == 3 && stats.bytes_in != all)))
            status = ps_fail(PS_FAILED, "%lld bytes came", (long long)stats.bytes_in);
        if (status == PS_OK) status = window_check_unused(&x);
        if (status == PS_OK) status = ps_window_drop(x.window);
        for (int r = 0; r < WINDOW_RANGES && status == PS_OK; ++r)
            if (x.needed[r] != x.done[r] || x.needed[r] < 1)
                status = ps_fail(PS_FAILED, "the source was not told of range %d", r);
        window_check_close(&x);
        PS_TRY(status);
    }
    return PS_OK;
}

#endif
