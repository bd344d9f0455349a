/* text: a particle a line, with or without a header of names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "preprocess/particle_import/import.h"

enum { COLUMNS_MAX = 256, NAME_MAX_BYTES = 64 };

typedef struct layout {
    int columns; /* numbers a line; 0: not known yet */
    char names[COLUMNS_MAX][NAME_MAX_BYTES];
    int name_count;                           /* 0: no header */
    int place[PS_PARTICLE_COLUMNS_MAX], used; /* which numbers are x y z q0 ... */
} layout;

/* Words between separators; returns how many. */
static int split_words(const char *text, char words[][NAME_MAX_BYTES])
{
    int count = 0;
    for (const char *at = text + strspn(text, " \t,;\""); *at && count < COLUMNS_MAX;) {
        size_t length = strcspn(at, " \t,;\"");
        snprintf(words[count++], NAME_MAX_BYTES, "%.*s", (int)length, at);
        at += length;
        at += strspn(at, " \t,;\"");
    }
    return count;
}

static int find_name(const layout *l, const char *name)
{
    for (int n = 0; n < l->name_count; ++n)
        if (strcasecmp(l->names[n], name) == 0) return n;
    return -1;
}

/* --columns: names of the header or numbers from 1. */
static ps_status place_by_option(layout *l, const char *columns)
{
    static char words[COLUMNS_MAX][NAME_MAX_BYTES];
    int count = split_words(columns, words);
    if (count < 3 || count > PS_PARTICLE_COLUMNS_MAX)
        return ps_fail(PS_USAGE, "--columns %s: x, y, z and up to %d charges are expected", columns,
                       PS_RIGHT_HAND_SIDES_MAX);
    for (int c = 0; c < count; ++c) {
        char *end;
        long number = strtol(words[c], &end, 10);
        int place = *end ? find_name(l, words[c]) : (int)number - 1;
        if (place < 0 || place >= l->columns)
            return ps_fail(PS_USAGE, "--columns %s: there is no column %s among %d", columns,
                           words[c], l->columns);
        l->place[c] = place;
    }
    l->used = count;
    return PS_OK;
}

static bool names_charge(const char *name)
{
    bool q = name[0] == 'q' || name[0] == 'Q';
    return (q && (!name[1] || (name[1] >= '0' && name[1] <= '9'))) || strcasecmp(name, "m") == 0 ||
           strncasecmp(name, "charge", 6) == 0 || strncasecmp(name, "mass", 4) == 0;
}

/* x, y, z and charges by their names in the header; false if it does not have them. */
static bool place_by_header(layout *l)
{
    static const char *const axes[] = {"x", "y", "z"};
    for (int d = 0; d < 3; ++d)
        if ((l->place[d] = find_name(l, axes[d])) < 0) return false;
    l->used = 3;
    for (int n = 0; n < l->name_count && l->used < PS_PARTICLE_COLUMNS_MAX; ++n)
        if (names_charge(l->names[n])) l->place[l->used++] = n;
    return l->used > 3 || l->name_count == 3;
}

static ps_status settle(layout *l, const import_options *o, int columns)
{
    l->columns = columns;
    if (o->columns) return place_by_option(l, o->columns);
    if (l->name_count == columns && place_by_header(l)) return PS_OK;
    if (columns < 3)
        return ps_fail(PS_INVALID, "%d numbers; x y z and a charge are expected", columns);
    if (columns > PS_PARTICLE_COLUMNS_MAX)
        return ps_fail(PS_INVALID,
                       "%d numbers are more than x y z and %d charges; --columns says "
                       "which to take",
                       columns, PS_RIGHT_HAND_SIDES_MAX);
    for (int c = 0; c < columns; ++c) l->place[c] = c;
    l->used = columns;
    return PS_OK;
}

static ps_status take_line(const char *line, layout *l, const import_options *o,
                           const ps_store_identity *identity, sink *s)
{
    double values[COLUMNS_MAX], row[PS_PARTICLE_COLUMNS_MAX];
    const char *at = line;
    int count;
    if (l->columns == 0 && l->name_count == 0 && !parse_number(&at, values)) {
        l->name_count = split_words(line, l->names);
        return PS_OK;
    }
    PS_TRY(parse_numbers(line, values, COLUMNS_MAX, &count));
    if (l->columns == 0) {
        PS_TRY(settle(l, o, count));
        PS_TRY(sink_start(s, o, identity, l->used - 3));
    }
    if (count != l->columns)
        return ps_fail(PS_INVALID, "%d numbers, but the lines before have %d", count, l->columns);
    for (int c = 0; c < l->used; ++c) row[c] = values[l->place[c]];
    return sink_add(s, row);
}

static ps_status take_lines(source *in, layout *l, const import_options *o,
                            const ps_store_identity *identity, sink *s)
{
    char *line;
    for (;;) {
        PS_TRY(source_line(in, &line));
        if (!line) break;
        line += strspn(line, " \t");
        line[strcspn(line, "#%!")] = 0;
        if (*line) PS_TRY(source_context(in, take_line(line, l, o, identity, s)));
    }
    return l->columns ? PS_OK : ps_fail(PS_INVALID, "%s: there are no particles in it", in->name);
}

ps_status read_text(const import_options *o, const ps_store_identity *identity, sink *s)
{
    source in;
    layout *l = calloc(1, sizeof *l);
    ps_status status = l ? source_open(&in, o->input) : ps_fail(PS_EXHAUSTED, "no memory");
    if (status == PS_OK) status = take_lines(&in, l, o, identity, s);
    if (l) source_close(&in);
    free(l);
    return status;
}
