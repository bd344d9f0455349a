/* local_steps: energy, spectrum, order, classes, and that groups do not matter. */
#include "kernels/dgtd/local_steps.h"

#include "kernels/dgtd/energy.h"
#include "kernels/dgtd/local_bounds.h"
#include "tests/check.h"
#include "tests/support/dgtd_graded.h"
#include "tests/support/distance.h"

static void randomise(dgtd_case *x, ps_dgtd_field field)
{
    uint64_t seed = 5 + (uint64_t)field;
    dgtd_field_random(x, field, &seed);
}

enum { MATERIALS = 9 };

static void fill_materials(ps_dgtd_material *m)
{
    for (int i = 0; i < MATERIALS; ++i) m[i] = (ps_dgtd_material){1 + .6 * i, 1 + .2 * (i % 3), 0};
}

/* Energies by half steps that tell them, as the program has them. */
static double step_and_tell(graded *g, const ps_dgtd_material *m)
{
    static double eps[MATERIALS], mu[MATERIALS];
    ps_dgtd_march *x = &g->march;
    int64_t groups = x->system->groups;
    for (int i = 0; i < MATERIALS; ++i) eps[i] = m[i].eps, mu[i] = m[i].mu;
    PS_SCOPED_MEMORY void *former = dgtd_array(ps_dgtd_energy_bytes(x->system));
    ps_dgtd_energy energy = {.eps = eps, .mu = mu, .local = x->local, .former = former};
    double sum = 0, *terms = g->x.partial;
    ps_dgtd_local_apply(x->local, x->system, x->magnetic);
    ps_dgtd_energy_half(&energy, x, PS_DGTD_E, 0, groups, terms);
    for (int64_t k = 0; k < groups; ++k) sum += terms[k];
    ps_dgtd_local_swap(x->local, x->system, x->magnetic, 0, groups);
    ps_dgtd_energy_half(&energy, x, PS_DGTD_H, 0, groups, terms);
    for (int64_t k = 0; k < groups; ++k) sum += terms[k];
    ++x->step;
    return sum;
}

static void energy_is_kept(void **state)
{
    ps_dgtd_material m[MATERIALS];
    fill_materials(m);
    for (int order = 1; order <= 4; ++order) {
        PS_SCOPED(graded_release) graded g = {0};
        int side = order < 3 ? 4 : 3;
        double dt = step_of(order, side, .3, 12, .8, 3, m, MATERIALS);
        graded_init(&g, order, side, .3, 12, m, MATERIALS, .8, dt, PS_DOUBLE);
        assert_true(g.levels >= 3);
        randomise(&g.x, PS_DGTD_E);
        randomise(&g.x, PS_DGTD_H);
        double first = step_and_tell(&g, m);
        for (int step = 1; step < 300; ++step) check_near(step_and_tell(&g, m), first, 0, 1e-13);
    }
}

/* Conduction takes from it, in every step. */
static void losses_only_take(void **state)
{
    ps_dgtd_material m[MATERIALS];
    fill_materials(m);
    for (int i = 0; i < MATERIALS; ++i) m[i].sigma = i % 2;
    PS_SCOPED(graded_release) graded g = {0};
    double dt = step_of(2, 3, .3, 12, .8, 3, m, MATERIALS), before = INFINITY;
    graded_init(&g, 2, 3, .3, 12, m, MATERIALS, .8, dt, PS_DOUBLE);
    randomise(&g.x, PS_DGTD_E);
    for (int step = 0; step < 200; ++step) {
        double w = step_and_tell(&g, m);
        assert_true(w > 0 && w < before);
        before = w;
    }
}

/* The largest eigenvalue of a level, or of the step. */
static double bound_of(graded *g, const ps_dgtd_material *materials, int level, double risk,
                       double *shares, int *applications)
{
    double weights[MATERIALS];
    size_t bytes = dgtd_case_field_bytes(&g->x);
    ps_dgtd_local_probe probe = {.system = &g->x.system,
                                 .local = &g->steps.local,
                                 .materials = materials,
                                 .dt = g->march.dt,
                                 .electric = g->x.field[0],
                                 .magnetic = g->x.field[1],
                                 .partial = g->x.partial,
                                 .weights = weights};
    for (int k = 0; k < 3; ++k) probe.vectors[k] = dgtd_take(&g->x, bytes);
    *applications = 0;
    memset(g->x.field[1], 0, bytes);
    return ps_dgtd_local_bound(&probe, level, risk, shares, applications);
}

