/*
 * Gmsh's MSH files 2.x and 4.1, text and binary, read without Gmsh's library: it keeps about
 * 370 bytes a triangle, this reader 24. Format: Gmsh reference manual, "MSH file format".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preprocess/mesh_import/import.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/path.h"

enum {
    TYPE_LINE = 1,
    TYPE_TRIANGLE = 2,
    TYPE_QUADRANGLE = 3,
    TYPE_TETRAHEDRON = 4,
    TYPE_POINT = 15,
    NODES_MAX = 8,
    TAGS_MAX = 64
};

/* Of each cell the elementary entity, which says its region where a file has no physical groups. */
typedef struct elementary {
    int32_t *of_cell;
    int64_t count, room;
} elementary;

/* An entity of MSH 4: its physical group. */
typedef struct entity {
    int32_t dim, tag, group;
} entity;

typedef struct msh {
    FILE *file;
    const char *name;
    const import_options *options;
    import_mesh *mesh;
    double version;
    bool binary, elements_done, leave_to_gmsh;
    char section[32];
    int64_t item; /* of the section, for messages */
    entity *entities;
    int64_t entity_count, entity_room;
    elementary triangles, tetrahedra;
} msh;

static ps_status fail(const msh *m, const char *what)
{
    return ps_fail(PS_INVALID, "%s: %s, item %lld: %s", m->name, m->section, (long long)m->item,
                   what);
}

/* The number of a physical group; Gmsh gives it the orientation as its sign. */
static ps_status group_number(const msh *m, int64_t group, int32_t *out)
{
    if (group < -INT32_MAX || group > INT32_MAX)
        return fail(m, "the number of a physical group is out of range");
    *out = (int32_t)llabs(group);
    return PS_OK;
}

/* ---- numbers: words of text, or bytes (little-endian; checked at the header) ---- */

static ps_status word(msh *m, char out[64])
{
    return import_word(m->file, out, 64) && out[0] != '$' ? PS_OK
                                                          : fail(m, "the section ends too early");
}

static ps_status bytes(msh *m, void *out, size_t size)
{
    if (fread(out, size, 1, m->file) == 1) return PS_OK;
    return fail(m, "the file ends within the section");
}

static ps_status text_int(msh *m, int64_t *out)
{
    char text[64], *end;
    PS_TRY(word(m, text));
    errno = 0;
    *out = strtoll(text, &end, 10);
    return *end || errno ? fail(m, "expected a whole number") : PS_OK;
}

static ps_status get_int(msh *m, int64_t *out)
{
    int32_t value;
    if (!m->binary) return text_int(m, out);
    PS_TRY(bytes(m, &value, sizeof value));
    *out = value;
    return PS_OK;
}

static ps_status get_size(msh *m, int64_t *out)
{
    return m->binary ? bytes(m, out, sizeof *out) : text_int(m, out);
}

static ps_status get_real(msh *m, double *out)
{
    char text[64], *end;
    if (m->binary) return bytes(m, out, sizeof *out);
    PS_TRY(word(m, text));
    *out = strtod(text, &end);
    return *end ? fail(m, "expected a number") : PS_OK;
}

static ps_status get_point(msh *m, double out[3])
{
    for (int c = 0; c < 3; ++c) PS_TRY(get_real(m, &out[c]));
    return PS_OK;
}

static ps_status skip_ints(msh *m, int64_t count)
{
    int64_t unused;
    for (int64_t i = 0; i < count; ++i) PS_TRY(get_int(m, &unused));
    return PS_OK;
}

/* ---- sections ---- */

