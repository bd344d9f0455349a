/*
 * local: classes of smaller steps (kernels/dgtd/local_steps.h) for elements that need them.
 *
 * An element of class k makes 2^k steps, each at most `fraction` of what the rule allows it.
 * Elements with absorbing faces, in a layer or at the surface of the total field make one: what
 * happens to their H beside the half step happens once, and they bound the step.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/mesh_parts.h"
#include "kernels/dgtd/ranges.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "setup.h"

/* Fewer levels are taken where more save less than a twentieth; a quarter in all has to be saved.
 */
static const double worth_a_level = 0.95, worth_it = 1.25;

bool local_wanted(const setup *s) { return strcmp(s->options->local, "off") != 0; }

static bool is_special(const setup *s, int64_t e)
{
    bool special = s->layer && s->layer[e];
    for (int f = 0; f < 4; ++f) {
        int32_t link = s->mesh.links[4 * e + f];
        special |= s->kinds[4 * e + f] == PS_DGTD_ABSORBING;
        special |= s->total && link >= 0 && s->total[e] != s->total[link / 4];
    }
    return special;
}

typedef struct choice {
    const setup *s;
    double fraction;
    uint8_t *classes, *closed, *marks, *reach;
} choice;

static void choice_release(choice *x)
{
    free(x->classes), free(x->closed), free(x->marks), free(x->reach);
}

static ps_status find_limits(setup *s)
{
    const ps_dgtd_body body = setup_body(s);
    if (s->limits) return PS_OK;
    PS_TRY(PS_ALLOC(&s->limits, s->mesh.elements, "limits of elements"));
#pragma omp parallel for
    for (int64_t e = 0; e < s->mesh.elements; ++e)
        s->limits[e] = ps_dgtd_element_limit(&body, s->header.order, e);
    return PS_OK;
}

static ps_status choice_open(setup *s, double fraction, choice *x)
{
    *x = (choice){.s = s, .fraction = fraction};
    PS_TRY(find_limits(s));
    PS_TRY(PS_ALLOC(&x->classes, s->mesh.elements, "classes of steps"));
    PS_TRY(PS_ALLOC(&x->closed, s->mesh.elements, "classes of steps"));
    for (int64_t e = 0; e < s->mesh.elements; ++e) x->closed[e] = is_special(s, e);
    /* A current in elements of smaller steps meets more inductance than there is: dgtd_local.md. */
    for (int64_t i = 0; i < s->ports.sides; ++i) x->closed[s->ports.faces[i] / 4] = 1;
    PS_TRY(PS_ALLOC(&x->marks, 2 * s->mesh.elements, "classes of steps"));
    return PS_ALLOC(&x->reach, s->mesh.elements, "classes of steps");
}

/* The largest step that elements which make one alone allow. */
static double find_cap(choice *x)
{
    const setup *s = x->s;
    double least = INFINITY;
    for (int64_t e = 0; e < s->mesh.elements; ++e)
        if (x->closed[e]) least = fmin(least, s->limits[e]);
    return x->fraction * least;
}

/* Smaller steps of an element beside a closed one end at their face, a whole step does not: as a
 * rule it is stable up to about 2.3 times the element's own limit. */
static double find_advised(const choice *x)
{
    const setup *s = x->s;
    double least = INFINITY;
    for (int64_t f = 0; f < 4 * s->mesh.elements; ++f)
        if (s->mesh.links[f] >= 0 && x->closed[s->mesh.links[f] / 4] && !x->closed[f / 4])
            least = fmin(least, s->limits[f / 4]);
    return 2 * x->fraction * least;
}

static double find_least(const choice *x)
{
    double least = INFINITY;
    for (int64_t e = 0; e < x->s->mesh.elements; ++e) least = fmin(least, x->s->limits[e]);
    return x->fraction * least;
}

