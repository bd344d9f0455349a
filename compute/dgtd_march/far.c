/* The far field over time: the surface, samples, and what is written of it. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/march.h"
#include "formats/phasors.h"
#include "formats/tag_names.h"
#include "kernels/common/vec3.h"
#include "kernels/dgtd/face_rule.h"
#include "kernels/dgtd/mesh.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

bool far_is_asked(const problem *p) { return p->far.receivers.count > 0; }

/* ---- what is inside ---- */

/* Media of the physical groups of --around; all where it is not given. inside[media]. */
static ps_status mark_media(const march_options *options, const problem *p, uint8_t *inside)
{
    const ps_dgtd_medium *media = ps_dgtd_model_media(p->model);
    char text[4096], *rest = text;
    memset(inside, !options->around, (size_t)p->header->media);
    if (!options->around) return PS_OK;
    if (snprintf(text, sizeof text, "%s", options->around) >= (int)sizeof text)
        return ps_fail(PS_USAGE, "--around: more than %zu characters", sizeof text - 1);
    for (char *word; (word = strsep(&rest, ",")) != NULL;) {
        int32_t tag;
        bool found = false;
        PS_TRY(ps_tag_names_find(p->header->tag_names, PS_TAGS_OF_VOLUMES, "--around", word, &tag));
        for (int64_t k = 0; k < p->header->media; ++k)
            if (media[k].tag == tag) inside[k] = found = true;
        if (!found)
            return ps_fail(PS_USAGE, "--around: no element is of physical group \"%s\"", word);
    }
    return PS_OK;
}

static bool in_layer(const problem *p, int64_t slot)
{
    return p->domain.layer && p->domain.layer[slot];
}

/* ---- the surface ---- */

/* What has to agree over all faces of all ranks: largest values of each and of its negative. */
enum { EPS, MU, CONDUCTS, INNER_TOTAL, OUTER_TOTAL, AGREED };

typedef struct collected {
    const problem *p;
    const uint8_t *inside; /* [media] */
    far_surface *far;
    double most[2 * AGREED]; /* of each value, then of its negative             */
    int64_t seam;            /* sum over the surface's edges: 0 where it is closed */
    int64_t beyond, walls;   /* elements and faces outside that scatter, too       */
} collected;

static bool is_inside(const collected *c, int64_t slot)
{
    return !in_layer(c->p, slot) && c->inside[c->p->domain.material[slot]];
}

static void agree(collected *c, int what, double value)
{
    c->most[what] = fmax(c->most[what], value);
    c->most[AGREED + what] = fmax(c->most[AGREED + what], -value);
}

/* A number of an edge, of the other sign the other way round; sums of 2^24 of them do not overflow.
 */
static int64_t edge_number(int64_t a, int64_t b)
{
    uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
    uint64_t x = (low + 1) * 0x9e3779b97f4a7c15u ^ (high + 1) * 0xc2b2ae3d27d4eb4fu;
    x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9u;
    int64_t number = (int64_t)((x ^ (x >> 29)) >> 25);
    return a < b ? number : -number;
}

/* The edges of a face of an element inside, round its outward normal. */
static int64_t seam_of(const problem *p, int64_t e, int f)
{
    const int32_t *element = p->domain.tetrahedra + 4 * e;
    double tangents[3][3], areas[4], normals[4][3], u[3], v[3], n[3];
    int64_t corner[3];
    const double *x[3];
    for (int k = 0; k < 3; ++k) {
        int32_t local = element[ps_dgtd_face_vertices[f][k]];
        corner[k] = p->domain.vertex_numbers[local];
        x[k] = p->domain.vertices + 3 * (int64_t)local;
    }
    ps_dgtd_tangents(p->domain.vertices, element, tangents);
    ps_dgtd_faces(tangents, areas, normals);
    ps_subtract3(x[1], x[0], u);
    ps_subtract3(x[2], x[0], v);
    ps_cross3(u, v, n);
    int64_t sum = edge_number(corner[0], corner[1]) + edge_number(corner[1], corner[2]) +
                  edge_number(corner[2], corner[0]);
    return ps_dot3(n, normals[f]) > 0 ? sum : -sum;
}

