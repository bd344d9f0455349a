/*
 * ubc: meshes and models of UBC-GIF, text, plain or compressed by gzip.
 *
 * Mesh: counts along x, y, z; west, south, top elevation in m; widths. Model: a value for each
 * cell, z down fastest, then x, then y. z becomes depth: - elevation, ascending.
 */
#ifndef PS_FORMATS_UBC_H
#define PS_FORMATS_UBC_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/status.h"

#define PS_DENSITY_MOST 25000. /* kg/m3, of a contrast: osmium has 22590 */

#define PS_UBC_MOST 1e9 /* m, of places */

typedef struct ps_ubc_model {
    int64_t count[3];
    double *edges[3]; /* [count + 1], ascending; x, y, depth: m                          */
    double *values;   /* [count x][count y][count z]; NaN: air; NULL: a mesh alone       */
    int64_t air;      /* cells without a value                                           */
    int64_t flagged;  /* of them, by a flag that was recognised                          */
    double flag;      /* which, as in the file                                           */
} ps_ubc_model;

/* values x scale; NaN and values <= air are air. Without `air_given` the usual flags (-100, -999,
 * -9999, -99999 ...) are air where as values x scale they would be beyond `most`; where they could
 * be values, and stand above all others in each column, PS_INVALID asks which. Widths are positive
 * and more than the rounding of places, which are within PS_UBC_MOST, or PS_INVALID. */
typedef struct ps_ubc_request {
    const char *mesh, *model; /* model NULL: the mesh alone */
    double scale, most, air;
    bool air_given;
} ps_ubc_request;

ps_status ps_ubc_read(const ps_ubc_request *request, ps_ubc_model *out);
void ps_ubc_release(ps_ubc_model *model);

/* Writes values [x][y][depth], NaN as `air`, in the order of such files. PS_EXHAUSTED. */
typedef struct ps_ubc_values {
    const int64_t *count;
    const double *values;
    double air;
} ps_ubc_values;
ps_status ps_ubc_write(const char *path, const ps_ubc_values *values);

#endif
