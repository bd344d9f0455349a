/* Wavefront OBJ: v and f (v, v/vt, v//vn, v/vt/vn; negative indices count back); each name of a g
 * or usemtl that is followed by faces becomes a tag. Free-form surfaces are refused, the rest is
 * ignored. */
#include <string.h>

#include "preprocess/mesh_import/import.h"

typedef struct obj {
    text_lines lines;
    import_mesh *mesh;
    int groups, tag; /* names that have faces; the tag of the next face */
    bool fresh;      /* a group began and has no face yet */
    char group[64];
} obj;

static ps_status read_vertex(obj *o)
{
    double x[3];
    for (int c = 0; c < 3; ++c)
        if (!text_lines_real(&o->lines, &x[c]))
            return text_lines_fail(&o->lines, "expected three coordinates after v");
    PS_TRY(import_add_vertices(o->mesh, 1, x));
    return import_add_vertex_number(o->mesh, o->mesh->vertex_count);
}

/* The vertex index of "12/5/7"; skips texture and normal indices. */
static ps_status read_corner(obj *o, int32_t *out)
{
    int64_t index;
    if (!text_lines_int(&o->lines, &index) || index == 0)
        return text_lines_fail(&o->lines, "expected vertex indices (from 1, or negative) after f");
    if (index < 0) index += o->mesh->vertex_count + 1;
    if (index < 1 || index > o->mesh->vertex_count)
        return text_lines_fail(&o->lines,
                               "the face refers to a vertex that was not given before it");
    o->lines.at += strcspn(o->lines.at, " \t");
    o->lines.at += strspn(o->lines.at, " \t");
    *out = (int32_t)(index - 1);
    return PS_OK;
}

/* A name that was there before, as programs write that sort faces by material, keeps its tag. */
static void choose_tag(obj *o)
{
    char name[64];
    long tag;
    o->fresh = false;
    const char *names = o->mesh->tag_names;
    for (const char *at = names; ps_tag_names_next(names, PS_TAGS_OF_SURFACES, &at, &tag, name);)
        if (strcmp(name, o->group) == 0) {
            o->tag = (int)tag;
            return;
        }
    o->tag = ++o->groups;
    import_add_tag_name(o->mesh, o->tag, o->group);
}

static ps_status read_face(obj *o, int64_t number)
{
    int32_t face[TEXT_POLYGON_MAX];
    int corners = 0;
    while (*o->lines.at) {
        if (corners == TEXT_POLYGON_MAX)
            return text_lines_fail(&o->lines, "a face of more than 256 vertices");
        PS_TRY(read_corner(o, &face[corners++]));
    }
    if (corners < 3) return text_lines_fail(&o->lines, "a face needs at least three vertices");
    if (o->fresh) choose_tag(o);
    return import_add_polygon(o->mesh, face, corners, o->tag, number);
}

static void begin_group(obj *o)
{
    o->fresh = true;
    snprintf(o->group, sizeof o->group, "%.63s", *o->lines.at ? o->lines.at : "default");
}

static ps_status read_all(obj *o)
{
    int64_t faces = 0;
    while (text_lines_next(&o->lines)) {
        char word[16] = "";
        int length = 0;
        sscanf(o->lines.at, "%15s%n", word, &length);
        o->lines.at += length;
        o->lines.at += strspn(o->lines.at, " \t");
        if (strcmp(word, "v") == 0) PS_TRY(read_vertex(o));
        if (strcmp(word, "f") == 0) PS_TRY(read_face(o, ++faces));
        if (strcmp(word, "g") == 0 || strcmp(word, "usemtl") == 0) begin_group(o);
        if (strcmp(word, "surf") == 0 || strcmp(word, "curv") == 0)
            return text_lines_fail(&o->lines, "a free-form surface: only faces are read, save the "
                                              "model as polygons");
    }
    if (o->mesh->vertex_count == 0)
        return ps_fail(PS_INVALID, "%s: no vertices (lines \"v x y z\") in it", o->lines.name);
    return PS_OK;
}

ps_status import_read_obj(const import_input *input, import_mesh *mesh)
{
    obj o = {.mesh = mesh};
    PS_TRY(text_lines_open(input->path, input->name, &o.lines));
    ps_status status = read_all(&o);
    text_lines_close(&o.lines);
    return status;
}
