/*
 * The body of p2p.h for one precision; the includer defines real, LANES_SINGLE and P2P_TABLE.
 *
 * Sources are packed in chunks: aligned arrays of positions, charges and their sums; what is
 * missing to full vectors lies far away and has no charge. Blocks of 4 targets stay in registers.
 */
#include "kernels/fmm/p2p.h"

#include <math.h>
#include <stdbool.h>

#include "kernels/common/lanes_body.h"

#include "kernels/fmm/kernel_function_body.h"

enum {
    BLOCK = 4,      /* targets at a time   */
    COMPONENTS = 4, /* phi, g              */
    SLACK = LANES,  /* behind each row     */
    CHUNK_REALS = 8 * (PS_FMM_P2P_CHUNK + 64) * (int)(sizeof(double) / sizeof(real))
};

typedef void (*kernel_fn)(vreal r2, vreal b, vreal *k, vreal *c);

/* Where packing stands in the list of runs. */
typedef struct cursor {
    int64_t run, at;
} cursor;

/* Sources, packed: [0, split) act only, [split, padded) are mutual. Rows of `pitch` numbers. */
typedef struct chunk {
    int64_t capacity, pitch, split, padded;
    cursor mutual;  /* where [split, ...) was packed from */
    real *position; /* [3][pitch]                         */
    real *charges;  /* [sides][pitch]                     */
    real *sums;     /* [sides][4][pitch]: phi, g          */
    real numbers[CHUNK_REALS] __attribute__((aligned(64)));
} chunk;

/* Targets, packed, and the sums of their lanes. */
typedef struct block {
    int64_t first;
    int count;
    real position[3][BLOCK], charge[PS_FMM_SIDES_MAX][BLOCK];
    vreal sums[PS_FMM_SIDES_MAX][COMPONENTS * BLOCK]; /* [component][target] */
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
    c->pitch = CHUNK_REALS / (3 + 5 * sides) / 16 * 16;
    if (c->pitch > PS_FMM_P2P_CHUNK + SLACK) c->pitch = PS_FMM_P2P_CHUNK + SLACK;
    c->capacity = c->pitch - SLACK;
    c->position = c->numbers;
    c->charges = c->position + 3 * c->pitch;
    c->sums = c->charges + sides * c->pitch;
}

/* The next piece of at most `room` sources before run `last`. */
static bool piece(const ps_fmm_p2p *p2p, cursor *from, int64_t last, int64_t room,
                  ps_fmm_range *out)
{
    while (from->run < last && from->at >= p2p->runs[from->run].end)
        if (++from->run < p2p->run_count) from->at = p2p->runs[from->run].begin;
    if (from->run >= last || room <= 0) return false;
    int64_t left = p2p->runs[from->run].end - from->at;
    *out = (ps_fmm_range){from->at, from->at + (left < room ? left : room)};
    from->at = out->end;
    return true;
}

/* Whole vectors are stored: rows have room for that. */
static void pack_row(const double *from, ps_fmm_range range, double offset, real *to)
{
    for (int64_t j = range.begin; j < range.end; j += LANES)
        v_store_unaligned(to + j - range.begin, v_from_doubles(from + j, range.end - j, offset));
}

/* Packs runs up to `last` behind `filled`, and pads: far away, without charge. Returns where they
 * end. */
static int64_t pack_runs(const problem *w, cursor *from, int64_t last, int64_t filled, chunk *c)
{
    const ps_fmm_particles *s = w->p2p->sources;
    ps_fmm_range range;
    while (piece(w->p2p, from, last, c->capacity - filled, &range)) {
        for (int d = 0; d < 3; ++d)
            pack_row(s->position[d], range, w->offset[d], c->position + d * c->pitch + filled);
        for (int side = 0; side < w->p2p->sides; ++side)
            pack_row(s->charges + side * s->stride, range, 0,
                     c->charges + side * c->pitch + filled);
        filled += range.end - range.begin;
    }
    for (; filled % LANES; ++filled) {
        for (int d = 0; d < 3; ++d) c->position[d * c->pitch + filled] = w->origin[d] - w->away;
        for (int side = 0; side < w->p2p->sides; ++side) c->charges[side * c->pitch + filled] = 0;
    }
    return filled;
}

