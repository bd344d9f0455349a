/*
 * random_hmatrix: H-matrices of random trees, ranks and numbers, in chunks, for tests of products;
 * and the tables of product_device for them.
 */
#ifndef PS_TESTS_SUPPORT_RANDOM_HMATRIX_H
#define PS_TESTS_SUPPORT_RANDOM_HMATRIX_H

#include "kernels/hbem/product_device.h"
#include "runtime/memory.h"
#include "tests/check.h"
#include "tests/support/hbem_hmatrix.h"

typedef struct random_hmatrix {
    ps_hmatrix matrix;
    ps_hmatrix_leaf *leaves;
    int64_t capacity, chunks, *chunk_first;
    uint64_t seed;
} random_hmatrix;

typedef struct random_shape {
    int64_t rows, columns, least, rank; /* least: clusters are not cut below this      */
    int parts;
    bool symmetric;
    ps_precision precision;
    int64_t chunks;
    uint64_t seed;
} random_shape;

/* Where the cluster [begin, end) is cut: the same wherever it is met. */
static inline int64_t random_cut(int64_t begin, int64_t end)
{
    uint64_t seed = (uint64_t)(begin * 1000003 + end);
    double where = .3 + .4 * check_random(&seed);
    return begin + 1 + (int64_t)(where * (double)(end - begin - 1));
}

static inline void random_leaf(random_hmatrix *h, const ps_hmatrix_leaf *at)
{
    if (h->matrix.leaf_count == h->capacity) {
        h->capacity = 2 * h->capacity + 16;
        h->leaves = realloc(h->leaves, (size_t)h->capacity * sizeof *h->leaves);
    }
    h->leaves[h->matrix.leaf_count++] = *at;
}

static inline void random_blocks(random_hmatrix *h, const ps_hmatrix_leaf *at, int64_t least)
{
    int64_t m = at->row_end - at->row_begin, n = at->column_end - at->column_begin;
    bool diagonal = at->row_begin == at->column_begin;
    if (h->matrix.symmetric && at->row_begin > at->column_begin) return;
    if (m < 2 * least || n < 2 * least || (!diagonal && check_random(&h->seed) < .4)) {
        random_leaf(h, at);
        return;
    }
    int64_t row = random_cut(at->row_begin, at->row_end);
    int64_t column = random_cut(at->column_begin, at->column_end);
    for (int i = 0; i < 4; ++i)
        random_blocks(h,
                      &(ps_hmatrix_leaf){i / 2 ? row : at->row_begin, i / 2 ? at->row_end : row,
                                         i % 2 ? column : at->column_begin,
                                         i % 2 ? at->column_end : column, false},
                      least);
}

static inline void random_values(random_hmatrix *h, int64_t leaf, int64_t most)
{
    const ps_hmatrix_leaf *at = &h->leaves[leaf];
    ps_hmatrix_block *block = &h->matrix.blocks[leaf];
    int64_t m = at->row_end - at->row_begin, n = at->column_end - at->column_begin;
    int64_t least = m < n ? m : n;
    block->rank = (int64_t)(check_random(&h->seed) * (double)(most + 1));
    if (block->rank > least) block->rank = least;
    if (at->row_begin == at->column_begin || check_random(&h->seed) < .3)
        block->rank = m * n < 40000 ? PS_RANK_DENSE : block->rank;
    int64_t numbers = ps_hmatrix_numbers(&h->matrix, leaf, block->rank);
    block->values = calloc((size_t)numbers + 1, 8);
    for (int64_t e = 0; e < numbers; ++e) {
        double number = 2 * check_random(&h->seed) - 1;
        if (h->matrix.precision == PS_SINGLE)
            ((float *)block->values)[e] = (float)number;
        else
            ((double *)block->values)[e] = number;
    }
}

static inline void random_hmatrix_make(random_hmatrix *h, const random_shape *s)
{
    *h = (random_hmatrix){.matrix = {.rows = s->rows,
                                     .columns = s->columns,
                                     .parts = s->parts,
                                     .symmetric = s->symmetric,
                                     .precision = s->precision},
                          .chunks = s->chunks,
                          .seed = s->seed};
    random_blocks(h, &(ps_hmatrix_leaf){0, s->rows, 0, s->columns, false}, s->least);
    h->matrix.leaves = h->leaves;
    must(ps_hmatrix_init(&h->matrix));
    for (int64_t l = 0; l < h->matrix.leaf_count; ++l) random_values(h, l, s->rank);
    if (h->chunks > h->matrix.leaf_count) h->chunks = h->matrix.leaf_count;
    h->chunk_first = calloc((size_t)h->chunks + 1, sizeof *h->chunk_first);
    for (int64_t c = 0; c <= h->chunks; ++c)
        h->chunk_first[c] = h->matrix.leaf_count * c / h->chunks;
}

static inline void random_hmatrix_free(random_hmatrix *h)
{
    ps_hmatrix_release(&h->matrix);
    PS_FREE(h->leaves, h->chunk_first);
}

/* Leaves of a chunk, with values. */
static inline ps_hmatrix random_chunk(const random_hmatrix *h, int64_t chunk)
{
    ps_hmatrix view = h->matrix;
    view.leaves += h->chunk_first[chunk];
    view.blocks += h->chunk_first[chunk];
    view.leaf_count = h->chunk_first[chunk + 1] - h->chunk_first[chunk];
    return view;
}

/* Tables in memory of the host, and the images of all chunks one behind the other. */
typedef struct random_tables {
    ps_product_tables tables;
    int32_t *marks;
    void *memory, *images;
    int64_t bytes;
} random_tables;

/* The tables alone. */
static inline void random_tables_fill(random_tables *r, const random_hmatrix *h)
{
    ps_product_tables *t = &r->tables;
    r->marks = calloc((size_t)ps_product_marks(&h->matrix), sizeof *r->marks);
    must(ps_product_tables_measure(t, &h->matrix, h->chunks, h->chunk_first, r->marks));
    r->memory = aligned_alloc(64, (size_t)(ps_product_tables_bytes(t) + 63) / 64 * 64);
    ps_product_tables_attach(t, r->memory);
    ps_product_tables_fill(t);
    r->bytes = t->chunk_at[t->chunks];
    r->images = NULL;
}

static inline void random_tables_make(random_tables *r, const random_hmatrix *h)
{
    const ps_product_tables *t = &r->tables;
    random_tables_fill(r, h);
    r->images = aligned_alloc(256, (size_t)r->bytes + 256);
    memset(r->images, 0xff, (size_t)r->bytes); /* not a number where nothing is written */
    for (int64_t c = 0; c < h->chunks; ++c) {
        ps_hmatrix view = random_chunk(h, c);
        ps_product_pack(t, c, &view, (char *)r->images + t->chunk_at[c]);
    }
}

static inline void random_tables_free(random_tables *r) { PS_FREE(r->marks, r->memory, r->images); }

#endif
