#define real double
#define LANES_SINGLE 0
#include "kernels/fmm/prism_cell.h"

#include <math.h>

#include "kernels/common/lanes_body.h"
#include "runtime/isa.h"

enum { ORDER = PS_FMM_ORDER_MAX, POINTS = ORDER * ORDER * ORDER, AXES = 3 };

/* ---- prisms ---- */

/* Of a vector of prisms: integrals of S along each axis, and differences of S at the ends. */
typedef struct moments {
    vreal whole[AXES][ORDER], ends[AXES][ORDER];
} moments;

/* A bound in coordinates of the cell; rounding may not carry it outside. */
KERNEL_INLINE vreal inside(vreal x)
{
    for (int i = 0; i < LANES; ++i) x[i] = fmin(fmax(x[i], -1), 1);
    return x;
}

KERNEL_INLINE void moments_at(const ps_fmm_interpolation *s, int order,
                              const ps_fmm_prism_cell *cell, int64_t first, bool ends, moments *out)
{
    int64_t count = cell->count - first;
    for (int d = 0; d < AXES; ++d) {
        vreal low = v_from_doubles(cell->low[d] + first, count, cell->centre[d]);
        vreal high = v_from_doubles(cell->high[d] + first, count, cell->centre[d]);
        vreal length = v_from_doubles(cell->high[d] + first, count, 0) -
                       v_from_doubles(cell->low[d] + first, count, 0);
        for (int i = (int)(count < LANES ? count : LANES); i < LANES; ++i)
            low[i] = high[i] = length[i] = 0;
        vreal a = inside(low * (2 / cell->width)), b = inside(high * (2 / cell->width));
        vreal at_before = v_of(1), at = a, before = v_of(0), difference = v_of(1);
        vreal *whole = out->whole[d], *end = out->ends[d];
        for (int m = 0; m < order; ++m) {
            whole[m] = v_of(s->polynomials[0][m]);
            end[m] = v_of(0);
        }
        /* T_n[a,b] in `difference`, T_{n-1}[a,b] in `before`, T_n(a) in `at`. */
        for (int n = 1; n < order; ++n) {
            vreal next = 2 * (b * difference + at) - before;
            vreal mean = n == 1 ? 0.25 * next
                                : next * (0.5 / (n + 1)) - before * (0.5 / (n > 1 ? n - 1 : 1));
            for (int m = 0; m < order; ++m) {
                whole[m] += s->polynomials[n][m] * mean;
                if (ends) end[m] += s->polynomials[n][m] * difference;
            }
            vreal at_next = 2 * a * at - at_before;
            at_before = at;
            at = at_next;
            before = difference;
            difference = next;
        }
        for (int m = 0; m < order; ++m) {
            whole[m] *= length;
            end[m] *= length * (2 / cell->width);
        }
    }
}

KERNEL_INLINE void p2m(const ps_fmm_interpolation *s, int order, const ps_fmm_prism_cell *cell,
                       const double *const *weight, double *multipoles)
{
    const bool dipoles = cell->kind == PS_PRISM_MAGNETIC;
    vreal sums[POINTS];
    for (int m = 0; m < order * order * order; ++m) sums[m] = v_of(0);
    for (int64_t i = 0; i < cell->count; i += LANES) {
        moments n;
        vreal w[3];
        moments_at(s, order, cell, i, dipoles, &n);
        for (int k = 0; k < ps_prism_kind_weights(cell->kind); ++k)
            w[k] = v_from_doubles(weight[k] + i, cell->count - i, 0);
        for (int m0 = 0; m0 < order; ++m0)
            for (int m1 = 0; m1 < order; ++m1) {
                vreal *row = sums + (m0 * order + m1) * order,
                      both = n.whole[0][m0] * n.whole[1][m1];
                if (!dipoles) {
                    both *= w[0];
                    for (int m2 = 0; m2 < order; ++m2) row[m2] += both * n.whole[2][m2];
                    continue;
                }
                vreal across =
                    w[0] * n.ends[0][m0] * n.whole[1][m1] + w[1] * n.whole[0][m0] * n.ends[1][m1];
                both *= w[2];
                for (int m2 = 0; m2 < order; ++m2)
                    row[m2] -= across * n.whole[2][m2] + both * n.ends[2][m2];
            }
    }
    for (int m = 0; m < order * order * order; ++m) multipoles[m] += v_sum(sums[m]);
}

