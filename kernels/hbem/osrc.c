#include "kernels/hbem/osrc.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "kernels/common/complex_pair.h"

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
        ps_complex_put(cexp(-I * theta / 2) * a / (below * below), osrc->a[j - 1]);
        ps_complex_put(cexp(-I * theta) * b / below, osrc->b[j - 1]);
    }
    ps_complex_put(cexp(I * theta / 2) * c0, osrc->c0);
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
    osrc->decay = fmax(0, 1 / radius - wavenumber);
    pade(osrc);
    return PS_OK;
}

/* What V^-1 does to constants. */
static double complex onset(const ps_osrc *osrc) { return I * osrc->wavenumber - osrc->decay; }

static double complex symbol(const ps_osrc *osrc, double lambda, bool exact)
{
    double complex ke = ps_complex_of(osrc->ke), x = -lambda / (ke * ke),
                   root = ps_complex_of(osrc->c0);
    if (osrc->coupling == PS_COUPLING_PLAIN) return 0;
    if (osrc->coupling == PS_COUPLING_MILLER) return 1 / onset(osrc);
    for (int j = 0; j < osrc->terms; ++j)
        root += ps_complex_of(osrc->a[j]) * x / (1 + ps_complex_of(osrc->b[j]) * x);
    return (exact ? 1 / csqrt(1 + x) : root / (1 + x)) / onset(osrc);
}

void ps_osrc_symbol(const ps_osrc *osrc, double lambda, bool exact, double out[2])
{
    ps_complex_put(symbol(osrc, lambda, exact), out);
}

int ps_osrc_shifts(const ps_osrc *osrc, double (*out)[2])
{
    double complex ke = ps_complex_of(osrc->ke);
    if (osrc->coupling != PS_COUPLING_OSRC) return 0;
    ps_complex_put(1 / (ke * ke), out[0]);
    for (int j = 0; j < osrc->terms; ++j)
        ps_complex_put(ps_complex_of(osrc->b[j]) / (ke * ke), out[1 + j]);
    return 1 + osrc->terms;
}

/* Shifts and weights: V M^-1 = sum_j weight_j (M - shift_j L)^-1; their number. */
static int fractions(const ps_osrc *osrc, double (*shift)[2], double complex *weight)
{
    double complex own = onset(osrc), first = ps_complex_of(osrc->c0);
    int count = ps_osrc_shifts(osrc, shift);
    if (count == 0) {
        memset(shift[0], 0, sizeof shift[0]);
        weight[0] = 1 / own;
        return osrc->coupling == PS_COUPLING_MILLER;
    }
    for (int j = 1; j < count; ++j) {
        double complex share = ps_complex_of(osrc->a[j - 1]) / (1 - ps_complex_of(osrc->b[j - 1]));
        first -= share;
        weight[j] = share / own;
    }
    weight[0] = first / own;
    return count;
}

int64_t ps_osrc_workspace(int64_t dofs) { return PS_OSRC_GROUP * 2 * dofs; }

/* y[2][n] += factor x */
static void add(int64_t n, double complex factor, const double *x, double *y)
{
    double re = creal(factor), im = cimag(factor);
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; ++i) {
        y[i] += re * x[i] - im * x[n + i];
        y[n + i] += re * x[n + i] + im * x[i];
    }
}

static ps_status apply_combined(const ps_shifted_solver *solver, int64_t terms,
                                const double complex *weight, int64_t sides, const double *b,
                                double *y)
{
    double pairs[1 + PS_OSRC_TERMS_MAX][2];
    for (int64_t j = 0; j < terms; ++j) ps_complex_put(weight[j], pairs[j]);
    return solver->combine(solver->context, sides, pairs, b, y);
}

/* y = sum_j weight_j (M - shift_j L)^-1 b */
static ps_status sum_fractions(int64_t n, const ps_shifted_solver *solver, int64_t terms,
                               double (*shift)[2], const double complex *weight, int64_t sides,
                               const double *b, double *y, double *workspace)
{
    ps_shifted_system systems[PS_OSRC_GROUP];
    memset(y, 0, (size_t)(sides * 2 * n) * sizeof *y);
    for (int64_t first = 0; first < sides * terms; first += PS_OSRC_GROUP) {
        int64_t left = sides * terms - first, count = left < PS_OSRC_GROUP ? left : PS_OSRC_GROUP;
        for (int64_t s = 0; s < count; ++s) {
            const double *c = shift[(first + s) % terms];
            systems[s] = (ps_shifted_system){
                {c[0], c[1]}, b + (first + s) / terms * 2 * n, workspace + s * 2 * n};
        }
        PS_TRY(solver->solve(solver->context, count, systems));
        for (int64_t s = 0; s < count; ++s)
            add(n, weight[(first + s) % terms], systems[s].x, y + (first + s) / terms * 2 * n);
    }
    return PS_OK;
}

