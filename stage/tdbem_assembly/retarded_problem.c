#include "stage/tdbem_assembly/retarded_problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/mesh_measure.h"
#include "kernels/tdbem/cut.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* ---- topology (sound-hard) ---- */

/* Triangles at each vertex, ascending. */
static ps_status list_triangles(ps_retarded_problem *problem)
{
    const ps_surface_mesh *mesh = &problem->mesh;
    int64_t corners = 3 * mesh->triangle_count;
    PS_TRY(PS_ALLOC(&problem->around_start, mesh->vertex_count + 1, "triangles at vertices"));
    PS_TRY(PS_ALLOC(&problem->around, corners, "triangles at vertices"));
    int64_t *start = problem->around_start;
    for (int64_t n = 0; n < corners; ++n) ++start[mesh->triangles[n] + 1];
    for (int64_t v = 0; v < mesh->vertex_count; ++v) start[v + 1] += start[v];
    for (int64_t n = 0; n < corners; ++n)
        problem->around[start[mesh->triangles[n]]++] = (int32_t)(n / 3);
    for (int64_t v = mesh->vertex_count; v > 0; --v) start[v] = start[v - 1];
    start[0] = 0;
    for (int64_t v = 0; v < mesh->vertex_count; ++v)
        if (start[v + 1] == start[v])
            return ps_fail(PS_INVALID,
                           "vertex %lld belongs to no triangle, so a sound-hard surface has no "
                           "equation for it; import the mesh again with penstock-mesh-import",
                           (long long)v);
    return PS_OK;
}

/* Counts how many triangles at `from` run along from -> to and to -> from. */
static void count_edge(const ps_retarded_problem *problem, int32_t from, int32_t to, int count[2])
{
    count[0] = count[1] = 0;
    for (int64_t p = problem->around_start[from]; p < problem->around_start[from + 1]; ++p) {
        const int32_t *v = problem->mesh.triangles + 3 * (int64_t)problem->around[p];
        for (int e = 0; e < 3; ++e) {
            count[0] += v[e] == from && v[(e + 1) % 3] == to;
            count[1] += v[e] == to && v[(e + 1) % 3] == from;
        }
    }
}

/* An edge in a plane that mirrors goes on in the image. There the pressure is zero on a soft plane,
 * and free on a rigid one: 1 and 0; -1: the edge is in no plane. */
static int in_plane(const ps_retarded_problem *problem, int32_t from, int32_t to)
{
    const ps_reflectors *mirrors = &problem->interaction.mirrors;
    int found = -1;
    for (int p = 0; p < mirrors->count; ++p) {
        const ps_reflector *plane = &mirrors->planes[p];
        const double *x = problem->mesh.vertices + 3 * (int64_t)from;
        const double *y = problem->mesh.vertices + 3 * (int64_t)to;
        double height =
            fmax(fabs(ps_reflector_height(plane, x)), fabs(ps_reflector_height(plane, y)));
        if (height <= problem->touching && found < 1) found = plane->sign < 0;
    }
    return found;
}

/* Every edge has one triangle a direction; the rim of a screen has one alone, and its vertices are
 * fixed: the jump of the pressure is zero there. */
