/* Models of prisms: a round trip, and what a reader must reject. */
#include "formats/prism_model.h"

#include "tests/check.h"

static const ps_store_identity identity = {
    .format = PS_PRISM_MODEL_FORMAT, .format_version = PS_PRISM_MODEL_VERSION, .creator = "test"};

static double x[] = {0, 1, 3}, y[] = {5, 6}, z[] = {-4, -2, -1, 0};
static double prisms[] = {0, 1, 5, 6, -4, -2, 100, 1, 3, 5, 6, -1, 0, -7};
static double place[] = {.5, 5.5, 1, 2, 5.5, 1}, observed[] = {1, 2}, error[] = {.1, .2},
              computed[] = {1.1, 1.9}, history[] = {1e-3, 50, 7, 1e-5, 2, 9};
static int64_t cells[] = {0, 5};

static ps_prism_model sample(void)
{
    return (ps_prism_model){.field = "gravity",
                            .component = "g_z",
                            .count = {2, 1, 3},
                            .cells = 2,
                            .stations = 2,
                            .trials = 2,
                            .width = 7,
                            .regularisation = 1e-5,
                            .chi2 = 1.25,
                            .target = 2,
                            .operator_error = 1e-4,
                            .edges = {x, y, z},
                            .cell = cells,
                            .prisms = prisms,
                            .place = place,
                            .observed = observed,
                            .error = error,
                            .computed = computed,
                            .history = history};
}

static void save(const ps_prism_model *model)
{
    ps_store *store;
    check_ok(ps_store_create("model.h5", &identity, &store));
    check_ok(ps_prism_model_put(store, model));
    check_ok(ps_store_commit(&store));
}

static void test_round_trip(void **state)
{
    ps_prism_model m = sample(), back;
    save(&m);
    check_ok(ps_prism_model_load("model.h5", &back));
    assert_string_equal(back.component, "g_z");
    assert_string_equal(ps_prism_model_data_units(&back), "mGal");
    assert_string_equal(ps_prism_model_units(&back), "kg/m3");
    assert_int_equal(back.cells, 2);
    assert_int_equal(back.count[2], 3);
    assert_memory_equal(back.prisms, prisms, sizeof prisms);
    assert_memory_equal(back.cell, cells, sizeof cells);
    assert_memory_equal(back.edges[2], z, sizeof z);
    assert_memory_equal(back.history, history, sizeof history);
    assert_memory_equal(back.computed, computed, sizeof computed);
    check_near(back.chi2, 1.25, 0, 0);
    ps_prism_model_release(&back);
}

static ps_status save_and_load(const ps_prism_model *m)
{
    ps_prism_model back;
    save(m);
    return ps_prism_model_load("model.h5", &back);
}

static void test_refusals(void **state)
{
    ps_prism_model m = sample();
    check_fails_if(z[1], -5, save_and_load(&m), PS_INVALID, "planes 0 and 1 along z do not ascend");
    check_fails_if(cells[1], 6, save_and_load(&m), PS_INVALID, "/cells holds 6 in row 1");
    check_fails_if(cells[1], 0, save_and_load(&m), PS_INVALID, "/cells holds 0 in row 1");
    check_fails_if(observed[1], NAN, save_and_load(&m), PS_INVALID, "not finite");
    int64_t more[] = {0, 1, 2, 3, 4, 5, 6};
    m.cells = 7;
    m.cell = more;
    check_fails_if(m.width, 2, save_and_load(&m), PS_INVALID, "/prisms has 2 columns");
}
