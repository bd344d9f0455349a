#include <complex.h>
#include <math.h>
#include <string.h>

#include "postprocess/spectrum/spectrum.h"

#ifdef PS_WITH_FFTW
#include <fftw3.h>
#endif

ps_status spectrum_step(const ps_trace *trace, double *dt)
{
    if (trace->in_frequency || trace->complex_values)
        return ps_fail(PS_INVALID, "it is a spectrum already; a trace in time is needed");
    if (trace->samples < 2) return ps_fail(PS_INVALID, "one sample makes no spectrum");
    int64_t n = trace->samples;
    *dt = (trace->axis[n - 1] - trace->axis[0]) / (double)(n - 1);
    for (int64_t i = 0; i < n; ++i)
        if (fabs(trace->axis[i] - trace->axis[0] - (double)i * *dt) > 1e-6 * *dt)
            return ps_fail(PS_INVALID, "its times are not equally spaced (sample %lld)",
                           (long long)i);
    return PS_OK;
}

/* ---- sums ---- */

static void direct_sum(const ps_trace *trace, double dt, double frequency, double *re, double *im)
{
    memset(re, 0, (size_t)trace->channels * sizeof *re);
    memset(im, 0, (size_t)trace->channels * sizeof *im);
    for (int64_t n = 0; n < trace->samples; ++n) {
        double turns = fmod(frequency * trace->axis[n], 1.0);
        double c = dt * cos(2 * M_PI * turns), s = dt * sin(2 * M_PI * turns);
        const double *x = trace->real + n * trace->channels;
        for (int64_t k = 0; k < trace->channels; ++k) {
            re[k] += c * x[k];
            im[k] += s * x[k];
        }
    }
}

void spectrum_direct(const ps_trace *trace, double dt, ps_trace *out)
{
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t f = 0; f < out->samples; ++f)
        direct_sum(trace, dt, out->axis[f], out->real + f * out->channels,
                   out->imaginary + f * out->channels);
}

int64_t spectrum_bins(int64_t padded) { return padded / 2 + 1; }

#ifdef PS_WITH_FFTW
/* FFTW's sign is e^{-i}: conjugate, then shift by the first time. */
static void take_bins(const double complex *bins, const ps_trace *trace, double dt, int64_t padded,
                      int64_t first, int64_t channel, ps_trace *out)
{
    for (int64_t b = 0; b < out->samples; ++b) {
        double frequency = (double)(first + b) / ((double)padded * dt);
        double turns = fmod(frequency * trace->axis[0], 1.0);
        double complex value = dt * conj(bins[first + b]) * cexp(2 * M_PI * I * turns);
        out->axis[b] = frequency;
        out->real[b * out->channels + channel] = creal(value);
        out->imaginary[b * out->channels + channel] = cimag(value);
    }
}

ps_status spectrum_fft(const ps_trace *trace, double dt, int64_t padded, int64_t first,
                       ps_trace *out)
{
    double *signal = fftw_malloc(sizeof *signal * (size_t)padded);
    double complex *bins = fftw_malloc(sizeof *bins * (size_t)spectrum_bins(padded));
    fftw_plan plan = NULL;
    ps_status status = PS_OK;
    if (signal && bins) plan = fftw_plan_dft_r2c_1d((int)padded, signal, bins, FFTW_ESTIMATE);
    if (!plan)
        status =
            ps_fail(PS_EXHAUSTED, "no memory for a transform of %lld samples", (long long)padded);
    for (int64_t c = 0; status == PS_OK && c < trace->channels; ++c) {
        memset(signal, 0, sizeof *signal * (size_t)padded);
        for (int64_t n = 0; n < trace->samples; ++n)
            signal[n] = trace->real[n * trace->channels + c];
        fftw_execute(plan);
        take_bins(bins, trace, dt, padded, first, c, out);
    }
    if (plan) fftw_destroy_plan(plan);
    fftw_free(signal);
    fftw_free(bins);
    return status;
}
#else
ps_status spectrum_fft(const ps_trace *trace, double dt, int64_t padded, int64_t first,
                       ps_trace *out)
{
    return ps_fail(PS_FAILED, "this build has no FFTW: name frequencies with --frequencies or "
                              "--fmin, --fmax and --count, or install libfftw3-dev and rebuild");
}
#endif

/* ---- before and after ---- */

void spectrum_taper(ps_trace *trace, double fraction)
{
    int64_t n = trace->samples, tail = (int64_t)(fraction * (double)n);
    for (int64_t i = 0; i < tail; ++i) {
        double factor = .5 - .5 * cos(M_PI * ((double)i + .5) / (double)tail);
        double *x = trace->real + (n - 1 - i) * trace->channels;
        for (int64_t c = 0; c < trace->channels; ++c) x[c] *= factor;
    }
}

double spectrum_truncation(const ps_trace *trace)
{
    static const double SILENT = 1e-6;
    double worst = 0, loudest = 0;
    int64_t tail = trace->samples - (trace->samples + 19) / 20;
    for (int64_t i = 0; i < trace->samples * trace->channels; ++i)
        loudest = fmax(loudest, fabs(trace->real[i]));
    for (int64_t c = 0; c < trace->channels; ++c) {
        double all = 0, end = 0;
        for (int64_t n = 0; n < trace->samples; ++n) {
            double x = fabs(trace->real[n * trace->channels + c]);
            if (x > all) all = x;
            if (n >= tail && x > end) end = x;
        }
        if (all > SILENT * loudest && end / all > worst) worst = end / all;
    }
    return worst;
}

static void scale_sample(ps_trace *out, int64_t sample, double complex factor)
{
    for (int64_t i = sample * out->channels; i < (sample + 1) * out->channels; ++i) {
        double complex value = factor * (out->real[i] + I * out->imaginary[i]);
        out->real[i] = creal(value);
        out->imaginary[i] = cimag(value);
    }
}

void spectrum_apply_basis(ps_trace *out, ps_trace_basis basis, double dt)
{
    for (int64_t s = 0; s < out->samples; ++s) {
        double half = M_PI * out->axis[s] * dt, sinc = half > 0 ? sin(half) / half : 1;
        if (basis == PS_TRACE_STEP_MEAN) scale_sample(out, s, sinc);
        if (basis == PS_TRACE_HAT) scale_sample(out, s, sinc * sinc);
    }
}

static double complex pulse_at(const ps_emitter *pulse, double frequency)
{
    double re, im;
    if (pulse->shape == PS_PULSE_STEP && frequency == 0) return INFINITY;
    ps_pulse_spectrum(pulse, 2 * M_PI * frequency, &re, &im);
    return pulse->amplitude * (re + I * im);
}

int64_t spectrum_divide(ps_trace *out, const ps_emitter *pulse)
{
    double peak = 0;
    int64_t unknown = 0;
    for (int64_t s = 0; s < out->samples; ++s) {
        double size = cabs(pulse_at(pulse, out->axis[s]));
        if (isfinite(size) && size > peak) peak = size;
    }
    for (int64_t s = 0; s < out->samples; ++s) {
        double complex f = pulse_at(pulse, out->axis[s]);
        bool known = isfinite(cabs(f)) && cabs(f) > 1e-6 * peak;
        unknown += !known;
        scale_sample(out, s, known ? 1 / f : NAN);
    }
    return unknown;
}
