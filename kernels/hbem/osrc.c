#include "kernels/hbem/osrc.h"

#include <complex.h>
#include <math.h>
#include <string.h>

static double complex from(const double z[2]) { return z[0] + I * z[1]; }

static void put(double complex z, double out[2])
{
    out[0] = creal(z);
    out[1] = cimag(z);
}

/* C0, A_j, B_j (F. Milinazzo, C. Zala, G. Brooke, J. Acoust. Soc. Am. 101 (1997) 760). */
static void pade(ps_osrc *osrc)
{
    const double theta = M_PI / 3;
    double complex z = cexp(-I * theta) - 1, c0 = 1;
    for (int j = 1; j <= osrc->terms; ++j) {
        double angle = j * M_PI / (2 * osrc->terms + 1);
        double a = 2. / (2 * osrc->terms + 1) * sin(angle) * sin(angle);
        double b = cos(angle) * cos(angle);
        double complex below = 1 + b * z;
        c0 += a * z / below;
        put(cexp(-I * theta / 2) * a / (below * below), osrc->a[j - 1]);
        put(cexp(-I * theta) * b / below, osrc->b[j - 1]);
    }
    put(cexp(I * theta / 2) * c0, osrc->c0);
}

ps_status ps_osrc_init(ps_osrc *osrc, ps_coupling coupling, double wavenumber, double radius,
                       int terms)
{
    if (!(wavenumber > 0) || !(radius > 0) || !isfinite(wavenumber + radius))
        return ps_fail(PS_USAGE, "a wave number of %g rad/m and a radius of %g m: both are > 0",
                       wavenumber, radius);
    if (terms < 1 || terms > PS_OSRC_TERMS_MAX)
        return ps_fail(PS_USAGE, "%d terms of Pade: 1 to %d are possible", terms,
                       PS_OSRC_TERMS_MAX);
    memset(osrc, 0, sizeof *osrc);
    osrc->coupling = coupling;
    osrc->wavenumber = wavenumber;
    osrc->terms = terms;
    osrc->ke[0] = wavenumber;
    osrc->ke[1] = .4 * cbrt(wavenumber) / cbrt(radius * radius);
    pade(osrc);
    return PS_OK;
}

static double complex symbol(const ps_osrc *osrc, double lambda, bool exact)
{
    double complex ke = from(osrc->ke), x = -lambda / (ke * ke), root = from(osrc->c0);
    if (osrc->coupling == PS_COUPLING_PLAIN) return 0;
    if (osrc->coupling == PS_COUPLING_MILLER) return 1 / (I * osrc->wavenumber);
    for (int j = 0; j < osrc->terms; ++j) root += from(osrc->a[j]) * x / (1 + from(osrc->b[j]) * x);
    return (exact ? 1 / csqrt(1 + x) : root / (1 + x)) / (I * osrc->wavenumber);
}

void ps_osrc_symbol(const ps_osrc *osrc, double lambda, bool exact, double out[2])
{
    put(symbol(osrc, lambda, exact), out);
}

/* y[2][n] = factor x */
static void scale(int64_t n, double complex factor, const double *x, double *y)
{
    double re = creal(factor), im = cimag(factor);
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; ++i) {
        double a = x[i], b = x[n + i];
        y[i] = re * a - im * b;
        y[n + i] = re * b + im * a;
    }
}

int ps_osrc_shifts(const ps_osrc *osrc, double (*out)[2])
{
    double complex ke = from(osrc->ke);
    if (osrc->coupling != PS_COUPLING_OSRC) return 0;
    put(1 / (ke * ke), out[0]);
    for (int j = 0; j < osrc->terms; ++j) put(from(osrc->b[j]) / (ke * ke), out[1 + j]);
    return 1 + osrc->terms;
}

int64_t ps_osrc_workspace(int64_t dofs) { return PS_OSRC_GROUP * 2 * dofs; }

/* What ps_osrc_apply hands on. */
typedef struct apply {
    const ps_osrc *osrc;
    const ps_hbem_sparse *matrix;
    const ps_shifted_solver *solver;
    double *inner; /* solutions of a group */
    double shifts[1 + PS_OSRC_TERMS_MAX][2];
} apply;

/* Terms of all sides, numbered side x terms + term, [first, first + count): their shares of y,
 * which has the factor 1/ik already. */
static ps_status add_terms(const apply *a, int64_t first, int64_t count, const double *b, double *y)
{
    int64_t n = 2 * a->matrix->dofs;
    double complex ke = from(a->osrc->ke);
    ps_shifted_system systems[PS_OSRC_GROUP];
    for (int64_t s = 0; s < count; ++s) {
        int64_t side = (first + s) / a->osrc->terms, term = (first + s) % a->osrc->terms;
        systems[s] = (ps_shifted_system){.b = b + side * n, .x = a->inner + s * n};
        memcpy(systems[s].shift, a->shifts[1 + term], sizeof systems[s].shift);
    }
    PS_TRY(a->solver->solve(a->solver->context, count, systems));
    for (int64_t s = 0; s < count; ++s) {
        double factor[2];
        put(I * from(a->osrc->a[(first + s) % a->osrc->terms]) / (a->osrc->wavenumber * ke * ke),
            factor);
        ps_hbem_stiffness_add(a->matrix, factor, a->inner + s * n,
                              y + (first + s) / a->osrc->terms * n);
    }
    return PS_OK;
}

/* y <- (M - shift L)^-1 y for `count` sides, at most PS_OSRC_GROUP. */
static ps_status solve_in_place(const apply *a, const double shift[2], int64_t count, double *y)
{
    ps_shifted_system systems[PS_OSRC_GROUP];
    for (int64_t s = 0; s < count; ++s) {
        double *at = y + s * 2 * a->matrix->dofs;
        systems[s] = (ps_shifted_system){.shift = {shift[0], shift[1]}, .b = at, .x = at};
    }
    return a->solver->solve(a->solver->context, count, systems);
}

static int64_t group_of(int64_t left) { return left < PS_OSRC_GROUP ? left : PS_OSRC_GROUP; }

ps_status ps_osrc_apply(const ps_osrc *osrc, const ps_hbem_sparse *matrix,
                        const ps_shifted_solver *solver, int64_t sides, const double *b, double *y,
                        double *workspace)
{
    apply a = {osrc, matrix, solver, workspace, {{0}}};
    int64_t n = matrix->dofs;
    int64_t terms = ps_osrc_shifts(osrc, a.shifts) > 0 ? sides * osrc->terms : 0;
    double complex first = terms ? from(osrc->c0) : 1;
    if (osrc->coupling == PS_COUPLING_PLAIN) {
        memset(y, 0, (size_t)(sides * 2 * n) * sizeof *y);
        return PS_OK;
    }
    for (int64_t side = 0; side < sides; ++side)
        scale(n, first / (I * osrc->wavenumber), b + 2 * n * side, y + 2 * n * side);
    for (int64_t t = 0; t < terms; t += PS_OSRC_GROUP)
        PS_TRY(add_terms(&a, t, group_of(terms - t), b, y));
    for (int64_t s = 0; s < sides; s += PS_OSRC_GROUP)
        PS_TRY(solve_in_place(&a, a.shifts[0], group_of(sides - s), y + 2 * n * s));
    return PS_OK;
}
