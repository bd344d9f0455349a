/*
 * The body of p2p.h for one precision; the includer defines real, LANES_SINGLE and P2P_TABLE.
 *
 * Sources are packed in chunks: aligned arrays of positions, charges and their sums; what is missing to
 * full vectors lies far away and has no charge. Blocks of 4 targets stay in registers.
 */
#include "kernels/fmm/p2p.h"

#include <math.h>
#include <stdbool.h>

#include "kernels/fmm/lanes_body.h"

#include "kernels/fmm/kernel_function_body.h"

enum {
    BLOCK = 4,                                                           /* targets at a time   */
    CHUNK_REALS = 8 * PS_FMM_P2P_CHUNK * (int)(sizeof(double) / sizeof(real)),
    COMPONENTS = 4                                                       /* phi, g              */
};

typedef void (*kernel_fn)(vreal r2, vreal b, vreal *k, vreal *c);

/* Sources, packed: rows of `capacity` numbers. */
typedef struct chunk {
    int64_t count, padded, capacity;
    real *position;   /* [3][capacity]                */
    real *charges;    /* [sides][capacity]            */
    real *sums;       /* [sides][4][capacity]: phi, g */
    real numbers[CHUNK_REALS] __attribute__((aligned(64)));
} chunk;

/* Targets, packed, and the sums of their lanes. */
typedef struct block {
    int count;
    real position[3][BLOCK], charge[PS_FMM_SIDES_MAX][BLOCK];
    vreal sums[PS_FMM_SIDES_MAX][BLOCK][COMPONENTS];
} block;

/* What an inner loop knows of the problem. */
typedef struct problem {
    const ps_fmm_p2p *p2p;
    real origin[3];
    double offset[3]; /* subtracted from all positions    */
    real b, tiny;     /* tiny: added to r^2               */
    real away;        /* where padding lies               */
} problem;

static problem problem_of(const ps_fmm_p2p *p2p)
{
    problem w = {.p2p = p2p, .b = (real)p2p->function.parameter};
    double least = p2p->width * 1e-9;
    for (int d = 0; d < 3; ++d) {
        w.offset[d] = LANES_SINGLE ? p2p->centre[d] : 0;
        w.origin[d] = (real)(p2p->centre[d] - w.offset[d]);
    }
    if (LANES_SINGLE) w.tiny = (real)(least * least);
    w.away = (real)(1000 * p2p->width);
    return w;
}

/* ---- packing ---- */

static void chunk_shape(chunk *c, int sides)
{
    c->capacity = CHUNK_REALS / (3 + 5 * sides) / 16 * 16;
    if (c->capacity > PS_FMM_P2P_CHUNK) c->capacity = PS_FMM_P2P_CHUNK;
    c->position = c->numbers;
    c->charges = c->position + 3 * c->capacity;
    c->sums = c->charges + sides * c->capacity;
}

/* Where packing stands in the list of runs. */
typedef struct cursor {
    int64_t run, at;
} cursor;

/* Visits up to `capacity` sources from the cursor on, piece by piece. */
#define FOR_PIECES(p2p, from, capacity, filled, first, length)                                  \
    for (int64_t filled = 0, first, length; piece((p2p), &(from), (capacity) - filled, &first, &length); \
         filled += length)

static bool piece(const ps_fmm_p2p *p2p, cursor *from, int64_t room, int64_t *first, int64_t *length)
{
    while (from->run < p2p->run_count && from->at >= p2p->runs[from->run].end)
        if (++from->run < p2p->run_count) from->at = p2p->runs[from->run].begin;
    if (from->run >= p2p->run_count || room <= 0) return false;
    int64_t left = p2p->runs[from->run].end - from->at;
    *first = from->at;
    *length = left < room ? left : room;
    from->at += *length;
    return true;
}

static void pack(const problem *w, cursor *from, chunk *c)
{
    const ps_fmm_particles *s = w->p2p->sources;
    int sides = w->p2p->sides;
    c->count = 0;
    FOR_PIECES(w->p2p, *from, c->capacity, filled, first, length)
    {
        for (int d = 0; d < 3; ++d)
            for (int64_t j = 0; j < length; ++j)
                c->position[d * c->capacity + filled + j] =
                    (real)(s->position[d][first + j] - w->offset[d]);
        for (int side = 0; side < sides; ++side)
            for (int64_t j = 0; j < length; ++j)
                c->charges[side * c->capacity + filled + j] =
                    (real)s->charges[side * s->stride + first + j];
        c->count = filled + length;
    }
    c->padded = (c->count + LANES - 1) / LANES * LANES;
    for (int64_t j = c->count; j < c->padded; ++j) {
        for (int d = 0; d < 3; ++d) c->position[d * c->capacity + j] = w->origin[d] - w->away;
        for (int side = 0; side < sides; ++side) c->charges[side * c->capacity + j] = 0;
    }
}

