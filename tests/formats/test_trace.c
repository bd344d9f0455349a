#include <stdlib.h>

#include "formats/trace.h"
#include "runtime/scope.h"
#include "tests/check.h"

static const char path[] = "t.h5";

static const ps_store_identity identity = {.creator = "test", .revision = "0", .options = "a=1\n"};

static void fill(ps_trace *trace)
{
    uint64_t seed = 7;
    for (int64_t i = 0; i < trace->samples; ++i) trace->axis[i] = -3 + .25 * (double)(i * i);
    for (int64_t i = 0; i < trace->samples * trace->channels; ++i) {
        trace->real[i] = check_random(&seed) - .5;
        if (trace->imaginary) trace->imaginary[i] = check_random(&seed) * 1e-9;
    }
    for (int64_t i = 0; i < 3 * trace->channels; ++i) trace->places[i] = check_random(&seed);
}

static void round_trip(void **state)
{
    for (int complex_values = 0; complex_values < 2; ++complex_values) {
        PS_SCOPED(ps_trace_release) ps_trace out = {0}, in = {0};
        check_ok(ps_trace_init(&out, 501, 6, complex_values));
        fill(&out);
        out.in_frequency = complex_values;
        out.far_field = true;
        out.grid[0] = 2, out.grid[1] = 3;
        strcpy(out.quantity, "scattered pressure");
        strcpy(out.units, "Pa m");
        out.origin =
            (ps_trace_origin){.speed = 343, .dt = 1e-5, .basis = PS_TRACE_HAT, .emitter_count = 2};
        strcpy(out.origin.emitters[1], "plane:dir=0,0,1");
        strcpy(out.origin.emitters[0], "uniform:width=1");
        check_ok(ps_trace_save(path, &out, &identity, 0, NULL, NULL));
        check_ok(ps_trace_load(path, &in));
        assert_int_equal(in.samples, 501);
        assert_int_equal(in.channels, 6);
        assert_int_equal(in.complex_values, complex_values);
        assert_int_equal(in.in_frequency, complex_values);
        assert_true(in.far_field);
        assert_int_equal(in.grid[1], 3);
        assert_string_equal(in.quantity, "scattered pressure");
        assert_string_equal(in.units, "Pa m");
        check_near(in.origin.speed, 343, 0, 0);
        check_near(in.origin.edge, 0, 0, 0);
        assert_int_equal(in.origin.basis, PS_TRACE_HAT);
        assert_int_equal(in.origin.emitter_count, 2);
        assert_string_equal(in.origin.emitters[1], "plane:dir=0,0,1");
        assert_memory_equal(in.axis, out.axis, 501 * sizeof(double));
        assert_memory_equal(in.real, out.real, 501 * 6 * sizeof(double));
        if (complex_values)
            assert_memory_equal(in.imaginary, out.imaginary, 501 * 6 * sizeof(double));
        assert_memory_equal(in.places, out.places, 18 * sizeof(double));
    }
}

/* A bad trace is refused before an older file is touched. */
static void refuses_bad_traces(void **state)
{
    PS_SCOPED(ps_trace_release) ps_trace trace = {0}, old = {0};
    check_ok(ps_trace_init(&trace, 10, 4, false));
    fill(&trace);
    check_ok(ps_trace_save(path, &trace, &identity, 0, NULL, NULL));
#define bad(place, value, text)                                                                    \
    check_fails_if(trace.place, value, ps_trace_save(path, &trace, &identity, 0, NULL, NULL),      \
                   PS_INVALID, text)
    bad(axis[5], trace.axis[4], "ascend");
    bad(axis[5], NAN, "finite");
    trace.grid[0] = 3;
    bad(grid[1], 2, "grid");
    check_ok(ps_trace_load(path, &old));
    check_near(old.axis[5], trace.axis[5], 0, 0);
}

static void refuses_foreign_files(void **state)
{
    static const struct {
        ps_store_identity identity;
        const char *text;
    } cases[] = {{{.format = "penstock-other", .format_version = 1}, "penstock-other"},
                 {{.format = "penstock-trace", .format_version = 1}, "/trace/real"},
                 {{.format = "penstock-trace", .format_version = 99}, "99"}};
    for (int i = 0; i < 3; ++i) {
        ps_store *store;
        ps_trace trace;
        check_ok(ps_store_create(path, &cases[i].identity, &store));
        if (i == 0) check_ok(ps_store_put_int(store, "/", "far_field", 0));
        check_ok(ps_store_commit(&store));
        check_fails(ps_trace_load(path, &trace), PS_INVALID, cases[i].text);
    }
}

static void refuses_empty(void **state)
{
    ps_trace trace;
    check_fails(ps_trace_init(&trace, 0, 3, false), PS_INVALID, "samples");
}
