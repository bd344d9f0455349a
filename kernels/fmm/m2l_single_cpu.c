#define real float
#define LANES_SINGLE 1
#define M2L_TABLE ps_fmm_m2l_single
#include "kernels/fmm/m2l_body.h"
