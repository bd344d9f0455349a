/* complex_pair: complex numbers in memory, the real part first. */
#ifndef PS_KERNELS_COMMON_COMPLEX_PAIR_H
#define PS_KERNELS_COMMON_COMPLEX_PAIR_H

#include <complex.h>

static inline double complex ps_complex_of(const double pair[2]) { return pair[0] + I * pair[1]; }

static inline void ps_complex_put(double complex z, double pair[2])
{
    pair[0] = creal(z);
    pair[1] = cimag(z);
}

#endif
