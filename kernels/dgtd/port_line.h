/*
 * port_line: what a port sees of a guide that goes on without end behind it, for one mode.
 *
 * Voltage and current of a mode follow a line: with k_c of the mode, c0 t in m, I times Z0,
 *
 *   TE, TEM:  dV/dz = -L dI/dt,                          dI/dz = -C dV/dt - (k_c^2/mu) int V dt
 *   TM:       dV/dz = -L dI/dt - (k_c^2/eps) int I dt,   dI/dz = -C dV/dt
 *
 * L = mu/W, C = eps W, W the norm of the port (1 but for TEM): its wave impedance is that of the mode at every
 * frequency (Marcuvitz 1951, ch. 1). Cells of equal length, V at their ends at n, I within them at n + 1/2: the
 * leap-frog of the fields. The line's first end has half a cell's C, so that it ends in the middle of a cell and its
 * impedance is right to second order, and joins the port: mass and stiffness of field and line add up, so that both
 * together are stable where each one is (cell >= dt/sqrt(eps mu)), and their energy stays.
 *
 * The line is as long as light goes and comes back in the run, and cells come into play one a step.
 */
#ifndef PS_KERNELS_DGTD_PORT_LINE_H
#define PS_KERNELS_DGTD_PORT_LINE_H

#include <stdint.h>

typedef enum ps_dgtd_guide {
    PS_DGTD_GUIDE_NONE, /* a lumped network */
    PS_DGTD_GUIDE_TEM,
    PS_DGTD_GUIDE_TE,
    PS_DGTD_GUIDE_TM,
    PS_DGTD_GUIDES
} ps_dgtd_guide;

typedef struct ps_dgtd_line {
    ps_dgtd_guide guide;
    double eps, mu, norm, cutoff; /* relative; W; k_c, 1/m */
    double cell;                  /* m */
    int64_t cells;
} ps_dgtd_line;

/* Cells of the length that goes well with steps of dt, for a run of so many steps. */
void ps_dgtd_line_size(ps_dgtd_line *line, double dt, int64_t steps);

/* Numbers of its state: V at cells + 1 ends, I of the cells, int V or int I by ends or cells. */
int64_t ps_dgtd_line_states(const ps_dgtd_line *line);

/* I into the line from V at its end at n: to n + 1/2 for the first `active` cells. The current that its first end
 * takes without what its C takes, whose capacity is *capacity. */
double ps_dgtd_line_currents(const ps_dgtd_line *line, double *state, double dt, int64_t active, double *capacity);

/* V to n + 1, that of the first end being given. */
void ps_dgtd_line_voltages(const ps_dgtd_line *line, double *state, double dt, int64_t active, double first);

#endif
