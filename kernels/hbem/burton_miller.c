#include "kernels/hbem/burton_miller.h"

/* y <- M^-1 y of `sides` vectors. */
static ps_status solve_mass(ps_burton_miller *e, int64_t sides, double *y)
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

ps_status ps_burton_miller_combine(ps_burton_miller *e, int64_t sides, const double *x, double *kx,
                                   const double *wx, double *y)
{
    int64_t count = sides * 2 * e->matrix->dofs;
    PS_TRY(ps_osrc_apply(e->osrc, e->matrix, &e->shifted, sides, wx, y, e->workspace));
    PS_TRY(solve_mass(e, sides, kx));
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < count; ++i) y[i] = .5 * x[i] - kx[i] - y[i];
    return PS_OK;
}

ps_status ps_burton_miller_right_side(ps_burton_miller *e, int64_t sides, double *f,
                                      const double *q, double *b)
{
    int64_t count = sides * 2 * e->matrix->dofs;
    PS_TRY(ps_osrc_apply(e->osrc, e->matrix, &e->shifted, sides, q, b, e->workspace));
    PS_TRY(solve_mass(e, sides, f));
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < count; ++i) b[i] = f[i] - b[i];
    return PS_OK;
}
