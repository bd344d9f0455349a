/*
 * reference: nodal operators of the reference tetrahedron r, s, t >= -1, r + s + t <= -1.
 *
 * Lagrange polynomials of order p = 1..4 at equispaced nodes r = -1 + 2i/p, s = -1 + 2j/p,
 * t = -1 + 2k/p, i fastest, k slowest. In barycentric coordinates l = (l1, l2, l3, l4) the
 * polynomial of node (i, j, k), i1 = p - i - j - k, is the product of P_{i1}(p l1) P_i(p l2)
 * P_j(p l3) P_k(p l4) with P_n(z) = z (z-1) .. (z-n+1)/n!. Derivatives at nodes are therefore
 * ratios of small integers, and their zeros are exact: that sparsity is what equispaced nodes are
 * chosen for. Mass matrices by exact integrals of monomials.
 *
 * Faces: 0 is t = -1 (vertices 1 2 3), 1 is s = -1 (1 2 4), 2 is r + s + t = -1 (2 3 4), 3 is
 * r = -1 (1 3 4). Nodes of a face in the order of the volume's; where the vertices of elements
 * ascend by their global numbers, nodes m of both sides of a shared face are the same point.
 */
#ifndef PS_KERNELS_DGTD_REFERENCE_H
#define PS_KERNELS_DGTD_REFERENCE_H

#include <stdint.h>

enum { PS_DGTD_MAX_ORDER = 4, PS_DGTD_MAX_NODES = 35, PS_DGTD_MAX_FACE_NODES = 15 };

/* Matrices are row-major with `nodes` or `face_nodes` columns. */
typedef struct ps_dgtd_reference {
    int order, nodes, face_nodes; /* p; Np = (p+1)(p+2)(p+3)/6; Nf = (p+1)(p+2)/2             */
    int8_t index[PS_DGTD_MAX_NODES][4];      /* i1, i, j, k of each node              */
    int16_t face[4][PS_DGTD_MAX_FACE_NODES]; /* volume nodes of each face             */
    double derivative[3][PS_DGTD_MAX_NODES * PS_DGTD_MAX_NODES]; /* D_r, D_s, D_t             */
    double mass[PS_DGTD_MAX_NODES * PS_DGTD_MAX_NODES];          /* M^, of volume 4/3         */
    double face_mass[PS_DGTD_MAX_FACE_NODES * PS_DGTD_MAX_FACE_NODES]; /* M^f, of area 2      */
    /* LIFT_f = (M^)^-1 R_f^T M^f, [nodes][face_nodes] */
    double lift[4][PS_DGTD_MAX_NODES * PS_DGTD_MAX_FACE_NODES];
} ps_dgtd_reference;

/* Fills it for order 1..4 (the caller checks). 6e4 bytes; no allocation. */
void ps_dgtd_reference_init(ps_dgtd_reference *reference, int order);

/* Values of all polynomials at barycentric coordinates l: values[nodes]. */
void ps_dgtd_reference_values(const ps_dgtd_reference *reference, const double l[4],
                              double *values);

/* Barycentric coordinates of a node. */
void ps_dgtd_reference_node(const ps_dgtd_reference *reference, int node, double l[4]);

/* Gauss-Legendre on [0, 1]: points[n] and weights[n], by Newton's method. */
void ps_dgtd_gauss(int n, double *points, double *weights);

long double ps_dgtd_factorial(int n);

/* b[n] <- (l l')^-1 b, of the lower half l[n][n] of a Cholesky factor. */
void ps_dgtd_solve_lower(int64_t n, const double *l, double *b);

/* Local vertices 0..3 of each face, ascending. */
extern const int8_t ps_dgtd_face_vertices[4][3];

#endif
