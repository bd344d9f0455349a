/*
 * gravity-model: what its files share.
 */
#ifndef PS_GRAVITY_MODEL_MODEL_H
#define PS_GRAVITY_MODEL_MODEL_H

#include "formats/box_field.h"
#include "kernels/schwarz/density.h"
#include "runtime/options.h"

/* A model of bricks in memory: what UBC-GIF files and HDF5 datasets become. */
typedef struct brick_model {
    ps_rectilinear bricks; /* its arrays are those below */
    double *edges[3], *density;
    int64_t air;     /* cells without a value */
    int64_t flagged; /* of them, by a flag that was recognised */
    double flag;     /* which, as in the file */
} brick_model;

void brick_model_release(brick_model *model);

/* Bodies, one after the other; the array is the list's. */
typedef struct body_list {
    ps_body *bodies;
    int64_t count, capacity;
} body_list;
ps_status body_list_add(body_list *list, const ps_body *body);

/* UBC-GIF: mesh (counts; west, south, top elevation in m; widths) and model (z down fastest, then
 * x, then y); density = value x scale; NaN and values <= air are air (density 0). z becomes depth:
 * - elevation. Without `air` the usual flags (-100, -999, -9999, -99999 ...) are air where as
 * densities they would be beyond PS_DENSITY_MOST; where they could be densities, and stand above
 * all others in each column, PS_INVALID asks which. */
typedef struct ubc_request {
    const char *mesh, *model;
    double scale, air;
    bool air_given;
} ubc_request;
#define PS_DENSITY_MOST 25000. /* kg/m3, of a contrast: osmium has 22590 */
ps_status read_ubc(const ubc_request *request, brick_model *out);

/* "brick:X0,X1,Y0,Y1,Z0,Z1,DENSITY", "ring:X,Y,R0,R1,Z0,Z1,DENSITY", "ball:X,Y,Z,R,DENSITY",
 * lengths x unit. */
ps_status parse_body(const char *text, double unit, ps_body *out);
/* A table of bricks: x0 x1 y0 y1 z0 z1 density a line, lengths x unit. */
ps_status read_bricks(const char *path, double unit, body_list *out);
/* CHX-1, the synthetic crater (numerics guide of schwarz, section 6). */
ps_status add_chx1(body_list *out);

#endif
