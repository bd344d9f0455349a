#include "formats/number_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "formats/gzip_file.h"
#include "runtime/memory.h"

enum { LINE_BYTES = 1 << 20, HEADS_MAX = 16 };
static const char blanks[] = " \t,;\r\n\"";

struct ps_number_file {
    gzFile stream;
    char *path, *line, *at; /* at: the rest of the line                */
    int64_t where, repeat;  /* number of the line; how often yet `value` */
    double value;
    int kinds;  /* of separators in the line */
    bool begun; /* a line of numbers was met */
    const ps_columns *columns;
    char *heads[HEADS_MAX]; /* what may be headers of them */
    int head_count;
};

const char *ps_text_begin(const char *line)
{
    static const char mark[] = "\xef\xbb\xbf";
    return strncmp(line, mark, sizeof mark - 1) == 0 ? line + sizeof mark - 1 : line;
}

bool ps_text_is_header(const char *line)
{
    for (const char *at = line + strspn(line, blanks); *at;) {
        const char *digits = at + strspn(at, "+-");
        digits += *digits == '.';
        if (*digits >= '0' && *digits <= '9') return false;
        at += strcspn(at, blanks);
        at += strspn(at, blanks);
    }
    return true;
}

bool ps_is_usual_flag(double value)
{
    static const double usual[] = {-99,
                                   -99.99,
                                   -99.999,
                                   -100,
                                   -999,
                                   -999.25,
                                   -999.99,
                                   -9999,
                                   -9999.9,
                                   -1e4,
                                   -32767,
                                   -32768,
                                   -99999,
                                   -9999.99,
                                   -1e5,
                                   -1e6,
                                   -999999,
                                   -1e8,
                                   -1e10,
                                   -1e20,
                                   -1e30,
                                   -1e32,
                                   -1e38,
                                   -1.701410009187828e38,
                                   9999,
                                   99999,
                                   999999,
                                   32767,
                                   65535,
                                   1e20,
                                   1e30,
                                   1e32,
                                   1e38,
                                   1.701410009187828e38,
                                   -3.4028234663852886e38,
                                   3.4028234663852886e38};
    for (size_t f = 0; f < sizeof usual / sizeof *usual; ++f)
        if (fabs(value - usual[f]) <= 1e-7 * fabs(usual[f])) return true;
    return false;
}

ps_status ps_text_separator(const char *number, const char *end, const char *next, int *kinds)
{
    enum { DECIMAL = 1, OTHER = 2 };
    bool whole = strspn(number, "+-0123456789") == (size_t)(end - number);
    bool joined = whole && *end == ',' && next == end + 1 && strspn(next, "0123456789") > 0;
    if (*next) *kinds |= joined ? DECIMAL : memchr(end, ',', (size_t)(next - end)) ? 0 : OTHER;
    if (*kinds != (DECIMAL | OTHER)) return PS_OK;
    return ps_fail(
        PS_INVALID,
        "commas stand between some of its numbers and blanks or semicolons alone between "
        "others; decimal commas are to be points, as in 0.5");
}

ps_status ps_number_file_open(const char *path, ps_number_file **out)
{
    ps_number_file *file;
    *out = NULL;
    PS_TRY(PS_ALLOC(&file, 1, "reading numbers"));
    ps_status status = PS_ALLOC(&file->line, LINE_BYTES, "reading numbers");
    file->path = strdup(path);
    if (status == PS_OK && !file->path) status = ps_fail(PS_EXHAUSTED, "no memory for a name");
    if (status == PS_OK) status = ps_gzip_open(path, "a file of numbers", &file->stream);
    if (status == PS_OK)
        *out = file;
    else
        ps_number_file_close(&file);
    return status;
}

void ps_number_file_close(ps_number_file **file)
{
    ps_number_file *f = *file;
    if (!f) return;
    if (f->stream) gzclose(f->stream);
    for (int h = 0; h < f->head_count; ++h) free(f->heads[h]);
    PS_FREE(f->line, f->path, f);
    *file = NULL;
}

void ps_number_file_expect(ps_number_file *file, const ps_columns *columns)
{
    file->columns = columns;
}

