/*
 * grow: a layer of tetrahedra on the outer faces that absorb, one axis of a box after the other, or
 * along the radii of a ball. Triangles become prisms, of which the numbers of their vertices cut
 * three tetrahedra each, alike from both sides of a common wall.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/dgtd/reference.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "setup.h"

#define OFF_PLANE 1e-6
#define OFF_SHAPE 1e-3
enum { BALL = 3, GROWN_MAX = 1 << 29 };

static void release(growth *g)
{
    free(g->faces), free(g->tetrahedra), free(g->parents), free(g->links), free(g->kinds);
}

static void sort3(int32_t v[3])
{
    for (int i = 0; i < 3; ++i) {
        int k = i % 2;
        if (v[k] <= v[k + 1]) continue;
        int32_t t = v[k];
        v[k] = v[k + 1];
        v[k + 1] = t;
    }
}

static ps_status add_outer(growth *g, outer_face x)
{
    PS_TRY(ps_grow((void **)&g->faces, &g->room, g->count + 1, sizeof *g->faces, "the layer"));
    sort3(x.v);
    g->faces[g->count++] = x;
    return PS_OK;
}

static ps_status add_element(growth *g, int32_t a, int32_t b, int32_t c, int32_t d, int32_t parent)
{
    int64_t base = 4 * g->made;
    if (g->s->mesh.elements + g->made >= GROWN_MAX)
        return ps_fail(PS_EXHAUSTED, "--pml %s: more than 2^29 elements", g->text);
    PS_TRY(ps_grow((void **)&g->tetrahedra, &g->tetrahedra_room, base + 4, sizeof *g->tetrahedra,
                   "the layer"));
    PS_TRY(ps_grow((void **)&g->parents, &g->parents_room, g->made + 1, sizeof *g->parents,
                   "the layer"));
    const int32_t v[4] = {a, b, c, d};
    memcpy(g->tetrahedra + base, v, sizeof v);
    g->parents[g->made++] = parent;
    return PS_OK;
}

static const double *vertex(const growth *g, int32_t v)
{
    return g->s->mesh.vertices + 3 * (int64_t)v;
}

/* ---- what grows, and about which shape ---- */

static ps_status collect(growth *g)
{
    setup *s = g->s;
    for (int64_t f = 0; f < 4 * s->mesh.elements; ++f) {
        outer_face x = {.face = (int32_t)f, .parent = (int32_t)(f / 4), .kind = s->kinds[f]};
        if (s->mesh.links[f] >= 0) continue;
        for (int i = 0; i < 3; ++i)
            x.v[i] = s->mesh.tetrahedra[f / 4 * 4 + ps_dgtd_face_vertices[f % 4][i]];
        g->grown += x.kind == PS_DGTD_ABSORBING;
        PS_TRY(add_outer(g, x));
    }
    return g->grown ? PS_OK
                    : ps_fail(PS_USAGE,
                              "--pml auto grows on outer faces that absorb, and there are none: "
                              "give --boundary TAG:absorbing, or outer:absorbing");
}

/* The side of the box that a face lies in: 3 * upper + axis, or -1. */
static int side_of(const growth *g, const outer_face *x)
{
    double size = 0;
    for (int c = 0; c < 3; ++c) size = fmax(size, g->box[1][c] - g->box[0][c]);
    for (int k = 0; k < 6; ++k) {
        double off = 0;
        for (int i = 0; i < 3; ++i)
            off = fmax(off, fabs(vertex(g, x->v[i])[k % 3] - g->box[k / 3][k % 3]));
        if (off <= OFF_PLANE * size) return k;
    }
    return -1;
}

static bool is_box(const growth *g)
{
    for (int64_t i = 0; i < g->count; ++i)
        if (g->faces[i].kind == PS_DGTD_ABSORBING && side_of(g, g->faces + i) < 0) return false;
    return true;
}

