/*
 * Input files of Abaqus (.inp), as CalculiX reads and many mesh generators write them: nodes,
 * elements, and sets of elements, which become tags with their names. Source: Abaqus Keywords
 * Reference Guide, *NODE, *ELEMENT, *ELSET, *SOLID SECTION.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "preprocess/mesh_import/import.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/search.h"

enum { NAME = 64, NODES_MAX = 4, FIELDS_MAX = 16 };

/* The numbers first, first + step, .. up to last. */
typedef struct number_range {
    int64_t first, last, step;
} number_range;

typedef struct element_set {
    char name[NAME];
    bool section; /* a section gives it a material: it is a region before all other sets */
    int64_t count, room;
    number_range *ranges;
} element_set;

typedef struct inp {
    text_lines lines;
    import_mesh *mesh;
    const import_options *options;
    element_set *sets;
    int64_t set_count, set_room, left, surfaces; /* left: elements of lines and points */
    int64_t ranges, bytes; /* of all sets; of the file, which they cannot exceed */
    int parts, instances;
} inp;

static void release(inp *in)
{
    for (int64_t i = 0; i < in->set_count; ++i) free(in->sets[i].ranges);
    free(in->sets);
    text_lines_close(&in->lines);
}

/* ---- words of a line ---- */

/* The value of "KEY=" on the keyword line, without quotes; false if it is not there. */
static bool parameter(const char *line, const char *key, char out[NAME])
{
    for (const char *p = strchr(line, ','); p; p = strchr(p, ',')) {
        p += 1 + strspn(p + 1, " \t");
        size_t length = strcspn(p, "=, \t"), after = length + strspn(p + length, " \t");
        if (length != strlen(key) || strncasecmp(p, key, length) != 0) continue;
        const char *value = p + after + (p[after] == '=');
        value += strspn(value, " \t\"");
        size_t kept = strcspn(value, ",\"");
        while (kept > 0 && isspace((unsigned char)value[kept - 1])) --kept;
        snprintf(out, NAME, "%.*s", (int)(kept < NAME ? kept : NAME - 1),
                 p[after] == '=' ? value : "");
        return true;
    }
    return false;
}

/* Whether the line is this keyword, alone or with parameters: *NODE, not *NODE OUTPUT. */
static bool is_keyword(const char *line, const char *keyword)
{
    size_t length = strlen(keyword);
    if (strncasecmp(line, keyword, length) != 0) return false;
    line += length + strspn(line + length, " \t");
    return *line == ',' || !*line;
}

/* The next field of a data line, up to a comma; false at its end. */
static bool field(text_lines *lines, char out[NAME])
{
    const char *p = lines->at + strspn(lines->at, " \t");
    if (!*p) return false;
    size_t length = strcspn(p, ","), kept = length;
    while (kept > 0 && isspace((unsigned char)p[kept - 1])) --kept;
    snprintf(out, NAME, "%.*s", (int)(kept < NAME ? kept : NAME - 1), p);
    lines->at = p + length + (p[length] == ',');
    return true;
}

static bool is_whole(const char *text, int64_t *out)
{
    char *end;
    *out = strtoll(text, &end, 10);
    return *text && !*end;
}

/* The next line of data; false where a keyword begins, which stays the current line. Comments are
 * passed over. */
static bool data_line(text_lines *lines)
{
    while (text_lines_next(lines)) {
        if (strncmp(lines->at, "**", 2) == 0) continue;
        return lines->at[0] != '*';
    }
    lines->at = NULL;
    return false;
}

/* ---- sets ---- */

static element_set *find_set(const inp *in, const char *name)
{
    for (int64_t i = 0; i < in->set_count; ++i)
        if (strcasecmp(in->sets[i].name, name) == 0) return &in->sets[i];
    return NULL;
}

static ps_status make_set(inp *in, const char *name, int64_t *index)
{
    element_set *known = find_set(in, name);
    *index = known ? known - in->sets : in->set_count;
    if (known) return PS_OK;
    PS_TRY(ps_grow((void **)&in->sets, &in->set_room, in->set_count + 1, sizeof *in->sets,
                   "sets of elements"));
    in->sets[in->set_count] = (element_set){0};
    snprintf(in->sets[in->set_count++].name, NAME, "%s", name);
    return PS_OK;
}

/* Numbers that follow one another are one range. Sets of sets, which could double with each line,
 * are bounded by the file. */
