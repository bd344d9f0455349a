/* wire_tube: what the elements of a mesh have of the tube that a wire's current is spread over
 * (wire.h). */
#ifndef PS_KERNELS_DGTD_WIRE_TUBE_H
#define PS_KERNELS_DGTD_WIRE_TUBE_H

#include "kernels/dgtd/wire.h"

/* g R^2 at v = (rho/R)^2 < 1. */
double ps_dgtd_wire_density(double v);
/* Counts elements and pairs that the tube may reach; fills slots, first and the pairs' segments,
 * too, if `list`. */
void ps_dgtd_wire_list(const ps_dgtd_wire_shape *shape, const ps_dgtd_body *body, bool list,
                       ps_dgtd_wire *wire);
/* Weights, loads and `covered` of the pairs listed. */
void ps_dgtd_wire_weigh(const ps_dgtd_wire_shape *shape, const ps_dgtd_reference *reference,
                        const ps_dgtd_body *body, ps_dgtd_wire *wire);

#endif