static ps_status is_ball(growth *g)
{
    PS_SCOPED_MEMORY double *points = NULL;
    int64_t count = 0;
    double off = 1;
    PS_TRY(PS_ALLOC(&points, 9 * g->grown, "the layer"));
    for (int64_t i = 0; i < g->count; ++i)
        for (int k = 0; k < 3 && g->faces[i].kind == PS_DGTD_ABSORBING; ++k, ++count)
            memcpy(points + 3 * count, vertex(g, g->faces[i].v[k]), 3 * sizeof *points);
    bool fits = fit_sphere(points, count, g->centre, &g->radius, &off) == PS_OK;
    for (int64_t v = 0; v < g->s->mesh.vertex_count && fits; ++v) {
        double square = 0;
        for (int c = 0; c < 3; ++c) square += pow(g->s->mesh.vertices[3 * v + c] - g->centre[c], 2);
        fits = sqrt(square) <= g->radius * (1 + OFF_SHAPE);
    }
    return fits && off <= OFF_SHAPE * g->radius
               ? PS_OK
               : ps_fail(PS_INVALID,
                         "--pml %s has nowhere to grow: the %" PRId64
                         " absorbing faces lie neither "
                         "in sides of the box about the mesh nor on a sphere about it (off by %.2g "
                         "of its radius); give the region such a boundary, or tag a layer in the "
                         "mesh",
                         g->text, g->grown, fits ? off / g->radius : 1.);
}

static void mean_edge(growth *g, double *mean)
{
    *mean = 0;
    for (int64_t i = 0; i < g->count; ++i)
        for (int k = 0; k < 3 && g->faces[i].kind == PS_DGTD_ABSORBING; ++k) {
            const double *a = vertex(g, g->faces[i].v[k]),
                         *b = vertex(g, g->faces[i].v[(k + 1) % 3]);
            *mean += sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2)) /
                     (3. * (double)g->grown);
        }
}

/* With one stretch a row, few rows do: the numbers of specs/dgtd_pml.md. */
double layer_defaults(int order, bool grown, double *grading, double *reflection)
{
    static const double defaults[PS_DGTD_MAX_ORDER][3] = {
        {12, 2, 1e-14}, {6, 1.5, 1e-13}, {4, 1.5, 1e-13}, {3, 1.5, 1e-13}};
    const double *of = defaults[grown ? order - 1 : 0];
    *grading = of[1];
    *reflection = of[2];
    return of[0];
}

static ps_status read_size(growth *g, setup_text *text)
{
    double grading, reflection, mean,
        layers = layer_defaults(g->s->header.order, true, &grading, &reflection);
    int given;
    mean_edge(g, &mean);
    PS_TRY(text_reals(text, "layers", 1, &layers, NULL));
    PS_TRY(text_reals(text, "thickness", 1, &g->thickness, &given));
    g->layers = layers >= 1 && layers <= 1000 ? (int64_t)layers : 0;
    if (!given) g->thickness = mean * (double)g->layers;
    if (g->layers < 1 || (double)g->layers != layers || !(g->thickness > 0) ||
        !isfinite(g->thickness))
        return ps_fail(
            PS_USAGE,
            "--pml %s: layers is a whole number from 1 to 1000, thickness a length above "
            "0 (m)",
            g->text);
    if (g->thickness < 1e-3 * mean * (double)g->layers) /* below, vertices could not be told apart */
        return ps_fail(PS_USAGE,
                       "--pml %s: %" PRId64 " rows of %.3g m in all are thinner than a thousandth of the "
                       "faces' edges, %.3g m: give more thickness",
                       g->text, g->layers, g->thickness, mean);
    return PS_OK;
}

/* ---- one direction ---- */

/* Which faces grow in this pass: those of both sides of an axis, or all of a ball. */
static int64_t choose(growth *g, int axis)
{
    int64_t count = 0;
    for (int64_t i = 0; i < g->count; ++i) {
        outer_face *x = g->faces + i;
        x->grows = x->kind == PS_DGTD_ABSORBING && (axis == BALL || side_of(g, x) % 3 == axis);
        count += x->grows;
    }
    return count;
}

typedef struct edge {
    int32_t a, b;
    int64_t face;
} edge;

static int by_edge(const void *x, const void *y)
{
    const edge *p = x, *q = y;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    if (p->b != q->b) return p->b < q->b ? -1 : 1;
    return (p->face > q->face) - (p->face < q->face);
}

