/* ports: lumped ports on the faces between two conductors, checked against the mesh. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "kernels/dgtd/reference.h"
#include "kernels/dgtd/source.h"
#include "runtime/compare.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "setup.h"

static const char keys[] =
    "faces, r, l, c, connect (series or parallel), z0, plus, axis; of a source: amplitude, shape, "
    "width, delay, frequency";

static const char mode_keys[] = "faces, mode (tem, te10, tm11, .. or a number), axis, plus; of a "
                                "source: amplitude, shape, width, "
                                "delay, frequency";

/* Of a pulse: how many of its widths its spectrum reaches beyond its carrier, to 1e-3 of its
 * largest. */
static const double REACH = 5.26;

static void release(port_patch *p)
{
    free(p->sides), free(p->vertex), free(p->root), free(p->marked), free(p->potential);
    free(p->work), free(p->fields);
}

/* ---- words ---- */

ps_status port_read_name(const setup *s, const setup_text *text, ps_dgtd_port_spec *x)
{
    size_t length = strlen(text->head);
    if (length == 0 || length >= sizeof x->name)
        return ps_fail(PS_USAGE,
                       "--%s %s: expected NAME:KEY=VALUE:.. (%s), a name of 1 to %d letters",
                       text->option, text->whole,
                       text->option[0] == 'w' ? "path=X,Y,Z/X,Y,Z:radius=M"
                                              : "faces=TAG:r=OHM or faces=TAG:mode=..",
                       PS_DGTD_PORT_NAME - 1);
    strcpy(x->name, text->head);
    for (int64_t k = 0; k < s->ports.count; ++k)
        if (s->ports.spec[k].name != x->name && strcmp(s->ports.spec[k].name, x->name) == 0)
            return ps_fail(PS_USAGE, "--%s %s: there are two ports of this name", text->option,
                           text->whole);
    return PS_OK;
}

ps_status port_read_network(setup_text *text, ps_dgtd_port_spec *x)
{
    const char *connect = text_find(text, "connect");
    int given;
    PS_TRY(text_reals(text, "r", 1, &x->resistance, NULL));
    PS_TRY(text_reals(text, "l", 1, &x->inductance, NULL));
    PS_TRY(text_reals(text, "c", 1, &x->capacitance, NULL));
    PS_TRY(text_reals(text, "z0", 1, &x->reference, &given));
    if (connect && strcmp(connect, "series") != 0 && strcmp(connect, "parallel") != 0)
        return ps_fail(PS_USAGE, "--%s %s: connect=%s: there are series and parallel", text->option,
                       text->whole, connect);
    x->parallel = connect && connect[0] == 'p';
    if (!given) x->reference = x->resistance > 0 ? x->resistance : 50;
    if (!(x->resistance >= 0 && x->inductance >= 0 && x->capacitance >= 0 && x->reference > 0))
        return ps_fail(PS_USAGE, "--%s %s: r, l, c are not negative and z0 is positive",
                       text->option, text->whole);
    if (x->resistance + x->inductance + x->capacitance > 0) return PS_OK;
    return ps_fail(PS_USAGE,
                   "--%s %s: r (ohm), l (H) and c (F) are all zero: %s. Give the port an "
                   "impedance, r=50 for example",
                   text->option, text->whole,
                   x->parallel ? "nothing is connected" : "it would be a short circuit");
}

ps_status port_read_drive(const setup *s, setup_text *text, ps_dgtd_port_spec *x)
{
    int driven, fixed;
    ps_dgtd_source pulse = {.kind = PS_DGTD_SOURCE_CURRENT};
    PS_TRY(text_reals(text, "amplitude", 1, &x->amplitude, &driven));
    if (!driven && text_find(text, "width")) x->amplitude = 1;
    if (x->amplitude == 0) return PS_OK;
    PS_TRY(read_pulse(text, &pulse, &fixed));
    PS_TRY(begin_quietly(s, &pulse, 0, fixed, text->option, text->whole));
    PS_TRY(resolve_pulse(s, &pulse, text->option, text->whole));
    x->shape = pulse.shape, x->centre = pulse.centre, x->width = pulse.width;
    x->omega = pulse.omega;
    if (x->parallel && x->resistance == 0)
        return ps_fail(PS_USAGE,
                       "--%s %s: the source of a parallel network has its resistance: "
                       "give r",
                       text->option, text->whole);
    return PS_OK;
}

