#define real double
#define LANES_SINGLE 0
#include "kernels/common/prism_field.h"

#include <math.h>
#include <stddef.h>

#include "kernels/common/lanes_body.h"
#include "kernels/common/prism_edge_body.h"
#include "runtime/isa.h"

/* ---- vectors of prisms and a station ---- */

enum { CORNERS = 8, AXES = 3, MAGNETIC_WEIGHTS = 3 };

/* Bounds less the station, sides, weights; lanes without a prism hold the first one without weight.
 */
typedef struct bricks {
    vreal bound[AXES][2], side[AXES], weight[MAGNETIC_WEIGHTS];
} bricks;

/* Edge [axis a][p][q]: p, q of the axes a + 1 and a + 2, cyclic. Face [axis][which bound]. */
typedef struct integrals {
    vreal edge[AXES][2][2], angle[AXES][2];
    vinteger on_edge[AXES]; /* the station is on an edge along that axis */
} integrals;

KERNEL_INLINE void load(const ps_prism_set *set, int weights, int64_t first, int64_t end,
                        const double station[3], bricks *b)
{
    int64_t count = end - first;
    for (int d = 0; d < AXES; ++d) {
        vreal low = v_from_doubles(set->low[d] + first, count, 0);
        vreal high = v_from_doubles(set->high[d] + first, count, 0);
        b->bound[d][0] = low - station[d];
        b->bound[d][1] = high - station[d];
        b->side[d] = high - low;
        for (int i = (int)(count < LANES ? count : LANES); i < LANES; ++i) {
            for (int k = 0; k < 2; ++k) b->bound[d][k][i] = b->bound[d][k][0];
            b->side[d][i] = b->side[d][0];
        }
    }
    for (int w = 0; w < weights; ++w)
        b->weight[w] = v_from_doubles(set->weight[w] + first, count, 0);
}

KERNEL_INLINE vreal v_least(vreal a, vreal b) { return v_select(a < b, a, b); }
KERNEL_INLINE vreal v_most(vreal a, vreal b) { return v_select(a > b, a, b); }

/* Squares of the distance of the farthest corner and of the longest side, product of the others. */
KERNEL_INLINE void measures(const bricks *b, vreal *farthest, vreal *longest, vreal *rest)
{
    const vreal *s = b->side;
    vreal sum = v_of(0);
    for (int d = 0; d < AXES; ++d) {
        vreal most = v_most(v_absolute(b->bound[d][0]), v_absolute(b->bound[d][1]));
        sum += most * most;
    }
    vreal most = v_most(v_most(s[0], s[1]), s[2]);
    *farthest = sum;
    *longest = most * most;
    *rest = v_least(v_least(s[0] * s[1], s[1] * s[2]), s[2] * s[0]);
}

KERNEL_INLINE void integrate(const bricks *b, bool tensor, integrals *out)
{
    vreal square[AXES][2], r[CORNERS];
    for (int d = 0; d < AXES; ++d)
        for (int i = 0; i < 2; ++i) square[d][i] = b->bound[d][i] * b->bound[d][i];
    for (int c = 0; c < CORNERS; ++c)
        r[c] = v_root(square[0][c & 1] + square[1][c >> 1 & 1] + square[2][c >> 2 & 1]);
#pragma GCC unroll 3
    for (int a = 0; a < AXES; ++a) {
        const int e = (a + 1) % 3, f = (a + 2) % 3;
        vinteger on = {0};
        vreal turn[2][2][2]; /* [bound of e][bound of f][re, im]: face of e, pairs along a */
        vinteger inside = (b->bound[a][0] < 0) & (b->bound[a][1] > 0);
        vinteger touching = (b->bound[a][0] <= 0) & (b->bound[a][1] >= 0);
#pragma GCC unroll 2
        for (int p = 0; p < 2; ++p)
#pragma GCC unroll 2
            for (int q = 0; q < 2; ++q) {
                const int at = p << e | q << f;
                line l = {.side = b->side[a],
                          .low = b->bound[a][0],
                          .high = b->bound[a][1],
                          .near = r[at],
                          .far = r[at | 1 << a],
                          .square = square[e][p] + square[f][q],
                          .mixed = inside};
                out->edge[a][p][q] = edge_logarithm(&l);
                if (tensor) on |= touching & (l.square == 0);
                face_turn(&l, b->bound[e][p], square[e][p], b->bound[f][q], square[f][q],
                          turn[p][q]);
            }
        out->on_edge[a] = on;
        vinteger above = inside & (b->bound[f][0] < 0) & (b->bound[f][1] > 0);
#pragma GCC unroll 2
        for (int p = 0; p < 2; ++p)
            out->angle[e][p] = solid_angle(turn[p][1], turn[p][0], above, b->bound[e][p]);
    }
}

