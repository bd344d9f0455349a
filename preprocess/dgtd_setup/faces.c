/* faces: a condition on every outer face, and on the inner ones that are sheets; the total field.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/memory.h"
#include "setup.h"

enum { TAGS_MAX = 4096 };

typedef struct condition {
    int32_t tag;
    bool outer; /* of outer faces that have no condition of their own */
    uint8_t kind;
    int64_t faces;
} condition;

static ps_status read_condition(const setup *s, const char *text, condition *out)
{
    static const char *const kinds[] = {"", "pec", "pmc", "absorbing"};
    char tag[256];
    const char *kind = strrchr(text, ':');
    size_t length = kind ? (size_t)(kind - text) : 0;
    *out = (condition){0};
    if (!kind || length == 0 || length >= sizeof tag)
        return ps_fail(PS_USAGE, "--boundary %s: expected TAG:pec, TAG:pmc or TAG:absorbing", text);
    memcpy(tag, text, length);
    tag[length] = 0;
    for (uint8_t k = PS_DGTD_PEC; k < PS_DGTD_FACES; ++k)
        if (strcmp(kind + 1, kinds[k]) == 0) out->kind = k;
    if (!out->kind)
        return ps_fail(PS_USAGE,
                       "--boundary %s: \"%s\" is no condition; there are pec, pmc and "
                       "absorbing",
                       text, kind + 1);
    out->outer = strcmp(tag, "outer") == 0;
    return out->outer ? PS_OK : tag_number(s, PS_TAGS_OF_SURFACES, "boundary", tag, &out->tag);
}

static const char *condition_text(const setup *s, const condition *x, char out[96])
{
    if (x->outer)
        strcpy(out, "outer");
    else
        tag_text(s, PS_TAGS_OF_SURFACES, x->tag, out);
    return out;
}

/* An inner face with a condition parts its two elements. */
static ps_status close_face(setup *s, const condition *x, int32_t face)
{
    char text[96], place[160];
    int32_t link = s->mesh.links[face];
    s->kinds[face] = x->kind;
    if (link < 0) return PS_OK;
    if (x->kind == PS_DGTD_ABSORBING)
        return ps_fail(PS_USAGE,
                       "--boundary %s:absorbing: a face of %s has elements on both sides; "
                       "only outer faces absorb",
                       condition_text(s, x, text), element_text(s, face / 4, place));
    s->kinds[link] = x->kind;
    s->mesh.links[face] = s->mesh.links[link] = -1;
    return PS_OK;
}

static ps_status close_tagged(setup *s, condition *conditions, int count)
{
    for (int64_t i = 0; i < s->mesh.face_count; ++i)
        for (int k = 0; k < count; ++k) {
            if (conditions[k].outer || conditions[k].tag != s->mesh.face_tags[i]) continue;
            ++conditions[k].faces;
            PS_TRY(close_face(s, conditions + k, s->mesh.faces[i]));
        }
    return PS_OK;
}

static ps_status check_used(const setup *s, const condition *conditions, int count)
{
    int32_t tags[TAGS_MAX];
    char text[96], list[1024];
    for (int k = 0; k < count; ++k) {
        if (conditions[k].faces > 0 || conditions[k].outer) continue;
        int64_t found = distinct_tags(s->mesh.face_tags, s->mesh.face_count, tags, TAGS_MAX);
        tags_text(s, PS_TAGS_OF_SURFACES, tags, found < TAGS_MAX ? found : TAGS_MAX, list,
                  sizeof list);
        return ps_fail(PS_USAGE, "--boundary: no face of %s has tag %s; faces have %s", s->input,
                       condition_text(s, conditions + k, text), list);
    }
    return PS_OK;
}

static ps_status tell_open(const setup *s, int64_t open, int32_t first)
{
    char place[160], text[96];
    const char *tag = "no tag";
    for (int64_t i = 0; i < s->mesh.face_count; ++i)
        if (s->mesh.faces[i] == first) {
            char number[64];
            snprintf(number, sizeof number, "tag %.58s",
                     tag_text(s, PS_TAGS_OF_SURFACES, s->mesh.face_tags[i], text));
            tag = strcpy(text, number);
        }
    return ps_fail(PS_USAGE,
                   "%" PRId64 " outer faces have no condition; the first has %s and belongs "
                   "to %s. Give --boundary TAG:pec|pmc|absorbing, or --boundary outer:.. "
                   "for all that are left",
                   open, tag, element_text(s, first / 4, place));
}

static ps_status close_rest(setup *s, condition *conditions, int count)
{
    int64_t open = 0;
    int32_t first = -1;
    condition *rest = NULL;
    for (int k = 0; k < count; ++k)
        if (conditions[k].outer) rest = conditions + k;
    for (int64_t f = 0; f < 4 * s->mesh.elements; ++f) {
        if (s->mesh.links[f] >= 0 || s->kinds[f] != PS_DGTD_INNER) continue;
        if (rest)
            s->kinds[f] = rest->kind;
        else if (open++ == 0)
            first = (int32_t)f;
    }
    return open ? tell_open(s, open, first) : PS_OK;
}

ps_status set_faces(setup *s)
{
    condition conditions[PS_TEXT_LIST_MAX];
    int count = s->options->boundaries.count;
    PS_TRY(PS_ALLOC(&s->kinds, 4 * s->mesh.elements, "conditions"));
    for (int k = 0; k < count; ++k)
        PS_TRY(read_condition(s, s->options->boundaries.items[k], conditions + k));
    for (int k = 0; k < count; ++k)
        for (int i = 0; i < k; ++i)
            if (conditions[i].outer == conditions[k].outer &&
                conditions[i].tag == conditions[k].tag)
                return ps_fail(PS_USAGE, "--boundary %s and --boundary %s are of the same faces",
                               s->options->boundaries.items[i], s->options->boundaries.items[k]);
    PS_TRY(close_tagged(s, conditions, count));
    PS_TRY(check_used(s, conditions, count));
    PS_TRY(close_rest(s, conditions, count));
    for (int64_t f = 0; f < 4 * s->mesh.elements; ++f) ++s->face_counts[s->kinds[f]];
    return PS_OK;
}

ps_status set_total(setup *s)
{
    if (!s->options->total) return PS_OK;
    PS_TRY(PS_ALLOC(&s->total, s->mesh.elements, "the total-field region"));
    PS_TRY(mark_region(s, "total", s->options->total, s->total));
    for (int64_t e = 0; e < s->mesh.elements; ++e) s->total_elements += s->total[e];
    if (s->total_elements == 0 || s->total_elements == s->mesh.elements)
        return ps_fail(PS_USAGE,
                       "--total %s: %" PRId64 " of %" PRId64 " elements are in it; the "
                       "surface between some and the others is where the field enters",
                       s->options->total, s->total_elements, s->mesh.elements);
    s->header.has_total = true;
    return PS_OK;
}
