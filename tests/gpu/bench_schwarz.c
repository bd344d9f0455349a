/*
 * The schwarz family on the CUDA device: products and methods on the largest matrix of table 5 of
 * Magoules, Cheik Ahamed and Putanowicz (2015), 1,587,808 rows, and the gravity problem of table
 * 12, 264 x 264 x 286 = 19,933,056 nodes, f = 1 on 250 x 250 x 15 km. JSON records on stdout;
 * fraction = floor / value. Floors: bytes that must move at the card's measured copy rate, 4.29
 * TB/s (numerics guide, section 7), or flops at its fp64 rate. Argument: "small" leaves the second
 * problem out, "direct" everything but direct solutions, which are of 75,700,000 nodes, too; "direct NX NY
 * NZ" is of that many nodes alone.
 */
#include <stdio.h>

#include "kernels/schwarz/fast_device.h"
#include "kernels/schwarz/slab_device.h"
#include "kernels/schwarz/symbol.h"
#include "tests/support/slab_methods.h"

#include "tests/gpu/schwarz_bench.h" /* last: its problem is the name of an argument elsewhere */

static const double copy_rate = 4.29e12, tensor_rate = 2 * 32.3e12; /* fp64 by tensor units */

/* ---- products ---- */

static ps_status run_stencil(problem *p, void *planes)
{
    return ps_stencil_device_multiply(p->precision, &p->stencil, p->b, p->y, *(int64_t *)planes,
                                      p->here.stream);
}

static ps_status bench_stencil(problem *p)
{
    char name[64];
    double seconds, floor = 2 * (double)p->n * (double)real_size(p->precision) / copy_rate;
    int64_t planes = p->planes;
    PS_TRY(timed(p, run_stencil, &planes, 20, &seconds));
    snprintf(name, sizeof name, "stencil-%s", p->name);
    record(p, name, "matrix-free product", seconds, floor);
    return PS_OK;
}

static ps_status run_sparse(problem *p, void *matrix)
{
    return ps_csr_device_multiply(matrix, p->b, p->y, p->here.stream);
}

static ps_status bench_sparse(problem *p, ps_csr_device *m)
{
    char name[64], quantity[64];
    double size = (double)real_size(p->precision), seconds;
    double floor = ((double)m->nnz * (size + 4) + (double)p->n * (8 + 2 * size)) / copy_rate;
    for (int s = 0; s < PS_CSR_SHAPES; ++s) {
        m->shape = ps_csr_shapes[s];
        PS_TRY(timed(p, run_sparse, m, 5, &seconds));
        fprintf(stderr, "sparse, %s, %d threads a row, %d a block: %.2f us\n",
                m->shape.stream ? "stream" : "rows", m->shape.width, m->shape.threads,
                1e6 * seconds);
    }
    PS_TRY(ps_csr_device_tune(m, p->b, p->y, p->here.stream, NULL));
    PS_TRY(timed(p, run_sparse, m, 5, &seconds));
    snprintf(name, sizeof name, "spmv-%s", p->name);
    snprintf(quantity, sizeof quantity, "CSR product, %s, %d threads a row, %d a block",
             m->shape.stream ? "stream" : "rows", m->shape.width, m->shape.threads);
    record(p, name, quantity, seconds, floor);
    return PS_OK;
}

/* ---- methods ---- */

typedef struct method_case {
    const char *name;
    ps_krylov_method method;
    const ps_csr_device *matrix; /* NULL: stencil */
    const void *inverse;
    double tolerance, bytes; /* bytes of an iteration, a row */
    int64_t planes;
    bool mixed; /* fp32 with residuals in fp64 */
} method_case;

static ps_status solve(problem *p, const method_case *c, void *work, ps_krylov_result *result,
                       double *seconds)
{
    ps_krylov_device_system system = {
        p->precision, c->matrix, c->inverse, c->matrix ? NULL : &p->stencil, p->b, p->x};
    ps_krylov_device_control control = {
        .tolerance = c->tolerance, .limit = 10000, .planes = c->planes};
    PS_TRY(ps_fill_zero(p->here.stream, p->x, p->n * real_size(p->precision)));
    PS_TRY(ps_stream_wait(p->here.stream));
    double start = ps_clock();
    PS_TRY(c->mixed ? ps_krylov_device_mixed(&system, &control, work, p->here.stream, result)
                    : ps_krylov_device_solve(c->method, &system, &control, work, p->here.stream,
                                             result));
    *seconds = ps_clock() - start;
    return PS_OK;
}

