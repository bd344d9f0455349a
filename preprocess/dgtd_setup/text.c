/* text: options made of keys and values, names of physical groups, regions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/tag_names.h"
#include "runtime/compare.h"
#include "setup.h"

ps_status text_parse(const char *option, const char *whole, setup_text *out)
{
    memset(out, 0, sizeof *out);
    out->option = option;
    out->whole = whole;
    if (strlen(whole) >= sizeof out->buffer)
        return ps_fail(PS_USAGE, "--%s %.40s..: too long", option, whole);
    strcpy(out->buffer, whole);
    out->head = out->buffer;
    for (char *part = strchr(out->buffer, ':'); part;) {
        *part++ = 0;
        if (out->count == SETUP_KEYS_MAX)
            return ps_fail(PS_USAGE, "--%s %s: more than %d keys", option, whole, SETUP_KEYS_MAX);
        char *next = strchr(part, ':'), *equals = strchr(part, '=');
        out->pairs[out->count].key = part;
        if (equals && (!next || equals < next)) {
            *equals = 0;
            out->pairs[out->count].value = equals + 1;
        }
        ++out->count;
        part = next;
    }
    return PS_OK;
}

const char *text_find(setup_text *text, const char *key)
{
    for (int i = 0; i < text->count; ++i) {
        if (strcmp(text->pairs[i].key, key) != 0) continue;
        text->pairs[i].used = 1;
        return text->pairs[i].value ? text->pairs[i].value : "";
    }
    return NULL;
}

ps_status text_reals(setup_text *text, const char *key, int count, double *out, int *given)
{
    double values[8];
    int found;
    const char *value = text_find(text, key);
    if (given) *given = value != NULL;
    if (!value) return PS_OK;
    if (ps_parse_reals(value, ',', values, 8, &found) != PS_OK || found != count)
        return ps_fail(PS_USAGE, "--%s %s: %s=%s: %d number%s expected", text->option, text->whole,
                       key, value, count, count == 1 ? " is" : "s are");
    memcpy(out, values, (size_t)count * sizeof *out);
    return PS_OK;
}

ps_status parse_time(const char *option, const char *text, double *metres)
{
    static const struct {
        const char *suffix;
        double seconds; /* 0: metres */
    } units[] = {{"", 1},      {"s", 1},      {"ms", 1e-3}, {"us", 1e-6},
                 {"ns", 1e-9}, {"ps", 1e-12}, {"m", 0}};
    char *rest;
    double number = strtod(text, &rest);
    if (rest != text && number > -1e30 && number < 1e30)
        for (size_t u = 0; u < sizeof units / sizeof *units; ++u) {
            if (strcmp(rest, units[u].suffix) != 0) continue;
            *metres = units[u].seconds > 0 ? number * (units[u].seconds * PS_DGTD_C0) : number;
            return PS_OK;
        }
    return ps_fail(PS_USAGE,
                   "--%s %s: a time is expected: seconds, or with a unit as in 2.5ns, "
                   "80ps, 0.75m (metres of light)",
                   option, text);
}

ps_status text_time(setup_text *text, const char *key, double *metres, int *given)
{
    const char *value = text_find(text, key);
    if (given) *given = value != NULL;
    if (!value || parse_time(text->option, value, metres) == PS_OK) return PS_OK;
    return ps_fail(PS_USAGE,
                   "--%s %s: %s=%s: a time is expected: seconds, or with a unit as in "
                   "2.5ns, 80ps, 0.75m (metres of light)",
                   text->option, text->whole, key, value);
}

ps_status text_done(const setup_text *text, const char *known)
{
    for (int i = 0; i < text->count; ++i)
        if (!text->pairs[i].used)
            return ps_fail(PS_USAGE, "--%s %s: \"%s\" is not known here; there are %s",
                           text->option, text->whole, text->pairs[i].key, known);
    return PS_OK;
}

/* ---- physical groups ---- */

ps_status tag_number(const setup *s, ps_tag_cells of, const char *option, const char *text,
                     int32_t *out)
{
    char what[256];
    snprintf(what, sizeof what, "%.160s: --%.64s", s->input, option);
    return ps_tag_names_find(s->mesh.tag_names, of, what, text, out);
}

