/*
 * Nastran's bulk data as Gmsh takes them: its reader believes that nodes are in the basic system of
 * coordinates, and that 1.5-3 is 1.5. Cards of nodes are written anew, names in capitals, tabs as
 * blanks. Source: MSC Nastran Quick Reference Guide, Format of Bulk Data Entries, GRID, GRDSET.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "preprocess/mesh_import/import.h"

enum { CARD = 160, FIELDS = 6, WIDTH = 24 };

/* A line in capitals, to the columns of fields where it has tabs, cut to a card. */
static void expand(const char *line, char out[CARD])
{
    size_t n = 0;
    for (; *line && n + 1 < CARD; ++line) {
        do out[n++] = (char)(*line == '\t' ? ' ' : toupper((unsigned char)*line));
        while (*line == '\t' && n % 8 != 0 && n + 1 < CARD);
    }
    out[n] = 0;
}

/* Fields of a line behind the first, without blanks, from out[*count] on. */
static void take_fields(const char *card, bool wide, char out[][WIDTH], int *count)
{
    const char *at = card + strcspn(card, ",");
    bool free_form = *at != 0;
    if (!free_form) at = strlen(card) < 8 ? card + strlen(card) : card + 8;
    for (int k = 0; k < (wide ? 4 : FIELDS - 1) && *count < FIELDS && *at; ++k) {
        at += free_form;
        size_t length = free_form ? strcspn(at, ",") : strnlen(at, wide ? 16 : 8);
        size_t kept = 0;
        for (size_t i = 0; i < length; ++i)
            if (at[i] != ' ' && kept + 1 < WIDTH) out[*count][kept++] = at[i];
        out[(*count)++][kept] = 0;
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

/* Cards say 0 or nothing for the basic system; `usual`: of GRDSET, for those that say nothing. */
static ps_status check_system(const text_lines *lines, const char *system, const char *usual)
{
    if (!*system) system = usual;
    return !*system || strcmp(system, "0") == 0
               ? PS_OK
               : text_lines_fail(lines, "a node of another system of coordinates (CP): only the "
                                        "basic one is read, export the mesh in it");
}

static ps_status copy_node(text_lines *lines, const char *card, const char *usual, FILE *out)
{
    char field[FIELDS][WIDTH] = {"", "", "", "", "", ""}, next[CARD];
    int count = 1;
    bool wide = card[strcspn(card, "*, ")] == '*';
    double x[3];
    take_fields(card, wide, field, &count);
    if (wide && text_lines_next(lines)) {
        expand(lines->line, next);
        if (next[0] != '*' && next[0] != ',')
            return text_lines_fail(lines, "expected the rest of the node, after *");
        take_fields(next, wide, field, &count);
    }
    PS_TRY(check_system(lines, field[2], usual));
    for (int d = 0; d < 3; ++d)
        if (!parse(field[3 + d], &x[d]))
            return text_lines_fail(lines, "expected three coordinates of a node");
    fprintf(out, "GRID,%s,,%.17g,%.17g,%.17g\n", field[1], x[0], x[1], x[2]);
    return PS_OK;
}

static bool is_card(const char *card, const char *name)
{
    size_t length = strlen(name);
    return strncmp(card, name, length) == 0 && strchr(" ,*", card[length]);
}

static ps_status copy_lines(text_lines *lines, FILE *out)
{
    char card[CARD], usual[FIELDS][WIDTH] = {"", "", "", "", "", ""};
    while (text_lines_next(lines)) {
        int count = 1;
        expand(lines->line, card);
        if (is_card(card, "ENDDATA")) break;
        if (is_card(card, "INCLUDE")) return text_lines_fail(lines, "other files are not read");
        if (is_card(card, "GRDSET")) take_fields(card, card[6] == '*', usual, &count);
        if (is_card(card, "GRID")) {
            PS_TRY(copy_node(lines, card, usual[2], out));
            continue;
        }
        if (is_card(card, "CTRIAR")) card[5] = '3'; /* of other stiffness */
        fprintf(out, "%s\n", card);
    }
    return PS_OK;
}

ps_status nastran_copy(const import_input *input, const char *copy)
{
    text_lines lines;
    PS_TRY(text_lines_open(input->path, input->name, &lines));
    FILE *out = fopen(copy, "w");
    ps_status status = out ? copy_lines(&lines, out) : PS_OK;
    bool written = out && !ferror(out);
    if (out && fclose(out) != 0) written = false;
    text_lines_close(&lines);
    if (status == PS_OK && !written)
        status = ps_fail(PS_EXHAUSTED, "%s: no copy of it can be written to %s", input->name, copy);
    return status;
}
