#include <unistd.h>

#include "formats/transmission.h"
#include "tests/check.h"

static const char path[] = "t.h5";
static const ps_store_identity identity = {.creator = "test", .revision = "0", .options = "a=1\n"};

static void fill(ps_transmission_file *f, int64_t map)
{
    check_ok(ps_transmission_file_init(f, 2, 5, map));
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
    for (int64_t i = 0; i < map * map; ++i) f->map_rate[i] = (double)i;
    f->factor[1] = .0625;
    f->evaluations[1] = 77;
}

static void round_trip(void **state)
{
    for (int64_t map = 0; map <= 3; map += 3) {
        ps_transmission_file out, in;
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
        if (map) check_near(in.map_rate[5], 5, 0, 0);
        ps_transmission_file_release(&in);
        ps_transmission_file_release(&out);
    }
}

static void refuses(void **state)
{
    ps_transmission_file out, in;
    check_fails(ps_transmission_file_init(&out, 0, 5, 0), PS_USAGE, "0 conditions");
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
