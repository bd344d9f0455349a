/* STL, text and binary. The format has no shared vertices: equal positions are one vertex. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "preprocess/mesh_import/import.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/scope.h"

enum { HEADER_BYTES = 84, FACET_BYTES = 50 };

/* Vertices that were seen: open addressing, slots hold index + 1, at most half are taken. */
typedef struct seen {
    import_mesh *mesh;
    const char *name;
    uint32_t *slots;
    int64_t size; /* power of two */
} seen;

static uint64_t hash_of(const double x[3])
{
    uint64_t bits[3], h = 0;
    memcpy(bits, x, sizeof bits);
    for (int c = 0; c < 3; ++c) {
        h = (h ^ bits[c]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    return h;
}

/* The slot of an equal vertex, or the free one where it belongs. */
static uint32_t *slot_of(const seen *s, const double x[3])
{
    for (uint64_t at = hash_of(x);; ++at) {
        uint32_t *slot = &s->slots[at & (uint64_t)(s->size - 1)];
        if (*slot == 0) return slot;
        const double *y = s->mesh->vertices + 3 * (int64_t)(*slot - 1);
        if (memcmp(x, y, 3 * sizeof *x) == 0) return slot;
    }
}

static ps_status enlarge(seen *s)
{
    free(s->slots);
    s->size = s->size ? 2 * s->size : 1024;
    PS_TRY(PS_ALLOC(&s->slots, s->size, "sharing vertices"));
    for (int64_t v = 0; v < s->mesh->vertex_count; ++v)
        *slot_of(s, s->mesh->vertices + 3 * v) = (uint32_t)v + 1;
    return PS_OK;
}

static ps_status add_facet(seen *s, const double corners[9], int32_t tag)
{
    int32_t vertices[3];
    import_mesh *mesh = s->mesh;
    if (mesh->triangles.count >= INT32_MAX / 3)
        return ps_fail(PS_INVALID, "%s: more than %d facets", s->name, INT32_MAX / 3);
    for (int k = 0; k < 3; ++k) {
        double x[3];
        for (int c = 0; c < 3; ++c) x[c] = corners[3 * k + c] + 0.0; /* -0 and 0 are equal */
        if (2 * mesh->vertex_count >= s->size) PS_TRY(enlarge(s));
        uint32_t *slot = slot_of(s, x);
        if (*slot == 0) {
            PS_TRY(import_add_vertices(mesh, 1, x));
            PS_TRY(import_add_vertex_number(mesh, mesh->vertex_count));
            *slot = (uint32_t)mesh->vertex_count;
        }
        vertices[k] = (int32_t)(*slot - 1);
    }
    return import_add_cell(&mesh->triangles, vertices, tag, mesh->triangles.count + 1);
}

static ps_status read_binary(FILE *file, const char *name, int64_t facets, seen *s)
{
    unsigned char record[FACET_BYTES];
    for (int64_t f = 0; f < facets; ++f) {
        float values[12];
        double corners[9];
        if (fread(record, FACET_BYTES, 1, file) != 1)
            return ps_fail(PS_INVALID, "%s: ends within facet %lld of %lld", name, (long long)f + 1,
                           (long long)facets);
        memcpy(values, record, sizeof values);
        for (int i = 0; i < 9; ++i) corners[i] = values[3 + i];
        PS_TRY(add_facet(s, corners, 0));
    }
    return PS_OK;
}

typedef struct stl_text {
    const char *name;
    int64_t line;
    double corners[9];
    int corner, solids, open; /* corners of the facet; solids that began, and have not ended */
} stl_text;

static ps_status fail_text(const stl_text *t, const char *what)
{
    return ps_fail(PS_INVALID, "%s: line %lld: %s", t->name, (long long)t->line, what);
}

/* The three numbers behind "vertex". */
static ps_status read_vertex(stl_text *t, char **at)
{
    if (t->corner == 3) return fail_text(t, "a facet with more than three vertices");
    for (int c = 0; c < 3; ++c) {
        char *end;
        t->corners[3 * t->corner + c] = strtod(*at, &end);
        if (end == *at || !strchr(" \t\r\n", *end))
            return fail_text(t, "expected three coordinates, numbers with decimal points");
        *at = end;
    }
    ++t->corner;
    return PS_OK;
}

/* The words of a line, whatever their case; behind the name of a solid none counts. Three vertices
 * make a facet at "endfacet"; each solid is a tag. */
static ps_status read_words(stl_text *t, char *at, seen *s)
{
    for (size_t length; (length = strcspn(at += strspn(at, " \t\r\n"), " \t\r\n")) > 0;) {
        const char *word = at;
        at += length;
        bool ends = length == 8 && strncasecmp(word, "endsolid", 8) == 0;
        if (ends || (length == 5 && strncasecmp(word, "solid", 5) == 0)) {
            t->solids += !ends;
            t->open += ends ? -1 : 1;
            return PS_OK;
        }
        if (length == 6 && strncasecmp(word, "vertex", 6) == 0) PS_TRY(read_vertex(t, &at));
        if (length != 8 || strncasecmp(word, "endfacet", 8) != 0) continue;
        if (t->corner != 3)
            return ps_fail(PS_INVALID, "%s: line %lld: a facet with %d vertices", t->name,
                           (long long)t->line, t->corner);
        t->corner = 0;
        PS_TRY(add_facet(s, t->corners, t->solids > 1 ? t->solids : 0));
    }
    return PS_OK;
}

static ps_status read_text(FILE *file, const char *name, seen *s)
{
    PS_SCOPED_MEMORY char *line = NULL;
    size_t room = 0;
    stl_text t = {.name = name};
    while (getline(&line, &room, file) > 0) {
        ++t.line;
        PS_TRY(read_words(&t, line, s));
    }
    if (t.corner != 0) return ps_fail(PS_INVALID, "%s: ends within a facet", name);
    if (t.open > 0 && s->mesh->triangles.count == 0)
        return ps_fail(PS_INVALID,
                       "%s: begins as a text STL does, and has no lines of facets: a binary one "
                       "whose number of facets does not fit its size, or all on one line, or lines "
                       "that end in "
                       "CR alone",
                       name);
    return t.open <= 0
               ? PS_OK
               : ps_fail(PS_INVALID, "%s: no \"endsolid\" at its end: the file is cut off", name);
}

ps_status import_read_stl(const import_input *input, import_mesh *mesh)
{
    unsigned char header[HEADER_BYTES] = {0};
    FILE *file = fopen(input->path, "rb");
    if (!file) return ps_path_unreadable(input->name);
    size_t got = fread(header, 1, sizeof header, file);
    fseeko(file, 0, SEEK_END);
    int64_t bytes = ftello(file), facets = 0;
    for (int i = 3; i >= 0; --i) facets = facets << 8 | header[80 + i];
    mesh->cell_word = "facet";
    mesh->soup = true;
    mesh->single = got == HEADER_BYTES && bytes == HEADER_BYTES + FACET_BYTES * facets;
    seen s = {.mesh = mesh, .name = input->name};
    ps_status status;
    /* "solid" begins text files and some binary ones: the size of the file tells them apart. */
    if (mesh->single) {
        fseeko(file, HEADER_BYTES, SEEK_SET);
        status = read_binary(file, input->name, facets, &s);
    } else if (strncasecmp((const char *)header, "solid", 5) == 0) {
        rewind(file);
        status = read_text(file, input->name, &s);
    } else {
        status = ps_fail(PS_INVALID,
                         "%s: neither a text STL (\"solid ...\") nor a binary one (its "
                         "header announces %lld facets, which is %lld bytes; it has "
                         "%lld)",
                         input->name, (long long)facets,
                         (long long)(HEADER_BYTES + FACET_BYTES * facets), (long long)bytes);
    }
    fclose(file);
    free(s.slots);
    return status;
}
