/* The profile of the SUBOFF hull: where its parts meet, and against a published table. */
#include "kernels/common/suboff.h"

#include <stdlib.h>

#include "tests/check.h"

static const double FOOT = .3048;

static double radius_at(double feet) { return ps_suboff_radius(feet * FOOT) / FOOT; }

static void test_parts_meet(void **state)
{
    const double joints[3] = {10. / 3, 10.645833, 13.979167}, radii[3] = {5. / 6, 5. / 6, .0979167};
    check_near(ps_suboff_length(), 4.3561, 0, 1e-6);
    for (int i = 0; i < 3; ++i) {
        double below = radius_at(joints[i] - 1e-4), above = radius_at(joints[i] + 1e-4);
        check_near(below, radii[i], 2e-7, 0);
        check_near(above, radii[i], 2e-7, 0);
    }
    check_near(radius_at(0), 0, 0, 0);
    check_near(radius_at(-1), 0, 0, 0);
    check_near(radius_at(14.291668), 0, 0, 0);
    check_near(radius_at(7), 5. / 6, 0, 1e-15);
}

/* 216 points in feet, rounded to 1e-5 (../shared/data/README.md). */
static void test_table(void **state)
{
    const char *shared = getenv("SHARED");
    char path[4096];
    snprintf(path, sizeof path, "%s/data/submarine/suboff_hull.dat", shared ? shared : "../shared");
    FILE *file = fopen(path, "r");
    if (!file) {
        print_message("    skipped: no %s\n", path);
        skip();
    }
    double x, r, z;
    int points = 0, count;
    assert_int_equal(fscanf(file, "%d %*d", &count), 1);
    while (fscanf(file, "%lf %lf %lf", &x, &r, &z) == 3) {
        check_near(radius_at(x), r, 6e-6, 0);
        ++points;
    }
    fclose(file);
    assert_int_equal(points, count);
}
