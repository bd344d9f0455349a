/* Mirror planes: where bodies and incident fields may be, and the clusters of images. A closed body
 * lies off all planes. An open one stands on rigid planes: its rim is in them, and with its images
 * it is closed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/hbem_solve/solve.h"
#include "kernels/common/mesh_topology.h"
#include "kernels/common/vec3.h"
#include "kernels/hbem/closed.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

static const double *vertex(const solve_problem *p, int64_t v) { return p->mesh.vertices + 3 * v; }

/* Bits of the planes that a vertex lies on. */
static int planes_at(const solve_problem *p, int64_t v)
{
    const ps_reflectors *m = &p->options.mirrors;
    int planes = 0;
    for (int i = 0; i < m->count; ++i)
        planes |= (ps_reflector_height(&m->planes[i], vertex(p, v)) <= p->touch) << i;
    return planes;
}

/* ---- how bodies stand on planes ---- */

/* rim[vertices]: whether an open edge has it; all open edges must lie in a plane. */
static ps_status find_rim(const solve_problem *p, bool *rim)
{
    int64_t sides = 3 * p->mesh.triangle_count;
    PS_SCOPED_MEMORY uint32_t *start = NULL, *ids = NULL, *mate = NULL;
    PS_TRY(PS_ALLOC(&start, p->mesh.vertex_count + 1, "edges"));
    PS_TRY(PS_ALLOC(&ids, sides, "edges"));
    PS_TRY(PS_ALLOC(&mate, sides, "edges"));
    ps_facets_sort(&ps_triangle_edges, p->mesh.triangles, p->mesh.triangle_count,
                   p->mesh.vertex_count, start, ids);
    ps_edges_pair(p->mesh.triangles, p->mesh.triangle_count, ids, mate);
    for (int64_t e = 0; e < sides; ++e) {
        if (mate[e] != PS_MATE_NONE) continue;
        int32_t ends[4];
        ps_facet_vertices(&ps_triangle_edges, p->mesh.triangles, (uint32_t)e, ends);
        const double *x = vertex(p, ends[0]);
        if (!(planes_at(p, ends[0]) & planes_at(p, ends[1])))
            return ps_fail(PS_INVALID,
                           "the surface is open at (%.6g, %.6g, %.6g), which is no rim on a mirror "
                           "plane: exterior problems need a closed one",
                           x[0], x[1], x[2]);
        rim[ends[0]] = rim[ends[1]] = true;
    }
    return PS_OK;
}

static ps_status check_vertex(solve_problem *p, const bool *rim, int64_t v)
{
    const ps_reflectors *m = &p->options.mirrors;
    const double *x = vertex(p, v);
    int planes = planes_at(p, v);
    if (planes && !rim[v])
        return ps_fail(PS_INVALID,
                       "the surface touches a mirror plane at (%.6g, %.6g, %.6g): move it away by an "
                       "edge or more, or let it stand on the plane with an open rim, without the "
                       "triangles that lie in the plane",
                       x[0], x[1], x[2]);
    for (int i = 0; i < m->count; ++i)
        if ((planes >> i & 1) && m->planes[i].sign < 0)
            return ps_fail(PS_INVALID,
                           "the rim at (%.6g, %.6g, %.6g) lies on a soft mirror plane, where the "
                           "pressure is 0: bodies that stand on one are not solved, only those on "
                           "rigid planes",
                           x[0], x[1], x[2]);
    p->touches = p->touches || planes;
    return PS_OK;
}

/* A triangle whose corners are in one plane would have its image upon it. */
static ps_status check_triangle(const solve_problem *p, int64_t t)
{
    int planes = (1 << p->options.mirrors.count) - 1;
    const double *x = p->triangles[t].centroid;
    for (int l = 0; l < 3; ++l) planes &= planes_at(p, p->triangles[t].vertex[l]);
    return planes == 0 ? PS_OK
                       : ps_fail(PS_INVALID,
                                 "the triangle at (%.6g, %.6g, %.6g) lies in a mirror plane: leave "
                                 "out what stands on the plane",
                                 x[0], x[1], x[2]);
}

/* The body and all its images as one surface. */
static ps_status check_all_closed(const solve_problem *p)
{
    const ps_reflectors *m = &p->options.mirrors;
    int64_t n = p->surface.triangle_count, copies = ps_reflectors_images(m);
    PS_SCOPED_MEMORY ps_hbem_triangle *all = NULL;
    PS_TRY(PS_ALLOC(&all, copies * n, "triangles and their images"));
    for (int64_t t = 0; t < copies * n; ++t) {
        all[t] = p->triangles[t % n];
        ps_reflectors_point(m, (int)(t / n), all[t].centroid, all[t].centroid);
        ps_reflectors_vector(m, (int)(t / n), all[t].normal, all[t].normal);
    }
    ps_hbem_surface surface = {p->surface.vertex_count, copies * n, p->surface.vertices, all};
    return ps_hbem_surface_check_closed(&surface);
}

