/* The sources of a model, as the kernels take them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/march.h"
#include "formats/phasors.h"
#include "kernels/dgtd/mode_error.h"
#include "runtime/log.h"
#include "runtime/memory.h"

static ps_dgtd_pulse pulse_of(const ps_dgtd_source *x)
{
    return (ps_dgtd_pulse){x->amplitude, x->centre, x->width, x->omega, (ps_dgtd_shape)x->shape};
}

static bool is_incident(const ps_dgtd_source *x)
{
    return x->kind == PS_DGTD_SOURCE_PLANE_WAVE || x->kind == PS_DGTD_SOURCE_INCIDENT_DIPOLE;
}

static void take_incident(problem *p, const ps_dgtd_source *x)
{
    ps_dgtd_incident *to = &p->incident;
    to->kind = x->kind == PS_DGTD_SOURCE_PLANE_WAVE ? PS_DGTD_PLANE_WAVE : PS_DGTD_DIPOLE;
    to->pulse = pulse_of(x);
    memcpy(to->axis, x->axis, sizeof to->axis);
    memcpy(to->polarisation, x->polarisation, sizeof to->polarisation);
    memcpy(to->origin, x->origin, sizeof to->origin);
    p->border.incident = to;
}

static void take_current(ps_dgtd_current *to, const ps_dgtd_source *x)
{
    to->moment = pulse_of(x);
    to->radius = x->radius;
    memcpy(to->axis, x->axis, sizeof to->axis);
    memcpy(to->origin, x->origin, sizeof to->origin);
}

/* ---- when it is quiet ---- */

/* Corners of the box about the vertices of all ranks, negated lower ones first. */
static ps_status bounds_of(const problem *p, double out[6])
{
    for (int c = 0; c < 6; ++c) out[c] = -INFINITY;
    for (int64_t v = 0; v < p->domain.vertex_count; ++v)
        for (int c = 0; c < 3; ++c) {
            out[c] = fmax(out[c], -p->domain.vertices[3 * v + c]);
            out[3 + c] = fmax(out[3 + c], p->domain.vertices[3 * v + c]);
        }
    return ps_comm_max_f64(out, 6);
}

/* How much later than at its origin (m) a source comes to the nearest place of the box, out[0], and
 * to its farthest corner, out[1]. */
static void lateness(const ps_dgtd_source *x, const double box[6], double out[2])
{
    double off = 0;
    out[0] = x->kind == PS_DGTD_SOURCE_PLANE_WAVE ? INFINITY : 0, out[1] = 0;
    for (int corner = 0; corner < 8 && is_incident(x); ++corner) {
        double along = 0, square = 0;
        for (int c = 0; c < 3; ++c) {
            double d = (corner >> c & 1 ? box[3 + c] : -box[c]) - x->origin[c];
            along += d * x->axis[c];
            square += d * d;
        }
        if (x->kind == PS_DGTD_SOURCE_PLANE_WAVE) out[0] = fmin(out[0], along);
        out[1] = fmax(out[1], x->kind == PS_DGTD_SOURCE_PLANE_WAVE ? along : sqrt(square));
    }
    for (int c = 0; c < 3; ++c)
        off += pow(fmax(0, fmax(x->origin[c] - box[3 + c], -box[c] - x->origin[c])), 2);
    if (x->kind == PS_DGTD_SOURCE_INCIDENT_DIPOLE) out[0] = sqrt(off);
}

/* The time (m) after which a pulse is over everywhere; a Gaussian of six widths is 1e-16. */
static double over_after(const ps_dgtd_source *x, double latest)
{
    if (x->kind == PS_DGTD_SOURCE_MODE) return 0;
    return x->shape == PS_DGTD_GAUSSIAN ? x->centre + 6 * x->width + latest : INFINITY;
}

static ps_status watch_times(problem *p)
{
    double box[6], until = ports_over_after(p), slowest = 1, diagonal = 0;
    PS_TRY(bounds_of(p, box));
    for (int c = 0; c < 3; ++c) diagonal += pow(box[c] + box[3 + c], 2);
    for (int64_t s = p->header->sources - 1; s >= 0; --s) {
        const ps_dgtd_source *x = ps_dgtd_model_sources(p->model) + s;
        double late[2];
        lateness(x, box, late);
        until = fmax(until, over_after(x, late[1]));
        p->timing.entry = late[0];
    }
    for (int64_t m = 0; m < p->header->media; ++m)
        slowest = fmax(slowest, sqrt(media_static_eps(p, m) * p->materials[m].mu));
    double crossing = ceil(sqrt(diagonal) * slowest / p->timing.dt);
    p->timing.crossing = crossing < 1e15 ? (int64_t)crossing : (int64_t)1e15;
    double quiet = ceil(until / p->timing.dt);
    p->timing.quiet_after = quiet < 1e15 ? (int64_t)quiet : INT64_MAX;
    return PS_OK;
}

