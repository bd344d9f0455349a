/*
 * check_hbem_shifted: sparse systems of mass and stiffness on a CUDA device (shifted_device.h)
 * against those of the processor: shifts of the square-root operator and none, 1 to 20 systems of
 * few and of many unknowns, one right-hand side for several. Within 1e-7 of the largest number at a
 * tolerance of 1e-10. The same bits twice, and alone. What cannot be solved is told. Then the time
 * of an iteration. Ends with "N passed, N failed, N skipped".
 */
#include <stdio.h>

#include "kernels/hbem/osrc.h"
#include "kernels/linear/shifted_device.h"
#include "runtime/memory.h"
#include "tests/check.h"
#include "tests/support/distance.h"
#include "tests/support/hbem_sparse.h"
#include "tests/support/verdict.h"

enum { MOST = 20 };

static void count(bool good, const char *what, int64_t dofs, int systems, double off)
{
    verdict_count(good);
    printf("%s %s: %lld unknowns, %d systems: %.2e\n", good ? "ok" : "FAILED", what,
           (long long)dofs, systems, off);
}

/* Systems of the operator, in turn, and of the mass; three right-hand sides. */
static void make_systems(const ps_pencil *s, double k, const double *b, double *x,
                         ps_shifted_system *out)
{
    double shift[1 + PS_OSRC_TERMS_MAX][2];
    ps_osrc osrc;
    must(ps_osrc_init(&osrc, PS_COUPLING_OSRC, k, 1, 4));
    ps_osrc_shifts(&osrc, shift);
    for (int i = 0; i < MOST; ++i) {
        out[i] = (ps_shifted_system){.b = b + i / 7 * 2 * s->dofs, .x = x + i * 2 * s->dofs};
        for (int part = 0; part < 2 && i % 6 < 5; ++part) out[i].shift[part] = shift[i % 6][part];
    }
}

static void check(int n, ps_stream *stream)
{
    PS_SCOPED(hbem_case_release) hbem_case c = {0};
    ps_shifted_device d;
    void *memory;
    uint64_t seed = 5;
    hbem_case_sphere(&c, n);
    hbem_space_make(&c.space, PS_SPACE_P1, &c.surface);
    PS_SCOPED(hbem_sparse_free) ps_pencil s = hbem_sparse_make(&c.space);
    int64_t size = 2 * s.dofs;
    PS_SCOPED_MEMORY double *b = calloc((size_t)((3 + 3 * MOST) * size), 8),
                            *diagonal = calloc((size_t)size, 8);
    double *x = b + 3 * size, *expected = x + MOST * size, *again = expected + MOST * size;
    for (int64_t i = 0; i < 3 * size; ++i) b[i] = 2 * check_random(&seed) - 1;
    ps_shifted_system systems[MOST];
    ps_shifted_iterative method = hbem_iterative(&s, 1e-10);
    method.options.limit = 20000;
    make_systems(&s, 6, b, expected, systems);
    must(ps_shifted_iterate(&method, MOST, systems));
    must(ps_device_alloc(ps_stream_device(stream), ps_shifted_device_bytes(&s), &memory));
    must(ps_shifted_device_upload(&s, diagonal, memory, stream, &d));
    d.tolerance = 1e-10;
    d.limit = 20000;
    make_systems(&s, 6, b, x, systems);
    must(ps_shifted_device_solve(&d, MOST, systems));
    double off = relative_most(x, expected, MOST * size);
    count(off <= 1e-7, "against the processor", s.dofs, MOST, off);
    make_systems(&s, 6, b, again, systems);
    for (int i = 0; i < MOST; ++i) must(ps_shifted_device_solve(&d, 1, systems + i));
    count(memcmp(x, again, (size_t)(MOST * size) * 8) == 0, "the same bits alone", s.dofs, 1, 0);
    d.limit = 2;
    count(ps_shifted_device_solve(&d, 1, systems) == PS_FAILED, ps_message(), s.dofs, 1, 0);
    d.limit = 20000;
    b[1] = NAN;
    count(ps_shifted_device_solve(&d, 1, systems) == PS_FAILED, ps_message(), s.dofs, 1, 0);
    b[1] = 0;
    for (int most = 1; most <= 5; most += 4) {
        d.iterations = 0;
        double begin = ps_clock();
        must(ps_shifted_device_solve(&d, most, systems));
        printf("%lld unknowns, %d systems: %lld iterations in %.2f ms, %.2f us each\n",
               (long long)s.dofs, most, (long long)d.iterations, 1e3 * (ps_clock() - begin),
               1e6 * (ps_clock() - begin) / (double)d.iterations);
    }
    ps_device_free(ps_stream_device(stream), memory);
    free(method.workspace);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {1, 11, 40, 90};
    int most = argc < 2 ? 4 : strcmp(argv[1], "small") == 0 ? 2 : 1; /* "small", "tiny" */
    if (!verdict_open(0)) return verdict_end();
    for (int i = 0; i < most; ++i) check(sizes[i], verdict.stream);
    return verdict_end();
}
