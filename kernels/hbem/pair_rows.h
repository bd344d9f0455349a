/*
 * pair_rows: rows and columns of far blocks by the scheme of Vater, Betcke, Dilba (sections 3.2 and
 * 4): a CUDA device integrates the pairs of triangles, a thread a pair, and leaves the unassembled
 * moments in memory of the host; while it is at one chunk of pairs this thread of the host adds up
 * the one before. Cross approximation stays on the host. Slower than device_assembly; for
 * comparison (specs/hbem_device.md).
 *
 * A ps_hbem_pair_rows is one host thread's. Its memory is the caller's.
 */
#ifndef PS_KERNELS_HBEM_PAIR_ROWS_H
#define PS_KERNELS_HBEM_PAIR_ROWS_H

#include "kernels/hbem/assembly.h"
#include "kernels/hbem/device_assembly.h"

typedef struct ps_hbem_pair_rows {
    ps_stream *stream;
    ps_event *done[2];
    const ps_hbem_triangle *triangles; /* all of the surface, on the device                   */
    ps_hbem_device_rules rules;        /* on the device                                       */
    int32_t *list;                     /* [list_room] on the device: triangles of a panel     */
    int64_t list_room;
    void *moments[2]; /* ps_hbem_pair_rows_bytes each, pinned memory of the host that the device
                         writes to                                                          */
    int64_t chunk;    /* pairs at once                                                        */
    int64_t least;    /* rows and columns of fewer pairs are left to the host                 */
    int64_t there;    /* pairs integrated on the device so far                                */
} ps_hbem_pair_rows;

/* Bytes of the moments of a chunk of pairs. */
int64_t ps_hbem_pair_rows_bytes(const ps_hbem_operator *op, int64_t chunk);

/* As ps_hbem_far_row (column: ps_hbem_far_column) of an operator with one_rule, within the rounding
 * of the far precision. A block whose panels are longer than list_room, or a function of more than
 * 64 triangles, is the host's. PS_FAILED without CUDA. */
ps_status ps_hbem_pair_rows_get(ps_hbem_pair_rows *rows, const ps_hbem_far *far, bool column,
                                int64_t index, double *values);

/* ---- private to pair_rows.c and pair_rows_cuda.cu ---- */

enum { PS_HBEM_PAIR_FIXED = 64 };

/* Pairs [first, first + pairs) of fixed[pair / count] and list[pair % count]: moments[part][hat of
 * fixed][hat of list][pairs], J J and 1/(4 pi) included. */
typedef struct ps_hbem_pair_launch {
    ps_hbem_kernel kernel; /* with x on the fixed triangle */
    double wavenumber, absorption, origin[3];
    ps_precision precision;
    const ps_hbem_triangle *triangles;
    const void *rule; /* real [points][4] */
    int points;
    int32_t fixed[PS_HBEM_PAIR_FIXED];
    const int32_t *list;
    int64_t count, first, pairs;
    void *moments;
} ps_hbem_pair_launch;

ps_status ps_hbem_pair_moments_cuda(const ps_hbem_pair_launch *launch, ps_stream *stream);

#endif
