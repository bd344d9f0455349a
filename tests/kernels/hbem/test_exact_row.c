/* Exact rows: what is known of whole rows, rows by the rules of entries, and both ways of a pair
 * where they meet. */
#include "kernels/hbem/exact_row.h"

#include "tests/check.h"
#include "tests/support/hbem_case.h"

/* Rows i, i + step .. of what is known: the double layer of 1 on a closed surface is -1/2; the
 * hypersingular operator of 1 is 0. */
static void check_sums(const hbem_case *c, bool hyps, int64_t i, int64_t step)
{
    PS_SCOPED_MEMORY double *row = calloc((size_t)c->space.dofs, sizeof *row);
    PS_SCOPED_MEMORY double *area = calloc((size_t)c->space.dofs, sizeof *area);
    ps_hbem_space_integrals(&c->space, area);
    ps_hbem_operator op = hbem_case_operator(c, hyps ? PS_KERNEL_HYPS : PS_KERNEL_DLP, 0);
    ps_hbem_exact exact;
    ps_hbem_exact_init(&op, 3e-5, &exact);
    for (; i < c->space.dofs; i += step) {
        double sum = 0, left = ps_hbem_exact_row(&exact, i, row);
        for (int64_t j = 0; j < c->space.dofs; ++j) sum += row[j];
        check_near(sum, hyps ? 0 : -area[i] / 2, hyps ? 1e-6 : 1e-5 * area[i], 0);
        check_at_most(left, 1e-4 * area[i]);
    }
}

static void test_row_sums(void **state)
{
    PS_SCOPED(hbem_case_release) hbem_case c = {0};
    hbem_sphere(&c, 2, PS_SPACE_P1, 1e-4);
    for (int hyps = 0; hyps < 2; ++hyps) check_sums(&c, hyps, 3, c.space.dofs);
}

/* A needle far from the origin: coplanar triangles, right angles, and triangles of aspect 64, where
 * a height above a triangle is a difference of large numbers. */
static void test_needle(void **state)
{
    PS_SCOPED(hbem_case_release) hbem_case c = {0};
    hbem_case_cells(&c, 1, 0);
    for (int64_t v = 0; v < c.vertex_count; ++v) {
        double *x = c.vertices + 3 * v, along = 64 * x[0], across = x[1];
        x[0] = 1000 + cos(.3) * along - sin(.3) * across;
        x[1] = sin(.3) * along + cos(.3) * across;
    }
    hbem_case_surface(&c);
    hbem_case_finish(&c, PS_SPACE_P1, 1e-4);
    check_sums(&c, false, 0, 11);
}

/* Against the program's rules of 1e-6, for all operators and a wave. */
static void test_against_rules(void **state)
{
    PS_SCOPED(hbem_case_release) hbem_case c = {0};
    hbem_sphere(&c, 2, PS_SPACE_P1, 1e-6);
    int64_t n = c.space.dofs;
    PS_SCOPED_MEMORY double *row = calloc((size_t)(2 * n), sizeof *row);
    for (int kernel = 0; kernel < PS_HBEM_KERNELS; ++kernel) {
        double k = kernel == 1 ? 1.5 : 0;
        ps_hbem_operator op = hbem_case_operator(&c, (ps_hbem_kernel)kernel, k);
        ps_hbem_exact exact;
        ps_hbem_exact_init(&op, 3e-5, &exact);
        ps_hbem_exact_row(&exact, 5, row);
        PS_SCOPED_MEMORY double *rules =
            hbem_block(&op, (ps_hbem_range){5, 6}, (ps_hbem_range){0, n});
        double error = relative_l2(row, rules, n * ps_hbem_parts(&op));
        print_message("    kernel %d: %.2g\n", kernel, error);
        check_at_most(error, 1e-5);
    }
}

/* Where pairs go from polar coordinates to products of Gauss rules, both are right. */
static void test_where_they_meet(void **state)
{
    static const double shape[6][3] = {{0, 0, 0}, {1, 0, 0},    {.3, .8, 0},
                                       {0, 0, 0}, {.9, .1, .4}, {.2, .7, -.3}};
    const int32_t corners[6] = {0, 1, 2, 3, 4, 5};
    for (int e = 0; e < 8; ++e) {
        double vertices[6][3], row[2] = {0};
        memcpy(vertices, shape, sizeof vertices);
        for (int v = 3; v < 6; ++v) vertices[v][e % 2 ? 0 : 2] += e / 2 % 2 ? 4.5 : 3.2;
        ps_hbem_triangle t[2];
        ps_hbem_surface surface;
        int64_t start[3], item[6];
        int32_t dof_of[6];
        ps_hbem_space space;
        must(ps_hbem_surface_init(&surface, &vertices[0][0], 6, corners, 2, t));
        ps_hbem_space_init(&space, PS_SPACE_P0, &surface, start, item, dof_of);
        ps_hbem_operator op = {
            .kernel = e / 4 ? PS_KERNEL_ADLP : PS_KERNEL_SLP, .test = &space, .trial = &space};
        ps_hbem_exact exact;
        ps_hbem_exact_init(&op, 1e-7, &exact);
        ps_hbem_exact_row(&exact, 0, row);
        double _Complex moments[9];
        double sum = 0, scale = t[0].jacobian * t[1].jacobian;
        bool layer = e / 4;
        ps_hbem_polar_moments(&exact.polar, &t[layer], &t[!layer], layer, 0, 1e-10, moments);
        for (int m = 0; m < 9; ++m) sum += creal(moments[m]);
        check_near(row[1], sum, 3e-9 * scale, 0);
    }
}
