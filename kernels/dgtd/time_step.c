#include "kernels/dgtd/time_step.h"

#include <math.h>
#include <string.h>

#include "kernels/common/counter_random.h"
#include "kernels/dgtd/mesh.h"

double ps_dgtd_step_constant(int order)
{
    static const double constants[PS_DGTD_MAX_ORDER] = {2.61, 1.60, 1.06, 0.76};
    return constants[order - 1];
}

static const ps_dgtd_material *material_of(const ps_dgtd_body *body, int64_t e)
{
    return body->material + (body->tags ? body->tags[e] : 0);
}

double ps_dgtd_element_size(const ps_dgtd_body *body, int64_t e)
{
    double tangents[3][3], mu = material_of(body, e)->mu;
    for (int f = 0; f < 4; ++f) {
        int64_t other = body->links[4 * e + f] / 4;
        if (body->links[4 * e + f] >= 0 && other < body->elements)
            mu = fmin(mu, material_of(body, other)->mu);
    }
    ps_dgtd_tangents(body->vertices, body->tetrahedra + 4 * e, tangents);
    return sqrt(material_of(body, e)->eps * mu) * ps_dgtd_size(tangents);
}

/* ---- one element ---- */

/* Rows of H of an element, and of its neighbours' nodes of a face, by what P1 fields of E in it
 * make; both in orthonormal modes, so that the largest singular value is that of C_E P. */
enum { MODES = 4, COLUMNS = 3 * MODES, ROWS = COLUMNS + 4 * 9, SQUARINGS = 6 };

/* P1 limit over size of an element of Kuhn's mesh by itself. */
static const double KUHN_OWN = 3.39;

typedef struct element_map {
    double volume, row[ROWS][COLUMNS];
} element_map;

/* Node i of mode m: of norm 1 in an element of volume 1. */
static double mode_at(int m, int i)
{
    static const signed char sign[MODES][4] = {
        {1, 1, 1, 1}, {1, 1, -1, -1}, {1, -1, 1, -1}, {1, -1, -1, 1}};
    return sign[m][i] * (m == 0 ? 1 : sqrt(5));
}

/* to[3][COLUMNS] += factor n x (E of a mode's node i). */
static void add_turned(const double n[3], double factor, int i, double (*to)[COLUMNS])
{
    for (int m = 0; m < MODES; ++m)
        for (int c = 0; c < 3; ++c) {
            double value = factor * mode_at(m, i);
            to[(c + 2) % 3][3 * m + c] += n[(c + 1) % 3] * value;
            to[(c + 1) % 3][3 * m + c] -= n[(c + 2) % 3] * value;
        }
}

/* b of the element's nodes, in the sense of M H = b: the curl within. */
static void add_inside(const double gradients[4][3], double volume, double (*b)[3][COLUMNS])
{
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) add_turned(gradients[j], volume / 4, j, b[i]);
}

/* b of the three nodes of a face, of `factor` times n x E there. */
static void add_face(const int *corner, const double normal[3], double factor,
                     double (*b)[3][COLUMNS])
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            add_turned(normal, factor * (i == j ? 2 : 1) / 12, corner[j], b[corner[i]]);
}

/* M^-1/2 b of `count` nodes, times scale: M = V/20 (1 + 1 1'). */
static void put_rows(const int *corner, int count, double (*b)[3][COLUMNS], double scale,
                     double (*row)[COLUMNS])
{
    double part = (1 - sqrt(1 - count / 5.)) / count;
    for (int k = 0; k < 3 * COLUMNS; ++k) {
        int c = k / COLUMNS, m = k % COLUMNS;
        double sum = 0;
        for (int i = 0; i < count; ++i) sum += b[corner[i]][c][m];
        for (int i = 0; i < count; ++i)
            row[3 * i + c][m] = scale * (b[corner[i]][c][m] - part * sum);
    }
}

static double volume_of(const ps_dgtd_body *body, int64_t e)
{
    double t[3][3];
    ps_dgtd_tangents(body->vertices, body->tetrahedra + 4 * e, t);
    return 4. / 3 * fabs(ps_dgtd_determinant(t));
}

static void map_element(const ps_dgtd_body *body, int64_t e, element_map *x)
{
    static const int corners[4][3] = {{0, 1, 2}, {0, 1, 3}, {1, 2, 3}, {0, 2, 3}},
                     opposite[4] = {3, 2, 0, 1}, all[4] = {0, 1, 2, 3};
    double t[3][3], areas[4], normals[4][3], gradients[4][3], inside[4][3][COLUMNS] = {{{0}}};
    ps_dgtd_tangents(body->vertices, body->tetrahedra + 4 * e, t);
    ps_dgtd_faces(t, areas, normals);
    double volume = volume_of(body, e), share = 1 / sqrt(volume * material_of(body, e)->eps);
    for (int f = 0; f < 4; ++f)
        for (int c = 0; c < 3; ++c)
            gradients[opposite[f]][c] = -normals[f][c] * areas[f] / (3 * volume);
    memset(x, 0, sizeof *x);
    add_inside((const double(*)[3])gradients, volume, inside);
    for (int f = 0; f < 4; ++f) {
        int64_t link = body->links[4 * e + f], other = link / 4;
        uint8_t kind = body->kinds ? body->kinds[4 * e + f] : PS_DGTD_INNER;
        double part = kind == PS_DGTD_PEC ? 1 : kind == PS_DGTD_PMC ? 0 : .5;
        add_face(corners[f], normals[f], -part * areas[f], inside);
        if (link < 0 || other == e || other >= body->elements) continue;
        double beside[4][3][COLUMNS] = {{{0}}};
        add_face(corners[f], normals[f], .5 * areas[f], beside);
        put_rows(corners[f], 3, beside,
                 share * sqrt(20 / (volume_of(body, other) * material_of(body, other)->mu)),
                 x->row + COLUMNS + 9 * f);
    }
    put_rows(all, 4, inside, share * sqrt(20 / (volume * material_of(body, e)->mu)), x->row);
}

