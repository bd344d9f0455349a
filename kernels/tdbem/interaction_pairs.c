/*
 * Batches of triangle pairs: their (point, triangle) pairs go through the lanes of the shell
 * integrals in a fixed order, and the weighted shells are added up per pair in that order.
 */
#include <math.h>
#include <string.h>

#include "kernels/tdbem/interaction_internal.h"
#include "runtime/sizes.h"

static const double inverse_4pi = 0.079577471545947667884;

void *ps_carve(ps_carver *carver, int64_t count, int64_t size)
{
    return ps_host_part(carver->base, &carver->used, count * size);
}

void ps_outer_carve(const ps_interaction *interaction, int64_t count, int64_t point_count,
                    ps_carver *carver, ps_outer *out)
{
    out->count = count;
    out->triangle = ps_carve(carver, count, sizeof *out->triangle);
    out->point_start = ps_carve(carver, count + 1, sizeof *out->point_start);
    out->points = ps_carve(carver, point_count, sizeof *out->points);
}

void ps_outer_fill(const ps_interaction *interaction, ps_outer *outer)
{
    outer->point_start[0] = 0;
    for (int64_t a = 0; a < outer->count; ++a) {
        int64_t t = outer->triangle[a];
        int parts = ps_interaction_parts(interaction, t);
        ps_triangle_points(&interaction->triangles[t], &interaction->rule, parts,
                           outer->points + outer->point_start[a]);
        outer->point_start[a + 1] =
            outer->point_start[a] + (int64_t)interaction->rule.count * parts * parts;
    }
}

/* Shells that any pair of triangles of the problem can touch, at most. */
static int64_t pair_capacity(const ps_interaction *interaction)
{
    return (int64_t)(4 * interaction->triangle_reach_max / interaction->shell) + 4;
}

void ps_pair_batch_carve(const ps_interaction *interaction, ps_carver *carver, ps_pair_batch *batch)
{
    memset(batch, 0, sizeof *batch);
    batch->interaction = interaction;
    batch->functions = ps_shell_functions_here();
    batch->hard = interaction->formulation == PS_SOUND_HARD;
    batch->combined = batch->hard && (interaction->combined > 0 || interaction->lined);
    batch->per_shell = batch->combined ? PS_COMBINED_SUMS : batch->hard ? PS_HARD_SUMS : 1;
    batch->capacity = pair_capacity(interaction);
    batch->width = batch->hard ? (batch->capacity + 4) * batch->per_shell : batch->capacity;
    batch->sums = ps_carve(carver, PS_PAIR_BATCH * batch->width, sizeof(double));
    batch->lanes = ps_carve(carver, 1, sizeof *batch->lanes);
    ps_shell_values *values = &batch->values;
    values->capacity = batch->capacity;
    values->inverse = ps_carve(carver, batch->capacity, sizeof *values->inverse);
    if (!batch->hard) return;
    values->one = ps_carve(carver, batch->capacity, sizeof *values->one);
    values->distance = ps_carve(carver, batch->capacity, sizeof *values->distance);
    for (int a = 0; a < 3; ++a)
        values->hat[a] = ps_carve(carver, batch->capacity, sizeof *values->hat[a]);
    for (int a = 0; batch->combined && a < 3; ++a)
        values->flux[a] = ps_carve(carver, batch->capacity, sizeof *values->flux[a]);
}

/* The shells of lane c, weighted, into the sums of its pair. */
static void add_soft_lane(const ps_pair_batch *batch, int c, double *sums)
{
    double weight = batch->lane_weight[c];
    for (int64_t i = 0; i < batch->values.count[c]; ++i)
        sums[i] += weight * batch->values.inverse[i][c];
}

/* C: orders 0, 1, 2 of r - base D, over r. */
static void add_moments(const ps_pair_batch *batch, int c, int64_t i, double origin, double *sums)
{
    const ps_shell_values *v = &batch->values;
    double weight = batch->lane_weight[c], inverse = v->inverse[i][c];
    double first = v->one[i][c] - origin * inverse;
    double second = v->distance[i][c] - origin * v->one[i][c] - origin * first;
    sums[0] += weight * inverse;
    sums[1] += weight * first;
    sums[2] += weight * second;
}

/* The double layer at one shell. Each order is a sum of its own, not half of an average; a triangle
 * sends nothing through itself. Of a triangle and its image one walk makes both orders. */
static void add_flux(const ps_pair_batch *batch, int c, int64_t i, double *sums)
{
    const ps_pair *pair = &batch->pairs[batch->lane_pair[c]];
    const double *outer = batch->lane_point[c]->barycentric;
    bool swapped = batch->lane_swapped[c];
    const bool self = pair->row == pair->slice;
    if (self && pair->image == 0) return;
    double inner[3], weight = (self ? 1 : 2) * batch->lane_weight[c];
    for (int b = 0; b < 3; ++b) inner[b] = weight * batch->values.flux[b][i][c];
    if (self || !swapped)
        for (int ab = 0; ab < 9; ++ab) sums[ab] += outer[ab / 3] * inner[ab % 3];
    if (self || swapped)
        for (int ab = 0; ab < 9; ++ab) sums[9 + ab] += inner[ab / 3] * outer[ab % 3];
}

