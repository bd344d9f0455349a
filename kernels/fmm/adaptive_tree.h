/*
 * adaptive_tree: an octree over particles whose leaves lie on any level (specs/fmm_adaptive.md): a
 * cell is divided while it holds more than `leaf_size` particles that are not all at one place.
 *
 * The root's width is a power of two and its corner a multiple of width / 2^20, so that borders and
 * centres of all cells are exact: then the far field of the deepest cells is as good as any. A
 * particle's place is floor((x - corner) 2^42 / width) an axis: two words of 21 levels. Cells on
 * the deepest level, 42 or where fp64 ends, are not divided; a cell whose particles share all 42
 * levels is a leaf wherever it is.
 *
 * Cells are numbered level by level, along the Morton order within a level; only those that hold
 * particles exist. Sources and targets may be one set of particles or two in the same box: two sets
 * make one tree, whose cells hold particles of either. A cell's *colleagues* are the cells on its
 * level that it touches, itself among them. Nothing depends on the number of threads.
 */
#ifndef PS_KERNELS_FMM_ADAPTIVE_TREE_H
#define PS_KERNELS_FMM_ADAPTIVE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/fmm/particle_set.h"
#include "kernels/fmm/tree.h"

enum {
    PS_ADAPTIVE_WORD = 21,    /* levels of a word of a key        */
    PS_ADAPTIVE_DEEPEST = 42, /* leaves lie on this level at most */
    PS_ADAPTIVE_LEVELS = PS_ADAPTIVE_DEEPEST + 1
};

typedef struct ps_adaptive_cell {
    ps_fmm_range sources, targets; /* sorted particles of each set; the same if there is one set */
    int64_t place[3];              /* on its level                                               */
    int32_t parent, child;         /* the first child; -1: a leaf                                */
    uint32_t leaves_around;        /* bit n: the colleague at place n is a leaf                  */
    uint8_t children, octant, level;
} ps_adaptive_cell;

/* A set of particles: borrowed, in the caller's order; keys of the upper 21 levels in sorted order;
 * order[i]: the caller's number of sorted particle i. Particles of one place keep their order.
 * Where the particles are not in memory, `low` has keys of the lower 21 levels, sorted, of those
 * that share their upper ones, and order is not read. */
typedef struct ps_adaptive_set {
    ps_tree_points points;
    uint64_t *keys;
    int64_t *order;
    uint64_t *low; /* NULL: of the points */
} ps_adaptive_set;

/* ps_grow of runtime/memory.h: the memory is the caller's. */
typedef ps_status (*ps_adaptive_room)(void **array, int64_t *capacity, int64_t needed, size_t size,
                                      const char *what);

typedef struct ps_adaptive_tree {
    /* ---- the caller's ---- */
    ps_octree_box box;
    int deepest;             /* leaves lie on this level at most: ps_adaptive_root              */
    int64_t leaf_size;       /* at least 1                                                      */
    int least;               /* cells above this level are divided whatever they hold: 0        */
    bool same;               /* one set, sets[0]; else targets are sets[1]                      */
    int64_t portion;         /* leaves of a portion (adaptive_share.h); 0: by their number      */
    ps_adaptive_set sets[2]; /* sorted; after ps_adaptive_divide keys are not read any more      */
    ps_adaptive_room room;
    /* ---- made; arrays are the caller's to free ---- */
    int levels; /* that have cells */
    int64_t level_start[PS_ADAPTIVE_LEVELS + 1], cells, leaves;
    ps_adaptive_cell *cell; /* [cells]                                                          */
    int32_t (*around)[27];  /* [cells] colleagues at 9 (d_x + 1) + 3 (d_y + 1) + d_z + 1, or -1 */
    int32_t *leaf;          /* [leaves] cells along the Morton order                            */
    int64_t capacity[4];    /* of these arrays                                                  */
    /* Cells behind the others, images of them in the boxes around (adaptive_images.h): in no range
     * of a level, with sources and no targets; no memory of their own but twin. */
    int64_t images;
    int32_t *twin; /* [images] the cell that each is an image of */
} ps_adaptive_tree;

static inline int64_t ps_adaptive_level_cells(const ps_adaptive_tree *t, int level)
{
    return t->level_start[level + 1] - t->level_start[level];
}

/* The root around [lower, upper], and the deepest level whose centres are exact. PS_INVALID if not
 * even a few levels are: the particles are nearer to each other than fp64 tells. */
ps_status ps_adaptive_root(const double lower[3], const double upper[3], ps_octree_box *box,
                           int *deepest);

/* Words (uint64) of workspace that sorting needs. */
int64_t ps_adaptive_sort_workspace(int64_t count);
/* Fills keys and order of a set (points, keys[count] and order[count] are set). Returns how many
 * particles lie outside the box. OpenMP inside. */
int64_t ps_adaptive_sort(const ps_octree_box *box, uint64_t *workspace, ps_adaptive_set *set);

/* The lower 21 levels of the key of point i. */
uint64_t ps_adaptive_low_key(const ps_octree_box *box, const ps_tree_points *points, int64_t i);

/* Makes the cells. PS_EXHAUSTED without memory or beyond 2^31 - 1 cells. OpenMP inside. */
ps_status ps_adaptive_divide(ps_adaptive_tree *tree);

static inline bool ps_adaptive_is_leaf(const ps_adaptive_cell *cell) { return cell->child < 0; }

static inline int64_t ps_adaptive_size(ps_fmm_range range) { return range.end - range.begin; }

/* Looks for a cell's colleagues again, and for leaves among them, those of its parent known. */
void ps_adaptive_look_around(const ps_adaptive_tree *tree, int32_t cell);

static inline bool ps_adaptive_is_image(const ps_adaptive_tree *tree, int32_t cell)
{
    return cell >= tree->cells;
}

/* The cell itself, or the one it is an image of: with the same multipole. */
static inline int32_t ps_adaptive_twin(const ps_adaptive_tree *tree, int32_t cell)
{
    return cell < tree->cells ? cell : tree->twin[cell - tree->cells];
}

/* Whether the closed boxes of two cells of any levels touch. */
bool ps_adaptive_adjacent(const ps_adaptive_cell *a, const ps_adaptive_cell *b);

/* Centre and width of a cell. */
void ps_adaptive_centre(const ps_octree_box *box, const ps_adaptive_cell *cell, double centre[3],
                        double *width);

#endif
