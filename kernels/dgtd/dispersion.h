/*
 * dispersion: media whose permittivity depends on the frequency or is a tensor, as what they do to
 * the half step of E (specs/dgtd_media.md).
 *
 *     eps (E' - E)/dt + sigma (E' + E)/2 + sum_k (P_k' - P_k)/dt = curl_h H - J
 *
 * with each P_k by the trapezoidal rule from its own equation. What P_k' has of E' is put on the
 * left; the rest, in variables u that need E alone of the time before, is known before the sweep:
 *
 *     E <- K E + M sum_v add_v u_v,   u_v <- u_v + own_v u_v + cross_v u_partner + drive_v E
 *
 * in place and before the sweep reads the group, whose keep is then 1 and whose gain is dt M. So
 * all that is added to E after the sweep (currents, borders, the upwind flux) is met by the poles a
 * step later, as it has to be. One u for a Debye or Drude pole, two for a Lorentz pole.
 *
 * Per node, component and state: 5 flops (7 of a pair) and two values moved.
 */
#ifndef PS_KERNELS_DGTD_DISPERSION_H
#define PS_KERNELS_DGTD_DISPERSION_H

#include <stdbool.h>

#include "formats/dgtd_pole.h"
#include "kernels/dgtd/system.h"

enum { PS_DGTD_STATES_MAX = 2 * PS_DGTD_POLES_MAX };

/* A material as it is given. */
typedef struct ps_dgtd_constitution {
    double eps, sigma; /* relative; times Z0, 1/m                             */
    int pole_count;
    const ps_dgtd_pole *poles;
    const double *tensor; /* xx, yy, zz, xy, xz, yz in place of eps, or NULL     */
} ps_dgtd_constitution;

/* What the half step does in a material. A law that does nothing has states 0, keep 1. */
typedef struct ps_dgtd_law {
    int32_t states, pairs; /* u; of which the first 2 pairs belong to Lorentz poles */
    int32_t tensor;        /* K and M are matrices, xx, yy, zz, xy, xz, yz           */
    int32_t unused;
    double gain, keep, k[6], m[6];
    double factor[PS_DGTD_STATES_MAX][4]; /* add, own, cross, drive */
} ps_dgtd_law;

/* Groups that have such elements lie in rows, ascending. */
typedef struct ps_dgtd_dispersion {
    int64_t rows, vectors; /* by ps_dgtd_dispersion_count; of all rows together         */
    int64_t law_count;     /* the first one does nothing                                */
    bool tensors;          /* some law has one                                          */
    ps_dgtd_law *laws;
    int32_t *law_of;     /* [materials]                                                */
    int32_t *row_of;     /* [groups]: -1 none                                          */
    int64_t *first;      /* [rows + 1] vectors before a row                            */
    int32_t *row_states; /* [rows][3]: states, pairs, 1 if some lane has a tensor      */
    void *state;         /* real [vectors][3][nodes][lanes]: u, 0 at the start         */
} ps_dgtd_dispersion;

/* sum of the poles at w (1/m): real part, and minus the imaginary one, which is loss. */
void ps_dgtd_susceptibility(const ps_dgtd_pole *poles, int count, double omega, double out[2]);

/* What the poles add to the factor of E' on the left: the conductivity (1/m) that has the same gain
 * is sigma + 2 of this / dt, and enters ps_dgtd_material so that currents and borders fit. */
double ps_dgtd_poles_weight(const ps_dgtd_pole *poles, int count, double dt);

/* Is there anything that a scalar eps and sigma do not say? */
bool ps_dgtd_is_plain(const ps_dgtd_constitution *medium);

/* Least and largest eigenvalue of a symmetric matrix xx, yy, zz, xy, xz, yz. */
void ps_dgtd_tensor_bounds(const double tensor[6], double bounds[2]);

/* Counts laws, rows and vectors for elements of materials (tags as in the body, NULL: all 0); then
 * bytes of each array. */
void ps_dgtd_dispersion_count(ps_dgtd_dispersion *dispersion, const ps_dgtd_system *system,
                              const ps_dgtd_constitution *media, const uint16_t *tags);
typedef struct ps_dgtd_dispersion_bytes {
    size_t laws, law_of, row_of, first, row_states, state;
} ps_dgtd_dispersion_bytes;
void ps_dgtd_dispersion_size(const ps_dgtd_dispersion *dispersion, const ps_dgtd_system *system,
                             ps_dgtd_dispersion_bytes *bytes);

/* Fills all but the state. */
void ps_dgtd_dispersion_fill(ps_dgtd_dispersion *dispersion, const ps_dgtd_system *system,
                             const ps_dgtd_constitution *media, const uint16_t *tags, double dt);

/* Lets the system take it: keep 1 and gain dt M for its materials, after ps_dgtd_set_step. */
void ps_dgtd_dispersion_attach(const ps_dgtd_dispersion *dispersion, ps_dgtd_system *system);

#endif
