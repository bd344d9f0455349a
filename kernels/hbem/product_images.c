#include "kernels/hbem/product_images.h"

#include <string.h>

/* Numbers of a move, about: a block of threads has one to do. */
enum { MOVE_NUMBERS = 1 << 15 };

/* ---- moves ---- */

/* Vectors of a leaf on one side. */
typedef struct vectors {
    int side;
    int64_t function, length, places, count, columns;
} vectors;

static vectors vectors_of(const ps_product_tables *t, int64_t leaf, int side)
{
    const ps_hmatrix_leaf *at = &t->matrix->leaves[leaf];
    int64_t rank = t->matrix->blocks[leaf].rank, parts = t->matrix->parts;
    int64_t begin = side ? at->column_begin : at->row_begin;
    int64_t end = side ? at->column_end : at->row_end;
    vectors v = {.side = side, .function = begin, .length = end - begin};
    v.places = t->place_at[side][end] - t->place_at[side][begin];
    v.columns = rank == PS_RANK_DENSE ? at->column_end - at->column_begin : 0;
    v.count = parts * (rank == PS_RANK_DENSE ? v.columns : rank);
    return v;
}

/* Sides whose vectors a leaf has: rows alone where it is dense. */
static int sides_of(const ps_product_tables *t, int64_t leaf)
{
    return t->matrix->blocks[leaf].rank == PS_RANK_DENSE ? 1 : 2;
}

static int64_t vectors_at_once(const vectors *v)
{
    return v->length < MOVE_NUMBERS ? MOVE_NUMBERS / v->length : 1;
}

int64_t ps_product_moves_count(const ps_product_tables *t, int64_t leaf)
{
    int64_t count = 0;
    for (int side = 0; side < sides_of(t, leaf); ++side) {
        vectors v = vectors_of(t, leaf, side);
        int64_t once = vectors_at_once(&v);
        count += (v.count + once - 1) / once;
    }
    return count;
}

void ps_product_moves_fill(const ps_product_tables *t, int64_t leaf, int64_t from, int64_t to,
                           ps_product_move *moves)
{
    for (int side = 0; side < sides_of(t, leaf); ++side) {
        vectors v = vectors_of(t, leaf, side);
        int64_t once = vectors_at_once(&v);
        for (int64_t first = 0; first < v.count; first += once)
            *moves++ = (ps_product_move){
                .from = from,
                .to = to,
                .side = side,
                .function = (int32_t)v.function,
                .length = (int32_t)v.length,
                .places = (int32_t)v.places,
                .first = (int32_t)first,
                .count = (int32_t)(v.count - first < once ? v.count - first : once),
                .columns = (int32_t)v.columns,
                .parts = t->matrix->parts};
        from += v.count * v.length;
        to += v.count * v.places;
    }
}

/* ---- here ---- */

static void move_here(const ps_product_images *images, const ps_product_move *m)
{
    const int32_t *map = images->map[m->side] + m->function;
    int64_t size = images->item_bytes;
    for (int64_t v = m->first; v < m->first + m->count; ++v) {
        int64_t order = m->columns ? v % m->columns * m->parts + v / m->columns : v;
        const char *from = (const char *)images->from + (m->from + v * m->length) * size;
        char *to = (char *)images->to + (m->to + order * m->places - map[0]) * size;
        for (int64_t e = 0; e < m->length; ++e)
            memcpy(to + map[e] * size, from + e * size, (size_t)size);
    }
}

ps_status ps_product_images_run(const ps_product_images *images, ps_stream *stream)
{
    if (images->count <= 0) return PS_OK;
    if (stream && ps_stream_handle(stream)) return ps_product_images_cuda(images, stream);
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t i = 0; i < images->count; ++i) move_here(images, &images->moves[i]);
    return PS_OK;
}
