/*
 * K and c = K'/r of every kernel (kernel_function.h) of r2 = r^2. The includer defines vreal,
 * KERNEL_INLINE, v_rsqrt, v_exp (of arguments <= 0), v_of (a constant as vreal) and
 * v_negated_product (-a b, in one instruction where there is one).
 */
KERNEL_INLINE void v_kernel_inverse(vreal r2, vreal b, vreal *k, vreal *c)
{
    (void)b;
    *k = v_rsqrt(r2);
    *c = v_negated_product(*k * *k, *k);
}

KERNEL_INLINE void v_kernel_inverse_square(vreal r2, vreal b, vreal *k, vreal *c)
{
    vreal inverse = v_rsqrt(r2);
    (void)b;
    *k = inverse * inverse;
    *c = -2.0f * *k * *k;
}

KERNEL_INLINE void v_kernel_inverse_fourth(vreal r2, vreal b, vreal *k, vreal *c)
{
    vreal inverse = v_rsqrt(r2), square = inverse * inverse;
    (void)b;
    *k = square * square;
    *c = -4.0f * *k * square;
}

KERNEL_INLINE void v_kernel_distance(vreal r2, vreal b, vreal *k, vreal *c)
{
    (void)b;
    *c = v_rsqrt(r2);
    *k = r2 * *c;
}

KERNEL_INLINE void v_kernel_exponential(vreal r2, vreal b, vreal *k, vreal *c)
{
    vreal inverse = v_rsqrt(r2);
    *k = v_exp(-b * (r2 * inverse));
    *c = -b * *k * inverse;
}

KERNEL_INLINE void v_kernel_yukawa(vreal r2, vreal b, vreal *k, vreal *c)
{
    vreal inverse = v_rsqrt(r2), br = b * (r2 * inverse);
    *k = v_exp(-br) * inverse;
    *c = -(1.0f + br) * *k * (inverse * inverse);
}

KERNEL_INLINE void v_kernel_gaussian(vreal r2, vreal b, vreal *k, vreal *c)
{
    *k = v_exp(-b * r2);
    *c = -2.0f * b * *k;
}

KERNEL_INLINE void v_kernel_square(vreal r2, vreal b, vreal *k, vreal *c)
{
    (void)b;
    *k = r2;
    *c = v_of(2);
}

KERNEL_INLINE void v_kernel_fourth(vreal r2, vreal b, vreal *k, vreal *c)
{
    (void)b;
    *k = r2 * r2;
    *c = 4.0f * r2;
}

#include "kernels/fmm/user_kernel_body.h"
