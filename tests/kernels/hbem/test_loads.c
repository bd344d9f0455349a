/* Loads of sources near to stretched triangles (kernels/hbem/loads.h). */
#include "kernels/hbem/loads.h"

#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/hbem_case.h"

/* int d_n f over a closed surface, by all functions of a space. */
static double flux(const hbem_case *c, ps_load_kind kind, const double at[3])
{
    ps_hbem_load load = {.kind = kind, .axis = {.2, 1, .5}, .derivative = true};
    PS_SCOPED_MEMORY double *items = calloc(3 * (size_t)c->triangle_count, sizeof *items),
                            *out = calloc((size_t)c->space.dofs, sizeof *out);
    double sum = 0;
    memcpy(load.vector, at, sizeof load.vector);
    ps_hbem_load_vector(&load, &c->space, 1, items, out);
    for (int64_t i = 0; i < c->space.dofs; ++i) sum += out[i];
    return sum;
}

/* Gauss: -1 for g of a source within, 0 for one outside, 0 for dipoles. */
static void test_flux(void **state)
{
    static const double inside[3] = {.3, .1, .6}, outside[3] = {1.3, .2, 1.2};
    for (int space = 0; space < 2; ++space)
        for (int stretch = 1; stretch <= 16; stretch *= 4) {
            PS_SCOPED(hbem_case_release) hbem_case c = {0};
            hbem_case_sphere(&c, 4);
            for (int64_t v = 0; v < c.vertex_count; ++v) c.vertices[3 * v] *= stretch;
            hbem_case_surface(&c);
            hbem_case_finish(&c, space ? PS_SPACE_P1 : PS_SPACE_P0, 0);
            check_near(flux(&c, PS_LOAD_POINT, inside), -1, 1e-5, 0);
            check_near(flux(&c, PS_LOAD_POINT, outside), 0, 1e-5, 0);
            check_near(flux(&c, PS_LOAD_DIPOLE, inside), 0, 3e-5, 0);
        }
}
