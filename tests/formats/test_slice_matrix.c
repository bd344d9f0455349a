/* slice_matrix: tiles and M^0 come back from single files and from masters; the header is derived
 * from the tiles; what contradicts itself is refused. */
#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/dataset_spec.h"
#include "tests/support/synthetic_slices.h"
#include "tests/support/temporaries.h"

#include <stdlib.h>
#include <unistd.h>

static const synthetic_slices odd = {
    .unknowns = 301, .shells = 19, .spread = 5.1, .empty = 0.05, .seed = 9};
static const ps_store_identity identity = {
    .format = "penstock-slice-matrix", .format_version = 1, .creator = "test"};

static void compare_tile(ps_slice_matrix *file, int64_t index, ps_precision precision)
{
    int64_t raw_bytes, unpacked_bytes;
    PS_SCOPED_MEMORY void *raw = NULL, *unpacked = NULL;
    ps_slice_tile tile, view, info, expected = {0};
    ps_slice_matrix_tile_bytes(file, index, &raw_bytes, &unpacked_bytes);
    check_ok(ps_alloc(&raw, raw_bytes, 1, "raw"));
    check_ok(ps_alloc(&unpacked, unpacked_bytes, 1, "unpacked"));
    check_ok(ps_slice_matrix_read_raw(file, index, raw));
    check_ok(ps_slice_matrix_unpack(file, index, raw, unpacked, &tile));
    check_ok(ps_slice_matrix_view(file, index, unpacked, &view));
    check_ok(ps_slice_matrix_tile_info(file, index, &info));
    expected.first_row = info.first_row, expected.rows = info.rows;
    expected.first_slice = info.first_slice, expected.slices = info.slices;
    synthetic_tile(&odd, precision, true, &expected);
    size_t vectors = (size_t)(info.rows * info.slices);
    assert_int_equal(tile.value_count, expected.value_count);
    assert_memory_equal(tile.starts, expected.starts, 2 * vectors);
    assert_memory_equal(tile.lengths, expected.lengths, 2 * vectors);
    assert_memory_equal(tile.values, expected.values,
                        (size_t)tile.value_count * (precision == PS_SINGLE ? 4 : 8));
    assert_memory_equal(tile.offsets, expected.offsets,
                        4 * (size_t)(ps_slice_tile_row_blocks(&tile) * tile.slices));
    assert_memory_equal(&view, &tile, sizeof tile);
    synthetic_tile_free(&expected);
}

/* What the header must say, by a plain loop over the whole matrix. */
static void compare_header(const ps_slice_header *h, int64_t tile_rows)
{
    int64_t nnz = 0, filled = 0, d_max = 0, k_max = 0, start, length, s0 = 0, l0 = 0;
    double squares = 0, pairs = 0;
    for (int64_t j = 0; j < odd.unknowns; ++j)
        for (int64_t i = 0; i < odd.unknowns; ++i, s0 = start, l0 = length) {
            synthetic_vector(&odd, i, j, &start, &length);
            nnz += length;
            filled += length > 0;
            d_max = length > d_max ? length : d_max;
            if (length > 0 && start + length - 1 > k_max) k_max = start + length - 1;
            if (i % tile_rows == 0) continue;
            double q =
                fmin((double)(s0 + l0), (double)(start + length)) - fmax((double)s0, (double)start);
            pairs += 1;
            if (q > 0 && length > 0 && l0 > 0) squares += q * q;
        }
    assert_int_equal(h->unknowns, odd.unknowns);
    assert_int_equal(h->nnz, nnz);
    assert_int_equal(h->d_max, d_max);
    assert_int_equal(h->k_max, k_max);
    check_near(h->d_mean, (double)nnz / (double)filled, 0, 1e-14);
    check_near(h->score, squares / pairs, 0, 1e-12);
    check_near(h->dt, 0.01, 0, 0);
    check_near(h->speed, 340, 0, 0);
    assert_int_equal(h->formulation, PS_SOUND_SOFT_S);
    assert_int_equal(h->outer_points, 3);
    assert_string_equal(h->mesh_hash, "none");
}

static void compare_m0(ps_slice_matrix *file)
{
    PS_SCOPED(ps_csr_release) ps_csr m0 = {0}, expected = {0};
    check_ok(ps_slice_matrix_load_m0(file, &m0));
    check_ok(synthetic_m0(&odd, 0, odd.unknowns, &expected));
    assert_int_equal(m0.nnz, expected.nnz);
    assert_memory_equal(m0.row_start, expected.row_start, 8 * (size_t)(m0.rows + 1));
    assert_memory_equal(m0.columns, expected.columns, 4 * (size_t)m0.nnz);
    assert_memory_equal(m0.values, expected.values, 8 * (size_t)m0.nnz);
}

