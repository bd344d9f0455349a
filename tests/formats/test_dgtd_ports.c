/* dgtd_ports and port_signals: round trips of lumped ports and modes, files of version 1, what is refused. */
#include "formats/port_signals.h"

#include "runtime/scope.h"
#include "tests/check.h"

enum { SIDES = 5, NODES = 6, SAMPLES = 40 };

static const char path[] = "p.h5";

static ps_store_identity identity_of(const char *format, int version)
{
    return (ps_store_identity){.format = format, .format_version = version, .creator = "test", .revision = "0", .options = "a=1\n"};
}

/* A lumped port of two sides and a TE mode of three. */
static void fill(ps_dgtd_ports *x, int nodes)
{
    check_ok(ps_dgtd_ports_allocate(x, 2, SIDES, nodes));
    x->spec[0] = (ps_dgtd_port_spec){.name = "gap", .resistance = 50, .reference = 50, .norm = 2, .sides = 2};
    x->spec[1] = (ps_dgtd_port_spec){.name = "end",
                                     .reference = 376.7,
                                     .mode = {2, 137.4, 2.1, 1},
                                     .amplitude = 1,
                                     .width = .03,
                                     .norm = 1,
                                     .sides = 3};
    for (int i = 0; i < SIDES; ++i) x->faces[i] = 7 * i + 1;
    for (int i = 0; i < SIDES * nodes; ++i)
        for (int c = 0; c < 3; ++c) x->gradients[i][c] = i + .25 * c;
}

static void save(const ps_dgtd_ports *x)
{
    ps_store *store;
    const ps_store_identity identity = identity_of("penstock-test", 1);
    check_ok(ps_store_create(path, &identity, &store));
    check_ok(ps_dgtd_ports_write(store, x));
    check_ok(ps_store_commit(&store));
}

static ps_status load(ps_dgtd_ports *x)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    check_ok(ps_store_open(path, "penstock-test", 1, &store));
    return ps_dgtd_ports_read(store, 10, x);
}

static void ports_come_back(void **state)
{
    PS_SCOPED(ps_dgtd_ports_release) ps_dgtd_ports out = {0}, in = {0};
    fill(&out, NODES);
    save(&out);
    check_ok(load(&in));
    assert_int_equal(in.nodes, NODES);
    assert_int_equal(in.spec[0].mode.guide, 0);
    assert_int_equal(in.spec[1].mode.guide, 2);
    check_near(in.spec[1].mode.cutoff, 137.4, 0, 0);
    assert_string_equal(in.spec[1].name, "end");
    assert_memory_equal(in.gradients, out.gradients, SIDES * NODES * sizeof *in.gradients);
}

static ps_status save_and_load(const ps_dgtd_ports *x)
{
    PS_SCOPED(ps_dgtd_ports_release) ps_dgtd_ports in = {0};
    save(x);
    return load(&in);
}

#define refuses(place, value, why) check_fails_if(place, value, save_and_load(&x), PS_INVALID, why)

static void refuses_what_no_port_has(void **state)
{
    PS_SCOPED(ps_dgtd_ports_release) ps_dgtd_ports x = {0};
    fill(&x, NODES);
    refuses(x.spec[1].mode.cutoff, 0, "a mode that no guide has");
    refuses(x.spec[1].mode.guide, 7, "values that no port has");
    refuses(x.spec[1].resistance, 50, "values that no port has");
    refuses(x.spec[0].resistance, 0, "values that no port has");
    refuses(x.faces[3], x.faces[2], "side 3 of a port");
    check_ok(save_and_load(&x));
}

static void impedance_of_a_mode(void **state)
{
    const ps_dgtd_port_mode te = {2, 100, 4, 1}, tm = {3, 100, 4, 1}, lumped = {0, 0, 0, 0};
    double z, beta, cutoff = ps_dgtd_port_cutoff(&te);
    check_near(cutoff, 100 * 299792458. / (2 * M_PI * 2), 0, 1e-14);
    assert_true(ps_dgtd_port_impedance(&te, 188, 1.25 * cutoff, &z, &beta));
    check_near(z, 188 / .6, 0, 1e-14);
    check_near(beta, 125 * .6, 0, 1e-14);
    assert_true(ps_dgtd_port_impedance(&tm, 188, 1.25 * cutoff, &z, &beta));
    check_near(z, 188 * .6, 0, 1e-14);
    assert_false(ps_dgtd_port_impedance(&te, 188, cutoff, &z, &beta));
    assert_true(ps_dgtd_port_impedance(&lumped, 50, 1, &z, &beta));
    check_near(z, 50, 0, 0);
}

/* version 1 has no modes: all are lumped. */
static void signals_come_back(void **state)
{
    for (int version = 1; version <= PS_PORT_SIGNALS_VERSION; ++version) {
        ps_store *store;
        PS_SCOPED(ps_port_signals_release) ps_port_signals out = {0}, in = {0};
        const ps_store_identity identity = identity_of(PS_PORT_SIGNALS_FORMAT, version);
        check_ok(ps_port_signals_init(&out, 2, SAMPLES));
        out.dt = 1e-12;
        strcpy(out.name[0], "gap"), strcpy(out.name[1], "end");
        out.reference[0] = 50, out.reference[1] = 376.7;
        out.mode[1] = (ps_dgtd_port_mode){3, 12, 1, 1};
        for (int i = 0; i < 2 * SAMPLES; ++i) out.voltage[i] = i, out.current[i] = -i;
        check_ok(ps_store_create(path, &identity, &store));
        check_ok(ps_port_signals_write(store, &out));
        check_ok(ps_store_commit(&store));
        check_ok(ps_store_open(path, PS_PORT_SIGNALS_FORMAT, PS_PORT_SIGNALS_VERSION, &store));
        check_ok(ps_port_signals_read(store, &in));
        ps_store_close(&store);
        assert_int_equal(in.mode[1].guide, version == 1 ? 0 : 3);
        check_near(in.voltage[2 * SAMPLES - 1], 2 * SAMPLES - 1, 0, 0);
    }
}
