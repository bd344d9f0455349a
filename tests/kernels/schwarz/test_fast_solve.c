/* Direct solution on slabs (kernels/schwarz/fast_solve.h), and what the finite elements give:
 * convergence orders, trilinear data, mass on the boundary, the attraction of a prism. */
#include "kernels/schwarz/fast_solve.h"

#include <stdlib.h>

#include "kernels/schwarz/density.h"
#include "kernels/linear/krylov_team.h"
#include "runtime/memory.h"
#include "tests/check.h"
#include "tests/support/gravity_exact.h"

static const double pi = 3.14159265358979323846;

typedef struct work {
    ps_slab_stencil stencil;
    ps_fast_solver solver;
    double *tables, *space, *b, *x, *y;
    int64_t n;
} work;

static work begin(const ps_slab *slab)
{
    work w = {.n = ps_q1_grid_size(&slab->grid)};
    ps_slab_stencil_make(slab, &w.stencil);
    check_ok(PS_ALLOC(&w.tables, ps_fast_solver_size(slab), "tables"));
    check_ok(PS_ALLOC(&w.space, ps_fast_workspace(slab, 2), "workspace"));
    check_ok(PS_ALLOC(&w.b, 3 * w.n, "vectors"));
    w.x = w.b + w.n;
    w.y = w.x + w.n;
    check_ok(ps_fast_solver_make(slab, w.tables, &w.solver));
    return w;
}

static void end(work *w) { PS_FREE(w->tables, w->space, w->b); }

static void solve(work *w) { ps_fast_solve(&w->solver, w->b, w->x, w->space, 2); }

static ps_slab box(const int64_t nodes[3], const double length[3])
{
    ps_slab slab = {0};
    check_ok(ps_q1_grid_make(nodes, length, &slab.grid));
    return slab;
}

static ps_slab box_of(int64_t nx, int64_t ny, int64_t nz)
{
    return box((const int64_t[3]){nx, ny, nz}, (const double[3]){250, 250, 15});
}

/* A x = b to rounding, all combinations of faces, sizes about the widths of tiles. */
static void residuals_vanish(void **unused)
{
    static const int64_t sizes[][3] = {{5, 4, 4}, {9, 12, 26}, {2, 10, 27}, {33, 17, 9}, {6, 3, 3}};
    uint64_t seed = 7;
    for (int c = 0; c < 20; ++c) {
        ps_slab slab = box_of(sizes[c / 4][0], sizes[c / 4][1], sizes[c / 4][2]);
        slab.free[0] = c & 1, slab.free[1] = c & 2;
        slab.grid.lumped = c % 3 * .25;
        if (ps_slab_open_planes(&slab) < 1) continue;
        for (int s = 0; s < 2; ++s) slab.p[s] = .2 + s, slab.q[s] = 1.5 - s;
        PS_SCOPED(end) work w = begin(&slab);
        for (int64_t i = 0; i < w.n; ++i) w.b[i] = check_random(&seed) - .5;
        solve(&w);
        ps_stencil_multiply(&w.stencil, w.x, w.y);
        for (int64_t i = 0; i < w.n; ++i) w.y[i] -= w.b[i];
        check_at_most(largest_of(w.y, w.n), 1e-11);
        memcpy(w.y, w.x, (size_t)w.n * sizeof *w.y); /* in place, another number of threads */
        ps_fast_solve(&w.solver, w.b, w.b, w.space, 1);
        assert_memory_equal(w.b, w.y, (size_t)w.n * sizeof *w.y);
    }
}

/* -Lap u = f with u = sin sin sin: the error falls by 4 (L2) as the mesh is halved, with half the
 * masses lumped by 16. */
