/*
 * resolution: which waves a mesh can carry, and what an absorbing face sends back of them.
 *
 * Angular frequencies are omega/c0 in 1/m.
 */
#ifndef PS_KERNELS_DGTD_RESOLUTION_H
#define PS_KERNELS_DGTD_RESOLUTION_H

#include "formats/dgtd_model.h"
#include "kernels/dgtd/dispersion.h"

/* A medium of a model in the units of the kernels; its poles and tensor are borrowed. */
ps_dgtd_constitution ps_dgtd_medium_constitution(const ps_dgtd_medium *medium);

/* Relative permittivity, of a tensor that of its least eigenvalue, and all losses as a conductivity
 * in S/m, poles included. */
void ps_dgtd_medium_at(const ps_dgtd_medium *medium, double omega, double *eps, double *sigma);

/* Volumes of a medium, m^3: of its elements, and of those that are coarse at a frequency, with
 * fewer than `nodes` nodes a wavelength along the edge of a regular tetrahedron as large. */
typedef struct ps_dgtd_coarse {
    double all, coarse;
} ps_dgtd_coarse;

/* Of each medium of a body. Where more is conducted than displaced a wave ends within its length:
 * such a medium has none, nor has one in which nothing travels. */
void ps_dgtd_coarse_volumes(const ps_dgtd_body *body, int order, const ps_dgtd_medium *media,
                            double omega, double nodes, ps_dgtd_coarse *out);
/* The first of `count` media of which more than half is coarse, or -1. */
int64_t ps_dgtd_unresolved(const ps_dgtd_coarse *volumes, int64_t count);

/* Of E at normal incidence, what a face comes back with whose condition has the impedance of the
 * medium's eps and mu alone, without its losses and poles. */
double ps_dgtd_absorbing_reflection(const ps_dgtd_medium *medium, double omega);

#endif