static void pack(const problem *w, cursor *from, chunk *c)
{
    c->split = pack_runs(w, from, w->p2p->one_sided, 0, c);
    c->mutual = *from;
    c->padded = pack_runs(w, from, w->p2p->run_count, c->split, c);
    for (int row = 0; row < COMPONENTS * w->p2p->sides && c->padded > c->split; ++row)
        memset(c->sums + row * c->pitch + c->split, 0,
               (size_t)(c->padded - c->split) * sizeof(real));
}

/* Adds the sums of a chunk to the results of its mutual sources. */
static void unpack(const problem *w, chunk *c)
{
    const ps_fmm_particles *s = w->p2p->sources;
    ps_fmm_range range;
    int64_t at = c->split;
    while (piece(w->p2p, &c->mutual, w->p2p->run_count, c->capacity - at, &range)) {
        for (int row = 0; row < COMPONENTS * w->p2p->sides; ++row) {
            int side = row / COMPONENTS, component = row % COMPONENTS;
            double *to = component == 0 ? s->potential + side * s->stride
                                        : s->gradient + (3 * side + component - 1) * s->stride;
            const real *sums = c->sums + row * c->pitch + at - range.begin;
            for (int64_t j = range.begin; j < range.end; j += LANES)
                v_add_to_doubles(to + j, range.end - j, 1, v_load_unaligned(sums + j));
        }
        at += range.end - range.begin;
    }
}

static void pack_block(const problem *w, int64_t first, block *b)
{
    const ps_fmm_particles *t = w->p2p->targets;
    int64_t left = w->p2p->target.end - first;
    b->first = first;
    b->count = left < BLOCK ? (int)left : BLOCK;
    for (int i = 0; i < BLOCK; ++i) {
        bool there = i < b->count;
        for (int d = 0; d < 3; ++d)
            b->position[d][i] =
                there ? (real)(t->position[d][first + i] - w->offset[d]) : w->origin[d] + w->away;
        for (int side = 0; side < w->p2p->sides; ++side)
            b->charge[side][i] =
                there && t->charges ? (real)t->charges[side * t->stride + first + i] : 0;
    }
}

static void unpack_block(const problem *w, const block *b)
{
    const ps_fmm_particles *t = w->p2p->targets;
    for (int side = 0; side < w->p2p->sides; ++side) {
        real sums[COMPONENTS * BLOCK];
        for (int r = 0; r < COMPONENTS * BLOCK; r += 8) v_sum_8(b->sums[side] + r, sums + r);
        for (int r = 0; r < COMPONENTS; ++r) {
            double *to = r == 0 ? t->potential + side * t->stride
                                : t->gradient + (3 * side + r - 1) * t->stride;
            for (int i = 0; i < b->count; ++i) to[b->first + i] += (double)sums[r * BLOCK + i];
        }
    }
}

/* ---- pairs ---- */

/* K and c, and x_i - x_j, of one target and a vector of sources; 0 at distance 0 unless mutual. */
KERNEL_INLINE void pair(const problem *w, const block *b, int i, const vreal source[3],
                        kernel_fn kernel, bool mutual, vreal kc[2], vreal d[3])
{
    vreal r2 = v_of(w->tiny);
    for (int axis = 0; axis < 3; ++axis) {
        d[axis] = b->position[axis][i] - source[axis];
        r2 = !LANES_SINGLE && axis == 0 ? d[0] * d[0] : r2 + d[axis] * d[axis];
    }
    kernel(r2, v_of(w->b), &kc[0], &kc[1]);
    if (mutual) return;
    vinteger apart = r2 != (LANES_SINGLE ? w->tiny : 0);
    kc[0] = v_keep(apart, kc[0]);
    kc[1] = v_keep(apart, kc[1]);
}

