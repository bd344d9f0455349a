#include "formats/block_matrix.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "formats/tile_set.h"
#include "runtime/memory.h"

enum { EXTRAS = 12, ROUNDING_EXTRAS = 3 };
static const char *const extra_names[EXTRAS] = {"first_row", "rows",  "first_slice", "slices",
                                                "blocks",    "nnz",   "fill",        "d_max",
                                                "k_min",     "k_max", "score",       "filled"};
static const char *const rounding_names[ROUNDING_EXTRAS] = {"error_max", "error_rms", "square_sum"};

struct ps_block_matrix {
    ps_store *store;
    ps_tile_set set; /* in the order of `datasets`; the last are the values */
    ps_block_header header;
    ps_block_tile *tiles; /* [set.tiles] without data pointers */
    void **images;        /* [set.tiles] of a matrix in memory, which has no store; else NULL */
    ps_csr m0;            /* of a matrix in memory */
    bool *written;        /* [set.tiles] while writing */
    pthread_mutex_t lock; /* guards written and tiles while writing */
};

static const char *name_of(const ps_block_matrix *m)
{
    return m->store ? ps_store_path(m->store) : "the matrix in memory";
}

static ps_status fault(const ps_block_matrix *m, int64_t tile, ps_status status)
{
    return status == PS_OK ? PS_OK
                           : ps_context(status, "%s: tile %lld", name_of(m), (long long)tile);
}

static ps_status derive(ps_block_matrix *m)
{
    PS_TRY_IN(ps_block_header_derive(m->tiles, m->set.tiles, &m->header), "%s", name_of(m));
    return PS_OK;
}

/* ---- the arrays of a tile as datasets ---- */

/* One dataset: its place in ps_block_tile, and how many items a tile of given sizes has. */
typedef struct array {
    const char *name;
    ps_type type;
    size_t member; /* offset of the pointer */
    int64_t (*items)(const ps_block_tile *tile);
    const char *description;
} array;

static int64_t slice_ends(const ps_block_tile *tile) { return tile->slices + 1; }
static int64_t blocks(const ps_block_tile *tile) { return tile->block_count; }
static int64_t rows_of_slices(const ps_block_tile *tile) { return tile->slices * tile->rows; }
static int64_t warps(const ps_block_tile *tile) { return ps_block_tile_warps(tile) * tile->slices; }
static int64_t lanes(const ps_block_tile *tile) { return warps(tile) * PS_WARP_ROWS; }
static int64_t values(const ps_block_tile *tile) { return tile->value_count; }

enum { ARRAYS_MAX = 4, HALVES = 3 }; /* the last kind: warps of halves */
static const array arrays[4][ARRAYS_MAX] = {
    [PS_BLOCK_FULL] = {{"/block_start", PS_U32, offsetof(ps_block_tile, block_start), slice_ends,
                        "first block of every slice of a tile"},
                       {"/corner_rows", PS_U32, offsetof(ps_block_tile, corner_rows), blocks,
                        "first row of every block, within its tile"},
                       {"/corner_columns", PS_U16, offsetof(ps_block_tile, corner_columns), blocks,
                        "k of the first column of every block"},
                       {"/values", PS_F32, offsetof(ps_block_tile, values), values,
                        "blocks, column by column"}},
    [PS_BLOCK_CONTIGUOUS] = {{"/starts", PS_U16, offsetof(ps_block_tile, starts), rows_of_slices,
                              "first k of every row-vector of a tile"},
                             {"/values", PS_F32, offsetof(ps_block_tile, values), values,
                              "blocks, column by column"}},
    [PS_BLOCK_WARP] = {{"/starts", PS_U16, offsetof(ps_block_tile, starts), lanes,
                        "first k of every lane of every warp and slice"},
                       {"/widths", PS_U16, offsetof(ps_block_tile, widths), warps,
                        "columns of every warp and slice"},
                       {"/values", PS_F32, offsetof(ps_block_tile, values), values,
                        "warps, column by column"}},
    [HALVES] = {{"/starts", PS_U16, offsetof(ps_block_tile, starts), lanes,
                 "first k of every lane of every warp and slice"},
                {"/widths", PS_U16, offsetof(ps_block_tile, widths), warps,
                 "columns of every warp and slice"},
                {"/scales", PS_U8, offsetof(ps_block_tile, scales), lanes,
                 "s of every lane of every warp and slice: values are half x 2^(s - 127)"},
                {"/values", PS_U16, offsetof(ps_block_tile, values), values,
                 "warps, column by column, as the bits of IEEE halves"}},
};