static void compare_file(const char *path, ps_precision precision, int64_t tile_rows)
{
    ps_slice_matrix *file;
    int64_t histogram[PS_LENGTH_BINS], vectors = 0, values = 0;
    check_ok(ps_slice_matrix_open(path, &file));
    compare_header(ps_slice_matrix_header(file), tile_rows);
    assert_int_equal(ps_slice_matrix_header(file)->precision, precision);
    for (int64_t t = 0; t < ps_slice_matrix_tile_count(file); ++t) compare_tile(file, t, precision);
    compare_m0(file);
    check_ok(ps_slice_matrix_lengths(file, histogram));
    for (int b = 0; b < PS_LENGTH_BINS; ++b) {
        vectors += histogram[b];
        values += b * histogram[b];
    }
    assert_int_equal(vectors, odd.unknowns * odd.unknowns);
    assert_int_equal(values, ps_slice_matrix_header(file)->nnz);
    ps_slice_matrix_close(&file);
    assert_null(file);
}

static void tiles_come_back(void **state)
{
    for (int precision = 0; precision < 2; ++precision) {
        ps_slice_tiling tiling = {.tile_rows = 256, .tile_slices = 17, .end_slice = odd.unknowns};
        check_ok(synthetic_write(&odd, "one.h5", (ps_precision)precision, &tiling));
        compare_file("one.h5", (ps_precision)precision, 256);
        tiling.tile_rows = odd.unknowns;
        check_ok(synthetic_write(&odd, "one.h5", (ps_precision)precision, &tiling));
        compare_file("one.h5", (ps_precision)precision, odd.unknowns);
    }
}

static void parts_and_their_master_read_like_one_file(void **state)
{
    const int64_t cuts[] = {0, 100, 113, 301};
    for (int part = 0; part < 3; ++part) {
        char path[4096];
        ps_store_part_path("many.h5", 0, part, path);
        ps_slice_tiling tiling = {.tile_rows = 256,
                                  .tile_slices = 20 + part,
                                  .first_slice = cuts[part],
                                  .end_slice = cuts[part + 1]};
        check_ok(synthetic_write(&odd, path, PS_SINGLE, &tiling));
    }
    check_ok(ps_store_write_master("many.h5", &identity, 0, 3));
    compare_file("many.h5", PS_SINGLE, 256);
    ps_slice_matrix *file;
    check_fails(ps_slice_matrix_open("many.part0001.h5", &file), PS_INVALID, "open the master");
    assert_null(file);
}

/* A tile of the first 256 x 17 that the caller may spoil, and a file to write it to. */
static void begin(ps_slice_matrix **file, ps_slice_tile *tile)
{
    ps_slice_tiling tiling = {.unknowns = 256,
                              .tile_rows = 256,
                              .tile_slices = 256,
                              .end_slice = 256,
                              .value_capacity = 256 * 256 * synthetic_d_bound(&odd)};
    check_ok(ps_slice_matrix_create("bad.h5", &identity, &tiling, PS_SINGLE, 0, file));
    ps_slice_tiling_range(&tiling, 0, tile);
    synthetic_tile(&odd, PS_SINGLE, false, tile);
}

static void contradictory_tiles_are_not_written(void **state)
{
    ps_slice_matrix *file;
    PS_SCOPED(synthetic_tile_free) ps_slice_tile tile = {0};
    begin(&file, &tile);
    tile.lengths[7] += tile.lengths[7] == 0;
#define contradictory(place, value, code, text)                                                    \
    check_fails_if(tile.place, value, ps_slice_matrix_write_tile(file, 0, &tile), code, text)
    contradictory(starts[7], 0, PS_INVALID, "slice 0, row 7: start 0");
    contradictory(starts[7], UINT16_MAX, PS_INVALID, "starts must lie in");
    contradictory(value_count, tile.value_count - 1, PS_INVALID, "lengths add up to");
    contradictory(first_row, 1, PS_USAGE, "are not its place");
    check_fails(ps_slice_matrix_write_tile(file, 1, &tile), PS_USAGE,
                "bad.h5: there is no tile 1, but 1 tiles");
    check_ok(ps_slice_matrix_write_tile(file, 0, &tile));
    check_fails(ps_slice_matrix_write_tile(file, 0, &tile), PS_USAGE, "written before");
    PS_SCOPED(ps_csr_release) ps_csr m0 = {0};
    ps_slice_header header = {.dt = 1, .speed = 1, .outer_points = 3};
    check_ok(synthetic_m0(&odd, 0, 255, &m0));
    check_fails(ps_slice_matrix_commit(&file, &m0, &header), PS_USAGE, "M^0 has 255 rows");
    assert_null(file);
    assert_int_equal(access("bad.h5", F_OK), -1);
    assert_int_equal(temporaries_of("bad.h5"), 0);
}

