/*
 * structure: one slice as a raster of row x k, for plot_slice and plot_blocks.
 */
#ifndef PS_PLOT_STRUCTURE_H
#define PS_PLOT_STRUCTURE_H

#include <stdint.h>

#include "formats/slice_matrix.h"
#include "postprocess/plot/canvas.h"

/* |M^k(i,j)| of one slice j: rows first .. first + count - 1 and k = 1 .. columns, gathered into
 * `bins` x columns pixels, the largest of a pixel; 0 where nothing is stored. */
typedef struct structure {
    int64_t first, count, columns, bins;
    float *pixels;           /* [bins][columns] */
    float largest, smallest; /* of the values that are not 0 */
} structure;

/* Allocates for rows [first, first + count) of `unknowns` (count 0: all) in at most `bins_max`
 * rows of pixels. PS_USAGE if the rows do not exist. */
ps_status structure_init(structure *s, int64_t unknowns, int64_t first, int64_t count,
                         int64_t columns, int64_t bins_max);
void structure_release(structure *s);

/* Adds value |v| of row i and k (both global; ignored outside). */
void structure_add(structure *s, int64_t row, int64_t k, double v);

/* The slice to show: `wanted`, or the middle one for -1. PS_USAGE outside 0 .. unknowns-1. */
ps_status structure_slice(int64_t unknowns, int64_t wanted, int64_t *out);

/* Data block $S: log10 of the pixels relative to the largest, NaN where nothing is; axes, range,
 * palette. */
void structure_put(const structure *s, canvas *c);
/* The plot element that draws it: "$S matrix using ... with image". */
void structure_put_plot(const structure *s, canvas *c);

#endif