static const array *array_of(const ps_block_matrix *m, int d)
{
    return &arrays[m->header.half ? HALVES : (int)m->header.layout][d];
}
static bool has_array(const ps_block_matrix *m, int d)
{
    return d < ARRAYS_MAX && array_of(m, d)->name;
}
static bool is_values(const array *a) { return a->items == values; }
static bool is_scales(const array *a) { return a->member == offsetof(ps_block_tile, scales); }

static ps_type type_of(const ps_block_matrix *m, const array *a)
{
    return a->type == PS_F32 && m->header.slices.precision == PS_DOUBLE ? PS_F64 : a->type;
}

static void *const *member_of(const ps_block_tile *tile, const array *a)
{
    return (void *const *)((const char *)tile + a->member);
}

/* ---- writing ---- */

static ps_status define_arrays(ps_block_matrix *m, const ps_block_tiling *tiling)
{
    const ps_block_tile largest = {.rows = tiling->tile_rows,
                                   .slices = tiling->tile_slices,
                                   .block_count = tiling->block_capacity,
                                   .value_count = tiling->value_capacity};
    for (int d = 0; has_array(m, d); ++d) {
        const array *a = array_of(m, d);
        ps_dataset_spec spec = {
            .name = a->name, .type = type_of(m, a), .units = "1", .description = a->description};
        if (is_values(a)) {
            spec.units = m->header.half ? "1" : "m^3 or m s";
            spec.plain = tiling->plain;
            spec.extra_count = EXTRAS;
            memcpy(spec.extras, extra_names, sizeof extra_names);
        } else if (is_scales(a)) {
            spec.extra_count = ROUNDING_EXTRAS;
            memcpy(spec.extras, rounding_names, sizeof rounding_names);
        }
        PS_TRY(ps_tile_set_define(&m->set, &spec, a->items(&largest)));
    }
    return PS_OK;
}

static ps_status create(const char *path, const ps_store_identity *identity,
                        const ps_block_tiling *tiling, ps_block_matrix *m)
{
    PS_TRY(ps_store_create_as(path, identity, PS_BLOCK_MATRIX_FORMAT, PS_BLOCK_MATRIX_VERSION,
                              &m->store));
    m->set.store = m->store;
    return define_arrays(m, tiling);
}

static ps_status begin(const ps_block_tiling *tiling, const ps_block_header *header,
                       ps_block_matrix **out)
{
    ps_block_matrix *m;
    PS_TRY(PS_ALLOC(out, 1, "block matrix"));
    m = *out;
    pthread_mutex_init(&m->lock, NULL);
    m->header = *header;
    m->header.slices.unknowns = tiling->unknowns;
    m->set.tiles = tiling->tile_count;
    PS_TRY(ps_block_header_check(&m->header));
    PS_TRY(PS_ALLOC(&m->tiles, m->set.tiles, "table of tiles"));
    return PS_ALLOC(&m->written, m->set.tiles, "table of tiles");
}

ps_status ps_block_matrix_create(const char *path, const ps_store_identity *identity,
                                 const ps_block_tiling *tiling, const ps_block_header *header,
                                 ps_block_matrix **out)
{
    *out = NULL;
    ps_status status = begin(tiling, header, out);
    if (status == PS_OK) status = create(path, identity, tiling, *out);
    if (status != PS_OK) ps_block_matrix_close(out);
    return status;
}

ps_status ps_block_matrix_create_in_memory(const ps_block_tiling *tiling,
                                           const ps_block_header *header, ps_block_matrix **out)
{
    *out = NULL;
    ps_status status = begin(tiling, header, out);
    if (status == PS_OK) status = PS_ALLOC(&(*out)->images, (*out)->set.tiles, "tiles in memory");
    if (status != PS_OK) ps_block_matrix_close(out);
    return status;
}

static ps_status record_tile(ps_block_matrix *m, int64_t index, const ps_block_tile *tile)
{
    pthread_mutex_lock(&m->lock);
    bool before = m->written[index];
    m->written[index] = true;
    if (!before) m->tiles[index] = *tile;
    pthread_mutex_unlock(&m->lock);
    return before ? ps_fail(PS_USAGE, "it was written before") : PS_OK;
}

