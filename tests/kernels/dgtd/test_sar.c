#include "kernels/dgtd/sar.h"
#include "kernels/dgtd/system.h"
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/cube_tets.h"
#include "tests/support/distance.h"

/* A field of polynomials of degree `order` at most: component q of Re x, y, z, Im x, y, z. */
static double field_at(int order, int q, const double x[3])
{
    double sum = 1 + q;
    for (int d = 1; d <= order; ++d)
        sum += pow(x[(q + d) % 3], d) * (q % 2 ? -1 : 2) +
               .3 * d * x[q % 3] * pow(x[(q + 1) % 3], d - 1);
    return sum;
}

typedef double (*field_of)(int order, int q, const double x[3]);

/* Nodal values of a field on all elements, in reverse order of the elements. */
static float *fill(cube_tets *mesh, const ps_dgtd_reference *reference, field_of field,
                   int32_t *number)
{
    int n = reference->nodes;
    float *values = pool_take(&mesh->memory, (size_t)(mesh->elements * 6 * n) * sizeof *values);
    for (int64_t r = 0; r < mesh->elements; ++r) {
        int64_t e = mesh->elements - 1 - r;
        number[r] = (int32_t)e;
        for (int i = 0; i < n; ++i) {
            double l[4], x[3] = {0};
            ps_dgtd_reference_node(reference, i, l);
            for (int v = 0; v < 4; ++v)
                for (int c = 0; c < 3; ++c)
                    x[c] += l[v] * mesh->vertices[3 * mesh->tetrahedra[4 * e + v] + c];
            for (int q = 0; q < 6; ++q)
                values[(r * 6 + q) * n + i] = (float)field(reference->order, q, x);
        }
    }
    return values;
}

/* A shaken cube with a field. */
typedef struct sampled {
    cube_tets mesh;
    ps_dgtd_reference reference;
    ps_dgtd_tets tets;
    int32_t *number;
    float *values;
    ps_dgtd_rows rows;
} sampled;

static void sampled_init(sampled *s, int order, field_of field)
{
    check_ok(cube_tets_init(&s->mesh, 3, .4, PS_DGTD_PEC));
    ps_dgtd_reference_init(&s->reference, order);
    s->number = pool_take(&s->mesh.memory, (size_t)s->mesh.elements * sizeof *s->number);
    s->values = fill(&s->mesh, &s->reference, field, s->number);
    s->tets = (ps_dgtd_tets){s->mesh.vertices, s->mesh.tetrahedra, s->mesh.elements};
    s->rows = (ps_dgtd_rows){s->mesh.elements, s->number, s->values};
}

static void sampled_release(sampled *s) { cube_tets_release(&s->mesh); }

static void lattice_has_the_field(void **state)
{
    for (int order = 1; order <= 4; ++order) {
        PS_SCOPED(sampled_release) sampled s = {0};
        sampled_init(&s, order, field_at);
        /* skewed, partly outside */
        ps_dgtd_lattice lattice = {
            {-.13, .02, -.21}, {{.11, .03, .01}, {-.02, .1, 0}, {.01, .02, .13}}, {11, 9, 10}};
        int64_t points = ps_dgtd_lattice_points(&lattice), inside = 0;
        PS_SCOPED_MEMORY int32_t *owner = malloc((size_t)points * sizeof *owner);
        float(*fields)[6] = pool_take(&s.mesh.memory, (size_t)points * sizeof *fields);
        PS_SCOPED_MEMORY float *squares = malloc((size_t)points * sizeof *squares);
        ps_dgtd_lattice_owners(&lattice, &s.tets, NULL, owner);
        ps_dgtd_lattice_sample(&lattice, owner, &s.reference, &s.tets, &s.rows, fields, squares);
        for (int64_t p = 0; p < points; ++p) {
            double x[3], sum = 0;
            ps_dgtd_lattice_point(&lattice, p, x);
            int in = 1, on_face = 0;
            for (int c = 0; c < 3; ++c) {
                in &= x[c] >= 0 && x[c] <= 1;
                on_face |= fmin(fabs(x[c]), fabs(x[c] - 1)) < 1e-9;
            }
            if (on_face) continue;
            assert_int_equal(in, owner[p] != INT32_MAX);
            if (!in) continue;
            ++inside;
            for (int q = 0; q < 6; ++q) {
                check_near(fields[p][q], field_at(order, q, x), 4e-6, 1e-6);
                sum += pow(field_at(order, q, x), 2);
            }
            check_near(squares[p], sum, 0, 3e-6);
        }
        assert_true(inside > points / 3);
    }
}

