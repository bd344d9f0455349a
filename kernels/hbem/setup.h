/*
 * setup: surface and spaces of a matrix in one piece of memory, in the order of the mesh or of its
 * cluster trees: where every program of hbem begins.
 */
#ifndef PS_KERNELS_HBEM_SETUP_H
#define PS_KERNELS_HBEM_SETUP_H

#include "formats/cluster_tree.h"
#include "kernels/hbem/surface.h"

typedef struct ps_hbem_setup {
    ps_hbem_surface surface;
    ps_hbem_space space[2]; /* by ps_cluster_side; both the same arrays where `same`         */
    int32_t *scratch;       /* [largest number of functions]                                 */
    int32_t *plane, *stratum; /* of triangles, of test functions (strata.h)                  */
    void *tables;             /* scratch of strata                                           */
    bool same;
} ps_hbem_setup;

/* What it is made of; arrays borrowed for as long as the setup is used. */
typedef struct ps_hbem_outline {
    const double *vertices;   /* [vertex_count][3]   */
    const int32_t *triangles; /* [triangle_count][3] */
    int64_t vertex_count, triangle_count;
    ps_hbem_space_kind space[2];
    bool same;
    int64_t body; /* vertices of the body of which the second half of the triangles is the image: test
                     functions are the body's, trial functions the image's; 0: no halves            */
    bool turned; /* the image's triangles */
} ps_hbem_outline;

/* That of a file of clusters. */
ps_hbem_outline ps_hbem_outline_of(const ps_clusters *clusters);

int64_t ps_hbem_setup_bytes(const ps_hbem_outline *outline);

/* Surface and spaces in the order of the mesh; memory: that many bytes, 64-byte aligned. *setup
 * must stay where it is (spaces point at its surface). PS_INVALID as ps_hbem_surface_init. */
ps_status ps_hbem_setup_init(ps_hbem_setup *setup, const ps_hbem_outline *outline, void *memory);

/* Puts the spaces into the order of the trees ([1] is ignored where both are one); finds planes and
 * strata. */
void ps_hbem_setup_order(ps_hbem_setup *setup, const ps_cluster_tree trees[2]);

#endif
