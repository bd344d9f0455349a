#include "kernels/hbem/burton_miller.h"

#include <string.h>

ps_status ps_burton_miller_mass(ps_burton_miller *e, int64_t sides, double *y)
{
    ps_shifted_system systems[PS_OSRC_GROUP];
    int64_t size = 2 * e->matrix->dofs;
    for (int64_t first = 0; first < sides; first += PS_OSRC_GROUP) {
        int64_t count = sides - first < PS_OSRC_GROUP ? sides - first : PS_OSRC_GROUP;
        for (int64_t s = 0; s < count; ++s)
            systems[s] =
                (ps_shifted_system){.b = y + (first + s) * size, .x = y + (first + s) * size};
        PS_TRY(e->mass.solve(e->mass.context, count, systems));
    }
    return PS_OK;
}

/* y = half/2 + own - y */
static void finish(int64_t count, const double *half, const double *own, double *y)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < count; ++i) y[i] = (half ? .5 * half[i] : 0) + own[i] - y[i];
}

ps_status ps_burton_miller_pressure(ps_burton_miller *e, int64_t sides, const double *p, double *a,
                                    const double *b, double *y)
{
    PS_TRY(ps_osrc_apply(e->osrc, e->matrix, &e->shifted, sides, b, y, e->workspace));
    PS_TRY(ps_burton_miller_mass(e, sides, a));
    finish(sides * 2 * e->matrix->dofs, p, a, y);
    return PS_OK;
}

ps_status ps_burton_miller_flux(ps_burton_miller *e, int64_t sides, const double *q,
                                const double *a, double *b, double *massless, double *y)
{
    int64_t count = sides * 2 * e->matrix->dofs;
    memcpy(massless, a, (size_t)count * sizeof *a);
    PS_TRY(ps_burton_miller_mass(e, sides, massless));
    PS_TRY(ps_osrc_apply_inverse(e->osrc, e->matrix, &e->shifted, sides, a, massless, y,
                                 e->workspace));
    PS_TRY(ps_burton_miller_mass(e, sides, b));
    finish(count, q, b, y);
    return PS_OK;
}
