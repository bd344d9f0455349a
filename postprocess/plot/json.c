#include "postprocess/plot/plot.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/scope.h"

enum { DEPTH_MAX = 32 };

typedef struct reader {
    const char *text, *at;
    char path[160];
    json_number *out;
    int64_t count, capacity;
    int depth;
} reader;

static ps_status fault(const reader *r, const char *what)
{
    return ps_fail(PS_INVALID, "not valid JSON: %s at character %lld", what,
                   (long long)(r->at - r->text) + 1);
}

static void skip(reader *r)
{
    while (*r->at && isspace((unsigned char)*r->at)) ++r->at;
}

/* A string; its text (escapes left as they are) cut to size. */
static ps_status read_string(reader *r, char *out, size_t size)
{
    size_t n = 0;
    if (*r->at != '"') return fault(r, "a name or text in quotes is missing");
    for (++r->at; *r->at && *r->at != '"'; ++r->at) {
        if (*r->at == '\\' && r->at[1]) ++r->at;
        if (n + 1 < size) out[n++] = *r->at;
    }
    out[n] = 0;
    if (*r->at != '"') return fault(r, "a text does not end");
    ++r->at;
    return PS_OK;
}

static ps_status read_value(reader *r);

/* Reads a member's value with its name added to the path. */
static ps_status read_member(reader *r, const char *name)
{
    size_t length = strlen(r->path);
    snprintf(r->path + length, sizeof r->path - length, "%s%s", length ? "/" : "", name);
    ps_status status = read_value(r);
    r->path[length] = 0;
    return status;
}

static ps_status read_members(reader *r, char close)
{
    if (++r->depth > DEPTH_MAX) return fault(r, "nested too deeply");
    ++r->at;
    skip(r);
    for (int64_t index = 0; *r->at != close; ++index) {
        char name[96];
        snprintf(name, sizeof name, "%lld", (long long)index);
        if (close == '}') {
            PS_TRY(read_string(r, name, sizeof name));
            skip(r);
            if (*r->at++ != ':') return fault(r, "a ':' is missing");
        }
        PS_TRY(read_member(r, name));
        skip(r);
        if (*r->at == ',') {
            ++r->at;
            skip(r);
        } else if (*r->at != close) {
            return fault(r, "a ',' or a closing bracket is missing");
        }
    }
    ++r->at;
    --r->depth;
    return PS_OK;
}

static ps_status read_number(reader *r)
{
    char *end;
    double value = strtod(r->at, &end);
    if (end == r->at) return fault(r, "a value is missing");
    r->at = end;
    PS_TRY(ps_grow((void **)&r->out, &r->capacity, r->count + 1, sizeof *r->out, "figures"));
    json_number *number = &r->out[r->count++];
    memcpy(number->path, r->path, sizeof r->path);
    number->value = value;
    return PS_OK;
}

static ps_status read_value(reader *r)
{
    static const char *const words[] = {"true", "false", "null"};
    char text[8];
    skip(r);
    if (*r->at == '{') return read_members(r, '}');
    if (*r->at == '[') return read_members(r, ']');
    if (*r->at == '"') return read_string(r, text, sizeof text);
    for (int i = 0; i < 3; ++i)
        if (strncmp(r->at, words[i], strlen(words[i])) == 0) {
            r->at += strlen(words[i]);
            return PS_OK;
        }
    return read_number(r);
}

ps_status json_numbers(const char *text, json_number **out, int *count)
{
    reader r = {.text = text, .at = text};
    ps_status status = read_value(&r);
    skip(&r);
    if (status == PS_OK && *r.at) status = fault(&r, "something follows the end");
    if (status != PS_OK) {
        free(r.out);
        r.out = NULL;
        r.count = 0;
    }
    *out = r.out;
    *count = (int)r.count;
    return status;
}

ps_status json_numbers_of(const char *path, json_number **out, int *count)
{
    PS_SCOPED_MEMORY char *text = NULL;
    int64_t bytes;
    *out = NULL;
    PS_TRY(ps_path_read(path, path, &text, &bytes));
    ps_status status = json_numbers(text, out, count);
    return status == PS_OK ? PS_OK : ps_context(status, "%s", path);
}

double json_value(const json_number *numbers, int count, const char *path)
{
    for (int i = 0; i < count; ++i)
        if (strcmp(numbers[i].path, path) == 0) return numbers[i].value;
    return 0;
}

int json_small(const json_number *numbers, int count, const char *path)
{
    return (int)fmin(fmax(json_value(numbers, count, path), 0), 9999);
}
