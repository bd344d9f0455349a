/*
 * What the *_cuda.cu files of the family share on the device: the kernel functions for a number
 * (float or double), keys, codes. Included by them alone, inside their anonymous namespace, after
 * kernels/fmm/device_ops.h.
 */
#define KERNEL_INLINE __device__ __forceinline__

/* 1/sqrt(x) to an ulp or so, 0 for x = 0: pairs at distance 0 then contribute nothing. The
 * instruction's y has some 20 bits; y (1 + e/2 + 3 e^2/8), e = 1 - x y^2, leaves 5 e^3/16. */
KERNEL_INLINE double v_rsqrt(double x)
{
    double seed;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(seed) : "d"(x));
    int high = __double2hiint(x) < 0x00100000 ? 0 : __double2hiint(seed);
    double y = __hiloint2double(high, 0), e = fma(-(x * y), y, 1.0);
    return fma(y * e, fma(0.375, e, 0.5), y);
}

KERNEL_INLINE float v_rsqrt(float x)
{
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return x > 0 ? y : 0.0f;
}

KERNEL_INLINE double v_exp(double x) { return exp(x); }
KERNEL_INLINE float v_exp(float x) { return expf(x); }
KERNEL_INLINE double v_negated_product(double a, double b) { return -(a * b); }
KERNEL_INLINE float v_negated_product(float a, float b) { return -(a * b); }

/* The bodies of the kernel functions are C in a vector type: here once for each precision. */
namespace in_double {
typedef double vreal;
KERNEL_INLINE double v_of(double x) { return x; }
#include "kernels/fmm/kernel_function_body.h"
} // namespace in_double
namespace in_single {
typedef float vreal;
KERNEL_INLINE float v_of(float x) { return x; }
#include "kernels/fmm/kernel_function_body.h"
} // namespace in_single

/* K and c of r2. */
template <int kernel, typename real>
KERNEL_INLINE void kernel_at(real r2, real b, real *k, real *c)
{
    using namespace in_double;
    using namespace in_single;
    if constexpr (kernel == PS_FMM_INVERSE) v_kernel_inverse(r2, b, k, c);
    if constexpr (kernel == PS_FMM_INVERSE_SQUARE) v_kernel_inverse_square(r2, b, k, c);
    if constexpr (kernel == PS_FMM_INVERSE_FOURTH) v_kernel_inverse_fourth(r2, b, k, c);
    if constexpr (kernel == PS_FMM_DISTANCE) v_kernel_distance(r2, b, k, c);
    if constexpr (kernel == PS_FMM_EXPONENTIAL) v_kernel_exponential(r2, b, k, c);
    if constexpr (kernel == PS_FMM_YUKAWA) v_kernel_yukawa(r2, b, k, c);
    if constexpr (kernel == PS_FMM_GAUSSIAN) v_kernel_gaussian(r2, b, k, c);
    if constexpr (kernel == PS_FMM_SQUARE) v_kernel_square(r2, b, k, c);
    if constexpr (kernel == PS_FMM_FOURTH) v_kernel_fourth(r2, b, k, c);
    if constexpr (kernel == PS_FMM_USER) v_kernel_user(r2, b, k, c);
}

/* Whether K and c d are 0 of themselves at distance 0, v_rsqrt being 0 there. */
__host__ __device__ constexpr bool vanishes_at_0(int kernel)
{
    return kernel != PS_FMM_EXPONENTIAL && kernel != PS_FMM_GAUSSIAN && kernel != PS_FMM_USER;
}

/* Every third bit. */
KERNEL_INLINE int key_axis(uint64_t key)
{
    key &= 0x1249249249249249;
    key = (key ^ key >> 2) & 0x10c30c30c30c30c3;
    key = (key ^ key >> 4) & 0x100f00f00f00f00f;
    key = (key ^ key >> 8) & 0x1f0000ff0000ff;
    key = (key ^ key >> 16) & 0x1f00000000ffff;
    return (int)(key ^ key >> 32);
}

/* The centre of a cell, as kernels/fmm/evaluate.c has it. */
KERNEL_INLINE void cell_centre(const ps_octree_box &box, double width, uint64_t key, double at[3])
{
#pragma unroll
    for (int d = 0; d < 3; ++d)
        at[d] = box.corner[d] + ((double)key_axis(key >> (2 - d)) + 0.5) * width;
}

/* The vector of a cell that a code names; `length` numbers a cell. */
template <typename real>
KERNEL_INLINE real *vector_at(const ps_fmm_device_vectors_table &in, int32_t code, int side,
                              int64_t length)
{
    ps_fmm_device_vectors from = in.table ? in.table[code >> in.shift] : in.one;
    int64_t cell = in.table ? code & ((1 << in.shift) - 1) : code;
    return static_cast<real *>(from.values) + side * from.stride + cell * length;
}
