/* vector_bytes: WIDEST, bytes of a vector register of the instruction set that a file is compiled for. */
#ifndef PS_KERNELS_TDBEM_VECTOR_BYTES_H
#define PS_KERNELS_TDBEM_VECTOR_BYTES_H

#if defined(__AVX512F__)
#define WIDEST 64
#elif defined(__AVX__)
#define WIDEST 32
#else
#define WIDEST 16
#endif

#endif
