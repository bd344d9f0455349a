/*
 * f[0] = K and f[n + 1] = f[n]' / r of every kernel, of r2 = r^2 > 0 (moment_p2p.h). The includer
 * defines KERNEL_INLINE, real as double, vreal (or has lanes_body.h), v_rsqrt, v_exp (of arguments
 * <= 0), v_of and v_sine_cosine(x, *sine, *cosine).
 */

/* c r^a. */
KERNEL_INLINE void power(int a, vreal r2, vreal f[4])
{
    vreal inverse = v_rsqrt(r2), square = inverse * inverse;
    vreal value = a == 1 ? r2 * inverse : a == 2 ? r2 : a == 4 ? r2 * r2 : v_of(1);
    for (int i = a; i < 0; ++i) value *= inverse;
    for (int n = 0; n < 4; ++n) {
        f[n] = value;
        value *= (real)(a - 2 * n) * square;
    }
}

#define RADIAL_POWER(name, a)                                                                      \
    KERNEL_INLINE void radial_##name(vreal r2, vreal b, vreal f[4])                                \
    {                                                                                              \
        (void)b;                                                                                   \
        power(a, r2, f);                                                                           \
    }
RADIAL_POWER(inverse, -1)
RADIAL_POWER(inverse_square, -2)
RADIAL_POWER(inverse_fourth, -4)
RADIAL_POWER(distance, 1)
RADIAL_POWER(square, 2)
RADIAL_POWER(fourth, 4)
#undef RADIAL_POWER

KERNEL_INLINE void radial_exponential(vreal r2, vreal b, vreal f[4])
{
    vreal inverse = v_rsqrt(r2), t = b * (r2 * inverse), square = inverse * inverse;
    f[0] = v_exp(-t);
    f[1] = -b * f[0] * inverse;
    f[2] = -f[1] * (1 + t) * square;
    f[3] = f[1] * (3 + t * (3 + t)) * (square * square);
}

KERNEL_INLINE void radial_yukawa(vreal r2, vreal b, vreal f[4])
{
    vreal inverse = v_rsqrt(r2), t = b * (r2 * inverse), square = inverse * inverse;
    f[0] = v_exp(-t) * inverse;
    f[1] = -(1 + t) * f[0] * square;
    f[2] = (3 + t * (3 + t)) * f[0] * (square * square);
    f[3] = -(15 + t * (15 + t * (6 + t))) * f[0] * (square * square * square);
}

KERNEL_INLINE void radial_gaussian(vreal r2, vreal b, vreal f[4])
{
    f[0] = v_exp(-b * r2);
    for (int n = 1; n < 4; ++n) f[n] = -2 * b * f[n - 1];
}

/* Of cos(t)/r, t = b r, with s = sin(t); and of sin(t)/r with cos(t) for cos(t) -> sin(t) and
 * sin(t) -> -cos(t). */
KERNEL_INLINE void oscillating(vreal t, vreal inverse, vreal c, vreal s, vreal f[4])
{
    vreal square = inverse * inverse, cube = inverse * square;
    f[0] = c * inverse;
    f[1] = -(t * s + c) * cube;
    f[2] = (3 * (t * s + c) - t * t * c) * (cube * square);
    f[3] = (t * t * (t * s + 6 * c) - 15 * (t * s + c)) * (cube * square * square);
}

KERNEL_INLINE void radial_cosine(vreal r2, vreal b, vreal f[4])
{
    vreal inverse = v_rsqrt(r2), t = b * (r2 * inverse), s, c;
    v_sine_cosine(t, &s, &c);
    oscillating(t, inverse, c, s, f);
}

KERNEL_INLINE void radial_sine(vreal r2, vreal b, vreal f[4])
{
    vreal inverse = v_rsqrt(r2), t = b * (r2 * inverse), s, c;
    v_sine_cosine(t, &s, &c);
    oscillating(t, inverse, s, -c, f);
}
