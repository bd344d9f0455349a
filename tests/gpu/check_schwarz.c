/*
 * check_schwarz: vector operations, sparse and matrix-free products and Krylov methods of the CUDA
 * device against the CPU's, both precisions, random vectors, odd sizes. Ends with "N passed, N
 * failed, N skipped".
 */
#include <stdio.h>

#include "tests/support/schwarz_device.h"

static place here;
static const double rounding[2] = {3e-6, 1e-13};

/* ---- vector operations ---- */

static ps_status vectors(ps_precision precision, int64_t n, double *error)
{
    PS_SCOPED_MEMORY double *x = NULL;
    double *y, *got, dot = 0, sum;
    void *dx, *dy, *work;
    PS_TRY(PS_ALLOC(&x, 3 * n, "vectors"));
    y = x + n;
    got = y + n;
    fill_random(1, 2 * n, x);
    PS_TRY(place_vector(&here, precision, n, x, &dx));
    PS_TRY(place_vector(&here, precision, n, y, &dy));
    PS_TRY(place_alloc(&here, PS_DOT_BYTES, &work));
    PS_TRY(ps_fill_zero(here.stream, work, PS_DOT_BYTES));
    PS_TRY(ps_vector_device_scale(precision, n, 1.5, dx, here.stream));
    PS_TRY(ps_vector_device_axpy(precision, n, -0.75, dx, dy, here.stream));
    PS_TRY(ps_vector_device_multiply(precision, n, dx, dy, here.stream));
    for (int turn = 0; turn < 2; ++turn) /* the workspace serves again */
        PS_TRY(ps_vector_device_dot(precision, n, dx, dy, work, here.stream));
    PS_TRY(place_get(&here, precision, n, dy, got));
    PS_TRY(place_get(&here, PS_DOUBLE, 1, work, &sum));
    double size = 0;
    for (int64_t i = 0; i < n; ++i) {
        x[i] *= 1.5;
        y[i] = (y[i] - 0.75 * x[i]) * x[i];
        dot += x[i] * y[i];
        size += fabs(x[i] * y[i]);
    }
    *error = fmax(relative_l2(got, y, n), fabs(sum - dot) / size);
    return PS_OK;
}

/* ---- sparse products ---- */

/* Rows of 0 .. 40 entries, and some far longer than a block takes at a time. */
static ps_status random_matrix(int64_t rows, ps_csr *out)
{
    int64_t nnz = 0;
    for (int pass = 0; pass < 2; ++pass) {
        if (pass == 1) PS_TRY(ps_csr_init(out, rows, nnz));
        nnz = 0;
        for (int64_t r = 0; r < rows; ++r) {
            uint64_t bits = ps_counter_bits(7, (uint64_t)r, 0);
            int64_t length = r % 97 == 5 ? 3000 : (int64_t)(bits % 41);
            int64_t step = rows / (length + 1) > 0 ? rows / (length + 1) : 1;
            for (int64_t c = (int64_t)(bits >> 32) % step; c < rows && length > 0; c += step) {
                if (pass == 1) {
                    out->columns[nnz] = (int32_t)c;
                    out->values[nnz] = 2 * ps_counter_uniform(9, (uint64_t)nnz, 1) - 1;
                }
                ++nnz;
            }
            if (pass == 1) out->row_start[r + 1] = nnz;
        }
    }
    return PS_OK;
}

static ps_status sparse(ps_precision precision, int64_t rows, int shape, double *error)
{
    PS_SCOPED(ps_csr_release) ps_csr m = {0};
    PS_SCOPED_MEMORY double *x = NULL;
    ps_csr_device d;
    void *dx, *dy;
    PS_TRY(random_matrix(rows, &m));
    PS_TRY(PS_ALLOC(&x, 3 * rows, "vectors"));
    fill_random(2, rows, x);
    PS_TRY(place_matrix(&here, precision, &m, &d));
    PS_TRY(place_vector(&here, precision, rows, x, &dx));
    PS_TRY(place_alloc(&here, rows * real_size(precision), &dy));
    if (shape < PS_CSR_SHAPES)
        d.shape = ps_csr_shapes[shape];
    else
        PS_TRY(ps_csr_device_tune(&d, dx, dy, here.stream, NULL));
    PS_TRY(ps_csr_device_multiply(&d, dx, dy, here.stream));
    PS_TRY(place_get(&here, precision, rows, dy, x + rows));
    ps_csr_multiply(&m, x, x + 2 * rows);
    *error = relative_l2(x + rows, x + 2 * rows, rows);
    return PS_OK;
}

