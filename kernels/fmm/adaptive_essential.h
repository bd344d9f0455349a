/*
 * adaptive_essential: the part of an adaptive tree that a stretch of its targets needs, as a tree
 * of its own (the locally essential tree of Warren and Salmon, 1993): cells that hold targets of
 * the stretch, and those that act on them, with the particles that are summed directly and the
 * multipoles of the others. Whatever works on a tree works on it, on cores and devices, with much
 * less memory than the whole takes, and to the same bits: lists, their order and the portions are
 * those of the whole tree.
 *
 * A stretch is one of portions (adaptive_share.h). The whole is evaluated in two sweeps:
 *
 *     for all stretches   below:   particles -> multipoles of the cells within the stretch
 *     once                above:   M2M of the cells that stretches share
 *     for all stretches   around:  particles, multipoles -> results of its targets
 *
 * Cells keep their order, particles theirs; runs of particles that do not follow each other in the
 * whole do not do so here: one place is left free between them. Cells that are not needed inside,
 * leaves without their particles among them, are *closed*: divided, without children. Trees of one
 * set of particles, without images.
 */
#ifndef PS_KERNELS_FMM_ADAPTIVE_ESSENTIAL_H
#define PS_KERNELS_FMM_ADAPTIVE_ESSENTIAL_H

#include "kernels/fmm/adaptive_share.h"

/* Zero before the first use; memory is used again, and kept until ps_essential_release. */
typedef struct ps_essential {
    ps_adaptive_tree tree; /* sets[0].points has the count alone */
    int32_t *whole;        /* [tree.cells] the number of each cell in the whole tree   */
    uint8_t *given;        /* [tree.cells] 1: its multipole is wanted from outside     */
    int64_t run_count;     /* runs of the whole's particles, ascending                 */
    ps_fmm_range *runs;    /* [run_count]                                              */
    int64_t *at;           /* [run_count] where each begins among the tree's particles */
    ps_fmm_range own;      /* targets of the stretch, among the tree's particles       */
    /* ---- ours ---- */
    uint8_t *marks;  /* [cells of the whole] */
    int32_t *number; /* [cells of the whole] -1: not in the tree */
    uint64_t *words;
    int64_t listed; /* cells that have been sorted for their runs */
    int64_t capacity[7];
} ps_essential;

/* Cells all of whose particles are among `targets`, of whole leaves: leaves have their particles.
 * PS_EXHAUSTED without memory, as of all of these. */
ps_status ps_essential_below(const ps_adaptive_tree *whole, ps_fmm_range targets,
                             ps_essential *out);
/* Cells that hold particles on both sides of some borders (between leaves); their children are
 * given. */
ps_status ps_essential_above(const ps_adaptive_tree *whole, const int64_t *borders, int64_t count,
                             ps_essential *out);
/* What the targets of portions [first, end) need. OpenMP inside. */
ps_status ps_essential_around(const ps_adaptive_tree *whole, const ps_adaptive_rule *rule,
                              int64_t first, int64_t end, ps_essential *out);
void ps_essential_release(ps_essential *essential);

/* Particles of the tree, free places among them. */
static inline int64_t ps_essential_particles(const ps_essential *e)
{
    return e->tree.sets[0].points.count;
}

/* Bytes that it uses of its arrays; without those that are as long as the whole tree is. */
int64_t ps_essential_bytes(const ps_essential *essential);
/* Bytes that such trees of a whole take however small they are: 5 a cell. */
int64_t ps_essential_fixed_bytes(const ps_adaptive_tree *whole);

#endif
