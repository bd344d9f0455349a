/* Operators of trilinear elements on structured grids (kernels/schwarz/grid.h). */
#include "kernels/schwarz/grid.h"

#include <stdlib.h>

#include "runtime/memory.h"
#include "tests/check.h"
#include "tests/support/bandwidth.h"

typedef struct table_row {
    int64_t rows, entries, bandwidth;
    double mean, deviation;
} table_row;

/* Magoules, Cheik Ahamed, Putanowicz (2015), table 5; rows 1 and 3 print 49249 and 101168, which
 * the numerics guide corrects. */
static const table_row table_5[PS_GRAVI_MATRICES] = {
    {49248, 1067632, 3779, 21.678, 9.425},     {89056, 2010320, 5675, 22.573, 8.805},
    {101568, 2310912, 6209, 22.752, 8.666},    {181888, 4268192, 9239, 23.466, 8.051},
    {270336, 6456960, 12095, 23.885, 7.638},   {296208, 7101472, 12869, 23.975, 7.544},
    {416176, 10107680, 16205, 24.287, 7.199},  {450528, 10972752, 17099, 24.355, 7.119},
    {544563, 13348267, 19439, 24.512, 6.932},  {606816, 14926000, 20915, 24.597, 6.826},
    {650848, 16044032, 21929, 24.651, 6.758},  {848256, 21073920, 26225, 24.844, 6.504},
    {1213488, 30434592, 33389, 25.080, 6.171}, {1325848, 33321792, 33389, 25.132, 6.094},
    {1587808, 40077872, 40019, 25.241, 5.930}};

static void table_5_figures(void **unused)
{
    for (int m = 0; m < PS_GRAVI_MATRICES; ++m) {
        ps_q1_grid grid;
        check_ok(ps_gravi_grid(m, &grid));
        ps_row_figures f = ps_q1_grid_row_figures(&grid);
        assert_int_equal(f.rows, table_5[m].rows);
        assert_int_equal(f.entries, table_5[m].entries);
        assert_int_equal(f.longest, 27);
        check_near(f.mean, table_5[m].mean, 1e-3, 0);
        check_near(f.deviation, table_5[m].deviation, 1e-3, 0);
    }
}

/* The assembled matrices have the figures of the closed form. */
static void assembled_figures(void **unused)
{
    for (int m = 0; m < 4; ++m) {
        ps_q1_grid grid;
        ps_slab_stencil stencil;
        PS_SCOPED(ps_csr_release) ps_csr matrix = {0};
        check_ok(ps_gravi_grid(m, &grid));
        ps_slab slab = ps_slab_whole(&grid);
        ps_slab_stencil_make(&slab, &stencil);
        check_ok(ps_stencil_assemble(&stencil, &matrix));
        check_ok(ps_csr_check(&matrix, matrix.rows));
        ps_row_figures a = ps_csr_row_figures(&matrix), b = ps_q1_grid_row_figures(&grid);
        assert_int_equal(a.longest, b.longest);
        assert_int_equal(matrix.row_start[matrix.rows], b.entries);
        check_near(a.deviation, b.deviation, 0, 1e-12);
    }
}

/* All grids, a second each, with PENSTOCK_TEST_ALL_BANDWIDTHS set. */
static void table_5_bandwidths(void **unused)
{
    int count = getenv("PENSTOCK_TEST_ALL_BANDWIDTHS") ? PS_GRAVI_MATRICES : 5;
    for (int m = 0; m < count; ++m) {
        ps_q1_grid grid;
        check_ok(ps_gravi_grid(m, &grid));
        pattern graph = {ps_q1_grid_size(&grid), 27, grid_neighbours, &grid};
        PS_SCOPED_MEMORY int32_t *place = NULL, *work = NULL;
        check_ok(PS_ALLOC(&place, graph.nodes, "order"));
        check_ok(PS_ALLOC(&work, graph.nodes, "queue"));
        cuthill_mckee(&graph, place, work);
        assert_int_equal(grid_bandwidth(&grid, place), table_5[m].bandwidth);
    }
}

/* Rows of a slab with free faces, p = q = 0: constants are in the kernel away from fixed nodes, and
 * the faces' own matrices come on top. */