static ps_status write_tile(ps_block_matrix *m, int64_t index, const ps_block_tile *tile)
{
    PS_TRY(ps_tile_set_check_index(&m->set, index));
    PS_TRY(ps_block_tile_check(&m->header, tile));
    PS_TRY(record_tile(m, index, tile));
    double extras[EXTRAS] = {(double)tile->first_row,
                             (double)tile->rows,
                             (double)tile->first_slice,
                             (double)tile->slices,
                             (double)tile->block_count,
                             (double)tile->nnz,
                             ps_block_fill((double)tile->nnz, (double)tile->value_count),
                             tile->d_max,
                             tile->k_min,
                             tile->k_max,
                             tile->score,
                             tile->filled};
    const double rounding[ROUNDING_EXTRAS] = {tile->error_max, tile->error_rms, tile->square_sum};
    for (int d = 0; has_array(m, d); ++d) {
        const array *a = array_of(m, d);
        if (a->items(tile) > m->set.capacity[d])
            return ps_fail(PS_EXHAUSTED, "%lld items exceed the capacity of %s, %lld a tile",
                           (long long)a->items(tile), a->name, (long long)m->set.capacity[d]);
        PS_TRY(ps_store_write_chunk(m->store, m->set.ids[d], index, *member_of(tile, a),
                                    a->items(tile),
                                    is_values(a)   ? extras
                                    : is_scales(a) ? rounding
                                                   : NULL));
    }
    return PS_OK;
}

static ps_status keep_tile(ps_block_matrix *m, int64_t index, const ps_block_tile *tile,
                           void *image)
{
    PS_TRY(ps_tile_set_check_index(&m->set, index));
    if (image) PS_TRY(ps_block_tile_check(&m->header, tile));
    PS_TRY(record_tile(m, index, tile));
    m->images[index] = image;
    return PS_OK;
}

ps_status ps_block_matrix_keep_tile(ps_block_matrix *matrix, int64_t index,
                                    const ps_block_tile *tile, void *image)
{
    ps_status status = keep_tile(matrix, index, tile, image);
    if (status != PS_OK) free(image);
    return fault(matrix, index, status);
}

ps_status ps_block_matrix_write_tile(ps_block_matrix *matrix, int64_t index,
                                     const ps_block_tile *tile)
{
    return fault(matrix, index, write_tile(matrix, index, tile));
}

static ps_status put_m0(ps_block_matrix *m, const ps_csr *m0)
{
    const char *path = ps_store_path(m->store);
    if ((m0 == NULL) != (m->header.k_from > 0))
        return ps_fail(PS_USAGE, "%s: M^0 belongs to lags from 0 on, and only there", path);
    if (!m0) return PS_OK;
    if (m0->rows != m->header.slices.unknowns)
        return ps_fail(PS_USAGE, "%s: M^0 has %lld rows, %lld expected", path, (long long)m0->rows,
                       (long long)m->header.slices.unknowns);
    return ps_csr_write(m->store, "/m0", "m^3 or m s", m0);
}

/* The header from the tiles, all of which are there. */
static ps_status finish_header(ps_block_matrix *m, ps_block_header *header)
{
    for (int64_t t = 0; t < m->set.tiles; ++t)
        if (!m->written[t])
            return ps_fail(PS_FAILED, "%s: tile %lld of %lld was never written", name_of(m),
                           (long long)t, (long long)m->set.tiles);
    header->slices.precision = m->header.slices.precision;
    header->slices.unknowns = m->header.slices.unknowns;
    m->header.slices = header->slices;
    PS_TRY(derive(m));
    *header = m->header;
    return PS_OK;
}

static ps_status finish(ps_block_matrix *m, const ps_csr *m0, ps_block_header *header)
{
    PS_TRY(finish_header(m, header));
    PS_TRY(put_m0(m, m0));
    PS_TRY(ps_block_header_put(m->store, header));
    return ps_store_commit(&m->store);
}

ps_status ps_block_matrix_complete(ps_block_matrix *matrix, ps_csr *m0, ps_block_header *header)
{
    matrix->m0 = *m0;
    *m0 = (ps_csr){0};
    return finish_header(matrix, header);
}

ps_status ps_block_matrix_commit(ps_block_matrix **matrix, const ps_csr *m0,
                                 ps_block_header *header)
{
    ps_status status = finish(*matrix, m0, header);
    ps_block_matrix_close(matrix);
    return status;
}

