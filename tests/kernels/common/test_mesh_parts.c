/* mesh_parts: runs, boxes, layers of the uniform cube and of shaken ranges, sorting by key. */
#include "kernels/common/mesh_parts.h"

#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/cube_tets.h"

static void runs_of_equal_weight(void **state)
{
    int32_t part[1000], weights[1000];
    int64_t sums[7] = {0}, total = 0;
    ps_parts_of_runs(NULL, 1000, 7, part);
    for (int i = 0; i < 1000; ++i) ++sums[part[i]];
    for (int q = 0; q < 7; ++q) assert_in_range(sums[q], 142, 143);
    for (int i = 0; i < 1000; ++i) total += weights[i] = 1 + i % 13;
    ps_parts_of_runs(weights, 1000, 7, part);
    memset(sums, 0, sizeof sums);
    for (int i = 0; i < 1000; ++i) {
        assert_true(i == 0 || part[i] >= part[i - 1]);
        sums[part[i]] += weights[i];
    }
    for (int q = 0; q < 7; ++q) check_near((double)sums[q], (double)total / 7, 13, 0);
}

static double *centroids_of(const cube_tets *mesh)
{
    double *out = calloc(3 * (size_t)mesh->elements, sizeof *out);
    for (int64_t i = 0; i < 12 * mesh->elements; ++i)
        out[i / 12 * 3 + i % 3] += mesh->vertices[3 * (int64_t)mesh->tetrahedra[i / 3] + i % 3] / 4;
    return out;
}

static void boxes_of_a_cube(void **state)
{
    PS_SCOPED(cube_tets_release) cube_tets mesh = {0};
    check_ok(cube_tets_init(&mesh, 6, 0, PS_DGTD_PEC));
    PS_SCOPED_MEMORY double *centroids = centroids_of(&mesh);
    PS_SCOPED_MEMORY int32_t *part = malloc((size_t)mesh.elements * sizeof *part),
                             *weights = malloc((size_t)mesh.elements * sizeof *weights);
    PS_SCOPED_MEMORY void *workspace = malloc(ps_parts_boxes_workspace(mesh.elements));
    int64_t sizes[8] = {0};
    double box[8][6];
    ps_parts_of_boxes(centroids, NULL, mesh.elements, 8, workspace, part);
    for (int q = 0; q < 8; ++q)
        for (int c = 0; c < 3; ++c) box[q][c] = 1, box[q][3 + c] = 0;
    for (int64_t e = 0; e < mesh.elements; ++e) {
        assert_in_range(part[e], 0, 7);
        ++sizes[part[e]];
        for (int c = 0; c < 3; ++c) {
            box[part[e]][c] = fmin(box[part[e]][c], centroids[3 * e + c]);
            box[part[e]][3 + c] = fmax(box[part[e]][3 + c], centroids[3 * e + c]);
        }
    }
    for (int q = 0; q < 8; ++q) {
        assert_int_equal(sizes[q], mesh.elements / 8);
        for (int c = 0; c < 3; ++c) check_at_most(box[q][3 + c] - box[q][c], .5);
    }
    /* Three parts, elements in the lower half of x count threefold. */
    double sums[3] = {0}, total = 0;
    for (int64_t e = 0; e < mesh.elements; ++e) total += weights[e] = centroids[3 * e] < .5 ? 3 : 1;
    ps_parts_of_boxes(centroids, weights, mesh.elements, 3, workspace, part);
    for (int64_t e = 0; e < mesh.elements; ++e) sums[part[e]] += weights[e];
    for (int q = 0; q < 3; ++q) check_near(sums[q], total / 3, 3, 0);
}

/* Neighbours within the range are in layers that are at most one apart. */
static void check_layers(const cube_tets *mesh, int64_t first, int64_t end, const int32_t *layer,
                         int64_t layers)
{
    PS_SCOPED_MEMORY int64_t *sizes = calloc((size_t)layers, sizeof *sizes);
    for (int64_t e = first; e < end; ++e) {
        assert_in_range(layer[e - first], 0, layers - 1);
        ++sizes[layer[e - first]];
        for (int f = 0; f < 4; ++f) {
            int32_t link = mesh->links[4 * e + f];
            if (link < 0 || link / 4 < first || link / 4 >= end) continue;
            assert_in_range(layer[link / 4 - first] - layer[e - first] + 1, 0, 2);
        }
    }
    for (int64_t l = 0; l < layers; ++l) assert_true(sizes[l] > 0);
}

