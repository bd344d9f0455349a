/* Pulses (source.h), for the host and for devices: LEAF, what each function begins with, is the
 * includer's. */

/* g, dg/du, d2g/du2 of the envelope. */
LEAF void envelope(ps_dgtd_shape shape, double u, double g[3])
{
    if (shape == PS_DGTD_GAUSSIAN) {
        g[0] = exp(-u * u);
        g[1] = -2 * u * g[0];
        g[2] = (4 * u * u - 2) * g[0];
        return;
    }
    double x = fmin(fmax(u, 0.), 1.), y = 1 - x;
    g[0] = x * x * x * x * (35 + x * (-84 + x * (70 - 20 * x)));
    g[1] = 140 * x * x * x * y * y * y;
    g[2] = 420 * x * x * y * y * (y - x);
}

LEAF void pulse_at(const ps_dgtd_pulse *x, double t, double out[3])
{
    double u = t - x->centre, w = x->omega, c = x->amplitude * cos(w * u),
           s = x->amplitude * sin(w * u), g[3];
    envelope(x->shape, u / x->width, g);
    g[1] /= x->width;
    g[2] /= x->width * x->width;
    out[0] = g[0] * c;
    out[1] = g[1] * c - w * g[0] * s;
    out[2] = g[2] * c - 2 * w * g[1] * s - w * w * g[0] * c;
}
