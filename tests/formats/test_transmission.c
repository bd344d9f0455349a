#include <unistd.h>

#include "formats/transmission.h"
#include "runtime/scope.h"
#include "tests/check.h"

static const char path[] = "t.h5";
static const ps_store_identity identity = {.creator = "test", .revision = "0", .options = "a=1\n"};

static void fill(ps_transmission_file *f, int64_t map)
{
    check_ok(ps_transmission_file_init(f, 2, 5));
    strcpy(f->kinds[0], "oo0");
    strcpy(f->kinds[1], "oo2-two-sided");
    strcpy(f->length_unit, "km");
    f->discrete = true;
    f->k_min = .25;
    f->k_max = 4;
    f->hx = .5;
    f->seed = 3;
    for (int i = 0; i < 8; ++i) f->coefficients[i / 4][i % 4] = 1 + i;
    for (int i = 0; i < 10; ++i) f->rate[i] = .01 * i;
    f->factor[1] = .0625;
    f->evaluations[1] = 77;
    f->map = map;
    if (!map) return;
    for (int m = PS_MAP_OO0; m < PS_MAPS; m += 3) { /* oo0 and oo2-two-sided, two are not there */
        check_ok(ps_transmission_add_map(f, (ps_map_kind)m));
        for (int64_t i = 0; i < map * map; ++i) f->maps[m].rate[i] = (double)(m + i);
        f->maps[m].y[1] = 7;
    }
}

static void round_trip(void **state)
{
    for (int64_t map = 0; map <= 3; map += 3) {
        PS_SCOPED(ps_transmission_file_release) ps_transmission_file out = {0}, in = {0};
        fill(&out, map);
        check_ok(ps_transmission_save(path, &out, &identity));
        check_ok(ps_transmission_load(path, &in));
        assert_int_equal(ps_transmission_find(&in, "oo2-two-sided"), 1);
        assert_int_equal(ps_transmission_find(&in, "oo2"), -1);
        assert_int_equal(in.map, map);
        assert_int_equal(in.samples, 5);
        assert_int_equal(in.evaluations[1], 77);
        assert_true(in.discrete);
        check_near(in.factor[1], .0625, 0, 0);
        check_near(in.coefficients[1][2], 7, 0, 0);
        check_near(in.rate[7], .07, 1e-15, 0);
        assert_null(in.maps[PS_MAP_OO2].rate);
        if (map) {
            check_near(in.maps[PS_MAP_OO0].rate[5], 5, 0, 0);
            check_near(in.maps[PS_MAP_OO2_TWO_SIDED].rate[5], 8, 0, 0);
            check_near(in.maps[PS_MAP_OO2_TWO_SIDED].y[1], 7, 0, 0);
        }
    }
}

/* A file of version 1, whose one map is of oo2, whichever conditions it has. */
static void reads_version_1(void **state)
{
    ps_store *store;
    ps_store_identity old = identity;
    PS_SCOPED(ps_transmission_file_release) ps_transmission_file f = {0}, in = {0};
    double axis[2] = {1, 2}, rate[4] = {.1, .2, .3, .4};
    old.format = PS_TRANSMISSION_FORMAT;
    old.format_version = 1;
    fill(&f, 0);
    check_ok(ps_store_create(path, &old, &store));
    check_ok(ps_store_put_int(store, "/", "conditions", 2));
    check_ok(ps_store_put_int(store, "/", "seed", 3));
    static const char *const texts[][2] = {
        {"condition_0", "oo0"}, {"condition_1", "oo2"}, {"symbol", "discrete"}, {"length_unit", "km"}};
    for (int i = 0; i < 4; ++i) check_ok(ps_store_put_text(store, "/", texts[i][0], texts[i][1]));
    static const char *const reals[] = {"k_min", "k_max", "overlap", "hx"};
    for (int i = 0; i < 4; ++i) check_ok(ps_store_put_real(store, "/", reals[i], 1));
    const ps_dataset_spec specs[] = {{"/conditions/coefficients", PS_F64, 2, {2, 4}, .units = "1"},
                                     {"/conditions/factor", PS_F64, 1, {2}, .units = "1"},
                                     {"/conditions/evaluations", PS_I64, 1, {2}, .units = "1"},
                                     {"/curves/k", PS_F64, 1, {5}, .units = "1/km"},
                                     {"/curves/factor", PS_F64, 2, {2, 5}, .units = "1"},
                                     {"/map/p", PS_F64, 1, {2}, .units = "1/km"},
                                     {"/map/q", PS_F64, 1, {2}, .units = "km"},
                                     {"/map/factor", PS_F64, 2, {2, 2}, .units = "1"}};
    const void *const data[] = {f.coefficients, f.factor, f.evaluations, f.k, f.rate, axis, axis, rate};
    for (int i = 0; i < 8; ++i) check_ok(ps_store_write_array(store, &specs[i], data[i]));
    check_ok(ps_store_commit(&store));
    check_ok(ps_transmission_load(path, &in));
    assert_int_equal(in.map, 2);
    check_near(in.maps[PS_MAP_OO2].rate[2], .3, 0, 0);
    check_near(in.maps[PS_MAP_OO2].y[1], 2, 0, 0);
    assert_null(in.maps[PS_MAP_OO0].rate);
}

static void refuses(void **state)
{
    ps_transmission_file out, in;
    check_fails(ps_transmission_file_init(&out, 0, 5), PS_USAGE, "0 conditions");
    fill(&out, 0);
    out.coefficients[0][0] = -1;
    check_ok(ps_transmission_save(path, &out, &identity));
    check_fails(ps_transmission_load(path, &in), PS_INVALID, "condition oo0 has p = -1");
    out.coefficients[0][0] = out.coefficients[0][1] = 0;
    check_ok(ps_transmission_save(path, &out, &identity));
    check_fails(ps_transmission_load(path, &in), PS_INVALID, "p = 0, q = 0");
    ps_transmission_file_release(&out);
    unlink(path);
    check_fails(ps_transmission_load(path, &in), PS_INVALID, "t.h5");
}
