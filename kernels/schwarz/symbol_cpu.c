#include <math.h>

#include "kernels/schwarz/symbol.h"
#include "runtime/isa.h"

static double largest(const ps_symbol *s, const ps_transmission *t)
{
    double p1 = t->p[0], q1 = t->q[0], p2 = t->p[1], q2 = t->q[1], most = 0;
    const double *lambda = s->lambda, *mu = s->mu, *decay = s->decay;
#pragma omp simd reduction(max : most)
    for (int64_t i = 0; i < s->count; ++i) {
        double a = p1 + q1 * mu[i], b = p2 + q2 * mu[i], l = lambda[i];
        double rate = fabs((l - a) * (l - b)) * decay[i] / ((l + a) * (l + b));
        most = rate > most ? rate : most;
    }
    return most;
}

extern const struct ps_symbol_functions PS_ISA_TABLE(ps_symbol_table);
const struct ps_symbol_functions PS_ISA_TABLE(ps_symbol_table) = {.largest = largest};
