/*
 * Sound-hard tiles: an entry (vertex i, vertex j) collects the pairs of triangles at i and at j.
 * The loop runs over the unordered pairs of all triangles that touch the tile, lower number
 * first and ascending, and adds each to the entries it concerns in both roles; so every entry
 * sees its terms in an order that does not depend on the tile.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "kernels/tdbem/interaction_internal.h"
#include "runtime/compare.h"

enum { IN_ROWS = 1, IN_SLICES = 2 };

typedef struct hard_tile {
    const ps_interaction *interaction;
    ps_interaction_tile *tile, *mirror; /* mirror: combined only, or NULL                  */
    ps_outer outer;   /* all triangles that touch a row or a slice, ascending            */
    uint8_t *touches; /* [outer.count] IN_ROWS | IN_SLICES                               */
    ps_pair_batch batch;
    int64_t *offset;        /* [slices * rows + 1] into sums                                   */
    int32_t *first;         /* [slices * rows] k of the first sum                              */
    double *sums;           /* M^k, k >= 0, all row-vectors of the tile                        */
    double *mirrored;       /* combined: those of the mirror, (s, r) at the place of (r, s)    */
    double *terms, *spline; /* [capacity + 2][9], [capacity + 2]: of one pair of triangles    */
    double *swapped;        /* combined: terms with x on the higher triangle; else the terms   */
} hard_tile;

static int64_t gather_range(const ps_interaction *interaction, int64_t first, int64_t count,
                            int32_t *out)
{
    int64_t start = interaction->around_start[first];
    int64_t end = interaction->around_start[first + count];
    if (out) memcpy(out, interaction->around + start, (size_t)(end - start) * sizeof *out);
    return end - start;
}

/* Lists the triangles at rows and slices without repetition. */
static void gather_triangles(hard_tile *hard)
{
    const ps_interaction_tile *tile = hard->tile;
    int32_t *list = hard->outer.triangle;
    int64_t count = gather_range(hard->interaction, tile->first_row, tile->rows, list);
    count += gather_range(hard->interaction, tile->first_slice, tile->slices, list + count);
    qsort(list, (size_t)count, sizeof *list, ps_compare_i32);
    int64_t kept = 0;
    for (int64_t n = 0; n < count; ++n)
        if (n == 0 || list[n] != list[n - 1]) list[kept++] = list[n];
    hard->outer.count = kept;
    for (int64_t n = 0; n < kept; ++n) {
        hard->touches[n] = 0;
        for (int v = 0; v < 3; ++v) {
            int64_t i = hard->interaction->corners[list[n]][v];
            if (i >= tile->first_row && i < tile->first_row + tile->rows)
                hard->touches[n] |= IN_ROWS;
            if (i >= tile->first_slice && i < tile->first_slice + tile->slices)
                hard->touches[n] |= IN_SLICES;
        }
    }
}

static int64_t point_bound(const ps_interaction *interaction, int64_t first, int64_t count)
{
    int64_t points = 0;
    for (int64_t p = interaction->around_start[first]; p < interaction->around_start[first + count];
         ++p) {
        int64_t parts = ps_interaction_parts(interaction, interaction->around[p]);
        points += parts * parts * interaction->rule.count;
    }
    return points;
}

static void lay_out(hard_tile *hard, ps_carver *carver)
{
    const ps_interaction *interaction = hard->interaction;
    const ps_interaction_tile *tile = hard->tile;
    int64_t count = gather_range(interaction, tile->first_row, tile->rows, NULL) +
                    gather_range(interaction, tile->first_slice, tile->slices, NULL);
    int64_t points = point_bound(interaction, tile->first_row, tile->rows) +
                     point_bound(interaction, tile->first_slice, tile->slices);
    ps_outer_carve(interaction, count, points, carver, &hard->outer);
    hard->touches = ps_carve(carver, count, 1);
    ps_pair_batch_carve(interaction, carver, &hard->batch);
    hard->batch.outer = &hard->outer;
    hard->offset = ps_carve(carver, tile->rows * tile->slices + 1, sizeof *hard->offset);
    hard->first = ps_carve(carver, tile->rows * tile->slices, sizeof *hard->first);
    hard->sums = ps_carve(carver,
                          ps_interaction_value_bound(interaction, tile->first_row, tile->rows,
                                                     tile->first_slice, tile->slices),
                          sizeof *hard->sums);
    hard->terms = hard->swapped = ps_carve(carver, 9 * (hard->batch.capacity + 2), sizeof(double));
    hard->spline = ps_carve(carver, hard->batch.capacity + 2, sizeof(double));
    if (!hard->batch.combined) return;
    hard->swapped = ps_carve(carver, 9 * (hard->batch.capacity + 2), sizeof(double));
    hard->mirrored = ps_carve(carver,
                              ps_interaction_value_bound(interaction, tile->first_row, tile->rows,
                                                         tile->first_slice, tile->slices),
                              sizeof *hard->mirrored);
}

