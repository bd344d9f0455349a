/*
 * check_hbem_potentials: sums of densities on a CUDA device against those of the processor: all
 * kinds, Laplace, waves and absorption, both precisions, spaces, odd numbers of triangles, targets
 * and densities, 6 and 16 points, targets near by and 20 km away (k r = 84,000). Of the largest
 * value fp64 is within 1e-12 and the rounding of the phase, fp32 within 5e-6 (double layers cancel
 * to a tenth). Twice the same bits. An argument "small" takes a second's work. Ends with "N passed,
 * N failed, N skipped".
 */
#include <stdio.h>

#include "kernels/common/vec3.h"
#include "tests/check.h"
#include "tests/support/distance.h"
#include "tests/support/hbem_potential_device.h"
#include "tests/support/verdict.h"

static uint64_t seed = 3;

typedef struct sizes {
    int n; /* of the sphere */
    ps_hbem_space_kind space;
    int64_t targets;
    int columns, points;
    double distance, k;
} sizes;

static double *random_numbers(int64_t count)
{
    double *out = calloc((size_t)count, sizeof *out);
    for (int64_t i = 0; i < count; ++i) out[i] = 2 * check_random(&seed) - 1;
    return out;
}

static double *random_targets(int64_t count, double distance)
{
    double *out = random_numbers(3 * count);
    for (int64_t i = 0; i < count; ++i) {
        double *x = out + 3 * i, r = ps_norm3(x);
        for (int c = 0; c < 3; ++c)
            x[c] *= distance * (1 + (distance > 1) * .1 * (double)(i % 7)) / r;
    }
    return out;
}

static void judge(const ps_hbem_potential_task *task, const sizes *s, ps_precision precision,
                  const double *expected, const double *got, bool same)
{
    int64_t count = s->targets * s->columns * ps_hbem_potential_parts(task->kind, task->wavenumber);
    double off = relative_most(got, expected, count),
           bound = precision == PS_SINGLE ? 5e-6 : 1e-12 + 2e-16 * task->wavenumber * s->distance;
    bool good = off <= bound && same;
    verdict_count(good);
    if (!good || precision == PS_SINGLE)
        printf(
            "%s kind %d k %g + %gi %s, %d triangles, %d targets, %d columns, %d points: %.2e%s\n",
            good ? "ok" : "FAILED", task->kind, task->wavenumber, task->absorption,
            precision == PS_SINGLE ? "fp32" : "fp64", (int)task->space->surface->triangle_count,
            (int)s->targets, s->columns, s->points, off, same ? "" : ", bits differ");
}

static void check_task(ps_hbem_potential_task *task, const sizes *s)
{
    int64_t count = s->targets * s->columns * ps_hbem_potential_parts(task->kind, task->wavenumber);
    PS_SCOPED_MEMORY double *expected = calloc((size_t)(3 * count), sizeof *expected);
    double *got = expected + count;
    PS_SCOPED(hbem_workspace_free)
    ps_hbem_workspace w = hbem_workspace_make(ps_hbem_potentials_bytes(task, 8));
    task->values = expected;
    ps_hbem_potentials(task, 8, w.base);
    for (int precision = PS_SINGLE; precision <= PS_DOUBLE; ++precision) {
        memset(got, 0, (size_t)(2 * count) * sizeof *got);
        for (int round = 0; round < 2; ++round) {
            potential_place place;
            task->values = got + round * count;
            potential_place_open(&place, task, (ps_precision)precision, verdict.stream);
            potential_place_run(&place, task);
            potential_place_fetch(&place, task);
            potential_place_close(&place);
        }
        bool same = memcmp(got, got + count, (size_t)count * sizeof *got) == 0;
        judge(task, s, (ps_precision)precision, expected, got, same);
    }
}

static void check(const sizes *s)
{
    PS_SCOPED(hbem_case_release) hbem_case c = {0};
    ps_hbem_rule rule;
    hbem_case_sphere(&c, s->n);
    --c.surface.triangle_count; /* an odd number; sums do not mind the hole */
    hbem_case_finish(&c, s->space, 1e-3);
    if (s->points == 6)
        ps_hbem_rule_six(&rule);
    else
        ps_hbem_rule_collapsed(4, &rule);
    PS_SCOPED_MEMORY double *densities = random_numbers(2 * s->columns * c.space.dofs);
    for (int64_t i = 0; i < 2 * s->columns * c.space.dofs; ++i) densities[i] += 1.5;
    for (int kind = 0; kind < PS_HBEM_POTENTIALS; ++kind)
        for (int wave = kind >= PS_POTENTIAL_FAR_SINGLE;
             wave < (kind < PS_POTENTIAL_FAR_SINGLE ? 3 : 2); ++wave) {
            PS_SCOPED_MEMORY double *targets =
                random_targets(s->targets, kind >= PS_POTENTIAL_FAR_SINGLE ? 1 : s->distance);
            ps_hbem_potential_task task = {.kind = (ps_hbem_potential)kind,
                                           .wavenumber = wave ? s->k : 0,
                                           .absorption = wave == 2 ? .7 / s->distance : 0,
                                           .factor = -1.5,
                                           .space = &c.space,
                                           .rule = &rule,
                                           .columns = s->columns,
                                           .densities = densities,
                                           .target_count = s->targets,
                                           .targets = targets};
            check_task(&task, s);
        }
}

int main(int argc, char **argv)
{
    static const sizes cases[] = {{3, PS_SPACE_P1, 1, 1, 6, 3, 4.2},
                                  {5, PS_SPACE_DP1, 129, 3, 16, 1.3, 1},
                                  {19, PS_SPACE_P1, 257, 8, 6, 2e4, 4.2},
                                  {40, PS_SPACE_P0, 131, 1, 6, 2, 30},
                                  {70, PS_SPACE_P1, 500, 1, 6, 2e4, 4.2}};
    if (!verdict_open(0)) return verdict_end();
    int count = (int)(sizeof cases / sizeof *cases);
    if (argc > 1) count = strcmp(argv[1], "small") == 0 ? 2 : 1; /* "small", "tiny" */
    for (int i = 0; i < count; ++i) check(&cases[i]);
    return verdict_end();
}
