/*
 * check_schwarz_slabs: direct solution and slabs of a box on the CUDA device against the CPU's,
 * both precisions, odd sizes. Ends with "N passed, N failed, N skipped".
 */
#include <stdio.h>

#include "kernels/schwarz/slab_device.h"
#include "tests/support/schwarz_device.h"

static int passed, failed;
static place here;
static const double rounding[2] = {2e-4, 1e-10};

static void count(ps_status status, double error, double bound, const char *what, int precision,
                  int64_t size)
{
    bool good = status == PS_OK && error <= bound;
    if (!good)
        printf("%s, %s, size %lld: FAILED: %s (error %.3g, allowed %.3g)\n", what,
               precision == PS_SINGLE ? "fp32" : "fp64", (long long)size,
               status == PS_OK ? "wrong" : ps_message(), error, bound);
    good ? ++passed : ++failed;
    place_clear(&here);
}

static const double lengths[3] = {10, 7, 3};
static const ps_transmission transmission = {.p = {0.5, 0.3}, .q = {0.3, 0.4}};

/* ---- direct solution ---- */

static ps_status direct(ps_precision precision, const int64_t nodes[3], int faces, double *error)
{
    ps_slab slab = {0};
    ps_fast_device f;
    ps_fast_solver host;
    double *b, *tables, *work;
    void *db, *dx, *memory, *space;
    PS_TRY(ps_q1_grid_make(nodes, lengths, &slab.grid));
    slab.grid.lumped = faces / 4.;
    for (int s = 0; s < 2; ++s)
        slab.free[s] = faces >> s & 1, slab.p[s] = 0.3 + 0.2 * s, slab.q[s] = 0.4 - 0.1 * s;
    int64_t n = ps_q1_grid_size(&slab.grid);
    PS_TRY(PS_ALLOC(&b, 3 * n, "vectors"));
    PS_TRY(PS_ALLOC(&tables, ps_fast_solver_size(&slab), "tables"));
    PS_TRY(PS_ALLOC(&work, ps_fast_workspace(&slab, 1), "workspace"));
    fill_random(11, n, b);
    PS_TRY(place_vector(&here, precision, n, b, &db));
    PS_TRY(place_alloc(&here, n * real_size(precision), &dx));
    PS_TRY(place_alloc(&here, ps_fast_device_bytes(precision, &slab), &memory));
    PS_TRY(place_alloc(&here, ps_fast_device_workspace(precision, &slab), &space));
    PS_TRY(ps_fast_device_make(precision, &slab, memory, here.stream, &f));
    PS_TRY(ps_fast_device_solve(&f, db, dx, space, here.stream));
    PS_TRY(ps_fast_device_solve(&f, db, db, space, here.stream));
    PS_TRY(place_get(&here, precision, n, dx, b + n));
    PS_TRY(ps_fast_solver_make(&slab, tables, &host));
    ps_fast_solve(&host, b, b + 2 * n, work, 1);
    *error = distance(n, b + n, b + 2 * n);
    PS_TRY(place_get(&here, precision, n, db, b)); /* in place */
    *error = fmax(*error, distance(n, b, b + n));
    free(b);
    free(tables);
    free(work);
    return PS_OK;
}

/* ---- slabs ---- */

typedef struct boxes {
    ps_slab_box_plan plan;
    ps_slab_box host;
    double *load, *memory, *g, *out, *got;
    int64_t traces, modes;
} boxes;

static ps_status make_host(const int64_t nodes[3], int64_t slabs, boxes *b)
{
    *b = (boxes){
        .plan = {.slabs = slabs, .transmission = transmission, .modes = true, .threads = 1}};
    PS_TRY(ps_q1_grid_make(nodes, lengths, &b->plan.grid));
    b->plan.grid.lumped = slabs % 2 ? PS_LUMPED_FOURTH : 0;
    int64_t face = ps_slab_box_mode_plane(&b->plan.grid), mz = nodes[2] - 2;
    int64_t stride = face / (nodes[1] - 2);
    b->traces = 2 * (slabs - 1) * face;
    b->modes = nodes[0] * face;
    PS_TRY(PS_ALLOC(&b->load, b->modes, "load"));
    PS_TRY(PS_ALLOC(&b->g, 3 * b->traces, "traces"));
    b->out = b->g + b->traces;
    b->got = b->out + b->traces;
    fill_random(21, b->modes, b->load);
    fill_random(22, b->traces, b->g);
    for (int64_t i = 0; i < b->modes; ++i) /* padding */
        if (i % stride >= mz) b->load[i] = 0;
    for (int64_t i = 0; i < b->traces; ++i)
        if (i % stride >= mz) b->g[i] = 0;
    b->plan.load = b->load;
    PS_TRY(PS_ALLOC(&b->memory, ps_slab_box_size(&b->plan), "a box"));
    return ps_slab_box_make(&b->plan, b->memory, &b->host);
}

