/*
 * adaptive_device: the method over an adaptive tree on one CUDA device (specs/fmm_adaptive.md):
 * particles and results in the tree's order in the memory of the device, lists by adaptive_plan.h.
 *
 *     far   P2M M2M encode M2L P2L L2L ---> L2P M2P (both add)
 *     near  P2P (overwrites) ----------/
 *
 * The memory, the streams and the events are the caller's. Results depend on the operators alone:
 * they repeat bit by bit. Differences from ps_adaptive_evaluate are roundings.
 */
#ifndef PS_KERNELS_FMM_ADAPTIVE_DEVICE_H
#define PS_KERNELS_FMM_ADAPTIVE_DEVICE_H

#include "kernels/fmm/adaptive_images.h"
#include "kernels/fmm/adaptive_plan.h"

typedef enum ps_adaptive_device_stage {
    PS_ADAPTIVE_DEVICE_P2M, /* with zeroing */
    PS_ADAPTIVE_DEVICE_M2M,
    PS_ADAPTIVE_DEVICE_ENCODE,
    PS_ADAPTIVE_DEVICE_M2L,
    PS_ADAPTIVE_DEVICE_P2L,
    PS_ADAPTIVE_DEVICE_L2L,
    PS_ADAPTIVE_DEVICE_MEET, /* the far stream waits for P2P, or does it */
    PS_ADAPTIVE_DEVICE_L2P,
    PS_ADAPTIVE_DEVICE_M2P,
    PS_ADAPTIVE_DEVICE_STAGES
} ps_adaptive_device_stage;
extern const char *const ps_adaptive_device_stage_names[PS_ADAPTIVE_DEVICE_STAGES];

typedef struct ps_adaptive_device {
    /* ---- the caller's ---- */
    void *const *grown; /* [PS_PLAN_PARTS] on the device already (adaptive_growth.h); NULL: none */
    const ps_adaptive_plan *plan; /* its tree's shape and box are read, too       */
    ps_fmm_device_method method;  /* near: fp64 in close leaves (p2p_close.h)    */
    bool gradient;
    bool given; /* the caller has put multipoles there: neither P2M nor M2M */
    const ps_fmm_device_moments *moments;                  /* NULL: charges, to gradients */
    const ps_fmm_device_table *tables[PS_ADAPTIVE_LEVELS]; /* levels 2 .. levels - 1 */
    double factors[PS_ADAPTIVE_LEVELS];
    const double *rows[2]; /* on the device, sorted: [3 + columns][sources], [3][targets]; of
                              charges there are as many columns as sides */
    double *results;       /* likewise: [sides][targets], [sides][3][targets]; overwritten     */
    ps_stream *far, *near; /* may be one                                                       */
    ps_event *forked, *met;
    const ps_periodic *periodic; /* NULL: one box. The tree has no leaves above PS_IMAGES_SMOOTH */
    void *beyond;                /* then: ps_adaptive_device_beyond_bytes of the host            */
    ps_event **marks; /* [PS_ADAPTIVE_DEVICE_STAGES + 1], or NULL: not timed              */
    /* ---- ours ---- */
    void *part[PS_PLAN_PARTS]; /* of the plan, on the device */
    void *multipoles, *locals, *coded[PS_ADAPTIVE_LEVELS], *workspace;
} ps_adaptive_device;

/* Bytes of device memory; gives the parts their places in a block of that size (NULL: none). */
int64_t ps_adaptive_device_place(ps_adaptive_device *device, void *block);
/* Copies the plan; the host waits. */
ps_status ps_adaptive_device_load(ps_adaptive_device *device);
/* Bytes of the host that what goes beyond the images takes: 0 without a lattice. */
int64_t ps_adaptive_device_beyond_bytes(const ps_adaptive_device *device);
/* Enqueues an evaluation; the far stream is done when the results are there. In a box that repeats
 * the host waits amid it, and does what the boxes beyond the images do. */
ps_status ps_adaptive_device_run(const ps_adaptive_device *device);
/* Enqueues P2M and M2M alone, added to the multipoles: real [sides][cells][l^3]. */
ps_status ps_adaptive_device_multipoles(const ps_adaptive_device *device);

#endif