/* Points on faces and vertices belong to the least tetrahedron; unwanted ones own nothing. */
static void owners_are_unique(void **state)
{
    PS_SCOPED(cube_tets_release) cube_tets mesh = {0};
    check_ok(cube_tets_init(&mesh, 4, 0, PS_DGTD_PEC));
    ps_dgtd_lattice lattice = {{0, 0, 0}, {{.125, 0, 0}, {0, .125, 0}, {0, 0, .125}}, {9, 9, 9}};
    ps_dgtd_tets tets = {mesh.vertices, mesh.tetrahedra, mesh.elements};
    int32_t owner[729];
    PS_SCOPED_MEMORY uint8_t *wanted = malloc((size_t)mesh.elements);
    ps_dgtd_lattice_owners(&lattice, &tets, NULL, owner);
    for (int p = 0; p < 729; ++p) {
        double x[3];
        ps_dgtd_lattice_point(&lattice, p, x);
        int32_t least = INT32_MAX;
        for (int32_t e = 0; e < mesh.elements && least == INT32_MAX; ++e) {
            double t[3][3], det, l[4] = {1};
            const double *v0 = mesh.vertices + 3 * mesh.tetrahedra[4 * e];
            ps_dgtd_tangents(mesh.vertices, mesh.tetrahedra + 4 * e, t);
            det = 2 * ps_dgtd_determinant(t);
            for (int a = 0; a < 3; ++a) {
                double swapped[3][3];
                memcpy(swapped, t, sizeof t);
                for (int c = 0; c < 3; ++c) swapped[a][c] = x[c] - v0[c];
                l[a + 1] = ps_dgtd_determinant(swapped) / det;
                l[0] -= l[a + 1];
            }
            if (fmin(fmin(l[0], l[1]), fmin(l[2], l[3])) >= -1e-11) least = e;
        }
        assert_int_equal(owner[p], least);
    }
    memset(wanted, 0, (size_t)mesh.elements);
    wanted[17] = 1;
    ps_dgtd_lattice_owners(&lattice, &tets, wanted, owner);
    for (int p = 0; p < 729; ++p) assert_true(owner[p] == 17 || owner[p] == INT32_MAX);
}

static double linear(int order, int q, const double x[3])
{
    return q % 3 == 1 ? (1 + q) * x[0] : 0;
}

/* int |E|^2 over the unit cube of E = (0, (2 + 5 i) x, 0) is 29/3; its largest square is 29. */
static void squares_integrate(void **state)
{
    for (int order = 1; order <= 4; ++order) {
        PS_SCOPED(sampled_release) sampled s = {0};
        double sum = 0, largest = 0, all = 0;
        sampled_init(&s, order, linear);
        const int64_t elements = s.mesh.elements;
        PS_SCOPED_MEMORY double *volume = malloc((size_t)(3 * elements) * sizeof *volume);
        double *mean = volume + elements, *most = mean + elements;
        ps_dgtd_mean_squares(&s.reference, &s.rows, mean, most);
        ps_dgtd_volumes(&s.tets, volume);
        for (int64_t r = 0; r < elements; ++r) {
            sum += mean[r] * volume[s.number[r]];
            all += volume[r];
            largest = worse_of(largest, most[r]);
        }
        check_near(all, 1, 0, 1e-13);
        check_near(sum, 29. / 3, 0, 1e-6);
        check_near(largest, 29, 0, 1e-6);
    }
}

static double along_y(int order, int q, const double x[3])
{
    return q == 1 ? 3 * x[0] : q == 4 ? x[0] : 0;
}
static double along_z(int order, int q, const double x[3]) { return q == 2 ? 2 : q == 5 ? -1 : 0; }

/* The fields below on the unit cube: int |n x E|^2 = 10 + 20/3, int |n x H|^2 = 4 5; Z = 2. */
static void check_kinds(const sampled *s, const float *h, double *out)
{
    const int64_t elements = s->mesh.elements;
    const double expected[PS_DGTD_FACES] = {2.5, 0, 0, (50. / 3 / 2 + 20 * 2) / 4};
    PS_SCOPED_MEMORY uint8_t *kinds = malloc((size_t)(4 * elements));
    PS_SCOPED_MEMORY double *impedance = malloc((size_t)elements * sizeof *impedance);
    for (int64_t r = 0; r < elements; ++r) impedance[r] = 2;
    for (int kind = PS_DGTD_INNER; kind < PS_DGTD_FACES; ++kind) {
        const ps_dgtd_surface surface = {s->mesh.links, kinds, impedance};
        double sum = 0;
        memset(kinds, kind, (size_t)(4 * elements));
        ps_dgtd_outflow(&s->reference, &s->tets, &surface, &s->rows, h, out);
        for (int64_t r = 0; r < elements; ++r) sum += out[r];
        check_near(sum, expected[kind], 0, 1e-5);
    }
}

/* E = (3 + i) x y^, H = (2 - i) z^: E x H^* = (3 + i)(2 + i) x = (5 + 5 i) x, of divergence 5 in
 * its real part: half of that flows out of the unit cube. */
static void outflow_is_the_divergence(void **state)
{
    for (int order = 1; order <= 4; ++order) {
        PS_SCOPED(sampled_release) sampled s = {0};
        double sum = 0;
        sampled_init(&s, order, along_y);
        float *h = fill(&s.mesh, &s.reference, along_z, s.number);
        PS_SCOPED_MEMORY double *out = malloc((size_t)s.mesh.elements * sizeof *out);
        const ps_dgtd_surface surface = {s.mesh.links, NULL, NULL};
        ps_dgtd_outflow(&s.reference, &s.tets, &surface, &s.rows, h, out);
        for (int64_t r = 0; r < s.mesh.elements; ++r) sum += out[r];
        check_near(sum, 2.5, 0, 1e-6);
        check_kinds(&s, h, out);
    }
}
