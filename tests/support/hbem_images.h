/*
 * hbem_images: leaves scattered in the memory of a device into images for products, against
 * ps_product_pack: for the unit test and the check on a device.
 */
#ifndef PS_TESTS_SUPPORT_HBEM_IMAGES_H
#define PS_TESTS_SUPPORT_HBEM_IMAGES_H

#include "kernels/hbem/product_images.h"
#include "runtime/scope.h"
#include "tests/support/hbem_product_device.h"

typedef struct images_case {
    ps_product_move *moves;
    int64_t count, arena_bytes;
    char *arena;
    int32_t *map[2];
} images_case;

/* Leaves lie in the arena last first, with gaps. */
static inline void images_case_make(images_case *c, const random_hmatrix *h,
                                    const ps_product_tables *t)
{
    int64_t size = h->matrix.precision == PS_SINGLE ? 4 : 8, numbers = 0, chunk = 0;
    *c = (images_case){0};
    for (int64_t l = 0; l < h->matrix.leaf_count; ++l) {
        c->count += ps_product_moves_count(t, l);
        numbers += 3 + ps_hmatrix_numbers(&h->matrix, l, h->matrix.blocks[l].rank);
    }
    c->arena_bytes = numbers * size;
    c->moves = calloc((size_t)c->count + 1, sizeof *c->moves);
    c->arena = calloc((size_t)numbers, (size_t)size);
    ps_product_move *at = c->moves;
    for (int64_t l = 0; l < h->matrix.leaf_count; ++l) {
        int64_t own = ps_hmatrix_numbers(&h->matrix, l, h->matrix.blocks[l].rank);
        while (l >= h->chunk_first[chunk + 1]) ++chunk;
        numbers -= 3 + own;
        memcpy(c->arena + numbers * size, h->matrix.blocks[l].values, (size_t)(own * size));
        ps_product_moves_fill(t, l, numbers, (t->chunk_at[chunk] + t->leaf_at[l]) / size, at);
        at += ps_product_moves_count(t, l);
    }
    for (int side = 0; side < 2; ++side) {
        c->map[side] = calloc((size_t)(side ? h->matrix.columns : h->matrix.rows) + 1, 4);
        ps_product_place_map(t, side, c->map[side]);
    }
}

static inline void images_case_free(images_case *c)
{
    PS_FREE(c->moves, c->arena, c->map[0], c->map[1]);
}

/* Whether the images of this matrix are, byte for byte, those of ps_product_pack. */
static inline bool images_agree(const random_shape *shape, ps_stream *stream)
{
    PS_SCOPED(random_hmatrix_free) random_hmatrix h = {0};
    PS_SCOPED(random_tables_free) random_tables r = {0};
    PS_SCOPED(images_case_free) images_case c = {0};
    random_hmatrix_make(&h, shape);
    random_tables_fill(&r, &h);
    images_case_make(&c, &h, &r.tables);
    product_place p = {.stream = stream};
    ps_device *device = ps_stream_device(stream);
    void *there[5] = {product_copy(&p, c.moves, c.count * (int64_t)sizeof *c.moves),
                      product_copy(&p, c.map[0], 4 * shape->rows),
                      product_copy(&p, c.map[1], 4 * shape->columns),
                      product_copy(&p, c.arena, c.arena_bytes), product_copy(&p, NULL, r.bytes)};
    ps_product_images images = {.item_bytes = shape->precision == PS_SINGLE ? 4 : 8,
                                .count = c.count,
                                .moves = there[0],
                                .map = {there[1], there[2]},
                                .from = there[3],
                                .to = there[4]};
    PS_SCOPED_MEMORY char *got = calloc((size_t)r.bytes + 1, 1),
                          *wanted = calloc((size_t)r.bytes + 1, 1);
    must(ps_fill_zero(stream, there[4], r.bytes));
    must(ps_product_images_run(&images, stream));
    must(ps_copy_to_host(stream, got, there[4], r.bytes));
    must(ps_stream_wait(stream));
    for (int64_t k = 0; k < h.chunks; ++k) {
        ps_hmatrix view = random_chunk(&h, k);
        ps_product_pack(&r.tables, k, &view, wanted + r.tables.chunk_at[k]);
    }
    bool same = memcmp(got, wanted, (size_t)r.bytes) == 0;
    for (int i = 0; i < 5; ++i) ps_device_free(device, there[i]);
    return same;
}

/* Case number i of a few random ones: sizes, parts, precisions, halves. */
static inline random_shape images_shape(int i)
{
    static const int64_t sizes[][4] = {{5, 2, 2, 1}, {333, 17, 21, 4}, {2901, 29, 45, 7}};
    const int64_t *size = sizes[i % 3];
    random_shape s = {.rows = size[0],
                      .least = size[1],
                      .rank = size[2],
                      .chunks = size[3],
                      .parts = 1 + i / 3 % 2,
                      .symmetric = i / 6 % 2,
                      .precision = i / 12 % 2 ? PS_DOUBLE : PS_SINGLE,
                      .seed = (uint64_t)i + 3};
    s.columns = s.symmetric ? s.rows : s.rows * 3 / 4;
    return s;
}
enum { IMAGES_SHAPES = 24 };

#endif