/* ---- sums ---- */

/* Potential of face i of axis d. */
KERNEL_INLINE vreal face_potential(const bricks *b, const integrals *n, int d, int i)
{
    const int e = (d + 1) % 3, f = (d + 2) % 3;
    vreal sum = -v_absolute(b->bound[d][i]) * n->angle[d][i];
    sum += b->bound[e][1] * n->edge[f][i][1] - b->bound[e][0] * n->edge[f][i][0];
    sum += b->bound[f][1] * n->edge[e][1][i] - b->bound[f][0] * n->edge[e][0][i];
    return sum;
}

KERNEL_INLINE void potential_and_gradient(const bricks *b, const integrals *n, vreal out[4])
{
    out[0] = v_of(0);
    for (int d = 0; d < AXES; ++d) {
        vreal low = face_potential(b, n, d, 0), high = face_potential(b, n, d, 1);
        out[0] += 0.5 * (b->bound[d][1] * high - b->bound[d][0] * low);
        out[1 + d] = low - high;
    }
}

/* xx yy zz xy xz yz */
KERNEL_INLINE void second_derivatives(const bricks *b, const integrals *n, vreal out[6])
{
    static const int place[AXES] = {5, 4, 3}; /* of the pair of axes beside a */
    const vreal nan = v_of(NAN);
    for (int a = 0; a < AXES; ++a) {
        vinteger undefined = n->on_edge[(a + 1) % 3] | n->on_edge[(a + 2) % 3];
        vreal high = v_select(b->bound[a][1] > 0, -n->angle[a][1], n->angle[a][1]);
        vreal low = v_select(b->bound[a][0] < 0, -n->angle[a][0], n->angle[a][0]);
        out[a] = v_select(undefined, nan, high + low);
        vreal mixed = n->edge[a][1][1] - n->edge[a][1][0] - n->edge[a][0][1] + n->edge[a][0][0];
        out[place[a]] = v_select(n->on_edge[a], nan, mixed);
    }
}

/* T m of T[6] as above. */
KERNEL_INLINE void times(const vreal t[6], const vreal m[3], vreal out[3])
{
    out[0] = t[0] * m[0] + t[3] * m[1] + t[4] * m[2];
    out[1] = t[3] * m[0] + t[1] * m[1] + t[5] * m[2];
    out[2] = t[4] * m[0] + t[5] * m[1] + t[2] * m[2];
}

/* numbers[10] to sums. */
KERNEL_INLINE void add_numbers(ps_prism_kind kind, const vreal *numbers, const bricks *b,
                               vreal *sums)
{
    if (kind == PS_PRISM_MAGNETIC) {
        vreal product[3];
        times(numbers + 4, b->weight, product);
        for (int i = 0; i < 3; ++i) sums[i] += product[i];
    } else {
        for (int i = 0; i < ps_prism_kind_numbers(kind); ++i) sums[i] += b->weight[0] * numbers[i];
    }
}

KERNEL_INLINE void closed_form(ps_prism_kind kind, const bricks *b, vreal *numbers)
{
    integrals n;
    integrate(b, kind != PS_PRISM_GRAVITY, &n);
    if (kind != PS_PRISM_MAGNETIC) potential_and_gradient(b, &n, numbers);
    if (kind != PS_PRISM_GRAVITY) second_derivatives(b, &n, numbers + 4);
}

/* ---- far away ---- */

/* A point mass m at d from the station. */
KERNEL_INLINE void add_point(ps_prism_kind kind, const vreal d[3], vreal mass, vreal *numbers)
{
    vreal square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], inverse = 1 / v_root(square);
    vreal potential = mass * inverse, cube = potential * inverse * inverse;
    if (kind != PS_PRISM_MAGNETIC) {
        numbers[0] += potential;
        for (int a = 0; a < AXES; ++a) numbers[1 + a] += cube * d[a];
    }
    if (kind == PS_PRISM_GRAVITY) return;
    vreal fifth = 3 * cube * inverse * inverse;
    for (int a = 0; a < AXES; ++a) numbers[4 + a] += fifth * d[a] * d[a] - cube;
    numbers[7] += fifth * d[0] * d[1];
    numbers[8] += fifth * d[0] * d[2];
    numbers[9] += fifth * d[1] * d[2];
}

