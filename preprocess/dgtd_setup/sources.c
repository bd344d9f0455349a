/* sources: currents, incident fields and the initial mode, checked against the mesh. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "kernels/dgtd/mesh.h"
#include "kernels/dgtd/mode.h"
#include "kernels/dgtd/reference.h"
#include "kernels/dgtd/source.h"
#include "runtime/log.h"
#include "setup.h"

static const char keys[] =
    "current: at, axis, radius, moment or amplitude; plane: dir, pol, amplitude, at; dipole: at, "
    "axis, moment or amplitude; all of these: shape, width, delay, frequency; mode: n, amplitude, "
    "corner, size";

static ps_status unit_of(const setup_text *text, const char *key, double v[3])
{
    double length = ps_norm3(v);
    if (!(length > 0))
        return ps_fail(PS_USAGE, "--source %s: %s is a vector of length 0", text->whole, key);
    for (int c = 0; c < 3; ++c) v[c] /= length;
    return PS_OK;
}

static ps_status needed(const setup_text *text, const char *key, int given)
{
    return given ? PS_OK
                 : ps_fail(PS_USAGE, "--%s %s: %s= is missing; keys are %s", text->option,
                           text->whole, key, keys);
}

/* p/eps0 in V m2 from moment (C m), or as it is. */
static ps_status read_moment(setup_text *text, ps_dgtd_source *x)
{
    double moment;
    int by_moment, by_amplitude;
    x->amplitude = 1;
    PS_TRY(text_reals(text, "moment", 1, &moment, &by_moment));
    PS_TRY(text_reals(text, "amplitude", 1, &x->amplitude, &by_amplitude));
    if (by_moment && by_amplitude)
        return ps_fail(PS_USAGE, "--source %s: moment (C m) or amplitude (p/eps0, V m2), not both",
                       text->whole);
    if (by_moment) x->amplitude = moment / PS_DGTD_EPS0;
    if (isfinite(x->amplitude)) return PS_OK;
    return ps_fail(PS_USAGE, "--source %s: p/eps0 = %g V m2 is no number", text->whole,
                   x->amplitude);
}

static ps_status read_dipole(setup_text *text, ps_dgtd_source *x, int *fixed)
{
    int at, axis;
    PS_TRY(text_reals(text, "at", 3, x->origin, &at));
    PS_TRY(text_reals(text, "axis", 3, x->axis, &axis));
    PS_TRY(needed(text, "at", at));
    PS_TRY(needed(text, "axis", axis));
    PS_TRY(unit_of(text, "axis", x->axis));
    PS_TRY(read_moment(text, x));
    return read_pulse(text, x, fixed);
}

/* A dipole that is spread over a radius. */
static ps_status read_current(setup_text *text, ps_dgtd_source *x, int *fixed)
{
    int radius;
    PS_TRY(text_reals(text, "radius", 1, &x->radius, &radius));
    PS_TRY(needed(text, "radius", radius));
    if (!(x->radius > 0))
        return ps_fail(PS_USAGE, "--source %s: the radius is positive", text->whole);
    return read_dipole(text, x, fixed);
}

/* The wave front passes `at`; by default the corner of the mesh that the wave meets first. */
static ps_status read_plane(const setup *s, setup_text *text, ps_dgtd_source *x, int *fixed)
{
    int direction, polarisation, at;
    double along = 0;
    x->amplitude = 1;
    PS_TRY(text_reals(text, "dir", 3, x->axis, &direction));
    PS_TRY(text_reals(text, "pol", 3, x->polarisation, &polarisation));
    PS_TRY(text_reals(text, "at", 3, x->origin, &at));
    PS_TRY(text_reals(text, "amplitude", 1, &x->amplitude, NULL));
    PS_TRY(needed(text, "dir", direction));
    PS_TRY(needed(text, "pol", polarisation));
    PS_TRY(unit_of(text, "dir", x->axis));
    PS_TRY(unit_of(text, "pol", x->polarisation));
    for (int c = 0; c < 3; ++c) {
        along += x->axis[c] * x->polarisation[c];
        if (!at) x->origin[c] = x->axis[c] < 0 ? s->upper[c] : s->lower[c];
    }
    if (fabs(along) > 1e-9)
        return ps_fail(PS_USAGE, "--source %s: pol is not orthogonal to dir", text->whole);
    return read_pulse(text, x, fixed);
}

