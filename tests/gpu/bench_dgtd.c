/*
 * Leap-frog steps of dgtd on one CUDA device: seconds of 1000 iterations on cubes of Kuhn
 * tetrahedra along the Hilbert curve, PEC, in fp32 and fp64, and by the paper's kernels.
 *
 * Records dgtd-p1 .. p4: floor is the larger of A's bytes at the card's copy bandwidth and the
 * flops that are done (Bernstein coefficients) at its rate; A: each half step reads the other
 * field and geometry once, reads and writes its own, neighbours' traces free. Arguments: order
 * (0: all), iterations (1000), tile of ps_dgtd_group_shapes, "fused" for that in fp32 alone,
 * "double" for that in fp64 alone, "debye" for fp32 without and with a pole in all
 * elements: dgtd-debye-p1 .., whose state is read and written once more.
 */
#include <stdio.h>
#include <string.h>

#include "tests/support/device_clock.h"
#include "tests/support/dgtd_device.h"
#include "tests/support/dgtd_media.h"
#include "tests/support/record.h"

static const double bandwidth = 4.29e12, rates[2] = {55.9e12, 32.3e12};
static const int sides[4] = {80, 80, 60, 50};
static const double targets[4] = {.45, .85, .70, .80};

/* Bytes an element and step: 72 Np + 160 in fp32, and 24 Np of a pole. */
static double bytes_of(const ps_dgtd_device *d, int nodes)
{
    double real = d->precision == PS_SINGLE ? 4 : 8;
    return 2 * (9 * nodes * real + 9 * real + 16 + 2) + (d->media ? 6 * nodes * real : 0);
}

static double degree_sum(int p) /* entries of the reductions p -> p-1 .. -> 0 */
{
    double sum = 0;
    for (int q = 0; q < p; ++q) sum += 3. * (q + 1) * (q + 2) / 2;
    return sum;
}

/* Flops an element and step, as bernstein_body.h does them: covariant components, differences and
 * elevation, jumps, lifts (2 L_0, reductions, sums into rows), update; both half steps. */
static double flops_of(int p)
{
    double np = (p + 1) * (p + 2) * (p + 3) / 6., nf = (p + 1) * (p + 2) / 2.;
    double lower = p * (p + 1) * (p + 2) / 6., trace = nf + 3. * p * (p + 1);
    double lift = 2 * (trace + degree_sum(p) + np);
    return 2 * (15 * np + 12 * lower + 3 * 2 * 4 * lower + 52 * nf + 8 * lift + 4 * np + 24 * np);
}

static ps_status time_steps(dgtd_device *d, int64_t steps, double *seconds)
{
    PS_SCOPED(device_clock_close) device_clock clock = {0};
    PS_TRY(device_clock_open(&clock, d->stream));
    PS_TRY(dgtd_device_steps(d, 0, steps / 50 + 1));
    PS_TRY(device_clock_start(&clock));
    PS_TRY(dgtd_device_steps(d, 0, steps));
    return device_clock_stop(&clock, seconds);
}

static void record(const dgtd_case *c, const dgtd_device *d, ps_dgtd_device_mode mode,
                   double seconds)
{
    int order = c->system.order;
    double n = (double)c->mesh.elements;
    double bytes = bytes_of(&d->system, c->reference.nodes);
    double flops = flops_of(order), least[2];
    least[0] = 1e3 * n * bytes / bandwidth;
    least[1] = 1e3 * n * flops / rates[d->system.precision];
    double floor = fmax(least[0], least[1]);
    const char *name = d->system.precision == PS_SINGLE ? "fp32" : "fp64";
    fprintf(stderr, "P%d %s %s: %.3f s (target %.2f), %.0f bytes %.3f s, %.0f flops %.3f s\n",
            order, name, mode == PS_DGTD_PAPER ? "paper" : "fused", seconds, targets[order - 1],
            bytes, least[0], flops, least[1]);
    bench_record(bench_device(d->device),
                 text("dgtd-%sp%d%s", d->system.media ? "debye-" : "", order,
                      mode == PS_DGTD_PAPER ? "-paper" : ""),
                 text("time of 1000 iterations, %s", name), seconds, "s", floor,
                 text("%.0f tetrahedra", n));
}