ps_status images_check_body(solve_problem *p)
{
    PS_SCOPED_MEMORY bool *rim = NULL;
    p->touch = ps_reflectors_touch(p->mesh.vertices, p->mesh.vertex_count);
    PS_TRY(ps_reflectors_find_sides(&p->options.mirrors, p->mesh.vertices, p->mesh.vertex_count));
    PS_TRY(PS_ALLOC(&rim, p->mesh.vertex_count, "rims"));
    PS_TRY(find_rim(p, rim));
    for (int64_t v = 0; v < p->mesh.vertex_count; ++v) PS_TRY(check_vertex(p, rim, v));
    for (int64_t t = 0; t < p->mesh.triangle_count; ++t) PS_TRY(check_triangle(p, t));
    return p->touches ? check_all_closed(p) : ps_hbem_surface_check_closed(&p->surface);
}

/* ---- places ---- */

/* An image sees of x what the body sees of the image of x. */
int images_where(const solve_problem *p, const double x[3])
{
    const ps_reflectors *m = &p->options.mirrors;
    double inner, share = 0;
    int where = ps_hbem_where(&p->surface, x, &inner);
    if (!p->touches || where == 0) return where;
    for (int copy = 0; copy < ps_reflectors_images(m); ++copy) {
        double place[3], own;
        ps_reflectors_point(m, copy, x, place);
        ps_hbem_where(&p->surface, place, &own);
        share += own;
    }
    return share > .5 ? -1 : 1;
}

/* How far a source is above a plane, or how much of a wave comes towards it. */
static double above(const ps_reflector *plane, const ps_hbem_load *load)
{
    return load->kind == PS_LOAD_PLANE ? -ps_dot3(plane->normal, load->vector)
                                       : ps_reflector_height(plane, load->vector);
}

ps_status images_check_load(const solve_problem *p, const char *option, const ps_hbem_load *load)
{
    const ps_reflectors *m = &p->options.mirrors;
    const double *x = load->vector;
    const char *what = load->kind == PS_LOAD_PLANE ? "the wave" : "the source";
    double grazing = load->kind == PS_LOAD_PLANE ? 1e-12 : p->touch;
    for (int i = 0; i < m->count; ++i) {
        double height = above(&m->planes[i], load);
        char text[128];
        ps_reflectors_print(&(ps_reflectors){1, {m->planes[i]}}, text, sizeof text);
        if (height < -grazing)
            return ps_fail(PS_USAGE,
                           "%s: %s (%g, %g, %g) comes from behind the mirror plane %s, whose normal "
                           "points to the body",
                           option, what, x[0], x[1], x[2], text);
        if (height <= grazing && m->planes[i].sign < 0 && load->kind != PS_LOAD_DIPOLE)
            return ps_fail(PS_USAGE,
                           "%s: %s (%g, %g, %g) lies in the soft mirror plane %s, which leaves nothing "
                           "of it",
                           option, what, x[0], x[1], x[2], text);
    }
    return PS_OK;
}

void images_project(const solve_problem *p, int64_t v, double vector[3])
{
    const ps_reflectors *m = &p->options.mirrors;
    if (!p->touches) return;
    int planes = planes_at(p, v);
    for (int i = 0; i < m->count; ++i) {
        const double *n = m->planes[i].normal;
        double along = planes >> i & 1 ? ps_dot3(n, vector) : 0;
        for (int c = 0; c < 3; ++c) vector[c] -= along * n[c];
    }
}

/* ---- clusters ---- */

static ps_status derive(solve_problem *p, int base, int copy, int *place)
{
    PS_TRY(core_scene_mirror(&p->scenes[p->scene_count], &p->scenes[base], &p->options.mirrors,
                             copy, &p->options.assembly));
    *place = p->scene_count++;
    return PS_OK;
}

ps_status images_derive_scenes(solve_problem *p)
{
    int own = p->scene_count;
    if (p->touches && p->boundary.fluid)
        return ps_fail(PS_USAGE, "--boundary: a fluid body stands on a mirror plane: those are solved "
                                 "off the planes only");
    /* What is open here is closed with its images, which was checked. */
    for (int s = 0; s < own && p->touches; ++s) p->scenes[s].scene.clusters.closed = true;
    for (int copy = 1; copy < ps_reflectors_images(&p->options.mirrors); ++copy) {
        PS_TRY(derive(p, p->main_scene, copy, &p->image_scene[copy][0]));
        if (p->boundary.vibrations > 0)
            PS_TRY(derive(p, p->data_scene, copy, &p->image_scene[copy][1]));
    }
    return PS_OK;
}
