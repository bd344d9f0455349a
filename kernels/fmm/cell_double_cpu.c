#define real double
#define LANES_SINGLE 0
#define CELL_TABLE ps_fmm_cell_double
#include "kernels/fmm/cell_body.h"
