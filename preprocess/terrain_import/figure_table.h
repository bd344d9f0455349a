/*
 * figure_table: what penstock-terrain-import may print through runtime/report.h; main.c alone
 * includes it.
 */
#ifndef PS_PREPROCESS_TERRAIN_IMPORT_FIGURE_TABLE_H
#define PS_PREPROCESS_TERRAIN_IMPORT_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"columns", "1", "cells of the model along x"},
    {"rows", "1", "cells of the model along y"},
    {"coordinates", "text", "projected or geographic"},
    {"reference_system", "text", "as the file names it"},
    {"origin", "m", "south-western corner of the cells, in the frame of the prisms"},
    {"cell", "m", "widths of a cell along x and y"},
    {"lowest", "m", "height of the model"},
    {"highest", "m", "height of the model"},
    {"gaps", "1", "cells without a height"},
    {"omitted", "1", "cells without prisms because of gaps"},
    {"below_level", "1", "cells whose top lies below the level"},
    {"prisms", "1", "prisms"},
    {"mass", "kg", "of all prisms, with signs"},
    {"stations", "1", "stations"},
    {"frame_error", "mGal",
     "largest difference, along the vertical, of the flat prisms from ones that stand on the "
     "ellipsoid"},
    {"samples", "1", "stations at which that was computed"},
    {NULL, NULL, NULL}};

#endif
