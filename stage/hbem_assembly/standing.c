/* Bodies beside mirror planes. */
#include "stage/hbem_assembly/standing.h"

#include "kernels/common/mesh_topology.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* A body and the planes. */
typedef struct standing {
    const ps_hbem_surface *surface;
    const int32_t *corners; /* [triangles][3] */
    const ps_reflectors *mirrors;
    double touch;
    bool touches;
} standing;

static const double *vertex(const standing *p, int64_t v) { return p->surface->vertices + 3 * v; }

int ps_hbem_planes_at(const ps_reflectors *mirrors, double touch, const double x[3])
{
    int planes = 0;
    for (int i = 0; i < mirrors->count; ++i)
        planes |= (ps_reflector_height(&mirrors->planes[i], x) <= touch) << i;
    return planes;
}

static int planes_at(const standing *p, int64_t v)
{
    return ps_hbem_planes_at(p->mirrors, p->touch, vertex(p, v));
}

/* rim[vertices]: whether an open edge has it; all open edges must lie in a plane. */
static ps_status find_rim(const standing *p, bool *rim)
{
    int64_t sides = 3 * p->surface->triangle_count;
    PS_SCOPED_MEMORY uint32_t *start = NULL, *ids = NULL, *mate = NULL;
    PS_TRY(PS_ALLOC(&start, p->surface->vertex_count + 1, "edges"));
    PS_TRY(PS_ALLOC(&ids, sides, "edges"));
    PS_TRY(PS_ALLOC(&mate, sides, "edges"));
    ps_facets_sort(&ps_triangle_edges, p->corners, p->surface->triangle_count,
                   p->surface->vertex_count, start, ids);
    ps_edges_pair(p->corners, p->surface->triangle_count, ids, mate);
    for (int64_t e = 0; e < sides; ++e) {
        if (mate[e] != PS_MATE_NONE) continue;
        int32_t ends[4];
        ps_facet_vertices(&ps_triangle_edges, p->corners, (uint32_t)e, ends);
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

static ps_status check_vertex(standing *p, const bool *rim, int64_t v)
{
    const double *x = vertex(p, v);
    int planes = planes_at(p, v);
    if (planes && !rim[v])
        return ps_fail(
            PS_INVALID,
            "the surface touches a mirror plane at (%.6g, %.6g, %.6g): move it away by an "
            "edge or more, or let it stand on the plane with an open rim, without the "
            "triangles that lie in the plane",
            x[0], x[1], x[2]);
    p->touches = p->touches || planes;
    return PS_OK;
}

/* A triangle whose corners are in one plane would have its image upon it. */
static ps_status check_triangle(const standing *p, int64_t t)
{
    int planes = (1 << p->mirrors->count) - 1;
    const double *x = p->surface->triangles[t].centroid;
    for (int l = 0; l < 3; ++l) planes &= planes_at(p, p->surface->triangles[t].vertex[l]);
    return planes == 0 ? PS_OK
                       : ps_fail(PS_INVALID,
                                 "the triangle at (%.6g, %.6g, %.6g) lies in a mirror plane: leave "
                                 "out what stands on the plane",
                                 x[0], x[1], x[2]);
}

/* The body and all its images as one surface. */
static ps_status check_all_closed(const standing *p)
{
    const ps_reflectors *m = p->mirrors;
    int64_t n = p->surface->triangle_count, copies = ps_reflectors_images(m);
    PS_SCOPED_MEMORY ps_hbem_triangle *all = NULL;
    PS_TRY(PS_ALLOC(&all, copies * n, "triangles and their images"));
    for (int64_t t = 0; t < copies * n; ++t) {
        all[t] = p->surface->triangles[t % n];
        ps_reflectors_point(m, (int)(t / n), all[t].centroid, all[t].centroid);
        ps_reflectors_vector(m, (int)(t / n), all[t].normal, all[t].normal);
    }
    ps_hbem_surface surface = {p->surface->vertex_count, copies * n, p->surface->vertices, all};
    return ps_hbem_surface_check_closed(&surface);
}

ps_status ps_hbem_standing_check(const ps_hbem_surface *surface, const int32_t *corners,
                                 ps_reflectors *mirrors, bool *touches)
{
    standing s = {surface, corners, mirrors,
                  ps_reflectors_touch(surface->vertices, surface->vertex_count), false};
    PS_SCOPED_MEMORY bool *rim = NULL;
    PS_TRY(ps_reflectors_find_sides(mirrors, surface->vertices, surface->vertex_count));
    PS_TRY(PS_ALLOC(&rim, surface->vertex_count, "rims"));
    PS_TRY(find_rim(&s, rim));
    for (int64_t v = 0; v < surface->vertex_count; ++v) PS_TRY(check_vertex(&s, rim, v));
    for (int64_t t = 0; t < surface->triangle_count; ++t) PS_TRY(check_triangle(&s, t));
    *touches = s.touches;
    return s.touches ? check_all_closed(&s) : ps_hbem_surface_check_closed(surface);
}