static ps_status read_format(msh *m)
{
    int64_t binary, size;
    int32_t one;
    PS_TRY(get_real(m, &m->version));
    PS_TRY(text_int(m, &binary));
    PS_TRY(text_int(m, &size));
    bool known = (m->version >= 2 && m->version < 3) || (m->version >= 4 && m->version < 4.2);
    if (!known || size != 8)
        return ps_fail(PS_INVALID,
                       "%s is an MSH file of version %g with numbers of %lld bytes; "
                       "versions 2.x, 4.0 and 4.1 with 8 are read",
                       m->name, m->version, (long long)size);
    m->leave_to_gmsh = m->version >= 4 && m->version < 4.05;
    if (!binary) return PS_OK;
    while (getc_unlocked(m->file) != '\n' && !feof(m->file)) {
    }
    PS_TRY(bytes(m, &one, sizeof one));
    if (one != 1) m->leave_to_gmsh = true; /* the other byte order */
    m->binary = true;
    return PS_OK;
}

static ps_status read_names(msh *m)
{
    int64_t count, dim, tag;
    PS_TRY(text_int(m, &count));
    for (m->item = 1; m->item <= count; ++m->item) {
        char name[256];
        PS_TRY(text_int(m, &dim));
        PS_TRY(text_int(m, &tag));
        if (fscanf(m->file, " \"%255[^\"\n]\"", name) != 1)
            return fail(m, "expected a name in quotes");
        if (dim == 2 || (dim == 3 && m->options->kind != IMPORT_SURFACE))
            import_add_tag_name(m->mesh, dim == 2 ? -(int)tag : (int)tag, name);
    }
    return PS_OK;
}

static ps_status read_entity(msh *m, int dim)
{
    int64_t tag, groups, group = 0, first = 0, bounds;
    double box[3];
    PS_TRY(get_int(m, &tag));
    for (int i = 0; i < (dim == 0 ? 1 : 2); ++i) PS_TRY(get_point(m, box));
    PS_TRY(get_size(m, &groups));
    for (int64_t i = 0; i < groups; ++i) {
        PS_TRY(get_int(m, &group));
        if (i == 0) first = group;
    }
    PS_TRY(ps_grow((void **)&m->entities, &m->entity_room, m->entity_count + 1, sizeof(entity),
                   "entities"));
    int32_t number = 0;
    PS_TRY(group_number(m, first, &number));
    m->entities[m->entity_count++] = (entity){dim, (int32_t)tag, number};
    if (groups > 1 && dim >= 2)
        ps_warning("%s: entity %lld of dimension %d is in %lld physical groups: its elements get "
                   "the tag of the first, %d",
                   m->name, (long long)tag, dim, (long long)groups, number);
    if (dim == 0) return PS_OK;
    PS_TRY(get_size(m, &bounds));
    return skip_ints(m, bounds);
}

static ps_status read_entities(msh *m)
{
    int64_t counts[4];
    for (int dim = 0; dim < 4; ++dim) PS_TRY(get_size(m, &counts[dim]));
    for (int dim = 0; dim < 4; ++dim)
        for (m->item = 1; m->item <= counts[dim]; ++m->item) PS_TRY(read_entity(m, dim));
    return PS_OK;
}

static int32_t group_of(const msh *m, int64_t dim, int64_t tag)
{
    for (int64_t i = 0; i < m->entity_count; ++i)
        if (m->entities[i].dim == dim && m->entities[i].tag == tag) return m->entities[i].group;
    return 0;
}

static ps_status read_nodes_2(msh *m)
{
    int64_t count, number;
    PS_TRY(text_int(m, &count));
    if (m->binary) getc_unlocked(m->file); /* the end of the line */
    for (m->item = 1; m->item <= count; ++m->item) {
        double x[3];
        PS_TRY(get_int(m, &number));
        PS_TRY(get_point(m, x));
        PS_TRY(import_add_vertices(m->mesh, 1, x));
        PS_TRY(import_add_vertex_number(m->mesh, number));
    }
    return PS_OK;
}

