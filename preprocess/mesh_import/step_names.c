#include "preprocess/mesh_import/step_names.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/scope.h"

/* Levels of each of the three components of a colour. */
enum { LEVELS = 32, SOLIDS_MAX = LEVELS * LEVELS * LEVELS };

/* ---- colours ---- */

static double level(int64_t number, int component)
{
    for (int c = 0; c < component; ++c) number /= LEVELS;
    return ((double)(number % LEVELS) + .5) / LEVELS;
}

/* The transfer function of sRGB (IEC 61966-2-1). */
static double encode(double linear)
{
    return linear <= .0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - .055;
}

/* Gmsh cuts 255 times the component down to a whole number. */
static int find_level(int value, bool encoded)
{
    for (int l = 0; l < LEVELS; ++l) {
        double expected = 255 * (encoded ? encode(level(l, 0)) : level(l, 0));
        if (fabs(value + .5 - expected) <= 1) return l;
    }
    return -1;
}

int64_t step_names_of_colour(const step_names *names, const int colour[3], bool encoded)
{
    int64_t number = 0;
    for (int c = 2; c >= 0; --c) {
        int found = find_level(colour[c], encoded);
        if (found < 0) return -1;
        number = LEVELS * number + found;
    }
    return number < names->solids ? number : -1;
}

/* ---- the text of a file: ISO 10303-21 ---- */

typedef struct step_entity {
    int64_t number;
    char *text; /* its keyword and what follows it */
} step_entity;

typedef struct step_text {
    char *text, *end;             /* *end is 0 */
    int64_t last_entity, context; /* the greatest number; a geometric context, 0: none */
    char *data_end;               /* ENDSEC of the last section */
    step_entity *entity; /* of the kinds below, in the order of their numbers once sorted */
    int64_t entities, room;
} step_text;

/* What follows a string or a comment that begins at `at`; `at` where none does. */
static char *skip_quoted(char *at)
{
    if (*at == '\'') {
        char *end = strchr(at + 1, '\'');
        return end ? end + 1 : at + strlen(at);
    }
    if (at[0] != '/' || at[1] != '*') return at;
    char *end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
}

static char *skip_space(char *at)
{
    for (;;) {
        at += strspn(at, " \t\r\n");
        char *after = *at == '\'' ? at : skip_quoted(at);
        if (after == at) return at;
        at = after;
    }
}

/* Past the semicolon that ends what begins at `at`. */
static char *statement_end(char *at)
{
    while (*at && *at != ';') {
        char *after = skip_quoted(at);
        at = after == at ? at + 1 : after;
    }
    return *at ? at + 1 : at;
}

/* Whether the keyword of an entity is this one; *after: what follows it. */
static bool is_keyword(char *at, const char *keyword, char **after)
{
    size_t length = strlen(keyword);
    *after = at + length;
    return strncmp(at, keyword, length) == 0 && !isalnum((unsigned char)at[length]) &&
           at[length] != '_';
}

/* The first parameter, a string, as a name of a tag: short, and of characters that options take. */
static void take_name(char *at, char out[64])
{
    size_t length = 0;
    out[0] = 0;
    at = skip_space(at);
    if (*at != '(') return;
    at = skip_space(at + 1);
    if (*at++ != '\'') return;
    for (; *at && length < 59; ++at) {
        if (*at == '\'' && *++at != '\'') break; /* '' stands for ' */
        bool plain = *at != '\n' && *at != '\r' && *at != ':';
        out[length++] = plain ? *at : ' ';
    }
    while (length && out[length - 1] == ' ') --length;
    out[length] = 0;
    if (strcasecmp(out, "none") == 0) out[0] = 0;
}

/* Colours that the file has would hide ours: what lists them becomes a representation without
 * meaning, of the same length. */
static void silence_styles(char *at, char *after)
{
    static const char plain[] = "REPRESENTATION";
    memset(at, ' ', (size_t)(after - at));
    memcpy(at, plain, sizeof plain - 1);
}

/* Kinds of entities from a solid down to the surfaces of its faces; those of surfaces as Gmsh calls
 * them. */
static const char *const solids[] = {"MANIFOLD_SOLID_BREP", "BREP_WITH_VOIDS", "FACETED_BREP",
                                     NULL};
static const char *const shells[] = {"CLOSED_SHELL", "ORIENTED_CLOSED_SHELL", NULL};
static const char *const faces[] = {"ADVANCED_FACE", "FACE_SURFACE", NULL};
static const char *const surfaces[][2] = {{"PLANE", "Plane"},
                                          {"CYLINDRICAL_SURFACE", "Cylinder"},
                                          {"CONICAL_SURFACE", "Cone"},
                                          {"SPHERICAL_SURFACE", "Sphere"},
                                          {"TOROIDAL_SURFACE", "Torus"}};

