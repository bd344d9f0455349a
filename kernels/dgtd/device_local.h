/*
 * device_local: local steps (local_steps.h) on a device: the same operations on lists of units.
 *
 * A level needs nothing of its own but factors, increments, and lists of which elements take part,
 * a sector of memory an entry: neighbouring lanes stay neighbours in memory, and elements of a
 * level need not lie together to be found, so that the order of elements is free to keep neighbours
 * near one another. As increments of H are read where the next level is alone, a level adds to what
 * it acts on at once elsewhere. R_1 H is made in the place of H, of which a copy is kept. Bytes an
 * element beside the half step's own: 2 x 12 Np for the copy and back of Q_1; an increment's old
 * value is not read.
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
/* Lists of a level: P, Q, and where increments of H are added; then all elements, in groups that
 * hold elements of Q_2 or some that are linked to those, and the others: R_2 changes nothing that
 * the latter's half steps read. */
enum { PS_DGTD_LISTS = 3, PS_DGTD_LOCAL_LISTS = PS_DGTD_LISTS * PS_DGTD_LOCAL_LEVELS + 2 };

typedef struct ps_dgtd_device_local {
    const ps_dgtd_local *host; /* whose operations and faces it has */
    ps_dgtd_device system;     /* that of the march, but faces and factors */
    int64_t field_bytes;       /* with its halo */
    void *steps[PS_DGTD_LOCAL_LEVELS];
    void *electric[PS_DGTD_LOCAL_LEVELS], *magnetic[PS_DGTD_LOCAL_LEVELS], *kept;
    int64_t start[PS_DGTD_LOCAL_LISTS + 1];
    ps_dgtd_device_unit *units;            /* of the device, as are pieces: of all lists   */
    ps_range *pieces;                      /* what is kept, a few groups each              */
    int64_t piece_start[3];                /* by ps_dgtd_kept                              */
    const ps_dgtd_device_unit *host_units; /* the same on the host */
    const ps_range *host_pieces;
} ps_dgtd_device_local;

/* Shapes it, and counts the units of all lists for reach[slots] as the host's has it; returns how
 * many there are. system: of the march. */
int64_t ps_dgtd_device_local_shape(ps_dgtd_device_local *out, const ps_dgtd_local *host,
                                   const ps_dgtd_device *device, const ps_dgtd_system *system,
                                   const uint8_t *reach);
/* Increments: fields one behind the other, E and H of level 1, E and H of level 2, .. E of the
 * last.
 */
static inline int ps_dgtd_device_local_fields(int levels)
{
    return levels > 0 ? 2 * levels - 1 : 0;
}
/* Bytes on the device beside the increments, of fields with so many halo slots, or without the
 * fields, where these are of a window, whose owner sets `electric`, `magnetic` and `kept`; the
 * pointers; then lists, faces, factors and zeros, which waits. */
enum { PS_DGTD_WINDOWED = -1 };
int64_t ps_dgtd_device_local_bytes(const ps_dgtd_device *device, int levels, int64_t halo_slots);
void ps_dgtd_device_local_attach(ps_dgtd_device_local *local, int64_t halo_slots, void *memory,
                                 void *increments);
/* What an upload needs of the host: units[as counted], pieces[groups], factors[4][materials]. The
 * first two stay as long as parts of a window are asked for. */
typedef struct ps_dgtd_device_local_work {
    ps_dgtd_device_unit *units;
    ps_range *pieces;
    double *factors;
} ps_dgtd_device_local_work;
ps_status ps_dgtd_device_local_upload(ps_dgtd_device_local *local, const ps_dgtd_system *system,
                                      const uint8_t *reach, const ps_dgtd_material *materials,
                                      double dt, const ps_dgtd_device_local_work *work,
                                      ps_stream *stream);
/* All elements of groups that R_2 concerns, or of the others; those of Q_1 are marked as kept. */
ps_dgtd_device_units ps_dgtd_device_local_part(const ps_dgtd_device_local *local, bool concerned);

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
