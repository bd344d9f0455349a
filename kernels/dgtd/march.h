/*
 * march: leap-frog steps of a system whose state is in memory (Cabel, Charles, Lanteri 2011, after
 * eq. 6): E^n with H^{n+1/2} to E^{n+1} with H^{n+3/2}.
 *
 * A half step of a range of groups is everything that happens to these groups: sweep, currents,
 * incident field, absorbing term. It reads the other field of the range and its neighbours and
 * changes only the range, so that tiles of an out-of-core pass, ranks with halos and the whole
 * mesh at once go through the same function to the same bits.
 */
#ifndef PS_KERNELS_DGTD_MARCH_H
#define PS_KERNELS_DGTD_MARCH_H

#include "kernels/dgtd/border.h"
#include "kernels/dgtd/half_step.h"
#include "kernels/dgtd/local_steps.h"
#include "kernels/dgtd/pml.h"
#include "kernels/dgtd/port.h"
#include "kernels/dgtd/source.h"
#include "kernels/dgtd/upwind.h"
#include "kernels/dgtd/wire.h"

typedef struct ps_dgtd_march {
    const ps_dgtd_system *system;    /* steps set for dt                          */
    const ps_dgtd_border *border;    /* NULL: no absorbing or total/scattered face */
    const ps_dgtd_current *currents; /* [current_count]                            */
    int64_t current_count;
    ps_dgtd_port *ports; /* [port_count]                               */
    int64_t port_count;
    ps_dgtd_wire *wires; /* [wire_count]                               */
    int64_t wire_count;
    double dt;                    /* m                                          */
    void *electric, *magnetic;    /* E^n, H^{n+1/2}                             */
    int64_t step;                 /* n                                          */
    const ps_dgtd_upwind *upwind; /* NULL: centred flux                         */
    const ps_dgtd_pml *pml;       /* NULL: no layer                             */
    const ps_dgtd_local *local;   /* NULL: one step for all elements            */
} ps_dgtd_march;

/* Half step of E (to n + 1) or of H (to n + 3/2) on groups [begin, end) while the state is at
 * march->step = n, H's after E's of the range and its neighbours. With local steps R_1 H is in the
 * place of H for the half step of E, and H again for its own. Ports and wires have advanced before
 * the half step of E. */
void ps_dgtd_march_half(const ps_dgtd_march *march, ps_dgtd_field field, int64_t begin,
                        int64_t end);

/* `steps` whole steps. */
void ps_dgtd_march_steps(ps_dgtd_march *march, int64_t steps);

#endif
