/*
 * The body of cell.h for one precision; the includer defines real, LANES_SINGLE and CELL_TABLE.
 * Particles lie in the lanes; orders 3, 5 and 7 are compiled with a constant order.
 */
#include "kernels/fmm/cell.h"

#include <math.h>

#include "kernels/common/lanes_body.h"

enum { ORDER = PS_FMM_ORDER_MAX, POINTS = ORDER * ORDER * ORDER };

/* S and S' of a vector of particles. */
typedef struct basis {
    vreal value[3][ORDER], slope[3][ORDER];
} basis;

/* Coordinates in the cell of up to LANES particles. The others lie in its centre. */
static void coordinates(const ps_fmm_leaf *leaf, int64_t first, vreal xi[3])
{
    int64_t count = leaf->range.end - first;
    for (int d = 0; d < 3; ++d) {
        xi[d] = v_from_doubles(leaf->particles->position[d] + first, count, leaf->centre[d]);
        xi[d] *= (real)(2 / leaf->width);
        for (int i = (int)(count < LANES ? count : LANES); i < LANES; ++i) xi[d][i] = 0;
    }
}

KERNEL_INLINE void basis_at(const ps_fmm_interpolation *s, int order, const vreal xi[3],
                            bool slopes, basis *b)
{
    for (int d = 0; d < 3; ++d) {
        vreal x = xi[d], t_before = v_of(1), t = x, u_before = v_of(0), u = v_of(1);
        for (int a = 0; a < order; ++a) {
            b->value[d][a] = v_of((real)s->polynomials[0][a]);
            b->slope[d][a] = v_of(0);
        }
        for (int n = 1; n < order; ++n) {
            for (int a = 0; a < order; ++a) {
                real p = (real)s->polynomials[n][a];
                b->value[d][a] += p * t;
                if (slopes) b->slope[d][a] += p * (real)n * u;
            }
            vreal t_next = 2 * x * t - t_before, u_next = 2 * x * u - u_before;
            t_before = t;
            t = t_next;
            u_before = u;
            u = u_next;
        }
    }
}

KERNEL_INLINE void p2m(const ps_fmm_interpolation *s, int order, const ps_fmm_leaf *leaf,
                       real *multipoles)
{
    for (int side = 0; side < leaf->sides; ++side) {
        const double *charges = leaf->particles->charges + side * leaf->particles->stride;
        vreal sums[POINTS];
        for (int m = 0; m < order * order * order; ++m) sums[m] = (vreal){0};
        for (int64_t i = leaf->range.begin; i < leaf->range.end; i += LANES) {
            vreal xi[3], charge = v_from_doubles(charges + i, leaf->range.end - i, 0);
            basis b;
            coordinates(leaf, i, xi);
            basis_at(s, order, xi, false, &b);
            for (int m0 = 0; m0 < order; ++m0)
                for (int m1 = 0; m1 < order; ++m1) {
                    vreal factor = charge * b.value[0][m0] * b.value[1][m1];
                    for (int m2 = 0; m2 < order; ++m2)
                        sums[(m0 * order + m1) * order + m2] += factor * b.value[2][m2];
                }
        }
        for (int m = 0; m < order * order * order; ++m)
            multipoles[side * leaf->vector_stride + m] += v_sum(sums[m]);
    }
}

