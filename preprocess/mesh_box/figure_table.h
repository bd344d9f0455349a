/*
 * figure_table: what penstock-mesh-box may print through runtime/report.h; main.c alone includes
 * it.
 */
#ifndef PS_PREPROCESS_MESH_BOX_FIGURE_TABLE_H
#define PS_PREPROCESS_MESH_BOX_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"vertices", "1", "vertices"},
    {"tetrahedra", "1", "tetrahedra"},
    {"boundary_triangles", "1", "tagged triangles of the sides"},
    {"cell", "m", "size of one cell, which holds six tetrahedra"},
    {NULL, NULL, NULL}};

#endif
