/* source: bytes and lines of a file, compressed or not. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "formats/gzip_file.h"
#include "formats/number_file.h"
#include "preprocess/particle_import/import.h"
#include "runtime/memory.h"
#include "runtime/path.h"

enum { BUFFER_BYTES = 1 << 20 };

ps_status source_open(source *s, const char *name)
{
    memset(s, 0, sizeof *s);
    s->name = name;
    PS_TRY(ps_gzip_open(name, "a file of particles", &s->stream));
    gzbuffer(s->stream, BUFFER_BYTES);
    return PS_ALLOC(&s->buffer, BUFFER_BYTES + 1, "reading a file");
}

void source_close(source *s)
{
    if (s->stream) gzclose(s->stream);
    free(s->buffer);
    memset(s, 0, sizeof *s);
}

/* Moves what is left to the front and reads on. */
static ps_status refill(source *s)
{
    memmove(s->buffer, s->buffer + s->begin, (size_t)(s->end - s->begin));
    s->end -= s->begin;
    s->begin = 0;
    int got = gzread(s->stream, s->buffer + s->end, (unsigned)(BUFFER_BYTES - s->end));
    PS_TRY(ps_gzip_check(s->stream, s->name));
    if (got < 0) return ps_path_unreadable(s->name);
    s->end += got;
    s->done = got == 0;
    return PS_OK;
}

ps_status source_peek(source *s, const char **bytes, int64_t wanted, int64_t *got)
{
    while (s->end - s->begin < wanted && !s->done) PS_TRY(refill(s));
    *bytes = s->buffer + s->begin;
    *got = s->end - s->begin < wanted ? s->end - s->begin : wanted;
    return PS_OK;
}

ps_status source_bytes(source *s, void *out, int64_t bytes, int64_t *got)
{
    char *to = out;
    *got = 0;
    while (*got < bytes) {
        if (s->begin == s->end && !s->done) PS_TRY(refill(s));
        int64_t here = s->end - s->begin < bytes - *got ? s->end - s->begin : bytes - *got;
        if (here == 0) break;
        memcpy(to + *got, s->buffer + s->begin, (size_t)here);
        s->begin += here;
        *got += here;
    }
    return PS_OK;
}

ps_status source_line(source *s, char **line)
{
    char *at = s->buffer + s->begin, *end = memchr(at, '\n', (size_t)(s->end - s->begin));
    while (!end && !s->done && s->end - s->begin <= SOURCE_LINE_MAX) {
        PS_TRY(refill(s));
        at = s->buffer + s->begin;
        end = memchr(at, '\n', (size_t)(s->end - s->begin));
    }
    *line = NULL;
    if (!end && s->begin == s->end) return PS_OK;
    ++s->line;
    int64_t length = end ? end - at : s->end - s->begin;
    if (length > SOURCE_LINE_MAX || memchr(at, 0, (size_t)length))
        return source_fail(s, "this is no line of text; --format says what the file is");
    s->begin += length + (end != NULL);
    at[length] = 0;
    if (length > 0 && at[length - 1] == '\r') at[length - 1] = 0;
    *line = s->line == 1 ? (char *)ps_text_begin(at) : at;
    return PS_OK;
}

ps_status source_fail(const source *s, const char *what)
{
    return ps_fail(PS_INVALID, "%s: line %lld: %s", s->name, (long long)s->line, what);
}

ps_status source_context(const source *s, ps_status status)
{
    return status == PS_INVALID ? ps_context(status, "%s: line %lld", s->name, (long long)s->line)
                                : status;
}

/* ---- numbers ---- */

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Up to 2^53 times or over a power of ten up to 22 is exact but for one rounding (Clinger 1990);
 * everything else is left to strtod. */
static bool parse_simple(const char *at, const char **end, double *out)
{
    bool negative = *at == '-';
    uint64_t mantissa = 0;
    int digits = 0, exponent = 0, stated = 0;
    if (*at == '-' || *at == '+') ++at;
    for (; *at >= '0' && *at <= '9'; ++at, ++digits)
        mantissa = mantissa * 10 + (uint64_t)(*at - '0');
    if (*at == '.')
        for (++at; *at >= '0' && *at <= '9'; ++at, ++digits, --exponent)
            mantissa = mantissa * 10 + (uint64_t)(*at - '0');
    if (digits == 0 || digits > 19) return false;
    if (*at == 'e' || *at == 'E') {
        bool down = at[1] == '-';
        at += at[1] == '-' || at[1] == '+' ? 2 : 1;
        if (*at < '0' || *at > '9') return false;
        for (; *at >= '0' && *at <= '9' && stated < 10000; ++at) stated = stated * 10 + *at - '0';
        exponent += down ? -stated : stated;
    }
    if (mantissa > (uint64_t)1 << 53 || exponent < -22 || exponent > 22) return false;
    double value = (double)mantissa;
    value = exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
    *out = negative ? -value : value;
    *end = at;
    return true;
}

bool parse_number(const char **at, double *out)
{
    char *end;
    if (parse_simple(*at, at, out)) return true;
    *out = strtod(*at, &end);
    if (end == *at) return false;
    *at = end;
    return true;
}

ps_status parse_numbers(const char *line, double *out, int capacity, int *count)
{
    const char *at = line + strspn(line, " \t");
    int kinds = 0;
    for (*count = 0; *at; ++*count) {
        const char *begin = at;
        double value;
        bool found = parse_number(&at, &value);
        if (!found || (*at && !strchr(" \t,;", *at)))
            return ps_fail(PS_INVALID, "\"%.*s\" is not a number", (int)strcspn(begin, " \t,;"),
                           begin);
        if (*count == capacity) return ps_fail(PS_INVALID, "more than %d numbers", capacity);
        out[*count] = value;
        const char *end = at;
        at += strspn(at, " \t");
        if (*at == ',' || *at == ';') at += 1 + strspn(at + 1, " \t");
        PS_TRY(ps_text_separator(begin, end, at, &kinds));
    }
    return PS_OK;
}
