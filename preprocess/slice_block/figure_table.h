/*
 * figure_table: what penstock-slice-block may print through runtime/report.h; main.c alone includes
 * it.
 */
#ifndef PS_PREPROCESS_SLICE_BLOCK_FIGURE_TABLE_H
#define PS_PREPROCESS_SLICE_BLOCK_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"layout", "text", "kind of blocks"},
    {"block_rows", "1", "rows of a block, or the heights tried"},
    {"block_columns", "1", "columns of a block"},
    {"unknowns", "1", "unknowns"},
    {"k_from", "1", "first lag that is taken"},
    {"k_below", "1", "first lag that is not taken any more"},
    {"nnz", "1", "entries"},
    {"d_max", "1", "longest row-vector"},
    {"d_mean", "1", "mean length of a row-vector"},
    {"score", "1", "filled part of the smallest box around the row-vectors"},
    {"blocks", "1", "blocks"},
    {"nnz_percent", "%", "entries of all values that blocks hold"},
    {"tiles", "1", "tiles that are stored"},
    {"unpacked", "B", "what tiles take in memory"},
    {"stored", "B", "what they take in the file"},
    {"compression", "1", "unpacked over stored"},
    {"rounding_max", "1",
     "largest error of rounding to half precision, of a block's largest value"},
    {"rounding_rms", "1", "root mean square of these errors"},
    {"threads", "1", "threads that cut"},
    {"*.block_columns", "1", "with --table: width of blocks of this layout"},
    {"*.blocks", "1", "with --table: blocks of each height"},
    {"*.nnz_percent", "%", "with --table: entries of all values, for each height"},
    {NULL, NULL, NULL}};

#endif
