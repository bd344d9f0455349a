/* wires: thin wires along paths, cut into segments and checked against the mesh about them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "stage/dgtd_wire.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/log.h"
#include "setup.h"

static const char keys[] =
    "path, radius, tube, segment; of a network: at, r, l, c, z0; of a source: amplitude, shape, width, delay, "
    "frequency";

enum { CORNERS_MAX = 64 };
/* Of the tube: a segment. Of the mean edge of the elements about a wire: its tube in P1, which was not measured. */
static const double segment_of_tube = 0.125, tube_of_edges = 2;
/* By order: half a wave of wire has a reactance that is low by about first (edge/tube)^second (wave/tube)^2 ohm: what
 * elements make of a narrow tube acts as a capacitance in series (specs/dgtd_wires.md). P4 was better than P3 where it
 * was tried. */
static const double lacking[][2] = {{0, 0}, {0, 0}, {.061, 3.3}, {.0063, 5}, {.0063, 5}};
/* Ohm: what the default tube leaves, and what is warned of. */
static const double lack_default = .5, lack_warned = 2;
/* What int g dV of a segment may be off 1 by. */
static const double uncovered_most = 0.02;

typedef struct path {
    const setup *s;
    const char *text;
    int corners, feed; /* the corner of the network; -1: none */
    double corner[CORNERS_MAX][3], segment;
} path;

/* ---- words ---- */

static ps_status read_corners(setup_text *text, path *p)
{
    char *list = (char *)text_find(text, "path"), *next;
    if (!list)
        return ps_fail(PS_USAGE, "--wire %s: path= is missing; keys are %s", p->text, keys);
    for (; list; list = next) {
        int found = 0;
        if ((next = strchr(list, '/'))) *next++ = '\0';
        if (p->corners == CORNERS_MAX || ps_parse_reals(list, ',', p->corner[p->corners], 3, &found) != PS_OK ||
            found != 3)
            return ps_fail(PS_USAGE, "--wire %s: a path is points X,Y,Z/X,Y,Z/.., two to %d of them", p->text,
                           CORNERS_MAX - 1);
        if (p->corners > 0 && ps_distance3(p->corner[p->corners], p->corner[p->corners - 1]) == 0)
            return ps_fail(PS_USAGE, "--wire %s: two points of its path after one another are the same", p->text);
        ++p->corners;
    }
    return p->corners >= 2 && p->corners < CORNERS_MAX
               ? PS_OK
               : ps_fail(PS_USAGE, "--wire %s: a path has 2 to %d points", p->text, CORNERS_MAX - 1);
}

/* The place `at` on the path, or its middle, becomes a corner. */
static ps_status insert_feed(path *p, const double *at)
{
    double whole = 0, done = 0, nearest = INFINITY, along = 0;
    for (int k = 1; k < p->corners; ++k) whole += ps_distance3(p->corner[k], p->corner[k - 1]);
    for (int k = 1; k < p->corners && at; ++k) {
        double leg[3], away[3], length;
        ps_subtract3(p->corner[k], p->corner[k - 1], leg);
        ps_subtract3(at, p->corner[k - 1], away);
        length = ps_norm3(leg);
        double t = fmin(1, fmax(0, ps_dot3(leg, away) / (length * length)));
        for (int c = 0; c < 3; ++c) away[c] -= t * leg[c];
        if (ps_norm3(away) < nearest) nearest = ps_norm3(away), along = done + t * length;
        done += length;
    }
    if (at && nearest > 1e-4 * whole)
        return ps_fail(PS_USAGE, "--wire %s: at= is %.3g m beside its path", p->text, nearest);
    if (!at) along = whole / 2;
    for (int k = 1; k < p->corners; ++k) {
        double length = ps_distance3(p->corner[k], p->corner[k - 1]), t = along / length;
        if (t > 1 + 1e-6 && k + 1 < p->corners) {
            along -= length;
            continue;
        }
        bool first = t < 1e-6, last = t > 1 - 1e-6;
        p->feed = first ? k - 1 : k;
        if (first || last) return PS_OK;
        memmove(p->corner[k + 1], p->corner[k], (size_t)(p->corners - k) * sizeof *p->corner);
        for (int c = 0; c < 3; ++c) p->corner[k][c] = p->corner[k - 1][c] + t * (p->corner[k + 1][c] - p->corner[k - 1][c]);
        ++p->corners;
        return PS_OK;
    }
    return PS_OK;
}

