#include "stage/hbem_assembly/suspects.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

/* What is ranked by itself. LONG, SHORT: the common edge is a long one of its triangles, or a short
 * one; SHARP: the angle at it. */
enum { ALONE, LONG, SHORT, SHARP, VERTEX, GAP, SAMPLE, CLASSES };
/* Suspects of a class, and the work of the search for gaps. */
enum { MOST = 24, LEAST = 6, GAP_WORK = 4000000 };

typedef struct ranking {
    int count, limit;
    ps_hbem_suspect worst[MOST]; /* falling */
} ranking;

double ps_hbem_aspect(const ps_hbem_triangle *t) { return t->diameter * t->diameter / t->jacobian; }

double ps_hbem_face_angle(const ps_hbem_triangle *a, const ps_hbem_triangle *b)
{
    double cosine = 0;
    for (int c = 0; c < 3; ++c) cosine -= a->normal[c] * b->normal[c];
    return acos(fmax(-1, fmin(1, cosine))) * 180 / M_PI;
}

/* ---- rankings ---- */

/* Equal scores by number, so that the order is one whatever was added first. */
static bool precedes(const ps_hbem_suspect *a, const ps_hbem_suspect *b)
{
    if (a->score != b->score) return a->score > b->score;
    if (a->pair[0] != b->pair[0]) return a->pair[0] < b->pair[0];
    return a->pair[1] < b->pair[1];
}

static void rank(ranking *r, const ps_hbem_suspect *s)
{
    int at = r->count;
    if (r->count == r->limit && !precedes(s, &r->worst[at - 1])) return;
    r->count += r->count < r->limit;
    at = r->count - 1;
    for (; at > 0 && precedes(s, &r->worst[at - 1]); --at) r->worst[at] = r->worst[at - 1];
    r->worst[at] = *s;
}

static void rank_pair(ranking *r, int64_t a, int64_t b, double score, double gap)
{
    rank(r, &(ps_hbem_suspect){{(int32_t)(a < b ? a : b), (int32_t)(a < b ? b : a)}, score, gap});
}

static void open_rankings(ranking all[CLASSES], int limit)
{
    for (int c = 0; c < CLASSES; ++c) all[c].count = 0, all[c].limit = limit;
}

static void merge(ranking all[CLASSES], const ranking own[CLASSES])
{
    for (int c = 0; c < CLASSES; ++c)
        for (int i = 0; i < own[c].count; ++i) rank(&all[c], &own[c].worst[i]);
}

/* ---- triangles at a vertex ---- */

typedef struct stars {
    int64_t *start;  /* [vertex_count + 1] */
    int32_t *member; /* [3 triangle_count] */
} stars;

static ps_status find_stars(const ps_hbem_surface *s, stars *out)
{
    PS_TRY(PS_ALLOC(&out->start, s->vertex_count + 2, "triangles at vertices"));
    PS_TRY(PS_ALLOC(&out->member, 3 * s->triangle_count, "triangles at vertices"));
    int64_t *place = out->start + 1;
    for (int64_t e = 0; e < 3 * s->triangle_count; ++e)
        ++out->start[s->triangles[e / 3].vertex[e % 3] + 2];
    for (int64_t v = 0; v < s->vertex_count; ++v) out->start[v + 2] += out->start[v + 1];
    for (int64_t e = 0; e < 3 * s->triangle_count; ++e)
        out->member[place[s->triangles[e / 3].vertex[e % 3]]++] = (int32_t)(e / 3);
    return PS_OK;
}

/* Common corners, and in *edge the square of the length between two of them. */
static int common(const ps_hbem_triangle *a, const ps_hbem_triangle *b, int *first, double *edge)
{
    int shared = 0, corner[3];
    for (int l = 0; l < 3; ++l)
        for (int m = 0; m < 3; ++m)
            if (a->vertex[l] == b->vertex[m]) corner[shared++ % 3] = l;
    *first = corner[0];
    *edge = 0;
    for (int c = 0; shared == 2 && c < 3; ++c)
        *edge += pow(a->corner[corner[0]][c] - a->corner[corner[1]][c], 2);
    return shared;
}

/* ---- touching pairs ---- */

static void rank_edge(ranking all[CLASSES], const ps_hbem_surface *s, const int64_t pair[2],
                      double edge)
{
    const ps_hbem_triangle *a = &s->triangles[pair[0]], *b = &s->triangles[pair[1]];
    double half = sin(ps_hbem_face_angle(a, b) * M_PI / 360), sharp = 1 / fmax(half, 1e-9);
    double slender = fmax(edge / a->jacobian, edge / b->jacobian);
    double broad = fmax(a->jacobian, b->jacobian) / edge;
    rank_pair(&all[LONG], pair[0], pair[1], slender * sharp, 0);
    rank_pair(&all[SHORT], pair[0], pair[1], broad * sharp, 0);
    rank_pair(&all[SHARP], pair[0], pair[1], sharp, 0);
}

/* Every `stride`th triangle is of the sample, with its neighbours. */
static void rank_triangle(ranking all[CLASSES], const ps_hbem_surface *s, const stars *at,
                          int64_t t, int64_t stride)
{
    const ps_hbem_triangle *own = &s->triangles[t];
    double aspect = ps_hbem_aspect(own), edge;
    rank_pair(&all[ALONE], t, t, aspect, 0);
    for (int l = 0; l < 3; ++l)
        for (int64_t e = at->start[own->vertex[l]]; e < at->start[own->vertex[l] + 1]; ++e) {
            int64_t u = at->member[e], pair[2] = {t, u};
            int first;
            if (u <= t) continue;
            int shared = common(own, &s->triangles[u], &first, &edge);
            if (first != l || shared > 2) continue;
            if (shared == 2)
                rank_edge(all, s, pair, edge);
            else
                rank_pair(&all[VERTEX], t, u, fmax(aspect, ps_hbem_aspect(&s->triangles[u])), 0);
            if (t % stride == 0) rank_pair(&all[SAMPLE], t, u, 0, 0);
        }
}

