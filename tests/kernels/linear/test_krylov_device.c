/* What of the device's Krylov methods, products and slabs needs no device: the decisions between
 * passes, the model of marches, and what is refused. */
#include "kernels/linear/krylov_device.h"

#include "kernels/schwarz/slab_device.h"
#include "kernels/schwarz/traces_device.h"
#include "kernels/linear/vectors_device.h"
#include "tests/check.h"
#include "tests/support/cpu_device.h"

/* Takes a step after the pass that the state asks for returned these sums. */
static void step(ps_krylov_state *s, ps_krylov_pass pass, double s0, double s1, double s2)
{
    assert_int_equal(s->pass, pass);
    s->sums[0] = s0, s->sums[1] = s1, s->sums[2] = s2;
    ps_krylov_state_step(s);
}

/* P-CG by hand: b.b = 4, r.z = 2, p.q = 8 gives alpha 1/4; then r.z = 1 gives beta 1/2. */
static void gradients(void **state)
{
    ps_krylov_state s;
    ps_krylov_state_begin(PS_KRYLOV_CG, 0.1, 10, &s);
    step(&s, PS_CG_START, 4, 4, 2);
    check_near(s.scalars[0], 0, 0, 0);
    step(&s, PS_CG_DIRECTION, 8, 0, 0);
    check_near(s.scalars[0], 0.25, 0, 0);
    step(&s, PS_CG_ADVANCE, 1, 1, 0);
    check_near(s.scalars[0], 0.5, 0, 0);
    check_near(s.residual, 0.5, 0, 0);
    step(&s, PS_CG_DIRECTION, 2, 0, 0);
    step(&s, PS_CG_ADVANCE, 0.04, 0.02, 0); /* 0.2 / 2 is what is asked for */
    assert_int_equal(s.pass, PS_KRYLOV_PASSES);
    assert_int_equal(s.verdict, PS_KRYLOV_CONVERGED);
    assert_int_equal(s.iterations, 2);
    check_ok(ps_krylov_state_judge(&s));
    ps_krylov_state_step(&s); /* launches after the verdict change nothing */
    assert_int_equal(s.iterations, 2);
}

/* BiCGStab whose half step is enough leaves the turn out; omega is 0 then. */
static void half_step(void **state)
{
    ps_krylov_state s;
    ps_krylov_state_begin(PS_KRYLOV_BICGSTAB, 0.1, 10, &s);
    step(&s, PS_STAB_START, 1, 1, 0);
    step(&s, PS_STAB_DIRECTION, 2, 0, 0);
    step(&s, PS_STAB_HALF, 0.25, 0, 0);
    step(&s, PS_STAB_TURN, 1, 4, 0);
    check_near(s.scalars[0], 0.5, 0, 0);
    check_near(s.scalars[1], 0.25, 0, 0);
    step(&s, PS_STAB_ADVANCE, 0.04, 0.5, 0);
    check_near(s.scalars[0], 0.5 / 1 * (0.5 / 0.25), 1e-15, 0); /* (rho / rho') (alpha / omega) */
    check_near(s.scalars[1], 0.25, 0, 0);
    step(&s, PS_STAB_DIRECTION, 1, 0, 0);
    step(&s, PS_STAB_HALF, 1e-4, 0, 0);
    assert_int_equal(s.pass, PS_STAB_ADVANCE);
    check_near(s.scalars[1], 0, 0, 0);
    step(&s, PS_STAB_ADVANCE, 1e-4, 0, 0);
    assert_int_equal(s.verdict, PS_KRYLOV_CONVERGED);
    assert_int_equal(s.iterations, 2);
}