KERNEL_INLINE void p2m_dipoles(const ps_fmm_interpolation *s, int order, const ps_fmm_leaf *leaf,
                               real *multipoles)
{
    const ps_fmm_particles *from = leaf->particles;
    for (int side = 0; side < leaf->sides; ++side) {
        vreal sums[POINTS];
        for (int m = 0; m < order * order * order; ++m) sums[m] = (vreal){0};
        for (int64_t i = leaf->range.begin; i < leaf->range.end; i += LANES) {
            vreal xi[3], dipole[3];
            basis b;
            for (int d = 0; d < 3; ++d)
                dipole[d] = v_from_doubles(from->dipoles + (3 * side + d) * from->stride + i,
                                           leaf->range.end - i, 0);
            coordinates(leaf, i, xi);
            basis_at(s, order, xi, true, &b);
            for (int m0 = 0; m0 < order; ++m0)
                for (int m1 = 0; m1 < order; ++m1) {
                    vreal across = dipole[0] * b.slope[0][m0] * b.value[1][m1] +
                                   dipole[1] * b.value[0][m0] * b.slope[1][m1];
                    vreal along = dipole[2] * b.value[0][m0] * b.value[1][m1];
                    for (int m2 = 0; m2 < order; ++m2)
                        sums[(m0 * order + m1) * order + m2] +=
                            across * b.value[2][m2] + along * b.slope[2][m2];
                }
        }
        for (int m = 0; m < order * order * order; ++m)
            multipoles[side * leaf->vector_stride + m] += (real)(2 / leaf->width) * v_sum(sums[m]);
    }
}

/* phi and the gradient in cell coordinates of a vector of particles. */
KERNEL_INLINE void expand(const real *locals, int order, const basis *b, vreal out[4])
{
    for (int r = 0; r < 4; ++r) out[r] = (vreal){0};
    for (int m0 = 0; m0 < order; ++m0) {
        vreal plain = {0}, along_1 = {0}, along_2 = {0};
        for (int m1 = 0; m1 < order; ++m1) {
            const real *row = locals + (m0 * order + m1) * order;
            vreal value = {0}, slope = {0};
            for (int m2 = 0; m2 < order; ++m2) {
                value += row[m2] * b->value[2][m2];
                slope += row[m2] * b->slope[2][m2];
            }
            plain += value * b->value[1][m1];
            along_1 += value * b->slope[1][m1];
            along_2 += slope * b->value[1][m1];
        }
        out[0] += plain * b->value[0][m0];
        out[1] += plain * b->slope[0][m0];
        out[2] += along_1 * b->value[0][m0];
        out[3] += along_2 * b->value[0][m0];
    }
}

KERNEL_INLINE void l2p(const ps_fmm_interpolation *s, int order, const ps_fmm_leaf *leaf,
                       const real *locals)
{
    const ps_fmm_particles *particles = leaf->particles;
    double scale = 2 / leaf->width;
    for (int64_t i = leaf->range.begin; i < leaf->range.end; i += LANES) {
        vreal xi[3];
        basis b;
        int64_t count = leaf->range.end - i;
        coordinates(leaf, i, xi);
        basis_at(s, order, xi, true, &b);
        for (int side = 0; side < leaf->sides; ++side) {
            vreal out[4];
            expand(locals + side * leaf->vector_stride, order, &b, out);
            v_add_to_doubles(particles->potential + side * particles->stride + i, count, 1, out[0]);
            for (int d = 0; d < 3; ++d)
                v_add_to_doubles(particles->gradient + (3 * side + d) * particles->stride + i,
                                 count, scale, out[1 + d]);
        }
    }
}

/* S'' of a vector of particles: T''_{n+1} = 4 T'_n + 2 x T''_n - T''_{n-1}. */
KERNEL_INLINE void curvature_at(const ps_fmm_interpolation *s, int order, const vreal xi[3],
                                vreal curvature[3][ORDER])
{
    for (int d = 0; d < 3; ++d) {
        vreal x = xi[d], u_before = v_of(0), u = v_of(1), c_before = v_of(0), c = v_of(0);
        for (int a = 0; a < order; ++a) curvature[d][a] = v_of(0);
        for (int n = 1; n + 1 < order; ++n) {
            vreal u_next = 2 * x * u - u_before;
            vreal c_next = 4 * (real)n * u + 2 * x * c - c_before;
            u_before = u;
            u = u_next;
            c_before = c;
            c = c_next;
            for (int a = 0; a < order; ++a) curvature[d][a] += (real)s->polynomials[n + 1][a] * c;
        }
    }
}

