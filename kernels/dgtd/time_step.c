#include "kernels/dgtd/time_step.h"

#include <math.h>

#include "kernels/dgtd/mesh.h"

double ps_dgtd_step_constant(int order)
{
    static const double constants[PS_DGTD_MAX_ORDER] = {2.61, 1.60, 1.06, 0.76};
    return constants[order - 1];
}

static const ps_dgtd_material *material_of(const ps_dgtd_body *body, int64_t e)
{
    return body->material + (body->tags ? body->tags[e] : 0);
}

double ps_dgtd_element_size(const ps_dgtd_body *body, int64_t e)
{
    double tangents[3][3], mu = material_of(body, e)->mu;
    for (int f = 0; f < 4; ++f) {
        int64_t other = body->links[4 * e + f] / 4;
        if (body->links[4 * e + f] >= 0 && other < body->elements)
            mu = fmin(mu, material_of(body, other)->mu);
    }
    ps_dgtd_tangents(body->vertices, body->tetrahedra + 4 * e, tangents);
    return sqrt(material_of(body, e)->eps * mu) * ps_dgtd_size(tangents);
}

/* Reproducible values within -1/2 .. 1/2 in all elements. */
static void fill_random(const ps_dgtd_system *system, void *field)
{
    int nodes = system->reference->nodes;
    for (int64_t e = 0; e < system->elements; ++e)
        for (int i = 0; i < 3 * nodes; ++i) {
            uint64_t z = (uint64_t)(e * 3 * nodes + i + 1) * 0x9e3779b97f4a7c15u;
            z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
            z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
            ps_dgtd_set_node(system, field, e, i / nodes, i % nodes,
                             (double)((z ^ (z >> 31)) >> 11) * 0x1p-53 - 0.5);
        }
}

/* One application of A = M_mu^-1 S^T M_eps^-1 S to H, times -tau^2; returns the Rayleigh quotient
 * (H, A H)/(H, H) in the norm of M_mu, which is (E, E)_eps / (H, H)_mu for E = M_eps^-1 S H. */
static double apply_once(ps_dgtd_system *system, const ps_dgtd_material *materials, double tau,
                         const ps_dgtd_power_scratch *x)
{
    int64_t count = system->materials;
    double before = ps_dgtd_inner(system, x->weights + count, x->magnetic, x->magnetic, x->partial);
    for (int64_t m = 0; m < count; ++m) {
        ps_dgtd_set_factors(system, PS_DGTD_E, m, 0, tau / materials[m].eps);
        ps_dgtd_set_factors(system, PS_DGTD_H, m, 0, -tau / materials[m].mu);
    }
    ps_dgtd_half_step(system, PS_DGTD_E, x->electric, x->magnetic, 0, system->groups);
    double after = ps_dgtd_inner(system, x->weights, x->electric, x->electric, x->partial);
    ps_dgtd_half_step(system, PS_DGTD_H, x->magnetic, x->electric, 0, system->groups);
    return after / before / (tau * tau);
}

static void set_weights(ps_dgtd_system *system, const ps_dgtd_material *materials,
                        const ps_dgtd_power_scratch *scratch)
{
    for (int64_t m = 0; m < system->materials; ++m) {
        scratch->weights[m] = materials[m].eps;
        scratch->weights[system->materials + m] = materials[m].mu;
    }
}

double ps_dgtd_power_limit(ps_dgtd_system *system, const ps_dgtd_material *materials,
                           int applications, const ps_dgtd_power_scratch *scratch)
{
    double rho = 0, tau = 1;
    set_weights(system, materials, scratch);
    fill_random(system, scratch->magnetic);
    for (int k = 0; k < applications; ++k) {
        rho = fmax(rho, apply_once(system, materials, tau, scratch));
        tau = 1 / sqrt(rho); /* the field keeps about its size */
    }
    return 2 / sqrt(rho);
}
