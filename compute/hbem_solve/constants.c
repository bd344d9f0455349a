/*
 * The constants of a potential that was solved for by W, which does not know them: one of each
 * closed part of the surface. The representation D u - S t of an exterior field vanishes inside of
 * every part, and D 1 is -1 there, so with u = u0 + c
 *
 *     c = (D u0 - S t)(x),   x inside of the part.
 *
 * Inside, a part whose normals point into what it encloses is the wall of a hole in a body. There
 * D 1 of the wall is 1, and that of the body's outer surface -1:
 *
 *     c = c_body - (D u0 - S t)(x),   x in the hole;
 *
 * the constant of each body stays open, and is chosen so that u has the mean asked for over all of
 * its walls.
 */
#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "compute/hbem_solve/solve.h"
#include "kernels/common/mesh_measure.h"
#include "kernels/common/mesh_topology.h"
#include "kernels/common/vec3.h"
#include "kernels/hbem/potentials.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { POINTS_ALL = 256, POINTS_LEAST = 4, POINTS_MOST = 64 /* of a part */ };

/* ---- closed parts ---- */

/* part[triangles]; returns their number in *count. */
static ps_status triangle_parts(const solve_problem *p, int32_t *part, int64_t *count)
{
    const ps_surface_mesh *m = &p->mesh;
    PS_SCOPED_MEMORY uint32_t *root = NULL;
    PS_TRY(PS_ALLOC(&root, m->triangle_count + m->vertex_count, "closed parts"));
    *count = ps_touching_parts(m->triangles, m->triangle_count, m->vertex_count, part, root,
                               root + m->triangle_count);
    return PS_OK;
}

ps_status function_parts(const solve_problem *p, const ps_hbem_space *space, int32_t *part,
                         int64_t *count)
{
    PS_SCOPED_MEMORY int32_t *of_triangle = NULL;
    PS_TRY(PS_ALLOC(&of_triangle, p->mesh.triangle_count, "closed parts"));
    PS_TRY(triangle_parts(p, of_triangle, count));
    for (int64_t i = 0; i < space->dofs; ++i) {
        int64_t first = space->start[i];
        part[i] = first < space->start[i + 1] ? of_triangle[space->item[first] / 3] : 0;
    }
    return PS_OK;
}

/* ---- bodies and holes ---- */

/* Parts of the surface of an interior problem. */
typedef struct bodies {
    int64_t parts, count;  /* of the parts: bodies, the others are holes */
    int32_t *part;         /* [triangles]                                */
    int32_t *body;         /* [parts] a body's number, of a hole that of the body that it is in */
    double *volume, *area; /* [parts] volume: below 0 of holes; m^3, m^2 */
} bodies;

static void release_bodies(bodies *b) { PS_FREE(b->part, b->body, b->volume); }

/* The smallest body around a triangle of a hole, -1: there is none. angle[parts]: scratch. */
static int32_t body_around(const ps_hbem_surface *s, const bodies *b, int64_t triangle,
                           double *angle)
{
    int32_t best = -1;
    for (int64_t k = 0; k < b->parts; ++k) angle[k] = 0;
    for (int64_t t = 0; t < s->triangle_count; ++t)
        if (b->part[t] != b->part[triangle])
            angle[b->part[t]] +=
                ps_solid_angle(s->triangles[t].corner[0], s->triangles[t].corner[1],
                               s->triangles[t].corner[2], s->triangles[triangle].centroid);
    for (int32_t k = 0; k < b->parts; ++k)
        if (b->volume[k] > 0 && angle[k] > 2 * M_PI && (best < 0 || b->volume[k] < b->volume[best]))
            best = k;
    return best;
}

static ps_status place_holes(const ps_hbem_surface *s, bodies *b)
{
    PS_SCOPED_MEMORY double *angle = NULL;
    PS_TRY(PS_ALLOC(&angle, b->parts, "closed parts"));
    for (int32_t k = 0; k < b->parts; ++k) {
        b->body[k] = b->volume[k] > 0 ? k : -1;
        b->count += b->volume[k] > 0;
    }
    for (int64_t t = 0; t < s->triangle_count; ++t) {
        int32_t k = b->part[t];
        const double *at = s->triangles[t].centroid;
        if (b->body[k] >= 0) continue;
        b->body[k] = body_around(s, b, t, angle);
        if (b->body[k] < 0)
            return ps_fail(PS_INVALID,
                           "mesh: the normals of a closed part of the surface, at (%.4g, %.4g, "
                           "%.4g), point inward and it lies in no other: turn its triangles round "
                           "(penstock-mesh-import --orient)",
                           at[0], at[1], at[2]);
    }
    return PS_OK;
}

