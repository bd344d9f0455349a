#include "kernels/tdbem/radiation.h"

#define real float
#define NAME rows_f32
#include "kernels/tdbem/radiation_body.h"
#undef real
#undef NAME
#define real double
#define NAME rows_f64
#include "kernels/tdbem/radiation_body.h"

const struct ps_radiation_functions PS_ISA_TABLE(ps_radiation) = {
    .rows = {[PS_SINGLE] = rows_f32, [PS_DOUBLE] = rows_f64}};
