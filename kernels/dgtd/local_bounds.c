#include "kernels/dgtd/local_bounds.h"

#include <math.h>
#include <string.h>

#include "kernels/common/counter_random.h"
#include "kernels/dgtd/mesh.h"

enum { THREADED_GROUPS = 64, LEAST_STEPS = 6 };
static const double settled = 2e-3; /* what three applications change of an eigenvalue above 1 */

/* Lanczos' vectors lie in vectors[0 and 1], the eigenvector in [2]; on groups of P alone. */
typedef struct lanczos {
    ps_dgtd_local_probe *of;
    int level, count;
    double numbers;                                            /* of a vector */
    double diagonal[PS_DGTD_LANCZOS], beside[PS_DGTD_LANCZOS]; /* of the tridiagonal matrix */
    double vector[PS_DGTD_LANCZOS];                            /* its eigenvector           */
} lanczos;

/* ---- vectors ---- */

static bool of_all(const lanczos *x) { return x->level == x->of->local->levels; }

static int64_t run_count(const lanczos *x)
{
    return of_all(x) ? 1 : x->of->local->level[x->level].run_count[0];
}

static void run_of(const lanczos *x, int64_t r, int64_t *begin, int64_t *end)
{
    const int64_t *run = of_all(x) ? (const int64_t[]){0, x->of->system->groups}
                                   : x->of->local->level[x->level].runs[0] + 2 * r;
    *begin = run[0];
    *end = run[1];
}

/* to = a x + b y on the groups of the runs. */
static void combine(const lanczos *x, void *to, double a, const void *from, double b,
                    const void *other)
{
    const ps_dgtd_system *s = x->of->system;
    int64_t begin, end, size = 3 * (int64_t)s->reference->nodes * ps_dgtd_lanes(s->precision);
    for (int64_t r = 0; r < run_count(x); ++r) {
        run_of(x, r, &begin, &end);
#pragma omp parallel for schedule(static) if (end - begin > THREADED_GROUPS)
        for (int64_t g = begin; g < end; ++g)
            for (int64_t i = g * size; i < (g + 1) * size; ++i)
                if (s->precision == PS_SINGLE)
                    ((float *)to)[i] = (float)(a * (double)((const float *)from)[i] +
                                               b * (double)((const float *)other)[i]);
                else
                    ((double *)to)[i] =
                        a * ((const double *)from)[i] + b * ((const double *)other)[i];
    }
}

static double inner(const lanczos *x, const void *a, const void *b)
{
    int64_t begin, end;
    double sum = 0;
    for (int64_t r = 0; r < run_count(x); ++r) {
        run_of(x, r, &begin, &end);
        ps_dgtd_inner_groups(x->of->system, x->of->weights, a, b, begin, end, x->of->partial);
        for (int64_t g = begin; g < end; ++g) sum += 2 * x->of->partial[g];
    }
    return sum;
}

/* Number i of normal distribution (G. E. P. Box, M. E. Muller, Ann. Math. Stat. 29 (1958) 610). */
static double normal(int64_t i)
{
    uint64_t z = (uint64_t)(2 * i + 1) * 0x9e3779b97f4a7c15u;
    return sqrt(-2 * log(ps_counter_inside(z))) *
           cos(8 * atan(1) * ps_counter_inside(z + 0x9e3779b97f4a7c15u));
}

/* a = l l', l below and on the diagonal of n rows. */
static void factor(int n, const double *a, double *l)
{
    for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
            l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
        }
}

static double weight_of(const lanczos *x, int64_t e)
{
    const ps_dgtd_system *s = x->of->system;
    double t[3][3];
    ps_dgtd_slot_tangents(s, e, t);
    return fabs(ps_dgtd_determinant((const double(*)[3])t)) * x->of->materials[s->material[e]].eps;
}

/* Reproducible values, the same for a second run; 0 outside of P. Their direction is uniform in the
 * product of M_eps, weight (l l'): l'^-1 of normal numbers, over the root of the weight. With equal
 * values everywhere small elements, which matter most, would have next to nothing of it. */
