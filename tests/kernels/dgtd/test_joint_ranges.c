/* ranges: pieces that have to be together, layers and ranges that keep them so; and that stages of
 * local steps by ranges are those of all at once. */
#include "kernels/dgtd/ranges.h"

#include "kernels/dgtd/local_steps.h"
#include "tests/support/dgtd_graded.h"

/* Neighbours lie at most a layer apart, a piece in one, and marked neighbours in one piece, whose
 * number is its first element; returns the number of layers. */
static int64_t check_layers(const cube_tets *mesh, const uint8_t *marked, int64_t seed)
{
    const size_t elements = (size_t)mesh->elements;
    int64_t most = 0;
    PS_SCOPED_MEMORY int32_t *layer = dgtd_array(elements * 4), *pieces = dgtd_array(elements * 4),
                             *work = dgtd_array(elements * 8), *counts = dgtd_array(elements * 4);
    ps_dgtd_pieces(mesh->links, mesh->elements, marked, pieces);
    int64_t layers =
        ps_dgtd_layers_of_pieces(mesh->links, mesh->elements, pieces, seed, layer, work);
    assert_int_equal(layer[seed], 0);
    for (int64_t e = 0; e < mesh->elements; ++e) {
        assert_in_range(layer[e], 0, layers - 1);
        ++counts[layer[e]];
        if (layer[e] > most) most = layer[e];
        assert_int_equal(pieces[e] >= 0, marked[e]);
        if (marked[e]) assert_in_range(pieces[e], 0, e);
        if (marked[e]) assert_int_equal(pieces[pieces[e]], pieces[e]);
        if (marked[e]) assert_int_equal(layer[e], layer[pieces[e]]);
        for (int f = 0; f < 4; ++f) {
            int32_t link = mesh->links[4 * e + f];
            if (link < 0) continue;
            assert_in_range(layer[link / 4] - layer[e] + 1, 0, 2);
            if (marked[e] && marked[link / 4]) assert_int_equal(pieces[e], pieces[link / 4]);
        }
    }
    assert_int_equal(layers, most + 1);
    int64_t row = 0; /* the largest three, by hand */
    for (int64_t l = 0; l < layers; ++l) {
        int64_t sum = counts[l] + (l > 0 ? counts[l - 1] : 0) + (l > 1 ? counts[l - 2] : 0);
        if (sum > row) row = sum;
    }
    assert_int_equal(ps_dgtd_largest_row(layer, mesh->elements, layers, 3, work), row);
    return layers;
}

static void layers_keep_pieces_whole(void **state)
{
    PS_SCOPED(cube_tets_release) cube_tets mesh = {0};
    check_ok(cube_tets_init(&mesh, 7, .2, PS_DGTD_PEC));
    PS_SCOPED_MEMORY uint8_t *marked = calloc((size_t)mesh.elements, 1);
    int64_t none = check_layers(&mesh, marked, 0);
    assert_true(none > 14);
    marked[mesh.elements / 2] = marked[3] = marked[mesh.elements - 5] = 1; /* three small pieces */
    assert_true(check_layers(&mesh, marked, 0) <= none);
    for (int64_t e = mesh.elements / 3; e < mesh.elements / 2; ++e) marked[e] = 1; /* a slab */
    assert_true(check_layers(&mesh, marked, 0) < none);
    for (int64_t e = 0; e < mesh.elements; ++e) marked[e] = e % 3 > 0;
    check_layers(&mesh, marked, 100);
    memset(marked, 1, (size_t)mesh.elements);
    assert_int_equal(check_layers(&mesh, marked, 5), 1);
    for (int64_t f = 0; f < 4 * mesh.elements; ++f) /* two pieces */
        if (mesh.links[f] >= 0 && (f / 4 < 900) != (mesh.links[f] / 4 < 900)) mesh.links[f] = -1;
    check_layers(&mesh, marked, 1000);
    memset(marked, 0, (size_t)mesh.elements);
    check_layers(&mesh, marked, 1000);
}

/* What is bound together is in one range, and links reach the next ones alone. */
static void ranges_keep_pieces_whole(void **state)
{
    PS_SCOPED(dgtd_case_release) dgtd_case x = {0};
    check_ok(dgtd_case_cube(&x, 1, PS_SINGLE, 5, .2));
    int64_t groups = x.system.groups, *whole = dgtd_take(&x, (size_t)groups * sizeof *whole),
            *bounds = dgtd_take(&x, (size_t)(groups + 1) * sizeof *bounds);
    for (int64_t g = 0; g < groups; ++g) whole[g] = g % 9 == 4 && g + 3 < groups ? g + 3 : g;
    for (int64_t first = 1; first <= groups; first += 5) {
        int64_t count = ps_dgtd_ranges(&x.system, first, 1, whole, bounds);
        assert_int_equal(bounds[count], groups);
        for (int64_t g = 0; g < groups; ++g) {
            int64_t range = ps_dgtd_range_of(bounds, count, g);
            assert_in_range(g, bounds[range], bounds[range + 1] - 1);
            assert_int_equal(ps_dgtd_range_of(bounds, count, whole[g]), range);
            for (int i = 0; i < 4 * PS_DGTD_LANES_F32; ++i) {
                int64_t other = x.system.links[4 * PS_DGTD_LANES_F32 * g + i] / 4;
                other = ps_dgtd_range_of(bounds, count, other / PS_DGTD_LANES_F32);
                assert_in_range(other - range + 1, 0, 2);
            }
        }
    }
}

