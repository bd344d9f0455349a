/*
 * VTK's legacy files, versions 1 to 5.1, text and binary: unstructured grids and polygons, with the
 * cell data that say regions. Source: "VTK File Formats" of VTK's documentation; the form of cells
 * since version 5 as vtkDataReader reads it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "preprocess/mesh_import/vtk_piece.h"
#include "runtime/scope.h"

enum { WORD = 128 };

typedef struct vtk {
    FILE *file;
    vtk_piece piece;
    int64_t bytes, data_count; /* of the file; of the section CELL_DATA or POINT_DATA */
    bool binary, of_cells;
} vtk;

static ps_status fail(const vtk *v, const char *word, const char *what)
{
    return ps_fail(PS_INVALID, "%s: %s: %s", v->piece.name, word, what);
}

static void skip_line(vtk *v)
{
    int c;
    do c = getc_unlocked(v->file);
    while (c != '\n' && c != EOF);
}

static ps_status word_of(vtk *v, const char *of, char out[WORD])
{
    return import_word(v->file, out, WORD) ? PS_OK : fail(v, of, "the file ends there");
}

/* A count that the file can hold. */
static ps_status count_of(vtk *v, const char *of, int64_t *out)
{
    char text[WORD], *end;
    PS_TRY(word_of(v, of, text));
    *out = strtoll(text, &end, 10);
    if (*end || *out < 0) return fail(v, of, "expected a count");
    return *out <= v->bytes ? PS_OK : fail(v, of, "more is announced than the file can hold");
}

static ps_status type_of(vtk *v, const char *of, number_type *out)
{
    static const struct {
        const char *name;
        number_type type;
    } known[] = {{"char", NUMBER_I8},
                 {"signed_char", NUMBER_I8},
                 {"unsigned_char", NUMBER_U8},
                 {"short", NUMBER_I16},
                 {"unsigned_short", NUMBER_U16},
                 {"int", NUMBER_I32},
                 {"unsigned_int", NUMBER_U32},
                 {"vtkIdType", NUMBER_I32},
                 {"long", NUMBER_I64},
                 {"unsigned_long", NUMBER_U64},
                 {"vtktypeint64", NUMBER_I64},
                 {"vtktypeuint64", NUMBER_U64},
                 {"float", NUMBER_F32},
                 {"double", NUMBER_F64}};
    char text[WORD];
    PS_TRY(word_of(v, of, text));
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (strcasecmp(text, known[i].name) == 0) {
            *out = known[i].type;
            return PS_OK;
        }
    return ps_fail(PS_INVALID, "%s: %s: values of type \"%.20s\" are not read", v->piece.name, of,
                   text);
}

/* `count` values behind the line that announces them; out NULL: passed over. */
static ps_status values(vtk *v, const char *of, number_type type, int64_t count, vtk_values *out)
{
    unsigned char bytes[8];
    char text[WORD], *end;
    if (count > v->bytes) return fail(v, of, "more is announced than the file can hold");
    if (v->binary) skip_line(v);
    for (int64_t i = 0; i < count; ++i) {
        double value;
        if (v->binary) {
            if (fread(bytes, (size_t)number_bytes(type), 1, v->file) != 1)
                return fail(v, of, "the file ends within it");
            value = number_decode(bytes, type, true);
        } else {
            PS_TRY(word_of(v, of, text));
            value = strtod(text, &end);
            if (*end) return fail(v, of, "expected a number");
        }
        if (out) PS_TRY(vtk_values_put(out, value));
    }
    return PS_OK;
}

/* ---- geometry ---- */

static ps_status read_points(vtk *v)
{
    number_type type;
    PS_TRY(count_of(v, "POINTS", &v->piece.point_count));
    PS_TRY(type_of(v, "POINTS", &type));
    v->piece.single = v->binary && type == NUMBER_F32;
    return values(v, "POINTS", type, 3 * v->piece.point_count, &v->piece.points);
}

/* Cells of files before version 5: for each its number of points, and these. */
static ps_status read_listed(vtk *v, const char *of, vtk_block block, int64_t cells, int64_t size)
{
    PS_SCOPED(vtk_values_release) vtk_values list = {0};
    PS_TRY(values(v, of, NUMBER_I32, size, &list));
    int64_t at = 0;
    for (int64_t i = 0; i < cells; ++i) {
        double count = at < size ? list.at[at++] : -1;
        if (!(count >= 0 && count <= (double)(size - at)))
            return fail(v, of, "a cell goes beyond the list");
        for (int64_t k = 0; k < (int64_t)count; ++k)
            PS_TRY(vtk_values_put(&v->piece.corners[block], list.at[at++]));
        PS_TRY(vtk_values_put(&v->piece.ends[block], (double)v->piece.corners[block].count));
    }
    return PS_OK;
}