/* The second derivatives in cell coordinates, in the order of particle_set.h. */
KERNEL_INLINE void expand_twice(const real *locals, int order, const basis *b,
                                vreal curvature[3][ORDER], vreal out[6])
{
    for (int r = 0; r < 6; ++r) out[r] = (vreal){0};
    for (int m0 = 0; m0 < order; ++m0) {
        vreal plain = {0}, along_1 = {0}, along_2 = {0}, twice[3] = {{0}};
        for (int m1 = 0; m1 < order; ++m1) {
            const real *row = locals + (m0 * order + m1) * order;
            vreal value = {0}, slope = {0}, curve = {0};
            for (int m2 = 0; m2 < order; ++m2) {
                value += row[m2] * b->value[2][m2];
                slope += row[m2] * b->slope[2][m2];
                curve += row[m2] * curvature[2][m2];
            }
            plain += value * b->value[1][m1];
            along_1 += value * b->slope[1][m1];
            along_2 += slope * b->value[1][m1];
            twice[0] += value * curvature[1][m1];
            twice[1] += slope * b->slope[1][m1];
            twice[2] += curve * b->value[1][m1];
        }
        out[0] += plain * curvature[0][m0];
        out[1] += along_1 * b->slope[0][m0];
        out[2] += along_2 * b->slope[0][m0];
        for (int r = 0; r < 3; ++r) out[3 + r] += twice[r] * b->value[0][m0];
    }
}

KERNEL_INLINE void l2p_hessian(const ps_fmm_interpolation *s, int order, const ps_fmm_leaf *leaf,
                               const real *locals)
{
    const ps_fmm_particles *particles = leaf->particles;
    double scale = 4 / (leaf->width * leaf->width);
    for (int64_t i = leaf->range.begin; i < leaf->range.end; i += LANES) {
        vreal xi[3], curvature[3][ORDER], out[6];
        basis b;
        coordinates(leaf, i, xi);
        basis_at(s, order, xi, true, &b);
        curvature_at(s, order, xi, curvature);
        for (int side = 0; side < leaf->sides; ++side) {
            expand_twice(locals + side * leaf->vector_stride, order, &b, curvature, out);
            for (int r = 0; r < 6; ++r)
                v_add_to_doubles(particles->hessian + (6 * side + r) * particles->stride + i,
                                 leaf->range.end - i, scale, out[r]);
        }
    }
}

/* Vectors of a cell as [l][l][row] with rows of whole registers, 0 behind l. */
enum { ROW_MAX = 16, PADDED = ORDER * ORDER * ROW_MAX };
KERNEL_INLINE int row_of(int order) { return order <= 8 && LANES <= 8 ? 8 : ROW_MAX; }

/* out[a inner + i] = sum_b E[a][b] in[b inner + i], i < inner: an axis but the last. */
KERNEL_INLINE void contract(const ps_fmm_interpolation *s, int order, bool transposed, int half,
                            int inner, const real *in, real *out)
{
    for (int i = 0; i < inner; i += LANES)
        for (int a = 0; a < order; ++a) {
            vreal sum = {0};
            for (int b = 0; b < order; ++b)
                sum += (real)(transposed ? s->child[half][b][a] : s->child[half][a][b]) *
                       v_load(in + b * inner + i);
            v_store(out + a * inner + i, sum);
        }
}

/* out[r][a] = sum_b in[r][b] E[a][b] in all rows: the last axis. columns[b][a] = E[a][b]. */
KERNEL_INLINE void contract_rows(const real *columns, int order, const real *in, real *out)
{
    const int row = row_of(order);
    for (int r = 0; r < order * order; ++r)
        for (int i = 0; i < row; i += LANES) {
            vreal sum = {0};
            for (int b = 0; b < order; ++b) sum += in[r * row + b] * v_load(columns + b * row + i);
            v_store(out + r * row + i, sum);
        }
}

