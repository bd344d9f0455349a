#include "formats/slice_matrix.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "formats/tile_set.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

enum { STARTS, LENGTHS, VALUES, DATASETS };
enum { VERSION = PS_SLICE_MATRIX_VERSION, EXTRAS = 9 };
static const char format_name[] = PS_SLICE_MATRIX_FORMAT;
static const char *const extra_names[EXTRAS] = {
    "first_row", "rows", "first_slice", "slices", "d_max", "k_min", "k_max", "score", "filled"};

struct ps_slice_matrix {
    ps_store *store;
    ps_tile_set set;
    ps_slice_header header;
    ps_slice_tile *tiles; /* [set.tiles] without data pointers */
    /* Writing only: */
    ps_slice_tiling tiling;
    bool *written; /* [set.tiles] */
    int histogram_id;
    int64_t histogram[PS_LENGTH_BINS];
    pthread_mutex_t lock; /* guards written, tiles, histogram */
};

/* ---- writing ---- */

static ps_status define_tiles(ps_slice_matrix *m, ps_precision precision, int keep_bits)
{
    int64_t vectors = m->tiling.tile_rows * ps_smaller(m->tiling.tile_slices, m->tiling.unknowns);
    ps_dataset_spec starts = {.name = "/starts",
                              .type = PS_U16,
                              .units = "1",
                              .description = "first k of every row-vector of a tile"};
    ps_dataset_spec lengths = {.name = "/lengths",
                               .type = PS_U16,
                               .units = "1",
                               .description = "length of every row-vector of a tile"};
    ps_dataset_spec values = {.name = "/values",
                              .type = precision == PS_SINGLE ? PS_F32 : PS_F64,
                              .units = "m^3 or m s",
                              .description = "row-vectors of a tile, slice by slice, k ascending",
                              .keep_bits = keep_bits,
                              .extra_count = EXTRAS};
    memcpy(values.extras, extra_names, sizeof extra_names);
    PS_TRY(ps_tile_set_define(&m->set, &starts, vectors));
    PS_TRY(ps_tile_set_define(&m->set, &lengths, vectors));
    PS_TRY(ps_tile_set_define(&m->set, &values, m->tiling.value_capacity));
    ps_dataset_spec histogram = {.name = "/length_histogram",
                                 .type = PS_I64,
                                 .rank = 2,
                                 .dims = {1, PS_LENGTH_BINS},
                                 .chunk_rows = 1,
                                 .units = "1",
                                 .description = "number of row-vectors by length"};
    return ps_store_define(m->store, &histogram, &m->histogram_id);
}

static ps_status create(const char *path, const ps_store_identity *identity, ps_precision precision,
                        int keep_bits, ps_slice_matrix *m)
{
    PS_TRY(PS_ALLOC(&m->tiles, m->set.tiles, "table of tiles"));
    PS_TRY(PS_ALLOC(&m->written, m->set.tiles, "table of tiles"));
    PS_TRY(ps_store_create_as(path, identity, format_name, VERSION, &m->store));
    m->set.store = m->store;
    return define_tiles(m, precision, keep_bits);
}

ps_status ps_slice_matrix_create(const char *path, const ps_store_identity *identity,
                                 const ps_slice_tiling *tiling, ps_precision precision,
                                 int keep_bits, ps_slice_matrix **out)
{
    *out = NULL;
    PS_TRY(ps_slice_tiling_check(tiling));
    ps_slice_matrix *m;
    PS_TRY(PS_ALLOC(&m, 1, "slice matrix"));
    pthread_mutex_init(&m->lock, NULL);
    m->tiling = *tiling;
    m->header.precision = precision;
    m->set.tiles = ps_slice_tiling_count(tiling);
    ps_status status = create(path, identity, precision, keep_bits, m);
    if (status != PS_OK) ps_slice_matrix_close(&m);
    *out = m;
    return status;
}

static ps_status check_place(const ps_slice_matrix *m, int64_t index, const ps_slice_tile *tile)
{
    PS_TRY(ps_tile_set_check_index(&m->set, index));
    ps_slice_tile due = {0};
    ps_slice_tiling_range(&m->tiling, index, &due);
    if (tile->first_row != due.first_row || tile->rows != due.rows ||
        tile->first_slice != due.first_slice || tile->slices != due.slices)
        return ps_fail(PS_USAGE, "rows %lld +%lld, slices %lld +%lld are not its place",
                       (long long)tile->first_row, (long long)tile->rows,
                       (long long)tile->first_slice, (long long)tile->slices);
    if (tile->value_count > m->tiling.value_capacity)
        return ps_fail(PS_EXHAUSTED, "%lld values exceed the capacity of %lld values a tile",
                       (long long)tile->value_count, (long long)m->tiling.value_capacity);
    return PS_OK;
}