/* What is found of all levels tells steps that grow from those that do not. */
static void bounds_tell_stability(void **state)
{
    for (int order = 1; order <= 3; ++order)
        for (int over = 0; over < 2; ++over) {
            PS_SCOPED(graded_release) graded g = {0};
            double fraction = over ? 1.1 : .75, most = 0, first, last;
            int applications;
            double dt = step_of(order, 3, .3, 12, fraction, 4, &dgtd_vacuum, 1);
            graded_init(&g, order, 3, .3, 12, &dgtd_vacuum, 1, fraction, dt, PS_DOUBLE);
            for (int level = 0; level <= g.levels; ++level)
                most = worse_of(most, bound_of(&g, &dgtd_vacuum, level, 1e-6, NULL, &applications));
            assert_int_equal(most <= PS_DGTD_LOCAL_BOUND, !over);
            ps_dgtd_set_step(&g.x.system, &dgtd_vacuum, dt);
            memset(g.x.field[1], 0, dgtd_case_field_bytes(&g.x));
            randomise(&g.x, PS_DGTD_E);
            first =
                ps_dgtd_inner(&g.x.system, (double[]){1}, g.x.field[0], g.x.field[0], g.x.partial);
            ps_dgtd_march_steps(&g.march, 200);
            last =
                ps_dgtd_inner(&g.x.system, (double[]){1}, g.x.field[0], g.x.field[0], g.x.partial);
            assert_int_equal(last < 50 * first, !over); /* 1 over 1 less the bound */
        }
}

/* Against more applications, within what the risk allows; the vector has its share in P alone. */
static void bounds_are_eigenvalues(void **state)
{
    PS_SCOPED(graded_release) graded g = {0};
    double dt = step_of(2, 3, .3, 12, .75, 3, &dgtd_vacuum, 1);
    graded_init(&g, 2, 3, .3, 12, &dgtd_vacuum, 1, .75, dt, PS_DOUBLE);
    double *shares =
        dgtd_take(&g.x, (size_t)g.x.system.groups * PS_DGTD_LANES_F32 * sizeof *shares);
    for (int level = 0; level <= g.levels; ++level) {
        int once, more;
        double best = bound_of(&g, &dgtd_vacuum, level, 1e-16, NULL, &more), largest = 0,
               p_only = 0;
        double value = bound_of(&g, &dgtd_vacuum, level, 1e-6, shares, &once),
               numbers = 30. * g.x.mesh.elements;
        assert_true(once / 2 < more && value < best * (1 + 1e-9));
        assert_true(value > best * (1 - ps_dgtd_local_gap(numbers, once / 2, 1e-6)));
        for (int64_t e = 0; e < g.x.mesh.elements; ++e) {
            largest = worse_of(largest, shares[e]);
            if (level < g.levels && ps_dgtd_reach_p(g.reach[e]) <= level)
                p_only = worse_of(p_only, shares[e]);
        }
        assert_true(largest == 1 && p_only == 0);
    }
}

enum { LEFT, RIGHT, ODD, ODD_MEDIA };

/* A cube of equal elements, of which those at the left make two steps and the others, of four times
 * their eps, one. An element there has less: its own mode, of next to no weight among all, is what
 * has the largest eigenvalue. */
