#include "postprocess/dgtd_far/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/dgtd_model.h"
#include "kernels/common/vec3.h"
#include "kernels/dgtd/mesh.h"
#include "kernels/dgtd/reference.h"
#include "kernels/dgtd/sar.h"
#include "kernels/dgtd/system.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* Local vertices that the faces lie opposite of. */
static const int opposite[4] = {3, 2, 0, 1};

/* A boundary of the mesh: the outer one, or that of a hole. By its first face, 4 * tetrahedron +
 * face. */
typedef struct shells {
    int64_t count;
    int32_t *face;   /* [count] open faces of the mesh, ascending          */
    int32_t *parent; /* [count] of each in a forest; roots stand for shells */
    double *volume;  /* [count] of roots: above 0 for an outer boundary     */
    uint8_t *inside; /* [count] of roots: some tetrahedron at it is inside  */
    int32_t *place;  /* [4 tetrahedra] of an open face in the list; else -1 */
} shells;

static void release_shells(shells *s)
{
    PS_FREE(s->face, s->parent, s->volume, s->inside, s->place);
}

static int32_t root_of(const shells *s, int32_t i)
{
    while (s->parent[i] != i) i = s->parent[i] = s->parent[s->parent[i]];
    return i;
}

/* The open face that meets `face` at the edge between its vertices: round the edge through the
 * tetrahedra. */
static int32_t across(const far_body *b, int32_t face, int32_t v, int32_t w)
{
    for (;;) {
        const int32_t *vertex = b->tets.tetrahedra + (int64_t)face / 4 * 4;
        int f, from = opposite[face % 4];
        for (f = 0; f < 4; ++f)
            if (opposite[f] != from && vertex[opposite[f]] != v && vertex[opposite[f]] != w) break;
        int32_t next = face / 4 * 4 + f;
        if (b->links[next] < 0) return next;
        face = b->links[next];
    }
}

/* Six times the volume of the cone from the origin over a face, by its outward normal. */
static double cone(const far_body *b, int32_t face)
{
    const int32_t *vertex = b->tets.tetrahedra + (int64_t)face / 4 * 4;
    double tangents[3][3], areas[4], normals[4][3], sum = 0;
    ps_dgtd_tangents(b->tets.vertices, vertex, tangents);
    ps_dgtd_faces(tangents, areas, normals);
    const double *x = b->tets.vertices + 3 * (int64_t)vertex[ps_dgtd_face_vertices[face % 4][0]];
    for (int c = 0; c < 3; ++c) sum += x[c] * normals[face % 4][c];
    return 2 * areas[face % 4] * sum;
}

static void join(const far_body *b, shells *s)
{
    for (int32_t i = 0; i < s->count; ++i) {
        int32_t face = s->face[i];
        const int32_t *vertex = b->tets.tetrahedra + (int64_t)face / 4 * 4;
        const int8_t *corner = ps_dgtd_face_vertices[face % 4];
        for (int k = 0; k < 3; ++k) {
            int32_t other = across(b, face, vertex[corner[k]], vertex[corner[(k + 1) % 3]]);
            int32_t r = root_of(s, i), q = root_of(s, s->place[other]);
            s->parent[r > q ? r : q] = r > q ? q : r;
        }
    }
    for (int32_t i = 0; i < s->count; ++i) {
        int32_t r = root_of(s, i);
        s->volume[r] += cone(b, s->face[i]);
        s->inside[r] |= b->inside[s->face[i] / 4];
    }
}

static ps_status find_shells(const far_body *b, shells *s)
{
    int64_t all = 4 * b->tets.count;
    memset(s, 0, sizeof *s);
    PS_TRY(PS_ALLOC(&s->place, all, "open faces"));
    for (int64_t i = 0; i < all; ++i) s->place[i] = b->links[i] < 0 ? (int32_t)s->count++ : -1;
    PS_TRY(PS_ALLOC(&s->face, s->count, "open faces"));
    PS_TRY(PS_ALLOC(&s->parent, s->count, "open faces"));
    PS_TRY(PS_ALLOC(&s->volume, s->count, "open faces"));
    PS_TRY(PS_ALLOC(&s->inside, s->count, "open faces"));
    for (int64_t i = 0; i < all; ++i)
        if (s->place[i] >= 0) {
            s->face[s->place[i]] = (int32_t)i;
            s->parent[s->place[i]] = s->place[i];
        }
    join(b, s);
    return PS_OK;
}