static ps_status check_edges(ps_retarded_problem *problem, bool screen)
{
    const ps_surface_mesh *mesh = &problem->mesh;
    int64_t open = 0, first = -1;
    PS_TRY(PS_ALLOC(&problem->fixed, mesh->vertex_count, "rim vertices"));
    for (int64_t n = 0; n < 3 * mesh->triangle_count; ++n) {
        int32_t from = mesh->triangles[n], to = mesh->triangles[n % 3 == 2 ? n - 2 : n + 1];
        int count[2];
        count_edge(problem, from, to, count);
        if (count[0] > 1 || count[1] > 1)
            return ps_fail(PS_INVALID,
                           "the triangles at edge %d-%d are not consistently oriented, or more "
                           "than two meet there; repair it with penstock-mesh-import --orient",
                           from, to);
        if (count[1] == 1) continue;
        int soft = in_plane(problem, from, to);
        problem->cut_open |= soft >= 0;
        if (soft < 0 && open++ == 0) first = n / 3;
        if (soft != 0) problem->fixed[from] = problem->fixed[to] = 1;
    }
    if (open && !screen)
        return ps_fail(PS_INVALID,
                       "the surface is open (%lld edges have one triangle, the first at triangle "
                       "%lld): close it, or assemble it as a thin rigid screen with --screen",
                       (long long)open, (long long)first);
    for (int64_t v = 0; v < mesh->vertex_count; ++v) problem->fixed_count += problem->fixed[v];
    if (!problem->fixed_count) {
        free(problem->fixed);
        problem->fixed = NULL;
    }
    if (problem->fixed_count == mesh->vertex_count)
        return ps_fail(PS_INVALID, "all vertices of the screen lie on its rim, where nothing is "
                                   "unknown; refine the mesh");
    return PS_OK;
}

/* The volume between the triangles and the planes, which the images close. */
static double volume_before_planes(const ps_retarded_problem *problem)
{
    const ps_surface_mesh *mesh = &problem->mesh;
    double origin[3] = {0}, sum = 0; /* a point of all planes, which are perpendicular */
    for (int p = 0; p < problem->interaction.mirrors.count; ++p) {
        const ps_reflector *plane = &problem->interaction.mirrors.planes[p];
        double height = ps_reflector_height(plane, origin);
        for (int k = 0; k < 3; ++k) origin[k] -= height * plane->normal[k];
    }
    for (int64_t t = 0; t < mesh->triangle_count; ++t) {
        const int32_t *v = mesh->triangles + 3 * t;
        sum += ps_tetrahedron_volume(origin, mesh->vertices + 3 * (int64_t)v[0],
                                     mesh->vertices + 3 * (int64_t)v[1],
                                     mesh->vertices + 3 * (int64_t)v[2]);
    }
    return sum;
}

static ps_status check_normals(const ps_retarded_problem *problem, bool screen)
{
    if (problem->cut_open) {
        if (screen || volume_before_planes(problem) > 0) return PS_OK;
        return ps_fail(PS_INVALID, "the normals of the surface that the plane closes point inward: "
                                   "turn its triangles round");
    }
    if (problem->fixed_count || problem->mesh.oriented) return PS_OK;
    return ps_fail(PS_INVALID, "the normals of the closed surface point inward or were never "
                               "checked; import it with penstock-mesh-import --orient");
}

static ps_status prepare_vertices(const ps_retarded_options *options, ps_retarded_problem *problem)
{
    PS_TRY(list_triangles(problem));
    PS_TRY(check_edges(problem, options->screen));
    return check_normals(problem, options->screen);
}

/* ---- time step ---- */

/* Steps in which sound goes along the mean edge; 2 to 4 are enough, and 8 gain nothing
 * (specs/tdbem_fields.md). */
static const double MOST_STEPS_AN_EDGE = 64;