static void a_missing_tile_is_noticed(void **state)
{
    ps_slice_matrix *file;
    PS_SCOPED(synthetic_tile_free) ps_slice_tile tile = {0};
    ps_csr m0 = {0};
    ps_slice_header header = {.dt = 1, .speed = 1};
    begin(&file, &tile);
    check_fails(ps_slice_matrix_commit(&file, &m0, &header), PS_FAILED, "tile 0 of 1 was never");
}

/* A file that the store takes for sound, but whose contents are wrong in one way. */
typedef struct spoiled {
    uint16_t start, length; /* of row 1                    */
    double extras[9];
    int64_t unknowns, values;
    int32_t column;
    const char *message;
} spoiled;

static void write_spoiled(const spoiled *s)
{
    enum { N = 3 };
    ps_store *store;
    ps_slice_header header = {.dt = 1,
                              .speed = 1,
                              .outer_points = 3,
                              .unknowns = s->unknowns,
                              .mesh_uuid = "none",
                              .mesh_hash = "none"};
    uint16_t starts[N * N], lengths[N * N];
    float values[N * N + 20] = {0};
    int id;
    for (int v = 0; v < N * N; ++v) starts[v] = 2, lengths[v] = 1;
    starts[1] = s->start, lengths[1] = s->length;
    check_ok(ps_store_create("spoiled.h5", &identity, &store));
    check_ok(ps_slice_header_put(store, &header));
    ps_dataset_spec spec = table_spec("/starts", PS_U16, 1, N * N, 1);
    check_ok(ps_store_define(store, &spec, &id));
    check_ok(ps_store_write_chunk(store, id, 0, starts, N * N, NULL));
    spec.name = "/lengths";
    check_ok(ps_store_define(store, &spec, &id));
    check_ok(ps_store_write_chunk(store, id, 0, lengths, N * N, NULL));
    spec = (ps_dataset_spec){.name = "/values",
                             .type = PS_F32,
                             .rank = 2,
                             .dims = {1, 29},
                             .chunk_rows = 1,
                             .units = "1",
                             .extra_count = 9,
                             .extras = {"first_row", "rows", "first_slice", "slices", "d_max",
                                        "k_min", "k_max", "score", "filled"}};
    check_ok(ps_store_define(store, &spec, &id));
    check_ok(ps_store_write_chunk(store, id, 0, values, s->values, s->extras));
    ps_csr m0;
    check_ok(ps_csr_init(&m0, N, N));
    for (int i = 0; i < N; ++i) m0.columns[i] = i, m0.values[i] = 1, m0.row_start[i + 1] = i + 1;
    m0.columns[2] = s->column;
    check_ok(ps_csr_write(store, "/m0", "m^3", &m0));
    ps_csr_release(&m0);
    check_ok(ps_store_commit(&store));
}

static ps_status read_everything(const char *path)
{
    PS_SCOPED(ps_slice_matrix_close) ps_slice_matrix *file = NULL;
    PS_SCOPED(ps_csr_release) ps_csr m0 = {0};
    int64_t raw_bytes, unpacked_bytes;
    PS_TRY(ps_slice_matrix_open(path, &file));
    ps_slice_matrix_tile_bytes(file, 0, &raw_bytes, &unpacked_bytes);
    PS_SCOPED_MEMORY void *raw = malloc((size_t)raw_bytes),
                          *unpacked = aligned_alloc(64, (size_t)unpacked_bytes);
    ps_status status = ps_slice_matrix_read_raw(file, 0, raw);
    if (status == PS_OK) status = ps_slice_matrix_unpack(file, 0, raw, unpacked, NULL);
    if (status == PS_OK) status = ps_slice_matrix_load_m0(file, &m0);
    return status;
}

