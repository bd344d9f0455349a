/*
 * prism_sum: fields of many prisms at many stations by the fast multipole method, and the transpose
 * of that map, in memory (specs/prism_sum.md).
 *
 * One cube around prisms and stations, a tree of uniform depth over each. A prism belongs to a
 * level of its own, the deepest whose cells are no narrower than its longest side, or to the
 * leaves. On that level it is cut by the cells' borders into pieces; their exact moments go up from
 * there (kernels/fmm/prism_cell.h), and stations in the cells around take the closed form of what
 * of the prism lies within the 3 x 3 x 3 cells around theirs (kernels/common/prism_field.h). So
 * every pair of prism and station is summed once, and stations may be anywhere: on faces, corners,
 * inside.
 *
 * Sums have a fixed order: bits do not depend on the number of threads. Cores or a CUDA device sum;
 * the trees are made by the cores.
 */
#ifndef PS_PRISM_SUM_H
#define PS_PRISM_SUM_H

#include <stdbool.h>

#include "kernels/common/prism_field.h"
#include "runtime/device.h"

/* Borrowed until the sum is closed. */
typedef struct ps_prism_bodies {
    ps_prism_kind kind;
    int64_t prisms, stations;
    const double *low[3], *high[3]; /* [prisms], low < high, finite       */
    const double *place[3];         /* [stations]                         */
} ps_prism_bodies;

typedef struct ps_prism_sum_options {
    int height;  /* of the trees, 1 .. 21; 1 and 2: all directly; 0: of the least work by counts */
    int threads; /* 1 at least */
    /* A CUDA device, borrowed, that sums and has what was sorted; NULL or the CPU: the cores. Its
     * results differ by rounding, and repeat bit by bit. */
    ps_device *device;
} ps_prism_sum_options;

typedef struct ps_prism_sum ps_prism_sum;

/* What a sum consists of, and seconds of the last apply or transpose. */
typedef struct ps_prism_sum_figures {
    int height, order;
    int64_t source_cells, target_cells; /* leaves         */
    int64_t pieces;                     /* of P2M         */
    int64_t near_pairs;                 /* closed forms   */
    double moments, transfer, near;
} ps_prism_sum_figures;

/* Trees and pieces. PS_EXHAUSTED, PS_USAGE. */
ps_status ps_prism_sum_open(const ps_prism_bodies *bodies, const ps_prism_sum_options *options,
                            ps_prism_sum **out);
/* Operators with so many points an axis (1 .. 12), truncated at epsilon: before the first sum, and
 * again for another accuracy. */
ps_status ps_prism_sum_operators(ps_prism_sum *sum, int order, double epsilon);
/* out[numbers of the kind][stations] = J weight[1 or 3][prisms]. weight NULL: those of the last
 * call, whose near field, which no operator changes, is not computed again; PS_USAGE after a
 * transposed sum. */
ps_status ps_prism_sum_apply(ps_prism_sum *sum, const double *const *weight, double *const *out);
/* out[1 or 3][prisms] = J^T data[numbers of the kind][stations]: the same pairs, pieces and
 * operators, so that <J m, d> = <m, J^T d> to rounding. Not at stations on edges, whose second
 * derivatives are not numbers. */
ps_status ps_prism_sum_transposed(ps_prism_sum *sum, const double *const *data, double *const *out);
void ps_prism_sum_figures_of(const ps_prism_sum *sum, ps_prism_sum_figures *out);
void ps_prism_sum_close(ps_prism_sum **sum); /* NULL is fine */

/* containing[stations]: a prism that the station is strictly inside of; -1: of none. */
void ps_prism_sum_inside(const ps_prism_sum *sum, int64_t *containing);
/* Stations along the Morton order, [stations]; borrowed. */
const int64_t *ps_prism_sum_station_order(const ps_prism_sum *sum);
/* out[numbers][count] at stations places[count] of that order, all prisms directly, with the
 * weights of the last apply: samples of what it has computed. */
ps_status ps_prism_sum_samples(ps_prism_sum *sum, const int64_t *places, int64_t count,
                               double *const *out);

/* Whether two prisms share volume, more than a millionth of their shorter sides along each axis,
 * and the two of one such pair. Builds trees of its own. */
ps_status ps_prism_overlap(const ps_prism_bodies *bodies, int threads, bool *overlap,
                           int64_t prisms[2]);

/* The same directly, for stations indices[count]: out[numbers][count]. Threads: OpenMP inside. */
void ps_prism_sum_direct(const ps_prism_bodies *bodies, const double *const *weight,
                         const int64_t *indices, int64_t count, int threads, double *const *out);

#endif