static ps_status record_tile(ps_slice_matrix *m, int64_t index, const ps_slice_tile *tile,
                             const int64_t *histogram)
{
    pthread_mutex_lock(&m->lock);
    bool before = m->written[index];
    if (!before) {
        m->written[index] = true;
        m->tiles[index] = *tile;
        m->tiles[index].starts = m->tiles[index].lengths = m->tiles[index].values = NULL;
        for (int b = 0; b < PS_LENGTH_BINS; ++b) m->histogram[b] += histogram[b];
    }
    pthread_mutex_unlock(&m->lock);
    return before ? ps_fail(PS_USAGE, "it was written before") : PS_OK;
}

static ps_status write_tile(ps_slice_matrix *m, int64_t index, ps_slice_tile *tile)
{
    int64_t histogram[PS_LENGTH_BINS] = {0}, vectors = tile->rows * tile->slices;
    PS_TRY(check_place(m, index, tile));
    ps_slice_tile_fill_starts(tile);
    PS_TRY(ps_slice_tile_measure(tile, PS_K_LIMIT, histogram));
    PS_TRY(record_tile(m, index, tile, histogram));
    double extras[EXTRAS] = {(double)tile->first_row,
                             (double)tile->rows,
                             (double)tile->first_slice,
                             (double)tile->slices,
                             tile->d_max,
                             tile->k_min,
                             tile->k_max,
                             tile->score,
                             tile->filled};
    const int *ids = m->set.ids;
    PS_TRY(ps_store_write_chunk(m->store, ids[STARTS], index, tile->starts, vectors, NULL));
    PS_TRY(ps_store_write_chunk(m->store, ids[LENGTHS], index, tile->lengths, vectors, NULL));
    return ps_store_write_chunk(m->store, ids[VALUES], index, tile->values, tile->value_count,
                                extras);
}

ps_status ps_slice_matrix_write_tile(ps_slice_matrix *matrix, int64_t index, ps_slice_tile *tile)
{
    return ps_tile_set_fault(&matrix->set, index, write_tile(matrix, index, tile));
}

static ps_status finish(ps_slice_matrix *m, const ps_csr *m0, ps_slice_header *header)
{
    const char *path = ps_store_path(m->store);
    for (int64_t t = 0; t < m->set.tiles; ++t)
        if (!m->written[t])
            return ps_fail(PS_FAILED, "%s: tile %lld of %lld was never written", path, (long long)t,
                           (long long)m->set.tiles);
    int64_t owned = m->tiling.end_slice - m->tiling.first_slice;
    if (m0->rows != owned)
        return ps_fail(PS_USAGE, "%s: M^0 has %lld rows where this part owns %lld", path,
                       (long long)m0->rows, (long long)owned);
    header->precision = m->header.precision;
    header->unknowns = m->tiling.unknowns;
    ps_slice_header_derive(m->tiles, m->set.tiles, header);
    PS_TRY(ps_csr_check(m0, header->unknowns));
    PS_TRY(ps_csr_write(m->store, "/m0", "m^3 or m s", m0));
    PS_TRY(ps_store_write_chunk(m->store, m->histogram_id, 0, m->histogram, PS_LENGTH_BINS, NULL));
    return ps_slice_header_put(m->store, header);
}

ps_status ps_slice_matrix_commit(ps_slice_matrix **matrix, const ps_csr *m0,
                                 ps_slice_header *header)
{
    ps_status status = finish(*matrix, m0, header);
    if (status == PS_OK) status = ps_store_commit(&(*matrix)->store);
    ps_slice_matrix_close(matrix);
    return status;
}

void ps_slice_matrix_close(ps_slice_matrix **matrix)
{
    ps_slice_matrix *m = *matrix;
    *matrix = NULL;
    if (!m) return;
    ps_store_close(&m->store);
    pthread_mutex_destroy(&m->lock);
    PS_FREE(m->tiles, m->written, m);
}

/* ---- reading ---- */