static ps_status read_tube(setup_text *text, path *p, ps_dgtd_wire_spec *x)
{
    int given;
    PS_TRY(text_reals(text, "radius", 1, &x->radius, &given));
    PS_TRY(text_reals(text, "tube", 1, &x->width, NULL));
    PS_TRY(text_reals(text, "segment", 1, &p->segment, NULL));
    if (given && x->radius > 0 && x->width >= 0 && p->segment >= 0) return PS_OK;
    return ps_fail(PS_USAGE, "--wire %s: radius (m) is given and positive, tube and segment are not negative", p->text);
}

static ps_status read_wire(setup *s, path *p, ps_dgtd_wire_spec *x)
{
    setup_text text;
    ps_dgtd_port_spec port = {.norm = 1};
    double at[3];
    int placed;
    PS_TRY(text_parse("wire", p->text, &text));
    PS_TRY(port_read_name(s, &text, &port));
    PS_TRY(read_corners(&text, p));
    PS_TRY(read_tube(&text, p, x));
    PS_TRY(text_reals(&text, "at", 3, at, &placed));
    p->feed = -1;
    x->port = x->feed = -1;
    if (placed || text_find(&text, "r") || text_find(&text, "l") || text_find(&text, "c") ||
        text_find(&text, "width") || text_find(&text, "amplitude")) {
        PS_TRY(port_read_network(&text, &port));
        PS_TRY(port_read_drive(s, &text, &port));
        if (port.parallel)
            return ps_fail(PS_USAGE, "--wire %s: the network of a wire is in series with it: connect=series", p->text);
        PS_TRY(insert_feed(p, placed ? at : NULL));
        x->port = s->ports.count;
        PS_TRY(ports_append(s, &port));
    }
    return text_done(&text, keys);
}

/* ---- the path in the mesh ---- */

/* The distance of a point from a leg of the path. */
static double leg_distance(const path *p, int k, const double *point)
{
    double leg[3], away[3];
    ps_subtract3(p->corner[k + 1], p->corner[k], leg);
    ps_subtract3(point, p->corner[k], away);
    double t = fmin(1, fmax(0, ps_dot3(leg, away) / ps_dot3(leg, leg)));
    for (int c = 0; c < 3; ++c) away[c] -= t * leg[c];
    return ps_norm3(away);
}

/* The mean edge of elements whose centroid is within one of the path; 0: there are none. */
static double mean_edge(const path *p)
{
    const ps_partition *m = &p->s->mesh;
    double sum = 0;
    int64_t count = 0;
    for (int64_t e = 0; e < m->elements; ++e) {
        double edge = 0, centre[3] = {0}, least = INFINITY;
        const double *v[4];
        for (int i = 0; i < 4; ++i) v[i] = m->vertices + 3 * (int64_t)m->tetrahedra[4 * e + i];
        for (int i = 0; i < 12; ++i) centre[i % 3] += v[i / 3][i % 3] / 4;
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < i; ++j) edge += ps_distance3(v[i], v[j]) / 6;
        for (int k = 0; k + 1 < p->corners; ++k) least = fmin(least, leg_distance(p, k, centre));
        if (least < edge) sum += edge, ++count;
    }
    return count ? sum / (double)count : 0;
}

/* Twice the length of the wire and of its image, or the wave of its source where that is shorter. */
static double wave_of(const path *p, const ps_dgtd_wire_spec *x)
{
    double wave = 0;
    for (int k = 0; k + 1 < p->corners; ++k) wave += 2 * ps_distance3(p->corner[k], p->corner[k + 1]);
    if (x->ground[0] != x->ground[1]) wave *= 2;
    double omega = x->port >= 0 ? p->s->ports.spec[x->port].omega : 0;
    return omega > 0 ? fmin(wave, 2 * 3.14159265358979323846 / omega) : wave;
}

/* Of that wave, in a vacuum. */
static double lacking_reactance(int order, double edge, double width, double wave)
{
    const double *x = lacking[order];
    return x[0] * pow(edge / width, x[1]) * pow(wave / width, 2);
}

static double default_tube(int order, double edge, double wave)
{
    const double *x = lacking[order];
    return x[0] > 0 ? pow(x[0] / lack_default * pow(edge, x[1]) * wave * wave, 1 / (x[1] + 2)) : tube_of_edges * edge;
}