static ps_status read_port(const setup *s, const char *whole, ps_dgtd_port_spec *x, port_patch *p)
{
    setup_text text;
    int axis;
    const char *faces, *plus;
    PS_TRY(text_parse("port", whole, &text));
    PS_TRY(port_read_name(s, &text, x));
    if (!(faces = text_find(&text, "faces")))
        return ps_fail(PS_USAGE, "--port %s: faces= is missing; keys are %s", whole, keys);
    PS_TRY(tag_number(s, PS_TAGS_OF_SURFACES, "port", faces, &p->tag));
    if ((plus = text_find(&text, "plus")))
        PS_TRY(tag_number(s, PS_TAGS_OF_SURFACES, "port", plus, &p->plus));
    PS_TRY(text_reals(&text, "axis", 3, p->axis, &axis));
    if (axis && (plus || !(ps_norm3(p->axis) > 0)))
        return ps_fail(PS_USAGE,
                       "--port %s: the + conductor is told by an axis that is not 0, or "
                       "by plus",
                       whole);
    if (!(p->mode = text_find(&text, "mode"))) PS_TRY(port_read_network(&text, x));
    PS_TRY(port_read_drive(s, &text, x));
    if (p->mode) snprintf(p->mode_text, sizeof p->mode_text, "%s", p->mode);
    if (p->mode) p->mode = p->mode_text;
    return text_done(&text, p->mode ? mode_keys : keys);
}

/* ---- faces ---- */

void patch_corners(const setup *s, int32_t face, int32_t out[3])
{
    for (int v = 0; v < 3; ++v)
        out[v] = s->mesh.tetrahedra[face / 4 * 4 + ps_dgtd_face_vertices[face % 4][v]];
}

static int by_corners(const void *a, const void *b)
{
    const port_side *x = a, *y = b;
    int order = memcmp(x->corner, y->corner, sizeof x->corner);
    return order ? order : (x->face > y->face) - (x->face < y->face);
}

int patch_by_face(const void *a, const void *b)
{
    const port_side *x = a, *y = b;
    return (x->face > y->face) - (x->face < y->face);
}

static ps_status list_sides(port_patch *p)
{
    const ps_partition *m = &p->s->mesh;
    char text[96];
    for (int64_t i = 0; i < m->face_count; ++i) p->count += m->face_tags[i] == p->tag;
    if (p->count == 0)
        return ps_fail(PS_USAGE, "--port %s: no element touches it: no face of %s has tag %s",
                       p->text, p->s->input, tag_text(p->s, PS_TAGS_OF_SURFACES, p->tag, text));
    PS_TRY(PS_ALLOC(&p->sides, p->count, "a port"));
    for (int64_t i = 0, at = 0; i < m->face_count; ++i) {
        if (m->face_tags[i] != p->tag) continue;
        p->sides[at].face = m->faces[i];
        patch_corners(p->s, m->faces[i], p->sides[at++].corner);
    }
    qsort(p->sides, (size_t)p->count, sizeof *p->sides, by_corners);
    for (int64_t i = 0; i < p->count; ++i) {
        const int32_t *c = p->sides[i].corner;
        p->sides[i].alone =
            (i == 0 || memcmp(p->sides[i - 1].corner, c, sizeof p->sides[i].corner) != 0) &&
            (i + 1 == p->count ||
             memcmp(p->sides[i + 1].corner, c, sizeof p->sides[i].corner) != 0);
    }
    return PS_OK;
}

static ps_status check_element(const port_patch *p, int32_t face)
{
    const setup *s = p->s;
    int64_t e = face / 4;
    char place[160];
    const char *why = NULL;
    for (int f = 0; f < 4; ++f) {
        int32_t link = s->mesh.links[4 * e + f];
        if (s->kinds[4 * e + f] == PS_DGTD_ABSORBING) why = "absorbs at another face";
        if (s->total && link >= 0 && s->total[e] != s->total[link / 4])
            why = "lies at the surface of the total field";
    }
    if (s->layer && s->layer[e]) why = "lies in the matched layer";
    if (!why) return PS_OK;
    return ps_fail(PS_USAGE, "--port %s: %s %s; ports are an element away from that", p->text,
                   element_text(s, e, place), why);
}