/* In a box of one medium: that of the first element. */
static ps_status take_mode(problem *p, const ps_dgtd_source *x)
{
    double undamped, damped;
    p->has_mode = true;
    p->mode.medium = p->materials[p->domain.elements ? p->domain.material[0] : 0];
    for (int c = 0; c < 3; ++c) {
        p->mode.corner[c] = x->origin[c];
        p->mode.extent[c] = x->extent[c];
        p->mode.number[c] = x->mode[c];
        p->mode.amplitude[c] = x->amplitude * x->axis[c];
    }
    return ps_dgtd_mode_check(&p->mode, &undamped, &damped);
}

ps_status sources_open(problem *p)
{
    const ps_dgtd_source *x = ps_dgtd_model_sources(p->model);
    for (int64_t s = 0; s < p->header->sources; ++s)
        p->current_count += x[s].kind == PS_DGTD_SOURCE_CURRENT;
    PS_TRY(PS_ALLOC(&p->currents, p->current_count, "the currents"));
    for (int64_t s = 0, at = 0; s < p->header->sources; ++s) {
        if (x[s].kind == PS_DGTD_SOURCE_CURRENT) take_current(p->currents + at++, x + s);
        if (is_incident(x + s)) take_incident(p, x + s);
        if (x[s].kind == PS_DGTD_SOURCE_MODE) PS_TRY(take_mode(p, x + s));
    }
    return watch_times(p);
}

/* ---- currents ---- */

static ps_status load_current(problem *p, ps_dgtd_current *x, double *integral)
{
    x->count = ps_dgtd_current_count(x, &p->body);
    PS_TRY(PS_ALLOC(&x->slots, x->count, "a current"));
    PS_TRY(PS_ALLOC(&x->loads, x->count * p->reference.nodes, "a current"));
    ps_dgtd_current_load(x, &p->reference, &p->body, integral);
    return PS_OK;
}

ps_status sources_build(problem *p)
{
    for (int64_t k = 0; k < p->current_count; ++k) {
        double integral = 0;
        PS_TRY(ps_comm_agree(load_current(p, p->currents + k, &integral)));
        PS_TRY(ps_comm_sum_f64(&integral, 1));
        PS_TRY(ps_dgtd_current_scale(p->currents + k, &p->reference, integral));
    }
    return PS_OK;
}

void sources_mark(const problem *p, uint8_t *marks)
{
    const int nodes = p->reference.nodes;
    memset(marks, 0, (size_t)p->domain.elements);
    /* Elements are a current's by the balls about them: in some its rule has no point. */
    for (int64_t k = 0; k < p->current_count; ++k)
        for (int64_t i = 0; i < p->currents[k].count * nodes; ++i)
            if (p->currents[k].loads[i] != 0) marks[p->currents[k].slots[i / nodes]] = 1;
    for (int64_t k = 0; k < p->port_count; ++k)
        for (int64_t i = 0; i < p->ports[k].elements; ++i) marks[p->ports[k].slots[i]] = 1;
    for (int64_t k = 0; k < p->wire_count; ++k)
        for (int64_t i = 0; i < p->wires[k].elements; ++i) marks[p->wires[k].slots[i]] = 1;
}

void sources_release(problem *p)
{
    for (int64_t k = 0; k < p->current_count && p->currents; ++k) {
        PS_FREE(p->currents[k].slots, p->currents[k].loads);
    }
    free(p->currents);
}

/* ---- the fields at the start ---- */

static void node_point(const problem *p, int64_t e, int node, double point[3])
{
    double l[4];
    ps_dgtd_reference_node(&p->reference, node, l);
    for (int c = 0; c < 3; ++c) {
        point[c] = 0;
        for (int v = 0; v < 4; ++v)
            point[c] += l[v] * p->domain.vertices[3 * (int64_t)p->domain.tetrahedra[4 * e + v] + c];
    }
}

ps_status sources_start(const problem *p, int64_t first, int64_t end, void *electric,
                        void *magnetic)
{
    if (!p->has_mode) return PS_OK;
#pragma omp parallel for
    for (int64_t e = first; e < end; ++e)
        for (int n = 0; n < p->reference.nodes; ++n) {
            double point[3], field[2][3], unused[3];
            node_point(p, e, n, point);
            ps_dgtd_mode_at(&p->mode, point, 0, field[PS_DGTD_E], unused);
            ps_dgtd_mode_at(&p->mode, point, p->timing.dt / 2, unused, field[PS_DGTD_H]);
            for (int c = 0; c < 3; ++c) {
                ps_dgtd_set_node(&p->system, electric, e, c, n, field[PS_DGTD_E][c]);
                ps_dgtd_set_node(&p->system, magnetic, e, c, n, field[PS_DGTD_H][c]);
            }
        }
    return PS_OK;
}

