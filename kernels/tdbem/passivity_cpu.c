#include "kernels/tdbem/passivity.h"
#include "runtime/isa.h"

enum { LANES = PS_PASSIVITY_ANGLES };

/* A lane an angle: the sum of a row-vector is one chain of multiply-adds. */
#define FILL(name, real)                                                                           \
    static void name(int64_t count, const uint16_t *starts, const uint16_t *lengths,               \
                     const real *values, const double *weights, int angles, float *const *out)     \
    {                                                                                              \
        for (int64_t v = 0; v < count; ++v) {                                                      \
            double sum[LANES] = {0};                                                               \
            const double *w = weights + (int64_t)starts[v] * LANES;                                \
            for (int q = 0; q < lengths[v]; ++q, w += LANES, ++values)                             \
                for (int t = 0; t < LANES; ++t) sum[t] += (double)*values * w[t];                  \
            for (int t = 0; t < angles; ++t) out[t][v] = (float)sum[t];                            \
        }                                                                                          \
    }
FILL(fill_f32, float)
FILL(fill_f64, double)

extern const ps_passivity_functions PS_ISA_TABLE(ps_passivity);
const ps_passivity_functions PS_ISA_TABLE(ps_passivity) = {.fill_f32 = fill_f32,
                                                           .fill_f64 = fill_f64};
