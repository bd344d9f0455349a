/*
 * device_march: whole half steps on a device (march.h): what keeps the old traces, the sweep,
 * currents, incident fields, the absorbing term and the layer, for a range of groups.
 */
#ifndef PS_KERNELS_DGTD_DEVICE_MARCH_H
#define PS_KERNELS_DGTD_DEVICE_MARCH_H

#include "kernels/dgtd/device_pml.h"
#include "kernels/dgtd/device_port.h"
#include "kernels/dgtd/device_upwind.h"

/* A border (border.h) on a device. Its matrices are for coefficients: fill the host's border with
 * a system whose reference is that of the tables, as ps_dgtd_device_border_fill does. */
typedef struct ps_dgtd_device_border {
    int averaged, has_incident;
    ps_dgtd_incident incident;
    int64_t count, matrix_count;
    const ps_dgtd_border_element *host; /* of the host: whose slots tell ranges           */
    ps_dgtd_border_element *elements;   /* the rest on the device                         */
    double *matrices;                   /* [matrix_count]                                 */
    double *former;                     /* [2 fields][count][4][2][face nodes]: old traces */
} ps_dgtd_device_border;

/* Fills the elements and matrices of a border of the host (counted, with its memory) for a device:
 * as ps_dgtd_border_fill, but matrices act on coefficients. It is of no use on the CPU then. */
void ps_dgtd_device_border_fill(ps_dgtd_border *border, const ps_dgtd_system *system,
                                const ps_dgtd_device_tables *tables, const ps_dgtd_body *body,
                                const uint8_t *total, double dt);
/* All but the pointers; these, and bytes on the device; the copy, which waits. The host's elements
 * must stay as long as the device's border is used. */
void ps_dgtd_device_border_shape(ps_dgtd_device_border *out, const ps_dgtd_border *border);
int64_t ps_dgtd_device_border_place(ps_dgtd_device_border *border, int order, void *memory);
ps_status ps_dgtd_device_border_upload(const ps_dgtd_device_border *out,
                                       const ps_dgtd_border *border, ps_stream *stream);

/* A current (source.h) on a device: slots and loads there, of coefficients. */
typedef struct ps_dgtd_device_current {
    ps_dgtd_pulse moment;
    double axis[3];
    int64_t count, first, last; /* slots are from `first` to `last` */
    int64_t *slots;
    double *loads; /* [count][nodes] */
} ps_dgtd_device_current;

void ps_dgtd_device_current_shape(ps_dgtd_device_current *out, const ps_dgtd_current *current);
int64_t ps_dgtd_device_current_place(ps_dgtd_device_current *current, int order, void *memory);
/* Waits. The host's loads, of values at nodes, become coefficients on the way, in
 * workspace[count][nodes] of the host. */
ps_status ps_dgtd_device_current_upload(const ps_dgtd_device_current *out,
                                        const ps_dgtd_current *current,
                                        const ps_dgtd_device_tables *tables, double *workspace,
                                        ps_stream *stream);

/* The half step of a march in two launches, of all groups together; an event is recorded between
 * them, or waited for. */
typedef struct ps_dgtd_device_split {
    const ps_dgtd_device_units *units[2];
    ps_event *between;
    bool waits;
    void *kept; /* old values of H of some slots, as ps_dgtd_device_half_units takes them */
} ps_dgtd_device_split;

typedef struct ps_dgtd_device_march {
    const ps_dgtd_device *device;
    const ps_dgtd_device_border *border;    /* NULL: none */
    const ps_dgtd_device_current *currents; /* [current_count] */
    int64_t current_count;
    const ps_dgtd_device_upwind *upwind; /* NULL: centred flux */
    const ps_dgtd_device_pml *pml;       /* NULL: no layer; none of its elements absorbs */
    const ps_dgtd_device_ports *ports;   /* NULL: none     */
    double dt;                           /* m              */
    int64_t start; /* step whose half steps are the first: the traces of old fields are taken anew
                      then, afterwards each half step leaves them for the next of its field */
    void *electric, *magnetic;         /* E^n, H^{n+1/2} */
    const ps_dgtd_device_split *split; /* NULL: one launch; else parts are one, of all groups */
} ps_dgtd_device_march;

/* What ports do before the half step of E from step n on, their signals to a row; enqueued. */
ps_status ps_dgtd_device_march_ports(const ps_dgtd_device_march *march, int64_t n, int64_t row,
                                     ps_stream *stream);
/* As ps_dgtd_march_half for up to PS_DGTD_DEVICE_PARTS parts that are not linked to one another,
 * each from its own step on; enqueued, waits for nothing. */
ps_status ps_dgtd_device_march_parts(const ps_dgtd_device_march *march, ps_dgtd_field field,
                                     const ps_dgtd_device_part *parts, int count,
                                     ps_stream *stream);
/* One part. */
ps_status ps_dgtd_device_march_half(const ps_dgtd_device_march *march, ps_dgtd_field field,
                                    int64_t n, int64_t begin, int64_t end, ps_stream *stream);

#endif
