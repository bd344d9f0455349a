#include "preprocess/mesh_import/vtk_piece.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/scope.h"

/* ---- elements ---- */

bool vtu_next_tag(const vtu_file *file, const char **at, vtu_tag *tag)
{
    const char *end = file->appended ? file->appended : file->text + file->bytes, *p = *at;
    for (;;) {
        p = memchr(p, '<', (size_t)(end - p));
        if (!p || p + 1 >= end) return false;
        if (p[1] != '?' && p[1] != '!') break;
        bool comment = strncmp(p, "<!--", 4) == 0;
        const char *close = memmem(p, (size_t)(end - p), comment ? "-->" : ">", comment ? 3 : 1);
        if (!close) return false;
        p = close + 1;
    }
    const char *close = memchr(p, '>', (size_t)(end - p));
    if (!close) return false;
    tag->closing = p[1] == '/';
    p += 1 + tag->closing;
    size_t length = strcspn(p, " \t\r\n/>"),
           kept = length < sizeof tag->name ? length : sizeof tag->name - 1;
    memcpy(tag->name, p, kept);
    tag->name[kept] = '\0';
    tag->empty = close[-1] == '/';
    tag->attributes = p + length < close ? p + length : close;
    tag->attributes_end = close;
    tag->content = *at = close + 1;
    return true;
}

bool vtu_attribute(const vtu_tag *tag, const char *attribute, char *out, int size)
{
    size_t length = strlen(attribute);
    const char *end = tag->attributes_end;
    for (const char *p = tag->attributes; p + length + 2 < end; ++p) {
        if (!isspace((unsigned char)p[0]) || strncmp(p + 1, attribute, length) != 0) continue;
        const char *q = p + 1 + length;
        q += strspn(q, " \t\r\n");
        if (q >= end || *q != '=') continue;
        q += 1 + strspn(q + 1, " \t\r\n");
        const char *close =
            q < end && (*q == '"' || *q == '\'') ? memchr(q + 1, *q, (size_t)(end - q - 1)) : NULL;
        if (!close) return false;
        snprintf(out, (size_t)size, "%.*s", (int)(close - q - 1), q + 1);
        return true;
    }
    return false;
}

ps_status vtu_count(const vtu_file *file, const vtu_tag *tag, const char *attribute,
                    int64_t otherwise, int64_t *out)
{
    char text[32], *end;
    *out = otherwise;
    if (!vtu_attribute(tag, attribute, text, sizeof text)) return PS_OK;
    errno = 0;
    *out = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && !errno && *out >= 0) return PS_OK;
    return ps_fail(PS_INVALID, "%s: %s=\"%s\" of <%s> is no count", file->name, attribute, text,
                   tag->name);
}

/* ---- the file ---- */

static ps_status find_appended(vtu_file *f)
{
    const char *at = memmem(f->text, (size_t)f->bytes, "<AppendedData", 13);
    char encoding[16] = "";
    vtu_tag tag;
    if (!at) return PS_OK;
    if (vtu_next_tag(f, &at, &tag)) vtu_attribute(&tag, "encoding", encoding, sizeof encoding);
    f->appended_base64 = strcmp(encoding, "base64") == 0;
    if (!f->appended_base64 && strcmp(encoding, "raw") != 0)
        return ps_fail(PS_INVALID,
                       "%s: appended data are encoded as \"%s\"; raw and base64 are read", f->name,
                       encoding);
    f->appended = memchr(at, '_', (size_t)(f->text + f->bytes - at));
    if (!f->appended)
        return ps_fail(PS_INVALID, "%s: the appended data do not begin with \"_\"", f->name);
    ++f->appended;
    return PS_OK;
}

