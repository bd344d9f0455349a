/*
 * dgtd on several CUDA devices of one host: slabs of a box, one a device and driven by a thread of
 * its own; in each half step the groups at the ends come first, and their traces are written into
 * the neighbours' memory while the others are computed (kernels/dgtd/device_halo.h).
 *
 * First a check: the exact mode of a box of metal cut into that many slabs, fp64, P3. Then records
 * dgtd-weak-p3, -p4 (the slab of one device as in bench_dgtd, times the number of devices) and
 * dgtd-strong-p3 (that slab cut up): seconds of 1000 iterations; floor: that of one device, over
 * their number for strong; fraction: the parallel efficiency. Arguments: iterations (1000), and
 * which of weak-p3, weak-p4, strong-p3, in one argument (all).
 */
#include <omp.h>
#include <stdio.h>

#include "runtime/program.h"
#include "tests/support/dgtd_slab.h"
#include "tests/support/record.h"

enum { DEVICES = 8 };

/* `steps` half steps of both fields of slab g, enqueued by its thread. */
static ps_status march(dgtd_slab_part *p, int64_t steps)
{
    for (int64_t half = 0; half < 2 * steps; ++half) {
        PS_TRY(dgtd_slab_outer(p, (int)(half % 2)));
        PS_TRY(dgtd_slab_inner(p, (int)(half % 2)));
    }
    PS_TRY(ps_stream_wait(p->outer));
    return ps_stream_wait(p->d.stream);
}

/* Fills the halo of H before the first half step of E. */
static ps_status exchange_first(dgtd_slab_part *parts, int count)
{
    for (int g = 0; g < count; ++g) PS_TRY(ps_stream_wait(parts[g].d.stream));
    for (int g = 0; g < count; ++g)
        PS_TRY(ps_dgtd_device_push(&parts[g].d.system, &parts[g].halo, &parts[g].faces, PS_DGTD_H,
                                   parts[g].d.field[PS_DGTD_H], parts[g].outer));
    for (int g = 0; g < count; ++g) PS_TRY(ps_stream_wait(parts[g].outer));
    return PS_OK;
}

/* Seconds of `steps` steps on all devices. */
static ps_status run(dgtd_slab_part *parts, int count, int64_t steps, double *seconds)
{
    ps_status status[DEVICES];
    char text[DEVICES][300];
    double start = 0, end = 0;
#pragma omp parallel num_threads(count)
    {
        int g = omp_get_thread_num();
#pragma omp barrier
#pragma omp master
        start = ps_clock();
        status[g] = march(parts + g, steps);
        snprintf(text[g], sizeof text[g], "%s", ps_message());
#pragma omp barrier
#pragma omp master
        end = ps_clock();
    }
    *seconds = end - start;
    for (int g = 0; g < count; ++g)
        if (status[g] != PS_OK) return ps_fail(status[g], "device %d: %s", g, text[g]);
    return PS_OK;
}

/* The slabs on their devices, the system filled anew for each. */
static ps_status place(dgtd_slab *x, dgtd_slab_part *parts, ps_device **devices, int count,
                       double dt)
{
    for (int g = 0; g < count; ++g) {
        memset(&parts[g], 0, sizeof parts[g]);
        parts[g].open[SLAB_BOTTOM] = g > 0;
        parts[g].open[SLAB_TOP] = g < count - 1;
        for (int end = 0; end < 2; ++end) dgtd_slab_open(x, end, parts[g].open[end]);
        PS_TRY(ps_dgtd_system_fill(&x->c.system, &x->c.body));
        PS_TRY(dgtd_slab_part_init(&parts[g], devices[g], x, dt));
    }
    for (int g = 0; g < count; ++g) PS_TRY(dgtd_slab_connect(parts, g, x));
    return PS_OK;
}

/* ---- check ---- */

static const double mode_time = 0.5;

/* Values of the mode at the nodes of slab g, which lies from g on in z. */
static void mode_values(dgtd_slab *x, const ps_dgtd_mode *mode, int g, double t, double half,
                        void *const host[2])
{
    for (int64_t i = 0; i < x->c.mesh.elements * x->c.reference.nodes; ++i) {
        int64_t e = i / x->c.reference.nodes;
        int n = (int)(i % x->c.reference.nodes);
        double l[4], point[3], value[2][3], none[3];
        ps_dgtd_reference_node(&x->c.reference, n, l);
        dgtd_case_point(&x->c, e, l, point);
        point[2] += g;
        ps_dgtd_mode_at(mode, point, t, value[0], none);
        ps_dgtd_mode_at(mode, point, t + half, none, value[1]);
        for (int c = 0; c < 6; ++c)
            ps_dgtd_set_node(&x->c.system, host[c / 3], e, c % 3, n, value[c / 3][c % 3]);
    }
}

static double largest(const dgtd_slab *x, void *const a[2], void *const b[2])
{
    double most = 0;
    for (int64_t i = 0; i < x->c.mesh.elements * x->c.reference.nodes * 6; ++i) {
        int n = (int)(i / 6 % x->c.reference.nodes), f = (int)(i % 2), c = (int)(i / 2 % 3);
        int64_t e = i / 6 / x->c.reference.nodes;
        most = fmax(most, fabs(ps_dgtd_get(&x->c.system, a[f], e, c, n) -
                               ps_dgtd_get(&x->c.system, b[f], e, c, n)));
    }
    return most;
}

