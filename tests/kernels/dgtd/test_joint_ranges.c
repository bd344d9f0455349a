/* ranges: layers around elements that have to be together, ranges that are joined, and that R_1 of
 * local steps has to do with those elements alone. */
#include "kernels/dgtd/ranges.h"

#include "kernels/dgtd/local_steps.h"
#include "stage/dgtd_local.h"
#include "tests/check.h"
#include "tests/support/dgtd_case.h"

/* Neighbours lie at most a layer apart, joint elements in one; returns the number of layers. */
static int64_t check_layers(const cube_tets *mesh, const uint8_t *joint)
{
    int64_t elements = mesh->elements, most = 0;
    int32_t *layer = dgtd_array((size_t)elements * sizeof *layer);
    int32_t *work = dgtd_array(2 * (size_t)elements * sizeof *work), together = -1;
    int64_t layers = ps_dgtd_joint_layers(mesh->links, elements, joint, layer, work);
    for (int64_t e = 0; e < elements; ++e) {
        assert_true(layer[e] >= 0 && layer[e] < layers);
        if (layer[e] > most) most = layer[e];
        if (joint[e] && together < 0) together = layer[e];
        if (joint[e]) assert_int_equal(layer[e], together);
        for (int f = 0; f < 4; ++f) {
            int32_t link = mesh->links[4 * e + f];
            if (link >= 0) assert_in_range(layer[link / 4] - layer[e] + 1, 0, 2);
        }
    }
    assert_int_equal(layers, most + 1);
    free(layer);
    free(work);
    return layers;
}

static void layers_keep_joint_elements_together(void **state)
{
    cube_tets mesh;
    check_ok(cube_tets_init(&mesh, 7, .2, PS_DGTD_PEC));
    uint8_t *joint = calloc((size_t)mesh.elements, 1);
    assert_true(check_layers(&mesh, joint) > 14); /* none */
    joint[mesh.elements / 2] = 1;
    int64_t one = check_layers(&mesh, joint);
    assert_true(one > 7);
    joint[3] = joint[mesh.elements - 5] = 1; /* far apart: all else is near one of them */
    assert_true(check_layers(&mesh, joint) < one);
    for (int64_t e = 0; e < mesh.elements; e += 3) joint[e] = 1;
    assert_true(check_layers(&mesh, joint) < 6);
    memset(joint, 1, (size_t)mesh.elements);
    assert_int_equal(check_layers(&mesh, joint), 1);
    for (int64_t f = 0; f < 4 * mesh.elements; ++f) /* two pieces */
        if (mesh.links[f] >= 0 && (f / 4 < 900) != (mesh.links[f] / 4 < 900)) mesh.links[f] = -1;
    memset(joint, 0, (size_t)mesh.elements);
    joint[1] = joint[mesh.elements - 1] = 1; /* of both */
    check_layers(&mesh, joint);
    joint[1] = 0;
    check_layers(&mesh, joint);
    free(joint);
    cube_tets_release(&mesh);
}

static void joined_ranges_are_one(void **state)
{
    int64_t bounds[] = {0, 4, 6, 9, 20};
    assert_int_equal(ps_dgtd_range_of(bounds, 4, 0), 0);
    assert_int_equal(ps_dgtd_range_of(bounds, 4, 5), 1);
    assert_int_equal(ps_dgtd_range_of(bounds, 4, 19), 3);
    assert_int_equal(ps_dgtd_ranges_join(7, 8, bounds, 4), 4);
    assert_int_equal(ps_dgtd_ranges_join(5, 8, bounds, 4), 3);
    assert_int_equal(bounds[1], 4);
    assert_int_equal(bounds[2], 9);
    assert_int_equal(bounds[3], 20);
    assert_int_equal(ps_dgtd_ranges_join(0, 19, bounds, 3), 1);
    assert_int_equal(bounds[1], 20);
}

/* The groups that R_1 has changed are within the span, and what is beside a changed element is
 * joint: half steps of E elsewhere may be made before R_1 or after it. */
static void r1_acts_on_joint_elements_alone(void **state)
{
    static const ps_dgtd_material one = {1, 1, 0};
    dgtd_case x;
    ps_dgtd_local_steps steps;
    check_ok(cube_tets_init(&x.mesh, 6, .2, PS_DGTD_PEC));
    check_ok(dgtd_case_init(&x, 1, PS_SINGLE, &one, 1));
    int64_t elements = x.mesh.elements, first, last, changed = 0, lanes = PS_DGTD_LANES_F32;
    uint8_t *classes = calloc(5, (size_t)elements), *reach = classes + elements;
    size_t bytes = dgtd_case_field_bytes(&x);
    for (int64_t e = 0; e < elements; ++e) classes[e] = e == 500 ? 2 : e > 620 && e < 624;
    int levels = ps_dgtd_local_reach(x.mesh.links, elements, classes, NULL, reach + elements, reach);
    ps_dgtd_set_step(&x.system, &one, 1e-2);
    check_ok(ps_dgtd_local_open(&steps, &x.system, &one, reach, levels, 1e-2, (int64_t)bytes));
    for (int64_t e = 0; e < elements; ++e)
        for (int i = 0; i < 3 * x.reference.nodes; ++i)
            ps_dgtd_set_node(&x.system, x.field[1], e, i % 3, i / 3, sin((double)(e * 37 + i)));
    ps_dgtd_local_apply(&steps.local, &x.system, x.field[1]);
    ps_dgtd_local_span(&x.system, x.mesh.links, reach, &first, &last);
    for (int64_t e = 0; e < elements; ++e) {
        bool differs = false;
        for (int i = 0; i < 3 * x.reference.nodes; ++i)
            differs |= ps_dgtd_get(&x.system, x.field[1], e, i % 3, i / 3) !=
                       (double)(float)sin((double)(e * 37 + i));
        if (!differs) continue;
        ++changed;
        assert_in_range(e / lanes, first, last);
        assert_true(ps_dgtd_local_is_joint(x.mesh.links, reach, e));
        for (int f = 0; f < 4; ++f) {
            int32_t link = x.mesh.links[4 * e + f];
            if (link < 0) continue;
            assert_true(ps_dgtd_local_is_joint(x.mesh.links, reach, link / 4));
            assert_in_range(link / 4 / lanes, first, last);
        }
    }
    assert_in_range(changed, 20, elements / 4);
    ps_dgtd_local_close(&steps);
    free(classes);
    dgtd_case_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_keep_joint_elements_together),
        cmocka_unit_test(joined_ranges_are_one),
        cmocka_unit_test(r1_acts_on_joint_elements_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
