/* Boundaries with an impedance: q = -ik b p, and what makes their equation nearly the identity. */
#include <stdlib.h>
#include <string.h>

#include "compute/hbem_solve/solve.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* Different admittances whose equations are preconditioned; those of more are left as they are. */
enum { REACTIONS_MAX = 8 };

/* ---- set up ---- */

static ps_status take_admittance(equation *e)
{
    const boundary *b = &e->p->boundary;
    int64_t n = e->p->surface.triangle_count;
    PS_TRY(PS_ALLOC(&e->admittance, 2 * n, "admittances"));
    for (int64_t t = 0; t < n; ++t)
        for (int part = 0; part < 2; ++part)
            e->admittance[part * n + t] = b->condition[b->group_of[t]].admittance[part];
    return PS_OK;
}

/* The number of an admittance among those that are there, which it is added to; -1: no room. */
static int reaction_of(equation *e, double (*known)[2], const double b[2])
{
    int at = 0;
    while (at < e->reaction_count && memcmp(known[at], b, sizeof known[at]) != 0) ++at;
    if (at == REACTIONS_MAX) return -1;
    if (at == e->reaction_count) memcpy(known[e->reaction_count++], b, sizeof known[at]);
    return at;
}

/* A function is of the admittance of its first triangle. */
static ps_status find_reactions(equation *e)
{
    const boundary *b = &e->p->boundary;
    const ps_hbem_space *s = &e->p->spaces[PS_SPACE_P1].space;
    double known[REACTIONS_MAX][2];
    PS_TRY(PS_ALLOC(&e->reaction, REACTIONS_MAX, "admittances"));
    PS_TRY(PS_ALLOC(&e->reaction_of, s->dofs, "admittances"));
    for (int64_t i = 0; i < s->dofs; ++i) {
        e->reaction_of[i] = -1;
        if (s->start[i] == s->start[i + 1]) continue;
        const condition *c = &b->condition[b->group_of[s->item[s->start[i]] / 3]];
        if (c->kind == CONDITION_IMPEDANCE)
            e->reaction_of[i] = (int8_t)reaction_of(e, known, c->admittance);
    }
    for (int r = 0; r < e->reaction_count; ++r)
        PS_TRY(ps_osrc_reaction_init(&e->osrc, known[r], &e->reaction[r]));
    return PS_OK;
}

ps_status impedance_open(equation *e)
{
    PS_TRY(take_admittance(e));
    return find_reactions(e);
}

void impedance_close(equation *e) { PS_FREE(e->admittance, e->reaction, e->reaction_of); }

/* ---- fluxes ---- */

/* out_i = int -ik b p phi_i */
static void admit(const equation *e, const double *p, double *out)
{
    const ps_hbem_space *s = &e->p->spaces[PS_SPACE_P1].space;
    int64_t n = s->dofs, triangles = s->surface->triangle_count;
    double k = e->group->wavenumber;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; ++i) {
        double sum[2] = {0, 0};
        for (int64_t at = s->start[i]; at < s->start[i + 1]; ++at) {
            int64_t t = s->item[at] / 3;
            double share = s->surface->triangles[t].jacobian / 24;
            double re = k * e->admittance[triangles + t] * share,
                   im = -k * e->admittance[t] * share;
            for (int l = 0; l < 3; ++l) {
                int32_t j = s->dof_of[3 * t + l];
                double own = 3 * t + l == s->item[at] ? 2 : 1;
                sum[0] += own * (re * p[j] - im * p[n + j]);
                sum[1] += own * (re * p[n + j] + im * p[j]);
            }
        }
        out[i] = sum[0];
        out[n + i] = sum[1];
    }
}

ps_status impedance_add_flux(equation *e, int64_t sides, const double *p, double *q)
{
    int64_t size = 2 * problem_dofs(e->p);
    PS_SCOPED_MEMORY double *own = NULL;
    PS_TRY(PS_ALLOC(&own, sides * size, "fluxes"));
    for (int64_t s = 0; s < sides; ++s) admit(e, p + s * size, own + s * size);
    images_clear_rims(e->p, 2 * sides, own);
    PS_TRY(ps_burton_miller_mass(&e->miller, sides, own));
    for (int64_t i = 0; i < sides * size; ++i) q[i] += own[i];
    return PS_OK;
}

/* ---- the equation ---- */

/* The combined equation of an impedance is about 1 + ik V b (numerics guide hbem-real 3), which is
 * small where surface waves are: those of a mesh differ a little among each other, and each costs a
 * step. Functions with an impedance take the inverse, as far as their own b goes. */
ps_status impedance_precondition(equation *e, int64_t sides, double *y, double *load, double *own)
{
    const ps_burton_miller *m = &e->miller;
    int64_t n = problem_dofs(e->p), numbers = 2 * sides * n;
    PS_SCOPED_MEMORY double *whole = NULL;
    if (e->reaction_count == 0) return PS_OK;
    PS_TRY(PS_ALLOC(&whole, numbers, "an equation"));
    memcpy(whole, y, (size_t)numbers * sizeof *whole);
    memset(load, 0, (size_t)numbers * sizeof *load);
    for (int64_t at = 0; at < 2 * sides; ++at)
        ps_hbem_mass_add(&e->p->spaces[PS_SPACE_P1].sparse, 1, whole + at * n, load + at * n);
    images_clear_rims(e->p, 2 * sides, load);
    for (int r = 0; r < e->reaction_count; ++r) {
        PS_TRY(ps_osrc_react(m->osrc, &e->reaction[r], m->matrix, &m->shifted, sides, load, whole,
                             own, m->workspace));
        for (int64_t i = 0; i < numbers; ++i)
            if (e->reaction_of[i % n] == r) y[i] = own[i];
    }
    return PS_OK;
}
