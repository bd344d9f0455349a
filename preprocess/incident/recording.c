/* Recorded signals: WAV files and tables, low-passed to what mesh and step take, on a fine grid. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/number_file.h"
#include "preprocess/incident/incident.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/scope.h"

enum { SAMPLES_MAX = 1 << 28, COLUMNS = 64 };

typedef struct wave {
    const char *path;
    double *values; /* owned */
    int64_t count, room;
    double start, rate;
} wave;

static void wave_release(wave *w) { free(w->values); }

static ps_status add(wave *w, double value)
{
    if (!isfinite(value))
        return ps_fail(PS_INVALID, "%s: sample %lld is not a finite number", w->path,
                       (long long)w->count);
    if (w->count == SAMPLES_MAX)
        return ps_fail(PS_INVALID, "%s: more than %d samples", w->path, SAMPLES_MAX);
    PS_TRY(ps_grow((void **)&w->values, &w->room, w->count + 1, sizeof value, "samples"));
    w->values[w->count++] = value;
    return PS_OK;
}

/* ---- tables ---- */

ps_status even_time(const char *path, int64_t row, int64_t line, double time, even_times *t)
{
    if (!isfinite(time))
        return ps_fail(PS_INVALID, "%s line %lld: the time is not finite", path, (long long)line);
    if (row == 0) return t->start = time, PS_OK;
    if (row == 1) {
        t->step = time - t->start;
        return t->step > 0 && isfinite(1 / t->step)
                   ? PS_OK
                   : ps_fail(PS_INVALID, "%s line %lld: times do not ascend", path,
                             (long long)line);
    }
    double expected = t->start + (double)row * t->step;
    if (fabs(time - expected) <= 1e-3 * t->step) {
        t->step = (time - t->start) / (double)row; /* what rounding of the times leaves */
        return PS_OK;
    }
    return ps_fail(PS_INVALID,
                   "%s line %lld: a gap: time %.9g s where steps of %.9g s lead to %.9g s; "
                   "resample or cut the recording",
                   path, (long long)line, time, t->step, expected);
}

static ps_status read_table(const source_text *s, wave *w)
{
    even_times times = {0, 0};
    double row[COLUMNS];
    int columns = 0, count;
    PS_SCOPED(ps_number_file_close) ps_number_file *file = NULL;
    PS_TRY(ps_number_file_open(w->path, &file));
    w->rate = s->rate;
    for (;;) {
        PS_TRY(ps_number_file_line(file, row, COLUMNS, &count));
        if (count == 0) return PS_OK;
        int64_t line = ps_number_file_where(file);
        int wanted = s->column ? s->column : s->rate > 0 ? 1 : 2;
        if (wanted > count || (columns && count != columns))
            return ps_fail(PS_INVALID,
                           "%s line %lld has %d columns, expected %d; without :rate=HZ the first "
                           "is the time in s",
                           w->path, (long long)line, count, columns ? columns : wanted);
        columns = count;
        if (!(s->rate > 0)) {
            PS_TRY(even_time(w->path, w->count, line, row[0], &times));
            w->start = times.start;
            w->rate = 1 / times.step;
        }
        PS_TRY(add(w, row[wanted - 1]));
    }
}

/* ---- WAV (RIFF, Microsoft and IBM 1991; IEEE floats and extensible) ---- */

typedef struct wav_format {
    int kind, channels, bits; /* 1: integers, 3: floats */
} wav_format;

static uint32_t little(const unsigned char *b, int bytes)
{
    uint32_t value = 0;
    for (int k = 0; k < bytes; ++k) value |= (uint32_t)b[k] << (8 * k);
    return value;
}

static double wav_sample(const wav_format *f, const unsigned char *b)
{
    if (f->kind == 3 && f->bits == 64) {
        double value;
        memcpy(&value, b, sizeof value);
        return value;
    }
    uint32_t word = little(b, f->bits / 8);
    if (f->kind == 3) {
        float value;
        memcpy(&value, &word, sizeof value);
        return value;
    }
    if (f->bits == 8) return ((double)word - 128) / 128;
    return (double)(int32_t)(word << (32 - f->bits)) / 2147483648.;
}

static ps_status wav_format_take(wave *w, const unsigned char *b, uint32_t size, wav_format *f)
{
    f->kind = (int)little(b, 2);
    if (f->kind == 0xfffe && size >= 26) f->kind = (int)little(b + 24, 2);
    f->channels = (int)little(b + 2, 2);
    f->bits = (int)little(b + 14, 2);
    w->rate = little(b + 4, 4);
    bool known =
        (f->kind == 1 && (f->bits == 8 || f->bits == 16 || f->bits == 24 || f->bits == 32)) ||
        (f->kind == 3 && (f->bits == 32 || f->bits == 64));
    if (known && f->channels > 0 && w->rate > 0) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: WAV of kind %d with %d bits is not read: integers of 8, 16, 24, 32 or "
                   "floats of 32, 64 bits are",
                   w->path, f->kind, f->bits);
}

static ps_status wav_samples(FILE *in, const source_text *s, wave *w, const wav_format *f,
                             uint32_t size)
{
    unsigned char frame[8 * 256];
    int bytes = f->bits / 8, width = bytes * f->channels, channel = s->column ? s->column : 1;
    if (channel > f->channels || f->channels > 256)
        return ps_fail(PS_INVALID, "%s has %d channels, not %d", w->path, f->channels, channel);
    if (f->channels > 1 && !s->column)
        return ps_fail(PS_INVALID, "%s has %d channels: say which with :column=N", w->path,
                       f->channels);
    for (uint32_t at = 0; at + (uint32_t)width <= size; at += (uint32_t)width) {
        if (fread(frame, (size_t)width, 1, in) != 1)
            return ps_fail(PS_INVALID, "%s is cut short after %lld samples", w->path,
                           (long long)w->count);
        PS_TRY(add(w, wav_sample(f, frame + (channel - 1) * bytes)));
    }
    return PS_OK;
}

