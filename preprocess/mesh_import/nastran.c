/*
 * Nastran's bulk data as Gmsh takes them: its reader believes that nodes are in the basic system of
 * coordinates and that 1.5-3 is 1.5, and overlooks continuations that have no mark. Cards of nodes
 * and elements are gathered with their continuations and written anew. Source: MSC Nastran Quick
 * Reference Guide, Format of Bulk Data Entries, GRID, GRDSET, CTETRA, CTRIA6, CQUAD8.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "preprocess/mesh_import/import.h"

enum { CARD = 160, FIELDS = 26, WIDTH = 24, LINE_FIELDS = 8, WIDE_FIELDS = 4 };

/* A card with its continuations: field 0 is the name, capitals without blanks. */
typedef struct entry {
    char field[FIELDS][WIDTH];
    int count; /* 0: what is there is not gathered */
    int64_t line;
} entry;

typedef struct bulk {
    text_lines lines;
    FILE *out;
    entry card;
    char usual[WIDTH]; /* system of nodes that say none (GRDSET) */
    import_nodes nodes;
} bulk;

/* A line in capitals up to its comment, to the columns of fields where it has tabs, cut to a card.
 */
static void expand(const char *line, char out[CARD])
{
    size_t n = 0;
    for (; *line && *line != '$' && n + 1 < CARD; ++line) {
        do out[n++] = (char)(*line == '\t' ? ' ' : toupper((unsigned char)*line));
        while (*line == '\t' && n % 8 != 0 && n + 1 < CARD);
    }
    out[n] = 0;
}

static void copy_field(const char *from, size_t length, char out[WIDTH])
{
    size_t kept = 0;
    for (size_t i = 0; i < length; ++i)
        if (from[i] != ' ' && kept + 1 < WIDTH) out[kept++] = from[i];
    out[kept] = 0;
}

/* The first field of a line: a name, or blank, + or * of a continuation. *wide: fields of 16. */
static void take_name(const char *card, char name[WIDTH], bool *wide)
{
    size_t length = strcspn(card, ",");
    copy_field(card, length < 8 || card[length] ? length : 8, name);
    char *star = strchr(name, '*');
    *wide = star != NULL;
    if (star && star > name) *star = 0;
}

/* The fields of a line behind the first; a line that is short is filled up. */
static void take_fields(const char *card, bool wide, entry *e)
{
    const char *at = card + strcspn(card, ",");
    bool free_form = *at != 0;
    if (!free_form) at = strlen(card) < 8 ? card + strlen(card) : card + 8;
    for (int k = 0; k < (wide ? WIDE_FIELDS : LINE_FIELDS) && e->count < FIELDS; ++k) {
        at += free_form && *at;
        size_t length = free_form ? strcspn(at, ",") : strnlen(at, wide ? 16 : 8);
        copy_field(at, length, e->field[e->count++]);
        at += length;
    }
}

/* A blank is 0; D is an exponent, and so is a sign alone. */
static bool parse(const char *text, double *out)
{
    char number[WIDTH + 2], *end;
    size_t n = 0;
    for (const char *c = text; *c; ++c) {
        bool sign = (*c == '+' || *c == '-') && c > text && !strchr("ED", c[-1]);
        if (sign || *c == 'D') number[n++] = 'E';
        if (*c != 'D' && n < sizeof number - 1) number[n++] = *c;
        if (n >= sizeof number - 1) return false;
    }
    number[n] = 0;
    *out = n ? strtod(number, &end) : 0;
    return n == 0 || *end == 0;
}

static ps_status fail(const bulk *b, const char *what)
{
    text_lines at = b->lines;
    at.number = b->card.line;
    return text_lines_fail(&at, what);
}

/* Cards say 0 or nothing for the basic system. */
static ps_status write_node(bulk *b)
{
    const entry *e = &b->card;
    const char *system = *e->field[2] ? e->field[2] : b->usual;
    double x[3];
    if (*system && strcmp(system, "0") != 0)
        return fail(b, "a node of another system of coordinates (CP): only the basic one is read, "
                       "export the mesh in it");
    for (int d = 0; d < 3; ++d)
        if (!parse(e->field[3 + d], &x[d])) return fail(b, "expected three coordinates of a node");
    PS_TRY(import_nodes_add(&b->nodes, strtoll(e->field[1], NULL, 10), x));
    fprintf(b->out, "GRID,%s,,%.17g,%.17g,%.17g\n", e->field[1], x[0], x[1], x[2]);
    return PS_OK;
}

