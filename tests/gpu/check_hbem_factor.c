/*
 * check_hbem_factor: sparse factors of the square-root operator on a CUDA device
 * (factor_device.h): solutions of each shift satisfy their equations to 1e-11, for 1 to 11 sides,
 * whose bits do not depend on one another or on the run; a matrix of zeros is told. "small": the
 * small ones. Ends with "N passed, N failed, N skipped".
 */
#include <stdio.h>

#include "tests/check.h"
#include "tests/support/hbem_factor_device.h"
#include "tests/support/verdict.h"

enum { SIDES = 11 };

static void count(bool good, const char *what, int64_t dofs, int64_t sides, double off)
{
    verdict_count(good);
    printf("%s %s: %lld unknowns, %lld sides: %.2e\n", good ? "ok" : "FAILED", what,
           (long long)dofs, (long long)sides, off);
}

/* |A y - b| / |b| of all sides. */
static double residual(const ps_pencil *s, const double shift[2], const double *b, const double *y,
                       double *own)
{
    double off = 0, norm = 0;
    for (int64_t side = 0; side < SIDES; ++side) {
        hbem_sparse_apply(s, shift, y + side * 2 * s->dofs, own);
        for (int64_t i = 0; i < 2 * s->dofs; ++i) {
            double want = b[side * 2 * s->dofs + i];
            off += (own[i] - want) * (own[i] - want);
            norm += want * want;
        }
    }
    return isfinite(off) ? sqrt(off / norm) : INFINITY;
}

static void check(int n, ps_stream *stream)
{
    static const int64_t sides[] = {1, 2, 3, 8};
    factor_place p = {.memory = NULL};
    hbem_case_sphere(&p.body, n);
    factor_place_open(&p, 9, stream);
    int64_t dofs = p.d.dofs, size = 2 * dofs * SIDES;
    double *b = calloc((size_t)(4 * size), 8), *y = b + size, *first = y + size;
    double weight[PS_FACTOR_SHIFTS][2] = {{0}}, *own = first + size;
    for (int64_t i = 0; i < size; ++i) b[i] = sin((double)i);
    must(ps_factor_device_make(&p.f, &p.sparse, p.firsts, p.memory, p.scratch));
    for (int j = 0; j < p.f.count; ++j) {
        for (int k = 0; k < p.f.count; ++k) weight[k][0] = k == j;
        must(ps_factor_device_apply(&p.f, SIDES, weight, b, first));
        double off = residual(&p.sparse, p.f.shift[j], b, first, own);
        count(off <= 1e-11, "a shift", dofs, SIDES, off);
    }
    for (int k = 0; k < p.f.count; ++k) weight[k][0] = weight[k][1] = 1. / (k + 1);
    must(ps_factor_device_apply(&p.f, SIDES, weight, b, first));
    for (int i = 0; i < 4; ++i) {
        memset(y, 0xff, (size_t)size * 8);
        must(ps_factor_device_make(&p.f, &p.sparse, p.firsts, p.memory, p.scratch));
        must(ps_factor_device_apply(&p.f, sides[i], weight, b, y));
        count(memcmp(y, first, (size_t)(sides[i] * 2 * dofs) * 8) == 0, "the same bits", dofs,
              sides[i], 0);
    }
    memset(p.sparse.mass, 0, (size_t)p.sparse.nnz * 8);
    memset(p.sparse.stiffness, 0, (size_t)p.sparse.nnz * 8);
    count(ps_factor_device_make(&p.f, &p.sparse, p.firsts, p.memory, p.scratch) == PS_FAILED,
          ps_message(), dofs, 0, 0);
    free(b);
    factor_place_close(&p);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {1, 5, 17, 60};
    if (!verdict_open(0)) return verdict_end();
    for (int i = 0; i < (argc > 1 && strcmp(argv[1], "small") == 0 ? 2 : 4); ++i)
        check(sizes[i], verdict.stream);
    return verdict_end();
}
