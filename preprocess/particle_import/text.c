/* text: a particle a line, with or without a header of names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/number_file.h"
#include "preprocess/particle_import/import.h"
#include "runtime/log.h"

enum { COLUMNS_MAX = 256, NAME_MAX_BYTES = 64 };

typedef struct layout {
    int columns; /* numbers a line; 0: not known yet */
    char names[COLUMNS_MAX][NAME_MAX_BYTES];
    int name_count; /* 0: no header */
    bool commented; /* the names are those of a comment: words that may be prose */
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

/* A name without the unit in brackets behind it, as in "mass[kg]" and "m(g)". */
static size_t bare_length(const char *name) { return strcspn(name, "[("); }

static bool is_called(const char *name, const char *word)
{
    size_t length = strlen(word);
    return bare_length(name) == length && strncasecmp(name, word, length) == 0;
}

/* One of the words, with digits behind it or not: "q", "q0", "mass2". */
static bool names_charge(const char *name)
{
    static const char *const words[] = {"q",    "charge", "charges", "m",
                                        "mass", "masses", "weight",  "weights"};
    for (size_t w = 0; w < sizeof words / sizeof *words; ++w) {
        size_t length = strlen(words[w]);
        if (strncasecmp(name, words[w], length) != 0) continue;
        if (length + strspn(name + length, "0123456789") == bare_length(name)) return true;
    }
    return false;
}

static int find_axis(const layout *l, const char *axis)
{
    for (int n = 0; n < l->name_count; ++n)
        if (is_called(l->names[n], axis)) return n;
    return -1;
}

/* Places of x, y, z; false if one is not among the names. */
static bool find_axes(layout *l)
{
    static const char *const axes[] = {"x", "y", "z"};
    for (int d = 0; d < 3; ++d)
        if ((l->place[d] = find_axis(l, axes[d])) < 0) return false;
    return true;
}

static void list_names(const layout *l, char out[512])
{
    size_t length = 0;
    out[0] = 0;
    for (int n = 0; n < l->name_count && length < 440; ++n)
        length += (size_t)snprintf(out + length, 512 - length, n ? ", %s" : "%s", l->names[n]);
}

/* Columns of moments by their names: of one side with a 0 behind them or without, of others with
 * their number; in the order of specs/particles.md. */
static ps_status place_moments(layout *l, const import_options *o, const char *names)
{
    static const char *const words[PS_MOMENTS_COUNT][4] = {
        {"q"}, {"px", "py", "pz"}, {"q", "px", "py", "pz"}, {"fx", "fy", "fz"}, {"re", "im"}};
    int each = ps_moments_columns(o->moments), sides = 0, at[PS_RIGHT_HAND_SIDES_MAX][4];
    for (bool found = true; found && sides < PS_RIGHT_HAND_SIDES_MAX; sides += found)
        for (int c = 0; c < each; ++c) {
            char name[16];
            snprintf(name, sizeof name, "%s%d", words[o->moments][c], sides);
            at[sides][c] = find_axis(l, name);
            if (at[sides][c] < 0 && sides == 0) at[0][c] = find_axis(l, words[o->moments][c]);
            found = found && at[sides][c] >= 0;
        }
    if (sides == 0)
        return ps_fail(
            PS_INVALID,
            "--moments %s: no columns %s, %s%s%s%s%s (with a number behind them for several "
            "sides) among %s; --columns says which they are",
            ps_moments_names[o->moments], words[o->moments][0], words[o->moments][1],
            each > 2 ? ", " : "", each > 2 ? words[o->moments][2] : "", each > 3 ? ", " : "",
            each > 3 ? words[o->moments][3] : "", names);
    if (sides * each > PS_RIGHT_HAND_SIDES_MAX)
        return ps_fail(PS_INVALID, "--moments %s: %d columns; up to %d are possible",
                       ps_moments_names[o->moments], sides * each, PS_RIGHT_HAND_SIDES_MAX);
    bool apart = o->moments == PS_MOMENTS_CHARGES_AND_DIPOLES; /* charges of all sides come first */
    for (int s = 0; s < sides; ++s)
        for (int c = 0; c < each; ++c)
            l->place[3 + (!apart ? s * each + c : c == 0 ? s : sides + 3 * s + c - 1)] = at[s][c];
    l->used = 3 + sides * each;
    return PS_OK;
}