static ps_status read_wav(FILE *in, const source_text *s, wave *w)
{
    unsigned char head[8], body[40];
    wav_format f = {0};
    if (fseek(in, 12, SEEK_SET) != 0) return ps_fail(PS_INVALID, "%s cannot be read", w->path);
    while (fread(head, sizeof head, 1, in) == 1) {
        uint32_t size = little(head + 4, 4);
        if (!memcmp(head, "data", 4)) {
            if (!f.channels) break;
            return wav_samples(in, s, w, &f, size);
        }
        uint32_t taken = 0;
        if (!memcmp(head, "fmt ", 4) && size >= 16) {
            taken = size < sizeof body ? size : (uint32_t)sizeof body;
            if (fread(body, taken, 1, in) != 1) break;
            PS_TRY(wav_format_take(w, body, taken, &f));
        }
        if (fseek(in, (long)(size - taken + size % 2), SEEK_CUR) != 0) break;
    }
    return ps_fail(PS_INVALID, "%s is a WAV file without format or data", w->path);
}

static ps_status read_wave(const source_text *s, wave *w)
{
    unsigned char head[12] = {0};
    FILE *in;
    PS_TRY(ps_path_open_input(w->path, "a recorded sound", &in));
    bool wav = fread(head, sizeof head, 1, in) == 1 && !memcmp(head, "RIFF", 4) &&
               !memcmp(head + 8, "WAVE", 4);
    ps_status status = wav ? s->rate > 0
                                 ? ps_fail(PS_USAGE, "%s knows its rate: leave :rate out", w->path)
                                 : read_wav(in, s, w)
                           : PS_OK;
    fclose(in);
    PS_TRY(status);
    if (!wav) PS_TRY(read_table(s, w));
    if (w->count < 2 || !(w->rate > 0))
        return ps_fail(PS_INVALID, "%s has %lld samples: a signal has two at least", w->path,
                       (long long)w->count);
    return PS_OK;
}

/* ---- the low-pass ---- */

low_pass low_pass_of(double top, double rate)
{
    double most = M_PI * rate / 1.5; /* a rate too low for `top` limits it */
    if (top > most) top = most;
    double sigma = 3.72 / (.25 * top);
    return (low_pass){1.25 * top, sigma, 6 * sigma};
}

double low_passed(const even_samples *w, const low_pass *f, double t)
{
    double at = (t - w->start) * w->rate, half = f->reach * w->rate, sum = 0;
    int64_t first = (int64_t)ceil(at - half), last = (int64_t)floor(at + half);
    if (first < 0) first = 0;
    if (last > w->count - 1) last = w->count - 1;
    for (int64_t k = first; k <= last; ++k) {
        double q = (at - (double)k) / w->rate, x = f->cut * q;
        double sinc = fabs(x) < 1e-6 ? f->cut / M_PI : sin(x) / (M_PI * q);
        sum += w->values[k * w->stride] * sinc * exp(-q * q / (2 * f->sigma * f->sigma));
    }
    return sum / w->rate;
}

/* Slopes by differences of the sixth order: at w h <= .03 they are those of the values to 1e-11. */
static void fill_slopes(double *samples, int64_t count, double step)
{
    for (int64_t k = 3; k + 3 < count; ++k) {
        const double *s = samples + 2 * k;
        samples[2 * k + 1] =
            (45 * (s[2] - s[-2]) - 9 * (s[4] - s[-4]) + (s[6] - s[-6])) / (60 * step);
    }
}

ps_status recording_read(source_text *s, double top)
{
    ps_signal *signal = &s->sound.signal;
    PS_SCOPED(wave_release) wave w = {.path = s->wave};
    PS_TRY(read_wave(s, &w));
    low_pass f = low_pass_of(top, w.rate);
    double all = 0, kept = 0, step = .02 / top;
    double length = (double)(w.count - 1) / w.rate + 2 * f.reach + 8 * step;
    if (!(length / step < SAMPLES_MAX))
        return ps_fail(PS_INVALID, "%s: %g s of signal for waves up to %g Hz are too many samples",
                       w.path, length, top / (2 * M_PI));
    signal->count = (int64_t)ceil(length / step);
    signal->step = step;
    PS_TRY(PS_ALLOC(&s->recording.samples, 2 * signal->count, "the filtered signal"));
    double *samples = s->recording.samples, from = w.start - f.reach - 4 * step;
    const even_samples even = {w.values, w.count, 1, w.start, w.rate};
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < signal->count; ++k)
        samples[2 * k] = low_passed(&even, &f, from + (double)k * step);
    fill_slopes(samples, signal->count, step);
    for (int64_t k = 0; k < w.count; ++k) all += w.values[k] * w.values[k] / w.rate;
    for (int64_t k = 0; k < signal->count; ++k) kept += samples[2 * k] * samples[2 * k] * step;
    signal->samples = samples;
    /* Without a delay the filtered signal begins at 0; with one the file's time 0 is there. */
    signal->start = s->delayed ? from + s->delay : 0;
    s->recording.rate = w.rate;
    s->recording.cut = all > 0 ? fmax(0, 1 - kept / all) : 0;
    return PS_OK;
}
