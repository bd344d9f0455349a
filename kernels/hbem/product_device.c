#include "kernels/hbem/product_device.h"

#include <stddef.h>
#include <string.h>

#include "kernels/common/reals.h"
#include "kernels/hbem/product_images.h"
#include "runtime/device_plan.h"
#include "runtime/sizes.h"

enum { ALIGN = 256, LEAF_ALIGN = 64 };

/* ---- tiles ---- */

int64_t ps_product_marks(const ps_hmatrix *matrix)
{
    return 2 * (matrix->rows + matrix->columns + 2);
}

static void mark(const ps_hmatrix *matrix, int32_t *rows, int32_t *columns)
{
    for (int64_t l = 0; l < matrix->leaf_count; ++l) {
        const ps_hmatrix_leaf *at = &matrix->leaves[l];
        rows[at->row_begin] = rows[at->row_end] = 1;
        columns[at->column_begin] = columns[at->column_end] = 1;
    }
}

/* Tile `tile` of `count` equal ones of `length` functions. */
static int64_t tile_begin(int64_t length, int64_t count, int64_t tile)
{
    return length * tile / count;
}

static int64_t tile_count(int64_t length)
{
    return (length + PS_PRODUCT_TILE - 1) / PS_PRODUCT_TILE;
}

/* Cuts a side at its marks, which become numbers of tiles and places. With begin and place, fills
 * them. */
static void cut(ps_product_tables *t, int side, int64_t length)
{
    int32_t *tile_at = t->tile_at[side], *place_at = t->place_at[side];
    int64_t tiles = 0, places = 0;
    for (int64_t from = 0, to; from < length; from = to) {
        for (to = from + 1; to < length && !tile_at[to];) ++to;
        int64_t count = tile_count(to - from);
        tile_at[from] = (int32_t)tiles;
        place_at[from] = (int32_t)places;
        for (int64_t i = 0; i < count; ++i)
            places +=
                ps_round_up(tile_begin(to - from, count, i + 1) - tile_begin(to - from, count, i),
                            PS_PRODUCT_PAD);
        tiles += count;
    }
    tile_at[length] = (int32_t)tiles;
    place_at[length] = (int32_t)places;
    t->tiles[side] = tiles;
    t->places[side] = places;
}

/* begin and place of a side that is cut: between two marks, tiles are equal. */
static void fill_tiles(ps_product_tables *t, int side, int64_t length)
{
    const int32_t *tile_at = t->tile_at[side];
    int32_t *begin = t->begin[side], *place = t->place[side];
    int64_t tile = 0, at = 0;
    for (int64_t from = 0, to; from < length; from = to) {
        for (to = from + 1; tile_at[to] <= tile;) ++to;
        int64_t count = tile_count(to - from);
        for (int64_t i = 0; i < count; ++i, ++tile) {
            int64_t first = tile_begin(to - from, count, i);
            begin[tile] = (int32_t)(from + first);
            place[tile] = (int32_t)at;
            at += ps_round_up(tile_begin(to - from, count, i + 1) - first, PS_PRODUCT_PAD);
        }
    }
    begin[tile] = (int32_t)length;
    place[tile] = (int32_t)at;
}

void ps_product_place_map(const ps_product_tables *t, int side, int32_t *map)
{
    const int32_t *tile_at = t->tile_at[side];
    int64_t length = side ? t->matrix->columns : t->matrix->rows;
    for (int64_t from = 0, to; from < length; from = to) {
        int64_t at = t->place_at[side][from];
        for (to = from + 1; tile_at[to] <= tile_at[from] && to < length;) ++to;
        int64_t count = tile_count(to - from);
        for (int64_t i = 0; i < count; ++i) {
            int64_t first = tile_begin(to - from, count, i);
            int64_t end = tile_begin(to - from, count, i + 1);
            for (int64_t e = first; e < end; ++e) map[from + e] = (int32_t)(at + e - first);
            at += ps_round_up(end - first, PS_PRODUCT_PAD);
        }
    }
}

/* ---- what a share needs ---- */

