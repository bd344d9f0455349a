/*
 * figure_table: what penstock-cluster-build may print through runtime/report.h; main.c alone
 * includes it.
 */
#ifndef PS_PREPROCESS_CLUSTER_BUILD_FIGURE_TABLE_H
#define PS_PREPROCESS_CLUSTER_BUILD_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"vertices", "1", "vertices of the surface"},
    {"triangles", "1", "triangles"},
    {"elements_per_wavelength", "1", "elements in a wavelength of --wavenumber"},
    {"near_leaves", "1", "leaves that are dense"},
    {"far_leaves", "1", "leaves that are compressed"},
    {"near_numbers", "1", "numbers of the dense leaves"},
    {"tree_time", "s", "building the trees"},
    {"leaf_time", "s", "finding the leaves"},
    {"*.functions", "text", "functions of this side"},
    {"*.dofs", "1", "degrees of freedom"},
    {"*.clusters", "1", "clusters of the tree"},
    {"*.depth", "1", "levels of the tree"},
    {"expected.tolerance", "1", "tolerances that a matrix is forecast for"},
    {"expected.matrix", "B", "size of a matrix at each of them, double precision"},
    {"expected.symmetric_matrix", "B", "size of its upper half"},
    {"expected.dense_matrix", "B", "size without compression"},
    {NULL, NULL, NULL}};

#endif
