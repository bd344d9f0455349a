/*
 * figure_table: what penstock-transmission-optimize may print through runtime/report.h; main.c
 * alone includes it.
 */
#ifndef PS_PREPROCESS_TRANSMISSION_OPTIMIZE_FIGURE_TABLE_H
#define PS_PREPROCESS_TRANSMISSION_OPTIMIZE_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"symbol", "text", "symbol of the operator: discrete or continuous"},
    {"k_min", "data", "least wave number, in 1/--length-unit"},
    {"k_max", "data", "largest wave number, in 1/--length-unit"},
    {"*.p1", "data", "coefficient p of the first side, in 1/--length-unit"},
    {"*.q1", "data", "coefficient q of the first side, in --length-unit"},
    {"*.p2", "data", "coefficient p of the second side, in 1/--length-unit"},
    {"*.q2", "data", "coefficient q of the second side, in --length-unit"},
    {"*.factor", "1", "largest convergence factor of a double sweep"},
    {"*.evaluations", "1", "evaluations of the search"},
    {NULL, NULL, NULL}};

#endif