static void fill_random(lanczos *x, void *field)
{
    const ps_dgtd_system *s = x->of->system;
    const uint16_t *state = of_all(x) ? NULL : x->of->local->level[x->level].system.material;
    const int n = s->reference->nodes;
    double l[PS_DGTD_MAX_NODES * PS_DGTD_MAX_NODES], count = 0;
    factor(n, s->reference->mass, l);
#pragma omp parallel for reduction(+ : count)
    for (int64_t e = 0; e < s->elements; ++e) {
        bool in = !state || state[e] < s->materials; /* the first of the three masks */
        double scale = in ? 1 / sqrt(weight_of(x, e)) : 0;
        count += in;
        for (int c = 0; c < 3; ++c) {
            double v[PS_DGTD_MAX_NODES];
            for (int i = n - 1; i >= 0; --i) {
                double sum = in ? normal((e * 3 + c) * n + i) : 0;
                for (int k = i + 1; k < n; ++k) sum -= l[k * n + i] * v[k];
                v[i] = sum / l[i * n + i];
                ps_dgtd_set_node(s, field, e, c, i, scale * v[i]);
            }
        }
    }
    x->numbers = 3 * n * count;
}

/* ---- operators: -T of what is in *out, in its place ---- */

static void clear_runs(const lanczos *x, int level, void *field)
{
    const ps_dgtd_local_level *l = x->of->local->level + level;
    size_t size = 3 * (size_t)x->of->system->reference->nodes * PS_DGTD_ALIGN;
    for (int64_t r = 0; r < l->run_count[1]; ++r)
        memset((char *)field + (size_t)l->runs[1][2 * r] * size, 0,
               (size_t)(l->runs[1][2 * r + 1] - l->runs[1][2 * r]) * size);
}

static void apply_level(const lanczos *x)
{
    const ps_dgtd_local *local = x->of->local;
    bool deepest = x->level + 1 == local->levels;
    int y = deepest ? -1 : x->level;
    const int64_t groups = x->of->system->groups;
    void *magnetic = x->of->magnetic;
    if (deepest) clear_runs(x, x->level, magnetic);
    const ps_dgtd_local_op first = {PS_DGTD_LOCAL_H, x->level, -1},
                           last = {PS_DGTD_LOCAL_E, x->level, y};
    ps_dgtd_local_op_run(local, &first, magnetic, 0, groups);
    if (!deepest) ps_dgtd_local_run_below(local, x->level, magnetic);
    ps_dgtd_local_op_run(local, &last, magnetic, 0, groups);
}

static void apply_all(const lanczos *x)
{
    ps_dgtd_local_probe *p = x->of;
    ps_dgtd_half_step(p->system, PS_DGTD_H, p->magnetic, p->electric, 0, p->system->groups);
    ps_dgtd_local_apply(p->local, p->system, p->magnetic);
    ps_dgtd_half_step(p->system, PS_DGTD_E, p->electric, p->magnetic, 0, p->system->groups);
}

static void open_factors(ps_dgtd_local_probe *p)
{
    for (int64_t m = 0; m < p->system->materials; ++m) {
        const ps_dgtd_material *of = p->materials + m;
        p->weights[m] = of->eps;
        ps_dgtd_set_factors(p->system, PS_DGTD_E, m, 0, p->dt / of->eps / 2);
        ps_dgtd_set_factors(p->system, PS_DGTD_H, m, 0, -p->dt / of->mu / 2);
    }
}

/* ---- the tridiagonal matrix ---- */

