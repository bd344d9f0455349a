#include "kernels/tdbem/incident.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "runtime/option_values.h"

#define LEAF static
#include "kernels/tdbem/incident_body.h"
#undef LEAF

static const char *const kind_names[] = {"plane", "point", "uniform"};
static const char *const shape_names[] = {"gaussian", "derivative", "ricker", "modulated", "step"};
enum { KINDS = 3, SHAPES = 5 };

/* ---- the pulse ---- */

double ps_pulse_value(const ps_emitter *emitter, double q) { return pulse_value(emitter, q); }

double ps_pulse_slope(const ps_emitter *emitter, double q) { return pulse_slope(emitter, q); }

/* int exp(-(q/s)^2) e^{iwq} dq */
static double bell_spectrum(double s, double w) { return s * sqrt(M_PI) * exp(-w * w * s * s / 4); }

void ps_pulse_spectrum(const ps_emitter *emitter, double w, double *re, double *im)
{
    double s = emitter->width, w0 = 2 * M_PI * emitter->frequency;
    double a = 0, b = 0; /* a + ib at delay 0 */
    switch (emitter->shape) {
    case PS_PULSE_GAUSSIAN:
        a = bell_spectrum(s, w);
        break;
    case PS_PULSE_DERIVATIVE:
        b = -w * s * bell_spectrum(s, w);
        break;
    case PS_PULSE_RICKER:
        a = w * w * s * s / 2 * bell_spectrum(s, w);
        break;
    case PS_PULSE_MODULATED:
        a = (bell_spectrum(s, w - w0) + bell_spectrum(s, w + w0)) / 2;
        break;
    case PS_PULSE_STEP:
        b = exp(-w * w * s * s / 4) / w;
        break;
    }
    double c = cos(w * emitter->delay), d = sin(w * emitter->delay);
    *re = a * c - b * d;
    *im = a * d + b * c;
}

/* ---- the field ---- */

ps_arrival ps_emitter_arrival(const ps_emitter *emitter, double speed, const double x[3],
                              const double v[3])
{
    return emitter_arrival(emitter, speed, x, v);
}

double ps_incident_field(const ps_incident *incident, const double x[3], double t, double *gradient)
{
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double field = 0;
    if (gradient) memset(gradient, 0, 3 * sizeof *gradient);
    for (int i = 0; i < incident->count; ++i) {
        const ps_emitter *emitter = &incident->emitters[i];
        ps_arrival arrival = ps_emitter_arrival(emitter, incident->speed, x, NULL);
        double q = t - arrival.retardation, f = ps_pulse_value(emitter, q);
        field += arrival.value * f;
        for (int k = 0; gradient && k < 3; ++k) {
            arrival = ps_emitter_arrival(emitter, incident->speed, x, axes[k]);
            gradient[k] += arrival.along[0] * f + arrival.along[1] * ps_pulse_slope(emitter, q);
        }
    }
    return field;
}

/* ---- when it begins ---- */

double ps_pulse_tail(ps_pulse_shape shape, double x)
{
    if (!(x >= 1)) return 1;
    switch (shape) {
    case PS_PULSE_DERIVATIVE:
        return 2 * x * exp(-x * x) / (sqrt(2) * exp(-0.5));
    case PS_PULSE_RICKER:
        return (2 * x * x - 1) * exp(-x * x);
    case PS_PULSE_STEP:
        return erfc(x) / 2;
    default:
        return exp(-x * x);
    }
}

/* The x where the tail has come down to just below 1e-6. */
static double quiet_distance(ps_pulse_shape shape)
{
    double low = 1, high = 10;
    for (int i = 0; i < 60; ++i) {
        double middle = (low + high) / 2;
        if (ps_pulse_tail(shape, middle) > 0.999e-6)
            low = middle;
        else
            high = middle;
    }
    return high;
}

void ps_incident_settle(ps_incident *incident, int64_t count, const double *points)
{
    for (int i = 0; i < incident->count; ++i) {
        ps_emitter *emitter = &incident->emitters[i];
        if (!isnan(emitter->delay)) continue;
        emitter->delay = 0;
        double first = count ? INFINITY : 0;
        for (int64_t p = 0; p < count; ++p) {
            ps_arrival a = ps_emitter_arrival(emitter, incident->speed, points + 3 * p, NULL);
            first = fmin(first, a.retardation);
        }
        emitter->delay = quiet_distance(emitter->shape) * emitter->width - first;
    }
}

/* ---- images ---- */

