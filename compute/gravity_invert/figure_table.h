/*
 * figure_table: what penstock-gravity-invert may print through runtime/report.h; main.c alone
 * includes it.
 */
#ifndef PS_COMPUTE_GRAVITY_INVERT_FIGURE_TABLE_H
#define PS_COMPUTE_GRAVITY_INVERT_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"stations", "1", "stations"},
    {"stations_inside", "1", "stations inside of cells"},
    {"cells", "1", "cells of the mesh that are no air"},
    {"unknowns", "1", "values that are sought"},
    {"depth_offset", "m", "z0 of the depth weights"},
    {"height", "1", "of the trees; 1 and 2: direct sums"},
    {"order", "1", "points an axis of the far field"},
    {"near_pairs", "1", "closed forms of a product with J"},
    {"chi2", "1", "sum of the squares of residuals over errors"},
    {"chi2_target", "1", "what was asked for"},
    {"residual_rms", "1", "root of the mean square of the residuals, in mGal, Eotvos or nT"},
    {"residual_largest", "1", "largest residual, in errors"},
    {"regularisation", "1", "beta"},
    {"trials", "1", "values of beta that were solved for"},
    {"products", "1", "products with J and its transpose"},
    {"least_value", "1", "least density in kg/m3 or magnetisation in A/m"},
    {"largest_value", "1", "largest one"},
    {"at_bounds", "1", "values at a bound"},
    {"mass", "kg", "of the densities, with signs"},
    {"operator_error", "1", "largest error of the sums over the model, in errors of the stations"},
    {"samples", "1", "stations that were summed directly"},
    {NULL, NULL, NULL}};

#endif