/* media: of the case; all elements have a pole where law_count is not 0. */
static ps_status measure(dgtd_case *c, ps_device *device, const ps_dgtd_dispersion *media,
                         ps_dgtd_device_mode mode, int64_t steps)
{
    dgtd_device d;
    double seconds = 0;
    ps_status status;
    PS_GUARD(status, done, dgtd_device_init(&d, device, c, mode, 1, 0));
    if (media->law_count > 0) PS_GUARD(status, done, dgtd_device_add_media(&d, media));
    PS_GUARD(status, done, dgtd_device_fill_random(&d));
    PS_GUARD(status, done, time_steps(&d, steps, &seconds));
    record(c, &d, mode, 1000 * seconds / (double)steps);
done:
    dgtd_device_release(&d);
    return status;
}

/* All that is measured of one order; the mesh is taken over from and left for the next one. */
static ps_status measure_order(ps_device *device, cube_tets *mesh, int order, int64_t steps,
                               int64_t tile, const char *what)
{
    ps_dgtd_material vacuum = {1, 1, 0};
    int first = strcmp(what, "double") == 0 ? PS_DOUBLE : PS_SINGLE;
    bool debye = strcmp(what, "debye") == 0;
    int last = debye || strcmp(what, "fused") == 0 ? PS_SINGLE : PS_DOUBLE;
    double dt = .9 * dgtd_kuhn_limit(order, sides[order - 1]);
    const ps_dgtd_pole pole = {PS_DGTD_DEBYE, 1, 0, 1 / dt};
    const ps_dgtd_constitution medium = {.eps = 1, .pole_count = 1, .poles = &pole};
    if (mesh->side != sides[order - 1]) {
        cube_tets_release(mesh);
        PS_TRY(cube_tets_init_tiled(mesh, sides[order - 1], 0, PS_DGTD_PEC, tile));
    }
    for (int precision = first; precision <= last; ++precision) {
        dgtd_case c = {.mesh = *mesh};
        PS_TRY(dgtd_case_init_system(&c, order, (ps_precision)precision, &vacuum, 1));
        ps_dgtd_set_step(&c.system, &vacuum, dt);
        ps_dgtd_dispersion media = {0};
        if (debye) {
            PS_TRY(measure(&c, device, &media, PS_DGTD_FUSED, steps));
            dgtd_media_init(&media, &c, &medium, &vacuum, dt);
        }
        for (int mode = PS_DGTD_FUSED; mode <= (*what ? PS_DGTD_FUSED : PS_DGTD_PAPER); ++mode)
            PS_TRY(
                measure(&c, device, &media, (ps_dgtd_device_mode)mode,
                        precision == PS_SINGLE && mode == PS_DGTD_FUSED ? steps : steps / 10 + 1));
        c.mesh = (cube_tets){0};
        dgtd_case_release(&c);
    }
    return PS_OK;
}

int main(int argc, char **argv)
{
    int only = argc > 1 ? atoi(argv[1]) : 0;
    int64_t steps = argc > 2 ? atoll(argv[2]) : 1000;
    int64_t tile = argc > 3 ? atoll(argv[3]) : 192;
    const char *what = argc > 4 ? argv[4] : "";
    cube_tets mesh = {0};
    ps_device *device;
    ps_status status = ps_device_open("cuda:0", 0, &device);
    for (int order = 1; order <= PS_DGTD_MAX_ORDER && status == PS_OK; ++order)
        if (!only || order == only) status = measure_order(device, &mesh, order, steps, tile, what);
    if (status != PS_OK) fprintf(stderr, "bench_dgtd: %s\n", ps_message());
    cube_tets_release(&mesh);
    return (int)status;
}
