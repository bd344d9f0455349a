/*
 * transmission-optimize: what its files share.
 */
#ifndef PS_TRANSMISSION_OPTIMIZE_H
#define PS_TRANSMISSION_OPTIMIZE_H

#include "formats/transmission.h"
#include "kernels/schwarz/symbol.h"

typedef struct optimize_problem {
    ps_q1_grid grid; /* nodes[0] = 0: a range of wave numbers instead */
    double k_min, k_max, overlap;
    bool discrete, closed; /* closed: by the closed forms where the symbol has them */
    int kind;              /* of ps_transmission_kind; PS_TRANSMISSION_KINDS: all   */
    int64_t samples, map, seed;
    double map_p[2], map_q[2]; /* ends of the map; both 0: chosen around the optimum */
    const char *length_unit;
} optimize_problem;

/* Searches, samples, maps: fills *out, which is the caller's to release, on failure too. */
ps_status optimize(const optimize_problem *problem, ps_transmission_file *out);

#endif
