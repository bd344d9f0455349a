#include <stdlib.h>
#include <string.h>

#include "kernels/common/mesh_intersect.h"
#include "kernels/common/mesh_repair.h"
#include "kernels/common/space_curve.h"
#include "tests/check.h"

/* Touching, ending in the plane and passing an edge are not piercing; scale does not matter. */
static void segments_and_triangles(void **state)
{
    for (double scale = 1e-8; scale < 1e9; scale *= 1e4) {
        double a[3] = {0, 0, 0}, b[3] = {scale, 0, 0}, c[3] = {0, scale, 0};
        double up[3] = {scale / 4, scale / 4, scale}, down[3] = {scale / 4, scale / 4, -scale};
        double in[3] = {scale / 4, scale / 4, 0}, out[3] = {scale, scale, -scale};
        double edge_up[3] = {scale / 2, 0, scale}, edge_down[3] = {scale / 2, 0, -scale};
        assert_true(ps_segment_pierces(up, down, a, b, c));
        assert_true(ps_segment_pierces(down, up, a, b, c));
        assert_true(ps_segment_pierces(up, down, c, b, a));
        assert_false(ps_segment_pierces(up, in, a, b, c));
        assert_false(ps_segment_pierces(up, out, a, b, c));
        assert_false(ps_segment_pierces(edge_up, edge_down, a, b, c));
    }
}

static int64_t intersections(const double *vertices, int64_t vertex_count, const int32_t *triangles,
                             int64_t count, ps_space_curve curve, int32_t *hit)
{
    PS_SCOPED_MEMORY double *centroids = malloc((size_t)(3 * count) * sizeof *centroids);
    PS_SCOPED_MEMORY int32_t *order = malloc((size_t)count * sizeof *order);
    PS_SCOPED_MEMORY void *workspace = malloc(ps_space_curve_workspace(count));
    PS_SCOPED_MEMORY float *boxes = malloc((size_t)(6 * ps_box_tree_size(count)) * sizeof *boxes);
    ps_cells_centroids(vertices, triangles, count, 3, centroids);
    ps_space_curve_order(curve, centroids, count, workspace, order);
    ps_box_tree_build(vertices, triangles, count, order, boxes);
    return ps_surface_intersections(vertices, triangles, count, order, boxes, hit);
}

static int overlaps(const double a[3][3], const double b[3][3])
{
    int count = 0; /* all orders of the vertices, both orders of the triangles: one answer */
    for (int r = 0; r < 12; ++r) {
        int p = r % 3, q = r / 3 % 2 ? 2 : 1;
        const double *u[3] = {a[p], a[(p + q) % 3], a[(p + 2 * q) % 3]}, *v[3] = {b[0], b[1], b[2]};
        count += r < 6 ? ps_triangles_overlap(u, v) : ps_triangles_overlap(v, u);
    }
    assert_true(count == 0 || count == 12);
    return count == 12;
}

/* Turned, moved and scaled like the other: out of the planes in which arithmetic is exact. */
static void place(const double from[3][3], double scale, double out[3][3])
{
    for (int v = 0; v < 3; ++v) {
        double x = from[v][0], y = from[v][1], z = from[v][2];
        out[v][0] = scale * (7 + .48 * x - .64 * y + .6 * z);
        out[v][1] = scale * (-3 + .8 * x + .6 * y);
        out[v][2] = scale * (.1 - .36 * x + .48 * y + .8 * z);
    }
}

/* In one plane: inside, across, a star, the same; touching along an edge, part of one, at a vertex;
 * apart; in a parallel plane; across the plane. */
static void overlaps_within_a_plane(void **state)
{
    const double a[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const struct {
        double b[3][3];
        int overlap;
    } cases[] = {{{{.2, .2, 0}, {.3, .2, 0}, {.2, .3, 0}}, 1},
                 {{{.5, -.2, 0}, {.6, -.2, 0}, {.2, .9, 0}}, 1},
                 {{{-.2, .4, 0}, {.7, .5, 0}, {.3, -.3, 0}}, 1},
                 {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, 1},
                 {{{0, 0, 0}, {-1, 0, 0}, {.3, .1, 0}}, 1},
                 {{{0, 0, 0}, {1, 0, 0}, {0, -1, 0}}, 0},
                 {{{.2, 0, 0}, {.6, 0, 0}, {.4, -1, 0}}, 0},
                 {{{.2, -1e-9, 0}, {.6, 1e-9, 0}, {.4, -1, 0}}, 0},
                 {{{1, 0, 0}, {2, 0, 0}, {1, 1, 0}}, 0},
                 {{{.6, .6, 0}, {1, .5, 0}, {1, 1, 0}}, 0},
                 {{{.2, .2, 1e-4}, {.3, .2, 1e-4}, {.2, .3, 1e-4}}, 0},
                 {{{.2, .2, -.1}, {.3, .2, .1}, {.2, .3, .1}}, 0}};
    for (double scale = 1e-8; scale < 1e9; scale *= 1e4)
        for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
            double u[3][3], v[3][3];
            place(a, scale, u);
            place(cases[c].b, scale, v);
            assert_int_equal(overlaps(u, v), cases[c].overlap);
        }
}

