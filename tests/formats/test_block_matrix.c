/* block_matrix: all layouts come back; what contradicts itself is refused. */
#include "tests/check.h"
#include "tests/support/synthetic_blocks.h"

#include <stdlib.h>

#include "formats/tile_set.h"
#include "kernels/tdbem/slice_clip.h"
#include "runtime/scope.h"

static const synthetic_slices odd = {
    .unknowns = 301, .shells = 19, .spread = 5.1, .empty = 0.05, .seed = 9};
static const ps_slice_tiling tiling = {
    .unknowns = 301, .tile_rows = 256, .tile_slices = 40, .end_slice = 301};
static const char file[] = "blocks.h5";

static void cut_tile(const ps_block_header *h, int64_t index, ps_slice_tile *slices,
                     ps_block_tile *out)
{
    *slices = (ps_slice_tile){0};
    ps_slice_tiling_range(&tiling, index, slices);
    synthetic_tile(&odd, h->slices.precision, true, slices);
    synthetic_measure(&odd, slices);
    if (h->k_from > 1 || h->k_below < h->k_end) {
        uint32_t *offsets = (uint32_t *)slices->offsets;
        check_ok(ps_slice_clip(slices, h->slices.precision, h->k_from, h->k_below, offsets));
    }
    synthetic_cut(h, slices, out);
}

static ps_block_header header_of(ps_block_layout layout, ps_precision precision)
{
    ps_block_header h = {.layout = layout,
                         .block_rows = 24,
                         .block_columns = 17,
                         .slices = {.precision = precision,
                                    .d_max = synthetic_d_bound(&odd),
                                    .dt = 1,
                                    .speed = 2,
                                    .outer_points = 6,
                                    .mesh_uuid = "none",
                                    .mesh_hash = "none",
                                    .unknowns = 301}};
    check_ok(ps_blocking_check(&h));
    return h;
}

static ps_block_tiling largest_tiling(const ps_block_header *h)
{
    ps_block_tiling out = {.unknowns = 301,
                           .tile_count = ps_slice_tiling_count(&tiling),
                           .tile_rows = 256,
                           .tile_slices = 40};
    for (int64_t t = 0; t < out.tile_count; ++t) {
        PS_SCOPED(synthetic_tile_free) ps_slice_tile slices = {0};
        PS_SCOPED(synthetic_cut_free) ps_block_tile blocks = {0};
        cut_tile(h, t, &slices, &blocks);
        if (blocks.block_count > out.block_capacity) out.block_capacity = blocks.block_count;
        if (blocks.value_count > out.value_capacity) out.value_capacity = blocks.value_count;
    }
    return out;
}

static const ps_store_identity identity = {.creator = "test", .revision = "test", .options = ""};

/* Writes all tiles; `spoil`, if any, has its way with tile 1 beforehand. */
static ps_status write_file(ps_block_header *h, void (*spoil)(ps_block_tile *))
{
    ps_block_matrix *out;
    ps_block_tiling sizes = largest_tiling(h);
    ps_status status = PS_OK;
    PS_SCOPED(ps_csr_release) ps_csr m0 = {0};
    PS_TRY(ps_block_matrix_create(file, &identity, &sizes, h, &out));
    for (int64_t t = 0; t < sizes.tile_count && status == PS_OK; ++t) {
        PS_SCOPED(synthetic_tile_free) ps_slice_tile slices = {0};
        PS_SCOPED(synthetic_cut_free) ps_block_tile blocks = {0};
        cut_tile(h, t, &slices, &blocks);
        if (t == 1 && spoil) spoil(&blocks);
        status = ps_block_matrix_write_tile(out, t, &blocks);
    }
    if (status != PS_OK) {
        ps_block_matrix_close(&out);
        return status;
    }
    check_ok(synthetic_m0(&odd, 0, 301, &m0));
    status = ps_block_matrix_commit(&out, h->k_from > 0 ? NULL : &m0, h);
    assert_null(out);
    return status;
}

