#include "kernels/dgtd/resolution.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "kernels/dgtd/mesh.h"

ps_dgtd_constitution ps_dgtd_medium_constitution(const ps_dgtd_medium *x)
{
    return (ps_dgtd_constitution){x->eps, x->sigma * PS_DGTD_Z0, x->pole_count, x->poles,
                                  x->anisotropic ? x->tensor : NULL};
}

void ps_dgtd_medium_at(const ps_dgtd_medium *x, double omega, double *eps, double *sigma)
{
    double chi[2];
    ps_dgtd_susceptibility(x->poles, x->pole_count, omega, chi);
    *eps = x->eps + chi[0];
    *sigma = x->sigma + omega / PS_DGTD_Z0 * chi[1];
}

/* eps' - i eps'', relative; eps' of a tensor is of its largest eigenvalue. */
static void permittivity(const ps_dgtd_medium *x, double omega, double out[2])
{
    double bounds[2] = {x->eps, x->eps}, sigma;
    if (x->anisotropic) ps_dgtd_tensor_bounds(x->tensor, bounds);
    ps_dgtd_medium_at(x, omega, &out[0], &sigma);
    out[0] += bounds[1] - x->eps;
    out[1] = sigma * PS_DGTD_Z0 / omega;
}

void ps_dgtd_coarse_volumes(const ps_dgtd_body *body, int order, const ps_dgtd_medium *media,
                            double omega, double nodes, ps_dgtd_coarse *out)
{
    double *sums = &out->all; /* pairs, as an array that threads can add up */
    memset(out, 0, sizeof *out * (size_t)body->materials);
#pragma omp parallel for reduction(+ : sums[:2 * body->materials])
    for (int64_t e = 0; e < body->elements; ++e) {
        double t[3][3], eps[2];
        int64_t m = body->tags ? body->tags[e] : 0;
        permittivity(media + m, omega, eps);
        if (!(eps[0] > eps[1])) continue;
        ps_dgtd_tangents(body->vertices, body->tetrahedra + 4 * e, t);
        double volume = 4. / 3 * fabs(ps_dgtd_determinant(t));
        double length = 2 * M_PI / (omega * sqrt(eps[0] * media[m].mu));
        sums[2 * m] += volume;
        if (order * length < nodes * cbrt(6 * sqrt(2) * volume)) sums[2 * m + 1] += volume;
    }
}

int64_t ps_dgtd_unresolved(const ps_dgtd_coarse *volumes, int64_t count)
{
    for (int64_t m = 0; m < count; ++m)
        if (volumes[m].coarse > .5 * volumes[m].all) return m;
    return -1;
}

double ps_dgtd_absorbing_reflection(const ps_dgtd_medium *x, double omega)
{
    double eps[2];
    permittivity(x, omega, eps);
    double complex inner = csqrt((eps[0] - I * eps[1]) / x->eps);
    return cabs((1 - inner) / (1 + inner));
}
