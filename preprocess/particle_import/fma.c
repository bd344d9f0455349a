/* fma: the files of ScalFMM, text or binary. */
#include <string.h>

#include "preprocess/particle_import/import.h"
#include "runtime/scope.h"

enum { VALUES_MAX = 64 };

typedef struct fma_header {
    int64_t count;
    int values; /* a particle: x y z q and what else there is */
    int bytes;  /* of a real, binary */
} fma_header;

static ps_status next_numbers(source *in, double *values, int *count)
{
    char *line;
    do {
        PS_TRY(source_line(in, &line));
        if (!line) {
            *count = 0;
            return PS_OK;
        }
        line += strspn(line, " \t");
    } while (!*line);
    return source_context(in, parse_numbers(line, values, VALUES_MAX, count));
}

/* "BYTES VALUES", then "N HALF_WIDTH CX CY CZ"; older files have the second line alone. */
static ps_status text_header(source *in, fma_header *h)
{
    double v[VALUES_MAX] = {0};
    int count;
    h->values = 4;
    PS_TRY(next_numbers(in, v, &count));
    if (count == 2) {
        h->values = v[1] >= 4 && v[1] <= VALUES_MAX && v[1] == (int)v[1] ? (int)v[1] : 0;
        PS_TRY(next_numbers(in, v, &count));
    }
    bool whole = v[0] >= 1 && v[0] < 0x1p53 && v[0] == (double)(int64_t)v[0];
    if (count != 5 || h->values == 0 || !whole)
        return source_fail(in, "no header of FMA: BYTES VALUES and N HALF_WIDTH CX CY CZ");
    h->count = (int64_t)v[0];
    return PS_OK;
}

static ps_status goes_on(const source *in, int64_t count)
{
    return ps_fail(PS_INVALID, "%s: goes on after its %lld particles", in->name, (long long)count);
}

static ps_status read_as_text(source *in, sink *s)
{
    fma_header h = {0, 0, 0};
    double v[VALUES_MAX];
    int count;
    PS_TRY(text_header(in, &h));
    for (int64_t i = 0; i < h.count; ++i) {
        PS_TRY(next_numbers(in, v, &count));
        if (count == 0)
            return ps_fail(PS_INVALID, "%s: ends after %lld of %lld particles", in->name,
                           (long long)i, (long long)h.count);
        if (count != h.values)
            return source_context(
                in, ps_fail(PS_INVALID, "%d numbers; the header says %d", count, h.values));
        PS_TRY(source_context(in, sink_add(s, v)));
    }
    PS_TRY(next_numbers(in, v, &count));
    return count == 0 ? PS_OK : goes_on(in, h.count);
}

static double real_at(const char *bytes, int size, int index)
{
    double d;
    float f;
    if (size == 8) return memcpy(&d, bytes + 8 * index, 8), d;
    return memcpy(&f, bytes + 4 * index, 4), (double)f;
}

static ps_status binary_header(source *in, fma_header *h)
{
    char bytes[16 + 4 * 8];
    uint32_t numbers[2];
    int64_t got;
    PS_TRY(source_bytes(in, bytes, 16, &got));
    memcpy(numbers, bytes, 8);
    memcpy(&h->count, bytes + 8, 8);
    if (got < 16 || (numbers[0] != 4 && numbers[0] != 8) || numbers[1] < 4 ||
        numbers[1] > VALUES_MAX || h->count < 1)
        return ps_fail(PS_INVALID, "%s: the header is not that of a binary FMA file", in->name);
    h->bytes = (int)numbers[0];
    h->values = (int)numbers[1];
    return source_bytes(in, bytes, 4 * h->bytes, &got); /* half width and middle: not needed */
}

static ps_status read_as_binary(source *in, sink *s)
{
    fma_header h = {0, 0, 0};
    char bytes[8 * VALUES_MAX];
    PS_TRY(binary_header(in, &h));
    for (int64_t i = 0; i < h.count; ++i) {
        int64_t got, size = h.bytes * h.values;
        PS_TRY(source_bytes(in, bytes, size, &got));
        if (got < size)
            return ps_fail(PS_INVALID, "%s: ends after %lld of %lld particles", in->name,
                           (long long)i, (long long)h.count);
        double row[4];
        for (int c = 0; c < 4; ++c) row[c] = real_at(bytes, h.bytes, c);
        PS_TRY_IN(sink_add(s, row), "%s: particle %lld", in->name, (long long)i + 1);
    }
    const char *more;
    int64_t got;
    PS_TRY(source_peek(in, &more, 1, &got));
    return got == 0 ? PS_OK : goes_on(in, h.count);
}

static ps_status read_either(source *in, sink *s)
{
    const char *begin;
    int64_t got;
    PS_TRY(source_peek(in, &begin, 4, &got));
    bool binary = got == 4 && (memcmp(begin, "\4\0\0", 4) == 0 || memcmp(begin, "\10\0\0", 4) == 0);
    return binary ? read_as_binary(in, s) : read_as_text(in, s);
}

ps_status read_fma(const import_options *o, const ps_store_identity *identity, sink *s)
{
    PS_SCOPED(source_close) source in = {0};
    PS_TRY(source_open(&in, o->input));
    PS_TRY(sink_start(s, o, identity, 1));
    return read_either(&in, s);
}
