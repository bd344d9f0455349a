/*
 * gradient: dV/dz at the nodes of two neighbouring planes of a potential, with the densities
 * beside them where the model is known (kernels/schwarz/load.h).
 */
#ifndef PS_GRAVITY_ANOMALY_GRADIENT_H
#define PS_GRAVITY_ANOMALY_GRADIENT_H

#include "formats/box_field.h"

typedef struct gradient {
    ps_box_field *potential;
    ps_box_field *model; /* NULL: unknown */
    int64_t refine[3];   /* cells of the model an element of the potential */
    double gravity;
    int64_t first;  /* the lower of the two planes */
    double *u;      /* [2][ny][nz] */
    double *source; /* [3][ny][nz-1], 4 pi G times the density about the line, of one plane
                       more, where that is not complete; NULL */
    double *cells;  /* a plane of the model */
} gradient;

/* Both borrowed; model may be NULL. Reads planes 0 and 1. PS_INVALID where the cells of the model
 * do not divide the elements of the potential. */
ps_status gradient_open(ps_box_field *potential, ps_box_field *model, double gravity,
                        gradient *out);
/* Goes on to planes first + 1 and first + 2. */
ps_status gradient_next(gradient *g);
/* m/s2, at node (first + plane, j, k). */
double gradient_node(const gradient *g, int plane, int64_t j, int64_t k);
void gradient_close(gradient *g);

#endif
