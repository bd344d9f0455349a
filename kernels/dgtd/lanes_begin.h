/* What lanes_body.h needs of the instruction set, once a file. */
#ifndef PS_KERNELS_DGTD_LANES_BEGIN_H
#define PS_KERNELS_DGTD_LANES_BEGIN_H

#include <stdint.h>

#ifdef __AVX512F__
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#define PASTE3_(a, b, c) a##_##b##_##c
#define PASTE3(a, b, c) PASTE3_(a, b, c)
#define PASTE2_(a, b) a##_##b
#define PASTE2(a, b) PASTE2_(a, b)
#define INLINE static inline __attribute__((always_inline))

#endif
