#include "library/penstock/sum.h"

#include <omp.h>

#include "kernels/fmm/particle_set.h"
#include "library/code.h"
#include "runtime/threads.h"
#include "stage/particle_sum/particle_sum.h"

_Static_assert((int)PENSTOCK_SIDES_MAX == PS_FMM_SIDES_MAX, "as many right-hand sides");

static ps_status run(const penstock_sum *s, double *potential, double *gradient,
                     penstock_sum_figures *figures)
{
    PS_TRY(ps_threads_check_default());
    ps_particle_sum_figures f = {0};
    ps_particle_sum sum = {.sources = s->sources,
                           .targets = s->targets,
                           .charges = s->charges,
                           .sides = s->sides,
                           .function = {.parameter = s->parameter},
                           .accuracy = s->accuracy,
                           .threads = omp_get_max_threads()};
    for (int d = 0; d < 3; ++d) {
        sum.source[d] = s->source[d];
        sum.target[d] = s->target[d];
    }
    PS_TRY(ps_fmm_kernel_parse(s->kernel, &sum.function.kernel));
    ps_status status = ps_particle_sum_run(&sum, potential, gradient, &f);
    if (figures)
        *figures = (penstock_sum_figures){f.order,   f.levels,    f.attempts,
                                          f.samples, f.potential, f.gradient};
    return status;
}

penstock_status penstock_sum_run(const penstock_sum *sum, double *potential, double *gradient,
                                 penstock_sum_figures *figures)
{
    return code(run(sum, potential, gradient, figures));
}
