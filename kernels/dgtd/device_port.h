/*
 * device_port: lumped networks (port.h) on a device: measured and advanced there, so that the host
 * enqueues steps ahead.
 *
 * What V and V* take of E and H, and what I does to E, lie by elements, as coefficients; sums are
 * in double, in an order of their own that is always the same. A step takes one launch whatever the
 * number of ports: it measures, and the last block of a port to be done makes the step of its
 * network or line; the half step of E that comes after it adds what the currents do to E, element
 * by element and in the order of the ports. Bytes a step: some 24 Np (9 elements and 3 of their
 * neighbours), of a handful of elements: it takes as long as a launch and a sum over a block; a
 * line 8 times its states that are at work, twice.
 *
 * Errors as device_state.h.
 */
#ifndef PS_KERNELS_DGTD_DEVICE_PORT_H
#define PS_KERNELS_DGTD_DEVICE_PORT_H

#include "kernels/dgtd/device_state.h"
#include "kernels/dgtd/port.h"

/* Pointers are memory of the device. */
typedef struct ps_dgtd_device_port {
    ps_dgtd_network network;
    double rise, current, state[2];
    int64_t states;                      /* of its line; 0: it has none                */
    double *line;                        /* [states]                                   */
    int64_t elements, sources;           /* with faces of it; whose H V* takes        */
    int64_t *slots, *source_slots;       /* ascending                                 */
    double *volts, *kept, *loads, *flux; /* [elements][3][nodes], flux of the sources */
} ps_dgtd_device_port;

typedef struct ps_dgtd_device_ports {
    int64_t count, rows;        /* rows of steps between reads          */
    int64_t values, items;      /* 3 nodes; elements and sources of the largest port, times that */
    ps_dgtd_device_port *host;  /* [count] of the caller                */
    ps_dgtd_device_port *there; /* the rest on the device: [count]      */
    double *partial;            /* [count][blocks][2]                   */
    unsigned *done;             /* [count] blocks that are done, zero at first */
    double *signals;            /* [rows][count][2] V, I times Z0       */
} ps_dgtd_device_ports;

/* In ps_dgtd_device.bordered: the group has elements of ports. */
enum { PS_DGTD_PORTED = 0x80 };
enum { PS_DGTD_PORT_BLOCKS = 256, PS_DGTD_PORT_ITEMS = 1024 }; /* at most; items of a block */

/* With what a port of the host is turned into one of a device; memory is the caller's. */
typedef struct ps_dgtd_device_port_work {
    const ps_dgtd_system *system;
    const ps_dgtd_device_tables *tables;
    int64_t *slots;  /* [flux.count of the largest port]    */
    double *weights; /* [sources of the largest][3][nodes]; to upload alone */
} ps_dgtd_device_port_work;

/* Counts of port k, host[k], once values and rows are set. Then the pointers of all, and
 * bytes on the device. */
void ps_dgtd_device_port_shape(ps_dgtd_device_ports *out, int64_t k, const ps_dgtd_port *port,
                               const ps_dgtd_device_port_work *work);
int64_t ps_dgtd_device_ports_place(ps_dgtd_device_ports *out, void *memory);
/* The lists of port k, and its groups of `device` are marked. Waits. */
ps_status ps_dgtd_device_port_upload(const ps_dgtd_device_ports *out, int64_t k,
                                     const ps_dgtd_port *port, const ps_dgtd_device *device,
                                     const ps_dgtd_device_port_work *work, ps_stream *stream);

/* States of the networks and lines of ports[count] of the host to the device, or `back`. Waits. */
ps_status ps_dgtd_device_ports_states(const ps_dgtd_device_ports *x, const ps_dgtd_port *ports,
                                      bool back, ps_stream *stream);

/* Where and when a step is made: E^n, H^{n+1/2}, t in its middle; the row that V and I go to. */
typedef struct ps_dgtd_device_ports_step {
    const ps_dgtd_device *device;
    const void *electric, *magnetic;
    int64_t row;
    double t, dt;
} ps_dgtd_device_ports_step;

/* As ps_dgtd_port_measure and _advance of all ports that have elements here, before the half step
 * of E of a device that has these ports, which does as ps_dgtd_port_apply; enqueued. */
ps_status ps_dgtd_device_ports_advance(const ps_dgtd_device_ports *x,
                                       const ps_dgtd_device_ports_step *step, ps_stream *stream);
#endif