/* How a side of a face counts: 0 where it is no part of the surface, 1 where what is behind is a
 * layer or nothing, +-1/2 where both sides are told. */
static double factor_of(const collected *c, int64_t e, int f)
{
    const ps_dgtd_domain *d = &c->p->domain;
    int32_t link = d->links[4 * e + f];
    bool inside = is_inside(c, e);
    if (link < 0) return inside && d->kinds[4 * e + f] == PS_DGTD_ABSORBING;
    if (in_layer(c->p, link / 4)) return inside;
    return inside == is_inside(c, link / 4) ? 0 : inside ? .5 : -.5;
}

static void note_face(collected *c, int64_t e, int f, double factor)
{
    const problem *p = c->p;
    far_surface *far = c->far;
    const ps_dgtd_medium *m = ps_dgtd_model_media(p->model) + p->domain.material[e];
    if (factor != .5) {
        agree(c, EPS, m->eps);
        agree(c, MU, m->mu);
        agree(c, CONDUCTS, m->sigma > 0 || m->pole_count > 0 || m->anisotropic);
    }
    if (p->domain.total)
        agree(c, factor > 0 ? INNER_TOTAL : OUTER_TOTAL, p->domain.total[e] ? 1 : 0);
    if (factor > 0) c->seam += seam_of(p, e, f);
    if (far->face) {
        far->face[far->faces] = (int32_t)(4 * e + f);
        far->factor[far->faces] = factor;
    }
    ++far->faces;
}

static void collect_faces(collected *c)
{
    const ps_dgtd_domain *d = &c->p->domain;
    c->far->faces = c->seam = 0;
    for (int k = 0; k < 2 * AGREED; ++k) c->most[k] = -INFINITY;
    for (int64_t e = 0; e < d->elements; ++e)
        for (int f = 0; f < 4 && !in_layer(c->p, e); ++f) {
            double factor = factor_of(c, e, f);
            if (factor != 0) note_face(c, e, f, factor);
        }
}

/* Elements outside of another medium than the background's, and metal and magnetic walls there. */
static void count_outside(collected *c)
{
    const ps_dgtd_domain *d = &c->p->domain;
    const ps_dgtd_medium *media = ps_dgtd_model_media(c->p->model);
    for (int64_t e = 0; e < d->elements; ++e) {
        const ps_dgtd_medium *m = media + d->material[e];
        if (in_layer(c->p, e) || is_inside(c, e)) continue;
        c->beyond += m->eps != c->most[EPS] || m->mu != c->most[MU] || m->sigma > 0 ||
                     m->pole_count > 0 || m->anisotropic;
        for (int f = 0; f < 4; ++f) {
            uint8_t kind = d->kinds[4 * e + f];
            c->walls += kind == PS_DGTD_PEC || kind == PS_DGTD_PMC;
        }
    }
}

static bool differs(const collected *c, int what)
{
    return c->most[what] > -INFINITY && c->most[what] != -c->most[AGREED + what];
}

static ps_status check_surface(const ps_run *run, const collected *c, int64_t faces)
{
    const double *most = c->most;
    if (faces == 0)
        return ps_fail(PS_USAGE,
                       "a far field needs a surface of faces that absorb, or at a matched "
                       "layer, or of the volumes of --around: there is none");
    if (c->seam != 0)
        return ps_fail(
            PS_USAGE,
            "the surface of the far field is not closed: metal or magnetic walls are part of "
            "the outer boundary, or touch the boundary of the volumes of --around. Take "
            "other volumes, or penstock-dgtd-far, which goes over metal from outside");
    if (differs(c, EPS) || differs(c, MU))
        return ps_fail(PS_USAGE,
                       "the surface of the far field lies in several media (eps %g to %g, mu %g to "
                       "%g): it needs one all round; choose another one by --around",
                       -most[AGREED + EPS], most[EPS], -most[AGREED + MU], most[MU]);
    if (most[CONDUCTS] > 0)
        return ps_fail(PS_USAGE, "the surface of the far field lies in a medium that conducts, or "
                                 "that has poles or a tensor: there is no far field in it; choose "
                                 "another one by --around");
    if (differs(c, INNER_TOTAL) || differs(c, OUTER_TOTAL))
        return ps_fail(PS_USAGE, "the surface of the far field lies partly in the total-field "
                                 "region: take one that is wholly within or wholly without "
                                 "(--around)");
    if (c->beyond == 0 && c->walls == 0) return PS_OK;
    return ps_refuse(run, "outside",
                     "outside of the surface of the far field there are %lld elements of another "
                     "medium than its own (eps %g, mu %g) and %lld faces of metal or magnetic "
                     "walls: they scatter, too, and that is not in it. Take them in by --around, "
                     "or leave that out for all that is in the mesh",
                     (long long)c->beyond, most[EPS], most[MU], (long long)c->walls);
}