/* Numbers first, then coordinates. */
static ps_status read_node_block(msh *m, int64_t count, int parameters)
{
    import_mesh *mesh = m->mesh;
    int64_t old = mesh->vertex_count, number;
    double x[3] = {0, 0, 0}, unused;
    for (int64_t i = 0; i < count; ++i, ++m->item) {
        PS_TRY(get_size(m, &number));
        PS_TRY(import_add_vertices(mesh, 1, x));
        PS_TRY(import_add_vertex_number(mesh, number));
    }
    m->item -= count;
    for (int64_t i = 0; i < count; ++i, ++m->item) {
        PS_TRY(get_point(m, mesh->vertices + 3 * (old + i)));
        for (int p = 0; p < parameters; ++p) PS_TRY(get_real(m, &unused));
    }
    return PS_OK;
}

static ps_status read_nodes_4(msh *m)
{
    int64_t head[4], dim, tag, parametric, count;
    for (int i = 0; i < 4; ++i) PS_TRY(get_size(m, &head[i]));
    m->item = 1;
    for (int64_t block = 0; block < head[0]; ++block) {
        PS_TRY(get_int(m, &dim));
        PS_TRY(get_int(m, &tag));
        PS_TRY(get_int(m, &parametric));
        PS_TRY(get_size(m, &count));
        PS_TRY(read_node_block(m, count, parametric ? (int)dim : 0));
    }
    return PS_OK;
}

/* Nodes of an element, for the types that are read or passed over; 0 for others. */
static int nodes_of(int64_t type)
{
    static const struct {
        int type, nodes;
    } known[] = {{TYPE_POINT, 1},
                 {TYPE_LINE, 2},
                 {TYPE_TRIANGLE, 3},
                 {TYPE_QUADRANGLE, 4},
                 {TYPE_TETRAHEDRON, 4},
                 {8, 3},
                 {26, 4},
                 {27, 5},
                 {28, 6}};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (known[i].type == type) return known[i].nodes;
    return 0;
}

static ps_status refuse_type(const msh *m, int64_t type)
{
    static const char *const names[] = {[5] = "hexahedron",
                                        [6] = "prism",
                                        [7] = "pyramid",
                                        [9] = "triangle of order 2",
                                        [10] = "quadrangle of order 2",
                                        [11] = "tetrahedron of order 2",
                                        [12] = "hexahedron of order 2",
                                        [13] = "prism of order 2",
                                        [14] = "pyramid of order 2",
                                        [16] = "quadrangle of order 2",
                                        [17] = "hexahedron of order 2",
                                        [18] = "prism of order 2",
                                        [19] = "pyramid of order 2",
                                        [20] = "triangle of order 3",
                                        [21] = "triangle of order 3",
                                        [29] = "tetrahedron of order 3",
                                        [30] = "tetrahedron of order 4"};
    const char *name = type > 0 && type <= 30 ? names[type] : NULL;
    if (!name)
        return ps_fail(PS_INVALID, "%s: %s, item %lld: element type %lld is not known", m->name,
                       m->section, (long long)m->item, (long long)type);
    return ps_fail(PS_INVALID,
                   "%s: %s, item %lld is a %s; only straight triangles and tetrahedra "
                   "are read: save the mesh with Mesh.ElementOrder = 1 and without "
                   "recombination",
                   m->name, m->section, (long long)m->item, name);
}

/* For the cells that were added last. */
static ps_status note_entity(elementary *e, const import_cells *cells, int64_t of)
{
    PS_TRY(ps_grow((void **)&e->of_cell, &e->room, cells->count, sizeof(int32_t),
                   "elementary entities"));
    int32_t number = llabs(of) <= INT32_MAX ? (int32_t)llabs(of) : 0;
    while (e->count < cells->count) e->of_cell[e->count++] = number;
    return PS_OK;
}

typedef struct place {
    int64_t group, entity;
} place;