/* Adds the sums of a chunk to the results of the sources, from where it was packed. */
static void unpack(const problem *w, cursor from, const chunk *c)
{
    const ps_fmm_particles *s = w->p2p->sources;
    FOR_PIECES(w->p2p, from, c->capacity, filled, first, length)
    {
        for (int row = 0; row < COMPONENTS * w->p2p->sides; ++row) {
            int side = row / COMPONENTS, component = row % COMPONENTS;
            double *to = component == 0 ? s->potential + side * s->stride
                                        : s->gradient + (3 * side + component - 1) * s->stride;
            const real *sums = c->sums + row * c->capacity + filled;
            for (int64_t j = 0; j < length; ++j) to[first + j] += (double)sums[j];
        }
    }
}

static void pack_block(const problem *w, int64_t first, int64_t end, block *b)
{
    const ps_fmm_particles *t = w->p2p->targets;
    b->count = end - first < BLOCK ? (int)(end - first) : BLOCK;
    for (int i = 0; i < BLOCK; ++i) {
        bool there = i < b->count;
        for (int d = 0; d < 3; ++d)
            b->position[d][i] = there ? (real)(t->position[d][first + i] - w->offset[d])
                                      : w->origin[d] + w->away;
        for (int side = 0; side < w->p2p->sides; ++side)
            b->charge[side][i] =
                there && t->charges ? (real)t->charges[side * t->stride + first + i] : 0;
    }
}

static void unpack_block(const problem *w, int64_t first, const block *b)
{
    const ps_fmm_particles *t = w->p2p->targets;
    for (int side = 0; side < w->p2p->sides; ++side)
        for (int i = 0; i < b->count; ++i) {
            t->potential[side * t->stride + first + i] += (double)v_sum(b->sums[side][i][0]);
            for (int d = 0; d < 3; ++d)
                t->gradient[(3 * side + d) * t->stride + first + i] +=
                    (double)v_sum(b->sums[side][i][1 + d]);
        }
}

/* ---- pairs ---- */

/* K and c (x_i - x_j) of one target and a vector of sources; 0 at distance 0 if `mask`. */
KERNEL_INLINE void pair(const problem *w, const block *b, int i, const vreal source[3],
                        kernel_fn kernel, bool mask, vreal *k, vreal *c, vreal d[3])
{
    vreal r2 = v_of(w->tiny);
    for (int axis = 0; axis < 3; ++axis) {
        d[axis] = b->position[axis][i] - source[axis];
        r2 = !LANES_SINGLE && axis == 0 ? d[0] * d[0] : r2 + d[axis] * d[axis];
    }
    kernel(r2, v_of(w->b), k, c);
    if (!mask) return;
    vinteger apart = r2 != (LANES_SINGLE ? w->tiny : 0);
    *k = v_keep(apart, *k);
    *c = v_keep(apart, *c);
}

/* A block and a chunk, one right-hand side: sums of the block in registers. */
KERNEL_INLINE void block_one(const problem *w, block *b, chunk *c, kernel_fn kernel, bool mutual)
{
    int64_t capacity = c->capacity;
    vreal sums[BLOCK][COMPONENTS] = {{{0}}};
    for (int64_t j = 0; j < c->padded; j += LANES) {
        vreal source[3], charge = v_load(c->charges + j), back[COMPONENTS];
        for (int d = 0; d < 3; ++d) source[d] = v_load(c->position + d * capacity + j);
        if (mutual)
            for (int r = 0; r < COMPONENTS; ++r) back[r] = v_load(c->sums + r * capacity + j);
#pragma GCC unroll 4
        for (int i = 0; i < BLOCK; ++i) {
            vreal k, slope, d[3];
            pair(w, b, i, source, kernel, !mutual, &k, &slope, d);
            vreal there = charge * slope, here = b->charge[0][i] * slope;
            sums[i][0] += charge * k;
            for (int axis = 0; axis < 3; ++axis) sums[i][1 + axis] += there * d[axis];
            if (!mutual) continue;
            back[0] += b->charge[0][i] * k;
            for (int axis = 0; axis < 3; ++axis) back[1 + axis] -= here * d[axis];
        }
        if (mutual)
            for (int r = 0; r < COMPONENTS; ++r) v_store(c->sums + r * capacity + j, back[r]);
    }
    memcpy(b->sums[0], sums, sizeof sums);
}