/* Cells since version 5: OFFSETS with a zero first, CONNECTIVITY. */
static ps_status read_offsets(vtk *v, const char *of, vtk_block block, int64_t offsets,
                              int64_t corners)
{
    PS_SCOPED(vtk_values_release) vtk_values begins = {0};
    number_type type;
    char text[WORD];
    PS_TRY(type_of(v, of, &type)); /* the word OFFSETS was read */
    PS_TRY(values(v, of, type, offsets, &begins));
    for (int64_t i = 1; i < offsets; ++i)
        PS_TRY(vtk_values_put(&v->piece.ends[block], begins.at[i]));
    PS_TRY(word_of(v, of, text));
    if (strcasecmp(text, "CONNECTIVITY") != 0) return fail(v, of, "expected CONNECTIVITY");
    PS_TRY(type_of(v, of, &type));
    return values(v, of, type, corners, &v->piece.corners[block]);
}

static ps_status read_cells(vtk *v, const char *of, vtk_block block)
{
    int64_t count, size;
    char text[WORD];
    if (v->piece.ends[block].count > 0) return fail(v, of, "given twice");
    PS_TRY(count_of(v, of, &count));
    PS_TRY(count_of(v, of, &size));
    long here = ftell(v->file);
    if (count > 0 && import_word(v->file, text, WORD) && strcasecmp(text, "OFFSETS") == 0)
        return read_offsets(v, of, block, count, size);
    fseek(v->file, here, SEEK_SET);
    return read_listed(v, of, block, count, size);
}

static ps_status read_types(vtk *v)
{
    int64_t count;
    PS_TRY(count_of(v, "CELL_TYPES", &count));
    return values(v, "CELL_TYPES", NUMBER_I32, count, &v->piece.types);
}

/* ---- data ---- */

/* Texts of a FIELD: a line each, or, in binary files, a length of 1, 2, 4 or 8 bytes before each.
 */
static ps_status skip_texts(vtk *v, int64_t count)
{
    skip_line(v);
    for (int64_t i = 0; i < count; ++i) {
        if (!v->binary) {
            skip_line(v);
            continue;
        }
        int first = getc_unlocked(v->file), bytes = first < 0 ? 0 : 1 << (3 - (first >> 6));
        int64_t length = first & 63;
        for (int k = 1; k < bytes; ++k) length = length * 256 + (getc_unlocked(v->file) & 255);
        if (length > v->bytes || fseek(v->file, (long)length, SEEK_CUR) != 0)
            return fail(v, "FIELD", "a text is too long");
    }
    return PS_OK;
}

/* Names and information of arrays, up to an empty line. */
static void skip_metadata(vtk *v)
{
    char line[512];
    skip_line(v);
    while (fgets(line, sizeof line, v->file) && line[strspn(line, " \t\r")] != '\n') {
    }
}

static ps_status read_array(vtk *v, const char *of, const char *name, number_type type,
                            int64_t components)
{
    PS_SCOPED(vtk_values_release) vtk_values found = {0};
    bool wanted = v->of_cells && vtk_piece_wants(&v->piece, name, components, type < NUMBER_F32);
    if (components < 1 || components > 1024)
        return fail(v, of, "an impossible number of components");
    PS_TRY(values(v, of, type, components * v->data_count, wanted ? &found : NULL));
    if (wanted) vtk_piece_offer(&v->piece, name, &found);
    return PS_OK;
}

static ps_status read_field(vtk *v)
{
    char name[WORD], text[WORD];
    int64_t arrays, components, tuples, section = v->data_count;
    PS_TRY(word_of(v, "FIELD", name));
    PS_TRY(count_of(v, "FIELD", &arrays));
    for (int64_t i = 0; i < arrays; ++i) {
        number_type type;
        PS_TRY(word_of(v, "FIELD", name));
        if (strcasecmp(name, "METADATA") == 0) {
            skip_metadata(v);
            PS_TRY(word_of(v, "FIELD", name));
        }
        PS_TRY(count_of(v, "FIELD", &components));
        PS_TRY(count_of(v, "FIELD", &tuples));
        long here = ftell(v->file);
        if (import_word(v->file, text, WORD) && strcasecmp(text, "string") == 0) {
            PS_TRY(skip_texts(v, components * tuples));
            continue;
        }
        fseek(v->file, here, SEEK_SET);
        PS_TRY(type_of(v, "FIELD", &type));
        v->data_count = tuples;
        PS_TRY(read_array(v, "FIELD", name, type, components));
        v->data_count = section;
    }
    return PS_OK;
}

static ps_status read_scalars(vtk *v)
{
    char name[WORD], line[WORD] = "";
    number_type type;
    int components = 1;
    PS_TRY(word_of(v, "SCALARS", name));
    PS_TRY(type_of(v, "SCALARS", &type));
    if (!fgets(line, sizeof line, v->file)) return fail(v, "SCALARS", "the file ends there");
    if (sscanf(line, "%d", &components) != 1) components = 1;
    long here = ftell(v->file);
    if (import_word(v->file, line, WORD) && strcasecmp(line, "LOOKUP_TABLE") == 0) {
        PS_TRY(word_of(v, "LOOKUP_TABLE", line));
        return read_array(v, "SCALARS", name, type, components);
    }
    fseek(v->file, here - 1, SEEK_SET); /* the end of the line */
    return read_array(v, "SCALARS", name, type, components);
}

