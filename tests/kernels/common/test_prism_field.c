/* Closed forms of prisms (kernels/common/prism_field.h): 40-digit values, symmetry, Laplace,
 * additivity, faces, edges and corners, far away, stretched, in other units. */
#include "kernels/common/prism_field.h"

#include <stdbool.h>

#include "tests/check.h"

#define FOUR_PI 12.566370614359172

typedef struct brick {
    double low[3], high[3];
} brick;

static void field_of(ps_prism_kind kind, const brick *b, const double weight[3],
                     const double place[3], double *out)
{
    ps_prism_set set = {.count = 1};
    for (int d = 0; d < 3; ++d) {
        set.low[d] = b->low + d;
        set.high[d] = b->high + d;
        set.weight[d] = weight + d;
    }
    memset(out, 0, (size_t)ps_prism_kind_numbers(kind) * sizeof *out);
    ps_prism_field_functions_here()->add(kind, &set, 0, 1, place, out);
}

static void tensor_at(const brick *b, const double place[3], double out[10])
{
    static const double one[3] = {1, 1, 1};
    field_of(PS_PRISM_TENSOR, b, one, place, out);
}

static const brick p1 = {{-1, -2, -3}, {1, 2, 3}}, p2 = {{0, 0, -1}, {100, 100, 0}},
                   p3 = {{10, -5, 2}, {11, 7, 2.5}};

/* ../shared/numerics/potentials.md, section 4: computed with 40 digits. NaN: not defined there. */
static void forty_digits(void **unused)
{
    static const struct {
        const brick *b;
        double place[3], expected[10], tolerance;
    } known[] = {
        {&p1,
         {4, 1, -2},
         {9.9563941874, -1.8109263823, -.38831877393, .63930081978, .60071545378, -.35201506519,
          -.24870038858, .1995590408, -.29072509447, -.058528303491},
         2e-10},
        {&p1,
         {1, .5, .25},
         {24.149888682, -8.2184463958, -1.2684055753, -.30781918079, 3.8291574308, -2.5901899386,
          -1.2389674922, .49477646119, .071979334145, .02358712825},
         1e-10},
        {&p1,
         {1, 2, .5},
         {18.94086767, -4.7012760585, -5.8130125869, -.46334314263, NAN, NAN, -.94094706197, NAN,
          .098803180554, .14420296985},
         1e-10},
        {&p1,
         {1, 2, 3},
         {14.309624449, -2.5632390136, -3.2760477552, -3.5815023304, NAN, NAN, NAN, NAN, NAN, NAN},
         1e-10},
        {&p2,
         {30, 20, 0},
         {310.88240523, 1.071481382, 2.0028699385, -6.1998737284, -.064353906465, -.10221673026,
          .16657063673, .011699053212, -.0007230002095, -.0021600448557},
         1e-10},
        {&p2,
         {5000, 3000, 200},
         {1.7343667803, -2.5824266828e-4, -1.5390219528e-4, -1.0460918908e-5, NAN, NAN, NAN, NAN,
          NAN, NAN},
         1e-8},
        {&p3,
         {-3, 4, 1},
         {.42127552489, .02826778119, -.0052910878834, .0026198495829, NAN, NAN, NAN, NAN, NAN,
          NAN},
         1e-10}};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        double out[10];
        tensor_at(known[i].b, known[i].place, out);
        for (int k = 0; k < 10; ++k)
            if (isfinite(known[i].expected[k]))
                check_near(out[k], known[i].expected[k], 0, known[i].tolerance);
            else if (i == 2 || i == 3)
                assert_true(isnan(out[k]));
    }
}

