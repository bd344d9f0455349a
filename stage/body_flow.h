/*
 * body_flow: a uniform flow that a closed body turns, incompressible and without circulation
 * (specs/incident_file.md). Its potential Phi solves, with exact integrals over flat triangles,
 * Phi linear on each, and the limit from outside taken at every vertex,
 *
 *     Phi(x) = U.x + int Phi(y) d_ny 1/(4 pi |x-y|) dS,   n outward,
 *
 * (1 + s_i) Phi_i - sum_j K_ij Phi_j = U.x_i with s_i the sum of row i: whatever the angle of a
 * corner, a constant fulfils it to rounding.
 */
#ifndef PS_STAGE_BODY_FLOW_H
#define PS_STAGE_BODY_FLOW_H

#include "formats/surface_flow.h"
#include "formats/surface_mesh.h"
#include "kernels/hbem/surface.h"

typedef struct ps_body_flow {
    ps_hbem_surface surface;     /* borrows the mesh's vertices */
    ps_hbem_triangle *triangles; /* owned */
    const ps_surface_flow *flow; /* borrowed */
} ps_body_flow;

/* Bytes of the matrix that solving takes, dense: 12 a pair of vertices. */
int64_t ps_body_flow_bytes(int64_t vertices);
/* flow->potential from flow->velocity. PS_FAILED where the iteration does not converge. */
ps_status ps_body_flow_solve(const ps_surface_mesh *mesh, ps_surface_flow *flow);

ps_status ps_body_flow_open(const ps_surface_mesh *mesh, const ps_surface_flow *flow,
                            ps_body_flow *out);
void ps_body_flow_close(ps_body_flow *body);
/* Phi at a point outside, m^2/s. */
double ps_body_flow_potential(const ps_body_flow *body, const double x[3]);
/* The velocity there, m/s, by differences over `reach` (m). */
void ps_body_flow_velocity(const ps_body_flow *body, const double x[3], double reach,
                           double out[3]);

#endif