const char *tag_text(const setup *s, ps_tag_cells of, int32_t tag, char out[96])
{
    char name[64];
    long number;
    snprintf(out, 96, "%d", tag);
    const char *names = s->mesh.tag_names;
    for (const char *at = names; ps_tag_names_next(names, of, &at, &number, name);)
        if (number == tag) {
            snprintf(out, 96, "%d (%s)", tag, name);
            break;
        }
    return out;
}

void tags_text(const setup *s, ps_tag_cells of, const int32_t *tags, int64_t count, char *out,
               size_t size)
{
    size_t at = (size_t)snprintf(out, size, "%s", count ? "" : "none");
    for (int64_t i = 0; i < count && at < size; ++i) {
        char text[96];
        if (i == SETUP_TAGS_SHOWN) {
            snprintf(out + at, size - at, ", ..");
            return;
        }
        at += (size_t)snprintf(out + at, size - at, "%s%s", i ? ", " : "",
                               tag_text(s, of, tags[i], text));
    }
}

int64_t distinct_tags(const int32_t *values, int64_t count, int32_t *out, int64_t capacity)
{
    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i) {
        if (i > 0 && values[i] == values[i - 1]) continue;
        int64_t kept = found < capacity ? found : capacity;
        if (bsearch(values + i, out, (size_t)kept, sizeof *out, ps_compare_i32)) continue;
        if (found < capacity) {
            out[found] = values[i];
            qsort(out, (size_t)found + 1, sizeof *out, ps_compare_i32);
        }
        ++found;
    }
    return found;
}

/* ---- regions ---- */

static ps_status read_shape(const char *option, const char *text, int *ball, double v[6])
{
    int count;
    const char *numbers = strchr(text, ':');
    *ball = strncmp(text, "ball:", 5) == 0;
    if (!numbers || (!*ball && strncmp(text, "box:", 4) != 0) ||
        ps_parse_reals(numbers + 1, ',', v, 6, &count) != PS_OK || count != (*ball ? 4 : 6))
        return ps_fail(PS_USAGE,
                       "--%s %s: expected box:X0,Y0,Z0,X1,Y1,Z1, ball:X,Y,Z,R or "
                       "tag:T,T,..",
                       option, text);
    return PS_OK;
}

static void mark_shape(const setup *s, int ball, const double v[6], uint8_t *marks)
{
#pragma omp parallel for
    for (int64_t e = 0; e < s->mesh.elements; ++e) {
        double square = 0;
        bool inside = true;
        for (int c = 0; c < 3; ++c) {
            double x = 0;
            for (int k = 0; k < 4; ++k)
                x += s->mesh.vertices[3 * (int64_t)s->mesh.tetrahedra[4 * e + k] + c] / 4;
            square += (x - v[c]) * (x - v[c]);
            inside &= ball || (x >= v[c] && x <= v[3 + c]);
        }
        marks[e] |= ball ? square <= v[3] * v[3] : inside;
    }
}

static ps_status mark_tags(const setup *s, const char *option, const char *text, uint8_t *marks)
{
    char list[512];
    snprintf(list, sizeof list, "%s", text + 4);
    for (char *rest = NULL, *part = strtok_r(list, ",", &rest); part;
         part = strtok_r(NULL, ",", &rest)) {
        int32_t tag;
        PS_TRY(tag_number(s, PS_TAGS_OF_VOLUMES, option, part, &tag));
        for (int64_t e = 0; e < s->mesh.elements; ++e) marks[e] |= s->mesh.tags[e] == tag;
    }
    return PS_OK;
}

ps_status mark_region(const setup *s, const char *option, const char *text, uint8_t *marks)
{
    int ball;
    double v[6];
    if (strncmp(text, "tag:", 4) == 0) return mark_tags(s, option, text, marks);
    PS_TRY(read_shape(option, text, &ball, v));
    mark_shape(s, ball, v, marks);
    return PS_OK;
}
