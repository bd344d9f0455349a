/* Lattice sums of 1/r: known constants, sums by other means, and P between cells. */
#include "kernels/fmm/periodic.h"

#include <math.h>
#include <string.h>

#include "tests/check.h"

static const bool three[3] = {true, true, true}, two[3] = {true, true, false},
                  one[3] = {true, false, false};

/* The lattice sum; the box's own 1/|d| is left out at d = 0. */
static double whole(const bool along[3], const double d[3])
{
    double sum = ps_periodic_smooth(along, d);
    for (int n = 0; n < 27; ++n) {
        const int s[3] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
        double square = 0;
        bool in = true;
        for (int i = 0; i < 3; ++i) {
            in = in && (s[i] == 0 || along[i]);
            square += (d[i] + s[i]) * (d[i] + s[i]);
        }
        if (in && square > 0) sum += 1 / sqrt(square);
    }
    return sum;
}

/* Hasimoto (1959): the drag constant of a cubic lattice; the square lattice's; images of a chain
 * less their potentials at the origin: 0. */
static void self_energies(void **state)
{
    const double origin[3] = {0};
    check_near(whole(three, origin), -2.837297479480620, 2e-14, 0);
    check_near(whole(two, origin), -3.900264920001956, 2e-14, 0);
    check_near(whole(one, origin), 0, 1e-15, 0);
}

/* Charges +1 and -1 in a unit box: at + without itself, and elsewhere. */
static void two_charges(void **state)
{
    const double plus[3] = {.1, .2, .3}, minus[3] = {.6, .45, .85}, at[3] = {.9, .7, .05};
    const double wanted[3][2] = {{-2.150945702597, -.261619196734},
                                 {-.382077322035, 3.127245953852},
                                 {-1.322812544852, -1.831365629944}};
    const bool *boxes[3] = {three, two, one};
    for (int b = 0; b < 3; ++b) {
        /* The values are of a chain along z. */
        const bool chain[3] = {false, false, true};
        const bool *along = b == 2 ? chain : boxes[b];
        double own[3] = {0}, apart[3], p[3], m[3];
        for (int i = 0; i < 3; ++i) {
            apart[i] = plus[i] - minus[i];
            p[i] = at[i] - plus[i];
            m[i] = at[i] - minus[i];
        }
        check_near(whole(along, own) - whole(along, apart), wanted[b][0], 2e-12, 0);
        check_near(whole(along, p) - whole(along, m), wanted[b][1], 2e-12, 0);
    }
}

/* The lattice sum has the period of the box: P alone does not. */
static void period(void **state)
{
    const double here[3] = {.3, -.45, .27};
    const bool *boxes[3] = {three, two, one};
    for (int b = 0; b < 3; ++b)
        for (int i = 0; i < 3 && boxes[b][i]; ++i) {
            double there[3];
            memcpy(there, here, sizeof there);
            there[i] += here[i] > 0 ? -1 : 1;
            check_near(whole(boxes[b], there), whole(boxes[b], here), 4e-13, 0);
        }
}

/* Between two cells on level 2 at order 12, and the gradient by the slopes. */
static void between_cells(void **state)
{
    static ps_periodic p;
    static double moments[PS_PERIODIC_GRID], field[PS_PERIODIC_GRID];
    const double from[3] = {.125, .875, .625}, to[3] = {.875, .125, .375}, e = 1e-4;
    const bool *boxes[3] = {three, two, one};
    ps_fmm_interpolation in;
    check_ok(ps_fmm_interpolation_init(&in, 12));
    for (int b = 0; b < 3; ++b) {
        double multipole[1728] = {0}, local[1728] = {0}, point[3], d[3], at[3], values[4];
        multipole[777] = 1;
        ps_fmm_point(&in, 777, point);
        ps_periodic_init(boxes[b], &p);
        memset(moments, 0, sizeof moments);
        ps_periodic_gather(&p, &in, from, .25, multipole, moments);
        ps_periodic_act(&p, moments, field);
        ps_periodic_spread(&p, &in, to, .25, field, local);
        for (int i = 0; i < 3; ++i) d[i] = -(from[i] + .125 * point[i]);
        for (int m = 0; m < 1728; m += 61) {
            ps_fmm_point(&in, m, point);
            for (int i = 0; i < 3; ++i) at[i] = d[i] + to[i] + .125 * point[i];
            check_near(local[m], ps_periodic_smooth(boxes[b], at), 3e-12, 0);
        }
        for (int i = 0; i < 3; ++i) at[i] = d[i] + to[i];
        ps_periodic_at(&p, field, to, values);
        check_near(values[0], ps_periodic_smooth(boxes[b], at), 3e-12, 0);
        for (int i = 0; i < 3; ++i) {
            double up[3], down[3];
            for (int j = 0; j < 3; ++j) {
                up[j] = at[j] + (i == j) * e;
                down[j] = at[j] - (i == j) * e;
            }
            double slope = ps_periodic_smooth(boxes[b], up) - ps_periodic_smooth(boxes[b], down);
            check_near(values[1 + i], slope / (2 * e), 1e-6, 0);
        }
    }
}
