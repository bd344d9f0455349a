/* Mirror planes: words, images, signs, sides. */
#include "formats/mirrors.h"

#include <string.h>

#include "tests/check.h"

static void test_words(void **state)
{
    static const char *const wrong[] = {"", "z", "z=", "z=1", "z=1:hard", "w=1:soft", "z=inf:soft", "z=1:soft:"};
    ps_mirrors m = {0}, again;
    char text[PS_MIRRORS_TEXT];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) check_fails(ps_mirrors_add(&m, wrong[i]), PS_USAGE, "");
    assert_int_equal(m.count, 0);
    check_ok(ps_mirrors_add(&m, "z=0.1:soft"));
    check_fails(ps_mirrors_add(&m, "z=3:rigid"), PS_USAGE, "");
    check_ok(ps_mirrors_add(&m, "x=-2e3:rigid"));
    check_fails(ps_mirrors_add(&m, "y=0:soft"), PS_USAGE, "");
    assert_int_equal(m.plane[0].axis, 0);
    ps_mirrors_print(&m, text);
    check_ok(ps_mirrors_scan(text, &again));
    assert_int_equal(again.count, 2);
    assert_true(again.plane[1].place == .1 && again.plane[1].soft && !again.plane[0].soft);
    check_fails(ps_mirrors_scan("x=1:soft;z=2:soft", &again), PS_INVALID, "");
    check_ok(ps_mirrors_scan("", &again));
    assert_int_equal(ps_mirror_copies(&again), 1);
}

static void test_images(void **state)
{
    const double x[3] = {1, 2, 3};
    double y[3];
    ps_mirrors m = {0};
    check_ok(ps_mirrors_add(&m, "z=1:soft"));
    check_ok(ps_mirrors_add(&m, "x=-1:rigid"));
    static const double images[4][3] = {{1, 2, 3}, {-3, 2, 3}, {1, 2, -1}, {-3, 2, -1}};
    static const int signs[4] = {1, 1, -1, -1};
    for (int copy = 0; copy < ps_mirror_copies(&m); ++copy) {
        ps_mirror_point(&m, copy, x, y);
        assert_int_equal(memcmp(y, images[copy], sizeof y), 0);
        assert_int_equal(ps_mirror_sign(&m, copy), signs[copy]);
        assert_int_equal(ps_mirror_turns(copy), copy == 1 || copy == 2);
        ps_mirror_vector(&m, copy, x, y);
        check_near(y[0], copy & 1 ? -1 : 1, 0, 0);
        check_near(y[2], copy & 2 ? -3 : 3, 0, 0);
    }
}

static void test_sides(void **state)
{
    double x[4][3] = {{0, 0, -1}, {1, 0, -2}, {0, 1, -3}, {0, 0, 0}};
    ps_mirrors m = {0};
    check_ok(ps_mirrors_add(&m, "z=0:rigid"));
    check_ok(ps_mirrors_find_sides(&m, x[0], 4));
    assert_int_equal(m.side[0], -1);
    check_near(ps_mirror_height(&m, 0, x[1]), 2, 0, 0);
    x[3][2] = .5;
    check_fails(ps_mirrors_find_sides(&m, x[0], 4), PS_INVALID, "");
    for (int v = 0; v < 4; ++v) x[v][2] = 0;
    check_fails(ps_mirrors_find_sides(&m, x[0], 4), PS_INVALID, "");
}
