/*
 * matrix_problem: all that is set up before an H-matrix is assembled: a *scene* (clusters, surface,
 * spaces, rules), which several operators share, and an operator on it with its leaves.
 */
#ifndef PS_HBEM_ASSEMBLY_MATRIX_PROBLEM_H
#define PS_HBEM_ASSEMBLY_MATRIX_PROBLEM_H

#include "formats/hmatrix.h"
#include "formats/reflectors.h"
#include "kernels/hbem/assembly.h"
#include "kernels/hbem/setup.h"
#include "runtime/program.h"

/* How matrices are assembled, whatever the operator; the fields are those of command lines. */
typedef struct ps_hbem_matrix_options {
    int precision;           /* 0: fp64, 1: fp32                                         */
    double tolerance, rules; /* of crosses; of quadrature, 0: as tolerance                   */
    int64_t check_rows, max_rank, chunk_bytes;
    int64_t cut_rank; /* far blocks of waves are cut where a higher rank is expected; 0: none is */
    bool recompress, skeleton, force_coarse;
} ps_hbem_matrix_options;

#define PS_HBEM_MATRIX_DEFAULTS                                                                    \
    {                                                                                              \
        .tolerance = 1e-4, .check_rows = 8, .max_rank = 1000, .chunk_bytes = 64 << 20,             \
        .cut_rank = 40, .recompress = true                                                         \
    }

/* ---- the scene ---- */

/* Stays where it is. */
typedef struct ps_hbem_scene {
    ps_clusters clusters;
    ps_hbem_setup setup;
    ps_hbem_quadrature quadrature;
    double rules; /* tolerance of the quadrature */
    ps_hbem_joint_point *points;
    void *memory;
    int64_t bytes;         /* held */
    ps_reflectors mirrors; /* planes, if any                          */
    int image;             /* the trial functions are of; 0: the body */
} ps_hbem_scene;

/* Reads the clusters, makes surface, spaces and rules. Zeroed on failure. */
ps_status ps_hbem_scene_init(ps_hbem_scene *scene, const char *path,
                             const ps_hbem_matrix_options *options);
/* The same for other spaces (by ps_cluster_side) on the surface of `base`, which is copied. */
ps_status ps_hbem_scene_derive(ps_hbem_scene *scene, const ps_hbem_scene *base,
                               const ps_hbem_space_kind space[2],
                               const ps_hbem_matrix_options *options);
/* The functions of `base` against those of its image (cluster_making.h). */
ps_status ps_hbem_scene_mirror(ps_hbem_scene *scene, const ps_hbem_scene *base,
                               const ps_reflectors *mirrors, int copy,
                               const ps_hbem_matrix_options *options);
/* Of the clusters of a file: those of the functions against image `image` of the body in the
 * planes; 0, which may have none: against their own. PS_INVALID where the body neither lies off the
 * planes nor stands on them (standing.h). */
ps_status ps_hbem_scene_beside(ps_hbem_scene *scene, const char *path, const ps_reflectors *mirrors,
                               int image, const ps_hbem_matrix_options *options);
void ps_hbem_scene_release(ps_hbem_scene *scene);

/* ---- an operator ---- */

/* "0.2dB/m" or "0.02Np/m" of --absorption, in Np/m; 1 Np is 20 log10(e) dB. */
ps_status ps_hbem_parse_absorption(const char *text, double *out);

typedef struct ps_hbem_operator_choice {
    ps_hbem_kernel kernel;
    double wavenumber; /* rad/m; 0: Laplace                                            */
    double absorption; /* the imaginary part of k, Np/m                                */
    bool dense;        /* all entries                                                  */
    bool weak;         /* HYPS: far blocks by the weak form                            */
} ps_hbem_operator_choice;

/* Stays where it is; borrows the scene. */
typedef struct ps_hbem_problem {
    const ps_hbem_scene *scene;
    ps_hbem_operator op;
    ps_hmatrix_leaf *leaves;
    ps_hmatrix_tables tables; /* chunks are a plan's */
    ps_hbem_assembly assembly;
    ps_hmatrix shape; /* leaves borrowed, no blocks */
    int64_t bytes;    /* held, those of the scene not counted */
} ps_hbem_problem;

/* Operator and header; leaves are yet to come. PS_INVALID or PS_USAGE where operator, spaces,
 * surface and wavenumber do not go together. */
ps_status ps_hbem_problem_init(ps_hbem_problem *problem, const ps_hbem_scene *scene,
                               const ps_hbem_operator_choice *choice,
                               const ps_hbem_matrix_options *options);
/* Leaves, and with them assembly and shape. */
ps_status ps_hbem_problem_leaves(ps_hbem_problem *problem, const ps_hbem_matrix_options *options);
/* Compares entries of the pairs of triangles that the rules take worst, puts the error into the
 * header, and refuses one above 10 eps (--allow entries): before anything is assembled. Local, and
 * the same on all ranks. */
ps_status ps_hbem_problem_check_entries(ps_hbem_problem *problem, const ps_run *run);
/* Of a program that does so. */
#define PS_HBEM_ALLOW_ENTRIES                                                                      \
    {                                                                                              \
        "entries", "integrals that the rules get wrong on the worst triangles, above 10 eps"       \
    }
void ps_hbem_problem_release(ps_hbem_problem *problem);

#endif