/* ---- matrix-free products ---- */

static ps_slab slab_of(const int64_t nodes[3], int faces)
{
    ps_slab s = {0};
    (void)ps_q1_grid_make(nodes, (const double[3]){10, 7, 3}, &s.grid);
    for (int side = 0; side < 2; ++side) {
        s.free[side] = faces >> side & 1;
        s.p[side] = 0.3 + 0.2 * side;
        s.q[side] = 0.4 - 0.1 * side;
    }
    return s;
}

static ps_status stencil(ps_precision precision, const int64_t nodes[3], int faces, int64_t planes,
                         double *error)
{
    ps_slab slab = slab_of(nodes, faces);
    ps_slab_stencil s;
    int64_t n = ps_q1_grid_size(&slab.grid);
    PS_SCOPED_MEMORY double *x = NULL;
    void *dx, *dy;
    ps_slab_stencil_make(&slab, &s);
    PS_TRY(PS_ALLOC(&x, 3 * n, "vectors"));
    fill_random(3, n, x);
    fill_random(4, n, x + n); /* poison */
    PS_TRY(place_vector(&here, precision, n, x, &dx));
    PS_TRY(place_vector(&here, precision, n, x + n, &dy));
    PS_TRY(ps_stencil_device_multiply(precision, &s, dx, dy, planes, here.stream));
    PS_TRY(place_get(&here, precision, n, dy, x + n));
    ps_stencil_multiply(&s, x, x + 2 * n);
    *error = relative_l2(x + n, x + 2 * n, n);
    return PS_OK;
}

/* ---- Krylov methods ---- */

typedef struct krylov_case {
    ps_precision precision;
    ps_krylov_method method;
    int64_t nodes[3];
    int faces; /* free ones */
    bool rows; /* a matrix, not a stencil */
} krylov_case;

typedef struct krylov_problem {
    ps_slab_stencil stencil;
    ps_csr matrix;
    int64_t n;
    double *inverse, *b, *x, *got;
} krylov_problem;

static void drop_problem(krylov_problem *p)
{
    ps_csr_release(&p->matrix);
    free(p->inverse);
}

static ps_status make_problem(const krylov_case *c, krylov_problem *p)
{
    ps_slab slab = slab_of(c->nodes, c->faces);
    ps_slab_stencil_make(&slab, &p->stencil);
    p->n = ps_q1_grid_size(&slab.grid);
    PS_TRY(PS_ALLOC(&p->inverse, 4 * p->n, "vectors"));
    p->b = p->inverse + p->n;
    p->x = p->b + p->n;
    p->got = p->x + p->n;
    fill_random(5, p->n, p->b); /* fixed rows, too */
    fill_random(6, p->n, p->x);
    PS_TRY(ps_stencil_assemble(&p->stencil, &p->matrix));
    return ps_csr_inverse_diagonal(&p->matrix, false, p->inverse);
}

static ps_status on_device(const krylov_case *c, krylov_problem *p, double tolerance,
                           ps_krylov_result *result)
{
    ps_csr_device matrix;
    ps_krylov_device_system system = {.precision = c->precision};
    ps_krylov_device_control control = {.tolerance = tolerance, .limit = 5000};
    void *b, *x, *inverse, *work;
    PS_TRY(place_vector(&here, c->precision, p->n, p->b, &b));
    PS_TRY(place_vector(&here, c->precision, p->n, p->x, &x));
    if (c->rows) {
        PS_TRY(place_matrix(&here, c->precision, &p->matrix, &matrix));
        PS_TRY(place_vector(&here, c->precision, p->n, p->inverse, &inverse));
        system.matrix = &matrix;
        system.inverse_diagonal = inverse;
    } else {
        system.stencil = &p->stencil;
    }
    system.b = b;
    system.x = x;
    PS_TRY(place_alloc(&here, ps_krylov_device_workspace(c->method, &system), &work));
    PS_TRY(ps_krylov_device_solve(c->method, &system, &control, work, here.stream, result));
    return place_get(&here, c->precision, p->n, x, p->got);
}

