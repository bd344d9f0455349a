/* A coarse space for subdomains of any shape (specs/schwarz.md): loads that are constant or linear
 * over all the interfaces of a subdomain at once. */
#include <math.h>
#include <string.h>

#include "compute/schwarz_solve/parts.h"
#include "runtime/memory.h"

enum { M = PARTS_MODES };

struct parts_coarse {
    int64_t all, size; /* functions of all subdomains; values of the own traces */
    double *basis;     /* Z, [M][size]: of each own subdomain, on the traces that act on it */
    double *images;    /* T Z, [M][size]: on a trace, of the functions of the subdomain beyond */
    double *factor;    /* [all][all], LU of E = Z' (I - T) Z */
    int64_t *pivot;
    double *values; /* [all] */
};

static double dot(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

/* Values of a subdomain's traces. */
static void range_of(const parts *s, int64_t d, int64_t *first, int64_t *end)
{
    const part *q = s->part + d;
    int64_t trace = q->sides ? q->side[0].trace - s->base : 0;
    *first = q->sides ? s->start[trace] : 0;
    *end = q->sides ? s->start[trace + q->sides] : 0;
}

/* Makes the functions of a subdomain orthonormal, in order; those that depend on others become 0.
 */
static void orthonormalise(const parts *s, parts_coarse *c, int64_t d)
{
    int64_t first, end;
    range_of(s, d, &first, &end);
    for (int64_t v = 0; v < M; ++v) {
        double *z = c->basis + v * c->size + first, before = dot(end - first, z, z);
        for (int turn = 0; turn < 2; ++turn)
            for (int64_t w = 0; w < v; ++w) {
                const double *y = c->basis + w * c->size + first;
                double along = dot(end - first, y, z);
                for (int64_t i = 0; i < end - first; ++i) z[i] -= along * y[i];
            }
        double left = dot(end - first, z, z), scale = left > 1e-8 * before ? 1 / sqrt(left) : 0;
        for (int64_t i = 0; i < end - first; ++i) z[i] *= scale;
    }
}

static void fill_basis(const parts *s, parts_coarse *c)
{
    for (int64_t d = 0; d < s->end - s->first; ++d) {
        const part *q = s->part + d;
        for (int64_t k = 0; k < q->sides; ++k)
            for (int64_t v = 0; v < M; ++v)
                memcpy(c->basis + v * c->size + s->start[q->side[k].trace - s->base],
                       q->side[k].modes + v * q->side[k].nodes,
                       (size_t)q->side[k].nodes * sizeof(double));
        orthonormalise(s, c, d);
    }
}

/* The rows of E that belong to an own subdomain. Functions that are 0 leave rows of the identity.
 */
static void fill_rows(const parts *s, parts_coarse *c, int64_t d)
{
    for (int64_t w = 0; w < M; ++w) {
        int64_t own = (s->first + d) * M + w;
        double *row = c->factor + own * c->all;
        row[own] = 1;
        for (int64_t k = 0; k < s->part[d].sides; ++k) {
            const side *x = s->part[d].side + k;
            int64_t at = s->start[x->trace - s->base];
            for (int64_t v = 0; v < M; ++v)
                row[x->other * M + v] -=
                    dot(x->nodes, c->basis + w * c->size + at, c->images + v * c->size + at);
        }
    }
}

/* Gauss with partial pivoting, rows of a matrix of n. */
static ps_status factorise(int64_t n, double *a, int64_t *pivot)
{
    for (int64_t i = 0; i < n; ++i) {
        int64_t best = i;
        for (int64_t r = i + 1; r < n; ++r)
            if (fabs(a[r * n + i]) > fabs(a[best * n + i])) best = r;
        pivot[i] = best;
        if (!(fabs(a[best * n + i]) > 1e-12))
            return ps_fail(PS_FAILED, "the coarse space is singular");
        for (int64_t k = 0; k < n && best != i; ++k) {
            double other = a[i * n + k];
            a[i * n + k] = a[best * n + k];
            a[best * n + k] = other;
        }
#pragma omp parallel for schedule(static)
        for (int64_t r = i + 1; r < n; ++r) {
            double factor = a[r * n + i] /= a[i * n + i];
            if (factor == 0) continue;
            for (int64_t k = i + 1; k < n; ++k) a[r * n + k] -= factor * a[i * n + k];
        }
    }
    return PS_OK;
}

static void solve_factor(int64_t n, const double *a, const int64_t *pivot, double *x)
{
    for (int64_t i = 0; i < n; ++i) {
        double value = x[pivot[i]];
        x[pivot[i]] = x[i];
        x[i] = value;
    }
    for (int64_t i = 0; i < n; ++i) x[i] -= dot(i, a + i * n, x);
    for (int64_t i = n - 1; i >= 0; --i)
        x[i] = (x[i] - dot(n - 1 - i, a + i * n + i + 1, x + i + 1)) / a[i * n + i];
}

/* values = Z' r */
static ps_status restrict_traces(const parts *s, parts_coarse *c, const double *r)
{
    memset(c->values, 0, (size_t)c->all * sizeof *c->values);
    for (int64_t d = 0; d < s->end - s->first; ++d) {
        int64_t first, end;
        range_of(s, d, &first, &end);
        for (int64_t v = 0; v < M; ++v)
            c->values[(s->first + d) * M + v] =
                dot(end - first, c->basis + v * c->size + first, r + first);
    }
    return ps_comm_sum_f64(c->values, c->all);
}

ps_status parts_coarse_correct(parts *s, double *r)
{
    parts_coarse *c = s->coarse;
    PS_TRY(restrict_traces(s, c, r));
    solve_factor(c->all, c->factor, c->pivot, c->values);
    for (int64_t d = 0; d < s->end - s->first; ++d)
        for (int64_t k = 0; k < s->part[d].sides; ++k) {
            const side *x = s->part[d].side + k;
            int64_t at = s->start[x->trace - s->base];
            for (int64_t v = 0; v < M; ++v) {
                const double *image = c->images + v * c->size + at;
                double value = c->values[x->other * M + v];
                for (int64_t i = 0; i < x->nodes; ++i) r[at + i] += value * image[i];
            }
        }
    return PS_OK;
}

static ps_status allocate(parts *s, parts_coarse *c)
{
    c->all = M * s->file.header.subdomains;
    c->size = s->start[s->traces];
    PS_TRY(PS_ALLOC(&c->basis, M * c->size, "the coarse space"));
    PS_TRY(PS_ALLOC(&c->images, M * c->size, "the coarse space"));
    PS_TRY(PS_ALLOC(&c->factor, c->all * c->all, "the coarse space"));
    PS_TRY(PS_ALLOC(&c->pivot, c->all, "the coarse space"));
    return PS_ALLOC(&c->values, c->all, "the coarse space");
}

ps_status parts_coarse_open(parts *s)
{
    PS_TRY(PS_ALLOC(&s->coarse, 1, "the coarse space"));
    parts_coarse *c = s->coarse;
    PS_TRY(ps_comm_agree(allocate(s, c)));
    fill_basis(s, c);
    for (int64_t v = 0; v < M; ++v)
        PS_TRY(s->problem.exchange(s, false, c->basis + v * c->size, c->images + v * c->size));
    for (int64_t d = 0; d < s->end - s->first; ++d) fill_rows(s, c, d);
    PS_TRY(ps_comm_sum_f64(c->factor, c->all * c->all));
    return factorise(c->all, c->factor, c->pivot);
}

int64_t parts_coarse_doubles(int64_t subdomains, int64_t traces)
{
    return M * M * subdomains * subdomains + 2 * M * traces;
}

void parts_coarse_close(parts_coarse **out)
{
    parts_coarse *c = *out;
    if (!c) return;
    PS_FREE(c->basis, c->images, c->factor, c->pivot, c->values, c);
    *out = NULL;
}