static ps_status add_element(msh *m, int64_t type, int64_t number, place where,
                             const int64_t *nodes)
{
    int32_t vertices[NODES_MAX], tag = 0;
    int count = nodes_of(type);
    bool wanted = type == TYPE_TRIANGLE || type == TYPE_QUADRANGLE ||
                  (type == TYPE_TETRAHEDRON && m->options->kind != IMPORT_SURFACE);
    for (int k = 0; k < count && wanted; ++k) {
        if (nodes[k] < 0 || nodes[k] > INT32_MAX) return fail(m, "a node number is out of range");
        vertices[k] = (int32_t)nodes[k];
    }
    if (!wanted) return PS_OK;
    PS_TRY(group_number(m, where.group, &tag));
    if (type == TYPE_TETRAHEDRON) {
        PS_TRY(import_add_cell(&m->mesh->tetrahedra, vertices, tag, number));
        return note_entity(&m->tetrahedra, &m->mesh->tetrahedra, where.entity);
    }
    PS_TRY(import_add_polygon(m->mesh, vertices, count, tag, number));
    return note_entity(&m->triangles, &m->mesh->triangles, where.entity);
}

/* Number, tags and nodes of one element of MSH 2; the text form has type and tags in the line. */
static ps_status read_element_2(msh *m, int64_t type, int64_t tags, int64_t number)
{
    int64_t tag, nodes[NODES_MAX];
    place where = {0, 0};
    int count = nodes_of(type);
    if (count == 0) return refuse_type(m, type);
    if (tags < 0 || tags > TAGS_MAX) return fail(m, "an impossible number of tags");
    for (int64_t i = 0; i < tags; ++i) {
        PS_TRY(get_int(m, &tag));
        if (i == 0) where.group = tag;
        if (i == 1) where.entity = tag;
    }
    for (int k = 0; k < count; ++k) PS_TRY(get_int(m, &nodes[k]));
    return add_element(m, type, number, where, nodes);
}

static ps_status read_elements_2(msh *m)
{
    int64_t count, type, tags, number, block = 1;
    PS_TRY(text_int(m, &count));
    if (m->binary) getc_unlocked(m->file);
    for (m->item = 1; m->item <= count;) {
        if (m->binary) { /* a head for a block of equal elements */
            PS_TRY(get_int(m, &type));
            PS_TRY(get_int(m, &block));
            PS_TRY(get_int(m, &tags));
            if (block < 1 || block > count) return fail(m, "an impossible number of elements");
        }
        for (int64_t i = 0; i < block; ++i, ++m->item) {
            PS_TRY(get_int(m, &number));
            if (!m->binary) {
                PS_TRY(get_int(m, &type));
                PS_TRY(get_int(m, &tags));
            }
            PS_TRY(read_element_2(m, type, tags, number));
        }
    }
    return PS_OK;
}

static ps_status read_elements_4(msh *m)
{
    int64_t head[4], dim, tag, type, count, number, nodes[NODES_MAX];
    for (int i = 0; i < 4; ++i) PS_TRY(get_size(m, &head[i]));
    m->item = 1;
    for (int64_t block = 0; block < head[0]; ++block) {
        PS_TRY(get_int(m, &dim));
        PS_TRY(get_int(m, &tag));
        PS_TRY(get_int(m, &type));
        PS_TRY(get_size(m, &count));
        int size = nodes_of(type);
        const place where = {group_of(m, dim, tag), tag};
        if (size == 0) return refuse_type(m, type);
        for (int64_t i = 0; i < count; ++i, ++m->item) {
            PS_TRY(get_size(m, &number));
            for (int k = 0; k < size; ++k) PS_TRY(get_size(m, &nodes[k]));
            PS_TRY(add_element(m, type, number, where, nodes));
        }
    }
    return PS_OK;
}

/* A file without physical groups of these cells: the elementary entities are their tags, if there
 * are several. */
static bool take_entities(const elementary *e, import_cells *cells)
{
    bool several = false;
    for (int64_t i = 0; i < cells->count; ++i) {
        if (cells->tags[i] != 0) return false;
        several |= e->of_cell[i] != e->of_cell[0];
    }
    if (several) memcpy(cells->tags, e->of_cell, (size_t)cells->count * sizeof *cells->tags);
    return several;
}