/* Gauss's rule with 2 or 3 points along each axis. */
KERNEL_INLINE void gauss(ps_prism_kind kind, const bricks *b, int points, vreal *numbers)
{
    static const double at[2][3] = {{-.57735026918962576451, .57735026918962576451},
                                    {-.77459666924148337704, 0, .77459666924148337704}};
    static const double weight[2][3] = {{.5, .5}, {5. / 18, 8. / 18, 5. / 18}};
    vreal place[AXES][3], volume = b->side[0] * b->side[1] * b->side[2];
    for (int d = 0; d < AXES; ++d)
        for (int k = 0; k < points; ++k)
            place[d][k] = b->bound[d][0] + (0.5 + 0.5 * at[points - 2][k]) * b->side[d];
    for (int i = 0; i < PS_PRISM_NUMBERS; ++i) numbers[i] = v_of(0);
    for (int c = 0; c < points * points * points; ++c) {
        int i = c % points, j = c / points % points, k = c / (points * points);
        const vreal d[3] = {place[0][i], place[1][j], place[2][k]};
        double share = weight[points - 2][i] * weight[points - 2][j] * weight[points - 2][k];
        add_point(kind, d, volume * share, numbers);
    }
}

/* ---- one prism that the closed form as a whole is not good enough for ---- */

enum { PARTS = 96 }; /* halves that wait: one for each time that a side was halved */

/* Across its longest side, not through the station: it would lie on an edge that is none. */
static void halve(const bricks *b, bricks *low, bricks *high)
{
    int longest = 0;
    for (int d = 1; d < AXES; ++d)
        if (b->side[d][0] > b->side[longest][0]) longest = d;
    vreal side = b->side[longest], half = 0.5 * side, middle = b->bound[longest][0] + half;
    if (fabs(middle[0]) < 1e-3 * side[0]) {
        half = 0.4375 * side;
        middle = b->bound[longest][0] + half;
    }
    *low = *high = *b;
    low->side[longest] = half;
    high->side[longest] = side - half;
    low->bound[longest][1] = high->bound[longest][0] = middle;
}

/* Whether the closed form, or Gauss's rule of so many points, is right for the first lane. */
typedef enum manner { CLOSED, GAUSS_2, GAUSS_3, HALVE } manner;
static manner manner_of(const bricks *b)
{
    vreal farthest, longest, rest;
    measures(b, &farthest, &longest, &rest);
    if (farthest[0] > 1e4 * longest[0]) return GAUSS_2;
    if (farthest[0] * PS_PRISM_EPSILON <= PS_PRISM_LOSS * rest[0]) return CLOSED;
    return farthest[0] > 20 * 20 * longest[0] ? GAUSS_3 : HALVE;
}

/* The numbers of a prism that all lanes hold. */
static void sum_parts(ps_prism_kind kind, const bricks *whole, vreal *sums)
{
    bricks waiting[PARTS];
    int count = 0;
    waiting[count++] = *whole;
    for (int k = 0; k < PS_PRISM_NUMBERS; ++k) sums[k] = v_of(0);
    while (count > 0) {
        bricks b = waiting[--count];
        vreal numbers[PS_PRISM_NUMBERS] = {{0}};
        manner m = manner_of(&b);
        if (m == HALVE && count + 2 <= PARTS) {
            halve(&b, waiting + count + 1, waiting + count);
            count += 2;
            continue;
        }
        if (m == GAUSS_2)
            gauss(kind, &b, 2, numbers);
        else if (m == GAUSS_3)
            gauss(kind, &b, 3, numbers);
        else
            closed_form(kind, &b, numbers);
        for (int k = 0; k < PS_PRISM_NUMBERS; ++k) sums[k] += numbers[k];
    }
}

static void single_out(const bricks *b, int lane, bricks *out)
{
    for (int d = 0; d < AXES; ++d) {
        for (int i = 0; i < 2; ++i) out->bound[d][i] = v_of(b->bound[d][i][lane]);
        out->side[d] = v_of(b->side[d][lane]);
    }
}

/* ---- all of it ---- */