/* Its largest eigenvalue, by bisection of the number of those above (W. Givens, 1954). */
static double largest(const lanczos *x)
{
    double low = 0, high = 0;
    for (int i = 0; i < x->count; ++i) {
        double radius = (i > 0 ? x->beside[i - 1] : 0) + x->beside[i];
        low = fmax(low, x->diagonal[i]);
        high = fmax(high, x->diagonal[i] + radius);
    }
    while (high - low > 1e-12 * high) {
        double middle = (low + high) / 2, q = 1;
        bool above = false;
        if (middle == low || middle == high) break;
        for (int i = 0; i < x->count; ++i) {
            double b = i > 0 ? x->beside[i - 1] : 0;
            q = x->diagonal[i] - middle - (q != 0 ? b * b / q : fabs(b) / 1e-300);
            above |= q > 0;
        }
        if (above)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* From the last row to the first, as it ends with what is small. */
static void find_vector(lanczos *x, double value)
{
    double *s = x->vector, sum = 1;
    int k = x->count;
    s[k - 1] = 1;
    for (int i = k - 1; i > 0; --i)
        s[i - 1] = ((value - x->diagonal[i]) * s[i] - (i + 1 < k ? x->beside[i] * s[i + 1] : 0)) /
                   x->beside[i - 1];
    for (int i = 0; i < k; ++i) sum = fmax(sum, fabs(s[i]));
    for (int i = 0; i < k; ++i) s[i] /= sum;
}

/* ---- the method ---- */

double ps_dgtd_local_gap(double numbers, int applications, double risk)
{
    double root = log(1.648 * sqrt(numbers) / risk) / (2 * applications - 1);
    return root * root;
}

/* Whether k + 1 applications tell: see local_bounds.h. */
static bool is_told(const lanczos *x, const double *values, int k, double risk)
{
    if (values[k] <= PS_DGTD_LOCAL_BOUND)
        return 1 - values[k] >= ps_dgtd_local_gap(x->numbers, k + 1, risk);
    return k >= LEAST_STEPS && values[k] - values[k - 3] < settled * values[k];
}

/* Applications until they tell; or, where `steps` is not 0, so many, whose vectors are added up as
 * the eigenvector has them. */
static double iterate(lanczos *x, double risk, int steps)
{
    ps_dgtd_local_probe *p = x->of;
    void *v = of_all(x) ? p->electric : p->local->level[x->level].electric;
    void *now = p->vectors[0], *before = p->vectors[1];
    double values[PS_DGTD_LANCZOS] = {0}, norm;
    fill_random(x, v);
    norm = sqrt(inner(x, v, v));
    if (!(norm > 0)) return 0;
    combine(x, v, 1 / norm, v, 0, v);
    for (x->count = 0; x->count < (steps > 0 ? steps : PS_DGTD_LANCZOS);) {
        int k = x->count++;
        combine(x, now, 1, v, 0, v);
        if (steps > 0) combine(x, p->vectors[2], k > 0, p->vectors[2], x->vector[k], now);
        if (of_all(x))
            apply_all(x);
        else
            apply_level(x);
        x->diagonal[k] = -inner(x, v, now);
        combine(x, v, -1, v, -x->diagonal[k], now);
        if (k > 0) combine(x, v, 1, v, -x->beside[k - 1], before);
        x->beside[k] = sqrt(fmax(inner(x, v, v), 0));
        values[k] = largest(x);
        if (!isfinite(values[k])) return INFINITY;
        if (!(x->beside[k] > 1e-12 * values[k])) break; /* the start has no more eigenvectors */
        if (steps == 0 && is_told(x, values, k, risk)) break;
        combine(x, v, 1 / x->beside[k], v, 0, v);
        void *swap = now;
        now = before;
        before = swap;
    }
    bool untold =
        steps == 0 && x->count == PS_DGTD_LANCZOS && !is_told(x, values, PS_DGTD_LANCZOS - 1, risk);
    return untold ? fmax(values[x->count - 1], 1) : values[x->count - 1];
}

/* Squares of coefficients times volume and eps. */
static void find_shares(const lanczos *x, double *shares)
{
    const ps_dgtd_system *s = x->of->system;
    double most = 0;
    for (int64_t e = 0; e < s->elements; ++e) {
        double sum = 0;
        for (int i = 0; i < 3 * s->reference->nodes; ++i) {
            double u = ps_dgtd_get(s, x->of->vectors[2], e, i % 3, i / 3);
            sum += u * u;
        }
        shares[e] = sum * weight_of(x, e);
        most = fmax(most, shares[e]);
    }
    for (int64_t e = 0; e < s->elements && most > 0; ++e) shares[e] /= most;
}

double ps_dgtd_local_bound(ps_dgtd_local_probe *p, int level, double risk, double *shares,
                           int *applications)
{
    lanczos x = {.of = p, .level = level};
    open_factors(p);
    double value = iterate(&x, risk, 0);
    *applications += x.count;
    if (!shares || !isfinite(value) || x.count == 0) return value;
    find_vector(&x, largest(&x));
    memset(p->vectors[2], 0,
           (size_t)p->system->groups * 3 * (size_t)p->system->reference->nodes * PS_DGTD_ALIGN);
    iterate(&x, risk, x.count);
    find_shares(&x, shares);
    *applications += x.count;
    return value;
}