static void place_row_vectors(hard_tile *hard)
{
    const ps_interaction_tile *tile = hard->tile;
    int64_t offset = 0, v = 0;
    for (int64_t s = 0; s < tile->slices; ++s)
        for (int64_t r = 0; r < tile->rows; ++r, ++v) {
            int64_t first;
            hard->offset[v] = offset;
            offset += ps_interval_bound(hard->interaction, tile->first_row + r,
                                        tile->first_slice + s, &first);
            hard->first[v] = (int32_t)first;
        }
    hard->offset[v] = offset;
    memset(hard->sums, 0, (size_t)offset * sizeof *hard->sums);
    if (hard->mirror) memset(hard->mirrored, 0, (size_t)offset * sizeof *hard->mirrored);
}

/* int int B(r/D - (k-2)) / (4 pi r) of a pair for k = base .. base + shells + 1, from the
 * moments of r - base D; o = k - 2 - base. */
static void set_spline(const hard_tile *hard, const ps_pair *pair)
{
    static const double part[3][3] = {{.5, 0, 0}, {-1, 3, -1.5}, {.5, -3, 4.5}}; /* a2, a1, a0 */
    double per = 1 / hard->interaction->shell;
    for (int64_t n = 0; n < pair->shells + 2; ++n) {
        double o = (double)(n - 2), sum = 0;
        for (int64_t l = 0; l < 3; ++l) {
            const double *a = part[l], *c = pair->sums + hard->batch.per_shell * (n - 2 + l);
            sum += a[0] * per * per * c[2] + (a[1] - 2 * a[0] * o) * per * c[1] +
                   (a[2] - a[1] * o + a[0] * o * o) * c[0];
        }
        hard->spline[n] = sum;
    }
}

static void average_corners(double w[9])
{
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < a; ++b) w[3 * a + b] = w[3 * b + a] = (w[3 * a + b] + w[3 * b + a]) / 2;
}

/* A triangle with itself or its image: both orders alike. */
static void average_orders(const hard_tile *hard, const ps_pair *pair, double curls[9])
{
    average_corners(curls);
    for (int64_t i = 0; i < pair->shells; ++i)
        average_corners(pair->sums + hard->batch.per_shell * i + 3);
}

/* M^k of the nine pairs of corners, k = base .. base + shells + 1; the sums have two rows of zeros
 * before and after. */
static void set_terms(const hard_tile *hard, const ps_pair *pair, double normals,
                      const double curls[9])
{
    double speed = hard->interaction->speed, shell = hard->interaction->shell;
    double wave = normals / (speed * shell), dt = shell / speed;
    for (int64_t n = 0; n < pair->shells + 2; ++n) {
        const double *w = pair->sums + hard->batch.per_shell * n + 3;
        const double *w1 = w - hard->batch.per_shell, *w2 = w1 - hard->batch.per_shell;
        double *term = hard->terms + 9 * n, spline = dt * hard->spline[n];
        for (int ab = 0; ab < 9; ++ab)
            term[ab] = wave * (w[ab] - 2 * w1[ab] + w2[ab]) + curls[ab] * spline;
    }
}

/* A triangle with itself, not with its image. */
static bool is_one(const ps_pair *pair) { return pair->row == pair->slice && pair->image == 0; }

/* factor { I/2 (d_k0 - d_k1) - sign [(k+1) Q_k - (2k-1) Q_{k-1} + (k-2) Q_{k-2}] } on the terms of
 * x on the lower triangle, `low`, and on the higher one. */
static void add_double_layer(const hard_tile *hard, const ps_pair *pair, double area, double factor,
                             double sign, double *low, double *high)
{
    int64_t width = hard->batch.per_shell, count = pair->shells + 2;
    for (int64_t n = 0; n < count; ++n) {
        const double *q = pair->sums + width * n + PS_HARD_SUMS, *q1 = q - width, *q2 = q1 - width;
        double k = (double)(pair->base + n), each = sign * factor;
        double *term[] = {low + 9 * n, high + 9 * n};
        double f = each * (k + 1), f1 = each * (2 * k - 1), f2 = each * (k - 2);
        for (int order = 0; order < 2; ++order, q += 9, q1 += 9, q2 += 9)
            for (int ab = 0; ab < 9; ++ab) term[order][ab] -= f * q[ab] - f1 * q1[ab] + f2 * q2[ab];
    }
    for (int ab = 0; is_one(pair) && ab < 9; ++ab) {
        double half = factor * area / (ab % 4 == 0 ? 12 : 24); /* ab % 4 == 0: a == b */
        low[ab] += half;
        low[9 + ab] -= half;
    }
}