/* The side of a share's rows, and of its columns. */
static int side_of(const ps_product_share *s, bool rows) { return s->transposed == rows; }

static int64_t places_of(const ps_product_tables *t, const ps_product_share *s, bool rows)
{
    const int32_t *at = t->place_at[side_of(s, rows)];
    return rows ? at[s->row_end] - at[s->row_begin] : at[s->column_end] - at[s->column_begin];
}

static int64_t tiles_of(const ps_product_tables *t, const ps_product_share *s)
{
    const int32_t *at = t->tile_at[side_of(s, true)];
    return at[s->row_end] - at[s->row_begin];
}

static int64_t pieces_of(const ps_product_tables *t, const ps_product_share *s)
{
    return (places_of(t, s, false) + PS_PRODUCT_PIECE - 1) / PS_PRODUCT_PIECE;
}

/* Numbers of t: the products, and their pieces where there are several. */
static int64_t numbers_of(const ps_product_tables *t, const ps_product_share *s)
{
    int64_t pieces = pieces_of(t, s);
    return s->rank * (pieces > 1 ? 1 + pieces : 1);
}

static bool works(const ps_hmatrix *matrix, int64_t index)
{
    return ps_product_share_exists(matrix, index) && matrix->blocks[index / 2].rank != 0;
}

void ps_product_tiles_measure(ps_product_tables *t, const ps_hmatrix *matrix, int64_t chunks,
                              const int64_t *chunk_first, int32_t *marks)
{
    *t = (ps_product_tables){.matrix = matrix, .chunk_first = chunk_first, .chunks = chunks};
    memset(marks, 0, (size_t)ps_product_marks(matrix) * sizeof *marks);
    t->tile_at[0] = marks;
    t->place_at[0] = marks + matrix->rows + 1;
    t->tile_at[1] = marks + 2 * (matrix->rows + 1);
    t->place_at[1] = t->tile_at[1] + matrix->columns + 1;
    if (matrix->symmetric) {
        t->tile_at[1] = t->tile_at[0];
        t->place_at[1] = t->place_at[0];
    }
    mark(matrix, t->tile_at[0], t->tile_at[1]);
    cut(t, 0, matrix->rows);
    if (!matrix->symmetric) cut(t, 1, matrix->columns);
    t->tiles[1] = matrix->symmetric ? t->tiles[0] : t->tiles[1];
    t->places[1] = matrix->symmetric ? t->places[0] : t->places[1];
}

ps_status ps_product_tables_measure(ps_product_tables *t, const ps_hmatrix *matrix, int64_t chunks,
                                    const int64_t *chunk_first, int32_t *marks)
{
    ps_product_tiles_measure(t, matrix, chunks, chunk_first, marks);
    for (int64_t index = 0; index < 2 * matrix->leaf_count; ++index) {
        if (!works(matrix, index)) continue;
        ps_product_share s = ps_product_share_of(matrix, index);
        t->visits += tiles_of(t, &s);
        if (s.rank == PS_RANK_DENSE) continue;
        t->items += pieces_of(t, &s) * ((s.rank + PS_PRODUCT_GROUP - 1) / PS_PRODUCT_GROUP);
        t->joins += pieces_of(t, &s) > 1;
        t->numbers += numbers_of(t, &s);
    }
    if (t->numbers < INT32_MAX && t->places[0] < INT32_MAX && t->places[1] < INT32_MAX)
        return PS_OK;
    return ps_fail(PS_EXHAUSTED,
                   "products on a device number their terms by 32 bits, this matrix has %lld: use "
                   "--device cpu, or more ranks",
                   (long long)t->numbers);
}

/* ---- memory ---- */

static void *piece(char *memory, int64_t *used, int64_t bytes)
{
    char *at = memory ? memory + *used : NULL;
    *used += ps_round_up(bytes, LEAF_ALIGN);
    return at;
}

