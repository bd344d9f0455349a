/*
 * device_wire: thin wires (wire.h) on a device: measured and advanced there, so that the host
 * enqueues steps ahead.
 *
 * Rows of currents lie together: what a current takes of E and of the charges, and of the inverse
 * of L + dt r/2 in place of its factors, so that a step is two products and no recursion. All sums
 * are in double, in an order that is always the same. Three launches a step: forces, currents with
 * charges and network, and after the half step of E what the currents do to it. Bytes a step: 16
 * times the squares of currents, 32 Np a pair of element and segment.
 *
 * Errors as device_state.h.
 */
#ifndef PS_KERNELS_DGTD_DEVICE_WIRE_H
#define PS_KERNELS_DGTD_DEVICE_WIRE_H

#include "kernels/dgtd/device_state.h"
#include "kernels/dgtd/wire.h"

/* Pointers are memory of the device. */
typedef struct ps_dgtd_device_wire {
    ps_dgtd_network network;
    int64_t currents, segments, feed, port, elements, pairs;
    double *state,
        *force; /* as of wire.h; [currents + 1] dt times voltages, and what I of the feed grew by */
    double *potentials, *inverse;  /* [currents][segments] D' P, [currents]^2 */
    int32_t *ends, *pair_segments; /* [segments][2], [pairs]                  */
    double *directions;            /* [segments][3]                           */
    int64_t *slots, *first;        /* [elements], [elements + 1] into pairs   */
    int64_t *pair_slots;           /* [pairs]                                 */
    double *weights, *loads; /* [pairs][2][nodes], of coefficients; loads with the gain of E */
    int64_t *entry_first;    /* [currents + 1] into entries             */
    int32_t *entries;        /* [2 pairs] 2 pair + hat, by current; those of no current last */
} ps_dgtd_device_wire;

typedef struct ps_dgtd_device_wires {
    int64_t count, port_count, most; /* most: currents of the largest */
    int nodes;
    ps_dgtd_device_wire *host;  /* [count] of the caller                  */
    ps_dgtd_device_wire *there; /* the rest on the device: [count]        */
    unsigned *done;             /* [count] blocks that are done, zero at first */
    double *signals;            /* borrowed: [rows][port_count][2] V, I times Z0 of all ports */
} ps_dgtd_device_wires;

/* Sizes of wire k, once count, nodes and host are there; then the pointers of all, and bytes on the
 * device. */
void ps_dgtd_device_wire_shape(ps_dgtd_device_wires *out, int64_t k, const ps_dgtd_wire *wire);
int64_t ps_dgtd_device_wires_place(ps_dgtd_device_wires *out, void *memory);
/* Doubles that the upload of a wire needs on the host. */
int64_t ps_dgtd_device_wire_work(const ps_dgtd_device_wires *out, int64_t k);
/* Tables of wire k, once ps_dgtd_wire_set was. Waits. */
ps_status ps_dgtd_device_wire_upload(const ps_dgtd_device_wires *out, int64_t k,
                                     const ps_dgtd_wire *wire, const ps_dgtd_system *system,
                                     const ps_dgtd_device_tables *tables, double *work,
                                     ps_stream *stream);
/* States of wires[count] of the host to the device, or `back`. Waits. */
ps_status ps_dgtd_device_wires_states(const ps_dgtd_device_wires *x, const ps_dgtd_wire *wires,
                                      bool back, ps_stream *stream);

/* A step: E^n and t at its middle, the row of the signals; E of groups [begin, end) is what apply
 * changes. */
typedef struct ps_dgtd_device_wires_step {
    const ps_dgtd_device *device;
    void *electric;
    int64_t row, begin, end;
    double t, dt;
} ps_dgtd_device_wires_step;

/* As ps_dgtd_wire_measure and _advance of all wires, before the half step of E; enqueued. */
ps_status ps_dgtd_device_wires_advance(const ps_dgtd_device_wires *x,
                                       const ps_dgtd_device_wires_step *step, ps_stream *stream);
/* As ps_dgtd_wire_apply, after it. */
ps_status ps_dgtd_device_wires_apply(const ps_dgtd_device_wires *x,
                                     const ps_dgtd_device_wires_step *step, ps_stream *stream);

/* wire_cuda.cu: private to device_wire.c. */
ps_status ps_dgtd_wires_advance_cuda(const ps_dgtd_device_wires *wires,
                                     const ps_dgtd_device_wires_step *step, ps_stream *stream);
ps_status ps_dgtd_wires_apply_cuda(const ps_dgtd_device_wires *wires,
                                   const ps_dgtd_device_wires_step *step, ps_stream *stream);
#endif
