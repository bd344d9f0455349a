/*
 * figure_table: what penstock-hmatrix-assemble may print through runtime/report.h; main.c alone
 * includes it.
 */
#ifndef PS_PREPROCESS_HMATRIX_ASSEMBLE_FIGURE_TABLE_H
#define PS_PREPROCESS_HMATRIX_ASSEMBLE_FIGURE_TABLE_H

#include "formats/hmatrix.h"
#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"operator", "text", "boundary operator"},
    {"wavenumber", "rad/m", "wave number; 0: Laplace"},
    {"elements_per_wavelength", "1", "elements in a wavelength"},
    {"rows", "1", "rows"},
    {"columns", "1", "columns"},
    {"leaves", "1", "leaves of the block tree"},
    {"largest_chunk", "B", "largest of them"},
    {"dense", "B", "size without compression"},
    {"computed", "1", "chunks computed in this run"},
    {"kept", "1", "chunks of an earlier start"},
    {"compute", "s", "computing, of the slowest rank"},
    {"write", "s", "writing, summed over ranks"},
    {"wait_for_writing", "s", "waiting for it, of the slowest rank"},
    {"processor", "s", "processor time of all threads and ranks"},
    PS_HMATRIX_FIGURES(""),
    {NULL, NULL, NULL}};

#endif
