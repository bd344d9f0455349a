#include <stdlib.h>
#include <unistd.h>

#include "formats/box_field.h"
#include "tests/check.h"

static const char path[] = "b.hdf";
static const ps_store_identity identity = {.creator = "test", .revision = "0", .options = "a=1\n"};
static double values[400 * 24 * 25];

static ps_box_field_header header_of(bool cells)
{
    return (ps_box_field_header){.nodes = {400, 24, 25},
                                 .origin = {1, 2, -3},
                                 .spacing = {.5, 1, 2},
                                 .cells = cells,
                                 .quantity = "density",
                                 .units = "kg/m3"};
}

static void write_all(bool cells)
{
    ps_box_field out;
    ps_box_field_header h = header_of(cells);
    check_ok(ps_box_field_create(path, &identity, &h, &out));
    for (int64_t i = 0; i < out.shape[0] * out.plane; ++i) values[i] = .25 * (double)i;
    for (int64_t c = out.chunks - 1; c >= 0; --c) {
        int64_t first, end;
        ps_box_field_chunk(&out, c, &first, &end);
        check_ok(ps_box_field_write(&out, c, values + first * out.plane));
    }
    check_ok(ps_box_field_commit(&out));
}

static void round_trip(void **state)
{
    static double back[7 * 24 * 25];
    for (int cells = 0; cells < 2; ++cells) {
        PS_SCOPED(ps_box_field_close) ps_box_field in = {0};
        write_all(cells);
        check_ok(ps_box_field_open(path, "density", &in));
        assert_int_equal(in.shape[0], 400 - cells);
        assert_int_equal(in.plane, (24 - cells) * (25 - cells));
        assert_true(in.chunks > 1);
        assert_string_equal(in.header.units, "kg/m3");
        ps_box_field_header h = header_of(cells);
        assert_memory_equal(in.header.nodes, h.nodes, sizeof h.nodes);
        for (int k = 0; k < 3; ++k) {
            check_near(in.header.origin[k], h.origin[k], 0, 0);
            check_near(in.header.spacing[k], h.spacing[k], 0, 0);
        }
        int64_t first = in.chunk_planes - 3; /* spans two chunks */
        check_ok(ps_box_field_read(&in, first, 7, back));
        for (int64_t i = 0; i < 7 * in.plane; ++i)
            check_near(back[i], .25 * (double)(first * in.plane + i), 0, 0);
        check_fails(ps_box_field_read(&in, in.shape[0] - 1, 2, back), PS_USAGE, "planes");
    }
}

static void refuses(void **state)
{
    ps_box_field f;
    ps_box_field_header h = header_of(true);
    write_all(true);
    check_fails(ps_box_field_open(path, "potential", &f), PS_INVALID, "wanted is \"potential\"");
    h.spacing[2] = 0;
    check_fails(ps_box_field_create(path, &identity, &h, &f), PS_INVALID, "axis z");
    h = header_of(true);
    check_ok(ps_box_field_create(path, &identity, &h, &f));
    values[24] = NAN;
    check_fails(ps_box_field_write(&f, 0, values), PS_INVALID, "at (0, 1, 0)");
    ps_box_field_close(&f);
    check_ok(ps_box_field_open(path, NULL, &f)); /* the older file is still there */
    ps_box_field_close(&f);
}

/* Parts of a few planes each, joined: the whole, whatever the chunks. */
static void parts_join(void **state)
{
    static const int64_t start[] = {0, 1, 150, 400};
    static double back[400 * 24 * 25];
    ps_store_identity full = identity;
    ps_box_field_header h = header_of(false);
    ps_box_field out, in;
    char part[4096];
    full.format = PS_BOX_FIELD_FORMAT;
    full.format_version = PS_BOX_FIELD_VERSION;
    for (int64_t i = 0; i < 400 * 24 * 25; ++i) values[i] = .25 * (double)i;
    for (int p = 0; p < 3; ++p) {
        ps_store_part_path(path, 0, p, part);
        check_ok(ps_box_field_create_part(part, &identity, &h, start[p], start[p + 1], &out));
        for (int64_t c = 0; c < out.chunks; ++c) {
            int64_t first, end;
            ps_box_field_chunk(&out, c, &first, &end);
            check_ok(ps_box_field_write(&out, c, values + (start[p] + first) * out.plane));
        }
        check_ok(ps_box_field_commit(&out));
    }
    check_ok(ps_store_write_master(path, &full, 0, 3));
    check_ok(ps_box_field_open(path, "density", &in));
    check_ok(ps_box_field_read(&in, 0, 400, back));
    assert_memory_equal(back, values, sizeof back);
    check_ok(ps_box_field_read(&in, 149, 3, back));
    assert_memory_equal(back, values + 149 * in.plane, (size_t)(3 * in.plane) * sizeof *back);
    ps_box_field_close(&in);
    check_fails(ps_box_field_create_part(path, &identity, &h, 5, 401, &out), PS_USAGE, "planes 5");
    for (int p = 0; p < 3; ++p) {
        ps_store_part_path(path, 0, p, part);
        unlink(part);
    }
}
