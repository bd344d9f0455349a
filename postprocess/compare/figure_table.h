#ifndef PS_POSTPROCESS_COMPARE_FIGURE_TABLE_H
#define PS_POSTPROCESS_COMPARE_FIGURE_TABLE_H

#include "runtime/report.h"

static const ps_figure figure_table[] = {
    {"result.agree", "flag", "whether all is within the tolerance"},
    {"result.failures", "1", "things that are not"},
    {"space_time.samples", "1", "samples compared"},
    {"space_time.samples_skipped", "1", "samples of no common time"},
    {"space_time.values", "1", "values compared"},
    {"space_time.differing", "1", "values that differ"},
    {"space_time.first_differing", "1", "index of the first"},
    {"space_time.relative_l2", "1", "norm of the difference over that of the reference"},
    {"space_time.relative_max", "1", "largest difference over the largest value"},
    {"space_time.largest", "1", "largest difference"},
    {"space_time.deviation", "1", "sum of differences over the sum of magnitudes"},
    {"space_time.non_finite", "1", "values that are infinite or no numbers"},
    {"space_time.channel_smallest", "1", "relative L2 difference of the best channel"},
    {"space_time.channel_largest", "1", "that of the worst"},
    {"space_time.channel_worst", "1", "its number"},
    {"space_time.channel_errors", "1", "those of all channels"},
    {"*.verdict", "text", "identical, within tolerance, or what differs"},
    {"*.values", "1", "values compared"},
    {"*.differing", "1", "values that differ"},
    {"*.first_differing", "1", "index of the first"},
    {"*.relative_l2", "1", "norm of the difference over that of the reference"},
    {"*.relative_max", "1", "largest difference over the largest value"},
    {"*.largest", "1", "largest difference"},
    {"*.deviation", "1", "sum of differences over the sum of magnitudes"},
    {"*.non_finite", "1", "values that are infinite or no numbers"},
    {"*.channel_smallest", "1", "relative L2 difference of the best channel"},
    {"*.channel_largest", "1", "that of the worst"},
    {"*.channel_worst", "1", "its number"},
    {"*.channel_errors", "1", "those of all channels"},
    {"attributes.*", "text", "an attribute that differs"},
    {NULL, NULL, NULL}};

#endif