static ps_status set_step(const ps_retarded_options *options, ps_retarded_problem *problem)
{
    ps_interaction *interaction = &problem->interaction;
    if ((options->dt > 0) == (options->courant > 0))
        return ps_fail(PS_USAGE, "give the time step by either --dt SECONDS or --courant h/D");
    double extent = ps_triangles_extent(problem->triangles, problem->mesh.triangle_count);
    problem->mean_edge = ps_triangles_mean_edge(problem->triangles, problem->mesh.triangle_count);
    interaction->speed = options->speed;
    problem->dt =
        options->dt > 0 ? options->dt : problem->mean_edge / options->courant / options->speed;
    interaction->shell = options->speed * problem->dt;
    const char *option = options->dt > 0 ? "--dt" : "--courant";
    if (!(interaction->shell <= extent / 2))
        return ps_fail(
            PS_USAGE,
            "%s gives a time step of %.6g s, in which sound travels %.3g m, on a body of "
            "%.3g m with edges of %.3g m: nothing is left to march; choose --dt near "
            "%.3g s (--courant 2 to 4)",
            option, problem->dt, interaction->shell, extent, problem->mean_edge,
            problem->mean_edge / 3 / options->speed);
    double courant = problem->mean_edge / interaction->shell;
    if (courant > MOST_STEPS_AN_EDGE)
        return ps_fail(
            PS_USAGE,
            "%s gives a time step of %.6g s, h/(c dt) = %.3g in an edge of %.3g m: errors stay "
            "those of the mesh while work grows as its cube; choose --dt near %.3g s (--courant "
            "2 to 4), or a finer mesh",
            option, problem->dt, courant, problem->mean_edge,
            problem->mean_edge / 3 / options->speed);
    int64_t k_bound = ps_interaction_k_bound(interaction);
    if (k_bound > PS_K_LIMIT)
        return ps_fail(PS_USAGE,
                       "%s gives a time step of %.6g s: the body of %.3g m would need K = %lld "
                       "matrices, at most %d are possible; choose --dt above %.3g s",
                       option, problem->dt, extent, (long long)k_bound, PS_K_LIMIT,
                       extent / (PS_K_LIMIT - 2) / options->speed);
    if (courant < .45 || courant > 8.5)
        ps_warning("h/(c dt) = %.3g lies outside 0.5 .. 8, where the method was tested", courant);
    return PS_OK;
}

/* ---- the combined field equation ---- */

ps_status ps_combined_parse(const char *text, double *out)
{
    char *end;
    *out = PS_COMBINED_AUTO;
    if (!text || strcmp(text, "auto") == 0) {
        *out = text ? PS_COMBINED_AUTO : 0;
        return PS_OK;
    }
    *out = strtod(text, &end);
    if (end != text && *end == 0 && *out >= 0 && *out <= 2) return PS_OK;
    return ps_fail(PS_USAGE,
                   "--combined %s: expected auto, or a number from 0 (none) to 2; "
                   ".25 is usual, .1 for thin bodies",
                   text);
}

/* Above .1 lie spheroids 1:1:.1 and hulls 4:1:.25 (.18, .21), which .25 helps; below, one of
 * 1:1:.02
 * (.04), of which it makes the tail longer. */
static ps_status set_combined(const ps_retarded_options *options, ps_retarded_problem *problem)
{
    static const double thin = .1, usual = .25, usual_thin = .1;
    ps_interaction *interaction = &problem->interaction;
    if (options->combined == 0) return PS_OK;
    if (interaction->mirrors.count > 0)
        return ps_fail(PS_USAGE, "--combined and --mirror do not go together yet: leave one out");
    if (options->formulation != PS_SOUND_HARD || problem->fixed_count)
        return ps_fail(PS_USAGE, "--combined is for closed sound-hard bodies: %s",
                       problem->fixed_count ? "a screen has no inside that could resonate"
                                            : "add --formulation sound-hard");
    double thickness = ps_triangles_thickness(problem->triangles, interaction->triangle_count);
    interaction->combined = options->combined;
    if (options->combined < 0) {
        interaction->combined = thickness < thin ? usual_thin : usual;
        ps_info("--combined auto: alpha = %g (mean thickness %.2g of the radius of its area)",
                interaction->combined, thickness);
    }
    if (thickness < thin)
        ps_warning("the body is thin (mean thickness %.2g of the radius of its area): with "
                   "--combined %g it may ring longer than without",
                   thickness, interaction->combined);
    return PS_OK;
}

/* ---- linings ---- */