/* The least of three solves, the first not counted. */
static ps_status time_method(problem *p, const method_case *c, double *best,
                             ps_krylov_result *result)
{
    ps_krylov_device_system system = {.precision = p->precision, .matrix = c->matrix};
    void *work;
    double seconds;
    if (!c->matrix) system.stencil = &p->stencil;
    int64_t bytes = c->mixed ? ps_krylov_device_mixed_workspace(&system)
                             : ps_krylov_device_workspace(c->method, &system);
    PS_TRY(ps_device_alloc(p->here.device, bytes, &work));
    ps_status status = PS_OK;
    *best = 1e300;
    for (int i = 0; i < 4 && status == PS_OK; ++i) {
        status = solve(p, c, work, result, &seconds);
        if (i > 0 && seconds < *best) *best = seconds;
    }
    ps_device_free(p->here.device, work);
    return status;
}

static ps_status bench_method(problem *p, method_case c)
{
    char quantity[96];
    ps_krylov_result result;
    double best, size = (double)real_size(p->precision) / 8;
    PS_TRY(time_method(p, &c, &best, &result));
    snprintf(quantity, sizeof quantity, "%s to %g, %s, %lld iterations%s", ps_krylov_name(c.method),
             c.tolerance, c.matrix ? "CSR" : "stencil", (long long)result.iterations,
             c.mixed ? " (vectors in fp32)" : "");
    double floor = (double)result.iterations * (double)p->n * c.bytes * size / copy_rate;
    if (c.matrix) floor += (double)result.iterations * 4 * (double)c.matrix->nnz / copy_rate;
    record(p, c.name, quantity, best, floor);
    return PS_OK;
}

/* Marches of other lengths, for the model of ps_stencil_device_planes. */
static ps_status sweep_planes(problem *p)
{
    for (int64_t planes = 2; planes <= 64; planes += planes / 2) {
        double product;
        PS_TRY(timed(p, run_stencil, &planes, 20, &product));
        method_case c = {.name = "", .tolerance = 1e-2, .bytes = 64, .planes = planes};
        ps_krylov_result result;
        double best;
        PS_TRY(time_method(p, &c, &best, &result));
        fprintf(stderr, "%lld planes a warp: product %.2f us, P-CG %.2f us an iteration\n",
                (long long)planes, 1e6 * product, 1e6 * best / (double)result.iterations);
    }
    return PS_OK;
}

/* ---- direct solution ---- */

typedef struct direct_case {
    ps_fast_device solver;
    void *work;
} direct_case;

static ps_status run_direct(problem *p, void *context)
{
    direct_case *c = context;
    return ps_fast_device_solve(&c->solver, p->b, p->x, c->work, p->here.stream);
}

static ps_status run_transform(problem *p, void *context)
{
    direct_case *c = context;
    const int64_t *n = p->grid.nodes;
    int64_t bytes = ps_fast_device_workspace(p->precision, &p->slab) / 2;
    return ps_fast_device_to_modes(&c->solver, n[0], p->b, c->work, (char *)c->work + bytes,
                                   p->here.stream);
}

static ps_status run_back(problem *p, void *context)
{
    direct_case *c = context;
    int64_t bytes = ps_fast_device_workspace(p->precision, &p->slab) / 2;
    return ps_fast_device_to_nodes(&c->solver, p->grid.nodes[0], c->work, p->x,
                                   (char *)c->work + bytes, p->here.stream);
}

