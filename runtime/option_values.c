#include "runtime/option_values.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ps_status ps_parse_real(const char *text, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value))
        return ps_fail(PS_USAGE, "\"%s\" is not a finite number", text);
    *out = value;
    return PS_OK;
}

/* Also 1e6 and 2.5e3, where they are whole. */
ps_status ps_parse_int(const char *text, int64_t *out)
{
    static const double exact = 0x1p53; /* below it a double is the number that was typed */
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool good = end != text && errno == 0 && !*end;
    if (end != text && *end && strspn(text, "+-.0123456789eE") == strlen(text)) {
        double real = strtod(text, &end);
        good = !*end && fabs(real) <= exact && real == nearbyint(real);
        value = good ? (long long)real : 0;
    }
    if (!good) return ps_fail(PS_USAGE, "\"%s\" is not a whole number", text);
    *out = value;
    return PS_OK;
}

/* Words behind a number, and what they multiply it by; an empty name ends the table. */
typedef struct unit_word {
    const char *name;
    double scale;
} unit_word;

static ps_status parse_with_unit(const char *text, const unit_word *units, const char *expected,
                                 double *out)
{
    char *end;
    double value = strtod(text, &end);
    while (*units->name && *end && strcmp(end, units->name) != 0) ++units;
    if (end == text || !isfinite(value) || (*end && !*units->name))
        return ps_fail(PS_USAGE, "\"%s\" is not %s", text, expected);
    *out = *end ? value * units->scale : value;
    return PS_OK;
}

ps_status ps_parse_bytes(const char *text, int64_t *out)
{
    static const unit_word units[] = {{"K", 0x1p10}, {"M", 0x1p20}, {"G", 0x1p30},
                                      {"T", 0x1p40}, {"k", 0x1p10}, {"m", 0x1p20},
                                      {"g", 0x1p30}, {"t", 0x1p40}, {"", 0}};
    static const char expected[] = "a size such as 4096, 64K, 2.5M, 16G or 1T (powers of 1024)";
    double value = 0;
    PS_TRY(parse_with_unit(text, units, expected, &value));
    if (value < 0) return ps_fail(PS_USAGE, "\"%s\" is not %s", text, expected);
    if (value >= 0x1p62) return ps_fail(PS_USAGE, "\"%s\" is larger than any memory", text);
    *out = (int64_t)value;
    return PS_OK;
}

ps_status ps_parse_seconds(const char *text, double *out)
{
    static const unit_word units[] = {{"ms", 1e-3}, {"s", 1},     {"min", 60}, {"m", 60},
                                      {"h", 3600},  {"d", 86400}, {"", 0}};
    static const char expected[] = "a time such as 90, 200ms, 90s, 15min or 2h";
    PS_TRY(parse_with_unit(text, units, expected, out));
    return *out >= 0 ? PS_OK : ps_fail(PS_USAGE, "\"%s\" is not %s", text, expected);
}

ps_status ps_parse_measure(const char *text, const char *measure, double *out)
{
    static const unit_word seconds[] = {{"s", 1},     {"ms", 1e-3},  {"us", 1e-6},
                                        {"ns", 1e-9}, {"ps", 1e-12}, {"", 0}};
    static const unit_word hertz[] = {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}, {"", 0}};
    static const unit_word metres[] = {{"m", 1}, {"mm", 1e-3}, {"cm", 1e-2}, {"km", 1e3}, {"", 0}};
    static const struct {
        const char *argument;
        const unit_word *units;
        const char *expected;
    } measures[] = {{"SECONDS", seconds, "a time such as 0.2, 200ms or 3ns"},
                    {"HZ", hertz, "a frequency such as 9e8, 900MHz or 2.4GHz"},
                    {"METRES", metres, "a length such as 0.05, 50mm or 3km"}};
    for (size_t i = 0; measure && i < sizeof measures / sizeof *measures; ++i)
        if (strcmp(measure, measures[i].argument) == 0)
            return parse_with_unit(text, measures[i].units, measures[i].expected, out);
    return ps_parse_real(text, out);
}

ps_status ps_parse_interval(const char *text, ps_interval *out)
{
    char number[64];
    int64_t count = 0;
    size_t digits = strspn(text, "+.0123456789eE");
    const char *unit = text + digits;
    bool counts =
        digits > 0 && digits < sizeof number && (!strcmp(unit, "steps") || !strcmp(unit, "step"));
    *out = (ps_interval){0};
    if (!counts && ps_parse_seconds(text, &out->seconds) != PS_OK)
        return ps_fail(PS_USAGE,
                       "\"%s\" is not a time such as 90s, 15min or 2h, nor a number of "
                       "steps such as 1000steps",
                       text);
    if (!counts) return PS_OK;
    snprintf(number, sizeof number, "%.*s", (int)digits, text);
    PS_TRY(ps_parse_int(number, &count));
    if (count < 1 || count > (int64_t)1000000000000000)
        return ps_fail(PS_USAGE, "\"%s\" is not between 1 and 1e15 steps", text);
    out->steps = count;
    return PS_OK;
}

ps_status ps_parse_reals(const char *text, char separator, double *out, int capacity, int *count)
{
    *count = 0;
    for (const char *at = text;; ++at) {
        char *end;
        double value = strtod(at, &end);
        if (end == at || !isfinite(value) || (*end && *end != separator))
            return ps_fail(PS_USAGE, "\"%s\" is not a list of numbers separated by '%c'", text,
                           separator);
        if (*count == capacity)
            return ps_fail(PS_USAGE, "\"%s\" has more than %d numbers", text, capacity);
        out[(*count)++] = value;
        if (!*end) return PS_OK;
        at = end;
    }
}

ps_status ps_parse_measures(const char *text, const char *measure, double *out, int capacity,
                            int *count)
{
    *count = 0;
    for (const char *at = text;; ++at) {
        char one[64];
        size_t length = strcspn(at, ",");
        if (*count == capacity)
            return ps_fail(PS_USAGE, "\"%s\" has more than %d numbers", text, capacity);
        snprintf(one, sizeof one, "%.*s", length < sizeof one ? (int)length : 0, at);
        ps_status status = ps_parse_measure(one, measure, &out[*count]);
        if (status == PS_OK && !isfinite(out[*count]))
            status = ps_fail(PS_USAGE, "\"%s\" is no number", one);
        if (status != PS_OK) return ps_context(status, "\"%s\", a list with commas", text);
        ++*count;
        at += length;
        if (!*at) return PS_OK;
    }
}
