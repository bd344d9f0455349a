#ifndef PS_POSTPROCESS_DGTD_SAR_FIGURE_TABLE_H
#define PS_POSTPROCESS_DGTD_SAR_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"elements", "1", "elements with fields"},
    {"voxels", "1", "voxels of the grid"},
    {"memory_of_voxels", "B", "memory of them"},
    {"frequency", "Hz", "frequency"},
    {"amplitude", "data", "amplitude of the source"},
    {"absorbed", "W", "power absorbed"},
    {"outflow", "W", "power out through absorbing faces"},
    {"accepted", "W", "both together"},
    {"port_power", "W", "what the ports of the run accept"},
    {"balance", "1", "absorbed and outflow over it, less 1"},
    {"absorption_cross_section", "m2", "absorbed power over the density of the wave"},
    {"mass", "kg", "mass of all"},
    {"largest_sar", "W/kg", "largest of an element"},
    {"voxel_mass", "kg", "mass of the voxels"},
    {"voxel_power", "W", "power absorbed in them"},
    {"average_*.largest", "W/kg", "largest average over this mass"},
    {"average_*.voxels_without", "1", "voxels that have no average"},
    {"average_*.place", "m", "where the largest is"},
    {"average_*.voxel", "text", "how its voxel got its average"},
    {"average_*.side", "m", "side of the cube"},
    {"average_*.tag", "1", "tag of the material there"},
    {"at_*.place", "m", "point of --at"},
    {"at_*.electric", "V/m", "magnitude of the electric field"},
    {"at_*.real", "V/m", "its real part"},
    {"at_*.imaginary", "V/m", "its imaginary part"},
    {"*.elements", "1", "elements of this material"},
    {"*.volume", "m3", "volume"},
    {"*.absorbed", "W", "power absorbed"},
    {"*.mass", "kg", "mass"},
    {"*.mean_sar", "W/kg", "power over mass"},
    {"*.largest_sar", "W/kg", "largest of an element"},
    {"unsettled", "1", "share of the fields that had not settled when they were transformed"},
    {NULL, NULL, NULL}};

#endif
