/*
 * krylov_team_body: products and changes of vectors of krylov_team.h on CPU cores. The including
 * file defines `real`, of the vectors, and TABLE, what it exports; sums are of type `wide`.
 */
#include <string.h>

#include "kernels/linear/krylov_team.h"
#include "runtime/isa.h"

typedef double wide;

/* ---- products ---- */

enum { AHEAD = 512 }; /* entries that are asked for in advance: a matrix is read once, from afar */

static void csr(const ps_csr *matrix, const void *entries, const void *in, void *out,
                const int64_t range[2])
{
    const real *values = entries, *x = in;
    real *y = out;
    const int32_t *columns = matrix->columns;
    for (int64_t r = range[0]; r < range[1]; ++r) {
        real sum = 0;
        int64_t start = matrix->row_start[r], stop = matrix->row_start[r + 1];
        for (int64_t e = start; e < stop; e += 8) __builtin_prefetch(values + e + AHEAD);
        for (int64_t e = start; e < stop; e += 16) __builtin_prefetch(columns + e + AHEAD);
#pragma omp simd reduction(+ : sum)
        for (int64_t e = start; e < stop; ++e) sum += values[e] * x[columns[e]];
        y[r] = sum;
    }
}

enum { LINE = 512 }; /* nodes of a line at a time */

static const real zeros[LINE + 2];

/* Weighted sums over the 3 x 3 lines about one: `near` for the node's own k, `far` for the k
 * beside. */
static void combine(const real *const u[3][3], const double plane[2][2], const double side[2][2],
                    int64_t count, real *restrict near, real *restrict far)
{
    const real p00 = (real)plane[0][0], p10 = (real)plane[1][0], p01 = (real)plane[0][1];
    const real p11 = (real)plane[1][1], s00 = (real)side[0][0], s10 = (real)side[1][0];
    const real s01 = (real)side[0][1], s11 = (real)side[1][1];
#pragma omp simd
    for (int64_t k = 0; k < count; ++k) {
        real c = u[1][1][k], y = u[1][0][k] + u[1][2][k], x = u[0][1][k] + u[2][1][k];
        real xy = (u[0][0][k] + u[0][2][k]) + (u[2][0][k] + u[2][2][k]);
        near[k] = p00 * c + p10 * y + s00 * x + s10 * xy;
        far[k] = p01 * c + p11 * y + s01 * x + s11 * xy;
    }
}

/* The line (i, j), i and j unfixed; lines[3][3] are NULL where fixed or outside. */
static void line(const ps_slab_stencil *s, int kind, const real *const lines[3][3], real *y)
{
    int64_t nz = s->nodes[2];
    real near[LINE + 2], far[LINE + 2];
    y[0] = lines[1][1][0];
    y[nz - 1] = lines[1][1][nz - 1];
    for (int64_t first = 1; first < nz - 1; first += LINE) {
        int64_t count = nz - 1 - first < LINE ? nz - 1 - first : LINE;
        const real *u[3][3];
        for (int a = 0; a < 9; ++a)
            u[a / 3][a % 3] = lines[a / 3][a % 3] ? lines[a / 3][a % 3] + first - 1 : zeros;
        combine(u, s->plane[kind], s->side, count + 2, near, far);
        if (first == 1) far[0] = 0;
        if (first + count == nz - 1) far[count + 1] = 0;
#pragma omp simd
        for (int64_t k = 0; k < count; ++k) y[first + k] = near[k + 1] + far[k] + far[k + 2];
    }
}