static void drop_host(boxes *b)
{
    free(b->load);
    free(b->g);
    free(b->memory);
}

static ps_status make_device(ps_precision precision, const boxes *b, int64_t first, int64_t end,
                             ps_slab_device *out)
{
    ps_slab_device_plan plan = {precision, b->plan.grid, b->plan.slabs, first, end, transmission};
    int64_t start = ps_slab_first(plan.grid.nodes[0], plan.slabs, first);
    void *memory;
    PS_TRY(place_alloc(&here, ps_slab_device_bytes(&plan), &memory));
    PS_TRY(ps_slab_device_make(&plan, memory, here.stream, out));
    return place_put(&here, precision, out->planes * out->face, b->load + start * out->face,
                     out->load);
}

/* The largest error of fields of the slabs of a device box. */
static ps_status field_error(ps_precision precision, boxes *b, const ps_slab_device *box,
                             double *error)
{
    double *got;
    int64_t at = 0;
    PS_TRY(PS_ALLOC(&got, b->modes, "a field"));
    for (int64_t s = box->plan.first; s < box->plan.end; ++s) {
        int64_t nx = b->plan.grid.nodes[0];
        int64_t planes =
            ps_slab_first(nx, b->plan.slabs, s + 1) - ps_slab_first(nx, b->plan.slabs, s) + 1;
        const char *from = (const char *)box->field + at * box->face * real_size(precision);
        PS_TRY(place_get(&here, precision, planes * box->face, from, got));
        *error = fmax(*error, distance(planes * box->face, got, ps_slab_box_field(&b->host, s)));
        at += planes;
    }
    free(got);
    return PS_OK;
}

/* One exchange, with and without the source, all slabs on two device boxes. */
static ps_status exchange(ps_precision precision, const int64_t nodes[3], int64_t slabs,
                          double *error)
{
    boxes b;
    ps_slab_device part[2];
    void *g, *out;
    PS_TRY(make_host(nodes, slabs, &b));
    int64_t middle = slabs / 2;
    PS_TRY(make_device(precision, &b, 0, middle, &part[0]));
    PS_TRY(make_device(precision, &b, middle, slabs, &part[1]));
    PS_TRY(place_vector(&here, precision, b.traces, b.g, &g));
    PS_TRY(place_vector(&here, precision, b.traces, b.g, &out));
    *error = 0;
    for (int source = 0; source < 2; ++source) {
        ps_interface problem = ps_slab_box_interface(&b.host, true);
        PS_TRY(problem.exchange(problem.context, source, b.g, b.out));
        for (int i = 0; i < 2; ++i)
            PS_TRY(ps_slab_device_exchange(&part[i], source, g, out, here.stream));
        PS_TRY(place_get(&here, precision, b.traces, out, b.got));
        *error = fmax(*error, distance(b.traces, b.got, b.out));
    }
    PS_TRY(ps_slab_box_finish(&b.host, b.g));
    for (int i = 0; i < 2; ++i) {
        PS_TRY(ps_slab_device_finish(&part[i], g, here.stream));
        PS_TRY(field_error(precision, &b, &part[i], error));
    }
    drop_host(&b);
    return PS_OK;
}

/* The whole way: nodal load, GMRES or fixed point on the traces, nodal field; against direct
 * solution. */