/* Waves go towards the planes, sources are before them. */
static ps_status check_side(const ps_emitter *emitter, const ps_reflectors *mirrors)
{
    for (int p = 0; p < mirrors->count; ++p) {
        const ps_reflector *plane = &mirrors->planes[p];
        double along = ps_dot3(plane->normal, emitter->place);
        if (emitter->kind == PS_EMITTER_UNIFORM)
            return ps_fail(PS_USAGE, "a uniform emitter is no wave: planes do not mirror it");
        if (emitter->kind == PS_EMITTER_PLANE && along > 1e-12)
            return ps_fail(PS_USAGE,
                           "the plane wave in direction %g,%g,%g comes from beyond the plane that "
                           "mirrors: let it come from the body's side",
                           emitter->place[0], emitter->place[1], emitter->place[2]);
        if (emitter->kind == PS_EMITTER_POINT && ps_reflector_height(plane, emitter->place) <= 0)
            return ps_fail(PS_USAGE,
                           "the point source at %g,%g,%g is beyond the plane that mirrors, or in "
                           "it: put it on the body's side",
                           emitter->place[0], emitter->place[1], emitter->place[2]);
    }
    return PS_OK;
}

/* The image is heard at x as the emitter at x mirrored. */
static ps_emitter image_of(const ps_emitter *emitter, double speed, const ps_reflectors *mirrors,
                           int image)
{
    ps_emitter out = *emitter;
    double origin[3] = {0};
    out.amplitude *= ps_reflectors_sign(mirrors, image);
    if (emitter->kind == PS_EMITTER_POINT) {
        ps_reflectors_point(mirrors, image, emitter->place, out.place);
        return out;
    }
    ps_reflectors_point(mirrors, image, origin, origin);
    ps_reflectors_vector(mirrors, image, emitter->place, out.place);
    out.delay += ps_dot3(emitter->place, origin) / speed;
    return out;
}

ps_status ps_incident_add_images(ps_incident *incident, const ps_reflectors *mirrors)
{
    int given = incident->count, images = ps_reflectors_images(mirrors);
    if (mirrors->count == 0) return PS_OK;
    if (given * images > PS_EMITTERS_MAX)
        return ps_fail(PS_USAGE,
                       "%d emitters with their images in %d planes are more than %d: give "
                       "fewer, or --incident FILE",
                       given, mirrors->count, PS_EMITTERS_MAX);
    for (int i = 0; i < given; ++i) PS_TRY(check_side(&incident->emitters[i], mirrors));
    for (int m = 1; m < images; ++m)
        for (int i = 0; i < given; ++i)
            incident->emitters[incident->count++] =
                image_of(&incident->emitters[i], incident->speed, mirrors, m);
    return PS_OK;
}

/* ---- text ---- */

typedef struct part {
    const char *text; /* the whole emitter, for messages */
    char name[32], value[96];
} part;

static ps_status part_fail(const part *p, const char *expected)
{
    return ps_fail(PS_USAGE, "emitter \"%s\": %s=%s: expected %s", p->text, p->name, p->value,
                   expected);
}

static int find_name(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; ++i)
        if (!strcmp(names[i], name)) return i;
    return -1;
}

/* Exactly `count` finite numbers, separated by commas. */
static bool read_numbers(const char *text, int count, double *out)
{
    int found;
    return ps_parse_reals(text, ',', out, count, &found) == PS_OK && found == count;
}

static ps_status set_place(const part *p, ps_emitter *emitter)
{
    bool direction = emitter->kind == PS_EMITTER_PLANE;
    const char *wanted = direction ? "dir" : "at";
    if (emitter->kind == PS_EMITTER_UNIFORM || strcmp(p->name, wanted))
        return part_fail(p, direction ? "a plane wave has dir=X,Y,Z, no position"
                            : emitter->kind == PS_EMITTER_POINT
                                ? "a point source has at=X,Y,Z, no direction"
                                : "uniform incidence has neither direction nor position");
    if (!read_numbers(p->value, 3, emitter->place)) return part_fail(p, "three numbers X,Y,Z");
    if (!direction) return PS_OK;
    double length = sqrt(dot(emitter->place, emitter->place));
    if (!(length > 0) || !isfinite(length)) return part_fail(p, "a direction that is not zero");
    if (fabs(length - 1) < 1e-15) return PS_OK; /* printed before: keep its bits */
    for (int k = 0; k < 3; ++k) emitter->place[k] /= length;
    return PS_OK;
}

