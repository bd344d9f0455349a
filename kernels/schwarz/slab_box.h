/*
 * slab_box: a box cut into slabs along x, all in memory, with exact slab solves (fast_solve.h):
 * the optimised Schwarz method without overlap in full, for one rank.
 *
 * Interface i lies between slabs i and i + 1. Its traces are g[2 i], which acts on the right face
 * of slab i, and g[2 i + 1], on the left face of slab i + 1, `face` values each. Slab solves are
 * (K + S on free faces) u = f + g, S1 = p1 M_G + q1 K_G on right faces, S2 on left ones; the load
 * of an interface plane is halved between its slabs.
 *
 * Vectors are nodal values, or coefficients of sine modes (`modes`): then a slab solve is the
 * tridiagonal sweep alone, transforms being left to the start and the end.
 */
#ifndef PS_KERNELS_SCHWARZ_SLAB_BOX_H
#define PS_KERNELS_SCHWARZ_SLAB_BOX_H

#include "kernels/schwarz/fast_solve.h"
#include "kernels/schwarz/interface.h"
#include "kernels/schwarz/symbol.h"

typedef struct ps_slab_box_plan {
    ps_q1_grid grid;
    int64_t slabs; /* 2 .. (nx - 1) */
    ps_transmission transmission;
    bool modes;
    int threads;
    /* [nodes], with Dirichlet data lifted, or in modes [nx][my stride]; NULL: none. Borrowed. */
    const double *load;
    double coarse; /* modes with sqrt(mu) below are solved for exactly by the correction; 0: none */
    /* Streamed, where fetch is set: it fills the planes of a slab with their load whenever the slab
     * is to be solved, and the box keeps the field of one slab alone. The same bits. */
    ps_status (*fetch)(void *context, int64_t slab, double *planes);
    /* Gets the field of each slab from ps_slab_box_finish, in order; may be NULL. */
    ps_status (*deliver)(void *context, int64_t slab, const double *planes);
    void *context;
} ps_slab_box_plan;

typedef struct ps_slab_box {
    ps_slab_box_plan plan;
    ps_fast_solver tables; /* of the whole box; a slab's solver has its own `slab` */
    int64_t plane, face;   /* values in a plane of the fields and in a trace */
    double *field;         /* slab after slab, all planes of each */
    double *faces;         /* two traces                          */
    double *space;
} ps_slab_box;

/* Element layers are spread evenly, the first ones getting one more: slab i has the planes
 * first(i) .. first(i + 1). */
int64_t ps_slab_first(int64_t nodes, int64_t slabs, int64_t slab);

/* Values of a plane of sine modes: (ny - 2) rows of nz - 2 padded to PS_FAST_COLUMNS. */
int64_t ps_slab_box_mode_plane(const ps_q1_grid *grid);

/* Doubles of memory; the box is made in it and borrows it (64-byte aligned). PS_USAGE for too many
 * slabs, otherwise as ps_fast_solver_make. */
int64_t ps_slab_box_size(const ps_slab_box_plan *plan);
ps_status ps_slab_box_make(const ps_slab_box_plan *plan, double *memory, ps_slab_box *out);

/* Traces of a box: 2 (slabs - 1) face values. */
int64_t ps_slab_box_traces(const ps_slab_box *box);

/* The planes of a slab in the field, after an exchange, sweep or ps_slab_box_finish; streamed, of
 * the slab solved last. */
const double *ps_slab_box_field(const ps_slab_box *box, int64_t slab);

/* The parallel method as a problem for interface.h; borrows the box. `correct` is set where
 * plan.coarse > 0. */
ps_interface ps_slab_box_interface(ps_slab_box *box, bool source);

/* Multiplicative double sweeps (the out-of-core schedule): forward i = 0 .. N-2: solve slab i,
 * g[2i+1] = (S1 + S2) u|right - g[2i]; backward i = N-1 .. 1: g[2i-2] = (S1 + S2) u|left - g[2i-1].
 * The residual is the change of g in a double sweep relative to that of the first. */
ps_status ps_slab_box_sweeps(ps_slab_box *box, double tolerance, int64_t limit, double *g,
                             ps_krylov_result *result);
/* One of them; *change: of g, its norm. */
ps_status ps_slab_box_sweep(ps_slab_box *box, double *g, double *change);

/* Solves every slab with these traces: the field that belongs to g. */
ps_status ps_slab_box_finish(ps_slab_box *box, const double *g);

#endif