static ps_status check_sides(const port_patch *p)
{
    char text[96], place[160];
    for (int64_t i = 0; i < p->count; ++i) {
        const port_side *x = p->sides + i;
        int kind = p->s->kinds[x->face];
        if (kind == PS_DGTD_PEC || kind == PS_DGTD_ABSORBING || (kind == PS_DGTD_PMC && !x->alone))
            return ps_fail(PS_USAGE,
                           "--port %s: face %d of %s is %s: a port is of faces between elements, "
                           "or of outer ones that are open (--boundary %s:pmc)",
                           p->text, x->face % 4, element_text(p->s, x->face / 4, place),
                           kind == PS_DGTD_PEC   ? "metal, which shorts it"
                           : kind == PS_DGTD_PMC ? "a magnetic sheet"
                                                 : "absorbing",
                           tag_text(p->s, PS_TAGS_OF_SURFACES, p->tag, text));
        if (x->alone && p->s->mesh.links[x->face] >= 0)
            return ps_fail(PS_INVALID, "--port %s: face %d of %s is tagged from one side only",
                           p->text, x->face % 4, element_text(p->s, x->face / 4, place));
        PS_TRY(check_element(p, x->face));
    }
    return PS_OK;
}

/* ---- vertices and conductors ---- */

int32_t patch_vertex(const port_patch *p, int32_t number)
{
    const int32_t *at =
        bsearch(&number, p->vertex, (size_t)p->vertices, sizeof *p->vertex, ps_compare_i32);
    return at ? (int32_t)(at - p->vertex) : -1;
}

static ps_status number_vertices(port_patch *p)
{
    int64_t kept = 0;
    PS_TRY(PS_ALLOC(&p->vertex, 3 * p->count, "a port"));
    for (int64_t i = 0; i < 3 * p->count; ++i) p->vertex[i] = p->sides[i / 3].corner[i % 3];
    qsort(p->vertex, (size_t)(3 * p->count), sizeof *p->vertex, ps_compare_i32);
    for (int64_t i = 0; i < 3 * p->count; ++i)
        if (i == 0 || p->vertex[i] != p->vertex[i - 1]) p->vertex[kept++] = p->vertex[i];
    p->vertices = kept;
    for (int64_t i = 0; i < 3 * p->count; ++i)
        p->sides[i / 3].corner[i % 3] = patch_vertex(p, p->sides[i / 3].corner[i % 3]);
    PS_TRY(PS_ALLOC(&p->root, kept, "a port"));
    PS_TRY(PS_ALLOC(&p->marked, kept, "a port"));
    PS_TRY(PS_ALLOC(&p->potential, kept, "a port"));
    PS_TRY(PS_ALLOC(&p->work, 4 * kept, "a port"));
    for (int64_t v = 0; v < kept; ++v) p->root[v] = -1;
    return PS_OK;
}

int32_t patch_root(const port_patch *p, int32_t v)
{
    while (p->root[v] != v) v = p->root[v];
    return v;
}

/* Vertices of one metal face are one conductor. */
static void join_face(port_patch *p, int32_t face)
{
    int32_t corner[3], first = -1;
    patch_corners(p->s, face, corner);
    for (int k = 0; k < 3; ++k) {
        int32_t v = patch_vertex(p, corner[k]);
        if (v < 0) continue;
        if (p->root[v] < 0) p->root[v] = v;
        int32_t root = patch_root(p, v);
        if (first < 0) first = root;
        if (root < first)
            p->root[first] = root, first = root;
        else
            p->root[root] = first;
    }
}

static void mark_plus(port_patch *p)
{
    const ps_partition *m = &p->s->mesh;
    for (int64_t i = 0; i < m->face_count && p->plus; ++i) {
        int32_t corner[3];
        if (m->face_tags[i] != p->plus) continue;
        patch_corners(p->s, m->faces[i], corner);
        for (int k = 0; k < 3; ++k) {
            int32_t v = patch_vertex(p, corner[k]);
            if (v >= 0) p->marked[v] = 1;
        }
    }
}

static ps_status find_conductors(port_patch *p)
{
    int found = 0;
    for (int64_t f = 0; f < 4 * p->s->mesh.elements; ++f)
        if (p->s->kinds[f] == PS_DGTD_PEC) join_face(p, (int32_t)f);
    for (int32_t v = 0; v < p->vertices; ++v) {
        if (p->root[v] != v) continue;
        if (found < 2) p->conductor[found] = v;
        ++found;
    }
    p->conductors = found;
    if (found == 2 || p->mode) return PS_OK;
    return ps_fail(PS_USAGE,
                   "--port %s: its %" PRId64 " faces touch %d conductor%s (faces with --boundary "
                   "TAG:pec that hang together along it), expected 2: it has to reach from one "
                   "piece of metal to another, and along no third",
                   p->text, p->count, found, found == 1 ? "" : "s");
}