/* The planes and lines about (i, j) that are unfixed. */
static void plane(const ps_slab_stencil *s, const void *in, void *out, int64_t i)
{
    int64_t nx = s->nodes[0], ny = s->nodes[1], nz = s->nodes[2], size = ny * nz;
    int kind = i == 0 ? 1 : i == nx - 1 ? 2 : 0;
    const real *here = (const real *)in + i * size;
    real *y = (real *)out + i * size;
    if (kind > 0 && !s->free[kind - 1]) {
        memcpy(y, here, (size_t)size * sizeof *y);
        return;
    }
    bool open[3] = {i > 1 || (i == 1 && s->free[0]), true,
                    i < nx - 2 || (i == nx - 2 && s->free[1])};
    memcpy(y, here, (size_t)nz * sizeof *y);
    memcpy(y + size - nz, here + size - nz, (size_t)nz * sizeof *y);
    for (int64_t j = 1; j < ny - 1; ++j) {
        const real *lines[3][3];
        for (int a = 0; a < 9; ++a) {
            int64_t at = j + a % 3 - 1;
            bool used = open[a / 3] && at > 0 && at < ny - 1;
            lines[a / 3][a % 3] = used ? here + (a / 3 - 1) * size + at * nz : NULL;
        }
        line(s, kind, lines, y + j * nz);
    }
}

/* ---- changes of vectors; each is written once, for D^-1 as an array and as a number ---- */

typedef const ps_krylov_vectors vectors;

/* Loops over the rows with d = D^-1 of the row; sums in s0, s1, s2. */
#define LOOP(inverse, body)                                                                        \
    _Pragma("omp simd reduction(+ : s0, s1, s2)") for (int64_t i = first; i < end; ++i)            \
    {                                                                                              \
        const real d = (real)(inverse);                                                            \
        (void)d;                                                                                   \
        body                                                                                       \
    }
#define BEFORE(name, arrays, body)                                                                 \
    static void name(vectors *v, int64_t first, int64_t end, const double s[2], double sums[3])    \
    {                                                                                              \
        const real alpha = (real)s[0], omega = (real)s[1], uniform = (real)v->uniform;             \
        double s0 = 0, s1 = 0, s2 = 0;                                                             \
        const real *restrict scale = v->scale;                                                     \
        (void)alpha, (void)omega;                                                                  \
        arrays;                                                                                    \
        if (scale) {                                                                               \
            LOOP(scale[i], body)                                                                   \
        } else {                                                                                   \
            LOOP(uniform, body)                                                                    \
        }                                                                                          \
        sums[0] += s0, sums[1] += s1, sums[2] += s2;                                               \
    }
#define AFTER(name, arrays, body)                                                                  \
    static void name(vectors *v, int64_t first, int64_t end, double sums[3])                       \
    {                                                                                              \
        double s0 = 0, s1 = 0, s2 = 0;                                                             \
        arrays;                                                                                    \
        LOOP(1, body)                                                                              \
        sums[0] += s0, sums[1] += s1, sums[2] += s2;                                               \
    }
#define IN(name) const real *restrict name = v->name
#define IO(name) real *restrict name = v->name

#include "kernels/linear/krylov_passes_body.h"

extern const struct ps_krylov_functions PS_ISA_TABLE(TABLE);
const struct ps_krylov_functions PS_ISA_TABLE(TABLE) = {
    .csr = csr,
    .plane = plane,
    .before = {[PS_CG_START] = cg_start,
               [PS_CG_DIRECTION] = cg_direction,
               [PS_CG_ADVANCE] = cg_advance,
               [PS_STAB_START] = stab_start,
               [PS_STAB_DIRECTION] = stab_direction,
               [PS_STAB_HALF] = stab_half,
               [PS_STAB_TURN] = stab_turn,
               [PS_STAB_ADVANCE] = stab_advance,
               [PS_CR_START] = cr_start,
               [PS_CR_DIRECTION] = cr_direction,
               [PS_CR_ADVANCE] = cr_advance},
    .after = {[PS_CG_DIRECTION] = cg_curvature,
              [PS_STAB_DIRECTION] = stab_shadow,
              [PS_STAB_TURN] = stab_products,
              [PS_CR_START] = cr_first_product,
              [PS_CR_ADVANCE] = cr_product}};
