#include "kernels/tdbem/shell_integral.h"

#include <stddef.h>

PS_ISA_SELECT(ps_shell_functions, ps_shell)

const ps_shell_functions *ps_shell_functions_here(void) { return ps_shell_select(); }

const ps_shell_functions *ps_shell_functions_of(ps_isa isa)
{
    if (isa > ps_isa_here()) return NULL;
#ifdef PS_ISA_VARIANTS
    if (isa == PS_ISA_AVX2) return &ps_shell_avx2;
    if (isa == PS_ISA_AVX512) return &ps_shell_avx512;
#endif
    return isa == PS_ISA_BASE ? &ps_shell_base : NULL;
}