static ps_status put_range(inp *in, int64_t index, number_range range)
{
    element_set *set = &in->sets[index];
    number_range *last = set->count > 0 ? &set->ranges[set->count - 1] : NULL;
    if (last && last->step == 1 && range.step == 1 && last->last + 1 == range.first) {
        last->last = range.last;
        return PS_OK;
    }
    if (++in->ranges > in->bytes)
        return text_lines_fail(&in->lines, "the sets have more members than the file could name");
    PS_TRY(ps_grow((void **)&set->ranges, &set->room, set->count + 1, sizeof *set->ranges,
                   "sets of elements"));
    set->ranges[set->count++] = range;
    return PS_OK;
}

/* "first, last, step" of GENERATE. */
static ps_status generate_set(inp *in, int64_t set)
{
    int64_t value[3] = {0, 0, 1};
    char text[NAME];
    for (int k = 0; k < 3 && field(&in->lines, text); ++k)
        if (!is_whole(text, &value[k]))
            return text_lines_fail(&in->lines, "expected \"first, last, step\"");
    if (value[2] < 1 || value[1] > INT32_MAX || value[0] < 0)
        return text_lines_fail(&in->lines, "impossible numbers of elements");
    return put_range(in, set, (number_range){value[0], value[1], value[2]});
}

static ps_status list_set(inp *in, int64_t set)
{
    char text[NAME];
    while (field(&in->lines, text)) {
        int64_t number;
        const element_set *other = find_set(in, text);
        if (is_whole(text, &number)) {
            PS_TRY(put_range(in, set, (number_range){number, number, 1}));
            continue;
        }
        if (!other)
            return text_lines_fail(
                &in->lines, "neither the number of an element nor a set that was given before");
        if (other == &in->sets[set]) continue;
        for (int64_t i = 0; i < other->count; ++i) PS_TRY(put_range(in, set, other->ranges[i]));
    }
    return PS_OK;
}

static ps_status read_set(inp *in)
{
    char name[NAME], unused[NAME];
    int64_t set;
    bool generated = parameter(in->lines.at, "GENERATE", unused);
    if (!parameter(in->lines.at, "ELSET", name))
        return text_lines_fail(&in->lines, "*ELSET without ELSET=");
    PS_TRY(make_set(in, name, &set));
    while (data_line(&in->lines)) PS_TRY(generated ? generate_set(in, set) : list_set(in, set));
    return PS_OK;
}

static ps_status read_section(inp *in)
{
    char name[NAME];
    int64_t set;
    if (parameter(in->lines.at, "ELSET", name)) {
        PS_TRY(make_set(in, name, &set));
        in->sets[set].section = true;
    }
    while (data_line(&in->lines)) {
    }
    return PS_OK;
}

/* ---- nodes and elements ---- */

static ps_status read_nodes(inp *in)
{
    while (data_line(&in->lines)) {
        double x[3] = {0, 0, 0};
        char text[NAME], *end = NULL;
        int64_t number;
        bool whole = true; /* as if all commas were decimal ones; others have a normal behind */
        int c = 0;
        if (!field(&in->lines, text) || !is_whole(text, &number))
            return text_lines_fail(&in->lines, "expected the number of a node and its coordinates");
        for (; field(&in->lines, text); ++c) {
            double value = strtod(text, &end);
            if (c < 3 && *end) return text_lines_fail(&in->lines, "expected a coordinate");
            if (c < 3) x[c] = value;
            whole &= strpbrk(text, ".eE") == NULL;
        }
        if (c > 3 && whole)
            return text_lines_fail(&in->lines, "more than three coordinates, and all are whole: "
                                               "decimal commas are to be points, as in 0.5");
        PS_TRY(import_add_vertices(in->mesh, 1, x));
        PS_TRY(import_add_vertex_number(in->mesh, number));
    }
    return PS_OK;
}

/* Nodes of an element of this type, 2 for lines and points, which are left out, 0 if it is not
 * read. The family comes first, then the number of nodes, then letters of the formulation: S4R,
 * C3D4H, DC2D3. */
