#ifndef PS_POSTPROCESS_DGTD_SPHERE_FIGURE_TABLE_H
#define PS_POSTPROCESS_DGTD_SPHERE_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"*.kr", "1", "wave number times radius"},
    {"*.q_extinction", "1", "extinction efficiency"},
    {"*.q_scattering", "1", "scattering efficiency"},
    {"*.q_absorption", "1", "absorption efficiency"},
    {"*.q_backscattering", "1", "backscattering efficiency"},
    {"*.absorption_cross_section", "m2", "absorption cross-section"},
    {"*.rcs_backwards", "m2", "radar cross-section backwards"},
    {"*.centre_field", "1", "electric field in the centre, of the incident one"},
    {NULL, NULL, NULL}};

#endif