static void compare_arrays(const ps_block_header *h, const ps_block_tile *a, const ps_block_tile *b)
{
    size_t warps = (size_t)(ps_block_tile_warps(b) * b->slices);
    assert_int_equal(a->block_count, b->block_count);
    assert_int_equal(a->value_count, b->value_count);
    assert_int_equal(a->nnz, b->nnz);
    check_near(a->score, b->score, 0, 0);
    size_t size = h->half ? 2 : h->slices.precision == PS_SINGLE ? 4 : 8;
    assert_memory_equal(a->values, b->values, (size_t)b->value_count * size);
    check_near(a->error_max, b->error_max, 0, 0);
    check_near(a->error_rms, b->error_rms, 0, 0);
    if (h->half)
        assert_memory_equal(a->scales, b->scales, warps * PS_WARP_ROWS);
    else
        assert_null(a->scales);
    if (h->layout == PS_BLOCK_FULL) {
        assert_memory_equal(a->block_start, b->block_start, 4 * (size_t)(b->slices + 1));
        assert_memory_equal(a->corner_rows, b->corner_rows, 4 * (size_t)b->block_count);
        assert_memory_equal(a->corner_columns, b->corner_columns, 2 * (size_t)b->block_count);
    } else if (h->layout == PS_BLOCK_CONTIGUOUS) {
        assert_memory_equal(a->starts, b->starts, 2 * (size_t)(b->slices * b->rows));
    } else {
        assert_memory_equal(a->starts, b->starts, 2 * warps * PS_WARP_ROWS);
        assert_memory_equal(a->widths, b->widths, 2 * warps);
    }
}

static void compare_tile(ps_block_matrix *in, int64_t index)
{
    int64_t raw_bytes, unpacked_bytes;
    PS_SCOPED_MEMORY void *raw = NULL, *unpacked = NULL;
    PS_SCOPED(synthetic_tile_free) ps_slice_tile slices = {0};
    ps_block_tile tile, view, expected;
    const ps_block_header *h = ps_block_matrix_header(in);
    ps_block_matrix_tile_bytes(in, index, &raw_bytes, &unpacked_bytes);
    check_ok(ps_alloc(&raw, raw_bytes, 1, "raw"));
    check_ok(ps_alloc(&unpacked, unpacked_bytes, 1, "unpacked"));
    check_ok(ps_block_matrix_read_raw(in, index, raw));
    check_ok(ps_block_matrix_unpack(in, index, raw, unpacked, &tile));
    check_ok(ps_block_matrix_view(in, index, unpacked, &view));
    assert_memory_equal(&view, &tile, sizeof tile);
    cut_tile(h, index, &slices, &expected);
    compare_arrays(h, &tile, &expected);
    synthetic_cut_free(&expected);
}

static void all_layouts_come_back(void **state)
{
    for (int layout = 0; layout < 3; ++layout)
        for (int precision = 0; precision < 2; ++precision) {
            ps_block_header h = header_of((ps_block_layout)layout, (ps_precision)precision);
            PS_SCOPED(ps_block_matrix_close) ps_block_matrix *in = NULL;
            PS_SCOPED(ps_csr_release) ps_csr m0 = {0};
            check_ok(write_file(&h, NULL));
            check_ok(ps_block_matrix_open(file, &in));
            const ps_block_header *read = ps_block_matrix_header(in);
            assert_int_equal(read->layout, layout);
            assert_int_equal(read->block_rows, layout == PS_BLOCK_WARP ? 32 : 24);
            assert_int_equal(read->slices.unknowns, 301);
            assert_int_equal(read->slices.nnz, h.slices.nnz);
            assert_int_equal(read->block_count, h.block_count);
            check_near(read->fill, h.fill, 0, 0);
            check_near(read->slices.dt, 1, 0, 0);
            check_at_most(read->slices.d_max, (double)synthetic_d_bound(&odd));
            int64_t stored = 0;
            for (int64_t t = 0; t < ps_block_matrix_tile_count(in); ++t) {
                ps_block_tile info;
                compare_tile(in, t);
                check_ok(ps_block_matrix_tile_info(in, t, &info));
                stored += info.value_count;
            }
            check_near(read->fill, 100.0 * (double)read->slices.nnz / (double)stored, 0, 1e-14);
            check_ok(ps_block_matrix_load_m0(in, &m0));
            assert_int_equal(m0.rows, 301);
        }
}

