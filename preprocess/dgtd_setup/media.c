/* media: which material each element is made of. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/scope.h"
#include "runtime/search.h"
#include "setup.h"

enum { LINE = 1024 };

static const char known[] = "eps, mu, sigma (S/m), rho (kg/m3), debye, lorentz, drude and tissue";

/* What was said of one tag. */
typedef struct statement {
    ps_dgtd_medium medium;
    int used, tissue;
} statement;

typedef struct statements {
    int64_t count, capacity;
    statement *list;
    bool has_default;
    int default_tissue;
    ps_dgtd_medium fallback;
} statements;

static void release_statements(statements *x) { free(x->list); }

static ps_status read_medium(setup_text *text, ps_dgtd_medium *m, int *tissue)
{
    *m = (ps_dgtd_medium){.eps = 1, .mu = 1};
    PS_TRY(read_permittivity(text, m, tissue));
    PS_TRY(text_reals(text, "mu", 1, &m->mu, NULL));
    PS_TRY(text_reals(text, "rho", 1, &m->density, NULL));
    PS_TRY(text_done(text, known));
    if (!(m->eps > 0) || !(m->mu > 0) || !(m->sigma >= 0) || !(m->density >= 0))
        return ps_fail(PS_USAGE,
                       "--%s %s: eps %g, mu %g, sigma %g, rho %g: eps and mu are "
                       "positive, sigma and rho not negative",
                       text->option, text->whole, m->eps, m->mu, m->sigma, m->density);
    return PS_OK;
}

/* "TAG:eps=..,mu=.." or "TAG:eps=..:mu=..": commas separate no numbers here. */
static ps_status add_statement(const setup *s, const char *option, const char *whole,
                               statements *out)
{
    char line[LINE];
    setup_text text;
    ps_dgtd_medium medium;
    snprintf(line, sizeof line, "%s", whole);
    for (char *c = line; *c; ++c)
        if (*c == ',') *c = ':';
    PS_TRY(text_parse(option, line, &text));
    int tissue;
    PS_TRY(read_medium(&text, &medium, &tissue));
    if (strcmp(text.head, "default") == 0) {
        out->fallback = medium;
        out->default_tissue = tissue;
        out->has_default = true;
        return PS_OK;
    }
    PS_TRY(tag_number(s, PS_TAGS_OF_VOLUMES, option, text.head, &medium.tag));
    for (int64_t i = 0; i < out->count; ++i) {
        if (out->list[i].medium.tag != medium.tag) continue;
        out->list[i].tissue = tissue;
        out->list[i].medium = medium; /* --material after --materials */
        return PS_OK;
    }
    PS_TRY(
        ps_grow((void **)&out->list, &out->capacity, out->count + 1, sizeof *out->list, "media"));
    out->list[out->count++] = (statement){medium, 0, tissue};
    return PS_OK;
}

/* Lines "TAG eps=.. mu=.."; '#' begins a comment. */
static ps_status read_file(const setup *s, const char *path, statements *out)
{
    char line[LINE];
    FILE *file;
    ps_status status = ps_path_open_input(path, "a file of materials", &file);
    if (status != PS_OK) return ps_context(status, "--materials");
    for (int number = 1; status == PS_OK && fgets(line, sizeof line, file); ++number) {
        line[strcspn(line, "#\r\n")] = 0;
        char *begin = line + strspn(line, " \t");
        size_t length = strlen(begin);
        while (length > 0 && strchr(" \t", begin[length - 1])) begin[--length] = 0;
        if (!*begin) continue;
        size_t kept = 0; /* runs of blanks become one ':' */
        for (size_t i = 0; i < length; ++i) {
            bool blank = begin[i] == ' ' || begin[i] == '\t';
            if (blank && begin[kept - 1] == ':') continue;
            begin[kept++] = blank ? ':' : begin[i];
        }
        begin[kept] = 0;
        status = add_statement(s, "materials", begin, out);
        if (status != PS_OK) status = ps_context(status, "%s, line %d", path, number);
    }
    fclose(file);
    return status;
}

