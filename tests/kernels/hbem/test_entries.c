/* Rules, kernels and entries (kernels/hbem/rules.h, pair_integrals.h, entries.h) against the
 * numbers of the numerics guide: reference integrals, eigenvalues of the operators on the sphere,
 * invariants. */
#include "kernels/hbem/entries.h"

#include <complex.h>

#include "kernels/common/vec3.h"
#include "tests/check.h"
#include "tests/support/hbem_case.h"

/* ---- pairs of triangles ---- */

/* int int 1/|x-y| of two triangles in the plane, by the rule with n points per direction. */
static double pair_integral(const double corners[6][2], ps_hbem_contact contact, int n)
{
    double x[12 * 8] __attribute__((aligned(64))) = {0}, sum = 0;
    double y[12 * 8] __attribute__((aligned(64))) = {0};
    double moments[2 * 9 * 8] __attribute__((aligned(64)));
    for (int e = 0; e < 9 * 8; ++e) {
        int corner = e / 24, axis = e / 8 % 3;
        x[e] = axis < 2 ? corners[corner][axis] : 0;
        y[e] = axis < 2 ? corners[3 + corner][axis] : 0;
    }
    int count = ps_hbem_joint_count(contact, n);
    PS_SCOPED_MEMORY ps_hbem_joint_point *points = calloc((size_t)count, sizeof *points);
    ps_hbem_joint_rule(contact, n, points);
    ps_hbem_pair_job job = {
        .x = x, .y = y, .joint = points, .joint_count = count, .moments = moments};
    ps_hbem_pair_functions_here()->joint[0][PS_KERNEL_SLP][0](&job);
    for (int e = 0; e < 9; ++e) sum += moments[8 * e + 5];
    return 4 * M_PI * sum;
}

static void test_reference_integrals(void **state)
{
    const double identical[6][2] = {{0, 0}, {1, 0}, {0, 1}, {0, 0}, {1, 0}, {0, 1}};
    const double edge[6][2] = {{1, 0}, {0, 1}, {0, 0}, {1, 0}, {0, 1}, {1, 1}};
    const double vertex[6][2] = {{0, 0}, {1, 0}, {0, 1}, {0, 0}, {-1, 0}, {0, -1}};
    check_near(pair_integral(identical, PS_PAIR_IDENTICAL, 20), 1.00306588477318, 0, 1e-12);
    check_near(pair_integral(edge, PS_PAIR_EDGE, 20), .483538914350507, 0, 1e-12);
    check_near(pair_integral(vertex, PS_PAIR_VERTEX, 20), .268343797182829, 0, 1e-12);
    /* and what few points give: guide 2, within a factor of two */
    check_at_most(fabs(pair_integral(identical, PS_PAIR_IDENTICAL, 5) / 1.00306588477318 - 1),
                  5e-5);
    check_at_most(fabs(pair_integral(edge, PS_PAIR_EDGE, 5) / .483538914350507 - 1), 8e-6);
    check_at_most(fabs(pair_integral(vertex, PS_PAIR_VERTEX, 5) / .268343797182829 - 1), 4e-6);
}

/* int x^a y^(degree-a) = a! b! / (a+b+2)! over the reference triangle. */
static void check_degree(const ps_hbem_rule *rule, int degree)
{
    for (int a = 0; a <= degree; ++a) {
        double sum = 0;
        for (int q = 0; q < rule->count; ++q)
            sum += rule->weight[q] * pow(rule->hat[q][1], a) * pow(rule->hat[q][2], degree - a);
        check_near(sum, tgamma(a + 1) * tgamma(degree - a + 1) / tgamma(degree + 3), 1e-15, 1e-12);
    }
}

static void test_rules_are_exact(void **state)
{
    ps_hbem_joint_point singular[13 * 256];
    ps_hbem_quadrature quadrature;
    ps_hbem_rule rule;
    for (int n = 1; n <= 8; ++n) {
        ps_hbem_rule_collapsed(n, &rule);
        check_degree(&rule, 2 * n - 2);
    }
    ps_hbem_quadrature_init(&quadrature, 1e-3, singular);
    for (int r = 0; r < PS_HBEM_RULES; ++r) {
        static const int degree[] = {4, 6, 8, 10, 14}, count[] = {6, 12, 16, 25, 42};
        check_near(quadrature.rule[r].count, count[r], 0, 0);
        for (int lower = 0; lower <= degree[r]; ++lower) check_degree(&quadrature.rule[r], lower);
    }
    for (int contact = PS_PAIR_VERTEX; contact < PS_PAIR_CONTACTS; ++contact) {
        ps_hbem_joint_point points[6 * 256];
        double sum = 0;
        ps_hbem_joint_rule((ps_hbem_contact)contact, 4, points);
        for (int q = 0; q < ps_hbem_joint_count((ps_hbem_contact)contact, 4); ++q)
            sum += points[q].weight;
        check_near(sum, .25, 1e-14, 0);
    }
}