/* Does a face go along the direction in which its neighbour grows? */
static bool goes_along(const growth *g, const outer_face *x, int axis)
{
    const double *a = vertex(g, x->v[0]), *b = vertex(g, x->v[1]), *c = vertex(g, x->v[2]);
    double n[3], length = 0, along = 0;
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        n[k] = (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
        length += n[k] * n[k];
    }
    for (int k = 0; k < 3; ++k)
        along += axis == BALL ? n[k] * (a[k] - g->centre[k]) / g->radius : k == axis ? n[k] : 0;
    return fabs(along) <= OFF_SHAPE * sqrt(length);
}

/* Columns over the vertices of growing faces: first[v] is that of level 1, -1: none. */
static ps_status raise_vertices(growth *g, int axis, int32_t *first, int64_t *columns)
{
    ps_partition *m = &g->s->mesh;
    int64_t before = m->vertex_count, at = before;
    *columns = 0;
    for (int64_t v = 0; v < before; ++v) first[v] = -1;
    for (int64_t i = 0; i < g->count; ++i)
        for (int k = 0; k < 3 && g->faces[i].grows; ++k) first[g->faces[i].v[k]] = 0;
    for (int64_t v = 0; v < before; ++v)
        if (first[v] == 0) first[v] = (int32_t)(before + (*columns)++);
    if (before + g->layers * *columns > INT32_MAX)
        return ps_fail(PS_EXHAUSTED, "--pml %s: too many vertices", g->text);
    PS_TRY(ps_grow((void **)&m->vertices, &g->vertices_room, 3 * (before + g->layers * *columns),
                   sizeof *m->vertices, "the layer"));
    for (int64_t l = 1; l <= g->layers; ++l)
        for (int64_t v = 0; v < before; ++v) {
            double *to = m->vertices + 3 * at, depth = g->thickness * (double)l / (double)g->layers;
            if (first[v] < 0) continue;
            memcpy(to, m->vertices + 3 * v, 3 * sizeof *to);
            if (axis == BALL) {
                for (int c = 0; c < 3; ++c)
                    to[c] = g->centre[c] + (to[c] - g->centre[c]) * (1 + depth / g->radius);
            } else {
                bool upper = 2 * to[axis] > g->box[0][axis] + g->box[1][axis];
                to[axis] = upper ? g->box[1][axis] + depth : g->box[0][axis] - depth;
            }
            ++at;
        }
    m->vertex_count = at;
    return PS_OK;
}

static int32_t raised(const int32_t *first, int64_t columns, int32_t v, int64_t level)
{
    return level == 0 ? v : (int32_t)(first[v] + (level - 1) * columns);
}

static ps_status raise_face(growth *g, const outer_face *x, const int32_t *first, int64_t columns)
{
    for (int64_t l = 0; l < g->layers; ++l) {
        int32_t low[3], high[3];
        for (int k = 0; k < 3; ++k) {
            low[k] = raised(first, columns, x->v[k], l);
            high[k] = raised(first, columns, x->v[k], l + 1);
        }
        PS_TRY(add_element(g, low[0], low[1], low[2], high[2], x->parent));
        PS_TRY(add_element(g, low[0], low[1], high[1], high[2], x->parent));
        PS_TRY(add_element(g, low[0], high[0], high[1], high[2], x->parent));
    }
    outer_face cap = {.face = -1, .parent = x->parent, .kind = PS_DGTD_PEC};
    for (int k = 0; k < 3; ++k) cap.v[k] = raised(first, columns, x->v[k], g->layers);
    return add_outer(g, cap);
}

/* The wall over an edge of one growing face has the condition of the face on the other side. */
static ps_status raise_wall(growth *g, const edge *e, const outer_face *beside, int32_t parent,
                            const int32_t *first, int64_t columns)
{
    for (int64_t l = 0; l < g->layers; ++l) {
        int32_t a = e->a, b = e->b, up = raised(first, columns, b, l + 1);
        outer_face one = {.face = -1, .parent = parent, .kind = beside->kind}, two = one;
        one.v[0] = raised(first, columns, a, l), one.v[1] = raised(first, columns, b, l);
        one.v[2] = up;
        two.v[0] = one.v[0], two.v[1] = raised(first, columns, a, l + 1), two.v[2] = up;
        PS_TRY(add_outer(g, one));
        PS_TRY(add_outer(g, two));
    }
    return PS_OK;
}

