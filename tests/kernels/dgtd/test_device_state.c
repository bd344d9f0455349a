/* device_state without a device: sizes, places, weights, and that the CPU is told apart. What the
 * kernels do is checked on one (tests/gpu/check_dgtd.c). */
#include "kernels/dgtd/device_kernels.h"

#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/cpu_device.h"
#include "tests/support/dgtd_case.h"

static ps_dgtd_device shape_of(int order, ps_precision precision, ps_dgtd_device_mode mode)
{
    ps_dgtd_device device;
    ps_dgtd_reference reference;
    ps_dgtd_system system = {.order = order, .precision = precision, .reference = &reference};
    ps_dgtd_reference_init(&reference, order);
    ps_dgtd_system_count(&system, 1001, 3);
    ps_dgtd_device_shape(&device, &system, mode);
    return device;
}

/* Arrays lie one after the other, aligned, within the bytes asked for; fields are the host's. */
static void arrays_have_their_places(void **state)
{
    static char memory[1 << 20];
    for (int order = 1; order <= 4; ++order)
        for (int precision = 0; precision < 2; ++precision) {
            ps_dgtd_device d = shape_of(order, (ps_precision)precision, PS_DGTD_PAPER);
            int64_t lanes = ps_dgtd_lanes((ps_precision)precision), real = 64 / lanes;
            int64_t nodes = (order + 1) * (order + 2) * (order + 3) / 6;
            int64_t bytes = ps_dgtd_device_place(&d, NULL), field = d.groups * 3 * nodes * 64;
            assert_true(bytes < (int64_t)sizeof memory + field);
            ps_dgtd_device_place(&d, memory);
            char *arrays[] = {d.tangents,
                              (char *)d.links,
                              (char *)d.kinds,
                              (char *)d.bordered,
                              (char *)d.material,
                              d.steps,
                              (char *)d.to_nodes,
                              d.dense,
                              d.flux};
            assert_ptr_equal(arrays[0], memory);
            for (int i = 1; i < 9; ++i) {
                assert_true(arrays[i] > arrays[i - 1]);
                assert_int_equal((arrays[i] - memory) % 256, 0);
            }
            assert_true((char *)d.links - memory >= d.groups * lanes * 9 * real);
            assert_true((char *)d.flux - memory + field <= bytes);
            assert_int_equal(ps_dgtd_device_field_bytes(&d, 0), field);
            assert_int_equal(ps_dgtd_device_field_bytes(&d, lanes + 1), field + 2 * 3 * nodes * 64);
            d.mode = PS_DGTD_FUSED;
            assert_true(ps_dgtd_device_place(&d, NULL) <= bytes - field);
        }
}

/* The kernels' list of face nodes is the reference's. */
static void face_nodes_are_those_of_the_reference(void **state)
{
    for (int order = 1; order <= 4; ++order) {
        ps_dgtd_reference reference;
        ps_dgtd_face_nodes faces;
        ps_dgtd_reference_init(&reference, order);
        ps_dgtd_list_face_nodes(order, &faces);
        for (int f = 0; f < 4; ++f)
            for (int m = 0; m < reference.face_nodes; ++m)
                assert_int_equal(faces.node[f][m], reference.face[f][m]);
    }
}

/* Weights for values at nodes and those for coefficients give the same value of a polynomial. */
static void probe_weights_turn(void **state)
{
    static ps_dgtd_device_tables tables;
    uint64_t seed = 3;
    for (int order = 1; order <= 4; ++order) {
        ps_dgtd_reference nodal;
        double weights[PS_DGTD_MAX_NODES], turned[PS_DGTD_MAX_NODES], expected = 0, value = 0;
        const double l[4] = {.15, .25, .2, .4};
        ps_dgtd_reference_init(&nodal, order);
        ps_dgtd_device_tables_init(&tables, &nodal);
        ps_dgtd_reference_values(&nodal, l, weights);
        ps_dgtd_device_probe_weights(&tables, weights, turned);
        for (int j = 0; j < nodal.nodes; ++j) {
            double coefficient = check_random(&seed) - .5;
            value += turned[j] * coefficient;
            for (int i = 0; i < nodal.nodes; ++i)
                expected += weights[i] * tables.bases.to_nodes[i * nodal.nodes + j] * coefficient;
        }
        check_near(value, expected, 1e-14, 0);
    }
}

/* The CPU's device has no kernels here, and says so before anything is touched. */
static void the_cpu_is_refused(void **state)
{
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    PS_SCOPED(ps_stream_close) ps_stream *stream = stream_on(device);
    ps_dgtd_device d = shape_of(2, PS_SINGLE, PS_DGTD_FUSED);
    ps_dgtd_device_march march = {.device = &d};
    const ps_dgtd_device_part part = {0, 0, 1};
    double factors[2 * PS_DGTD_DEVICE_FREQUENCIES + 2] = {0};
    ps_dgtd_device_halo halo = {.peers = 0};
    const ps_dgtd_device_faces faces = {.with = 1};
    check_fails(ps_dgtd_device_half_step(&d, PS_DGTD_E, NULL, NULL, &part, 1, stream), PS_FAILED,
                "need a CUDA device");
    check_fails(ps_dgtd_device_half_step(&d, PS_DGTD_E, NULL, NULL, &part, 33, stream), PS_FAILED,
                "33 parts");
    check_fails(ps_dgtd_device_march_half(&march, PS_DGTD_H, 0, 0, 1, stream), PS_FAILED,
                "need a CUDA device");
    check_fails(ps_dgtd_device_put(&d, NULL, NULL, 0, 1, stream), PS_FAILED, "need a CUDA device");
    check_fails(ps_dgtd_device_push(&d, &halo, &faces, PS_DGTD_E, NULL, stream), PS_FAILED,
                "this is the CPU");
    assert_int_equal(halo.peer[0].pushed, 0);
    check_fails(ps_dgtd_device_dft_add(&d, NULL, factors, PS_DGTD_DEVICE_FREQUENCIES + 1, 0, 1,
                                       NULL, stream),
                PS_USAGE, "65 frequencies");
}
