/*
 * assembly: the leaves of an H-matrix, dense or by ACA, with an error estimate each
 * (specs/hbem.md).
 *
 * A leaf that is not admissible is dense, by the near-field form; an admissible one goes by ACA
 * with checked rows and recompression, and is dense where factors would be larger. Leaves are
 * computed by threads, each with a workspace of its own, and handed to a callback as they are done;
 * a leaf's bits do not depend on the number of threads.
 */
#ifndef PS_KERNELS_HBEM_ASSEMBLY_H
#define PS_KERNELS_HBEM_ASSEMBLY_H

#include <stdint.h>

#include "formats/hmatrix_blocks.h"
#include "kernels/hbem/aca.h"
#include "kernels/hbem/entries.h"

/* Whoever computes rows and columns of far blocks in the place of ps_hbem_far_row and
 * ps_hbem_far_column; called by several threads, each from its number within ps_hbem_assemble. */
typedef struct ps_hbem_row_source {
    ps_status (*get)(void *context, const ps_hbem_far *far, bool column, int64_t index,
                     double *values);
    void *context;
} ps_hbem_row_source;

typedef struct ps_hbem_assembly {
    const ps_hbem_operator *op;
    const ps_hmatrix_leaf *leaves; /* [leaf_count], borrowed */
    int64_t leaf_count;
    double tolerance; /* eps of recompression                                          */
    double crosses;   /* of ACA and its checks, ps_hbem_cross_tolerance; 0: eps          */
    int check_rows;   /* 8 and more; 0 only in tests                                   */
    int64_t max_rank; /* more is an error: PS_EXHAUSTED                                */
    bool recompress;
    bool skeleton; /* crosses through points (skeleton.h), of entries where those do not converge */
    const ps_hbem_row_source *rows; /* NULL: entries.h; for crosses of entries            */
    const int32_t *plane, *stratum; /* [triangles], [test functions] as strata.h says; or NULL */
} ps_hbem_assembly;

/* How far crosses of an operator go for a tolerance eps. A block is accepted by the sum of its
 * squares, of which one row may have more than its share: of a double layer, whose rows or columns
 * have known sums, they go to a tenth of eps, or what far_precision bears. */
double ps_hbem_cross_tolerance(const ps_hbem_operator *op, double tolerance);

/* The rank that a leaf is expected to have: 1 + d (1 + k spread/6), d = -log10 of the tolerance,
 * spread as ps_cluster_spread has it, m (specs/hbem.md). */
double ps_hbem_expected_rank(double tolerance, double wavenumber, double spread);

/* The spread above which a higher rank than `rank` is expected, m: > 0. */
double ps_hbem_spread_of_rank(double tolerance, double wavenumber, double rank);

/* Numbers that a leaf is expected to take, for plans: exact where it is near; else by the expected
 * rank. The same on every machine. */
int64_t ps_hbem_expected_numbers(const ps_hmatrix_leaf *leaf, double tolerance, double wavenumber,
                                 double spread);

/* Bytes of workspace that suffice for a leaf that converges within so many crosses. What lies
 * beyond the crosses that are taken is not written to. */
int64_t ps_hbem_leaf_bytes(const ps_hbem_assembly *assembly, int64_t leaf, int64_t crosses);

/* Bytes of workspace of one thread that suffice for every leaf. */
int64_t ps_hbem_assembly_bytes(const ps_hbem_assembly *assembly);

/* Bytes of a table of close pairs for all threads, which near blocks are faster with; 0: of P0,
 * where no pair is in two blocks. */
int64_t ps_hbem_pairs_bytes(const ps_hbem_assembly *assembly);

/* That table, in the caller's memory. */
void ps_hbem_pairs_init(const ps_hbem_assembly *assembly, void *memory, ps_hbem_pair_table *table);

/* Computes one leaf; block->values (fp64) are in the workspace, laid out as hmatrix_blocks says,
 * until it is used again. PS_EXHAUSTED where the rank limit is reached or the workspace is too
 * small. */
ps_status ps_hbem_assemble_leaf(const ps_hbem_assembly *assembly, int64_t leaf,
                                ps_hbem_workspace *workspace, ps_hmatrix_block *block);

/* What takes finished leaves, from several threads at once. */
typedef ps_status (*ps_hbem_store)(void *context, int64_t leaf, const ps_hmatrix_block *block);

/* Computes all leaves with `threads` threads; workspaces[threads]. The first failure ends it.
 * Sets OpenBLAS, where that is the LAPACK, to one thread. */
ps_status ps_hbem_assemble(const ps_hbem_assembly *assembly, int threads,
                           const ps_hbem_workspace *workspaces, ps_hbem_store store, void *context);

#endif
