/*
 * The kernel functions on the device: kernels/fmm/kernel_function_body.h for a few targets of a
 * thread side by side, 4 in double and 8 in single precision. Included by p2p_cuda.cu alone, inside
 * its anonymous namespace, after kernels/fmm/device_body.h.
 */
/* Numbers of several targets, worked on step by step side by side: operations of one number wait
 * for each other, those of several fill the time. careful: some may be 0 where a root is taken. */
template <typename real_, int count, bool careful_> struct numbers {
    using real = real_;
    static constexpr int targets = count;
    static constexpr bool careful = careful_;
    real v[count];
};

#define EACH_LANE _Pragma("unroll") for (int i = 0; i < n; ++i)
#define NUMBERS_TEMPLATE template <typename real, int n, bool careful> KERNEL_INLINE
#define NUMBERS numbers<real, n, careful>
#define NUMBERS_OPERATOR(op)                                                                       \
    NUMBERS_TEMPLATE NUMBERS operator op(const NUMBERS &a, const NUMBERS &b)                       \
    {                                                                                              \
        NUMBERS x;                                                                                 \
        EACH_LANE x.v[i] = a.v[i] op b.v[i];                                                       \
        return x;                                                                                  \
    }                                                                                              \
    NUMBERS_TEMPLATE NUMBERS operator op(float a, const NUMBERS &b)                                \
    {                                                                                              \
        NUMBERS x;                                                                                 \
        EACH_LANE x.v[i] = (real)a op b.v[i];                                                      \
        return x;                                                                                  \
    }
NUMBERS_OPERATOR(+)
NUMBERS_OPERATOR(-)
NUMBERS_OPERATOR(*)

NUMBERS_TEMPLATE NUMBERS operator-(const NUMBERS &a) { return -1.0f * a; }

NUMBERS_TEMPLATE NUMBERS v_negated_product(const NUMBERS &a, const NUMBERS &b)
{
    NUMBERS x;
    EACH_LANE x.v[i] = -(a.v[i] * b.v[i]);
    return x;
}

/* 1/sqrt(x) to an ulp or so, and 0 for x = 0 if that may be: pairs at distance 0 then contribute
 * nothing. The instruction's y has some 20 bits; y (1 + e/2 + 3 e^2/8), e = 1 - x y^2, leaves 5
 * e^3/16. */
template <int n, bool careful>
KERNEL_INLINE numbers<double, n, careful> v_rsqrt(const numbers<double, n, careful> &x)
{
    numbers<double, n, careful> y, e, p;
    EACH_LANE
    {
        double seed;
        asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(seed) : "d"(x.v[i]));
        int high = __double2hiint(seed);
        if (careful && __double2hiint(x.v[i]) < 0x00100000) high = 0;
        y.v[i] = __hiloint2double(high, 0);
    }
    EACH_LANE e.v[i] = x.v[i] * y.v[i];
    EACH_LANE e.v[i] = fma(-e.v[i], y.v[i], 1.0);
    EACH_LANE p.v[i] = fma(0.375, e.v[i], 0.5);
    EACH_LANE e.v[i] = e.v[i] * y.v[i];
    EACH_LANE y.v[i] = fma(e.v[i], p.v[i], y.v[i]);
    return y;
}

template <int n, bool careful>
KERNEL_INLINE numbers<float, n, careful> v_rsqrt(const numbers<float, n, careful> &x)
{
    numbers<float, n, careful> y;
    EACH_LANE
    {
        asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y.v[i]) : "f"(x.v[i]));
        if (careful) y.v[i] = x.v[i] > 0 ? y.v[i] : 0.0f;
    }
    return y;
}

NUMBERS_TEMPLATE NUMBERS v_exp(const NUMBERS &x)
{
    NUMBERS y;
    EACH_LANE y.v[i] = sizeof(real) == 8 ? (real)exp((double)x.v[i]) : (real)expf((float)x.v[i]);
    return y;
}

NUMBERS_TEMPLATE NUMBERS v_all(real x)
{
    NUMBERS y;
    EACH_LANE y.v[i] = x;
    return y;
}

/* The bodies of the kernel functions are C in a vector type: here once for each type. */
namespace double_careful
{
typedef numbers<double, 4, true> vreal;
KERNEL_INLINE vreal v_of(double x) { return v_all<double, 4, true>(x); }
#include "kernels/fmm/kernel_function_body.h"
} // namespace double_careful
namespace double_apart
{
typedef numbers<double, 4, false> vreal;
KERNEL_INLINE vreal v_of(double x) { return v_all<double, 4, false>(x); }
#include "kernels/fmm/kernel_function_body.h"
} // namespace double_apart
namespace single_careful
{
typedef numbers<float, 8, true> vreal;
KERNEL_INLINE vreal v_of(float x) { return v_all<float, 8, true>(x); }
#include "kernels/fmm/kernel_function_body.h"
} // namespace single_careful
namespace single_apart
{
typedef numbers<float, 8, false> vreal;
KERNEL_INLINE vreal v_of(float x) { return v_all<float, 8, false>(x); }
#include "kernels/fmm/kernel_function_body.h"
} // namespace single_apart

/* K and c of r2. */
template <int kernel, typename vreal>
KERNEL_INLINE void kernel_at(const vreal &r2, const vreal &b, vreal *k, vreal *c)
{
    using namespace double_careful;
    using namespace double_apart;
    using namespace single_careful;
    using namespace single_apart;
#define KERNEL_CHOICE(NAME, name)                                                                  \
    if constexpr (kernel == PS_FMM_##NAME) v_kernel_##name(r2, b, k, c);
    PS_FMM_COMMON_KERNELS(KERNEL_CHOICE)
    KERNEL_CHOICE(USER, user)
#undef KERNEL_CHOICE
}

/* Whether K and c d are 0 of themselves at distance 0, v_rsqrt being 0 there. */
__host__ __device__ constexpr bool vanishes_at_0(int kernel)
{
    return kernel != PS_FMM_EXPONENTIAL && kernel != PS_FMM_GAUSSIAN && kernel != PS_FMM_USER;
}