static double sine_error(int64_t n, double lumped)
{
    ps_slab slab = box((const int64_t[3]){n + 1, n + 1, n + 1}, (const double[3]){1, 1, 1});
    slab.grid.lumped = lumped;
    PS_SCOPED(end) work w = begin(&slab);
    double h = 1 / (double)n, error = 0;
    double hat = 6 * (1 - cos(pi * h)) / (pi * h * pi * h) / 3; /* hat load of a sine over h */
    for (int64_t r = 0; r < w.n; ++r) {
        int64_t m = n + 1, i = r / (m * m), j = r / m % m, k = r % m;
        w.y[r] = sin(pi * h * i) * sin(pi * h * j) * sin(pi * h * k);
        if (!ps_stencil_fixed(&w.stencil, i, j, k)) w.b[r] = 3 * pi * pi * pow(hat * h, 3) * w.y[r];
    }
    solve(&w);
    for (int64_t r = 0; r < w.n; ++r) error += pow(w.x[r] - w.y[r], 2);
    return sqrt(error * h * h * h);
}

/* Both halvings of the mesh divide the error by this. */
static void check_order(double lumped, double factor, const double bounds[2])
{
    double coarse = sine_error(8, lumped), middle = sine_error(16, lumped),
           fine = sine_error(32, lumped);
    check_near(coarse / middle, factor, bounds[0], 0);
    check_near(middle / fine, factor, bounds[1], 0);
}

static void orders(void **unused)
{
    check_order(0, 4, (const double[2]){.15, .05});
    check_order(.5, 16, (const double[2]){.5, .2});
}

/* Trilinear data on the boundary are reproduced inside. */
static void trilinear_data(void **unused)
{
    ps_slab slab = box_of(12, 9, 14);
    PS_SCOPED(end) work w = begin(&slab);
    for (int64_t r = 0; r < w.n; ++r) {
        double x = r / (9 * 14), y = r / 14 % 9, z = r % 14;
        w.y[r] = 1 + .5 * x - .25 * y + .125 * z + .1 * x * y - .05 * y * z + .02 * x * y * z;
    }
    ps_load_lift(&w.stencil, w.y, w.b);
    solve(&w);
    for (int64_t r = 0; r < w.n; ++r) check_near(w.x[r], w.y[r], 1e-10, 0);
}

/* ---- gravity ---- */

static const ps_prism body = {{-5e3, -5e3, 2e3}, {5e3, 5e3, 6e3}, -300};
static const double corner[3] = {-125e3, -125e3, 0};

/* Solves with the exact potential of the prism, or of a mass at the centre of the ball, on the
 * boundary of a box that begins at `corner`, for the load in w->b. */
static void solve_with_boundary(work *w, const ps_q1_grid *grid, double mass, const ps_body *ball)
{
    const int64_t *n = grid->nodes;
    for (int64_t r = 0; r < w->n; ++r) {
        int64_t at[3] = {r / (n[1] * n[2]), r / n[2] % n[1], r % n[2]};
        double point[3];
        for (int a = 0; a < 3; ++a) point[a] = corner[a] + (double)at[a] * grid->spacing[a];
        if (ps_stencil_fixed(&w->stencil, at[0], at[1], at[2]))
            w->x[r] = ball ? ps_sphere_potential(mass, ball->size, point, PS_NEWTON)
                           : ps_prism_potential(&body, point, PS_NEWTON);
    }
    ps_load_lift(&w->stencil, w->x, w->b);
    solve(w);
}

/* The potential of the prism by finite elements in a box of 250 x 250 x 15 km, with the exact
 * potential on the boundary. Leaves dPhi/dz of the top in w.y: (-3 u0 + 4 u1 - u2) / (2 hz), or,
 * with half the masses lumped, that of fourth order. */
static work gravity_of(const int64_t nodes[3], bool fourth)
{
    ps_slab slab = box(nodes, (const double[3]){250e3, 250e3, 15e3});
    slab.grid.lumped = fourth ? PS_LUMPED_FOURTH : 0;
    work w = begin(&slab);
    load_add_box(&slab.grid, corner, &body, 4 * pi * PS_NEWTON * body.density, w.b, w.y);
    solve_with_boundary(&w, &slab.grid, 0, NULL);
    for (int64_t c = 0; c < nodes[0] * nodes[1]; ++c) {
        const double *u = w.x + c * nodes[2], h = slab.grid.spacing[2];
        const ps_gradient_line line = {u, NULL, nodes[2], h};
        w.y[c] = fourth ? ps_gradient_at(&line, 0) : (-3 * u[0] + 4 * u[1] - u[2]) / (2 * h);
    }
    return w;
}