static ps_status read_statements(const setup *s, statements *out)
{
    if (s->options->media_file) PS_TRY(read_file(s, s->options->media_file, out));
    for (int i = 0; i < s->options->media.count; ++i)
        PS_TRY(add_statement(s, "material", s->options->media.items[i], out));
    return PS_OK;
}

/* The media of the tags that elements have; every statement must be of one of them. */
static ps_status match(setup *s, statements *x, const int32_t *tags, int64_t count)
{
    int32_t missing[PS_DGTD_MEDIA_MAX];
    int64_t missed = 0;
    char list[LINE];
    for (int64_t t = 0; t < count; ++t) {
        ps_dgtd_medium *out = s->media + t;
        bool found = x->has_default;
        *out = x->fallback;
        s->tissues[t] = (int16_t)x->default_tissue;
        for (int64_t i = 0; i < x->count; ++i) {
            if (x->list[i].medium.tag != tags[t]) continue;
            *out = x->list[i].medium;
            s->tissues[t] = (int16_t)x->list[i].tissue;
            x->list[i].used = found = true;
        }
        out->tag = tags[t];
        if (!found) missing[missed++] = tags[t];
        char text[96], *name = NULL;
        tag_text(s, PS_TAGS_OF_VOLUMES, tags[t], text);
        name = strchr(text, '(');
        if (name) snprintf(out->name, sizeof out->name, "%.*s", (int)strlen(name) - 2, name + 1);
    }
    if (missed > 0) {
        tags_text(s, PS_TAGS_OF_VOLUMES, missing, missed, list, sizeof list);
        return ps_fail(PS_USAGE,
                       "no material for elements of physical group %s; give --material "
                       "TAG:eps=..,mu=..,sigma=..,rho=.. or --material default:..",
                       list);
    }
    for (int64_t i = 0; i < x->count; ++i) {
        char text[96];
        if (x->list[i].used) continue;
        tags_text(s, PS_TAGS_OF_VOLUMES, tags, count, list, sizeof list);
        return ps_fail(PS_USAGE, "--material: no element of %s has tag %s; elements have %s",
                       s->input, tag_text(s, PS_TAGS_OF_VOLUMES, x->list[i].medium.tag, text),
                       list);
    }
    return PS_OK;
}

static ps_status assign(setup *s)
{
    PS_SCOPED_MEMORY int32_t *tags = NULL;
    PS_TRY(PS_ALLOC(&tags, PS_DGTD_MEDIA_MAX, "media"));
    int64_t count = distinct_tags(s->mesh.tags, s->mesh.elements, tags, PS_DGTD_MEDIA_MAX);
    PS_SCOPED(release_statements) statements x = {.default_tissue = -1};
    if (count > PS_DGTD_MEDIA_MAX)
        return ps_fail(PS_INVALID, "%s: %" PRId64 " physical groups, at most %d are possible",
                       s->input, count, PS_DGTD_MEDIA_MAX);
    s->media_count = s->tissue_count = count;
    PS_TRY(PS_ALLOC(&s->media, count, "media"));
    PS_TRY(PS_ALLOC(&s->materials, count, "media"));
    PS_TRY(PS_ALLOC(&s->tissues, count, "media"));
    PS_TRY(PS_ALLOC(&s->material, s->mesh.elements, "materials"));
    PS_TRY(read_statements(s, &x));
    PS_TRY(match(s, &x, tags, count));
    for (int64_t e = 0; e < s->mesh.elements; ++e) {
        int64_t next;
        PS_LOWER_BOUND(next, 1, count, at, tags[at] <= s->mesh.tags[e]);
        s->material[e] = (uint16_t)(next - 1);
    }
    return PS_OK;
}

ps_status set_media(setup *s)
{
    PS_TRY(read_frequencies(s));
    PS_TRY(assign(s));
    for (int64_t m = 0; m < s->media_count; ++m)
        s->materials[m] =
            (ps_dgtd_material){s->media[m].eps, s->media[m].mu, s->media[m].sigma * PS_DGTD_Z0};
    return PS_OK;
}
