#include "kernels/tdbem/lag_sum.h"

#include "runtime/isa.h"

PS_ISA_SELECT(ps_lag_sum_functions, ps_lag_sum)

const ps_lag_sum_functions *ps_lag_sum_functions_here(void) { return ps_lag_sum_select(); }
