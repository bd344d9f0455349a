/*
 * figure_table: what penstock-schwarz-solve may print through runtime/report.h; main.c alone
 * includes it.
 */
#ifndef PS_COMPUTE_SCHWARZ_SOLVE_FIGURE_TABLE_H
#define PS_COMPUTE_SCHWARZ_SOLVE_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"nodes", "1", "nodes of the grid along x, y, z"},
    {"unknowns", "1", "nodes in all"},
    {"method", "text", "method"},
    {"slabs", "1", "slabs or subdomains"},
    {"ranks", "1", "ranks"},
    {"device", "text", "what computes"},
    {"streamed", "flag", "whether slabs are factored again or read in each iteration"},
    {"memory", "B", "most memory of a rank, by the plan"},
    {"kind", "text", "kind of transmission condition"},
    {"p1", "1/km", "coefficient p of the first side"},
    {"q1", "km", "coefficient q of the first side"},
    {"p2", "1/km", "coefficient p of the second side"},
    {"q2", "km", "coefficient q of the second side"},
    {"predicted_factor", "1", "convergence factor of an iteration by theory"},
    {"iterations", "1", "iterations"},
    {"inner_iterations", "1", "iterations within subdomains"},
    {"interface_residual", "1", "relative residual on interfaces"},
    {"residual", "1", "relative residual of the whole system"},
    {"reading", "s", "reading"},
    {"solving", "s", "solving"},
    {"copy_rate", "B/s", "rate of copies to the device"},
    {"writing", "s", "writing"},
    {"checking", "s", "residual of the whole system"},
    {NULL, NULL, NULL}};

#endif
