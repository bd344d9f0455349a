#include "formats/touchstone.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/scope.h"

/* How a pair of numbers stands for a complex one. */
typedef enum form { MAGNITUDE_ANGLE, DECIBEL_ANGLE, REAL_IMAGINARY } form;

typedef struct reading {
    const char *path;
    int ports, line;
    form form;
    double hertz; /* a unit of frequency */
    bool across;  /* S12 comes before S21 */
    bool options, data, second, done;
    double *numbers;
    int64_t count, room;
} reading;

static void reading_close(reading *x) { free(x->numbers); }

int ps_touchstone_ports(const char *path)
{
    const char *dot = strrchr(path, '.');
    int ports = 0, read = 0;
    if (!dot || sscanf(dot, ".%*[sS]%2d%*[pP]%n", &ports, &read) != 1 || read == 0 || dot[read])
        return 0;
    return ports >= 1 && ports <= PS_TOUCHSTONE_PORTS ? ports : 0;
}

static ps_status wrong(const reading *x, const char *what, const char *word)
{
    return ps_fail(PS_INVALID, "%s: line %d: %s%.60s", x->path, x->line, what, word);
}

static bool is(const char *word, const char *name) { return strcasecmp(word, name) == 0; }

/* "# GHz S MA R 50": what is not there is that. */
static ps_status read_options(reading *x, char *text)
{
    static const char blanks[] = " \t\r\n";
    char *rest = NULL;
    if (x->options) return PS_OK; /* later ones do not count */
    x->options = true;
    for (char *w = strtok_r(text, blanks, &rest); w; w = strtok_r(NULL, blanks, &rest)) {
        if (is(w, "Hz"))
            x->hertz = 1;
        else if (is(w, "kHz"))
            x->hertz = 1e3;
        else if (is(w, "MHz"))
            x->hertz = 1e6;
        else if (is(w, "GHz"))
            x->hertz = 1e9;
        else if (is(w, "RI"))
            x->form = REAL_IMAGINARY;
        else if (is(w, "MA"))
            x->form = MAGNITUDE_ANGLE;
        else if (is(w, "DB"))
            x->form = DECIBEL_ANGLE;
        else if (is(w, "R"))
            return PS_OK; /* the reference follows */
        else if (!is(w, "S"))
            return wrong(x, "S-parameters are read, by Hz, kHz, MHz or GHz, as RI, MA or DB, not ",
                         w);
    }
    return PS_OK;
}

/* Keywords of version 2. */
static ps_status read_keyword(reading *x, const char *text)
{
    static const char *const told[] = {
        "[Version]",   "[Number of Frequencies]", "[Number of Noise Frequencies]",
        "[Reference]", "[Begin Information]",     "[End Information]"};
    const char *end = strchr(text, ']');
    size_t length = end ? (size_t)(end - text) + 1 : 0;
    const char *value = text + length + strspn(text + length, " \t");
    char name[64];
    if (length == 0 || length >= sizeof name) return wrong(x, "a keyword without an end, ", text);
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    x->second = true;
    if (is(name, "[Number of Ports]"))
        return atoi(value) == x->ports ? PS_OK
                                       : wrong(x, "other ports than the suffix has: ", value);
    if (is(name, "[Two-Port Data Order]"))
        return x->across = strncmp(value, "12_21", 5) == 0, PS_OK;
    if (is(name, "[Matrix Format]"))
        return strncasecmp(value, "Full", 4) == 0
                   ? PS_OK
                   : wrong(x, "a matrix is read whole (Full), not ", value);
    if (is(name, "[Network Data]")) return x->data = true, PS_OK;
    if (is(name, "[Noise Data]") || is(name, "[End]")) return x->done = true, PS_OK;
    for (size_t i = 0; i < sizeof told / sizeof *told; ++i)
        if (is(name, told[i])) return PS_OK;
    return wrong(x, "not known here: ", name);
}

static ps_status keep(reading *x, double value)
{
    PS_TRY(ps_grow((void **)&x->numbers, &x->room, x->count + 1, sizeof value, "numbers"));
    x->numbers[x->count++] = value;
    return PS_OK;
}