static void keep_head(ps_number_file *f, const char *text)
{
    if (!f->columns || f->head_count == HEADS_MAX) return;
    f->heads[f->head_count] = strdup(text);
    f->head_count += f->heads[f->head_count] != NULL;
}

/* Once, when it is known how many numbers a line has. */
static ps_status check_heads(ps_number_file *f, int width)
{
    if (!f->columns || width < 2) return PS_OK;
    for (int h = 0; h < f->head_count; ++h)
        PS_TRY_IN(ps_number_header_check(f->heads[h], width, f->columns), "%s", f->path);
    f->columns = NULL;
    return PS_OK;
}

int64_t ps_number_file_where(const ps_number_file *file) { return file->where; }

/* The next line without its comment; *found is false at the end. */
static ps_status next_line(ps_number_file *f, bool *found)
{
    *found = gzgets(f->stream, f->line, LINE_BYTES) != NULL;
    PS_TRY_IN(ps_gzip_check(f->stream, f->path), "after line %lld", (long long)f->where);
    if (!*found) return PS_OK;
    ++f->where;
    if (strlen(f->line) == LINE_BYTES - 1)
        return ps_fail(PS_INVALID, "%s line %lld is longer than 1 MiB", f->path,
                       (long long)f->where);
    f->at = f->where == 1 ? (char *)ps_text_begin(f->line) : f->line;
    f->at += strspn(f->at, blanks);
    size_t length = strcspn(f->at, "#%!");
    if (length == 0 && *f->at) keep_head(f, f->at + strspn(f->at, "#%! \t"));
    f->at[length] = 0;
    f->kinds = 0;
    return PS_OK;
}

/* A number, or N*V, at the beginning of the rest of the line; *found: it is one. */
static ps_status take_word(ps_number_file *f, bool *found)
{
    char *end;
    double value = strtod(f->at, &end), count = 1;
    *found = false;
    if (end == f->at) return PS_OK;
    if (*end == '*') {
        char *after;
        count = value;
        value = strtod(end + 1, &after);
        if (after == end + 1 || !(count >= 1 && count <= 1e9) || count != (double)(int64_t)count)
            return PS_OK;
        end = after;
    }
    if (*end && !strchr(blanks, *end)) return PS_OK;
    f->value = value;
    f->repeat = (int64_t)count;
    const char *number = f->at;
    f->at = end + strspn(end, blanks);
    f->begun = *found = true;
    ps_status status = ps_text_separator(number, end, f->at, &f->kinds);
    return status == PS_OK ? PS_OK
                           : ps_context(status, "%s line %lld", f->path, (long long)f->where);
}

static ps_status no_number(const ps_number_file *f)
{
    return ps_fail(PS_INVALID, "%s line %lld: \"%.*s\" is no number", f->path, (long long)f->where,
                   (int)strcspn(f->at, blanks), f->at);
}

ps_status ps_number_file_next(ps_number_file *file, double *out, bool *found)
{
    *found = true;
    while (file->repeat == 0) {
        if (!file->at || !*file->at) {
            PS_TRY(next_line(file, found));
            if (!*found) return PS_OK;
            continue;
        }
        bool taken;
        PS_TRY(take_word(file, &taken));
        if (!taken) return no_number(file);
    }
    --file->repeat;
    *out = file->value;
    return PS_OK;
}

ps_status ps_number_file_line(ps_number_file *file, double *out, int capacity, int *count)
{
    bool found = true;
    *count = 0;
    while (*count == 0) {
        PS_TRY(next_line(file, &found));
        if (!found) return PS_OK;
        while (*file->at) {
            bool taken;
            PS_TRY(take_word(file, &taken));
            if (!taken) {
                if (file->begun || !ps_text_is_header(file->at)) return no_number(file);
                keep_head(file, file->at);
                *file->at = 0;
                file->begun = true; /* one header */
                break;
            }
            for (; file->repeat > 0; --file->repeat) {
                if (*count == capacity)
                    return ps_fail(PS_INVALID, "%s line %lld has more than %d numbers", file->path,
                                   (long long)file->where, capacity);
                out[(*count)++] = file->value;
            }
        }
    }
    return check_heads(file, *count);
}
