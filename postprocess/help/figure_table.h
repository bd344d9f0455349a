#ifndef PS_POSTPROCESS_HELP_FIGURE_TABLE_H
#define PS_POSTPROCESS_HELP_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {{"*.stage", "text", "stage that the program belongs to"},
                                         {"*.reads", "text", "what it reads"},
                                         {"*.writes", "text", "what it writes"},
                                         {"*.summary", "text", "what it does"},
                                         {"*.installed", "flag", "whether it is there"},
                                         {NULL, NULL, NULL}};

#endif
