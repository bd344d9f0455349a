#include "kernels/hbem/exact_row.h"

#include <math.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "kernels/hbem/pair_reference.h"

void ps_hbem_exact_init(const ps_hbem_operator *op, double error, ps_hbem_exact *exact)
{
    *exact = (ps_hbem_exact){.op = op, .error = error};
    ps_hbem_polar_rules_init(&exact->polar);
    for (int n = 1; n <= PS_HBEM_EXACT_SIDE; ++n) ps_hbem_rule_collapsed(n, &exact->rule[n]);
}

/* ---- moments of a pair: [hat of x][hat of y] ---- */

/* What an entry of two neighbours of these sizes is about. */
static double scale_of(const ps_hbem_triangle *x, const ps_hbem_triangle *y, bool layer)
{
    if (layer) return x->jacobian / 4;
    return 2 * sqrt(ps_hbem_self_entry(x) * ps_hbem_self_entry(y));
}

/* DLP integrates y inside, ADLP is DLP with the triangles exchanged. The lesser triangle is the
 * outer one where that is free to choose. */
static double near_moments(const ps_hbem_exact *e, const ps_hbem_triangle *x,
                           const ps_hbem_triangle *y, double _Complex out[9])
{
    ps_hbem_kernel kernel = e->op->kernel;
    bool layer = kernel == PS_KERNEL_DLP || kernel == PS_KERNEL_ADLP;
    bool turned = layer ? kernel == PS_KERNEL_ADLP : x->jacobian > y->jacobian;
    double _Complex own[9];
    double left =
        ps_hbem_polar_moments(&e->polar, turned ? y : x, turned ? x : y, layer, e->op->wavenumber,
                              e->error * scale_of(x, y, layer) / 9, own);
    for (int m = 0; m < 9; ++m) out[m] = turned ? own[3 * (m % 3) + m / 3] : own[m];
    return left;
}

/* Points an axis of a pair whose centroids are `ratio` of the sum of their radii apart: a rule of
 * degree 2 n - 2 leaves ratio^-(2 n - 1) of the static kernel, and of the wave what its phase does
 * over the triangles. */
static int points_for(double ratio, double phase)
{
    double left = log(1e-8) / log(1 / fmin(ratio, 100));
    int n = (int)ceil((left + 1) / 2), least = phase > 0 ? 4 + (int)ceil(phase) : 3;
    n = n > least ? n : least;
    return n > PS_HBEM_EXACT_SIDE ? PS_HBEM_EXACT_SIDE : n;
}

static double _Complex kernel_at(const ps_hbem_operator *op, const ps_hbem_triangle *x,
                                 const ps_hbem_triangle *y, const double r[3])
{
    double square = ps_dot3(r, r), distance = sqrt(square), k = op->wavenumber;
    double _Complex g = (k != 0 ? cexp(I * k * distance) : 1) / (16 * atan(1) * distance);
    if (op->kernel != PS_KERNEL_DLP && op->kernel != PS_KERNEL_ADLP) return g;
    const double *normal = op->kernel == PS_KERNEL_DLP ? y->normal : x->normal;
    g *= (1 - I * k * distance) * ps_dot3(r, normal) / square;
    return op->kernel == PS_KERNEL_DLP ? g : -g;
}

static void points_of(const ps_hbem_triangle *t, const ps_hbem_rule *rule, double (*at)[3])
{
    memset(at, 0, (size_t)rule->count * sizeof *at);
    for (int q = 0; q < rule->count; ++q)
        for (int e = 0; e < 9; ++e) at[q][e % 3] += rule->hat[q][e / 3] * t->corner[e / 3][e % 3];
}

