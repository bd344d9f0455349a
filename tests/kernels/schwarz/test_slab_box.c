/* The optimised Schwarz method without overlap on boxes in memory (kernels/schwarz/slab_box.h,
 * interface.h). Numbers: the numerics guide of schwarz, sections 4 and 6. */
#include "kernels/schwarz/slab_box.h"

#include <stdlib.h>

#include "runtime/memory.h"
#include "tests/check.h"
#include "tests/support/slab_methods.h"

static double lumped; /* share of the masses, 0 but in a test of it */

static ps_q1_grid grid_of(int64_t nx, int64_t ny, int64_t nz)
{
    ps_q1_grid grid;
    check_ok(
        ps_q1_grid_make((const int64_t[3]){nx, ny, nz}, (const double[3]){250, 250, 15}, &grid));
    grid.lumped = lumped;
    return grid;
}

/* ---- a box, its traces, its memory ---- */

typedef struct fixture {
    ps_slab_box box;
    double *memory, *g, *space;
} fixture;

static fixture open_box(const ps_slab_box_plan *plan)
{
    fixture f;
    check_ok(PS_ALLOC(&f.memory, ps_slab_box_size(plan), "box"));
    check_ok(ps_slab_box_make(plan, f.memory, &f.box));
    ps_interface problem = ps_slab_box_interface(&f.box, true);
    check_ok(PS_ALLOC(&f.g, problem.size, "traces"));
    check_ok(PS_ALLOC(&f.space, ps_interface_gmres_workspace(&problem, 60), "GMRES"));
    return f;
}

static void close_box(fixture *f) { PS_FREE(f->memory, f->g, f->space); }

/* ---- measured factors ---- */

static double history[61];

/* From random traces without a source: the factor of the last 20 of 60 iterations. */
static double factor_of(ps_transmission t, int64_t slabs, bool modes)
{
    ps_slab_box_plan plan = {.grid = grid_of(33, 17, 9),
                             .slabs = slabs,
                             .transmission = t,
                             .modes = modes,
                             .threads = 1};
    PS_SCOPED(close_box) fixture f = open_box(&plan);
    uint64_t seed = 5;
    for (int64_t i = 0; i < ps_slab_box_traces(&f.box); ++i) {
        bool used = !modes || f.box.tables.inverse[i % f.box.face] > 0;
        int64_t node = i % f.box.face, j = node / 9, k = node % 9;
        if (!modes) used = j > 0 && j < 16 && k > 0 && k < 8;
        f.g[i] = used ? check_random(&seed) - .5 : 0;
    }
    ps_interface problem = ps_slab_box_interface(&f.box, false);
    ps_krylov_result result;
    assert_int_equal(slab_iterate(fixed_point_step, &problem, &(slab_control){0, 60, history + 1},
                                  f.g, f.space, &result),
                     PS_FAILED);
    return pow(history[60] / history[40], 1 / 20.);
}

static ps_transmission best_of(ps_transmission_kind kind, double *rho)
{
    static double memory[3][500];
    ps_q1_grid grid = grid_of(33, 17, 9);
    ps_symbol symbol = {500, memory[0], memory[1], memory[2]};
    double least, largest;
    ps_face_range(&grid, &least, &largest);
    ps_symbol_fill(&(ps_symbol_range){sqrt(least), sqrt(largest), 0, ps_symbol_length(&grid)},
                   &symbol);
    ps_transmission_search search = {kind, &symbol, {log(.2), log(grid.spacing[0] / sqrt(12))}, 1};
    ps_transmission t;
    ps_cmaes_result result;
    check_ok(ps_transmission_optimise(&search, &t, rho, &result));
    return t;
}

static void factors_of_closed_forms(void **unused)
{
    static const double two[] = {.8426, .8037, .5235, .5187}, four[] = {.8426, .8036, .5241, .5182};
    for (int kind = 0; kind < PS_TRANSMISSION_KINDS; ++kind) {
        double rho;
        ps_transmission t = ps_transmission_closed(kind, .2112, 1.7604, &rho);
        check_near(factor_of(t, 2, false), two[kind], 0, .01);
        check_near(factor_of(t, 4, false), four[kind], 0, .01);
    }
}

