/*
 * port_signals: voltage and current of ports over time, "penstock-dgtd-ports"
 * (specs/dgtd_ports.md). Written by penstock-dgtd-march, read by penstock-dgtd-ports.
 */
#ifndef PS_FORMATS_PORT_SIGNALS_H
#define PS_FORMATS_PORT_SIGNALS_H

#include "formats/dgtd_ports.h"

#define PS_PORT_SIGNALS_FORMAT "penstock-dgtd-ports"
enum { PS_PORT_SIGNALS_VERSION = 2 };

typedef struct ps_port_signals {
    int64_t ports, samples;
    double dt;         /* s; sample i is at (i + 1/2) dt                                      */
    double left;       /* energy of the fields at the end, of its largest sample              */
    double *voltage;   /* [samples][ports] V, + against -                                     */
    double *current;   /* [samples][ports] A, out of the + terminal into the field            */
    double *reference; /* [ports] ohm (dgtd_ports.h)                                          */
    ps_dgtd_port_mode *mode; /* [ports] */
    uint8_t *driven;   /* [ports] 1: its network has a source                                 */
    char (*name)[PS_DGTD_PORT_NAME];
    char mesh_hash[17]; /* of the mesh file                                                    */
    char body_hash[17]; /* ps_dgtd_model_body_hash; "": not known                              */
} ps_port_signals;

ps_status ps_port_signals_init(ps_port_signals *signals, int64_t ports, int64_t samples);
void ps_port_signals_release(ps_port_signals *signals);
/* Into a store that is to be committed. */
ps_status ps_port_signals_write(ps_store *store, const ps_port_signals *signals);
/* PS_INVALID for what is no such file; infinite values are refused by the store. */
ps_status ps_port_signals_read(ps_store *store, ps_port_signals *out);

#endif
