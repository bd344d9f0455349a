/* What is refused of sources: speeds, places, beginnings, frequencies (specs/incident_file.md). */
#include <math.h>

#include "kernels/common/mesh_measure.h"
#include "kernels/common/vec3.h"
#include "preprocess/incident/incident.h"
#include "runtime/log.h"

static const double mach_limit = .95, start_level = 1e-4, energy_level = .01;

static ps_status check_place(const ps_run *run, const check_of *c, const source_text *s, double tau)
{
    const ps_surface_mesh *mesh = c->mesh;
    double x[3], velocity[3], acceleration[3], distance, edge;
    ps_sound_motion(&s->sound, tau, x, velocity, acceleration);
    if (ps_is_inside(mesh, c->mirrors, x))
        return ps_refuse(run, "inner-source",
                         "%s \"%s\" is inside the closed body at %g s (%g,%g,%g): nothing "
                         "of it gets out from there; keep it outside",
                         s->option, s->text, tau, x[0], x[1], x[2]);
    distance = ps_surface_distance(mesh->vertices, mesh->triangles, mesh->triangle_count, x, &edge);
    if (distance >= edge / 2) return PS_OK;
    return ps_refuse(run, "close-source",
                     "%s \"%s\" is %.3g m from the surface at %g s, where edges are %.3g m: "
                     "its field varies too fast there; keep %.3g m away, or refine the mesh",
                     s->option, s->text, distance, tau, edge, edge / 2);
}

/* Sound comes from before the planes. */
static ps_status check_side(const check_of *c, const source_text *s, double tau)
{
    double x[3], velocity[3], acceleration[3];
    bool wave = s->sound.kind == PS_SOUND_PLANE;
    ps_sound_motion(&s->sound, tau, x, velocity, acceleration);
    for (int p = 0; p < c->mirrors->count; ++p) {
        const ps_reflector *plane = &c->mirrors->planes[p];
        if (wave ? ps_dot3(plane->normal, s->sound.place) <= 1e-12
                 : ps_reflector_height(plane, x) > 0)
            continue;
        return ps_fail(PS_INVALID,
                       "%s \"%s\" %s beyond the plane of --mirror, where there is no fluid: let it "
                       "stay on the body's side",
                       s->option, s->text, wave ? "comes from" : "is or gets");
    }
    return PS_OK;
}

/* The way is looked at every half an edge, of circles one turn. */
static ps_status check_way(const ps_run *run, const check_of *c, const source_text *s)
{
    double speed = ps_sound_speed(&s->sound), end = c->duration;
    if (s->sound.turning != 0 && ps_norm3(s->sound.velocity) == 0)
        end = fmin(end, 2 * M_PI / fabs(s->sound.turning));
    double places = 1 + ceil(speed * end / (c->edge / 2));
    double most = 64 + 2e9 / (double)c->mesh->triangle_count;
    if (places > most) places = most;
    for (double k = 0; k < places; ++k) {
        PS_TRY(check_side(c, s, end * k / places));
        PS_TRY(check_place(run, c, s, end * k / places));
    }
    return PS_OK;
}

/* |q| over its largest before `tau`. */
static double level_before(const ps_signal *g, double tau)
{
    double before = 0, all = 0;
    if (g->kind == PS_SIGNAL_TONE) return 0;
    if (g->kind == PS_SIGNAL_PULSE)
        return ps_pulse_tail(g->pulse.shape, (g->pulse.delay - tau) / g->pulse.width);
    for (int64_t k = 0; k < g->count; ++k) {
        double q = fabs(g->samples[2 * k]);
        all = fmax(all, q);
        if (g->start + (double)k * g->step <= tau) before = fmax(before, q);
    }
    return all > 0 ? before / all : 0;
}

/* Latest time at which sound leaves the source that is on the body at t = 0. */
static double heard_at_start(const check_of *c, const ps_sound *sound)
{
    double nearest = INFINITY, first = INFINITY;
    for (int64_t v = 0; v < c->mesh->vertex_count; ++v) {
        const double *x = c->mesh->vertices + 3 * v;
        double away[3];
        nearest = fmin(nearest, ps_distance3(x, sound->place));
        ps_subtract3(x, sound->centre, away);
        first = fmin(first, ps_dot3(sound->place, away));
    }
    return sound->kind == PS_SOUND_PLANE
               ? -first / c->speed
               : -nearest / (c->speed + ps_sound_speed(sound) + ps_norm3(c->flow));
}