static ps_status solve(const int64_t nodes[3], int64_t slabs, bool fixed, double *error)
{
    ps_slab_device box;
    ps_slab_device_plan plan = {PS_DOUBLE, {{0}, {0}}, slabs, 0, slabs, transmission};
    PS_TRY(ps_q1_grid_make(nodes, lengths, &plan.grid));
    ps_slab whole = ps_slab_whole(&plan.grid);
    ps_slab_stencil stencil;
    ps_slab_stencil_make(&whole, &stencil);
    int64_t n = ps_q1_grid_size(&plan.grid), face = nodes[1] * nodes[2];
    int64_t traces = ps_slab_device_traces(&plan);
    ps_gmres options = {.tolerance = 1e-12, .limit = 60, .restart = 30};
    ps_krylov_result result;
    double *b, *g, *space, *tables, *work;
    void *memory, *db, *dx, *dg, *out;
    PS_TRY(PS_ALLOC(&b, 3 * n, "vectors"));
    PS_TRY(PS_ALLOC(&g, traces, "traces"));
    unit_load(&plan.grid, &stencil, b);
    PS_TRY(place_vector(&here, PS_DOUBLE, n, b, &db));
    PS_TRY(place_vector(&here, PS_DOUBLE, n, b, &dx)); /* fixed nodes are 0 */
    PS_TRY(place_alloc(&here, 8 * traces, &dg));
    PS_TRY(place_alloc(&here, 8 * traces, &out));
    PS_TRY(place_alloc(&here, ps_slab_device_bytes(&plan), &memory));
    PS_TRY(ps_slab_device_make(&plan, memory, here.stream, &box));
    PS_TRY(ps_slab_device_set_load(&box, 0, nodes[0], db, here.stream));
    ps_slab_device_link link = {&box, here.stream, dg, out};
    ps_interface problem = ps_slab_device_interface(&link, true);
    PS_TRY(PS_ALLOC(&space, ps_interface_gmres_workspace(&problem, options.restart), "GMRES"));
    if (fixed) {
        ps_krylov_device_control control = {.tolerance = 1e-12, .limit = 1000};
        void *sums;
        PS_TRY(place_put(&here, PS_DOUBLE, traces, g, dg)); /* zeros */
        PS_TRY(place_alloc(&here, ps_slab_device_fixed_workspace(&plan), &sums));
        PS_TRY(ps_slab_device_fixed_point(&box, &control, dg, sums, here.stream, &result));
    } else {
        PS_TRY(ps_interface_gmres(&problem, &options, g, space, &result));
        PS_TRY(place_put(&here, PS_DOUBLE, traces, g, dg));
    }
    PS_TRY(ps_slab_device_finish(&box, dg, here.stream));
    for (int64_t s = 0; s < slabs; ++s) {
        int64_t first = ps_slab_first(nodes[0], slabs, s);
        PS_TRY(ps_slab_device_field(&box, s, 0, ps_slab_first(nodes[0], slabs, s + 1) - first + 1,
                                    (double *)dx + first * face, here.stream));
    }
    PS_TRY(place_get(&here, PS_DOUBLE, n, dx, b + n));
    PS_TRY(PS_ALLOC(&tables, ps_fast_solver_size(&whole), "tables"));
    PS_TRY(PS_ALLOC(&work, ps_fast_workspace(&whole, 1), "workspace"));
    ps_fast_solver host;
    PS_TRY(ps_fast_solver_make(&whole, tables, &host));
    ps_fast_solve(&host, b, b + 2 * n, work, 1);
    *error = distance(n, b + n, b + 2 * n);
    free(b);
    free(g);
    free(space);
    free(tables);
    free(work);
    return PS_OK;
}

int main(void)
{
    static const int64_t nodes[][3] = {{5, 3, 3},    {6, 5, 9},    {9, 19, 26},
                                       {13, 67, 35}, {21, 36, 70}, {36, 45, 150}};
    if (ps_device_count() == 0) {
        printf("0 passed, 0 failed, 1 skipped\n");
        return 0;
    }
    if (place_open(&here) != PS_OK) {
        printf("FAILED: %s\n0 passed, 1 failed, 0 skipped\n", ps_message());
        return 1;
    }
    for (int precision = 0; precision < PS_PRECISION_COUNT; ++precision)
        for (int i = 0; i < 6; ++i) {
            double error;
            ps_status status;
            for (int faces = 0; faces < 4; ++faces) {
                error = NAN;
                status = direct((ps_precision)precision, nodes[i], faces, &error);
                count(status, error, rounding[precision], "direct", precision, i);
            }
            for (int64_t slabs = 2; slabs < 5; ++slabs) {
                error = NAN;
                status = exchange((ps_precision)precision, nodes[i], slabs, &error);
                count(status, error, rounding[precision], "exchange", precision, i);
            }
        }
    for (int i = 4; i < 12; ++i) {
        double error = NAN;
        ps_status status = solve(nodes[i / 2], i / 2, i % 2 == 1, &error);
        count(status, error, 1e-9, i % 2 ? "slabs by fixed point" : "slabs by GMRES", PS_DOUBLE, i);
    }
    place_close(&here);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed > 0;
}