/* Classes and reaches for a step; the updates of elements in it, over dt. */
static double classify(choice *x, double dt, int *levels)
{
    const setup *s = x->s;
    double ratio = ps_dgtd_local_ratio();
    for (int64_t e = 0; e < s->mesh.elements; ++e) {
        double step = dt, most = x->fraction * s->limits[e] * (1 + 1e-9);
        for (x->classes[e] = 0; step > most && x->classes[e] <= PS_DGTD_LOCAL_LEVELS;
             ++x->classes[e])
            step *= ratio;
        if (s->least_class && x->classes[e] < s->least_class[e]) x->classes[e] = s->least_class[e];
    }
    *levels = ps_dgtd_local_reach(s->mesh.links, s->mesh.elements, x->classes, x->closed, x->marks,
                                  x->reach);
    return ps_dgtd_local_updates(x->reach, s->mesh.elements) / dt;
}

/* What one step for all takes, in updates of elements over a step. */
static double plain_updates(const setup *s)
{
    return (double)s->mesh.elements / (fmin(0.9, s->local_share) * s->header.dt_rule);
}

static ps_status read_levels(const setup *s, int *first, int *last)
{
    char *rest;
    const char *text = s->options->local;
    *first = 1;
    *last = PS_DGTD_LOCAL_LEVELS;
    if (s->levels_most > 0) *last = s->levels_most;
    if (strcmp(text, "auto") == 0) return PS_OK;
    long levels = strtol(text, &rest, 10);
    if (*rest || rest == text || levels < 1 || levels > PS_DGTD_LOCAL_LEVELS)
        return ps_fail(PS_USAGE, "--local-steps %s: auto, off or a number of levels, 1 to %d", text,
                       PS_DGTD_LOCAL_LEVELS);
    *first = *last = (int)levels;
    return PS_OK;
}

ps_status local_step(setup *s, double fraction, double *dt, bool *useful)
{
    PS_SCOPED(choice_release) choice x = {.s = NULL};
    int first, last, levels;
    double gains[PS_DGTD_LOCAL_LEVELS + 1] = {0}, steps[PS_DGTD_LOCAL_LEVELS + 1], best = 0;
    PS_TRY(read_levels(s, &first, &last));
    if (s->header.upwind)
        return ps_fail(PS_USAGE,
                       "--local-steps is for the centred flux: the upwind one is damped by "
                       "the field of the step before, which a small element cannot wait for");
    PS_TRY(choice_open(s, fraction, &x));
    s->local_cap = find_cap(&x);
    double least = find_least(&x), most = fmin(s->local_cap, find_advised(&x));
    if (s->local_whole_most > 0) most = fmin(most, s->local_whole_most);
    for (int l = first; l <= last; ++l) {
        steps[l] = fmin(least * pow(ps_dgtd_local_ratio(), -l), most);
        gains[l] = plain_updates(s) / classify(&x, steps[l], &levels);
        best = fmax(best, gains[l]);
        if (steps[l] == most) last = l;
    }
    for (; gains[first] < worth_a_level * best; ++first) continue;
    *useful = gains[first] >= (strcmp(s->options->local, "auto") == 0 ? worth_it : 1);
    *dt = steps[first];
    s->levels_chosen = first;
    if (*useful && *dt >= least * (1 + 1e-9)) return PS_OK;
    *useful = false;
    if (strcmp(s->options->local, "auto") != 0)
        return ps_fail(
            PS_USAGE,
            "--local-steps %s: with local steps there would be %.3g times the updates of "
            "elements: elements are of too similar sizes, or those at absorbing faces, in "
            "layers and at the surface of the total field, which allow %.3g s, are as small",
            s->options->local, 1 / gains[first], s->local_cap / PS_DGTD_C0);
    ps_info("--local-steps auto: they would save a factor of %.3g, so there is one step for all",
            gains[first]);
    return PS_OK;
}

/* Where an element that R_1 has to do with lies among those of its chunk or layer: those of Q_2
 * first, deepest levels before others, then what is beside them, which no smaller steps of level 2
 * reach but reads what they make, then others; 0: it has nothing to do with it. A chunk is so small
 * that neighbours stay near one another, and so large that most sectors of a device's memory hold
 * elements of one level (specs/dgtd_local.md). */
enum { CHUNK = 256, KEYS = 512, KEY_INNER = 256, KEY_BESIDE = 128, KEY_BESIDE_FIRST = 1 };

