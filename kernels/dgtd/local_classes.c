/* What local steps are by their classes: steps, and updates of a step. Apart from the march, so that programs that only tell
 * of a model do without its kernels. */
#include "kernels/dgtd/local_steps.h"

#include <math.h>

static const double stretch = 1 + PS_DGTD_LOCAL_DAMPING / 4; /* d */

double ps_dgtd_local_ratio(void) { return sqrt((2 * stretch * stretch - 1) / (4 * stretch)); }

double ps_dgtd_local_gain(int level, double dt)
{
    return dt * dt * pow(ps_dgtd_local_ratio(), 2 * level) * (2 - 1 / (stretch * stretch)) / 16;
}

double ps_dgtd_local_updates(const uint8_t *reach, int64_t elements)
{
    double sum = 0;
    for (int64_t e = 0; e < elements; ++e)
        sum += (double)((1 << ps_dgtd_reach_p(reach[e])) + (1 << ps_dgtd_reach_q(reach[e]))) / 2;
    return sum;
}
