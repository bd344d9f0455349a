/*
 * p2p_close: which leaves fp32 does not serve (p2p.h, PS_SINGLE). Positions about a leaf's centre
 * are rounded to 2^-26 of its width a coordinate, so that the gradient of a pair is off by up to
 * 1e-7 width / distance of itself. A leaf is *close* if one of its targets and one of its sources
 * are in different places, nearer than PS_FMM_CLOSE widths along every axis: it is summed in fp64,
 * so that no pair of fp32 errs by more than 3e-5. So are leaves with targets as far outside of their
 * cell, and those whose powers of distances are no numbers of fp32.
 *
 * Of 96 particles a leaf, spread evenly, one leaf in 400 is close. Differences of coordinates and
 * comparisons alone decide: cores and devices decide alike. Included by the device's code, too.
 */
#ifndef PS_KERNELS_FMM_P2P_CLOSE_H
#define PS_KERNELS_FMM_P2P_CLOSE_H

#define PS_FMM_CLOSE (1.0 / 256)     /* of a leaf's width */
#define PS_FMM_FP32_LEAST_WIDTH 1e-7 /* leaves are wider */
#define PS_FMM_FP32_MOST_WIDTH 1e9   /* and narrower     */

#ifndef __CUDACC__
#include <stdbool.h>

#include "kernels/fmm/p2p.h"

struct ps_fmm_close_functions {
    bool (*close)(const ps_fmm_p2p *p2p);
};

/* Whether the leaf of these targets is close, or too narrow or too wide. Serial, no state. */
bool ps_fmm_p2p_close(const ps_fmm_p2p *p2p);
#endif

#endif
