/*
 * Part of near_cuda.cu: hard_body.h on a device. A warp has a pair, as pairs take one cell or a
 * thousand: threads with a pair each would wait for the dearest one of a warp, and a launch for
 * whoever has the dearest of all.
 */
#ifndef PS_KERNELS_HBEM_DEVICE_HARD_BODY_H
#define PS_KERNELS_HBEM_DEVICE_HARD_BODY_H

#include "kernels/hbem/device_close_body.h"

#define INLINE __device__ static
#define CALLED __device__ static __noinline__
#define lanes double
#define WIDTH WARP
#define HARD_FIRST ((int)(threadIdx.x % WARP))
#define HARD_STEP WARP
#define HARD_MEET __syncwarp()
#define ALIGNED
#define CHOOSE(where, a, b) ((where) ? (a) : (b))
#define SIZE_OF(a) fabs(a)
#define ROOT_OF(a) sqrt(a)
#define LOG_OF(a) log(a)
#define ATAN2_OF(y, x) atan2((y), (x))
#define SINE_COSINE(x, sine, cosine) sincos((x), &(sine), &(cosine))
#define DECAY_OF(a) exp(-(a))
#define SUM_OF(a) warp_sum(a)
#define TOTAL_OF(a) warp_sum(a)
#define LOAD(from) ((from)[HARD_FIRST])
#define STORE(to, a) ((to)[HARD_FIRST] = (a))
#include "kernels/hbem/closed_body.h"
#include "kernels/hbem/hard_body.h"
#include "kernels/hbem/hard_damped_body.h"

/* The same pair by hard_body.h, fp64, by a warp: hats in the order of the rules. */
template <int kernel, int wave>
__device__ void hard_pair_moments(const ps_hbem_near_launch &in, const close_pair<double> &p,
                                  hard_room *room, moments_of<double, parts_of(wave)> *m)
{
    double own[18];
    const ps_hbem_hard_job job = {p.first,          p.second,         in.op.rules.cells,
                                  in.op.wavenumber, in.op.absorption, own};
    /* d_nx of the first triangle where x and y are exchanged (DLP) or are not (ADLP). */
    const bool layer = kernel == PS_KERNEL_DLP || kernel == PS_KERNEL_ADLP;
    const bool by_first = p.exchanged == (kernel == PS_KERNEL_DLP);
    if (!layer)
        hard_all_moments(&job, PS_KERNEL_SLP, room, own);
    else if (by_first)
        hard_all_moments(&job, PS_KERNEL_ADLP, room, own);
    else
        hard_all_moments(&job, PS_KERNEL_DLP, room, own);
    const double scale = 4 * M_PI / (p.first->jacobian * p.second->jacobian);
    for (int part = 0; part < parts_of(wave); ++part)
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                m->at[a][b].part[part] =
                    scale *
                    own[9 * part + 3 * (p.order[0] >> 2 * a & 3) + (p.order[1] >> 2 * b & 3)];
}

#endif