static ps_status set_tube(setup *s, path *p, ps_dgtd_wire_spec *x)
{
    double edge = mean_edge(p), wave = wave_of(p, x);
    int order = s->header.order;
    if (edge == 0) return ps_fail(PS_USAGE, "--wire %s: no element is near its path", p->text);
    if (x->width == 0) x->width = default_tube(order, edge, wave);
    double lack = lacking_reactance(order, edge, x->width, wave);
    s->wire_lack[x - s->wires.spec] = lack;
    if (lack > lack_warned)
        ps_warning("--wire %s: its tube of %.3g m is narrow for elements with edges of %.3g m in P%d: the reactance of "
                   "half a wave of %.3g m may be as much as %.2g ohm too low; tube=%.3g leaves about %.1g ohm, smaller "
                   "elements or a higher order less",
                   p->text, x->width, edge, order, wave, lack, default_tube(order, edge, wave), lack_default);
    if (p->segment == 0) p->segment = segment_of_tube * x->width;
    if (x->width >= PS_DGTD_WIRE_LEAST * x->radius) return PS_OK;
    return ps_fail(PS_USAGE,
                   "--wire %s: its current is spread over a tube of %.4g m in radius, which has to be %g times that of "
                   "the wire, %.4g m: a wire as thick as that is meshed as metal, or give tube=",
                   p->text, x->width, PS_DGTD_WIRE_LEAST, x->radius);
}

/* Cuts the path: points[nodes][3], or counts alone where that is NULL. */
static int64_t cut_path(const path *p, double (*points)[3], int64_t *feed)
{
    int64_t nodes = 0;
    for (int k = 0; k + 1 < p->corners; ++k) {
        double length = ps_distance3(p->corner[k], p->corner[k + 1]);
        int64_t pieces = (int64_t)fmax(1, ceil(length / p->segment - 1e-9));
        if (k == p->feed) *feed = nodes;
        for (int64_t i = 0; i < pieces; ++i, ++nodes)
            for (int c = 0; c < 3 && points; ++c)
                points[nodes][c] = p->corner[k][c] + (double)i / (double)pieces * (p->corner[k + 1][c] - p->corner[k][c]);
    }
    if (p->feed == p->corners - 1) *feed = nodes;
    if (points) memcpy(points[nodes], p->corner[p->corners - 1], sizeof *points);
    return nodes + 1;
}

/* A face of metal on which the point is, and its normal. */
static bool on_metal(const setup *s, const double *point, double tolerance, double normal[3])
{
    for (int64_t f = 0; f < 4 * s->mesh.elements; ++f) {
        const double *v[3];
        double a[3], b[3], away[3], inside = 1;
        if (s->kinds[f] != PS_DGTD_PEC) continue;
        for (int i = 0; i < 3; ++i)
            v[i] = s->mesh.vertices +
                   3 * (int64_t)s->mesh.tetrahedra[f / 4 * 4 + ps_dgtd_face_vertices[f % 4][i]];
        ps_subtract3(v[1], v[0], a), ps_subtract3(v[2], v[0], b), ps_subtract3(point, v[0], away);
        ps_cross3(a, b, normal);
        double twice = ps_norm3(normal);
        for (int c = 0; c < 3; ++c) normal[c] /= twice;
        if (fabs(ps_dot3(away, normal)) > tolerance) continue;
        for (int i = 0; i < 3; ++i) {
            double side[3], from[3], across[3];
            ps_subtract3(v[(i + 1) % 3], v[i], side), ps_subtract3(point, v[i], from);
            ps_cross3(side, from, across);
            inside = fmin(inside, ps_dot3(across, normal) / twice);
        }
        if (inside > -1e-6) return true;
    }
    return false;
}