static ps_status on_host(const krylov_case *c, krylov_problem *p, double tolerance,
                         ps_krylov_result *result)
{
    ps_krylov_system system = {.b = p->b, .x = p->x};
    PS_SCOPED_MEMORY double *work = NULL;
    if (c->rows)
        system.matrix = &p->matrix, system.inverse_diagonal = p->inverse;
    else
        system.stencil = &p->stencil;
    PS_TRY(PS_ALLOC(&work, ps_krylov_cpu_workspace(c->method, &system), "a Krylov method"));
    return ps_krylov_cpu_solve(c->method, &system, tolerance, 5000, work, result);
}

/* The distance of solutions; iterations may differ as rounding does. */
static ps_status krylov(const krylov_case *c, double *error)
{
    double tolerance = c->precision == PS_SINGLE ? 1e-5 : 1e-10;
    PS_SCOPED(drop_problem) krylov_problem p = {0};
    ps_krylov_result device, host;
    PS_TRY(make_problem(c, &p));
    PS_TRY(on_device(c, &p, tolerance, &device));
    PS_TRY(on_host(c, &p, tolerance, &host));
    *error = relative_l2(p.got, p.x, p.n) / (tolerance * 300);
    double slack = (c->method == PS_KRYLOV_BICGSTAB ? 0.35 : 0.05) * (double)host.iterations + 2;
    if (c->precision == PS_SINGLE) slack *= 2;
    if (fabs((double)(device.iterations - host.iterations)) > slack) {
        printf("%s: %lld iterations on the device, %lld on the host\n", ps_krylov_name(c->method),
               (long long)device.iterations, (long long)host.iterations);
        *error = INFINITY;
    }
    return PS_OK;
}

/* P-CG in fp32 with residuals in fp64: the solution and the iterations of fp64. */
static ps_status mixed(const int64_t nodes[3], double *error)
{
    const double tolerance = 1e-10;
    krylov_case c = {PS_DOUBLE, PS_KRYLOV_CG, {nodes[0], nodes[1], nodes[2]}, 0, false};
    PS_SCOPED(drop_problem) krylov_problem p = {0};
    ps_krylov_result device, host;
    void *b, *x, *work;
    PS_TRY(make_problem(&c, &p));
    PS_TRY(place_vector(&here, PS_DOUBLE, p.n, p.b, &b));
    PS_TRY(place_vector(&here, PS_DOUBLE, p.n, p.x, &x));
    ps_krylov_device_system system = {PS_DOUBLE, NULL, NULL, &p.stencil, b, x};
    ps_krylov_device_control control = {.tolerance = tolerance, .limit = 5000};
    PS_TRY(place_alloc(&here, ps_krylov_device_mixed_workspace(&system), &work));
    PS_TRY(ps_krylov_device_mixed(&system, &control, work, here.stream, &device));
    PS_TRY(place_get(&here, PS_DOUBLE, p.n, x, p.got));
    PS_TRY(on_host(&c, &p, tolerance, &host));
    *error = relative_l2(p.got, p.x, p.n) / (tolerance * 300);
    if ((double)device.iterations > 1.1 * (double)host.iterations + 12) {
        printf("P-CG in fp32, residuals in fp64: %lld iterations, in fp64 %lld\n",
               (long long)device.iterations, (long long)host.iterations);
        *error = INFINITY;
    }
    return PS_OK;
}