static ps_status set_part(const part *p, ps_emitter *emitter)
{
    if (!strcmp(p->name, "dir") || !strcmp(p->name, "at")) return set_place(p, emitter);
    if (!strcmp(p->name, "shape")) {
        int shape = find_name(shape_names, SHAPES, p->value);
        if (shape < 0) return part_fail(p, "gaussian, derivative, ricker, modulated or step");
        emitter->shape = (ps_pulse_shape)shape;
        return PS_OK;
    }
    static const char *const names[] = {"amplitude", "width", "frequency", "delay"};
    double *places[] = {&emitter->amplitude, &emitter->width, &emitter->frequency, &emitter->delay};
    int i = find_name(names, 4, p->name);
    if (i < 0)
        return ps_fail(PS_USAGE,
                       "emitter \"%s\": no part is called \"%s\"; there are dir, at, shape, width, "
                       "frequency, delay, amplitude",
                       p->text, p->name);
    if (!read_numbers(p->value, 1, places[i])) return part_fail(p, "a number");
    if ((i == 1 || i == 2) && !(*places[i] > 0)) return part_fail(p, "a number above 0");
    return PS_OK;
}

/* Cuts "name=value" (length bytes at start) into its halves. */
static ps_status cut_part(const char *start, size_t length, part *p)
{
    const char *equals = memchr(start, '=', length);
    size_t name = equals ? (size_t)(equals - start) : length;
    size_t value = equals ? length - name - 1 : 0;
    if (!equals || name >= sizeof p->name || value >= sizeof p->value)
        return ps_fail(PS_USAGE, "emitter \"%s\": \"%.*s\" is not name=value", p->text, (int)length,
                       start);
    memcpy(p->name, start, name);
    p->name[name] = 0;
    memcpy(p->value, equals + 1, value);
    p->value[value] = 0;
    return PS_OK;
}

static ps_status emitter_complete(const char *text, const ps_emitter *emitter)
{
    const char *missing = NULL;
    if (isnan(emitter->place[0]))
        missing = emitter->kind == PS_EMITTER_PLANE ? "dir=X,Y,Z" : "at=X,Y,Z (m)";
    else if (isnan(emitter->width))
        missing = "width=SECONDS";
    else if (emitter->shape == PS_PULSE_MODULATED && !(emitter->frequency > 0))
        missing = "frequency=HZ (for shape=modulated)";
    if (missing) return ps_fail(PS_USAGE, "emitter \"%s\": %s is missing", text, missing);
    if (emitter->shape != PS_PULSE_MODULATED && emitter->frequency > 0)
        return ps_fail(PS_USAGE, "emitter \"%s\": only shape=modulated takes a frequency", text);
    return PS_OK;
}

ps_status ps_emitter_parse(const char *text, ps_emitter *out)
{
    char kind[16];
    size_t length = strcspn(text, ":");
    snprintf(kind, sizeof kind, "%.*s", (int)(length < 15 ? length : 15), text);
    int found = find_name(kind_names, KINDS, kind);
    if (found < 0)
        return ps_fail(PS_USAGE,
                       "emitter \"%s\": it begins with plane:, point: or uniform:, as in "
                       "plane:dir=0,0,1:shape=gaussian:width=1e-3",
                       text);
    ps_emitter emitter = {
        .kind = (ps_emitter_kind)found, .amplitude = 1, .width = NAN, .delay = NAN};
    if (emitter.kind != PS_EMITTER_UNIFORM) emitter.place[0] = NAN;
    for (const char *at = text + length; *at; at += length) {
        length = strcspn(++at, ":");
        part p = {.text = text};
        PS_TRY(cut_part(at, length, &p));
        PS_TRY(set_part(&p, &emitter));
    }
    PS_TRY(emitter_complete(text, &emitter));
    *out = emitter;
    return PS_OK;
}

void ps_emitter_print(const ps_emitter *emitter, char *out, size_t size)
{
    char place[96] = "", frequency[48] = "", delay[48] = "";
    if (emitter->kind != PS_EMITTER_UNIFORM)
        snprintf(place, sizeof place, ":%s=%.17g,%.17g,%.17g",
                 emitter->kind == PS_EMITTER_PLANE ? "dir" : "at", emitter->place[0],
                 emitter->place[1], emitter->place[2]);
    if (emitter->shape == PS_PULSE_MODULATED)
        snprintf(frequency, sizeof frequency, ":frequency=%.17g", emitter->frequency);
    if (!isnan(emitter->delay)) snprintf(delay, sizeof delay, ":delay=%.17g", emitter->delay);
    snprintf(out, size, "%s%s:shape=%s:width=%.17g%s%s:amplitude=%.17g", kind_names[emitter->kind],
             place, shape_names[emitter->shape], emitter->width, frequency, delay,
             emitter->amplitude);
}