/* Of all but the elements of the cube's one corner: layers from another corner grow, and are evened
 * out. */
static void even_layers(void **state)
{
    enum { N = 6 };
    PS_SCOPED(cube_tets_release) cube_tets mesh = {0};
    check_ok(cube_tets_init(&mesh, N, .2, PS_DGTD_PEC));
    int64_t first = mesh.elements / 7, end = mesh.elements, sizes[100], most = 0, squares[2] = {0};
    PS_SCOPED_MEMORY int32_t *layer = malloc((size_t)mesh.elements * sizeof *layer),
                             *queue = malloc((size_t)mesh.elements * sizeof *queue);
    int64_t layers =
        ps_mesh_layers(mesh.vertices, mesh.tetrahedra, mesh.links, first, end, layer, queue);
    assert_in_range(layers, 2, 100);
    memset(sizes, 0, sizeof sizes);
    for (int64_t i = 0; i < end - first; ++i) ++sizes[layer[i]];
    for (int64_t l = 0; l < layers; ++l) {
        squares[0] += sizes[l] * sizes[l];
        if (sizes[l] > most) most = sizes[l];
    }
    ps_mesh_even_layers(mesh.links, first, end, layers, queue, layer, sizes);
    check_layers(&mesh, first, end, layer, layers);
    for (int64_t l = 0; l < layers; ++l) {
        assert_true(sizes[l] <= most);
        squares[1] += sizes[l] * sizes[l];
    }
    assert_true(squares[1] < squares[0]);
}

static void layers_of_a_cube(void **state)
{
    enum { N = 5 };
    PS_SCOPED(cube_tets_release) cube_tets mesh = {0};
    check_ok(cube_tets_init(&mesh, N, .2, PS_DGTD_PEC));
    PS_SCOPED_MEMORY int32_t *layer = malloc((size_t)mesh.elements * sizeof *layer),
                             *queue = malloc((size_t)mesh.elements * sizeof *queue);
    int64_t count = mesh.elements, sizes[3 * N] = {0};
    int64_t layers =
        ps_mesh_layers(mesh.vertices, mesh.tetrahedra, mesh.links, 0, count, layer, queue);
    assert_int_equal(layers, 3 * N);
    check_layers(&mesh, 0, count, layer, layers);
    for (int64_t e = 0; e < count; ++e) ++sizes[layer[e]];
    for (int l = 0; l < 3 * N; ++l) assert_int_equal(sizes[l], 2 * N * N);
    /* A range of the curve, and one of scattered pieces. */
    layers = ps_mesh_layers(mesh.vertices, mesh.tetrahedra, mesh.links, count / 5, count / 2, layer,
                            queue);
    check_layers(&mesh, count / 5, count / 2, layer, layers);
    for (int64_t e = 0; e < count; ++e)
        for (int f = 0; f < 4; ++f) { /* elements 7, 17, .. stand alone */
            int32_t link = mesh.links[4 * e + f];
            if (link < 0 || (e % 10 != 7 && link / 4 % 10 != 7)) continue;
            mesh.links[link] = mesh.links[4 * e + f] = -1;
        }
    layers = ps_mesh_layers(mesh.vertices, mesh.tetrahedra, mesh.links, 0, count, layer, queue);
    check_layers(&mesh, 0, count, layer, layers);
}

static void sorted_by_key(void **state)
{
    const int32_t key[8] = {3, 0, 3, 1, 0, 3, 4, 1}, wanted[8] = {1, 4, 3, 7, 0, 2, 5, 6};
    const int64_t starts[6] = {0, 2, 4, 4, 7, 8};
    int64_t start[6];
    int32_t order[8];
    ps_order_by_key(key, 8, 5, start, order);
    assert_memory_equal(order, wanted, sizeof wanted);
    assert_memory_equal(start, starts, sizeof starts);
}