/* sum_m L_m a[m0] b[m1] c[m2] */
KERNEL_INLINE vreal contract_all(const double *locals, int order, const vreal *a, const vreal *b,
                                 const vreal *c)
{
    vreal sum = v_of(0);
    for (int m0 = 0; m0 < order; ++m0) {
        vreal plane = v_of(0);
        for (int m1 = 0; m1 < order; ++m1) {
            const double *row = locals + (m0 * order + m1) * order;
            vreal line = v_of(0);
            for (int m2 = 0; m2 < order; ++m2) line += row[m2] * c[m2];
            plane += line * b[m1];
        }
        sum += plane * a[m0];
    }
    return sum;
}

KERNEL_INLINE void put(double *at, int64_t count, vreal x)
{
    for (int i = 0; i < LANES; ++i)
        if (i < count) at[i] = x[i];
}

KERNEL_INLINE void p2m_transposed(const ps_fmm_interpolation *s, int order,
                                  const ps_fmm_prism_cell *cell, const double *locals,
                                  double *const *out)
{
    const bool dipoles = cell->kind == PS_PRISM_MAGNETIC;
    for (int64_t i = 0; i < cell->count; i += LANES) {
        moments n;
        moments_at(s, order, cell, i, dipoles, &n);
        if (!dipoles) {
            put(out[0] + i, cell->count - i,
                contract_all(locals, order, n.whole[0], n.whole[1], n.whole[2]));
            continue;
        }
        for (int d = 0; d < AXES; ++d)
            put(out[d] + i, cell->count - i,
                -contract_all(locals, order, d == 0 ? n.ends[0] : n.whole[0],
                              d == 1 ? n.ends[1] : n.whole[1], d == 2 ? n.ends[2] : n.whole[2]));
    }
}

/* ---- stations ---- */

/* S and its first two derivatives by the caller's lengths, at a vector of stations. */
typedef struct basis {
    vreal at[AXES][3][ORDER]; /* [axis][derivative] */
} basis;

KERNEL_INLINE void basis_at(const ps_fmm_interpolation *s, int order, const ps_fmm_prism_cell *cell,
                            int64_t first, bool second, basis *out)
{
    int64_t count = cell->count - first;
    const double scale = 2 / cell->width;
    for (int d = 0; d < AXES; ++d) {
        vreal x = v_from_doubles(cell->place[d] + first, count, cell->centre[d]) * scale;
        for (int i = (int)(count < LANES ? count : LANES); i < LANES; ++i) x[i] = 0;
        vreal t[3] = {x, v_of(1), v_of(0)}, before[3] = {v_of(1), v_of(0), v_of(0)};
        for (int m = 0; m < order; ++m) {
            out->at[d][0][m] = v_of(s->polynomials[0][m]);
            out->at[d][1][m] = out->at[d][2][m] = v_of(0);
        }
        for (int n = 1; n < order; ++n) {
            for (int m = 0; m < order; ++m)
                for (int k = 0; k < (second ? 3 : 2); ++k)
                    out->at[d][k][m] += s->polynomials[n][m] * t[k];
            for (int k = 2; k >= 0; --k) { /* (x T)'' = x T'' + 2 T' */
                vreal next = 2 * x * t[k] - before[k];
                if (k > 0) next += 2 * k * t[k - 1];
                before[k] = t[k];
                t[k] = next;
            }
        }
        for (int m = 0; m < order; ++m) {
            out->at[d][1][m] *= scale;
            out->at[d][2][m] *= scale * scale;
        }
    }
}

/* How often each number is differentiated along x, y, z. */
static const int8_t times[PS_PRISM_NUMBERS][AXES] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                                     {2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {1, 1, 0},
                                                     {1, 0, 1}, {0, 1, 1}};

/* Which of the ten numbers a kind has: first, and how many. */
KERNEL_INLINE int first_number(ps_prism_kind kind) { return kind == PS_PRISM_MAGNETIC ? 1 : 0; }

