#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postprocess/spectrum/figure_table.h"
#include "postprocess/spectrum/spectrum.h"
#include "runtime/log.h"
#include "runtime/option_values.h"
#include "runtime/program.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/plan.h"
#include "stage/product.h"

static struct {
    const char *frequencies, *pulse;
    double fmin, fmax, taper, shift;
    int64_t count, pad;
    bool divide, target_strength, basis;
} chosen = {.pad = 1};

static const ps_option options[] = {
    PS_TEXT("frequencies", &chosen.frequencies, "A,B,...", PS_IDENTITY, "these frequencies, Hz"),
    PS_REAL("fmin", &chosen.fmin, "HZ", 0, 1e15, PS_IDENTITY, "from this frequency"),
    PS_REAL("fmax", &chosen.fmax, "HZ", 0, 1e15, PS_IDENTITY,
            "to this frequency; 0: the highest there is"),
    PS_INT("count", &chosen.count, "N", 0, 100000000, PS_IDENTITY,
           "so many equally spaced frequencies; 0: the bins of the FFT"),
    PS_INT("pad", &chosen.pad, "N", 1, 64, PS_IDENTITY,
           "lengthen the signal N times by zeros for the FFT"),
    PS_FLAG("divide", &chosen.divide, PS_IDENTITY,
            "divide by the spectrum of the incident pulse, which the trace knows: the response to "
            "unit incidence"),
    PS_TEXT("pulse", &chosen.pulse, "TEXT", PS_IDENTITY,
            "divide by the spectrum of this pulse, as of tdbem-march --emitter"),
    PS_FLAG("target-strength", &chosen.target_strength, PS_IDENTITY,
            "20 log10(|F|/1 m) of a far field, in dB (divides by the pulse)"),
    PS_REAL("taper", &chosen.taper, "X", 0, 1, PS_IDENTITY,
            "fade out over this last part of the signal, 0 .. 1; 0: none"),
    PS_REAL("times-shift", &chosen.shift, "SECONDS", 0, 0, PS_IDENTITY,
            "add to the times of the trace (its own already stand where the values do; default 0)"),
    PS_FLAG("basis", &chosen.basis, PS_IDENTITY,
            "multiply densities by the transform of their basis in time: the spectrum of the "
            "piecewise function instead of that of the values"),
    PS_OPTION_END};

static const ps_allowance allowances[] = {
    {"beyond-band", "frequencies where mesh or step are too coarse"},
    {"cut-signal", "a signal that ends before it has decayed"},
    {NULL, NULL}};

/* Of the signal's peak at the end of the trace: warned of above, refused of responses above; times
 * the usable frequency, from which on responses are none. */
static const double DECAYED = 1e-3, CUT = .1, HOPELESS = 3;

static bool divides(void) { return chosen.divide || chosen.pulse || chosen.target_strength; }

/* ---- the pulse ---- */

static bool same_pulse(ps_emitter a, ps_emitter b)
{
    return a.shape == b.shape && a.amplitude == b.amplitude && a.width == b.width &&
           a.frequency == b.frequency && a.delay == b.delay;
}

static ps_status find_pulse(const ps_trace *trace, ps_emitter *pulse)
{
    if (chosen.pulse) {
        PS_TRY(ps_emitter_parse(chosen.pulse, pulse));
        return isnan(pulse->delay) ? ps_fail(PS_USAGE, "--pulse: say its delay") : PS_OK;
    }
    if (!trace->origin.emitter_count)
        return ps_fail(PS_USAGE, "the trace does not know the incident pulse; say --pulse TEXT");
    for (int i = 0; i < trace->origin.emitter_count; ++i) {
        ps_emitter emitter;
        PS_TRY(ps_emitter_parse(trace->origin.emitters[i], &emitter));
        if (i && !same_pulse(emitter, *pulse))
            return ps_fail(PS_USAGE, "the emitters have different pulses, so there is no common "
                                     "spectrum to divide by; say --pulse TEXT");
        *pulse = emitter;
    }
    return PS_OK;
}

/* Target strength compares the far field with the wave that hits the body, 1 for a plane wave of
 * unit amplitude; that of a point source depends on where the body is, which a trace does not know.
 */