static void tag_by_entities(msh *m)
{
    bool solids = take_entities(&m->tetrahedra, &m->mesh->tetrahedra);
    bool faces = take_entities(&m->triangles, &m->mesh->triangles);
    if (solids || faces)
        ps_info("%s: %s are in no physical group: their elementary entities are the tags", m->name,
                !faces    ? "the tetrahedra"
                : !solids ? "the triangles"
                          : "triangles and tetrahedra");
}

/* ---- the file ---- */

/* Behind what a section announces nothing more may stand; what is not read is passed over. */
static ps_status skip_to_end(msh *m, bool was_read)
{
    static const char more[] = "there is more in the section than it announces: its count is wrong";
    char end[40], next[64];
    int c, matched = 0;
    snprintf(end, sizeof end, "$End%s", m->section + 1);
    if (was_read && import_word(m->file, next, sizeof next))
        return strcmp(next, end) == 0 ? PS_OK : fail(m, more);
    while ((c = getc_unlocked(m->file)) != EOF) {
        matched = c == end[matched] ? matched + 1 : c == '$';
        if (!end[matched]) return PS_OK;
    }
    return fail(m, "the file ends within the section");
}

static ps_status read_section(msh *m)
{
    bool four = m->version >= 4, cells = strcmp(m->section, "$Elements") == 0;
    bool nodes = strcmp(m->section, "$Nodes") == 0;
    m->item = 0;
    if (strcmp(m->section, "$NOD") == 0)
        return ps_fail(PS_INVALID,
                       "%s is an MSH file of version 1 ($NOD); versions 2.x and 4.x are "
                       "read: convert it by \"gmsh FILE -save -format msh41\"",
                       m->name);
    if (strcmp(m->section, "$MeshFormat") == 0)
        PS_TRY(read_format(m));
    else if (m->version == 0 && strcmp(m->section, "$Comments") != 0)
        return ps_fail(PS_INVALID, "%s is no MSH file: it has no $MeshFormat at its beginning",
                       m->name);
    if (strcmp(m->section, "$PartitionedEntities") == 0) m->leave_to_gmsh = true;
    if (m->leave_to_gmsh) return PS_OK;
    if (strcmp(m->section, "$PhysicalNames") == 0) PS_TRY(read_names(m));
    if (four && m->binary) getc_unlocked(m->file);
    if (strcmp(m->section, "$Entities") == 0) PS_TRY(read_entities(m));
    if (nodes) PS_TRY(four ? read_nodes_4(m) : read_nodes_2(m));
    if (cells) PS_TRY(four ? read_elements_4(m) : read_elements_2(m));
    m->elements_done = cells;
    return skip_to_end(m, nodes || cells);
}

static ps_status read_sections(msh *m)
{
    while (!m->elements_done && !m->leave_to_gmsh) {
        if (fscanf(m->file, " %31s", m->section) != 1)
            return ps_fail(PS_INVALID, "%s: ends without $Elements", m->name);
        if (m->section[0] != '$')
            return ps_fail(PS_INVALID,
                           "%s: \"%.20s\" where a section such as $Nodes should begin%s", m->name,
                           m->section, m->version == 0 ? ": it is no MSH file" : "");
        PS_TRY(read_section(m));
    }
    return PS_OK;
}

ps_status import_read_msh(const import_input *input, const import_options *options,
                          import_mesh *mesh, bool *read)
{
    msh m = {.name = input->name, .options = options, .mesh = mesh};
    m.file = fopen(input->path, "rb");
    if (!m.file) return ps_path_unreadable(input->name);
    mesh->vertex_word = "node";
    mesh->vertex_words = "nodes";
    mesh->cell_word = "element";
    ps_status status = read_sections(&m);
    *read = !m.leave_to_gmsh;
    if (status == PS_OK && *read) tag_by_entities(&m);
    if (status == PS_OK && *read) status = import_numbers_to_indices(mesh, input->name);
    fclose(m.file);
    PS_FREE(m.entities, m.triangles.of_cell, m.tetrahedra.of_cell);
    return status;
}
