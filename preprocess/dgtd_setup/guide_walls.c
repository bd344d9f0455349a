/* guide_walls: what a port of modes is the end of. */
#include <math.h>
#include <stdlib.h>

#include "kernels/common/vec3.h"
#include "setup.h"
#include "runtime/memory.h"

/* Of the port's size: how flat it is; sine of how far walls may lean (facets of round ones do). */
static const double FLAT = 1e-6, LEAN = .3;

static void normal_of(const double *a, const double *b, const double *c, double out[3])
{
    double p[3], q[3];
    ps_subtract3(b, a, p);
    ps_subtract3(c, a, q);
    ps_cross3(p, q, out);
}

static ps_status check_flat(const port_patch *p, guide_walls *w)
{
    double size = 0, off = 0;
    w->area = 0;
    for (int64_t i = 0; i < p->count; ++i) {
        const int32_t *c = p->sides[i].corner;
        double normal[3];
        normal_of(patch_point(p, c[0]), patch_point(p, c[1]), patch_point(p, c[2]), normal);
        double length = ps_norm3(normal), along = ps_dot3(normal, w->normal);
        w->area += length / 2;
        for (int k = 0; k < 3; ++k) w->normal[k] += (along < 0 ? -1 : 1) * normal[k];
    }
    double all = ps_norm3(w->normal);
    for (int k = 0; k < 3; ++k) w->normal[k] /= all;
    for (int32_t v = 0; v < p->vertices; ++v) {
        double away[3];
        ps_subtract3(patch_point(p, v), patch_point(p, 0), away);
        size = fmax(size, ps_norm3(away));
        off = fmax(off, fabs(ps_dot3(away, w->normal)));
    }
    if (off <= FLAT * size) return PS_OK;
    return ps_fail(PS_USAGE,
                   "--port %s: its faces do not lie in a plane (%.2g m off one, of %.2g m): a mode belongs to the "
                   "flat end of a straight guide",
                   p->text, off, size);
}

static ps_status check_medium(const port_patch *p, guide_walls *w)
{
    const setup *s = p->s;
    char place[160];
    for (int64_t i = 0; i < p->count; ++i) {
        int64_t e = p->sides[i].face / 4;
        const ps_dgtd_medium *x = s->media + s->material[e];
        const char *why = !p->sides[i].alone             ? "has another element behind the port"
                          : x->sigma != 0                ? "conducts"
                          : x->pole_count > 0            ? "has a medium with poles"
                          : x->anisotropic               ? "has a tensor of permittivity"
                          : i > 0 && x->eps != w->eps    ? "has another permittivity than others at the port"
                          : i > 0 && x->mu != w->mu      ? "has another permeability than others at the port"
                                                         : NULL;
        if (why)
            return ps_fail(PS_USAGE,
                           "--port %s: %s %s: the modes of a port are those of an outer end of a guide of one "
                           "medium without losses (what comes behind it may be anything)",
                           p->text, element_text(s, e, place), why);
        w->eps = x->eps, w->mu = x->mu;
    }
    return PS_OK;
}

/* ---- edges ---- */

static int by_vertices(const void *a, const void *b)
{
    const guide_edge *x = a, *y = b;
    int first = (x->vertex[0] > y->vertex[0]) - (x->vertex[0] < y->vertex[0]);
    return first ? first : (x->vertex[1] > y->vertex[1]) - (x->vertex[1] < y->vertex[1]);
}

int64_t guide_edge_find(const guide_walls *w, int32_t a, int32_t b)
{
    const guide_edge key = {.vertex = {a < b ? a : b, a < b ? b : a}};
    const guide_edge *at = bsearch(&key, w->edges, (size_t)w->count, sizeof key, by_vertices);
    return at ? at - w->edges : -1;
}

static ps_status list_edges(const port_patch *p, guide_walls *w)
{
    PS_TRY(PS_ALLOC(&w->edges, 3 * p->count, "a port"));
    for (int64_t i = 0; i < p->count; ++i)
        for (int k = 0; k < 3; ++k) {
            const int32_t *c = p->sides[i].corner;
            w->edges[3 * i + k] = (guide_edge){.vertex = {c[k == 2], c[k == 0 ? 1 : 2]}, .triangles = 1};
        }
    qsort(w->edges, (size_t)(3 * p->count), sizeof *w->edges, by_vertices);
    for (int64_t i = 0; i < 3 * p->count; ++i) {
        if (w->count > 0 && by_vertices(w->edges + w->count - 1, w->edges + i) == 0)
            ++w->edges[w->count - 1].triangles;
        else
            w->edges[w->count++] = w->edges[i];
        double along[3];
        ps_subtract3(patch_point(p, w->edges[i].vertex[0]), patch_point(p, w->edges[i].vertex[1]), along);
        w->longest = fmax(w->longest, ps_norm3(along));
    }
    return PS_OK;
}

/* A wall is a metal or magnetic face across the port's plane. */
static void mark_face(const port_patch *p, guide_walls *w, int32_t face)
{
    const port_side key = {.face = face};
    int32_t corner[3], own[3];
    double normal[3];
    patch_corners(p->s, face, corner);
    for (int k = 0; k < 3; ++k) own[k] = patch_vertex(p, corner[k]);
    if ((own[0] >= 0) + (own[1] >= 0) + (own[2] >= 0) < 2) return;
    if (bsearch(&key, p->sides, (size_t)p->count, sizeof key, patch_by_face)) return;
    const double *at = p->s->mesh.vertices;
    normal_of(at + 3 * (int64_t)corner[0], at + 3 * (int64_t)corner[1], at + 3 * (int64_t)corner[2], normal);
    if (fabs(ps_dot3(normal, w->normal)) > LEAN * ps_norm3(normal)) return;
    for (int k = 0; k < 3; ++k) {
        int32_t a = own[k], b = own[(k + 1) % 3];
        int64_t edge = a >= 0 && b >= 0 ? guide_edge_find(w, a, b) : -1;
        if (edge < 0) continue;
        if (p->s->kinds[face] == PS_DGTD_PEC) w->edges[edge].metal = true;
        if (p->s->kinds[face] == PS_DGTD_PMC) w->edges[edge].magnetic = true;
    }
}

static ps_status check_edge(const port_patch *p, const guide_edge *x)
{
    const double *a = patch_point(p, x->vertex[0]), *b = patch_point(p, x->vertex[1]);
    bool outer = x->triangles == 1, wall = x->metal || x->magnetic;
    if (outer == wall) return PS_OK;
    return ps_fail(PS_USAGE,
                   "--port %s: at (%g, %g, %g) m %s: a port of modes is the whole end of a guide whose walls, metal or "
                   "magnetic, go on straight from its edge, with none within",
                   p->text, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2,
                   outer ? "no wall begins at its edge" : "a sheet touches it between its edges");
}

ps_status guide_walls_find(const port_patch *p, guide_walls *w)
{
    *w = (guide_walls){.metal = true};
    PS_TRY(check_flat(p, w));
    PS_TRY(check_medium(p, w));
    PS_TRY(list_edges(p, w));
    for (int64_t f = 0; f < 4 * p->s->mesh.elements; ++f)
        if (p->s->kinds[f] == PS_DGTD_PEC || p->s->kinds[f] == PS_DGTD_PMC) mark_face(p, w, (int32_t)f);
    for (int64_t i = 0; i < w->count; ++i) {
        PS_TRY(check_edge(p, w->edges + i));
        w->metal &= w->edges[i].triangles == 2 || w->edges[i].metal;
    }
    return PS_OK;
}
