/*
 * dgtd_ports: the ports of a model (specs/dgtd_ports.md): networks on the faces between two
 * conductors, or modes of guides, with what E is weighted with there (kernels/dgtd/port.h).
 */
#ifndef PS_FORMATS_DGTD_PORTS_H
#define PS_FORMATS_DGTD_PORTS_H

#include <stdbool.h>

#include "formats/store.h"

enum { PS_DGTD_PORTS_MAX = 64, PS_DGTD_PORT_NAME = 32 };

/* What a port is told by, in a model and in its signals. */
typedef struct ps_dgtd_port_mode {
    int guide;              /* ps_dgtd_guide: 0 a lumped network, 1 TEM, 2 TE, 3 TM */
    double cutoff, eps, mu; /* k_c, 1/m; of the medium; 0 where it is lumped        */
} ps_dgtd_port_mode;

typedef struct ps_dgtd_port_spec {
    char name[PS_DGTD_PORT_NAME];
    bool parallel;
    double resistance, inductance, capacitance; /* ohm, H, F; 0: none                     */
    double reference; /* ohm, of S-parameters; of TE and TM the wave impedance of the medium, of
                         which theirs are multiples by frequency                              */
    ps_dgtd_port_mode mode;
    int shape;                              /* ps_dgtd_shape of V_s                   */
    double amplitude, centre, width, omega; /* V (0: no source), m, m, 1/m            */
    double norm;                            /* W = int |grad phi|^2                   */
    int64_t sides;                          /* of its faces, after those of the ports before;
                                               0: the network is in a wire (dgtd_wires.h) */
} ps_dgtd_port_spec;

typedef struct ps_dgtd_ports {
    int64_t count, sides; /* sides: of all                                                 */
    ps_dgtd_port_spec *spec;
    int32_t *faces; /* [sides] 4 * element + face, ascending in each port                  */
    double (*gradients)[3]; /* [sides][nodes] 1/m: grad phi times 1/2, or 1 where there is no other
                               side; of modes -e */
    int nodes;              /* 1, or those of a face where there are modes */
} ps_dgtd_ports;

ps_status ps_dgtd_ports_allocate(ps_dgtd_ports *ports, int64_t count, int64_t sides, int nodes);
void ps_dgtd_ports_release(ps_dgtd_ports *ports);
/* Nothing where there are none. */
ps_status ps_dgtd_ports_write(ps_store *store, const ps_dgtd_ports *ports);
/* None where the file has none. PS_INVALID for values that no port of `elements` elements has. */
ps_status ps_dgtd_ports_read(ps_store *store, int64_t elements, ps_dgtd_ports *out);

/* Hz; 0 of lumped ports and TEM. */
double ps_dgtd_port_cutoff(const ps_dgtd_port_mode *mode);
/* What waves of a port refer to, ohm: `reference`, of TE and TM their wave impedance; and beta, 1/m
 * (0 of lumped ports). False at and below the cut-off. */
bool ps_dgtd_port_impedance(const ps_dgtd_port_mode *mode, double reference, double frequency,
                            double *impedance, double *beta);
/* PS_INVALID for what no mode has. */
ps_status ps_dgtd_port_mode_check(const ps_store *store, const char *name,
                                  const ps_dgtd_port_mode *mode);

#endif
