/*
 * complex_body: complex numbers of fp64 for *_cuda.cu files, inside a namespace.
 */
#ifndef PS_KERNELS_LINEAR_COMPLEX_BODY_H
#define PS_KERNELS_LINEAR_COMPLEX_BODY_H

struct alignas(16) complex {
    double re, im;
};
__device__ __forceinline__ complex operator*(complex a, complex b)
{
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
__device__ __forceinline__ complex operator+(complex a, complex b)
{
    return {a.re + b.re, a.im + b.im};
}
__device__ __forceinline__ complex operator-(complex a, complex b)
{
    return {a.re - b.re, a.im - b.im};
}
/* 0 where b is 0. */
__device__ __forceinline__ complex divide(complex a, complex b)
{
    const double size = b.re * b.re + b.im * b.im;
    if (size == 0) return {0, 0};
    return {(a.re * b.re + a.im * b.im) / size, (a.im * b.re - a.re * b.im) / size};
}
/* sum += a b, each product and sum rounded once, in this order. */
__device__ __forceinline__ void add_product(complex &sum, complex a, complex b)
{
    sum.re = fma(a.re, b.re, sum.re);
    sum.im = fma(a.re, b.im, sum.im);
    sum.re = fma(-a.im, b.im, sum.re);
    sum.im = fma(a.im, b.re, sum.im);
}

#endif
