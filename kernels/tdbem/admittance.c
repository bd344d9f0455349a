#include "kernels/tdbem/admittance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/complex_pair.h"

#define LEAF static inline
#include "kernels/tdbem/admittance_body.h"

/* ---- text ---- */

static ps_status expected(const char *text, const char *what)
{
    return ps_fail(PS_USAGE,
                   "--admittance \"%s\": %s. It is WHERE and what adds up: :b0=X, :impedance=Z, "
                   ":pole=A,LAMBDA, :pair=ReA,ImA,ReLAMBDA,ImLAMBDA; up to %d poles and pairs",
                   text, what, PS_POLES_MAX);
}

/* Exactly `count` finite numbers, separated by commas, up to a colon or the end. */
static bool read_numbers(const char *at, int count, double *out)
{
    for (int i = 0; i < count; ++i) {
        char *end;
        out[i] = strtod(at, &end);
        bool last = i + 1 == count, ended = last ? *end == ':' || *end == 0 : *end == ',';
        if (end == at || !isfinite(out[i]) || !ended) return false;
        at = end + 1;
    }
    return true;
}

static ps_status add_pole(const char *text, const double *x, bool pair, ps_admittance *out)
{
    if (out->count == PS_POLES_MAX) return expected(text, "too many poles");
    ps_pole *p = &out->poles[out->count++];
    *p = pair ? (ps_pole){{x[0], x[1]}, {x[2], x[3]}, true} : (ps_pole){{x[0]}, {x[1]}, false};
    if (p->lambda[0] > 0) return PS_OK;
    return ps_fail(PS_USAGE,
                   "--admittance \"%s\": the pole at s = %g%+gi does not decay: the real part of "
                   "lambda must be positive",
                   text, -p->lambda[0], -p->lambda[1]);
}

static ps_status read_part(const char *text, const char *part, ps_admittance *out)
{
    static const struct {
        const char *name;
        int numbers;
    } parts[] = {{"b0=", 1}, {"impedance=", 1}, {"pole=", 2}, {"pair=", 4}};
    double x[4];
    int kind = 0;
    while (kind < 4 && strncmp(part, parts[kind].name, strlen(parts[kind].name))) ++kind;
    if (kind == 4) return expected(text, "unknown part");
    if (!read_numbers(part + strlen(parts[kind].name), parts[kind].numbers, x))
        return expected(text, kind < 2    ? "one number expected"
                              : kind == 2 ? "a pole has two numbers"
                                          : "a pair has four numbers");
    if (kind == 1 && x[0] == 0) return expected(text, "an impedance of 0 is a soft surface");
    if (kind < 2)
        out->b0 += kind ? 1 / x[0] : x[0];
    else
        PS_TRY(add_pole(text, x, kind == 3, out));
    return PS_OK;
}

ps_status ps_admittance_parse(const char *text, char where[PS_WHERE_MAX], ps_admittance *out)
{
    size_t length = strcspn(text, ":");
    *out = (ps_admittance){.count = 0};
    if (length == 0 || length >= PS_WHERE_MAX)
        return expected(text, "it begins with the part of the mesh, or all");
    memcpy(where, text, length);
    where[length] = 0;
    for (const char *at = text + length; *at; at += strcspn(at, ":"))
        PS_TRY(read_part(text, ++at, out));
    if (out->b0 == 0 && out->count == 0) return expected(text, "nothing gives way here");
    ps_status status = ps_admittance_check(out);
    return status == PS_OK ? PS_OK : ps_context(status, "--admittance \"%s\"", text);
}

void ps_admittance_print(const char *where, const ps_admittance *beta, char *out, size_t size)
{
    int used = snprintf(out, size, "%s:b0=%.17g", where, beta->b0);
    for (int j = 0; j < beta->count; ++j) {
        const ps_pole *p = &beta->poles[j];
        size_t at = (size_t)used < size ? (size_t)used : size;
        used += p->pair ? snprintf(out + at, size - at, ":pair=%.17g,%.17g,%.17g,%.17g",
                                   p->residue[0], p->residue[1], p->lambda[0], p->lambda[1])
                        : snprintf(out + at, size - at, ":pole=%.17g,%.17g", p->residue[0],
                                   p->lambda[0]);
    }
}

