#include "kernels/hbem/pair_integrals.h"

#include <math.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

/* Vectors are wider than the registers of the lesser instruction sets; none crosses a call. */
#pragma GCC diagnostic ignored "-Wpsabi"
#define INLINE static inline __attribute__((always_inline))
#define FOUR_PI (4 * M_PI)
#define SHORT_PHASE_POINTS 6

#define real float
#define integer int32_t
#define SINGLE 1
#define ROOT sqrtf
#define source_f32 ps_hbem_source_f32
#define N(name) name##_f32
#include "kernels/hbem/pair_lanes_body.h"
#include "kernels/hbem/pair_row_body.h"
#include "kernels/hbem/pair_six_body.h"
#undef real
#undef integer
#undef SINGLE
#undef ROOT
#undef N
#define real double
#define integer int64_t
#define SINGLE 0
#define ROOT sqrt
#define source_f64 ps_hbem_source_f64
#define N(name) name##_f64
#include "kernels/hbem/pair_lanes_body.h"
#include "kernels/hbem/pair_row_body.h"
#include "kernels/hbem/pair_six_body.h"
#include "kernels/hbem/pair_near_body.h"
#include "kernels/hbem/hard_lanes_body.h"
#include "kernels/hbem/hard_damped_body.h"

/* mode 0: Laplace, 1: waves, 2: waves in an absorbing medium */
#define ROW(kernel, wave)                                                                          \
    static void row_f32_##kernel##wave(const ps_hbem_row_job *job)                                 \
    {                                                                                              \
        any_row_f32(job, PS_KERNEL_##kernel, wave);                                                \
    }                                                                                              \
    static void row_f64_##kernel##wave(const ps_hbem_row_job *job)                                 \
    {                                                                                              \
        any_row_f64(job, PS_KERNEL_##kernel, wave);                                                \
    }
#define PAIR(kernel, wave)                                                                         \
    static void regular_##kernel##wave(const ps_hbem_pair_job *job)                                \
    {                                                                                              \
        regular(job, PS_KERNEL_##kernel, wave, 0);                                                 \
    }                                                                                              \
    static void regular_sum_##kernel##wave(const ps_hbem_pair_job *job)                            \
    {                                                                                              \
        regular(job, PS_KERNEL_##kernel, wave, 1);                                                 \
    }                                                                                              \
    static void joint_sum_##kernel##wave(const ps_hbem_pair_job *job)                              \
    {                                                                                              \
        joint(job, PS_KERNEL_##kernel, wave, 1);                                                   \
    }                                                                                              \
    static void joint_##kernel##wave(const ps_hbem_pair_job *job)                                  \
    {                                                                                              \
        joint(job, PS_KERNEL_##kernel, wave, 0);                                                   \
    }
ROW(SLP, 0)
ROW(SLP, 1)
ROW(SLP, 2)
ROW(DLP, 0) ROW(DLP, 1) ROW(DLP, 2) ROW(ADLP, 0) ROW(ADLP, 1) ROW(ADLP, 2) ROW(HYPS, 0) ROW(HYPS, 1)
    ROW(HYPS, 2) PAIR(SLP, 0) PAIR(SLP, 1) PAIR(SLP, 2) PAIR(DLP, 0) PAIR(DLP, 1) PAIR(DLP, 2)
        PAIR(ADLP, 0) PAIR(ADLP, 1) PAIR(ADLP, 2)

#define HARD(kernel)                                                                               \
    static void hard_##kernel(const ps_hbem_hard_job *job)                                         \
    {                                                                                              \
        hard_room room;                                                                            \
        hard_all_moments(job, PS_KERNEL_##kernel, &room, job->moments);                            \
    }
HARD(SLP) HARD(DLP) HARD(ADLP)

#define ENTRY(kind, kernel)                                                                        \
    [PS_KERNEL_##kernel] = {kind##_##kernel##0, kind##_##kernel##1, kind##_##kernel##2}
#define ROWS(kind)                                                                                 \
    {                                                                                              \
        ENTRY(kind, SLP), ENTRY(kind, DLP), ENTRY(kind, ADLP), ENTRY(kind, HYPS)                   \
    }
#define PAIRS(kind)                                                                                \
    {                                                                                              \
        ENTRY(kind, SLP), ENTRY(kind, DLP), ENTRY(kind, ADLP)                                      \
    }

        const struct ps_hbem_pair_functions PS_ISA_TABLE(ps_hbem_pairs) = {
            .row = {[PS_SINGLE] = ROWS(row_f32), [PS_DOUBLE] = ROWS(row_f64)},
            .regular = {PAIRS(regular), PAIRS(regular_sum)},
            .joint = {PAIRS(joint), PAIRS(joint_sum)},
            .hard = {[PS_KERNEL_SLP] = hard_SLP,
                     [PS_KERNEL_DLP] = hard_DLP,
                     [PS_KERNEL_ADLP] = hard_ADLP}};