ps_status vtu_open(const import_input *input, vtu_file *file)
{
    char order[16] = "LittleEndian", header[16] = "UInt32", compressor[40] = "";
    vtu_tag tag;
    *file = (vtu_file){.name = input->name};
    PS_TRY(ps_path_read(input->path, file->name, &file->text, &file->bytes));
    PS_TRY(find_appended(file));
    const char *at = file->text;
    if (!vtu_next_tag(file, &at, &tag) || strcmp(tag.name, "VTKFile") != 0)
        return ps_fail(PS_INVALID, "%s: does not begin with <VTKFile ..>: it is no XML file of VTK",
                       file->name);
    vtu_attribute(&tag, "byte_order", order, sizeof order);
    vtu_attribute(&tag, "header_type", header, sizeof header);
    vtu_attribute(&tag, "compressor", compressor, sizeof compressor);
    file->big_endian = strcmp(order, "BigEndian") == 0;
    file->wide = strcmp(header, "UInt64") == 0;
    file->zlib = strcmp(compressor, "vtkZLibDataCompressor") == 0;
    if (compressor[0] && !file->zlib)
        return ps_fail(
            PS_INVALID,
            "%s: its data are compressed by %s; zlib and none are read: write it with one of these",
            file->name, compressor);
    return PS_OK;
}

void vtu_release(vtu_file *file)
{
    free(file->text);
    *file = (vtu_file){.name = file->name};
}

/* ---- bytes: raw, or letters of base64, where each part may be filled up with '=' ---- */

typedef struct source {
    vtu_file *file;
    const char *at, *end;
    bool base64;
    unsigned char held[3];
    int held_count;
} source;