/* x, y, z and charges by their names in the header. What is not called a charge is none: a column
 * of velocities would be summed like one. */
static ps_status place_by_header(layout *l, const import_options *o)
{
    char names[512];
    list_names(l, names);
    if (l->name_count != l->columns)
        return ps_fail(PS_INVALID,
                       "%d numbers under a header of %d names (%s); --columns says by number which "
                       "columns are x, y, z and the charges",
                       l->columns, l->name_count, names);
    for (int n = 0; n < l->name_count; ++n)
        if (find_name(l, l->names[n]) < n)
            return ps_fail(
                PS_INVALID,
                "two columns are called %s among %s; --columns says by number which columns "
                "are x, y, z and the charges",
                l->names[n], names);
    if (!find_axes(l))
        return ps_fail(
            PS_INVALID,
            "no columns are called x, y and z among %s; --columns says which are x, y, z "
            "and the charges",
            names);
    l->used = 3;
    if (o->moments && !o->charges) return place_moments(l, o, names);
    for (int n = 0; n < l->name_count && !o->charges; ++n) {
        if (!names_charge(l->names[n])) continue;
        if (l->used == PS_PARTICLE_COLUMNS_MAX)
            return ps_fail(PS_INVALID,
                           "more than %d columns are called charges among %s; --columns says "
                           "which to take",
                           PS_RIGHT_HAND_SIDES_MAX, names);
        l->place[l->used++] = n;
    }
    for (int c = 3; c < l->used; ++c)
        ps_info("%s: charges are the column \"%s\"", o->input, l->names[l->place[c]]);
    if (l->used > 3 || o->charges || l->columns == 3) return PS_OK;
    return ps_fail(PS_INVALID,
                   "none of the columns %s is called a charge (q, charge, m, mass, weight, with or "
                   "without a number); --columns x,y,z,NAME takes one, --charges unit gives every "
                   "particle the charge 1",
                   names);
}

/* Without names the order is x y z q; what further columns are nobody knows. */
static ps_status place_in_order(layout *l, const import_options *o)
{
    if (l->columns < 3)
        return ps_fail(PS_INVALID, "%d numbers; x y z and a charge are expected", l->columns);
    if (o->moments && !o->charges)
        return ps_fail(PS_INVALID,
                       "--moments %s without a header: --columns says by number which columns are "
                       "x, y, z and the moments",
                       ps_moments_names[o->moments]);
    if (l->columns > 4 && !o->charges)
        return ps_fail(
            PS_INVALID,
            "%d numbers without a header: x y z and a charge are four, and what the others "
            "are is not known; --columns 1,2,3,4 says which columns are x, y, z and the "
            "charges",
            l->columns);
    for (int c = 0; c < 4; ++c) l->place[c] = c;
    l->used = l->columns > 3 && !o->charges ? 4 : 3;
    return PS_OK;
}

static ps_status settle(layout *l, const import_options *o, int columns)
{
    l->columns = columns;
    if (l->commented && (l->name_count != columns || !find_axes(l))) l->name_count = 0;
    if (o->columns) return place_by_option(l, o->columns);
    return l->name_count ? place_by_header(l, o) : place_in_order(l, o);
}

static ps_status take_line(const char *line, layout *l, const import_options *o,
                           const ps_store_identity *identity, sink *s)
{
    double values[COLUMNS_MAX], row[PS_PARTICLE_COLUMNS_MAX];
    const char *at = line;
    int count;
    bool named = l->name_count > 0 && !l->commented;
    if (l->columns == 0 && !named && !parse_number(&at, values) && ps_text_is_header(line)) {
        l->name_count = split_words(line, l->names);
        l->commented = false;
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

/* The last comment before the first particle may be the header: "# x y z mass". */
static void take_comment(const char *line, layout *l)
{
    if (l->columns || (l->name_count && !l->commented) || !*line || !strchr("#%!", *line)) return;
    l->name_count = split_words(line + strspn(line, "#%! \t"), l->names);
    l->commented = true;
}

static ps_status take_lines(source *in, layout *l, const import_options *o,
                            const ps_store_identity *identity, sink *s)
{
    char *line;
    for (;;) {
        PS_TRY(source_line(in, &line));
        if (!line) break;
        line += strspn(line, " \t");
        take_comment(line, l);
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