static ps_status check_start(const ps_run *run, const source_text *s, double tau)
{
    double there = level_before(&s->sound.signal, tau);
    if (there <= start_level) return PS_OK;
    return ps_refuse(run, "loud-start",
                     "%s \"%s\" is on the body at t = 0 already (up to %.2g of its peak), "
                     "but all must be quiet then; leave the delay out, or make it longer",
                     s->option, s->text, there);
}

/* A source that comes nearer is heard at up to 1/(1 - M) of its frequencies. */
static ps_status check_band(const ps_run *run, const check_of *c, const source_text *s, double mach)
{
    ps_band band = ps_band_of(c->edge, c->dt, c->speed);
    const ps_signal *g = &s->sound.signal;
    double usable = band.usable * (1 - mach), resolved = band.resolved * (1 - mach), above = 0;
    double rough = 0;
    if (g->kind == PS_SIGNAL_PULSE) {
        above = ps_pulse_energy_above(&g->pulse, resolved);
        rough = ps_pulse_energy_above(&g->pulse, usable);
    } else {
        double w = g->kind == PS_SIGNAL_TONE ? 2 * M_PI * g->frequency : 0;
        if (g->kind == PS_SIGNAL_TONE) w = fmax(w, M_PI / g->ramp);
        w = fmax(w, fabs(s->sound.turning));
        above = w > resolved;
        rough = w > usable;
    }
    if (above > energy_level)
        return ps_refuse(run, "short-pulse",
                         "%s \"%s\": %.0f %% of its energy is heard above %.4g Hz, up to "
                         "which edges of %.3g m and steps of %.3g s resolve waves; it would be "
                         "folded into the rest. Use a longer width or ramp, a lower frequency, or "
                         "a finer mesh and step",
                         s->option, s->text, 100 * above, band.resolved / (2 * M_PI), c->edge,
                         c->dt);
    if (rough > energy_level)
        ps_warning("%s \"%s\": %.0f %% of its energy is heard above %.4g Hz, up to which "
                   "mesh and step are accurate",
                   s->option, s->text, 100 * rough, band.usable / (2 * M_PI));
    if (s->recording.cut > energy_level)
        ps_warning("%s: %.2g %% of its energy lies above %.4g Hz and is left out", s->wave,
                   100 * s->recording.cut, band.usable / (2 * M_PI));
    return PS_OK;
}

ps_status check_source(const ps_run *run, const check_of *c, const source_text *s)
{
    ps_sound carried = ps_sound_in_flow(&s->sound, c->flow); /* as the fluid sees it */
    double mach = ps_sound_speed(&carried) / c->speed;
    if (mach >= mach_limit)
        return ps_fail(PS_INVALID,
                       "%s \"%s\" reaches %.3g times the speed of sound (%g m/s): the "
                       "retarded time is found below %g times only",
                       s->option, s->text, mach, c->speed, mach_limit);
    PS_TRY(s->sound.kind == PS_SOUND_PLANE ? check_side(c, s, 0) : check_way(run, c, s));
    PS_TRY(check_start(run, s, heard_at_start(c, &s->sound)));
    return check_band(run, c, s, mach);
}

ps_status check_velocity(const ps_run *run, const check_of *c, const source_text *s)
{
    PS_TRY(check_start(run, s, 0));
    return check_band(run, c, s, 0);
}

ps_status check_mirrors(const check_of *c)
{
    for (int p = 0; p < c->mirrors->count; ++p) {
        double least = INFINITY, most = -INFINITY;
        for (int64_t v = 0; v < c->mesh->vertex_count; ++v) {
            double height = ps_reflector_height(&c->mirrors->planes[p], c->mesh->vertices + 3 * v);
            least = fmin(least, height);
            most = fmax(most, height);
        }
        if (least < -1e-6 * c->edge)
            return ps_fail(PS_INVALID,
                           "--mirror: the plane cuts the body (%.3g m to %.3g m from it)", least,
                           most);
    }
    return PS_OK;
}
