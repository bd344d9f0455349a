#include "formats/hbem_kinds.h"

#include <string.h>

static const char *const space_names[] = {"p0", "p1", "dp1"};
static const char *const kernel_names[] = {"slp", "dlp", "adlp", "hyps"};

const char *ps_hbem_space_name(ps_hbem_space_kind kind) { return space_names[kind]; }

const char *ps_hbem_kernel_name(ps_hbem_kernel kernel) { return kernel_names[kernel]; }

static ps_status find(const char *name, const char *const *names, int count, const char *what,
                      int *out)
{
    for (*out = 0; *out < count; ++*out)
        if (strcmp(name, names[*out]) == 0) return PS_OK;
    return ps_fail(PS_INVALID, "\"%s\" is no %s", name, what);
}

ps_status ps_hbem_space_parse(const char *name, ps_hbem_space_kind *out)
{
    int index;
    PS_TRY(find(name, space_names, 3, "space (p0, p1, dp1)", &index));
    *out = (ps_hbem_space_kind)index;
    return PS_OK;
}

ps_status ps_hbem_kernel_parse(const char *name, ps_hbem_kernel *out)
{
    int index;
    PS_TRY(find(name, kernel_names, PS_HBEM_KERNELS, "operator (slp, dlp, adlp, hyps)", &index));
    *out = (ps_hbem_kernel)index;
    return PS_OK;
}