/* An attribute of a fixed number of components, "WORD NAME TYPE". */
static ps_status read_attribute(vtk *v, const char *of, int64_t components)
{
    char name[WORD];
    number_type type;
    PS_TRY(word_of(v, of, name));
    if (components == 0) PS_TRY(count_of(v, of, &components)); /* TEXTURE_COORDINATES */
    PS_TRY(type_of(v, of, &type));
    return read_array(v, of, name, type, components);
}

static ps_status read_colours(vtk *v, bool table)
{
    char name[WORD];
    int64_t count, items = v->data_count;
    PS_TRY(word_of(v, "COLOR_SCALARS", name));
    PS_TRY(count_of(v, "COLOR_SCALARS", &count));
    return values(v, "COLOR_SCALARS", NUMBER_U8, table ? 4 * count : count * items, NULL);
}

static ps_status read_data(vtk *v, const char *of)
{
    static const struct {
        const char *word;
        int components;
    } attributes[] = {
        {"VECTORS", 3},    {"NORMALS", 3},      {"TENSORS", 9},    {"TENSORS6", 6},
        {"GLOBAL_IDS", 1}, {"PEDIGREE_IDS", 1}, {"EDGE_FLAGS", 1}, {"TEXTURE_COORDINATES", 0}};
    if (strcasecmp(of, "SCALARS") == 0) return read_scalars(v);
    if (strcasecmp(of, "FIELD") == 0) return read_field(v);
    if (strcasecmp(of, "COLOR_SCALARS") == 0) return read_colours(v, false);
    if (strcasecmp(of, "LOOKUP_TABLE") == 0) return read_colours(v, true);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; ++i)
        if (strcasecmp(of, attributes[i].word) == 0)
            return read_attribute(v, of, attributes[i].components);
    return ps_fail(PS_INVALID, "%s: \"%.20s\" where a section of VTK's legacy format should begin",
                   v->piece.name, of);
}

/* ---- the file ---- */

static ps_status read_section(vtk *v, const char *of)
{
    static const char *const blocks[] = {"VERTICES", "LINES", "POLYGONS", "TRIANGLE_STRIPS",
                                         "CELLS"};
    for (int block = 0; block < VTK_BLOCKS; ++block)
        if (strcasecmp(of, blocks[block]) == 0) return read_cells(v, of, (vtk_block)block);
    if (strcasecmp(of, "POINTS") == 0) return read_points(v);
    if (strcasecmp(of, "CELL_TYPES") == 0) return read_types(v);
    if (strcasecmp(of, "METADATA") == 0) {
        skip_metadata(v);
        return PS_OK;
    }
    bool cells = strcasecmp(of, "CELL_DATA") == 0;
    if (!cells && strcasecmp(of, "POINT_DATA") != 0) return read_data(v, of);
    v->of_cells = cells;
    return count_of(v, of, &v->data_count);
}

static ps_status read_header(vtk *v)
{
    char line[WORD], kind[WORD];
    static const char begins[] = "# vtk DataFile Version ";
    if (!fgets(line, sizeof line, v->file) || strncmp(line, begins, sizeof begins - 1) != 0)
        return ps_fail(PS_INVALID, "%s: does not begin with \"%s\": it is no legacy file of VTK",
                       v->piece.name, begins);
    double version = strtod(line + sizeof begins - 1, NULL);
    if (!(version >= 1 && version < 6))
        return ps_fail(PS_INVALID, "%s: version %g of VTK's legacy format; 1 to 5 are read",
                       v->piece.name, version);
    skip_line(v); /* the title */
    PS_TRY(word_of(v, "header", line));
    v->binary = strcasecmp(line, "BINARY") == 0;
    if (!v->binary && strcasecmp(line, "ASCII") != 0)
        return fail(v, "header", "expected ASCII or BINARY");
    PS_TRY(word_of(v, "header", line));
    PS_TRY(word_of(v, "DATASET", kind));
    if (strcasecmp(line, "DATASET") == 0 &&
        (strcasecmp(kind, "UNSTRUCTURED_GRID") == 0 || strcasecmp(kind, "POLYDATA") == 0))
        return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: its data set is \"%.30s\"; UNSTRUCTURED_GRID and POLYDATA are meshes",
                   v->piece.name, kind);
}

static ps_status read_all(vtk *v)
{
    char of[WORD];
    struct stat info;
    if (fstat(fileno(v->file), &info) == 0) v->bytes = (int64_t)info.st_size;
    PS_TRY(read_header(v));
    while (import_word(v->file, of, WORD)) PS_TRY(read_section(v, of));
    return PS_OK;
}

ps_status import_read_vtk(const import_input *input, const import_options *options,
                          import_mesh *mesh)
{
    PS_SCOPED(vtk_piece_release) vtk_piece piece = {.name = input->name};
    vtk v = {.file = fopen(input->path, "rb"), .piece = piece};
    if (!v.file) return ps_fail(PS_INVALID, "%s: %s", input->name, strerror(errno));
    ps_status status = read_all(&v);
    fclose(v.file);
    piece = v.piece;
    return status == PS_OK ? vtk_piece_add(&piece, options, mesh) : status;
}
