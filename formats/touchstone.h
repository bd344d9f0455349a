/*
 * touchstone: S-parameters over frequency from the files of other programs and of analysers,
 * name.sNp (Touchstone 1.1) and, for the full matrix, 2.0: IBIS Open Forum, Touchstone File Format
 * Specification, version 2.0 (2009).
 */
#ifndef PS_FORMATS_TOUCHSTONE_H
#define PS_FORMATS_TOUCHSTONE_H

#include "formats/trace.h"

enum { PS_TOUCHSTONE_PORTS = 64, PS_TOUCHSTONE_LINE = 1 << 16 };

/* What the suffix says: .s1p to .s64p; 0: another one. */
int ps_touchstone_ports(const char *path);
/*
 * A trace over frequency like that of penstock-dgtd-ports, S conjugated for e^{-iwt}, channel
 * (row - 1) N + column; references are left out. Noise that follows the S-parameters of two ports
 * is not read. The caller releases `trace`. PS_USAGE for a file that is not there or of another
 * suffix, PS_INVALID with the line for what is no such file, or has Y- or Z-parameters, halves of
 * matrices or mixed modes.
 */
ps_status ps_touchstone_load(const char *path, ps_trace *trace);

#endif
