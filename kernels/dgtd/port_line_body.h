/* What the cells of a line do in a step (port_line.h), for the host and for devices: LEAF, what each
 * function begins with, is the includer's. */

/* What a step multiplies; te, tm: which int the line has. */
typedef struct line_gains {
    double current, bend, shunt, voltage, capacity, dt;
    int te, tm;
} line_gains;

LEAF line_gains line_gains_of(const ps_dgtd_line *x, double dt)
{
    double square = x->cutoff * x->cutoff;
    line_gains g = {dt * x->norm / (x->mu * x->cell),
                    dt * square / (x->eps * x->mu),
                    dt * square / x->mu * x->cell,
                    dt / (x->eps * x->norm * x->cell),
                    x->eps * x->norm * x->cell / 2,
                    dt,
                    x->guide == PS_DGTD_GUIDE_TE,
                    x->guide == PS_DGTD_GUIDE_TM};
    return g;
}

/* The state of a line, [cells + 1], [cells] and [cells] or, of TE, [cells + 1]. */
typedef struct line_state {
    double *v, *i, *sum;
} line_state;

LEAF line_state line_state_at(const ps_dgtd_line *x, double *state)
{
    line_state s = {state, state + x->cells + 1, state + 2 * x->cells + 1};
    return s;
}

/* I of cell k, and its int, to n + 1/2. */
LEAF void line_move_current(const line_gains *g, const line_state *s, int64_t k)
{
    s->i[k] += g->current * (s->v[k] - s->v[k + 1]);
    if (g->tm) {
        s->i[k] -= g->bend * s->sum[k];
        s->sum[k] += g->dt * s->i[k];
    }
    if (g->te) s->sum[k] += g->shunt * (k ? 1 : .5) * s->v[k];
}

/* V of end k > 0 to n + 1. */
LEAF void line_move_voltage(const line_gains *g, const line_state *s, int64_t k)
{
    s->v[k] += g->voltage * (s->i[k - 1] - s->i[k] - g->te * s->sum[k]);
}

/* The current into the line's first end without what its C takes. */
LEAF double line_taken(const line_gains *g, const line_state *s)
{
    return s->i[0] + (g->te ? s->sum[0] : 0);
}
