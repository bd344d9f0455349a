/* tipsy: gas, dark and star particles of either byte order; the mass is the charge. */
#include <string.h>
#include <sys/stat.h>

#include "preprocess/particle_import/import.h"
#include "runtime/scope.h"

enum { KINDS = 3, SHORT_HEADER = 28, LONG_HEADER = 32 };
static const int record_bytes[KINDS] = {48, 36, 44}; /* gas, dark, star */

typedef struct tipsy_header {
    bool swapped;
    int64_t total, counts[KINDS];
} tipsy_header;

static uint32_t word_at(const char *bytes, bool swapped)
{
    uint32_t word;
    memcpy(&word, bytes, 4);
    return swapped ? __builtin_bswap32(word) : word;
}

/* f64 time, then i32 all, dimensions, gas, dark, star. */
static ps_status parse_header(const source *in, const char *bytes, int64_t got, tipsy_header *h)
{
    if (got < SHORT_HEADER) return ps_fail(PS_INVALID, "%s: too short for tipsy", in->name);
    h->swapped = word_at(bytes + 12, false) != 3;
    if (word_at(bytes + 12, h->swapped) != 3)
        return ps_fail(PS_INVALID,
                       "%s: the header does not say 3 dimensions in either byte order: "
                       "not tipsy",
                       in->name);
    int64_t sum = 0;
    h->total = (int32_t)word_at(bytes + 8, h->swapped);
    for (int k = 0; k < KINDS; ++k) {
        h->counts[k] = (int32_t)word_at(bytes + 16 + 4 * k, h->swapped);
        if (h->counts[k] < 0) sum = -1;
        if (sum >= 0) sum += h->counts[k];
    }
    return sum == h->total && sum >= 0
               ? PS_OK
               : ps_fail(PS_INVALID,
                         "%s: %lld gas, %lld dark and %lld star particles are not the "
                         "%lld that the header announces",
                         in->name, (long long)h->counts[0], (long long)h->counts[1],
                         (long long)h->counts[2], (long long)h->total);
}

/* Headers are padded to 32 bytes, but not by all writers: the size of the file tells. */
static int header_bytes(const char *name, const tipsy_header *h)
{
    struct stat info;
    int64_t bytes = SHORT_HEADER;
    for (int k = 0; k < KINDS; ++k) bytes += h->counts[k] * record_bytes[k];
    return stat(name, &info) == 0 && (int64_t)info.st_size == bytes ? SHORT_HEADER : LONG_HEADER;
}

static double real_at(const char *bytes, int index, bool swapped)
{
    uint32_t word = word_at(bytes + 4 * index, swapped);
    float value;
    memcpy(&value, &word, 4);
    return (double)value;
}

/* Records begin with mass, x, y, z. */
static ps_status take_kind(source *in, const tipsy_header *h, int kind, bool wanted, sink *s)
{
    char bytes[48];
    for (int64_t i = 0; i < h->counts[kind]; ++i) {
        int64_t got;
        PS_TRY(source_bytes(in, bytes, record_bytes[kind], &got));
        if (got < record_bytes[kind])
            return ps_fail(PS_INVALID, "%s: cut short: %lld particles are announced", in->name,
                           (long long)h->total);
        if (!wanted) continue;
        double row[4];
        for (int c = 0; c < 4; ++c) row[c] = real_at(bytes, (c + 1) % 4, h->swapped);
        PS_TRY_IN(sink_add(s, row), "%s: %s particle %lld", in->name,
                  kind == 0   ? "gas"
                  : kind == 1 ? "dark"
                              : "star",
                  (long long)i + 1);
    }
    return PS_OK;
}

static ps_status take_all(source *in, int components, sink *s)
{
    tipsy_header h = {.swapped = false};
    const char *bytes;
    char header[LONG_HEADER];
    int64_t got;
    PS_TRY(source_peek(in, &bytes, SHORT_HEADER, &got));
    PS_TRY(parse_header(in, bytes, got, &h));
    PS_TRY(source_bytes(in, header, header_bytes(in->name, &h), &got));
    for (int k = 0; k < KINDS; ++k)
        PS_TRY(take_kind(in, &h, k, components == 0 || components == k + 1, s));
    PS_TRY(source_peek(in, &bytes, 1, &got));
    return got == 0 ? PS_OK
                    : ps_fail(PS_INVALID, "%s: goes on after its %lld particles", in->name,
                              (long long)h.total);
}

ps_status read_tipsy(const import_options *o, const ps_store_identity *identity, sink *s)
{
    PS_SCOPED(source_close) source in = {0};
    PS_TRY(source_open(&in, o->input));
    PS_TRY(sink_start(s, o, identity, 1));
    return take_all(&in, o->components, s);
}
