#include "formats/number_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { WIDTH_MAX = 16, WORD_BYTES = 64 };

/* What tables of places have besides, too. */
static const char elsewhere[] =
    "lon|longitude|lat|latitude|depth|id|station|point|name|nr|no|index|"
    "error|err|sigma|std|uncertainty|value|observed|density|rho";

typedef struct word {
    char name[WORD_BYTES], unit[WORD_BYTES]; /* "" : none */
} word;

/* Whether one of the words between "|" is this one. */
static bool is_among(const char *list, const char *name)
{
    size_t size = strlen(name);
    while (*list && *list != ':') {
        size_t length = strcspn(list, "|:");
        if (length == size && strncasecmp(list, name, size) == 0) return true;
        list += length + (list[length] == '|');
    }
    return false;
}

/* The words of a line with the units in brackets that stand in or behind them; how many, or -1. */
static int split(const char *line, word words[WIDTH_MAX])
{
    static const char blanks[] = " \t,;\r\n\"";
    int count = 0;
    for (const char *at = line + strspn(line, blanks); *at; at += strspn(at, blanks)) {
        size_t length = strcspn(at, blanks), bare = strcspn(at, "[("), inner;
        if (bare > length) bare = length;
        if (bare > 0 && count == WIDTH_MAX) return -1;
        if (bare > 0) {
            words[count] = (word){.unit = ""};
            snprintf(words[count++].name, WORD_BYTES, "%.*s", (int)bare, at);
        }
        inner = bare < length ? strcspn(at + bare + 1, "])") : 0;
        if (inner > 0 && count > 0)
            snprintf(words[count - 1].unit, WORD_BYTES, "%.*s", (int)inner, at + bare + 1);
        at += bare + inner + 1 > length ? bare + inner + (bare < length) : length;
    }
    return count;
}

/* The column that is called so, or -1; -2: none of them, but known. */
static int column_of(const ps_columns *expected, const char *name)
{
    for (int k = 0; k < expected->count; ++k)
        if (is_among(expected->names[k], name)) return k;
    return is_among(elsewhere, name) ? -2 : -1;
}

static ps_status check_word(const word *w, int k, const ps_columns *expected)
{
    int column = column_of(expected, w->name);
    if (column == -1) return PS_OK;
    bool fits = k < expected->count && is_among(expected->names[k], w->name);
    const char *names = k < expected->count ? expected->names[k] : "none";
    const char *units = strchr(names, ':');
    if (!fits)
        return ps_fail(
            PS_INVALID,
            "its header calls column %d \"%s\", where %.*s is expected: bring the columns "
            "into this order, without others between, or leave a wrong header out",
            k + 1, w->name, (int)strcspn(names, "|:"), names);
    if (!*w->unit || !units || is_among(units + 1, w->unit)) return PS_OK;
    return ps_fail(PS_INVALID, "its header says that column %d, %s, is in \"%s\": %.*s is expected",
                   k + 1, w->name, w->unit, (int)strcspn(units + 1, "|"), units + 1);
}

ps_status ps_number_header_check(const char *line, int width, const ps_columns *expected)
{
    word words[WIDTH_MAX];
    int count = split(line, words), known = 0;
    if (count != width) return PS_OK;
    for (int k = 0; k < count; ++k) known += column_of(expected, words[k].name) != -1;
    if (known < (count < 3 ? count : 3)) return PS_OK;
    for (int k = 0; k < count; ++k) PS_TRY(check_word(&words[k], k, expected));
    return PS_OK;
}
