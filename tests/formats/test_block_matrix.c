/* block_matrix: all layouts come back; what contradicts itself is refused. */
#include "tests/check.h"
#include "tests/support/synthetic_blocks.h"

#include <stdlib.h>

static const synthetic_slices odd = {.unknowns = 301, .shells = 19, .spread = 5.1, .empty = 0.05,
                                     .seed = 9};
static const ps_slice_tiling tiling = {.unknowns = 301, .tile_rows = 256, .tile_slices = 40,
                                       .end_slice = 301};
static char folder[64], file[128];

static int make_folder(void **state)
{
    strcpy(folder, "/tmp/test_block_matrix.XXXXXX");
    if (!mkdtemp(folder)) return 1;
    snprintf(file, sizeof file, "%s/blocks.h5", folder);
    return 0;
}

static int remove_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void cut_tile(const ps_block_header *h, int64_t index, ps_slice_tile *slices,
                     ps_block_tile *out)
{
    *slices = (ps_slice_tile){0};
    ps_slice_tiling_range(&tiling, index, slices);
    synthetic_tile(&odd, h->slices.precision, true, slices);
    synthetic_measure(&odd, slices);
    synthetic_cut(h, slices, out);
}

static ps_block_header header_of(ps_block_layout layout, ps_precision precision)
{
    ps_block_header h = {.layout = layout, .block_rows = 24, .block_columns = 17,
                         .slices = {.precision = precision, .d_max = synthetic_d_bound(&odd),
                                    .dt = 1, .speed = 2, .outer_points = 6, .mesh_uuid = "none",
                                    .mesh_hash = "none", .unknowns = 301}};
    check_ok(ps_blocking_check(&h));
    return h;
}

static ps_block_tiling largest_tiling(const ps_block_header *h)
{
    ps_block_tiling out = {.unknowns = 301, .tile_count = ps_slice_tiling_count(&tiling),
                           .tile_rows = 256, .tile_slices = 40};
    for (int64_t t = 0; t < out.tile_count; ++t) {
        ps_slice_tile slices;
        ps_block_tile blocks;
        cut_tile(h, t, &slices, &blocks);
        if (blocks.block_count > out.block_capacity) out.block_capacity = blocks.block_count;
        if (blocks.value_count > out.value_capacity) out.value_capacity = blocks.value_count;
        synthetic_tile_free(&slices);
        synthetic_cut_free(&blocks);
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
    ps_csr m0;
    PS_TRY(ps_block_matrix_create(file, &identity, &sizes, h, &out));
    for (int64_t t = 0; t < sizes.tile_count && status == PS_OK; ++t) {
        ps_slice_tile slices;
        ps_block_tile blocks;
        cut_tile(h, t, &slices, &blocks);
        if (t == 1 && spoil) spoil(&blocks);
        status = ps_block_matrix_write_tile(out, t, &blocks);
        synthetic_tile_free(&slices);
        synthetic_cut_free(&blocks);
    }
    if (status != PS_OK) {
        ps_block_matrix_close(&out);
        return status;
    }
    check_ok(synthetic_m0(&odd, 0, 301, &m0));
    status = ps_block_matrix_commit(&out, &m0, h);
    assert_null(out);
    ps_csr_release(&m0);
    return status;
}

static void compare_arrays(const ps_block_header *h, const ps_block_tile *a, const ps_block_tile *b)
{
    size_t warps = (size_t)(ps_block_tile_warps(b) * b->slices);
    assert_int_equal(a->block_count, b->block_count);
    assert_int_equal(a->value_count, b->value_count);
    assert_int_equal(a->nnz, b->nnz);
    check_near(a->score, b->score, 0, 0);
    assert_memory_equal(a->values, b->values,
                        (size_t)b->value_count * (h->slices.precision == PS_SINGLE ? 4 : 8));
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
    void *raw, *unpacked;
    ps_slice_tile slices;
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
    synthetic_tile_free(&slices);
    synthetic_cut_free(&expected);
    free(raw);
    free(unpacked);
}

static void all_layouts_come_back(void **state)
{
    for (int layout = 0; layout < 3; ++layout)
        for (int precision = 0; precision < 2; ++precision) {
            ps_block_header h = header_of((ps_block_layout)layout, (ps_precision)precision);
            ps_block_matrix *in;
            ps_csr m0;
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
            ps_csr_release(&m0);
            ps_block_matrix_close(&in);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_layouts_come_back),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(wrong_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
