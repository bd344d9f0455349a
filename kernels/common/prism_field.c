#include "kernels/common/prism_field.h"

#include "runtime/isa.h"

PS_ISA_SELECT(struct ps_prism_field_functions, ps_prism_field)

const struct ps_prism_field_functions *ps_prism_field_functions_here(void)
{
    return ps_prism_field_select();
}