/* ---- which faces ---- */

/* Condition on a face; 0: none, or not known. */
static int kind_of(const far_body *b, int32_t face)
{
    int32_t row = b->row_of[face / 4];
    return b->kinds && row >= 0 ? b->kinds[4 * (int64_t)row + face % 4] : 0;
}

static bool is_closed(int kind) { return kind == PS_DGTD_PEC || kind == PS_DGTD_PMC; }

/* How much a face counts, as one of its tetrahedron: 0, 1/2 or 1. Where the tetrahedra at both
 * sides are in the file each counts half. */
static double weight_of(const far_body *b, const shells *s, int32_t face)
{
    int32_t e = face / 4, link = b->links[face];
    if (link < 0) {
        int32_t shell = root_of(s, s->place[face]);
        return s->volume[shell] > 0 ? b->inside[e] : s->inside[shell] && !b->inside[e];
    }
    if (b->inside[e] == b->inside[link / 4]) return 0;
    if (is_closed(kind_of(b, face)) || is_closed(kind_of(b, link))) return !b->inside[e];
    return b->row_of[link / 4] >= 0 ? .5 : 1;
}

static ps_status collect(const far_body *b, const shells *s, far_surface *out)
{
    int64_t missing = 0, walls = 0;
    for (int64_t i = 0; i < 4 * b->tets.count; ++i) {
        double weight = weight_of(b, s, (int32_t)i);
        bool there = b->row_of[i / 4] >= 0;
        if (weight == 0) continue;
        /* the outer side of a link may do alone */
        missing += !there && (b->inside[i / 4] || weight == 1);
        walls += b->links[i] < 0 && b->inside[i / 4] && is_closed(kind_of(b, (int32_t)i));
        out->count += there;
    }
    if (missing > 0 || out->count == 0)
        return ps_fail(PS_INVALID, "the fields of %lld faces of the surface are not in the phasors",
                       (long long)missing);
    if (walls > 0)
        return ps_fail(PS_INVALID,
                       "%lld faces of the mesh's outer boundary that belong to the surface are "
                       "metal or magnetic walls "
                       "(PEC, PMC): the surface is not closed, and what is behind them, an image "
                       "say, is not known. A far "
                       "field needs free space all round (--boundary outer:absorbing)",
                       (long long)walls);
    PS_TRY(PS_ALLOC(&out->faces, out->count, "faces of the surface"));
    PS_TRY(PS_ALLOC(&out->outward, out->count, "faces of the surface"));
    PS_TRY(PS_ALLOC(&out->weight, out->count, "faces of the surface"));
    out->count = 0;
    for (int64_t r = 0; r < b->header->rows; ++r)
        for (int f = 0; f < 4; ++f) {
            int32_t e = b->number[r];
            double tangents[3][3], areas[4], normals[4][3], weight = weight_of(b, s, 4 * e + f);
            if (weight == 0) continue;
            out->faces[out->count] = 4 * r + f;
            out->outward[out->count] = b->inside[e] ? 1 : -1;
            out->weight[out->count++] = weight;
            ps_dgtd_tangents(b->tets.vertices, b->tets.tetrahedra + 4 * (int64_t)e, tangents);
            ps_dgtd_faces(tangents, areas, normals);
            out->area += weight * areas[f];
        }
    return PS_OK;
}

/* ---- what is outside ---- */

static bool is_same(const ps_phasors_material *a, const ps_phasors_material *b)
{
    return a->eps == b->eps && a->mu == b->mu && a->sigma == b->sigma &&
           a->dispersive == b->dispersive;
}

/* The medium of the outer side: of the tetrahedra outside, or at the outer boundary of those
 * inside. */
