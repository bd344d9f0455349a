#include <math.h>

#include "kernels/dgtd/dispersion.h"
#include "kernels/dgtd/half_step.h"
#include "kernels/dgtd/lanes_begin.h"
#include "kernels/dgtd/mesh.h"

#define real float
#define LANES 16
#define SUFFIX f32
#include "kernels/dgtd/half_step_real_body.h"
#undef real
#undef LANES
#undef SUFFIX

#define real double
#define LANES 8
#define SUFFIX f64
#include "kernels/dgtd/half_step_real_body.h"

extern const struct ps_dgtd_half_step_functions PS_ISA_TABLE(ps_dgtd_half_step);
const struct ps_dgtd_half_step_functions PS_ISA_TABLE(ps_dgtd_half_step) = {
    .sweep = {[PS_SINGLE] = {sweep_f32_1, sweep_f32_2, sweep_f32_3, sweep_f32_4},
              [PS_DOUBLE] = {sweep_f64_1, sweep_f64_2, sweep_f64_3, sweep_f64_4}},
    .inner = {[PS_SINGLE] = inner_f32, [PS_DOUBLE] = inner_f64},
    .respond = {[PS_SINGLE] = respond_group_f32, [PS_DOUBLE] = respond_group_f64}};