/* A tile from its row of the chunk table. */
static ps_status tile_from_table(const ps_slice_matrix *m, int64_t index, ps_slice_tile *tile)
{
    const ps_tile_set *set = &m->set;
    ps_chunk_info info;
    PS_TRY(ps_store_chunk(m->store, set->ids[VALUES], index, &info));
    const double *x = info.extras, n = (double)m->header.unknowns;
    bool good = true;
    for (int i = 0; i < 4; ++i) good = good && ps_whole_number(x[i], i % 2 ? 1 : 0, n);
    for (int i = 4; i < 7; ++i) good = good && ps_whole_number(x[i], 0, PS_K_LIMIT);
    good = good && isfinite(x[7]) && ps_whole_number(x[8], 0, x[1] * x[3]);
    if (!good) return ps_fail(PS_INVALID, "the chunk table of /values holds impossible figures");
    *tile = (ps_slice_tile){.first_row = (int64_t)x[0],
                            .rows = (int64_t)x[1],
                            .first_slice = (int64_t)x[2],
                            .slices = (int64_t)x[3],
                            .value_count = info.count,
                            .d_max = x[4],
                            .k_min = x[5],
                            .k_max = x[6],
                            .score = x[7],
                            .filled = x[8]};
    int64_t vectors = tile->rows * tile->slices;
    if (ps_tile_set_items(set, STARTS, index) != vectors ||
        ps_tile_set_items(set, LENGTHS, index) != vectors || vectors > set->capacity[STARTS] ||
        vectors > set->capacity[LENGTHS] || info.count < 0 || info.count > set->capacity[VALUES] ||
        info.count > UINT32_MAX)
        return ps_fail(PS_INVALID,
                       "%lld rows x %lld slices do not fit the %lld starts, %lld lengths and %lld "
                       "values that are there",
                       (long long)tile->rows, (long long)tile->slices,
                       (long long)ps_tile_set_items(set, STARTS, index),
                       (long long)ps_tile_set_items(set, LENGTHS, index), (long long)info.count);
    return PS_OK;
}

static ps_status open_tiles(ps_slice_matrix *m)
{
    PS_TRY(ps_slice_header_get(m->store, &m->header));
    m->set.store = m->store;
    PS_TRY(ps_tile_set_find(&m->set, "/starts", PS_U16));
    PS_TRY(ps_tile_set_find(&m->set, "/lengths", PS_U16));
    PS_TRY(
        ps_tile_set_find(&m->set, "/values", m->header.precision == PS_SINGLE ? PS_F32 : PS_F64));
    PS_TRY(ps_tile_set_check_extras(&m->set, VALUES, extra_names, EXTRAS));
    PS_TRY(PS_ALLOC(&m->tiles, m->set.tiles, "table of tiles"));
    for (int64_t t = 0; t < m->set.tiles; ++t)
        PS_TRY(ps_tile_set_fault(&m->set, t, tile_from_table(m, t, &m->tiles[t])));
    PS_TRY_IN(ps_slice_tiles_cover(m->tiles, m->set.tiles, m->header.unknowns), "%s",
              ps_store_path(m->store));
    ps_slice_header_derive(m->tiles, m->set.tiles, &m->header);
    return PS_OK;
}

ps_status ps_slice_matrix_open(const char *path, ps_slice_matrix **out)
{
    *out = NULL;
    ps_slice_matrix *m;
    PS_TRY(PS_ALLOC(&m, 1, "slice matrix"));
    pthread_mutex_init(&m->lock, NULL);
    ps_status status = ps_store_open(path, format_name, VERSION, &m->store);
    if (status == PS_OK) status = open_tiles(m);
    if (status != PS_OK) ps_slice_matrix_close(&m);
    *out = m;
    return status;
}

ps_store *ps_slice_matrix_store(ps_slice_matrix *matrix) { return matrix->store; }

const ps_slice_header *ps_slice_matrix_header(const ps_slice_matrix *matrix)
{
    return &matrix->header;
}

int64_t ps_slice_matrix_tile_count(const ps_slice_matrix *matrix) { return matrix->set.tiles; }

ps_status ps_slice_matrix_tile_info(const ps_slice_matrix *matrix, int64_t index,
                                    ps_slice_tile *out)
{
    PS_TRY(ps_tile_set_check_index(&matrix->set, index));
    *out = matrix->tiles[index];
    return PS_OK;
}