static ps_status check_target_strength(const ps_trace *trace, const ps_run *run)
{
    ps_emitter emitter;
    int count = trace->origin.emitter_count;
    if (!trace->far_field)
        return ps_fail(PS_USAGE, "--target-strength is of a far field; %s has points",
                       run->operands[0]);
    if (trace->origin.mirrors.count > 0)
        return ps_fail(PS_INVALID,
                       "--target-strength is of a body in the open: %s holds the images "
                       "in a plane, too; use --divide",
                       run->operands[0]);
    for (int i = 0; i < count + (chosen.pulse != NULL); ++i) {
        PS_TRY(ps_emitter_parse(i < count ? trace->origin.emitters[i] : chosen.pulse, &emitter));
        if (emitter.kind != PS_EMITTER_PLANE || count > 1)
            return ps_fail(
                PS_INVALID,
                "--target-strength is defined for one plane wave, and what came in is %s; use "
                "--divide, and for a source R m from the body's centre add 20 log10(4 pi R)",
                count > 1                          ? "several waves"
                : emitter.kind == PS_EMITTER_POINT ? "a point source, whose pressure at the body "
                                                     "is 1/(4 pi R) of its amplitude"
                                                   : "no wave (uniform)");
    }
    return PS_OK;
}

/* ---- the transform ---- */

static void fill_range(double *axis, int64_t count, double highest)
{
    double top = chosen.fmax > 0 ? chosen.fmax : highest;
    for (int64_t i = 0; i < count; ++i)
        axis[i] =
            chosen.fmin + (count > 1 ? (top - chosen.fmin) * (double)i / (double)(count - 1) : 0);
}

static ps_status transform_chosen(const ps_trace *trace, double dt, ps_trace *out)
{
    enum { MANY = 4096 };
    double list[MANY];
    int count = 0;
    if (chosen.frequencies && chosen.count)
        return ps_fail(PS_USAGE, "--frequencies and --count exclude each other");
    if (chosen.frequencies) PS_TRY(ps_parse_measures(chosen.frequencies, "HZ", list, MANY, &count));
    PS_TRY(ps_trace_init(out, count ? count : chosen.count, trace->channels, true));
    if (count)
        memcpy(out->axis, list, (size_t)count * sizeof *list);
    else
        fill_range(out->axis, chosen.count, .5 / dt);
    for (int64_t i = 0; i < out->samples; ++i)
        if (out->axis[i] > .5 / dt * (1 + 1e-9) || (i && out->axis[i] <= out->axis[i - 1])) {
            double bad = out->axis[i];
            ps_trace_release(out);
            return ps_fail(PS_USAGE,
                           "frequency %g Hz: they must ascend and stay below %g Hz, half the "
                           "sampling rate",
                           bad, .5 / dt);
        }
    spectrum_direct(trace, dt, out);
    return PS_OK;
}

static ps_status transform_bins(const ps_trace *trace, double dt, ps_trace *out)
{
    int64_t padded = chosen.pad * trace->samples;
    double width = 1 / ((double)padded * dt);
    int64_t first = (int64_t)ceil(chosen.fmin / width - 1e-9), last = spectrum_bins(padded) - 1;
    if (chosen.fmax > 0 && (double)last * width > chosen.fmax)
        last = (int64_t)floor(chosen.fmax / width + 1e-9);
    if (padded > INT32_MAX || first > last)
        return ps_fail(PS_USAGE,
                       "no bin of the FFT (%g Hz wide, %lld samples) lies between "
                       "--fmin and --fmax",
                       width, (long long)padded);
    PS_TRY(ps_trace_init(out, last - first + 1, trace->channels, true));
    ps_status status = spectrum_fft(trace, dt, padded, first, out);
    if (status != PS_OK) ps_trace_release(out);
    return status;
}

/* ---- warnings ---- */

/* Above this frequency mesh (w h/c < .6) or step (w dt < .6) are too coarse (guide 2.9). */
static double usable_frequency(const ps_trace *trace)
{
    const ps_trace_origin *origin = &trace->origin;
    double highest = INFINITY;
    if (origin->dt > 0) highest = .6 / origin->dt / (2 * M_PI);
    if (origin->edge > 0 && origin->speed > 0)
        highest = fmin(highest, .6 * origin->speed / origin->edge / (2 * M_PI));
    return highest;
}

static int64_t count_beyond(const ps_trace *out, double usable)
{
    int64_t beyond = 0;
    for (int64_t i = 0; i < out->samples; ++i) beyond += out->axis[i] > usable;
    return beyond;
}

