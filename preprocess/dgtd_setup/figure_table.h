/*
 * figure_table: what penstock-dgtd-setup may print through runtime/report.h; main.c alone includes
 * it.
 */
#ifndef PS_PREPROCESS_DGTD_SETUP_FIGURE_TABLE_H
#define PS_PREPROCESS_DGTD_SETUP_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"order", "1", "polynomial order"},
    {"elements", "1", "tetrahedra"},
    {"unknowns", "1", "field values"},
    {"parts", "1", "parts of the partition"},
    {"media", "1", "media"},
    {"sources", "1", "sources"},
    {"faces_pec", "1", "outer faces of metal"},
    {"faces_pmc", "1", "outer faces that are magnetic conductors, or symmetries"},
    {"faces_absorbing", "1", "outer faces that absorb"},
    {"total_field_elements", "1", "elements in the region of the total field"},
    {"layer_shape", "text", "what the matched layer is about"},
    {"layer_elements", "1", "elements in it"},
    {"layer_thickness", "m", "its thickness, at the thickest side"},
    {"layer_alpha", "1/s", "shift of its frequencies"},
    {"absorbing", "text", "form of the absorbing condition"},
    {"flux", "text", "numerical flux"},
    {"state_f32", "B", "fields of one state in single precision"},
    {"medium_*.name", "text", "name of the group"},
    {"medium_*.elements", "1", "its elements"},
    {"medium_*.eps", "1", "relative permittivity"},
    {"medium_*.mu", "1", "relative permeability"},
    {"medium_*.sigma", "S/m", "conductivity"},
    {"medium_*.density", "kg/m3", "mass density"},
    {"medium_*.least_size", "m", "least size that the rule for the step sees"},
    {"time_step.dt", "s", "time step"},
    {"time_step.dt_metres", "m", "time step times the speed of light"},
    {"time_step.limit_rule", "s", "limit by the rule"},
    {"time_step.limit_power", "s", "limit by power iteration"},
    {"time_step.seconds_power", "s", "time that this iteration took"},
    {"time_step.shape_min", "m", "least volume over surface of an element"},
    {"time_step.shape_median", "m", "median of it"},
    {"time_step.limited_by", "text", "element that limits the step"},
    {"time_step.limited_in", "text", "group of that element"},
    {"time_step.within_10_percent", "1", "elements within 10 % of that limit"},
    {"time_step.gain_without_10", "1", "factor of the step without the 10 worst elements"},
    {"time_step.gain_without_100", "1", "without the 100 worst"},
    {"time_step.gain_without_1000", "1", "without the 1000 worst"},
    {"time_step.scaled_elements", "1", "elements whose media were scaled for a longer step"},
    {"time_step.scaled_volume", "1", "their part of the volume"},
    {"time_step.scaled_excess", "1", "what scaling added, as a part of the volume"},
    {"time_step.scaled_factor_max", "1", "largest factor"},
    {"time_step.dt_rule_p*", "s", "step by the rule at another order"},
    {"time_step.steps_a_period_*", "1", "steps in a period of a source"},
    {"local_steps.levels", "1", "classes of smaller steps"},
    {"local_steps.updates_saved", "1",
     "updates of elements with one step for all, over those with local steps"},
    {"local_steps.step_most", "s",
     "step that elements at borders, in layers and at the total field's surface allow"},
    {"local_steps.bound", "1", "largest eigenvalue of a step that was found; stable below 1"},
    {"local_steps.applications", "1", "applications that found it and those of the classes"},
    {"local_steps.lowered", "1", "elements whose steps are smaller for stability"},
    {"class_*.step", "s", "step of a class"},
    {"class_*.elements", "1", "elements that need it"},
    {"class_*.reached", "1", "elements whose field H makes steps of this class, and none smaller"},
    {"class_*.bound", "1", "largest eigenvalue of the class that was found; stable below 1"},
    {NULL, NULL, NULL}};

#endif