static void far_moments(const ps_hbem_operator *op, const ps_hbem_triangle *x,
                        const ps_hbem_triangle *y, const ps_hbem_rule *rule, double _Complex out[9])
{
    double at[2][PS_HBEM_POINTS_MAX][3];
    points_of(x, rule, at[0]);
    points_of(y, rule, at[1]);
    memset(out, 0, 9 * sizeof *out);
    for (int p = 0; p < rule->count; ++p) {
        double _Complex inner[3] = {0};
        for (int q = 0; q < rule->count; ++q) {
            double r[3];
            ps_subtract3(at[0][p], at[1][q], r);
            double _Complex value = rule->weight[q] * kernel_at(op, x, y, r);
            for (int m = 0; m < 3; ++m) inner[m] += rule->hat[q][m] * value;
        }
        double weight = rule->weight[p] * x->jacobian * y->jacobian;
        for (int m = 0; m < 9; ++m) out[m] += weight * rule->hat[p][m / 3] * inner[m % 3];
    }
}

/* ---- a row ---- */

/* int int g [curl phi_l . curl phi_m - k^2 n_x . n_y phi_l phi_m] from the moments of g. */
static void weak_form(double k, const ps_hbem_triangle *x, const ps_hbem_triangle *y,
                      double _Complex moments[9])
{
    double _Complex total = 0;
    double normals = ps_dot3(x->normal, y->normal);
    for (int m = 0; m < 9; ++m) total += moments[m];
    for (int m = 0; m < 9; ++m) {
        double a[3], b[3];
        ps_hbem_curl(x, m / 3, a);
        ps_hbem_curl(y, m % 3, b);
        moments[m] =
            ps_dot3(a, b) / (x->jacobian * y->jacobian) * total - k * k * normals * moments[m];
    }
}

/* Adds triangle y to a row, which has the hats `hats`, bit l for hat l, of triangle x; returns what
 * may be left of it. */
static double add_pair(const ps_hbem_exact *e, int64_t x, int hats, int64_t y, double *values)
{
    const ps_hbem_operator *op = e->op;
    const ps_hbem_triangle *all = op->test->surface->triangles, *a = &all[x], *b = &all[y];
    double _Complex moments[9];
    double reach = a->radius + b->radius, left = 0, near = 2.5;
    double ratio = ps_distance3(a->centroid, b->centroid) / reach;
    if (ratio < near)
        left = near_moments(e, a, b, moments);
    else
        far_moments(op, a, b, &e->rule[points_for(ratio, op->wavenumber * reach)], moments);
    if (op->kernel == PS_KERNEL_HYPS) {
        weak_form(op->wavenumber, a, b, moments);
        left *= a->diameter * b->diameter / (a->jacobian * b->jacobian);
    }
    for (int m = 0; m < 9; ++m) {
        const int32_t dof = op->trial->dof_of[3 * y + m % 3];
        if (!(hats >> m / 3 & 1) || dof < 0) continue;
        double *to = values + dof;
        to[0] += creal(moments[m]);
        if (op->wavenumber != 0) to[op->trial->dofs] += cimag(moments[m]);
    }
    return left;
}

/* Beside an image only its triangles have trial functions. */
static bool has_function(const ps_hbem_space *space, int64_t triangle)
{
    const int32_t *dof = space->dof_of + 3 * triangle;
    return dof[0] >= 0 || dof[1] >= 0 || dof[2] >= 0;
}

double ps_hbem_exact_row(const ps_hbem_exact *exact, int64_t row, double *values)
{
    const ps_hbem_space *test = exact->op->test, *trial = exact->op->trial;
    const int64_t *item = test->item, end = test->start[row + 1];
    double left = 0;
    memset(values, 0, (size_t)(trial->dofs * ps_hbem_parts(exact->op)) * sizeof *values);
    for (int64_t i = test->start[row]; i < end;) {
        int64_t x = item[i] / 3;
        int hats = 0;
        for (; i < end && item[i] / 3 == x; ++i) hats |= 1 << item[i] % 3;
        for (int64_t y = 0; y < test->surface->triangle_count; ++y)
            if (has_function(trial, y)) left += pow(add_pair(exact, x, hats, y, values), 2);
    }
    return sqrt(left);
}
