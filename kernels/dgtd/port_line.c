#include "kernels/dgtd/port_line.h"

#include <math.h>

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
    const double *v = state;
    double *i = state + x->cells + 1, *sum = i + x->cells;
    double gain = dt * x->norm / (x->mu * x->cell), square = x->cutoff * x->cutoff;
    double bend = dt * square / (x->eps * x->mu), shunt = dt * square / x->mu * x->cell;
    if (active > x->cells) active = x->cells;
    *capacity = x->eps * x->norm * x->cell / 2;
    for (int64_t k = 0; k < active; ++k) i[k] += gain * (v[k] - v[k + 1]);
    if (x->guide == PS_DGTD_GUIDE_TM)
        for (int64_t k = 0; k < active; ++k) {
            i[k] -= bend * sum[k];
            sum[k] += dt * i[k];
        }
    if (x->guide != PS_DGTD_GUIDE_TE) return i[0];
    for (int64_t k = 0; k < active; ++k) sum[k] += shunt * (k ? 1 : .5) * v[k];
    return i[0] + sum[0];
}

void ps_dgtd_line_voltages(const ps_dgtd_line *x, double *state, double dt, int64_t active, double first)
{
    double *v = state;
    const double *i = state + x->cells + 1, *sum = i + x->cells;
    double gain = dt / (x->eps * x->norm * x->cell), te = x->guide == PS_DGTD_GUIDE_TE;
    if (active > x->cells) active = x->cells;
    v[0] = first;
    for (int64_t k = 1; k < active; ++k) v[k] += gain * (i[k - 1] - i[k] - te * sum[k]);
}
