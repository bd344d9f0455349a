/*
 * port: a lumped network between two conductors, on the faces between them.
 *
 * phi is 0 on the conductor -, 1 on the conductor + and harmonic on the faces between; with W = int
 * |grad phi|^2 dA over these
 *
 *   V = -(1/W) int {E} . grad phi dA,   n x [H] = K = I grad phi/W on the faces,
 *
 * {E} the mean of both sides. The row of E of either side gets -LIFT(F/2 K): its work is -int K .
 * {E} = V I, so that the port gives the field what it takes out of its network. (A strip of length
 * l and width w: grad phi/W = p/w.) A face with no element behind (PMC) takes all of K.
 *
 * The network, I out of its + terminal into the field, in series (V_s, R, L, C) or in parallel
 * (V_s/R, R, L, C), by the trapezoidal rule, V at n, I at n + 1/2. What the half step of E would
 * make of V without I is linear in the fields before it, so that V* and
 *
 *   V^{n+1} = V* + rise I,  rise > 0,
 *
 * give I before the half step, in which it is a current like any other. The energy of field, L and
 * C only falls by R and rises by V_s; the limit of the time step stays.
 *
 * The mode of a guide: -grad phi is its e, W = int |e|^2, and the network is a line (port_line.h) with V_s in
 * series to it (TE, TEM: V = V_s/2 into a matched guide at all frequencies, I without a resonance at the cut-off), or
 * with V_s/sqrt(mu/eps) beside it (TM: likewise for I).
 *
 * Units as in system.h: R over Z0, L over mu0 and C over eps0 in m, I times Z0.
 */
#ifndef PS_KERNELS_DGTD_PORT_H
#define PS_KERNELS_DGTD_PORT_H

#include <stdbool.h>

#include "kernels/dgtd/port_line.h"
#include "kernels/dgtd/source.h"

/* 0: none of it. At least one is there; in parallel a source needs R. With a line none of them is. */
typedef struct ps_dgtd_network {
    bool parallel;
    double resistance, inductance, capacitance;
    ps_dgtd_pulse source; /* of V_s, in V; amplitude 0: none */
    ps_dgtd_line line;
} ps_dgtd_network;

/* A list of values of a field: places are offsets in reals (ps_dgtd_offset and on). */
typedef struct ps_dgtd_port_list {
    int64_t count;
    int64_t *places;
    double *factors;
} ps_dgtd_port_list;

typedef struct ps_dgtd_port {
    ps_dgtd_network network;
    double norm;             /* W                                                             */
    int64_t elements;        /* with faces of it                                              */
    int64_t *slots;          /* [elements] ascending                                          */
    int64_t *places;         /* [elements][3][nodes] of E                                     */
    double *volts;           /* likewise: V = sum volts E                                     */
    double *kept;            /* likewise: of V*, from E                                       */
    double *loads;           /* likewise: E changes by I times this                           */
    ps_dgtd_port_list flux;  /* of V*, from H                                             */
    double rise;             /* of the elements here; of all ranks once summed                */
    double *state;           /* [2] of L and C: series I^n and Q, parallel the current of L;
                                or of the line (ps_dgtd_line_states)                          */
    double voltage, current; /* of the last step, at n + 1/2                             */
} ps_dgtd_port;

/* Sides of faces: 4 * slot + face, ascending, with grad phi times 1/2, or 1 where there is no other
 * side: a vector a face, or one at each of its nodes. */
typedef struct ps_dgtd_port_sides {
    int64_t count;
    const int32_t *faces;
    const double (*gradients)[3]; /* [count][nodes] */
    int nodes;                    /* 1, or the reference's face_nodes */
} ps_dgtd_port_sides;

/* V_s at t: the pulse, or of a Gaussian its width times its derivative: a constant part would leave
 * charges, whose static fields stay. */
double ps_dgtd_port_source(const ps_dgtd_pulse *pulse, double t);

/* Sets elements and the most that flux.count can be. */
void ps_dgtd_port_count(ps_dgtd_port *port, const ps_dgtd_reference *reference,
                        const ps_dgtd_port_sides *sides);

/* Fills slots[elements], places, volts, kept, loads [elements][3][nodes], flux and rise for the
 * steps of a system whose network and norm are set. */
void ps_dgtd_port_fill(ps_dgtd_port *port, const ps_dgtd_system *system, const ps_dgtd_body *body,
                       const ps_dgtd_port_sides *sides);

/* V^n and V* of the elements here before the half step of E; several ranks add them up. */
void ps_dgtd_port_measure(const ps_dgtd_port *port, const ps_dgtd_system *system,
                          const void *electric, const void *magnetic, double out[2]);

/* I, voltage and state of the step whose half is at time t, from V^n and V*. */
void ps_dgtd_port_advance(ps_dgtd_port *port, const double measured[2], double t, double dt);

/* E of groups [begin, end) gets what I does to it: part of the half step of E. */
void ps_dgtd_port_apply(const ps_dgtd_port *port, const ps_dgtd_system *system, void *electric,
                        int64_t begin, int64_t end);

/* Adds V(u) I of groups begin <= g < end to work[g]: what I does to x' M_eps x (source.h). */
void ps_dgtd_port_work(const ps_dgtd_port *port, const ps_dgtd_system *system, const void *u,
                       int64_t begin, int64_t end, double *work);

#endif
