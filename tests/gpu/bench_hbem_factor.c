/*
 * bench_hbem_factor: sparse factors of the square-root operator (k = 4.19, four terms) of a hull of
 * 114,242 unknowns and of a sphere of 115,602 on a CUDA device: making them, and applying them to
 * vectors of host memory. Best of five. JSON records; talk on stderr.
 *
 * Floors: for making, nothing is claimed; for applying, A^-1 once and W twice at 4.58 TB/s, and
 * vectors to the device and back at 55 GB/s.
 */
#include <stdio.h>

#include "runtime/memory.h"
#include "runtime/program.h"
#include "tests/support/hbem_bodies.h"
#include "tests/support/hbem_factor_device.h"
#include "tests/support/record.h"

enum { ROUNDS = 5, SIDES = 8 };

static void record(const char *name, const factor_place *p, const char *what, double value,
                   double floor)
{
    bench_record(bench_device(ps_stream_device(p->f.stream)), text("hbem-factor/%s", name), what,
                 1e3 * value, "ms", 1e3 * floor,
                 text("N = %lld, %d shifts, %.3g GB", (long long)p->d.dofs, p->f.count,
                      16e-9 * (double)(p->f.count * p->d.numbers)));
}

/* Bytes that a solution reads of a factor. */
static double bytes_read(const ps_dissection *d)
{
    double bytes = 0;
    for (int64_t node = 0; node < d->nodes; ++node) {
        double pivots = (double)ps_dissection_pivots(d, node);
        bytes += 16 * pivots * (pivots + 2 * (double)ps_dissection_rows(d, node));
    }
    return bytes;
}

static void bench(const char *name, factor_place *p, ps_stream *stream)
{
    static const int64_t sides[] = {1, 2, 4, 8};
    double weight[PS_FACTOR_SHIFTS][2] = {{1, 0}, {0, 1}, {1, 1}}, start, best = INFINITY;
    factor_place_open(p, 4.18879, stream);
    fprintf(stderr, "%s: %lld nodes, %lld pivots and %lld rows at most\n", name,
            (long long)p->d.nodes, (long long)p->d.most_pivots, (long long)p->d.most_rows);
    for (int round = 0; round < ROUNDS; ++round) {
        start = ps_clock();
        must(ps_factor_device_make(&p->f, &p->sparse, p->firsts, p->memory, p->scratch));
        best = fmin(best, ps_clock() - start);
    }
    record(name, p, "factors made", best, 0);
    int64_t size = 2 * p->d.dofs;
    double *b = calloc((size_t)(2 * SIDES * size), 8), *y = b + SIDES * size;
    for (int64_t i = 0; i < SIDES * size; ++i) b[i] = sin((double)i);
    for (int i = 0; i < 4; ++i) {
        char what[64];
        best = INFINITY;
        for (int round = 0; round < ROUNDS; ++round) {
            start = ps_clock();
            must(ps_factor_device_apply(&p->f, sides[i], weight, b, y));
            best = fmin(best, ps_clock() - start);
        }
        snprintf(what, sizeof what, "factors applied, %lld %s", (long long)sides[i],
                 sides[i] == 1 ? "side" : "sides");
        record(name, p, what, best,
               bytes_read(&p->d) * p->f.count / 4.58e12 + 16. * (double)(sides[i] * size) / 55e9);
    }
    free(b);
    factor_place_close(p);
}

int main(void)
{
    ps_device *device = NULL;
    ps_stream *stream = NULL;
    must(ps_device_open("cuda:0", 0, &device));
    must(ps_stream_open(device, &stream));
    factor_place hull = {.memory = NULL}, ball = {.memory = NULL};
    hbem_hull_make(&hull.body, 28, 31);
    bench("hull", &hull, stream);
    hbem_case_sphere(&ball.body, 170);
    bench("sphere", &ball, stream);
    ps_stream_close(&stream);
    ps_device_close(&device);
    return 0;
}
