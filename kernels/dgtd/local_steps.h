/*
 * local_steps: smaller steps where elements are small, inside of one leap-frog step of all.
 *
 * Leap-frog with C_H H = curl_h H/eps, C_E E = curl_h E/mu (half_step.h) becomes
 *
 *     E^{n+1} = E^n + dt (C_H R_1 H^{n+1/2} - ..),   H^{n+3/2} = H^{n+1/2} - dt C_E E^{n+1}
 *
 * where R_1 H is what H is on the mean of the smaller steps:
 *
 *     R_l = R_{l+1} - g_l/2 R_{l+1} C_E P_l C_H R_{l+1},   R_{levels+1} = I
 *     g_l = tau_l^2 (2 - 1/d^2)/8,  tau_1 = dt,  tau_{l+1}^2 = tau_l^2 (2 d^2 - 1)/(4 d),  d = 1 +
 * damping/4
 *
 * with P_l the elements of class l and more and their neighbours. One level without damping is two
 * steps of half the size (J. Diaz, M. J. Grote, SIAM J. Sci. Comput. 31 (2009) 1985; several
 * levels: Comput. Methods Appl. Mech. Engrg. 291 (2015) 240), here with the field H in the place of
 * the velocity, damped by Chebyshev polynomials (M. J. Grote, S. Michel, S. Sauter, Math. Comp. 90
 * (2021) 2603). R_l is symmetric in the product of M_mu, whence the energy (specs/dgtd_local.md).
 * R_1 H differs from H only in elements of Q_1, Q_l being P_l with its neighbours; there is nothing
 * else to a step: all that acts on E (losses, currents, borders) and on H is as without local
 * steps.
 *
 * R_1 H is made in place by a list of operations, each a half step of a range of groups with masks
 * by material, or a sum. Arrays are the caller's.
 */
#ifndef PS_KERNELS_DGTD_LOCAL_STEPS_H
#define PS_KERNELS_DGTD_LOCAL_STEPS_H

#include <stdbool.h>

#include "kernels/dgtd/half_step.h"

enum {
    PS_DGTD_LOCAL_LEVELS = 8,
    PS_DGTD_LOCAL_OPS = 3 << PS_DGTD_LOCAL_LEVELS,
    PS_DGTD_LOCAL_STAGES = 2 << PS_DGTD_LOCAL_LEVELS
};
#ifndef PS_DGTD_LOCAL_DAMPING
#define PS_DGTD_LOCAL_DAMPING 0.05
#endif

/* The deepest level whose P, and whose Q, have an element; 0: none. One byte an element. */
#define PS_DGTD_REACH(p, q) ((uint8_t)((p) | (q) << 4))
/* An element that takes no part, as absorbing faces, a layer or the total field's surface act on
 * its H: smaller steps of its neighbours end at it as at metal. */
#define PS_DGTD_REACH_CLOSED 255
static inline int ps_dgtd_reach_p(uint8_t reach)
{
    return reach == PS_DGTD_REACH_CLOSED ? 0 : reach & 15;
}
static inline int ps_dgtd_reach_q(uint8_t reach)
{
    return reach == PS_DGTD_REACH_CLOSED ? 0 : reach >> 4;
}

/* Reaches of elements from their classes (0 .. PS_DGTD_LOCAL_LEVELS): P_l are those of class >= l
 * and, PS_DGTD_LOCAL_OVERLAP times, their neighbours; closed[elements] take no part, NULL: none.
 * marks[2][elements] is scratch. Returns the largest class of those that do. */
enum { PS_DGTD_LOCAL_OVERLAP = 1 };
int ps_dgtd_local_reach(const int32_t *links, int64_t elements, const uint8_t *classes,
                        const uint8_t *closed, uint8_t *marks, uint8_t *reach);

/* tau_{l+1}/tau_l: how much smaller a step of the next level is. */
double ps_dgtd_local_ratio(void);
/* g/2 of a level, from 0. */
double ps_dgtd_local_gain(int level, double dt);

typedef struct ps_dgtd_local_level {
    ps_dgtd_system system; /* of the march, with masks as materials: 3 a material, those of P, of Q
                              alone, of others */
    int64_t *runs[2];      /* [run_count][2] groups [begin, end) that hold elements of P, Q      */
    int64_t run_count[2];
    void *electric; /* increments of E on P; 0 elsewhere, halo slots included              */
    void *magnetic; /* of H on Q; NULL at the deepest level                                */
} ps_dgtd_local_level;

