/*
 * device_local: local steps (local_steps.h) on a device: the same operations on lists of slots.
 *
 * A level needs nothing of its own but factors and increments: which elements take part are ranges
 * of slots, few where elements are in the order of their levels. As increments of H are read where
 * the next level is alone, a level adds to what it acts on at once elsewhere. R_1 H is made in the
 * place of H, of which a copy is kept. Bytes an element beside the half step's own: 2 x 12 Np for
 * the copy and back of Q_1; an increment's old value is not read.
 *
 * Errors as device_state.h.
 */
#ifndef PS_KERNELS_DGTD_DEVICE_LOCAL_H
#define PS_KERNELS_DGTD_DEVICE_LOCAL_H

#include "kernels/common/copy_ranges.h"
#include "kernels/dgtd/device_state.h"
#include "kernels/dgtd/local_steps.h"

/* Groups of Q_1 whose H is kept: those that hold elements of Q_2, and the others. */
typedef enum ps_dgtd_kept { PS_DGTD_KEPT_INNER, PS_DGTD_KEPT_OUTER } ps_dgtd_kept;
/* Lists of a level: P, what becomes increments of H, what is added to at once; and those kept. */
enum { PS_DGTD_LISTS = 3, PS_DGTD_LOCAL_LISTS = PS_DGTD_LISTS * PS_DGTD_LOCAL_LEVELS + 2 };
typedef struct ps_dgtd_slot_range {
    uint32_t begin, end;
} ps_dgtd_slot_range;

typedef struct ps_dgtd_device_local {
    const ps_dgtd_local *host; /* whose operations and faces it has */
    ps_dgtd_device system;     /* that of the march, but faces and factors */
    int64_t field_bytes;       /* with its halo */
    void *steps[PS_DGTD_LOCAL_LEVELS];
    void *electric[PS_DGTD_LOCAL_LEVELS], *magnetic[PS_DGTD_LOCAL_LEVELS], *kept;
    ps_dgtd_slot_range *ranges; /* of the host: of the lists, and groups that are kept */
    int64_t start[PS_DGTD_LOCAL_LISTS + 1];
    ps_range *pieces;       /* of the device: what is kept, a few groups each */
    int64_t piece_start[3]; /* by ps_dgtd_kept */
} ps_dgtd_device_local;

/* Counts the ranges, start[last], for reach[elements] as the host's has it; then fills ranges[].
 * groups: of the march. */
void ps_dgtd_device_local_list(ps_dgtd_device_local *out, const ps_dgtd_local *host,
                               const ps_dgtd_device *device, const uint8_t *reach,
                               ps_dgtd_slot_range *ranges);
int64_t ps_dgtd_device_local_ranges(const ps_dgtd_device_local *local);
/* Bytes on the device for fields with so many halo slots, or without the fields, where these are of
 * a window, whose owner sets `electric`, `magnetic` and `kept`; the pointers; then faces, factors
 * and zeros, which waits: work[4][materials] and pieces[groups] of the host. */
enum { PS_DGTD_WINDOWED = -1 };
int64_t ps_dgtd_device_local_bytes(const ps_dgtd_device *device, int levels, int64_t halo_slots);
void ps_dgtd_device_local_attach(ps_dgtd_device_local *local, int64_t halo_slots, void *memory);
ps_status ps_dgtd_device_local_upload(ps_dgtd_device_local *local, const ps_dgtd_system *system,
                                      const ps_dgtd_material *materials, double dt, double *work,
                                      ps_range *pieces, ps_stream *stream);

/* H is kept; R_1 H is made by the host's operations, one after the other; H comes back. Enqueued.
 */
ps_status ps_dgtd_device_local_keep(const ps_dgtd_device_local *local, ps_dgtd_kept which,
                                    const void *magnetic, ps_stream *stream);
ps_status ps_dgtd_device_local_op(const ps_dgtd_device_local *local, const ps_dgtd_local_op *op,
                                  void *magnetic, ps_stream *stream);
ps_status ps_dgtd_device_local_restore(const ps_dgtd_device_local *local, void *magnetic,
                                       ps_stream *stream);
/* The same of groups [begin, end) of a window, with increments of E zero there at first. */
ps_status ps_dgtd_device_local_begin_part(const ps_dgtd_device_local *local, const void *magnetic,
                                          int64_t begin, int64_t end, ps_stream *stream);
ps_status ps_dgtd_device_local_op_part(const ps_dgtd_device_local *local,
                                       const ps_dgtd_local_op *op, void *magnetic, int64_t begin,
                                       int64_t end, ps_stream *stream);
ps_status ps_dgtd_device_local_restore_part(const ps_dgtd_device_local *local, void *magnetic,
                                            int64_t begin, int64_t end, ps_stream *stream);
/* As ps_dgtd_local_op_source. */
void *ps_dgtd_device_local_source(const ps_dgtd_device_local *local, const ps_dgtd_local_op *op,
                                  void *magnetic);

#endif
