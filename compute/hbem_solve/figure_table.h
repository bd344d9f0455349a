#ifndef PS_COMPUTE_HBEM_SOLVE_FIGURE_TABLE_H
#define PS_COMPUTE_HBEM_SOLVE_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"unknowns", "1", "unknowns"},
    {"wavenumbers", "1", "wave numbers"},
    {"sides", "1", "right-hand sides"},
    {"batch", "1", "right-hand sides at a time"},
    {"unknown_space", "text", "space of what is solved for"},
    {"data_space", "text", "space of what is given, in direct forms"},
    {"sharp_edges", "1",
     "edges of more than 20 degrees between the normals, in direct forms and of soft and fluid "
     "bodies"},
    {"open_constants", "1", "constants of u that a flux leaves open inside, one of each body"},
    {"method", "text", "Krylov method"},
    {"matrices", "B", "values of the matrices"},
    {"vectors", "B", "vectors of a batch"},
    {"steps_least", "1", "iterations of the right-hand side that took least"},
    {"steps_most", "1", "iterations of the one that took most"},
    {"products", "1", "products with a matrix"},
    {"device", "flag", "whether a device computes"},
    {"direct", "flag", "whether sparse systems are factored"},
    {"factors", "B", "sparse factors"},
    {"radius", "m", "radius of the OSRC condition"},
    {"inner_iterations", "1", "iterations of sparse systems"},
    {"residual", "1", "largest relative residual"},
    {"row_sum_error", "1",
     "largest error of row sums of double layers, of 1/2, and of W, of its diagonal"},
    {"entry_error", "1", "largest relative error of entries that were checked"},
    {"converged", "flag", "whether every right-hand side reached the tolerance"},
    {"resident", "B", "matrices that stay in memory"},
    {"opening", "s", "opening"},
    {"assembly_time", "s", "assembling"},
    {"loading_time", "s", "reading matrices"},
    {"factors_time", "s", "factoring"},
    {"products_time", "s", "products"},
    {"sparse_time", "s", "sparse systems"},
    {"other_time", "s", "what is left"},
    {NULL, NULL, NULL}};

#endif
