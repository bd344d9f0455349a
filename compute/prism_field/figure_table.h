#ifndef PS_COMPUTE_PRISM_FIELD_FIGURE_TABLE_H
#define PS_COMPUTE_PRISM_FIELD_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"prisms", "1", "prisms"},
    {"stations", "1", "stations"},
    {"stations_inside", "1", "stations inside of prisms"},
    {"stations_on_edges", "1", "stations on edges of prisms, where derivatives are not numbers"},
    {"mass", "kg", "of all prisms, with signs"},
    {"height", "1", "of the trees; 1 and 2: direct sums"},
    {"order", "1", "points an axis of the far field"},
    {"pieces", "1", "prisms cut by the borders of cells"},
    {"near_pairs", "1", "closed forms that were summed"},
    {"samples", "1", "stations compared with direct sums"},
    {"reached_potential", "1", "relative error of V over the samples"},
    {"reached_attraction", "1", "relative error of g over the samples"},
    {"reached_gradients", "1", "relative error of the second derivatives over the samples"},
    {"reached_induction", "1", "relative error of B over the samples"},
    {"reached_largest", "1", "largest relative error of a sample"},
    {"seconds.moments", "s", "moments of prisms"},
    {"seconds.transfer", "s", "between cells"},
    {"seconds.near", "s", "closed forms"},
    {NULL, NULL, NULL}};

#endif
