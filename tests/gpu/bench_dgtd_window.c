/*
 * dgtd out of core on one CUDA device: the cubes of bench_dgtd in breadth-first layers, their state
 * in pinned host memory and a quarter of it on the device, marched by skewed tiles
 * (kernels/dgtd/skew.h) through a window (runtime/device_window.h); against the same mesh in core,
 * to the bit, for several orders of the half steps.
 *
 * Records dgtd-out-of-core-p1 .. p4, with all of the geometry on the device, and -all, where it
 * comes and goes with the state: seconds of 1000 iterations in fp32; floor: in core; fraction: the
 * rate of the rate in core. Arguments: order (0: all), part of the memory (0.25), cells a side (0:
 * those of bench_dgtd), "bits" for the comparison alone.
 */
#include <stdbool.h>
#include <stdio.h>

#include "kernels/dgtd/ranges.h"
#include "kernels/dgtd/skew.h"
#include "runtime/device_window.h"
#include "runtime/program.h"
#include "tests/support/dgtd_device.h"
#include "tests/support/record.h"

static const int sides[4] = {80, 80, 60, 50};
enum { ON_THE_WAY = 3, PARTS = PS_DGTD_DEVICE_PARTS };

/* The state on the host and its window. */
typedef struct streamed {
    dgtd_device *d; /* its system has no tangents and links of its own */
    void *host[4];  /* E, H, tangents, links */
    int64_t row_bytes[4], ranges, *bounds;
    int arrays; /* of the window: 2: the geometry is on the device */
    ps_window *window;
    int backwards;
} streamed;

static void release(streamed *x)
{
    ps_window_close(&x->window);
    for (int k = 0; k < 4; ++k) ps_device_free_pinned(x->d->device, x->host[k]);
    free(x->bounds);
}

static ps_status open_streamed(streamed *x, dgtd_device *d, const dgtd_case *c, double part,
                               int count)
{
    const ps_dgtd_system *s = &c->system;
    int64_t groups = s->groups, field = 3 * (int64_t)c->reference.nodes * PS_DGTD_ALIGN;
    const void *from[4] = {NULL, NULL, s->tangents, s->links};
    *x = (streamed){
        .d = d,
        .arrays = count,
        .row_bytes = {field, field, 9 * PS_DGTD_ALIGN, 16 * ps_dgtd_lanes(s->precision)}};
    ps_window_array arrays[4];
    PS_TRY(PS_ALLOC(&x->bounds, groups + 1, "ranges"));
    int64_t layer = 2 * c->mesh.side * c->mesh.side / ps_dgtd_lanes(s->precision);
    x->ranges = ps_dgtd_ranges(s, layer + 1, 8, NULL, x->bounds);
    for (int k = 0; k < count; ++k) {
        PS_TRY(ps_device_alloc_pinned(d->device, groups * x->row_bytes[k], &x->host[k]));
        if (from[k]) memcpy(x->host[k], from[k], (size_t)(groups * x->row_bytes[k]));
        arrays[k] = (ps_window_array){x->host[k], x->row_bytes[k], k < 2};
    }
    const ps_window_request request = {
        d->stream, x->ranges, x->bounds, count, arrays, (int64_t)(part * (double)groups), NULL};
    PS_TRY(ps_window_open(&request, &x->window));
    d->march.electric = ps_window_array_at(x->window, 0);
    d->march.magnetic = ps_window_array_at(x->window, 1);
    if (count == 2) return PS_OK;
    d->system.tangents = ps_window_array_at(x->window, 2);
    d->system.links = ps_window_array_at(x->window, 3);
    return PS_OK;
}

static int64_t range_at(const streamed *x, int64_t place)
{
    return x->backwards ? x->ranges - 1 - place : place;
}

static ps_status phase(streamed *x, const ps_dgtd_skew *skew, int64_t tick, int64_t f, int64_t n)
{
    ps_dgtd_device_part parts[PARTS];
    int count = 0;
    for (int64_t s = f + 1; s <= skew->halves; s += skew->phases) {
        int64_t first, end;
        if (!ps_dgtd_skew_part(skew, tick, s, &first, &end)) continue;
        int64_t a = range_at(x, first), b = range_at(x, end - 1);
        parts[count++] = (ps_dgtd_device_part){n + (s - 1) / 2, x->bounds[a < b ? a : b],
                                               x->bounds[(a < b ? b : a) + 1]};
    }
    return count ? ps_dgtd_device_march_parts(&x->d->march, (ps_dgtd_field)(f % 2), parts, count,
                                              x->d->stream)
                 : PS_OK;
}

