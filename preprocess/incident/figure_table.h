/*
 * figure_table: what penstock-incident may print through runtime/report.h; main.c alone includes
 * it.
 */
#ifndef PS_PREPROCESS_INCIDENT_FIGURE_TABLE_H
#define PS_PREPROCESS_INCIDENT_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"unknowns", "1", "unknowns of the mesh"},
    {"steps", "1", "steps of the file"},
    {"sources", "1", "sources"},
    {"velocity_modes", "1", "patterns by which the surface moves itself"},
    {"largest_load", "data", "largest load"},
    {"mach_number", "1", "largest speed of a source over that of sound"},
    {"kept_below", "Hz", "frequency up to which recordings are taken as they are"},
    {"cut_energy", "1",
     "largest share of a recording's or of samples' energy that lies above and is left out"},
    {NULL, NULL, NULL}};

#endif
