/*
 * check_schwarz_slabs: direct solution and slabs of a box on the CUDA device against the CPU's,
 * both precisions, odd sizes. Ends with "N passed, N failed, N skipped".
 */
#include <stdio.h>

#include "kernels/schwarz/slab_device.h"
#include "tests/support/schwarz_device.h"
#include "tests/support/slab_methods.h"

static place here;
static const double rounding[2] = {2e-4, 1e-10};

static const double lengths[3] = {10, 7, 3};
static const ps_transmission transmission = {.p = {0.5, 0.3}, .q = {0.3, 0.4}};

/* Memory of NaN: what is not written shows. */
static ps_status place_blank(int64_t bytes, void **out)
{
    int64_t count = (bytes + 7) / 8;
    PS_SCOPED_MEMORY double *nan = NULL;
    PS_TRY(PS_ALLOC(&nan, count, "NaN"));
    for (int64_t i = 0; i < count; ++i) nan[i] = NAN;
    return place_vector(&here, PS_DOUBLE, count, nan, out);
}

/* ---- direct solution ---- */

/* On the host, one thread. */
static ps_status solve_here(const ps_slab *slab, const double *b, double *x)
{
    PS_SCOPED_MEMORY double *tables = NULL, *work = NULL;
    ps_fast_solver solver;
    PS_TRY(PS_ALLOC(&tables, ps_fast_solver_size(slab), "tables"));
    PS_TRY(PS_ALLOC(&work, ps_fast_workspace(slab, 1), "workspace"));
    PS_TRY(ps_fast_solver_make(slab, tables, &solver));
    ps_fast_solve(&solver, b, x, work, 1);
    return PS_OK;
}

