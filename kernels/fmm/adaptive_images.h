/*
 * adaptive_images: an adaptive tree in a periodic box (specs/fmm_adaptive.md, "Periodic boxes").
 *
 * The box is [0, 1)^3 and one cell on level PS_IMAGES_BOX of the tree: the root is 4 wide. The
 * boxes around it, along the axes that repeat, get images of its cells as far as cells of the box
 * touch them: divided while they touch the box, with shifted places, and sources that are those of
 * their twins. So the lists (adaptive_lists.h) see no border, offsets of M2L are what they are
 * elsewhere, and V takes the multipole of the twin. What acts as particles (U, X; W is summed
 * directly whatever the rule) has shifted copies behind the sources. All boxes further away are one
 * smooth operator (periodic.h) between cells on level PS_IMAGES_SMOOTH.
 */
#ifndef PS_KERNELS_FMM_ADAPTIVE_IMAGES_H
#define PS_KERNELS_FMM_ADAPTIVE_IMAGES_H

#include "kernels/fmm/adaptive_lists.h"
#include "kernels/fmm/periodic.h"
#include "runtime/isa.h"

enum { PS_IMAGES_BOX = 2, PS_IMAGES_SMOOTH = 4 };

/* Root and depth of a tree over particles of [0, 1)^3, whose leaves lie on the box's level or
 * below; `deep`: on PS_IMAGES_SMOOTH or below, so that nothing goes beyond the box by particles. */
void ps_adaptive_images_root(ps_adaptive_tree *tree, bool deep);

/* After ps_adaptive_divide: makes the images, and says how many copies of sources there are, which
 * does not depend on the rule: they are numbered from the sources' count on. PS_EXHAUSTED without
 * memory. OpenMP inside. */
ps_status ps_adaptive_images_make(ps_adaptive_tree *tree, const ps_adaptive_rule *rule,
                                  const bool along[3], int64_t *copies);
/* Fills them: columns[3 + sides][stride] of the sources, sorted. OpenMP inside. */
void ps_adaptive_images_fill(const ps_adaptive_tree *tree, int sides, int64_t stride,
                             double *columns);

/* What the boxes beyond do: of one right-hand side. */
typedef struct ps_images_beyond {
    const ps_periodic *periodic;
    const ps_adaptive_tree *tree;
    const ps_fmm_interpolation *interpolation;
    ps_precision precision;
    const void *multipoles; /* of the cells on level PS_IMAGES_SMOOTH: real [cells][l^3] */
    void *locals;           /* likewise; added to. NULL: cells are left out              */
    /* Of leaves above that level, particle by particle: targets of leaves within `wanted`. */
    const ps_fmm_particles *sources, *targets;
    ps_fmm_range wanted;
    int side;
} ps_images_beyond;

/* moments[PS_PERIODIC_GRID]: overwritten. */
void ps_adaptive_images_moments(const ps_images_beyond *beyond, double *moments);
/* All of it. OpenMP inside. */
void ps_adaptive_images_beyond(const ps_images_beyond *beyond);

/* The first level on which there are cells that do not touch: those of V. */
static inline int ps_adaptive_far_level(const ps_adaptive_tree *tree)
{
    return tree->least > 0 ? PS_IMAGES_BOX + 1 : 2;
}

#endif
