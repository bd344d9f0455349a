#include "postprocess/sphere_exact/exact.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/mie.h"
#include "kernels/common/vec3.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

enum { CHANNEL_BATCH = 256, SAMPLE_BATCH = 256 };

static int is_field(exact_quantity q) { return q == EXACT_SOFT_FIELD || q == EXACT_HARD_FIELD; }

/* Where a channel lies, seen from the centre: the direction as it is, or the place minus the
 * centre. Far-field directions and surface places are directions already. */
static double distance_of(const exact_task *task, int64_t channel, double out[3])
{
    for (int d = 0; d < 3; ++d)
        out[d] = task->places[3 * channel + d] - (is_field(task->quantity) ? task->centre[d] : 0);
    return sqrt(ps_dot3(out, out));
}

ps_status exact_check(const exact_task *task)
{
    const ps_incident *incident = &task->incident;
    bool hard = task->quantity == EXACT_HARD_SURFACE || task->quantity == EXACT_HARD_FAR ||
                task->quantity == EXACT_HARD_FIELD;
    if (task->lined && !hard)
        return ps_fail(PS_USAGE, "--admittance: of a hard sphere; choose a hard --quantity");
    ps_emitter_kind wanted =
        task->quantity == EXACT_UNIFORM_DENSITY ? PS_EMITTER_UNIFORM : PS_EMITTER_PLANE;
    for (int e = 0; e < incident->count; ++e) {
        if (incident->emitters[e].kind != wanted)
            return ps_fail(PS_USAGE, "--emitter: this quantity is known for %s emitters only",
                           wanted == PS_EMITTER_PLANE ? "plane:" : "uniform:");
        if (incident->emitters[e].shape == PS_PULSE_STEP)
            return ps_fail(PS_USAGE, "--emitter: a step never decays, so its spectrum cannot be "
                                     "summed; take another shape");
    }
    for (int64_t c = 0; c < task->channels; ++c) {
        double from[3], r = distance_of(task, c, from);
        if (is_field(task->quantity) && r < task->radius * (1 - 1e-12))
            return ps_fail(PS_USAGE, "point %lld lies inside the sphere", (long long)c);
        if (!(r > 0)) return ps_fail(PS_USAGE, "place %lld has no direction", (long long)c);
    }
    return PS_OK;
}

/* ---- the response at one frequency ---- */

/* Z at k for one emitter, channels [first, first + count), phase of the centre included. */
static ps_status respond(const exact_task *task, const ps_emitter *emitter, double k, int64_t first,
                         int64_t count, double (*out)[2])
{
    static const ps_mie_quantity series[] = {PS_MIE_SOFT_DENSITY, PS_MIE_SOFT_FAR,
                                             PS_MIE_HARD_SURFACE, PS_MIE_HARD_FAR};
    double cosines[CHANNEL_BATCH], distances[CHANNEL_BATCH];
    for (int64_t i = 0; i < count; ++i) {
        double from[3];
        distances[i] = distance_of(task, first + i, from);
        cosines[i] = fmax(-1, fmin(1, ps_dot3(from, emitter->place) / distances[i]));
    }
    double admittance[2], *beta = task->lined ? admittance : NULL;
    ps_admittance_at(&task->beta, k * task->incident.speed, admittance);
    if (is_field(task->quantity))
        PS_TRY(ps_mie_scattered(task->quantity == EXACT_HARD_FIELD, beta, k, task->radius, count,
                                cosines, distances, out));
    else
        PS_TRY(ps_mie(series[task->quantity], beta, k, task->radius, count, cosines, out));
    int far = task->quantity == EXACT_SOFT_FAR || task->quantity == EXACT_HARD_FAR;
    for (int64_t i = 0; i < count; ++i) {
        /* A far receiver's distance counts from the origin, the sphere's wave from its centre. */
        double phase = k * ps_dot3(emitter->place, task->centre);
        if (far) phase -= k * ps_dot3(task->places + 3 * (first + i), task->centre);
        double c = cos(phase), s = sin(phase), re = out[i][0], im = out[i][1];
        out[i][0] = re * c - im * s;
        out[i][1] = re * s + im * c;
    }
    return PS_OK;
}