static ps_status read_mode(const setup *s, setup_text *text, ps_dgtd_source *x)
{
    int numbers, amplitude, corner, size;
    double n[3];
    PS_TRY(text_reals(text, "n", 3, n, &numbers));
    PS_TRY(text_reals(text, "amplitude", 3, x->axis, &amplitude));
    PS_TRY(text_reals(text, "corner", 3, x->origin, &corner));
    PS_TRY(text_reals(text, "size", 3, x->extent, &size));
    PS_TRY(needed(text, "n", numbers));
    PS_TRY(needed(text, "amplitude", amplitude));
    x->amplitude = x->width = 1;
    for (int c = 0; c < 3; ++c) {
        if (!corner) x->origin[c] = s->lower[c];
        if (!size) x->extent[c] = s->upper[c] - x->origin[c];
        x->mode[c] = (int32_t)n[c];
        if ((double)x->mode[c] != n[c])
            return ps_fail(PS_USAGE, "--source %s: n has whole numbers", text->whole);
    }
    return PS_OK;
}

/* *fixed: its delay was asked for. */
static ps_status read_source(const setup *s, const char *whole, ps_dgtd_source *out, int *fixed)
{
    static const char *const kinds[] = {"current", "plane", "dipole", "mode"};
    setup_text text;
    int kind = 0;
    PS_TRY(text_parse("source", whole, &text));
    while (kind < 4 && strcmp(text.head, kinds[kind]) != 0) ++kind;
    *out = (ps_dgtd_source){.kind = (ps_dgtd_source_kind)kind};
    if (kind == 4)
        return ps_fail(PS_USAGE,
                       "--source %s: \"%s\" is no source; there are current, plane, "
                       "dipole and mode",
                       whole, text.head);
    if (kind == PS_DGTD_SOURCE_CURRENT) PS_TRY(read_current(&text, out, fixed));
    if (kind == PS_DGTD_SOURCE_PLANE_WAVE) PS_TRY(read_plane(s, &text, out, fixed));
    if (kind == PS_DGTD_SOURCE_INCIDENT_DIPOLE) PS_TRY(read_dipole(&text, out, fixed));
    if (kind == PS_DGTD_SOURCE_MODE) PS_TRY(read_mode(s, &text, out));
    return text_done(&text, keys);
}

/* ---- against the mesh ---- */

static const double *corner_of(const setup *s, int64_t e, int v)
{
    return s->mesh.vertices + 3 * (int64_t)s->mesh.tetrahedra[4 * e + v];
}

/* The element that has a point, or -1: the barycentric coordinates are not negative. */
static int64_t element_at(const setup *s, const double x[3])
{
    int64_t found = -1;
#pragma omp parallel for reduction(max : found)
    for (int64_t e = 0; e < s->mesh.elements; ++e) {
        double t[3][3], l[4], sum = 0;
        ps_dgtd_tangents(s->mesh.vertices, s->mesh.tetrahedra + 4 * e, t);
        double det = ps_dgtd_determinant((const double(*)[3])t);
        for (int a = 0; a < 3; ++a) {
            double moved[3][3];
            memcpy(moved, t, sizeof moved);
            for (int c = 0; c < 3; ++c) moved[a][c] = (x[c] - corner_of(s, e, 0)[c]) / 2;
            sum += l[a + 1] = ps_dgtd_determinant((const double(*)[3])moved) / det;
        }
        l[0] = 1 - sum;
        if (l[0] >= 0 && l[1] >= 0 && l[2] >= 0 && l[3] >= 0) found = e > found ? e : found;
    }
    return found;
}

/* Distance of a point from a triangle: of the nearest point of its plane, its sides and its
 * corners. */
static double distance_to(const double x[3], const double *const corner[3])
{
    double side[3][3], off[3][3], normal[3], least = INFINITY;
    int within = 1;
    for (int k = 0; k < 3; ++k)
        for (int c = 0; c < 3; ++c) {
            side[k][c] = corner[(k + 1) % 3][c] - corner[k][c];
            off[k][c] = x[c] - corner[k][c];
        }
    for (int c = 0; c < 3; ++c) {
        int a = (c + 1) % 3, b = (c + 2) % 3;
        normal[c] = side[0][a] * side[1][b] - side[0][b] * side[1][a];
    }
    for (int k = 0; k < 3; ++k) {
        double along = 0, square = 0, turned = 0, off_side = 0;
        for (int c = 0; c < 3; ++c) {
            int a = (c + 1) % 3, b = (c + 2) % 3;
            along += off[k][c] * side[k][c];
            square += side[k][c] * side[k][c];
            turned += normal[c] * (side[k][a] * off[k][b] - side[k][b] * off[k][a]);
        }
        within &= turned >= 0;
        double part = fmin(fmax(along / square, 0), 1);
        for (int c = 0; c < 3; ++c) off_side += pow(off[k][c] - part * side[k][c], 2);
        least = fmin(least, sqrt(off_side));
    }
    double height = 0;
    for (int c = 0; c < 3; ++c) height += off[0][c] * normal[c];
    return within ? fabs(height) / ps_norm3(normal) : least;
}