static ps_status read_numbers(reading *x, char *text)
{
    if (x->second && !x->data) return PS_OK; /* references that go on on lines of their own */
    for (char *end; *(text += strspn(text, " \t\r\n")); text = end) {
        double value = strtod(text, &end);
        if (end == text || !isfinite(value) || !(isspace((unsigned char)*end) || !*end))
            return wrong(x, "not a finite number: ", text);
        PS_TRY(keep(x, value));
    }
    return PS_OK;
}

static ps_status read_line(reading *x, char *text)
{
    text[strcspn(text, "!")] = 0;
    text += strspn(text, " \t\r\n");
    if (*text == '#') return read_options(x, text + 1);
    if (*text == '[') return read_keyword(x, text);
    return read_numbers(x, text);
}

static ps_status read_file(reading *x)
{
    PS_SCOPED_MEMORY char *line = NULL;
    FILE *file = NULL;
    ps_status status = PS_OK;
    PS_TRY(PS_ALLOC(&line, PS_TOUCHSTONE_LINE, "a line of text"));
    PS_TRY(ps_path_open_input(x->path, "a Touchstone file", &file));
    while (status == PS_OK && !x->done && fgets(line, PS_TOUCHSTONE_LINE, file)) {
        ++x->line;
        if (strlen(line) == PS_TOUCHSTONE_LINE - 1)
            status = wrong(x, "a line that is too long", "");
        if (status == PS_OK) status = read_line(x, line);
    }
    if (status == PS_OK && ferror(file)) status = ps_path_unreadable(x->path);
    fclose(file);
    return status;
}

/* Samples with ascending frequencies; what follows those of two ports is noise. */
static ps_status count_samples(const reading *x, int64_t *out)
{
    int64_t each = 1 + 2 * (int64_t)x->ports * x->ports, n = 0;
    const double *f = x->numbers;
    while ((n + 1) * each <= x->count && (n == 0 || f[n * each] > f[(n - 1) * each])) ++n;
    bool noise = x->ports == 2 && n > 0 && n * each < x->count && f[n * each] <= f[(n - 1) * each];
    *out = n;
    if (n > 0 && f[0] >= 0 && (n * each == x->count || noise)) return PS_OK;
    return ps_fail(
        PS_INVALID,
        "%s: %lld numbers are no table of frequencies that ascend, each with a matrix of %d ports",
        x->path, (long long)x->count, x->ports);
}

static void put(const reading *x, int64_t sample, ps_trace *trace)
{
    int64_t n = x->ports, size = n * n;
    const double *pair = x->numbers + sample * (1 + 2 * size);
    trace->axis[sample] = *pair++ * x->hertz;
    for (int64_t i = 0; i < size; ++i, pair += 2) {
        bool turned = n == 2 && !x->across;
        int64_t at = sample * size + (turned ? i % 2 * 2 + i / 2 : i);
        double size_of = x->form == DECIBEL_ANGLE ? pow(10, pair[0] / 20) : pair[0],
               angle = pair[1] * M_PI / 180;
        bool plain = x->form == REAL_IMAGINARY;
        trace->real[at] = plain ? pair[0] : size_of * cos(angle);
        trace->imaginary[at] = plain ? -pair[1] : -size_of * sin(angle);
    }
}

ps_status ps_touchstone_load(const char *path, ps_trace *trace)
{
    PS_SCOPED(reading_close)
    reading x = {.path = path, .ports = ps_touchstone_ports(path), .hertz = 1e9};
    int64_t samples = 0;
    memset(trace, 0, sizeof *trace);
    if (x.ports == 0)
        return ps_fail(PS_USAGE, "%s: a Touchstone file of 1 to %d ports is a file .s1p to .s%dp",
                       path, PS_TOUCHSTONE_PORTS, PS_TOUCHSTONE_PORTS);
    PS_TRY(read_file(&x));
    PS_TRY(count_samples(&x, &samples));
    PS_TRY(ps_trace_init(trace, samples, (int64_t)x.ports * x.ports, true));
    for (int64_t i = 0; i < samples; ++i) put(&x, i, trace);
    trace->in_frequency = true;
    strcpy(trace->quantity, "S-parameters");
    return PS_OK;
}
