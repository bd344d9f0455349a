#include <stdlib.h>
#include <unistd.h>

#include "formats/receivers.h"
#include "runtime/scope.h"
#include "tests/check.h"

static void check_place(const ps_receivers *r, int64_t i, double x, double y, double z)
{
    assert_true(i < r->count);
    check_near(r->places[3 * i], x, 1e-14, 0);
    check_near(r->places[3 * i + 1], y, 1e-14, 0);
    check_near(r->places[3 * i + 2], z, 1e-14, 0);
}

static void points_and_planes(void **state)
{
    PS_SCOPED(ps_receivers_release) ps_receivers r = {.count = 0};
    check_ok(ps_receivers_add_plane(&r, "0,0,-1;3,0,0;0,0,2;4x3"));
    assert_int_equal(r.count, 12);
    assert_int_equal(r.grid[0], 4);
    assert_int_equal(r.grid[1], 3);
    check_place(&r, 0, 0, 0, -1);
    check_place(&r, 1, 0, 0, 0);
    check_place(&r, 3, 1, 0, -1);
    check_place(&r, 11, 3, 0, 1);
    check_ok(ps_receivers_add_point(&r, "1e-1,-2,+3"));
    check_place(&r, 12, .1, -2, 3);
    assert_int_equal(r.grid[0], 0); /* no longer a plane alone */
    check_fails(ps_receivers_add_direction(&r, "0,0"), PS_USAGE, "do not go into one file");
}

static void directions(void **state)
{
    ps_receivers r = {.count = 0};
    check_ok(ps_receivers_add_direction(&r, "90,90"));
    check_place(&r, 0, 0, 1, 0);
    check_ok(ps_receivers_add_circle(&r, 4, "0,2,0")); /* from +z counterclockwise about +y */
    check_place(&r, 1, 0, 0, 1);
    check_place(&r, 2, 1, 0, 0);
    check_place(&r, 3, 0, 0, -1);
    assert_true(r.far_field);
    ps_receivers_release(&r);
    check_ok(ps_receivers_add_circle(&r, 2, "0,0,1")); /* z is the normal: from +x */
    check_place(&r, 0, 1, 0, 0);
    check_place(&r, 1, -1, 0, 0);
    ps_receivers_release(&r);
}

/* Middles of bands: 2 x 4 directions at 45 and 135 degrees, moved out to 10 m about a centre. */
static void spheres(void **state)
{
    const double centre[3] = {1, 2, 3}, half = 10 * sqrt(.5);
    ps_receivers r = {.count = 0};
    check_ok(ps_receivers_add_sphere(&r, "2x4"));
    assert_int_equal(r.count, 8);
    check_place(&r, 1, 0, sqrt(.5), sqrt(.5));
    check_ok(ps_receivers_move_out(&r, 10, centre));
    assert_false(r.far_field);
    check_place(&r, 1, 1, 2 + half, 3 + half);
    check_place(&r, 6, 1 - half, 2, 3 - half);
    check_fails(ps_receivers_move_out(&r, 10, centre), PS_USAGE, "directions");
    ps_receivers_release(&r);
    check_fails(ps_receivers_add_sphere(&r, "2x"), PS_USAGE, "a sphere of directions");
}

static void files(void **state)
{
    char path[] = "/tmp/penstock-receivers-XXXXXX";
    int descriptor = mkstemp(path);
    const char good[] = "# receivers\n1 2 3\n\n  4, 5,6 # last\n", bad[] = "1 2 3\n1 2\n";
    PS_SCOPED(ps_receivers_release) ps_receivers r = {.count = 0};
    assert_true(write(descriptor, good, sizeof good - 1) > 0);
    check_ok(ps_receivers_add_file(&r, path));
    assert_int_equal(r.count, 2);
    check_place(&r, 1, 4, 5, 6);
    assert_true(ftruncate(descriptor, 0) == 0 && pwrite(descriptor, bad, sizeof bad - 1, 0) > 0);
    check_fails(ps_receivers_add_file(&r, path), PS_INVALID, "line 2");
    assert_true(ftruncate(descriptor, 0) == 0);
    check_fails(ps_receivers_add_file(&r, path), PS_INVALID, "is empty");
    close(descriptor);
    unlink(path);
    check_fails(ps_receivers_add_file(&r, path), PS_INVALID, "No such file");
}

static void refusals(void **state)
{
    static const char *const planes[] = {"0,0,0;1,0,0;0,1,0",       "0,0,0;1,0,0;0,1,0;4",
                                         "0,0,0;1,0,0;0,1,0;4x0",   "0,0,0;1,0;0,1,0;4x4",
                                         "0,0,0;1,0,0;0,1,0;4x4;1", "0,0,0;1,0,0;0,1,0;4x4x4"};
    ps_receivers r = {.count = 0};
    for (size_t i = 0; i < sizeof planes / sizeof *planes; ++i)
        check_fails(ps_receivers_add_plane(&r, planes[i]), PS_USAGE, "n1xn2");
    check_fails(ps_receivers_add_point(&r, "1,2"), PS_USAGE, "three numbers");
    check_fails(ps_receivers_add_point(&r, "1,2,nan"), PS_USAGE, "three numbers");
    check_fails(ps_receivers_add_direction(&r, "1,2,3"), PS_USAGE, "theta,phi");
    check_fails(ps_receivers_add_direction(&r, "1e300,0"), PS_USAGE, "in degrees");
    check_fails(ps_receivers_add_direction(&r, "0,-361"), PS_USAGE, "in degrees");
    check_fails(ps_receivers_add_circle(&r, 3, "0,0,0"), PS_USAGE, "normal");
    assert_int_equal(r.count, 0);
}
