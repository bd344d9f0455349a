/*
 * prism_field: potential, attraction and gradients of rectangular prisms, by closed forms.
 *
 *     V = sum_p w_p int_p 1/r,   g = grad V,   T = grad grad V   (at the station; times G for
 * gravity)
 *
 * With b the bounds of a prism less the station, r their distances, on every edge and face
 *
 *     E = ln((b2 + r2) / (b1 + r1)) of an edge,   Omega of a face: its solid angle, 0 .. 2 pi
 *     F = sum +- e E_f + sum +- f E_e - |d| Omega     potential of the face d across axes e and f
 *     V = 1/2 sum +- d F,   g_d = -(F(d2) - F(d1)),   T_dd = -(sgn(d2) Omega(d2) - sgn(d1)
 * Omega(d1)), T_ef = sum +- E of the edges along the third axis
 *
 * (the corners' sums of D. Nagy, G. Papp, J. Benedek, J. Geodesy 74, 2000, 552-560, put together by
 * edges and faces: E and Omega are differences, and here are formed so that nothing cancels in them
 * whatever the place). What cancels is left in the sums over edges: V and g lose c eps R^2 /
 * (product of the two shorter sides), T loses eps R^3 / volume, R the distance of the farthest
 * corner. Where that exceeds PS_PRISM_LOSS the prism is taken by Gauss's rule if it is far (8
 * points from 100, 27 from 20 longest sides on), else it is halved across its longest side, and so
 * on.
 *
 * On the surface: V and g are continuous. On a face T is the limit from outside (trace 0; -4 pi w
 * is what it has inside). On an edge its off-diagonal is infinite and two of its diagonal depend on
 * the direction, on a corner all of its off-diagonal are infinite: these are NaN.
 *
 * Magnetics: with w the three components of a magnetisation m (A/m), B = (mu0/4pi) sum T m
 * (Poisson's relation), and mu0 m inside, which the caller adds; here sum T m.
 *
 * Vectors of prisms in lanes, one station after the other; sums have a fixed order. No state.
 * About 400 flop a prism and station for V and g, 560 with T.
 */
#ifndef PS_KERNELS_COMMON_PRISM_FIELD_H
#define PS_KERNELS_COMMON_PRISM_FIELD_H

#include <stdint.h>

enum { PS_PRISM_NUMBERS = 10 /* V, gx gy gz, xx yy zz xy xz yz */ };

/* eps R^2 / (two shorter sides) that is let pass. */
#define PS_PRISM_LOSS 1e-9

typedef enum ps_prism_kind {
    PS_PRISM_GRAVITY, /* out[4]: V, g         */
    PS_PRISM_TENSOR,  /* out[10]: V, g, T     */
    PS_PRISM_MAGNETIC /* out[3]: sum T m      */
} ps_prism_kind;

static inline int ps_prism_kind_numbers(ps_prism_kind kind)
{
    return kind == PS_PRISM_GRAVITY ? 4 : kind == PS_PRISM_TENSOR ? 10 : 3;
}
static inline int ps_prism_kind_weights(ps_prism_kind kind)
{
    return kind == PS_PRISM_MAGNETIC ? 3 : 1;
}

/* All borrowed; low[d][i] < high[d][i], finite, lengths and distances within 1e-20 .. 1e20. */
typedef struct ps_prism_set {
    int64_t count;
    const double *low[3], *high[3]; /* [count] */
    const double *weight[3];        /* [count]: densities, or components of magnetisations */
} ps_prism_set;

struct ps_prism_field_functions {
    /* Adds the numbers of `kind` of prisms [first, end) at a station to out. */
    void (*add)(ps_prism_kind kind, const ps_prism_set *set, int64_t first, int64_t end,
                const double station[3], double *out);
    /* The transpose: to out[1 or 3][end - first] the sums over the numbers times data[numbers], by
     * the same arithmetic. Weights are not read. */
    void (*add_transposed)(ps_prism_kind kind, const ps_prism_set *set, int64_t first, int64_t end,
                           const double station[3], const double *data, double *const *out);
};

/* For this machine. */
const struct ps_prism_field_functions *ps_prism_field_functions_here(void);

#endif
