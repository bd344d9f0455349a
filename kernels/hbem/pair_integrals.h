/*
 * pair_integrals: kernel functions on points of triangles, summed by quadrature, several triangles
 * or pairs at once in the lanes of vector registers. g = e^{ikr}/(4 pi r), r = x - y:
 *
 * k may have an imaginary part, the absorption, Np/m.
 *
 *     SLP g        DLP d_ny g = g (1-ikr) (r.n_y)/r^2        ADLP d_nx g = -g (1-ikr) (r.n_x)/r^2
 *     HYPS -d_nx d_ny g = (g''-g'/r) (r.n_x)(r.n_y)/r^2 + (g'/r) n_x.n_y
 *
 * Numbers of Helmholtz have two parts, kept apart: [part][..]; those of Laplace one.
 *
 * Full accuracy of the precision: reciprocal roots by Newton steps, sine and cosine by two-term
 * reduction and polynomials (fp64 up to kr = 1e5; in fp32 the phase errs by 1e-7 kr).
 */
#ifndef PS_KERNELS_HBEM_PAIR_INTEGRALS_H
#define PS_KERNELS_HBEM_PAIR_INTEGRALS_H

#include <stdint.h>

#include "formats/hbem_kinds.h"
#include "kernels/hbem/rules.h"
#include "kernels/hbem/surface.h"
#include "runtime/isa.h"

/* Lanes: triangles or pairs at once. One fill of a 64-byte register. */
enum { PS_HBEM_LANES_F32 = 16, PS_HBEM_LANES_F64 = 8, PS_HBEM_PANEL_ROWS = 12 };

/* A fixed point x of the test side: position, normal of its triangle, coefficient (weights, hats
 * and J summed up, 1/(4 pi) included). */
typedef struct ps_hbem_source_f32 {
    float x[3], normal[3], coefficient;
} ps_hbem_source_f32;
typedef struct ps_hbem_source_f64 {
    double x[3], normal[3], coefficient;
} ps_hbem_source_f64;

/* Sources are listed triangle by triangle, `together` of each (0: 1).
 * sums[block][part][3][lanes] = sum_p c_p sum_q w_q phi_m(y_q) K(x_p, y_q), without the lanes' J.
 * Sources are of the table's precision, panel[blocks][12][lanes]: corners [3][3] and normal [3] of
 * the lanes' triangles, relative to the same origin as x. */
typedef struct ps_hbem_row_job {
    const void *sources;
    int64_t source_count;
    int together;
    const void *panel;
    int64_t blocks;
    const ps_hbem_rule *rule;
    double wavenumber, absorption; /* rad/m, Np/m */
    void *sums;
} ps_hbem_row_job;

/* Pairs in lanes, fp64. x, y [12][8]: corners and normals. moments[part][3][3][8] overwritten with
 * int int phi_l phi_m K / (J_x J_y), 1/(4 pi) included. `rule` for disjoint pairs, or `joint`
 * points, for which the first corners of both triangles are one. */
typedef struct ps_hbem_pair_job {
    const double *x, *y;
    const ps_hbem_rule *rule;
    const ps_hbem_joint_point *joint;
    int joint_count;
    double wavenumber, absorption;
    double *moments;
} ps_hbem_pair_job;

/* A hard pair, fp64: moments[part][3][3] overwritten with int int phi_l phi_m K, J and 1/(4 pi)
 * included. x and y may be one. */
typedef struct ps_hbem_hard_job {
    const ps_hbem_triangle *x, *y;
    const ps_hbem_cell_rule *rule;
    double wavenumber, absorption;
    double *moments;
} ps_hbem_hard_job;

enum { PS_HBEM_MODES = 3 };

typedef void (*ps_hbem_row_function)(const ps_hbem_row_job *job);
typedef void (*ps_hbem_pair_function)(const ps_hbem_pair_job *job);
typedef void (*ps_hbem_hard_function)(const ps_hbem_hard_job *job);

/* [.. ][kernel][0 Laplace, 1 Helmholtz, 2 Helmholtz with absorption]; pairs: [0 all moments, 1 their sum alone, as moment 0 of
 * each part, the others 0]. HYPS has no entries for pairs: near entries take the weak form.
 * */
struct ps_hbem_pair_functions {
    ps_hbem_row_function row[PS_PRECISION_COUNT][PS_HBEM_KERNELS][PS_HBEM_MODES];
    ps_hbem_pair_function regular[2][PS_HBEM_KERNELS][PS_HBEM_MODES];
    ps_hbem_pair_function joint[2][PS_HBEM_KERNELS][PS_HBEM_MODES];
    ps_hbem_hard_function hard[PS_HBEM_KERNELS];
};

/* The table of this machine. */
const struct ps_hbem_pair_functions *ps_hbem_pair_functions_here(void);

#endif
