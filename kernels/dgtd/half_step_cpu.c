#include <math.h>

#ifdef __AVX512F__
#include <immintrin.h>
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#include "kernels/dgtd/half_step.h"
#include "kernels/dgtd/mesh.h"

#define PASTE3_(a, b, c) a##_##b##_##c
#define PASTE3(a, b, c) PASTE3_(a, b, c)
#define PASTE2_(a, b) a##_##b
#define PASTE2(a, b) PASTE2_(a, b)
#define INLINE static inline __attribute__((always_inline))

#define real float
#define LANES 16
#define SUFFIX f32
#include "kernels/dgtd/half_step_real_body.h"
#undef real
#undef LANES
#undef SUFFIX

#define real double
#define LANES 8
#define SUFFIX f64
#include "kernels/dgtd/half_step_real_body.h"

extern const struct ps_dgtd_half_step_functions PS_ISA_TABLE(ps_dgtd_half_step);
const struct ps_dgtd_half_step_functions PS_ISA_TABLE(ps_dgtd_half_step) = {
    .sweep = {[PS_SINGLE] = {sweep_f32_1, sweep_f32_2, sweep_f32_3, sweep_f32_4},
              [PS_DOUBLE] = {sweep_f64_1, sweep_f64_2, sweep_f64_3, sweep_f64_4}},
    .inner = {[PS_SINGLE] = inner_f32, [PS_DOUBLE] = inner_f64}};
