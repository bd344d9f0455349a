/*
 * check_certificate: products of the passivity certificate on the first CUDA device against their
 * definition: H, of which one square of a mirrored pair is there, and A; one tile, whole tiles and
 * a shorter last one, two angles. Errors are relative to the largest component. Ends with "N
 * passed, N failed, N skipped".
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "stage/tdbem_assembly/certificate_device.h"
#include "tests/support/distance.h"
#include "tests/support/random.h"
#include "tests/support/verdict.h"

typedef struct certificate_case {
    int64_t unknowns, side;
    int parts;
} certificate_case;

enum { ANGLES = 2 };
static const double tolerance = 1e-14;
static const certificate_case cases[] = {{100, 256, 1}, {100, 256, 2},  {768, 256, 1},
                                         {768, 256, 2}, {1100, 256, 1}, {1100, 256, 2}};
enum { CASES = sizeof cases / sizeof *cases };
static uint64_t seed = 3;

static double any(void) { return 2 * congruence_uniform(&seed) - 1; }

/* Part `part` of entry (i, j) at an angle: of H symmetric. */
static float entry(const certificate_case *c, const float *random, int angle, int part, int64_t i,
                   int64_t j)
{
    int64_t n = c->unknowns, low = i < j ? i : j, high = i < j ? j : i;
    if (c->parts == 2) low = i, high = j;
    return random[((angle * 2 + part) * n + low) * n + high];
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* The squares on and above the diagonal; of A all. */
static void fill(const certificate_case *c, const float *random, int64_t tiles,
                 certificate_block *blocks)
{
    for (int64_t b = 0; b < tiles * tiles; ++b) {
        int64_t row = b % tiles, column = b / tiles;
        certificate_block *block = &blocks[b];
        if (c->parts == 1 && row > column) continue;
        *block = (certificate_block){row * c->side, smaller(c->side, c->unknowns - row * c->side),
                                     column * c->side,
                                     smaller(c->side, c->unknowns - column * c->side), NULL};
        int64_t at = 0, entries = block->rows * block->slices;
        block->values = malloc((size_t)(ANGLES * c->parts * entries) * sizeof(float));
        for (int part = 0; part < c->parts; ++part)
            for (int angle = 0; angle < ANGLES; ++angle)
                for (int64_t s = 0; s < block->slices; ++s)
                    for (int64_t r = 0; r < block->rows; ++r)
                        block->values[at++] = entry(c, random, angle, part, block->first_row + r,
                                                    block->first_slice + s);
    }
}

/* H x or (A + A^H) x / 2. */
static void define(const certificate_case *c, const float *random, int angle, const double *x,
                   double *y)
{
    int64_t n = c->unknowns;
    for (int64_t i = 0; i < n; ++i) {
        long double real = 0, imaginary = 0;
        for (int64_t j = 0; j < n; ++j) {
            long double re = entry(c, random, angle, 0, i, j), im = 0;
            if (c->parts == 2) {
                re = (re + entry(c, random, angle, 0, j, i)) / 2;
                im = ((long double)entry(c, random, angle, 1, i, j) -
                      entry(c, random, angle, 1, j, i)) /
                     2;
                imaginary += re * x[n + j] + im * x[j];
                real -= im * x[n + j];
            }
            real += re * x[j];
        }
        y[i] = (double)real;
        if (c->parts == 2) y[n + i] = (double)imaginary;
    }
}

static ps_status run(ps_device *device, const certificate_case *c, double *worst)
{
    int64_t n = c->unknowns, tiles = (n + c->side - 1) / c->side, count = c->parts * n;
    float *random = malloc((size_t)(2 * ANGLES * n * n) * sizeof *random);
    certificate_block *blocks = calloc((size_t)(tiles * tiles), sizeof *blocks);
    double *x = malloc((size_t)(3 * count) * sizeof *x), *y = x + count, *truth = y + count;
    certificate_device *on = NULL;
    for (int64_t i = 0; i < 2 * ANGLES * n * n; ++i) random[i] = (float)any();
    for (int64_t i = 0; i < count; ++i) x[i] = any();
    fill(c, random, tiles, blocks);
    const certificate_squares squares = {blocks, n, c->side, tiles, ANGLES, c->parts};
    ps_status status = certificate_device_open(device, INT64_MAX, &squares, &on);
    if (status == PS_OK && !on) status = ps_fail(PS_FAILED, "no room on the device");
    for (int angle = 0; angle < ANGLES && status == PS_OK; ++angle) {
        double largest = 0;
        status = certificate_device_load(on, angle);
        if (status == PS_OK) status = certificate_device_multiply(on, x, y);
        define(c, random, angle, x, truth);
        for (int64_t i = 0; i < count; ++i) largest = worse_of(largest, fabs(truth[i]));
        for (int64_t i = 0; i < count; ++i)
            if (!(fabs(y[i] - truth[i]) <= *worst * largest))
                *worst = fabs(y[i] - truth[i]) / largest;
    }
    certificate_device_close(&on);
    for (int64_t b = 0; b < tiles * tiles; ++b) free(blocks[b].values);
    free(blocks);
    free(random);
    free(x);
    return status;
}

int main(void)
{
    for (int i = verdict_open(0) ? 0 : CASES; i < CASES; ++i) {
        double worst = 0;
        ps_status status = run(verdict.device, &cases[i], &worst);
        bool good = status == PS_OK && worst <= tolerance;
        printf("%s %lld unknowns, %s: off by %.2g%s%s\n", good ? "ok" : "FAILED",
               (long long)cases[i].unknowns, cases[i].parts == 2 ? "A" : "H", worst,
               status == PS_OK ? "" : ": ", status == PS_OK ? "" : ps_message());
        verdict_count(good);
    }
    return verdict_end();
}
