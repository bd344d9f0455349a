#include <math.h>

#include "kernels/dgtd/lanes_begin.h"
#include "kernels/dgtd/upwind.h"

#define real float
#define LANES 16
#define SUFFIX f32
#include "kernels/dgtd/upwind_real_body.h"
#undef real
#undef LANES
#undef SUFFIX

#define real double
#define LANES 8
#define SUFFIX f64
#include "kernels/dgtd/upwind_real_body.h"

extern const struct ps_dgtd_upwind_functions PS_ISA_TABLE(ps_dgtd_upwind);
const struct ps_dgtd_upwind_functions PS_ISA_TABLE(ps_dgtd_upwind) = {
    .apply = {[PS_SINGLE] = {apply_f32_1, apply_f32_2, apply_f32_3, apply_f32_4},
              [PS_DOUBLE] = {apply_f64_1, apply_f64_2, apply_f64_3, apply_f64_4}}};
