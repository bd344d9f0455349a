#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/mesh_measure.h"
#include "kernels/common/vec3.h"
#include "kernels/tdbem/incident_check.h"
#include "postprocess/probe/probe.h"
#include "runtime/memory.h"

static ps_status check_belongs(const probe_source *s, const char *history, const char *mesh)
{
    const ps_slice_header *slices = &s->header->slices;
    int64_t expected = s->hard ? s->mesh.vertex_count : s->mesh.triangle_count;
    if (strcmp(slices->mesh_hash, s->mesh.content_hash) != 0)
        return ps_fail(PS_INVALID,
                       "%s was computed on another mesh than %s (content hash %s, not %s); name "
                       "the mesh that the slices were assembled from",
                       history, mesh, slices->mesh_hash, s->mesh.content_hash);
    if (s->velocity.modes > 0 && s->velocity.triangle_count != s->mesh.triangle_count)
        return ps_fail(PS_INVALID, "%s moves %lld triangles, %s has %lld", history,
                       (long long)s->velocity.triangle_count, mesh,
                       (long long)s->mesh.triangle_count);
    if (slices->unknowns != expected)
        return ps_fail(PS_INVALID, "%s has %lld unknowns, %s has %lld %s", history,
                       (long long)slices->unknowns, mesh, (long long)expected,
                       s->hard ? "vertices" : "triangles");
    return PS_OK;
}

static ps_status read_emitters(probe_source *s, const char *path)
{
    s->incident.count = s->header->emitter_count;
    s->incident.speed = s->speed;
    for (int i = 0; i < s->incident.count; ++i)
        if (ps_emitter_parse(s->header->emitters[i], &s->incident.emitters[i]) != PS_OK)
            return ps_context(PS_INVALID, "%s", path);
    return ps_incident_add_images(&s->incident, &s->header->slices.mirrors);
}

static ps_status read_linings(probe_source *s, const char *path)
{
    for (; s->lining_count < s->header->lining_count; ++s->lining_count) {
        probe_lining *l = &s->linings[s->lining_count];
        char where[PS_WHERE_MAX];
        int64_t tag;
        if (ps_admittance_parse(s->header->linings[s->lining_count], where, &l->beta) != PS_OK ||
            ps_surface_mesh_find_tag(&s->mesh, where, &tag) != PS_OK)
            return ps_context(PS_INVALID, "%s", path);
        PS_TRY(PS_ALLOC(&l->lined, s->mesh.triangle_count, "lined triangles"));
        for (int64_t t = 0; t < s->mesh.triangle_count; ++t)
            l->lined[t] = tag < 0 || s->mesh.tags[t] == tag;
    }
    return PS_OK;
}

static ps_status take_header(probe_source *s)
{
    s->header = ps_history_header_of(s->history);
    s->hard = s->header->slices.formulation == PS_SOUND_HARD;
    s->unknowns = s->header->slices.unknowns;
    s->steps = s->header->steps;
    s->dt = s->header->slices.dt;
    s->speed = s->header->slices.speed;
    if (s->steps < 1) return ps_fail(PS_INVALID, "the history has no steps");
    return ps_surface_velocity_get(ps_history_store(s->history), s->steps, &s->velocity);
}

static ps_status make_geometry(probe_source *s)
{
    const ps_surface_mesh *mesh = &s->mesh;
    const ps_reflectors *mirrors = &s->header->slices.mirrors;
    int64_t count = mesh->triangle_count, vertices = mesh->vertex_count;
    int images = ps_reflectors_images(mirrors);
    PS_TRY(PS_ALLOC(&s->triangles, images * count, "triangles"));
    PS_TRY(PS_ALLOC(&s->vertices, 3 * images * vertices, "vertices"));
    PS_TRY(PS_ALLOC(&s->reach, vertices, "edges"));
    for (int m = 0; m < images; ++m) {
        double *to = s->vertices + 3 * m * vertices;
        for (int64_t v = 0; v < vertices; ++v)
            ps_reflectors_point(mirrors, m, mesh->vertices + 3 * v, to + 3 * v);
        PS_TRY(ps_triangles_init(to, mesh->triangles, count, s->triangles + m * count));
    }
    ps_potential_reach(mesh->triangle_count, s->triangles, mesh->triangles, s->reach);
    return PS_OK;
}

ps_status probe_source_open(probe_source *source, const char *history, const char *mesh)
{
    PS_TRY(ps_history_open(history, &source->history));
    PS_TRY(ps_store_open(mesh, NULL, 1 << 20, &source->mesh_store));
    PS_TRY(ps_surface_mesh_load(mesh, &source->mesh));
    PS_TRY(take_header(source));
    PS_TRY(check_belongs(source, history, mesh));
    PS_TRY(ps_surface_flow_get(ps_history_store(source->history), source->mesh.vertex_count,
                               &source->flow));
    PS_TRY(read_emitters(source, history));
    PS_TRY(read_linings(source, history));
    return make_geometry(source);
}