ps_status exact_in_frequency(const exact_task *task, int64_t count, const double *frequencies,
                             double *real, double *imaginary)
{
    double z[CHANNEL_BATCH][2];
    for (int64_t f = 0; f < count; ++f)
        for (int64_t c = 0; c < task->channels; c += CHANNEL_BATCH) {
            int64_t n = task->channels - c < CHANNEL_BATCH ? task->channels - c : CHANNEL_BATCH;
            double k = 2 * M_PI * frequencies[f] / task->incident.speed;
            PS_TRY(respond(task, &task->incident.emitters[0], k, c, n, z));
            for (int64_t i = 0; i < n; ++i) {
                real[f * task->channels + c + i] = z[i][0];
                imaginary[f * task->channels + c + i] = z[i][1];
            }
        }
    return PS_OK;
}

/* ---- pulses in time ---- */

typedef struct synthesis {
    const exact_task *task;
    double period;     /* T, s                                                  */
    double begin;      /* before it nothing has arrived anywhere, s             */
    int64_t harmonics; /* m = 0 .. harmonics-1                                  */
    double *products;  /* [2 harmonics][CHANNEL_BATCH]: Re, -Im... of F Z 2/T   */
    double *phases;    /* [SAMPLE_BATCH][2 harmonics]: cos, sin of w_m t        */
} synthesis;

/* Beyond this angular frequency the pulse's spectrum is below 1e-17 of its peak: the bell
 * exp(-(w s/2)^2) falls there at w s = 12.6; the others carry up to (w s)^2 more. */
static double highest_frequency(const ps_emitter *emitter)
{
    return 14 / emitter->width + 2 * M_PI * emitter->frequency;
}

/* Pulses are below 1e-17 this many widths from their middle. */
static const double half_pulse = 6.6;

static ps_status plan(synthesis *s, const exact_task *task)
{
    double crossing = task->radius / task->incident.speed, highest = 0;
    *s = (synthesis){.task = task, .period = task->window * crossing, .begin = INFINITY};
    for (int e = 0; e < task->incident.count; ++e) {
        const ps_emitter *emitter = &task->incident.emitters[e];
        double c = task->incident.speed, reach = sqrt(ps_dot3(task->centre, task->centre)) / c;
        double at_centre = emitter->delay + ps_dot3(emitter->place, task->centre) / c;
        highest = fmax(highest, highest_frequency(emitter));
        s->begin =
            fmin(s->begin, at_centre - 2 * crossing - 2 * reach - half_pulse * emitter->width);
    }
    s->harmonics = (int64_t)ceil(highest * s->period / (2 * M_PI)) + 1;
    if (highest * crossing > PS_MIE_TERMS_MAX - 128)
        return ps_fail(PS_USAGE,
                       "--emitter: the pulse reaches kR = %.0f, the series serves up to %d; widen "
                       "the pulse",
                       highest * crossing, PS_MIE_TERMS_MAX - 128);
    PS_TRY(PS_ALLOC(&s->products, 2 * s->harmonics * CHANNEL_BATCH, "spectra"));
    return PS_ALLOC(&s->phases, SAMPLE_BATCH * 2 * s->harmonics, "phases");
}

/* Row pair m of the products: x(t) = sum_m cos(w_m t) Re + sin(w_m t) Im, as
 * Re(G e^{-iwt}) = Re G cos wt + Im G sin wt. */
static ps_status fill_harmonic(const synthesis *s, int64_t m, int64_t first, int64_t count)
{
    const exact_task *task = s->task;
    double z[CHANNEL_BATCH][2], w = 2 * M_PI * (double)m / s->period;
    double *re = s->products + 2 * m * CHANNEL_BATCH, *im = re + CHANNEL_BATCH;
    memset(re, 0, 2 * CHANNEL_BATCH * sizeof *re);
    for (int e = 0; e < task->incident.count; ++e) {
        const ps_emitter *emitter = &task->incident.emitters[e];
        double a, b, scale = (m ? 2 : 1) * emitter->amplitude / s->period;
        PS_TRY(respond(task, emitter, w / task->incident.speed, first, count, z));
        ps_pulse_spectrum(emitter, w, &a, &b);
        for (int64_t i = 0; i < count; ++i) {
            re[i] += scale * (a * z[i][0] - b * z[i][1]);
            im[i] += scale * (a * z[i][1] + b * z[i][0]);
        }
    }
    return PS_OK;
}

