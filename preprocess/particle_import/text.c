/* text: a particle a line, with or without a header of names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/number_file.h"
#include "preprocess/particle_import/import.h"
#include "runtime/log.h"

enum { COLUMNS_MAX = 256, NAME_MAX_BYTES = 64, COMMENTS_MAX = 16 };

typedef struct header {
    char names[COLUMNS_MAX][NAME_MAX_BYTES];
    int count; /* 0: there is none */
} header;

typedef struct layout {
    int columns; /* numbers a line; 0: not known yet */
    header named;
    header comments[COMMENTS_MAX]; /* with x, y and z among their words: headers, or prose */
    int comment_count;
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
    for (int n = 0; n < l->named.count; ++n)
        if (strcasecmp(l->named.names[n], name) == 0) return n;
    return -1;
}

/* A name without the unit in brackets behind it, as in "mass[kg]" and "m(g)". */
static size_t bare_length(const char *name) { return strcspn(name, "[("); }

static bool is_called(const char *name, const char *word)
{
    size_t length = strlen(word);
    return bare_length(name) == length && strncasecmp(name, word, length) == 0;
}

/* The first column from `from` on that is called so, with a unit or without; or -1. */
static int find_called(const header *h, const char *word, int from)
{
    for (int n = from; n < h->count; ++n)
        if (is_called(h->names[n], word)) return n;
    return -1;
}

/* Positions are in one unit, as far as the header says. */
static ps_status check_units(const layout *l)
{
    for (int d = 1; d < 3 && l->named.count > 0; ++d) {
        const char *first = l->named.names[l->place[0]], *name = l->named.names[l->place[d]];
        const char *one = first + bare_length(first), *other = name + bare_length(name);
        if (*one && *other && strcmp(one, other) != 0)
            return ps_fail(
                PS_INVALID,
                "the columns %s and %s are in different units: positions are to be in one", first,
                name);
    }
    return PS_OK;
}

/* The column that a word of --columns says, or -1. */
static int find_chosen(const layout *l, const char *word)
{
    char *end;
    long number = strtol(word, &end, 10);
    if (!*end) return number >= 1 && number <= l->columns ? (int)number - 1 : -1;
    int exact = find_name(l, word), called = find_called(&l->named, word, 0);
    if (exact >= 0 || called < 0) return exact < l->columns ? exact : -1;
    return find_called(&l->named, word, called + 1) < 0 && called < l->columns ? called : -1;
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
        int place = l->place[c] = find_chosen(l, words[c]);
        if (place < 0)
            return ps_fail(PS_USAGE, "--columns %s: there is no column %s among %d", columns,
                           words[c], l->columns);
        for (int before = 0; before < c; ++before)
            if (l->place[before] == place)
                return ps_fail(PS_USAGE, "--columns %s: %s and %s are one column", columns,
                               words[before], words[c]);
    }
    l->used = count;
    return check_units(l);
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

static const char *const axes[] = {"x", "y", "z"};

/* Places of x, y, z; false if one is not among the names. */
static bool find_axes(const header *h, int place[3])
{
    for (int d = 0; d < 3; ++d)
        if ((place[d] = find_called(h, axes[d], 0)) < 0) return false;
    return true;
}

static void list_names(const layout *l, char out[512])
{
    size_t length = 0;
    out[0] = 0;
    for (int n = 0; n < l->named.count && length < 440; ++n)
        length +=
            (size_t)snprintf(out + length, 512 - length, n ? ", %s" : "%s", l->named.names[n]);
}

/* A column that is called as those of moments are but belongs to none of the sides that were found,
 * or -1. */
static int find_left(const layout *l, const char *const words[4], int each)
{
    for (int n = 0; n < l->named.count; ++n) {
        bool moment = false, taken = false;
        const char *name = l->named.names[n];
        for (int c = 0; c < each; ++c) {
            size_t length = strlen(words[c]);
            moment = moment || (strncasecmp(name, words[c], length) == 0 &&
                                length + strspn(name + length, "0123456789") == bare_length(name));
        }
        for (int c = 3; c < l->used; ++c) taken = taken || l->place[c] == n;
        if (moment && !taken) return n;
    }
    return -1;
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
            at[sides][c] = find_called(&l->named, name, 0);
            if (at[sides][c] < 0 && sides == 0)
                at[0][c] = find_called(&l->named, words[o->moments][c], 0);
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
    int left = find_left(l, words[o->moments], each);
    return left < 0
               ? PS_OK
               : ps_fail(PS_INVALID,
                         "--moments %s: the column %s belongs to none of %d whole sides from 0 "
                         "on among %s; --columns says which to take",
                         ps_moments_names[o->moments], l->named.names[left], sides, names);
}

