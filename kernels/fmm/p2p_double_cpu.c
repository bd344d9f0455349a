#define real double
#define LANES_SINGLE 0
#define P2P_TABLE ps_fmm_p2p_double
#include "kernels/fmm/p2p_body.h"
