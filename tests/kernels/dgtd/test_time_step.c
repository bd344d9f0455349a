/* time_step: the limits of the Kuhn meshes, the rule with contrasts, what happens beyond. */
#include "kernels/dgtd/time_step.h"

#include "tests/check.h"
#include "tests/support/dgtd_case.h"

static double power_limit(dgtd_case *x, const ps_dgtd_material *materials, int applications)
{
    double *weights = dgtd_take(x, 2 * (size_t)x->system.materials * sizeof *weights);
    ps_dgtd_power_scratch scratch = {x->field[0], x->field[1], x->partial, weights};
    double limit = ps_dgtd_power_limit(&x->system, materials, applications, &scratch);
    for (int field = 0; field < 2; ++field) memset(x->field[field], 0, dgtd_case_field_bytes(x));
    return limit;
}

/* Exact C: 2.618, 1.608, 1.061, .761 of min V/P = .06904/n; to .2 %. */
static void kuhn_limits(void **state)
{
    static const double exact[4] = {2.618, 1.608, 1.061, .761};
    for (int order = 1; order <= 4; ++order) {
        PS_SCOPED(dgtd_case_release) dgtd_case x = {0};
        int64_t element;
        check_ok(dgtd_case_cube(&x, order, PS_DOUBLE, 4, 0));
        double size = dgtd_least_size(&x.body, &element);
        check_near(size, .06904 / 4, 0, 2e-4);
        check_near(power_limit(&x, &dgtd_vacuum, 300) / size, exact[order - 1], 0, 2e-3);
        check_near(ps_dgtd_step_constant(order), exact[order - 1], 0, 6e-3);
    }
}

/* eps and mu that jump oppositely: the rule takes the neighbour's mu. */
static void the_rule_holds_for_opposed_contrasts(void **state)
{
    ps_dgtd_material materials[2] = {{20, 1, 0}, {1, 20, 0}};
    for (int order = 1; order <= 3; ++order) {
        PS_SCOPED(dgtd_case_release) dgtd_case x = {0};
        check_ok(cube_tets_init(&x.mesh, 3, .3, PS_DGTD_PEC));
        for (int64_t e = 0; e < x.mesh.elements; ++e) x.mesh.tags[e] = (uint16_t)(e / 9 % 2);
        check_ok(dgtd_case_init(&x, order, PS_DOUBLE, materials, 2));
        double rule = ps_dgtd_step_constant(order) * dgtd_least_size(&x.body, NULL);
        double limit = power_limit(&x, materials, 200);
        check_at_most(rule, limit * 1.001);
        check_at_most(limit, 4 * rule);
    }
}

/* The limit of an element is that of the mesh where eps is so large elsewhere that E stays 0 there:
 * jumps of mu, all faces. Inside of Kuhn's mesh it is the rule's, to a few hundredths. */
static void one_element_by_itself(void **state)
{
    const ps_dgtd_material materials[3] = {{1e10, 1, 0}, {1e10, 5, 0}, {3, 2, 0}};
    double rule = 0;
    for (int at = -1; at < 12; ++at) {
        int64_t element = at < 0 ? 78 : 13 * at;
        PS_SCOPED(dgtd_case_release) dgtd_case x = {0};
        check_ok(cube_tets_init(&x.mesh, 3, at < 0 ? 0 : .35, at % 2 ? PS_DGTD_PEC : PS_DGTD_PMC));
        for (int64_t e = 0; e < x.mesh.elements; ++e)
            x.mesh.tags[e] = (uint16_t)(at < 0 ? 0 : e % 2);
        x.mesh.tags[element] = 2;
        check_ok(dgtd_case_init(&x, 1, PS_DOUBLE, materials, 3));
        double limit = power_limit(&x, materials, 400);
        double own = ps_dgtd_element_limit(&x.body, 1, element);
        if (at < 0) rule = own / limit;
        check_near(own, rule * limit, 0, 1e-3);
        ps_dgtd_body body = x.body;
        body.material = &dgtd_vacuum;
        body.tags = NULL;
        for (int order = 1; order <= 4 && at < 0; ++order)
            check_near(ps_dgtd_element_limit(&body, order, element),
                       ps_dgtd_step_constant(order) * ps_dgtd_element_size(&body, element), 0, .05);
    }
}

/* 200 steps at .98 of the limit stay bounded, at 1.02 they grow without bounds. */
static void stable_below_the_limit_only(void **state)
{
    double size[2];
    for (int beyond = 0; beyond < 2; ++beyond) {
        PS_SCOPED(dgtd_case_release) dgtd_case x = {0};
        dgtd_mode mode = {0};
        double one = 1;
        check_ok(dgtd_case_cube(&x, 2, PS_DOUBLE, 2, .2));
        ps_dgtd_march m =
            dgtd_case_march(&x, (beyond ? 1.02 : .98) * power_limit(&x, &dgtd_vacuum, 400));
        dgtd_case_interpolate(&x, PS_DGTD_E, dgtd_mode_value, &mode, 0);
        ps_dgtd_march_steps(&m, 200);
        size[beyond] = ps_dgtd_inner(&x.system, &one, x.field[0], x.field[0], x.partial);
    }
    check_at_most(size[0], 10);
    check_at_most(1e6, size[1]);
}