static ps_status find_background(const far_body *b, far_surface *s)
{
    const ps_phasors_material *found = NULL;
    for (int k = 0; k < 2 && !found;
         ++k) /* only those inside are in the file: what is outside is taken to be like it */
        for (int64_t i = 0; i < s->count; ++i) {
            int64_t row = s->faces[i] / 4;
            int32_t face = 4 * b->number[row] + (int32_t)(s->faces[i] % 4);
            const ps_phasors_material *m = &b->header->material[b->medium[row]];
            if (k == 0 && b->links[face] >= 0 && b->inside[face / 4]) continue;
            if (found && !is_same(m, found))
                return ps_fail(PS_INVALID,
                               "the surface lies in several media (eps %g, mu %g, %g S/m and eps "
                               "%g, mu %g, %g S/m): a far "
                               "field needs one all round; choose another one by --around",
                               found->eps, found->mu, found->sigma, m->eps, m->mu, m->sigma);
            found = m;
        }
    if (found->dispersive)
        return ps_fail(PS_INVALID, "the surface lies in a medium with poles or a tensor of "
                                   "permittivity: a far field needs one number all round; choose "
                                   "another surface by --around");
    if (found->sigma > 0)
        return ps_fail(
            PS_INVALID,
            "the surface lies in a medium that conducts (%g S/m): there is no far field in it",
            found->sigma);
    s->eps = found->eps;
    s->mu = found->mu;
    return PS_OK;
}

/* Tetrahedra outside of another medium and metal outside scatter, too, and that is not in the
 * result. */
static ps_status check_outside(const ps_run *run, const far_body *b, const shells *x,
                               far_surface *s)
{
    int64_t elements = 0, walls = 0;
    for (int64_t r = 0; r < b->header->rows; ++r) {
        const ps_phasors_material *m = &b->header->material[b->medium[r]];
        if (b->inside[b->number[r]]) continue;
        elements += m->eps != s->eps || m->mu != s->mu || m->sigma > 0 || m->dispersive;
        for (int f = 0; f < 4; ++f) { /* sheets */
            int32_t face = 4 * b->number[r] + f, link = b->links[face];
            walls += link >= 0 && !b->inside[link / 4] && is_closed(kind_of(b, face));
        }
    }
    for (int64_t i = 0; i < x->count; ++i) {
        int32_t root = root_of(x, (int32_t)i);
        bool outer = x->volume[root] > 0;
        walls += outer ? is_closed(kind_of(b, x->face[i])) : !x->inside[root];
        s->holes += root == i && !outer && x->inside[root];
    }
    if (elements == 0 && walls == 0) return PS_OK;
    return ps_refuse(run, "outside",
                     "outside of the surface there are %lld elements of another medium than its "
                     "own (eps %g, mu %g) and %lld "
                     "faces of metal, magnetic walls or holes: they scatter, too, and that is not "
                     "in this far field. Take "
                     "them in by --around, or leave that out for all that is in the mesh",
                     (long long)elements, s->eps, s->mu, (long long)walls);
}

ps_status far_surface_make(const ps_run *run, const far_body *body, far_surface *out)
{
    PS_SCOPED(release_shells) shells s = {0};
    memset(out, 0, sizeof *out);
    PS_TRY(find_shells(body, &s));
    PS_TRY(collect(body, &s, out));
    PS_TRY(find_background(body, out));
    return check_outside(run, body, &s, out);
}

double far_surface_flow(const far_surface *surface, const far_body *body,
                        const ps_dgtd_reference *reference, int64_t first, int64_t last,
                        int64_t row, const float *electric, const float *magnetic)
{
    double sum = 0, z = PS_DGTD_Z0 * sqrt(surface->mu / surface->eps);
    for (int64_t i = first; i < last; ++i) {
        int64_t r = surface->faces[i] / 4, at = (r - row) * 6 * reference->nodes;
        int face = (int)(surface->faces[i] % 4);
        sum += surface->weight[i] * surface->outward[i] *
               ps_dgtd_face_power(reference, &body->tets, body->number[r], face,
                                  kind_of(body, 4 * body->number[r] + face), z, electric + at,
                                  magnetic + at);
    }
    return sum;
}

double far_surface_reach(const far_surface *surface, const far_body *body)
{
    double reach = 0;
    for (int64_t i = 0; i < surface->count; ++i) {
        const int32_t *of =
            body->tets.tetrahedra + 4 * (int64_t)body->number[surface->faces[i] / 4];
        for (int v = 0; v < 4; ++v)
            reach = fmax(reach, ps_norm3(body->tets.vertices + 3 * (int64_t)of[v]));
    }
    return reach;
}

void far_surface_release(far_surface *s)
{
    PS_FREE(s->faces, s->outward, s->weight);
    memset(s, 0, sizeof *s);
}