/* Calls need, prefetch or done for places [from, to). */
typedef ps_status span_call(ps_window *window, int64_t first, int64_t end);
static ps_status done_changed(ps_window *window, int64_t first, int64_t end)
{
    return ps_window_done(window, first, end, true);
}
static ps_status call(const streamed *x, span_call *f, int64_t from, int64_t to)
{
    if (from >= to) return PS_OK;
    return x->backwards ? f(x->window, x->ranges - to, x->ranges - from) : f(x->window, from, to);
}

/* A visit from step n on. */
static ps_status visit(streamed *x, ps_dgtd_skew skew, int64_t n)
{
    int64_t loaded = 0, done = 0;
    skew.ranges = x->ranges;
    ps_window_hold(x->window);
    for (int64_t tick = 0; tick < ps_dgtd_skew_ticks(&skew); ++tick) {
        int64_t needed = ps_dgtd_skew_needed(&skew, tick), past = ps_dgtd_skew_done(&skew, tick);
        PS_TRY(call(x, ps_window_need, loaded, needed));
        loaded = needed;
        PS_TRY(
            call(x, ps_window_prefetch, loaded, ps_dgtd_skew_needed(&skew, tick + ON_THE_WAY - 1)));
        for (int64_t f = 0; f < skew.phases; ++f) PS_TRY(phase(x, &skew, tick, f, n));
        PS_TRY(call(x, done_changed, done, past));
        done = past;
    }
    x->backwards = !x->backwards;
    return PS_OK;
}

/* The largest number of steps a visit whose window has room. */
static int64_t most_steps(const streamed *x, double part, int64_t width, int64_t phases)
{
    int64_t steps = PARTS * phases / 2;
    for (; steps > 1; --steps) {
        ps_dgtd_skew skew = {x->ranges, width, 2 * steps, phases};
        if (ps_dgtd_skew_window(&skew) + ON_THE_WAY * width <= (int64_t)(part * (double)x->ranges))
            break;
    }
    return steps;
}

typedef struct outcome {
    double core, seconds; /* of a step */
    int64_t steps, width, phases;
    ps_window_stats stats; /* of the visits that were timed */
} outcome;

/* The same fields for both, from the device's random ones. */
static ps_status copy_fields(streamed *x, const dgtd_device *core)
{
    for (int f = 0; f < 2; ++f)
        PS_TRY(ps_copy_to_host(core->stream, x->host[f], core->field[f],
                               x->bounds[x->ranges] * x->row_bytes[f]));
    return ps_stream_wait(core->stream);
}

static ps_status compare_bits(streamed *x, const dgtd_device *core)
{
    char *bits;
    int64_t bytes = x->bounds[x->ranges] * x->row_bytes[0];
    PS_TRY(ps_window_flush(x->window));
    PS_TRY(ps_alloc((void **)&bits, bytes, 1, "bits"));
    for (int f = 0; f < 2; ++f) {
        PS_TRY(ps_copy_to_host(core->stream, bits, core->field[f], bytes));
        PS_TRY(ps_stream_wait(core->stream));
        if (memcmp(bits, x->host[f], (size_t)bytes) != 0)
            return ps_fail(PS_FAILED, "field %d out of core has other bits than in core", f);
    }
    free(bits);
    return PS_OK;
}

/* Visits of one kind: two for the bits, then some that are timed. */
static ps_status try_order(streamed *x, dgtd_device *core, int64_t visits, outcome *o)
{
    ps_dgtd_skew skew = {x->ranges, o->width, 2 * o->steps, o->phases};
    ps_window_stats before;
    PS_TRY(ps_window_drop(x->window));
    PS_TRY(dgtd_device_fill_random(core));
    PS_TRY(copy_fields(x, core));
    PS_TRY(visit(x, skew, 0));
    PS_TRY(visit(x, skew, o->steps));
    PS_TRY(dgtd_device_steps(core, 0, 2 * o->steps));
    PS_TRY(compare_bits(x, core));
    if (visits == 0) return PS_OK;
    ps_window_get_stats(x->window, &before);
    double start = ps_clock();
    for (int64_t v = 2; v < visits + 2; ++v) PS_TRY(visit(x, skew, v * o->steps));
    PS_TRY(ps_stream_wait(x->d->stream));
    o->seconds = (ps_clock() - start) / (double)(visits * o->steps);
    ps_window_get_stats(x->window, &o->stats);
    o->stats.bytes_in -= before.bytes_in;
    o->stats.bytes_out -= before.bytes_out;
    double time = o->seconds * (double)(visits * o->steps);
    fprintf(stderr,
            "P%d, %d arrays: %lld steps a visit, tiles of %lld, %lld phases: %.4f ms a step, %.3f "
            "of in core, "
            "%.1f GB/s in, %.1f out\n",
            x->d->system.order, x->arrays, (long long)o->steps, (long long)o->width,
            (long long)o->phases, 1e3 * o->seconds, o->core / o->seconds,
            (double)o->stats.bytes_in / time / 1e9, (double)o->stats.bytes_out / time / 1e9);
    return PS_OK;
}

