#ifndef PS_POSTPROCESS_DGTD_PORTS_FIGURE_TABLE_H
#define PS_POSTPROCESS_DGTD_PORTS_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"ports", "1", "ports"},
    {"runs", "1", "runs, each with another port driven"},
    {"frequencies", "1", "frequencies"},
    {"truncation", "1",
     "largest change of an S-parameter without the last fifth of the signals: what has not "
     "decayed"},
    {"left", "1", "largest energy of the fields at the end of a run, of its largest sample"},
    {"largest_gain", "1",
     "largest power that leaves all ports of one that comes in; above 1 by errors alone"},
    {"largest_singular_value", "1", "of S at all frequencies; above 1 by errors alone"},
    {"asymmetry", "1", "largest |S_jk - S_kj|, of errors alone"},
    {"least_reflection", "1", "least |S11| of the frequencies"},
    {"least_reflection_at", "Hz", "where that is"},
    {"resistance_there", "ohm",
     "real part of the impedance of the first port there, the others "
     "ending in their references"},
    {"reactance_there", "ohm", "imaginary part of it"},
    {NULL, NULL, NULL}};

#endif