void ps_block_matrix_close(ps_block_matrix **matrix)
{
    ps_block_matrix *m = *matrix;
    *matrix = NULL;
    if (!m) return;
    ps_store_close(&m->store);
    pthread_mutex_destroy(&m->lock);
    for (int64_t t = 0; m->images && t < m->set.tiles; ++t) free(m->images[t]);
    free(m->images);
    ps_csr_release(&m->m0);
    PS_FREE(m->tiles, m->written, m);
}

/* ---- reading ---- */

static ps_status check_counts(const ps_block_matrix *m, int64_t index, const ps_block_tile *tile)
{
    for (int d = 0; has_array(m, d); ++d) {
        const array *a = array_of(m, d);
        int64_t count = ps_tile_set_items(&m->set, d, index), due = a->items(tile);
        if (count != due || count > m->set.capacity[d])
            return ps_fail(PS_INVALID, "%s holds %lld items, where the tile's sizes ask for %lld",
                           a->name, (long long)count, (long long)due);
    }
    return PS_OK;
}

static ps_status tile_from_table(const ps_block_matrix *m, int64_t index, ps_block_tile *tile)
{
    ps_chunk_info info;
    PS_TRY(ps_store_chunk(m->store, m->set.ids[m->set.count - 1], index, &info));
    const double *x = info.extras, n = (double)m->header.slices.unknowns;
    bool good = x[6] >= 0 && x[6] <= 100 && isfinite(x[10]);
    for (int i = 0; i < 4; ++i) good = good && ps_whole_number(x[i], i % 2 ? 1 : 0, n);
    good = good && ps_whole_number(x[4], 0, UINT32_MAX) &&
           ps_whole_number(x[5], 0, (double)info.count) && ps_whole_number(x[11], 0, x[1] * x[3]);
    for (int i = 7; i < 10; ++i) good = good && ps_whole_number(x[i], 0, PS_K_LIMIT);
    if (!good) return ps_fail(PS_INVALID, "the chunk table of /values holds impossible figures");
    *tile = (ps_block_tile){.first_row = (int64_t)x[0],
                            .rows = (int64_t)x[1],
                            .first_slice = (int64_t)x[2],
                            .slices = (int64_t)x[3],
                            .block_count = (int64_t)x[4],
                            .nnz = (int64_t)x[5],
                            .value_count = info.count,
                            .d_max = x[7],
                            .k_min = x[8],
                            .k_max = x[9],
                            .score = x[10],
                            .filled = x[11]};
    if (m->header.layout != PS_BLOCK_WARP && tile->d_max > (double)m->header.block_columns)
        return ps_fail(PS_INVALID, "row-vectors of %g values in blocks of %lld columns",
                       tile->d_max, (long long)m->header.block_columns);
    return check_counts(m, index, tile);
}

/* The columns of the chunk table of /scales. */
static ps_status rounding_from_table(const ps_block_matrix *m, int64_t index, ps_block_tile *tile)
{
    ps_chunk_info info;
    PS_TRY(ps_store_chunk(m->store, m->set.ids[m->set.count - 2], index, &info));
    const double *x = info.extras;
    for (int i = 0; i < ROUNDING_EXTRAS; ++i)
        if (!(x[i] >= 0 && isfinite(x[i])))
            return ps_fail(PS_INVALID, "the chunk table of /scales holds impossible figures");
    tile->error_max = x[0];
    tile->error_rms = x[1];
    tile->square_sum = x[2];
    return PS_OK;
}

static ps_status get_tile(ps_block_matrix *m, int64_t index)
{
    ps_block_tile *tile = &m->tiles[index];
    PS_TRY(tile_from_table(m, index, tile));
    return m->header.half ? rounding_from_table(m, index, tile) : PS_OK;
}

static ps_status open_tiles(ps_block_matrix *m)
{
    PS_TRY(ps_block_header_get(m->store, &m->header));
    m->set.store = m->store;
    for (int d = 0; has_array(m, d); ++d)
        PS_TRY(ps_tile_set_find(&m->set, array_of(m, d)->name, type_of(m, array_of(m, d))));
    PS_TRY(ps_tile_set_check_extras(&m->set, m->set.count - 1, extra_names, EXTRAS));
    if (m->header.half)
        PS_TRY(
            ps_tile_set_check_extras(&m->set, m->set.count - 2, rounding_names, ROUNDING_EXTRAS));
    PS_TRY(PS_ALLOC(&m->tiles, m->set.tiles, "table of tiles"));
    for (int64_t t = 0; t < m->set.tiles; ++t) PS_TRY(fault(m, t, get_tile(m, t)));
    return derive(m);
}

