#include "kernels/hbem/pair_integrals.h"

PS_ISA_SELECT(struct ps_hbem_pair_functions, ps_hbem_pairs)

const struct ps_hbem_pair_functions *ps_hbem_pair_functions_here(void)
{
    return ps_hbem_pairs_select();
}
