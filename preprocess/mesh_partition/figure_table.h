/*
 * figure_table: what penstock-mesh-partition may print through runtime/report.h; main.c alone
 * includes it.
 */
#ifndef PS_PREPROCESS_MESH_PARTITION_FIGURE_TABLE_H
#define PS_PREPROCESS_MESH_PARTITION_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"method", "text", "how the mesh was cut"},
    {"order", "text", "order of the elements within a part"},
    {"elements", "1", "tetrahedra"},
    {"vertices", "1", "vertices"},
    {"components", "1", "parts of the mesh that hang together"},
    {"outer_faces", "1", "faces of one element"},
    {"tagged_faces", "1", "faces with a tag"},
    {"parts", "1", "parts"},
    {"elements_min", "1", "elements of the smallest part"},
    {"elements_max", "1", "elements of the largest part"},
    {"imbalance", "1", "largest part over the mean"},
    {"cut_faces", "1", "faces between parts"},
    {"cut_faces_max", "1", "those of the part that has most"},
    {"halo_elements_max", "1", "most elements of other parts next to a part"},
    {"neighbours_max", "1", "most neighbours of a part"},
    {"neighbours_mean", "1", "neighbours of a part, mean"},
    {"pieces_max", "1", "most pieces that a part is in"},
    {"link_distance", "1", "mean distance in the order between neighbours"},
    {"layer_count", "1", "layers of elements between the two ends"},
    {"layer_largest", "1", "elements of the largest layer"},
    {"reading", "s", "reading the mesh"},
    {"linking", "s", "finding neighbours"},
    {"cutting", "s", "cutting into parts"},
    {"ordering", "s", "ordering elements and writing"},
    {NULL, NULL, NULL}};

#endif