/* ---- frequencies ---- */

void ps_admittance_at(const ps_admittance *beta, double w, double out[2])
{
    double complex sum = beta->b0, s = -I * w;
    for (int j = 0; j < beta->count; ++j) {
        double complex a = ps_complex_of(beta->poles[j].residue),
                       l = ps_complex_of(beta->poles[j].lambda);
        sum += a / (s + l);
        if (beta->poles[j].pair) sum += conj(a) / (s + conj(l));
    }
    ps_complex_put(sum, out);
}

/* The real part of a pole or a pair: (n0 + n1 x) / (x^2 + d1 x + d0) in x = w^2; of a real pole,
 * n0 / (x + d0). */
typedef struct term {
    double n0, n1, d0, d1;
    bool pair;
} term;

static term term_of(const ps_pole *p)
{
    double l = p->lambda[0];
    if (!p->pair) return (term){.n0 = p->residue[0] * l, .d0 = l * l};
    double complex a = ps_complex_of(p->residue), lambda = ps_complex_of(p->lambda);
    double a0 = 2 * creal(a * conj(lambda)), a1 = 2 * creal(a);
    double sum = 2 * l, square = l * l + p->lambda[1] * p->lambda[1];
    return (term){.n0 = a0 * square,
                  .n1 = a1 * sum - a0,
                  .d0 = square * square,
                  .d1 = sum * sum - 2 * square,
                  .pair = true};
}

static double term_at(const term *t, double x)
{
    if (isinf(x)) return 0;
    return t->pair ? (t->n0 + t->n1 * x) / ((x + t->d1) * x + t->d0) : t->n0 / (x + t->d0);
}

/* Where a pair's term may turn: n1 x^2 + 2 n0 x + n0 d1 - n1 d0 = 0. Returns how many. */
static int turns(const term *t, double out[2])
{
    if (!t->pair || (t->n0 == 0 && t->n1 == 0)) return 0;
    double c = t->n0 * t->d1 - t->n1 * t->d0, square = t->n0 * t->n0 - t->n1 * c;
    double q = -(t->n0 + copysign(sqrt(fmax(square, 0)), t->n0)); /* nothing cancels */
    int count = 0;
    if (t->n1 != 0) out[count++] = q / t->n1;
    if (q != 0) out[count++] = c / q;
    return count;
}

/* The least and the largest value for x in [low, high]. */
static void term_range(const term *t, double low, double high, double *least, double *most)
{
    double at[2], ends[2] = {term_at(t, low), term_at(t, high)};
    *least = fmin(ends[0], ends[1]);
    *most = fmax(ends[0], ends[1]);
    for (int i = turns(t, at) - 1; i >= 0; --i) {
        if (!(at[i] > low && at[i] < high)) continue;
        *least = fmin(*least, term_at(t, at[i]));
        *most = fmax(*most, term_at(t, at[i]));
    }
}

/* Re beta over frequencies: x = scale u/(1-u), u from 0 to 1. */
typedef struct real_part {
    double b0, scale, tolerance;
    int count;
    term terms[PS_POLES_MAX];
} real_part;

static double square_at(const real_part *f, double u)
{
    return u < 1 ? f->scale * (u / (1 - u)) : INFINITY;
}

static double value_at(const real_part *f, double u)
{
    double sum = f->b0, x = square_at(f, u);
    for (int j = 0; j < f->count; ++j) sum += term_at(&f->terms[j], x);
    return sum;
}

static double bound_below(const real_part *f, double low, double high)
{
    double sum = f->b0, least, most;
    for (int j = 0; j < f->count; ++j) {
        term_range(&f->terms[j], square_at(f, low), square_at(f, high), &least, &most);
        sum += least;
    }
    return sum;
}

static void set_real_part(const ps_admittance *beta, real_part *f)
{
    double logs = 0, largest = fabs(beta->b0);
    *f = (real_part){.b0 = beta->b0, .scale = 1, .count = beta->count};
    for (int j = 0; j < f->count; ++j) {
        double least, most;
        f->terms[j] = term_of(&beta->poles[j]);
        term_range(&f->terms[j], 0, INFINITY, &least, &most);
        largest += fmax(fabs(least), fabs(most));
        logs += 2 * log(cabs(ps_complex_of(beta->poles[j].lambda))) / f->count;
    }
    if (f->count > 0) f->scale = exp(logs);
    f->tolerance = 1e-9 * largest;
}

