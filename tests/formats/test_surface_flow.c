/* A flow about a body in a file: a round trip, and what is refused. */
#include "formats/surface_flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

static void write_file(const ps_surface_flow *flow)
{
    ps_store *store;
    const ps_store_identity identity = {.format = "penstock-test", .format_version = 1};
    check_ok(ps_store_create("flow.h5", &identity, &store));
    check_ok(ps_surface_flow_put(flow, store));
    check_ok(ps_store_commit(&store));
}

static ps_status read_file(int64_t vertices, ps_surface_flow *out)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    check_ok(ps_store_open("flow.h5", "penstock-test", 1, &store));
    return ps_surface_flow_get(store, vertices, out);
}

static void comes_back(void **state)
{
    ps_surface_flow flow, back;
    const double velocity[3] = {3, -.25, 1e-9};
    check_ok(ps_surface_flow_init(&flow, velocity, 5));
    for (int v = 0; v < 5; ++v) flow.potential[v] = .1 * v - 1;
    write_file(&flow);
    check_ok(read_file(5, &back));
    assert_int_equal(back.vertices, 5);
    assert_memory_equal(back.velocity, velocity, sizeof velocity);
    assert_memory_equal(back.potential, flow.potential, 5 * sizeof(double));
    ps_surface_flow_release(&back);
    check_fails(read_file(6, &back), PS_INVALID, "flow_potential");
    flow.velocity[1] = INFINITY;
    write_file(&flow);
    check_fails(read_file(5, &back), PS_INVALID, "body_flow_y is not finite");
    ps_surface_flow_release(&flow);
}

static void rest_leaves_nothing(void **state)
{
    ps_surface_flow none = {.vertices = 0}, back;
    write_file(&none);
    check_ok(read_file(5, &back));
    assert_int_equal(back.vertices, 0);
}