static ps_status time_core(dgtd_device *core, int64_t steps, double *seconds)
{
    PS_TRY(dgtd_device_fill_random(core));
    PS_TRY(dgtd_device_steps(core, 0, 10));
    PS_TRY(ps_stream_wait(core->stream));
    double start = ps_clock();
    PS_TRY(dgtd_device_steps(core, 0, steps));
    PS_TRY(ps_stream_wait(core->stream));
    *seconds = (ps_clock() - start) / (double)steps;
    return PS_OK;
}

static void record(const dgtd_case *c, const outcome *o, double part, int arrays, ps_device *device)
{
    bench_record(bench_device(device),
                 text("dgtd-out-of-core-p%d%s", c->system.order, arrays == 4 ? "-all" : ""),
                 text("time of 1000 iterations, fp32, %.2f of the state on the device, %s, %lld "
                      "steps a visit",
                      part, arrays == 4 ? "and as much of the geometry" : "and the geometry",
                      (long long)o->steps),
                 1e3 * o->seconds, "s", 1e3 * o->core,
                 text("%lld tetrahedra", (long long)c->mesh.elements));
}

/* The best of some orders of half steps; all are compared with the bits in core. */
static ps_status try_orders(const dgtd_case *c, dgtd_device *core, dgtd_device *d, double part,
                            bool bits, outcome *best)
{
    static const int64_t orders[][2] = {{1, 2}, {1, 4}, {2, 4}, {2, 8}, {3, 8}, {4, 8}};
    streamed x = {.d = d};
    ps_status status;
    PS_GUARD(status, done, open_streamed(&x, d, c, part, d->system.windowed ? 4 : 2));
    for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i) {
        outcome o = {.core = best->core, .width = orders[i][0], .phases = orders[i][1]};
        o.steps = most_steps(&x, part, o.width, o.phases);
        if (2 * o.steps < o.phases) continue;
        PS_GUARD(status, done, try_order(&x, core, bits ? 0 : 12, &o));
        if (o.seconds < best->seconds) *best = o;
    }
done:
    release(&x);
    return status;
}

static ps_status measure(const dgtd_case *c, ps_device *device, double part, bool bits)
{
    dgtd_device core, d;
    double seconds;
    ps_status status;
    PS_GUARD(status, done, dgtd_device_init(&core, device, c, PS_DGTD_FUSED, 1, 0));
    PS_GUARD(status, done, dgtd_device_init(&d, device, c, PS_DGTD_FUSED, 1, 0));
    PS_GUARD(status, done, time_core(&core, bits ? 10 : 400, &seconds));
    if (!bits) fprintf(stderr, "P%d: in core %.4f ms a step\n", c->system.order, 1e3 * seconds);
    for (int arrays = 2; arrays <= 4; arrays += 2) { /* first with all of the geometry there */
        outcome best = {.core = seconds, .seconds = INFINITY};
        d.system.windowed = arrays == 4;
        PS_GUARD(status, done, try_orders(c, &core, &d, part, bits, &best));
        if (!bits) record(c, &best, part, arrays, device);
    }
done:
    dgtd_device_release(&d);
    dgtd_device_release(&core);
    return status;
}

static ps_status measure_order(ps_device *device, int order, double part, int side, bool bits)
{
    ps_dgtd_material vacuum = {1, 1, 0};
    dgtd_case c = {0};
    PS_TRY(cube_tets_init_layers(&c.mesh, side, PS_DGTD_PEC));
    PS_TRY(dgtd_case_init_system(&c, order, PS_SINGLE, &vacuum, 1));
    ps_dgtd_set_step(&c.system, &vacuum, .9 * dgtd_kuhn_limit(order, side));
    ps_status status = measure(&c, device, part, bits);
    dgtd_case_release(&c);
    return status;
}

int main(int argc, char **argv)
{
    int only = argc > 1 ? atoi(argv[1]) : 0, side = argc > 3 ? atoi(argv[3]) : 0;
    double part = argc > 2 ? atof(argv[2]) : .25;
    bool bits = argc > 4;
    ps_device *device;
    ps_status status = ps_device_open("cuda:0", 0, &device);
    for (int order = 1; order <= PS_DGTD_MAX_ORDER && status == PS_OK; ++order)
        if (!only || order == only)
            status = measure_order(device, order, part, side ? side : sides[order - 1], bits);
    if (status != PS_OK) fprintf(stderr, "bench_dgtd_window: %s\n", ps_message());
    if (status == PS_OK && bits) printf("the bits are those in core\n");
    return (int)status;
}