static ps_status fill_products(const synthesis *s, int64_t first, int64_t count)
{
    ps_failure failure = {0};
#pragma omp parallel for schedule(dynamic, 8)
    for (int64_t m = 0; m < s->harmonics; ++m)
        ps_note_failure(&failure, fill_harmonic(s, m, first, count));
    return ps_first_failure(&failure);
}

static void fill_phases(const synthesis *s, int64_t samples, const double *times)
{
#pragma omp parallel for
    for (int64_t n = 0; n < samples; ++n)
        for (int64_t m = 0; m < s->harmonics; ++m) {
            double turns = fmod((double)m * (times[n] / s->period), 1.0);
            double *phase = s->phases + 2 * (n * s->harmonics + m);
            phase[0] = cos(2 * M_PI * turns);
            phase[1] = sin(2 * M_PI * turns);
        }
}

static ps_status check_times(const synthesis *s, int64_t samples, const double *times)
{
    double slack = 0; /* a field point hears the sphere later */
    for (int64_t c = 0; is_field(s->task->quantity) && c < s->task->channels; ++c) {
        double from[3];
        slack = fmax(slack, distance_of(s->task, c, from) / s->task->incident.speed);
    }
    for (int64_t n = 0; n < samples; ++n)
        if (times[n] > s->begin + s->period - slack)
            return ps_fail(PS_USAGE,
                           "t = %g s is beyond the window of %g s that begins at %g s; raise "
                           "--window (now %g R/c)",
                           times[n], s->period, s->begin, s->task->window);
    return PS_OK;
}

static void sum_batch(const synthesis *s, int64_t samples, const double *times, int64_t channels,
                      double *out)
{
    int terms = (int)(2 * s->harmonics), stride = (int)s->task->channels;
    fill_phases(s, samples, times);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)samples, (int)channels, terms, 1,
                s->phases, terms, s->products, CHANNEL_BATCH, 0, out, stride);
    for (int64_t n = 0; n < samples; ++n)
        if (times[n] < s->begin) memset(out + n * stride, 0, (size_t)channels * sizeof *out);
}

static void release(synthesis *s) { PS_FREE(s->products, s->phases); }

static ps_status synthesise(const exact_task *task, int64_t samples, const double *times,
                            double *out)
{
    PS_SCOPED(release) synthesis s = {.task = task};
    PS_TRY(plan(&s, task));
    PS_TRY(check_times(&s, samples, times));
    for (int64_t c = 0; c < task->channels; c += CHANNEL_BATCH) {
        int64_t channels = task->channels - c < CHANNEL_BATCH ? task->channels - c : CHANNEL_BATCH;
        PS_TRY(fill_products(&s, c, channels));
        for (int64_t n = 0; n < samples; n += SAMPLE_BATCH) {
            int64_t count = samples - n < SAMPLE_BATCH ? samples - n : SAMPLE_BATCH;
            sum_batch(&s, count, times + n, channels, out + n * task->channels + c);
        }
    }
    return PS_OK;
}

/* ---- uniform incidence ---- */

static double uniform_density(const exact_task *task, double t)
{
    double sum = 0, c = task->incident.speed;
    for (int e = 0; e < task->incident.count; ++e) {
        const ps_emitter *emitter = &task->incident.emitters[e];
        double q = t - emitter->delay;
        for (; q > -30 * emitter->width; q -= 2 * task->radius / c)
            sum += 2 / c * emitter->amplitude * ps_pulse_slope(emitter, q);
    }
    return sum;
}

ps_status exact_in_time(const exact_task *task, int64_t samples, const double *times, double *out)
{
    if (task->quantity != EXACT_UNIFORM_DENSITY) return synthesise(task, samples, times, out);
    for (int64_t n = 0; n < samples; ++n)
        for (int64_t c = 0; c < task->channels; ++c)
            out[n * task->channels + c] = uniform_density(task, times[n]);
    return PS_OK;
}
