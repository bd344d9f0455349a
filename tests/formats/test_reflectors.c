/* Planes that mirror, from text, to attributes and back, and what is none. */

#include "formats/reflectors.h"
#include "runtime/scope.h"
#include "tests/check.h"

static ps_status parse(const char *first, const char *second, ps_reflectors *out)
{
    const char *texts[] = {first, second};
    return ps_reflectors_parse("--mirror", second ? 2 : 1, texts, out);
}

static void test_images(void **state)
{
    ps_reflectors m;
    const double x[3] = {1, 2, 5};
    double y[3];
    check_ok(parse("0,0,3:0,0,2:rigid", "-1,0,0:1,0,0:soft", &m));
    assert_int_equal(ps_reflectors_images(&m), 4);
    ps_reflectors_point(&m, 3, x, y);
    check_near(y[0], -3, 1e-14, 0);
    check_near(y[1], 2, 1e-14, 0);
    check_near(y[2], 1, 1e-14, 0);
    ps_reflectors_vector(&m, 1, x, y);
    check_near(y[0], 1, 1e-14, 0);
    check_near(y[2], -5, 1e-14, 0);
    assert_true(ps_reflectors_sign(&m, 1) == 1 && ps_reflectors_sign(&m, 2) == -1 &&
                ps_reflectors_sign(&m, 3) == -1);
    assert_true(ps_reflectors_hand(&m, 1) == -1 && ps_reflectors_hand(&m, 3) == 1);
}

/* Bit for bit, so that a run goes on with the planes of its file. */
static void test_round_trip(void **state)
{
    ps_reflectors m, back;
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    const ps_store_identity identity = {.format = "penstock-test", .format_version = 1};
    check_ok(parse(".1,-.2,.3:.3,-.4,1.1:soft", NULL, &m));
    check_ok(ps_store_create("planes.h5", &identity, &store));
    check_ok(ps_reflectors_put(store, &m));
    check_ok(ps_store_commit(&store));
    check_ok(ps_store_open("planes.h5", "penstock-test", 1, &store));
    check_ok(ps_reflectors_get(store, &back));
    assert_memory_equal(&m, &back, sizeof m);
}

static void test_same(void **state)
{
    ps_reflectors a, b;
    check_ok(parse("0,0,3:0,0,2:rigid", NULL, &a));
    check_ok(parse("7,-2,3:0,0,-1:rigid", NULL, &b));
    assert_true(ps_reflectors_same(&a, &b, 1));
    const double above[3] = {0, 0, 4};
    ps_reflectors_face(&b, 1, above);
    assert_true(b.planes[0].normal[2] == 1);
    check_ok(parse("7,-2,3:0,0,-1:soft", NULL, &b));
    assert_false(ps_reflectors_same(&a, &b, 1));
    check_ok(parse("0,0,3.01:0,0,1:rigid", NULL, &b));
    assert_false(ps_reflectors_same(&a, &b, 1));
    assert_false(ps_reflectors_same(&a, &(ps_reflectors){0}, 1));
}

static void test_refused(void **state)
{
    ps_reflectors m;
    check_fails(parse("0,0,3:0,0,2:hard", NULL, &m), PS_USAGE, "is not X,Y,Z");
    check_fails(parse("0,0,3:0,0,0:rigid", NULL, &m), PS_USAGE, "is not X,Y,Z");
    check_fails(parse("0,0:0,0,1:rigid", NULL, &m), PS_USAGE, "is not X,Y,Z");
    check_fails(parse("0,0,0:0,0,1:rigid:more", NULL, &m), PS_USAGE, "is not X,Y,Z");
    check_fails(parse("0,0,0:0,0,1:rigid", "0,0,0:0,1,1:rigid", &m), PS_USAGE, "not perpendicular");
    assert_int_equal(m.count, 0);
}
