/* What the files of prism_sum share. */
#ifndef PS_PRISM_SUM_INTERNAL_H
#define PS_PRISM_SUM_INTERNAL_H

#include "kernels/fmm/device_tree.h"
#include "kernels/fmm/evaluate.h"
#include "kernels/fmm/prism_cell.h"
#include "stage/prism_sum/prism_sum.h"

enum { PRISM_PACK = 512 }; /* prisms that are cut and taken at a time */

struct ps_prism_sum {
    ps_prism_bodies bodies; /* as given */
    int threads, numbers, weights;
    ps_octree_box box;
    /* Sorted along the Morton order: prisms by their centres, stations. order: old places. */
    int64_t *prism_order, *station_order;
    double *low[3], *high[3], *place[3];
    int8_t *level; /* [prisms], of its own */
    int height;
    ps_octree sources, targets; /* if height > 2 */
    /* Pieces of a level, by cells: prisms piece[start[l][c] .. start[l][c+1]) of cell c of level l;
     * NULL where no prism belongs to it. */
    int64_t pieces;
    int64_t *piece, *start[PS_OCTREE_LEVELS_MAX];
    double *weight[3];                /* [prisms], sorted   */
    bool weighted;                    /* they are those of the last apply                */
    double *result[PS_PRISM_NUMBERS]; /* [stations], sorted: what a field adds to  */
    double *near[PS_PRISM_NUMBERS];   /* likewise, of the last weights */
    /* Operators. */
    ps_fmm_problem forward, backward;
    ps_fmm_m2l_table table;
    void *table_block, *vectors, *workspace;
    ps_prism_sum_figures figures;
    struct prism_device *device; /* NULL: the cores sum */
};

/* ---- tree.c ---- */

/* A prism of the sorted order: its cells on a level, first and last along each axis. */
typedef struct prism_cells {
    int64_t first[3], last[3];
} prism_cells;
void prism_cells_of(const ps_prism_sum *s, int level, int64_t prism, prism_cells *out);
/* What of it lies in cells [first, last] of its level: its own bounds where these are its first or
 * last ones. Never less than nothing. */
void prism_cut(const ps_prism_sum *s, int level, int64_t prism, const prism_cells *cells,
               const int64_t first[3], const int64_t last[3], double low[3], double high[3]);
/* Boxes, orders, levels, trees, pieces: everything but operators. */
ps_status prism_tree_make(ps_prism_sum *s, int height);

/* ---- height.c ---- */

/* The height of the least work, by counts; keys of the sorted prisms and stations on `level`. */
int prism_height(const ps_prism_sum *s, int level, const uint64_t *prisms,
                 const uint64_t *stations);
/* The level that a prism would have in a tree without end. */
int prism_size_level(const ps_prism_sum *s, int64_t prism);

/* ---- near.c ---- */

/* Adds the closed forms of all pairs that the far field leaves out. */
ps_status prism_near(ps_prism_sum *s, bool transposed);
/* Stations [*first, *end) of a cell of any level. */
void prism_stations_of(const ps_octree *tree, int level, int64_t cell, int64_t *first,
                       int64_t *end);

/* ---- device.c ---- */

typedef struct prism_device prism_device;
/* Copies what was sorted to the device, which is borrowed. PS_USAGE: more than it numbers;
 * PS_EXHAUSTED: more than its memory. */
ps_status prism_device_open(ps_prism_sum *s, ps_device *device);
void prism_device_close(ps_prism_sum *s);
ps_status prism_device_operators(ps_prism_sum *s); /* those of the sum, which are made */
/* From s->weight to s->result (again: weights and near field are those of the last time), and the
 * other way; figures of the sum are set. */
ps_status prism_device_apply(ps_prism_sum *s, bool again);
ps_status prism_device_transposed(ps_prism_sum *s);
/* out[numbers][count] directly, at sorted stations places[count], or 0, 1, ... (NULL), from the
 * weights of the last time. */
ps_status prism_device_direct(ps_prism_sum *s, const int64_t *places, int64_t count,
                              double *const *out);

/* ---- device_tree.c ---- */

/* Fills a tree whose height and cells are those of `from` and whose arrays have their places
 * (ps_device_tree_attach). The host waits. PS_USAGE for more than 2^31 - 1 particles or cells. */
ps_status prism_device_tree(const ps_octree *from, ps_device_tree *tree, ps_stream *stream);

/* ---- far.c ---- */

/* Moments to multipoles of the forward problem; locals of the backward problem to weights. */
ps_status prism_moments(ps_prism_sum *s, bool transposed);
/* Locals to results; results, as data, to multipoles of the backward problem. */
void prism_stations(ps_prism_sum *s, bool transposed);

#endif