/* The form as it stands in textbooks, in long double: right near cubes, away from edges. */
static void plain_sums(const brick *b, const double place[3], double out[10])
{
    static const int pair[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    long double v = 0, g[3] = {0}, t[6] = {0};
    for (int c = 0; c < 8; ++c) {
        long double d[3], r = 0, sign = __builtin_popcount((unsigned)c) % 2 ? 1 : -1;
        for (int a = 0; a < 3; ++a) {
            d[a] = (long double)(c >> a & 1 ? b->high[a] : b->low[a]) - place[a];
            r += d[a] * d[a];
        }
        r = sqrtl(r);
        for (int a = 0; a < 3; ++a) {
            int e = (a + 1) % 3, f = (a + 2) % 3;
            long double angle = atanl(d[e] * d[f] / (d[a] * r));
            v += sign * (d[e] * d[f] * logl(d[a] + r) - d[a] * d[a] * angle / 2);
            g[a] -= sign * (d[e] * logl(d[f] + r) + d[f] * logl(d[e] + r) - d[a] * angle);
            t[a] -= sign * angle;
        }
        for (int k = 0; k < 3; ++k) t[3 + k] += sign * logl(d[3 - pair[k][0] - pair[k][1]] + r);
    }
    out[0] = (double)v;
    for (int a = 0; a < 3; ++a) out[1 + a] = (double)g[a];
    for (int a = 0; a < 6; ++a) out[4 + a] = (double)t[a];
}

static void check_numbers(const double *a, const double *b, double tolerance)
{
    double g = sqrt(b[1] * b[1] + b[2] * b[2] + b[3] * b[3]), t = 0;
    for (int k = 4; k < 10; ++k) t += b[k] * b[k];
    check_near(a[0], b[0], 0, tolerance);
    for (int k = 1; k < 4; ++k) check_near(a[k], b[k], tolerance * g, 0);
    for (int k = 4; k < 10; ++k) check_near(a[k], b[k], tolerance * sqrt(t), 0);
}

static void random_brick(uint64_t *state, double stretch, brick *b)
{
    for (int d = 0; d < 3; ++d) {
        double side = pow(stretch, congruence_uniform(state) - .5);
        b->low[d] = congruence_uniform(state) - .5 - side / 2;
        b->high[d] = b->low[d] + side;
    }
}

static void against_plain_sums(void **unused)
{
    uint64_t state = 1;
    for (int i = 0; i < 4000; ++i) {
        brick b;
        double place[3], out[10], expected[10];
        random_brick(&state, 9, &b);
        for (int d = 0; d < 3; ++d)
            place[d] = i % 2 ? b.low[d] + congruence_uniform(&state) * (b.high[d] - b.low[d])
                             : 4 * congruence_uniform(&state) - 2;
        tensor_at(&b, place, out);
        plain_sums(&b, place, expected);
        check_numbers(out, expected, 2e-12);
    }
}

static bool within(const brick *b, const double place[3])
{
    bool in = true;
    for (int d = 0; d < 3; ++d) in = in && place[d] > b->low[d] && place[d] < b->high[d];
    return in;
}

/* Trace 0 outside and on faces, -4 pi inside; sides up to a million to one; mm to km. */
static void laplace(void **unused)
{
    uint64_t state = 7;
    for (int i = 0; i < 20000; ++i) {
        brick b;
        double place[3], out[10], unit = i % 3 == 0 ? 1 : i % 3 == 1 ? 1e-3 : 1e6;
        random_brick(&state, i % 2 ? 1e6 : 10, &b);
        for (int d = 0; d < 3; ++d) {
            double side = b.high[d] - b.low[d];
            place[d] = b.low[d] + (2 * congruence_uniform(&state) - .5) * side;
            if (i % 5 == 0 && d == i % 3) place[d] = i % 2 ? b.low[d] : b.high[d];
        }
        bool inside = within(&b, place);
        for (int d = 0; d < 3; ++d) {
            b.low[d] *= unit;
            b.high[d] *= unit;
            place[d] *= unit;
        }
        tensor_at(&b, place, out);
        check_near(out[4] + out[5] + out[6], inside ? -FOUR_PI : 0, 1e-8, 0);
    }
}

/* A prism cut at any place is the sum of its eight pieces, wherever the station is. */
static void additivity(void **unused)
{
    uint64_t state = 3;
    for (int i = 0; i < 3000; ++i) {
        brick b;
        double cut[3], place[3], out[10], sum[10] = {0}, largest = 0;
        random_brick(&state, i % 2 ? 1e5 : 10, &b);
        for (int d = 0; d < 3; ++d) {
            double side = b.high[d] - b.low[d];
            cut[d] = b.low[d] + congruence_uniform(&state) * side;
            place[d] = b.low[d] + (3 * congruence_uniform(&state) - 1) * side;
            if (i % 7 == 0) place[d] = i % 2 ? b.low[d] : cut[d]; /* corners: of it, or of pieces */
        }
        for (int c = 0; c < 8; ++c) {
            brick piece = b;
            for (int d = 0; d < 3; ++d) *(c >> d & 1 ? piece.low + d : piece.high + d) = cut[d];
            tensor_at(&piece, place, out);
            for (int k = 0; k < 10; ++k) sum[k] += out[k];
        }
        tensor_at(&b, place, out);
        for (int k = 1; k < 4; ++k) largest = worse_of(largest, fabs(out[k]));
        check_near(sum[0], out[0], 0, 1e-10);
        for (int k = 1; k < 4; ++k) check_near(sum[k], out[k], 3e-10 * largest, 0);
    }
}

/* V and g are continuous across faces, edges and corners, and finite on them. */
static void surfaces(void **unused)
{
    for (int c = 0; c < 27; ++c)
        for (int n = 0; n < 27; ++n) {
            double place[3], beside[3], out[10], near[10];
            int pick[3] = {c % 3, c / 3 % 3, c / 9},
                step[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
            for (int d = 0; d < 3; ++d) {
                place[d] = pick[d] == 0   ? p1.low[d]
                           : pick[d] == 1 ? .3 * p1.low[d] + .7 * p1.high[d]
                                          : p1.high[d];
                beside[d] = place[d] + 1e-9 * step[d];
            }
            tensor_at(&p1, place, out);
            tensor_at(&p1, beside, near);
            for (int k = 0; k < 4; ++k) check_near(out[k], near[k], 1e-6, 0);
        }
}

/* The tensor on a face is what it is 1e-9 outside. */
static void faces(void **unused)
{
    for (int f = 0; f < 6; ++f) {
        double place[3] = {.3, -.4, .9}, out[10], near[10];
        place[f / 2] = f % 2 ? p1.high[f / 2] : p1.low[f / 2];
        tensor_at(&p1, place, out);
        place[f / 2] += f % 2 ? 1e-9 : -1e-9;
        tensor_at(&p1, place, near);
        for (int k = 0; k < 10; ++k) check_near(out[k], near[k], 1e-7, 0);
    }
}

/* A station on the middle planes of prisms that are halved is on no edge. */
static void halved(void **unused)
{
    const brick plates[2] = {{{-5e5, -5e5, 0}, {5e5, 5e5, 1e-2}}, {{-5e5, 0, 0}, {5e5, .1, .2}}};
    for (int i = 0; i < 2; ++i)
        for (int up = 0; up < 2; ++up) {
            double out[10], place[3] = {0, i ? .05 : 0, up ? plates[i].high[2] : 1};
            tensor_at(plates + i, place, out);
            for (int k = 0; k < 10; ++k) assert_true(isfinite(out[k]));
            check_near(out[4] + out[5] + out[6], 0, 1e-9, 0);
            if (i == 0) check_near(out[3], -FOUR_PI / 2 * 1e-2, 0, 1e-5);
        }
}

/* 0.1 to 1e7 sizes away: a series of moments up to the fourth order from 100 on, itself from the
 * corners' sums nearer; sides up to 1000 to 1. */
static void far_away(void **unused)
{
    uint64_t state = 11;
    for (int i = 0; i < 4000; ++i) {
        brick b, half[2];
        double place[3], out[10], sum[10] = {0}, square = 0, longest = 0;
        double away = pow(10, 7 * congruence_uniform(&state) - 1);
        random_brick(&state, i % 2 ? 1e6 : 4, &b);
        for (int d = 0; d < 3; ++d) longest = worse_of(longest, b.high[d] - b.low[d]);
        for (int d = 0; d < 3; ++d)
            place[d] = congruence_uniform(&state) - .5, square += place[d] * place[d];
        for (int d = 0; d < 3; ++d)
            place[d] = (b.low[d] + b.high[d]) / 2 + place[d] * longest * away / sqrt(square);
        tensor_at(&b, place, out);
        half[0] = half[1] = b;
        for (int d = 0; d < 3; ++d)
            if (b.high[d] - b.low[d] == longest)
                half[0].high[d] = half[1].low[d] = b.low[d] + longest / 2;
        for (int h = 0; h < 2; ++h) {
            double part[10];
            tensor_at(half + h, place, part);
            for (int k = 0; k < 10; ++k) sum[k] += part[k];
        }
        check_numbers(sum, out, 2e-8);
        check_near(sum[0], out[0], 0, 3e-9);
        if (away < 1e4) continue;
        double m = 1, r = 0, d3[3];
        for (int d = 0; d < 3; ++d) {
            m *= b.high[d] - b.low[d];
            d3[d] = (b.low[d] + b.high[d]) / 2 - place[d];
            r += d3[d] * d3[d];
        }
        check_near(out[0], m / sqrt(r), 0, 1e-8);
        for (int d = 0; d < 3; ++d)
            check_near(out[1 + d], m * d3[d] / (r * sqrt(r)), 2e-8 * m / r, 0);
    }
}

/* Coordinates as in UTM: nothing but the rounding of the bounds themselves. */
static void large_offsets(void **unused)
{
    const double offset[3] = {5e5, 4194304, -2048};
    uint64_t state = 5;
    for (int i = 0; i < 1000; ++i) {
        brick b, moved;
        double place[3], there[3], out[10], expected[10];
        for (int d = 0; d < 3; ++d) {
            b.low[d] = floor(1000 * congruence_uniform(&state)) / 8;
            b.high[d] = b.low[d] + 1 + floor(1000 * congruence_uniform(&state)) / 8;
            place[d] = floor(2000 * congruence_uniform(&state)) / 16;
            moved.low[d] = b.low[d] + offset[d];
            moved.high[d] = b.high[d] + offset[d];
            there[d] = place[d] + offset[d];
        }
        tensor_at(&b, place, expected);
        tensor_at(&moved, there, out);
        for (int k = 0; k < 10; ++k)
            assert_true(out[k] == expected[k] || (isnan(out[k]) && isnan(expected[k])));
    }
}

/* <sum w f, d> = <w, f d>. */
static void transposed_row(const ps_prism_set *set, int64_t first, int64_t end,
                           const double place[3])
{
    static const double data[10] = {.3, -.2, .7, .1, .9, -.4, .5, .6, -.8, .2};
    for (int kind = 0; kind < 3; ++kind) {
        double out[10] = {0}, back[3][64] = {{0}}, *rows[3] = {back[0], back[1], back[2]};
        double forward = 0, backward = 0, size = 0;
        const struct ps_prism_field_functions *f = ps_prism_field_functions_here();
        f->add((ps_prism_kind)kind, set, first, end, place, out);
        f->add_transposed((ps_prism_kind)kind, set, first, end, place, data, rows);
        for (int k = 0; k < ps_prism_kind_numbers((ps_prism_kind)kind); ++k)
            forward += data[k] * out[k];
        for (int w = 0; w < ps_prism_kind_weights((ps_prism_kind)kind); ++w)
            for (int64_t i = first; i < end; ++i) {
                backward += set->weight[w][i] * back[w][i - first];
                size += fabs(set->weight[w][i] * back[w][i - first]);
            }
        check_near(backward, forward, 1e-13 * size, 0);
    }
}

/* Any number of prisms: sums over vectors of lanes and what is left. Magnetics is T m. */
static void rows(void **unused)
{
    enum { COUNT = 37 };
    double low[3][COUNT], high[3][COUNT], weight[3][COUNT], place[3] = {.1, .2, -.3};
    uint64_t state = 9;
    ps_prism_set set = {.count = COUNT};
    const struct ps_prism_field_functions *f = ps_prism_field_functions_here();
    for (int d = 0; d < 3; ++d) {
        set.low[d] = low[d];
        set.high[d] = high[d];
        set.weight[d] = weight[d];
    }
    for (int i = 0; i < COUNT; ++i) {
        brick b;
        random_brick(&state, i % 3 ? 5 : 1e7, &b);
        for (int d = 0; d < 3; ++d) {
            low[d][i] = b.low[d] + (i % 7 == 0 ? 1e4 : 0);
            high[d][i] = b.high[d] + (i % 7 == 0 ? 1e4 : 0);
            weight[d][i] = congruence_uniform(&state) - .5;
        }
    }
    for (int first = 0; first < 5; ++first)
        for (int end = COUNT - 9; end <= COUNT; ++end) {
            double sum[10] = {0}, all[10] = {0}, magnetic[3] = {0}, expected[3] = {0};
            for (int i = first; i < end; ++i) {
                double one[10] = {0}, unit = 1;
                ps_prism_set alone = set;
                f->add(PS_PRISM_TENSOR, &set, i, i + 1, place, sum);
                for (int d = 0; d < 3; ++d) {
                    alone.low[d] += i;
                    alone.high[d] += i;
                }
                alone.weight[0] = &unit;
                f->add(PS_PRISM_TENSOR, &alone, 0, 1, place, one);
                const double t[3][3] = {
                    {one[4], one[7], one[8]}, {one[7], one[5], one[9]}, {one[8], one[9], one[6]}};
                for (int d = 0; d < 3; ++d)
                    for (int e = 0; e < 3; ++e) expected[d] += t[d][e] * weight[e][i];
            }
            f->add(PS_PRISM_TENSOR, &set, first, end, place, all);
            f->add(PS_PRISM_MAGNETIC, &set, first, end, place, magnetic);
            for (int k = 0; k < 10; ++k) check_near(all[k], sum[k], 1e-13, 1e-11);
            for (int d = 0; d < 3; ++d) check_near(magnetic[d], expected[d], 1e-12, 1e-11);
            transposed_row(&set, first, end, place);
        }
}