static ps_status find_grounds(const path *p, ps_dgtd_wire_spec *x)
{
    int last = p->corners - 1;
    if (ps_distance3(p->corner[0], p->corner[last]) == 0) return PS_OK;
    for (int end = 0; end < 2; ++end) {
        const double *foot = p->corner[end ? last : 0], *next = p->corner[end ? last - 1 : 1];
        double along[3];
        if (!on_metal(p->s, foot, 1e-3 * x->radius, x->normal[end])) continue;
        ps_subtract3(next, foot, along);
        x->ground[end] = true;
        if (fabs(ps_dot3(along, x->normal[end])) < .999 * ps_norm3(along))
            return ps_fail(PS_USAGE,
                           "--wire %s: its end at (%g, %g, %g) is on metal and leaves it at an angle: the first "
                           "stretch has to stand upright on it",
                           p->text, foot[0], foot[1], foot[2]);
    }
    if ((p->feed == 0 && !x->ground[0]) || (p->feed == last && !x->ground[1]))
        return ps_fail(PS_USAGE, "--wire %s: its network is at an end that is on no metal, where no current is: "
                                 "move at=, or the end to a face with --boundary TAG:pec", p->text);
    return PS_OK;
}

static ps_status set_wire(setup *s, const char *text, ps_dgtd_wire_spec *x)
{
    PS_SCOPED_MEMORY path *p = NULL;
    ps_dgtd_wires *all = &s->wires;
    PS_TRY(PS_ALLOC(&p, 1, "a wire"));
    p->s = s, p->text = text;
    PS_TRY(read_wire(s, p, x));
    PS_TRY(find_grounds(p, x));
    PS_TRY(set_tube(s, p, x));
    x->nodes = cut_path(p, NULL, &x->feed);
    if (x->nodes > PS_DGTD_WIRE_NODES_MAX)
        return ps_fail(PS_USAGE, "--wire %s: %" PRId64 " nodes, at most %d: give longer segments", text, x->nodes,
                       PS_DGTD_WIRE_NODES_MAX);
    double(*points)[3] = realloc(all->points, (size_t)(all->nodes + x->nodes) * sizeof *points);
    if (!points) return ps_fail(PS_EXHAUSTED, "no memory for wires");
    all->points = points;
    cut_path(p, points + all->nodes, &x->feed);
    all->nodes += x->nodes;
    return PS_OK;
}

ps_status set_wires(setup *s)
{
    const ps_text_list *list = &s->options->wires;
    if (list->count > PS_DGTD_WIRES_MAX)
        return ps_fail(PS_USAGE, "--wire: %d wires, at most %d", list->count, PS_DGTD_WIRES_MAX);
    if (list->count > 0 && s->header.upwind && !s->header.upwind_layer)
        return ps_fail(PS_USAGE, "--wire: energy is proven with the centred flux: use --flux centred");
    if (list->count > 0 && local_wanted(s))
        return ps_fail(PS_USAGE, "--wire: wires beside local steps are not proven to be stable: use --local-steps off");
    PS_TRY(ps_dgtd_wires_allocate(&s->wires, list->count, 0));
    for (int k = 0; k < list->count; ++k) PS_TRY(set_wire(s, list->items[k], s->wires.spec + k));
    return PS_OK;
}

/* ---- the elements about it ---- */

static ps_status check_element(const setup *s, const char *text, int64_t e, uint16_t material)
{
    const ps_dgtd_medium *medium = s->media + s->material[e];
    const char *why = NULL;
    char place[160];
    for (int f = 0; f < 4; ++f) {
        int32_t link = s->mesh.links[4 * e + f];
        if (s->kinds[4 * e + f] == PS_DGTD_ABSORBING) why = "absorbs at a face";
        if (s->total && link >= 0 && s->total[e] != s->total[link / 4])
            why = "lies at the surface of the total field";
    }
    for (int64_t i = 0; i < s->ports.sides; ++i)
        if (s->ports.faces[i] / 4 == e) why = "has faces of a port";
    if (s->layer && s->layer[e]) why = "lies in the matched layer";
    if (medium->sigma != 0 || medium->pole_count || medium->anisotropic)
        why = "is of a medium that conducts, or has poles or a tensor";
    if (s->material[e] != material) why = "is of another medium than the rest of it";
    if (!why) return PS_OK;
    return ps_fail(PS_USAGE, "--wire %s: %s, which its tube reaches, %s", text, element_text(s, e, place), why);
}

static int64_t nearest_element(const setup *s, const double *point)
{
    double least = INFINITY;
    int64_t found = 0;
    for (int64_t e = 0; e < s->mesh.elements; ++e) {
        double centre[3] = {0};
        for (int i = 0; i < 12; ++i)
            centre[i % 3] += s->mesh.vertices[3 * (int64_t)s->mesh.tetrahedra[4 * e + i / 3] + i % 3] / 4;
        double distance = ps_distance3(centre, point);
        if (distance < least) least = distance, found = e;
    }
    return found;
}

