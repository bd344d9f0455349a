#include "kernels/hbem/potentials.h"

#include <math.h>
#include <stddef.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "kernels/hbem/pair_integrals.h"

/* Vectors are wider than the registers of the lesser instruction sets; none crosses a call. */
#pragma GCC diagnostic ignored "-Wpsabi"
#define INLINE static inline __attribute__((always_inline))

#define real double
#define integer int64_t
#define SINGLE 0
#define ROOT sqrt
#define source_f64 ps_hbem_source_f64
#define N(name) name##_f64
#include "kernels/hbem/pair_lanes_body.h"

enum { BATCH = 32 };

/* The kernel function of a source for all lanes, without its constant factor. */
INLINE void value_at(int kind, int mode, const ps_hbem_potential_job *job, const lanes_f64 x[3],
                     const double *source, lanes_f64 value[2])
{
    lanes_f64 y[3], n[3];
    double k = job->wavenumber;
    for (int c = 0; c < 3; ++c) {
        y[c] = source[c] - (lanes_f64){0};
        n[c] = source[3 + c] - (lanes_f64){0};
    }
    if (kind == PS_POTENTIAL_SINGLE || kind == PS_POTENTIAL_DOUBLE) {
        lanes_f64 d[3];
        for (int c = 0; c < 3; ++c) d[c] = x[c] - y[c];
        waves_f64 waves = {
            .wave = mode != 0, .damped = mode == 2, .k = k, .loss = job->absorption};
        factors_f64 factors = {.main = 1 - (lanes_f64){0}};
        if (kind == PS_POTENTIAL_DOUBLE) factors.main = dot_f64(d, n);
        kernel_f64(kind == PS_POTENTIAL_SINGLE ? PS_KERNEL_SLP : PS_KERNEL_DLP, &waves, d, &factors,
                   value);
        return;
    }
    lanes_f64 phase = -k * (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]);
    sine_cosine_f64(&phase, &value[1], &value[0]);
    if (kind == PS_POTENTIAL_FAR_SINGLE) return;
    lanes_f64 slope = x[0] * n[0] + x[1] * n[1] + x[2] * n[2];
    for (int part = 0; part < 2; ++part) value[part] *= slope;
}

/* One density's share of a batch. */
INLINE void add_column(int wave, int count, int stride, const double *strength,
                       const lanes_f64 (*values)[2], lanes_f64 *sums)
{
    lanes_f64 a = {0}, b = {0}, c = {0}, d = {0};
    for (int s = 0; s < count; ++s, strength += stride) {
        a += strength[0] * values[s][0];
        if (!wave) continue;
        b += strength[1] * values[s][1];
        c += strength[0] * values[s][1];
        d += strength[1] * values[s][0];
    }
    sums[0] += a - b;
    if (wave) sums[1] += c + d;
}

INLINE void add(const ps_hbem_potential_job *job, int kind, int mode)
{
    const int wave = mode != 0;
    const lanes_f64 *x = (const lanes_f64 *)job->targets;
    lanes_f64 *sums = (lanes_f64 *)job->sums, values[BATCH][2];
    int parts = 1 + wave, stride = job->columns * parts;
    for (int64_t first = 0; first < job->count; first += BATCH) {
        int count = (int)(job->count - first < BATCH ? job->count - first : BATCH);
        for (int s = 0; s < count; ++s)
            value_at(kind, mode, job, x, job->sources + 6 * (first + s), values[s]);
        for (int column = 0; column < job->columns; ++column)
            add_column(wave, count, stride, job->strengths + first * stride + column * parts,
                       (const lanes_f64(*)[2])values, sums + column * parts);
    }
}

#define ADD(kind, mode)                                                                            \
    static void add_##kind##mode(const ps_hbem_potential_job *job)                                 \
    {                                                                                              \
        add(job, PS_POTENTIAL_##kind, mode);                                                       \
    }
ADD(SINGLE, 0)
ADD(SINGLE, 1)
ADD(SINGLE, 2)
ADD(DOUBLE, 0)
ADD(DOUBLE, 1)
ADD(DOUBLE, 2)
ADD(FAR_SINGLE, 1) ADD(FAR_DOUBLE, 1)

    const struct ps_hbem_potential_functions PS_ISA_TABLE(ps_hbem_potentials_isa) = {
        .add = {[PS_POTENTIAL_SINGLE] = {add_SINGLE0, add_SINGLE1, add_SINGLE2},
                [PS_POTENTIAL_DOUBLE] = {add_DOUBLE0, add_DOUBLE1, add_DOUBLE2},
                [PS_POTENTIAL_FAR_SINGLE] = {NULL, add_FAR_SINGLE1},
                [PS_POTENTIAL_FAR_DOUBLE] = {NULL, add_FAR_DOUBLE1}}};
