/*
 * bench_hbem_potentials: the field of Vater, Betcke, Dilba's submarine on a CUDA device: 231,200
 * triangles (of a sphere here), 6 points, 3,600 targets at 20 km, k = 4.18879; and far fields;
 * one and eight densities. JSON records.
 *
 * Floor: fp64 instructions of a source and target at 16.1e12/s, reciprocal roots at 1.63e12/s,
 * sines with cosines at .39e12/s; fp32: phases and lengths in fp64, and the larger of the other
 * pipes' times, fp32 at 27.9e12/s and special functions with conversions at 4.07e12/s.
 */
#include <stdio.h>

#include "tests/support/device_clock.h"
#include "tests/support/hbem_potential_device.h"
#include "tests/support/record.h"

enum { TARGETS = 3600, ROUNDS = 3 };

/* Picoseconds a source and target. */
static double floor_time(ps_hbem_potential kind, ps_precision precision, int columns)
{
    bool far = kind >= PS_POTENTIAL_FAR_SINGLE;
    double sums = 4. * columns;
    if (precision == PS_DOUBLE)
        return far ? (3 + 1 + 3 + 2 + sums) / 16.1 + 1 / .39
                   : (3 + 3 + 2 + 3 + 3 + 1 + 4 + sums) / 16.1 + 1 / 1.63 + 1 / .39;
    double wide = far ? (3 + 1 + 3 + 3) / 16.1 : (3 + 3 + 2 + 3 + 3 + 1 + 3) / 16.1 + 1 / 1.63;
    double narrow = (5 + sums) / 27.9, special = (far ? 4 : 5) / 4.07;
    return fmax(wide, fmax(narrow, special));
}

static void bench(ps_hbem_potential_task *task, ps_precision precision, ps_device *device,
                  ps_stream *stream)
{
    static const char *const names[] = {"single", "double", "far-single", "far-double"};
    PS_SCOPED(device_clock_close) device_clock clock = {0};
    potential_place place;
    double seconds;
    must(device_clock_open(&clock, stream));
    potential_place_open(&place, task, precision, stream);
    for (int round = -1; round < ROUNDS; ++round) {
        if (round == 0) must(device_clock_start(&clock));
        potential_place_run(&place, task);
    }
    must(device_clock_stop(&clock, &seconds));
    potential_place_close(&place);
    double pairs = (double)task->target_count * task->rule->count *
                   (double)task->space->surface->triangle_count;
    double value = 1e12 * seconds / ROUNDS / pairs,
           least = floor_time(task->kind, precision, task->columns);
    bench_record(bench_device(device),
                 text("hbem-potential/%s-layer-%s", names[task->kind],
                      precision == PS_SINGLE ? "fp32" : "fp64"),
                 "time per source and target", value, "ps", least,
                 text("231,200 triangles, 6 points, 3,600 targets, %d densities: %.4g s",
                      task->columns, seconds / ROUNDS));
}

int main(void)
{
    PS_SCOPED(hbem_case_release) hbem_case c = {0};
    ps_hbem_rule rule;
    ps_device *device = NULL;
    ps_stream *stream = NULL;
    must(ps_device_open("cuda:0", 0, &device));
    must(ps_stream_open(device, &stream));
    hbem_case_sphere(&c, 170);
    hbem_case_finish(&c, PS_SPACE_P1, 1e-3);
    ps_hbem_rule_six(&rule);
    PS_SCOPED_MEMORY double *targets = calloc(3 * TARGETS, 8),
                            *densities = calloc((size_t)(16 * c.space.dofs), 8);
    for (int64_t i = 0; i < 16 * c.space.dofs; ++i) densities[i] = sin(.1 * (double)i);
    for (int kind = PS_POTENTIAL_DOUBLE; kind <= PS_POTENTIAL_FAR_DOUBLE; kind += 2) {
        for (int i = 0; i < TARGETS; ++i) {
            targets[3 * i] = (kind == PS_POTENTIAL_DOUBLE ? 2e4 : 1) * cos(2 * M_PI * i / TARGETS);
            targets[3 * i + 1] =
                (kind == PS_POTENTIAL_DOUBLE ? 2e4 : 1) * sin(2 * M_PI * i / TARGETS);
        }
        for (int columns = 1; columns <= 8; columns += 7)
            for (int precision = PS_SINGLE; precision <= PS_DOUBLE; ++precision) {
                ps_hbem_potential_task task = {.kind = (ps_hbem_potential)kind,
                                               .wavenumber = 4.18879,
                                               .factor = 1,
                                               .space = &c.space,
                                               .rule = &rule,
                                               .columns = columns,
                                               .densities = densities,
                                               .target_count = TARGETS,
                                               .targets = targets};
                bench(&task, (ps_precision)precision, device, stream);
            }
    }
    ps_stream_close(&stream);
    ps_device_close(&device);
    return 0;
}