static int key_of(const setup *s, int64_t e)
{
    int q = ps_dgtd_reach_q(s->reach[e]), p = ps_dgtd_reach_p(s->reach[e]), most = 0;
    for (int f = 0; f < 4; ++f) {
        int32_t link = s->mesh.links[4 * e + f];
        int other = link < 0 ? 0 : ps_dgtd_reach_q(s->reach[link / 4]);
        most = other > most ? other : most;
    }
    if (q > 1) return KEY_INNER + 16 * q + p;
    return (most > 1 ? KEY_BESIDE : 0) + 16 * q + p + (q == 0 && most > 0 ? KEY_BESIDE_FIRST : 0);
}

/* Layers that hold pieces of R_{depth+1} whole, for the depth with which the window of a step of a
 * march out of core is smallest (specs/dgtd_local.md). */
typedef struct layering {
    uint8_t *joint;
    int32_t *pieces, *work;
} layering;

static void layering_release(layering *x) { free(x->joint), free(x->pieces), free(x->work); }

static int64_t lay(const setup *s, int depth, layering *x, int32_t *layer)
{
    const ps_partition *m = &s->mesh;
    for (int64_t e = 0; e < m->elements; ++e)
        x->joint[e] = ps_dgtd_local_is_joint(m->links, s->reach, e, depth);
    ps_dgtd_pieces(m->links, m->elements, x->joint, x->pieces);
    return ps_dgtd_layers_of_pieces(m->links, m->elements, x->pieces, s->layers_begin, layer,
                                    x->work);
}

static ps_status find_layers(const setup *s, int32_t *layer, int64_t *layers)
{
    const ps_partition *m = &s->mesh;
    PS_SCOPED(layering_release) layering x = {.joint = NULL};
    int64_t least = INT64_MAX;
    int best = 0;
    PS_TRY(PS_ALLOC(&x.joint, m->elements, "layers"));
    PS_TRY(PS_ALLOC(&x.pieces, m->elements, "layers"));
    PS_TRY(PS_ALLOC(&x.work, 2 * m->elements, "layers"));
    for (int depth = 0; depth <= s->header.local_levels; ++depth) {
        *layers = lay(s, depth, &x, layer);
        int64_t window = ps_dgtd_largest_row(layer, m->elements, *layers, (2 << depth) + 4, x.work);
        if (window >= least) continue;
        least = window;
        best = depth;
    }
    *layers = lay(s, best, &x, layer);
    return PS_OK;
}

/* In a layer first comes what has no neighbour in the next one, last what has none in that before,
 * as groups of lanes lie in two layers (mesh_partition/order.c). */
enum { KEYS_A_LAYER = 3 * KEYS };
static int end_of(const setup *s, const int32_t *layer, int64_t e)
{
    bool next = false, before = false;
    for (int f = 0; f < 4; ++f) {
        int32_t link = s->mesh.links[4 * e + f];
        next |= link >= 0 && layer[link / 4] > layer[e];
        before |= link >= 0 && layer[link / 4] < layer[e];
    }
    return !next ? 0 : before ? 1 : 2;
}

/* Of a mesh in layers each part by the layers that are found here, elements that touch other parts
 * behind the rest, and within a layer by their levels. */
static ps_status sort_layers(const setup *s, int32_t *order)
{
    const ps_partition *m = &s->mesh;
    int64_t layers = 1;
    PS_SCOPED_MEMORY int32_t *key = NULL;
    PS_SCOPED_MEMORY int32_t *layer = NULL;
    PS_SCOPED_MEMORY int64_t *start = NULL;
    PS_TRY(PS_ALLOC(&key, m->elements, "the order"));
    PS_TRY(PS_ALLOC(&layer, m->elements, "the order"));
    PS_TRY(find_layers(s, layer, &layers));
    const int64_t keys = KEYS_A_LAYER * layers;
    PS_TRY(PS_ALLOC(&start, keys * 2 + 1, "the order"));
    for (int64_t q = 0; q < m->parts; ++q) {
        int64_t first = m->part_start[q], count = m->part_start[q + 1] - first;
        for (int64_t e = first; e < first + count; ++e) {
            int end = end_of(s, layer, e), levels = key_of(s, e);
            int place = end == 0 ? levels : KEYS - 1 - levels; /* pieces inside */
            int64_t behind = e - first >= m->interior[q] ? keys : 0;
            key[e] = (int32_t)(behind + KEYS_A_LAYER * layer[e] + KEYS * end + place);
        }
        ps_order_by_key(key + first, count, 2 * keys, start, order + first);
        for (int64_t i = 0; i < count; ++i) order[first + i] += (int32_t)first;
    }
    return PS_OK;
}

