/*
 * radiation_sum: the radiation of the steps of a group by its definition.
 */
#ifndef PS_TESTS_SUPPORT_RADIATION_SUM_H
#define PS_TESTS_SUPPORT_RADIATION_SUM_H

#include "kernels/common/reals.h"
#include "kernels/tdbem/radiation.h"

/* sums[unknowns] += the radiation of step `g` of the group (0: nothing), from recent[g][unknowns],
 * the densities of its steps so far, in the precision of the matrices. Sums in fp64, m ascending,
 * columns ascending. */
static inline void radiation_add(const ps_near *near, const void *recent, int64_t g, double *sums)
{
    for (int64_t m = 1; m <= g; ++m) {
        const int64_t *start = near->row_start + (m - 1) * (near->unknowns + 1);
        for (int64_t i = 0; i < near->unknowns; ++i)
            for (int64_t e = start[i]; e < start[i + 1]; ++e)
                sums[i] += ps_real_at(near->precision, near->values, e) *
                           ps_real_at(near->precision, recent,
                                      (g - m) * near->unknowns + near->columns[e]);
    }
}

#endif
