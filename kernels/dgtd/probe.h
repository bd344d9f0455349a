/*
 * probe: fields at points, by the polynomials of the element that holds the point.
 */
#ifndef PS_KERNELS_DGTD_PROBE_H
#define PS_KERNELS_DGTD_PROBE_H

#include "kernels/dgtd/system.h"

typedef struct ps_dgtd_probe {
    int64_t slot;                      /* element of the body                              */
    double weights[PS_DGTD_MAX_NODES]; /* of its nodes at the point                        */
} ps_dgtd_probe;

/* The element that holds `point` (to 1e-9 of its barycentric coordinates), or -1. On faces, edges
 * and vertices several do, whose fields differ: the one of the lowest numbers[element] is taken
 * (NULL: of the lowest index), so that the choice does not depend on how a mesh is cut into parts.
 * OpenMP inside. */
int64_t ps_dgtd_probe_find(const ps_dgtd_body *body, const int32_t *numbers, const double point[3]);

/* Slot and weights of a point in an element. */
void ps_dgtd_probe_set(ps_dgtd_probe *probe, const ps_dgtd_body *body,
                       const ps_dgtd_reference *reference, int64_t element, const double point[3]);

/* The three components of a field there. */
void ps_dgtd_probe_value(const ps_dgtd_probe *probe, const ps_dgtd_system *system,
                         const void *field, double out[3]);

#endif
