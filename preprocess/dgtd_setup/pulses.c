/* pulses: shapes in time of sources and ports, held against t = 0 and against the mesh. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/dgtd/resolution.h"
#include "kernels/dgtd/source.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "setup.h"

static const double pi = 3.14159265358979323846;
/* |u| of a Gaussian exp(-u^2) of 1e-6: where a pulse begins if no delay is given. */
static const double begin = 3.7169221888498383;

/* Of the peak, what a pulse may be at t = 0. */
static const double QUIET = 1e-4;

ps_status read_pulse(setup_text *text, ps_dgtd_source *x, int *fixed)
{
    int wide, delayed;
    double frequency = 0;
    const char *shape = text_find(text, "shape");
    if (shape && strcmp(shape, "gaussian") != 0 && strcmp(shape, "ramp") != 0)
        return ps_fail(PS_USAGE, "--%s %s: shape=%s: there are gaussian and ramp", text->option,
                       text->whole, shape);
    x->shape = shape && shape[0] == 'r' ? PS_DGTD_RAMP : PS_DGTD_GAUSSIAN;
    PS_TRY(text_time(text, "width", &x->width, &wide));
    PS_TRY(text_time(text, "delay", &x->centre, &delayed));
    PS_TRY(text_reals(text, "frequency", 1, &frequency, NULL));
    if (!wide)
        return ps_fail(PS_USAGE, "--%s %s: width= is missing, the time that the pulse takes",
                       text->option, text->whole);
    if (!(x->width > 0) || frequency < 0)
        return ps_fail(PS_USAGE, "--%s %s: width is positive, frequency (Hz) not negative",
                       text->option, text->whole);
    x->omega = 2 * pi * frequency / PS_DGTD_C0;
    if (!delayed) x->centre = x->shape == PS_DGTD_GAUSSIAN ? begin * x->width : 0;
    *fixed = delayed;
    return PS_OK;
}

/* Of its peak, what a pulse is at most at a time (m) up to which it should be quiet. */
static double loudness(const ps_dgtd_source *x, double t)
{
    double u = (t - x->centre) / x->width;
    if (x->shape == PS_DGTD_GAUSSIAN) return u < 0 ? exp(-u * u) : 1;
    return u <= 0 ? 0 : u >= 1 ? 1 : u * u * u * u * (35 - 84 * u + 70 * u * u - 20 * u * u * u);
}

ps_status begin_quietly(const setup *s, ps_dgtd_source *x, double ahead, int fixed,
                        const char *option, const char *text)
{
    double needed = (x->shape == PS_DGTD_GAUSSIAN ? begin * x->width : 0) - ahead;
    double there = loudness(x, -ahead);
    if (there <= QUIET) return PS_OK;
    if (!fixed) {
        ps_info("--%s %s: the pulse would be at %.2g of its peak in the region at t = 0; its "
                "delay is %.4g s instead of "
                "%.4g s",
                option, text, there, needed / PS_DGTD_C0, x->centre / PS_DGTD_C0);
        x->centre = needed;
        return PS_OK;
    }
    return ps_refuse(
        s->run, "early",
        "--%s %s: at t = 0 the pulse is at %.2g of its peak already where it enters, but the "
        "march begins "
        "with no field: give it a delay of %.4g s or more, or none at all for one that does",
        option, text, there, needed / PS_DGTD_C0);
}

/* ---- what the mesh resolves ---- */

double pulse_band(const ps_dgtd_source *x)
{
    if (x->omega > 0) return x->omega;
    return x->shape == PS_DGTD_GAUSSIAN ? 2 * sqrt(log(2)) / x->width : 0;
}

ps_status resolve_pulse(const setup *s, const ps_dgtd_source *x, const char *option,
                        const char *text)
{
    const double omega = pulse_band(x);
    const ps_dgtd_body body = setup_body(s);
    PS_SCOPED_MEMORY ps_dgtd_coarse *volumes = NULL;
    char tag[96];
    if (!(omega > 0)) return PS_OK;
    PS_TRY(PS_ALLOC(&volumes, s->media_count, "the media"));
    ps_dgtd_coarse_volumes(&body, (int)s->options->order, s->media, omega, 2, volumes);
    int64_t coarse = ps_dgtd_unresolved(volumes, s->media_count);
    if (coarse >= 0)
        return ps_refuse(
            s->run, "short-pulse",
            "--%s %s: at %.4g Hz, where most of the pulse is, %.0f %% of medium %s have fewer than "
            "two nodes a wavelength: what would be marched is no wave. Take a longer width, a "
            "lower carrier, or a finer mesh (order %" PRId64 " wants ten nodes or more)",
            option, text, omega * PS_DGTD_C0 / (2 * pi),
            100 * volumes[coarse].coarse / volumes[coarse].all,
            tag_text(s, PS_TAGS_OF_VOLUMES, s->media[coarse].tag, tag), s->options->order);
    return PS_OK;
}
