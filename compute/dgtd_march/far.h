/*
 * far: the far field over time of what is in the mesh, or in some of its media (--around), told by
 * the march itself (kernels/dgtd/far_time.h). The closed surface is sampled as probes are.
 */
#ifndef PS_DGTD_MARCH_FAR_H
#define PS_DGTD_MARCH_FAR_H

#include "formats/receivers.h"
#include "kernels/dgtd/far_time.h"
#include "kernels/dgtd/probe.h"

typedef struct far_surface {
    ps_receivers receivers;                       /* directions; none: nothing is told     */
    int64_t every;                                /* steps between samples                 */
    ps_dgtd_far_time time;                        /* of this rank's points                 */
    double reach;                                 /* m, the largest |e.x| of all ranks     */
    uint8_t *inside;                              /* [media] 1: within the surface         */
    int64_t faces;                                /* of this rank, each side by itself     */
    int32_t *face;                                /* [faces] 4 slot + face, ascending      */
    double *factor;                               /* [faces] 1; of two sides +-1/2         */
    double (*point)[3], (*normal)[3], (*sums)[3]; /* what time borrows */
    double (*values)[3], (*work)[3];              /* [points] of a sample */
} far_surface;

#endif
