#ifndef PS_POSTPROCESS_REPORT_FIGURE_TABLE_H
#define PS_POSTPROCESS_REPORT_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {{"files", "1", "files and series in the page"},
                                         {"bad", "1", "files that are damaged, or not Penstock's"},
                                         {"others", "1", "files of folders that were not read"},
                                         {"pictures", "1", "pictures"},
                                         {"views", "1", "views that can be turned"},
                                         {"undrawn", "1", "pictures that could not be drawn"},
                                         {"bytes", "B", "size of the page"},
                                         {NULL, NULL, NULL}};

#endif
