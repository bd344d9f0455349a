/*
 * The transposed product of a tile of warps (slice_product.h, `both`) for one instruction set: the
 * sums of its slices, from the past of its rows. A sum is one chain of additions, rows ascending,
 * lags ascending, fused where the machine can: that of the mirrored tile, to the bit.
 */
#include "kernels/tdbem/slice_product.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/tdbem/half_values.h"
#include "kernels/tdbem/vector_bytes.h"

enum { TOGETHER = 4 };

#define real float
#define SUFFIX transposed_f32
#include "kernels/tdbem/slice_transposed_body.h"
#undef real

#define real double
#define SUFFIX transposed_f64
#include "kernels/tdbem/slice_transposed_body.h"
#undef real

extern const struct ps_slice_product_functions PS_ISA_TABLE(ps_slice_transposed);
const struct ps_slice_product_functions PS_ISA_TABLE(ps_slice_transposed) = {
    .precision = {[PS_SINGLE] = add_transposed_f32, [PS_DOUBLE] = add_transposed_f64},
};
