/*
 * matrix: an H-matrix, in files or assembled in memory, multiplied within a memory budget, on cores
 * or on a device; each rank takes a run of leaves.
 */
#ifndef PS_HBEM_SOLVE_MATRIX_H
#define PS_HBEM_SOLVE_MATRIX_H

#include "compute/hbem_solve/core_matrix.h"
#include "compute/hbem_solve/device_matrix.h"
#include "kernels/hbem/product.h"

typedef struct matrix {
    ps_hmatrix_file *file;           /* or                                             */
    core_matrix *core;               /* of the two one is NULL                         */
    const char *name;                /* of the file, or what says which it is          */
    const ps_hmatrix_header *header; /* borrowed from file or core, as all that follow */
    const ps_cluster_tree *tree[2];  /* by ps_cluster_side                             */
    const ps_hmatrix *shape;         /* of the whole; in memory once it is assembled   */
    const ps_hmatrix_chunks *cuts;   /* likewise                                       */
    int64_t first_leaf, end_leaf;    /* of this rank                                   */
    int64_t first_chunk, chunks;     /* that hold them                                 */
    int64_t bytes;                   /* of these chunks, unpacked; in memory: expected */
    device_matrix *device;           /* NULL: products on cores, by what follows           */
    ps_chunk_stream *stream;
    ps_product_plan *plans; /* [chunks]                                                */
    int64_t *indices;       /* of the plans                                            */
    ps_hmatrix_block *blocks;
    double *scratch;
    int64_t scratch_size; /* doubles a side */
    int slot;             /* what it is for: solve.h             */
    double group;         /* the wave number outside that it is of, rad/m */
    int64_t sides;        /* of the product under way */
    const double *x;
    double *y;
} matrix;

/* Opens the file and chooses this rank's leaves. */
ps_status matrix_open(const char *path, matrix *out);
/* One to be assembled, checked and planned; borrows all. */
ps_status matrix_open_core(core_scene *clusters, const ps_hbem_operator_choice *choice,
                           const ps_hbem_matrix_options *options, matrix *out);
void matrix_close(matrix *m);
/* Adds what each of so many ranks has of it to work[ranks]: values, or chunks to be assembled. */
void matrix_shares(const matrix *m, int ranks, double *work);

/* Assembles this rank's leaves of one that is not in files (core_matrix.h). */
ps_status matrix_assemble(matrix *m, const core_means *means);

/* Decides that products of up to `sides` are computed on a device, which stays borrowed; on ranks
 * without leaves nothing is. */
ps_status matrix_use_device(matrix *m, ps_device *device, int64_t sides);

/* Bytes of plans, and of scratch for `sides` right-hand sides; the stream's budget comes on top. */
int64_t matrix_fixed_bytes(const matrix *m, int64_t sides);
/* What streaming one of a file takes within so much memory (PS_EXHAUSTED: too little), and at
 * least. */
ps_status matrix_stream_bytes(const matrix *m, int64_t host_memory, int64_t *bytes);
int64_t matrix_least_bytes(const matrix *m);

/* Makes the plans, and opens the stream within these budgets for products of up to `sides`. */
ps_status matrix_prepare(matrix *m, int64_t sides, int64_t host_memory, int64_t device_memory);

/* Frees what the two above made, and what was assembled. */
void matrix_close_products(matrix *m);

/* A product y[sides][parts][rows] = A x[sides][parts][columns] of this rank's leaves; local. A
 * device may be at it between the two calls; x stays as it is till the second one. */
ps_status matrix_start_product(matrix *m, int64_t sides, const double *x);
ps_status matrix_finish_product(matrix *m, double *y);

#endif
