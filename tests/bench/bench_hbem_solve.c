/*
 * hbem on CPU cores, what a solver does beside the products with H-matrices: the sparse systems of
 * M and of the OSRC operator, and orthogonalisation; one core's time. One JSON record a line.
 *
 * Floors: the bytes that a pass over long vectors must move, at the rate of a copy.
 */
#include <omp.h>
#include <stdio.h>
#include <time.h>

#include "kernels/linear/panel.h"
#include "kernels/hbem/osrc.h"
#include "runtime/isa.h"
#include "runtime/program.h"
#include "tests/support/hbem_sparse.h"

static void record(const char *name, const char *quantity, double value, const char *unit,
                   double floor, int64_t unknowns)
{
    printf("{\"case\": \"%s\", \"quantity\": \"%s\", \"value\": %.4g, \"unit\": \"%s\", "
           "\"floor\": %.4g, \"fraction\": %.3f, \"size\": \"%lld unknowns\", "
           "\"device\": \"cpu-%s-1-core\", \"revision\": \"%s\"}\n",
           name, quantity, value, unit, floor, floor / value, (long long)unknowns,
           ps_isa_name(ps_isa_here()), ps_revision());
    fflush(stdout);
}

/* Seconds of this thread's time. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds a byte, of a copy that leaves the caches. */
static double copy_time(void)
{
    enum { COUNT = 1 << 24 };
    double *a = calloc(COUNT, sizeof *a), *b = calloc(COUNT, sizeof *b), best = 1;
    for (int turn = 0; turn < 4; ++turn) {
        double start = now();
        for (int i = 0; i < COUNT; ++i) b[i] = a[i] + turn;
        best = fmin(best, now() - start);
    }
    double check = b[COUNT / 2];
    free(a);
    free(b);
    return check > 0 ? best / COUNT / 16 : 0;
}

/* Bytes of an iteration of shifted systems a row: p, q, r, x as multiply, advance and turn read and
 * write them, and 7 entries of the matrices. */
enum { ROW_BYTES = 11 * 16 * PS_SHIFTED_LANES + 7 * 20 };

static void bench_osrc(const ps_pencil *s, double k, double copy)
{
    enum { SIDES = 8 };
    ps_osrc osrc;
    ps_shifted_iterative method = hbem_iterative(s, 1e-9);
    ps_shifted_solver solver = {.context = &method, .solve = ps_shifted_iterate};
    int64_t n = s->dofs;
    double *b = calloc((size_t)(SIDES * 2 * n), 8), *y = calloc((size_t)(SIDES * 2 * n), 8);
    double *space = calloc((size_t)ps_osrc_workspace(n), 8);
    for (int64_t i = 0; i < SIDES * 2 * n; ++i) b[i] = sin(.01 * (double)i);
    hbem_case_ok(ps_osrc_init(&osrc, PS_COUPLING_OSRC, k, 1, 4));
    for (int sides = 1; sides <= SIDES; sides *= 8) {
        method.iterations = 0;
        double start = now();
        hbem_case_ok(ps_osrc_apply(&osrc, s, &solver, sides, b, y, space));
        double time = now() - start, rows = (double)(n * method.iterations);
        record(sides == 1 ? "hbem-osrc/1-side" : "hbem-osrc/8-sides", "time of V M^-1 b, a side",
               time / sides, "s", rows * ROW_BYTES * copy / sides, n);
        record(sides == 1 ? "hbem-osrc/1-side" : "hbem-osrc/8-sides", "time of a row and iteration",
               1e9 * time / rows, "ns", 1e9 * ROW_BYTES * copy, n);
    }
    free(b);
    free(y);
    free(space);
    free(method.workspace);
}

/* A vector against 20: read twice for products, once more, and written. */
static void bench_panel(int64_t n, double copy)
{
    enum { COUNT = 20, TURNS = 5 };
    double *v = calloc((size_t)((COUNT + 1) * 2 * n), 8);
    double *scratch = calloc((size_t)ps_panel_scratch(COUNT, 1), 8);
    double complex sums[COUNT];
    for (int64_t i = 0; i < (COUNT + 1) * 2 * n; ++i) v[i] = sin(.01 * (double)i);
    ps_panel basis = {v, COUNT, 2 * n}, w = {v + COUNT * 2 * n, 1, 0};
    double start = now();
    for (int turn = 0; turn < TURNS; ++turn) {
        ps_panel_dots((ps_panel_shape){2, n}, basis, w, sums, scratch);
        ps_panel_add((ps_panel_shape){2, n}, basis, sums, w);
    }
    double time = (now() - start) / TURNS, bytes = 16. * (double)n * (2 * COUNT + 3);
    record("hbem-krylov", "time against 20 vectors", 1e3 * time, "ms", 1e3 * bytes * copy, n);
    free(v);
    free(scratch);
}

int main(void)
{
    omp_set_num_threads(1);
    double copy = copy_time();
    for (int n = 64; n <= 160; n += 96) {
        hbem_case c;
        hbem_case_sphere(&c, n);
        hbem_space_make(&c.space, PS_SPACE_P1, &c.surface);
        ps_pencil s = hbem_sparse_make(&c.space);
        bench_osrc(&s, 5, copy);
        bench_panel(s.dofs, copy);
        hbem_sparse_free(&s);
        hbem_case_release(&c);
    }
    return 0;
}