/* g_z at the centre and its relative L2 error on the top, in the guide's table of boundary
 * conditions; 1 % of these. */
static void check_attraction(const int64_t nodes[3], bool fourth, double centre, double l2)
{
    PS_SCOPED(end) work w = gravity_of(nodes, fourth);
    double error = 0, size = 0, h = 250e3 / (double)(nodes[0] - 1);
    for (int64_t i = 0; i < nodes[0]; ++i)
        for (int64_t j = 0; j < nodes[1]; ++j) {
            double point[3] = {-125e3 + h * (double)i, -125e3 + h * (double)j, 0};
            double exact = ps_prism_vertical(&body, point, PS_NEWTON);
            error += pow(w.y[i * nodes[1] + j] - exact, 2);
            size += exact * exact;
        }
    int64_t middle = nodes[0] / 2 * nodes[1] + nodes[1] / 2;
    check_near(w.y[middle] / PS_MILLIGAL, centre, 0, 1e-3);
    check_near(sqrt(error / size), l2, 0, .015);
}

static void attraction_of_a_prism(void **unused)
{
    check_attraction((const int64_t[3]){101, 101, 31}, false, -22.924, .0276);
    check_attraction((const int64_t[3]){201, 201, 61}, false, -22.040, .0075);
    check_attraction((const int64_t[3]){251, 251, 91}, false, -21.961, .0048);
}

/* Half the masses lumped: 38 times closer on the finest grid, and of fourth order. */
static void attraction_of_fourth_order(void **unused)
{
    check_attraction((const int64_t[3]){101, 101, 31}, true, -21.8405, 3.93e-3);
    check_attraction((const int64_t[3]){251, 251, 91}, true, -21.8179, 1.26e-4);
}

/* Loads of a ball by its mean densities in cells of half an element along x and y. */
static void add_ball_load(const ps_body *ball, work *w, const ps_q1_grid *grid)
{
    const int64_t *n = grid->nodes, fine[3] = {2 * n[0] - 1, 2 * n[1] - 1, n[2]};
    ps_cells cells = {.origin = {corner[0], corner[1], corner[2]}};
    PS_SCOPED_MEMORY double *plane = NULL;
    double lengths[3];
    for (int a = 0; a < 3; ++a) lengths[a] = grid->spacing[a] * (double)(n[a] - 1);
    check_ok(ps_q1_grid_make(fine, lengths, &cells.grid));
    check_ok(PS_ALLOC(&plane, (fine[1] - 1) * (fine[2] - 1), "plane"));
    for (int64_t i = 0; i < fine[0] - 1; ++i) {
        memset(plane, 0, (size_t)((fine[1] - 1) * (fine[2] - 1)) * sizeof *plane);
        ps_body_add(&cells, ball, i, plane);
        for (int64_t c = 0; c < (fine[1] - 1) * (fine[2] - 1); ++c) {
            int64_t at[3] = {i, c / (fine[2] - 1), c % (fine[2] - 1)};
            ps_prism box = {.density = plane[c]};
            if (plane[c] == 0) continue;
            for (int a = 0; a < 3; ++a) {
                box.low[a] = corner[a] + (double)at[a] * cells.grid.spacing[a];
                box.high[a] = box.low[a] + cells.grid.spacing[a];
            }
            load_add_box(grid, corner, &box, 4 * pi * PS_NEWTON * plane[c], w->b, w->y);
        }
    }
}

/* The guide's sphere, four elements wide, with a point mass's potential on the boundary: g_z on the
 * whole top within .5 % (L2) at 251 x 251 x 91 nodes. It is .35 %, and .17 % where the boundary
 * knows the cells' shape as the loads do. */