static ps_status set_lining(const ps_retarded_options *options, ps_retarded_problem *problem)
{
    const ps_surface_mesh *mesh = &problem->mesh;
    int64_t tag;
    if (!options->lining) return PS_OK;
    if (options->formulation != PS_SOUND_HARD || problem->fixed_count)
        return ps_fail(PS_USAGE, "linings are of closed sound-hard bodies: %s",
                       problem->fixed_count ? "a screen has two sides, and a body that ends at a "
                                              "soft plane is held there"
                                            : "add --formulation sound-hard");
    if (strlen(options->lining) >= sizeof((ps_slice_header *)NULL)->lining)
        return ps_fail(PS_USAGE, "--lining %s: the name is too long, give the tag's number",
                       options->lining);
    PS_TRY_IN(ps_surface_mesh_find_tag(mesh, options->lining, &tag), "--lining");
    PS_TRY(PS_ALLOC(&problem->lined, mesh->triangle_count, "lined triangles"));
    for (int64_t t = 0; t < mesh->triangle_count; ++t)
        problem->lined[t] = tag < 0 || mesh->tags[t] == tag;
    problem->interaction.lined = problem->lined;
    return PS_OK;
}

/* ---- all ---- */

/* Thin parts need a finer outer rule, and so does what comes close to its image. */
static ps_status set_cut(ps_retarded_problem *problem)
{
    PS_SCOPED_MEMORY int32_t *order = NULL;
    int64_t all =
        problem->mesh.triangle_count * ps_reflectors_images(&problem->interaction.mirrors);
    PS_TRY(PS_ALLOC(&order, all, "triangles in order"));
    ps_triangles_set_cut(problem->triangles, all, order);
    return PS_OK;
}

/* The triangles and their images. */
static ps_status make_triangles(ps_retarded_problem *problem)
{
    const ps_surface_mesh *mesh = &problem->mesh;
    const ps_reflectors *mirrors = &problem->interaction.mirrors;
    PS_SCOPED_MEMORY double *image = NULL;
    int64_t count = mesh->triangle_count;
    PS_TRY(PS_ALLOC(&problem->triangles, count * ps_reflectors_images(mirrors), "triangles"));
    PS_TRY(ps_triangles_init(mesh->vertices, mesh->triangles, count, problem->triangles));
    if (mirrors->count > 0) PS_TRY(PS_ALLOC(&image, 3 * mesh->vertex_count, "an image"));
    for (int m = 1; m < ps_reflectors_images(mirrors); ++m) {
        for (int64_t v = 0; v < mesh->vertex_count; ++v)
            ps_reflectors_point(mirrors, m, mesh->vertices + 3 * v, image + 3 * v);
        PS_TRY(ps_triangles_init(image, mesh->triangles, count, problem->triangles + m * count));
    }
    return PS_OK;
}

/* The body lies before the planes, and no triangle in one: its image would be itself. */
static ps_status check_plane(const ps_retarded_problem *problem, const ps_reflector *plane)
{
    const ps_surface_mesh *mesh = &problem->mesh;
    double low = INFINITY, high = -INFINITY;
    char text[256];
    ps_reflectors_print(&(ps_reflectors){1, {*plane}}, text, sizeof text);
    for (int64_t t = 0; t < mesh->triangle_count; ++t) {
        double least = INFINITY, most = -INFINITY;
        for (int a = 0; a < 3; ++a) {
            double height = ps_reflector_height(plane, problem->triangles[t].vertex[a]);
            least = fmin(least, height);
            most = fmax(most, height);
        }
        low = fmin(low, least);
        high = fmax(high, most);
        if (most <= problem->touching && least >= -problem->touching)
            return ps_fail(PS_INVALID,
                           "--mirror %s: triangle %lld lies in the plane, where nothing is "
                           "unknown: leave out the faces that stand on it, so that the surface "
                           "ends at the plane",
                           text, (long long)t);
    }
    if (low >= -problem->touching) return PS_OK;
    return ps_fail(PS_INVALID,
                   "--mirror %s: the plane cuts the body, which reaches from %.4g m to %.4g m of "
                   "it: move one of them, or cut off what is beyond",
                   text, low, high);
}

static ps_status check_planes(ps_retarded_problem *problem)
{
    const double on_the_plane = 1e-6; /* of the mean edge */
    const ps_reflectors *mirrors = &problem->interaction.mirrors;
    problem->touching =
        on_the_plane * ps_triangles_mean_edge(problem->triangles, problem->mesh.triangle_count);
    for (int p = 0; p < mirrors->count; ++p) PS_TRY(check_plane(problem, &mirrors->planes[p]));
    return PS_OK;
}

