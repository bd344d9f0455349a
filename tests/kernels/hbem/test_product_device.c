/* The tables and images of products on a device (kernels/hbem/product_device.h): followed number by
 * number on the host they give the product. The kernels themselves: tests/gpu/check_hbem_product.c.
 */
#include "kernels/hbem/product_device.h"

#include "tests/check.h"
#include "tests/support/random_hmatrix.h"

static double number_at(const random_tables *r, int64_t chunk, int64_t offset, int64_t index)
{
    const char *at = (const char *)r->images + r->tables.chunk_at[chunk] + offset;
    assert_int_equal(offset % (4 * (r->tables.matrix->precision == PS_SINGLE ? 4 : 8)), 0);
    return r->tables.matrix->precision == PS_SINGLE ? (double)((const float *)at)[index]
                                                    : ((const double *)at)[index];
}

/* out += sum over vectors' numbers: of one vector and one other, complex where there are parts. */
static void add(const random_tables *r, const int32_t at[3], int64_t offset, int64_t index,
                const double *x, int64_t x_part, double *out, int64_t out_part)
{
    double re = number_at(r, at[0], offset, index);
    out[0] += re * x[0];
    if (r->tables.matrix->parts == 1) return;
    double im = number_at(r, at[0], offset, index + at[2]);
    out[0] -= im * x[x_part];
    out[out_part] += re * x[x_part] + im * x[0];
}

static void reduce(const random_tables *r, const double *padded, double *t)
{
    const ps_product_tables *p = &r->tables;
    for (int64_t i = 0; i < p->items; ++i) {
        const ps_product_item *w = &p->item[i];
        assert_in_range(w->count, 1, PS_PRODUCT_GROUP);
        assert_true(w->length % 4 == 0 && w->from % 4 == 0 && w->length <= PS_PRODUCT_PIECE);
        for (int l = 0; l < w->count; ++l)
            for (int e = 0; e < w->length; ++e)
                add(r, (const int32_t[]){w->chunk, 0, w->part}, w->offset,
                    (int64_t)l * w->stride + e, padded + w->from + e, p->places[1], t + w->to + l,
                    p->numbers);
    }
    for (int64_t j = 0; j < p->joins; ++j) {
        const ps_product_join *w = &p->join[j];
        for (int part = 0; part < p->matrix->parts; ++part)
            for (int k = 0; k < w->pieces * w->count; ++k)
                t[part * p->numbers + w->to + k % w->count] += t[part * p->numbers + w->from + k];
    }
}

static void visit(const random_tables *r, const ps_product_visit *w, int64_t tile, const double *x,
                  const double *padded, const double *t, double *y)
{
    const ps_product_tables *p = &r->tables;
    int64_t rows = p->begin[0][tile + 1] - p->begin[0][tile];
    const double *from = w->kind == PS_PRODUCT_RANK ? t : w->kind == PS_PRODUCT_DENSE ? x : padded;
    int64_t part = w->kind == PS_PRODUCT_RANK    ? p->numbers
                   : w->kind == PS_PRODUCT_DENSE ? p->matrix->columns
                                                 : p->places[1];
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t l = 0; l < w->count; ++l)
            add(r, (const int32_t[]){w->chunk, 0, w->part}, w->offset,
                w->kind == PS_PRODUCT_TURNED ? i * w->stride + l : l * w->stride + i,
                from + w->from + l, part, y + p->begin[0][tile] + i, p->matrix->rows);
}

/* y = A x by the tables. */
static void follow(const random_tables *r, const double *x, double *y)
{
    const ps_product_tables *p = &r->tables;
    int64_t parts = p->matrix->parts;
    PS_SCOPED_MEMORY double *padded = calloc((size_t)(parts * p->places[1]), sizeof *padded);
    PS_SCOPED_MEMORY double *t = calloc((size_t)(parts * p->numbers) + 1, sizeof *t);
    for (int64_t part = 0; part < parts; ++part)
        for (int64_t tile = 0; tile < p->tiles[1]; ++tile) {
            int64_t length = p->begin[1][tile + 1] - p->begin[1][tile];
            assert_in_range(length, 1, PS_PRODUCT_TILE);
            memcpy(padded + part * p->places[1] + p->place[1][tile],
                   x + part * p->matrix->columns + p->begin[1][tile], (size_t)length * 8);
        }
    reduce(r, padded, t);
    for (int64_t tile = 0; tile < p->tiles[0]; ++tile)
        for (int64_t v = p->visit_first[tile]; v < p->visit_first[tile + 1]; ++v) {
            if (v > p->visit_first[tile]) assert_true(p->visit[v].chunk >= p->visit[v - 1].chunk);
            visit(r, &p->visit[v], tile, x, padded, t, y);
        }
}

static void check(const random_shape *shape)
{
    PS_SCOPED(random_hmatrix_free) random_hmatrix h = {0};
    PS_SCOPED(random_tables_free) random_tables r = {0};
    random_hmatrix_make(&h, shape);
    random_tables_make(&r, &h);
    int64_t rows = shape->parts * shape->rows, columns = shape->parts * shape->columns;
    PS_SCOPED_MEMORY double *x = calloc((size_t)(columns + 2 * rows), 8);
    double *y = x + columns, *expected = y + rows;
    for (int64_t i = 0; i < columns; ++i) x[i] = 2 * check_random(&h.seed) - 1;
    hbem_hmatrix_apply(&h.matrix, 1, x, expected);
    follow(&r, x, y);
    check_all_near(y, expected, rows, 1e-13);
}

static void test_tables(void **state)
{
    for (int i = 0; i < 8; ++i) {
        bool symmetric = i & 1;
        check(&(random_shape){.rows = symmetric ? 1501 : 733,
                              .columns = 1501,
                              .least = 13,
                              .rank = 37,
                              .parts = 1 + (i / 2) % 2,
                              .symmetric = symmetric,
                              .precision = i / 4 ? PS_DOUBLE : PS_SINGLE,
                              .chunks = 5,
                              .seed = (uint64_t)i + 1});
        check(&(random_shape){.rows = 3,
                              .columns = symmetric ? 3 : 1,
                              .least = 1,
                              .rank = 1,
                              .parts = 2,
                              .symmetric = symmetric,
                              .chunks = 2,
                              .seed = (uint64_t)i + 1});
    }
}

/* Where all ranks of a chunk are 0, and where a leaf is alone. */
static void test_empty(void **state)
{
    check(&(random_shape){
        .rows = 65, .columns = 130, .least = 70, .rank = 0, .parts = 1, .chunks = 1, .seed = 4});
    check(&(random_shape){.rows = 300,
                          .columns = 500,
                          .least = 16,
                          .rank = 0,
                          .parts = 1,
                          .precision = PS_DOUBLE,
                          .chunks = 9,
                          .seed = 5});
}
