/*
 * admittance_body: one unknown's part of the recursion of kernels/tdbem/admittance.h, for the host
 * and for devices: the includer defines LEAF, what goes before a function. state: y of the first
 * pole; the numbers of an unknown are `stride` apart.
 */

/* What the past leaves in the coming step. */
LEAF double admittance_past_of(const ps_admittance_filter *filter, const double *state,
                               int64_t stride)
{
    double sum = 0;
    for (int j = 0; j < filter->count; ++j) {
        const ps_pole_filter *p = &filter->poles[j];
        sum += p->mean[0] * state[0] - (p->pair ? p->mean[1] * state[stride] : 0);
        state += p->pair ? 2 * stride : stride;
    }
    return sum;
}

/* The state after the step in which w was. */
LEAF void admittance_advance_of(const ps_admittance_filter *filter, double w, double *state,
                                int64_t stride)
{
    for (int j = 0; j < filter->count; ++j) {
        const ps_pole_filter *p = &filter->poles[j];
        const double x = state[0], y = p->pair ? state[stride] : 0;
        state[0] = p->decay[0] * x - p->decay[1] * y + p->gain[0] * w;
        if (p->pair) state[stride] = p->decay[1] * x + p->decay[0] * y + p->gain[1] * w;
        state += p->pair ? 2 * stride : stride;
    }
}
