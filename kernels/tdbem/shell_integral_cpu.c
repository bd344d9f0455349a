/* Compiled once per instruction set (runtime/isa.h). */
#include "kernels/tdbem/shell_integral.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/isa.h"

#include "kernels/tdbem/shell_integral_body.h"

extern const ps_shell_functions PS_ISA_TABLE(ps_shell);
const ps_shell_functions PS_ISA_TABLE(ps_shell) = {.soft = shells_soft, .hats = shells_hats};
