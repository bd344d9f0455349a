/* Histories: what is appended comes back; wrong use is refused (formats/history.h). */
#include "formats/history.h"

#include <stdlib.h>
#include <unistd.h>

#include "runtime/scope.h"
#include "tests/check.h"

static const char path[] = "out.h5";

static const ps_store_identity identity = {
    .creator = "test", .revision = "r", .options = "steps=1\n"};

static ps_history_header header_of(int64_t steps, int64_t unknowns, ps_precision precision)
{
    ps_history_header header = {.slices = {.formulation = PS_SOUND_HARD,
                                           .precision = precision,
                                           .unknowns = unknowns,
                                           .k_max = 17,
                                           .nnz = 100,
                                           .d_max = 5,
                                           .d_mean = 3.5,
                                           .score = 12,
                                           .dt = 0.25,
                                           .speed = 340,
                                           .outer_points = 6,
                                           .mesh_uuid = "mesh-uuid",
                                           .mesh_hash = "0123456789abcdef"},
                                .steps = steps,
                                .emitter_count = 2,
                                .emitters = {"plane:dir=0,0,1:width=0.5", "uniform:width=2"},
                                .group = 8};
    return header;
}

static double value_of(int64_t step, int64_t unknown)
{
    return sin((double)(step * 1000 + unknown));
}

/* Steps first .. first+count-1 in the precision wanted. */
static void *rows_of(int64_t first, int64_t count, int64_t unknowns, ps_precision precision)
{
    void *rows = malloc((size_t)(count * unknowns) * 8);
    for (int64_t i = 0; i < count * unknowns; ++i) {
        double value = value_of(first + i / unknowns, i % unknowns);
        if (precision == PS_SINGLE)
            ((float *)rows)[i] = (float)value;
        else
            ((double *)rows)[i] = value;
    }
    return rows;
}

static void write_history(int64_t steps, int64_t unknowns, ps_precision precision, int64_t group)
{
    ps_history *history;
    ps_history_header header = header_of(steps, unknowns, precision);
    check_ok(ps_history_create(path, &identity, &header, &history));
    for (int64_t n = 1; n <= steps; n += group) {
        int64_t count = steps - n + 1 < group ? steps - n + 1 : group;
        PS_SCOPED_MEMORY void *rows = rows_of(n, count, unknowns, precision);
        check_ok(ps_history_append(history, count, rows));
    }
    check_ok(ps_history_commit(&history));
    assert_null(history);
}

static void comes_back(void **state)
{
    static const int64_t shapes[][3] = {{1, 1, 1}, {100, 7, 8}, {41, 30000, 3}, {3, 400000, 2}};
    for (int s = 0; s < 8; ++s) {
        const int64_t *shape = shapes[s / 2];
        ps_precision precision = s % 2 ? PS_SINGLE : PS_DOUBLE;
        int64_t steps = shape[0], unknowns = shape[1];
        write_history(steps, unknowns, precision, shape[2]);
        PS_SCOPED(ps_history_close) ps_history *history = NULL;
        check_ok(ps_history_open(path, &history));
        const ps_history_header *header = ps_history_header_of(history);
        assert_int_equal(header->steps, steps);
        assert_int_equal(header->group, 8);
        assert_int_equal(header->slices.unknowns, unknowns);
        assert_int_equal(header->slices.formulation, PS_SOUND_HARD);
        check_near(header->slices.dt, 0.25, 0, 0);
        assert_int_equal(header->emitter_count, 2);
        assert_string_equal(header->emitters[0], "plane:dir=0,0,1:width=0.5");
        assert_string_equal(header->emitters[1], "uniform:width=2");
        PS_SCOPED_MEMORY double *out = malloc((size_t)(steps * unknowns) * sizeof *out);
        check_ok(ps_history_read(history, 1, steps, out));
        for (int64_t i = 0; i < steps * unknowns; ++i) {
            double expected = value_of(1 + i / unknowns, i % unknowns);
            double rounded = precision == PS_SINGLE ? (double)(float)expected : expected;
            if (out[i] != rounded) check_near(out[i], rounded, 0, 0);
        }
        check_ok(ps_history_read(history, steps, 1, out));
        double last = value_of(steps, unknowns - 1);
        check_near(out[unknowns - 1], precision == PS_SINGLE ? (double)(float)last : last, 0, 0);
    }
}

static void wrong_use_is_refused(void **state)
{
    ps_history *history;
    ps_history_header header = header_of(5, 3, PS_DOUBLE);
    double rows[18] = {0};
    write_history(5, 3, PS_DOUBLE, 5);
    check_ok(ps_history_create(path, &identity, &header, &history));
    check_fails(ps_history_append(history, 6, rows), PS_FAILED, "more than 5 steps");
    check_ok(ps_history_append(history, 4, rows));
    check_fails(ps_history_commit(&history), PS_FAILED, "4 of 5 steps");
    assert_null(history);
    check_fails_if(header.steps, 0, ps_history_create(path, &identity, &header, &history),
                   PS_INVALID, "needs steps");
    check_fails_if(header.emitter_count, 17, ps_history_create(path, &identity, &header, &history),
                   PS_INVALID, "at most 16");
    /* the file written first is still there */
    double out[3];
    check_ok(ps_history_open(path, &history));
    check_fails(ps_history_read(history, 0, 1, out), PS_USAGE, "it holds 1 to 5");
    check_fails(ps_history_read(history, 5, 2, out), PS_USAGE, "it holds 1 to 5");
    check_ok(ps_history_read(history, 5, 1, out));
    check_near(out[2], value_of(5, 2), 0, 0);
    ps_history_close(&history);
    ps_history_close(&history);
}

static void foreign_files_are_refused(void **state)
{
    ps_history *history;
    unlink(path);
    check_fails(ps_history_open(path, &history), PS_INVALID, path);
    assert_null(history);
    for (int own = 0; own < 2; ++own) {
        ps_store *store;
        const ps_store_identity other = {.format = own ? "penstock-history" : "penstock-trace",
                                         .format_version = 1};
        check_ok(ps_store_create(path, &other, &store));
        check_ok(ps_store_commit(&store));
        check_fails(ps_history_open(path, &history), PS_INVALID, path);
    }
}
