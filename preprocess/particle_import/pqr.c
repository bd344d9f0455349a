/* pqr: ATOM and HETATM records with charges, by words or by the columns of PDB. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "preprocess/particle_import/import.h"
#include "runtime/scope.h"

enum { WORDS_MAX = 32 };

/* The last five words are x y z q radius, if there are as many and all are numbers, and the number
 * of a residue stands before them: without a radius that number would be taken for x. */
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
    if (count < 9) return false;
    size_t length = strcspn(words[count - 6], " \t");
    return strcspn(words[count - 6], "0123456789") < length;
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

/* A PDB file has occupancies where charges are to be: 1, or parts of 1, and none below 0. */
typedef struct charges_seen {
    int64_t ones, parts, others;
} charges_seen;

static ps_status take_atom(const char *line, int columns, charges_seen *seen, sink *s)
{
    double row[4];
    bool found = columns != 2 && take_words(line, row);
    if (!found && columns != 1) found = take_columns(line, row);
    if (!found)
        return ps_fail(PS_INVALID, "x y z charge radius are not there, neither as the last five "
                                   "words nor in the columns of PDB");
    ++*(row[3] == 1 ? &seen->ones : row[3] >= 0 && row[3] < 1 ? &seen->parts : &seen->others);
    return sink_add(s, row);
}

static ps_status check_charges(const source *in, int columns, const charges_seen *seen)
{
    if (columns || seen->others || seen->ones < 2 || seen->ones < seen->parts) return PS_OK;
    return ps_fail(
        PS_INVALID,
        "%s: most charges are 1 and none is below 0: are they the occupancies of a PDB file? "
        "--pqr-columns free or fixed takes them",
        in->name);
}

/* By the columns of PDB. */
typedef struct residue {
    char name[5], number[7]; /* location and name; chain, number and insertion */
} residue;

/* Atoms that stand twice in a residue, once for each location: their charges would count twice. */
static bool alternates(const char *line, residue *before)
{
    residue now = {"", ""};
    if (strlen(line) < 30) return false;
    snprintf(now.name, sizeof now.name, "%.4s", line + 16);
    snprintf(now.number, sizeof now.number, "%.6s", line + 21);
    bool other = isalpha((unsigned char)now.name[0]) && isalpha((unsigned char)before->name[0]) &&
                 now.name[0] != before->name[0];
    bool found = other && strcmp(now.name + 1, before->name + 1) == 0 &&
                 strcmp(now.number, before->number) == 0;
    *before = now;
    return found;
}

static ps_status take_lines(source *in, int columns, sink *s)
{
    char *line;
    int models = 0;
    charges_seen seen = {0, 0, 0};
    residue before = {"", ""};
    for (;;) {
        PS_TRY(source_line(in, &line));
        if (!line) return check_charges(in, columns, &seen);
        if (strncmp(line, "MODEL", 5) == 0 && ++models > 1)
            return source_fail(in, "a second MODEL of the same atoms: leave all but one out");
        if (strncmp(line, "ATOM", 4) != 0 && strncmp(line, "HETATM", 6) != 0) continue;
        if (alternates(line, &before))
            return source_fail(in, "a second location of the same residue (column 17), whose "
                                   "charges would count twice: leave all but one out");
        PS_TRY(source_context(in, take_atom(line, columns, &seen, s)));
    }
}

ps_status read_pqr(const import_options *o, const ps_store_identity *identity, sink *s)
{
    PS_SCOPED(source_close) source in = {0};
    PS_TRY(source_open(&in, o->input));
    PS_TRY(sink_start(s, o, identity, 1));
    return take_lines(&in, o->pqr_columns, s);
}