/* The discrete symbol predicts the factor within 1 %. */
static void factors_of_the_discrete_symbol(void **unused)
{
    static const double two[] = {.6923, .5059, .0201, .0142}, four[] = {.6922, .5057, .0201, .0142};
    for (int kind = 0; kind < PS_TRANSMISSION_KINDS; ++kind) {
        double rho;
        ps_transmission t = best_of(kind, &rho);
        double measured[2] = {factor_of(t, 2, false), factor_of(t, 4, false)};
        check_near(measured[0], two[kind], 0, .01);
        check_near(measured[1], four[kind], 0, .01);
        check_near(measured[0], sqrt(rho), 0, .01);
        check_near(factor_of(t, 4, true), measured[1], 0, .01);
    }
}

/* Likewise with half the masses lumped. */
static void factors_with_lumped_masses(void **unused)
{
    lumped = PS_LUMPED_FOURTH;
    for (int kind = 0; kind < PS_TRANSMISSION_KINDS; ++kind) {
        double rho;
        ps_transmission t = best_of(kind, &rho);
        double measured = factor_of(t, 4, false);
        check_near(measured, sqrt(rho), 0, .015);
        check_near(factor_of(t, 4, true), measured, 0, .01);
    }
    lumped = 0;
}

/* ---- answers ---- */

typedef struct whole {
    ps_q1_grid grid;
    double *load, *u;
} whole;

static void release_whole(whole *w) { PS_FREE(w->load, w->u); }

/* Slabs of it, on one thread. */
static ps_slab_box_plan plan_of(const whole *w, int64_t slabs, ps_transmission transmission)
{
    return (ps_slab_box_plan){.grid = w->grid,
                              .slabs = slabs,
                              .transmission = transmission,
                              .threads = 1,
                              .load = w->load};
}

/* A load and boundary data that vary, and the solution in one piece. */
static whole make_whole(void)
{
    whole w = {.grid = grid_of(33, 17, 9)};
    ps_slab slab = ps_slab_whole(&w.grid);
    int64_t n = ps_q1_grid_size(&w.grid);
    PS_SCOPED_MEMORY double *tables = NULL, *space = NULL;
    ps_fast_solver solver;
    uint64_t seed = 11;
    check_ok(PS_ALLOC(&w.load, n, "load"));
    check_ok(PS_ALLOC(&w.u, n, "u"));
    check_ok(PS_ALLOC(&tables, ps_fast_solver_size(&slab), "tables"));
    check_ok(PS_ALLOC(&space, ps_fast_workspace(&slab, 1), "space"));
    for (int64_t i = 0; i < n; ++i) w.load[i] = check_random(&seed);
    check_ok(ps_fast_solver_make(&slab, tables, &solver));
    ps_fast_solve(&solver, w.load, w.u, space, 1);
    return w;
}

static void check_answer(const fixture *f, const whole *w)
{
    double largest = largest_of(w->u, ps_q1_grid_size(&w->grid)), error = 0;
    for (int64_t slab = 0; slab < f->box.plan.slabs; ++slab) {
        int64_t first = ps_slab_first(33, f->box.plan.slabs, slab);
        int64_t end = ps_slab_first(33, f->box.plan.slabs, slab + 1) + 1;
        const double *u = field_of_slab(&f->box, slab);
        for (int64_t i = first * 17 * 9; i < end * 17 * 9; ++i)
            error = worse_of(error, fabs(u[i - first * 17 * 9] - w->u[i]));
    }
    check_at_most(error, 1e-12 * largest);
}

typedef enum way { FIXED_POINT, GMRES, SWEEPS } way;

/* Solves the whole in one of the ways, and compares; the iterations. */
static int64_t solve_whole(const whole *w, const ps_slab_box_plan *plan, way by, const ps_gmres *to)
{
    PS_SCOPED(close_box) fixture f = open_box(plan);
    ps_interface problem = ps_slab_box_interface(&f.box, true);
    ps_krylov_result result;
    if (by == FIXED_POINT)
        check_ok(fixed_point(&problem, to->tolerance, to->limit, f.g, f.space, &result));
    else if (by == GMRES)
        check_ok(ps_interface_gmres(&problem, to, f.g, f.space, &result));
    else
        check_ok(double_sweeps(&f.box, to->tolerance, to->limit, f.g, &result));
    check_ok(ps_slab_box_finish(&f.box, f.g));
    check_answer(&f, w);
    return result.iterations;
}

/* Fixed point, GMRES, double sweeps, with a coarse space and without, give the undivided answer. */
static void all_ways_lead_to_the_answer(void **unused)
{
    static const int64_t slabs[] = {2, 4, 7};
    PS_SCOPED(release_whole) whole w = make_whole();
    double rho;
    ps_slab_box_plan plan = plan_of(&w, 0, best_of(PS_OO2_UNSYMMETRIC, &rho));
    plan.threads = 2;
    for (int c = 0; c < 18; ++c) {
        plan.slabs = slabs[c / 6];
        plan.coarse = c % 2 ? .9 : 0;
        solve_whole(&w, &plan, (way)(c / 2 % 3), &(ps_gmres){1e-14, 100, 60, 0});
    }
}