static void stepped_init(graded *t)
{
    dgtd_case *x = &t->x;
    check_ok(dgtd_case_cube(x, 1, PS_SINGLE, 6, .2));
    graded_classes(t);
    for (int64_t e = 0; e < x->mesh.elements; ++e)
        t->classes[e] = e == 500 ? 3 : e % 200 == 7 ? 2 : e > 620 && e < 624;
    graded_open(t, 1e-2);
    for (int64_t e = 0; e < x->mesh.elements; ++e)
        for (int i = 0; i < 3 * x->reference.nodes; ++i)
            ps_dgtd_set_node(&x->system, x->field[1], e, i % 3, i / 3, sin((double)(e * 37 + i)));
}

/* What is beside an element whose H R_1 changes is joint: half steps of E elsewhere may be made
 * before R_1 or after it. */
static void r1_acts_on_joint_elements_alone(void **state)
{
    PS_SCOPED(graded_release) graded t = {0};
    int64_t changed = 0;
    stepped_init(&t);
    const dgtd_case *x = &t.x;
    const int32_t *links = x->mesh.links;
    ps_dgtd_local_apply(&t.steps.local, &x->system, x->field[1]);
    for (int64_t e = 0; e < x->mesh.elements; ++e) {
        bool differs = false;
        for (int i = 0; i < 3 * x->reference.nodes; ++i)
            differs |= ps_dgtd_get(&x->system, x->field[1], e, i % 3, i / 3) !=
                       (double)(float)sin((double)(e * 37 + i));
        if (!differs) continue;
        ++changed;
        assert_true(ps_dgtd_local_is_joint(links, t.reach, e, 0));
        for (int f = 0; f < 4; ++f)
            if (links[4 * e + f] >= 0)
                assert_true(ps_dgtd_local_is_joint(links, t.reach, links[4 * e + f] / 4, 0));
    }
    assert_in_range(changed, 20, x->mesh.elements / 2);
}

/* R_1 H by stages, a half step of each being made on later groups before the next one is on earlier
 * ones and the other way around, has the bits of all at once, whatever the depth. */
static void stages_have_the_bits_of_all_at_once(void **state)
{
    PS_SCOPED(graded_release) graded t = {0};
    stepped_init(&t);
    dgtd_case *x = &t.x;
    const ps_dgtd_local *local = &t.steps.local;
    const size_t bytes = dgtd_case_field_bytes(x);
    void *start = dgtd_take(x, bytes), *whole = dgtd_take(x, bytes);
    memcpy(start, x->field[1], bytes);
    ps_dgtd_local_apply(local, &x->system, x->field[1]);
    memcpy(whole, x->field[1], bytes);
    for (int depth = 0; depth <= local->levels; ++depth) {
        int first[PS_DGTD_LOCAL_STAGES], count = ps_dgtd_local_stages(local, depth, first);
        assert_int_equal(count, (2 << depth) - 2);
        assert_int_equal(first[count], local->op_count);
        assert_int_equal(first[0], count ? 0 : local->op_count);
        for (int k = 0; k < count; ++k) { /* no other half step of a level above in a stage */
            int own = 0;
            for (int i = first[k]; i < first[k + 1]; ++i)
                own += local->ops[i].level < depth && local->ops[i].kind != PS_DGTD_LOCAL_ADD;
            assert_int_equal(own, 1);
        }
        memcpy(x->field[1], start, bytes);
        ps_dgtd_local_keep(local, &x->system, x->field[1], 0, x->system.groups);
        for (int k = 0; k < count; ++k) {
            bool pieces = false; /* in one range: here all is */
            for (int i = first[k]; i < first[k + 1]; ++i) pieces |= local->ops[i].level >= depth;
            int64_t step = pieces ? x->system.groups : 5;
            for (int64_t g = 0; g < x->system.groups; g += step) {
                int64_t at = k % 2 ? g : (x->system.groups - 1) / step * step - g;
                int64_t end = at + step < x->system.groups ? at + step : x->system.groups;
                for (int i = first[k]; i < first[k + 1]; ++i)
                    ps_dgtd_local_op_run(local, local->ops + i, x->field[1], at, end);
            }
        }
        if (count > 0) assert_memory_equal(x->field[1], whole, bytes);
    }
}
