#include "kernels/tdbem/passivity.h"

#include <complex.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "kernels/common/counter_random.h"
#include "runtime/isa.h"

PS_ISA_SELECT(ps_passivity_functions, ps_passivity)

const ps_passivity_functions *ps_passivity_functions_here(void) { return ps_passivity_select(); }

static double complex factor_at(ps_formulation formulation, double complex z)
{
    if (formulation == PS_SOUND_SOFT_S) return 1 - z;
    return formulation == PS_SOUND_HARD ? 1 / (1 - z) : 1;
}

double ps_passivity_factor(ps_formulation formulation, double theta)
{
    return cabs(factor_at(formulation, cexp(I * theta)));
}

void ps_passivity_weights(ps_formulation formulation, int64_t k_max, const double *angles,
                          bool imaginary, double *weights)
{
    for (int t = 0; t < PS_PASSIVITY_ANGLES; ++t) {
        double complex factor = factor_at(formulation, cexp(I * angles[t]));
        for (int64_t k = 0; k <= k_max; ++k) {
            double complex weight = factor * cexp(I * fmod((double)k * angles[t], 2 * M_PI));
            weights[k * PS_PASSIVITY_ANGLES + t] = imaginary ? cimag(weight) : creal(weight);
        }
    }
}

/* ---- Lanczos ---- */

int64_t ps_lanczos_workspace(int64_t n, int steps)
{
    return n * (steps + 2) + (int64_t)steps * (steps + 3);
}

static double dot(int64_t n, const double *x, const double *y)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

static void add_multiple(int64_t n, double factor, const double *x, double *y)
{
    for (int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

/* Scales y to norm 1 and returns what it was; 0 where nothing is left of it. */
static double normalise(int64_t n, double *y)
{
    double norm = sqrt(dot(n, y, y));
    for (int64_t i = 0; norm > 0 && i < n; ++i) y[i] /= norm;
    return norm;
}

static void start_vector(int64_t n, const double *mask, double *v)
{
    for (int64_t i = 0; i < n; ++i)
        v[i] = mask && mask[i] == 0 ? 0 : 2 * ps_counter_uniform(1, (uint64_t)i, 0) - 1;
    normalise(n, v);
}

/* The least pair of the tridiagonal matrix, and what its vector is in all unknowns. */
static ps_status take_pair(int64_t n, int steps, const double *basis, double *alpha, double *beta,
                           double *vectors, double *ritz, ps_lanczos_result *out)
{
    if (LAPACKE_dsteqr(LAPACK_COL_MAJOR, 'I', steps, alpha, beta, vectors, steps) != 0)
        return ps_fail(PS_FAILED, "eigenvalues of a tridiagonal matrix did not converge");
    *out = (ps_lanczos_result){.least = alpha[0], .steps = steps};
    memset(ritz, 0, (size_t)n * sizeof *ritz);
    for (int s = 0; s < steps; ++s) add_multiple(n, vectors[s], basis + s * n, ritz);
    double norm = sqrt(dot(n, ritz, ritz));
    for (int64_t i = 0; i < n; ++i)
        if (fabs(ritz[i]) > fabs(ritz[out->largest])) out->largest = i;
    out->share = norm > 0 ? fabs(ritz[out->largest]) / norm : 0;
    return PS_OK;
}

ps_status ps_lanczos_least(int64_t n, const double *mask, int steps, ps_symmetric_product product,
                           void *context, double *workspace, ps_lanczos_result *out)
{
    double *basis = workspace, *next = basis + n * (steps + 1);
    double *alpha = next + n, *beta = alpha + steps, *vectors = beta + steps;
    int made = 0;
    if (steps > n) steps = (int)n;
    start_vector(n, mask, basis);
    while (made < steps) {
        const double *v = basis + made * n;
        PS_TRY(product(context, v, next));
        alpha[made] = dot(n, v, next);
        for (int pass = 0; pass < 2; ++pass)
            for (int s = made; s >= 0; --s)
                add_multiple(n, -dot(n, basis + s * n, next), basis + s * n, next);
        beta[made] = normalise(n, next);
        ++made;
        if (beta[made - 1] < 1e-12) break; /* the space is invariant */
        memcpy(basis + made * n, next, (size_t)n * sizeof *next);
    }
    return take_pair(n, made, basis, alpha, beta, vectors, next, out);
}