/* y is -1: the H of the march, or a level's `magnetic`. E: e = C_H y of P; H: that of the level, or
 * y at the deepest one, -= g/2 C_E e on Q; ADD: y += the level's H on Q. */
typedef enum ps_dgtd_local_kind {
    PS_DGTD_LOCAL_E,
    PS_DGTD_LOCAL_H,
    PS_DGTD_LOCAL_ADD
} ps_dgtd_local_kind;
typedef struct ps_dgtd_local_op {
    ps_dgtd_local_kind kind;
    int level, y; /* both from 0 */
} ps_dgtd_local_op;

typedef struct ps_dgtd_local {
    int levels;
    ps_dgtd_local_level level[PS_DGTD_LOCAL_LEVELS];
    void *kept; /* a field, of groups of Q_1: H while R_1 H is in its place, and R_1 H afterwards */
    uint8_t *inside; /* [groups] 1: some element is in Q_1 */
    int32_t *links; /* of the systems of all levels, as kinds and bordered: like the march's, but */
    uint8_t *kinds, *bordered; /* for faces of closed elements                                 */
    int op_count;
    ps_dgtd_local_op ops[PS_DGTD_LOCAL_OPS];
} ps_dgtd_local;

/* Sets levels and op_count, and of each level run_count and the sizes of its system;
 * reach[elements] of these, which need not reach all levels. */
void ps_dgtd_local_count(ps_dgtd_local *local, const ps_dgtd_system *system, const uint8_t *reach,
                         int levels);
/* Fills runs, inside, faces and masks: system.material and system.steps of all levels are the
 * caller's, of slots and 12 reals a material. reach[slots, halo included]. */
void ps_dgtd_local_fill(ps_dgtd_local *local, const ps_dgtd_system *system,
                        const ps_dgtd_material *materials, const uint8_t *reach, double dt);
/* Whether a group holds elements of Q_2: all that R_2 changes, and all that it reads of H. */
bool ps_dgtd_local_inner(const ps_dgtd_system *system, const uint8_t *reach, int64_t group);
/* Whether some element of a group is linked to one of Q_2; reach[slots, halo included]. */
bool ps_dgtd_local_near(const ps_dgtd_system *system, const uint8_t *reach, int64_t group);
/* Whether some group holds elements of Q_2 and closed ones, to whose H more is done after its half
 * step: R_2 H can be made beside that half step, but not the copy of such a group. */
bool ps_dgtd_local_is_mixed(const ps_dgtd_system *system, const uint8_t *reach);
/* Whether R_{level+1} (level from 0) changes an element's H, or a half step of E of it reads H that
 * R_{level+1} changes: all that has to be in one memory for it. links[elements][4], -1: none. */
bool ps_dgtd_local_is_joint(const int32_t *links, const uint8_t *reach, int64_t element, int level);
/* Updates of elements, of E and H together counted as one, that a step makes. */
double ps_dgtd_local_updates(const uint8_t *reach, int64_t elements);

/* kept = H; R_1 H is then made by the operations, one after the other; the field that op reads has
 * to have its halo. Groups [begin, end) alone. */
void ps_dgtd_local_keep(const ps_dgtd_local *local, const ps_dgtd_system *system,
                        const void *magnetic, int64_t begin, int64_t end);
void ps_dgtd_local_op_run(const ps_dgtd_local *local, const ps_dgtd_local_op *op, void *magnetic,
                          int64_t begin, int64_t end);
/* Operations in stages, for tiles: those of levels < `depth` but sums begin a stage each, the first
 * one with all that comes before it; what follows them in a stage stays within the pieces that
 * ps_dgtd_local_is_joint tells for `depth`. Stages [first[k], first[k + 1]) of the operations,
 * their number is returned; a step makes two half steps more. */
int ps_dgtd_local_stages(const ps_dgtd_local *local, int depth, int *first);
/* R_{level+1} (both from 0) of the level's own increments of H, in place. */
void ps_dgtd_local_run_below(const ps_dgtd_local *local, int level, void *magnetic);
/* What an operation reads of its neighbours: y, or increments of E; NULL: nothing. */
void *ps_dgtd_local_op_source(const ps_dgtd_local *local, const ps_dgtd_local_op *op,
                              void *magnetic);
/* H and R_1 H change places: after the half step of E. */
void ps_dgtd_local_swap(const ps_dgtd_local *local, const ps_dgtd_system *system, void *magnetic,
                        int64_t begin, int64_t end);
/* All of it but the swap, without halo. */
void ps_dgtd_local_apply(const ps_dgtd_local *local, const ps_dgtd_system *system, void *magnetic);

#endif
