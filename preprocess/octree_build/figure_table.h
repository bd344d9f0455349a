/*
 * figure_table: what penstock-octree-build may print through runtime/report.h; main.c alone
 * includes it.
 */
#ifndef PS_PREPROCESS_OCTREE_BUILD_FIGURE_TABLE_H
#define PS_PREPROCESS_OCTREE_BUILD_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"particles", "1", "particles (sources)"},
    {"height", "1", "levels"},
    {"group_size", "1", "cells of a group"},
    {"corner", "data", "lower corner of the root"},
    {"width", "data", "edge of the root"},
    {"runs", "1", "sorted runs that are merged"},
    {"memory_of_a_run", "B", "memory of one of them"},
    {"temporary_disk", "B", "disk that they take for a while"},
    {"leaves", "1", "leaves with particles"},
    {"particles_per_leaf", "1", "mean"},
    {"particles_per_leaf_min", "1", "least"},
    {"particles_per_leaf_max", "1", "most"},
    {"particles_per_leaf_difference", "1", "mean absolute difference from the mean"},
    {"cells", "1", "cells with particles, level by level"},
    {"subcells_per_cell", "1", "leaves over cells of the level above"},
    {"m2l_per_leaf", "1", "far interactions of a leaf, mean"},
    {"m2l_per_leaf_difference", "1", "mean absolute difference from it"},
    {"targets.particles", "1", "particles (targets)"},
    {"targets.leaves", "1", "leaves with targets"},
    {"targets.particles_per_leaf", "1", "mean"},
    {"targets.particles_per_leaf_min", "1", "least"},
    {"targets.particles_per_leaf_max", "1", "most"},
    {"targets.particles_per_leaf_difference", "1", "mean absolute difference from the mean"},
    {"targets.cells", "1", "cells with targets, level by level"},
    {"targets.subcells_per_cell", "1", "leaves over cells of the level above"},
    {"forecast.groups", "1", "groups of leaves"},
    {"forecast.order", "1", "order that the forecast is for"},
    {"forecast.mutual_pairs", "1", "pairs of particles in neighbouring leaves, each once"},
    {"forecast.ordered_pairs", "1", "pairs of target and source in neighbouring leaves"},
    {"forecast.augmented_pairs", "1", "those between groups"},
    {"forecast.m2l_pairs", "1", "pairs of cells of far interactions"},
    {"forecast.p2p_flop", "flop", "operations of near interactions"},
    {"forecast.m2l_flop", "flop", "operations of far interactions"},
    {"forecast.multipoles_and_locals", "B", "expansions"},
    {"forecast.near_leaves", "1", "pairs of leaves in near interactions"},
    {"forecast.augmented_leaves", "1", "those between groups"},
    {NULL, NULL, NULL}};

#endif