ps_status ps_osrc_apply(const ps_osrc *osrc, const ps_pencil *matrix,
                        const ps_shifted_solver *solver, int64_t sides, const double *b, double *y,
                        double *workspace)
{
    double shift[1 + PS_OSRC_TERMS_MAX][2];
    double complex weight[1 + PS_OSRC_TERMS_MAX];
    int64_t terms = fractions(osrc, shift, weight);
    if (solver->combine) return apply_combined(solver, terms, weight, sides, b, y);
    return sum_fractions(matrix->dofs, solver, terms, shift, weight, sides, b, y, workspace);
}

/* y = whole M^-1 b + sum_{j >= first} weight_j (M - shift_j L)^-1 b */
static ps_status add_fractions(const ps_osrc *osrc, const ps_pencil *matrix,
                               const ps_shifted_solver *solver, double complex whole,
                               const double complex *weight, int first, int64_t sides,
                               const double *b, const double *massless, double *y,
                               double *workspace)
{
    double shift[1 + PS_OSRC_TERMS_MAX][2];
    int64_t n = matrix->dofs, terms = ps_osrc_shifts(osrc, shift);
    if (terms == 0)
        memset(y, 0, (size_t)(sides * 2 * n) * sizeof *y);
    else if (solver->combine)
        PS_TRY(apply_combined(solver, terms, weight, sides, b, y));
    else
        PS_TRY(sum_fractions(n, solver, terms - first, shift + first, weight + first, sides, b, y,
                             workspace));
    for (int64_t s = 0; s < sides; ++s) add(n, whole, massless + s * 2 * n, y + s * 2 * n);
    return PS_OK;
}

ps_status ps_osrc_apply_inverse(const ps_osrc *osrc, const ps_pencil *matrix,
                                const ps_shifted_solver *solver, int64_t sides, const double *b,
                                const double *massless, double *y, double *workspace)
{
    double shift[1 + PS_OSRC_TERMS_MAX][2];
    double complex weight[1 + PS_OSRC_TERMS_MAX] = {0}, own = onset(osrc), whole = own;
    int64_t terms = ps_osrc_shifts(osrc, shift);
    if (osrc->coupling == PS_COUPLING_PLAIN) whole = 0;
    if (terms > 0) whole *= ps_complex_of(osrc->c0);
    for (int64_t j = 1; j < terms; ++j) { /* A X/(1 + B X) = A/B (1 - 1/(1 + B X)) */
        weight[j] = -own * ps_complex_of(osrc->a[j - 1]) / ps_complex_of(osrc->b[j - 1]);
        whole -= weight[j];
    }
    return add_fractions(osrc, matrix, solver, whole, weight, 1, sides, b, massless, y, workspace);
}

/* ---- impedances ---- */

/* Where the fit is made: evenly to three times the wave number, where surface waves are, then
 * sparser. */
enum { FIT_EVEN = 241, FIT_BEYOND = 60, FIT_ROWS = FIT_EVEN + FIT_BEYOND };

static double fit_lambda(const ps_osrc *osrc, int row)
{
    double x = row < FIT_EVEN ? 3. * row / (FIT_EVEN - 1)
                              : 3 * pow(40. / 3, (row - FIT_EVEN + 1.) / FIT_BEYOND);
    return x * osrc->wavenumber * x * osrc->wavenumber;
}

ps_status ps_osrc_reaction_init(const ps_osrc *osrc, const double b[2], ps_osrc_reaction *out)
{
    double shift[1 + PS_OSRC_TERMS_MAX][2];
    double complex columns[(2 + PS_OSRC_TERMS_MAX) * FIT_ROWS], right[FIT_ROWS];
    int terms = ps_osrc_shifts(osrc, shift);
    memset(out, 0, sizeof *out);
    for (int row = 0; row < FIT_ROWS; ++row) {
        double lambda = fit_lambda(osrc, row);
        double complex inverse =
            1 + I * osrc->wavenumber * symbol(osrc, lambda, false) * ps_complex_of(b);
        double weight = cabs(inverse);
        columns[row] = weight;
        for (int j = 0; j < terms; ++j)
            columns[(1 + j) * FIT_ROWS + row] = weight / (1 - lambda * ps_complex_of(shift[j]));
        right[row] = weight / inverse;
    }
    if (LAPACKE_zgels(LAPACK_COL_MAJOR, 'N', FIT_ROWS, 1 + terms, 1, columns, FIT_ROWS, right,
                      FIT_ROWS) != 0)
        return ps_fail(PS_FAILED, "the fit of an impedance failed (LAPACK)");
    ps_complex_put(right[0], out->whole);
    for (int j = 0; j < terms; ++j) ps_complex_put(right[1 + j], out->weight[j]);
    return PS_OK;
}

ps_status ps_osrc_react(const ps_osrc *osrc, const ps_osrc_reaction *reaction,
                        const ps_pencil *matrix, const ps_shifted_solver *solver, int64_t sides,
                        const double *b, const double *massless, double *y, double *workspace)
{
    double complex weight[1 + PS_OSRC_TERMS_MAX] = {0};
    for (int j = 0; j <= osrc->terms; ++j) weight[j] = ps_complex_of(reaction->weight[j]);
    return add_fractions(osrc, matrix, solver, ps_complex_of(reaction->whole), weight, 0, sides, b,
                         massless, y, workspace);
}
