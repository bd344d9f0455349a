/* Interior resonances in surface values, found from the body's own decay. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "postprocess/spectrum/spectrum.h"
#include "runtime/compare.h"
#include "runtime/memory.h"

static const double faintest = 1e-5, prominent = 5;

/* |dt sum x w e^{iwt}| over samples [first, samples), w a Hann window (or 1 from the start), summed
 * over some of the channels. */
static double content(const ps_trace *trace, int64_t first, double frequency)
{
    enum { CHANNELS = 12 };
    int64_t step = trace->channels / CHANNELS + 1, count = trace->samples - first;
    double sum = 0;
    for (int64_t c = 0; c < trace->channels; c += step) {
        double re = 0, im = 0;
        for (int64_t n = first; n < trace->samples; ++n) {
            double phase = 2 * M_PI * fmod(frequency * trace->axis[n], 1.0);
            double part = ((double)(n - first) + .5) / (double)count;
            double x = trace->real[n * trace->channels + c];
            if (first > 0) x *= .5 - .5 * cos(2 * M_PI * part);
            re += x * cos(phase);
            im += x * sin(phase);
        }
        sum += hypot(re, im);
    }
    return sum;
}

/* Lines of the tail that stand out of all others. */
static int take_peaks(const double *tail, double *sorted, int64_t count, double level,
                      double spacing, int most, double *out)
{
    int found = 0;
    memcpy(sorted, tail, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, ps_compare_reals);
    double floor = fmax(prominent * sorted[count / 2], level);
    for (int64_t i = 2; i + 2 < count && found < most; ++i) {
        bool peak = tail[i] > floor && tail[i] > tail[i - 1] && tail[i] >= tail[i + 1] &&
                    tail[i] > tail[i - 2] && tail[i] >= tail[i + 2];
        if (peak) out[found++] = (double)i * spacing;
    }
    return found;
}

ps_status spectrum_resonances(const ps_trace *trace, double highest, int most, double *out,
                              int *found)
{
    enum { LINES_LEAST = 16, LINES_MOST = 4096 };
    int64_t n = trace->samples, first = n / 2;
    double length = trace->axis[n - 1] - trace->axis[first], *tail, whole = 0;
    int64_t lines = (int64_t)fmin(3 * highest * length, LINES_MOST);
    *found = 0;
    if (n < 64 || !(length > 0) || lines < LINES_LEAST) return PS_OK;
    PS_TRY(PS_ALLOC(&tail, 2 * lines, "the spectrum of the tail"));
#pragma omp parallel for schedule(dynamic, 8) reduction(max : whole)
    for (int64_t i = 0; i < lines; ++i) {
        double frequency = highest * (double)i / (double)lines;
        tail[i] = content(trace, first, frequency);
        if (i % 4 == 0) whole = fmax(whole, content(trace, 0, frequency));
    }
    *found =
        take_peaks(tail, tail + lines, lines, faintest * whole, highest / (double)lines, most, out);
    free(tail);
    return PS_OK;
}
