#include <string.h>

#include "kernels/tdbem/radiation_pass.h"

/* AHEAD: how many row-vectors earlier one is fetched. */
enum { AHEAD = 6, LINE = 64, STEPS_MAX = 8, LENGTH_MAX = 16, ROWS = PS_NEAR_ROWS };

/* Row-vectors begin .. end - 1 of a warp's up to `last`, for the steps from b0 on. */
typedef struct vectors_at_once {
    int64_t begin, end, last, b0;
} vectors_at_once;

#define NAME(name) PS_ISA_PASTE(name, SUFFIX)

#ifdef __AVX512F__
#include <immintrin.h>
#endif

/* TOGETHER: row-vectors whose products are summed in the precision of the matrices. */
#define real float
#define SUFFIX f32
#define TOGETHER 8
#ifdef __AVX512F__
#define LANE_VECTOR __m512
#define LANE_LOAD _mm512_loadu_ps
#define LANE_STORE _mm512_storeu_ps
#define LANE_PERMUTE(index, a) _mm512_permutexvar_ps(index, a)
#define LANE_PERMUTE2(a, index, b) _mm512_permutex2var_ps(a, index, b)
#define LANE_STARTS(at) _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(at)))
#define LANE_INDEX(starts, reach)                                                                  \
    _mm512_sub_epi32(_mm512_set1_epi32(reach), _mm512_min_epi32(starts, _mm512_set1_epi32(reach)))
#endif
#include "kernels/tdbem/radiation_pass_body.h"
#undef real
#undef SUFFIX
#undef TOGETHER
#undef LANE_VECTOR

#define real double
#define SUFFIX f64
#define TOGETHER 64
#include "kernels/tdbem/radiation_pass_body.h"
#undef real
#undef SUFFIX
#undef TOGETHER

const struct ps_radiation_functions PS_ISA_TABLE(ps_radiation) = {
    .warp = {[PS_SINGLE] = warp_f32, [PS_DOUBLE] = warp_f64}};
