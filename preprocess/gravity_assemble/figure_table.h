/*
 * figure_table: what penstock-gravity-assemble may print through runtime/report.h; main.c alone
 * includes it.
 */
#ifndef PS_PREPROCESS_GRAVITY_ASSEMBLE_FIGURE_TABLE_H
#define PS_PREPROCESS_GRAVITY_ASSEMBLE_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {{"nodes", "1", "nodes of the grid along x, y, z"},
                                         {"unknowns", "1", "nodes in all"},
                                         {"mass", "text", "how masses of elements are taken"},
                                         {"entries", "1", "entries of the matrix"},
                                         {"mean_row", "1", "entries of a row, mean"},
                                         {"row_deviation", "1", "standard deviation of it"},
                                         {"interfaces", "1", "interfaces between subdomains"},
                                         {"interface_nodes", "1", "nodes on interfaces"},
                                         {"cross_points", "1", "nodes of three subdomains or more"},
                                         {"imbalance", "1", "largest subdomain over the mean"},
                                         {NULL, NULL, NULL}};

#endif