static ps_status tell_slanted(const growth *g, const edge *e)
{
    const double *a = vertex(g, e->a), *b = vertex(g, e->b);
    return ps_fail(PS_INVALID,
                   "--pml %s has nowhere to grow at (%.5g, %.5g, %.5g): beside absorbing faces "
                   "there is another condition, on a face that does not go along the direction of "
                   "growth; let whole sides absorb",
                   g->text, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2);
}

static ps_status raise_walls(growth *g, int axis, int64_t faces, const int32_t *first,
                             int64_t columns)
{
    PS_SCOPED_MEMORY edge *edges = NULL;
    int64_t count = 0;
    PS_TRY(PS_ALLOC(&edges, 3 * faces, "the layer"));
    for (int64_t i = 0; i < 3 * faces; ++i) {
        const outer_face *x = g->faces + i / 3;
        edges[count++] = (edge){x->v[i % 3 == 2], x->v[i % 3 == 0 ? 1 : 2], i / 3};
    }
    qsort(edges, (size_t)count, sizeof *edges, by_edge);
    for (int64_t i = 0, end; i < count; i = end) {
        const outer_face *beside = NULL;
        int64_t growing = 0, parent = 0;
        bool clear = true;
        for (end = i; end < count && edges[end].a == edges[i].a && edges[end].b == edges[i].b;
             ++end) {
            const outer_face *x = g->faces + edges[end].face;
            growing += x->grows;
            if (x->grows) parent = x->parent;
            clear = clear && (x->grows || !beside || beside->kind == x->kind);
            if (!x->grows) beside = x;
        }
        if (growing == 0 || (growing == 2 && end - i == 2)) continue;
        if (growing != 1 || !beside || !clear || !goes_along(g, beside, axis))
            return tell_slanted(g, edges + i);
        outer_face copy = *beside; /* faces move when walls are added */
        PS_TRY(raise_wall(g, edges + i, &copy, (int32_t)parent, first, columns));
    }
    return PS_OK;
}

/* ---- all directions ---- */

static ps_status pass(growth *g, int axis)
{
    PS_SCOPED_MEMORY int32_t *first = NULL;
    int64_t faces = g->count, columns, kept = 0;
    if (choose(g, axis) == 0) return PS_OK;
    PS_TRY(PS_ALLOC(&first, g->s->mesh.vertex_count, "the layer"));
    PS_TRY(raise_vertices(g, axis, first, &columns));
    PS_TRY(raise_walls(g, axis, faces, first, columns));
    for (int64_t i = 0; i < faces; ++i) {
        outer_face x = g->faces[i];
        if (x.grows) PS_TRY(raise_face(g, &x, first, columns));
    }
    for (int64_t i = 0; i < g->count; ++i)
        if (i >= faces || !g->faces[i].grows) g->faces[kept++] = g->faces[i];
    g->count = kept;
    return PS_OK;
}

ps_status grow_layer(setup *s, setup_text *text, double *rows)
{
    PS_SCOPED(release) growth g = {.s = s, .text = text->whole};
    memcpy(g.box[0], s->lower, sizeof g.box[0]);
    memcpy(g.box[1], s->upper, sizeof g.box[1]);
    g.vertices_room = 3 * s->mesh.vertex_count;
    if (s->mesh.layer_count > 0)
        ps_warning("--pml auto: %s is in layers; with what grows, elements lie part by part as "
                   "--order hilbert puts them, and runs out of core have a larger window",
                   s->input);
    PS_TRY(collect(&g));
    PS_TRY(read_size(&g, text));
    if (is_box(&g)) {
        for (int axis = 0; axis < 3; ++axis) PS_TRY(pass(&g, axis));
    } else {
        PS_TRY(is_ball(&g));
        PS_TRY(pass(&g, BALL));
    }
    PS_TRY(join_grown(&g));
    *rows = (double)g.layers;
    memset(s->face_counts, 0, sizeof s->face_counts);
    for (int64_t f = 0; f < 4 * s->mesh.elements; ++f) ++s->face_counts[s->kinds[f]];
    return PS_OK;
}