/* a = a a over its trace, which is returned. */
static double square(double (*a)[COLUMNS])
{
    double out[COLUMNS][COLUMNS] = {{0}}, trace = 0;
    for (int i = 0; i < COLUMNS; ++i) trace += a[i][i];
    for (int i = 0; i < COLUMNS; ++i)
        for (int k = 0; k < COLUMNS; ++k)
            for (int j = 0; j < COLUMNS; ++j) out[i][j] += a[i][k] / trace * a[k][j] / trace;
    memcpy(a, out, sizeof out);
    return trace;
}

/* The trace of a high power of a matrix, and the power's root of it, are from above: with 2^6 of at
 * most 12 eigenvalues they are the largest one to 4 %, and as a rule to a thousandth. */
double ps_dgtd_element_limit(const ps_dgtd_body *body, int order, int64_t element)
{
    element_map x;
    double gram[COLUMNS][COLUMNS] = {{0}}, exponent = 0, trace = 0;
    map_element(body, element, &x);
    for (int r = 0; r < ROWS; ++r)
        for (int i = 0; i < COLUMNS; ++i)
            for (int j = 0; j < COLUMNS; ++j) gram[i][j] += x.row[r][i] * x.row[r][j];
    for (int k = 0; k < SQUARINGS; ++k) exponent += log(square(gram)) / (double)(1 << k);
    for (int i = 0; i < COLUMNS; ++i) trace += gram[i][i];
    double largest = exp(exponent + log(trace) / (double)(1 << SQUARINGS));
    return 2 / sqrt(largest) * ps_dgtd_step_constant(order) / KUHN_OWN;
}

/* ---- all of them ---- */

/* Reproducible values within -1/2 .. 1/2 in all elements. */
static void fill_random(const ps_dgtd_system *system, void *field)
{
    int nodes = system->reference->nodes;
    for (int64_t e = 0; e < system->elements; ++e)
        for (int i = 0; i < 3 * nodes; ++i) {
            uint64_t z = (uint64_t)(e * 3 * nodes + i + 1) * 0x9e3779b97f4a7c15u;
            ps_dgtd_set_node(system, field, e, i / nodes, i % nodes,
                             (double)(ps_counter_mix(z) >> 11) * 0x1p-53 - 0.5);
        }
}

/* One application of A = M_mu^-1 S^T M_eps^-1 S to H, times -tau^2; returns the Rayleigh quotient
 * (H, A H)/(H, H) in the norm of M_mu, which is (E, E)_eps / (H, H)_mu for E = M_eps^-1 S H. */
static double apply_once(ps_dgtd_system *system, const ps_dgtd_material *materials, double tau,
                         const ps_dgtd_power_scratch *x)
{
    int64_t count = system->materials;
    double before = ps_dgtd_inner(system, x->weights + count, x->magnetic, x->magnetic, x->partial);
    for (int64_t m = 0; m < count; ++m) {
        ps_dgtd_set_factors(system, PS_DGTD_E, m, 0, tau / materials[m].eps);
        ps_dgtd_set_factors(system, PS_DGTD_H, m, 0, -tau / materials[m].mu);
    }
    ps_dgtd_half_step(system, PS_DGTD_E, x->electric, x->magnetic, 0, system->groups);
    double after = ps_dgtd_inner(system, x->weights, x->electric, x->electric, x->partial);
    ps_dgtd_half_step(system, PS_DGTD_H, x->magnetic, x->electric, 0, system->groups);
    return after / before / (tau * tau);
}

static void set_weights(ps_dgtd_system *system, const ps_dgtd_material *materials,
                        const ps_dgtd_power_scratch *scratch)
{
    for (int64_t m = 0; m < system->materials; ++m) {
        scratch->weights[m] = materials[m].eps;
        scratch->weights[system->materials + m] = materials[m].mu;
    }
}

double ps_dgtd_power_limit(ps_dgtd_system *system, const ps_dgtd_material *materials,
                           int applications, const ps_dgtd_power_scratch *scratch)
{
    double rho = 0, tau = 1;
    set_weights(system, materials, scratch);
    fill_random(system, scratch->magnetic);
    for (int k = 0; k < applications; ++k) {
        rho = fmax(rho, apply_once(system, materials, tau, scratch));
        tau = 1 / sqrt(rho); /* the field keeps about its size */
    }
    return 2 / sqrt(rho);
}
