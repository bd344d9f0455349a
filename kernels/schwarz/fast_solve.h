/*
 * fast_solve: direct solution on slabs by fast diagonalisation (R. Lynch, J. Rice, D. Thomas,
 * Numer. Math. 6 (1964) 185-199).
 *
 * Along y and z, sine products s_j s_k are exact eigenvectors of stiffness, mass and hence of the
 * face operators: S_jl = sqrt(2/e) sin(pi j l / e), e = n - 1, has S S = 1, mass eigenvalues
 * M(0) + 2 cos t M(1) (grid.h), stiffness (2 - 2 cos t) / h, t = pi j / e. Each pair (j, k) leaves
 * a tridiagonal system along x,
 *
 *     (Kx + mu Mx + (p + q mu) on free faces) w = v / (m_j m_k),   mu = k_j / m_j + k_k / m_k.
 *
 * The transforms are products with the dense matrices S: 4 n (ny + nz) flops in all, and no
 * library; at 10^6..10^7 nodes that is the time of a few sweeps over memory. fp64, exact to
 * rounding: |A x - b| is about 1e-11 |b| at 2 10^7 nodes.
 */
#ifndef PS_KERNELS_SCHWARZ_FAST_SOLVE_H
#define PS_KERNELS_SCHWARZ_FAST_SOLVE_H

#include "kernels/schwarz/grid.h"

typedef struct ps_fast_solver {
    ps_slab slab;
    int64_t my, mz;       /* modes along y and z: nodes - 2                                */
    int64_t stride;       /* of z: mz rounded up; padded modes are 0                       */
    double *sine_y;       /* [my][my]                                                      */
    double *sine_z;       /* [mz][stride]                                                  */
    double *mu, *inverse; /* [my][stride]: mu of a mode, 1 / (m_j m_k)                     */
} ps_fast_solver;

/* PS_INVALID if the slab's p or q make its system singular or indefinite: negative ones; PS_USAGE
 * if it has no open plane. */
ps_status ps_slab_check(const ps_slab *slab);

/* Doubles for the tables of a solver; makes it in `memory`, 64-byte aligned, which must outlive it.
 * Errors of ps_slab_check. */
int64_t ps_fast_solver_size(const ps_slab *slab);
ps_status ps_fast_solver_make(const ps_slab *slab, double *memory, ps_fast_solver *out);

/* Doubles of workspace for ps_fast_solve by this many threads; 64-byte aligned. */
int64_t ps_fast_workspace(const ps_slab *slab, int threads);

/* x = A^-1 b, both [nodes], may be the same. Fixed rows: x = b. Threads: as many as the workspace
 * was sized for; the bits do not depend on them. */
void ps_fast_solve(const ps_fast_solver *solver, const double *b, double *x, double *workspace,
                   int threads);

/* One plane between nodes and modes, either way: modes[my][stride] from nodes[ny nz], and nodes
 * (fixed ones untouched) from modes. scratch: my x stride. */
void ps_fast_to_modes(const ps_fast_solver *solver, const double *nodes, double *modes,
                      double *scratch);
void ps_fast_to_nodes(const ps_fast_solver *solver, const double *modes, double *nodes,
                      double *scratch);

/* The tridiagonal systems of modes first .. end - 1. planes[open planes][my stride] holds v and
 * gets w; factor: open planes x (end - first). */
void ps_fast_solve_modes(const ps_fast_solver *solver, int64_t first, int64_t end, double *planes,
                         double *factor);
int64_t ps_slab_open_planes(const ps_slab *slab);

/* Private: one table per instruction set. c[m][n] = a[m][k] b[k][n] with strides in doubles, n
 * columns stored; b has its columns padded to a multiple of PS_FAST_COLUMNS. */
enum { PS_FAST_COLUMNS = 24 };
typedef struct ps_small_product {
    int64_t m, n, k;
    const double *a, *b;
    double *c;
    int64_t a_stride, b_stride, c_stride;
} ps_small_product;
struct ps_fast_functions {
    void (*product)(const ps_small_product *p);
    void (*modes)(const ps_fast_solver *s, int64_t first, int64_t end, double *planes,
                  double *factor);
};

#endif