/* The image of a tile, as unpacking would make it. */
static void *image_of(const ps_block_header *h, const ps_block_tile *tile)
{
    ps_block_tile placed = *tile;
    void *image;
    int64_t warps = ps_block_tile_warps(tile) * tile->slices;
    check_ok(ps_alloc(&image, ps_block_tile_place(h, &placed, NULL), 1, "image"));
    ps_block_tile_place(h, &placed, image);
    memcpy(placed.values, tile->values, (size_t)(tile->value_count * ps_block_tile_value_bytes(h)));
    if (h->layout == PS_BLOCK_FULL) {
        memcpy(placed.block_start, tile->block_start, 4 * (size_t)(tile->slices + 1));
        memcpy(placed.corner_rows, tile->corner_rows, 4 * (size_t)tile->block_count);
        memcpy(placed.corner_columns, tile->corner_columns, 2 * (size_t)tile->block_count);
    } else if (h->layout == PS_BLOCK_CONTIGUOUS) {
        memcpy(placed.starts, tile->starts, 2 * (size_t)(tile->slices * tile->rows));
    } else {
        memcpy(placed.starts, tile->starts, 2 * (size_t)warps * PS_WARP_ROWS);
        memcpy(placed.widths, tile->widths, 2 * (size_t)warps);
    }
    return image;
}

static void keep_tiles(const ps_block_header *h, ps_block_matrix *out)
{
    for (int64_t t = 0; t < ps_slice_tiling_count(&tiling); ++t) {
        PS_SCOPED(synthetic_tile_free) ps_slice_tile slices = {0};
        PS_SCOPED(synthetic_cut_free) ps_block_tile blocks = {0};
        cut_tile(h, t, &slices, &blocks);
        check_ok(ps_block_matrix_keep_tile(out, t, &blocks, image_of(h, &blocks)));
        if (t == 1)
            check_fails(ps_block_matrix_keep_tile(out, t, &blocks, image_of(h, &blocks)), PS_USAGE,
                        "the matrix in memory: tile 1: it was written before");
    }
}

/* In memory: tiles, header and M^0 of the file, and sizes of what the file unpacks. */
static void in_memory_as_in_a_file(void **state)
{
    for (int layout = 0; layout < 3; ++layout)
        for (int precision = 0; precision < 2; ++precision) {
            ps_block_header h = header_of((ps_block_layout)layout, (ps_precision)precision),
                            own = h;
            ps_block_tiling sizes = largest_tiling(&h);
            PS_SCOPED(ps_block_matrix_close) ps_block_matrix *in = NULL, *kept = NULL;
            PS_SCOPED(ps_csr_release) ps_csr m0 = {0};
            check_ok(write_file(&h, NULL));
            check_ok(ps_block_matrix_open(file, &in));
            check_ok(ps_block_matrix_create_in_memory(&sizes, &own, &kept));
            keep_tiles(&own, kept);
            check_ok(synthetic_m0(&odd, 0, 301, &m0));
            check_ok(ps_block_matrix_complete(kept, &m0, &own));
            assert_null(m0.values);
            assert_memory_equal(&own, &h, sizeof own);
            for (int64_t t = 0; t < ps_block_matrix_tile_count(kept); ++t) {
                int64_t raw, there, here;
                ps_block_matrix_tile_bytes(in, t, &raw, &there);
                ps_block_matrix_tile_bytes(kept, t, &raw, &here);
                assert_int_equal(here, there);
                assert_int_equal(raw, 0);
                assert_non_null(ps_block_matrix_image(kept, t));
                assert_null(ps_block_matrix_image(in, t));
                compare_tile(kept, t);
            }
            check_ok(ps_block_matrix_load_m0(kept, &m0));
            assert_int_equal(m0.rows, 301);
        }
}