ps_status sources_mode_error(const problem *p, int64_t step, const void *electric,
                             const void *magnetic, double *out)
{
    double *squares, t = (double)step * p->timing.dt;
    PS_TRY(ps_comm_agree(PS_ALLOC(&squares, p->domain.elements, "the error")));
    *out = ps_dgtd_mode_error(&p->mode, &p->system, &p->body, PS_DGTD_E, electric, t, squares) +
           ps_dgtd_mode_error(&p->mode, &p->system, &p->body, PS_DGTD_H, magnetic,
                              t + p->timing.dt / 2, squares);
    free(squares);
    PS_TRY(ps_comm_sum_f64(out, 1));
    *out = sqrt(*out);
    return PS_OK;
}

double sources_function(const problem *p, double t, const char **units)
{
    double f[3];
    const ps_dgtd_source *x = ps_dgtd_model_sources(p->model);
    *units = "V";
    if (p->header->sources == 0 && ports_source(p, t, f)) return f[0];
    *units = "1";
    if (p->header->sources == 0 || x->kind == PS_DGTD_SOURCE_MODE) return 0;
    ps_dgtd_pulse pulse = pulse_of(x);
    ps_dgtd_pulse_at(&pulse, t, f);
    if (x->kind == PS_DGTD_SOURCE_PLANE_WAVE) {
        *units = "V/m";
        return f[0];
    }
    *units = "A m"; /* p' of p/eps0 in V m2 over c0 t */
    return f[1] / PS_DGTD_Z0;
}

/* Whether a march ends before a thousandth of the first source's pulse has come to the mesh. */
static bool ends_before(const problem *p)
{
    const ps_dgtd_source *x = ps_dgtd_model_sources(p->model);
    if (p->header->sources == 0 || x->kind == PS_DGTD_SOURCE_MODE) return false;
    double end = (double)p->timing.steps * p->timing.dt - p->timing.entry;
    double u = (end - x->centre) / x->width;
    return u < 0 && (x->shape != PS_DGTD_GAUSSIAN || exp(-u * u) < PS_PHASORS_FAINT);
}

/* Of what its samples at steps `last`, `last` - every .. `first` could add up to, what they do add
 * up to at a frequency (1/m): those of the whole march, or of a window as loud as the loudest, as
 * they are where the source first comes to the mesh. */
static double loudness_at(const problem *p, double omega, int64_t first, int64_t every)
{
    const timing *t = &p->timing;
    int64_t end = t->quiet_after < t->steps ? t->quiet_after : t->steps, count = 0;
    double loudest = 0, all = 0, sum[2] = {0};
    const char *units;
    for (int64_t n = t->steps % every; n <= end; n += every) {
        double f = sources_function(p, (double)n * t->dt - t->entry, &units);
        loudest = fmax(loudest, fabs(f));
        if (n <= first) continue;
        all += fabs(f);
        sum[0] += f * cos(omega * (double)n * t->dt);
        sum[1] += f * sin(omega * (double)n * t->dt);
    }
    if (first > 0) {
        count = (t->steps - first) / every;
        all = loudest * (double)count;
    }
    return all > 0 ? hypot(sum[0], sum[1]) / all : 0;
}

ps_status sources_check_band(const ps_run *run, const march_options *options, const problem *p)
{
    const timing *t = &p->timing;
    int64_t window = options->transform_periods * t->period_steps,
            first = window > 0 ? t->steps - window : 0;
    const char *units;
    sources_function(p, 0, &units);
    if (p->header->sources == 0 && strcmp(units, "1") == 0)
        ps_warning("%s has no source and no port that is driven: its fields are 0 and stay so",
                   run->operands[0]);
    for (int64_t k = 0; k < p->frequency_count && strcmp(units, "1") != 0; ++k) {
        double loudness =
            ends_before(p) ? 0 : loudness_at(p, p->omegas[k], first, options->transform_every);
        if (loudness >= PS_PHASORS_FAINT) continue;
        return ps_refuse(run, "faint",
                         "--frequency %g Hz: the source has %.2g there of what its samples could "
                         "add up to: fields per unit of it would be the rounding of something "
                         "large. Keep to frequencies that its pulse has%s",
                         p->frequencies[k], loudness,
                         window > 0 ? ", and to a source that goes on (shape=ramp) where "
                                      "--transform-periods looks at the last of it"
                                    : ", make it shorter, or march on until it has come");
    }
    return PS_OK;
}