static ps_status find_bodies(const solve_problem *p, bodies *b)
{
    const ps_hbem_surface *s = &p->surface;
    PS_TRY(PS_ALLOC(&b->part, s->triangle_count, "closed parts"));
    PS_TRY(triangle_parts(p, b->part, &b->parts));
    PS_TRY(PS_ALLOC(&b->body, b->parts, "closed parts"));
    PS_TRY(PS_ALLOC(&b->volume, 2 * b->parts, "closed parts"));
    b->area = b->volume + b->parts;
    for (int64_t t = 0; t < s->triangle_count; ++t) {
        const ps_hbem_triangle *own = &s->triangles[t];
        double from[3];
        for (int d = 0; d < 3; ++d) from[d] = own->centroid[d] - s->triangles[0].centroid[d];
        b->volume[b->part[t]] += own->jacobian * ps_dot3(own->normal, from) / 6;
        b->area[b->part[t]] += own->jacobian / 2;
    }
    return place_holes(s, b);
}

ps_status constants_find_open(solve_problem *p)
{
    bodies b = {0};
    if (p->options.problem != PROBLEM_NEUMANN || !p->options.interior) return PS_OK;
    ps_status status = find_bodies(p, &b);
    p->open_constants = b.count;
    p->holes = b.parts - b.count;
    release_bodies(&b);
    if (status == PS_OK && p->open_constants > 1)
        ps_warning("the surface is that of %lld bodies: the flux leaves a constant of u open in "
                   "each of them, %s",
                   (long long)p->open_constants,
                   p->options.indirect ? "and nothing fixes what a density gives"
                                       : "where u gets the mean --mean");
    return status;
}

/* ---- points inside ---- */

/* How far along `direction` from x a triangle is met (Moeller and Trumbore 1997); INFINITY: not. */
static double met_at(const ps_hbem_triangle *t, const double x[3], const double direction[3])
{
    double e[3], f[3], to[3], p[3], q[3];
    for (int d = 0; d < 3; ++d) {
        e[d] = t->corner[1][d] - t->corner[0][d];
        f[d] = t->corner[2][d] - t->corner[0][d];
        to[d] = x[d] - t->corner[0][d];
    }
    ps_cross3(direction, f, p);
    double determinant = ps_dot3(e, p);
    if (determinant == 0) return INFINITY;
    double u = ps_dot3(to, p) / determinant;
    ps_cross3(to, e, q);
    double v = ps_dot3(direction, q) / determinant;
    if (u < 0 || v < 0 || u + v > 1) return INFINITY;
    return ps_dot3(f, q) / determinant;
}

/* Half way from the centroid of triangle `from`, against its normal (side -1) or along it, to what
 * is opposite. Returns how deep that is. */
static double inner_point(const ps_hbem_surface *s, int64_t from, int side, double x[3])
{
    const ps_hbem_triangle *own = &s->triangles[from];
    double inward[3], least = INFINITY;
    for (int d = 0; d < 3; ++d) inward[d] = side * own->normal[d];
    for (int64_t t = 0; t < s->triangle_count; ++t) {
        double at = t == from ? INFINITY : met_at(&s->triangles[t], own->centroid, inward);
        if (at > 0 && at < least) least = at;
    }
    if (!isfinite(least)) least = 0;
    for (int d = 0; d < 3; ++d) x[d] = own->centroid[d] + .5 * least * inward[d];
    return least;
}

/* Points of all parts, part by part, by every so many-th of a part's triangles. */
typedef struct inner_points {
    int64_t parts, each;
    int32_t *part;              /* [triangles] */
    int64_t *count, *seen;      /* [parts]: triangles, and those that were looked at */
    double *depth, *x, *values; /* [parts each], [3], [parts each] */
} inner_points;

/* On which side of the surface the field is none: a field outside vanishes in the bodies, one
 * inside of a body in its holes. */
static int side_of(const solve_problem *p) { return p->options.interior ? 1 : -1; }

static void release_points(inner_points *in) { PS_FREE(in->part, in->count, in->seen, in->depth); }

static void choose_points(const ps_hbem_surface *s, int side, inner_points *in)
{
    const int64_t *count = in->count;
    for (int64_t t = 0; t < s->triangle_count; ++t) ++in->count[in->part[t]];
    for (int64_t t = 0; t < s->triangle_count; ++t) {
        int64_t p = in->part[t], own = in->seen[p]++;
        int64_t k = own * in->each / count[p]; /* as many as there are triangles at most */
        if (own > 0 && (own - 1) * in->each / count[p] == k) continue;
        int64_t at = p * in->each + k;
        in->depth[at] = inner_point(s, t, side, in->x + 3 * at);
    }
}

