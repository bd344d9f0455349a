/*
 * half_step: E from the curl of H, or H from the curl of E, over a range of groups:
 *
 *     E <- keep E + gain (curl_h H + LIFT(F/2 n x [H])),   H likewise with a negative gain
 *
 * (Cabel, Charles, Lanteri 2011, eq. 3, in strong form; keep and gain: system.h.) Ghost values at
 * boundary faces; at absorbing ones the neighbour's trace is zero and absorb.h does the rest. In
 * place: an update reads only its own old values and the other field. Each element's sums run in
 * one fixed order, so that results depend neither on ranges nor on threads.
 *
 * Per element and field, with nnz the entries of one D: flops 30 Np + 12 nnz + 16 Np Nf + 48 Nf
 * + .., bytes 4 (9 Np + 9 + 4) + neighbours (3 Nf each of 4 faces, from cache if the order of the
 * elements is local).
 */
#ifndef PS_KERNELS_DGTD_HALF_STEP_H
#define PS_KERNELS_DGTD_HALF_STEP_H

#include "kernels/dgtd/system.h"

/* Updates `field` (target) from the other one (source), groups [begin, end). source may extend
 * behind the last group by halo slots that links name. OpenMP inside. */
void ps_dgtd_half_step(const ps_dgtd_system *system, ps_dgtd_field field, void *target,
                       const void *source, int64_t begin, int64_t end);

/* Face traces of slots for the halo: buffer real [count][3][face nodes] of faces[count] =
 * 4 * slot + face, taken out of a field (pack) or put into halo slots (unpack). */
int64_t ps_dgtd_face_bytes(const ps_dgtd_system *system); /* of the traces of a face */
void ps_dgtd_halo_pack(const ps_dgtd_system *system, const void *field, const int32_t *faces,
                       int64_t count, void *buffer);
void ps_dgtd_halo_unpack(const ps_dgtd_system *system, void *field, const int32_t *faces,
                         int64_t count, const void *buffer);

/* weight . 1/2 sum over elements of |det| (a' M^ b) over the components: per group to
 * partial[groups], whose sum in order is returned. weights[materials]: eps or mu. */
double ps_dgtd_inner(const ps_dgtd_system *system, const double *weights, const void *a,
                     const void *b, double *partial);

/* The same of groups [begin, end), left in partial[begin .. end - 1]. */
void ps_dgtd_inner_groups(const ps_dgtd_system *system, const double *weights, const void *a,
                          const void *b, int64_t begin, int64_t end, double *partial);

/* Of the orders and precisions; used by the above. */
typedef struct ps_dgtd_sweep_arguments {
    const ps_dgtd_system *system;
    ps_dgtd_field field;
    void *target;
    const void *source;
} ps_dgtd_sweep_arguments;

typedef struct ps_dgtd_inner_arguments {
    const ps_dgtd_system *system;
    const double *weights;
    const void *a, *b;
} ps_dgtd_inner_arguments;

struct ps_dgtd_half_step_functions {
    void (*sweep[PS_PRECISION_COUNT][PS_DGTD_MAX_ORDER])(const ps_dgtd_sweep_arguments *, int64_t,
                                                         int64_t);
    double (*inner[PS_PRECISION_COUNT])(const ps_dgtd_inner_arguments *, int64_t);
    /* What media with poles or a tensor do before the sweep of a group (dispersion.h). */
    void (*respond[PS_PRECISION_COUNT])(const ps_dgtd_sweep_arguments *, int64_t);
};

#endif