/* Elements [first, end) by the levels they are in, chunk by chunk. */
static void sort_chunks(const setup *s, int64_t first, int64_t end, int32_t *order)
{
    int32_t key[CHUNK];
    int64_t start[KEYS + 1];
    for (int64_t e = first; e < end; e += CHUNK) {
        int64_t count = end - e < CHUNK ? end - e : CHUNK;
        for (int64_t i = 0; i < count; ++i) key[i] = KEYS - 1 - key_of(s, e + i);
        ps_order_by_key(key, count, KEYS, start, order + e);
        for (int64_t i = 0; i < count; ++i) order[e + i] += (int32_t)e;
    }
}

/* In each part the elements that touch no other part stay before those that do. */
static ps_status sort_elements(setup *s)
{
    ps_partition *m = &s->mesh;
    PS_SCOPED_MEMORY int32_t *order = NULL;
    PS_TRY(PS_ALLOC(&order, m->elements, "the order"));
    if (s->in_layers) PS_TRY(sort_layers(s, order));
    for (int64_t q = 0; q < m->parts && !s->in_layers; ++q) {
        int64_t inner = m->part_start[q] + m->interior[q];
        sort_chunks(s, m->part_start[q], inner, order);
        sort_chunks(s, inner, m->part_start[q + 1], order);
    }
    return reorder_elements(s, order);
}

ps_status local_classes(setup *s, double fraction)
{
    PS_SCOPED(choice_release) choice x = {.s = NULL};
    int levels;
    PS_TRY(choice_open(s, fraction, &x));
    s->local_cap = find_cap(&x);
    s->local_gain = plain_updates(s) / classify(&x, s->header.dt, &levels);
    if (levels > PS_DGTD_LOCAL_LEVELS)
        return ps_fail(
            PS_USAGE,
            "a time step of %.4g s needs more than %d levels of local steps: the smallest "
            "element allows %.4g s",
            s->header.dt / PS_DGTD_C0, PS_DGTD_LOCAL_LEVELS, find_least(&x) / PS_DGTD_C0);
    if (s->header.dt > s->local_cap * (1 + 1e-9))
        return ps_fail(
            PS_USAGE,
            "a time step of %.4g s is unstable: elements at absorbing faces, in layers and "
            "at the surface of the total field, which make no smaller steps, allow %.4g s",
            s->header.dt / PS_DGTD_C0, s->local_cap / PS_DGTD_C0);
    s->header.local_levels = levels;
    for (int l = 0; l <= levels; ++l) s->class_counts[l] = s->reach_counts[l] = 0;
    for (int64_t e = 0; e < s->mesh.elements; ++e) {
        ++s->class_counts[x.classes[e]];
        ++s->reach_counts[ps_dgtd_reach_q(x.reach[e])];
    }
    free(s->reach);
    s->reach = x.reach;
    x.reach = NULL;
    return levels > 0 ? sort_elements(s) : PS_OK;
}

void report_local(const setup *s, ps_report *r)
{
    double dt = s->header.dt;
    char name[32];
    if (s->header.local_levels == 0) return;
    ps_report_section(r, "local_steps");
    ps_report_int(r, "levels", s->header.local_levels);
    ps_report_real(r, "updates_saved", s->local_gain);
    ps_report_real(r, "step_most", s->local_cap / PS_DGTD_C0);
    ps_report_real(r, "bound", s->local_bounds[s->header.local_levels]);
    ps_report_int(r, "applications", s->local_applications);
    ps_report_int(r, "lowered", s->local_lowered);
    for (int l = 0; l <= s->header.local_levels; ++l, dt *= ps_dgtd_local_ratio()) {
        snprintf(name, sizeof name, "class_%d", l);
        ps_report_section(r, name);
        ps_report_real(r, "step", dt / PS_DGTD_C0);
        ps_report_int(r, "elements", s->class_counts[l]);
        ps_report_int(r, "reached", s->reach_counts[l]);
        if (l > 0) ps_report_real(r, "bound", s->local_bounds[l - 1]);
    }
}
