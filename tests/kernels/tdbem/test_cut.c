/* Distances of triangles, and where surfaces that come close to themselves are cut. */
#include "tests/check.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "kernels/common/mesh_measure.h"
#include "kernels/tdbem/cut.h"
#include "tests/support/thin_bodies.h"

static void test_distance(void **state)
{
    static const double v[9] = {0, 0, 0, 2, 0, 0, 0, 1, 0};
    static const int32_t corners[3] = {0, 1, 2};
    static const double cases[][4] = {{.3, .3, .7, .7},  /* above                      */
                                      {.3, .3, -.7, .7}, /* below                      */
                                      {1, -.5, 0, .5},   /* beside an edge             */
                                      {-3, -4, 0, 5},    /* nearest to a vertex        */
                                      {2, 2, 0, 1.7888543819998317}, /* beside the long edge */
                                      {1, -3, 4, 5}, /* beside an edge, above      */
                                      {.5, .25, 0, 0},
                                      {2, 0, 0, 0},
                                      {1, .5, 0, 0}}; /* on it, a vertex, an edge */
    ps_triangle t;
    check_ok(ps_triangles_init(v, corners, 1, &t));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        double edge = 0;
        check_near(ps_triangle_distance(&t, cases[c]), cases[c][3], 1e-15, 1e-15);
        check_near(ps_surface_distance(v, corners, 1, cases[c], &edge), cases[c][3], 1e-15, 1e-15);
        check_near(edge, sqrt(5), 1e-15, 0);
    }
}

static ps_triangle *cut_of(const icosphere *mesh, int threads)
{
    ps_triangle *out = malloc((size_t)mesh->triangle_count * sizeof *out);
    PS_SCOPED_MEMORY int32_t *order = malloc((size_t)mesh->triangle_count * sizeof *order);
    check_ok(ps_triangles_init(mesh->vertices, mesh->triangles, mesh->triangle_count, out));
    omp_set_num_threads(threads);
    ps_triangles_set_cut(out, mesh->triangle_count, order);
    return out;
}

/* The definition, over all pairs. */
static int cut_by_definition(const ps_triangle *all, int64_t count, int64_t t)
{
    double longest = ps_triangle_longest_edge(&all[t]), g = 2 * all[t].area / longest / 3;
    for (int64_t s = 0; s < count; ++s)
        if (s != t) g = fmin(g, ps_triangle_distance(&all[s], all[t].centroid));
    return g >= longest / 20 ? 1 : g >= longest / 100 ? 2 : 3;
}

static void check_definition(const icosphere *mesh, int64_t counts[4])
{
    PS_SCOPED_MEMORY ps_triangle *one = cut_of(mesh, 1), *four = cut_of(mesh, 4);
    for (int q = 0; q < 4; ++q) counts[q] = 0;
    for (int64_t t = 0; t < mesh->triangle_count; ++t) {
        int cut = cut_by_definition(one, mesh->triangle_count, t);
        check_near(one[t].cut, cut, 0, 0);
        check_near(four[t].cut, cut, 0, 0);
        ++counts[cut];
    }
}

static void test_cut(void **state)
{
    icosphere mesh;
    int64_t counts[4];
    icosphere_init(&mesh, 2);
    icosphere_jitter(&mesh, .03);
    check_definition(&mesh, counts);
    assert_int_equal(counts[1], mesh.triangle_count); /* well-shaped: untouched */
    icosphere_release(&mesh);

    wedge_init(&mesh, &(wedge_shape){6, 12, .03, 1, .6, .5});
    check_definition(&mesh, counts);
    assert_true(counts[1] > 50 && counts[2] > 50 && counts[3] > 20);
    icosphere_release(&mesh);

    spindle_init(&mesh, 60, .3, .1, .5);
    check_definition(&mesh, counts);
    assert_true(counts[2] + counts[3] > 60);
    icosphere_release(&mesh);
}