/* The numbers of a vector of prisms, of which `count` lanes are wanted. */
KERNEL_INLINE void numbers_of(ps_prism_kind kind, const bricks *b, int64_t count, vreal *numbers)
{
    vreal farthest, longest, rest;
    measures(b, &farthest, &longest, &rest);
    vinteger far = farthest > 1e4 * longest;
    vinteger lost = (farthest * PS_PRISM_EPSILON > PS_PRISM_LOSS * rest) | far;
    for (int k = 0; k < PS_PRISM_NUMBERS; ++k) numbers[k] = v_of(0);
    if (v_all(far)) {
        gauss(kind, b, 2, numbers);
        return;
    }
    if (!v_all(lost)) closed_form(kind, b, numbers);
    if (!v_any(lost)) return;
    for (int i = 0; i < LANES && i < count; ++i) {
        bricks one;
        vreal sums[PS_PRISM_NUMBERS];
        if (!lost[i]) continue;
        single_out(b, i, &one);
        sum_parts(kind, &one, sums);
        for (int k = 0; k < PS_PRISM_NUMBERS; ++k) numbers[k][i] = sums[k][0];
    }
    for (int i = (int)count; i < LANES; ++i) /* whose copies were not made right */
        for (int k = 0; k < PS_PRISM_NUMBERS; ++k) numbers[k][i] = 0;
}

KERNEL_INLINE void add_kind(ps_prism_kind kind, const ps_prism_set *set, int64_t first, int64_t end,
                            const double station[3], double *out)
{
    vreal sums[PS_PRISM_NUMBERS];
    for (int i = 0; i < PS_PRISM_NUMBERS; ++i) sums[i] = v_of(0);
    for (int64_t at = first; at < end; at += LANES) {
        bricks b;
        vreal numbers[PS_PRISM_NUMBERS];
        load(set, ps_prism_kind_weights(kind), at, end, station, &b);
        numbers_of(kind, &b, end - at, numbers);
        add_numbers(kind, numbers, &b, sums);
    }
    for (int i = 0; i < ps_prism_kind_numbers(kind); ++i) out[i] += v_sum(sums[i]);
}

KERNEL_INLINE void add_transposed_kind(ps_prism_kind kind, const ps_prism_set *set, int64_t first,
                                       int64_t end, const double station[3], const double *data,
                                       double *const *out)
{
    for (int64_t at = first; at < end; at += LANES) {
        bricks b;
        vreal numbers[PS_PRISM_NUMBERS], product[3] = {{0}};
        load(set, 0, at, end, station, &b);
        numbers_of(kind, &b, end - at, numbers);
        if (kind == PS_PRISM_MAGNETIC)
            times(numbers + 4, (const vreal[3]){v_of(data[0]), v_of(data[1]), v_of(data[2])},
                  product);
        else
            for (int i = 0; i < ps_prism_kind_numbers(kind); ++i)
                product[0] += data[i] * numbers[i];
        for (int w = 0; w < ps_prism_kind_weights(kind); ++w)
            v_add_to_doubles(out[w] + at - first, end - at, 1, product[w]);
    }
}

#define WITH_KIND(call)                                                                            \
    switch (kind) {                                                                                \
    case PS_PRISM_GRAVITY:                                                                         \
        call(PS_PRISM_GRAVITY);                                                                    \
        break;                                                                                     \
    case PS_PRISM_TENSOR:                                                                          \
        call(PS_PRISM_TENSOR);                                                                     \
        break;                                                                                     \
    case PS_PRISM_MAGNETIC:                                                                        \
        call(PS_PRISM_MAGNETIC);                                                                   \
        break;                                                                                     \
    }

static void add(ps_prism_kind kind, const ps_prism_set *set, int64_t first, int64_t end,
                const double station[3], double *out)
{
#define CALL(constant) add_kind(constant, set, first, end, station, out)
    WITH_KIND(CALL)
#undef CALL
}

static void add_transposed(ps_prism_kind kind, const ps_prism_set *set, int64_t first, int64_t end,
                           const double station[3], const double *data, double *const *out)
{
#define CALL(constant) add_transposed_kind(constant, set, first, end, station, data, out)
    WITH_KIND(CALL)
#undef CALL
}

const struct ps_prism_field_functions PS_ISA_TABLE(ps_prism_field) = {
    .add = add, .add_transposed = add_transposed};
