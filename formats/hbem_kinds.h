/*
 * hbem_kinds: the spaces and operators of Galerkin boundary elements, as files and programs name
 * them (specs/hbem.md).
 */
#ifndef PS_FORMATS_HBEM_KINDS_H
#define PS_FORMATS_HBEM_KINDS_H

#include "runtime/status.h"

/* P0: one function a triangle; P1: continuous, one a vertex; DP1: three a triangle, number 3 t + l.
 */
typedef enum ps_hbem_space_kind { PS_SPACE_P0, PS_SPACE_P1, PS_SPACE_DP1 } ps_hbem_space_kind;

typedef enum ps_hbem_kernel {
    PS_KERNEL_SLP,
    PS_KERNEL_DLP,
    PS_KERNEL_ADLP,
    PS_KERNEL_HYPS,
    PS_HBEM_KERNELS
} ps_hbem_kernel;

const char *ps_hbem_space_name(ps_hbem_space_kind kind); /* "p0", "p1", "dp1"             */
const char *ps_hbem_kernel_name(ps_hbem_kernel kernel);  /* "slp", "dlp", "adlp", "hyps"  */

/* PS_INVALID for another name. */
ps_status ps_hbem_space_parse(const char *name, ps_hbem_space_kind *out);
ps_status ps_hbem_kernel_parse(const char *name, ps_hbem_kernel *out);

#endif
