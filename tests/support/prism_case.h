/*
 * prism_case: prisms and stations for tests of sums of prisms: sides over any factor, one prism as
 * large as all of the box, stations on corners, edges and faces, inside and anywhere.
 */
#ifndef PS_TESTS_SUPPORT_PRISM_CASE_H
#define PS_TESTS_SUPPORT_PRISM_CASE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"
#include "stage/prism_sum/prism_sum.h"
#include "tests/support/random.h"

enum { PRISM_NUMBERS = PS_PRISM_NUMBERS };

typedef struct prism_case {
    ps_prism_bodies bodies;
    double *low[3], *high[3], *place[3], *weight[3], *out[PRISM_NUMBERS], *direct[PRISM_NUMBERS];
    int64_t *all; /* stations 0, 1, ... */
} prism_case;

static inline double *prism_numbers(int64_t count)
{
    double *out = calloc((size_t)(count + !count), sizeof *out);
    if (!out) abort();
    return out;
}

static inline void prism_case_allocate(prism_case *m, int64_t prisms, int64_t stations)
{
    memset(m, 0, sizeof *m);
    for (int d = 0; d < 3; ++d) {
        m->bodies.low[d] = m->low[d] = prism_numbers(prisms);
        m->bodies.high[d] = m->high[d] = prism_numbers(prisms);
        m->bodies.place[d] = m->place[d] = prism_numbers(stations);
        m->weight[d] = prism_numbers(prisms);
    }
    for (int k = 0; k < PRISM_NUMBERS; ++k) {
        m->out[k] = prism_numbers(stations);
        m->direct[k] = prism_numbers(stations);
    }
    m->all = calloc((size_t)stations, sizeof *m->all);
    for (int64_t i = 0; i < stations; ++i) m->all[i] = i;
    m->bodies.prisms = prisms;
    m->bodies.stations = stations;
}

static inline void prism_case_release(prism_case *m)
{
    for (int d = 0; d < 3; ++d) {
        PS_FREE(m->low[d], m->high[d], m->place[d], m->weight[d]);
    }
    for (int k = 0; k < PRISM_NUMBERS; ++k) {
        PS_FREE(m->out[k], m->direct[k]);
    }
    free(m->all);
}

/* Prisms of sides over a factor of `spread`, one as large as all of the box; stations on corners,
 * on edges, on faces, inside and anywhere. */
static inline void prism_case_random(prism_case *m, ps_prism_kind kind, int64_t prisms,
                                     int64_t stations, double spread)
{
    uint64_t state = 17;
    prism_case_allocate(m, prisms, stations);
    m->bodies.kind = kind;
    for (int64_t i = 0; i < prisms; ++i)
        for (int d = 0; d < 3; ++d) {
            double side = i == 5 ? 900 : 100 * pow(spread, -congruence_uniform(&state));
            m->low[d][i] = 5e5 + (i == 5 ? 20 : 1000 * congruence_uniform(&state));
            m->high[d][i] = m->low[d][i] + side;
            m->weight[d][i] = (congruence_uniform(&state) - .3) * (i == 5 ? .01 : 1);
        }
    for (int64_t i = 0; i < stations; ++i) {
        int64_t p = (int64_t)(congruence_uniform(&state) * (double)prisms);
        for (int d = 0; d < 3; ++d) {
            double t = congruence_uniform(&state),
                   inside = m->low[d][p] + t * (m->high[d][p] - m->low[d][p]);
            double face = i & 1 ? m->low[d][p] : m->high[d][p];
            int pinned = (int)(i % 5); /* 0: anywhere; 1: inside; 2: face; 3: edge; 4: corner */
            m->place[d][i] = pinned == 0   ? 5e5 - 100 + 1300 * t
                             : pinned == 1 ? inside
                                           : (d < pinned - 1 ? face : inside);
        }
    }
}

/* Relative L2 differences of V, g and T (or of sum T m) between a and b, over stations where they
 * are numbers; false if these are not the same ones. */
static inline bool prism_case_differences(const prism_case *m, double *const *a, double *const *b,
                                          double out[3])
{
    static const int group[3][PRISM_NUMBERS] = {{0, 1, 1, 1, 2, 2, 2, 2, 2, 2}, /* gravity */
                                                {0, 1, 1, 1, 2, 2, 2, 2, 2, 2},
                                                {2, 2, 2}};
    double error[3] = {0}, size[3] = {0};
    bool same = true;
    for (int k = 0; k < ps_prism_kind_numbers(m->bodies.kind); ++k)
        for (int64_t i = 0; i < m->bodies.stations; ++i) {
            int g = group[m->bodies.kind][k];
            double off = a[k][i] - b[k][i];
            same = same && isnan(a[k][i]) == isnan(b[k][i]);
            if (isnan(off)) continue;
            error[g] += off * off;
            size[g] += b[k][i] * b[k][i];
        }
    for (int g = 0; g < 3; ++g) out[g] = size[g] > 0 ? sqrt(error[g] / size[g]) : 0;
    return same;
}

#endif
