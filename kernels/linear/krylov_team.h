/*
 * krylov_team: the passes of krylov.h on CPU cores, for a matrix of rows or a matrix-free slab.
 *
 * Vectors are in fp64, or in fp32 (`narrow`), sums in fp64. A pass changes vectors and multiplies
 * by A in one sweep: with a stencil, plane by plane, so that a plane is still in cache when its
 * neighbours are multiplied. Sums are taken over fixed blocks (a plane; 512 rows of a matrix) and
 * added in their order: the bits do not depend on the number of threads.
 */
#ifndef PS_KERNELS_LINEAR_KRYLOV_TEAM_H
#define PS_KERNELS_LINEAR_KRYLOV_TEAM_H

#include "formats/csr.h"
#include "kernels/linear/krylov.h"
#include "kernels/linear/links.h"
#include "kernels/linear/stencil.h"

/* Planes of a box spread over ranks: the stencil's planes are the own ones and a halo plane for
 * each rank beside, where its face is free. Own planes are at least two. */
typedef struct ps_krylov_ranks {
    const ps_slab_links *links;
    int64_t first, all; /* number of the first own plane in the box; planes of the box */
    bool beside[2];
} ps_krylov_ranks;

/* What the caller brings: one of matrix and stencil. With a stencil, fixed rows of x are set to
 * those of b. */
typedef struct ps_krylov_system {
    const ps_csr *matrix;         /* with inverse_diagonal[rows] */
    const void *inverse_diagonal; /* NULL with a stencil         */
    const ps_slab_stencil *stencil;
    const void *b;                /* [rows] */
    void *x;                      /* [rows] */
    bool narrow;                  /* vectors are in fp32, b, x and the diagonal too, on one rank, */
    const float *narrow_values;   /* and these values of the matrix */
    const ps_krylov_ranks *ranks; /* with a stencil; NULL: one rank */
} ps_krylov_system;

typedef struct ps_krylov_cpu_team {
    ps_krylov_system system;
    ps_krylov_vectors vectors;
    int64_t rows, block, blocks;
    double *sums; /* [blocks of all ranks][3] */
} ps_krylov_cpu_team;

/* Doubles of workspace for a method on this system. */
int64_t ps_krylov_cpu_workspace(ps_krylov_method method, const ps_krylov_system *system);

/* Makes a team whose memory is `workspace`. PS_USAGE unless the system has either a matrix with its
 * diagonal or a stencil, in fp32 on one rank. */
ps_status ps_krylov_cpu_begin(ps_krylov_method method, const ps_krylov_system *system,
                              double *workspace, ps_krylov_cpu_team *out);
/* The vectors of a method in the workspace, one behind the other: x and these, at an end of an
 * iteration, are its state beside ps_krylov_state. Doubles. */
int64_t ps_krylov_cpu_state(ps_krylov_method method, const ps_krylov_system *system);

ps_krylov_team ps_krylov_cpu_team_of(ps_krylov_cpu_team *team); /* borrows */

/* Both, and ps_krylov_solve, on one rank. A right-hand side below 1e-140 everywhere, whose square
 * could be no number, counts as 0 and gives x = 0. Errors of all three. */
ps_status ps_krylov_cpu_solve(ps_krylov_method method, const ps_krylov_system *system,
                              double tolerance, int64_t limit, double *workspace,
                              ps_krylov_result *result);

/* inverse[rows]; PS_INVALID, naming the row, if a diagonal entry is missing, zero, not finite, or,
 * where the matrix is to be positive definite, negative. */
ps_status ps_csr_inverse_diagonal(const ps_csr *matrix, bool definite, double *inverse);

/* y = A x, threaded. */
void ps_csr_multiply(const ps_csr *matrix, const double *x, double *y);
void ps_stencil_multiply(const ps_slab_stencil *stencil, const double *x, double *y);
/* The same in fp32; values[nnz]: of the matrix. */
void ps_csr_multiply_narrow(const ps_csr *matrix, const float *values, const float *x, float *y);
void ps_stencil_multiply_narrow(const ps_slab_stencil *stencil, const float *x, float *y);
/* x = b on fixed rows. */
void ps_stencil_set_fixed(const ps_slab_stencil *stencil, const double *b, double *x);

/* P-CG with its vectors in fp32 for a stencil without free faces on one rank, b and x in fp64, as
 * ps_krylov_device_mixed (krylov_device.h) has it. `watch` may be NULL. workspace: doubles. */
typedef struct ps_krylov_cpu_control {
    double tolerance;
    int64_t limit;
    ps_status (*watch)(void *context, int64_t iteration, double residual);
    void *context;
} ps_krylov_cpu_control;
int64_t ps_krylov_cpu_mixed_workspace(const ps_slab_stencil *stencil);
ps_status ps_krylov_cpu_mixed(const ps_krylov_system *system, const ps_krylov_cpu_control *control,
                              double *workspace, ps_krylov_result *result);

/* Private: one table per instruction set and precision (krylov_team_body.h). */
struct ps_krylov_functions {
    void (*csr)(const ps_csr *matrix, const void *values, const void *x, void *y,
                const int64_t rows[2]);
    void (*plane)(const ps_slab_stencil *stencil, const void *x, void *y, int64_t plane);
    /* Before and after the product of a pass, on rows first .. end - 1; NULL: nothing. */
    void (*before[PS_KRYLOV_PASSES])(const ps_krylov_vectors *v, int64_t first, int64_t end,
                                     const double s[2], double sums[3]);
    void (*after[PS_KRYLOV_PASSES])(const ps_krylov_vectors *v, int64_t first, int64_t end,
                                    double sums[3]);
};

#endif