/* What must fail does, and says so: an indefinite matrix, a limit, b that is not finite. */
static ps_status failures(double *error)
{
    krylov_case c = {PS_DOUBLE, PS_KRYLOV_CG, {9, 8, 7}, 0, true};
    PS_SCOPED(drop_problem) krylov_problem p = {0};
    ps_krylov_result result;
    *error = 0;
    PS_TRY(make_problem(&c, &p));
    p.b[3] = NAN;
    if (on_device(&c, &p, 1e-8, &result) != PS_FAILED || !strstr(ps_message(), "not finite"))
        *error = 1;
    p.b[3] = 1;
    for (int64_t e = 0; e < p.matrix.nnz; ++e) p.matrix.values[e] *= -1;
    if (on_device(&c, &p, 1e-8, &result) != PS_FAILED || !strstr(ps_message(), "indefinite"))
        *error = 2;
    return PS_OK;
}

/* ---- all ---- */

static void check_vectors(int precision)
{
    static const int64_t sizes[] = {1, 31, 257, 100003};
    for (int i = 0; i < 4; ++i) {
        double error = NAN;
        ps_status status = vectors((ps_precision)precision, sizes[i], &error);
        check_count(&here, status, error, rounding[precision], "vectors", precision, sizes[i]);
    }
}

static void check_sparse(int precision, bool tiny)
{
    static const int64_t sizes[] = {1, 63, 1001, 7919};
    for (int i = 0; i < (tiny ? 2 : 4); ++i)
        for (int shape = 0; shape <= PS_CSR_SHAPES; ++shape) {
            double error = NAN;
            ps_status status = sparse((ps_precision)precision, sizes[i], shape, &error);
            check_count(&here, status, error, 10 * rounding[precision], "sparse", precision,
                        sizes[i]);
        }
}

static void check_stencil(int precision, bool tiny)
{
    static const int64_t nodes[][3] = {{2, 3, 3},   {3, 4, 5},   {7, 33, 30},
                                       {13, 5, 31}, {5, 17, 65}, {37, 21, 62}};
    for (int i = 0; i < (tiny ? 4 : 6); ++i)
        for (int faces = 0; faces < 4; ++faces)
            for (int64_t planes = 1; planes < 5; planes += 3) {
                double error = NAN;
                ps_status status =
                    stencil((ps_precision)precision, nodes[i], faces, planes, &error);
                check_count(&here, status, error, rounding[precision], "stencil", precision, i);
            }
}

static const int64_t krylov_nodes[][3] = {{5, 6, 7}, {21, 18, 33}, {30, 34, 61}};

static void check_krylov(int precision, int grids)
{
    for (int i = 0; i < grids; ++i)
        for (int method = 0; method < PS_KRYLOV_METHODS; ++method)
            for (int kind = 0; kind < 4; ++kind) {
                krylov_case c = {(ps_precision)precision,
                                 (ps_krylov_method)method,
                                 {0},
                                 kind / 2 * 2,
                                 kind % 2 == 1};
                double error = NAN;
                memcpy(c.nodes, krylov_nodes[i], sizeof c.nodes);
                ps_status status = krylov(&c, &error);
                check_count(&here, status, error, 1, ps_krylov_name(c.method), precision, i);
            }
}

static void check_mixed(int grids)
{
    for (int i = 0; i < grids; ++i) {
        double error = NAN;
        ps_status status = mixed(krylov_nodes[i], &error);
        check_count(&here, status, error, 1, "P-CG in fp32, residuals in fp64", PS_DOUBLE, i);
    }
}

/* quick, tiny: fewer and smaller sizes, tiny for tools that slow it down a hundred times. */
int main(int argc, char **argv)
{
    bool tiny = argc > 1 && strcmp(argv[1], "tiny") == 0;
    int grids = tiny ? 1 : argc > 1 && strcmp(argv[1], "quick") == 0 ? 2 : 3;
    if (!verdict_open(0)) return verdict_end();
    here = (place){.device = verdict.device, .stream = verdict.stream};
    for (int precision = 0; precision < PS_PRECISION_COUNT; ++precision) {
        check_vectors(precision);
        check_sparse(precision, tiny);
        check_stencil(precision, tiny);
        check_krylov(precision, grids);
    }
    check_mixed(grids);
    double error = NAN;
    ps_status status = failures(&error);
    check_count(&here, status, error, 0, "failures", PS_DOUBLE, 0);
    return verdict_end();
}