static int nodes_of(const char *type)
{
    static const struct {
        const char *begin;
        int nodes;
    } families[] = {{"STRI3", 3},  {"S3", 3},    {"DS3", 3},  {"CPS3", 3},   {"CPE3", 3},
                    {"CAX3", 3},   {"M3D3", 3},  {"R3D3", 3}, {"SFM3D3", 3}, {"DC2D3", 3},
                    {"AC2D3", 3},  {"F3D3", 3},  {"S4", 4},   {"DS4", 4},    {"CPS4", 4},
                    {"CPE4", 4},   {"CAX4", 4},  {"M3D4", 4}, {"R3D4", 4},   {"SFM3D4", 4},
                    {"DC2D4", 4},  {"AC2D4", 4}, {"F3D4", 4}, {"C3D4", -4},  {"DC3D4", -4},
                    {"AC3D4", -4}, {"T3D2", 2},  {"T2D2", 2}, {"B31", 2},    {"B33", 2},
                    {"B21", 2},    {"R2D2", 2},  {"MASS", 2}, {"SPRING", 2}, {"CONN3D2", 2}};
    for (size_t i = 0; i < sizeof families / sizeof *families; ++i) {
        size_t length = strlen(families[i].begin);
        if (strncasecmp(type, families[i].begin, length) == 0 &&
            !isdigit((unsigned char)type[length]))
            return families[i].nodes;
    }
    return 0;
}

static ps_status add_element(inp *in, int size, int64_t number, const int64_t *nodes)
{
    int32_t vertices[NODES_MAX];
    for (int k = 0; k < abs(size); ++k) {
        if (nodes[k] < 0 || nodes[k] > INT32_MAX)
            return text_lines_fail(&in->lines, "a node number is out of range");
        vertices[k] = (int32_t)nodes[k];
    }
    if (size > 0) return import_add_polygon(in->mesh, vertices, size, 0, number);
    return in->options->kind == IMPORT_SURFACE
               ? PS_OK
               : import_add_cell(&in->mesh->tetrahedra, vertices, 0, number);
}

static ps_status read_element(inp *in, int size, int64_t set)
{
    int64_t values[NODES_MAX + 1];
    char text[NAME];
    for (int k = 0; k <= abs(size); ++k) {
        if (!field(&in->lines, text) && !(data_line(&in->lines) && field(&in->lines, text)))
            return text_lines_fail(&in->lines, "an element has too few nodes");
        if (!is_whole(text, &values[k]))
            return text_lines_fail(&in->lines,
                                   "expected the numbers of an element and of its nodes");
    }
    if (field(&in->lines, text))
        return text_lines_fail(&in->lines, "an element has too many nodes");
    if (set >= 0) PS_TRY(put_range(in, set, (number_range){values[0], values[0], 1}));
    return add_element(in, size, values[0], values + 1);
}

static ps_status read_elements(inp *in)
{
    char type[NAME] = "", name[NAME];
    int64_t set = -1;
    parameter(in->lines.at, "TYPE", type);
    int size = nodes_of(type);
    if (size == 0)
        return ps_fail(PS_INVALID,
                       "%s: line %lld: elements of type \"%s\": straight triangles, quadrangles "
                       "and tetrahedra (S3, CPS3, S4, "
                       "C3D4 and their kin) are read; mesh with these",
                       in->lines.name, (long long)in->lines.number, type);
    if (parameter(in->lines.at, "ELSET", name)) PS_TRY(make_set(in, name, &set));
    while (data_line(&in->lines)) {
        if (size == 2)
            ++in->left;
        else
            PS_TRY(read_element(in, size, set));
    }
    return PS_OK;
}

/* ---- the file ---- */

/* Parts have numbers of their own, and an instance may be moved: what would need it is refused. */
static ps_status check_assembly(inp *in)
{
    in->parts += is_keyword(in->lines.at, "*PART");
    bool instance = is_keyword(in->lines.at, "*INSTANCE");
    in->instances += instance;
    bool moved = data_line(&in->lines) && instance;
    if (in->parts < 2 && in->instances < 2 && !moved) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: line %lld: several parts, or a part that is moved: export one part, or the "
                   "assembly without parts and "
                   "instances",
                   in->lines.name, (long long)in->lines.number);
}

/* Keywords that make nodes and elements of others, or that say what coordinates mean: without them
 * the mesh would be another one. */
