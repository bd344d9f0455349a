/* What near and far blocks of long triangles save must not change them: moments that another block
 * has left in the table of pairs, distances in lanes, and rows and columns that take several rules.
 */
#include "kernels/hbem/distances.h"
#include "kernels/hbem/entries_internal.h"
#include "kernels/hbem/narrow.h"

#include "tests/check.h"
#include "tests/support/distance.h"
#include "tests/support/hbem_case.h"

/* The cube of side 2, stretched: right triangles of that aspect, all touching pairs of which are
 * hard. */
static void stretched(hbem_case *c, int n, double aspect, double tolerance)
{
    hbem_case_cells(c, n, 0);
    for (int64_t v = 0; v < c->vertex_count; ++v) c->vertices[3 * v] *= aspect;
    hbem_case_surface(c);
    hbem_case_finish(c, PS_SPACE_P1, tolerance);
}

/* A block of 8 functions a side, by what is known of pairs; free() it. */
static double *block_of(const ps_hbem_operator *op, const ps_hbem_pair_table *pairs, int64_t row,
                        int64_t column)
{
    ps_hbem_range rows = {row, row + 8}, columns = {column, column + 8};
    double *values = calloc((size_t)(64 * ps_hbem_parts(op)), sizeof *values);
    PS_SCOPED(hbem_workspace_free)
    ps_hbem_workspace workspace = hbem_workspace_make(ps_hbem_entries_bytes(op, rows, columns));
    workspace.pairs = pairs;
    must(ps_hbem_near_block(op, rows, columns, &workspace, values));
    return values;
}

/* Blocks have the same bits with a table that all threads share as without one, in whatever order
 * they come. */
static void test_table(void **state)
{
    static const double wavenumbers[2] = {0, 1};
    hbem_case c;
    stretched(&c, 2, 8, 1e-3);
    const int64_t blocks = c.space.dofs / 8;
    for (int e = 0; e < 2 * PS_HBEM_KERNELS; ++e) {
        ps_hbem_operator op = hbem_case_operator(&c, (ps_hbem_kernel)(e / 2), wavenumbers[e % 2]);
        const int numbers = ps_hbem_pair_numbers(&op);
        int64_t differ = 0, found = 0;
        ps_hbem_pair_table table;
        PS_SCOPED_MEMORY void *memory =
            calloc((size_t)ps_hbem_pair_table_bytes(c.triangle_count, numbers), 1);
        ps_hbem_pair_table_init(&table, c.triangle_count, numbers, memory);
#pragma omp parallel for schedule(dynamic) reduction(+ : differ)
        for (int64_t b = 0; b < blocks * blocks; ++b) {
            PS_SCOPED_MEMORY double *alone = block_of(&op, NULL, b / blocks * 8, b % blocks * 8);
            PS_SCOPED_MEMORY double *known = block_of(&op, &table, b / blocks * 8, b % blocks * 8);
            differ += memcmp(alone, known, sizeof(double) * 64 * (size_t)ps_hbem_parts(&op)) != 0;
        }
        for (int32_t t = 0; t < c.triangle_count * c.triangle_count; ++t) {
            double out[18];
            found += ps_hbem_pair_table_get(&table, t / (int32_t)c.triangle_count,
                                            t % (int32_t)c.triangle_count, out);
        }
        assert_int_equal(differ, 0);
        assert_true(found > c.triangle_count);
    }
    hbem_case_release(&c);
}

/* A pair is found as it was put, the other order is another pair, and what took its place hides it.
 */
static void test_places(void **state)
{
    enum { PAIRS = 4000 };
    double out[9] = {0}, numbers[9] = {0};
    ps_hbem_pair_table table;
    PS_SCOPED_MEMORY void *memory = calloc((size_t)ps_hbem_pair_table_bytes(1, 9), 1);
    ps_hbem_pair_table_init(&table, 1, 9, memory);
    assert_int_equal(ps_hbem_pair_table_get(&table, 0, 0, out), 0);
    for (int32_t t = 0; t < PAIRS; ++t) {
        for (int e = 0; e < 9; ++e) numbers[e] = 9 * t + e;
        ps_hbem_pair_table_put(&table, t % 3, t, numbers);
        assert_int_equal(ps_hbem_pair_table_get(&table, t % 3, t, out), 1);
        check_near(out[8], 9 * t + 8, 0, 0);
        assert_int_equal(ps_hbem_pair_table_get(&table, t, t % 3, out), t < 3);
    }
    int found = 0;
    for (int32_t t = 0; t < PAIRS; ++t) {
        if (!ps_hbem_pair_table_get(&table, t % 3, t, out)) continue;
        ++found;
        check_near(out[0], 9 * t, 0, 0);
    }
    check_at_most(found, (double)table.places);
}