static ps_status direct(ps_precision precision, const int64_t nodes[3], int faces, double *error)
{
    ps_slab slab = {0};
    ps_fast_device f;
    PS_SCOPED_MEMORY double *b = NULL;
    void *db, *dx, *memory, *space;
    PS_TRY(ps_q1_grid_make(nodes, lengths, &slab.grid));
    slab.grid.lumped = faces / 4.;
    for (int s = 0; s < 2; ++s)
        slab.free[s] = faces >> s & 1, slab.p[s] = 0.3 + 0.2 * s, slab.q[s] = 0.4 - 0.1 * s;
    int64_t n = ps_q1_grid_size(&slab.grid);
    PS_TRY(PS_ALLOC(&b, 3 * n, "vectors"));
    fill_random(11, n, b);
    PS_TRY(place_vector(&here, precision, n, b, &db));
    PS_TRY(place_blank(n * real_size(precision), &dx));
    PS_TRY(place_alloc(&here, ps_fast_device_bytes(precision, &slab), &memory));
    PS_TRY(place_blank(ps_fast_device_workspace(precision, &slab), &space));
    PS_TRY(ps_fast_device_make(precision, &slab, memory, here.stream, &f));
    PS_TRY(ps_fast_device_solve(&f, db, dx, space, here.stream));
    PS_TRY(ps_fast_device_solve(&f, db, db, space, here.stream));
    PS_TRY(place_get(&here, precision, n, dx, b + n));
    PS_TRY(solve_here(&slab, b, b + 2 * n));
    *error = relative_l2(b + n, b + 2 * n, n);
    PS_TRY(place_get(&here, precision, n, db, b)); /* in place */
    *error = worse_of(*error, relative_l2(b, b + n, n));
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

static void drop_host(boxes *b) { PS_FREE(b->load, b->g, b->memory); }

static ps_status make_device(ps_precision precision, const boxes *b, int64_t first, int64_t end,
                             ps_slab_device *out)
{
    ps_slab_device_plan plan = {.precision = precision,
                                .grid = b->plan.grid,
                                .slabs = b->plan.slabs,
                                .first = first,
                                .end = end,
                                .transmission = transmission};
    int64_t start = ps_slab_first(plan.grid.nodes[0], plan.slabs, first);
    void *memory;
    PS_TRY(place_blank(ps_slab_device_bytes(&plan), &memory));
    PS_TRY(ps_slab_device_make(&plan, memory, here.stream, out));
    return place_put(&here, precision, out->planes * out->face, b->load + start * out->face,
                     out->load);
}

/* The largest error of fields of the slabs of a device box. */
static ps_status field_error(ps_precision precision, boxes *b, const ps_slab_device *box,
                             double *error)
{
    PS_SCOPED_MEMORY double *got = NULL;
    int64_t at = 0;
    PS_TRY(PS_ALLOC(&got, b->modes, "a field"));
    for (int64_t s = box->plan.first; s < box->plan.end; ++s) {
        int64_t nx = b->plan.grid.nodes[0];
        int64_t planes =
            ps_slab_first(nx, b->plan.slabs, s + 1) - ps_slab_first(nx, b->plan.slabs, s) + 1;
        const char *from = (const char *)box->field + at * box->face * real_size(precision);
        PS_TRY(place_get(&here, precision, planes * box->face, from, got));
        *error = worse_of(*error, relative_l2(got, field_of_slab(&b->host, s), planes * box->face));
        at += planes;
    }
    return PS_OK;
}

/* One exchange, with and without the source, all slabs on two device boxes. */
static ps_status exchange(ps_precision precision, const int64_t nodes[3], int64_t slabs,
                          double *error)
{
    PS_SCOPED(drop_host) boxes b = {0};
    ps_slab_device part[2];
    void *g, *out;
    PS_TRY(make_host(nodes, slabs, &b));
    int64_t middle = slabs / 2;
    PS_TRY(make_device(precision, &b, 0, middle, &part[0]));
    PS_TRY(make_device(precision, &b, middle, slabs, &part[1]));
    PS_TRY(place_vector(&here, precision, b.traces, b.g, &g));
    PS_TRY(place_blank(b.traces * real_size(precision), &out));
    *error = 0;
    for (int source = 0; source < 2; ++source) {
        ps_interface problem = ps_slab_box_interface(&b.host, true);
        PS_TRY(problem.exchange(problem.context, source, b.g, b.out));
        for (int i = 0; i < 2; ++i)
            PS_TRY(ps_slab_device_exchange(&part[i], source, g, out, here.stream));
        PS_TRY(place_get(&here, precision, b.traces, out, b.got));
        *error = worse_of(*error, relative_l2(b.got, b.out, b.traces));
    }
    PS_TRY(ps_slab_box_finish(&b.host, b.g));
    for (int i = 0; i < 2; ++i) {
        PS_TRY(ps_slab_device_finish(&part[i], g, here.stream));
        PS_TRY(field_error(precision, &b, &part[i], error));
    }
    return PS_OK;
}

/* The operations on vectors of traces, and low modes to and fro, against plain loops. */
static ps_status vectors(int64_t face, int64_t traces, int64_t count, double *error)
{
    int64_t size = face * traces, all = traces + 3, first = 2;
    PS_SCOPED_MEMORY double *a = NULL, *parts = NULL;
    double factors[PS_GMRES_RESTART], sums[PS_GMRES_RESTART * 8];
    void *da, *memory;
    PS_TRY(PS_ALLOC(&a, (count + 2) * size, "vectors"));
    PS_TRY(PS_ALLOC(&parts, 2 * count * all, "products"));
    double *expected = parts + count * all;
    fill_random(31, (count + 2) * size, a);
    fill_random(32, count, factors);
    PS_TRY(place_vector(&here, PS_DOUBLE, (count + 2) * size, a, &da));
    PS_TRY(place_alloc(&here, ps_traces_device_bytes(count, traces), &memory));
    ps_traces_device device = {traces, face, first, all, here.stream, memory, sums};
    ps_interface_vectors v = ps_traces_device_vectors(&device, NULL);
    double *y = a + count * size, *dy = (double *)da + count * size;
    PS_TRY(v.dots(v.context, count, da, dy, parts));
    for (int64_t i = 0; i < count * size; ++i)
        expected[i / size * all + first + i % size / face] += a[i] * y[i % size];
    *error = relative_l2(parts, expected, count * all);
    PS_TRY(v.add(v.context, count, factors, da, dy));
    PS_TRY(v.subtract(v.context, dy + size, dy));
    PS_TRY(v.divide(v.context, 3, dy));
    for (int64_t i = 0; i < size; ++i) {
        for (int64_t k = 0; k < count; ++k) y[i] += factors[k] * a[k * size + i];
        y[i] = (y[size + i] - y[i]) / 3;
    }
    PS_TRY(place_get(&here, PS_DOUBLE, size, dy, a));
    *error = worse_of(*error, relative_l2(a, y, size));
    return PS_OK;
}

/* Values picked out of the traces, changed and put back. */
static ps_status low_modes(int64_t face, int64_t traces, double *error)
{
    int32_t modes[3] = {0, (int32_t)(face / 2), (int32_t)(face - 1)};
    int64_t size = face * traces;
    PS_SCOPED_MEMORY double *r = NULL;
    double low[3 * 8];
    void *dr, *dlow, *list;
    PS_TRY(PS_ALLOC(&r, 2 * size, "traces"));
    fill_random(33, size, r);
    PS_TRY(place_vector(&here, PS_DOUBLE, size, r, &dr));
    PS_TRY(place_alloc(&here, sizeof low, &dlow));
    PS_TRY(place_alloc(&here, sizeof modes, &list));
    PS_TRY(ps_copy_to_device(here.stream, list, modes, sizeof modes));
    ps_traces_modes m = {3, traces, face, list, dlow};
    PS_TRY(ps_traces_device_gather(&m, dr, here.stream));
    PS_TRY(place_get(&here, PS_DOUBLE, 3 * traces, dlow, low));
    *error = 0;
    for (int64_t i = 0; i < 3 * traces; ++i) {
        double *value = r + i / 3 * face + modes[i % 3];
        *error = worse_of(*error, fabs(low[i] - *value));
        *value = low[i] = 7 + (double)i;
    }
    PS_TRY(place_put(&here, PS_DOUBLE, 3 * traces, low, dlow));
    PS_TRY(ps_traces_device_scatter(&m, dr, here.stream));
    PS_TRY(place_get(&here, PS_DOUBLE, size, dr, r + size));
    *error = worse_of(*error, relative_l2(r + size, r, size));
    return PS_OK;
}

/* The coarse system of all modes against the host's. */
static ps_status coarse(const int64_t nodes[3], int64_t slabs, double *error)
{
    ps_slab_box_plan plan = {
        .slabs = slabs, .transmission = transmission, .modes = true, .threads = 1, .coarse = 1e30};
    ps_slab_box host;
    ps_fast_device f;
    PS_SCOPED_MEMORY double *memory = NULL, *low = NULL;
    PS_SCOPED_MEMORY int32_t *modes = NULL;
    void *tables, *dlow, *dspace, *list;
    PS_TRY(ps_q1_grid_make(nodes, lengths, &plan.grid));
    ps_slab whole = ps_slab_whole(&plan.grid);
    PS_TRY(PS_ALLOC(&memory, ps_slab_box_size(&plan), "a box"));
    PS_TRY(ps_slab_box_make(&plan, memory, &host));
    int64_t count = ps_slab_box_low_modes(&host, NULL), all = 2 * (slabs - 1);
    PS_TRY(PS_ALLOC(&modes, count, "modes"));
    ps_slab_box_low_modes(&host, modes);
    PS_TRY(PS_ALLOC(&low, 2 * count * all + slabs, "traces"));
    double *got = low + count * all, *space = got + count * all;
    fill_random(44, count * all, low);
    for (int64_t i = 0; i < count * all; ++i) got[i % all * count + i / all] = low[i];
    PS_TRY(place_vector(&here, PS_DOUBLE, count * all, got, &dlow));
    PS_TRY(place_alloc(&here, 8 * count * slabs, &dspace));
    PS_TRY(place_alloc(&here, 4 * count, &list));
    PS_TRY(ps_copy_to_device(here.stream, list, modes, 4 * count));
    PS_TRY(place_alloc(&here, ps_fast_device_bytes(PS_DOUBLE, &whole), &tables));
    PS_TRY(ps_fast_device_make(PS_DOUBLE, &whole, tables, here.stream, &f));
    ps_traces_low system = {ps_slab_box_low_system(&plan), count, list, f.mu, dlow, dspace};
    PS_TRY(ps_traces_device_solve_low(&system, here.stream));
    PS_TRY(place_get(&here, PS_DOUBLE, count * all, dlow, got));
    ps_slab_box_solve_low(&host, low, space);
    *error = 0;
    for (int64_t i = 0; i < count * all; ++i)
        *error = worse_of(*error, fabs(got[i % all * count + i / all] - low[i]));
    return PS_OK;
}

/* The whole way: nodal load, GMRES or fixed point on the traces, nodal field; against direct
 * solution. */
static ps_status solve(const int64_t nodes[3], int64_t slabs, bool fixed, double *error)
{
    ps_slab_device box;
    ps_slab_device_plan plan = {
        .precision = PS_DOUBLE, .slabs = slabs, .end = slabs, .transmission = transmission};
    PS_TRY(ps_q1_grid_make(nodes, lengths, &plan.grid));
    ps_slab whole = ps_slab_whole(&plan.grid);
    ps_slab_stencil stencil;
    ps_slab_stencil_make(&whole, &stencil);
    int64_t n = ps_q1_grid_size(&plan.grid), face = nodes[1] * nodes[2];
    ps_gmres options = {.tolerance = 1e-12, .limit = 60, .restart = 5};
    ps_krylov_result result;
    place_traces traces;
    ps_interface problem;
    PS_SCOPED_MEMORY double *b = NULL;
    void *memory, *db, *dx;
    PS_TRY(PS_ALLOC(&b, 3 * n, "vectors"));
    ps_unit_load(&plan.grid, &stencil, b);
    PS_TRY(place_vector(&here, PS_DOUBLE, n, b, &db));
    PS_TRY(place_vector(&here, PS_DOUBLE, n, b, &dx)); /* fixed nodes are 0 */
    PS_TRY(place_alloc(&here, ps_slab_device_bytes(&plan), &memory));
    PS_TRY(ps_slab_device_make(&plan, memory, here.stream, &box));
    PS_TRY(ps_slab_device_set_load(&box, 0, nodes[0], db, here.stream));
    PS_TRY(place_iteration(&here, &box, fixed ? 0 : options.restart, &traces, &problem));
    if (fixed)
        PS_TRY(fixed_point(&problem, 1e-12, 1000, traces.g, traces.space, &result));
    else
        PS_TRY(ps_interface_gmres(&problem, &options, traces.g, traces.space, &result));
    PS_TRY(ps_slab_device_finish(&box, traces.g, here.stream));
    for (int64_t s = 0; s < slabs; ++s) {
        int64_t first = ps_slab_first(nodes[0], slabs, s);
        PS_TRY(ps_slab_device_field(&box, s, 0, ps_slab_first(nodes[0], slabs, s + 1) - first + 1,
                                    (double *)dx + first * face, here.stream));
    }
    PS_TRY(place_get(&here, PS_DOUBLE, n, dx, b + n));
    PS_TRY(solve_here(&whole, b, b + 2 * n));
    *error = relative_l2(b + n, b + 2 * n, n);
    free(traces.space);
    return PS_OK;
}

/* Planes of the sizes that are measured, and larger ones: sines that stay in shared memory beside
 * lines, in one piece and in two, and that go round, of one matrix and of two; the last two with
 * more lines than groups take at once, so that some have a piece more. */
static void check_planes(void)
{
    static const int64_t nodes[][3] = {{5, 264, 286}, {4, 412, 446},  {3, 252, 333},
                                       {4, 331, 500}, {3, 447, 449},  {3, 1203, 38},
                                       {3, 500, 502}, {40, 231, 250}, {40, 250, 231}};
    for (int precision = 0; precision < PS_PRECISION_COUNT; ++precision)
        for (int i = 0; i < 9; ++i) {
            double error = NAN;
            ps_status status = direct((ps_precision)precision, nodes[i], i % 4, &error);
            check_count(&here, status, error, rounding[precision], "planes", precision, i);
        }
}

/* tiny: small sizes, for tools that slow it down a hundred times. */
int main(int argc, char **argv)
{
    int sizes = argc > 1 && strcmp(argv[1], "tiny") == 0 ? 2 : 6;
    /* the last three: systems in several pieces, in many, in too many */
    static const int64_t nodes[][3] = {{5, 3, 3},     {6, 5, 9},    {9, 19, 26},
                                       {13, 67, 35},  {21, 36, 70}, {36, 45, 150},
                                       {140, 11, 70}, {310, 5, 33}, {600, 5, 7}};
    if (!verdict_open(0)) return verdict_end();
    here = (place){.device = verdict.device, .stream = verdict.stream};
    for (int precision = 0; precision < PS_PRECISION_COUNT; ++precision)
        for (int i = 0; i < sizes + (sizes > 2 ? 3 : 0); ++i) {
            double error;
            ps_status status;
            for (int faces = 0; faces < 4; ++faces) {
                error = NAN;
                status = direct((ps_precision)precision, nodes[i], faces, &error);
                check_count(&here, status, error, rounding[precision], "direct", precision, i);
            }
            for (int64_t slabs = 2; slabs < 5; ++slabs) {
                error = NAN;
                status = exchange((ps_precision)precision, nodes[i], slabs, &error);
                check_count(&here, status, error, rounding[precision], "exchange", precision, i);
            }
        }
    if (sizes > 2) check_planes();
    for (int i = 0; i < sizes; ++i) {
        int64_t face = nodes[i][1] * nodes[i][2];
        double error = NAN;
        ps_status status = vectors(face, 1 + i, 1 + 20 * i - (i == 5), &error);
        check_count(&here, status, error, 1e-13, "vectors of traces", PS_DOUBLE, i);
        error = NAN;
        status = low_modes(face, 1 + i, &error);
        check_count(&here, status, error, 0, "low modes", PS_DOUBLE, i);
        error = NAN;
        status = coarse(nodes[i], 2 + i / 2, &error);
        check_count(&here, status, error, 1e-9, "coarse system", PS_DOUBLE, i);
    }
    for (int i = 4; i < 2 * sizes + (sizes == 2); ++i) {
        double error = NAN;
        ps_status status = solve(nodes[i / 2], i / 2, i % 2 == 1, &error);
        check_count(&here, status, error, 1e-9, i % 2 ? "slabs by fixed point" : "slabs by GMRES",
                    PS_DOUBLE, i);
    }
    return verdict_end();
}