static ps_status allocate_faces(far_surface *far, int64_t points)
{
    PS_TRY(PS_ALLOC(&far->face, far->faces, "the surface of the far field"));
    PS_TRY(PS_ALLOC(&far->factor, far->faces, "the surface of the far field"));
    PS_TRY(PS_ALLOC(&far->point, points, "the surface of the far field"));
    return PS_ALLOC(&far->normal, points, "the surface of the far field");
}

/* Points of a rule that is exact for the square of a trace: the phase along a face is little. */
static void make_rule(const problem *p, ps_dgtd_face_rule *rule)
{
    ps_dgtd_face_rule_init(rule, &p->reference, p->header->order + 2);
}

static void place_points(const problem *p, const ps_dgtd_face_rule *rule, far_surface *far)
{
    for (int64_t i = 0; i < far->faces; ++i) {
        double tangents[3][3], areas[4], normals[4][3];
        int f = far->face[i] % 4;
        const int32_t *element = p->domain.tetrahedra + far->face[i] / 4 * 4;
        ps_dgtd_tangents(p->domain.vertices, element, tangents);
        ps_dgtd_faces(tangents, areas, normals);
        for (int q = 0; q < rule->count; ++q) {
            int64_t at = i * rule->count + q;
            ps_dgtd_face_rule_point(rule, p->domain.vertices, element, f, q, far->point[at]);
            for (int c = 0; c < 3; ++c)
                far->normal[at][c] = far->factor[i] * areas[f] * rule->weight[q] * normals[f][c];
        }
    }
}

/* The surface of this rank, and what all of them agree on. */
static ps_status make_surface(const ps_run *run, problem *p, const uint8_t *inside)
{
    far_surface *far = &p->far;
    collected c = {.p = p, .inside = inside, .far = far};
    PS_SCOPED_MEMORY ps_dgtd_face_rule *rule = NULL;
    collect_faces(&c);
    int64_t faces = far->faces, counts[2];
    ps_status status = PS_ALLOC(&rule, 1, "the surface of the far field");
    if (status == PS_OK) make_rule(p, rule);
    if (status == PS_OK) status = allocate_faces(far, faces * rule->count);
    PS_TRY(ps_comm_agree(status));
    collect_faces(&c);
    PS_TRY(ps_comm_max_f64(c.most, 2 * AGREED));
    PS_TRY(ps_comm_sum_i64(&c.seam, 1));
    count_outside(&c);
    memcpy(counts, (const int64_t[2]){c.beyond, c.walls}, sizeof counts);
    PS_TRY(ps_comm_sum_i64(counts, 2));
    c.beyond = counts[0], c.walls = counts[1];
    PS_TRY(ps_comm_sum_i64(&faces, 1));
    PS_TRY(check_surface(run, &c, faces));
    place_points(p, rule, far);
    far->time = (ps_dgtd_far_time){.step = (double)far->every * p->timing.dt,
                                   .index = sqrt(c.most[EPS] * c.most[MU]),
                                   .impedance = sqrt(c.most[MU] / c.most[EPS]),
                                   .points = far->faces * rule->count,
                                   .point = (const double(*)[3])far->point,
                                   .normal = (const double(*)[3])far->normal,
                                   .directions = far->receivers.count,
                                   .direction = (const double(*)[3])far->receivers.places};
    far->reach = ps_dgtd_far_time_reach(&far->time);
    PS_TRY(ps_comm_max_f64(&far->reach, 1));
    double end = ((double)p->timing.planned + .5) * p->timing.dt;
    ps_dgtd_far_time_bins(&far->time, far->reach, end);
    return end > 2 * far->time.index * far->reach
               ? PS_OK
               : ps_fail(PS_USAGE,
                         "the run has %.3g s, less than light takes across the surface of the far "
                         "field: nothing of it is complete then. March on for longer",
                         end / PS_DGTD_C0);
}