static void add_hard_lane(const ps_pair_batch *batch, int c, double origin, double *sums)
{
    const ps_shell_values *v = &batch->values;
    const double *outer = batch->lane_point[c]->barycentric;
    bool swapped = batch->lane_swapped[c];
    for (int64_t i = 0; i < v->count[c]; ++i) {
        double *sum = sums + batch->per_shell * i;
        if (batch->combined) add_flux(batch, c, i, sum + PS_HARD_SUMS);
        add_moments(batch, c, i, origin, sum);
        double inner[3];
        for (int b = 0; b < 3; ++b) inner[b] = batch->lane_weight[c] * v->hat[b][i][c];
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                sum[3 + 3 * a + b] += swapped ? inner[a] * outer[b] : outer[a] * inner[b];
    }
}

static ps_status flush(ps_pair_batch *batch)
{
    int used = batch->lane_count;
    if (used == 0) return PS_OK;
    for (int c = used; c < PS_LANES; ++c)
        ps_shell_lanes_set(batch->lanes, c, batch->lane_point[used - 1]->x,
                           batch->lane_triangle[used - 1]);
    double shell = batch->interaction->shell;
    const ps_shell_functions *f = batch->functions;
    int64_t most = (batch->combined ? f->flux
                    : batch->hard   ? f->hats
                                    : f->soft)(batch->lanes, shell, &batch->values);
    for (int c = 0; c < used; ++c) {
        ps_pair *pair = &batch->pairs[batch->lane_pair[c]];
        int64_t offset = batch->values.first[c] - pair->base;
        int64_t end = offset + batch->values.count[c];
        if (offset < 0 || end > batch->capacity || most > batch->capacity)
            return ps_fail(PS_FAILED, "internal error: a pair of triangles touches shells "
                                      "outside its bounding spheres");
        if (end > pair->shells) pair->shells = end;
        if (batch->hard)
            add_hard_lane(batch, c, (double)pair->base * shell,
                          pair->sums + batch->per_shell * offset);
        else
            add_soft_lane(batch, c, pair->sums + offset);
    }
    batch->lane_count = 0;
    return PS_OK;
}

/* The image of triangle number a of `outer`. */
static const ps_triangle *image_of(const ps_pair_batch *batch, int64_t a, int image)
{
    const ps_interaction *interaction = batch->interaction;
    return &interaction->triangles[image * interaction->triangle_count + batch->outer->triangle[a]];
}

/* One order of a pair: the outer points on triangle a, the inner integral over the triangle. */
static ps_status add_half(ps_pair_batch *batch, int64_t a, const ps_triangle *triangle,
                          double factor, bool swapped)
{
    const ps_outer *outer = batch->outer;
    for (int64_t p = outer->point_start[a]; p < outer->point_start[a + 1]; ++p) {
        const ps_point *point = &outer->points[p];
        int c = batch->lane_count++;
        ps_shell_lanes_set(batch->lanes, c, point->x, triangle);
        batch->lane_pair[c] = batch->count;
        batch->lane_weight[c] = factor * point->weight;
        batch->lane_point[c] = point;
        batch->lane_triangle[c] = triangle;
        batch->lane_swapped[c] = swapped;
        if (batch->lane_count == PS_LANES) PS_TRY(flush(batch));
    }
    return PS_OK;
}

ps_status ps_pair_batch_add(ps_pair_batch *batch, int64_t a, int64_t b, const ps_pair *pair)
{
    const ps_outer *outer = batch->outer;
    bool ordered = outer->triangle[a] <= outer->triangle[b];
    int64_t low = ordered ? a : b, high = ordered ? b : a;
    const ps_triangle *s = image_of(batch, low, 0), *t = image_of(batch, high, pair->image);
    double x = s->centroid[0] - t->centroid[0], y = s->centroid[1] - t->centroid[1];
    double z = s->centroid[2] - t->centroid[2];
    double nearest = sqrt(x * x + y * y + z * z) - (s->radius + t->radius);
    int64_t base = (int64_t)(nearest * (1 - 1e-12) / batch->interaction->shell);
    double *sums = batch->sums + batch->count * batch->width;
    memset(sums, 0, (size_t)batch->width * sizeof(double));
    batch->pairs[batch->count] =
        (ps_pair){.row = pair->row,
                  .slice = pair->slice,
                  .image = pair->image,
                  .base = base > 0 ? base : 0,
                  .sums = batch->hard ? sums + 2 * batch->per_shell : sums};
    bool same = low == high || outer->triangle[low] == outer->triangle[high];
    double factor = same ? inverse_4pi : inverse_4pi / 2;
    PS_TRY(add_half(batch, low, t, factor, false));
    /* The other order, both mirrored back: images of images are the triangles themselves. */
    if (!same) PS_TRY(add_half(batch, high, image_of(batch, low, pair->image), factor, true));
    ++batch->count;
    return PS_OK;
}

ps_status ps_pair_batch_finish(ps_pair_batch *batch) { return flush(batch); }