/* x, y, z and charges by their names in the header. What is not called a charge is none: a column
 * of velocities would be summed like one. */
static ps_status place_by_header(layout *l, const import_options *o)
{
    char names[512];
    list_names(l, names);
    if (l->named.count != l->columns)
        return ps_fail(PS_INVALID,
                       "%d numbers under a header of %d names (%s); --columns says by number which "
                       "columns are x, y, z and the charges",
                       l->columns, l->named.count, names);
    for (int n = 0; n < l->named.count; ++n)
        if (find_name(l, l->named.names[n]) < n)
            return ps_fail(
                PS_INVALID,
                "two columns are called %s among %s; --columns says by number which columns "
                "are x, y, z and the charges",
                l->named.names[n], names);
    if (!find_axes(&l->named, l->place))
        return ps_fail(
            PS_INVALID,
            "no columns are called x, y and z among %s; --columns says which are x, y, z "
            "and the charges",
            names);
    for (int d = 0; d < 3; ++d)
        if (find_called(&l->named, axes[d], l->place[d] + 1) >= 0)
            return ps_fail(PS_INVALID,
                           "two columns are called %s among %s; --columns says by number which "
                           "columns are x, y, z and the charges",
                           axes[d], names);
    PS_TRY(check_units(l));
    l->used = 3;
    if (o->moments && !o->charges) return place_moments(l, o, names);
    for (int n = 0; n < l->named.count && !o->charges; ++n) {
        if (!names_charge(l->named.names[n])) continue;
        if (l->used == PS_PARTICLE_COLUMNS_MAX)
            return ps_fail(PS_INVALID,
                           "more than %d columns are called charges among %s; --columns says "
                           "which to take",
                           PS_RIGHT_HAND_SIDES_MAX, names);
        l->place[l->used++] = n;
    }
    for (int c = 3; c < l->used; ++c)
        ps_info("%s: charges are the column \"%s\"", o->input, l->named.names[l->place[c]]);
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

static bool is_alike(const header *one, const header *other)
{
    for (int n = 0; n < one->count; ++n)
        if (strcasecmp(one->names[n], other->names[n]) != 0) return false;
    return true;
}

/* Without a header a comment with as many words as there are columns is one. */
static ps_status take_comments(layout *l)
{
    if (l->named.count) return PS_OK;
    for (int c = 0; c < l->comment_count; ++c) {
        if (l->comments[c].count != l->columns) continue;
        if (l->named.count && !is_alike(&l->named, &l->comments[c]))
            return ps_fail(PS_INVALID,
                           "two comments name %d columns, and not alike: leave one of them out",
                           l->columns);
        l->named = l->comments[c];
    }
    return PS_OK;
}

static ps_status settle(layout *l, const import_options *o, int columns)
{
    l->columns = columns;
    PS_TRY(take_comments(l));
    if (o->columns) return place_by_option(l, o->columns);
    return l->named.count ? place_by_header(l, o) : place_in_order(l, o);
}

static ps_status take_line(const char *line, layout *l, const import_options *o,
                           const ps_store_identity *identity, sink *s)
{
    double values[COLUMNS_MAX], row[PS_PARTICLE_COLUMNS_MAX];
    const char *at = line;
    int count;
    if (l->columns == 0 && l->named.count == 0 && !parse_number(&at, values) &&
        ps_text_is_header(line)) {
        l->named.count = split_words(line, l->named.names);
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

/* A comment before the first particle may be the header: "# x y z mass". */
static ps_status take_comment(const char *line, layout *l)
{
    int place[3];
    if (l->columns || l->named.count || !*line || !strchr("#%!", *line)) return PS_OK;
    if (l->comment_count == COMMENTS_MAX)
        return ps_fail(PS_INVALID, "more than %d comments speak of x, y and z: leave some out",
                       COMMENTS_MAX - 1);
    header *h = &l->comments[l->comment_count];
    h->count = split_words(line + strspn(line, "#%! \t"), h->names);
    l->comment_count += find_axes(h, place);
    return PS_OK;
}

static ps_status take_lines(source *in, layout *l, const import_options *o,
                            const ps_store_identity *identity, sink *s)
{
    char *line;
    for (;;) {
        PS_TRY(source_line(in, &line));
        if (!line) break;
        line += strspn(line, " \t");
        PS_TRY(source_context(in, take_comment(line, l)));
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