/* All modes in the coarse space: one correction solves the problem. */
static void full_coarse_space_is_exact(void **unused)
{
    static const int64_t slabs[] = {2, 5, 32};
    PS_SCOPED(release_whole) whole w = make_whole();
    ps_slab_box_plan plan = plan_of(&w, 0, (ps_transmission){{.3, .1}, {2, 3}});
    plan.coarse = 100;
    for (int c = 0; c < 6; ++c) {
        plan.slabs = slabs[c / 2];
        int64_t steps =
            solve_whole(&w, &plan, c % 2 ? GMRES : FIXED_POINT, &(ps_gmres){1e-12, 3, 3, 0});
        assert_true(steps <= 2);
    }
}

/* GMRES with restarts needs more steps, and arrives. */
static void restarts(void **unused)
{
    PS_SCOPED(release_whole) whole w = make_whole();
    ps_krylov_result full, cut;
    ps_slab_box_plan plan = plan_of(&w, 4, (ps_transmission){{.3, .3}, {0, 0}});
    PS_SCOPED(close_box) fixture f = open_box(&plan);
    ps_interface problem = ps_slab_box_interface(&f.box, true);
    check_ok(ps_interface_gmres(&problem, &(ps_gmres){1e-8, 200, 60, 0}, f.g, f.space, &full));
    memset(f.g, 0, (size_t)ps_slab_box_traces(&f.box) * sizeof *f.g);
    check_ok(ps_interface_gmres(&problem, &(ps_gmres){1e-8, 200, 8, 0}, f.g, f.space, &cut));
    assert_true(cut.iterations > full.iterations);
    check_fails(ps_interface_gmres(&problem, &(ps_gmres){1e-8, 200, 0, 0}, f.g, f.space, &cut),
                PS_USAGE, "restarts");
    memset(f.g, 0, (size_t)ps_slab_box_traces(&f.box) * sizeof *f.g);
    check_fails(ps_interface_gmres(&problem, &(ps_gmres){1e-8, 5, 60, 0}, f.g, f.space, &cut),
                PS_FAILED, "5 iterations");
}

/* ---- vectors elsewhere ---- */

/* `Elsewhere` is memory of its own here; sums are taken as the cores take them. */
static ps_status table_dots(void *context, int64_t count, const double *a, const double *b,
                            double *parts)
{
    const ps_interface *p = context;
    int64_t face = p->size / p->traces;
    memset(parts, 0, (size_t)(count * p->all) * sizeof *parts);
    for (int64_t v = 0; v < count; ++v)
        for (int64_t i = 0; i < p->size; ++i)
            parts[v * p->all + p->first + i / face] += a[v * p->size + i] * b[i];
    return PS_OK;
}

static ps_status table_add(void *context, int64_t count, const double *factors, const double *a,
                           double *y)
{
    const ps_interface *p = context;
    for (int64_t v = 0; v < count; ++v)
        for (int64_t i = 0; i < p->size; ++i) y[i] += factors[v] * a[v * p->size + i];
    return PS_OK;
}

static ps_status table_subtract(void *context, const double *x, double *y)
{
    const ps_interface *p = context;
    for (int64_t i = 0; i < p->size; ++i) y[i] = x[i] - y[i];
    return PS_OK;
}

static ps_status table_divide(void *context, double by, double *x)
{
    const ps_interface *p = context;
    for (int64_t i = 0; i < p->size; ++i) x[i] /= by;
    return PS_OK;
}

