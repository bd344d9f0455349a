/* Incident fields (source.h), for the host and for devices: LEAF, what each function begins with,
 * is the includer's. */
#include "kernels/dgtd/pulse_body.h"

LEAF double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

LEAF void cross(const double a[3], const double b[3], double out[3])
{
    for (int c = 0; c < 3; ++c)
        out[c] = a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3];
}

LEAF void dipole_at(const ps_dgtd_incident *x, const double d[3], double t, double e[3],
                    double h[3])
{
    double p[3], r = sqrt(dot(d, d)), unit[3] = {d[0] / r, d[1] / r, d[2] / r}, turned[3];
    double along = dot(x->axis, unit);
    pulse_at(&x->pulse, t - r, p);
    double near = (p[0] / r + p[1]) / (r * r), far = p[2] / r;
    cross(x->axis, unit, turned);
    for (int c = 0; c < 3; ++c) {
        e[c] = ((3 * along * unit[c] - x->axis[c]) * near + (along * unit[c] - x->axis[c]) * far) /
               (4 * 3.14159265358979323846);
        h[c] = (p[1] / r + p[2]) / r * turned[c] / (4 * 3.14159265358979323846);
    }
}

LEAF void incident_at(const ps_dgtd_incident *x, const double point[3], double t, double e[3],
                      double h[3])
{
    double d[3], f[3];
    for (int c = 0; c < 3; ++c) d[c] = point[c] - x->origin[c];
    if (x->kind == PS_DGTD_DIPOLE) {
        dipole_at(x, d, t, e, h);
        return;
    }
    pulse_at(&x->pulse, t - dot(x->axis, d), f);
    for (int c = 0; c < 3; ++c) e[c] = x->polarisation[c] * f[0];
    cross(x->axis, e, h);
}