static void tell_parts(const ps_interaction *interaction)
{
    int64_t cut = 0, count = interaction->triangle_count;
    for (int64_t t = 0; t < count; ++t) cut += ps_interaction_parts(interaction, t) > 1;
    if (cut)
        ps_info(
            "slivers, close sheets, edges longer than 10 c dt: the outer rule is applied on parts "
            "of %lld triangles (%.1f %%), at most on %d x %d",
            (long long)cut, 100. * (double)cut / (double)count, interaction->parts_max,
            interaction->parts_max);
}

static ps_status prepare(const ps_retarded_options *options, ps_retarded_problem *problem)
{
    ps_surface_mesh *mesh = &problem->mesh;
    ps_interaction *interaction = &problem->interaction;
    bool hard = options->formulation == PS_SOUND_HARD;
    if (mesh->triangle_count < 2)
        return ps_fail(PS_INVALID, "%lld triangles are no surface",
                       (long long)mesh->triangle_count);
    PS_TRY(ps_reflectors_parse("--mirror", options->mirror.count, options->mirror.items,
                               &interaction->mirrors));
    ps_reflectors_face(&interaction->mirrors, mesh->vertex_count, mesh->vertices);
    PS_TRY(make_triangles(problem));
    PS_TRY(check_planes(problem));
    PS_TRY(set_cut(problem));
    interaction->formulation = (ps_formulation)options->formulation;
    interaction->triangles = problem->triangles;
    interaction->triangle_count = mesh->triangle_count;
    interaction->unknowns = hard ? mesh->vertex_count : mesh->triangle_count;
    PS_TRY(set_step(options, problem));
    PS_TRY(ps_triangle_rule_init(options->points, &interaction->rule));
    if (hard) PS_TRY(prepare_vertices(options, problem));
    PS_TRY(set_combined(options, problem));
    PS_TRY(set_lining(options, problem));
    interaction->vertices = (const double(*)[3])mesh->vertices;
    interaction->corners = (const int32_t(*)[3])mesh->triangles;
    interaction->around_start = problem->around_start;
    interaction->around = problem->around;
    interaction->fixed = problem->fixed;
    PS_TRY(PS_ALLOC(&problem->reach, interaction->unknowns, "bounding spheres"));
    ps_interaction_set_reach(interaction, problem->reach);
    if (interaction->mirrors.count > 0) {
        PS_TRY(PS_ALLOC(&problem->spread, interaction->unknowns, "lags of images"));
        ps_interaction_set_spread(interaction, problem->spread);
    }
    tell_parts(interaction);
    return PS_OK;
}

ps_status ps_retarded_problem_init(ps_surface_mesh *mesh, const ps_retarded_options *options,
                                   ps_retarded_problem *out)
{
    memset(out, 0, sizeof *out);
    out->mesh = *mesh;
    memset(mesh, 0, sizeof *mesh);
    ps_status status = prepare(options, out);
    if (status != PS_OK) ps_retarded_problem_release(out);
    return status;
}

ps_status ps_retarded_problem_load(const char *path, const ps_retarded_options *options,
                                   ps_retarded_problem *out)
{
    ps_surface_mesh mesh;
    memset(out, 0, sizeof *out);
    PS_TRY(ps_surface_mesh_load(path, &mesh));
    ps_status status = ps_retarded_problem_init(&mesh, options, out);
    return status == PS_INVALID ? ps_context(status, "%s", path) : status;
}

void ps_retarded_problem_release(ps_retarded_problem *problem)
{
    ps_surface_mesh_release(&problem->mesh);
    PS_FREE(problem->triangles, problem->reach, problem->spread, problem->around_start,
            problem->around, problem->fixed, problem->lined);
    memset(problem, 0, sizeof *problem);
}