static ps_status check_slabs(dgtd_slab *x, ps_device **devices, int count, double *error)
{
    static dgtd_slab_part parts[DEVICES];
    ps_dgtd_mode mode = {.extent = {1, 1, count},
                         .number = {1, 1, count},
                         .amplitude = {1, -1, 0},
                         .medium = {1, 1, 0}};
    int64_t steps = 40;
    double dt = mode_time / (double)steps, seconds;
    void *host[2] = {x->c.field[0], x->c.field[1]}, *exact[2] = {x->c.former, NULL};
    exact[1] = dgtd_array(dgtd_case_field_bytes(&x->c));
    ps_dgtd_set_step(&x->c.system, &mode.medium, dt);
    PS_TRY(place(x, parts, devices, count, dt));
    for (int g = 0; g < count; ++g) {
        mode_values(x, &mode, g, 0, dt / 2, host);
        PS_TRY(dgtd_device_put(&parts[g].d, host));
    }
    PS_TRY(exchange_first(parts, count));
    PS_TRY(run(parts, count, steps, &seconds));
    *error = 0;
    for (int g = 0; g < count; ++g) {
        PS_TRY(dgtd_device_get(&parts[g].d, host));
        mode_values(x, &mode, g, mode_time, dt / 2, exact);
        *error = fmax(*error, largest(x, host, exact));
        dgtd_slab_part_release(&parts[g]);
    }
    free(exact[1]);
    return PS_OK;
}

/* Slabs give the field of the undivided box: the error is the same for all numbers of them. */
static ps_status check(ps_device **devices, int available)
{
    ps_dgtd_material vacuum = {1, 1, 0};
    for (int count = 1; count <= available; count *= 2) {
        dgtd_slab x;
        double error = 0;
        PS_TRY(dgtd_slab_init(&x, 5, 5));
        PS_TRY(dgtd_case_init(&x.c, 3, PS_DOUBLE, &vacuum, 1));
        PS_TRY(check_slabs(&x, devices, count, &error));
        dgtd_case_release(&x.c);
        fprintf(stderr, "check: %d slabs, largest error of the mode %.6e\n", count, error);
        if (!(error < 2e-2))
            return ps_fail(PS_FAILED, "%d slabs do not keep the mode: error %g", count, error);
    }
    return PS_OK;
}

/* ---- times ---- */

/* Seconds of 1000 steps with `count` slabs of the given height on as many devices. */
static ps_status measure(ps_device **devices, int count, int order, int64_t side, int64_t height,
                         int64_t steps, double *seconds)
{
    static dgtd_slab_part parts[DEVICES];
    ps_dgtd_material vacuum = {1, 1, 0};
    double dt = .9 * dgtd_kuhn_limit(order, side);
    dgtd_slab x;
    PS_TRY(dgtd_slab_init(&x, side, height));
    PS_TRY(dgtd_case_init_system(&x.c, order, PS_SINGLE, &vacuum, 1));
    ps_dgtd_set_step(&x.c.system, &vacuum, dt);
    PS_TRY(place(&x, parts, devices, count, dt));
    for (int g = 0; g < count; ++g) PS_TRY(dgtd_device_fill_random(&parts[g].d));
    PS_TRY(run(parts, count, 30, seconds));
    PS_TRY(run(parts, count, steps, seconds));
    *seconds *= 1000 / (double)steps;
    for (int g = 0; g < count; ++g) dgtd_slab_part_release(&parts[g]);
    dgtd_case_release(&x.c);
    return PS_OK;
}

static void record(const char *name, int order, int count, int64_t elements, double seconds,
                   double floor, ps_device *device)
{
    fprintf(stderr, "%s P%d, %d devices: %.4f s, efficiency %.3f\n", name, order, count, seconds,
            floor / seconds);
    bench_record(bench_device(device), text("dgtd-%s-p%d", name, order),
                 text("time of 1000 iterations, fp32, %d devices", count), seconds, "s", floor,
                 text("%lld tetrahedra", (long long)elements));
}

static ps_status scale(ps_device **devices, int available, int order, int64_t side, bool weak,
                       int64_t steps)
{
    double one = 0, seconds;
    for (int count = 1; count <= available; count *= 2) {
        int64_t height = weak ? side : side / count;
        PS_TRY(measure(devices, count, order, side, height, steps, &seconds));
        if (count == 1) one = seconds;
        record(weak ? "weak" : "strong", order, count, 6 * side * side * height * count, seconds,
               weak ? one : one / count, devices[0]);
    }
    return PS_OK;
}

static ps_status measure_all(ps_device **devices, int count, int64_t steps, const char *what)
{
    PS_TRY(check(devices, count));
    if (strstr(what, "weak-p3")) PS_TRY(scale(devices, count, 3, 60, true, steps));
    if (strstr(what, "weak-p4")) PS_TRY(scale(devices, count, 4, 50, true, steps));
    if (strstr(what, "strong-p3")) PS_TRY(scale(devices, count, 3, 64, false, steps));
    return PS_OK;
}

int main(int argc, char **argv)
{
    ps_device *devices[DEVICES] = {NULL};
    int count = ps_device_count() < DEVICES ? ps_device_count() : DEVICES;
    int64_t steps = argc > 1 ? atoll(argv[1]) : 1000;
    const char *what = argc > 2 ? argv[2] : "weak-p3 weak-p4 strong-p3";
    ps_status status = PS_OK;
    for (int g = 0; g < count && status == PS_OK; ++g) {
        char name[32];
        snprintf(name, sizeof name, "cuda:%d", g);
        status = ps_device_open(name, 0, &devices[g]);
    }
    if (status == PS_OK && count == 0) status = ps_fail(PS_FAILED, "there is no CUDA device");
    if (status == PS_OK) status = measure_all(devices, count, steps, what);
    if (status != PS_OK) fprintf(stderr, "bench_dgtd_devices: %s\n", ps_message());
    return (int)status;
}