/* The ball of a current lies in the mesh with nothing through it: faces with a condition stay
 * outside. */
static ps_status check_ball(const setup *s, const ps_dgtd_source *x, const char *text)
{
    int64_t cut = 0, metal = 0;
    double nearest = INFINITY;
#pragma omp parallel for reduction(+ : cut, metal) reduction(min : nearest)
    for (int64_t f = 0; f < 4 * s->mesh.elements; ++f) {
        const double *corners[3];
        if (s->kinds[f] == 0) continue;
        for (int v = 0; v < 3; ++v)
            corners[v] = corner_of(s, f / 4, ps_dgtd_face_vertices[f % 4][v]);
        double distance = distance_to(x->origin, corners);
        nearest = fmin(nearest, distance);
        cut += distance < x->radius;
        metal += distance < x->radius && s->kinds[f] == PS_DGTD_PEC;
    }
    if (cut == 0) return PS_OK;
    return ps_refuse(s->run, "cut",
                     "--source %s: the ball of the current is cut by %" PRId64
                     " faces with a condition (%" PRId64
                     " of metal), the nearest %.3g m from its centre: what is left of it is no "
                     "dipole of this moment. Take a "
                     "radius below that, or move it",
                     text, cut, metal, nearest);
}

static ps_status check_current(const setup *s, ps_dgtd_source *x, int fixed, const char *text)
{
    ps_dgtd_current current = {.radius = x->radius};
    ps_dgtd_body body = setup_body(s);
    memcpy(current.origin, x->origin, sizeof x->origin);
    int64_t at = element_at(s, x->origin), count = ps_dgtd_current_count(&current, &body);
    if (at < 0)
        return ps_fail(PS_USAGE, "--source %s: the mesh has no element at (%g, %g, %g)", text,
                       x->origin[0], x->origin[1], x->origin[2]);
    PS_TRY(check_ball(s, x, text));
    PS_TRY(begin_quietly(s, x, 0, fixed, "source", text));
    PS_TRY(resolve_pulse(s, x, "source", text));
    double edge = 0, t[3][3];
    ps_dgtd_tangents(s->mesh.vertices, s->mesh.tetrahedra + 4 * at, t);
    for (int a = 0; a < 3; ++a) edge = fmax(edge, 2 * ps_norm3(t[a]));
    if (x->radius < 2 * edge)
        ps_warning("--source %s: the ball's radius is %.2g times the size of the elements there "
                   "(%" PRId64 " have part in it); below 2 the current is badly resolved",
                   text, x->radius / edge, count);
    return PS_OK;
}

/* How much later than at its origin an incident field comes to a point, m of light. */
static double lateness(const ps_dgtd_source *x, const double *point)
{
    double off[3], along = 0;
    for (int c = 0; c < 3; ++c) {
        off[c] = point[c] - x->origin[c];
        along += off[c] * x->axis[c];
    }
    return x->kind == PS_DGTD_SOURCE_PLANE_WAVE ? along : ps_norm3(off);
}

/* Where an incident field enters: how many faces, and how many of them belong to elements that are
 * not vacuum; how late it comes to the first; how far its origin is from the nearest, in its
 * longest edge. */
typedef struct entry {
    int64_t faces, filled;
    double ahead, edges;
} entry;

/* The distance of a point from a face, over the face's longest edge. */
static double edges_away(const setup *s, int64_t f, const double x[3])
{
    const double *corners[3];
    double longest = 0;
    for (int v = 0; v < 3; ++v) corners[v] = corner_of(s, f / 4, ps_dgtd_face_vertices[f % 4][v]);
    for (int v = 0; v < 3; ++v)
        longest = fmax(longest, ps_distance3(corners[v], corners[(v + 1) % 3]));
    return distance_to(x, corners) / longest;
}

static entry find_entry(const setup *s, const ps_dgtd_source *x)
{
    entry found = {.ahead = INFINITY, .edges = INFINITY};
    for (int64_t f = 0; f < 4 * s->mesh.elements; ++f) {
        int64_t e = f / 4;
        int32_t link = s->mesh.links[f];
        bool absorbing = s->kinds[f] == PS_DGTD_ABSORBING && (!s->total || s->total[e]);
        bool surface = s->total && link >= 0 && s->total[e] != s->total[link / 4];
        const ps_dgtd_material *m = s->materials + s->material[e];
        if (!absorbing && !surface) continue;
        for (int v = 0; v < 3; ++v)
            found.ahead =
                fmin(found.ahead, lateness(x, corner_of(s, e, ps_dgtd_face_vertices[f % 4][v])));
        if (x->kind == PS_DGTD_SOURCE_INCIDENT_DIPOLE)
            found.edges = fmin(found.edges, edges_away(s, f, x->origin));
        ++found.faces;
        const ps_dgtd_medium *of = s->media + s->material[e];
        found.filled +=
            m->eps != 1 || m->mu != 1 || m->sigma != 0 || of->pole_count > 0 || of->anisotropic;
    }
    return found;
}

