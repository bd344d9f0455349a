/* entry_check: clean and stretched bodies pass at every tolerance, and a stretched cube does not
 * without the rules for hard pairs; the reference of pairs against closed forms. */
#include "stage/hbem_assembly/entry_check.h"

#include "kernels/hbem/pair_reference.h"
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/hbem_case.h"

static double error_with(hbem_case *c, ps_hbem_kernel kernel, double tolerance, int hard)
{
    ps_hbem_entry_check check;
    ps_hbem_space_kind kind = kernel == PS_KERNEL_HYPS ? PS_SPACE_P1 : PS_SPACE_P0;
    hbem_case_finish(c, kind, tolerance);
    if (!hard) c->quadrature.cells.n = 0;
    ps_hbem_operator op = hbem_case_operator(c, kernel, 1);
    double limit = ps_hbem_entry_check_limit(tolerance, tolerance);
    must(ps_hbem_entry_check_run(&op, limit, &check));
    check_at_most(-(double)check.pairs, -20);
    print_message("    kernel %d, %.0e: %.2e of %lld pairs\n", (int)kernel, tolerance, check.error,
                  (long long)check.pairs);
    return check.error / limit;
}

static double error_on(hbem_case *c, ps_hbem_kernel kernel, double tolerance)
{
    return error_with(c, kernel, tolerance, 1);
}

static void test_clean(void **state)
{
    for (int body = 0; body < 2; ++body)
        for (int digits = 3; digits <= 6; ++digits)
            for (int kernel = 0; kernel < PS_HBEM_KERNELS; ++kernel) {
                PS_SCOPED(hbem_case_release) hbem_case c = {0};
                if (body)
                    hbem_case_cells(&c, 2, 1);
                else
                    hbem_case_sphere(&c, 5);
                check_at_most(error_on(&c, (ps_hbem_kernel)kernel, pow(10, -digits)), .999);
            }
}

static void test_stretched(void **state)
{
    for (int kernel = 0; kernel < PS_HBEM_KERNELS; ++kernel) {
        PS_SCOPED(hbem_case_release) hbem_case c = {0};
        hbem_case_cells(&c, 1, 0);
        for (int64_t v = 0; v < c.vertex_count; ++v) c.vertices[3 * v] *= 16;
        hbem_case_surface(&c);
        check_at_most(-error_with(&c, (ps_hbem_kernel)kernel, 1e-4, 0), -1);
        hbem_space_free(&c.space);
        check_at_most(error_on(&c, (ps_hbem_kernel)kernel, 1e-4), .2);
    }
}

/* The sum over a closed form for a triangle alone, by two ways. */
static void test_reference(void **state)
{
    const double corners[9] = {0, 0, 0, 2, 0, 0, .3, .2, 0};
    const int32_t order[3] = {0, 1, 2};
    ps_hbem_triangle triangle;
    ps_hbem_surface surface;
    double out[9], sum = 0;
    must(ps_hbem_surface_init(&surface, corners, 3, order, 1, &triangle));
    double exact = ps_hbem_self_entry(&triangle);
    ps_hbem_pair_reference(&triangle, &triangle, false, 1e-9 * exact, out);
    for (int e = 0; e < 9; ++e) sum += out[e];
    check_near(sum, exact, 1e-6, 0);
}
