#define real float
#define LANES_SINGLE 1
#define CELL_TABLE ps_fmm_cell_single
#include "kernels/fmm/cell_body.h"
