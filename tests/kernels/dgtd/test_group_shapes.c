/* mesh: the order of elements by shape within tiles. */
#include <stdbool.h>

#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/cube_tets.h"
#include "tests/support/distance.h"

enum { TILE = 100 };

/* The order along the curve, with shapes grouped in tiles if `tile` is not 0. */
static int32_t *order_of(const cube_tets *mesh, int64_t tile)
{
    int32_t *order = malloc((size_t)mesh->elements * sizeof *order);
    PS_SCOPED_MEMORY double *centroids = malloc(3 * (size_t)mesh->elements * sizeof *centroids);
    PS_SCOPED_MEMORY void *workspace = malloc(ps_space_curve_workspace(mesh->elements));
    ps_dgtd_order_elements(mesh->vertices, mesh->tetrahedra, mesh->elements, centroids, workspace,
                           order);
    if (tile) ps_dgtd_group_shapes(mesh->vertices, mesh->tetrahedra, mesh->elements, tile, order);
    return order;
}

static bool same_shape(const cube_tets *mesh, int32_t a, int32_t b)
{
    double s[3][3], t[3][3], most = 0;
    ps_dgtd_tangents(mesh->vertices, mesh->tetrahedra + 4 * (int64_t)a, s);
    ps_dgtd_tangents(mesh->vertices, mesh->tetrahedra + 4 * (int64_t)b, t);
    for (int k = 0; k < 9; ++k) most = worse_of(most, fabs(s[k / 3][k % 3] - t[k / 3][k % 3]));
    return most < 1e-9;
}

/* Each tile of a Kuhn cube holds at most six runs of one shape, and the elements it had. */
static void translates_lie_side_by_side(void **state)
{
    PS_SCOPED(cube_tets_release) cube_tets mesh = {0};
    check_ok(cube_tets_init(&mesh, 7, 0, PS_DGTD_PEC));
    PS_SCOPED_MEMORY int32_t *plain = order_of(&mesh, 0), *grouped = order_of(&mesh, TILE);
    for (int64_t i = 0; i < mesh.elements; i += TILE) {
        int64_t end = i + TILE < mesh.elements ? i + TILE : mesh.elements, sum = 0, runs = 1;
        for (int64_t k = i; k < end; ++k) {
            sum += plain[k] - grouped[k];
            runs += k > i && !same_shape(&mesh, grouped[k - 1], grouped[k]);
        }
        assert_int_equal(sum, 0);
        assert_true(runs <= 6);
        assert_int_equal(plain[i], grouped[i]);
    }
}

/* Where no shape comes twice, nothing moves. */
static void others_stay(void **state)
{
    PS_SCOPED(cube_tets_release) cube_tets mesh = {0};
    check_ok(cube_tets_init(&mesh, 4, .4, PS_DGTD_PEC));
    PS_SCOPED_MEMORY int32_t *plain = order_of(&mesh, 0),
                             *grouped = order_of(&mesh, PS_DGTD_MAX_TILE);
    assert_memory_equal(plain, grouped, (size_t)mesh.elements * sizeof *plain);
}
