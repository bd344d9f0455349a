/*
 * scattering: S and Z of ports from voltages and currents of as many runs as there are ports.
 *
 * a = (V + R I)/(2 sqrt R), b = (V - R I)/(2 sqrt R) with R the reference of each port; columns of
 * A and B are runs: S = B A^-1, Z = V I^-1, whatever the ports ended in. Transforms sum_i x_i
 * e^{-iwt_i} dt, E(t) = Re(E^ e^{+iwt}). R of a mode is its wave impedance at the frequency, and its
 * plane of reference may be moved along the guide: a and b turn by e^{-+i beta d}.
 */
#ifndef PS_POSTPROCESS_DGTD_PORTS_SCATTERING_H
#define PS_POSTPROCESS_DGTD_PORTS_SCATTERING_H

#include <complex.h>

#include "formats/port_signals.h"

/* Matrices [ports][ports], row the port, column the run or the port that is driven. */
typedef struct scattering {
    int64_t ports;
    double shift[PS_DGTD_PORTS_MAX]; /* m from the port's faces into the mesh; modes alone */
    double complex *a, *b, *voltage, *current, *s, *work;
} scattering;

ps_status scattering_open(int64_t ports, scattering *out);
void scattering_close(scattering *x);

/* s at a frequency from the first `part` of the samples of signals[ports]. *loudness: the least of
 * the driven waves against the largest that its samples could add up to. PS_INVALID if the waves of
 * the runs are not independent. */
ps_status scattering_at(scattering *x, const ps_port_signals *signals, double frequency,
                        double part, double *loudness);

/* The largest singular value of s: 1 where no power is lost, above it where some is made. */
double scattering_norm(const scattering *x);

/* out = Z or Y of the same transforms. PS_INVALID: the matrix is singular. */
ps_status scattering_impedance(scattering *x, bool admittance, double complex *out);

#endif
