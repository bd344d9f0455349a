/*
 * figure_table: what penstock-mesh-import may print through runtime/report.h; main.c alone includes
 * it.
 */
#ifndef PS_PREPROCESS_MESH_IMPORT_FIGURE_TABLE_H
#define PS_PREPROCESS_MESH_IMPORT_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"input", "B", "size of the file that is read"},
    {"kind", "text", "what the mesh became: surface or volume"},
    {"order", "text", "order of the vertices and cells"},
    {"vertices", "1", "vertices"},
    {"triangles", "1", "triangles of the surface, or tagged triangles of a volume mesh"},
    {"tetrahedra", "1", "tetrahedra"},
    {"edges", "1", "edges"},
    {"euler_characteristic", "1", "vertices - edges + triangles of the surface"},
    {"parts", "1", "parts that hang together"},
    {"closed", "flag", "whether the surface has no open edge"},
    {"oriented", "flag", "whether neighbours agree in orientation"},
    {"open_edges", "1", "edges with one triangle"},
    {"open_loops", "1", "loops that these edges form"},
    {"cavities", "1", "closed parts whose normals point inwards"},
    {"nested_parts", "1", "closed parts inside of others"},
    {"area", "m2", "area of the surface"},
    {"volume", "m3", "volume enclosed, or that of all tetrahedra"},
    {"volume_min", "m3", "volume of the smallest tetrahedron"},
    {"boundary_triangles", "1", "triangles of the file that lie on the boundary"},
    {"boundary_faces", "1", "faces of one tetrahedron"},
    {"tags", "1", "tags of the cells"},
    {"triangles_of_tag", "1", "triangles of each tag"},
    {"tetrahedra_of_tag", "1", "tetrahedra of each tag"},
    {"triangle_tags", "1", "tags of the triangles of a volume mesh"},
    {"extent", "m", "size of the box around the mesh"},
    {"lower_corner", "m", "lower corner of that box"},
    {"edge_min", "m", "shortest edge"},
    {"edge_mean", "m", "mean edge"},
    {"edge_max", "m", "longest edge"},
    {"quality_min", "1", "least quality of a cell; 1 is equilateral"},
    {"quality_1_percent", "1", "quality that one percent of the cells do not reach"},
    {"quality_mean", "1", "mean quality"},
    {"worst_quality_at", "m", "where the cell of least quality is"},
    {"repairs.unused_vertices", "1", "vertices of no cell that were left away"},
    {"repairs.welded_vertices", "1", "coincident vertices that were made one"},
    {"repairs.dropped_degenerate", "1", "degenerate cells that were dropped"},
    {"repairs.dropped_duplicates", "1", "repeated cells that were dropped"},
    {"repairs.turned", "1", "cells whose orientation was turned"},
    {"repairs.split_polygons", "1", "polygons that were cut into triangles"},
    {NULL, NULL, NULL}};

#endif