/* The + conductor becomes conductor[1]. */
static ps_status tell_plus(port_patch *p)
{
    double mean[2][3] = {{0}}, away[3], along = 0;
    int64_t count[2] = {0}, marked[2] = {0};
    for (int32_t v = 0; v < p->vertices; ++v) {
        if (p->root[v] < 0) continue;
        int k = patch_root(p, v) == p->conductor[1];
        const double *x = p->s->mesh.vertices + 3 * (int64_t)p->vertex[v];
        for (int c = 0; c < 3; ++c) mean[k][c] += x[c];
        ++count[k];
        marked[k] += p->marked[v];
    }
    for (int c = 0; c < 3; ++c)
        away[c] = mean[1][c] / (double)count[1] - mean[0][c] / (double)count[0];
    int longest = fabs(away[1]) > fabs(away[0]) ? 1 : 0;
    if (fabs(away[2]) > fabs(away[longest])) longest = 2;
    if (ps_norm3(p->axis) == 0) p->axis[longest] = 1;
    along = ps_dot3(away, p->axis) / ps_norm3(p->axis);
    if (p->plus && (marked[0] > 0) == (marked[1] > 0))
        return ps_fail(PS_USAGE, "--port %s: faces of plus are on %s conductors", p->text,
                       marked[0] > 0 ? "both" : "none of its");
    double size = 0;
    for (int c = 0; c < 3; ++c) size = fmax(size, p->s->upper[c] - p->s->lower[c]);
    if (!p->plus && !(fabs(along) > 1e-6 * size))
        return ps_fail(PS_USAGE,
                       "--port %s: its conductors lie about one another: tell the + one "
                       "by plus=TAG, a group of its faces",
                       p->text);
    if (p->plus ? marked[0] > 0 : along < 0) {
        int32_t other = p->conductor[0];
        p->conductor[0] = p->conductor[1];
        p->conductor[1] = other;
    }
    return PS_OK;
}

/* ---- all of them ---- */

/* Room for the sides of one more port. */
static ps_status lengthen(ps_dgtd_ports *x, int64_t more)
{
    int64_t all = x->sides + more;
    int32_t *faces = realloc(x->faces, (size_t)all * sizeof *faces);
    if (faces) x->faces = faces;
    double(*gradients)[3] = realloc(x->gradients, (size_t)(all * x->nodes) * sizeof *gradients);
    if (gradients) x->gradients = gradients;
    if (!faces || !gradients) return ps_fail(PS_EXHAUSTED, "no memory for ports");
    x->sides = all;
    return PS_OK;
}

/* What one port's current does to the voltage of another within a step is not computed: they share
 * no element. */
static ps_status check_others(const setup *s, const char *text, int64_t first)
{
    char place[160];
    for (int64_t i = 0; i < first; ++i)
        for (int64_t k = first; k < s->ports.sides; ++k) {
            if (s->ports.faces[i] == s->ports.faces[k])
                return ps_fail(PS_USAGE, "--port %s: another port has faces of it", text);
            if (s->ports.faces[i] / 4 == s->ports.faces[k] / 4)
                return ps_fail(PS_USAGE,
                               "--port %s: %s has faces of another port, too; there has to be an "
                               "element between ports: make the mesh finer there",
                               text, element_text(s, s->ports.faces[k] / 4, place));
        }
    return PS_OK;
}

/* A pulse that a guide does not carry is refused, one that it carries in other modes too is warned
 * of. */
