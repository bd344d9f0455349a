/* Bodies that scatter little of what comes in: waves much longer than they are, fluids that are
 * nearly the medium. The pressure there is the incident one but for a small part, and the field of
 * the incident one is 0: what counts is that part. */
#include <math.h>

#include "compute/hbem_solve/solve.h"
#include "kernels/common/vec3.h"
#include "runtime/comm.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

static const double AS_ASKED = .01; /* shares scattered from which on the tolerance is enough */
static const double LEAST = 1e-13;  /* residual that fp64 reaches */
static const double STIFF = 1e3;    /* abs(Z) from which on constants see a rigid surface */
static const double UNTOLD = .002;  /* larger errors of what is scattered are refused */

/* k R, R of a sphere of this area. */
static double size_in_waves(const solve_problem *p, double wavenumber)
{
    return wavenumber * sqrt(p->area / (4 * M_PI));
}

/* What a body does to the traces of a wave, over the wave: about k R of rigid bodies and of fluids
 * (their monopoles are smaller, and weigh more), times the contrast of fluids; of soft ones 1. A
 * fluid that is the medium scatters nothing, whatever the residual. */
static double scattered_share(const solve_problem *p, double wavenumber)
{
    const boundary *b = &p->boundary;
    double size = fmin(1, size_in_waves(p, wavenumber));
    if (p->options.problem != PROBLEM_HARD || b->has[CONDITION_SOFT]) return 1;
    if (!b->fluid || b->has[CONDITION_RIGID] || b->has[CONDITION_IMPEDANCE]) return size;
    double contrast =
        fmax(fabs(b->fluid->density / b->density - 1), fabs(boundary_contrast(b) - 1));
    return contrast > 0 ? size * fmin(1, contrast) : 1;
}

double weak_tolerance(const solve_problem *p, double wavenumber, double asked)
{
    double share = scattered_share(p, wavenumber);
    return share < AS_ASKED ? fmax(asked * share / AS_ASKED, fmin(asked, LEAST)) : asked;
}

/* Whether p = 1 is a solution for waves without end: all is as good as rigid. */
static bool keeps_constants(const solve_problem *p)
{
    const boundary *b = &p->boundary;
    if (p->options.problem != PROBLEM_HARD || b->has[CONDITION_SOFT] || b->fluid || p->fixed)
        return false;
    for (int g = 0; g < b->count; ++g) {
        const condition *c = &b->condition[g];
        if (hypot(c->admittance[0], c->admittance[1]) * STIFF > 1) return false;
    }
    return true;
}

/* The length of int n f, f of a function's numbers: what it is heard as far away, over k/4 pi. */
static double dipole_of(const solve_problem *p, const double *f)
{
    const ps_hbem_space *s = &p->spaces[PS_SPACE_P1].space;
    double moment[3] = {0};
    for (int64_t t = 0; t < s->surface->triangle_count; ++t) {
        const ps_hbem_triangle *at = &s->surface->triangles[t];
        double sum = f[s->dof_of[3 * t]] + f[s->dof_of[3 * t + 1]] + f[s->dof_of[3 * t + 2]];
        for (int c = 0; c < 3; ++c) moment[c] += at->normal[c] * at->jacobian * sum / 6;
    }
    return ps_norm3(moment);
}

/* What A 1 - 1, which should be 0 but for (k R)^2, is heard as, over what a rigid sphere of this
 * area scatters; NaN where it is not finite. */
static ps_status error_of_constants(equation *e, double size, double *error)
{
    int64_t n = problem_dofs(e->p), numbers = problem_size(e->p);
    PS_SCOPED_MEMORY double *x = NULL;
    ps_status status = PS_ALLOC(&x, 2 * numbers, "constants");
    PS_TRY(ps_comm_agree(status));
    for (int64_t i = 0; i < numbers; ++i) x[i] = i < n;
    PS_TRY(equation_apply(e, 1, x, x + numbers));
    for (int64_t i = 0; i < numbers; ++i) x[numbers + i] -= x[i];
    *error = hypot(dipole_of(e->p, x + numbers), dipole_of(e->p, x + numbers + n)) /
             (size * e->p->area / 3);
    return PS_OK;
}

ps_status long_wave_check(equation *e)
{
    const solve_problem *p = e->p;
    double size = size_in_waves(p, e->group->wavenumber), error;
    if (size >= AS_ASKED / 10 || !keeps_constants(p)) return PS_OK;
    PS_TRY(error_of_constants(e, size, &error));
    ps_debug("k R %.2g: constants scatter %.2g of a rigid sphere", size, error);
    if (error <= UNTOLD) return PS_OK;
    return ps_refuse(
        p->run, "long-waves",
        "k %.6g: waves this long change the pressure on a rigid body (R %.3g m) by about kR "
        "= %.2g alone, and errors of the matrices are %.2g of what it scatters. Take "
        "finer --epsilon and --rules, or scale fields of shorter waves, as k^2",
        e->group->wavenumber, sqrt(p->area / (4 * M_PI)), size, error);
}
