/*
 * narrow: rules for pairs of needles, triangles with one short edge. The regular rules have n x n
 * points, as the distance over the longest edge asks for; across a needle there is nothing to
 * resolve at a distance that is large against its short edge: n x 3 points, n from the corner
 * opposite the short edge, are as good (specs/hbem.md, "Quadrature"). One body for cores and
 * devices.
 */
#ifndef PS_KERNELS_HBEM_NARROW_H
#define PS_KERNELS_HBEM_NARROW_H

#include "kernels/hbem/hard.h"
#include "kernels/hbem/rules.h"

/* Points across; kinds of close pairs on a device: those of device_kernels.h, then narrow ones by
 * their rule, of which that of the first rule is empty. */
enum {
    PS_HBEM_ACROSS = 3,
    PS_HBEM_CLOSE_NARROW = PS_PAIR_CONTACTS + PS_HBEM_RULES + 1,
    PS_HBEM_CLOSE_KINDS = PS_HBEM_CLOSE_NARROW + PS_HBEM_RULES
};

/* The corner opposite the shortest edge, where that is at most `width` long and its triangle a
 * needle; else -1. Where it is, there is no second edge as short. */
PS_HBEM_HARD_FUNCTION int ps_hbem_needle(const ps_hbem_triangle *t, double width)
{
    double least = 1e300, bound = fmin(width, t->diameter / 2.9);
    int apex = -1;
    for (int l = 0; l < 3; ++l) {
        double square = 0;
        for (int c = 0; c < 3; ++c) {
            double d = t->corner[(l + 1) % 3][c] - t->corner[l][c];
            square += d * d;
        }
        if (square >= least) continue;
        least = square;
        apex = (l + 2) % 3;
    }
    return least <= bound * bound ? apex : -1;
}

/* Whether two triangles so far apart take narrow rules, where the first regular one is good enough
 * from `reach` diameters on; their apices. */
PS_HBEM_HARD_FUNCTION bool ps_hbem_is_narrow(const ps_hbem_triangle *x, const ps_hbem_triangle *y,
                                             double distance, double reach, int apex[2])
{
    apex[0] = ps_hbem_needle(x, distance / reach);
    apex[1] = ps_hbem_needle(y, distance / reach);
    return apex[0] >= 0 && apex[1] >= 0;
}

/* Point j of 3 across, at `along` from the short edge (0) to the apex (1, hat 1), whose weight is
 * that of all of them: hats, weight. */
PS_HBEM_HARD_FUNCTION void ps_hbem_narrow_point(double along, double weight, int j, double out[4])
{
    const double node = .5 + (j - 1) * sqrt(.15), share = (j == 1 ? 8. : 5.) / 18;
    out[1] = along;
    out[2] = node * (1 - along);
    out[0] = 1 - along - out[2];
    out[3] = share * weight;
}

/* The narrow rule with as many points along as a collapsed one; hat 1 is the apex. */
void ps_hbem_rule_narrow(const ps_hbem_rule *collapsed, ps_hbem_rule *out);

#endif