static ps_status check_band(const port_patch *p, const ps_dgtd_port_spec *x, double next)
{
    double slow = sqrt(x->mode.eps * x->mode.mu), unit = PS_DGTD_C0 / (2 * M_PI);
    double top = x->omega + (x->shape == PS_DGTD_GAUSSIAN ? REACH / x->width : 0);
    double cutoff = x->mode.cutoff / slow * unit;
    if (x->amplitude == 0) return PS_OK;
    if (x->mode.cutoff / slow >= top)
        return ps_fail(
            PS_USAGE,
            "--port %s: the mode's cut-off, %.4g Hz, is above the band of the pulse, which ends at "
            "%.4g Hz: "
            "nothing would come in; give frequency= and width= of a band above the cut-off",
            p->text, cutoff, top * unit);
    if (next > 0 && next / slow < top)
        ps_warning("--port %s: the pulse reaches to %.4g Hz, and the next mode of the guide "
                   "propagates from %.4g Hz on: "
                   "what comes back in that one is reflected at the port",
                   p->text, top * unit, next / slow * unit);
    return PS_OK;
}

static ps_status find_field(port_patch *p, ps_dgtd_port_spec *x, double *next)
{
    if (!p->mode || p->conductors == 2) {
        mark_plus(p);
        if (!p->mode || strcmp(p->mode, "tem") == 0 || strcmp(p->mode, "1") == 0)
            PS_TRY(tell_plus(p));
    }
    if (!p->mode) return port_potential_find(p);
    qsort(p->sides, (size_t)p->count, sizeof *p->sides, patch_by_face);
    PS_TRY(guide_mode_find(p, x, next));
    x->sides = p->count;
    return check_band(p, x, *next);
}

/* All ports have a vector a face, or all one at each of its nodes. */
static void put_sides(const port_patch *p, ps_dgtd_ports *all, int64_t first)
{
    for (int64_t i = 0; i < p->count && p->mode; ++i) all->faces[first + i] = p->sides[i].face;
    if (p->mode)
        memcpy(all->gradients[first * all->nodes], p->fields,
               (size_t)(p->count * all->nodes) * sizeof *all->gradients);
    for (int64_t i = p->count - 1; i >= 0 && !p->mode; --i)
        for (int n = all->nodes - 1; n >= 0; --n)
            memmove(all->gradients[(first + i) * all->nodes + n],
                    all->gradients[first * all->nodes + i], sizeof *all->gradients);
}

static ps_status set_port(setup *s, const char *text, ps_dgtd_port_spec *x)
{
    PS_SCOPED(release) port_patch p = {.s = s, .text = text};
    PS_TRY(read_port(s, text, x, &p));
    PS_TRY(list_sides(&p));
    PS_TRY(check_sides(&p));
    PS_TRY(number_vertices(&p));
    PS_TRY(find_conductors(&p));
    PS_TRY(find_field(&p, x, s->next_cutoffs + (x - s->ports.spec)));
    int64_t first = s->ports.sides;
    PS_TRY(lengthen(&s->ports, p.count));
    if (!p.mode)
        port_gradients(&p, x, s->ports.faces + first, s->ports.gradients + first * s->ports.nodes);
    put_sides(&p, &s->ports, first);
    return check_others(s, text, first);
}

ps_status ports_append(setup *s, const ps_dgtd_port_spec *port)
{
    ps_dgtd_ports *x = &s->ports;
    if (x->count == PS_DGTD_PORTS_MAX)
        return ps_fail(PS_USAGE, "ports and networks of wires: more than %d", PS_DGTD_PORTS_MAX);
    ps_dgtd_port_spec *spec = realloc(x->spec, (size_t)(x->count + 1) * sizeof *spec);
    if (!spec) return ps_fail(PS_EXHAUSTED, "no memory for ports");
    x->spec = spec;
    spec[x->count++] = *port;
    return PS_OK;
}

ps_status set_ports(setup *s)
{
    const ps_text_list *list = &s->options->ports;
    if (list->count > PS_DGTD_PORTS_MAX)
        return ps_fail(PS_USAGE, "--port: %d ports, at most %d", list->count, PS_DGTD_PORTS_MAX);
    if (list->count > 0 && s->header.upwind && !s->header.upwind_layer)
        return ps_fail(PS_USAGE, "--port: the upwind flux damps the jump of H that is the current "
                                 "of a port: use --flux centred");
    int nodes = 1, order = (int)s->header.order;
    for (int k = 0; k < list->count; ++k)
        if (strstr(list->items[k], ":mode=")) nodes = (order + 1) * (order + 2) / 2;
    PS_TRY(ps_dgtd_ports_allocate(&s->ports, list->count, 0, nodes));
    for (int k = 0; k < list->count; ++k) PS_TRY(set_port(s, list->items[k], s->ports.spec + k));
    return PS_OK;
}