/* The kernels in lanes against complex arithmetic of the library, up to kr = 300. */
static double complex kernel_reference(ps_hbem_kernel kernel, double k, const double d[3],
                                       const double nx[3], const double ny[3])
{
    double r = ps_norm3(d), dx = ps_dot3(d, nx), dy = ps_dot3(d, ny), nn = ps_dot3(nx, ny);
    double complex g = cexp(I * k * r) / (4 * M_PI * r), g1 = g * (I * k * r - 1) / r;
    double complex g2 = g * (2 - 2 * I * k * r - k * k * r * r) / (r * r);
    switch (kernel) {
    case PS_KERNEL_SLP:
        return g;
    case PS_KERNEL_DLP:
        return -g1 * dy / r;
    case PS_KERNEL_ADLP:
        return g1 * dx / r;
    default:
        return (g2 - g1 / r) * dx * dy / (r * r) + g1 / r * nn;
    }
}

enum { TRIANGLES = 3, POINTS = 6, SOURCES = TRIANGLES * POINTS };

/* Sources and lanes for a row, in both precisions. */
typedef struct row_case {
    ps_precision precision;
    int lanes, parts;
    double panel[12 * 16] __attribute__((aligned(64))), sums[6 * 16] __attribute__((aligned(64)));
    float small[12 * 16] __attribute__((aligned(64)));
    ps_hbem_source_f64 sources[SOURCES];
    ps_hbem_source_f32 single[SOURCES];
} row_case;

/* Numbers are those of fp32 for sources. */
static void put_source(row_case *r, int s, const double x[3], const double normal[3],
                       double coefficient)
{
    r->single[s].coefficient = (float)coefficient;
    r->sources[s].coefficient = coefficient;
    for (int c = 0; c < 3; ++c) {
        r->sources[s].x[c] = x[c];
        r->sources[s].normal[c] = normal[c];
        r->single[s].x[c] = (float)x[c];
        r->single[s].normal[c] = (float)normal[c];
    }
}

static void put_lane(row_case *r, int e, int lane, double value)
{
    r->panel[e * r->lanes + lane] = value;
    r->small[e * r->lanes + lane] = (float)value;
}

static row_case row_of(ps_precision precision, double k)
{
    return (row_case){
        .precision = precision, .lanes = precision == PS_SINGLE ? 16 : 8, .parts = k != 0 ? 2 : 1};
}

static void run_row(row_case *r, ps_hbem_kernel kernel, double k, const ps_hbem_rule *rule,
                    int count)
{
    bool single = r->precision == PS_SINGLE;
    ps_hbem_row_job job = {.sources = single ? (void *)r->single : (void *)r->sources,
                           .source_count = count,
                           .together = count > 1 ? POINTS : 0,
                           .blocks = 1,
                           .rule = rule,
                           .wavenumber = k,
                           .panel = single ? (void *)r->small : (void *)r->panel,
                           .sums = r->sums};
    ps_hbem_pair_functions_here()->row[r->precision][kernel][r->parts - 1](&job);
}

static double sum_at(const row_case *r, int e, int lane)
{
    int at = e * r->lanes + lane;
    return r->precision == PS_SINGLE ? (double)((const float *)r->sums)[at] : r->sums[at];
}

static void check_kernel(ps_precision precision, ps_hbem_kernel kernel, double k, double size)
{
    row_case r = row_of(precision, k);
    ps_hbem_rule point = {.count = 1, .hat = {{1, 0, 0}}, .weight = {1}};
    uint64_t seed = 7;
    const double normal[3] = {.6, 0, .8}, from[3] = {.25, -.5, .125};
    double x[3];
    for (int e = 0; e < 12 * r.lanes; ++e)
        put_lane(&r, e / r.lanes, e % r.lanes,
                 (float)(e < 9 * r.lanes ? size * (congruence_uniform(&seed) + .01)
                                         : congruence_uniform(&seed) - .5));
    for (int c = 0; c < 3; ++c) x[c] = (float)(from[c] - size);
    put_source(&r, 0, x, normal, 1 / (4 * M_PI));
    run_row(&r, kernel, k, &point, 1);
    for (int lane = 0; lane < r.lanes; ++lane) {
        double d[3], ny[3];
        for (int c = 0; c < 3; ++c) {
            d[c] = x[c] - r.panel[c * r.lanes + lane];
            ny[c] = r.panel[(9 + c) * r.lanes + lane];
        }
        double complex expected = kernel_reference(kernel, k, d, normal, ny);
        double length = ps_norm3(d);
        double bound = (1 + k * length) * (1 + k * length) / (kernel == PS_KERNEL_SLP ? 1 : length);
        if (kernel == PS_KERNEL_HYPS) bound /= length;
        bound *= (1 + k * length) / (4 * M_PI * length) * (precision == PS_SINGLE ? 8e-7 : 1.6e-15);
        for (int part = 0; part < r.parts; ++part)
            check_near(sum_at(&r, 3 * part, lane), part ? cimag(expected) : creal(expected), bound,
                       0);
    }
}

