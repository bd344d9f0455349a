/*
 * slab_box: a box cut into slabs along x: the optimised Schwarz method without overlap in full, on
 * the slabs of one rank or of all.
 *
 * Interface i lies between slabs i and i + 1. Its traces are 2 i, which acts on the right face of
 * slab i, and 2 i + 1, on the left face of slab i + 1, `face` values each: those that act on the
 * own slabs are consecutive, and vectors hold them alone. Slab solves are (K + S on free faces) u =
 * f + g, S1 = p1 M_G + q1 K_G on right faces, S2 on left ones; the load of an interface plane is
 * halved between its slabs.
 *
 * Vectors are nodal values, or coefficients of sine modes (`modes`): then a slab solve is exact, a
 * tridiagonal sweep alone (fast_solve.h), transforms being left to the start and the end.
 */
#ifndef PS_KERNELS_SCHWARZ_SLAB_BOX_H
#define PS_KERNELS_SCHWARZ_SLAB_BOX_H

#include "kernels/schwarz/fast_solve.h"
#include "kernels/schwarz/interface.h"
#include "kernels/linear/links.h"
#include "kernels/schwarz/symbol.h"

/* The orders in which own slabs are visited. */
typedef enum ps_slab_order {
    PS_SLAB_EXCHANGE, /* first, last, those between: what neighbours wait for comes first      */
    PS_SLAB_SWEEP,    /* there, without the last slab of the box, and back, without the first  */
    PS_SLAB_FINISH    /* ascending                                                             */
} ps_slab_order;

/* A visit; planes: the load of its slab, NULL: none. */
typedef ps_status ps_slab_step(void *argument, int64_t visit, const double *planes);

typedef struct ps_slab_box_plan {
    ps_q1_grid grid;
    int64_t slabs;      /* 2 .. (nx - 1)                                */
    int64_t first, end; /* own slabs first .. end - 1; 0, 0: all        */
    ps_transmission transmission;
    bool modes;
    int threads;
    /* Own planes with Dirichlet data lifted, [..][ny nz], or in modes [..][my stride]; NULL: none.
     * Borrowed. */
    const double *load;
    double coarse; /* modes with sqrt(mu) below are solved for exactly by the correction; 0: none */
    /* Streamed, where walk is set: it makes the visits of an order one after the other, bringing
     * their loads, and the box keeps the field of one slab alone. The same bits. */
    ps_status (*walk)(void *context, ps_slab_order order, ps_slab_step *step, void *argument);
    /* Gets the field of each slab from ps_slab_box_finish, in order; may be NULL. */
    ps_status (*deliver)(void *context, int64_t slab, const double *planes);
    /* Nodal vectors: solves a slab's system; u: the last field kept in its place, a first guess.
     * NULL: directly. */
    ps_status (*solve)(void *context, int64_t slab, const ps_slab *geometry, const double *b,
                       double *u);
    const ps_slab_links *links; /* NULL: one rank. Borrowed */
    void *context;
} ps_slab_box_plan;

typedef struct ps_slab_box {
    ps_slab_box_plan plan;
    ps_fast_solver tables; /* of the whole box; a slab's solver has its own `slab` */
    int64_t plane, face;   /* values in a plane of the fields and in a trace */
    int64_t base, traces;  /* first own trace, and how many                  */
    double *field;         /* slab after slab, all planes of each */
    double *faces;         /* two traces                          */
    double *parts;         /* [all traces]                        */
    double *space;
} ps_slab_box;

/* Element layers are spread evenly, the first ones getting one more: slab i has the planes
 * first(i) .. first(i + 1). */
int64_t ps_slab_first(int64_t nodes, int64_t slabs, int64_t slab);
int64_t ps_slab_first_plane(const ps_slab_box_plan *plan, int64_t slab);
int64_t ps_slab_planes(const ps_slab_box_plan *plan, int64_t slab);
/* After the last own slab. */
int64_t ps_slab_end(const ps_slab_box_plan *plan);
/* A slab's grid, free faces and conditions. */
ps_slab ps_slab_box_slab(const ps_slab_box_plan *plan, int64_t slab);

/* Visits of an order, and the slab of one. */
int64_t ps_slab_visits(const ps_slab_box_plan *plan, ps_slab_order order);
int64_t ps_slab_visited(const ps_slab_box_plan *plan, ps_slab_order order, int64_t visit);
int64_t ps_slab_forward_visits(const ps_slab_box_plan *plan); /* of a double sweep */

/* Values of a plane of sine modes: (ny - 2) rows of nz - 2 padded to PS_FAST_COLUMNS. */
int64_t ps_slab_box_mode_plane(const ps_q1_grid *grid);
/* Values of a plane of the fields: of modes or nodes. */
int64_t ps_slab_box_plane(const ps_slab_box_plan *plan);

/* Doubles of memory; the box is made in it and borrows it (64-byte aligned). PS_USAGE for too many
 * slabs, otherwise as ps_fast_solver_make. */
int64_t ps_slab_box_size(const ps_slab_box_plan *plan);
ps_status ps_slab_box_make(const ps_slab_box_plan *plan, double *memory, ps_slab_box *out);

/* Values of the own traces. */
int64_t ps_slab_box_traces(const ps_slab_box *box);

/* The parallel method as a problem for interface.h; borrows the box. `correct` is set where
 * plan.coarse > 0. Collective. */
ps_interface ps_slab_box_interface(ps_slab_box *box, bool source);

/* A multiplicative double sweep (the out-of-core schedule): forward i = 0 .. N-2: solve slab i,
 * g[2i+1] = (S1 + S2) u|right - g[2i]; backward i = N-1 .. 1: g[2i-2] = (S1 + S2) u|left - g[2i-1].
 * *change: of g, its norm. Over ranks one sweeps after the other: what is spread is the memory. */
ps_status ps_slab_box_sweep(ps_slab_box *box, double *g, double *change);

/* Solves every slab with these traces: the field that belongs to g. */
ps_status ps_slab_box_finish(ps_slab_box *box, const double *g);

/* The coarse space, where plan.coarse > 0: its modes (places in a trace of modes; NULL: counts
 * alone), and (I - T) x = low in each of them, low[modes][all traces], in place. space: a double
 * a slab. Local. */
int64_t ps_slab_box_low_modes(const ps_slab_box *box, int32_t *modes);
void ps_slab_box_solve_low(const ps_slab_box *box, double *low, double *space);
/* What it takes of a plan, for the same on a device. */
typedef struct ps_low_system {
    int64_t slabs, layers; /* of the box, as ps_slab_first cuts it                     */
    double h, mass[2];     /* of a layer; M(0), M(1) along x                           */
    double p[2], q[2];     /* on left and right faces                                  */
} ps_low_system;
ps_low_system ps_slab_box_low_system(const ps_slab_box_plan *plan);

/* Private: the coarse correction (slab_coarse.c), a `correct` of interface.h. */
ps_status ps_slab_box_correct(void *box, double *r);
int64_t ps_slab_box_coarse_space(const ps_slab_box_plan *plan);

#endif
