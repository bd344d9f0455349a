/*
 * figure_table: what penstock-particle-import may print through runtime/report.h; main.c alone
 * includes it.
 */
#ifndef PS_PREPROCESS_PARTICLE_IMPORT_FIGURE_TABLE_H
#define PS_PREPROCESS_PARTICLE_IMPORT_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"format", "text", "format that is read"},
    {"particles", "1", "particles"},
    {"right_hand_sides", "1", "charges of a particle"},
    {"coincident", "1", "particles at the place of another one"},
    {"lower", "data", "lower corner of the box around the particles"},
    {"upper", "data", "upper corner"},
    {"rate", "1/s", "particles a second"},
    {NULL, NULL, NULL}};

#endif