static void odd_init(graded *g, int64_t side, const ps_dgtd_material *materials, double fraction)
{
    dgtd_case *x = &g->x;
    memset(g, 0, sizeof *g);
    check_ok(cube_tets_init(&x->mesh, side, 0, PS_DGTD_PEC));
    int64_t elements = x->mesh.elements;
    graded_classes(g);
    for (int64_t e = 0; e < elements; ++e) {
        double right = 0;
        for (int i = 0; i < 4; ++i)
            right += x->mesh.vertices[3 * (int64_t)x->mesh.tetrahedra[4 * e + i]] / 4;
        x->mesh.tags[e] = right > .5 ? RIGHT : LEFT;
        g->classes[e] = right <= .5;
    }
    x->mesh.tags[elements - 1] = ODD;
    g->classes[elements - 1] = 0;
    check_ok(dgtd_case_init(x, 1, PS_SINGLE, materials, ODD_MEDIA));
    graded_open(g, fraction / ps_dgtd_local_ratio() * ps_dgtd_step_constant(1) *
                       dgtd_least_size(&x->body, NULL));
}

static double electric_energy(graded *g, const ps_dgtd_material *m)
{
    const double weights[] = {m[0].eps, m[1].eps, m[2].eps};
    return ps_dgtd_inner(&g->x.system, weights, g->x.field[0], g->x.field[0], g->x.partial);
}

/* Values that no longer change end at .9735 after 15 applications with the odd element and without,
 * as its mode is not seen yet; with it a march grows. */
static void no_mode_stays_unseen(void **state)
{
    for (int odd = 0; odd < 2; ++odd) {
        const ps_dgtd_material m[ODD_MEDIA] = {{1, 1, 0}, {4, 1, 0}, {odd ? 2.72 : 3.4, 1, 0}};
        PS_SCOPED(graded_release) graded g = {0};
        int applications;
        odd_init(&g, 14, m, .97);
        assert_int_equal(g.levels, 1);
        assert_true(bound_of(&g, m, 0, 1e-6, NULL, &applications) < .93);
        double bound = bound_of(&g, m, 1, 1e-6, NULL, &applications), first, last;
        if (odd)
            assert_true(bound > 1);
        else
            check_near(bound, .98, .001, 0);
        ps_dgtd_set_step(&g.x.system, m, g.march.dt);
        memset(g.x.field[1], 0, dgtd_case_field_bytes(&g.x));
        randomise(&g.x, PS_DGTD_E);
        first = electric_energy(&g, m);
        ps_dgtd_march_steps(&g.march, 100);
        last = electric_energy(&g, m);
        assert_int_equal(last < 50 * first, !odd);
    }
}

static double cavity_error(int order, int64_t side, bool local)
{
    static dgtd_rule rule;
    dgtd_mode mode = {0};
    PS_SCOPED(graded_release) graded g = {0};
    double fraction = local ? .75 : .9;
    double dt = step_of(order, side, 0, 7, fraction, local ? 3 : 0, &dgtd_vacuum, 1);
    int64_t steps = (int64_t)ceil(1 / dt);
    graded_init(&g, order, side, 0, 7, &dgtd_vacuum, 1, fraction, 1 / (double)steps, PS_DOUBLE);
    assert_int_equal(g.levels, local ? 3 : 0);
    dgtd_rule_init(&rule, &g.x.reference, order + 3);
    return dgtd_march_error(&g.x, &g.march, &rule, dgtd_mode_value, &mode, steps, local ? 1 : 6);
}

/* Errors fall with the mesh as those of one step for all, whose steps are eight times smaller. */
static void cavity_has_the_order_of_one_step(void **state)
{
    for (int order = 1; order <= 3; ++order) {
        int64_t side = order < 3 ? 4 : 2;
        double one[2], local[2];
        for (int fine = 0; fine < 2; ++fine) {
            one[fine] = cavity_error(order, side << fine, false);
            local[fine] = cavity_error(order, side << fine, true);
        }
        assert_true(local[0] / local[1] > .98 * one[0] / one[1]);
        check_near(local[1], one[1], 0, .2);
    }
}