void probe_source_close(probe_source *source)
{
    ps_history_close(&source->history);
    ps_store_close(&source->mesh_store);
    ps_surface_mesh_release(&source->mesh);
    ps_surface_velocity_release(&source->velocity);
    ps_surface_flow_release(&source->flow);
    for (int q = 0; q < source->lining_count; ++q) free(source->linings[q].lined);
    PS_FREE(source->triangles, source->vertices, source->reach);
    memset(source, 0, sizeof *source);
}

void probe_source_describe(const probe_source *source, ps_trace_basis basis,
                           ps_trace_origin *origin)
{
    origin->speed = source->speed;
    origin->dt = source->dt;
    origin->edge = ps_triangles_mean_edge(source->triangles, source->mesh.triangle_count);
    origin->basis = basis;
    origin->emitter_count = source->header->emitter_count;
    memcpy(origin->emitters, source->header->emitters, sizeof origin->emitters);
    origin->mirrors = source->header->slices.mirrors;
}

/* ---- the times there are ---- */

/* Largest e.y over the surface and all directions, in steps. */
static double farthest_advance(const probe_source *source, const ps_receivers *receivers)
{
    double farthest = -INFINITY;
    for (int64_t r = 0; r < receivers->count; ++r) {
        const double *e = receivers->places + 3 * r;
        int64_t all =
            source->mesh.vertex_count * ps_reflectors_images(&source->header->slices.mirrors);
        for (int64_t v = 0; v < all; ++v)
            farthest = fmax(farthest, ps_dot3(e, source->vertices + 3 * v));
    }
    return farthest / (source->speed * source->dt);
}

ps_status probe_range_find(const probe_source *source, const ps_receivers *receivers, double from,
                           double to, probe_range *out)
{
    int64_t lead = receivers && receivers->far_field
                       ? (int64_t)floor(farthest_advance(source, receivers) + .5) + 1
                       : 0;
    int64_t first = 1 - lead, last = source->steps - lead;
    double dt = source->dt;
    if (to < INFINITY && to > ((double)last + 1e-6) * dt)
        return ps_fail(PS_USAGE, "--to %g: the history of %lld steps allows times up to %g s", to,
                       (long long)source->steps, (double)last * dt);
    if (from > (double)first * dt) first = (int64_t)ceil(from / dt - 1e-6);
    if (to < (double)last * dt) last = (int64_t)floor(to / dt + 1e-6);
    if (first > last)
        return ps_fail(PS_USAGE, "no step of the history lies between --from %g and --to %g s",
                       from, to);
    *out = (probe_range){first, last - first + 1};
    return PS_OK;
}

int64_t probe_count_beyond(const probe_source *source, const ps_receivers *receivers,
                           int64_t *first)
{
    const ps_reflectors *mirrors = &source->header->slices.mirrors;
    int64_t beyond = 0;
    for (int64_t r = receivers->count - 1; r >= 0; --r)
        for (int p = 0; p < mirrors->count; ++p) {
            const ps_reflector *plane = &mirrors->planes[p];
            const double *x = receivers->places + 3 * r;
            double height =
                receivers->far_field ? ps_dot3(plane->normal, x) : ps_reflector_height(plane, x);
            if (height >= -1e-9) continue;
            ++beyond;
            *first = r;
            break;
        }
    return beyond;
}

/* Number of receivers of which `is` holds, *first the first of them. */
static int64_t count_points(const probe_source *source, const ps_receivers *receivers,
                            bool (*is)(const probe_source *, const double *), int64_t *first)
{
    int64_t found = 0, least = receivers->count;
#pragma omp parallel for schedule(static) reduction(+ : found) reduction(min : least)
    for (int64_t r = 0; r < receivers->count; ++r)
        if (is(source, receivers->places + 3 * r)) {
            ++found;
            if (r < least) least = r;
        }
    *first = least;
    return found;
}

static bool is_inside(const probe_source *source, const double *x)
{
    return ps_is_inside(&source->mesh, &source->header->slices.mirrors, x);
}

/* As near as rounding leaves open on which side. */
static bool is_on(const probe_source *source, const double *x)
{
    const ps_surface_mesh *mesh = &source->mesh;
    double edge;
    return ps_surface_distance(mesh->vertices, mesh->triangles, mesh->triangle_count, x, &edge) <=
           1e-14 * (edge + ps_norm3(x));
}

int64_t probe_count_inside(const probe_source *source, const ps_receivers *receivers,
                           int64_t *first)
{
    return count_points(source, receivers, is_inside, first);
}

int64_t probe_count_on(const probe_source *source, const ps_receivers *receivers, int64_t *first)
{
    return source->hard ? count_points(source, receivers, is_on, first) : 0;
}