static void attraction_of_a_sphere(void **unused)
{
    const ps_body ball = {PS_BODY_BALL, {0, 0, 5000, 2000}, -300};
    const double mass = ps_body_mass(&ball);
    ps_slab slab = box((const int64_t[3]){251, 251, 91}, (const double[3]){250e3, 250e3, 15e3});
    double error = 0, size = 0;
    slab.grid.lumped = PS_LUMPED_FOURTH;
    PS_SCOPED(end) work w = begin(&slab);
    add_ball_load(&ball, &w, &slab.grid);
    solve_with_boundary(&w, &slab.grid, mass, &ball);
    for (int64_t c = 0; c < 251 * 251; ++c) {
        const ps_gradient_line line = {w.x + 91 * c, NULL, 91, slab.grid.spacing[2]};
        double point[3] = {corner[0] + 1e3 * (double)(c / 251),
                           corner[1] + 1e3 * (double)(c % 251)};
        double exact = sphere_vertical(mass, ball.size, point, PS_NEWTON);
        error += pow(ps_gradient_at(&line, 0) - exact, 2);
        size += exact * exact;
    }
    check_at_most(sqrt(error / size), .005);
}

/* Fourth order for smooth fields; exact for what jumping sources do to lines; second order where
 * there are but four nodes. */
static void gradients_along_lines(void **unused)
{
    double u[9], source[8], w = 0, slope = .3, h = .25;
    for (int i = 0; i < 9; ++i) u[i] = pow(h * i, 4) - 2 * h * i;
    for (int k = 0; k < 9; ++k)
        check_near(ps_gradient_at(&(ps_gradient_line){u, NULL, 9, h}, k), 4 * pow(h * k, 3) - 2,
                   1e-13, 0);
    for (int i = 0; i < 4; ++i) u[i] = pow(h * i, 2);
    for (int k = 0; k < 4; ++k)
        check_near(ps_gradient_at(&(ps_gradient_line){u, NULL, 4, h}, k), 2 * h * k, 1e-13, 0);
    for (int i = 0; i < 9; ++i) {
        u[i] = w;
        if (i == 8) break;
        source[i] = (i * 37 % 11) - 4;
        w += h * slope - h * h * source[i] / 2;
        slope -= h * source[i];
    }
    slope = .3;
    for (int k = 0; k < 9; ++k) {
        check_near(ps_gradient_at(&(ps_gradient_line){u, source, 9, h}, k), slope, 1e-12, 0);
        if (k < 8) slope -= h * source[k];
    }
}

/* y = K u with natural conditions all around, element by element. */
static void multiply_elements(const ps_q1_grid *grid, const double *u, double *y)
{
    const int64_t *n = grid->nodes;
    for (int64_t e = 0; e < n[0] * n[1] * n[2]; ++e) {
        int64_t at[3] = {e / (n[1] * n[2]), e / n[2] % n[1], e % n[2]};
        if (at[0] == n[0] - 1 || at[1] == n[1] - 1 || at[2] == n[2] - 1) continue;
        for (int pair = 0; pair < 64; ++pair) {
            double value = 0;
            for (int stiff = 0; stiff < 3; ++stiff) {
                double product = 1;
                for (int a = 0; a < 3; ++a) {
                    bool same = !((pair ^ pair >> 3) >> a & 1);
                    double h = grid->spacing[a];
                    product *= a == stiff ? (same ? 1 : -1) / h : h / 6 * (same ? 2 : 1);
                }
                value += product;
            }
            int64_t to = e + (pair & 1) * n[1] * n[2] + (pair >> 1 & 1) * n[2] + (pair >> 2 & 1);
            int64_t from =
                e + (pair >> 3 & 1) * n[1] * n[2] + (pair >> 4 & 1) * n[2] + (pair >> 5 & 1);
            y[to] += value * u[from];
        }
    }
}

