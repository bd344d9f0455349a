/*
 * Who computes leaves: the cores, or a CUDA device. A backend is given runs of consecutive leaves
 * (the chunks of the file, tens of thousands of leaves each) and hands every finished leaf to
 * `store`, in any order. The bits of a leaf do not depend on the run that it came with.
 */
#ifndef PS_PREPROCESS_HMATRIX_BACKEND_H
#define PS_PREPROCESS_HMATRIX_BACKEND_H

#include "kernels/hbem/assembly.h"
#include "kernels/hbem/cluster_tree.h"

typedef struct leaf_backend leaf_backend;
struct leaf_backend {
    const char *name; /* "cpu", "cuda:0" */

    /* Computes leaves [first, end) of assembly->leaves and hands each to store(context, leaf,
     * block), leaf counted in assembly->leaves, block->values fp64, valid during the call; from one
     * thread or from several. Ends with the first failure (its message this thread's). Where the
     * backend cannot do a leaf itself (rank or memory beyond its own bounds, a precision it has
     * not) it uses ps_hbem_assemble_leaf. */
    ps_status (*assemble)(leaf_backend *backend, int64_t first, int64_t end, ps_hbem_store store,
                          void *context);

    void (*close)(leaf_backend *backend); /* frees it */

    const ps_hbem_assembly *assembly; /* borrowed, the whole matrix; set by open */
};

/* The cores: `threads` of them, a workspace each. */
ps_status leaf_backend_open_cpu(const ps_hbem_assembly *assembly, int threads, leaf_backend **out);
/* Bytes that it holds. */
int64_t leaf_backend_bytes_cpu(const ps_hbem_assembly *assembly, int threads);

/* A CUDA device, by its ordinal; the trees of the two spaces (one and the same where they are).
 * PS_USAGE where leaf clusters are too large for it. */
ps_status leaf_backend_open_cuda(const ps_hbem_assembly *assembly, const ps_cluster_tree *test,
                                 const ps_cluster_tree *trial, int ordinal, leaf_backend **out);

#endif
