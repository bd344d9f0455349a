#ifndef PS_POSTPROCESS_DGTD_FAR_FIGURE_TABLE_H
#define PS_POSTPROCESS_DGTD_FAR_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"frequencies", "1", "frequencies"},
    {"directions", "1", "directions"},
    {"faces", "1", "faces of the surface"},
    {"area", "m2", "area of the surface"},
    {"holes_inside", "1", "closed surfaces inside it"},
    {"background_eps", "1", "relative permittivity of the medium around"},
    {"background_mu", "1", "relative permeability of it"},
    {"unsettled", "1", "share of the fields that had not settled when they were transformed"},
    {"*.radiated_power", "W", "of a unit of the source"},
    {"*.outflow", "W", "out through the surface, of a unit of the source"},
    {"*.balance", "1", "radiated power over outflow, less 1: what returns from the outer boundary"},
    {"*.accepted_power", "W", "by the ports, likewise"},
    {"*.efficiency", "1", "radiated over accepted power"},
    {"*.incident_power", "W", "that comes into the driven ports, of a unit of the source"},
    {"*.total_efficiency", "1", "radiated over incident power"},
    {"*.largest_directivity", "1", "of the directions in which the radiated power was summed"},
    {"*.largest_gain", "1", "likewise, of the accepted power"},
    {"*.largest_realized_gain", "1", "likewise, of the incident power"},
    {NULL, NULL, NULL}};

#endif
