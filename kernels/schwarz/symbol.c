#include "kernels/schwarz/symbol.h"

#include <math.h>

#include "runtime/isa.h"

PS_ISA_SELECT(struct ps_symbol_functions, ps_symbol_table)

static const double pi = 3.14159265358979323846;

const char *ps_transmission_name(ps_transmission_kind kind)
{
    static const char *const names[PS_TRANSMISSION_KINDS] = {"oo0", "oo0-two-sided", "oo2",
                                                             "oo2-two-sided"};
    return names[kind];
}

static void set_sample(ps_symbol *symbol, int64_t i, double mu, double hx, double overlap)
{
    symbol->mu[i] = mu;
    symbol->lambda[i] = sqrt(mu * (1 + mu * hx * hx / 12));
    symbol->decay[i] = exp(-2 * sqrt(mu) * overlap);
}

void ps_symbol_fill(const ps_symbol_range *range, ps_symbol *symbol)
{
    double step = log(range->kmax / range->kmin) / (double)(symbol->count - 1);
    for (int64_t i = 0; i < symbol->count; ++i) {
        double k = i == symbol->count - 1 ? range->kmax : range->kmin * exp(step * (double)i);
        set_sample(symbol, i, k * k, range->hx, range->overlap);
    }
}

static double line_eigenvalue(const ps_q1_grid *grid, int axis, int64_t j)
{
    double h = grid->spacing[axis], c = cos(pi * (double)j / (double)(grid->nodes[axis] - 1));
    return (2 - 2 * c) /
           (h * (ps_mass_here(h, grid->lumped) + 2 * c * ps_mass_beside(h, grid->lumped)));
}

double ps_symbol_length(const ps_q1_grid *grid)
{
    return grid->spacing[0] * sqrt(1 + 2 * grid->lumped);
}

void ps_face_range(const ps_q1_grid *grid, double *least, double *largest)
{
    *least = *largest = 0;
    for (int a = 1; a < 3; ++a) {
        *least += line_eigenvalue(grid, a, 1);
        *largest += line_eigenvalue(grid, a, grid->nodes[a] - 2);
    }
}

double ps_symbol_rate(const ps_transmission *t, double lambda, double mu)
{
    double rate = 1;
    for (int s = 0; s < 2; ++s) {
        double a = t->p[s] + t->q[s] * mu;
        rate *= (lambda - a) / (lambda + a);
    }
    return fabs(rate);
}

double ps_symbol_largest(const ps_symbol *symbol, const ps_transmission *t)
{
    return ps_symbol_table_select()->largest(symbol, t);
}

/* Which side gets which pair does not change rho, but double sweeps gain from the larger p on the
 * right faces, which a forward sweep meets first. */
static ps_transmission larger_first(ps_transmission t)
{
    return t.p[0] >= t.p[1] ? t : (ps_transmission){{t.p[1], t.p[0]}, {t.q[1], t.q[0]}};
}

/* ---- closed forms ---- */

/* (a, b) -> (sqrt(ab), (a + b) / 2) applied n times, then the quotient of square roots. */
static double mean_rate(double a, double b, int n)
{
    for (; n > 0; --n) {
        double g = sqrt(a * b);
        b = (a + b) / 2;
        a = g;
    }
    return (sqrt(b) - sqrt(a)) / (sqrt(b) + sqrt(a));
}

/* The roots of t^2 - sum t + product. */
static void roots(double sum, double product, double out[2])
{
    out[0] = (sum + sqrt(fmax(sum * sum - 4 * product, 0))) / 2;
    out[1] = product / out[0];
}

ps_transmission ps_transmission_closed(ps_transmission_kind kind, double kmin, double kmax,
                                       double *rho)
{
    double m = kmin * kmax, s = sqrt(2 * sqrt(m) * (kmin + kmax)), root[2];
    double t0 = 2 * sqrt(m), t1 = kmin + kmax;
    switch (kind) {
    case PS_OO0_SYMMETRIC:
        *rho = pow(mean_rate(kmin, kmax, 0), 2);
        return (ps_transmission){{sqrt(m), sqrt(m)}, {0, 0}};
    case PS_OO0_UNSYMMETRIC:
        *rho = mean_rate(kmin, kmax, 1);
        roots(s, m, root);
        return (ps_transmission){{root[0], root[1]}, {0, 0}};
    case PS_OO2_SYMMETRIC:
        *rho = pow(mean_rate(kmin, kmax, 1), 2);
        return (ps_transmission){{m / s, m / s}, {1 / s, 1 / s}};
    default:
        *rho = mean_rate(kmin, kmax, 2);
        roots(sqrt(2 * sqrt(t0 * t1) * (t0 + t1)), t0 * t1, root);
        return larger_first(
            (ps_transmission){{m / root[0], m / root[1]}, {1 / root[0], 1 / root[1]}});
    }
}

/* ---- search ---- */

static int parameters_of(ps_transmission_kind kind)
{
    static const int count[PS_TRANSMISSION_KINDS] = {1, 2, 2, 4};
    return count[kind];
}

/* Parameters of a kind: 1 (p), 2 (p1, p2), 2 (p, q), 4 (p1, q1, p2, q2); from logarithms. */
static ps_transmission transmission_from(ps_transmission_kind kind, const double *x)
{
    int last = parameters_of(kind) - 1;
    double first = exp(x[0]), second = exp(x[last > 1 ? 1 : last]);
    switch (kind) {
    case PS_OO0_SYMMETRIC:
        return (ps_transmission){{first, first}, {0, 0}};
    case PS_OO0_UNSYMMETRIC:
        return (ps_transmission){{first, second}, {0, 0}};
    case PS_OO2_SYMMETRIC:
        return (ps_transmission){{first, first}, {second, second}};
    default:
        return (ps_transmission){{first, exp(x[2])}, {second, exp(x[3])}};
    }
}

static double cost_of(void *context, const double *x)
{
    const ps_transmission_search *search = context;
    ps_transmission t = transmission_from(search->kind, x);
    return ps_symbol_largest(search->symbol, &t);
}

ps_status ps_transmission_optimise(const ps_transmission_search *search, ps_transmission *out,
                                   double *rho, ps_cmaes_result *result)
{
    int n = parameters_of(search->kind);
    bool second_order = search->kind >= PS_OO2_SYMMETRIC;
    ps_transmission_search own = *search;
    ps_cmaes cmaes = {.dimension = n,
                      .population = 25,
                      .sigma = 2,
                      .threshold = 5e-11,
                      .limit = (int64_t)(1000.0 * (n + 5) * (n + 5) / 5),
                      .seed = search->seed,
                      .cost = cost_of,
                      .context = &own};
    for (int i = 0; i < n; ++i) cmaes.mean[i] = search->start[second_order ? i % 2 : 0];
    ps_status status = ps_cmaes_minimise(&cmaes, result);
    *out = larger_first(transmission_from(search->kind, result->x));
    *rho = result->cost;
    return status;
}
