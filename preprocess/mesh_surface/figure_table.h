/*
 * figure_table: what penstock-mesh-surface may print through runtime/report.h; main.c alone
 * includes it.
 */
#ifndef PS_PREPROCESS_MESH_SURFACE_FIGURE_TABLE_H
#define PS_PREPROCESS_MESH_SURFACE_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"vertices", "1", "vertices"},
    {"triangles", "1", "triangles"},
    {"area", "m2", "area"},
    {"volume", "m3", "volume enclosed"},
    {"edge_min", "m", "shortest edge"},
    {"edge_mean", "m", "mean edge"},
    {"edge_max", "m", "longest edge"},
    {"quality_min", "1", "least quality of a triangle; 1 is equilateral"},
    {"quality_mean", "1", "mean quality"},
    {"wavelength", "m", "of --wavenumber or --frequency"},
    {"edges_per_wavelength", "1", "wavelength over the mean edge"},
    {"edges_per_wavelength_min", "1", "wavelength over the longest edge"},
    {"making", "s", "making the mesh"},
    {"writing", "s", "writing it"},
    {NULL, NULL, NULL}};

#endif
