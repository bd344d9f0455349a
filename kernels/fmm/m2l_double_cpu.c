#define real double
#define LANES_SINGLE 0
#define M2L_TABLE ps_fmm_m2l_double
#include "kernels/fmm/m2l_body.h"