static void wrong_contents_are_refused(void **state)
{
#define GOOD_EXTRAS                                                                                \
    {                                                                                              \
        0, 3, 0, 3, 1, 2, 2, 0, 9                                                                  \
    }
    const spoiled cases[] = {
        {2, 1, GOOD_EXTRAS, 3, 9, 2, NULL},
        {0, 1, GOOD_EXTRAS, 3, 9, 2, "tile 0: slice 0, row 1: start 0 and length 1"},
        {3, 1, GOOD_EXTRAS, 3, 9, 2, "start 3 and length 1"},
        {2, 2, GOOD_EXTRAS, 3, 10, 2, "start 2 and length 2"},
        {2, 65535, GOOD_EXTRAS, 3, 9, 2, "length 65535"},
        {2, 0, GOOD_EXTRAS, 3, 9, 2, "lengths add up to 8, but there are 9 values"},
        {2, 1, GOOD_EXTRAS, 4, 9, 2, "the tiles"},
        {2, 1, GOOD_EXTRAS, 2, 9, 2, "impossible figures"},
        {2, 1, {0, 3, 0, 2, 1, 2, 2, 0, 6}, 3, 9, 2, "do not fit"},
        {2, 1, {1, 3, 0, 3, 1, 2, 2, 0, 9}, 3, 9, 2, "covers rows 1 +3"},
        {2, 1, {0, 3, 0, 3, 1, 2, 1e6, 0, 9}, 3, 9, 2, "impossible figures"},
        {2, 1, {0, 2.5, 0, 3, 1, 2, 2, 0, 9}, 3, 9, 2, "impossible figures"},
        {2, 1, {0, 3, 0, 3, 1, 2, 2, NAN, 9}, 3, 9, 2, "impossible figures"},
        {2, 1, GOOD_EXTRAS, 3, 9, 3, "/m0: row 2 has column 3"},
        {2, 1, GOOD_EXTRAS, 3, 9, -1, "/m0: row 2 has column -1"},
        {2, 1, GOOD_EXTRAS, -3, 9, 2, "attribute unknowns is -3"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        write_spoiled(&cases[c]);
        if (!cases[c].message)
            check_ok(read_everything("spoiled.h5"));
        else
            check_fails(read_everything("spoiled.h5"), PS_INVALID, cases[c].message);
        if (cases[c].message) assert_non_null(strstr(ps_message(), "spoiled.h5"));
    }
}

/* Writes the attributes of an equation: by hand, or (name NULL) by the format. */
static void write_equation(const char *name, double alpha)
{
    ps_store *store;
    check_ok(ps_store_create("equation.h5", &identity, &store));
    if (name) {
        check_ok(ps_store_put_text(store, "/", "formulation", name));
        check_ok(ps_store_put_real(store, "/", "combined", alpha));
    } else {
        check_ok(ps_equation_put(store, PS_SOUND_HARD, alpha, &(ps_reflectors){0}));
    }
    check_ok(ps_store_commit(&store));
}

static ps_status read_equation(double *alpha)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_formulation formulation;
    ps_reflectors planes;
    check_ok(ps_store_open("equation.h5", "penstock-slice-matrix", 1, &store));
    ps_status status = ps_equation_get(store, &formulation, alpha, &planes);
    if (status == PS_OK) assert_int_equal(formulation, PS_SOUND_HARD);
    return status;
}

static void the_combined_equation_has_its_alpha(void **state)
{
    static const double alphas[] = {0, .25}, wrong[] = {0, -.25, INFINITY, NAN};
    double alpha;
    for (int a = 0; a < 2; ++a) {
        write_equation(NULL, alphas[a]);
        check_ok(read_equation(&alpha));
        check_near(alpha, alphas[a], 0, 0);
    }
    for (int a = 0; a < 4; ++a) {
        write_equation("sound-hard-combined", wrong[a]);
        check_fails(read_equation(&alpha), PS_INVALID, "combined");
    }
    write_equation("sound-harder", .25);
    check_fails(read_equation(&alpha), PS_INVALID, "none of");
}

static void a_transpose_changes_rows_and_columns(void **state)
{
    PS_SCOPED(ps_csr_release) ps_csr m = {0}, t = {0};
    check_ok(ps_csr_init(&m, 3, 4)); /* (0,2) = 5, (1,0) = 6, (1,1) = 7, (2,0) = 8 */
    const int64_t start[] = {0, 1, 3, 4};
    const int32_t columns[] = {2, 0, 1, 0};
    const double values[] = {5, 6, 7, 8};
    memcpy(m.row_start, start, sizeof start);
    memcpy(m.columns, columns, sizeof columns);
    memcpy(m.values, values, sizeof values);
    check_ok(ps_csr_transpose(&m, &t));
    check_ok(ps_csr_check(&t, 3));
    const int64_t expected_start[] = {0, 2, 3, 4};
    const int32_t expected_columns[] = {1, 2, 1, 0};
    const double expected[] = {6, 8, 7, 5};
    assert_memory_equal(t.row_start, expected_start, sizeof expected_start);
    assert_memory_equal(t.columns, expected_columns, sizeof expected_columns);
    for (int e = 0; e < 4; ++e) check_near(t.values[e], expected[e], 0, 0);
}
