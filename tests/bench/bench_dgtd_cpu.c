/*
 * One leap-frog step of the dgtd kernels on one core: ns of processor time per dof (6 Np a
 * tetrahedron) and step, on a cube of 37 to 70 MB of state in fp32, twice that in fp64; the best of
 * 20 steps.
 *
 * Records dgtd-cpu-p1 .. p4: floor is the larger of counted flops at FLOPS and counted bytes at
 * BYTES, neighbours' traces free; fraction is floor/value.
 */
#include <omp.h>
#include <stdio.h>

#include "tests/support/dgtd_case.h"
#include "tests/support/record.h"
#include "tests/support/thread_clock.h"

/* One core of a Xeon with AVX-512: 16 independent chains of FMA in fp32; an array of 200 MB scaled
 * in place, read and written. */
static const double FLOPS = 213.6e9, BYTES = 22.2e9;
static const double best_peer[4] = {6.9, 11.5, 18.0, 28.0}, aim[4] = {2.0, 2.5, 3.5, 5.0};

/* Flops of one element and step as half_step does them: covariant components 15 Np, curls 12 nnz,
 * lifts 16 Np Nf + Np (the sums of face 2), jumps 4 Nf (10 + 2), update 24 Np, all twice. */
static double flops_of(const dgtd_case *x)
{
    double np = x->reference.nodes, nf = x->reference.face_nodes;
    double nnz = x->operators->row_start[3 * x->reference.nodes] / 3.;
    return 2 * (15 * np + 12 * nnz + 16 * np * nf + 2 * np + 52 * nf + 24 * np);
}

/* Bytes of one element and step: both fields read for each half step, one written; geometry,
 * links, kinds and material twice. */
static double bytes_of(const dgtd_case *x)
{
    double real = x->system.precision == PS_SINGLE ? 4 : 8;
    return 2 * (9 * x->reference.nodes * real + 9 * real + 16 + 2);
}

static double best_time(dgtd_case *x, int turns)
{
    double best = 1e30;
    ps_dgtd_march m = {.system = &x->system, .electric = x->field[0], .magnetic = x->field[1]};
    for (int k = 0; k < turns; ++k) {
        double start = thread_seconds();
        ps_dgtd_march_steps(&m, 1);
        best = fmin(best, thread_seconds() - start);
    }
    return best;
}

static ps_status measure(int order, ps_precision precision)
{
    static const int sides[4] = {40, 34, 28, 24};
    dgtd_case x;
    ps_dgtd_material vacuum = {1, 1, 0};
    dgtd_mode mode = {0};
    memset(&x, 0, sizeof x);
    PS_TRY(cube_tets_init(&x.mesh, sides[order - 1], 0, PS_DGTD_PEC));
    PS_TRY(dgtd_case_init(&x, order, precision, &vacuum, 1));
    ps_dgtd_set_step(&x.system, &vacuum, .9 * dgtd_kuhn_limit(order, sides[order - 1]));
    dgtd_case_interpolate(&x, PS_DGTD_E, dgtd_mode_value, &mode, 0);
    double dofs = 6. * x.reference.nodes, elements = (double)x.mesh.elements;
    double value = 1e9 * best_time(&x, 20) / (dofs * elements);
    double wide = precision == PS_SINGLE ? 1 : 2;
    double floor = 1e9 * fmax(wide * flops_of(&x) / FLOPS, bytes_of(&x) / BYTES) / dofs;
    const char *name = precision == PS_SINGLE ? "fp32" : "fp64";
    fprintf(stderr,
            "P%d %s: %.2f ns a dof and step (aim %.1f, best peer in fp32 %.1f), %.0f flop "
            "and %.0f byte an element, floor %.2f\n",
            order, name, value, aim[order - 1], best_peer[order - 1], flops_of(&x), bytes_of(&x),
            floor);
    bench_record("cpu", text("dgtd-cpu-p%d", order),
                 text("time per dof and step, one core, %s", name), value, "ns", floor,
                 text("%.0f tetrahedra", elements));
    dgtd_case_release(&x);
    return PS_OK;
}

int main(void)
{
    omp_set_num_threads(1);
    for (int precision = PS_SINGLE; precision <= PS_DOUBLE; ++precision)
        for (int order = 1; order <= 4; ++order)
            if (measure(order, (ps_precision)precision) != PS_OK) {
                fprintf(stderr, "bench_dgtd_cpu: %s\n", ps_message());
                return 1;
            }
    return 0;
}