/* ---- gaps ---- */

static double distance(const double a[3], const double b[3])
{
    double square = 0;
    for (int c = 0; c < 3; ++c) square += (a[c] - b[c]) * (a[c] - b[c]);
    return sqrt(square);
}

/* Corners, middles of edges, centroid. */
static void put_samples(const ps_hbem_triangle *t, double out[7][3])
{
    for (int l = 0; l < 3; ++l)
        for (int c = 0; c < 3; ++c) {
            out[l][c] = t->corner[l][c];
            out[3 + l][c] = (t->corner[l][c] + t->corner[(l + 1) % 3][c]) / 2;
        }
    memcpy(out[6], t->centroid, sizeof out[6]);
}

static double gap_between(const ps_hbem_triangle *a, const ps_hbem_triangle *b)
{
    double x[7][3], y[7][3], least = INFINITY;
    put_samples(a, x);
    put_samples(b, y);
    for (int e = 0; e < 49; ++e) least = fmin(least, distance(x[e / 7], y[e % 7]));
    return least / fmax(a->diameter, b->diameter);
}

/* The triangle that is nearest to t of those that do not touch it. */
static void rank_gap(ranking all[CLASSES], const ps_hbem_surface *s, int64_t t)
{
    const ps_hbem_triangle *own = &s->triangles[t];
    double least = INFINITY, edge;
    int64_t nearest = -1;
    int first;
    for (int64_t u = 0; u < s->triangle_count; ++u) {
        const ps_hbem_triangle *other = &s->triangles[u];
        double apart = distance(own->centroid, other->centroid) - own->radius - other->radius;
        if (apart >= fmin(least, .5) * fmax(own->diameter, other->diameter)) continue;
        if (common(own, other, &first, &edge)) continue;
        double gap = gap_between(own, other);
        if (gap >= least) continue;
        least = gap;
        nearest = u;
    }
    if (nearest >= 0) rank_pair(&all[GAP], t, nearest, 1 / fmax(least, 1e-12), least);
}

/* Around the most slender triangles, and a sample. */
static void rank_gaps(ranking all[CLASSES], const ps_hbem_surface *s, int limit)
{
    int64_t sought = GAP_WORK / s->triangle_count;
    ranking slender = all[ALONE];
    if (sought > limit) sought = limit;
    if (sought > s->triangle_count) sought = s->triangle_count;
    if (sought < 2) sought = s->triangle_count < 2 ? 0 : 2;
#pragma omp parallel
    {
        ranking own[CLASSES];
        open_rankings(own, limit);
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < 2 * sought; ++i) {
            if (i % 2 && i / 2 >= slender.count) continue;
            rank_gap(own, s,
                     i % 2 ? slender.worst[i / 2].pair[0] : i / 2 * s->triangle_count / sought);
        }
#pragma omp critical
        merge(all, own);
    }
}

/* ---- all ---- */

static void rank_all(ranking all[CLASSES], const ps_hbem_surface *s, const stars *at, int limit)
{
    int64_t stride = 1 + 9 * s->triangle_count / limit; /* 9: pairs of a triangle, counted once */
#pragma omp parallel
    {
        ranking own[CLASSES];
        open_rankings(own, limit);
#pragma omp for schedule(static)
        for (int64_t t = 0; t < s->triangle_count; ++t) rank_triangle(own, s, at, t, stride);
#pragma omp critical
        merge(all, own);
    }
    rank_gaps(all, s, limit);
}

static int by_pair(const void *a, const void *b)
{
    const int32_t *x = ((const ps_hbem_suspect *)a)->pair, *y = ((const ps_hbem_suspect *)b)->pair;
    if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

static void list(const ranking all[CLASSES], ps_hbem_suspects *out)
{
    int64_t count = 0, kept = 0;
    for (int c = 0; c < CLASSES; ++c)
        for (int i = 0; i < all[c].count; ++i) out->suspect[count++] = all[c].worst[i];
    qsort(out->suspect, (size_t)count, sizeof *out->suspect, by_pair);
    for (int64_t i = 0; i < count; ++i)
        if (i == 0 || by_pair(&out->suspect[i - 1], &out->suspect[i]) != 0)
            out->suspect[kept++] = out->suspect[i];
    out->count = kept;
}

ps_status ps_hbem_suspects_find(const ps_hbem_surface *surface, ps_hbem_suspects *out)
{
    ranking all[CLASSES];
    stars at = {NULL, NULL};
    int64_t limit = surface->triangle_count / 128;
    memset(out, 0, sizeof *out);
    if (surface->triangle_count == 0) return PS_OK;
    limit = limit < LEAST ? LEAST : limit > MOST ? MOST : limit;
    open_rankings(all, (int)limit);
    ps_status status = PS_ALLOC(&out->suspect, CLASSES * MOST, "pairs of triangles");
    if (status == PS_OK) status = find_stars(surface, &at);
    if (status == PS_OK) {
        rank_all(all, surface, &at, (int)limit);
        list(all, out);
    }
    free(at.start);
    free(at.member);
    return status;
}

void ps_hbem_suspects_release(ps_hbem_suspects *suspects)
{
    free(suspects->suspect);
    memset(suspects, 0, sizeof *suspects);
}
