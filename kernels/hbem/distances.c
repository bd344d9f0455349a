#include "kernels/hbem/distances.h"

PS_ISA_SELECT(struct ps_hbem_distance_functions, ps_hbem_distance)

void ps_hbem_distances(const double *x, const double *y, double *out)
{
    ps_hbem_distance_select()->distances(x, y, out);
}
