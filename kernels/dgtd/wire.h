/*
 * wire: a thin wire along a path of straight segments, much thinner than the elements around it.
 *
 * After Holland, Simpson (IEEE Trans. EMC 23 (1981) 88) and, for any direction of the wire in the
 * mesh, Edelvik (IEEE Trans. EMC 45 (2003) 416): the field has the current of the wire spread over
 * a tube of radius R, the wire feels the field averaged in the same way, and what the field lacks
 * of the wire's own near field is added as inductance and elastance:
 *
 *   J = sum_m I_m N_m(s) g(rho) t,  g = (8 - 20 v) (1 - v)^2/(pi R^2), v = rho^2/R^2, N_m a hat
 * about node m, L dI/dt + r I = V_s + U - D' P Q,  dQ/dt = D I,  U_m = int g N_m t . E dV,
 *
 * I in nodes, Q of segments, (D I)_k what flows into segment k. L and P are Galerkin matrices of
 *
 *   mu dK(|x - x'|) t . t',  dK/eps,  dK = K_a - K_R,
 *
 * of the static fields of a tube of radius a and of the spread current: K_a(z) is the mean of
 * 1/(4 pi |x - x'|) over two rings of radius a at distance z, K_R likewise over g twice. dK falls
 * as z^-5, as int rho^2 g dA = 0, so what is left out is of order (k R)^4, and ends need no rule of
 * their own. An end on a flat metal face is continued by its image.
 *
 * E and Q are at n, H and I at n + 1/2. With W as in specs/dgtd.md
 *
 *   W + 1/2 Q' P Q + 1/2 I^{n-1/2}' L I^{n+1/2}
 *
 * is constant where r = V_s = 0. With a = I^{n-1/2}, b = I^{n+1/2}, c = I^{n+3/2} a resistance
 * takes dt r/4 b (a + 2 b + c); less dt r/8 (b^2 - a^2) the sum falls by dt r/8 ((a + b)^2 + (b +
 * c)^2) a step. It is positive, and the march stable, if (2/dt)^2 >= (2/dt of the field alone)^2 +
 * ps_dgtd_wire_rate.
 *
 * Units as in system.h: I times Z0 (V), Q over eps0 (V m), R over Z0, L over mu0 and C over eps0
 * (m).
 */
#ifndef PS_KERNELS_DGTD_WIRE_H
#define PS_KERNELS_DGTD_WIRE_H

#include "kernels/dgtd/port.h"

/* Of R, the least is PS_DGTD_WIRE_LEAST radii: L and P are positive there. */
#define PS_DGTD_WIRE_LEAST 6.0

typedef struct ps_dgtd_wire_shape {
    int64_t nodes;
    const double (*points)[3]; /* [nodes] m; the last one is the first one in a closed wire */
    double radius, width;      /* a, R */
    double eps, mu;            /* of the one medium about it */
    bool ground[2];            /* the first, the last end is on metal, */
    double normal[2][3];       /* whose unit normal this is */
    int64_t feed;              /* the node of the network; -1: none */
} ps_dgtd_wire_shape;

/* What a segment has of an element: int phi g N dV for the hats of its first and last node, and
 * M^-1 of that over the volume. */
typedef struct ps_dgtd_wire_pair {
    int32_t segment;
    double *weights, *loads; /* [2][nodes] */
} ps_dgtd_wire_pair;

typedef struct ps_dgtd_wire {
    ps_dgtd_network network; /* in series, of the node `feed`; all 0 where there is none    */
    int64_t segments, currents, feed; /* feed: the current of the network, or -1 */
    int64_t port;            /* the network's number among the ports; the caller's           */
    int32_t (*ends)[2];      /* [segments] its currents; -1: none                           */
    double (*directions)[3]; /* [segments] t                                                */
    double *lengths;         /* [segments] m                                                */
    double *inductance, *elastance; /* [currents]^2, [segments]^2, of the network, too */
    double *factor;          /* [currents]^2: Cholesky's of L + dt r/2                       */
    int64_t elements, pairs; /* that the tube reaches                                       */
    int64_t *slots, *first;  /* [elements] ascending, [elements + 1] into pair              */
    ps_dgtd_wire_pair *pair;
    double *values;   /* of all pairs                                                */
    double *covered;  /* [segments] int g dV over the length, of the elements here: 1
                         where the tube lies in the mesh                             */
    double *measured; /* [currents] U                                                */
    double *work;     /* [2 nodes^2 + 3 nodes]                                        */
    double *scratch;  /* [currents + segments]                                              */
    double
        *state; /* [ps_dgtd_wire_states] I, Q, charge and former slope of the network; borrowed */
    double voltage, current; /* of the network at n + 1/2                                   */
} ps_dgtd_wire;

/* Once arrays of segments and currents are there (currents: room for as many as nodes): path,
 * currents, and how many elements and pairs there are. width >= PS_DGTD_WIRE_LEAST radius and two
 * nodes or more are the caller's to see to. */
void ps_dgtd_wire_path(const ps_dgtd_wire_shape *shape, const ps_dgtd_body *body,
                       ps_dgtd_wire *wire);
/* All else but the state and what ps_dgtd_wire_set makes, in arrays of zeros. PS_INVALID: matrices
 * that are not positive (a path that turns too sharply). stage/dgtd_wire.h has both with their
 * memory. */
ps_status ps_dgtd_wire_fill(const ps_dgtd_wire_shape *shape, const ps_dgtd_reference *reference,
                            const ps_dgtd_body *body, ps_dgtd_wire *wire);

int64_t ps_dgtd_wire_states(const ps_dgtd_wire *wire);
/* A little above the largest eigenvalue of L^-1 (U of the field of unit currents + D' P D), 1/m^2,
 * of a whole body and before ps_dgtd_wire_set. */
ps_status ps_dgtd_wire_rate(const ps_dgtd_wire *wire, const ps_dgtd_reference *reference,
                            const ps_dgtd_body *body, double *out);

/* For steps dt, once network and state are set. */
ps_status ps_dgtd_wire_set(ps_dgtd_wire *wire, double dt);

/* What a device makes of them: D' P, [currents][segments]; the inverse of L + dt r/2, [currents]^2.
 */
void ps_dgtd_wire_potentials(const ps_dgtd_wire *wire, double *out);
void ps_dgtd_wire_inverse(const ps_dgtd_wire *wire, double *out);

/* wire->measured of the elements here; several ranks add it up. */
void ps_dgtd_wire_measure(ps_dgtd_wire *wire, const ps_dgtd_system *system, const void *electric);
/* I to n + 1/2 and Q to n + 1 from `measured` at n; t is that of n + 1/2. */
void ps_dgtd_wire_advance(ps_dgtd_wire *wire, double t, double dt);
/* E of groups [begin, end) gets what the current does to it: part of the half step of E. */
void ps_dgtd_wire_apply(const ps_dgtd_wire *wire, const ps_dgtd_system *system, void *electric,
                        int64_t begin, int64_t end);
/* Adds - int u . J of groups begin <= g < end to work[g] (source.h). */
void ps_dgtd_wire_work(const ps_dgtd_wire *wire, const ps_dgtd_system *system, const void *u,
                       int64_t begin, int64_t end, double *work);

/* dK of wire_kernel.c. */
double ps_dgtd_wire_kernel(double z, double radius, double width);
/* L and P of a shape whose segments are set, without the network. */
void ps_dgtd_wire_matrices(const ps_dgtd_wire_shape *shape, ps_dgtd_wire *wire);

#endif
