/* pqr: ATOM and HETATM records with charges, by words or by the columns of PDB. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "preprocess/particle_import/import.h"
#include "runtime/scope.h"

enum { WORDS_MAX = 32 };

/* The last five words are x y z q radius, if there are as many and all are numbers. */
static bool take_words(const char *line, double row[4])
{
    const char *words[WORDS_MAX];
    int count = 0;
    for (const char *at = line + strspn(line, " \t"); *at && count < WORDS_MAX;) {
        words[count++] = at;
        at += strcspn(at, " \t");
        at += strspn(at, " \t");
    }
    for (int w = 0; w < 5 && count >= 9; ++w) {
        const char *at = words[count - 5 + w];
        double value;
        if (!parse_number(&at, &value) || (*at && !isspace((unsigned char)*at))) return false;
        if (w < 4) row[w] = value;
    }
    return count >= 9;
}

/* Columns 31-38, 39-46, 47-54 and 55-62, counted from 1. */
static bool take_columns(const char *line, double row[4])
{
    if (strlen(line) < 55) return false;
    for (int c = 0; c < 4; ++c) {
        char field[9];
        snprintf(field, sizeof field, "%.8s", line + 30 + 8 * c);
        const char *at = field + strspn(field, " ");
        if (!parse_number(&at, &row[c]) || at[strspn(at, " ")]) return false;
    }
    return true;
}

static ps_status take_atom(const char *line, int columns, sink *s)
{
    double row[4];
    bool found = columns != 2 && take_words(line, row);
    if (!found && columns != 1) found = take_columns(line, row);
    if (!found)
        return ps_fail(PS_INVALID, "x y z charge radius are not there, neither as the last five "
                                   "words nor in the columns of PDB");
    return sink_add(s, row);
}

static ps_status take_lines(source *in, int columns, sink *s)
{
    char *line;
    for (;;) {
        PS_TRY(source_line(in, &line));
        if (!line) return PS_OK;
        if (strncmp(line, "ATOM", 4) == 0 || strncmp(line, "HETATM", 6) == 0)
            PS_TRY(source_context(in, take_atom(line, columns, s)));
    }
}

ps_status read_pqr(const import_options *o, const ps_store_identity *identity, sink *s)
{
    PS_SCOPED(source_close) source in = {0};
    PS_TRY(source_open(&in, o->input));
    PS_TRY(sink_start(s, o, identity, 1));
    return take_lines(&in, o->pqr_columns, s);
}
