/* Boundary values by FFT against direct sums of prisms (kernels/schwarz/boundary.h). */
#include "kernels/schwarz/boundary.h"

#include <omp.h>

#include "kernels/schwarz/prism.h"
#include "tests/check.h"

enum { NX = 9, NY = 12, NZ = 7, CELLS = (NX - 1) * (NY - 1) * (NZ - 1), NODES = NX * NY * NZ };

static ps_q1_grid make_grid(const double length[3])
{
    ps_q1_grid grid;
    check_ok(ps_q1_grid_make((const int64_t[3]){NX, NY, NZ}, length, &grid));
    return grid;
}

/* Direct sum at a node. */
static double direct(const ps_q1_grid *g, const double *density, const int64_t at[3])
{
    static ps_prism prisms[CELLS];
    double point[3], v = 0;
    for (int64_t c = 0; c < CELLS; ++c) {
        int64_t cell[3] = {c / ((NY - 1) * (NZ - 1)), c / (NZ - 1) % (NY - 1), c % (NZ - 1)};
        prisms[c].density = density[c];
        for (int a = 0; a < 3; ++a) {
            prisms[c].low[a] = (double)cell[a] * g->spacing[a];
            prisms[c].high[a] = (double)(cell[a] + 1) * g->spacing[a];
        }
    }
    for (int a = 0; a < 3; ++a) point[a] = (double)at[a] * g->spacing[a];
    for (int64_t c = 0; c < CELLS; ++c) v += ps_prism_potential(prisms + c, point, PS_NEWTON);
    return v;
}

static void equals_direct_sums(void **state)
{
    static const double lengths[2][3] = {{8000, 11000, 6000}, {250e3, 250e3, 1500}};
    static double density[CELLS], u[NODES], one[NODES];
    uint64_t seed = 3;
    for (int c = 0; c < CELLS; ++c) density[c] = 500 * (check_random(&seed) - .3);
    for (int box = 0; box < 2; ++box) {
        ps_q1_grid g = make_grid(lengths[box]);
        const ps_boundary_model model = {g, {1, 1, 1}, density};
        double largest = 0;
        for (int i = 0; i < NODES; ++i) u[i] = one[i] = -7;
        check_ok(ps_boundary_potential(&model, PS_NEWTON, u));
        for (int i = 0; i < NODES; ++i) largest = worse_of(largest, u[i]);
        for (int64_t i = 0; i < NODES; ++i) {
            int64_t at[3] = {i / (NY * NZ), i / NZ % NY, i % NZ};
            bool inside = at[0] % (NX - 1) && at[1] % (NY - 1) && at[2] % (NZ - 1);
            check_near(u[i], inside ? -7 : direct(&g, density, at), inside ? 0 : 1e-8 * largest, 0);
        }
        omp_set_num_threads(1);
        check_ok(ps_boundary_potential(&model, PS_NEWTON, one));
        omp_set_num_threads(2);
        assert_memory_equal(u, one, sizeof u);
    }
}

/* Nodes of a grid whose elements are 2 x 1 x 3 cells: those of the fine one. */
static void picks_nodes(void **state)
{
    enum { CX = (NX - 1) / 2 + 1, CZ = (NZ - 1) / 3 + 1 };
    static double density[CELLS], fine[NODES], coarse[CX * NY * CZ];
    ps_q1_grid g = make_grid((const double[3]){8000, 11000, 6000});
    uint64_t seed = 4;
    for (int c = 0; c < CELLS; ++c) density[c] = check_random(&seed);
    check_ok(ps_boundary_potential(&(ps_boundary_model){g, {1, 1, 1}, density}, 1, fine));
    check_ok(ps_boundary_potential(&(ps_boundary_model){g, {2, 1, 3}, density}, 1, coarse));
    for (int i = 0; i < CX; ++i)
        for (int j = 0; j < NY; ++j)
            for (int k = 0; k < CZ; ++k) {
                bool inside = i % (CX - 1) && j % (NY - 1) && k % (CZ - 1);
                double expected = inside ? 0 : fine[(2 * i * NY + j) * NZ + 3 * k];
                check_near(coarse[(i * NY + j) * CZ + k], expected, 0, 0);
            }
}

/* The expansion meets the closed form where it takes over. */
static void expansion_meets_prisms(void **state)
{
    static const double h[3] = {3, 2, 1};
    double far = PS_BOUNDARY_FAR * sqrt(14.);
    for (int direction = 0; direction < 8; ++direction) {
        double s = direction,
               d[3] = {far * cos(s), far * sin(s) * cos(3 * s), far * sin(s) * sin(3 * s)};
        static const double origin[3] = {0, 0, 0};
        ps_prism p = {.density = 1};
        for (int a = 0; a < 3; ++a)
            d[a] = 1.001 * d[a] - h[a] / 2, p.low[a] = d[a], p.high[a] = d[a] + h[a];
        check_near(ps_cell_potential(d, h), ps_prism_potential(&p, origin, 1), 0, 2e-8);
    }
}
