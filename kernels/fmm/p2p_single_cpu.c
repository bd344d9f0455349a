#define real float
#define LANES_SINGLE 1
#define P2P_TABLE ps_fmm_p2p_single
#include "kernels/fmm/p2p_body.h"
