/*
 * dgtd_graded: a cube whose cells grow along its axes, with local steps.
 */
#ifndef PS_TESTS_SUPPORT_DGTD_GRADED_H
#define PS_TESTS_SUPPORT_DGTD_GRADED_H

#include "stage/dgtd_local.h"
#include "tests/check.h"
#include "tests/support/dgtd_case.h"

/* A cube of which the cells at the lower end of each axis are `ratio` times smaller than those at
 * the upper one, with local steps of `levels` levels from `fraction` of the limit. */
typedef struct graded {
    dgtd_case x;
    uint8_t *classes, *marks, *reach;
    ps_dgtd_local_steps steps;
    ps_dgtd_march march;
    int levels;
} graded;

static inline void grade(cube_tets *mesh, double ratio)
{
    double q = 2 / (ratio + 1);
    for (int64_t i = 0; i < 3 * mesh->vertex_count; ++i) {
        double x = mesh->vertices[i];
        mesh->vertices[i] = q * x + (1 - q) * x * x;
    }
}

/* The least class whose step is at most `fraction` of an element's limit. */
static inline uint8_t class_of(const dgtd_case *x, int64_t e, double dt, double fraction)
{
    uint8_t k = 0;
    double size = ps_dgtd_element_size(&x->body, e),
           limit = fraction * ps_dgtd_step_constant(x->system.order) * size;
    for (; dt > limit * (1 + 1e-9); dt *= ps_dgtd_local_ratio()) ++k;
    return k;
}

/* Local steps, once the case and its classes are there. */
static inline void graded_open(graded *g, double dt)
{
    dgtd_case *x = &g->x;
    const int64_t elements = x->mesh.elements;
    g->levels = ps_dgtd_local_reach(x->mesh.links, elements, g->classes, NULL, g->marks, g->reach);
    g->march = dgtd_case_march(x, dt);
    check_ok(ps_dgtd_local_open(&g->steps, &x->system, x->body.material, g->reach, g->levels, dt,
                                (int64_t)dgtd_case_field_bytes(x)));
    g->march.local = &g->steps.local;
}

static inline void graded_classes(graded *g)
{
    g->classes = dgtd_take(&g->x, (size_t)g->x.mesh.elements);
    g->marks = dgtd_take(&g->x, 2 * (size_t)g->x.mesh.elements);
    g->reach = dgtd_take(&g->x, (size_t)g->x.mesh.elements);
}

static inline void graded_init(graded *g, int order, int64_t side, double shake, double ratio,
                               const ps_dgtd_material *materials, int64_t count, double fraction,
                               double dt, ps_precision precision)
{
    dgtd_case *x = &g->x;
    memset(g, 0, sizeof *g);
    check_ok(cube_tets_init(&x->mesh, side, shake, PS_DGTD_PEC));
    grade(&x->mesh, ratio);
    for (int64_t e = 0; e < x->mesh.elements; ++e) x->mesh.tags[e] = (uint16_t)(e * 7 % count);
    for (int64_t f = 0; f < 4 * x->mesh.elements; ++f)
        if (count > 1 && x->mesh.kinds[f] == PS_DGTD_PEC && f % 5 == 0)
            x->mesh.kinds[f] = PS_DGTD_PMC;
    check_ok(dgtd_case_init(x, order, precision, materials, count));
    graded_classes(g);
    for (int64_t e = 0; e < x->mesh.elements; ++e) g->classes[e] = class_of(x, e, dt, fraction);
    graded_open(g, dt);
}

static inline void graded_release(graded *g)
{
    ps_dgtd_local_close(&g->steps);
    dgtd_case_release(&g->x);
}

/* The step of which the least element makes 2^levels. */
static inline double step_of(int order, int64_t side, double shake, double ratio, double fraction,
                             int levels, const ps_dgtd_material *materials, int64_t count)
{
    PS_SCOPED(graded_release) graded g = {0};
    graded_init(&g, order, side, shake, ratio, materials, count, 1, 1e-9, PS_DOUBLE);
    double least = ps_dgtd_step_constant(order) * dgtd_least_size(&g.x.body, NULL);
    return fraction * least * pow(ps_dgtd_local_ratio(), -levels);
}

#endif
