/*
 * shell_reference: the shell integrals of one (point, triangle) pair, scalar and in long
 * double, following section 2.4 of the numerics guide to the letter. For tests.
 */
#ifndef PS_TESTS_SUPPORT_SHELL_REFERENCE_H
#define PS_TESTS_SUPPORT_SHELL_REFERENCE_H

#include <math.h>
#include <string.h>

#include "kernels/tdbem/geometry.h"

typedef long double wide;

/* Integrals over the part of the triangle with r < R: r^-1, 1, r and V = int (y - x0)/r; |d| int
 * r^-3 and int (y - x0)/r^3 (guide, tdbem-any.md, 3). */
typedef struct shell_reference {
    wide jm, j0, j1, v[3], turn, v3[3], d;
} shell_reference;

static inline wide reference_dot(const wide a[3], const wide b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* One edge p -> q as seen from x; n the unit normal, d the height of x. */
static inline void reference_edge(const wide p[3], const wide q[3], const wide n[3], wide d, wide R,
                                  shell_reference *sum)
{
    wide t[3], m[3], length = 0, ad = fabsl(d);
    for (int c = 0; c < 3; ++c) t[c] = q[c] - p[c];
    length = sqrtl(reference_dot(t, t));
    for (int c = 0; c < 3; ++c) t[c] /= length;
    for (int c = 0; c < 3; ++c)
        m[c] = t[(c + 1) % 3] * n[(c + 2) % 3] - t[(c + 2) % 3] * n[(c + 1) % 3];
    wide g = reference_dot(m, p), s1 = reference_dot(t, p), s2 = s1 + length;
    wide ag = fabsl(g), sg = g >= 0 ? 1 : -1, R02 = g * g + d * d, R0 = sqrtl(R02);
    wide rho = sqrtl(R * R - d * d);
#define TH(s) (ag == 0 ? 0 : atan2l((s), ag))
#define F(s) (g == 0 && (s) == 0 ? 0 : (s) / sqrtl(g * g + (s) * (s)))
#define E(s) (g == 0 && (s) == 0 ? 0 : 1 / sqrtl(g * g + (s) * (s)))
    wide cm, ct, full = TH(s2) - TH(s1), out = full, P = 0, I = 0, a = 0, b = 0, As = 0;
    if (R <= R0) {
        cm = F(s2) - F(s1);
        ct = E(s2) - E(s1);
        sum->turn += sg * full * (1 - ad / R);
        sum->jm += sg * (R - ad) * full;
        sum->j0 += (R * R - d * d) / 2 * sg * full;
        sum->j1 += (R * R * R - ad * ad * ad) / 3 * sg * full;
    } else {
        wide sr = sqrtl(R * R - R02);
        a = fminl(fmaxl(s1, -sr), sr);
        b = fminl(fmaxl(s2, -sr), sr);
        wide ra = sqrtl(R02 + a * a), rb = sqrtl(R02 + b * b);
        As = R0 == 0 ? 0 : asinhl(b / R0) - asinhl(a / R0);
        I = (b * rb - a * ra + R02 * As) / 2;
        P = ag * As;
        wide seen = 0;
        if (ad > 0 && ag > 0) seen = atan2l(ad * b, ag * rb) - atan2l(ad * a, ag * ra);
        P += ad * seen;
        out = (TH(s2) - TH(b)) + (TH(a) - TH(s1));
        sum->turn += sg * (full - seen - ad / R * out);
        cm = (a != s1 ? F(a) - F(s1) : 0) + (b != s2 ? F(s2) - F(b) : 0);
        ct = (a != s1 ? E(a) - E(s1) : 0) + (b != s2 ? E(s2) - E(b) : 0);
        sum->jm += sg * (P - ad * full + R * out);
        sum->j0 += g * (b - a) / 2 + (R * R - d * d) / 2 * sg * out;
        sum->j1 +=
            (g * I + d * d * sg * P) / 3 - ad * ad * ad / 3 * sg * full + R * R * R / 3 * sg * out;
    }
    for (int c = 0; c < 3; ++c) sum->v[c] += m[c] * I + R * rho * (m[c] * cm - t[c] * g * ct);
    for (int c = 0; c < 3; ++c) sum->v3[c] -= m[c] * As + rho / R * (m[c] * cm - t[c] * g * ct);
#undef TH
#undef F
#undef E
}

static inline shell_reference reference_inside(const double x[3], const ps_triangle *triangle,
                                               wide R)
{
    shell_reference sum;
    memset(&sum, 0, sizeof sum);
    wide v[3][3], u[3], w[3], n[3], x0[3][3];
    for (int e = 0; e < 3; ++e)
        for (int c = 0; c < 3; ++c) v[e][c] = (wide)triangle->vertex[e][c] - x[c];
    for (int c = 0; c < 3; ++c) {
        u[c] = v[1][c] - v[0][c];
        w[c] = v[2][c] - v[0][c];
    }
    for (int c = 0; c < 3; ++c)
        n[c] = u[(c + 1) % 3] * w[(c + 2) % 3] - u[(c + 2) % 3] * w[(c + 1) % 3];
    wide size = sqrtl(reference_dot(n, n));
    for (int c = 0; c < 3; ++c) n[c] /= size;
    wide d = sum.d = -reference_dot(n, v[0]);
    if (R <= fabsl(d)) return sum;
    for (int e = 0; e < 3; ++e)
        for (int c = 0; c < 3; ++c) x0[e][c] = v[e][c] + d * n[c];
    for (int e = 0; e < 3; ++e) reference_edge(x0[e], x0[(e + 1) % 3], n, d, R, &sum);
    return sum;
}

/* Values of shell l: inverse, one, distance, hat[3], flux[3]. */
static inline void reference_shell(const double x[3], const ps_triangle *triangle, int64_t l,
                                   double shell, wide out[9])
{
    shell_reference low = {0}, high = reference_inside(x, triangle, (wide)(l + 1) * shell);
    if (l > 0) low = reference_inside(x, triangle, (wide)l * shell);
    out[0] = high.jm - low.jm;
    out[1] = high.j0 - low.j0;
    out[2] = high.j1 - low.j1;
    for (int a = 0; a < 3; ++a) { /* the hat, straight from the vertices */
        const double *p = triangle->vertex[(a + 1) % 3], *q = triangle->vertex[(a + 2) % 3];
        const double *o = triangle->vertex[a];
        wide t[3], toward[3], at = 0, slope = 0, slope3 = 0, length = 0, tt = 0;
        for (int c = 0; c < 3; ++c) tt += ((wide)q[c] - p[c]) * ((wide)o[c] - p[c]);
        for (int c = 0; c < 3; ++c) length += ((wide)q[c] - p[c]) * ((wide)q[c] - p[c]);
        wide height = 0;
        for (int c = 0; c < 3; ++c) {
            t[c] = ((wide)q[c] - p[c]) * tt / length;
            toward[c] = (wide)o[c] - p[c] - t[c];
            height += toward[c] * toward[c];
        }
        for (int c = 0; c < 3; ++c) {
            at += toward[c] / height * ((wide)x[c] - p[c]);
            slope += toward[c] / height * (high.v[c] - low.v[c]);
            slope3 += toward[c] / height * (high.v3[c] - low.v3[c]);
        }
        wide side = high.d > 0 ? 1 : (high.d < 0 ? -1 : 0);
        out[3 + a] = at * out[0] + slope;
        out[6 + a] = side == 0 ? 0 : at * side * (high.turn - low.turn) + high.d * slope3;
    }
}

#endif
