#include <stdlib.h>

#include "kernels/common/mesh_measure.h"
#include "kernels/common/mesh_repair.h"
#include "kernels/common/mesh_topology.h"
#include "runtime/scope.h"
#include "tests/check.h"

enum { ROOM = 64 };

static const int32_t octahedron[8][3] = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                                         {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
static const double octahedron_vertices[6][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                                 {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};

typedef struct topology {
    uint32_t start[ROOM], ids[ROOM], mate[ROOM], work[ROOM];
    int32_t part[ROOM];
    uint8_t flip[ROOM], fans[ROOM];
    int64_t parts, twists, loops;
    uint32_t twist;
} topology;

static topology study(const int32_t *triangles, int64_t count, int64_t vertices)
{
    topology t = {.parts = 0};
    ps_facets_sort(&ps_triangle_edges, triangles, count, vertices, t.start, t.ids);
    ps_edges_pair(triangles, count, t.ids, t.mate);
    t.parts =
        ps_surface_parts(triangles, count, t.mate, t.part, t.flip, t.work, &t.twists, &t.twist);
    ps_vertex_fans(triangles, count, t.mate, vertices, t.fans, t.work);
    t.loops = ps_open_loops(triangles, count, t.mate, vertices, t.work);
    return t;
}

static int sum(const uint8_t *bytes, int count)
{
    int total = 0;
    for (int i = 0; i < count; ++i) total += bytes[i];
    return total;
}

static void closed_surface(void **state)
{
    topology t = study(*octahedron, 8, 6);
    assert_int_equal(t.parts, 1);
    assert_int_equal(t.twists, 0);
    assert_int_equal(t.loops, 0);
    assert_int_equal(sum(t.flip, 8), 0);
    for (int v = 0; v < 6; ++v) assert_int_equal(t.fans[v], 1);
    for (uint32_t h = 0; h < 24; ++h) {
        assert_true(t.mate[h] < 24 && t.mate[t.mate[h]] == h && t.mate[h] / 3 != h / 3);
        assert_int_equal(ps_facets_direction(&ps_triangle_edges, *octahedron, h, t.mate[h]), -1);
    }
}

static void turned_triangle_is_found(void **state)
{
    int32_t triangles[8][3];
    memcpy(triangles, octahedron, sizeof triangles);
    triangles[5][0] = 2, triangles[5][1] = 1;
    topology t = study(*triangles, 8, 6);
    assert_int_equal(t.parts, 1);
    assert_int_equal(sum(t.flip, 8), 1);
    assert_int_equal(t.flip[5], 1);
    assert_int_equal(ps_cells_turn(*triangles, 8, 3, t.flip), 1);
    t = study(*triangles, 8, 6);
    assert_int_equal(sum(t.flip, 8), 0);
}

/* Without two faces that share an edge: one hole; without two opposite faces: two holes. */
static void holes_are_counted(void **state)
{
    int32_t near[6][3], far[6][3];
    memcpy(near, octahedron[2], sizeof near);
    topology t = study(*near, 6, 6);
    assert_int_equal(t.loops, 1);
    int open = 0;
    for (int h = 0; h < 18; ++h) open += t.mate[h] == PS_MATE_NONE;
    assert_int_equal(open, 4);
    for (int i = 0, n = 0; i < 8; ++i)
        if (i != 0 && i != 6) memcpy(far[n++], octahedron[i], sizeof far[0]);
    t = study(*far, 6, 6);
    assert_int_equal(t.loops, 2);
    assert_int_equal(t.parts, 1);
}

static void edge_of_three_and_split_vertex(void **state)
{
    const int32_t fin[3][3] = {{0, 1, 2}, {1, 0, 3}, {0, 1, 4}};
    topology t = study(*fin, 3, 5);
    assert_int_equal(t.mate[0], PS_MATE_MANY);
    assert_int_equal(t.mate[3], PS_MATE_MANY);
    assert_int_equal(t.mate[6], PS_MATE_MANY);
    assert_int_equal(t.fans[0], 1); /* the edge is what is wrong */
    assert_int_equal(t.parts, 3);
    const int32_t bow[2][3] = {{0, 1, 2}, {0, 3, 4}};
    t = study(*bow, 2, 6);
    assert_int_equal(t.fans[0], 2);
    assert_int_equal(t.fans[1], 1);
    assert_int_equal(t.fans[5], 0);
    assert_int_equal(t.parts, 2);
}

static void moebius_band_has_no_orientation(void **state)
{
    const int32_t band[5][3] = {{0, 1, 2}, {1, 3, 2}, {2, 3, 4}, {3, 0, 4}, {4, 0, 1}};
    topology t = study(*band, 5, 5);
    assert_int_equal(t.parts, 1);
    assert_true(t.twists >= 1);
    assert_true(t.mate[t.twist] < PS_MATE_MANY);
}

/* A fan of 1000 triangles about vertex 0 goes through the large-group sort. */
static void large_fan(void **state)
{
    enum { COUNT = 1000 };
    static int32_t fan[COUNT][3];
    static uint32_t start[COUNT + 2], ids[3 * COUNT], mate[3 * COUNT];
    for (int32_t i = 0; i < COUNT; ++i) {
        fan[i][0] = 0;
        fan[i][1] = 1 + (i * 7 + 3) % COUNT; /* in a scrambled order */
        fan[i][2] = 1 + (i * 7 + 4) % COUNT;
    }
    ps_facets_sort(&ps_triangle_edges, *fan, COUNT, COUNT + 1, start, ids);
    ps_edges_pair(*fan, COUNT, ids, mate);
    for (uint32_t h = 0; h < 3 * COUNT; ++h) {
        if (h % 3 == 1)
            assert_int_equal(mate[h], PS_MATE_NONE);
        else
            assert_int_equal(fan[mate[h] / 3][h % 3 == 0 ? 2 : 1], fan[h / 3][h % 3 == 0 ? 1 : 2]);
    }
    assert_int_equal(start[1], 2 * COUNT);
}

static void equal_cells_are_neighbours_in_the_sort(void **state)
{
    const int32_t triangles[5][3] = {{3, 1, 2}, {0, 1, 2}, {2, 1, 3}, {2, 3, 0}, {1, 2, 3}};
    uint32_t start[8], ids[8];
    ps_facets_sort(&ps_triangle_itself, *triangles, 5, 4, start, ids);
    assert_int_equal(start[4], 5);
    assert_int_equal(ids[2], 0);
    assert_int_equal(ps_facets_run(&ps_triangle_itself, *triangles, ids, 5, 2), 5);
    assert_int_equal(ps_facets_run(&ps_triangle_itself, *triangles, ids, 5, 0), 1);
    assert_int_equal(ps_facets_direction(&ps_triangle_itself, *triangles, 0, 2), -1);
    assert_int_equal(ps_facets_direction(&ps_triangle_itself, *triangles, 0, 4), 1);
}

/* Two tetrahedra on a common face, and one apart. */
static void faces_of_tetrahedra(void **state)
{
    const int32_t cells[3][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}, {5, 6, 7, 8}};
    uint32_t start[16], ids[16], root[3];
    int32_t part[3];
    int shared = 0, outer = 0;
    ps_facets_sort(&ps_tetrahedron_faces, *cells, 3, 9, start, ids);
    for (int64_t i = 0, end; i < 12; i = end) {
        end = ps_facets_run(&ps_tetrahedron_faces, *cells, ids, 12, i);
        shared += end - i == 2;
        outer += end - i == 1;
    }
    assert_int_equal(shared, 1);
    assert_int_equal(outer, 10);
    assert_int_equal(ps_volume_parts(*cells, 3, ids, part, root), 2);
    assert_int_equal(part[1], 0);
    assert_int_equal(part[2], 1);
}

/* Each face of a positive tetrahedron looks outwards. */
static void faces_point_outwards(void **state)
{
    const int32_t cell[4] = {0, 1, 2, 3};
    const double x[4][3] = {{0.1, 0, 0}, {1, 0.2, 0}, {0, 1, 0.3}, {0.2, 0.1, 1}};
    assert_true(ps_tetrahedron_volume(x[0], x[1], x[2], x[3]) > 0);
    for (uint32_t f = 0; f < 4; ++f) {
        int32_t v[4];
        ps_facet_vertices(&ps_tetrahedron_faces, cell, f, v);
        assert_true(ps_tetrahedron_volume(x[v[0]], x[v[1]], x[v[2]], x[f]) < 0);
    }
}

static void measures(void **state)
{
    const double a[3] = {0, 0, 0}, b[3] = {2, 0, 0}, c[3] = {1, sqrt(3), 0};
    const double d[3] = {1, sqrt(3) / 3, sqrt(8.0 / 3)}, flat[3] = {1, 0, 0}, right[3] = {0, 2, 0};
    check_near(ps_triangle_area(a, b, c), sqrt(3), 0, 1e-15);
    check_near(ps_triangle_quality(a, b, c), 1, 0, 1e-14);
    check_near(ps_triangle_quality(a, b, flat), 0, 1e-15, 0);
    /* legs 2: r_in = 2 - sqrt 2, R = sqrt 2 */
    check_near(ps_triangle_quality(a, b, right), 2 * (2 - sqrt(2)) / sqrt(2), 0, 1e-14);
    check_near(ps_tetrahedron_volume(a, b, c, d), 8 / (6 * sqrt(2)), 0, 1e-14);
    check_near(ps_tetrahedron_quality(a, b, c, d), 1, 0, 1e-14);
    check_near(ps_tetrahedron_quality(a, c, b, d), 1, 0, 1e-14);
    check_near(ps_tetrahedron_quality(a, b, c, flat), 0, 1e-15, 0);
    /* corner of a cube with edge 1: V = 1/6, S = (3 + sqrt 3)/2, R = sqrt 3/2 */
    const double e[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    check_near(ps_tetrahedron_quality(a, e[0], e[1], e[2]),
               3 * (3 * (1.0 / 6) / ((3 + sqrt(3)) / 2)) / (sqrt(3) / 2), 0, 1e-14);
}

static void figures_of_cells(void **state)
{
    int64_t histogram[PS_QUALITY_BINS];
    ps_cell_figures figures;
    ps_cells_measure(*octahedron_vertices, *octahedron, 8, 3, histogram, &figures);
    check_near(figures.size_sum, 4 * sqrt(3), 0, 1e-14);
    check_near(figures.quality_min, 1, 0, 1e-14);
    check_near(figures.quality_low, 1, 1e-4, 0);
    int32_t part[8] = {0};
    uint8_t flip[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const double origin[3] = {7, -8, 9}, inside[3] = {0.1, 0.2, -0.3}, outside[3] = {1, 1, 0.1};
    double volume;
    ps_parts_volumes(*octahedron_vertices, *octahedron, 8, part, NULL, origin, 1, &volume);
    check_near(volume, 4.0 / 3, 0, 1e-13);
    ps_parts_volumes(*octahedron_vertices, *octahedron, 8, part, flip, origin, 1, &volume);
    check_near(volume, -4.0 / 3, 0, 1e-13);
    check_near(ps_winding_number(*octahedron_vertices, *octahedron, 8, part, NULL, 0, inside), 1,
               1e-13, 0);
    check_near(ps_winding_number(*octahedron_vertices, *octahedron, 8, part, flip, 0, inside), -1,
               1e-13, 0);
    check_near(ps_winding_number(*octahedron_vertices, *octahedron, 8, part, NULL, 0, outside), 0,
               1e-13, 0);
}

/* Against all pairs, for points with many coincidences across grid cells and tolerances from
 * tiny to large. */
static void weld_agrees_with_all_pairs(void **state)
{
    enum { COUNT = 600 };
    const double tolerances[] = {0, 1e-9, 1e-3, 0.05, 0.4, 3};
    static double x[COUNT][3];
    int32_t target[COUNT], expected[COUNT];
    PS_SCOPED_MEMORY void *workspace = malloc(ps_weld_workspace(COUNT));
    uint64_t random = 5;
    for (int t = 0; t < 6; ++t) {
        double tolerance = tolerances[t];
        for (int i = 0; i < COUNT; ++i)
            for (int c = 0; c < 3; ++c) {
                double jitter = (check_random(&random) - 0.5) * 1.5 * tolerance;
                x[i][c] = i < COUNT / 2 ? floor(8 * check_random(&random)) / 8
                                        : x[i - COUNT / 2][c] + jitter;
            }
        int64_t merged = 0;
        for (int i = 0; i < COUNT; ++i) {
            expected[i] = i;
            for (int j = i - 1; j >= 0; --j) {
                double d = 0;
                for (int c = 0; c < 3; ++c) d += (x[i][c] - x[j][c]) * (x[i][c] - x[j][c]);
                if (expected[j] == j && d <= tolerance * tolerance) expected[i] = j;
            }
            merged += expected[i] != i;
        }
        assert_int_equal(ps_vertices_weld(*x, COUNT, tolerance, workspace, target), merged);
        assert_memory_equal(target, expected, sizeof target);
    }
}

static void compaction_and_reordering(void **state)
{
    double x[4][3] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}};
    int32_t cells[3][3] = {{0, 2, 3}, {3, 2, 0}, {2, 0, 3}}, tags[3] = {7, 8, 9};
    int32_t source[3] = {0, 1, 2}, vertex_source[4] = {0, 1, 2, 3}, place[4];
    uint8_t used[4] = {0}, drop[3] = {0, 1, 0};
    assert_int_equal(ps_cells_compact(*cells, tags, source, 3, 3, drop), 2);
    assert_int_equal(tags[1], 9);
    assert_int_equal(source[1], 2);
    assert_int_equal(cells[1][0], 2);
    ps_vertices_mark(*cells, 6, used);
    assert_int_equal(ps_vertices_compact(*x, vertex_source, 4, used, place), 3);
    ps_indices_replace(*cells, 6, place);
    check_near(x[2][1], 3, 0, 0);
    assert_int_equal(vertex_source[1], 2);
    assert_int_equal(cells[0][1], 1);
    assert_int_equal(cells[0][2], 2);
    const int32_t order[3] = {2, 0, 1};
    double scratch[3][3];
    ps_items_reorder(x, 3, sizeof x[0], order, scratch);
    check_near(x[0][0], 3, 0, 0);
    check_near(x[1][0], 0, 0, 0);
}

/* Two tetrahedra and one more that shares a vertex with the first; a vertex without triangles. */
static void test_touching(void **state)
{
    static const int32_t corners[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
    static const int32_t vertices[3][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}, {3, 8, 9, 10}};
    int32_t triangles[36], part[12];
    uint32_t root[12], first[12];
    for (int i = 0; i < 36; ++i) triangles[i] = vertices[i / 12][corners[i / 3 % 4][i % 3]];
    assert_int_equal(ps_touching_parts(triangles, 12, 12, part, root, first), 2);
    for (int t = 0; t < 12; ++t) assert_int_equal(part[t], t / 4 == 1);
}