static void put_lane(const ps_hbem_triangle *t, int lane, double *lanes)
{
    for (int e = 0; e < 9; ++e) lanes[e * PS_HBEM_LANES_F64 + lane] = t->corner[e / 3][e % 3];
    for (int c = 0; c < 3; ++c) lanes[(9 + c) * PS_HBEM_LANES_F64 + lane] = t->normal[c];
}

/* Pairs of any shape, in one plane and over each other too, and one that meets in a point. */
static void test_distances(void **state)
{
    enum { LANES = PS_HBEM_LANES_F64 };
    double x[PS_HBEM_PANEL_ROWS * LANES] __attribute__((aligned(64)));
    double y[PS_HBEM_PANEL_ROWS * LANES] __attribute__((aligned(64)));
    double out[LANES] __attribute__((aligned(64)));
    const int32_t order[6] = {0, 1, 2, 3, 4, 5};
    uint64_t seed = 7;
    for (int n = 0; n < 200; ++n) {
        ps_hbem_triangle t[LANES][2];
        for (int lane = 0; lane < LANES; ++lane) {
            double corners[6][3], flat = lane % 3 == 0 ? 1 : lane % 3 == 1 ? .1 : .003;
            for (int e = 0; e < 18; ++e)
                corners[e / 3][e % 3] = congruence_uniform(&seed) * (e % 3 == 1 ? flat : 1) +
                                        (e / 3 > 2 && e % 3 == n % 3 ? 1.1 : 0);
            for (int e = 0; lane == 6 && e < 6; ++e) corners[e][2] = 0;
            if (lane == 7) memcpy(corners[3], corners[0], sizeof corners[0]);
            ps_hbem_surface surface;
            must(ps_hbem_surface_init(&surface, &corners[0][0], 6, order, 2, t[lane]));
            put_lane(&t[lane][0], lane, x);
            put_lane(&t[lane][1], lane, y);
        }
        ps_hbem_distances(x, y, out);
        for (int lane = 0; lane < LANES; ++lane)
            check_near(out[lane], narrow_distance(&t[lane][0], &t[lane][1]), 1e-14, 1e-9);
    }
}

/* Far blocks whose functions take several rules: an entry is the same by its row and by its column,
 * and by the block's own rule throughout to a twentieth of eps of the block. */
static void test_rules_of_functions(void **state)
{
    const double eps = 1e-4;
    hbem_case c;
    stretched(&c, 3, 8, eps);
    int several = 0, changed = 0;
    for (int n = 0; n < 40 * PS_HBEM_KERNELS; ++n) {
        int64_t first = n / PS_HBEM_KERNELS * 5,
                second = c.space.dofs - 12 - n / PS_HBEM_KERNELS * 3;
        ps_hbem_operator op =
            hbem_case_operator(&c, (ps_hbem_kernel)(n % PS_HBEM_KERNELS), .1 * (n / 4 % 2));
        const int numbers = 9 * ps_hbem_parts(&op);
        ps_hbem_range rows = {first, first + 12}, columns = {second, second + 9};
        PS_SCOPED(hbem_workspace_free)
        ps_hbem_workspace workspace =
            hbem_workspace_make(ps_hbem_entries_bytes(&op, rows, columns));
        ps_hbem_far far;
        bool open = ps_hbem_far_open(&far, &op, rows, columns, &workspace) == PS_OK;
        if (open && far.rule > c.quadrature.rule) {
            double row[12][18], dear[12][18], column[9][24], square = 0, error = 0, apart = 0;
            for (int i = 0; i < 12; ++i) ps_hbem_far_row(&far, i, row[i]);
            for (int j = 0; j < 9; ++j) ps_hbem_far_column(&far, j, column[j]);
            op.one_rule = true;
            for (int i = 0; i < 12; ++i) ps_hbem_far_row(&far, i, dear[i]);
            for (int e = 0; e < 12 * numbers; ++e) {
                const int i = e / numbers, j = e % numbers % 9, part = e % numbers / 9;
                const double own = row[i][9 * part + j], exact = dear[i][9 * part + j];
                square += exact * exact;
                error += (own - exact) * (own - exact);
                apart = worse_of(apart, fabs(own - column[j][12 * part + i]));
            }
            ++several;
            changed += error > 0;
            check_at_most(sqrt(error), .05 * eps * sqrt(square));
            check_at_most(apart, 1e-13 * sqrt(square));
        }
    }
    assert_true(several > 20 && changed > 10);
    hbem_case_release(&c);
}