int64_t ps_product_tables_attach(ps_product_tables *t, void *memory)
{
    int64_t used = 0;
    for (int side = 0; side < 2; ++side) {
        if (side == 1 && t->matrix->symmetric) {
            t->begin[1] = t->begin[0];
            t->place[1] = t->place[0];
            break;
        }
        t->begin[side] = piece(memory, &used, 4 * (t->tiles[side] + 1));
        t->place[side] = piece(memory, &used, 4 * (t->tiles[side] + 1));
    }
    t->visit_first = piece(memory, &used, 8 * (t->tiles[0] + 1));
    t->chunk_at = piece(memory, &used, 8 * (t->chunks + 1));
    t->item = piece(memory, &used, (int64_t)sizeof *t->item * t->items);
    t->join = piece(memory, &used, (int64_t)sizeof *t->join * t->joins);
    t->visit = piece(memory, &used, (int64_t)sizeof *t->visit * t->visits);
    t->device_bytes = used;
    t->item_first = piece(memory, &used, 8 * (t->chunks + 1));
    t->join_first = piece(memory, &used, 8 * (t->chunks + 1));
    t->leaf_at = piece(memory, &used, 8 * t->matrix->leaf_count);
    t->chunk_bytes = piece(memory, &used, 8 * t->chunks);
    return used;
}

int64_t ps_product_tables_bytes(ps_product_tables *tables)
{
    return ps_product_tables_attach(tables, NULL);
}

/* ---- filling ---- */

int64_t ps_product_leaf_bytes(const ps_product_tables *t, int64_t leaf)
{
    const ps_hmatrix *matrix = t->matrix;
    ps_product_share s = ps_product_share_of(matrix, 2 * leaf);
    int64_t m = places_of(t, &s, true), n = places_of(t, &s, false);
    int64_t places =
        s.rank == PS_RANK_DENSE ? m * (s.column_end - s.column_begin) : s.rank * (m + n);
    return ps_round_up(places * matrix->parts * ps_real_bytes(matrix->precision), LEAF_ALIGN);
}

static void fill_leaves(ps_product_tables *t)
{
    t->chunk_at[0] = 0;
    for (int64_t c = 0; c < t->chunks; ++c) {
        int64_t bytes = 0;
        for (int64_t l = t->chunk_first[c]; l < t->chunk_first[c + 1]; ++l) {
            t->leaf_at[l] = bytes;
            bytes += ps_product_leaf_bytes(t, l);
        }
        t->chunk_bytes[c] = bytes;
        t->chunk_at[c + 1] = t->chunk_at[c] + ps_device_padded(bytes);
    }
}

/* A leaf's vectors on the side of a share's rows or columns: offset and numbers between them. */
static ps_product_item vectors_of(const ps_product_tables *t, const ps_product_share *s,
                                  int64_t chunk, bool rows)
{
    bool right = s->transposed == rows; /* V */
    int64_t parts = t->matrix->parts, length = places_of(t, s, rows);
    int64_t before = right ? s->rank * parts * places_of(t, s, !rows) : 0;
    return (ps_product_item){.offset =
                                 t->leaf_at[s->leaf] + before * ps_real_bytes(t->matrix->precision),
                             .chunk = (int32_t)chunk,
                             .count = (int32_t)s->rank,
                             .stride = (int32_t)(parts * length),
                             .part = (int32_t)length};
}

/* Items of a share, and their join. */
static void add_items(ps_product_tables *t, const ps_product_share *s, int64_t chunk,
                      int64_t numbers)
{
    ps_product_item whole = vectors_of(t, s, chunk, false);
    int64_t size = ps_real_bytes(t->matrix->precision), pieces = pieces_of(t, s),
            length = whole.part;
    int64_t from = t->place_at[side_of(s, false)][s->column_begin];
    int64_t to = pieces > 1 ? numbers + s->rank : numbers;
    if (pieces > 1)
        t->join[t->joins++] =
            (ps_product_join){(int32_t)numbers, (int32_t)to, (int32_t)s->rank, (int32_t)pieces};
    for (int64_t p = 0; p < pieces; ++p)
        for (int64_t l = 0; l < s->rank; l += PS_PRODUCT_GROUP) {
            ps_product_item item = whole;
            int64_t first = p * PS_PRODUCT_PIECE, rest = length - first, left = s->rank - l;
            item.offset += (l * item.stride + first) * size;
            item.count = (int32_t)(left < PS_PRODUCT_GROUP ? left : PS_PRODUCT_GROUP);
            item.length = (int32_t)(rest < PS_PRODUCT_PIECE ? rest : PS_PRODUCT_PIECE);
            item.from = (int32_t)(from + first);
            item.to = (int32_t)(to + p * s->rank + l);
            t->item[t->items++] = item;
        }
}

