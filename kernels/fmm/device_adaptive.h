/*
 * device_adaptive: the operators of leaves of an adaptive tree on a CUDA device, beside those of
 * device_ops.h, which do the rest level by level (specs/fmm_adaptive.md). Each call enqueues and
 * returns; pointers are memory of the stream's device. Sums do not depend on how blocks are
 * scheduled: the bits repeat.
 */
#ifndef PS_KERNELS_FMM_DEVICE_ADAPTIVE_H
#define PS_KERNELS_FMM_DEVICE_ADAPTIVE_H

#include "kernels/fmm/device_ops.h"

/* A leaf on any level. */
typedef struct ps_fmm_device_leaf {
    double centre[3], width;
    int32_t begin, end;   /* its particles: sources, or targets where there are two sets     */
    int32_t own, own_end; /* its sources: only those may be at the place of one of its targets */
    int32_t vector;       /* the number of its cell                                          */
    int32_t pad;
} ps_fmm_device_leaf;

/* Particles [begin, end). */
typedef struct ps_fmm_device_run {
    int32_t begin, end;
} ps_fmm_device_run;

/* What is more than charges, to gradients (specs/fmm.md, "Moments"). fp64 alone. */
typedef struct ps_fmm_device_moments {
    int charges, dipoles; /* the first of their columns behind x, y, z; -1: there are none */
    double *hessian;      /* on the device, [sides][6][stride]; NULL: not wanted          */
} ps_fmm_device_moments;

/* All leaves of a tree; where in `leaves` cells, particles, set.rows, set.stride, potential and
 * gradient are set, and the others are not read. Vectors are those of all cells. */
typedef struct ps_fmm_device_any_leaves {
    ps_fmm_device_leaves leaves;
    const ps_fmm_device_leaf *each;       /* [cells] */
    const ps_fmm_device_moments *moments; /* of the host; NULL: charges, to gradients. With them
                                             there are gradients */
} ps_fmm_device_any_leaves;

ps_status ps_fmm_device_p2m_any(const ps_fmm_device_method *method,
                                const ps_fmm_device_any_leaves *leaves,
                                const ps_fmm_device_vectors *multipoles, ps_stream *stream);
/* Adds. */
ps_status ps_fmm_device_l2p_any(const ps_fmm_device_method *method,
                                const ps_fmm_device_any_leaves *leaves,
                                const ps_fmm_device_vectors *locals, ps_stream *stream);

/* Direct sums, overwriting: the sources of leaf i are runs[run_start[i] .. run_start[i + 1]),
 * in this order. One run has all of the leaf's own. workspace as in ps_fmm_device_p2p. */
typedef struct ps_fmm_device_p2p_any {
    ps_fmm_device_any_leaves targets;
    const int32_t *run_start; /* [leaves + 1] */
    const ps_fmm_device_run *runs;
    ps_fmm_device_sources sources; /* start is not read */
    void *workspace;
} ps_fmm_device_p2p_any;

ps_status ps_fmm_device_p2p_any_run(const ps_fmm_device_method *method,
                                    const ps_fmm_device_p2p_any *p2p, ps_stream *stream);

/* A cell as a box, and its vector. */
typedef struct ps_fmm_device_cell {
    double centre[3], width;
} ps_fmm_device_cell;

/* M2P: multipoles of cells[start[i] .. start[i + 1]) act on leaf leaf[i], i < count. Adds. */
typedef struct ps_fmm_device_m2p {
    ps_fmm_device_any_leaves targets;
    ps_fmm_device_vectors multipoles;
    const ps_fmm_device_cell *boxes; /* of all cells */
    int64_t count;
    const int32_t *leaf, *start, *cells;
} ps_fmm_device_m2p;

ps_status ps_fmm_device_m2p_run(const ps_fmm_device_method *method, const ps_fmm_device_m2p *m2p,
                                ps_stream *stream);

/* P2L: sources runs[start[i] .. start[i + 1]) act on the locals of cell[i], i < count. Adds. */
typedef struct ps_fmm_device_p2l {
    ps_fmm_device_sources sources; /* start is not read */
    ps_fmm_device_vectors locals;
    const ps_fmm_device_cell *boxes;
    int64_t count;
    const int32_t *cell, *start;
    const ps_fmm_device_run *runs;
    const ps_fmm_device_moments *moments; /* as of leaves */
} ps_fmm_device_p2l;

ps_status ps_fmm_device_p2l_run(const ps_fmm_device_method *method, const ps_fmm_device_p2l *p2l,
                                ps_stream *stream);

#endif
