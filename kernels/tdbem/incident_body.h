/*
 * incident_body: the pulse and how it reaches a point (kernels/tdbem/incident.h), for the host and
 * for devices: the includer defines LEAF, what goes before a function.
 */

/* exp(-300): where pulses are cut to zero. */
#define CUT_EXPONENT 300.0

LEAF double pulse_value(const ps_emitter *emitter, double q)
{
    double x = q / emitter->width;
    if (emitter->shape == PS_PULSE_STEP) return x < -17 ? 0 : erfc(-x) / 2;
    if (!(x * x < CUT_EXPONENT)) return x * 0;
    double bell = exp(-x * x);
    switch (emitter->shape) {
    case PS_PULSE_DERIVATIVE:
        return -2 * x * bell;
    case PS_PULSE_RICKER:
        return (1 - 2 * x * x) * bell;
    case PS_PULSE_MODULATED:
        return cos(2 * M_PI * emitter->frequency * q) * bell;
    default:
        return bell;
    }
}

LEAF double pulse_slope(const ps_emitter *emitter, double q)
{
    double s = emitter->width, x = q / s;
    if (!(x * x < CUT_EXPONENT)) return x * 0;
    double bell = exp(-x * x);
    switch (emitter->shape) {
    case PS_PULSE_DERIVATIVE:
        return (4 * x * x - 2) / s * bell;
    case PS_PULSE_RICKER:
        return (4 * x * x - 6) * x / s * bell;
    case PS_PULSE_MODULATED: {
        double w = 2 * M_PI * emitter->frequency;
        return -(w * sin(w * q) + 2 * x / s * cos(w * q)) * bell;
    }
    case PS_PULSE_STEP:
        return bell / (s * sqrt(M_PI));
    default:
        return -2 * x / s * bell;
    }
}

LEAF double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

LEAF ps_arrival plane_arrival(const ps_emitter *emitter, double speed, const double *x,
                              const double *v)
{
    ps_arrival arrival = {emitter->delay + dot(emitter->place, x) / speed, emitter->amplitude, {0}};
    if (v) arrival.along[1] = -emitter->amplitude * dot(emitter->place, v) / speed;
    return arrival;
}

LEAF ps_arrival point_arrival(const ps_emitter *emitter, double speed, const double *x,
                              const double *v)
{
    double ray[3];
    for (int k = 0; k < 3; ++k) ray[k] = x[k] - emitter->place[k];
    double r = sqrt(dot(ray, ray)), value = emitter->amplitude / (4 * M_PI * r);
    ps_arrival arrival = {emitter->delay + r / speed, value, {0}};
    if (v) {
        double slope = dot(ray, v) / r;
        arrival.along[0] = -value * slope / r;
        arrival.along[1] = -value * slope / speed;
    }
    return arrival;
}

LEAF ps_arrival emitter_arrival(const ps_emitter *emitter, double speed, const double *x,
                                const double *v)
{
    if (emitter->kind == PS_EMITTER_PLANE) return plane_arrival(emitter, speed, x, v);
    if (emitter->kind == PS_EMITTER_POINT) return point_arrival(emitter, speed, x, v);
    ps_arrival uniform = {emitter->delay, -emitter->amplitude, {0}};
    return uniform;
}

#undef CUT_EXPONENT