static ps_status not_passive(const real_part *f, double u)
{
    enum { LOOKS = 1024 };
    char where[64] = "far above all poles";
    for (int i = 0; i <= LOOKS; ++i) /* where it is worst, as far as one sees */
        if (value_at(f, (double)i / LOOKS) < 1.000001 * value_at(f, u)) u = (double)i / LOOKS;
    double w = sqrt(square_at(f, u));
    if (isfinite(w)) snprintf(where, sizeof where, "at %.6g Hz (w = %.6g/s)", w / (2 * M_PI), w);
    return ps_fail(PS_USAGE,
                   "the wall is not passive: Re beta = %.3g %s, where it gives sound away instead "
                   "of taking it, and the march would grow; add %.3g to b0, or fit the poles under "
                   "the constraint Re beta >= 0",
                   value_at(f, u), where, -value_at(f, u));
}

ps_status ps_admittance_check(const ps_admittance *beta)
{
    enum { DEPTH = 200, CELLS = 1 << 22 };
    real_part f;
    set_real_part(beta, &f);
    double low[DEPTH] = {0}, high[DEPTH] = {1};
    int64_t cells = 0;
    if (value_at(&f, 0) < -f.tolerance) return not_passive(&f, 0);
    for (int depth = 1; depth > 0; ++cells) {
        --depth;
        double a = low[depth], b = high[depth], middle = (a + b) / 2;
        if (value_at(&f, b) < -f.tolerance) return not_passive(&f, b);
        if (bound_below(&f, a, b) >= -f.tolerance) continue;
        if (cells == CELLS || depth + 2 > DEPTH || middle <= a || middle >= b)
            return ps_fail(PS_USAGE,
                           "whether the wall is passive cannot be decided: Re beta comes as near "
                           "to 0 as rounding, at %.6g Hz; add a little to b0",
                           sqrt(square_at(&f, a)) / (2 * M_PI));
        low[depth] = middle;
        high[depth++] = b;
        low[depth] = a;
        high[depth++] = middle;
    }
    return PS_OK;
}

/* ---- time ---- */

/* sum_k (-z)^k / (k + first)!: (1 - e^-z)/z and (1 - (1 - e^-z)/z)/z for first = 1, 2. */
static double complex phi(double complex z, int first)
{
    enum { TERMS = 24 };
    if (cabs(z) >= 1) {
        double complex one = (1 - cexp(-z)) / z;
        return first == 1 ? one : (1 - one) / z;
    }
    double complex sum = 0, next = first == 1 ? 1 : .5;
    for (int k = 0; k < TERMS; ++k) {
        sum += next;
        next *= -z / (k + 1 + first);
    }
    return sum;
}

void ps_admittance_filter_init(const ps_admittance *beta, double dt, ps_admittance_filter *out)
{
    *out = (ps_admittance_filter){.direct = beta->b0, .count = beta->count};
    for (int j = 0; j < beta->count; ++j) {
        const ps_pole *p = &beta->poles[j];
        double complex a = ps_complex_of(p->residue) * (p->pair ? 2 : 1),
                       z = ps_complex_of(p->lambda) * dt;
        out->direct += creal(a * dt * phi(z, 2));
        ps_complex_put(cexp(-z), out->poles[j].decay);
        ps_complex_put(dt * phi(z, 1), out->poles[j].gain);
        ps_complex_put(a * phi(z, 1), out->poles[j].mean);
        out->poles[j].pair = p->pair;
        out->states += p->pair ? 2 : 1;
    }
}

void ps_admittance_past(const ps_admittance_filter *filter, int64_t count, const double *state,
                        double *out)
{
    for (int64_t i = 0; i < count; ++i) out[i] += admittance_past_of(filter, state + i, count);
}

void ps_admittance_advance(const ps_admittance_filter *filter, int64_t count, const double *w,
                           double *state)
{
    for (int64_t i = 0; i < count; ++i) admittance_advance_of(filter, w[i], state + i, count);
}
