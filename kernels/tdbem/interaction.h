/*
 * interaction: the matrices M^k of the retarded potentials, tile by tile (numerics guide 2.1-2.6;
 * specs/tdbem_assembly.md).
 *
 *   sound-soft (P0 x P0):  S_l(i,j) = int_Ti int_Tj [shell l] 1/(4 pi r)              (m^3)
 *       S-form M^k = S_k, M-form M^k = S_k - S_{k-1}
 *   sound-hard (P1 x hat): with W_l = int int [shell l] n_x.n_y phi_i phi_j / (4 pi r),
 *       B the quadratic B-spline,                                                     (m s)
 *       M^k = (W_k - 2 W_{k-1} + W_{k-2})/(c^2 dt)
 *           + dt int int curl phi_i . curl phi_j B(r/D - (k-2)) / (4 pi r)
 *   combined field equation (Burton-Miller in time; Ergin, Shanker, Michielssen, JASA 106, 1999),
 *       (alpha/c) d_t (1/2 - K) u - H u = (alpha/c) d_t u_inc + d_n u_inc: with I the mass matrix
 * and Q_l(i,j) = int int [shell l] phi_i(x) phi_j(y) (x-y).n_y / (4 pi r^3),               (m^2)
 *       M^k += alpha/c { I/2 (d_k0 - d_k1) - [(k+1) Q_k - (2k-1) Q_{k-1} + (k-2) Q_{k-2}] },
 *       which are not symmetric: Q has its outer points on the triangle of x alone.
 *   a lining (specs/tdbem_lining.md) of some triangles, I_T the mass matrix of these: what the
 * slope of u there, times beta/c, adds; j and outer points on lined triangles alone,        (m s)
 *       G^k = 1/c { I_T/2 (d_k0 - d_k1) + (k+1) Q_k - (2k-1) Q_{k-1} + (k-2) Q_{k-2} }^T
 *           + alpha/(c^2 dt) [S_k - 2 S_{k-1} + S_{k-2}],  S_l = int int [shell l] phi_i phi_j/(4
 * pi r)
 *
 * Outer integral by a symmetric rule on each triangle (on sub-triangles where edges exceed 10 D or
 * the surface comes close to itself, cut.h), inner integral exact; both orders are averaged. A pair
 * of triangles is always computed in the same way, whatever tile it is in, and sums run in one
 * order, so M^k(i,j) and M^k(j,i) have the same bits. Row-vectors are trimmed at both ends where
 * |M| < 1e-12 of the pair's largest. Of the combined equation the same holds for each entry, but
 * (i,j) and (j,i) differ.
 *
 * With planes that mirror (formats/reflectors.h) M^k(i,j) is the sum over the images of triangle
 * j: sign times the integrals above, with the image's own normal and curls. Reflections keep
 * distances, so the sum is as symmetric; row-vectors cover the lags of all images.
 *
 * No allocation: the caller brings the workspace. One tile a thread; tiles are independent.
 */
#ifndef PS_KERNELS_TDBEM_INTERACTION_H
#define PS_KERNELS_TDBEM_INTERACTION_H

#include "formats/reflectors.h"
#include "formats/slice_matrix.h"
#include "kernels/tdbem/geometry.h"
#include "kernels/tdbem/quadrature.h"
#include "kernels/tdbem/shell_integral.h"

/* The problem; all arrays are borrowed and read only. */
typedef struct ps_interaction {
    ps_formulation formulation;
    double combined;      /* sound-hard: alpha of the combined field equation; 0: none */
    const uint8_t *lined; /* [triangle_count] 1: lined; the matrices are G^k; NULL: M^k         */
    double shell;         /* D = c dt, m */
    double speed;         /* c, m/s      */
    int64_t unknowns, triangle_count;
    const ps_triangle *triangles; /* [images][triangle_count]: image m is made of the mirrored
                                     vertices in the same order (ps_triangles_init)          */
    ps_triangle_rule rule;        /* outer rule                                              */
    const double *reach;          /* [unknowns] radius of the bounding sphere of the support:
                                     about the centroid, or (sound-hard) about the vertex    */
    const double *spread;         /* [unknowns] lags of i and j lie within 2 (spread_i + spread_j):
                                     the reach, where nothing mirrors                        */
    double reach_max, triangle_reach_max; /* largest of them, and of the triangles' own, m   */
    double spread_max;
    int parts_max; /* largest number of parts an edge is cut into             */
    ps_reflectors mirrors;
    /* sound-hard only: */
    const double (*vertices)[3]; /* [unknowns]                                              */
    const int32_t (*corners)[3]; /* [triangle_count] unknown of each corner                 */
    const int64_t *around_start; /* [unknowns + 1]                                          */
    const int32_t *around;       /* [around_start[unknowns]] triangles at each unknown      */
    const uint8_t *fixed;        /* [unknowns] 1: on the rim of an open surface, where phi = 0:
                                    has no entries; may be NULL                             */
} ps_interaction;