/* |b - A x| / |b| by the stencil product and dots of the device. */
static ps_status residual(problem *p, double *out)
{
    void *work;
    double rr, bb;
    PS_TRY(place_alloc(&p->here, PS_DOT_BYTES, &work));
    PS_TRY(ps_fill_zero(p->here.stream, work, PS_DOT_BYTES));
    PS_TRY(ps_stencil_device_multiply(p->precision, &p->stencil, p->x, p->y, p->planes,
                                      p->here.stream));
    PS_TRY(ps_vector_device_axpy(p->precision, p->n, -1, p->b, p->y, p->here.stream));
    PS_TRY(ps_vector_device_dot(p->precision, p->n, p->y, p->y, work, p->here.stream));
    PS_TRY(place_get(&p->here, PS_DOUBLE, 1, work, &rr));
    PS_TRY(ps_vector_device_dot(p->precision, p->n, p->b, p->b, work, p->here.stream));
    PS_TRY(place_get(&p->here, PS_DOUBLE, 1, work, &bb));
    *out = sqrt(rr / bb);
    return PS_OK;
}

static ps_status bench_direct(problem *p, const char *name)
{
    direct_case c;
    void *memory;
    char quantity[96];
    double seconds, rest, n = (double)p->n, size = (double)real_size(p->precision);
    double planes = (double)(p->grid.nodes[1] + p->grid.nodes[2]);
    PS_TRY(place_alloc(&p->here, ps_fast_device_bytes(p->precision, &p->slab), &memory));
    PS_TRY(place_alloc(&p->here, ps_fast_device_workspace(p->precision, &p->slab), &c.work));
    PS_TRY(ps_fast_device_make(p->precision, &p->slab, memory, p->here.stream, &c.solver));
    PS_TRY(timed(p, run_transform, &c, 3, &seconds));
    fprintf(stderr, "sine transforms, one way: %.1f us, %.1f TF/s", 1e6 * seconds,
            n * planes / seconds / 1e12);
    PS_TRY(timed(p, run_back, &c, 3, &seconds));
    fprintf(stderr, ", back %.1f us\n", 1e6 * seconds);
    PS_TRY(timed(p, run_direct, &c, 3, &seconds));
    PS_TRY(residual(p, &rest));
    snprintf(quantity, sizeof quantity, "direct solution, residual %.1e", rest);
    /* four transforms by halves and two sweeps that read two arrays and write one */
    record(p, name, quantity, seconds, 2 * n * planes / tensor_rate + 6 * n * size / copy_rate);
    return PS_OK;
}

/* ---- slabs ---- */

typedef struct slab_case {
    ps_slab_device_plan plan;
    ps_slab_device box;
    place_traces traces;
    ps_interface problem;
    ps_krylov_result result;
    double seconds[3]; /* transforming the load, iterating, the field at the nodes */
} slab_case;

enum { RESTART = 30 };

static ps_status iterate(problem *p, slab_case *c, bool fixed)
{
    ps_gmres options = {.tolerance = 1e-6, .limit = 60, .restart = RESTART};
    PS_TRY(ps_fill_zero(p->here.stream, c->traces.g, 8 * ps_slab_device_traces(&c->plan)));
    if (fixed)
        return fixed_point(&c->problem, 1e-6, 1000, c->traces.g, c->traces.space, &c->result);
    return ps_interface_gmres(&c->problem, &options, c->traces.g, c->traces.space, &c->result);
}

/* Nodal load to nodal field. */
static ps_status solve_slabs(problem *p, slab_case *c, bool fixed)
{
    const int64_t *n = p->grid.nodes;
    double start = ps_clock();
    PS_TRY(ps_slab_device_set_load(&c->box, 0, n[0], p->b, p->here.stream));
    PS_TRY(ps_stream_wait(p->here.stream));
    c->seconds[0] = ps_clock() - start;
    PS_TRY(iterate(p, c, fixed));
    PS_TRY(ps_stream_wait(p->here.stream));
    c->seconds[1] = ps_clock() - start - c->seconds[0];
    PS_TRY(ps_slab_device_finish(&c->box, c->traces.g, p->here.stream));
    for (int64_t s = 0; s < c->plan.slabs; ++s) {
        int64_t first = ps_slab_first(n[0], c->plan.slabs, s);
        PS_TRY(ps_slab_device_field(&c->box, s, 0,
                                    ps_slab_first(n[0], c->plan.slabs, s + 1) - first + 1,
                                    (double *)p->x + first * n[1] * n[2], p->here.stream));
    }
    PS_TRY(ps_stream_wait(p->here.stream));
    c->seconds[2] = ps_clock() - start - c->seconds[0] - c->seconds[1];
    return PS_OK;
}

