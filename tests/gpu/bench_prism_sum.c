/*
 * Sums of prisms on the CUDA device (stage/prism_sum): 9.94 million cubes of 10 m under 100,000
 * stations 1 to 21 m above them, and the same column model with sides over a factor of 100. Trees,
 * the first sum with its near field, the far field again, the transpose. Prints JSON records.
 *
 * Floors: 400 flop a closed form at 32.3 TF/s of fp64 (near, transposed); for trees and the whole
 * there is none. Argument: a case alone.
 */
#include <omp.h>
#include <stdio.h>

#include "runtime/memory.h"
#include "runtime/program.h"
#include "tests/support/prism_case.h"
#include "tests/support/record.h"

static const double fp64 = 32.3e12, form = 400;

typedef struct bench_case {
    const char *name;
    int64_t nx, ny, nz;
    int64_t stations;
    bool terrain; /* a rough surface cuts the columns */
    int order;
} bench_case;

static const bench_case cases[] = {{"fmm-prisms-10m", 499, 498, 40, 100000, false, 6},
                                   {"fmm-prisms-10m-rough", 499, 498, 40, 100000, true, 6},
                                   {"fmm-prisms-terrain", 190, 190, 1, 14600, true, 8}};
enum { CASES = sizeof cases / sizeof *cases };

static double surface(double x, double y, bool terrain)
{
    return terrain ? 300 * sin(x / 700) * cos(y / 410) + 90 * sin(x / 61 + y / 83) : 0;
}

/* Columns of nz prisms; rough ones thin out towards the surface, by up to a hundred. */
static void make_model(const bench_case *c, prism_case *m)
{
    const double side = 10, bottom = c->nz == 1 ? -2000 : -side * (double)c->nz;
    uint64_t state = 5;
    int64_t at = 0;
    prism_case_allocate(m, c->nx * c->ny * c->nz, c->stations);
    m->bodies.kind = PS_PRISM_GRAVITY;
    for (int64_t i = 0; i < c->nx; ++i)
        for (int64_t j = 0; j < c->ny; ++j) {
            double x = side * (double)i, y = side * (double)j;
            double top = surface(x + side / 2, y + side / 2, c->terrain);
            for (int64_t k = 0; k < c->nz; ++k, ++at) {
                double low = (double)k / (double)c->nz, high = (double)(k + 1) / (double)c->nz;
                if (c->terrain && c->nz > 1) {
                    low = 1 - (1 - low) * (1 - low) * 0.99 - 0.01 * (1 - low);
                    high = 1 - (1 - high) * (1 - high) * 0.99 - 0.01 * (1 - high);
                }
                m->low[0][at] = x;
                m->high[0][at] = x + side;
                m->low[1][at] = y;
                m->high[1][at] = y + side;
                m->low[2][at] = bottom + low * (top - bottom);
                m->high[2][at] = k + 1 == c->nz ? top : bottom + high * (top - bottom);
                m->weight[0][at] = 2000 + 700 * congruence_uniform(&state);
            }
        }
    for (int64_t i = 0; i < c->stations; ++i) {
        double x = side * (double)c->nx * congruence_uniform(&state);
        double y = side * (double)c->ny * congruence_uniform(&state);
        double cx = side * (floor(x / side) + .5), cy = side * (floor(y / side) + .5);
        m->place[0][i] = x;
        m->place[1][i] = y;
        m->place[2][i] = surface(cx, cy, c->terrain) + 1 + 20 * congruence_uniform(&state);
    }
}

static void record(const bench_case *c, const prism_case *m, ps_device *device, const char *what,
                   double seconds, double floor)
{
    bench_record(bench_device(device), c->name, what, seconds, "s", floor,
                 text("%lld prisms, %lld stations", (long long)m->bodies.prisms,
                      (long long)m->bodies.stations));
}

/* The largest difference of g from direct sums at samples, in parts of its rms. */
static ps_status error_of(const prism_case *m, ps_prism_sum *s, double *out)
{
    enum { SAMPLES = 200 };
    int64_t places[SAMPLES];
    const int64_t *order = ps_prism_sum_station_order(s);
    double rms = 0, worst = 0;
    for (int i = 0; i < SAMPLES; ++i) places[i] = i * m->bodies.stations / SAMPLES;
    PS_TRY(ps_prism_sum_samples(s, places, SAMPLES, m->direct));
    for (int i = 0; i < SAMPLES; ++i) {
        double off = 0;
        for (int d = 1; d < 4; ++d) {
            double e = m->out[d][order[places[i]]] - m->direct[d][i];
            off += e * e;
            rms += m->direct[d][i] * m->direct[d][i] / SAMPLES;
        }
        worst = fmax(worst, sqrt(off));
    }
    *out = worst / sqrt(rms);
    return PS_OK;
}

static ps_status bench_one(const bench_case *c, ps_device *device)
{
    prism_case m;
    ps_prism_sum *s;
    ps_prism_sum_figures f;
    make_model(c, &m);
    ps_prism_sum_options o = {.threads = omp_get_max_threads(), .device = device};
    double start = ps_clock(), error, floor;
    PS_TRY(ps_prism_sum_open(&m.bodies, &o, &s));
    double trees = ps_clock() - start;
    start = ps_clock();
    PS_TRY(ps_prism_sum_operators(s, c->order, pow(10, -c->order)));
    double operators = ps_clock() - start;
    start = ps_clock();
    PS_TRY(ps_prism_sum_apply(s, (const double *const *)m.weight, m.out));
    double first = ps_clock() - start;
    PS_TRY(error_of(&m, s, &error));
    start = ps_clock();
    PS_TRY(ps_prism_sum_apply(s, (const double *const *)m.weight, m.out));
    double second = ps_clock() - start;
    ps_prism_sum_figures_of(s, &f);
    floor = form * (double)f.near_pairs / fp64;
    fprintf(stderr,
            "%s: height %d, %lld pieces, %.3g near pairs, error of g %.2e; operators %.3f first "
            "%.3f moments %.4f transfer %.4f near %.4f\n",
            c->name, f.height, (long long)f.pieces, (double)f.near_pairs, error, operators, first,
            f.moments, f.transfer, f.near);
    record(c, &m, device, "trees", trees, 0);
    record(c, &m, device, "sums", second, floor);
    record(c, &m, device, "near", f.near, floor);
    record(c, &m, device, "whole", trees + operators + first, floor);
    start = ps_clock();
    PS_TRY(ps_prism_sum_transposed(s, (const double *const *)m.out, m.weight));
    record(c, &m, device, "transposed", ps_clock() - start, floor);
    ps_prism_sum_close(&s);
    prism_case_release(&m);
    return PS_OK;
}

int main(int argc, char **argv)
{
    ps_device *device;
    ps_status status = ps_device_open("cuda:0", 0, &device);
    for (int i = 0; i < CASES && status == PS_OK; ++i)
        if (argc < 2 || strcmp(argv[1], cases[i].name) == 0) status = bench_one(&cases[i], device);
    if (status != PS_OK) fprintf(stderr, "bench_prism_sum: %s\n", ps_message());
    return status;
}