ps_status far_open(const ps_run *run, const march_options *options, problem *p)
{
    far_surface *far = &p->far;
    ps_status status = ps_receivers_add_words(&far->receivers, &options->where);
    bool asked = far->receivers.count > 0;
    if (status == PS_OK && !asked && (options->around || options->far_every != 1))
        status = ps_fail(PS_USAGE, "--around and --far-every are of a far field: give its "
                                   "--direction or --directions, too");
    if (status == PS_OK && asked && p->has_mode)
        status = ps_fail(PS_USAGE, "a far field is of fields that begin at rest: this model starts "
                                   "with a mode");
    if (status == PS_OK) status = PS_ALLOC(&far->inside, p->header->media, "media");
    if (status == PS_OK && asked) status = mark_media(options, p, far->inside);
    PS_TRY(ps_comm_agree(status));
    far->every = options->far_every < p->timing.steps ? options->far_every : p->timing.steps;
    return asked ? make_surface(run, p, far->inside) : PS_OK;
}

void far_release(problem *p)
{
    far_surface *far = &p->far;
    ps_receivers_release(&far->receivers);
    PS_FREE(far->face, far->factor, far->point, far->normal, far->sums, far->values, far->work,
            far->inside);
}

int64_t far_sums(const problem *p) { return 3 * p->far.time.directions * p->far.time.bins; }

int64_t far_bytes(const problem *p)
{
    const far_surface *far = &p->far;
    int64_t point = (int64_t)(12 * sizeof(double) + 2 * sizeof(ps_dgtd_probe));
    return far->time.points * point + far->faces * 12 + 8 * far_sums(p);
}

/* ---- what radiates ---- */

/* Fields of a source outside pass through the surface and cancel. */
ps_status far_check_sources(const problem *p)
{
    PS_SCOPED_MEMORY uint8_t *marks = NULL;
    int64_t sides[2] = {0};
    if (!far_is_asked(p)) return PS_OK;
    PS_TRY(ps_comm_agree(PS_ALLOC(&marks, p->domain.elements, "elements of sources")));
    sources_mark(p, marks);
    for (int64_t e = 0; e < p->domain.elements; ++e)
        if (marks[e]) ++sides[p->far.inside[p->domain.material[e]]];
    PS_TRY(ps_comm_sum_i64(sides, 2));
    return ps_phasors_check_enclosed(sides);
}

ps_status far_build(problem *p)
{
    far_surface *far = &p->far;
    if (!far_is_asked(p)) return PS_OK;
    PS_TRY(PS_ALLOC(&far->sums, far->time.directions * far->time.bins, "the far field"));
    PS_TRY(PS_ALLOC(&far->values, far->time.points, "the far field"));
    PS_TRY(PS_ALLOC(&far->work, far->time.points, "the far field"));
    far->time.sums = far->sums;
    return PS_OK;
}

/* ---- samples ---- */

