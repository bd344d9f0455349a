#ifndef PS_POSTPROCESS_SPECTRUM_FIGURE_TABLE_H
#define PS_POSTPROCESS_SPECTRUM_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"channels", "1", "channels"},
    {"frequencies", "1", "frequencies"},
    {"lowest", "Hz", "lowest frequency"},
    {"highest", "Hz", "highest frequency"},
    {"usable_up_to", "Hz", "frequency up to which the pulse has energy"},
    {"truncation", "1", "what is left at the end of the signal, of its peak"},
    {NULL, NULL, NULL}};

#endif
