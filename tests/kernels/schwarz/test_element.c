/* Matrices of elements, and of the pieces of a grid (kernels/schwarz/element.h). */
#include "kernels/schwarz/element.h"

#include "tests/check.h"

static ps_q1_grid small_grid(void)
{
    ps_q1_grid grid;
    check_ok(ps_q1_grid_make((const int64_t[3]){5, 4, 6}, (const double[3]){3, 2, 7}, &grid));
    grid.lumped = .3;
    return grid;
}

/* Rows add up to 0; f = x has the energy hx hy hz of |grad f|^2 = 1, whatever the direction and the
 * share of lumped masses. */
static void check_stiffness(const double h[3], int axis, double lumped)
{
    ps_q1_grid grid = {.spacing = {h[0], h[1], h[2]}, .lumped = lumped};
    double k[8][8], energy = 0;
    ps_element_stiffness(&grid, k);
    for (int r = 0; r < 8; ++r) {
        double sum = 0, product = 0;
        for (int c = 0; c < 8; ++c) {
            sum += k[r][c];
            product += k[r][c] * h[axis] * (c >> (2 - axis) & 1);
            assert_true(k[r][c] == k[c][r]);
        }
        check_near(sum, 0, 1e-14, 0);
        energy += product * h[axis] * (r >> (2 - axis) & 1);
    }
    check_near(energy, h[0] * h[1] * h[2], 0, 1e-14);
}

static void stiffness_of_linear_functions(void **unused)
{
    const double h[3] = {.7, 1.3, .2};
    for (int way = 0; way < 6; ++way) check_stiffness(h, way % 3, way < 3 ? 0 : .5);
}

static void faces_have_area_and_slope(void **unused)
{
    const double h[3] = {.7, 1.3, .2};
    const ps_q1_grid grid = {.spacing = {h[0], h[1], h[2]}, .lumped = .5};
    for (int axis = 0; axis < 3; ++axis) {
        double mass[4][4], stiffness[4][4], area = 0, energy = 0;
        double first = h[axis == 0 ? 1 : 0], other = h[axis == 2 ? 1 : 2];
        ps_face_element(&grid, axis, mass, stiffness);
        for (int r = 0; r < 4; ++r)
            for (int c = 0; c < 4; ++c) {
                area += mass[r][c];
                energy += stiffness[r][c] * first * (r >> 1) * first * (c >> 1);
            }
        check_near(area, first * other, 0, 1e-14);
        check_near(energy, first * other, 0, 1e-14);
    }
}

/* All elements in one subdomain: the rows of the stencil. */
static void one_subdomain_is_the_box(void **unused)
{
    ps_q1_grid grid = small_grid();
    ps_slab slab = ps_slab_whole(&grid);
    ps_slab_stencil stencil;
    PS_SCOPED(ps_csr_release) ps_csr matrix = {0};
    int32_t part[4 * 3 * 5] = {0}, at[8];
    ps_element_parts parts = {grid, part};
    ps_slab_stencil_make(&slab, &stencil);
    check_ok(ps_stencil_assemble(&stencil, &matrix));
    for (int64_t r = 0; r < matrix.rows; ++r) {
        int64_t columns[27], first = matrix.row_start[r];
        double values[27];
        int count = ps_part_row(&parts, 0, r, columns, values);
        assert_int_equal(count, matrix.row_start[r + 1] - first);
        for (int i = 0; i < count; ++i) {
            assert_int_equal(columns[i], matrix.columns[first + i]);
            check_near(values[i], matrix.values[first + i], 1e-14, 1e-13);
        }
        assert_int_equal(ps_parts_at(&parts, r, at), 1);
    }
}

/* However the elements are dealt out, the rows of the subdomains add up to those of the box, and
 * the faces between them are seen from one side only. */
static void pieces_add_up(void **unused)
{
    enum { PARTS = 5, ELEMENTS = 4 * 3 * 5 };
    ps_q1_grid grid = small_grid();
    int32_t part[ELEMENTS], one[ELEMENTS] = {0};
    uint64_t seed = 3;
    for (int e = 0; e < ELEMENTS; ++e) part[e] = (int32_t)(check_random(&seed) * PARTS);
    ps_element_parts parts = {grid, part}, box = {grid, one};
    for (int64_t node = 0; node < ps_q1_grid_size(&grid); ++node) {
        int64_t columns[27];
        double values[27], sum[5 * 4 * 6] = {0};
        int32_t at[8];
        int touching = 0, there = ps_parts_at(&parts, node, at);
        for (int32_t p = 0; p < PARTS; ++p) {
            int count = ps_part_row(&parts, p, node, columns, values);
            touching += count > 0 || (touching < there && at[touching] == p);
            for (int i = 0; i < count; ++i) sum[columns[i]] += values[i];
        }
        assert_int_equal(touching, there);
        int count = ps_part_row(&box, 0, node, columns, values);
        bool fixed = count == 1 && values[0] == 1;
        for (int i = 0; i < count && !fixed; ++i) {
            check_near(sum[columns[i]], values[i], 1e-13, 1e-12);
            sum[columns[i]] = 0;
        }
        for (int64_t i = 0; i < 5 * 4 * 6 && !fixed; ++i) check_near(sum[i], 0, 1e-13, 0);
    }
    for (int64_t e = 0; e < ELEMENTS; ++e)
        for (int axis = 0; axis < 3; ++axis) {
            int64_t nodes[4];
            int32_t sides[2];
            int64_t step = axis == 0 ? 15 : axis == 1 ? 5 : 1;
            if (!ps_part_face(&parts, e, axis, nodes, sides)) continue;
            assert_true(sides[0] == part[e - step] && sides[1] == part[e] && sides[0] != sides[1]);
            assert_true(nodes[0] < nodes[1] && nodes[1] < nodes[3] && nodes[2] < nodes[3]);
        }
}