/* Loads add up to 4 pi G M; the sum over the boundary of K u - F is its negative. */
static void mass_on_the_boundary(void **unused)
{
    ps_slab slab = box((const int64_t[3]){21, 19, 16}, (const double[3]){250e3, 250e3, 15e3});
    PS_SCOPED(end) work w = begin(&slab);
    double flux = 4 * pi * PS_NEWTON * body.density * 4e11, total = 0, reaction = 0;
    load_add_box(&slab.grid, corner, &body, flux / 4e11, w.b, w.y);
    for (int64_t r = 0; r < w.n; ++r) total += w.b[r];
    check_near(total, flux, 0, 1e-12);
    solve(&w); /* the load ends inside: boundary rows, and so Phi there, are 0 */
    memset(w.y, 0, (size_t)w.n * sizeof *w.y);
    multiply_elements(&slab.grid, w.x, w.y);
    for (int64_t r = 0; r < w.n; ++r) {
        bool fixed = ps_stencil_fixed(&w.stencil, r / (19 * 16), r / 16 % 19, r % 16);
        check_near(fixed ? 0 : w.y[r], fixed ? 0 : w.b[r], 1e-11 * fabs(flux), 0);
        if (fixed) reaction += w.y[r] - w.b[r];
    }
    check_near(reaction, -flux, 0, 1e-11);
}

/* Cells of halves and thirds of elements: what the same boxes give one by one. */
static void check_refined(const ps_q1_grid *grid)
{
    static double cells[8 * 15 * 6], load[210], expected[210];
    const int64_t refine[3] = {2, 3, 1};
    double origin[3] = {0, 0, 0}, ws[18];
    uint64_t seed = 9;
    for (int c = 0; c < 8 * 15 * 6; ++c) {
        int at[3] = {c / 90, c / 6 % 15, c % 6};
        ps_prism one = {.density = 1};
        cells[c] = check_random(&seed) - .5;
        for (int a = 0; a < 3; ++a) {
            double h = grid->spacing[a] / (double)refine[a];
            one.low[a] = at[a] * h, one.high[a] = (at[a] + 1) * h;
        }
        load_add_box(grid, origin, &one, 2 * cells[c], expected, ws);
    }
    check_ok(ps_load_set_cells(grid, refine, cells, 2, load));
    for (int r = 0; r < 210; ++r) check_near(load[r], expected[r], 1e-14, 0);
}

/* A box in pieces is the box; densities of cells and a box of whole cells agree; NaN is told. */
static void loads(void **unused)
{
    ps_slab slab = box((const int64_t[3]){5, 6, 7}, (const double[3]){4, 5, 6});
    const int64_t one[3] = {1, 1, 1};
    double origin[3] = {0, 0, 0}, whole[210] = {0}, parts[210] = {0}, cells[120] = {0}, ws[18];
    ps_prism b = {{1, 1, 2}, {3, 4, 5}, 0}, left = b, right = b;
    left.high[1] = right.low[1] = 2.3;
    load_add_box(&slab.grid, origin, &b, 2, whole, ws);
    load_add_box(&slab.grid, origin, &left, 2, parts, ws);
    load_add_box(&slab.grid, origin, &right, 2, parts, ws);
    for (int r = 0; r < 210; ++r) check_near(parts[r], whole[r], 1e-14, 0);
    for (int i = 1; i < 3; ++i)
        for (int j = 1; j < 4; ++j)
            for (int k = 2; k < 5; ++k) cells[(i * 5 + j) * 6 + k] = 1;
    check_ok(ps_load_set_cells(&slab.grid, one, cells, 2, parts));
    for (int r = 0; r < 210; ++r) check_near(parts[r], whole[r], 1e-14, 0);
    check_refined(&slab.grid);
    cells[77] = NAN;
    check_fails(ps_load_set_cells(&slab.grid, one, cells, 2, parts), PS_INVALID, "(2, 2, 5)");
}

static void refusals(void **unused)
{
    ps_slab slab = box_of(4, 4, 4);
    double memory[400];
    ps_fast_solver solver;
    slab.free[0] = true;
    slab.p[0] = -1;
    check_fails(ps_fast_solver_make(&slab, memory, &solver), PS_INVALID, "p = -1");
    slab = box_of(2, 4, 4);
    check_fails(ps_fast_solver_make(&slab, memory, &solver), PS_USAGE, "none that is open");
}