static ps_status check_end(const ps_run *run, double truncation)
{
    static const char said[] = "the signal has not decayed where the trace ends (its end is %.2g "
                               "of its peak): march longer, or --taper";
    if (divides() && truncation > CUT && chosen.taper == 0)
        return ps_refuse(run, "cut-signal", said, truncation);
    if (truncation > DECAYED) ps_warning(said, truncation);
    return PS_OK;
}

/* ---- the result ---- */

/* Responses are left out where they are hopeless, target strengths already above the usable band,
 * unless they are asked for; a transform of what the trace has stays. */
static ps_status check_band(const ps_run *run, double usable, ps_trace *out)
{
    double most = chosen.target_strength ? usable : divides() ? HOPELESS * usable : INFINITY;
    int64_t beyond = count_beyond(out, usable), hopeless = count_beyond(out, most);
    for (int i = 0; i < run->allowed.count; ++i)
        if (strcmp(run->allowed.items[i], "beyond-band") == 0) hopeless = 0;
    if (hopeless == out->samples)
        return ps_refuse(run, "beyond-band",
                         "all frequencies are above %.4g Hz, where mesh or step are too coarse: "
                         "refine them, or ask for lower ones",
                         most);
    for (int64_t v = 0; v < out->samples * out->channels && hopeless > 0; ++v) {
        if (out->axis[v / out->channels] <= most) continue;
        out->real[v] = NAN;
        if (out->imaginary) out->imaginary[v] = NAN;
    }
    if (beyond)
        ps_warning("%lld of %lld frequencies are above %.4g Hz, where mesh or step are too coarse "
                   "for accurate values",
                   (long long)beyond, (long long)out->samples, usable);
    if (hopeless)
        ps_warning("at %lld of %lld frequencies, above %.4g Hz, NaN stands for what mesh and step "
                   "do not tell (--allow beyond-band gives it all the same)",
                   (long long)hopeless, (long long)out->samples, most);
    return PS_OK;
}

/* Surface values near the body's own resonances. */
static ps_status warn_of_resonances(const ps_trace *trace, const ps_trace *out)
{
    enum { MOST = 12 };
    static const double near = .02;
    double found[MOST], highest = out->axis[out->samples - 1] * 1.05;
    int count, at = 0;
    int64_t lines = 0;
    char text[MOST * 16] = "";
    bool surface = strstr(trace->quantity, "surface") || strstr(trace->quantity, "density");
    if (!surface) return PS_OK;
    PS_TRY(spectrum_resonances(trace, highest, MOST, found, &count));
    for (int64_t i = 0; i < out->samples; ++i) {
        bool hit = false;
        for (int r = 0; r < count; ++r) hit |= fabs(out->axis[i] - found[r]) < near * found[r];
        lines += hit;
    }
    for (int r = 0; r < count; ++r)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%.4g", r ? ", " : "", found[r]);
    if (count)
        ps_warning("the surface still rings at %s Hz where the trace ends: interior resonances of "
                   "the closed body, near which its surface values are wrong by several per cent "
                   "(%lld of %lld lines are within %.0f %%); the far field hardly has them",
                   text, (long long)lines, (long long)out->samples, 100 * near);
    return PS_OK;
}

/* Units of the transform; divided by Pa s of the pulse, Pa becomes 1. */
static void name_units(const ps_trace *trace, ps_trace *out)
{
    static const char *const table[][2] = {{"Pa", "1"}, {"Pa m", "m"}, {"Pa/m", "1/m"}};
    snprintf(out->units, sizeof out->units, "%.27s s", trace->units);
    for (int i = 0; divides() && i < 3; ++i)
        if (strcmp(trace->units, table[i][0]) == 0) strcpy(out->units, table[i][1]);
}

static void describe(const ps_trace *trace, ps_trace *out)
{
    out->in_frequency = true;
    out->far_field = trace->far_field;
    memcpy(out->grid, trace->grid, sizeof out->grid);
    memcpy(out->places, trace->places, (size_t)(3 * trace->channels) * sizeof *out->places);
    memcpy(out->quantity, trace->quantity, sizeof out->quantity);
    name_units(trace, out);
    out->origin = trace->origin;
    out->origin.basis = PS_TRACE_SAMPLES;
    if (divides()) out->origin.emitter_count = 0;
}

