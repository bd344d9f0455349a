/*
 * check_hbem_product: products with H-matrices on a CUDA device against those of the processor:
 * random trees of odd sizes, real and complex, both precisions, symmetric halves, 1 to 11 sides,
 * chunks at once and in runs. Within 1e-13 of the largest number in either precision, as sums are
 * fp64. The same bits whatever the runs, whatever the other sides, and twice. An argument "small"
 * takes a second's work, "tiny" the least, for slow tools. Ends with "N passed, N failed, N
 * skipped".
 */
#include <stdio.h>

#include "tests/check.h"
#include "tests/support/distance.h"
#include "tests/support/hbem_product_device.h"
#include "tests/support/verdict.h"

enum { SIDES_MOST = 11 };

/* y on the host, of chunks in runs of `run`. */
static void multiply(product_place *p, const random_tables *r, int64_t run, int64_t sides,
                     const double *x, double *y)
{
    const ps_product_tables *t = &r->tables;
    const ps_hmatrix *m = t->matrix;
    p->d.sides = sides;
    must(ps_copy_to_device(p->stream, p->d.x, x, 8 * sides * m->parts * m->columns));
    must(ps_product_device_begin(&p->d, p->stream));
    for (int64_t c = 0; c < t->chunks; c += run) {
        int64_t count = c + run < t->chunks ? run : t->chunks - c;
        const char *base = (const char *)p->images + t->chunk_at[c];
        must(ps_product_device_locate(&p->d, c, count, base, p->stream));
        must(ps_product_device_run(&p->d, c, count, p->stream));
    }
    must(ps_product_device_end(&p->d, p->stream));
    must(ps_copy_to_host(p->stream, y, p->d.y, 8 * sides * m->parts * m->rows));
    must(ps_stream_wait(p->stream));
}

static void judge(const random_shape *s, const char *what, int64_t sides, const double *got,
                  const double *expected, double bound)
{
    double off = relative_most(got, expected, sides * s->parts * s->rows);
    bool good = off <= bound;
    verdict_count(good);
    if (!good || bound > 0)
        printf("%s %s: %lld x %lld, %d parts, %s%s, %lld sides: %.2e\n", good ? "ok" : "FAILED",
               what, (long long)s->rows, (long long)s->columns, s->parts,
               s->precision == PS_SINGLE ? "fp32" : "fp64", s->symmetric ? ", half" : "",
               (long long)sides, off);
}

static void check(const random_shape *s, ps_stream *stream)
{
    static const int64_t sides[] = {1, 3, 8, SIDES_MOST};
    PS_SCOPED(random_hmatrix_free) random_hmatrix h = {0};
    PS_SCOPED(random_tables_free) random_tables r = {0};
    PS_SCOPED(product_place_close) product_place p = {0};
    random_hmatrix_make(&h, s);
    random_tables_make(&r, &h);
    product_place_open(&p, &r.tables, r.memory, r.images, SIDES_MOST, stream);
    int64_t columns = s->parts * s->columns, rows = s->parts * s->rows, all = SIDES_MOST * rows;
    PS_SCOPED_MEMORY double *x = calloc((size_t)(SIDES_MOST * columns + 3 * all), 8);
    double *expected = x + SIDES_MOST * columns, *first = expected + all, *y = first + all;
    for (int64_t i = 0; i < SIDES_MOST * columns; ++i) x[i] = 2 * check_random(&h.seed) - 1;
    hbem_hmatrix_apply(&h.matrix, SIDES_MOST, x, expected);
    multiply(&p, &r, h.chunks, SIDES_MOST, x, first);
    judge(s, "against the processor", SIDES_MOST, first, expected, 1e-13);
    for (int i = 0; i < 4; ++i)
        for (int64_t run = h.chunks; run > 0; run /= 2) {
            memset(y, 0xff, (size_t)all * 8);
            multiply(&p, &r, run, sides[i], x, y);
            judge(s, "the same bits", sides[i], y, first, 0);
        }
}

int main(int argc, char **argv)
{
    int most = argc < 2 ? 4 : strcmp(argv[1], "small") == 0 ? 2 : 1; /* "small", "tiny" */
    if (!verdict_open(0)) return verdict_end();
    for (int i = 0; i < 8; ++i) {
        random_shape s = {.parts = 1 + (i / 2) % 2,
                          .symmetric = i & 1,
                          .precision = i / 4 ? PS_DOUBLE : PS_SINGLE,
                          .seed = (uint64_t)i + 7};
        static const int64_t sizes[][4] = {
            {5, 2, 2, 1}, {333, 17, 21, 4}, {2901, 29, 45, 7}, {9001, 57, 90, 12}};
        for (int k = 0; k < most; ++k) {
            s.rows = sizes[k][0];
            s.columns = s.symmetric ? s.rows : s.rows * 3 / 4;
            s.least = sizes[k][1];
            s.rank = sizes[k][2];
            s.chunks = sizes[k][3];
            check(&s, verdict.stream);
        }
    }
    return verdict_end();
}
