/* Passes over matrices by warps against the radiation of every step by its definition
 * (kernels/tdbem/radiation_pass.h, radiation.h). */
#include "kernels/common/reals.h"
#include "kernels/tdbem/radiation_pass.h"

#include <omp.h>

#include "tests/check.h"
#include "tests/support/group_case.h"
#include "tests/support/radiation_sum.h"

static group_case make(int64_t unknowns, int64_t group, ps_precision precision)
{
    group_case c;
    check_ok(group_case_usual(&c, unknowns, group, precision, false));
    return c;
}

/* recent[group][unknowns] of a case. */
static void *make_recent(const group_case *c)
{
    void *recent = calloc((size_t)(c->group * c->unknowns), 8);
    for (int64_t i = 0; i < c->group * c->unknowns; ++i)
        ps_real_put(c->precision, recent, i, group_case_random(c, i, 7, 7) - 0.3);
    return recent;
}

static void *past_of(const group_case *c)
{
    return malloc((size_t)ps_radiation_past_bytes(c->unknowns, c->group, c->precision));
}

/* All steps of a group: out[group][unknowns]. Passes see only the steps before them; what comes
 * later in `recent` is not a number. */
static void radiate(const group_case *c, const void *recent, double *out)
{
    int64_t n = c->unknowns, row = n * ps_real_bytes(c->precision);
    PS_SCOPED_MEMORY void *sofar = malloc((size_t)(c->group * row)), *past = past_of(c);
    PS_SCOPED_MEMORY double *owed = malloc((size_t)(c->group * n) * sizeof *owed);
    ps_radiation r = {.near = &c->packed, .recent = sofar, .owed = owed, .past = past};
    memset(sofar, 0xff, (size_t)(c->group * row));
    for (int64_t g = 0; g < c->group; ++g) {
        int64_t latest = (g - 1) * row;
        if (g > 0) memcpy((char *)sofar + latest, (const char *)recent + latest, (size_t)row);
        for (int64_t i = 0; i < n; ++i) out[g * n + i] = (double)i;
        ps_radiation_step(&r, g, out + g * n);
    }
}

static void check_case(int64_t unknowns, int64_t group, ps_precision precision)
{
    PS_SCOPED(group_case_drop) group_case c = make(unknowns, group, precision);
    PS_SCOPED_MEMORY void *recent = make_recent(&c);
    PS_SCOPED_MEMORY double *out = calloc((size_t)(group * unknowns), sizeof *out);
    PS_SCOPED_MEMORY double *due = calloc((size_t)unknowns, sizeof *due);
    radiate(&c, recent, out);
    for (int64_t g = 0; g < group; ++g) {
        for (int64_t i = 0; i < unknowns; ++i) due[i] = 0;
        radiation_add(&c.near, recent, g, due);
        for (int64_t i = 0; i < unknowns; ++i) /* the sums of a step are about 1 */
            check_near(out[g * unknowns + i] - (double)i, due[i],
                       precision == PS_SINGLE ? 3e-7 : 1e-13, 0);
    }
}

static void steps_are_the_definition(void **state)
{
    const int64_t sizes[] = {1, 31, 33, 200}, groups[] = {1, 2, 3, 5, 8, 13, 16, 31, 32};
    for (int s = 0; s < 4; ++s)
        for (int k = 0; k < 9; ++k)
            for (int precision = 0; precision < 2; ++precision)
                check_case(sizes[s], groups[k], (ps_precision)precision);
}

/* Root mean square of what fp32 errs, of the sums' own: what the header says. */
static void single_precision_errs_by_little(void **state)
{
    PS_SCOPED(group_case_drop) group_case c = make(600, 32, PS_SINGLE);
    PS_SCOPED_MEMORY void *recent = make_recent(&c);
    PS_SCOPED_MEMORY double *out = calloc(32 * 600, sizeof *out), *due = calloc(600, sizeof *due);
    double wrong = 0, size = 0;
    radiate(&c, recent, out);
    for (int64_t g = 1; g < 32; ++g) {
        for (int64_t i = 0; i < 600; ++i) due[i] = (double)i;
        radiation_add(&c.near, recent, g, due);
        for (int64_t i = 0; i < 600; ++i) {
            double error = out[g * 600 + i] - due[i], own = due[i] - (double)i;
            wrong += error * error;
            size += own * own;
        }
    }
    check_at_most(sqrt(wrong / size), 4e-8);
    check_at_most(1e-10, sqrt(wrong / size)); /* or this would be no test */
}

static void threads_do_not_matter(void **state)
{
    for (int precision = 0; precision < 2; ++precision) {
        PS_SCOPED(group_case_drop) group_case c = make(1500, 16, (ps_precision)precision);
        PS_SCOPED_MEMORY void *recent = make_recent(&c);
        static double out[2][16 * 1500];
        assert_true(8 * c.packed.value_count > 1 << 15); /* so that there are threads */
        for (int run = 0; run < 2; ++run) {
            omp_set_num_threads(run ? 3 : 1);
            radiate(&c, recent, out[run]);
        }
        assert_memory_equal(out[0], out[1], sizeof out[0]);
    }
}

/* The same group again, and one that ends early. */
static void a_group_starts_anew(void **state)
{
    PS_SCOPED(group_case_drop) group_case c = make(200, 8, PS_SINGLE);
    PS_SCOPED_MEMORY void *recent = make_recent(&c);
    PS_SCOPED_MEMORY void *past = past_of(&c);
    double first[200] = {0}, again[200] = {0}, owed[8 * 200];
    ps_radiation r = {.near = &c.packed, .recent = recent, .owed = owed, .past = past};
    for (int64_t g = 0; g <= 5; ++g) ps_radiation_step(&r, g, g == 5 ? first : again);
    memset(again, 0, sizeof again);
    double waste[200] = {0};
    for (int64_t g = 0; g <= 5; ++g) ps_radiation_step(&r, g, g == 5 ? again : waste);
    assert_memory_equal(first, again, sizeof first);
}