/* Terms of both orders: those of the plain equation, and what the double layer and the mass matrix
 * add to it. */
static void set_combined(const hard_tile *hard, const ps_pair *pair, double normals,
                         const double curls[9], double area)
{
    const ps_interaction *interaction = hard->interaction;
    set_terms(hard, pair, normals, curls);
    if (!hard->batch.combined) return;
    memcpy(hard->swapped, hard->terms, (size_t)(9 * (pair->shells + 2)) * sizeof(double));
    add_double_layer(hard, pair, area, interaction->combined / interaction->speed, 1, hard->terms,
                     hard->swapped);
}

/* Of a lining the entry (i, j) has its outer points on the triangle of j, which is lined: x on the
 * higher triangle makes the terms of (low, high). The single layer is that of set_terms without
 * curls, with alpha in the place of the normals. sign: of the image, with the hand of its normal.
 */
static void set_lining(const hard_tile *hard, const ps_pair *pair, double area, double sign)
{
    static const double none[9] = {0};
    const ps_interaction *interaction = hard->interaction;
    size_t bytes = (size_t)(9 * (pair->shells + 2)) * sizeof(double);
    set_terms(hard, pair, interaction->combined, none);
    memcpy(hard->swapped, hard->terms, bytes);
    double *low = is_one(pair) ? hard->terms : hard->swapped;
    add_double_layer(hard, pair, area, 1 / interaction->speed, -sign, low, hard->terms);
    if (!interaction->lined[pair->slice]) memset(hard->terms, 0, bytes);
    if (!interaction->lined[pair->row]) memset(hard->swapped, 0, bytes);
}

/* Adds term[9 n] to the entry (i, j) of k = base + n: to that of a tile, whose sums they are, if it
 * has it. */
static ps_status add_term(const hard_tile *hard, const ps_pair *pair, const double *term, int64_t i,
                          int64_t j, double *all)
{
    const ps_interaction_tile *tile = hard->tile;
    int64_t r = i - tile->first_row, s = j - tile->first_slice;
    if (r < 0 || r >= tile->rows || s < 0 || s >= tile->slices) return PS_OK;
    int64_t v = s * tile->rows + r, at = pair->base - hard->first[v];
    int64_t room = hard->offset[v + 1] - hard->offset[v], n = 0, end = pair->shells + 2;
    while (n < end && term[9 * n] == 0) ++n;
    while (end > n && term[9 * (end - 1)] == 0) --end;
    if (n < end && (at + n < 0 || at + end > room))
        return ps_fail(PS_FAILED,
                       "internal error: triangles beyond the bounding spheres of vertices %lld "
                       "and %lld",
                       (long long)i, (long long)j);
    double *sums = all + hard->offset[v] + at;
    for (; n < end; ++n) sums[n] += term[9 * n];
    return PS_OK;
}

/* The entry (i, j), and (j, i) of the mirror, which has its place. */
static ps_status add_entry(const hard_tile *hard, const ps_pair *pair, const double *term,
                           const double *back, const int64_t ij[2])
{
    PS_TRY(add_term(hard, pair, term, ij[0], ij[1], hard->sums));
    return hard->mirror ? add_term(hard, pair, back, ij[0], ij[1], hard->mirrored) : PS_OK;
}