/* A rank may have no element of the deepest levels; the swap leaves H as it was. */
static void levels_without_elements_change_nothing(void **state)
{
    PS_SCOPED(graded_release) graded g = {0};
    double dt = step_of(2, 3, .3, 12, .8, 2, &dgtd_vacuum, 1);
    graded_init(&g, 2, 3, .3, 12, &dgtd_vacuum, 1, .8, dt, PS_SINGLE);
    size_t bytes = dgtd_case_field_bytes(&g.x);
    randomise(&g.x, PS_DGTD_H);
    void *start = dgtd_take(&g.x, bytes), *once = dgtd_take(&g.x, bytes);
    memcpy(start, g.x.field[1], bytes);
    ps_dgtd_local_apply(&g.steps.local, &g.x.system, g.x.field[1]);
    memcpy(once, g.x.field[1], bytes);
    assert_true(memcmp(once, start, bytes) != 0);
    ps_dgtd_local_close(&g.steps);
    check_ok(ps_dgtd_local_open(&g.steps, &g.x.system, &dgtd_vacuum, g.reach, g.levels + 1, dt,
                                (int64_t)bytes));
    memcpy(g.x.field[1], start, bytes);
    ps_dgtd_local_apply(&g.steps.local, &g.x.system, g.x.field[1]);
    check_at_most(dgtd_field_apart(&g.x, g.x.field[1], &g.x, once), 2e-6);
    memcpy(g.x.field[1], start, bytes);
    ps_dgtd_local_keep(&g.steps.local, &g.x.system, g.x.field[1], 0, g.x.system.groups);
    ps_dgtd_local_swap(&g.steps.local, &g.x.system, g.x.field[1], 0, g.x.system.groups);
    assert_memory_equal(g.x.field[1], start, bytes);
}

static void reaches_grow_by_neighbours(void **state)
{
    PS_SCOPED(cube_tets_release) cube_tets mesh = {0};
    check_ok(cube_tets_init(&mesh, 3, 0, PS_DGTD_PEC));
    uint8_t *classes = pool_take(&mesh.memory, 4 * (size_t)mesh.elements),
            *reach = classes + mesh.elements, *marks = reach + mesh.elements;
    int64_t centre = mesh.elements / 2;
    classes[centre] = 2;
    assert_int_equal(ps_dgtd_local_reach(mesh.links, mesh.elements, classes, NULL, marks, reach),
                     2);
    assert_int_equal(reach[centre], PS_DGTD_REACH(2, 2));
    int64_t p = 0, q = 0;
    for (int64_t e = 0; e < mesh.elements; ++e) {
        p += ps_dgtd_reach_p(reach[e]) == 2;
        q += ps_dgtd_reach_q(reach[e]) == 2;
    }
    int neighbours = 0;
    for (int f = 0; f < 4; ++f) neighbours += mesh.links[4 * centre + f] >= 0;
    assert_int_equal(p, 1 + neighbours);
    assert_true(q > p);
    check_near(ps_dgtd_local_updates(reach, mesh.elements),
               (double)mesh.elements + 1.5 * (double)p + 1.5 * (double)q, 1e-12, 0);
}

/* Groups that smaller steps of level 2 concern: a face without a neighbour is none of theirs. */
static void groups_are_told_apart(void **state)
{
    PS_SCOPED(graded_release) graded g = {0};
    int64_t inner = 0, near = 0, lanes = ps_dgtd_lanes(PS_SINGLE);
    double dt = step_of(1, 6, 0, 12, .75, 3, &dgtd_vacuum, 1);
    graded_init(&g, 1, 6, 0, 12, &dgtd_vacuum, 1, .75, dt, PS_SINGLE);
    const int32_t *links = g.x.mesh.links;
    for (int64_t group = 0; group < g.x.system.groups; ++group) {
        bool holds = false, linked = false;
        for (int64_t e = group * lanes; e < (group + 1) * lanes && e < g.x.mesh.elements; ++e) {
            holds |= ps_dgtd_reach_q(g.reach[e]) > 1;
            for (int f = 0; f < 4; ++f)
                if (links[4 * e + f] >= 0)
                    linked |= ps_dgtd_reach_q(g.reach[links[4 * e + f] / 4]) > 1;
        }
        assert_int_equal(ps_dgtd_local_inner(&g.x.system, g.reach, group), holds);
        assert_int_equal(ps_dgtd_local_near(&g.x.system, g.reach, group), linked);
        inner += holds, near += linked;
    }
    assert_true(ps_dgtd_reach_q(g.reach[0]) > 1 && inner > 0 && near >= inner);
    assert_true(near < g.x.system.groups);
}
