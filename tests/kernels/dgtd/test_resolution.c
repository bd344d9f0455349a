/* resolution: volumes that are coarse by medium and frequency; what losses make a face send back.
 */
#include "kernels/dgtd/resolution.h"

#include "tests/check.h"
#include "tests/support/dgtd_case.h"

/* Kuhn's elements have a sixth of a cell: the regular edge is 2^(1/6) h. Two nodes of order p a
 * wavelength ask for p lambda >= 2 edge. */
static void coarse_by_wavelength(void **state)
{
    enum { CELLS = 4, MEDIA = 4 };
    const double edge = pow(2, 1. / 6) / CELLS;
    const ps_dgtd_medium media[MEDIA] = {
        {.eps = 4, .mu = 1},
        {.eps = 1, .mu = 9},
        {.eps = 2,
         .mu = 1,
         .pole_count = 1,
         .poles = {{.kind = PS_DGTD_DEBYE, .strength = 7, .rate = 1e9}}},
        {.eps = 4, .mu = 1, .sigma = 1e3}};
    const double index[MEDIA] = {2, 3, 3, 0};
    const ps_dgtd_material materials[MEDIA] = {{1, 1, 0}, {1, 1, 0}, {1, 1, 0}, {1, 1, 0}};
    for (int order = 1; order <= 4; ++order)
        for (int k = 0; k < 2 * MEDIA; ++k) {
            ps_dgtd_coarse out[MEDIA];
            PS_SCOPED(dgtd_case_release) dgtd_case x = {0};
            /* just above and just below the frequency of one medium */
            double limit = 2 * dgtd_pi * order / (2 * edge * (index[k / 2] > 0 ? index[k / 2] : 2)),
                   omega = limit * (k % 2 ? 1.001 : .999);
            check_ok(cube_tets_init(&x.mesh, CELLS, 0, PS_DGTD_PEC));
            for (int64_t e = 0; e < x.mesh.elements; ++e) x.mesh.tags[e] = (uint16_t)(e % MEDIA);
            check_ok(dgtd_case_init(&x, order, PS_DOUBLE, materials, MEDIA));
            ps_dgtd_coarse_volumes(&x.body, order, media, omega, 2, out);
            for (int m = 0; m < MEDIA; ++m) {
                check_near(out[m].all, index[m] > 0 ? 1. / MEDIA : 0, 1e-14, 0);
                double most = index[m] > 0 ? 2 * dgtd_pi * order / (2 * edge * index[m]) : INFINITY;
                check_near(out[m].coarse, omega > most ? out[m].all : 0, 1e-14, 0);
            }
        }
}

/* eps (1 - i 15/8) has the root sqrt(eps) (5 - 3i)/4: (1 - n)/(1 + n) is of size 1/3. */
static void losses_send_back(void **state)
{
    const double omega = 20;
    ps_dgtd_medium x = {.eps = 3, .mu = 1};
    check_near(ps_dgtd_absorbing_reflection(&x, omega), 0, 1e-15, 0);
    x.sigma = 3 * 15. / 8 * omega / PS_DGTD_Z0;
    check_near(ps_dgtd_absorbing_reflection(&x, omega), 1. / 3, 0, 1e-14);
    /* small losses: tan(delta)/4; metal: all */
    x.sigma = 3e-4 * omega / PS_DGTD_Z0;
    check_near(ps_dgtd_absorbing_reflection(&x, omega), .25e-4, 0, 1e-7);
    x.sigma = 1e12;
    check_near(ps_dgtd_absorbing_reflection(&x, omega), 1, 1e-5, 0);
    /* poles count: static water against its infinite frequency, (1 - 4)/(1 + 4) */
    x = (ps_dgtd_medium){.eps = 5, .mu = 1, .pole_count = 1};
    x.poles[0] = (ps_dgtd_pole){.kind = PS_DGTD_DEBYE, .strength = 75, .rate = 1e12};
    check_near(ps_dgtd_absorbing_reflection(&x, omega), .6, 0, 1e-9);
}