static ps_status add_pair(const hard_tile *hard, const ps_pair *pair)
{
    const ps_interaction *interaction = hard->interaction;
    const ps_triangle *s = &interaction->triangles[pair->row];
    const ps_triangle *t =
        &interaction->triangles[pair->image * interaction->triangle_count + pair->slice];
    const int32_t *p = interaction->corners[pair->row], *q = interaction->corners[pair->slice];
    /* Normals and curls of the image's record turn with its corners, which kept their order. */
    double sign = ps_reflectors_sign(&interaction->mirrors, pair->image) *
                  ps_reflectors_hand(&interaction->mirrors, pair->image);
    double curls[9], per = sign / (4 * s->area * t->area);
    for (int ab = 0; ab < 9; ++ab) {
        int e = (ab / 3 + 1) % 3, f = (ab % 3 + 1) % 3; /* opposite edges */
        curls[ab] = ps_dot3(s->tangent[e], t->tangent[f]) * (s->length[e] * t->length[f]) * per;
    }
    bool self = pair->row == pair->slice;
    if (self) average_orders(hard, pair, curls);
    set_spline(hard, pair);
    if (interaction->lined)
        set_lining(hard, pair, s->area, sign);
    else
        set_combined(hard, pair, sign * ps_dot3(s->normal, t->normal), curls, s->area);
    for (int ab = 0; ab < 9; ++ab) {
        const double *term = hard->terms + ab, *back = is_one(pair) ? term : hard->swapped + ab;
        const int64_t i = p[ab / 3], j = q[ab % 3];
        PS_TRY(add_entry(hard, pair, term, back, (const int64_t[2]){i, j}));
        if (!self) PS_TRY(add_entry(hard, pair, back, term, (const int64_t[2]){j, i}));
    }
    return PS_OK;
}

static ps_status add_batch(hard_tile *hard)
{
    ps_pair_batch *batch = &hard->batch;
    PS_TRY(ps_pair_batch_finish(batch));
    for (int p = 0; p < batch->count; ++p) PS_TRY(add_pair(hard, &batch->pairs[p]));
    hard->tile->pairs += batch->count;
    batch->count = 0;
    return PS_OK;
}

static ps_status append_row_vectors(const hard_tile *hard)
{
    ps_interaction_tile *tile = hard->tile;
    const uint8_t *fixed = hard->interaction->fixed;
    int64_t v = 0;
    for (int64_t s = 0; s < tile->slices; ++s)
        for (int64_t r = 0; r < tile->rows; ++r, ++v) {
            int64_t i = tile->first_row + r, j = tile->first_slice + s;
            bool none = fixed && (fixed[i] || fixed[j]);
            int64_t count = none ? 0 : hard->offset[v + 1] - hard->offset[v];
            PS_TRY(ps_tile_append(tile, i, j, hard->first[v], count, hard->sums + hard->offset[v]));
        }
    return PS_OK;
}

/* Slices of the tile are rows of its mirror. */
static ps_status append_mirrored(const hard_tile *hard)
{
    const ps_interaction_tile *tile = hard->tile;
    for (int64_t r = 0; r < tile->rows; ++r)
        for (int64_t s = 0; s < tile->slices; ++s) {
            int64_t v = s * tile->rows + r;
            PS_TRY(ps_tile_append(hard->mirror, tile->first_slice + s, tile->first_row + r,
                                  hard->first[v], hard->offset[v + 1] - hard->offset[v],
                                  hard->mirrored + hard->offset[v]));
        }
    return PS_OK;
}

static bool concerns(const hard_tile *hard, int64_t a, int64_t b)
{
    const uint8_t *lined = hard->interaction->lined;
    int x = hard->touches[a], y = hard->touches[b];
    if (lined && !lined[hard->outer.triangle[a]] && !lined[hard->outer.triangle[b]]) return false;
    return ((x & IN_ROWS) && (y & IN_SLICES)) || ((x & IN_SLICES) && (y & IN_ROWS));
}

ps_status ps_hard_compute(const ps_interaction *interaction, ps_interaction_tile *tile,
                          ps_interaction_tile *mirror, ps_carver *carver)
{
    hard_tile hard = {.interaction = interaction, .tile = tile, .mirror = mirror};
    lay_out(&hard, carver);
    if (!carver->base) return PS_OK;
    gather_triangles(&hard);
    ps_outer_fill(interaction, &hard.outer);
    place_row_vectors(&hard);
    int images =
        ps_reflectors_images(&interaction->mirrors); /* 1, 2, 4: of which a batch is whole */
    for (int64_t a = 0; a < hard.outer.count; ++a)
        for (int64_t b = a; b < hard.outer.count; ++b) {
            if (!concerns(&hard, a, b)) continue;
            for (int m = 0; m < images; ++m)
                PS_TRY(ps_pair_batch_add(&hard.batch, a, b,
                                         &(ps_pair){.row = hard.outer.triangle[a],
                                                    .slice = hard.outer.triangle[b],
                                                    .image = m}));
            if (hard.batch.count == PS_PAIR_BATCH) PS_TRY(add_batch(&hard));
        }
    PS_TRY(add_batch(&hard));
    PS_TRY(append_row_vectors(&hard));
    return mirror ? append_mirrored(&hard) : PS_OK;
}
