/* Sources from text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "preprocess/incident/incident.h"

typedef struct reading {
    source_text *s;
    bool surface; /* of --velocity: it has no place */
    bool panels;
    bool placed, directed, forced, turned, waved, toned;
    char pulse[256]; /* the parts of a pulse, for ps_emitter_parse */
} reading;

static ps_status vector(const reading *r, const char *name, const char *value, double out[3])
{
    int count = 0;
    if (ps_parse_reals(value, ',', out, 3, &count) == PS_OK && count == 3 && isfinite(out[0]) &&
        isfinite(out[1]) && isfinite(out[2]))
        return PS_OK;
    return ps_fail(PS_USAGE, "%s \"%s\": %s=%s is not X,Y,Z", r->s->option, r->s->text, name,
                   value);
}

static ps_status number(const reading *r, const char *name, const char *value, double least,
                        double *out)
{
    if (ps_parse_real(value, out) == PS_OK && isfinite(*out) && *out >= least) return PS_OK;
    return ps_fail(PS_USAGE, "%s \"%s\": %s=%s is not a number from %g on", r->s->option,
                   r->s->text, name, value, least);
}

static ps_status unit(const reading *r, const char *name, const char *value, double out[3])
{
    PS_TRY(vector(r, name, value, out));
    double length = ps_norm3(out);
    if (!(length > 0))
        return ps_fail(PS_USAGE, "%s \"%s\": %s is no direction", r->s->option, r->s->text, name);
    for (int k = 0; k < 3; ++k) out[k] /= length;
    return PS_OK;
}

static ps_status take_where(reading *r, const char *name, const char *value, bool *taken)
{
    ps_sound *sound = &r->s->sound;
    *taken = true;
    if (!strcmp(name, "at")) return r->placed = true, vector(r, name, value, sound->place);
    if (!strcmp(name, "dir")) return r->directed = true, unit(r, name, value, sound->place);
    if (!strcmp(name, "velocity")) return vector(r, name, value, sound->velocity);
    if (!strcmp(name, "about")) return vector(r, name, value, sound->centre);
    if (!strcmp(name, "axis")) return unit(r, name, value, sound->axis);
    if (!strcmp(name, "force")) return r->forced = true, unit(r, name, value, sound->force);
    if (!strcmp(name, "turns")) {
        r->turned = true;
        PS_TRY(number(r, name, value, -1e12, &sound->turning));
        sound->turning *= 2 * M_PI;
        return PS_OK;
    }
    *taken = false;
    return PS_OK;
}

static ps_status take_what(reading *r, const char *name, const char *value)
{
    ps_signal *signal = &r->s->sound.signal;
    double column;
    if (!strcmp(name, "amplitude")) return number(r, name, value, -1e300, &signal->amplitude);
    if (!strcmp(name, "ramp")) return number(r, name, value, 1e-300, &signal->ramp);
    if (!strcmp(name, "rate")) return number(r, name, value, 1e-300, &r->s->rate);
    if (!strcmp(name, "delay")) {
        r->s->delayed = true;
        return number(r, name, value, -1e300, &r->s->delay);
    }
    if (!strcmp(name, "column")) {
        PS_TRY(number(r, name, value, 1, &column));
        r->s->column = column < 64 ? (int)column : 64;
        return PS_OK;
    }
    if (!strcmp(name, "wave")) {
        r->waved = true;
        snprintf(r->s->wave, sizeof r->s->wave, "%s", value);
        return PS_OK;
    }
    if (!strcmp(name, "frequency")) {
        r->toned = true;
        PS_TRY(number(r, name, value, 0, &signal->frequency));
        if (signal->frequency == 0) return PS_OK;
    } else if (strcmp(name, "width") != 0 && strcmp(name, "shape") != 0) {
        return ps_fail(PS_USAGE,
                       "%s \"%s\": no part is called \"%s\"; there are %samplitude, delay, and "
                       "width, shape, frequency, or frequency, ramp, or wave, column, rate",
                       r->s->option, r->s->text, name,
                       r->surface ? "along, " : "at, dir, velocity, about, axis, turns, force, ");
    }
    size_t used = strlen(r->pulse);
    snprintf(r->pulse + used, sizeof r->pulse - used, ":%s=%s", name, value);
    return PS_OK;
}

/* Which signal it is: a wave, a pulse (it has a width) or a tone (it has a ramp). */
static ps_status settle_signal(reading *r)
{
    ps_signal *signal = &r->s->sound.signal;
    bool pulse = strstr(r->pulse, ":width=") != NULL;
    if (r->waved + pulse + (signal->ramp > 0) != 1)
        return ps_fail(PS_USAGE,
                       "%s \"%s\": it sends one of a pulse (width=SECONDS), a tone "
                       "(frequency=HZ:ramp=SECONDS) and a recording (wave=FILE)",
                       r->s->option, r->s->text);
    signal->kind = r->waved ? PS_SIGNAL_RECORDED : pulse ? PS_SIGNAL_PULSE : PS_SIGNAL_TONE;
    if (signal->kind == PS_SIGNAL_TONE && (!r->toned || r->s->delayed))
        return ps_fail(PS_USAGE,
                       "%s \"%s\": a tone has frequency=HZ (0: constant) and begins at 0, "
                       "without a delay",
                       r->s->option, r->s->text);
    if (!pulse) return PS_OK;
    char text[300];
    snprintf(text, sizeof text, "uniform%s", r->pulse);
    return ps_emitter_parse(text, &signal->pulse);
}

