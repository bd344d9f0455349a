/* vec3: vectors of three numbers. */
#ifndef PS_KERNELS_COMMON_VEC3_H
#define PS_KERNELS_COMMON_VEC3_H

#include <math.h>

static inline double ps_dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* out = a x b, which is neither of them. */
static inline void ps_cross3(const double *a, const double *b, double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline void ps_subtract3(const double *a, const double *b, double out[3])
{
    for (int c = 0; c < 3; ++c) out[c] = a[c] - b[c];
}

static inline void ps_midpoint3(const double *a, const double *b, double out[3])
{
    for (int c = 0; c < 3; ++c) out[c] = (a[c] + b[c]) / 2;
}

static inline double ps_norm3(const double *a) { return sqrt(ps_dot3(a, a)); }

static inline double ps_distance3(const double *a, const double *b)
{
    double d[3];
    ps_subtract3(a, b, d);
    return ps_norm3(d);
}

#endif
