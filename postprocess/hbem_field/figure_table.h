#ifndef PS_POSTPROCESS_HBEM_FIELD_FIGURE_TABLE_H
#define PS_POSTPROCESS_HBEM_FIELD_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {{"triangles", "1", "triangles"},
                                         {"incidences", "1", "incident waves"},
                                         {"frequencies", "1", "frequencies"},
                                         {"channels", "1", "channels of the trace"},
                                         {"points_inside", "1", "points inside the body"},
                                         {"points_on_surface", "1", "points on its surface"},
                                         {"points_outside", "1", "points outside"},
                                         {"evaluations", "1", "evaluations of the kernel"},
                                         {"largest_value", "data", "largest value"},
                                         {NULL, NULL, NULL}};

#endif
