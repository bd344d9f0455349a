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
static float *fill(const cube_tets *mesh, const ps_dgtd_reference *reference, field_of field,
                   int32_t *number)
{
    int n = reference->nodes;
    float *values = malloc((size_t)(mesh->elements * 6 * n) * sizeof *values);
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

static void lattice_has_the_field(void **state)
{
    for (int order = 1; order <= 4; ++order) {
        PS_SCOPED(cube_tets_release) cube_tets mesh = {0};
        ps_dgtd_reference reference;
        check_ok(cube_tets_init(&mesh, 3, .4, PS_DGTD_PEC));
        ps_dgtd_reference_init(&reference, order);
        PS_SCOPED_MEMORY int32_t *number = malloc((size_t)mesh.elements * sizeof *number);
        PS_SCOPED_MEMORY float *values = fill(&mesh, &reference, field_at, number);
        /* skewed, partly outside */
        ps_dgtd_lattice lattice = {
            {-.13, .02, -.21}, {{.11, .03, .01}, {-.02, .1, 0}, {.01, .02, .13}}, {11, 9, 10}};
        int64_t points = ps_dgtd_lattice_points(&lattice), inside = 0;
        ps_dgtd_tets tets = {mesh.vertices, mesh.tetrahedra, mesh.elements};
        ps_dgtd_rows rows = {mesh.elements, number, values};
        PS_SCOPED_MEMORY int32_t *owner = malloc((size_t)points * sizeof *owner);
        float(*fields)[6] = malloc((size_t)points * sizeof *fields);
        PS_SCOPED_MEMORY float *squares = malloc((size_t)points * sizeof *squares);
        ps_dgtd_lattice_owners(&lattice, &tets, NULL, owner);
        ps_dgtd_lattice_sample(&lattice, owner, &reference, &tets, &rows, fields, squares);
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
        free(fields);
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
        PS_SCOPED(cube_tets_release) cube_tets mesh = {0};
        ps_dgtd_reference reference;
        double sum = 0, largest = 0, all = 0;
        check_ok(cube_tets_init(&mesh, 3, .4, PS_DGTD_PEC));
        ps_dgtd_reference_init(&reference, order);
        PS_SCOPED_MEMORY int32_t *number = malloc((size_t)mesh.elements * sizeof *number);
        PS_SCOPED_MEMORY float *values = fill(&mesh, &reference, linear, number);
        PS_SCOPED_MEMORY double *volume = malloc((size_t)mesh.elements * 8);
        PS_SCOPED_MEMORY double *mean = malloc((size_t)mesh.elements * 8),
                                *most = malloc((size_t)mesh.elements * 8);
        ps_dgtd_tets tets = {mesh.vertices, mesh.tetrahedra, mesh.elements};
        ps_dgtd_rows rows = {mesh.elements, number, values};
        ps_dgtd_mean_squares(&reference, &rows, mean, most);
        ps_dgtd_volumes(&tets, volume);
        for (int64_t r = 0; r < mesh.elements; ++r) {
            sum += mean[r] * volume[number[r]];
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
static void check_kinds(const cube_tets *mesh, const ps_dgtd_reference *reference,
                        const ps_dgtd_rows *rows, const float *h, double *out)
{
    const double expected[PS_DGTD_FACES] = {2.5, 0, 0, (50. / 3 / 2 + 20 * 2) / 4};
    ps_dgtd_tets tets = {mesh->vertices, mesh->tetrahedra, mesh->elements};
    PS_SCOPED_MEMORY uint8_t *kinds = malloc((size_t)(4 * mesh->elements));
    PS_SCOPED_MEMORY double *impedance = malloc((size_t)mesh->elements * sizeof *impedance);
    for (int64_t r = 0; r < mesh->elements; ++r) impedance[r] = 2;
    for (int kind = PS_DGTD_INNER; kind < PS_DGTD_FACES; ++kind) {
        const ps_dgtd_surface surface = {mesh->links, kinds, impedance};
        double sum = 0;
        memset(kinds, kind, (size_t)(4 * mesh->elements));
        ps_dgtd_outflow(reference, &tets, &surface, rows, h, out);
        for (int64_t r = 0; r < mesh->elements; ++r) sum += out[r];
        check_near(sum, expected[kind], 0, 1e-5);
    }
}

/* E = (3 + i) x y^, H = (2 - i) z^: E x H^* = (3 + i)(2 + i) x = (5 + 5 i) x, of divergence 5 in
 * its real part: half of that flows out of the unit cube. */
static void outflow_is_the_divergence(void **state)
{
    for (int order = 1; order <= 4; ++order) {
        PS_SCOPED(cube_tets_release) cube_tets mesh = {0};
        ps_dgtd_reference reference;
        double sum = 0;
        check_ok(cube_tets_init(&mesh, 3, .4, PS_DGTD_PEC));
        ps_dgtd_reference_init(&reference, order);
        PS_SCOPED_MEMORY int32_t *number = malloc((size_t)mesh.elements * sizeof *number);
        PS_SCOPED_MEMORY float *e = fill(&mesh, &reference, along_y, number);
        PS_SCOPED_MEMORY float *h = fill(&mesh, &reference, along_z, number);
        PS_SCOPED_MEMORY double *out = malloc((size_t)mesh.elements * 8);
        ps_dgtd_tets tets = {mesh.vertices, mesh.tetrahedra, mesh.elements};
        ps_dgtd_rows rows = {mesh.elements, number, e};
        const ps_dgtd_surface surface = {mesh.links, NULL, NULL};
        ps_dgtd_outflow(&reference, &tets, &surface, &rows, h, out);
        for (int64_t r = 0; r < mesh.elements; ++r) sum += out[r];
        check_near(sum, 2.5, 0, 1e-6);
        check_kinds(&mesh, &reference, &rows, h, out);
    }
}