static int digit(int c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Four letters to up to three bytes; false at the end or at another letter. */
static bool fill(source *s)
{
    int value = 0, letters = 0, filled = 0;
    while (letters + filled < 4) {
        while (s->at < s->end && isspace((unsigned char)*s->at)) ++s->at;
        if (s->at >= s->end) return false;
        int c = (unsigned char)*s->at++, d = digit(c);
        if (c == '=' ? letters < 2 : d < 0 || filled) return false;
        filled += c == '=';
        letters += c != '=';
        value = value << 6 | (c == '=' ? 0 : d);
    }
    s->held_count = letters - 1;
    for (int k = 0; k < s->held_count; ++k) s->held[k] = (unsigned char)(value >> (16 - 8 * k));
    return true;
}

static ps_status take(source *s, unsigned char *out, int64_t bytes)
{
    while (bytes > 0) {
        int64_t n = s->base64 ? s->held_count : s->end - s->at;
        if (s->base64 && n == 0 && fill(s)) continue;
        if (n <= 0)
            return ps_fail(PS_INVALID, "%s: the data of an array end too early", s->file->name);
        n = n < bytes ? n : bytes;
        memcpy(out, s->base64 ? (const char *)s->held : s->at, (size_t)n);
        if (s->base64)
            memmove(s->held, s->held + n, (size_t)(s->held_count -= (int)n));
        else
            s->at += n;
        out += n;
        bytes -= n;
    }
    return PS_OK;
}

static ps_status take_size(source *s, int64_t *out)
{
    unsigned char bytes[8];
    PS_TRY(take(s, bytes, s->file->wide ? 8 : 4));
    double value =
        number_decode(bytes, s->file->wide ? NUMBER_U64 : NUMBER_U32, s->file->big_endian);
    *out = value < 0x1p53 ? (int64_t)value : INT64_MAX / 4;
    return PS_OK;
}

/* ---- values ---- */

static const struct {
    const char *name;
    number_type type;
} types[] = {{"Int8", NUMBER_I8},    {"UInt8", NUMBER_U8},   {"Int16", NUMBER_I16},
             {"UInt16", NUMBER_U16}, {"Int32", NUMBER_I32},  {"UInt32", NUMBER_U32},
             {"Int64", NUMBER_I64},  {"UInt64", NUMBER_U64}, {"Float32", NUMBER_F32},
             {"Float64", NUMBER_F64}};

static number_type type_of(const vtu_tag *array, char text[16])
{
    text[0] = '\0';
    vtu_attribute(array, "type", text, 16);
    for (size_t i = 0; i < sizeof types / sizeof *types; ++i)
        if (strcmp(text, types[i].name) == 0) return types[i].type;
    return NUMBER_TYPES;
}

bool vtu_is_whole(const vtu_tag *array)
{
    char text[16];
    return type_of(array, text) < NUMBER_F32;
}

static ps_status decode(source *s, const unsigned char *bytes, int64_t count, number_type type,
                        vtk_values *out)
{
    for (int64_t i = 0; i + number_bytes(type) <= count; i += number_bytes(type))
        PS_TRY(vtk_values_put(out, number_decode(bytes + i, type, s->file->big_endian)));
    return PS_OK;
}

static ps_status whole_values(source *s, number_type type, vtk_values *out)
{
    unsigned char block[8 * 512];
    int64_t bytes;
    PS_TRY(take_size(s, &bytes));
    for (int64_t n; bytes > 0; bytes -= n) {
        n = bytes < (int64_t)sizeof block ? bytes : (int64_t)sizeof block;
        PS_TRY(take(s, block, n));
        PS_TRY(decode(s, block, n, type, out));
    }
    return PS_OK;
}

/* A block of zlib; the file may not expand to more than a hundred times its size. */
static ps_status zlib_block(source *s, int64_t packed_bytes, int64_t bytes, number_type type,
                            vtk_values *out)
{
    vtu_file *f = s->file;
    PS_SCOPED_MEMORY unsigned char *packed = NULL;
    PS_SCOPED_MEMORY unsigned char *block = NULL;
    uLongf got = (uLongf)bytes;
    f->expanded += bytes;
    if (packed_bytes > f->bytes || bytes > 1100 * (packed_bytes + 1) ||
        f->expanded > (64 << 20) + 100 * f->bytes)
        return ps_fail(
            PS_INVALID,
            "%s: a block of %lld bytes is announced to expand to %lld: that is not believed",
            f->name, (long long)packed_bytes, (long long)bytes);
    PS_TRY(PS_ALLOC(&packed, packed_bytes, "a block of VTK"));
    PS_TRY(PS_ALLOC(&block, bytes, "a block of VTK"));
    PS_TRY(take(s, packed, packed_bytes));
    if (uncompress(block, &got, packed, (uLong)packed_bytes) != Z_OK || (int64_t)got != bytes)
        return ps_fail(PS_INVALID, "%s: the zlib data of an array are broken", f->name);
    return decode(s, block, bytes, type, out);
}

static ps_status zlib_values(source *s, number_type type, vtk_values *out)
{
    int64_t blocks, bytes, last;
    PS_SCOPED(vtk_values_release) vtk_values packed = {0};
    PS_TRY(take_size(s, &blocks));
    PS_TRY(take_size(s, &bytes));
    PS_TRY(take_size(s, &last));
    for (int64_t i = 0; i < blocks; ++i) {
        int64_t size;
        PS_TRY(take_size(s, &size));
        PS_TRY(vtk_values_put(&packed, (double)size));
    }
    for (int64_t i = 0; i < blocks; ++i)
        PS_TRY(zlib_block(s, (int64_t)packed.at[i], i + 1 == blocks && last > 0 ? last : bytes,
                          type, out));
    return PS_OK;
}

static ps_status text_values(vtu_file *f, const char *at, vtk_values *out)
{
    for (;;) {
        char *end;
        at += strspn(at, " \t\r\n");
        if (*at == '<') return PS_OK;
        double value = strtod(at, &end);
        if (end == at)
            return ps_fail(PS_INVALID, "%s: \"%.20s\" where a number of an array is expected",
                           f->name, at);
        PS_TRY(vtk_values_put(out, value));
        at = end;
    }
}

ps_status vtu_values(vtu_file *file, const vtu_tag *array, vtk_values *out)
{
    char format[16] = "ascii", type_name[16];
    int64_t offset;
    number_type type = type_of(array, type_name);
    source s = {
        file, array->content, file->appended ? file->appended : file->text + file->bytes, true, {0},
        0};
    vtu_attribute(array, "format", format, sizeof format);
    if (type == NUMBER_TYPES)
        return ps_fail(PS_INVALID, "%s: values of type \"%s\" are not read", file->name, type_name);
    if (strcmp(format, "ascii") == 0)
        return array->empty ? PS_OK : text_values(file, array->content, out);
    if (strcmp(format, "appended") == 0) {
        PS_TRY(vtu_count(file, array, "offset", 0, &offset));
        if (!file->appended || offset >= file->text + file->bytes - file->appended)
            return ps_fail(PS_INVALID, "%s: an array's appended data are beyond the file",
                           file->name);
        s = (source){
            file, file->appended + offset, file->text + file->bytes, file->appended_base64, {0}, 0};
    } else if (strcmp(format, "binary") != 0) {
        return ps_fail(PS_INVALID, "%s: the format \"%s\" of an array is not read", file->name,
                       format);
    }
    return file->zlib ? zlib_values(&s, type, out) : whole_values(&s, type, out);
}
