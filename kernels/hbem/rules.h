/*
 * rules: quadrature on triangles and on pairs of triangles (numerics guide 2; Erichsen and Sauter
 * 1998, Sauter and Schwab, Boundary Element Methods, 5.2).
 *
 * Points are hats (barycentric), weights are for the reference triangle of area 1/2: an integral
 * over a triangle is J sum_q w_q f(x_q), over a pair J_t J_u sum_q w_q f(x_q, y_q).
 */
#ifndef PS_KERNELS_HBEM_RULES_H
#define PS_KERNELS_HBEM_RULES_H

#include "runtime/status.h"

enum { PS_HBEM_POINTS_MAX = 64, PS_HBEM_GAUSS_MAX = 24, PS_HBEM_RULES = 5 };

typedef struct ps_hbem_rule {
    int count;
    double hat[PS_HBEM_POINTS_MAX][3];
    double weight[PS_HBEM_POINTS_MAX]; /* sum 1/2 */
} ps_hbem_rule;

/* Gauss-Legendre on [0, 1], 1 <= n <= PS_HBEM_GAUSS_MAX; weights sum to 1. */
void ps_hbem_gauss(int n, double *node, double *weight);

/* The 6-point rule of degree 4 (Dunavant 1985), the one of Vater, Betcke, Dilba. */
void ps_hbem_rule_six(ps_hbem_rule *rule);

/* Collapsed Gauss n x n, degree 2n - 2: points (u, v(1-u)), weights w_u w_v (1-u). 1 <= n <= 8. */
void ps_hbem_rule_collapsed(int n, ps_hbem_rule *rule);

/* How two triangles touch; the value is the number of shared vertices for touching pairs. */
typedef enum ps_hbem_contact {
    PS_PAIR_APART,
    PS_PAIR_VERTEX,
    PS_PAIR_EDGE,
    PS_PAIR_IDENTICAL,
    PS_PAIR_CONTACTS
} ps_hbem_contact;

/* A point of a rule for pairs: hats of x and of y, weight. Shared vertices are the first ones of
 * both triangles, in the same order. */
typedef struct ps_hbem_joint_point {
    double x[3], y[3], weight;
} ps_hbem_joint_point;

/* Points of the rule with n per direction: 6, 5, 2 times n^4 (identical, edge, vertex). */
int ps_hbem_joint_count(ps_hbem_contact contact, int n);

/* Fills points[ps_hbem_joint_count]; weights sum to 1/4. contact is not PS_PAIR_APART. */
void ps_hbem_joint_rule(ps_hbem_contact contact, int n, ps_hbem_joint_point *points);

/* A rule on a triangle by numbers of one kind, padded to whole vectors with points of weight 0. */
enum { PS_HBEM_CELL_SIDE = 8, PS_HBEM_CELL_POINTS = 64, PS_HBEM_CELL_PAD = 8 };
typedef struct ps_hbem_smooth_rule {
    int count, padded;
    double hat[3][PS_HBEM_CELL_POINTS] __attribute__((aligned(64)));
    double weight[PS_HBEM_CELL_POINTS] __attribute__((aligned(64)));
} ps_hbem_smooth_rule;

/* What pairs take that the other rules get wrong (specs/hbem.md, "Hard pairs"): Gauss n x n on [0,
 * 1]^2, u fastest, and along a line; line times (2 k + 1) P_k for the last two degrees k = n - 1, n
 * - 2; two rules without a common point for what is smooth. */
typedef struct ps_hbem_cell_rule {
    double tolerance;
    int n, padded;
    double line[PS_HBEM_CELL_SIDE], tail[2][PS_HBEM_CELL_SIDE];
    double u[PS_HBEM_CELL_POINTS] __attribute__((aligned(64)));
    double z[PS_HBEM_CELL_POINTS] __attribute__((aligned(64)));
    double weight[PS_HBEM_CELL_POINTS] __attribute__((aligned(64)));
    ps_hbem_smooth_rule smooth[2];
} ps_hbem_cell_rule;

/* The rules for a tolerance: regular ones from cheap to dear, and from which distance (over the
 * larger diameter) each is good enough; what is nearer than the last is quartered. */
typedef struct ps_hbem_quadrature {
    ps_hbem_rule rule[PS_HBEM_RULES];
    double distance[PS_HBEM_RULES];
    int rules;
    int singular; /* n of the singular rules */
    ps_hbem_joint_point *joint[PS_PAIR_CONTACTS];
    int joint_count[PS_PAIR_CONTACTS];
    ps_hbem_cell_rule cells; /* cells.n == 0: no pair is hard */
} ps_hbem_quadrature;

/* Points in all singular rules of a tolerance: how many ps_hbem_quadrature_init needs. */
int ps_hbem_quadrature_points(double tolerance);

/* Rules whose errors, as measured (guide 2), are below the relative tolerance; joint points are put
 * into the caller's points[ps_hbem_quadrature_points(tolerance)]. */
void ps_hbem_quadrature_init(ps_hbem_quadrature *quadrature, double tolerance,
                             ps_hbem_joint_point *points);

/* The paper's rules: 6 points for every regular pair, n per direction for the singular ones;
 * points[13 n^4]. */
void ps_hbem_quadrature_fixed(ps_hbem_quadrature *quadrature, int n, ps_hbem_joint_point *points);

#endif