ps_status ps_block_matrix_open(const char *path, ps_block_matrix **out)
{
    *out = NULL;
    ps_block_matrix *m;
    PS_TRY(PS_ALLOC(&m, 1, "block matrix"));
    pthread_mutex_init(&m->lock, NULL);
    ps_status status =
        ps_store_open(path, PS_BLOCK_MATRIX_FORMAT, PS_BLOCK_MATRIX_VERSION, &m->store);
    if (status == PS_OK) status = open_tiles(m);
    if (status != PS_OK) ps_block_matrix_close(&m);
    *out = m;
    return status;
}

ps_store *ps_block_matrix_store(ps_block_matrix *matrix) { return matrix->store; }

const ps_block_header *ps_block_matrix_header(const ps_block_matrix *matrix)
{
    return &matrix->header;
}

int64_t ps_block_matrix_tile_count(const ps_block_matrix *matrix) { return matrix->set.tiles; }

ps_status ps_block_matrix_tile_info(const ps_block_matrix *matrix, int64_t index,
                                    ps_block_tile *out)
{
    PS_TRY(ps_tile_set_check_index(&matrix->set, index));
    *out = matrix->tiles[index];
    return PS_OK;
}

void ps_block_matrix_tile_bytes(const ps_block_matrix *matrix, int64_t index, int64_t *raw,
                                int64_t *unpacked)
{
    ps_tile_set_bytes(&matrix->set, index, raw, unpacked);
    if (!matrix->images) return;
    ps_block_tile tile = matrix->tiles[index];
    *unpacked = ps_block_tile_place(&matrix->header, &tile, NULL);
}

bool ps_block_matrix_keeps(const ps_block_matrix *matrix) { return matrix->images != NULL; }

const void *ps_block_matrix_image(const ps_block_matrix *matrix, int64_t index)
{
    return matrix->images ? matrix->images[index] : NULL;
}

void ps_block_matrix_forget_image(ps_block_matrix *matrix, int64_t index)
{
    if (!matrix->images) return;
    free(matrix->images[index]);
    matrix->images[index] = NULL;
}

ps_status ps_block_matrix_read_raw(ps_block_matrix *matrix, int64_t index, void *raw)
{
    return matrix->images ? PS_OK : ps_tile_set_read(&matrix->set, index, raw);
}

ps_status ps_block_matrix_view(const ps_block_matrix *matrix, int64_t index, const void *unpacked,
                               ps_block_tile *tile)
{
    PS_TRY(ps_block_matrix_tile_info(matrix, index, tile));
    if (matrix->images) ps_block_tile_place(&matrix->header, tile, (void *)unpacked);
    for (int d = 0; !matrix->images && has_array(matrix, d); ++d)
        *(void **)((char *)tile + array_of(matrix, d)->member) =
            ps_tile_set_data(&matrix->set, index, d, unpacked);
    return PS_OK;
}

static ps_status copy_image(const ps_block_matrix *m, int64_t index, void *unpacked,
                            ps_block_tile *tile)
{
    int64_t raw, bytes;
    ps_block_tile own;
    ps_block_matrix_tile_bytes(m, index, &raw, &bytes);
    memcpy(unpacked, m->images[index], (size_t)bytes);
    return ps_block_matrix_view(m, index, unpacked, tile ? tile : &own);
}

ps_status ps_block_matrix_unpack(ps_block_matrix *matrix, int64_t index, const void *raw,
                                 void *unpacked, ps_block_tile *tile)
{
    ps_block_tile own;
    if (matrix->images) return copy_image(matrix, index, unpacked, tile);
    PS_TRY(ps_tile_set_decode(&matrix->set, index, raw, unpacked));
    PS_TRY(ps_block_matrix_view(matrix, index, unpacked, &own));
    PS_TRY(fault(matrix, index, ps_block_tile_check(&matrix->header, &own)));
    if (tile) *tile = own;
    return PS_OK;
}

ps_status ps_block_matrix_load_m0(ps_block_matrix *matrix, ps_csr *out)
{
    int64_t n = matrix->header.slices.unknowns, from = matrix->header.k_from;
    if (from > 0)
        return ps_fail(PS_INVALID, "%s: holds the lags from %lld on alone, without M^0",
                       name_of(matrix), (long long)from);
    if (!matrix->images) return ps_csr_read(matrix->store, "/m0", n, n, out);
    *out = matrix->m0;
    matrix->m0 = (ps_csr){0};
    return PS_OK;
}