/* Both lists ascend by slot. */
ps_status far_add_probes(const problem *p, ps_dgtd_probe **own, int64_t **places, int64_t *count)
{
    const far_surface *far = &p->far;
    int64_t all = *count + far->time.points, k = 0;
    ps_dgtd_probe *probes = NULL;
    PS_SCOPED_MEMORY ps_dgtd_face_rule *rule = NULL;
    if (!far_is_asked(p)) return PS_OK;
    PS_SCOPED_MEMORY int64_t *numbers = NULL;
    PS_TRY(PS_ALLOC(&rule, 1, "the far field"));
    PS_TRY(PS_ALLOC(&numbers, all, "the far field"));
    PS_TRY(PS_ALLOC(&probes, all, "the far field"));
    make_rule(p, rule);
    for (int64_t i = 0, at = 0; at < all;) {
        int64_t slot = i < far->faces ? far->face[i] / 4 : INT64_MAX;
        if (k < *count && (*own)[k].slot <= slot) {
            numbers[at] = (*places)[k];
            probes[at++] = (*own)[k++];
            continue;
        }
        for (int q = 0; q < rule->count; ++q, ++at) {
            numbers[at] = p->probe_count + i * rule->count + q;
            probes[at].slot = slot;
            memcpy(probes[at].weights, rule->shape[far->face[i] % 4][q], sizeof probes[at].weights);
        }
        ++i;
    }
    free(*own), free(*places);
    *own = probes;
    *places = numbers;
    numbers = NULL;
    *count = all;
    return PS_OK;
}

bool far_is_sampled(const problem *p, int64_t step)
{
    return far_is_asked(p) && (step + 1) % p->far.every == 0;
}

void far_add(march *m, int64_t step, const double *values)
{
    problem *p = m->problem;
    far_surface *far = &p->far;
    for (int field = 0; field < 2; ++field) {
        for (int64_t k = 0; k < m->probe_count; ++k) {
            int64_t place = m->probe_places[k] - p->probe_count;
            if (place >= 0)
                memcpy(far->values[place], values + 6 * k + 3 * field, sizeof *far->values);
        }
        double t = ((double)step + (field == PS_DGTD_E ? 1 : 1.5)) * m->march.dt;
        ps_dgtd_far_time_add(&far->time, (ps_dgtd_field)field, t, (const double(*)[3])far->values,
                             far->work);
    }
}

/* ---- what is written ---- */

/* Bins at which the fields of all points have arrived, and of no step that was not made. */
static void complete(const march *m, int64_t *first, int64_t *end)
{
    const problem *p = m->problem;
    const ps_dgtd_far_time *x = &p->far.time;
    double delay = x->index * p->far.reach / x->step;
    int64_t samples = p->timing.steps / p->far.every;
    *first = (int64_t)floor(-delay) - x->first;
    *end = (int64_t)floor((double)samples - delay) - 3 - x->first;
}

ps_status far_write(march *m, const ps_product *product, const char *path)
{
    const problem *p = m->problem;
    const far_surface *far = &p->far;
    int64_t first, end;
    PS_SCOPED(ps_trace_release) ps_trace trace = {0};
    PS_TRY(ps_comm_sum_f64(far->sums[0], far_sums(p)));
    if (ps_comm_rank() != 0) return PS_OK;
    complete(m, &first, &end);
    if (end <= first)
        return ps_fail(PS_INVALID, "the march ended before anything of the far field was complete: "
                                   "give it more steps");
    double dt = far->time.step / PS_DGTD_C0;
    PS_TRY(ps_trace_init(&trace, end - first, 3 * far->time.directions, false));
    for (int64_t i = 0; i < trace.samples; ++i) {
        trace.axis[i] = (double)(far->time.first + first + i) * dt;
        for (int64_t d = 0; d < far->time.directions; ++d)
            ps_dgtd_far_time_field(&far->time, d, first + i,
                                   trace.real + i * trace.channels + 3 * d);
    }
    for (int64_t k = 0; k < trace.channels; ++k)
        memcpy(trace.places + 3 * k, far->receivers.places + k / 3 * 3, 3 * sizeof(double));
    trace.far_field = true;
    snprintf(trace.quantity, sizeof trace.quantity, "radiated far field");
    snprintf(trace.units, sizeof trace.units, "V");
    trace.origin = (ps_trace_origin){.speed = PS_DGTD_C0 / far->time.index, .dt = dt};
    return ps_trace_save(path, &trace, &product->identity, product->input_count, product->roles,
                         product->inputs);
}
