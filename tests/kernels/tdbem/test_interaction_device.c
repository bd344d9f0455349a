/*
 * What the host does for tiles on a device: the sizes. The tiles themselves are checked on a GPU
 * (tests/gpu/check_interaction.c).
 */
#include "tests/check.h"

#include <stdbool.h>

#include "kernels/tdbem/interaction_device.h"
#include "tests/support/interaction_case.h"

static bool touches(const icosphere *mesh, int64_t triangle, int64_t first, int64_t count,
                    const uint8_t *fixed)
{
    for (int c = 0; c < 3; ++c) {
        int64_t v = mesh->triangles[3 * triangle + c];
        if (v >= first && v < first + count && !(fixed && fixed[v])) return true;
    }
    return false;
}

/* Every triangle at the range is counted once, those of rim vertices alone not at all. */
static void check_side(const interaction_case *c, int64_t first, int64_t count)
{
    const uint8_t *fixed = c->interaction.fixed;
    ps_interaction_side side = ps_interaction_side_of(&c->interaction, first, count);
    int64_t triangles = 0, slots = 0, most = 0;
    for (int64_t t = 0; t < c->sphere.triangle_count; ++t)
        triangles += touches(&c->sphere, t, first, count, fixed);
    for (int64_t v = first; v < first + count; ++v) {
        int64_t at = c->around_start[v + 1] - c->around_start[v];
        if (fixed && fixed[v]) continue;
        slots += at;
        most = at > most ? at : most;
    }
    assert_int_equal(side.unknowns, count);
    assert_int_equal(side.triangles, triangles);
    assert_int_equal(side.slots, slots);
    assert_int_equal(side.most, most);
}

static void test_sides(void **state)
{
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    interaction_case_sphere(&c, 2, 0, PS_SOUND_HARD, 3, .2);
    PS_SCOPED_MEMORY uint8_t *fixed = calloc((size_t)c.sphere.vertex_count, 1);
    for (int64_t v = 0; v < c.sphere.vertex_count; v += 3) fixed[v] = 1;
    for (int rim = 0; rim < 2; ++rim) {
        c.interaction.fixed = rim ? fixed : NULL;
        check_side(&c, 0, c.sphere.vertex_count);
        check_side(&c, 0, 1);
        check_side(&c, 17, 40);
        check_side(&c, c.sphere.vertex_count - 5, 5);
    }
}

/* The room of a row and a slice is enough for every k that their bounding spheres allow, and a
 * tile's is the sum over its entries. */
static void test_widths(void **state)
{
    for (int f = PS_SOUND_SOFT_S; f <= PS_SOUND_HARD; ++f) {
        PS_SCOPED(interaction_case_release) interaction_case c = {0};
        interaction_case_sphere(&c, 1, .1, (ps_formulation)f, 3, .07);
        int64_t n = c.interaction.unknowns, first;
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < n; ++j) {
                int64_t room = ps_interaction_side_of(&c.interaction, i, 1).widths +
                               ps_interaction_side_of(&c.interaction, j, 1).widths + 5;
                assert_true(ps_interval_bound(&c.interaction, i, j, &first) <= room);
            }
    }
}

static void test_room(void **state)
{
    PS_SCOPED(interaction_case_release) interaction_case c = {0};
    interaction_case_sphere(&c, 2, 0, PS_SOUND_HARD, 3, .2);
    ps_interaction_side all = ps_interaction_side_of(&c.interaction, 0, c.sphere.vertex_count);
    ps_interaction_side some = ps_interaction_side_of(&c.interaction, 10, 50);
    ps_interaction_room large = ps_interaction_room_of(&c.interaction, &all, &all, true);
    ps_interaction_room plain = ps_interaction_room_of(&c.interaction, &all, &all, false);
    ps_interaction_room small = ps_interaction_room_of(&c.interaction, &some, &some, true);
    assert_true(large.least < large.whole);
    assert_true(plain.whole < large.whole);
    assert_true(small.whole < large.whole && small.tables < large.tables);
    /* The terms of all pairs alone, nine of three k at least. */
    assert_true(large.whole > all.triangles * all.triangles * 27 * 8);
    ps_interaction_device work = {.interaction = &c.interaction, .memory_bytes = small.least};
    ps_interaction_tile tile = {.rows = 50, .slices = 50};
    check_fails(ps_interaction_device_start(&work, &tile, false, NULL), PS_EXHAUSTED,
                "device memory");
}