static ps_status open_points(const solve_problem *p, inner_points *in)
{
    PS_TRY(PS_ALLOC(&in->part, p->mesh.triangle_count, "closed parts"));
    PS_TRY(triangle_parts(p, in->part, &in->parts));
    in->each = POINTS_ALL / in->parts;
    if (in->each < POINTS_LEAST) in->each = POINTS_LEAST;
    if (in->each > POINTS_MOST) in->each = POINTS_MOST;
    PS_TRY(PS_ALLOC(&in->count, in->parts, "closed parts"));
    PS_TRY(PS_ALLOC(&in->seen, in->parts, "closed parts"));
    PS_TRY(PS_ALLOC(&in->depth, 5 * in->parts * in->each, "points inside"));
    in->x = in->depth + in->parts * in->each;
    in->values = in->x + 3 * in->parts * in->each;
    choose_points(&p->surface, side_of(p), in);
    return PS_OK;
}

/* ---- the constants ---- */

/* Adds factor x potential of a density at the points. */
static ps_status add_layer(ps_hbem_potential kind, double factor, const ps_hbem_space *space,
                           int side, const double *density, inner_points *in)
{
    const ps_hbem_nearness inside = {.reach = 3, .noise = 1e-3, .side = side};
    ps_hbem_rule rule;
    ps_hbem_rule_six(&rule);
    int threads = omp_get_max_threads();
    int64_t count = in->parts * in->each;
    PS_SCOPED_MEMORY double *values = NULL;
    PS_SCOPED_MEMORY void *workspace = NULL;
    ps_hbem_potential_task task = {.kind = kind,
                                   .factor = factor,
                                   .space = space,
                                   .rule = &rule,
                                   .columns = 1,
                                   .densities = density,
                                   .target_count = count,
                                   .targets = in->x};
    PS_TRY(PS_ALLOC(&values, count, "potentials inside"));
    PS_TRY(ps_alloc_untouched(&workspace, ps_hbem_potentials_bytes(&task, threads), "workspace"));
    task.values = values;
    ps_hbem_potentials(&task, threads, workspace);
    ps_hbem_potentials_near(&task, &inside, threads, workspace);
    for (int64_t i = 0; i < count; ++i) in->values[i] += values[i];
    return PS_OK;
}

/* The mean over a part's points, the deepest of which are the most accurate. */
static double constant_of(const inner_points *in, int64_t part)
{
    double sum = 0, weight = 0;
    for (int64_t i = part * in->each; i < (part + 1) * in->each; ++i) {
        sum += in->depth[i] * in->values[i];
        weight += in->depth[i];
    }
    return weight > 0 ? sum / weight : 0;
}

/* Of all parts; u inside: beside the mean that each part has. */
static ps_status find_constants(const solve_problem *p, const inner_points *in, double *constant)
{
    PS_SCOPED(release_bodies) bodies b = {0};
    for (int64_t k = 0; k < in->parts; ++k) constant[k] = constant_of(in, k);
    if (!p->options.interior) return PS_OK;
    PS_SCOPED_MEMORY double *sums = NULL;
    PS_TRY(PS_ALLOC(&sums, 2 * in->parts, "closed parts"));
    PS_TRY(find_bodies(p, &b));
    for (int64_t k = 0; k < b.parts; ++k) {
        constant[k] = b.volume[k] > 0 ? 0 : -constant[k];
        sums[2 * b.body[k]] += b.area[k];
        sums[2 * b.body[k] + 1] += b.area[k] * constant[k];
    }
    for (int64_t k = 0; k < b.parts; ++k)
        constant[k] -= sums[2 * b.body[k] + 1] / sums[2 * b.body[k]];
    return PS_OK;
}

ps_status constants_add(const solve_problem *p, double *u, const double *t)
{
    const ps_hbem_space *space = &p->spaces[p->unknown].space;
    PS_SCOPED(release_points) inner_points in = {0};
    PS_SCOPED_MEMORY double *constant = NULL;
    PS_TRY(open_points(p, &in));
    PS_TRY(PS_ALLOC(&constant, in.parts, "closed parts"));
    PS_TRY(add_layer(PS_POTENTIAL_DOUBLE, 1, space, side_of(p), u, &in));
    PS_TRY(add_layer(PS_POTENTIAL_SINGLE, -1, &p->spaces[p->data].space, side_of(p), t, &in));
    PS_TRY(find_constants(p, &in, constant));
    for (int64_t i = 0; i < space->dofs; ++i)
        if (space->start[i] < space->start[i + 1])
            u[i] += constant[in.part[space->item[space->start[i]] / 3]];
    return PS_OK;
}