/* What the near fields of two wires do to one another is left to the mesh, which does not know them within a tube. */
static ps_status check_apart(const setup *s, int64_t k, int64_t first)
{
    const ps_dgtd_wires *all = &s->wires;
    for (int64_t j = 0, node = 0; j < k; node += all->spec[j++].nodes)
        for (int64_t a = 0; a < all->spec[j].nodes; ++a)
            for (int64_t b = 0; b < all->spec[k].nodes; ++b)
                if (ps_distance3(all->points[node + a], all->points[first + b]) <
                    all->spec[j].width + all->spec[k].width)
                    return ps_fail(PS_USAGE,
                                   "--wire %s: its tube meets that of --wire %s at (%g, %g, %g): wires are %.4g m "
                                   "apart and are not joined; give smaller ones (tube=) on a finer mesh",
                                   s->options->wires.items[k], s->options->wires.items[j], all->points[first + b][0],
                                   all->points[first + b][1], all->points[first + b][2],
                                   all->spec[j].width + all->spec[k].width);
    return PS_OK;
}

/* int g dV over the length of a segment and of those within a radius of the tube. */
static double covered_about(const ps_dgtd_wire *x, int64_t k, double width)
{
    double sum = x->lengths[k] * x->covered[k], length = x->lengths[k];
    for (int way = -1; way <= 1; way += 2)
        for (int64_t l = k + way; l >= 0 && l < x->segments && length < 2 * width; l += way)
            sum += x->lengths[l] * x->covered[l], length += x->lengths[l];
    return sum / length;
}

static ps_status finish_wire(setup *s, const char *text, ps_dgtd_wire_spec *x, const double (*points)[3],
                             const ps_dgtd_reference *reference)
{
    PS_SCOPED(ps_dgtd_wire_close) ps_dgtd_wire wire = {.segments = 0};
    ps_dgtd_body body = setup_body(s);
    uint16_t material = s->material[nearest_element(s, points[0])];
    x->eps = s->materials[material].eps, x->mu = s->materials[material].mu;
    ps_dgtd_wire_shape shape = {.nodes = x->nodes, .points = points, .radius = x->radius, .width = x->width,
                                .eps = x->eps, .mu = x->mu, .feed = x->feed,
                                .ground = {x->ground[0], x->ground[1]}};
    double rate;
    memcpy(shape.normal, x->normal, sizeof shape.normal);
    PS_TRY_IN(ps_dgtd_wire_open(&shape, reference, &body, &wire), "--wire %s", text);
    for (int64_t k = 0; k < wire.segments; ++k)
        if (fabs(covered_about(&wire, k, x->width) - 1) > uncovered_most)
            return ps_fail(PS_USAGE,
                           "--wire %s: of the tube of %.4g m in radius about (%g, %g, %g) %.3g lies in the mesh: the "
                           "wire has to be as far from its surface, or give a smaller tube=",
                           text, x->width, points[k][0], points[k][1], points[k][2], covered_about(&wire, k, x->width));
    for (int64_t i = 0; i < wire.elements; ++i) PS_TRY(check_element(s, text, wire.slots[i], material));
    if (x->port >= 0) {
        const ps_dgtd_port_spec *port = s->ports.spec + x->port;
        wire.network.inductance = port->inductance * PS_DGTD_C0 / PS_DGTD_Z0;
        wire.network.capacitance = port->capacitance / PS_DGTD_EPS0;
    }
    PS_TRY(ps_dgtd_wire_rate(&wire, reference, &body, &rate));
    s->wire_rate += rate;
    return PS_OK;
}

ps_status finish_wires(setup *s)
{
    PS_SCOPED_MEMORY ps_dgtd_reference *reference = NULL;
    if (s->wires.count == 0) return PS_OK;
    PS_TRY(PS_ALLOC(&reference, 1, "a wire"));
    ps_dgtd_reference_init(reference, s->header.order);
    for (int64_t k = 0, first = 0; k < s->wires.count; first += s->wires.spec[k++].nodes) {
        PS_TRY(check_apart(s, k, first));
        PS_TRY(finish_wire(s, s->options->wires.items[k], s->wires.spec + k,
                           (const double(*)[3])s->wires.points + first, reference));
    }
    return PS_OK;
}
