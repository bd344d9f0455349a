#include "kernels/hbem/narrow.h"

#include <string.h>

void ps_hbem_rule_narrow(int n, ps_hbem_rule *out)
{
    double node[PS_HBEM_ALONG_MOST], weight[PS_HBEM_ALONG_MOST], along[PS_HBEM_ALONG_MOST][2];
    ps_hbem_gauss(n, node, weight);
    for (int i = 0; i < n; ++i) {
        along[i][0] = node[i];
        along[i][1] = weight[i];
    }
    memset(out, 0, sizeof *out);
    for (int q = 0; q < PS_HBEM_ACROSS * n; ++q, ++out->count) {
        double point[4];
        ps_hbem_narrow_point((const double(*)[2])along, q, point);
        memcpy(out->hat[q], point, 3 * sizeof *point);
        out->weight[q] = point[3];
    }
}
