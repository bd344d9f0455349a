/*
 * figure_table: what penstock-gravity-model may print through runtime/report.h; main.c alone
 * includes it.
 */
#ifndef PS_PREPROCESS_GRAVITY_MODEL_FIGURE_TABLE_H
#define PS_PREPROCESS_GRAVITY_MODEL_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"nodes", "1", "nodes of the grid along x, y, z"},
    {"spacing", "m", "distances between nodes"},
    {"origin", "m", "lower corner of the grid"},
    {"unknowns", "1", "nodes in all"},
    {"bodies", "1", "bodies of --body and tables"},
    {"air_cells", "1", "cells of the model that are air"},
    {"mass_of_model", "kg", "mass of all bodies, exact"},
    {"mass_outside", "kg", "what of it lies outside of the box"},
    {"mass_on_grid", "kg", "mass of the densities written"},
    {"least_density", "kg/m3", "least density"},
    {"largest_density", "kg/m3", "largest density"},
    {NULL, NULL, NULL}};

#endif