/* Writes a file of these lags and reads it back. */
static ps_block_header lags_come_back(int64_t k_from, int64_t k_below, bool half)
{
    int64_t end = synthetic_k_bound(&odd) + 1;
    ps_block_header h = header_of(PS_BLOCK_WARP, PS_DOUBLE);
    PS_SCOPED(ps_block_matrix_close) ps_block_matrix *in = NULL;
    PS_SCOPED(ps_csr_release) ps_csr m0 = {0};
    h.k_from = k_from;
    h.k_below = k_below;
    h.k_end = end;
    h.half = half;
    check_ok(write_file(&h, NULL));
    check_ok(ps_block_matrix_open(file, &in));
    ps_block_header read = *ps_block_matrix_header(in);
    assert_int_equal(read.k_from, k_from);
    assert_int_equal(read.k_below, k_below);
    assert_int_equal(read.k_end, end);
    assert_true(read.half == half);
    check_at_most((double)read.slices.k_max, (double)k_below - 1);
    check_near(read.rounding_max, h.rounding_max, 0, 0);
    check_near(read.rounding_rms, h.rounding_rms, 0, 1e-14);
    for (int64_t t = 0; t < ps_block_matrix_tile_count(in); ++t) compare_tile(in, t);
    if (k_from == 0)
        check_ok(ps_block_matrix_load_m0(in, &m0));
    else
        check_fails(ps_block_matrix_load_m0(in, &m0), PS_INVALID, "without M^0");
    return read;
}

static void lags_and_halves_come_back(void **state)
{
    int64_t end = synthetic_k_bound(&odd) + 1;
    ps_block_header all = lags_come_back(0, end, false), half = lags_come_back(0, end, true);
    ps_block_header near = lags_come_back(0, 9, false), far = lags_come_back(9, end, true);
    assert_int_equal(all.slices.nnz, near.slices.nnz + far.slices.nnz);
    assert_int_equal(all.slices.nnz, half.slices.nnz);
    check_near(all.rounding_max, 0, 0, 0);
    check_at_most(half.rounding_max, 0x1p-11);
    check_at_most(1e-4, half.rounding_rms); /* 2^-11 / sqrt(3), or somewhat less, if uniform */
    check_at_most(half.rounding_rms, 0x1p-11);
    lags_come_back(0, 1, true);
}

/* A file of version 1: no lags, no type of values. Its one tile: M^1 = M^3 = 1 for N = 1. */
static ps_status write_version_1(void)
{
    static const char *const extras[] = {"first_row", "rows",  "first_slice", "slices",
                                         "blocks",    "nnz",   "fill",        "d_max",
                                         "k_min",     "k_max", "score",       "filled"};
    const double figures[] = {0, 1, 0, 1, 1, 3, 100.0 / 32, 3, 1, 3, 0, 1};
    ps_store *store;
    ps_store_identity own = identity;
    ps_tile_set set = {.tiles = 1};
    uint16_t starts[32], widths[1] = {3};
    float values[96] = {[0] = 1, [64] = 1};
    ps_block_header h = header_of(PS_BLOCK_WARP, PS_SINGLE);
    h.slices.unknowns = 1;
    for (int lane = 0; lane < 32; ++lane) starts[lane] = 1;
    own.format = PS_BLOCK_MATRIX_FORMAT;
    own.format_version = 1;
    PS_TRY(ps_store_create(file, &own, &store));
    set.store = store;
    ps_dataset_spec specs[3] = {
        {.name = "/starts", .type = PS_U16, .units = "1"},
        {.name = "/widths", .type = PS_U16, .units = "1"},
        {.name = "/values", .type = PS_F32, .units = "m^3 or m s", .extra_count = 12}};
    memcpy(specs[2].extras, extras, sizeof extras);
    const void *data[3] = {starts, widths, values};
    const int64_t counts[3] = {32, 1, 96};
    PS_SCOPED(ps_csr_release) ps_csr m0 = {0};
    PS_TRY(ps_csr_init(&m0, 1, 1));
    m0.row_start[1] = 1;
    m0.values[0] = 1;
    for (int d = 0; d < 3; ++d) PS_TRY(ps_tile_set_define(&set, &specs[d], counts[d]));
    for (int d = 0; d < 3; ++d)
        PS_TRY(ps_store_write_chunk(store, set.ids[d], 0, data[d], counts[d],
                                    d == 2 ? figures : NULL));
    PS_TRY(ps_csr_write(store, "/m0", "m^3 or m s", &m0));
    PS_TRY(ps_slice_header_put(store, &h.slices));
    PS_TRY(ps_store_put_text(store, "/", "layout", "warp"));
    PS_TRY(ps_store_put_int(store, "/", "block_rows", 32));
    PS_TRY(ps_store_put_int(store, "/", "block_columns", 3));
    PS_TRY(ps_store_put_text(store, "/", "values", "f8")); /* which version 1 does not know */
    return ps_store_commit(&store);
}