static bool is_one_of(char *at, const char *const *keywords, char **after)
{
    for (; *keywords; ++keywords)
        if (is_keyword(at, *keywords, after)) return true;
    return false;
}

static const char *surface_kind(char *at)
{
    char *after;
    for (size_t i = 0; i < sizeof surfaces / sizeof *surfaces; ++i)
        if (is_keyword(at, surfaces[i][0], &after)) return surfaces[i][1];
    return NULL;
}

static ps_status keep(step_text *s, int64_t number, char *text)
{
    char *after;
    if (!is_one_of(text, solids, &after) && !is_one_of(text, shells, &after) &&
        !is_one_of(text, faces, &after) && !surface_kind(text))
        return PS_OK;
    PS_TRY(ps_grow((void **)&s->entity, &s->room, s->entities + 1, sizeof *s->entity,
                   "entities of a STEP file"));
    s->entity[s->entities++] = (step_entity){number, text};
    return PS_OK;
}

/* #17 = ADVANCED_FACE('lid',(#18),#32,.F.); or #5 = ( A() B(#6) ); */
static ps_status take_entity(step_text *s, char *at, char *end)
{
    static const char context[] = "GEOMETRIC_REPRESENTATION_CONTEXT";
    static const char styles[] = "MECHANICAL_DESIGN_GEOMETRIC_PRESENTATION_REPRESENTATION";
    char *after, *rest, last = *end;
    int64_t number = strtoll(at + 1, &rest, 10);
    rest = skip_space(rest);
    if (number < 1 || *rest != '=') return PS_OK;
    rest = skip_space(rest + 1);
    if (number > s->last_entity) s->last_entity = number;
    if (is_keyword(rest, styles, &after)) silence_styles(rest, after);
    *end = 0;
    if (is_keyword(rest, context, &after) || (*rest == '(' && strstr(rest, context)))
        s->context = number;
    *end = last;
    return keep(s, number, rest);
}

static int by_number(const void *a, const void *b)
{
    int64_t x = ((const step_entity *)a)->number, y = ((const step_entity *)b)->number;
    return (x > y) - (x < y);
}

static ps_status scan(step_text *s)
{
    for (char *at = skip_space(s->text), *end; *at; at = skip_space(end)) {
        end = statement_end(at);
        if (*at == '#') PS_TRY(take_entity(s, at, end));
        if (strncmp(at, "ENDSEC", 6) == 0) s->data_end = at;
    }
    if (s->entities) qsort(s->entity, (size_t)s->entities, sizeof *s->entity, by_number);
    return PS_OK;
}

/* ---- solids and their faces ---- */

static char *find(const step_text *s, int64_t number)
{
    step_entity wanted = {number, NULL},
                *found = s->entities ? bsearch(&wanted, s->entity, (size_t)s->entities,
                                               sizeof wanted, by_number)
                                     : NULL;
    return found ? found->text : NULL;
}

/* The entity that is referred to next before `end`, and *at after it; NULL at the end, and for one
 * of no kind that is kept. *more: not at the end. */
static char *next_reference(const step_text *s, char **at, const char *end, bool *more)
{
    while (*at < end && **at != '#') {
        char *after = skip_quoted(*at);
        *at = after == *at ? after + 1 : after;
    }
    *more = *at < end;
    return *more ? find(s, strtoll(*at + 1, at, 10)) : NULL;
}

static ps_status add_face(const step_text *s, char *face, step_names *out, bool *named)
{
    char *after, *end = statement_end(face), *to;
    bool more = true;
    PS_TRY(ps_grow((void **)&out->face, &out->face_room, out->faces + 1, sizeof *out->face,
                   "faces of a STEP file"));
    step_face *new = &out->face[out->faces++];
    *new = (step_face){.surface = NULL};
    is_one_of(face, faces, &after);
    take_name(after, new->name);
    *named |= new->name[0] != 0;
    while (more && !new->surface)
        if ((to = next_reference(s, &after, end, &more))) new->surface = surface_kind(to);
    return PS_OK;
}

/* The faces of a shell, or of the shell that an oriented one turns. A shell of shells is none. */
static ps_status add_shell(const step_text *s, char *shell, int depth, step_names *out, bool *named)
{
    char *at = shell, *end = statement_end(shell), *after, *to;
    for (bool more = true; more;) {
        if (!(to = next_reference(s, &at, end, &more))) continue;
        if (is_one_of(to, faces, &after)) PS_TRY(add_face(s, to, out, named));
        if (depth < 2 && is_one_of(to, shells, &after))
            PS_TRY(add_shell(s, to, depth + 1, out, named));
    }
    return PS_OK;
}