KERNEL_INLINE void l2p(const ps_fmm_interpolation *s, int order, const ps_fmm_prism_cell *cell,
                       const double *locals, double *const *out)
{
    const bool second = cell->kind == PS_PRISM_TENSOR;
    const int first = first_number(cell->kind), numbers = ps_prism_kind_numbers(cell->kind);
    const int most = second ? 3 : 2;
    for (int64_t i = 0; i < cell->count; i += LANES) {
        basis b;
        vreal sums[PS_PRISM_NUMBERS];
        basis_at(s, order, cell, i, second, &b);
        for (int k = 0; k < PS_PRISM_NUMBERS; ++k) sums[k] = v_of(0);
        for (int m0 = 0; m0 < order; ++m0) {
            vreal plane[3][3]; /* derivatives along y, z */
            for (int k = 0; k < 9; ++k) plane[k / 3][k % 3] = v_of(0);
            for (int m1 = 0; m1 < order; ++m1) {
                const double *row = locals + (m0 * order + m1) * order;
                vreal line[3] = {v_of(0), v_of(0), v_of(0)};
                for (int m2 = 0; m2 < order; ++m2)
                    for (int k = 0; k < most; ++k) line[k] += row[m2] * b.at[2][k][m2];
                for (int y = 0; y < most; ++y)
                    for (int z = 0; z + y < most; ++z) plane[y][z] += line[z] * b.at[1][y][m1];
            }
            for (int k = 0; k < (second ? PS_PRISM_NUMBERS : 4); ++k)
                sums[k] += plane[times[k][1]][times[k][2]] * b.at[0][times[k][0]][m0];
        }
        for (int k = 0; k < numbers; ++k)
            v_add_to_doubles(out[k] + i, cell->count - i, 1, sums[first + k]);
    }
}

KERNEL_INLINE void l2p_transposed(const ps_fmm_interpolation *s, int order,
                                  const ps_fmm_prism_cell *cell, const double *const *data,
                                  double *multipoles)
{
    const bool second = cell->kind == PS_PRISM_TENSOR;
    const int first = first_number(cell->kind), numbers = ps_prism_kind_numbers(cell->kind);
    vreal sums[POINTS];
    for (int m = 0; m < order * order * order; ++m) sums[m] = v_of(0);
    for (int64_t i = 0; i < cell->count; i += LANES) {
        basis b;
        vreal d[PS_PRISM_NUMBERS];
        for (int k = 0; k < PS_PRISM_NUMBERS; ++k) d[k] = v_of(0);
        for (int k = 0; k < numbers; ++k)
            d[first + k] = v_from_doubles(data[k] + i, cell->count - i, 0);
        basis_at(s, order, cell, i, second, &b);
        for (int m0 = 0; m0 < order; ++m0)
            for (int m1 = 0; m1 < order; ++m1) {
                vreal along[3] = {v_of(0), v_of(0), v_of(0)}; /* by derivatives along z */
                vreal *row = sums + (m0 * order + m1) * order;
                for (int k = 0; k < (second ? PS_PRISM_NUMBERS : 4); ++k)
                    along[times[k][2]] +=
                        d[k] * b.at[0][times[k][0]][m0] * b.at[1][times[k][1]][m1];
                for (int m2 = 0; m2 < order; ++m2) {
                    row[m2] += along[0] * b.at[2][0][m2] + along[1] * b.at[2][1][m2];
                    if (second) row[m2] += along[2] * b.at[2][2][m2];
                }
            }
    }
    for (int m = 0; m < order * order * order; ++m) multipoles[m] += v_sum(sums[m]);
}

/* ---- with constant orders ---- */

#define FOR_ORDERS(act, ...)                                                                       \
    switch (s->order) {                                                                            \
    case 5:                                                                                        \
        act(s, 5, __VA_ARGS__);                                                                    \
        break;                                                                                     \
    case 7:                                                                                        \
        act(s, 7, __VA_ARGS__);                                                                    \
        break;                                                                                     \
    default:                                                                                       \
        act(s, s->order, __VA_ARGS__);                                                             \
    }

static void p2m_any(const ps_fmm_interpolation *s, const ps_fmm_prism_cell *cell,
                    const double *const *weight, double *multipoles)
{
    FOR_ORDERS(p2m, cell, weight, multipoles)
}

static void p2m_transposed_any(const ps_fmm_interpolation *s, const ps_fmm_prism_cell *cell,
                               const double *locals, double *const *out)
{
    p2m_transposed(s, s->order, cell, locals, out);
}

static void l2p_any(const ps_fmm_interpolation *s, const ps_fmm_prism_cell *cell,
                    const double *locals, double *const *out)
{
    FOR_ORDERS(l2p, cell, locals, out)
}

static void l2p_transposed_any(const ps_fmm_interpolation *s, const ps_fmm_prism_cell *cell,
                               const double *const *data, double *multipoles)
{
    l2p_transposed(s, s->order, cell, data, multipoles);
}

const struct ps_fmm_prism_functions PS_ISA_TABLE(ps_fmm_prism) = {
    .p2m = p2m_any,
    .p2m_transposed = p2m_transposed_any,
    .l2p = l2p_any,
    .l2p_transposed = l2p_transposed_any};
