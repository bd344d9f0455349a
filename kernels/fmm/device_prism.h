/*
 * device_prism: fields of prisms on a CUDA device: what kernels/fmm/prism_cell.h and
 * kernels/common/prism_field.h do on cores, for all cells of a level at once (specs/prism_sum.md).
 *
 * Prisms and stations are along the Morton order; a prism belongs to a level of its own and is cut
 * there by the borders of cells, as stage/prism_sum has it. Every call enqueues work on a stream
 * and returns: it neither waits nor allocates. All is fp64; results differ from those of the cores
 * by rounding, and repeat bit by bit: every sum has one order.
 *
 * | op             | flop                                         | per                        |
 * | near, direct   | ~400, 560 with T, and 12 ln, 6 atan2, 8 sqrt | prism and station          |
 * | P2M            | 2 l^3 (dipoles 6 l^3)                        | piece                      |
 * | L2P            | 6 l^3                                        | station                    |
 */
#ifndef PS_KERNELS_FMM_DEVICE_PRISM_H
#define PS_KERNELS_FMM_DEVICE_PRISM_H

#include "kernels/common/prism_field.h"
#include "kernels/fmm/chebyshev.h"
#include "kernels/fmm/device_tree.h"

/* Arrays on the device, borrowed. */
typedef struct ps_device_prisms {
    ps_prism_kind kind;
    int32_t prisms, stations;
    int height; /* 1 and 2: no trees, no pieces, all prisms with all stations */
    ps_octree_box box;
    const double *low[3], *high[3];   /* [prisms]                                              */
    const double *place[3];           /* [stations]                                            */
    double *weight[3];                /* [prisms]: densities; the transpose adds to them        */
    double *result[PS_PRISM_NUMBERS]; /* [stations]: sums are added; data of the transpose    */
    const int8_t *level;              /* [prisms], of its own                                 */
    ps_device_tree sources, targets;
    /* Pieces of a level: prisms piece[start[l][c] .. start[l][c + 1]) of cell c, ascending; NULL
     * where no prism belongs to the level. */
    const int32_t *start[PS_OCTREE_LEVELS_MAX], *piece;
} ps_device_prisms;

/* Stations [first, end) of a target cell of a level: at most PS_DEVICE_PRISM_STATIONS. */
enum { PS_DEVICE_PRISM_STATIONS = 32 };
typedef struct ps_device_prism_item {
    int32_t cell, first, end;
} ps_device_prism_item;

/* Adds the closed forms of what of prisms of `level` lies within the 27 cells around the cells of
 * items[count] (on the device); around[cells][27]: source cells as ps_tree_around numbers them. To
 * *pairs (on the device) their number is added. */
ps_status ps_device_prism_near(const ps_device_prisms *prisms, int level, const int32_t *around,
                               const ps_device_prism_item *items, int64_t count, int64_t *pairs,
                               ps_stream *stream);
/* The transpose of near over all levels, or, without trees, of all pairs: adds to weights. */
ps_status ps_device_prism_near_transposed(const ps_device_prisms *prisms, ps_stream *stream);

/* All prisms, whole, at stations index[count] (on the device), in parts of PS_DEVICE_PRISM_PART
 * prisms: room[parts][numbers][count], then out[numbers][count] (overwritten). */
enum { PS_DEVICE_PRISM_PART = 1 << 14 };
ps_status ps_device_prism_direct(const ps_device_prisms *prisms, const int32_t *index,
                                 int64_t count, double *room, double *out, ps_stream *stream);

/* Adds the moments of the pieces of a level to multipoles[source cells][l^3]. */
ps_status ps_device_prism_p2m(const ps_device_prisms *prisms,
                              const ps_fmm_interpolation *interpolation, int level,
                              double *multipoles, ps_stream *stream);
/* by_piece[weights][pieces] from the locals of a level, and, when all levels are there, to weights.
 */
ps_status ps_device_prism_p2m_transposed(const ps_device_prisms *prisms,
                                         const ps_fmm_interpolation *interpolation, int level,
                                         const double *locals, int64_t pieces, double *by_piece,
                                         ps_stream *stream);
ps_status ps_device_prism_gather_pieces(const ps_device_prisms *prisms, int64_t pieces,
                                        const double *by_piece, ps_stream *stream);

/* Between the vectors of target leaves, [leaves][l^3], and results. */
ps_status ps_device_prism_l2p(const ps_device_prisms *prisms,
                              const ps_fmm_interpolation *interpolation, const double *locals,
                              ps_stream *stream);
ps_status ps_device_prism_l2p_transposed(const ps_device_prisms *prisms,
                                         const ps_fmm_interpolation *interpolation,
                                         double *multipoles, ps_stream *stream);

#endif
