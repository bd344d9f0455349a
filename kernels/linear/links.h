/*
 * links: how the kernels of a box cut along x reach the ranks beside and all ranks. Who runs them
 * brings the functions; a NULL pointer to links means that there is one rank.
 */
#ifndef PS_KERNELS_LINEAR_LINKS_H
#define PS_KERNELS_LINEAR_LINKS_H

#include <stdint.h>

#include "runtime/status.h"

typedef struct ps_slab_links {
    /* Posts `count` doubles to send to the rank at a side (0: towards least x) and room for as many
     * to get, either NULL; the buffers are lent until wait, which ends it. */
    ps_status (*pass)(void *context, int side, int64_t count, const double *out, double *in);
    ps_status (*wait)(void *context, int side);
    /* Collective: sums in the order of the ranks; the failure of one is that of all. */
    ps_status (*sum)(void *context, double *values, int64_t count);
    ps_status (*agree)(void *context, ps_status status);
    void *context;
} ps_slab_links;

#endif
