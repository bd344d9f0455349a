/*
 * device_ops: the operators of the fast multipole method on a CUDA device (specs/fmm_device.md).
 *
 * Each call enqueues one operator on a stream and returns: it neither waits nor allocates. All
 * pointers inside the structs are memory of the stream's device, borrowed until the work is done;
 * the structs themselves are copied. Every operator works on the cells of one *group*: consecutive
 * cells of a level, numbered from 0, whose vectors, particles and results are contiguous. A whole
 * level is a group, too. What an operator reads from other cells is named by a *code*:
 *
 *     code = slot << shift | cell        (-1: nothing there)
 *
 * the cell within the group in `slot` of a table. With table = NULL everything lies in `one` and a
 * code is the number of the cell. All codes and cells are int32.
 *
 * Vectors of cells are `real` [sides][cells][length] (fp32 or fp64), length l^3 for multipoles and
 * locals, ps_fmm_m2l_table.length for coded ones; particles are fp64, rows x, y, z and the charges
 * of each right-hand side. The arithmetic of far-field operators is fp64 for both precisions.
 *
 * Sums of a cell or particle depend on neither the group it is in, nor on what else is in the
 * launch: equal bits in core, out of core and for any n_g (P2P: for codes in equal order).
 */
#ifndef PS_KERNELS_FMM_DEVICE_OPS_H
#define PS_KERNELS_FMM_DEVICE_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/octree.h"
#include "kernels/fmm/m2l.h"
#include "kernels/fmm/particle_set.h"
#include "runtime/device.h"

enum {
    PS_FMM_DEVICE_CHILDREN = 8,
    PS_FMM_DEVICE_NEAR = 27, /* places around a leaf, as ps_tree_around numbers them */
    PS_FMM_DEVICE_FAR = 216  /* 27 places around a parent x 8 octants               */
};

/* ---- what lies where ---- */

/* Vectors of the cells of a group. */
typedef struct ps_fmm_device_vectors {
    void *values;   /* real [sides][cells][length]                                     */
    int64_t stride; /* numbers from a right-hand side to the next: cells * length      */
} ps_fmm_device_vectors;

typedef struct ps_fmm_device_vectors_table {
    ps_fmm_device_vectors one;
    const ps_fmm_device_vectors *table; /* on the device, [slots]; NULL: `one`           */
    int32_t shift;                      /* of codes; unused without table              */
} ps_fmm_device_vectors_table;

/* Particles of a group of leaves as sources. */
typedef struct ps_fmm_device_sources {
    const double *rows;   /* [3 + sides][stride]: x, y, z, charges; 8-byte aligned       */
    int64_t stride;       /* >= particles of the group                                 */
    const int32_t *start; /* [leaves + 1] first particle of each leaf, from 0          */
} ps_fmm_device_sources;

typedef struct ps_fmm_device_sources_table {
    ps_fmm_device_sources one;
    const ps_fmm_device_sources *table;
    int32_t shift;
} ps_fmm_device_sources_table;

/* The leaves of a group: places, particles, results. */
typedef struct ps_fmm_device_leaves {
    int64_t cells, particles; /* of the group                                           */
    const uint64_t *keys;     /* [cells] on `level`                                     */
    ps_octree_box box;
    int level;
    ps_fmm_device_sources set; /* targets that are not sources: rows x, y, z alone       */
    double *potential;         /* [sides][set.stride]                                    */
    double *gradient;          /* [sides][3][set.stride], or NULL: not wanted             */
} ps_fmm_device_leaves;

/* What all operators of an evaluation share. On the host. */
typedef struct ps_fmm_device_method {
    int sides;
    ps_precision far, near; /* of vectors; of the arithmetic of P2P                      */
    ps_fmm_function function;
    ps_fmm_interpolation interpolation;
} ps_fmm_device_method;

/* ---- leaves ---- */

/* multipoles = P2M of the leaves (overwritten). */
ps_status ps_fmm_device_p2m(const ps_fmm_device_method *method, const ps_fmm_device_leaves *leaves,
                            const ps_fmm_device_vectors *multipoles, ps_stream *stream);

/* Potentials and gradients from locals. add: added to what is there; otherwise overwritten. */
ps_status ps_fmm_device_l2p(const ps_fmm_device_method *method, const ps_fmm_device_leaves *leaves,
                            const ps_fmm_device_vectors *locals, bool add, ps_stream *stream);

/* Direct sums. near[leaf][27]: codes of the source leaves around a target leaf, the place itself
 * (number 13) among them; summed in ascending order of codes. Pairs of particles at distance 0,
 * which must be in leaves at the same place, contribute nothing. */
