/* PLY, text and binary of either byte order: x, y, z of "vertex" and the first list of "face"
 * (vertex_indices or vertex_index); other properties and elements are skipped. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "preprocess/mesh_import/import.h"

enum { ELEMENTS_MAX = 16, PROPERTIES_MAX = 64 };

typedef enum ply_layout { TEXT, LITTLE, BIG } ply_layout;

typedef struct ply_property {
    char name[32];
    number_type type;
    bool list;
    number_type count_type;
} ply_property;

typedef struct ply_element {
    char name[32];
    int64_t count;
    int properties;
    ply_property property[PROPERTIES_MAX];
} ply_element;

typedef struct ply {
    text_lines lines;
    ply_layout layout;
    int elements;
    ply_element element[ELEMENTS_MAX];
    import_mesh *mesh;
} ply;

static ps_status type_of(const ply *p, const char *name, number_type *out)
{
    static const struct {
        const char *old, *name;
        number_type type;
    } known[] = {{"char", "int8", NUMBER_I8},      {"uchar", "uint8", NUMBER_U8},
                 {"short", "int16", NUMBER_I16},   {"ushort", "uint16", NUMBER_U16},
                 {"int", "int32", NUMBER_I32},     {"uint", "uint32", NUMBER_U32},
                 {"float", "float32", NUMBER_F32}, {"double", "float64", NUMBER_F64}};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (strcmp(name, known[i].old) == 0 || strcmp(name, known[i].name) == 0) {
            *out = known[i].type;
            return PS_OK;
        }
    return text_lines_fail(&p->lines, "unknown type of a property");
}

static ps_status header_format(ply *p)
{
    static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    char name[32] = "";
    sscanf(p->lines.line, "format %31s", name);
    for (int i = 0; i < 3; ++i)
        if (strcmp(name, names[i]) == 0) {
            p->layout = (ply_layout)i;
            return PS_OK;
        }
    return text_lines_fail(&p->lines, "format is none of ascii, binary_little_endian, "
                                      "binary_big_endian");
}

static ps_status header_element(ply *p)
{
    long long count;
    if (p->elements == ELEMENTS_MAX) return text_lines_fail(&p->lines, "more than 16 elements");
    ply_element *e = &p->element[p->elements++];
    if (sscanf(p->lines.line, "element %31s %lld", e->name, &count) != 2 || count < 0 ||
        count > INT32_MAX)
        return text_lines_fail(&p->lines, "expected \"element NAME COUNT\"");
    e->count = count;
    return PS_OK;
}

static ps_status header_property(ply *p)
{
    char type[32], count_type[32];
    if (p->elements == 0) return text_lines_fail(&p->lines, "a property before any element");
    ply_element *e = &p->element[p->elements - 1];
    if (e->properties == PROPERTIES_MAX)
        return text_lines_fail(&p->lines, "more than 64 properties");
    ply_property *property = &e->property[e->properties++];
    property->list = sscanf(p->lines.line, "property list %31s %31s %31s", count_type, type,
                            property->name) == 3;
    if (!property->list && sscanf(p->lines.line, "property %31s %31s", type, property->name) != 2)
        return text_lines_fail(&p->lines, "expected \"property TYPE NAME\"");
    if (property->list) PS_TRY(type_of(p, count_type, &property->count_type));
    return type_of(p, type, &property->type);
}

static ps_status read_header(ply *p)
{
    if (!text_lines_next(&p->lines) || strcmp(p->lines.line, "ply") != 0)
        return ps_fail(PS_INVALID, "%s: does not begin with \"ply\"", p->lines.name);
    while (text_lines_next(&p->lines)) {
        const char *line = p->lines.line;
        if (strncmp(line, "end_header", 10) == 0) return PS_OK;
        if (strncmp(line, "format ", 7) == 0) PS_TRY(header_format(p));
        if (strncmp(line, "element ", 8) == 0) PS_TRY(header_element(p));
        if (strncmp(line, "property ", 9) == 0) PS_TRY(header_property(p));
    }
    return ps_fail(PS_INVALID, "%s: ends within its header", p->lines.name);
}

/* One value, text or binary. */
static ps_status read_value(ply *p, number_type type, double *out)
{
    unsigned char bytes[8];
    if (p->layout == TEXT)
        return text_lines_real(&p->lines, out)
                   ? PS_OK
                   : text_lines_fail(&p->lines, "fewer values than the header announces");
    if (fread(bytes, (size_t)number_bytes(type), 1, p->lines.file) != 1)
        return ps_fail(PS_INVALID, "%s: ends before all that its header announces", p->lines.name);
    *out = number_decode(bytes, type, p->layout == BIG);
    return PS_OK;
}