static void version_1_is_read(void **state)
{
    PS_SCOPED(ps_block_matrix_close) ps_block_matrix *in = NULL;
    PS_SCOPED(ps_csr_release) ps_csr m0 = {0};
    check_ok(write_version_1());
    check_ok(ps_block_matrix_open(file, &in));
    const ps_block_header *h = ps_block_matrix_header(in);
    assert_int_equal(h->k_from, 0);
    assert_int_equal(h->k_below, 4);
    assert_int_equal(h->k_end, 4);
    assert_int_equal(h->slices.nnz, 3);
    assert_false(h->half);
    check_ok(ps_block_matrix_load_m0(in, &m0));
}

static void infinite_half(ps_block_tile *tile) { ((uint16_t *)tile->values)[7] = 0xfc00; }
static void subnormal_half(ps_block_tile *tile) { ((uint16_t *)tile->values)[7] = 0x0003; }

static void wrong_lags_and_halves_are_refused(void **state)
{
    ps_block_header h = header_of(PS_BLOCK_WARP, PS_SINGLE), bad;
    ps_block_matrix *out;
    ps_block_tiling sizes = largest_tiling(&h);
    int64_t end = synthetic_k_bound(&odd) + 1;
    h.half = true;
    check_fails(write_file(&h, infinite_half), PS_INVALID, "value 7 is the half 0xfc00");
    check_fails(write_file(&h, subnormal_half), PS_INVALID, "neither 0 nor normal");
    bad = header_of(PS_BLOCK_FULL, PS_SINGLE);
    bad.half = true;
    check_fails(ps_block_matrix_create(file, &identity, &sizes, &bad, &out), PS_INVALID,
                "only warps");
    bad = h;
    bad.k_from = 4, bad.k_below = 4, bad.k_end = end;
    check_fails(ps_block_matrix_create(file, &identity, &sizes, &bad, &out), PS_INVALID,
                "lags from 4 to below 4");
    bad.k_below = end + 1;
    check_fails(ps_block_matrix_create(file, &identity, &sizes, &bad, &out), PS_INVALID,
                "lags from 4");
}