/* Cells that are read: of so many corners, and nodes in all; CTRIAR and CQUADR are of other
 * stiffness. */
static const struct cell {
    const char *name, *as;
    int corners, nodes;
} cells[] = {{"CTRIA3", "CTRIA3", 3, 3}, {"CTRIAR", "CTRIA3", 3, 3}, {"CTRIA6", "CTRIA3", 3, 6},
             {"CQUAD4", "CQUAD4", 4, 4}, {"CQUADR", "CQUAD4", 4, 4}, {"CQUAD8", "CQUAD4", 4, 8},
             {"CTETRA", "CTETRA", 4, 10}};

static ps_status write_cell(const bulk *b, const struct cell *cell)
{
    const entry *e = &b->card;
    for (int k = cell->corners; k < cell->nodes && 3 + k < e->count; ++k)
        if (*e->field[3 + k] && strcmp(e->field[3 + k], "0") != 0)
            return fail(b, "an element of higher order: only straight triangles, quadrangles and "
                           "tetrahedra are read; export the mesh with elements of first order");
    fprintf(b->out, "%s,%s,%s", cell->as, e->field[1], e->field[2]);
    for (int k = 0; k < cell->corners; ++k) fprintf(b->out, ",%s", e->field[3 + k]);
    fprintf(b->out, "\n");
    return PS_OK;
}

static const struct cell *cell_of(const char *name)
{
    for (size_t i = 0; i < sizeof cells / sizeof *cells; ++i)
        if (strcmp(name, cells[i].name) == 0) return &cells[i];
    return NULL;
}

/* What is gathered, whole now. */
static ps_status write_entry(bulk *b)
{
    entry *e = &b->card;
    if (e->count == 0) return PS_OK;
    while (e->count < FIELDS) e->field[e->count++][0] = 0;
    const struct cell *cell = cell_of(e->field[0]);
    ps_status status = PS_OK;
    if (cell)
        status = write_cell(b, cell);
    else if (strcmp(e->field[0], "GRID") == 0)
        status = write_node(b);
    else
        strcpy(b->usual, e->field[2]);
    e->count = 0;
    return status;
}

/* Surfaces and solids that Gmsh does not know would be left out without a word. */
static ps_status begin_entry(bulk *b, const char *card, const char *name, bool wide)
{
    static const char *const others[] = {"CTRIA", "CTRAX", "CQUAD", "CSHEAR", "CPLST", "CIHEX"};
    b->card.line = b->lines.number;
    if (strcmp(name, "GRID") == 0 || strcmp(name, "GRDSET") == 0 || cell_of(name)) {
        strcpy(b->card.field[0], name);
        b->card.count = 1;
        take_fields(card, wide, &b->card);
        return PS_OK;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        if (strncmp(name, others[i], strlen(others[i])) == 0)
            return fail(b, "an element of a type that is not read: CTRIA3, CQUAD4 and CTETRA are");
    fprintf(b->out, "%s\n", card);
    return PS_OK;
}

static ps_status copy_lines(bulk *b)
{
    while (text_lines_next(&b->lines)) {
        char card[CARD], name[WIDTH];
        bool wide;
        expand(b->lines.line, card);
        take_name(card, name, &wide);
        bool goes_on = !*name || *name == '+' || *name == '*';
        if (goes_on && !card[strspn(card, " ")]) continue;
        if (goes_on && b->card.count > 0) {
            take_fields(card, wide, &b->card);
            continue;
        }
        PS_TRY(write_entry(b));
        if (strcmp(name, "ENDDATA") == 0) break;
        if (strcmp(name, "INCLUDE") == 0 || strncmp(card, "INCLUDE ", 8) == 0)
            return text_lines_fail(&b->lines, "other files are not read");
        PS_TRY(begin_entry(b, card, name, wide));
    }
    PS_TRY(write_entry(b));
    return import_nodes_check(&b->nodes, b->lines.name);
}

ps_status nastran_copy(const import_input *input, const char *copy)
{
    bulk b = {.usual = ""};
    PS_TRY(text_lines_open(input->path, input->name, &b.lines));
    b.out = fopen(copy, "w");
    ps_status status = b.out ? copy_lines(&b) : PS_OK;
    bool written = b.out && !ferror(b.out);
    if (b.out && fclose(b.out) != 0) written = false;
    text_lines_close(&b.lines);
    import_nodes_release(&b.nodes);
    if (status == PS_OK && !written)
        status = ps_fail(PS_EXHAUSTED, "%s: no copy of it can be written to %s", input->name, copy);
    return status;
}