typedef struct ps_fmm_device_p2p {
    ps_fmm_device_leaves targets;
    const int32_t *near; /* [leaves][27]                                                */
    ps_fmm_device_sources_table sources;
    bool add;        /* to results; otherwise they are overwritten                        */
    int blocks;      /* warps that work on a multiprocessor at most, to leave room for kernels of
                        other streams; 0: as many as fit. Changes no result               */
    void *workspace; /* ps_fmm_device_p2p_workspace bytes, 16-byte aligned; of this call alone
                        until it is done                                                  */
} ps_fmm_device_p2p;

int64_t ps_fmm_device_p2p_workspace(int64_t leaves, int64_t particles);
ps_status ps_fmm_device_p2p_run(const ps_fmm_device_method *method, const ps_fmm_device_p2p *p2p,
                                ps_stream *stream);

/* ---- up and down ---- */

/* children[parent][8]: code of the child in each octant (key & 7), or -1. */
typedef struct ps_fmm_device_family {
    int64_t parents;
    const int32_t *children;
    ps_fmm_device_vectors parent;      /* of the group of parents                        */
    ps_fmm_device_vectors_table child; /* of groups of children                          */
} ps_fmm_device_family;

/* parent = sum over children (add: added to what is there, for children that come in parts). */
ps_status ps_fmm_device_m2m(const ps_fmm_device_method *method, const ps_fmm_device_family *family,
                            bool add, ps_stream *stream);
/* Adds to the children's locals. */
ps_status ps_fmm_device_l2l(const ps_fmm_device_method *method, const ps_fmm_device_family *family,
                            ps_stream *stream);

/* ---- M2L ---- */

/* The operators of a table, rearranged for the device. A host thing with one block of device
 * memory: ps_fmm_device_table_bytes bytes, filled on the host by ps_fmm_device_table_pack and
 * then copied as it is (256-byte aligned). The table's precision is that of the vectors. */
typedef struct ps_fmm_device_table {
    int32_t order, size, length; /* of ps_fmm_m2l_table; size 0: no basis               */
    int32_t rank[PS_FMM_OFFSETS];
    const void *block; /* on the device                                      */
} ps_fmm_device_table;

int64_t ps_fmm_device_table_bytes(const ps_fmm_m2l_table *table);
ps_status ps_fmm_device_table_pack(const ps_fmm_m2l_table *table, void *host_block,
                                   ps_fmm_device_table *out); /* all but block; host_block may be
                                                              NULL: nothing is filled */

/* coded[cells] from multipoles[cells]: real [sides][cells][length]. */
ps_status ps_fmm_device_encode(const ps_fmm_device_method *method, const ps_fmm_device_table *table,
                               int64_t cells, const ps_fmm_device_vectors *multipoles,
                               const ps_fmm_device_vectors *coded, ps_stream *stream);

/* Who is in whose interaction list. A *block* is the children of one parent (in this group). */
typedef struct ps_fmm_device_far {
    int64_t cells, blocks; /* target cells of the group; blocks that they make               */
    /* Target cells sorted by octant (key & 7), octant o is [octant_start[o], octant_start[o + 1]).
     * Within an octant the order changes no result; cells near each other, or whose lists look
     * alike (surfaces), are best next to each other. */
    const int32_t *order;        /* [cells]                                                  */
    const int32_t *octant_start; /* [9]                                                      */
    const int32_t *block;        /* [cells]: block of a cell, by number of the cell           */
    /* [blocks][216]: at 8 n + octant the code of the source cell in that octant of the cell
     * at place n around the parent (n as in ps_tree_around; 13 is the parent's own), or -1.
     * Cells that touch the target are left out by the operator. */
    const int32_t *sources;
} ps_fmm_device_far;

/* Adds factor * (decoded sums over the interaction lists) to the locals of the cells of a group.
 * sources: coded vectors. */
typedef struct ps_fmm_device_m2l {
    ps_fmm_device_far far;
    ps_fmm_device_vectors_table sources;
    ps_fmm_device_vectors locals;
    double factor; /* ps_fmm_level_factor                                                   */
    bool add;      /* to locals; otherwise they are overwritten (cells without interactions by 0) */
} ps_fmm_device_m2l;

ps_status ps_fmm_device_m2l_run(const ps_fmm_device_method *method,
                                const ps_fmm_device_table *table, const ps_fmm_device_m2l *m2l,
                                ps_stream *stream);

#endif
