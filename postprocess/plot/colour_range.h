/*
 * colour_range: which values get which colours, for fields (plot_plane, plot_surface).
 */
#ifndef PS_PLOT_COLOUR_RANGE_H
#define PS_PLOT_COLOUR_RANGE_H

#include "postprocess/plot/plot.h"

/* The ends of the colour range: --range if given ("LARGEST": symmetric; "FROM,TO"), else
 * symmetric about zero at the 99.5th percentile of |values|, so that a few points do not decide
 * it, and from zero on where no value is negative. NaN are left out. `values` [count] is reordered.
 */
ps_status colour_range_choose(const plot_request *request, double *values, int64_t count,
                              double ends[2]);

/* set cbrange, palette and the label of the colour box: quantity and units, with the prefix that
 * suits the range; returns the factor that values are to be multiplied by. */
double colour_range_put(const double ends[2], const char *quantity, const char *units, canvas *c);

#endif