static void verdicts(void **state)
{
    ps_krylov_state s;
    ps_krylov_state_begin(PS_KRYLOV_CG, 1e-6, 1, &s);
    step(&s, PS_CG_START, 1, 1, 1);
    step(&s, PS_CG_DIRECTION, -1, 0, 0);
    check_fails(ps_krylov_state_judge(&s), PS_FAILED, "indefinite");
    ps_krylov_state_begin(PS_KRYLOV_BICGCR, 1e-6, 1, &s);
    step(&s, PS_CR_START, 1, 1, 1);
    step(&s, PS_CR_DIRECTION, 1, 0, 0);
    step(&s, PS_CR_ADVANCE, 1, 1, 0);
    check_fails(ps_krylov_state_judge(&s), PS_FAILED, "after 1 iterations");
    ps_krylov_state_begin(PS_KRYLOV_CG, 1e-6, 1, &s);
    step(&s, PS_CG_START, 1, NAN, 1);
    check_fails(ps_krylov_state_judge(&s), PS_FAILED, "not finite");
    ps_krylov_state_begin(PS_KRYLOV_CG, 1e-6, 1, &s);
    step(&s, PS_CG_START, 0, 0, 0); /* b = 0 */
    check_ok(ps_krylov_state_judge(&s));
    check_near(s.residual, 0, 0, 0);
}

/* Marches grow with the box and shrink with the card, within bounds. */
static void marches(void **state)
{
    ps_slab_stencil small = {.nodes = {36, 36, 38}}, middle = {.nodes = {116, 116, 118}};
    ps_slab_stencil large = {.nodes = {264, 264, 286}};
    assert_int_equal(ps_stencil_device_planes(&small, 132), 2);
    assert_in_range(ps_stencil_device_planes(&middle, 132), 6, 12);
    assert_true(ps_stencil_device_planes(&middle, 16) > ps_stencil_device_planes(&middle, 132));
    assert_int_equal(ps_stencil_device_planes(&large, 132), 32);
}

/* On the CPU's device nothing is done silently. */
static void refused(void **state)
{
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    PS_SCOPED(ps_stream_close) ps_stream *stream = stream_on(device);
    ps_krylov_result result;
    ps_slab slab = {.grid = {{5, 5, 5}, {1, 1, 1}}};
    ps_slab_stencil stencil;
    ps_fast_device fast;
    ps_slab_device box;
    double x[125] = {0}, work[1000];
    ps_csr_device matrix;
    ps_slab_stencil_make(&slab, &stencil);
    ps_krylov_device_system system = {PS_DOUBLE, NULL, NULL, &stencil, x, x};
    ps_krylov_device_control control = {.tolerance = 1e-6, .limit = 10};
    check_fails(ps_krylov_device_solve(PS_KRYLOV_CG, &system, &control, work, stream, &result),
                PS_FAILED, "need a CUDA device");
    check_fails(ps_krylov_device_mixed(&system, &control, work, stream, &result), PS_FAILED,
                "need a CUDA device");
    stencil.free[1] = true;
    check_fails(ps_krylov_device_mixed(&system, &control, work, stream, &result), PS_USAGE,
                "without free faces");
    system.stencil = NULL;
    check_fails(ps_krylov_device_solve(PS_KRYLOV_CG, &system, &control, work, stream, &result),
                PS_USAGE, "a matrix with its diagonal, or a stencil");
    check_fails(ps_vector_device_scale(PS_DOUBLE, 5, 2, x, stream), PS_FAILED, "CUDA device");
    check_fails(ps_fast_device_make(PS_DOUBLE, &slab, work, stream, &fast), PS_FAILED,
                "CUDA device");
    ps_traces_device traces = {1, 5, 0, 1, stream, work, work};
    ps_interface_vectors vectors = ps_traces_device_vectors(&traces, work);
    check_fails(vectors.dots(vectors.context, 1, x, x, work), PS_FAILED, "CUDA device");
    check_fails(vectors.divide(vectors.context, 2, x), PS_FAILED, "CUDA device");
    ps_slab_device_plan plan = {.precision = PS_DOUBLE,
                                .grid = slab.grid,
                                .slabs = 9,
                                .end = 9,
                                .transmission = {.p = {1, 1}, .q = {1, 1}}};
    check_fails(ps_slab_device_make(&plan, work, stream, &box), PS_USAGE, "slabs, not 9");
    plan.slabs = 2, plan.first = 1, plan.end = 3;
    check_fails(ps_slab_device_make(&plan, work, stream, &box), PS_USAGE, "cannot be on a device");
    ps_csr_device_attach(PS_SINGLE, 10, 40, work, &matrix);
    assert_true((char *)matrix.values + 160 <=
                (char *)work + ps_csr_device_bytes(PS_SINGLE, 10, 40));
    check_fails(ps_csr_device_multiply(&matrix, x, x, stream), PS_FAILED, "CUDA device");
}