static ps_status record_slabs(problem *p, slab_case *c, bool fixed)
{
    char quantity[128];
    double rest, all = 0, n = (double)p->n;
    PS_TRY(solve_slabs(p, c, fixed)); /* not counted */
    PS_TRY(solve_slabs(p, c, fixed));
    PS_TRY(residual(p, &rest));
    for (int i = 0; i < 3; ++i) all += c->seconds[i];
    fprintf(stderr, "%lld slabs: load %.0f us, iterations %.0f us, field %.0f us\n",
            (long long)c->plan.slabs, 1e6 * c->seconds[0], 1e6 * c->seconds[1],
            1e6 * c->seconds[2]);
    snprintf(quantity, sizeof quantity, "%lld slabs, %s to 1e-6, %lld iterations, residual %.1e",
             (long long)c->plan.slabs, fixed ? "fixed point" : "GMRES",
             (long long)c->result.iterations, rest);
    double planes = (double)(p->grid.nodes[1] + p->grid.nodes[2]);
    record(p, "gravity-19m9-slabs", quantity, all,
           2 * n * planes / tensor_rate + 48 * n * (double)(c->result.iterations + 1) / copy_rate);
    return PS_OK;
}

static ps_status bench_slabs(problem *p, int64_t slabs)
{
    /* oo2 two-sided, specs/schwarz.md; per km and km */
    slab_case c = {.plan = {p->precision,
                            p->grid,
                            slabs,
                            0,
                            slabs,
                            {.p = {0.3881, 0.2228}, .q = {0.5385, 0.3090}}}};
    void *memory;
    PS_TRY(place_alloc(&p->here, ps_slab_device_bytes(&c.plan), &memory));
    PS_TRY(ps_slab_device_make(&c.plan, memory, p->here.stream, &c.box));
    PS_TRY(place_iteration(&p->here, &c.box, RESTART, &c.traces, &c.problem));
    ps_status status = record_slabs(p, &c, true);
    if (status == PS_OK) status = record_slabs(p, &c, false);
    free(c.traces.space);
    return status;
}

/* ---- all ---- */

static ps_status bench_matrix(problem *p)
{
    PS_SCOPED(ps_csr_release) ps_csr matrix = {0};
    PS_SCOPED_MEMORY double *inverse = NULL;
    ps_csr_device device;
    double size = (double)real_size(p->precision) / 8;
    void *scale;
    PS_TRY(ps_stencil_assemble(&p->stencil, &matrix));
    PS_TRY(PS_ALLOC(&inverse, p->n, "a diagonal"));
    PS_TRY(ps_csr_inverse_diagonal(&matrix, false, inverse));
    PS_TRY(place_vector(&p->here, p->precision, p->n, inverse, &scale));
    PS_TRY(place_matrix(&p->here, p->precision, &matrix, &device));
    PS_TRY(bench_sparse(p, &device));
    double row = 8 * (double)matrix.nnz / (double)p->n + 8 / size; /* values and offsets */
    double tolerance = p->precision == PS_SINGLE ? 1e-5 : 1e-6;
    static const double vectors[PS_KRYLOV_METHODS] = {104, 184, 168};
    for (int m = 0; m < PS_KRYLOV_METHODS; ++m) {
        double products = m == PS_KRYLOV_BICGSTAB ? 2 : 1;
        method_case c = {.name = "krylov-1587808",
                         .method = (ps_krylov_method)m,
                         .matrix = &device,
                         .inverse = scale,
                         .tolerance = tolerance,
                         .bytes = products * row + vectors[m]};
        PS_TRY(bench_method(p, c));
    }
    return PS_OK;
}

static const int64_t unknowns_20m[3] = {264, 264, 286};

/* What the marches of a warp are chosen by, and nothing else. */
static ps_status bench_marches(void)
{
    static const int64_t nodes[3] = {116, 116, 118};
    for (int large = 0; large < 2; ++large) {
        problem p;
        PS_TRY(problem_of(large ? unknowns_20m : nodes, PS_DOUBLE, "march", &p));
        PS_TRY(bench_stencil(&p));
        PS_TRY(sweep_planes(&p));
        problem_drop(&p);
    }
    return PS_OK;
}