/* Unpacked tiles end with the offset table. */
void ps_slice_matrix_tile_bytes(const ps_slice_matrix *matrix, int64_t index, int64_t *raw,
                                int64_t *unpacked)
{
    const ps_slice_tile *tile = &matrix->tiles[index];
    ps_tile_set_bytes(&matrix->set, index, raw, unpacked);
    *unpacked += (ps_slice_tile_row_blocks(tile) * tile->slices * 4 + 63) / 64 * 64;
}

ps_status ps_slice_matrix_read_raw(ps_slice_matrix *matrix, int64_t index, void *raw)
{
    return ps_tile_set_read(&matrix->set, index, raw);
}

ps_status ps_slice_matrix_view(const ps_slice_matrix *matrix, int64_t index, const void *unpacked,
                               ps_slice_tile *tile)
{
    PS_TRY(ps_slice_matrix_tile_info(matrix, index, tile));
    tile->starts = ps_tile_set_data(&matrix->set, index, STARTS, unpacked);
    tile->lengths = ps_tile_set_data(&matrix->set, index, LENGTHS, unpacked);
    tile->values = ps_tile_set_data(&matrix->set, index, VALUES, unpacked);
    tile->offsets = ps_tile_set_data(&matrix->set, index, DATASETS, unpacked);
    return PS_OK;
}

static ps_status index_tile(const ps_slice_matrix *m, int64_t index, const ps_slice_tile *tile)
{
    int64_t k_limit = tile->k_max > 0 ? (int64_t)tile->k_max : m->header.k_max;
    return ps_tile_set_fault(&m->set, index,
                             ps_slice_tile_index(tile, k_limit > 0 ? k_limit : 1,
                                                 (int64_t)tile->d_max, (uint32_t *)tile->offsets));
}

ps_status ps_slice_matrix_unpack(ps_slice_matrix *matrix, int64_t index, const void *raw,
                                 void *unpacked, ps_slice_tile *tile)
{
    ps_slice_tile own;
    PS_TRY(ps_tile_set_decode(&matrix->set, index, raw, unpacked));
    PS_TRY(ps_slice_matrix_view(matrix, index, unpacked, &own));
    PS_TRY(index_tile(matrix, index, &own));
    if (tile) *tile = own;
    return PS_OK;
}

ps_status ps_slice_matrix_read_structure(ps_slice_matrix *matrix, int64_t index, void *unpacked,
                                         ps_slice_tile *tile)
{
    const int *ids = matrix->set.ids;
    PS_TRY(ps_slice_matrix_view(matrix, index, unpacked, tile));
    int64_t vectors = tile->rows * tile->slices;
    PS_TRY(ps_store_read_values(matrix->store, ids[STARTS], index, PS_ROOM(tile->starts, vectors),
                                tile->starts));
    PS_TRY(ps_store_read_values(matrix->store, ids[LENGTHS], index, PS_ROOM(tile->lengths, vectors),
                                tile->lengths));
    PS_TRY(index_tile(matrix, index, tile));
    tile->values = NULL;
    return PS_OK;
}

ps_status ps_slice_matrix_load_m0(ps_slice_matrix *matrix, ps_csr *out)
{
    int64_t n = matrix->header.unknowns;
    return ps_csr_read(matrix->store, "/m0", n, n, out);
}

/* A master holds one histogram a part. */
ps_status ps_slice_matrix_lengths(ps_slice_matrix *matrix, int64_t histogram[PS_LENGTH_BINS])
{
    int id;
    ps_dataset_info info;
    int64_t part[PS_LENGTH_BINS];
    memset(histogram, 0, PS_LENGTH_BINS * sizeof *histogram);
    PS_TRY(ps_store_find(matrix->store, "/length_histogram", &id));
    PS_TRY(ps_store_dataset(matrix->store, id, &info));
    if (info.type != PS_I64 || info.chunk_bytes != (int64_t)sizeof part)
        return ps_fail(PS_INVALID, "%s: /length_histogram has the wrong shape",
                       ps_store_path(matrix->store));
    for (int64_t p = 0; p < info.chunk_count; ++p) {
        PS_TRY(ps_store_read_chunk(matrix->store, id, p, sizeof part, part));
        for (int b = 0; b < PS_LENGTH_BINS; ++b) histogram[b] += part[b];
    }
    return PS_OK;
}