/* A tile: row-vectors as in ps_slice_tile, k >= 1, fp64; and its k = 0 entries. The arrays are
 * the caller's. */
typedef struct ps_interaction_tile {
    int64_t first_row, rows, first_slice, slices;
    uint16_t *starts, *lengths; /* [slices * rows]: slice by slice, rows ascending         */
    double *values;             /* [value_capacity]                                        */
    float *singles;             /* [value_capacity] in place of values: in tiles that a device
                                   computed in single precision (interaction_device.h)     */
    int64_t value_capacity, value_count;
    int32_t *near_rows, *near_columns; /* [slices * rows] capacity; global numbers, any order */
    double *near_values;               /* [slices * rows]                                    */
    int64_t near_count;
    int64_t k_max; /* last k with an entry                                    */
    int64_t pairs; /* pairs of triangles evaluated (unordered)                */
} ps_interaction_tile;

/* ---- setting up ---- */

/* Fills `reach` [unknowns] and the maxima from the triangles (and, sound-hard, the vertices).
 * Everything else must be set. */
void ps_interaction_set_reach(ps_interaction *interaction, double *reach);

/* Fills `spread` [unknowns] where planes mirror: an image is farther away than what it mirrors by
 * no more than twice the distances of both from the plane. After ps_interaction_set_reach. */
void ps_interaction_set_spread(ps_interaction *interaction, double *spread);

/* Number of parts an edge of the triangle is cut into for the outer rule: its `cut` (cut.h), times,
 * where the longest edge exceeds 10 D, as many as make its parts at most 8 D. */
int ps_interaction_parts(const ps_interaction *interaction, int64_t triangle);

/* Upper bound of K, the last k with an entry, from the extent of the surface. */
int64_t ps_interaction_k_bound(const ps_interaction *interaction);

/* The k that unknowns i and j can have, from their bounding spheres: their number, and the
 * first of them. */
int64_t ps_interval_bound(const ps_interaction *interaction, int64_t i, int64_t j, int64_t *first);

/* Upper bound of the number of values (k >= 0) of a tile, from the bounding spheres. */
int64_t ps_interaction_value_bound(const ps_interaction *interaction, int64_t first_row,
                                   int64_t rows, int64_t first_slice, int64_t slices);

/* Bytes of workspace for this tile. */
int64_t ps_interaction_workspace(const ps_interaction *interaction, int64_t first_row, int64_t rows,
                                 int64_t first_slice, int64_t slices);

/* Bounds of both, the values and the workspace, for every square of `side` unknowns: all are sums
 * of a part of the rows and a part of the slices, so among whole squares one on the diagonal has
 * the largest; the last tile has fewer rows, and multiplies the wider supports of its own unknowns
 * by the rows of the others. */
void ps_interaction_square_bounds(const ps_interaction *interaction, int64_t side, int64_t *values,
                                  int64_t *workspace);

/* ---- computing ---- */

/* Computes the tile whose ranges are set. Reentrant. PS_FAILED if a capacity is too small
 * (never with capacities from the bounds above), PS_EXHAUSTED if the workspace is. */
ps_status ps_interaction_compute(const ps_interaction *interaction, ps_interaction_tile *tile,
                                 void *workspace, int64_t workspace_bytes);

/* The same, and `mirror`, the tile of exchanged ranges (set; they do not meet), whose entries are
 * not those of the tile: of the combined field equation, both from the same integrals. NULL: the
 * tile alone. */
ps_status ps_interaction_compute_both(const ps_interaction *interaction, ps_interaction_tile *tile,
                                      ps_interaction_tile *mirror, void *workspace,
                                      int64_t workspace_bytes);

/* Sets `out` (its ranges set, capacities as for computing it) to the transpose of a tile: rows and
 * slices change places. Equals, bit for bit, what computing it would give (symmetric matrices), but
 * for the order of the k = 0 entries. offsets[tile->slices]: scratch. */
ps_status ps_interaction_transpose(const ps_interaction_tile *tile, int64_t *offsets,
                                   ps_interaction_tile *out);

#endif
