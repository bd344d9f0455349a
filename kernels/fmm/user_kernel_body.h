/*
 * The user's kernel: edit K and c = K'/r here and rebuild; the CPU, the operators and CUDA all take
 * them from this file. `vreal` is a number (or a vector of numbers, one a lane); r2 = r^2 > 0 and
 * b is the parameter given on the command line. v_rsqrt(x) = 1/sqrt(x) and v_exp(x), x <= 0, are
 * there; numerical constants must be exact in single precision, or be written v_of(0.1).
 *
 * PS_FMM_USER_DEGREE: a with K(s r) = s^a K(r), if there is one; leave it undefined otherwise.
 *
 * As it stands: K = 1/r^3, c = -3/r^5.
 */
#define PS_FMM_USER_DEGREE (-3)

KERNEL_INLINE void v_kernel_user(vreal r2, vreal b, vreal *k, vreal *c)
{
    vreal inverse = v_rsqrt(r2), square = inverse * inverse;
    (void)b;
    *k = square * inverse;
    *c = -3.0f * *k * square;
}
