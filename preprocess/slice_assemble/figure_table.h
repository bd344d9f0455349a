/*
 * figure_table: what penstock-slice-assemble may print through runtime/report.h; main.c alone
 * includes it.
 */
#ifndef PS_PREPROCESS_SLICE_ASSEMBLE_FIGURE_TABLE_H
#define PS_PREPROCESS_SLICE_ASSEMBLE_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"formulation", "text", "boundary condition and equation"},
    {"combined", "1", "alpha of the combined field equation"},
    {"lining", "text", "part of the mesh whose lining it is"},
    {"unknowns", "1", "unknowns of a step"},
    {"dt", "s", "time step"},
    {"h_over_D", "1", "mean edge over the thickness of a shell, c dt"},
    {"k_max", "1", "last lag with entries"},
    {"k_max_bound", "1", "bound of that lag by the body's size"},
    {"nnz", "1", "stored entries of all lags"},
    {"m0_nnz", "1", "entries of the matrix of lag 0"},
    {"d_max", "1", "longest row-vector"},
    {"d_mean", "1", "mean length of a row-vector"},
    {"mean_length_sampled", "1", "mean length of a row-vector, by a sample"},
    {"score", "1", "filled part of the smallest box around the row-vectors"},
    {"rim_vertices", "1", "vertices on the rim of an open surface, whose densities are 0"},
    {"tiles", "1", "tiles that are stored"},
    {"tile_rows", "1", "rows of a tile"},
    {"tile_slices", "1", "slices of a tile"},
    {"chunks", "1", "tiles at most"},
    {"nnz_percent", "%", "of blocks: entries of all values that they hold"},
    {"stored", "B", "what the tiles take in the file"},
    {"compression", "1", "values as they are over what is stored"},
    {"pairs", "1", "pairs of triangles that were integrated"},
    {"threads", "1", "threads that assemble"},
    {"devices", "1", "devices of a rank that assemble"},
    {"compute", "s", "threads computing, summed"},
    {"wait_for_devices", "s", "threads waiting for devices, summed"},
    {"write", "s", "threads writing, summed"},
    {"per_triangle_pair", "s", "of a core for a pair of triangles"},
    {"per_entry", "s", "of a core for an entry"},
    {"passivity_angles", "1", "points of the unit circle of the certificate"},
    {"passivity_least", "1", "least eigenvalue of the Hermitian part, diagonal scaled to 1"},
    {"passivity_at", "rad", "angle where it is found"},
    {"passivity_unknown", "1", "unknown that has most part in it"},
    {"passivity_time", "s", "threads computing the certificate, summed"},
    {NULL, NULL, NULL}};

#endif