/* The same for several right-hand sides: K and c once, sums in memory. */
KERNEL_INLINE void block_many(const problem *w, block *b, chunk *c, kernel_fn kernel, bool mutual)
{
    int64_t capacity = c->capacity;
    memset(b->sums, 0, sizeof b->sums);
    for (int64_t j = 0; j < c->padded; j += LANES) {
        vreal source[3];
        for (int d = 0; d < 3; ++d) source[d] = v_load(c->position + d * capacity + j);
        for (int i = 0; i < BLOCK; ++i) {
            vreal k, slope, d[3];
            pair(w, b, i, source, kernel, !mutual, &k, &slope, d);
            for (int axis = 0; axis < 3; ++axis) d[axis] *= slope;
            for (int s = 0; s < w->p2p->sides; ++s) {
                vreal charge = v_load(c->charges + s * capacity + j), *sums = b->sums[s][i];
                sums[0] += charge * k;
                for (int axis = 0; axis < 3; ++axis) sums[1 + axis] += charge * d[axis];
                if (!mutual) continue;
                vreal *back = (vreal *)(c->sums + COMPONENTS * s * capacity + j), q = v_of(b->charge[s][i]);
                int64_t row = capacity / LANES;
                back[0] += q * k;
                for (int axis = 0; axis < 3; ++axis) back[(1 + axis) * row] -= q * d[axis];
            }
        }
    }
}

KERNEL_INLINE void interact(const ps_fmm_p2p *p2p, kernel_fn kernel, bool mutual)
{
    problem w = problem_of(p2p);
    chunk c;
    block b;
    chunk_shape(&c, p2p->sides);
    cursor at = {0, p2p->run_count ? p2p->runs[0].begin : 0};
    for (;;) {
        cursor before = at;
        pack(&w, &at, &c);
        if (c.count == 0) break;
        if (mutual)
            memset(c.sums, 0, (size_t)(COMPONENTS * p2p->sides * c.capacity) * sizeof *c.sums);
        for (int64_t i = p2p->target.begin; i < p2p->target.end; i += BLOCK) {
            pack_block(&w, i, p2p->target.end, &b);
            if (p2p->sides == 1)
                block_one(&w, &b, &c, kernel, mutual);
            else
                block_many(&w, &b, &c, kernel, mutual);
            unpack_block(&w, i, &b);
        }
        if (mutual) unpack(&w, before, &c);
    }
}

#define FOR_KERNELS(X)                                                                          \
    X(inverse, PS_FMM_INVERSE)                                                                  \
    X(inverse_square, PS_FMM_INVERSE_SQUARE)                                                    \
    X(inverse_fourth, PS_FMM_INVERSE_FOURTH)                                                    \
    X(distance, PS_FMM_DISTANCE)                                                                \
    X(exponential, PS_FMM_EXPONENTIAL)                                                          \
    X(yukawa, PS_FMM_YUKAWA)                                                                    \
    X(gaussian, PS_FMM_GAUSSIAN)                                                                \
    X(square, PS_FMM_SQUARE)                                                                    \
    X(fourth, PS_FMM_FOURTH)                                                                    \
    X(user, PS_FMM_USER)

#define DEFINE(name, kernel)                                                                    \
    static void one_sided_##name(const ps_fmm_p2p *p2p) { interact(p2p, v_kernel_##name, false); } \
    static void mutual_##name(const ps_fmm_p2p *p2p) { interact(p2p, v_kernel_##name, true); }
FOR_KERNELS(DEFINE)

#define ONE_SIDED_ENTRY(name, kernel) [kernel] = one_sided_##name,
#define MUTUAL_ENTRY(name, kernel) [kernel] = mutual_##name,
const struct ps_fmm_p2p_functions PS_ISA_TABLE(P2P_TABLE) = {
    .one_sided = {FOR_KERNELS(ONE_SIDED_ENTRY)}, .mutual = {FOR_KERNELS(MUTUAL_ENTRY)}};