/* A block and a vector of sources, one right-hand side: sums of the block in registers. */
KERNEL_INLINE void step_one(const problem *w, const block *b, const chunk *c, int64_t j,
                            kernel_fn kernel, bool mutual, vreal sums[COMPONENTS][BLOCK])
{
    vreal source[3], charge = v_load(c->charges + j), back[COMPONENTS];
    for (int d = 0; d < 3; ++d) source[d] = v_load(c->position + d * c->pitch + j);
    if (mutual)
        for (int r = 0; r < COMPONENTS; ++r) back[r] = v_load(c->sums + r * c->pitch + j);
#pragma GCC unroll 4
    for (int i = 0; i < BLOCK; ++i) {
        vreal kc[2], d[3];
        pair(w, b, i, source, kernel, mutual, kc, d);
        vreal there = charge * kc[1], here = b->charge[0][i] * kc[1];
        sums[0][i] += charge * kc[0];
        for (int axis = 0; axis < 3; ++axis) sums[1 + axis][i] += there * d[axis];
        if (!mutual) continue;
        back[0] += b->charge[0][i] * kc[0];
        for (int axis = 0; axis < 3; ++axis) back[1 + axis] -= here * d[axis];
    }
    if (mutual)
        for (int r = 0; r < COMPONENTS; ++r) v_store(c->sums + r * c->pitch + j, back[r]);
}

KERNEL_INLINE void block_one(const problem *w, block *b, const chunk *c, kernel_fn kernel)
{
    vreal sums[COMPONENTS][BLOCK] = {{{0}}};
    for (int64_t j = 0; j < c->split; j += LANES) step_one(w, b, c, j, kernel, false, sums);
    for (int64_t j = c->split; j < c->padded; j += LANES) step_one(w, b, c, j, kernel, true, sums);
    memcpy(b->sums[0], sums, sizeof sums);
}

/* The same for several right-hand sides: K and c once, sums in memory. */
KERNEL_INLINE void step_many(const problem *w, block *b, const chunk *c, int64_t j,
                             kernel_fn kernel, bool mutual)
{
    vreal source[3];
    for (int d = 0; d < 3; ++d) source[d] = v_load(c->position + d * c->pitch + j);
    for (int i = 0; i < BLOCK; ++i) {
        vreal kc[2], d[3];
        pair(w, b, i, source, kernel, mutual, kc, d);
        for (int axis = 0; axis < 3; ++axis) d[axis] *= kc[1];
        for (int s = 0; s < w->p2p->sides; ++s) {
            vreal charge = v_load(c->charges + s * c->pitch + j), own = v_of(b->charge[s][i]);
            vreal *back = (vreal *)(c->sums + COMPONENTS * s * c->pitch + j);
            b->sums[s][i] += charge * kc[0];
            for (int r = 1; r < COMPONENTS; ++r) b->sums[s][r * BLOCK + i] += charge * d[r - 1];
            if (!mutual) continue;
            back[0] += own * kc[0];
            for (int r = 1; r < COMPONENTS; ++r) back[r * c->pitch / LANES] -= own * d[r - 1];
        }
    }
}

KERNEL_INLINE void block_many(const problem *w, block *b, const chunk *c, kernel_fn kernel)
{
    memset(b->sums, 0, sizeof b->sums);
    for (int64_t j = 0; j < c->split; j += LANES) step_many(w, b, c, j, kernel, false);
    for (int64_t j = c->split; j < c->padded; j += LANES) step_many(w, b, c, j, kernel, true);
}

KERNEL_INLINE void interact(const ps_fmm_p2p *p2p, kernel_fn kernel)
{
    problem w = problem_of(p2p);
    chunk c;
    block b;
    chunk_shape(&c, p2p->sides);
    cursor at = {0, p2p->run_count ? p2p->runs[0].begin : 0};
    for (;;) {
        pack(&w, &at, &c);
        if (c.padded == 0) break;
        for (int64_t i = p2p->target.begin; i < p2p->target.end; i += BLOCK) {
            pack_block(&w, i, &b);
            if (p2p->sides == 1)
                block_one(&w, &b, &c, kernel);
            else
                block_many(&w, &b, &c, kernel);
            unpack_block(&w, &b);
        }
        unpack(&w, &c);
    }
}

#define DEFINE(NAME, name)                                                                         \
    static void interact_##name(const ps_fmm_p2p *p2p) { interact(p2p, v_kernel_##name); }
PS_FMM_COMMON_KERNELS(DEFINE)
DEFINE(USER, user)

#define ENTRY(NAME, name) [PS_FMM_##NAME] = interact_##name,
const struct ps_fmm_p2p_functions PS_ISA_TABLE(P2P_TABLE) = {
    .interact = {PS_FMM_COMMON_KERNELS(ENTRY) ENTRY(USER, user)}};