/* Of an edge, what an incident dipole keeps from the faces at which its field enters. */
static const double NEAR = .5;

static ps_status check_incident(const setup *s, ps_dgtd_source *x, int fixed, const char *text)
{
    const entry in = find_entry(s, x);
    if (in.faces == 0)
        return ps_fail(PS_USAGE,
                       "--source %s: an incident field enters through absorbing faces "
                       "(--boundary TAG:absorbing) or the surface of a total-field region "
                       "(--total); there are none",
                       text);
    if (in.filled > 0)
        return ps_fail(PS_USAGE,
                       "--source %s: it is a field in vacuum, but %" PRId64 " of the %" PRId64
                       " faces at which it enters belong to elements of another medium",
                       text, in.filled, in.faces);
    PS_TRY(begin_quietly(s, x, in.ahead, fixed, "source", text));
    PS_TRY(resolve_pulse(s, x, "source", text));
    if (x->kind == PS_DGTD_SOURCE_PLANE_WAVE) return PS_OK;
    int64_t at = element_at(s, x->origin);
    if (at >= 0 && (!s->total || s->total[at]))
        return ps_fail(PS_USAGE,
                       "--source %s: the dipole lies inside the region into which its field "
                       "enters; use --source current there",
                       text);
    if (in.edges >= NEAR) return PS_OK;
    return ps_refuse(
        s->run, "close-source",
        "--source %s: the dipole is %.2g edges from a face at which its field enters, "
        "which grows as 1/r^3: below %g of an edge no polynomial of the element has it. "
        "Move it away, or mesh finer there",
        text, in.edges, NEAR);
}

static ps_status check_mode(const setup *s, const ps_dgtd_source *x, const char *text)
{
    double w, w1;
    ps_dgtd_mode mode = {.medium = s->materials[0]};
    for (int c = 0; c < 3; ++c) {
        mode.corner[c] = x->origin[c];
        mode.extent[c] = x->extent[c];
        mode.number[c] = x->mode[c];
        mode.amplitude[c] = x->axis[c];
    }
    ps_status status = ps_dgtd_mode_check(&mode, &w, &w1);
    if (status != PS_OK) return ps_context(PS_USAGE, "--source %s", text);
    if (s->media_count > 1)
        ps_warning("--source %s: the mode is that of %s alone, the mesh has %" PRId64 " media",
                   text, s->media[0].name[0] ? s->media[0].name : "the first medium",
                   s->media_count);
    for (int c = 0; c < 3; ++c)
        if (fabs(x->origin[c] - s->lower[c]) + fabs(x->origin[c] + x->extent[c] - s->upper[c]) >
            1e-6 * x->extent[c])
            ps_warning("--source %s: the mode's box is not that of the mesh along %c", text,
                       "xyz"[c]);
    if (s->face_counts[PS_DGTD_PMC] + s->face_counts[PS_DGTD_ABSORBING] > 0)
        ps_warning("--source %s: a mode is bounded by metal, and not all outer faces are pec",
                   text);
    return PS_OK;
}

ps_status set_sources(setup *s)
{
    int incident = 0, modes = 0;
    if (s->options->sources.count > PS_DGTD_SOURCES_MAX)
        return ps_fail(PS_USAGE, "--source: %d sources, at most %d", s->options->sources.count,
                       PS_DGTD_SOURCES_MAX);
    for (int i = 0; i < s->options->sources.count; ++i) {
        const char *text = s->options->sources.items[i];
        ps_dgtd_source *x = s->sources + i;
        int fixed = 0;
        PS_TRY(read_source(s, text, x, &fixed));
        modes += x->kind == PS_DGTD_SOURCE_MODE;
        incident +=
            x->kind == PS_DGTD_SOURCE_PLANE_WAVE || x->kind == PS_DGTD_SOURCE_INCIDENT_DIPOLE;
        if (incident > 1 || modes > 1)
            return ps_fail(PS_USAGE, "--source %s: there may be one incident field and one mode",
                           text);
        if (x->kind == PS_DGTD_SOURCE_CURRENT)
            PS_TRY(check_current(s, x, fixed, text));
        else if (x->kind == PS_DGTD_SOURCE_MODE)
            PS_TRY(check_mode(s, x, text));
        else
            PS_TRY(check_incident(s, x, fixed, text));
    }
    s->source_count = s->options->sources.count;
    if (s->total && !incident)
        return ps_fail(PS_USAGE,
                       "--total %s: there is no incident field (--source plane:.. or "
                       "dipole:..) to enter at its surface",
                       s->options->total);
    return PS_OK;
}