/* A flat sheet of triangles has none; one more triangle over it overlaps those below it. */
static void flat_sheet(void **state)
{
    enum { SIDE = 12, VERTICES = (SIDE + 1) * (SIDE + 1), COUNT = 2 * SIDE * SIDE };
    double x[VERTICES + 3][3];
    int32_t triangles[COUNT + 1][3], hit[COUNT + 1];
    for (int v = 0; v < VERTICES; ++v) {
        double s = v % (SIDE + 1), t = v / (SIDE + 1);
        for (int c = 0; c < 3; ++c) x[v][c] = .1 * c + .31 * (c + 1) * s + .17 * (5 - c * c) * t;
    }
    for (int32_t q = 0; q < SIDE * SIDE; ++q) {
        int32_t a = q / SIDE * (SIDE + 1) + q % SIDE, b = a + 1, c = b + SIDE + 1, d = c - 1;
        memcpy(triangles[2 * q], (int32_t[3]){a, b, c}, sizeof *triangles);
        memcpy(triangles[2 * q + 1], (int32_t[3]){a, c, d}, sizeof *triangles);
    }
    assert_int_equal(intersections(*x, VERTICES, *triangles, COUNT, PS_CURVE_HILBERT, hit), 0);
    int32_t corner[3] = {0, 2, 2 * SIDE + 2}; /* two squares wide, above one of them inside */
    for (int k = 0; k < 3; ++k)
        for (int c = 0; c < 3; ++c)
            x[VERTICES + k][c] = x[corner[k] + SIDE + 2][c] * .999 + x[3 * SIDE + 5][c] * .001;
    memcpy(triangles[COUNT], (int32_t[3]){VERTICES, VERTICES + 1, VERTICES + 2}, sizeof *triangles);
    int64_t pairs = intersections(*x, VERTICES + 3, *triangles, COUNT + 1, PS_CURVE_HILBERT, hit);
    assert_true(pairs >= 4 && pairs <= 16);
}

/* A soup of random triangles against all pairs, for counts around the leaf size and above, in
 * file order and along the curve: the pairs are the same. */
static void soup_agrees_with_all_pairs(void **state)
{
    const int64_t counts[] = {1, 2, 7, 8, 9, 17, 300};
    uint64_t random = 3;
    for (int n = 0; n < 7; ++n) {
        int64_t count = counts[n], expected = 0;
        double x[900][3];
        int32_t triangles[300][3], hit[300];
        for (int64_t i = 0; i < 3 * count; ++i) {
            for (int c = 0; c < 3; ++c)
                x[i][c] =
                    0.3 * check_random(&random) + (i % 3 ? x[i - i % 3][c] : check_random(&random));
            triangles[i / 3][i % 3] = (int32_t)i;
        }
        for (int64_t i = 0; i < count; ++i)
            for (int64_t j = 0; j < i; ++j) {
                int cut = 0;
                for (int k = 0; k < 6; ++k) {
                    int64_t f = k < 3 ? i : j, t = k < 3 ? j : i;
                    cut |= ps_segment_pierces(x[3 * f + k % 3], x[3 * f + (k + 1) % 3], x[3 * t],
                                              x[3 * t + 1], x[3 * t + 2]);
                }
                expected += cut;
            }
        assert_true(count < 300 || expected > 100);
        for (int curve = 0; curve < 3; ++curve)
            assert_int_equal(
                intersections(*x, 3 * count, *triangles, count, (ps_space_curve)curve, hit),
                expected);
    }
}

/* Two tetrahedra that overlap cut; neighbours that share vertices or edges do not. */
static void bodies(void **state)
{
    const int32_t triangles[8][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2},
                                     {4, 6, 5}, {4, 5, 7}, {5, 6, 7}, {4, 7, 6}};
    double x[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int32_t hit[8];
    assert_int_equal(intersections(*x, 4, *triangles, 4, PS_CURVE_HILBERT, hit), 0);
    for (int i = 0; i < 4; ++i)
        for (int c = 0; c < 3; ++c) x[4 + i][c] = x[i][c] + 0.2;
    /* the second one's corner lies inside the first: its three faces at that corner cut the slope
     */
    assert_int_equal(intersections(*x, 8, *triangles, 8, PS_CURVE_HILBERT, hit), 3);
    int cut = 0;
    for (int i = 0; i < 8; ++i) cut += hit[i] >= 0;
    assert_true(cut >= 1 && cut <= 3);
}