static ps_status settle(reading *r)
{
    const ps_sound *sound = &r->s->sound;
    bool plane = sound->kind == PS_SOUND_PLANE;
    const char *text = r->s->text;
    if (plane ? !r->directed || r->placed : !r->placed || r->directed)
        return ps_fail(PS_USAGE, "%s \"%s\": %s", r->s->option, text,
                       plane ? "a plane wave has dir=X,Y,Z, no position"
                             : "it needs at=X,Y,Z, and no dir");
    if (plane && (r->turned || ps_norm3(sound->velocity) > 0))
        return ps_fail(PS_USAGE, "%s \"%s\": a plane wave does not move", r->s->option, text);
    if ((sound->kind == PS_SOUND_DIPOLE) != r->forced)
        return ps_fail(PS_USAGE, "%s \"%s\": dipoles, and only they, have force=X,Y,Z",
                       r->s->option, text);
    return settle_signal(r);
}

/* The parts behind the first word of `copy`, which strtok_r has cut. */
static ps_status take_parts(reading *r, char **rest)
{
    char *word;
    while ((word = strtok_r(NULL, ":", rest))) {
        char *value = strchr(word, '=');
        bool taken = false;
        if (!value)
            return ps_fail(PS_USAGE, "%s \"%s\": \"%s\" is not name=value", r->s->option,
                           r->s->text, word);
        *value++ = 0;
        if (r->surface && !strcmp(word, "along")) {
            r->s->along = true;
            PS_TRY(unit(r, word, value, r->s->sound.place));
            continue;
        }
        if (r->panels && (!strcmp(word, "pressure") || !strcmp(word, "fluid"))) {
            char *to = *word == 'p' ? r->s->wave : r->s->fluid;
            snprintf(to, sizeof r->s->wave, "%s", value);
            continue;
        }
        if (r->panels && !strcmp(word, "ambient")) {
            if (ps_parse_real(value, &r->s->ambient) != PS_OK)
                return ps_fail(PS_USAGE, "--panels \"%s\": ambient=%s is no pressure", r->s->text,
                               value);
            continue;
        }
        if (!r->surface) PS_TRY(take_where(r, word, value, &taken));
        if (r->panels && (!taken || r->placed || r->directed || r->forced))
            return ps_fail(PS_USAGE,
                           "--panels \"%s\": no part is called \"%s\"; there are pressure, fluid, "
                           "ambient, velocity, about, axis, turns",
                           r->s->text, word);
        if (!taken) PS_TRY(take_what(r, word, value));
    }
    return PS_OK;
}

enum { TEXT_MAX = 1024 };

static ps_status begin(const char *option, const char *text, source_text *out, char *copy)
{
    *out = (source_text){.option = option, .text = text, .column = 0};
    out->sound.signal.amplitude = 1;
    out->sound.axis[2] = 1;
    if (strlen(text) >= TEXT_MAX)
        return ps_fail(PS_USAGE, "%s: longer than %d characters", option, TEXT_MAX - 1);
    strcpy(copy, text);
    return PS_OK;
}

ps_status source_parse(const char *text, source_text *out)
{
    static const struct {
        const char *name;
        ps_sound_kind kind;
    } kinds[] = {{"plane", PS_SOUND_PLANE},
                 {"point", PS_SOUND_MONOPOLE},
                 {"monopole", PS_SOUND_MONOPOLE},
                 {"dipole", PS_SOUND_DIPOLE}};
    char copy[TEXT_MAX], *rest = NULL;
    reading r = {.s = out};
    PS_TRY(begin("--source", text, out, copy));
    char *word = strtok_r(copy, ":", &rest);
    size_t k = 0;
    while (k < 4 && (!word || strcmp(word, kinds[k].name) != 0)) ++k;
    if (k == 4)
        return ps_fail(
            PS_USAGE,
            "--source \"%s\": it begins with plane:, monopole: (point:) or dipole:", text);
    out->sound.kind = kinds[k].kind;
    PS_TRY(take_parts(&r, &rest));
    return settle(&r);
}

/* Texts that begin with what they lie on: out->where. */
static ps_status parse_where(reading *r, ps_sound_kind kind, const char *option, const char *text,
                             const char *begins)
{
    char copy[TEXT_MAX], *rest = NULL;
    PS_TRY(begin(option, text, r->s, copy));
    char *word = strtok_r(copy, ":", &rest);
    if (!word) return ps_fail(PS_USAGE, "%s: it begins with %s", option, begins);
    snprintf(r->s->where, sizeof r->s->where, "%s", word);
    r->s->sound.kind = kind;
    return take_parts(r, &rest);
}

ps_status velocity_parse(const char *text, source_text *out)
{
    reading r = {.s = out, .surface = true};
    /* its signal begins where it is, as that of a monopole */
    PS_TRY(parse_where(&r, PS_SOUND_MONOPOLE, "--velocity", text, "all: or a tag of the mesh"));
    return settle_signal(&r);
}

ps_status panels_parse(const char *text, source_text *out)
{
    reading r = {.s = out, .panels = true};
    PS_TRY(parse_where(&r, PS_SOUND_PANEL, "--panels", text, "a file"));
    if (!out->wave[0]) snprintf(out->wave, sizeof out->wave, "%s", out->where);
    return PS_OK;
}