static void free_faces(void **unused)
{
    ps_slab slab = {.free = {true, true}, .p = {.5, 2}, .q = {.25, 3}}, bare = {.free = {1, 1}};
    check_ok(ps_q1_grid_make((const int64_t[3]){4, 5, 6}, (const double[3]){3, 2, 4}, &slab.grid));
    bare.grid = slab.grid;
    ps_slab_stencil stencil, plain;
    ps_slab_stencil_make(&slab, &stencil);
    ps_slab_stencil_make(&bare, &plain);
    for (int s = 0; s < 2; ++s) {
        double face[2][2], sum = 0;
        ps_face_weights(&slab.grid, slab.p[s], slab.q[s], face);
        for (int b = 0; b < 2; ++b)
            for (int c = 0; c < 2; ++c) {
                check_near(stencil.plane[1 + s][b][c] - plain.plane[1 + s][b][c], face[b][c], 1e-14,
                           0);
                check_near(plain.plane[1 + s][b][c], plain.plane[0][b][c] / 2, 1e-15, 0);
                sum += (1 + b) * (1 + c) * (plain.plane[0][b][c] + 2 * plain.side[b][c]);
            }
        check_near(sum, 0, 1e-14, 0);
    }
}

/* M_G and K_G as matrices against the operator; the sum of all of M_G is nearly the area. */
static void face_matrices(void **unused)
{
    ps_q1_grid grid;
    check_ok(ps_q1_grid_make((const int64_t[3]){4, 9, 7}, (const double[3]){3, 2, 4}, &grid));
    double in[63], out[63], weights[2][2];
    uint64_t seed = 1;
    for (int i = 0; i < 63; ++i) in[i] = check_random(&seed);
    for (int kind = 0; kind < 2; ++kind) {
        PS_SCOPED(ps_csr_release) ps_csr matrix = {0};
        check_ok(ps_face_assemble(&grid, kind == 0, kind == 1, &matrix));
        ps_face_weights(&grid, kind == 0, kind == 1, weights);
        ps_face_apply(&grid, weights, in, out);
        for (int r = 0; r < 63; ++r) {
            double sum = 0;
            for (int64_t e = matrix.row_start[r]; e < matrix.row_start[r + 1]; ++e)
                sum += matrix.values[e] * in[matrix.columns[e]];
            check_near(out[r], sum, 1e-14, 0);
        }
    }
}

/* f = 1: the elements around open nodes, 2 x 7 x 5 of them; an element is 1 x 1/4 x 2/3. */
static void unit_load(void **unused)
{
    ps_q1_grid grid;
    ps_slab_stencil stencil;
    double b[4 * 63], sum = 0;
    check_ok(ps_q1_grid_make((const int64_t[3]){4, 9, 7}, (const double[3]){3, 2, 4}, &grid));
    ps_slab slab = ps_slab_whole(&grid);
    ps_slab_stencil_make(&slab, &stencil);
    ps_unit_load(&grid, &stencil, b);
    for (int i = 0; i < 4 * 63; ++i) sum += b[i];
    check_near(sum, 70 / 6., 0, 1e-13);
}

static void wrong_sizes(void **unused)
{
    ps_q1_grid grid;
    check_fails(ps_q1_grid_make((const int64_t[3]){1, 5, 5}, (const double[3]){1, 1, 1}, &grid),
                PS_USAGE, "along x");
    check_fails(ps_q1_grid_make((const int64_t[3]){5, 2, 5}, (const double[3]){1, 1, 1}, &grid),
                PS_USAGE, "along y");
    check_fails(ps_q1_grid_make((const int64_t[3]){5, 5, 5}, (const double[3]){1, 1, -1}, &grid),
                PS_USAGE, "-1 long");
    check_fails(ps_gravi_grid(15, &grid), PS_USAGE, "table 5");
    ps_slab_stencil stencil = {.nodes = {2048, 1024, 1025}};
    ps_csr matrix = {0};
    check_fails(ps_stencil_assemble(&stencil, &matrix), PS_EXHAUSTED, "32 bits");
}
