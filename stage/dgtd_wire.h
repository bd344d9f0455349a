/*
 * dgtd_wire: a thin wire (kernels/dgtd/wire.h) with its memory.
 */
#ifndef PS_STAGE_DGTD_WIRE_H
#define PS_STAGE_DGTD_WIRE_H

#include "kernels/dgtd/wire.h"

/* All but state, network and what ps_dgtd_wire_set makes. PS_INVALID as of ps_dgtd_wire_fill. Close it in any case. */
ps_status ps_dgtd_wire_open(const ps_dgtd_wire_shape *shape, const ps_dgtd_reference *reference,
                            const ps_dgtd_body *body, ps_dgtd_wire *out);
void ps_dgtd_wire_close(ps_dgtd_wire *wire);

#endif
