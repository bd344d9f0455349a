#ifndef PS_COMPUTE_SPMV_BENCH_FIGURE_TABLE_H
#define PS_COMPUTE_SPMV_BENCH_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"rows", "1", "rows"},
    {"entries", "1", "entries"},
    {"density", "%", "entries of all places"},
    {"mean_row", "1", "entries of a row, mean"},
    {"longest_row", "1", "entries of the longest row"},
    {"row_deviation", "1", "standard deviation of the entries of a row"},
    {"threads", "1", "threads"},
    {"device.name", "text", "name of the device"},
    {"device.precision", "text", "precision"},
    {"*.time", "s", "of one operation, or of one solve"},
    {"*.rate", "flop/s", "operations a second"},
    {"*.traffic", "B/s", "least bytes that have to move, a second"},
    {"*.ratio", "1", "time on cores over time on the device"},
    {"*.kernel", "text", "kernel that was chosen"},
    {"*.threads_a_row", "1", "threads of a row"},
    {"*.threads_a_block", "1", "threads of a block"},
    {"*.cusparse_time", "s", "of cuSPARSE"},
    {"*.cublas_time", "s", "of cuBLAS"},
    {"*.iterations", "1", "iterations"},
    {"*.time_of_iteration", "s", "of one iteration"},
    {"*.residual", "1", "relative residual"},
    {"*.failed", "text", "why the method failed"},
    {NULL, NULL, NULL}};

#endif
