#include "kernels/dgtd/port_line.h"

#include <math.h>

#define LEAF static inline
#include "kernels/dgtd/port_line_body.h"
#undef LEAF

/* Two steps a cell: the line's own error is then far below the fields', and it is stable with k_c. */
enum { STEPS_A_CELL = 2, SPARE = 8 };

void ps_dgtd_line_size(ps_dgtd_line *x, double dt, int64_t steps)
{
    x->cell = STEPS_A_CELL * dt / sqrt(x->eps * x->mu);
    x->cells = steps / (2 * STEPS_A_CELL) + SPARE;
}

int64_t ps_dgtd_line_states(const ps_dgtd_line *x)
{
    return x->guide == PS_DGTD_GUIDE_NONE ? 0 : 3 * x->cells + 2;
}

double ps_dgtd_line_currents(const ps_dgtd_line *x, double *state, double dt, int64_t active, double *capacity)
{
    const line_gains gains = line_gains_of(x, dt);
    const line_state s = line_state_at(x, state);
    if (active > x->cells) active = x->cells;
    for (int64_t k = 0; k < active; ++k) line_move_current(&gains, &s, k);
    *capacity = gains.capacity;
    return line_taken(&gains, &s);
}

void ps_dgtd_line_voltages(const ps_dgtd_line *x, double *state, double dt, int64_t active, double first)
{
    const line_gains gains = line_gains_of(x, dt);
    const line_state s = line_state_at(x, state);
    if (active > x->cells) active = x->cells;
    s.v[0] = first;
    for (int64_t k = 1; k < active; ++k) line_move_voltage(&gains, &s, k);
}