/* By a table of operations: the same iterations and answer as on the cores. */
static void vectors_may_live_elsewhere(void **unused)
{
    PS_SCOPED(release_whole) whole w = make_whole();
    ps_krylov_result here, there;
    ps_slab_box_plan plan = plan_of(&w, 4, (ps_transmission){{.3, .1}, {2, 3}});
    for (int gmres = 0; gmres < 2; ++gmres) {
        PS_SCOPED(close_box) fixture f = open_box(&plan), other = open_box(&plan);
        const ps_gmres options = {1e-12, 200, 5, false};
        ps_interface problem = ps_slab_box_interface(&f.box, true), elsewhere = problem;
        ps_interface_vectors table = {&elsewhere, NULL,           table_dots,
                                      table_add,  table_subtract, table_divide};
        check_ok(PS_ALLOC(&table.basis, 6 * problem.size, "vectors"));
        elsewhere = ps_slab_box_interface(&other.box, true);
        elsewhere.vectors = &table;
        assert_int_equal(ps_interface_workspace(&elsewhere), problem.all);
        if (gmres) {
            check_ok(ps_interface_gmres(&problem, &options, f.g, f.space, &here));
            check_ok(ps_interface_gmres(&elsewhere, &options, other.g, other.space, &there));
        } else {
            check_ok(fixed_point(&problem, 1e-12, 200, f.g, f.space, &here));
            check_ok(fixed_point(&elsewhere, 1e-12, 200, other.g, other.space, &there));
        }
        assert_int_equal(here.iterations, there.iterations);
        check_ok(ps_slab_box_finish(&other.box, other.g));
        check_answer(&other, &w);
        free(table.basis);
    }
}

/* ---- stopped and continued ---- */

typedef struct stop {
    ps_interface problem;
    double *g, *space, *kept;
    int64_t at;
} stop;

/* Keeps g and the workspace after iteration `at`, as a checkpoint does, and ends there. */
static ps_status stop_there(void *watcher, int64_t iteration, double residual)
{
    stop *s = watcher;
    if (iteration != s->at) return PS_OK;
    int64_t size = s->problem.size;
    memcpy(s->kept, s->g, (size_t)size * sizeof *s->kept);
    memcpy(s->kept + size, s->space,
           (size_t)ps_interface_gmres_workspace(&s->problem, 4) * sizeof *s->kept);
    return PS_FAILED;
}

/* GMRES continued from what it left is GMRES that never stopped: in a cycle and at its end. */
static void gmres_continues_to_the_same_bits(void **unused)
{
    PS_SCOPED(release_whole) whole w = make_whole();
    stop s;
    ps_krylov_result full, cut;
    ps_slab_box_plan plan = plan_of(&w, 4, (ps_transmission){{.3, .3}, {0, 0}});
    for (s.at = 3; s.at <= 5; ++s.at) {
        PS_SCOPED(close_box) fixture f = open_box(&plan), other = open_box(&plan);
        int64_t space;
        s.problem = ps_slab_box_interface(&f.box, true);
        space = ps_interface_gmres_workspace(&s.problem, 4);
        s.g = f.g, s.space = f.space;
        check_ok(PS_ALLOC(&s.kept, s.problem.size + space, "state"));
        s.problem.watch = stop_there;
        s.problem.watcher = &s;
        assert_int_equal(
            ps_interface_gmres(&s.problem, &(ps_gmres){1e-9, 300, 4, 0}, f.g, f.space, &cut),
            PS_FAILED);
        memcpy(f.g, s.kept, (size_t)s.problem.size * sizeof *f.g);
        memcpy(f.space, s.kept + s.problem.size, (size_t)space * sizeof *f.g);
        s.problem.watch = NULL;
        const ps_gmres resumed = {1e-9, 300, 4, cut.iterations};
        check_ok(ps_interface_gmres(&s.problem, &resumed, f.g, f.space, &cut));
        ps_interface again = ps_slab_box_interface(&other.box, true);
        check_ok(
            ps_interface_gmres(&again, &(ps_gmres){1e-9, 300, 4, 0}, other.g, other.space, &full));
        assert_int_equal(full.iterations, cut.iterations);
        assert_memory_equal(f.g, other.g, (size_t)s.problem.size * sizeof *f.g);
        free(s.kept);
    }
}

static void refusals(void **unused)
{
    ps_slab_box box;
    whole none = {.grid = grid_of(9, 5, 5)};
    ps_slab_box_plan plan = plan_of(&none, 9, (ps_transmission){{.3, .3}, {0, 0}});
    double memory[1];
    check_fails(ps_slab_box_make(&plan, memory, &box), PS_USAGE, "2..8 slabs");
    plan.slabs = 2;
    PS_SCOPED(close_box) fixture f = open_box(&plan);
    f.g[12] = NAN;
    ps_krylov_result result;
    ps_interface problem = ps_slab_box_interface(&f.box, true);
    check_fails(fixed_point(&problem, 1e-6, 9, f.g, f.space, &result), PS_FAILED, "not finite");
}

static void layers_are_spread(void **unused)
{
    assert_int_equal(ps_slab_first(264, 64, 0), 0);
    assert_int_equal(ps_slab_first(264, 64, 7), 35);
    assert_int_equal(ps_slab_first(264, 64, 8), 39);
    assert_int_equal(ps_slab_first(264, 64, 64), 263);
}