static ps_status add_solids(const step_text *s, step_names *out, bool *named)
{
    char *after;
    for (int64_t i = 0; i < s->entities; ++i) {
        if (!is_one_of(s->entity[i].text, solids, &after)) continue;
        int64_t first = out->faces;
        PS_TRY(add_shell(s, s->entity[i].text, 0, out, named));
        PS_TRY(ps_grow((void **)&out->solid, &out->solid_room, out->solids + 1, sizeof *out->solid,
                       "solids of a STEP file"));
        out->solid[out->solids++] = (step_solid){s->entity[i].number, first, out->faces - first};
    }
    return PS_OK;
}

/* ---- the copy ---- */

/* Each colour is seven entities and the item that gives it to the solid. */
static void write_colours(const step_text *s, const step_names *names, FILE *file)
{
    int64_t first = s->last_entity + 1, k = first;
    for (int64_t i = 0; i < names->solids; ++i, k += 8) {
        fprintf(file, "#%" PRId64 "=COLOUR_RGB('',%.9f,%.9f,%.9f);\n", k, encode(level(i, 0)),
                encode(level(i, 1)), encode(level(i, 2)));
        fprintf(file, "#%" PRId64 "=FILL_AREA_STYLE_COLOUR('',#%" PRId64 ");\n", k + 1, k);
        fprintf(file, "#%" PRId64 "=FILL_AREA_STYLE('',(#%" PRId64 "));\n", k + 2, k + 1);
        fprintf(file, "#%" PRId64 "=SURFACE_STYLE_FILL_AREA(#%" PRId64 ");\n", k + 3, k + 2);
        fprintf(file, "#%" PRId64 "=SURFACE_SIDE_STYLE('',(#%" PRId64 "));\n", k + 4, k + 3);
        fprintf(file, "#%" PRId64 "=SURFACE_STYLE_USAGE(.BOTH.,#%" PRId64 ");\n", k + 5, k + 4);
        fprintf(file, "#%" PRId64 "=PRESENTATION_STYLE_ASSIGNMENT((#%" PRId64 "));\n", k + 6,
                k + 5);
        fprintf(file, "#%" PRId64 "=STYLED_ITEM('',(#%" PRId64 "),#%" PRId64 ");\n", k + 7, k + 6,
                names->solid[i].entity);
    }
    fprintf(file, "#%" PRId64 "=MECHANICAL_DESIGN_GEOMETRIC_PRESENTATION_REPRESENTATION('',(", k);
    for (int64_t i = 0; i < names->solids; ++i)
        fprintf(file, "%s#%" PRId64, i ? "," : "", first + 8 * i + 7);
    fprintf(file, "),#%" PRId64 ");\n", s->context);
}

static ps_status write_copy(const step_text *s, const step_names *names, const char *copy)
{
    FILE *file = fopen(copy, "wb");
    if (!file)
        return ps_fail(PS_EXHAUSTED, "%s cannot be written: TMPDIR names another folder", copy);
    fwrite(s->text, 1, (size_t)(s->data_end - s->text), file);
    write_colours(s, names, file);
    fwrite(s->data_end, 1, (size_t)(s->end - s->data_end), file);
    bool good = !ferror(file);
    good = fclose(file) == 0 && good;
    return good ? PS_OK
                : ps_fail(PS_EXHAUSTED, "%s cannot be written: TMPDIR names another folder", copy);
}

/* ---- all of it ---- */

static ps_status mark(const char *path, const char *name, const char *copy, step_text *s,
                      step_names *out, bool *marked)
{
    bool named = false;
    int64_t bytes;
    PS_TRY(ps_path_read(path, name, &s->text, &bytes));
    s->end = s->text + strlen(s->text);
    PS_TRY(scan(s));
    PS_TRY(add_solids(s, out, &named));
    if (!named) return PS_OK;
    *marked = out->solids <= SOLIDS_MAX && s->context && s->data_end;
    if (*marked) return write_copy(s, out, copy);
    ps_warning("%s: the names of its faces are left out: %" PRId64
               " solids, of which %d can be told apart, or no geometric context",
               name, out->solids, SOLIDS_MAX);
    return PS_OK;
}

ps_status step_names_mark(const char *path, const char *name, const char *copy, step_names *out,
                          bool *marked)
{
    step_text s = {.text = NULL};
    *out = (step_names){.solid = NULL};
    *marked = false;
    ps_status status = mark(path, name, copy, &s, out, marked);
    free(s.entity);
    free(s.text);
    return status;
}

void step_names_release(step_names *names)
{
    free(names->solid);
    free(names->face);
    *names = (step_names){.solid = NULL};
}
