#include "kernels/hbem/narrow.h"

#include <string.h>

void ps_hbem_rule_narrow(const ps_hbem_rule *collapsed, ps_hbem_rule *out)
{
    int n = (int)lround(sqrt(collapsed->count));
    memset(out, 0, sizeof *out);
    for (int i = 0; i < n; ++i) {
        double weight = 0, point[4];
        for (int j = 0; j < n; ++j) weight += collapsed->weight[n * i + j];
        for (int j = 0; j < PS_HBEM_ACROSS; ++j, ++out->count) {
            ps_hbem_narrow_point(collapsed->hat[n * i][1], weight, j, point);
            memcpy(out->hat[out->count], point, 3 * sizeof *point);
            out->weight[out->count] = point[3];
        }
    }
}