static ps_status check_generators(const inp *in)
{
    static const char *const words[] = {"*SYSTEM", "*NCOPY", "*NGEN",  "*NFILL",
                                        "*NMAP",   "*ELGEN", "*ELCOPY"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (is_keyword(in->lines.at, words[i])) {
            char what[96];
            snprintf(what, sizeof what,
                     "%s is not read: write all nodes and elements in global coordinates",
                     words[i]);
            return text_lines_fail(&in->lines, what);
        }
    return PS_OK;
}

/* Of *NODE and *ELEMENT: other systems of coordinates, other files. */
static ps_status check_parameters(const inp *in)
{
    char value[NAME];
    if (parameter(in->lines.at, "SYSTEM", value) && strcasecmp(value, "R") != 0)
        return text_lines_fail(&in->lines, "cylindrical or spherical coordinates are not read: "
                                           "write x, y and z");
    if (parameter(in->lines.at, "INPUT", value))
        return text_lines_fail(&in->lines, "INPUT=: other files are not read: put all into one");
    return PS_OK;
}

/* One keyword with its data; the line after these is the current one then. */
static ps_status read_block(inp *in)
{
    static const char *const sections[] = {"*SOLID SECTION", "*SHELL SECTION", "*MEMBRANE SECTION",
                                           "*SURFACE SECTION"};
    const char *line = in->lines.at;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; ++i)
        if (strncasecmp(line, sections[i], strlen(sections[i])) == 0) return read_section(in);
    bool nodes = is_keyword(line, "*NODE");
    if (nodes || is_keyword(line, "*ELEMENT")) {
        PS_TRY(check_parameters(in));
        return nodes ? read_nodes(in) : read_elements(in);
    }
    if (is_keyword(line, "*ELSET")) return read_set(in);
    if (is_keyword(line, "*PART") || is_keyword(line, "*INSTANCE")) return check_assembly(in);
    if (is_keyword(line, "*INCLUDE"))
        return text_lines_fail(&in->lines, "*INCLUDE: other files are not read: put all into one");
    PS_TRY(check_generators(in));
    in->surfaces += is_keyword(line, "*SURFACE");
    while (data_line(&in->lines)) {
    }
    return PS_OK;
}

/* The first cell of the number, or where it would be: cells are in the order of their numbers. */
static int64_t first_of(const import_cells *cells, int64_t number)
{
    int64_t low;
    PS_LOWER_BOUND(low, 0, cells->count, at, cells->numbers[at] < number);
    return low;
}

/* Gives the cells of the set the tag, unless they have one; counts those. */
static void tag_cells(import_cells *cells, const element_set *set, int32_t tag, int64_t *given,
                      int64_t *kept)
{
    for (int64_t i = 0; i < set->count; ++i) {
        const number_range *r = &set->ranges[i];
        for (int64_t c = first_of(cells, r->first);
             c < cells->count && cells->numbers[c] <= r->last; ++c) {
            if ((cells->numbers[c] - r->first) % r->step != 0) continue;
            *kept += cells->tags[c] != 0 && cells->tags[c] != tag;
            if (cells->tags[c] != 0) continue;
            cells->tags[c] = tag;
            ++*given;
        }
    }
}

static void tag_all(inp *in)
{
    int32_t tag = 1;
    int64_t kept = 0;
    for (int pass = 0; pass < 2; ++pass)
        for (int64_t s = 0; s < in->set_count; ++s) {
            int64_t given = 0;
            if (in->sets[s].section != (pass == 0)) continue;
            tag_cells(&in->mesh->triangles, &in->sets[s], tag, &given, &kept);
            tag_cells(&in->mesh->tetrahedra, &in->sets[s], tag, &given, &kept);
            if (given > 0) import_add_tag_name(in->mesh, tag++, in->sets[s].name);
        }
    if (kept > 0)
        ps_info("%s: cells are in several sets (%lld times): a section's set is the tag, then the "
                "first of the file",
                in->lines.name, (long long)kept);
    if (in->left > 0)
        ps_info("%s: %lld elements that are points or lines are left out", in->lines.name,
                (long long)in->left);
    if (in->surfaces > 0)
        ps_info("%s: %lld *SURFACE are left out: faces of tetrahedra have no tags then",
                in->lines.name, (long long)in->surfaces);
}

ps_status import_read_inp(const import_input *input, const import_options *options,
                          import_mesh *mesh)
{
    PS_SCOPED(release) inp in = {.mesh = mesh, .options = options};
    mesh->vertex_word = "node", mesh->vertex_words = "nodes", mesh->cell_word = "element";
    struct stat info;
    PS_TRY(text_lines_open(input->path, input->name, &in.lines));
    in.bytes = fstat(fileno(in.lines.file), &info) == 0 ? (int64_t)info.st_size : 0;
    if (data_line(&in.lines) || !in.lines.at)
        return ps_fail(
            PS_INVALID,
            "%s: does not begin with a keyword (*HEADING, *NODE): it is no input file of Abaqus",
            input->name);
    while (in.lines.at) PS_TRY(read_block(&in));
    PS_TRY(import_numbers_to_indices(mesh, input->name));
    tag_all(&in);
    return PS_OK;
}
