/*
 * colour_range: which values get which colours, for fields (plot_plane, plot_surface).
 */
#ifndef PS_PLOT_COLOUR_RANGE_H
#define PS_PLOT_COLOUR_RANGE_H

#include "postprocess/plot/plot.h"

typedef struct colour_range {
    double ends[2];  /* the values that have the first and the last colour                     */
    double reach[2]; /* the least and the largest value; beyond the ends all have an end's colour */
} colour_range;

/* The colours: --range if given ("LARGEST": symmetric; "FROM,TO"), else
 * symmetric about zero at the 99.5th percentile of |values|, so that a few points do not decide
 * it, and from zero on where no value is negative. NaN are left out. */
ps_status colour_range_choose(const plot_request *request, const double *values, int64_t count,
                              colour_range *out);

/* set cbrange, palette, tics and the label of the colour box: quantity and units, with the prefix
 * that suits the range; returns the factor that values are to be multiplied by. Where values lie
 * beyond an end its tic is a sign of that, and the label tells how far they reach. */
double colour_range_put(const colour_range *range, const char *quantity, const char *units,
                        canvas *c);

#endif