static ps_status read_face(ply *p, int count, const double *values, int64_t number)
{
    int32_t face[TEXT_POLYGON_MAX];
    for (int k = 0; k < count; ++k) {
        if (!(values[k] >= 0 && values[k] < (double)INT32_MAX && floor(values[k]) == values[k]))
            return ps_fail(PS_INVALID, "%s: face %lld has the vertex index %g", p->lines.name,
                           (long long)number, values[k]);
        face[k] = (int32_t)values[k];
    }
    return import_add_polygon(p->mesh, face, count, 0, number);
}

static ps_status read_item(ply *p, const ply_element *e, int64_t number)
{
    double value, list[TEXT_POLYGON_MAX], x[3] = {0, 0, 0};
    bool is_vertex = strcmp(e->name, "vertex") == 0, is_face = strcmp(e->name, "face") == 0;
    if (p->layout == TEXT && !text_lines_next(&p->lines))
        return ps_fail(PS_INVALID, "%s: ends at %s %lld of %lld", p->lines.name, e->name,
                       (long long)number, (long long)e->count);
    for (int i = 0; i < e->properties; ++i) {
        const ply_property *property = &e->property[i];
        PS_TRY(read_value(p, property->list ? property->count_type : property->type, &value));
        if (!property->list) {
            if (!is_vertex || strlen(property->name) != 1 || property->name[0] < 'x' ||
                property->name[0] > 'z')
                continue;
            x[property->name[0] - 'x'] = value;
            p->mesh->single = p->layout != TEXT && property->type == NUMBER_F32;
            continue;
        }
        bool indices = is_face && strncmp(property->name, "vertex_ind", 10) == 0;
        if (!(value >= (indices ? 3 : 0) && value <= TEXT_POLYGON_MAX))
            return ps_fail(PS_INVALID, "%s: %s %lld has a list of %g items; 3 to 256 are read",
                           p->lines.name, e->name, (long long)number, value);
        int count = (int)value;
        for (int k = 0; k < count; ++k) PS_TRY(read_value(p, property->type, &list[k]));
        if (indices) PS_TRY(read_face(p, count, list, number));
    }
    if (!is_vertex) return PS_OK;
    PS_TRY(import_add_vertices(p->mesh, 1, x));
    return import_add_vertex_number(p->mesh, number);
}

/* Every item takes bytes: a header that announces more than the file can hold is not believed. */
static ps_status check_counts(ply *p)
{
    struct stat info;
    int64_t all = fstat(fileno(p->lines.file), &info) == 0 ? (int64_t)info.st_size : 0;
    for (int i = 0; i < p->elements; ++i) {
        const ply_element *e = &p->element[i];
        int64_t least = 0;
        for (int k = 0; k < e->properties; ++k)
            least += p->layout == TEXT     ? 2
                     : e->property[k].list ? number_bytes(e->property[k].count_type)
                                           : number_bytes(e->property[k].type);
        if (e->count > 0 && (least == 0 || e->count > all / least))
            return ps_fail(PS_INVALID,
                           "%s: %lld of %s are announced, which a file of %lld bytes cannot hold",
                           p->lines.name, (long long)e->count, e->name, (long long)all);
    }
    return PS_OK;
}

static ps_status read_all(ply *p)
{
    PS_TRY(read_header(p));
    PS_TRY(check_counts(p));
    for (int i = 0; i < p->elements; ++i)
        for (int64_t number = 0; number < p->element[i].count; ++number)
            PS_TRY(read_item(p, &p->element[i], number));
    return text_lines_end(&p->lines); /* of binary files, too: blanks at most may follow */
}

ps_status import_read_ply(const import_input *input, import_mesh *mesh)
{
    ply *p = calloc(1, sizeof *p);
    if (!p) return ps_fail(PS_EXHAUSTED, "no memory to read %s", input->name);
    p->mesh = mesh;
    ps_status status = text_lines_open(input->path, input->name, &p->lines);
    if (status == PS_OK) status = read_all(p);
    text_lines_close(&p->lines);
    free(p);
    return status;
}
