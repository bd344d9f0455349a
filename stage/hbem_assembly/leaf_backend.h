/*
 * Who computes leaves: the cores, or a CUDA device. A backend is given a run of consecutive chunks
 * of the file (tens of thousands of leaves each), computes as many of them at once as suits it, and
 * hands each over, whole, in order. The bits of a leaf depend on the backend, not on the leaves
 * beside it.
 */
#ifndef PS_HBEM_ASSEMBLY_LEAF_BACKEND_H
#define PS_HBEM_ASSEMBLY_LEAF_BACKEND_H

#include "formats/hmatrix.h"
#include "kernels/common/copy_ranges.h"
#include "kernels/hbem/assembly.h"
#include "kernels/hbem/cluster_tree.h"

/* A chunk that is done: leaves and blocks of it alone. Where `place` is NULL, values are the
 * chunk's own: a taker may keep them, and leave run.blocks NULL. */
typedef struct ps_leaf_chunk {
    int64_t chunk;
    ps_hmatrix run;
    const void *place; /* of the backend */
} ps_leaf_chunk;

/* Leaves of chunks [chunk, end) on a device; borrowed. */
typedef struct ps_leaf_wave {
    int64_t chunk, end, first; /* chunks; leaf of the matrix                              */
    const ps_hmatrix *run;     /* its leaves, with rank and error; values NULL but for those that
                                  cores computed, which are on the host                     */
    const ps_range *places;    /* [run->leaf_count] from: of its numbers in the arena         */
    const void *arena;         /* on the device                                           */
    ps_stream *stream;         /* that computed it                                        */
} ps_leaf_wave;

/* Takes a chunk over, whatever it returns, and gives it back by backend->release, from any thread.
 * One call at a time. When it returns, at most backend->kept chunks have not been given back, and
 * those are the last ones. */
typedef struct ps_leaf_taker {
    ps_status (*take)(void *context, ps_leaf_chunk *chunk);
    /* Whoever keeps values on the device: called by a backend that computes there, instead of take,
     * a wave after the other. Waits for what it enqueues. NULL: chunks are wanted. */
    ps_status (*take_wave)(void *context, const ps_leaf_wave *wave);
    void *context;
} ps_leaf_taker;

typedef struct ps_leaf_backend ps_leaf_backend;
struct ps_leaf_backend {
    const char *name; /* "cpu", "cuda:0" */
    int kept;         /* chunks that may be with the taker */

    /* Computes chunks [first, end). Ends with the first failure, its message this thread's. What a
     * device cannot do (a rank beyond its bounds) is done by ps_hbem_assemble_leaf. */
    ps_status (*assemble)(ps_leaf_backend *backend, const ps_hmatrix_chunks *chunks, int64_t first,
                          int64_t end, const ps_leaf_taker *taker);
    void (*release)(ps_leaf_chunk *chunk);
    void (*close)(ps_leaf_backend *backend); /* frees it */

    const ps_hbem_assembly *assembly; /* borrowed, the whole matrix; set by open */
    const ps_hmatrix *shape;          /* of the whole matrix, no blocks; borrowed */
    double computing;                 /* seconds so far */
};

enum { PS_LEAF_CHUNKS_KEPT = 4 }; /* of any backend, at most */

/* Leaves of a chunk of the shape, with blocks of rank 0. */
ps_status ps_leaf_chunk_init(const ps_leaf_backend *backend, const ps_hmatrix_chunks *chunks,
                             int64_t chunk, ps_leaf_chunk *out);

/* The cores: `threads` of them, a workspace each. */
ps_status ps_leaf_backend_open_cpu(const ps_hbem_assembly *assembly, const ps_hmatrix *shape,
                                   int threads, ps_leaf_backend **out);

/* Where a CUDA device is and what it may hold. */
typedef struct ps_leaf_device {
    int ordinal;
    int64_t memory;              /* bytes on the device; 0: what is free              */
    int64_t chunk_bytes, chunks; /* expected of the largest chunk; chunks to hand over        */
    int64_t expected;            /* bytes of all values, where they stay there; 0: not known */
    const struct ps_leaf_tables *tables; /* there, borrowed; NULL: sent for this backend         */
    const ps_cluster_tree *test, *trial; /* one and the same where the spaces are; borrowed  */
} ps_leaf_device;

/* PS_OK where a device can do this matrix, else PS_USAGE and why: leaf clusters that are too large,
 * rules whose first one has not 6 points. Needs no device. */
ps_status ps_leaf_backend_check_cuda(const ps_hbem_assembly *assembly,
                                     const ps_leaf_device *device);
ps_status ps_leaf_backend_open_cuda(const ps_hbem_assembly *assembly, const ps_hmatrix *shape,
                                    const ps_leaf_device *device, ps_leaf_backend **out);
/* Bytes of host memory that it holds. */
int64_t ps_leaf_backend_bytes_cuda(const ps_hbem_assembly *assembly, int64_t chunk_bytes);

/* ---- the scheme of Vater, Betcke, Dilba ---- */

typedef struct ps_leaf_pairs {
    int threads, devices;
    const int *ordinals;
    int64_t least; /* rows and columns of fewer pairs of triangles are the cores' */
} ps_leaf_pairs;

/* The cores, `threads` of them; devices, which they take in turns, integrate the pairs of large
 * rows and columns of far blocks. */
ps_status ps_leaf_backend_open_pairs(const ps_hbem_assembly *assembly, const ps_hmatrix *shape,
                                     const ps_leaf_pairs *pairs, ps_leaf_backend **out);

#endif
