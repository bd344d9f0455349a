/*
 * gravity-model: what its files share.
 */
#ifndef PS_GRAVITY_MODEL_MODEL_H
#define PS_GRAVITY_MODEL_MODEL_H

#include "formats/box_field.h"
#include "kernels/schwarz/density.h"
#include "runtime/options.h"

/* Bodies, one after the other; the array is the list's. */
typedef struct body_list {
    ps_body *bodies;
    int64_t count, capacity;
} body_list;
ps_status body_list_add(body_list *list, const ps_body *body);

/* "brick:X0,X1,Y0,Y1,Z0,Z1,DENSITY", "ring:X,Y,R0,R1,Z0,Z1,DENSITY", "ball:X,Y,Z,R,DENSITY",
 * lengths x unit. */
ps_status parse_body(const char *text, double unit, ps_body *out);
/* A table of bricks: x0 x1 y0 y1 z0 z1 density a line, lengths x unit. */
ps_status read_bricks(const char *path, double unit, body_list *out);
/* CHX-1, the synthetic crater (numerics guide of schwarz, section 6). */
ps_status add_chx1(body_list *out);
/* The extent of the cells that a body takes over its own within the box, along the axis where that
 * is most; 1 of a body between planes of the grid, 0 of one outside. */
double body_spread(const ps_body *body, const ps_cells *cells, int *along);

#endif