/* The visit of a share to its rows, as if they were one tile; the offset is that of the first. */
static ps_product_visit whole_visit(const ps_product_tables *t, const ps_product_share *s,
                                    int64_t chunk, int64_t numbers)
{
    int64_t parts = t->matrix->parts, length = places_of(t, s, !s->transposed);
    ps_product_visit v = {.offset = t->leaf_at[s->leaf],
                          .chunk = (int32_t)chunk,
                          .stride = (int32_t)(parts * length),
                          .part = (int32_t)length};
    if (s->rank != PS_RANK_DENSE) {
        ps_product_item own = vectors_of(t, s, chunk, true);
        return (ps_product_visit){own.offset, own.chunk,        own.count,      own.stride,
                                  own.part,   (int32_t)numbers, PS_PRODUCT_RANK};
    }
    v.kind = s->transposed ? PS_PRODUCT_TURNED : PS_PRODUCT_DENSE;
    v.count = (int32_t)(s->transposed ? length : s->column_end - s->column_begin);
    v.from = (int32_t)(s->transposed ? t->place_at[0][s->column_begin] : s->column_begin);
    return v;
}

static void add_visits(ps_product_tables *t, const ps_product_share *s, int64_t chunk,
                       int64_t numbers)
{
    int side = side_of(s, true);
    int64_t first = t->tile_at[side][s->row_begin], size = ps_real_bytes(t->matrix->precision);
    ps_product_visit whole = whole_visit(t, s, chunk, numbers);
    for (int64_t tile = first; tile < first + tiles_of(t, s); ++tile) {
        ps_product_visit v = whole;
        v.offset += v.kind == PS_PRODUCT_TURNED
                        ? size * v.stride * (t->begin[side][tile] - s->row_begin)
                        : size * (t->place[side][tile] - t->place[side][first]);
        t->visit[t->visit_first[tile]++] = v;
    }
}

static void count_visits(ps_product_tables *t)
{
    memset(t->visit_first, 0, (size_t)(t->tiles[0] + 1) * sizeof *t->visit_first);
    for (int64_t index = 0; index < 2 * t->matrix->leaf_count; ++index) {
        if (!works(t->matrix, index)) continue;
        ps_product_share s = ps_product_share_of(t->matrix, index);
        int64_t first = t->tile_at[side_of(&s, true)][s.row_begin];
        for (int64_t tile = first; tile < first + tiles_of(t, &s); ++tile)
            ++t->visit_first[tile + 1];
    }
    for (int64_t g = 0; g < t->tiles[0]; ++g) t->visit_first[g + 1] += t->visit_first[g];
}

void ps_product_tables_fill(ps_product_tables *t)
{
    const ps_hmatrix *matrix = t->matrix;
    int64_t numbers = 0;
    fill_tiles(t, 0, matrix->rows);
    if (!matrix->symmetric) fill_tiles(t, 1, matrix->columns);
    fill_leaves(t);
    count_visits(t);
    t->items = t->joins = 0;
    for (int64_t c = 0; c < t->chunks; ++c) {
        t->item_first[c] = t->items;
        t->join_first[c] = t->joins;
        for (int64_t index = 2 * t->chunk_first[c]; index < 2 * t->chunk_first[c + 1]; ++index) {
            if (!works(matrix, index)) continue;
            ps_product_share s = ps_product_share_of(matrix, index);
            if (s.rank > 0) add_items(t, &s, c, numbers);
            add_visits(t, &s, c, numbers);
            if (s.rank > 0) numbers += numbers_of(t, &s);
        }
    }
    t->item_first[t->chunks] = t->items;
    t->join_first[t->chunks] = t->joins;
    for (int64_t g = t->tiles[0]; g > 0; --g) t->visit_first[g] = t->visit_first[g - 1];
    t->visit_first[0] = 0;
}

