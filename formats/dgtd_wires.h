/*
 * dgtd_wires: thin wires in a penstock-dgtd-model (specs/dgtd_wires.md): the nodes of their paths, radii, and
 * which port is the network in one of them.
 */
#ifndef PS_FORMATS_DGTD_WIRES_H
#define PS_FORMATS_DGTD_WIRES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/dgtd_ports.h"

enum { PS_DGTD_WIRES_MAX = 64, PS_DGTD_WIRE_NODES_MAX = 2000 };

typedef struct ps_dgtd_wire_spec {
    double radius, width;     /* m: of the wire, of the tube over which its current is spread    */
    double eps, mu;           /* of the medium about it                                          */
    int64_t nodes;            /* of its path, after those of the wires before                    */
    int64_t feed, port;       /* the node with a network and the port that this is; -1, -1: none */
    bool ground[2];           /* its first, its last end is on metal, of unit normal             */
    double normal[2][3];
} ps_dgtd_wire_spec;

typedef struct ps_dgtd_wires {
    int64_t count, nodes;
    ps_dgtd_wire_spec *spec;
    double (*points)[3]; /* [nodes] m */
} ps_dgtd_wires;

ps_status ps_dgtd_wires_allocate(ps_dgtd_wires *wires, int64_t count, int64_t nodes);
void ps_dgtd_wires_release(ps_dgtd_wires *wires);
/* Nothing where there are none. */
ps_status ps_dgtd_wires_write(ps_store *store, const ps_dgtd_wires *wires);
/* None where the file has none. PS_INVALID for values that no wire has, and for ports without faces that no wire,
 * or more than one, has. */
ps_status ps_dgtd_wires_read(ps_store *store, const ps_dgtd_ports *ports, ps_dgtd_wires *out);

#endif