/* Tiles whose lags are not those of the header; M^0 where it does not belong. */
static void lags_bind_tiles_and_m0(void **state)
{
    ps_block_header h = header_of(PS_BLOCK_WARP, PS_SINGLE);
    ps_block_tiling sizes = largest_tiling(&h);
    for (int with_m0 = 0; with_m0 < 2; ++with_m0) {
        ps_block_matrix *out;
        PS_SCOPED(ps_csr_release) ps_csr m0 = {0};
        check_ok(synthetic_m0(&odd, 0, 301, &m0));
        ps_block_header own = h;
        own.k_from = with_m0 ? 3 : 0, own.k_below = with_m0 ? 60 : 5, own.k_end = 60;
        check_ok(ps_block_matrix_create(file, &identity, &sizes, &own, &out));
        for (int64_t t = 0; t < sizes.tile_count; ++t) {
            PS_SCOPED(synthetic_tile_free) ps_slice_tile slices = {0};
            PS_SCOPED(synthetic_cut_free) ps_block_tile blocks = {0};
            ps_block_header cut = own;
            if (!with_m0) cut.k_end = 0; /* all lags, though the header says fewer */
            cut_tile(&cut, t, &slices, &blocks);
            check_ok(ps_block_matrix_write_tile(out, t, &blocks));
        }
        check_fails(ps_block_matrix_commit(&out, &m0, &own), with_m0 ? PS_USAGE : PS_INVALID,
                    with_m0 ? "M^0 belongs" : "where the file has 0..4");
    }
}

static void wrong_start(ps_block_tile *tile) { tile->starts[5] = 0; }
static void far_start(ps_block_tile *tile) { tile->starts[5] = 60000; }
static void wide_warp(ps_block_tile *tile) { tile->widths[2] = 500; }
static void other_width(ps_block_tile *tile) { tile->widths[2] = 0; }
static void wrong_corner(ps_block_tile *tile) { tile->corner_rows[1] = 4000; }
static void swapped_corners(ps_block_tile *tile) { tile->corner_rows[1] = tile->corner_rows[0]; }
static void far_corner(ps_block_tile *tile) { tile->corner_columns[3] = 999; }
static void wrong_slice(ps_block_tile *tile) { tile->block_start[1] = 1u << 31; }
static void open_end(ps_block_tile *tile) { tile->block_start[tile->slices]++; }
static void fewer_values(ps_block_tile *tile) { tile->value_count--; }

static void contradictions_are_refused(void **state)
{
    const struct {
        ps_block_layout layout;
        void (*spoil)(ps_block_tile *);
        const char *message;
    } cases[] = {
        {PS_BLOCK_CONTIGUOUS, wrong_start, "start 5 is 0"},
        {PS_BLOCK_CONTIGUOUS, fewer_values, "values, where its other figures"},
        {PS_BLOCK_WARP, far_start, "start 5 is 60000"},
        {PS_BLOCK_WARP, wide_warp, "width 2 is 500"},
        {PS_BLOCK_WARP, other_width, "values, where its other figures"},
        {PS_BLOCK_FULL, wrong_corner, "begins at row 4000"},
        {PS_BLOCK_FULL, swapped_corners, "rows must ascend"},
        {PS_BLOCK_FULL, far_corner, "corner column 3 is 999"},
        {PS_BLOCK_FULL, wrong_slice, "negative number of blocks"},
        {PS_BLOCK_FULL, open_end, "blocks, where its other figures"},
        {PS_BLOCK_FULL, fewer_values, "values, where its other figures"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        ps_block_header h = header_of(cases[c].layout, PS_SINGLE);
        check_fails(write_file(&h, cases[c].spoil), PS_INVALID, cases[c].message);
        assert_non_null(strstr(ps_message(), "tile 1"));
    }
}

static void wrong_shapes_are_refused(void **state)
{
    ps_block_header h = header_of(PS_BLOCK_FULL, PS_SINGLE);
    ps_block_matrix *out;
    ps_block_tiling sizes = largest_tiling(&h);
    h.block_rows = 2000;
    check_fails(ps_block_matrix_create(file, &identity, &sizes, &h, &out), PS_INVALID,
                "blocks of 2000 rows");
    assert_null(out);
    ps_slice_tiling whole = {.tile_rows = 301, .tile_slices = 301, .end_slice = 301};
    check_ok(synthetic_write(&odd, file, PS_SINGLE, &whole));
    check_fails(ps_block_matrix_open(file, &out), PS_INVALID, "penstock-slice-matrix");
    assert_null(out);
}
