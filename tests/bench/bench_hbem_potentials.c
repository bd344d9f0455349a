/*
 * hbem potentials on CPU cores: nanoseconds of one core per source point and target, of the double
 * layer at points 20 km away and far away, with one and eight densities. One JSON record a line.
 *
 * The floor is the issue of the vector instructions of the kernel functions (38 and 58) and of
 * four multiply-adds a density, one a cycle at the clock that independent multiply-adds show.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "kernels/hbem/potentials.h"
#include "runtime/scope.h"
#include "tests/support/hbem_case.h"
#include "tests/support/peak_flops.h"
#include "tests/support/record.h"

enum { TARGETS = 256, COLUMNS = 8 };

static double nanoseconds(ps_hbem_potential_task *task)
{
    PS_SCOPED(hbem_workspace_free)
    ps_hbem_workspace w = hbem_workspace_make(ps_hbem_potentials_bytes(task, 1));
    double best = 1e30;
    for (int trial = 0; trial < 4; ++trial) {
        double start = thread_seconds();
        ps_hbem_potentials(task, 1, w.base);
        best = fmin(best, thread_seconds() - start);
    }
    return 1e9 * best / (6. * (double)task->space->surface->triangle_count * TARGETS);
}

int main(void)
{
    PS_SCOPED(hbem_case_release) hbem_case c = {0};
    ps_hbem_rule rule;
    omp_set_num_threads(1);
    hbem_case_sphere(&c, 40); /* 12,800 triangles */
    hbem_case_finish(&c, PS_SPACE_P1, 1e-3);
    ps_hbem_rule_six(&rule);
    PS_SCOPED_MEMORY double *densities = calloc((size_t)(2 * COLUMNS * c.space.dofs), 8);
    double targets[3 * TARGETS] = {0}, values[2 * COLUMNS * TARGETS] = {0};
    double instruction = 1e9 * 8 * 2 / peak_flops();
    for (int64_t i = 0; i < 2 * COLUMNS * c.space.dofs; ++i) densities[i] = sin(.1 * (double)i);
    for (int far = 0; far < 2; ++far)
        for (int columns = 1; columns <= COLUMNS; columns += COLUMNS - 1) {
            for (int i = 0; i < TARGETS; ++i) {
                targets[3 * i] = (far ? 1 : 2e4) * cos(2 * M_PI * i / TARGETS);
                targets[3 * i + 1] = (far ? 1 : 2e4) * sin(2 * M_PI * i / TARGETS);
            }
            ps_hbem_potential_task task = {.kind =
                                               far ? PS_POTENTIAL_FAR_DOUBLE : PS_POTENTIAL_DOUBLE,
                                           .wavenumber = 4.2,
                                           .factor = 1,
                                           .space = &c.space,
                                           .rule = &rule,
                                           .columns = columns,
                                           .densities = densities,
                                           .target_count = TARGETS,
                                           .targets = targets,
                                           .values = values};
            double value = nanoseconds(&task),
                   floor = instruction * ((far ? 38 : 58) + 4 * columns) / 8;
            bench_record_core(
                text("hbem-potential/%sdouble-layer-fp64", far ? "far-" : ""),
                "time per source and target", value, "ns", floor,
                text("12,800 triangles, 6 points, 256 targets, %d densities", columns));
        }
    return 0;
}