/* The rows of a vector, padded. All but the last are read as whole registers. */
KERNEL_INLINE void pad_rows(int order, const real *from, real *to)
{
    const int row = row_of(order), rows = order * order;
    for (int i = 0; i < row; i += LANES) {
        vinteger mask;
        for (int k = 0; k < LANES; ++k) mask[k] = i + k < order ? -1 : 0;
        for (int r = 0; r < rows - row / order; ++r)
            v_store(to + r * row + i, v_keep(mask, v_load_unaligned(from + r * order + i)));
    }
    for (int r = rows - row / order > 0 ? rows - row / order : 0; r < rows; ++r)
        for (int k = 0; k < row; ++k) to[r * row + k] = k < order ? from[r * order + k] : 0;
}

/* to += (E_x (x) E_y (x) E_z) from, transposed for L2L. */
KERNEL_INLINE void transfer(const ps_fmm_interpolation *s, int order, bool transposed, int octant,
                            const real *from, real *to)
{
    const int row = row_of(order), plane = order * row, last = octant & 1;
    _Alignas(64) real columns[ORDER * ROW_MAX] = {0}, first[PADDED], second[PADDED];
    for (int b = 0; b < order; ++b)
        for (int a = 0; a < order; ++a)
            columns[b * row + a] = (real)(transposed ? s->child[last][b][a] : s->child[last][a][b]);
    pad_rows(order, from, first);
    contract(s, order, transposed, octant >> 2 & 1, plane, first, second);
    for (int m = 0; m < order; ++m)
        contract(s, order, transposed, octant >> 1 & 1, row, second + m * plane, first + m * plane);
    contract_rows(columns, order, first, second);
    for (int r = 0; r < order * order; ++r)
        for (int k = 0; k < order; ++k) to[r * order + k] += second[r * row + k];
}

/* ---- with constant orders ---- */

#define FOR_ORDERS(act, ...)                                                                       \
    switch (s->order) {                                                                            \
    case 3:                                                                                        \
        act(s, 3, __VA_ARGS__);                                                                    \
        break;                                                                                     \
    case 5:                                                                                        \
        act(s, 5, __VA_ARGS__);                                                                    \
        break;                                                                                     \
    case 7:                                                                                        \
        act(s, 7, __VA_ARGS__);                                                                    \
        break;                                                                                     \
    default:                                                                                       \
        act(s, s->order, __VA_ARGS__);                                                             \
    }

static void p2m_any(const ps_fmm_interpolation *s, const ps_fmm_leaf *leaf, void *multipoles)
{
    FOR_ORDERS(p2m, leaf, multipoles)
}

static void m2m_any(const ps_fmm_interpolation *s, int octant, const void *child, void *parent)
{
    FOR_ORDERS(transfer, false, octant, child, parent)
}

static void l2l_any(const ps_fmm_interpolation *s, int octant, const void *parent, void *child)
{
    FOR_ORDERS(transfer, true, octant, parent, child)
}

static void l2p_any(const ps_fmm_interpolation *s, const ps_fmm_leaf *leaf, const void *locals)
{
    FOR_ORDERS(l2p, leaf, locals)
}

static void p2m_dipoles_any(const ps_fmm_interpolation *s, const ps_fmm_leaf *leaf, void *to)
{
    p2m_dipoles(s, s->order, leaf, to);
}

static void l2p_hessian_any(const ps_fmm_interpolation *s, const ps_fmm_leaf *leaf, const void *from)
{
    l2p_hessian(s, s->order, leaf, from);
}

const struct ps_fmm_cell_functions PS_ISA_TABLE(CELL_TABLE) = {
    .p2m = p2m_any,
    .m2m = m2m_any,
    .l2l = l2l_any,
    .l2p = l2p_any,
    .p2m_dipoles = p2m_dipoles_any,
    .l2p_hessian = l2p_hessian_any};
