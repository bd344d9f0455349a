#ifndef PS_POSTPROCESS_GRAVITY_ANOMALY_FIGURE_TABLE_H
#define PS_POSTPROCESS_GRAVITY_ANOMALY_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"stations", "1", "stations"},
    {"stations_outside", "1", "stations outside of the grid"},
    {"station_cell_pairs", "1", "pairs of station and cell of the exact sums"},
    {"g_z", "text", "how the map was computed"},
    {"least", "mGal", "least value of the map"},
    {"largest", "mGal", "largest value of the map"},
    {"*.rms", "mGal", "root mean square of the difference"},
    {"*.largest_difference", "mGal", "largest difference"},
    {"*.mean_difference", "mGal", "mean difference"},
    {"*.correlation", "1", "correlation of the two"},
    {NULL, NULL, NULL}};

#endif
