/* couple_case: two triangles as a surface of their own, their moments by the rules of a tolerance,
 * whichever the program takes, and the error of these against polar.h. */
#ifndef PS_TESTS_SUPPORT_COUPLE_CASE_H
#define PS_TESTS_SUPPORT_COUPLE_CASE_H

#include "kernels/hbem/pair_reference.h"
#include "kernels/hbem/polar.h"
#include "tests/support/hbem_case.h"

typedef struct couple_case {
    ps_hbem_surface surface;
    ps_hbem_triangle t[2];
    ps_hbem_space space;
    int64_t start[7], item[6];
    int32_t dof_of[6];
} couple_case;

/* The triangles with their vertices' numbers in a larger surface, or in one of their own. */
static inline void couple_of(const ps_hbem_triangle *a, const ps_hbem_triangle *b, couple_case *c)
{
    memset(c, 0, sizeof *c);
    c->t[0] = *a;
    c->t[1] = *b;
    c->surface = (ps_hbem_surface){.vertex_count = 6, .triangle_count = 2, .triangles = c->t};
    ps_hbem_space_init(&c->space, PS_SPACE_DP1, &c->surface, c->start, c->item, c->dof_of);
}

/* Moments [part][hat of triangle `row`][hat of the other] by the program's rules. */
static inline void couple_by_rules(const couple_case *c, int row, ps_hbem_kernel kernel, double k,
                                   double eps, double out[2][9])
{
    hbem_case rules = {0};
    hbem_case_rules(&rules, eps);
    ps_hbem_operator op = {.kernel = kernel,
                           .wavenumber = k,
                           .test = &c->space,
                           .trial = &c->space,
                           .quadrature = &rules.quadrature,
                           .far_precision = PS_DOUBLE};
    ps_hbem_range rows = {3 * row, 3 * row + 3}, columns = {3 - 3 * row, 6 - 3 * row};
    PS_SCOPED_MEMORY double *values = hbem_block(&op, rows, columns);
    for (int e = 0; e < 9 * ps_hbem_parts(&op); ++e)
        out[e / 9][3 * (e % 3) + e % 9 / 3] = values[e];
    free(rules.points);
}

/* What errors are counted in: half of half the area of the row's triangle for double layers, twice
 * the root of the product of both diagonal entries for S. */
static inline double couple_norm(const couple_case *c, int row, ps_hbem_kernel kernel)
{
    if (kernel != PS_KERNEL_SLP) return c->t[row].jacobian / 4;
    return 2 * sqrt(ps_hbem_self_entry(&c->t[0]) * ps_hbem_self_entry(&c->t[1]));
}

/* The sum of the errors of all moments, in units of the norm; `exact` of polar.h in the order
 * [row hat][column hat]. */
static inline double couple_error(const couple_case *c, int row, ps_hbem_kernel kernel, double k,
                                  double eps, const double _Complex exact[9])
{
    double own[2][9] = {{0}}, sum = 0;
    couple_by_rules(c, row, kernel, k, eps, own);
    for (int e = 0; e < 9; ++e) sum += cabs(own[0][e] + I * own[1][e] - exact[e]);
    return sum / couple_norm(c, row, kernel);
}

/* exact[row hat][column hat], to `error` of the norm; what may be left of it is returned. The
 * lesser triangle is the outer one where that is free to choose. */
static inline double couple_exact(const couple_case *c, int row, ps_hbem_kernel kernel, double k,
                                  double error, double _Complex exact[9])
{
    const ps_hbem_triangle *x = &c->t[row], *y = &c->t[1 - row];
    bool layer = kernel != PS_KERNEL_SLP, turned = kernel == PS_KERNEL_ADLP;
    if (!layer) turned = x->jacobian > y->jacobian;
    double _Complex own[9];
    ps_hbem_polar_rules rules;
    ps_hbem_polar_rules_init(&rules);
    double norm = couple_norm(c, row, kernel);
    double left = ps_hbem_polar_moments(&rules, turned ? y : x, turned ? x : y, layer, k,
                                        error * norm / 9, own);
    for (int e = 0; e < 9; ++e) exact[e] = turned ? own[3 * (e % 3) + e / 3] : own[e];
    return 9 * left / norm;
}

#endif