static void unit_normal(double corner[3][3], double unit[3])
{
    double a[3], b[3], n[3];
    ps_subtract3(corner[1], corner[0], a);
    ps_subtract3(corner[2], corner[0], b);
    ps_cross3(a, b, n);
    for (int c = 0; c < 3; ++c) unit[c] = n[c] / ps_norm3(n);
}

/* A row of three triangles of six points against lanes of six points, `size` wide, about 5 apart:
 * the sums share factors of planes and, where k size is small, phases. */
static void check_row(ps_precision precision, ps_hbem_kernel kernel, double k, double size)
{
    row_case r = row_of(precision, k);
    ps_hbem_rule rule;
    uint64_t seed = 11;
    double corner[TRIANGLES][3][3];
    ps_hbem_rule_six(&rule);
    for (int e = 0; e < 9 * TRIANGLES; ++e)
        corner[e / 9][e / 3 % 3][e % 3] =
            (e % 3 == 1 ? 4 : 0) + size * (congruence_uniform(&seed) - .5);
    for (int lane = 0; lane < r.lanes; ++lane) {
        double at[3][3], unit[3];
        for (int e = 0; e < 9; ++e) at[e / 3][e % 3] = size * (congruence_uniform(&seed) - .5);
        unit_normal(at, unit);
        for (int e = 0; e < 12; ++e) put_lane(&r, e, lane, e < 9 ? at[e / 3][e % 3] : unit[e - 9]);
    }
    for (int s = 0; s < SOURCES; ++s) {
        double unit[3], x[3] = {0};
        unit_normal(corner[s / POINTS], unit);
        for (int e = 0; e < 9; ++e)
            x[e % 3] += rule.hat[s % POINTS][e / 3] * corner[s / POINTS][e / 3][e % 3];
        put_source(&r, s, x, unit, .5 + s);
    }
    run_row(&r, kernel, k, &rule, SOURCES);
    for (int lane = 0; lane < r.lanes; ++lane) {
        double complex expected[3] = {0};
        double scale = 0;
        for (int q = 0; q < POINTS; ++q)
            for (int s = 0; s < SOURCES; ++s) {
                double d[3], ny[3];
                for (int c = 0; c < 3; ++c) {
                    d[c] = r.sources[s].x[c];
                    for (int l = 0; l < 3; ++l)
                        d[c] -= rule.hat[q][l] * r.panel[(3 * l + c) * r.lanes + lane];
                    ny[c] = r.panel[(9 + c) * r.lanes + lane];
                }
                double complex value = 4 * M_PI * r.sources[s].coefficient * rule.weight[q] *
                                       kernel_reference(kernel, k, d, r.sources[s].normal, ny);
                for (int m = 0; m < 3; ++m) expected[m] += rule.hat[q][m] * value;
                scale += r.sources[s].coefficient * rule.weight[q] * (1 + k * k);
            }
        double bound = scale * (precision == PS_SINGLE ? 1e-6 * (1 + k) : 3e-15 * (1 + k));
        for (int e = 0; e < 3 * r.parts; ++e)
            check_near(sum_at(&r, e, lane), e < 3 ? creal(expected[e]) : cimag(expected[e - 3]),
                       bound, 0);
    }
}

static void test_rows(void **state)
{
    const double sizes[] = {.01, .3, 1, 2};
    for (int precision = 0; precision < PS_PRECISION_COUNT; ++precision)
        for (int kernel = 0; kernel < PS_HBEM_KERNELS; ++kernel)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
                check_row((ps_precision)precision, (ps_hbem_kernel)kernel, 0, sizes[s]);
                check_row((ps_precision)precision, (ps_hbem_kernel)kernel, 1.3, sizes[s]);
                check_row((ps_precision)precision, (ps_hbem_kernel)kernel, 4.2, sizes[s]);
            }
}

static void test_kernels(void **state)
{
    for (int precision = 0; precision < PS_PRECISION_COUNT; ++precision)
        for (int kernel = 0; kernel < PS_HBEM_KERNELS; ++kernel)
            for (double size = .1; size < 60; size *= 5) {
                check_kernel((ps_precision)precision, (ps_hbem_kernel)kernel, 0, size);
                check_kernel((ps_precision)precision, (ps_hbem_kernel)kernel, 2.5, size);
            }
}

/* ---- the sphere ---- */

static double legendre(int m, double z) { return m == 0 ? 1 : m == 1 ? z : 1.5 * z * z - .5; }