static void report(const ps_run *run, const ps_trace *out, double usable, double truncation)
{
    ps_report *r = ps_report_new(run);
    ps_report_int(r, "channels", out->channels);
    ps_report_int(r, "frequencies", out->samples);
    ps_report_real(r, "lowest", out->axis[0]);
    ps_report_real(r, "highest", out->axis[out->samples - 1]);
    if (isfinite(usable)) ps_report_real(r, "usable_up_to", usable);
    ps_report_real(r, "truncation", truncation);
    ps_report_print(&r);
}

static ps_status transform(ps_trace *trace, const ps_run *run, ps_trace *out)
{
    double dt;
    ps_emitter pulse;
    int64_t unknown = 0;
    PS_TRY(spectrum_step(trace, &dt));
    if (chosen.target_strength) PS_TRY(check_target_strength(trace, run));
    if (divides()) PS_TRY(find_pulse(trace, &pulse));
    for (int64_t i = 0; i < trace->samples; ++i) trace->axis[i] += chosen.shift;
    double truncation = spectrum_truncation(trace), usable = usable_frequency(trace);
    spectrum_taper(trace, chosen.taper);
    PS_TRY(chosen.frequencies || chosen.count ? transform_chosen(trace, dt, out)
                                              : transform_bins(trace, dt, out));
    if (chosen.basis) spectrum_apply_basis(out, trace->origin.basis, trace->origin.dt);
    if (divides()) unknown = spectrum_divide(out, &pulse);
    describe(trace, out);
    if (isfinite(usable)) out->origin.usable = usable;
    if (chosen.target_strength) ps_trace_to_target_strength(out, 1);
    PS_TRY(check_band(run, usable, out));
    PS_TRY(warn_of_resonances(trace, out)); /* which may be why a signal does not decay */
    PS_TRY(check_end(run, truncation));
    if (unknown)
        ps_warning("at %lld frequencies the pulse has no energy: no value there (NaN)",
                   (long long)unknown);
    report(run, out, usable, truncation);
    return PS_OK;
}

static ps_status transform_file(const ps_run *run, const ps_product *product)
{
    PS_SCOPED(ps_trace_release) ps_trace trace = {0};
    PS_SCOPED(ps_trace_release) ps_trace out = {0};
    PS_TRY(ps_trace_load(run->operands[0], &trace));
    /* bins of a signal padded to at most four times its length */
    int64_t values = trace.samples * trace.channels;
    const ps_need need = {
        .arrays = 48 * values, .disk = 32 * values, .seconds = 1e-7 * (double)values};
    PS_TRY(ps_plan_tell(run, &need));
    if (run->plan) return PS_OK;
    PS_TRY_IN(transform(&trace, run, &out), "%s", run->operands[0]);
    return ps_product_put_trace(product, &out);
}

static ps_status run_spectrum(ps_run *run)
{
    ps_product product;
    PS_SCOPED(ps_store_close) ps_store *input = NULL;
    ps_product_init(run, PS_TRACE_FORMAT, PS_TRACE_VERSION, &product);
    PS_TRY(ps_store_open(run->operands[0], PS_TRACE_FORMAT, PS_TRACE_VERSION, &input));
    PS_TRY(ps_product_input(&product, "trace", input));
    return ps_product_is_up_to_date(&product) ? PS_OK : transform_file(run, &product);
}

const ps_program ps_this_program = {
    .name = "spectrum",
    .results = 2,
    .synopsis = "TRACE OUTPUT",
    .description =
        "Transforms a trace in time to frequency: X(w) = dt sum x e^{+iwt} at the bins of the FFT "
        "or at chosen frequencies. With --divide the result is the response to an incident wave of "
        "unit amplitude, with --target-strength that of a far field in dB. Responses are left out "
        "three times above the frequency that mesh and step are fine for, target strengths above "
        "it, "
        "and both are refused of signals that end before they have decayed. Warns where the "
        "surface "
        "of a closed body resonates.",
    .examples = "  penstock-spectrum far.h5 response.h5 --divide --fmin 20 --fmax 2000\n"
                "  penstock-spectrum far.h5 ts.h5 --target-strength --frequencies 250,500,1000",
    .options = options,
    .figures = figure_table,
    .allowances = allowances,
    .run = run_spectrum};
