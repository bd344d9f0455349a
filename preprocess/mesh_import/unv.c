/*
 * What Gmsh's library passes over in a UNV file. Source: Universal File Formats, University of
 * Cincinnati, SDRL: data sets 164 (units), 2420 (systems of coordinates), 2411 (nodes).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "preprocess/mesh_import/import.h"
#include "runtime/scope.h"

static bool is_alone(const char *line, const char *word)
{
    size_t length = strlen(word);
    return strncmp(line, word, length) == 0 && !line[length + strspn(line + length, " \t")];
}

/* `count` reals of the next line, whose exponents may be D. */
static bool next_reals(text_lines *lines, int count, double *out)
{
    if (!text_lines_next(lines)) return false;
    for (char *c = lines->line; *c; ++c)
        if (*c == 'D' || *c == 'd') *c = 'E';
    for (int i = 0; i < count; ++i)
        if (!text_lines_real(lines, &out[i])) return false;
    return true;
}

static bool next_ints(text_lines *lines, int count, int64_t *out)
{
    for (int i = 0; i < count; ++i)
        if (!text_lines_int(lines, &out[i])) return false;
    return true;
}

static bool ends(const text_lines *lines) { return is_alone(lines->at, "-1"); }

/* Labels of systems that are not the axes themselves. */
typedef struct systems {
    int64_t other[64];
    int count;
    bool described;
} systems;

static ps_status take_systems(text_lines *lines, systems *s)
{
    s->described = true;
    if (!text_lines_next(lines) || !text_lines_next(lines)) return PS_OK; /* a part and its name */
    while (text_lines_next(lines) && !ends(lines)) {
        int64_t head[2];
        double row[3], off = 0;
        if (!next_ints(lines, 2, head) || !text_lines_next(lines))
            return text_lines_fail(lines, "expected a system of coordinates and its name");
        for (int i = 0; i < 4; ++i) {
            if (!next_reals(lines, 3, row))
                return text_lines_fail(lines, "expected four rows of a system of coordinates");
            for (int k = 0; k < 3; ++k) off = fmax(off, fabs(row[k] - (i == k)));
        }
        if (head[1] == 0 && off < 1e-9) continue;
        if (s->count == sizeof s->other / sizeof *s->other)
            return text_lines_fail(lines, "more systems of coordinates than are read");
        s->other[s->count++] = head[0];
    }
    return PS_OK;
}

/* Writers do not agree whether nodes are in the system that they name. Several that the file does
 * not describe are not known to be one. */
static ps_status take_nodes(text_lines *lines, const systems *s, import_nodes *nodes)
{
    int64_t head[2], first = 0;
    double x[3];
    for (int64_t n = 0; text_lines_next(lines) && !ends(lines); ++n) {
        if (!next_ints(lines, 2, head) || !next_reals(lines, 3, x)) return PS_OK; /* Gmsh tells */
        bool other = n > 0 && !s->described && head[1] != first;
        for (int i = 0; i < s->count; ++i) other |= head[1] == s->other[i];
        if (other)
            return text_lines_fail(lines, "a node of another system of coordinates than that of "
                                          "the axes: export the mesh in the global one");
        if (n == 0) first = head[1];
        PS_TRY(import_nodes_add(nodes, head[0], x));
    }
    return PS_OK;
}

static ps_status visit(text_lines *lines, double *factor, import_nodes *nodes)
{
    bool begins = false;
    systems s = {.count = 0};
    while (text_lines_next(lines)) {
        bool units = begins && is_alone(lines->at, "164");
        bool described = begins && is_alone(lines->at, "2420");
        bool places = begins && is_alone(lines->at, "2411");
        begins = ends(lines);
        if (units && text_lines_next(lines) && !next_reals(lines, 1, factor)) *factor = 0;
        if (described) PS_TRY(take_systems(lines, &s));
        if (places) PS_TRY(take_nodes(lines, &s, nodes));
    }
    return PS_OK;
}

ps_status import_check_unv(const import_input *input, const import_options *options)
{
    text_lines lines;
    import_nodes nodes = {0};
    double factor = 0;
    PS_TRY(text_lines_open(input->path, input->name, &lines));
    ps_status status = visit(&lines, &factor, &nodes);
    if (status == PS_OK) status = import_nodes_check(&nodes, input->name);
    text_lines_close(&lines);
    import_nodes_release(&nodes);
    if (status != PS_OK || factor <= 0 || fabs(factor * options->scale - 1) < 1e-3) return status;
    return ps_refuse(options->run, "units",
                     "%s states that %.9g of its units of length are a metre: --unit, or --scale "
                     "%.9g, says so",
                     input->name, factor, 1 / factor);
}