static ps_status bench_small(ps_precision precision)
{
    static const double bytes[PS_KRYLOV_METHODS] = {64, 216, 152};
    problem p;
    PS_TRY(problem_of(NULL, precision, "1587808", &p));
    PS_TRY(bench_stencil(&p));
    for (int m = 0; m < PS_KRYLOV_METHODS; ++m)
        PS_TRY(bench_method(
            &p, (method_case){.name = m == PS_KRYLOV_CG ? "cg-1587808" : "krylov-1587808",
                              .method = (ps_krylov_method)m,
                              .tolerance = precision == PS_SINGLE ? 1e-5 : 1e-6,
                              .bytes = bytes[m]}));
    if (precision == PS_DOUBLE)
        PS_TRY(bench_method(&p, (method_case){.name = "cg-1587808",
                                              .tolerance = 1e-6,
                                              .bytes = bytes[0] / 2,
                                              .mixed = true}));
    PS_TRY(bench_direct(&p, "best-1587808"));
    PS_TRY(bench_matrix(&p));
    problem_drop(&p);
    return PS_OK;
}

static ps_status bench_large(ps_precision precision)
{
    problem p;
    PS_TRY(problem_of(unknowns_20m, precision, "19933056", &p));
    PS_TRY(bench_stencil(&p));
    PS_TRY(bench_direct(&p, "gravity-19m9-best"));
    if (precision == PS_DOUBLE) {
        PS_TRY(bench_method(
            &p, (method_case){.name = "gravity-19m9-cg", .tolerance = 1e-6, .bytes = 64}));
        PS_TRY(bench_method(
            &p, (method_case){
                    .name = "gravity-19m9-cg", .tolerance = 1e-6, .bytes = 32, .mixed = true}));
        PS_TRY(bench_slabs(&p, 8));
        PS_TRY(bench_slabs(&p, 64));
    }
    problem_drop(&p);
    return PS_OK;
}

static ps_status bench_direct_of(const int64_t *nodes, const char *name)
{
    for (int precision = 0; precision < PS_PRECISION_COUNT; ++precision) {
        problem p;
        PS_TRY(problem_of(nodes, (ps_precision)precision, "direct", &p));
        PS_TRY(bench_direct(&p, name));
        problem_drop(&p);
    }
    return PS_OK;
}

/* Direct solutions alone. */
static ps_status bench_directs(int argc, char **argv)
{
    static const int64_t unknowns_75m[3] = {412, 412, 446};
    static const struct {
        const char *name;
        const int64_t *nodes;
    } sizes[] = {{"best-1587808", NULL},
                 {"gravity-19m9-best", unknowns_20m},
                 {"gravity-75m-best", unknowns_75m}};
    if (argc == 5) {
        const int64_t nodes[3] = {atoll(argv[2]), atoll(argv[3]), atoll(argv[4])};
        return bench_direct_of(nodes, text("direct-%s-%s-%s", argv[2], argv[3], argv[4]));
    }
    for (int i = 0; i < 3; ++i) PS_TRY(bench_direct_of(sizes[i].nodes, sizes[i].name));
    return PS_OK;
}

static ps_status bench_all(bool small)
{
    PS_TRY(bench_small(PS_DOUBLE));
    PS_TRY(bench_small(PS_SINGLE));
    if (small) return PS_OK;
    PS_TRY(bench_large(PS_DOUBLE));
    return bench_large(PS_SINGLE);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (ps_device_count() == 0) {
        fprintf(stderr, "bench_schwarz: no CUDA device here: skipped\n");
        return 0;
    }
    ps_status status = strcmp(what, "marches") == 0  ? bench_marches()
                       : strcmp(what, "direct") == 0 ? bench_directs(argc, argv)
                                                     : bench_all(strcmp(what, "small") == 0);
    if (status != PS_OK) fprintf(stderr, "bench_schwarz: %s\n", ps_message());
    return (int)status;
}
