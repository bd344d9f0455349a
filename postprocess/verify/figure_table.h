#ifndef PS_POSTPROCESS_VERIFY_FIGURE_TABLE_H
#define PS_POSTPROCESS_VERIFY_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"*.good", "flag", "whether all is well"},
    {"*.problem", "text", "what is not"},
    {"*.format", "text", "format of the file"},
    {"*.parts", "1", "parts of a set"},
    {"*.chunks", "1", "chunks"},
    {"*.bad_chunks", "1", "chunks that do not have their hash"},
    {"*.stored_bytes", "B", "what was read"},
    {"*.rate", "B/s", "bytes a second"},
    {"*.exact_rows", "1", "rows of a matrix that were computed exactly"},
    {"*.tolerance", "1", "tolerance of the matrix"},
    {"*.error", "1", "relative error of these rows"},
    {"*.worst_row", "1", "that of the worst row"},
    {"*.reference_error", "1", "what the exact rows err by themselves, estimated"},
    {NULL, NULL, NULL}};

#endif