/* ---- images ---- */

/* Copies vectors of functions [first, end) of a side into their places. */
static void spread(const ps_product_tables *t, int side, int64_t first, int64_t end, int64_t count,
                   const char *from, char *to)
{
    int64_t size = ps_real_bytes(t->matrix->precision), length = end - first;
    const int32_t *begin = t->begin[side], *place = t->place[side];
    int64_t low = t->tile_at[side][first], high = t->tile_at[side][end];
    int64_t places = place[high] - place[low];
    for (int64_t v = 0; v < count; ++v, from += length * size, to += places * size)
        for (int64_t tile = low; tile < high; ++tile) {
            int64_t have = (begin[tile + 1] - begin[tile]) * size;
            int64_t room = (place[tile + 1] - place[tile]) * size;
            char *at = to + (place[tile] - place[low]) * size;
            memcpy(at, from + (begin[tile] - first) * size, (size_t)have);
            memset(at + have, 0, (size_t)(room - have));
        }
}

static void pack_leaf(const ps_product_tables *t, const ps_hmatrix *view, int64_t leaf, char *to)
{
    const ps_hmatrix_leaf *at = &view->leaves[leaf];
    int64_t rank = view->blocks[leaf].rank, parts = view->parts,
            size = ps_real_bytes(view->precision);
    int64_t m = at->row_end - at->row_begin, n = at->column_end - at->column_begin;
    int64_t places = t->place_at[0][at->row_end] - t->place_at[0][at->row_begin];
    const char *from = view->blocks[leaf].values;
    if (rank != PS_RANK_DENSE) {
        spread(t, 0, at->row_begin, at->row_end, rank * parts, from, to);
        spread(t, 1, at->column_begin, at->column_end, rank * parts, from + rank * parts * m * size,
               to + rank * parts * places * size);
        return;
    }
    for (int64_t j = 0; j < n; ++j)
        for (int64_t part = 0; part < parts; ++part)
            spread(t, 0, at->row_begin, at->row_end, 1, from + (part * n + j) * m * size,
                   to + (j * parts + part) * places * size);
}

void ps_product_pack(const ps_product_tables *t, int64_t chunk, const ps_hmatrix *view, void *image)
{
    int64_t first = t->chunk_first[chunk], end = t->chunk_first[chunk + 1];
    for (int64_t l = first; l < end; ++l)
        if (view->blocks[l - first].rank != 0)
            pack_leaf(t, view, l - first, (char *)image + t->leaf_at[l]);
}

/* ---- vectors ---- */

int64_t ps_product_device_attach(ps_product_device *d, int64_t sides, void *memory)
{
    const ps_product_tables *t = &d->tables;
    int64_t parts = t->matrix->parts, used = 0;
    int64_t group = sides < PS_PRODUCT_DEVICE_SIDES ? sides : PS_PRODUCT_DEVICE_SIDES;
    const int64_t bytes[] = {8 * t->chunks,
                             8 * sides * parts * t->matrix->columns,
                             8 * sides * parts * t->matrix->rows,
                             8 * sides * parts * t->places[1],
                             8 * PS_PRODUCT_SLOTS * sides * parts * t->places[0],
                             8 * group * parts * t->numbers};
    void **const to[] = {(void **)&d->bases,  (void **)&d->x,    (void **)&d->y,
                         (void **)&d->padded, (void **)&d->sums, (void **)&d->t};
    for (int i = 0; i < 6; ++i) {
        *to[i] = memory ? (char *)memory + used : NULL;
        used += ps_round_up(bytes[i], ALIGN);
    }
    return used;
}

void ps_product_device_tables(ps_product_device *d, const ps_product_tables *host, void *memory)
{
    d->tables = *host;
    ps_product_tables_attach(&d->tables, memory);
    d->tables.item_first = host->item_first;
    d->tables.join_first = host->join_first;
    d->tables.leaf_at = host->leaf_at;
    d->tables.chunk_bytes = host->chunk_bytes;
}