/* Rayleigh quotient of P_m(z) at the vertices. */
static double complex quotient(const hbem_case *c, const double *matrix, int parts, int m)
{
    int64_t n = c->space.dofs;
    PS_SCOPED_MEMORY double *x = calloc((size_t)n, 8), *y = calloc((size_t)n, 8);
    double complex sum = 0;
    double mass = 0;
    for (int64_t i = 0; i < n; ++i) x[i] = legendre(m, c->vertices[3 * i + 2]);
    ps_hbem_mass_apply(&c->space, &c->space, x, y);
    for (int64_t j = 0; j < n; ++j) {
        mass += x[j] * y[j];
        for (int64_t i = 0; i < n; ++i)
            sum +=
                x[i] * x[j] * (matrix[j * n + i] + (parts > 1 ? I * matrix[(n + j) * n + i] : 0));
    }
    return sum / mass;
}

/* Eigenvalues of degree m on the unit sphere (guide 6). j, h = j + iy and derivatives, m = 0, 1, 2.
 * */
static double complex eigenvalue(ps_hbem_kernel kernel, double k, int m)
{
    if (k == 0) {
        double s = 1.0 / (2 * m + 1);
        return kernel == PS_KERNEL_SLP ? s : kernel == PS_KERNEL_HYPS ? m * (m + 1) * s : -s / 2;
    }
    double j[4], y[4];
    j[0] = sin(k) / k;
    y[0] = -cos(k) / k;
    j[1] = j[0] / k - cos(k) / k;
    y[1] = y[0] / k - sin(k) / k;
    for (int l = 1; l < 3; ++l) {
        j[l + 1] = (2 * l + 1) / k * j[l] - j[l - 1];
        y[l + 1] = (2 * l + 1) / k * y[l] - y[l - 1];
    }
    double complex h = j[m] + I * y[m], h1 = j[m + 1] + I * y[m + 1];
    double dj = m * j[m] / k - j[m + 1];
    double complex dh = m * h / k - h1;
    switch (kernel) {
    case PS_KERNEL_SLP:
        return I * k * j[m] * h;
    case PS_KERNEL_HYPS:
        return -I * k * k * k * dj * dh;
    default:
        return I * k * k / 2 * (dj * h + j[m] * dh);
    }
}

typedef struct eigenvalue_error {
    ps_hbem_kernel kernel;
    double k;
    int degree;
    double error[3]; /* absolute, meshes n = 8, 12, 16 (guide 6); 0: not this mesh, whose pairs
                        are three times as many as those of the other two */
} eigenvalue_error;

static void check_eigenvalues(const eigenvalue_error *expected)
{
    double measured[3];
    int last = 0;
    for (int level = 0; level < 3 && expected->error[level] > 0; ++level) {
        PS_SCOPED(hbem_case_release) hbem_case c = {0};
        hbem_sphere(&c, 8 + 4 * level, PS_SPACE_P1, 0);
        ps_hbem_operator op = hbem_case_operator(&c, expected->kernel, expected->k);
        PS_SCOPED_MEMORY double *matrix = hbem_dense(&op);
        double complex exact = eigenvalue(expected->kernel, expected->k, expected->degree);
        double complex value = quotient(&c, matrix, ps_hbem_parts(&op), expected->degree);
        measured[level] = cabs(value - exact);
        check_near(measured[level], expected->error[level], 0, .05);
        last = level;
    }
    double order = log(measured[0] / measured[last]) / log((8 + 4 * last) / 8.);
    check_near(order, 2, .1, 0);
}

static void test_eigenvalues_laplace(void **state)
{
    const eigenvalue_error expected[] = {{PS_KERNEL_SLP, 0, 0, {5.22e-3, 2.33e-3, 1.31e-3}},
                                         {PS_KERNEL_DLP, 0, 2, {2.73e-3, 1.20e-3}},
                                         {PS_KERNEL_ADLP, 0, 2, {2.73e-3, 1.20e-3}},
                                         {PS_KERNEL_HYPS, 0, 1, {3.42e-3, 1.53e-3}}};
    for (size_t e = 0; e < sizeof expected / sizeof *expected; ++e) check_eigenvalues(&expected[e]);
}

static void test_eigenvalues_helmholtz(void **state)
{
    const eigenvalue_error expected[] = {{PS_KERNEL_SLP, 5, 0, {7.9e-3, 3.6e-3}},
                                         {PS_KERNEL_DLP, 5, 0, {3.86e-2, 1.73e-2}},
                                         {PS_KERNEL_ADLP, 5, 0, {3.86e-2, 1.73e-2}},
                                         {PS_KERNEL_HYPS, 5, 0, {.200, .0896}}};
    for (size_t e = 0; e < sizeof expected / sizeof *expected; ++e) check_eigenvalues(&expected[e]);
}
