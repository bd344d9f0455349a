/* Tables of figures: found by name, printed as text and as a JSON schema. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "runtime/report.h"

static const ps_figure common[] = {
    {"time", "s", "the whole run; with --plan what it is expected to take"},
    {"peak_memory", "B", "most memory that the process, or the largest of its ranks, held"},
    {"memory", "B", "with --plan: most memory that the process, or the largest rank, will hold"},
    {"least_memory", "B", "with --plan: the least --host-memory that can do"},
    {"device_memory", "B", "with --plan: memory of a device that is needed"},
    {"disk", "B", "with --plan: what is written to disk at most"},
    {"disk_free", "B", "with --plan: what is free where the output goes"},
    {"time_needs", "text", "with --plan: what would have to be known to tell the time"},
    {"traffic.unit", "text", "with --plan --ranks: what the following are of"},
    {"traffic.ranks", "1", "ranks"},
    {"traffic.messages", "1", "messages from rank to rank, of all ranks"},
    {"traffic.sent", "B", "bytes of these"},
    {"traffic.most_messages", "1", "messages of the rank that sends most of them"},
    {"traffic.most_sent", "B", "bytes of the rank that sends most"},
    {"traffic.sums", "1", "sums over all ranks"},
    {"traffic.summed", "B", "bytes that each rank brings to these sums"},
    {"traffic.imbalance", "1", "work of the rank that has most over the mean"},
    {"ledger.*", "B", "with --plan: one line of the memory that will be held"},
    {NULL, NULL, NULL}};

/* The section of a figure, "" for none: length characters of its name. */
static size_t section_length(const ps_figure *figure)
{
    const char *dot = strrchr(figure->name, '.');
    return dot ? (size_t)(dot - figure->name) : 0;
}

static bool is_pattern(const char *name, size_t length) { return memchr(name, '*', length); }

static bool matches(const char *pattern, size_t length, const char *text)
{
    char copy[256];
    if (length >= sizeof copy) return false;
    memcpy(copy, pattern, length);
    copy[length] = 0;
    return is_pattern(copy, length) ? fnmatch(copy, text, 0) == 0 : strcmp(copy, text) == 0;
}

/* The first row of this section as the table spells it; exact spellings come before patterns. */
static const ps_figure *find_section(const ps_figure *const tables[2], const char *section)
{
    for (int patterns = 0; patterns < 2; ++patterns)
        for (int t = 0; t < 2; ++t)
            for (const ps_figure *f = tables[t]; f && f->name; ++f) {
                size_t length = section_length(f);
                if (is_pattern(f->name, length) == (patterns == 1) &&
                    matches(f->name, length, section))
                    return f;
            }
    return NULL;
}

const ps_figure *ps_figure_find(const ps_figure *table, const char *section, const char *name)
{
    const ps_figure *const tables[2] = {table, common};
    const ps_figure *of = find_section(tables, section ? section : "");
    size_t length = of ? section_length(of) : 0;
    for (int patterns = 0; patterns < 2 && of; ++patterns)
        for (int t = 0; t < 2; ++t)
            for (const ps_figure *f = tables[t]; f && f->name; ++f) {
                const char *own = f->name + (length ? length + 1 : 0);
                if (section_length(f) == length && strncmp(f->name, of->name, length) == 0 &&
                    is_pattern(own, strlen(own)) == (patterns == 1) &&
                    matches(own, strlen(own), name))
                    return f;
            }
    return NULL;
}

/* ---- as text ---- */

static void print_rows(const ps_figure *table)
{
    for (; table && table->name; ++table)
        printf("%-34s %-8s %s\n", table->name, table->unit, table->meaning);
}

/* ---- as a schema ---- */

/* One object of the schema. */
typedef struct level {
    const ps_figure *tables[2];
    const char *section; /* its members, with length characters; NULL: what is in no section */
    size_t length;
} level;

/* The name within this level and its length; NULL for what is elsewhere. Sections are found by
 * their first figure. */
static const char *name_at(const level *at, const ps_figure *figure, size_t *length, bool *section)
{
    const char *dot = strrchr(figure->name, '.');
    *section = !at->section && dot;
    if (at->section) {
        if (!dot || (size_t)(dot - figure->name) != at->length ||
            strncmp(figure->name, at->section, at->length) != 0)
            return NULL;
        *length = strlen(dot + 1);
        return dot + 1;
    }
    *length = dot ? (size_t)(dot - figure->name) : strlen(figure->name);
    return figure->name;
}

/* Whether a figure before this one, in either table, has the name on this level. */
static bool came_before(const level *at, const ps_figure *figure, const char *name, size_t length)
{
    for (int t = 0; t < 2; ++t)
        for (const ps_figure *f = at->tables[t]; f && f->name; ++f) {
            if (f == figure) return false;
            size_t other_length;
            bool section;
            const char *other = name_at(at, f, &other_length, &section);
            if (other && other_length == length && strncmp(other, name, length) == 0) return true;
        }
    return false;
}

static void print_type(const ps_figure *figure)
{
    const char *type = "{\"type\": [\"number\", \"null\"]}, {\"type\": \"array\", \"items\": "
                       "{\"type\": [\"number\", \"null\"]}}";
    if (strcmp(figure->unit, "text") == 0)
        type = "{\"type\": \"string\"}";
    else if (strcmp(figure->unit, "flag") == 0)
        type = "{\"type\": \"boolean\"}";
    if (strcmp(figure->unit, "any") == 0)
        printf("{\"description\": \"%s\"}", figure->meaning);
    else
        printf("{\"anyOf\": [%s], \"description\": \"%s\", \"unit\": \"%s\"}", type,
               figure->meaning, figure->unit);
}

static void print_as_expression(const char *name, size_t length)
{
    for (size_t i = 0; i < length; ++i)
        if (name[i] == '*')
            printf(".*");
        else
            putchar(name[i]);
}

/* A pattern as a regular expression that takes none of the exact names beside it, and nothing that
 * a pattern before it takes: as ps_figure_find, the first one counts. */
static void print_pattern(const level *at, const ps_figure *figure, const char *name, size_t length)
{
    bool before = true;
    printf("\"^(?!(?:");
    for (int t = 0; t < 2; ++t)
        for (const ps_figure *f = at->tables[t]; f && f->name; ++f) {
            size_t other;
            bool section;
            const char *beside = name_at(at, f, &other, &section);
            before &= f != figure;
            if (!beside || came_before(at, f, beside, other)) continue;
            if (is_pattern(beside, other) && !before) continue;
            print_as_expression(beside, other);
            putchar('|');
        }
    printf("$.)$)");
    print_as_expression(name, length);
    printf("$\"");
}

static void print_level(const level *at);

static void print_members(const level *at, bool patterns)
{
    const char *between = "";
    printf("\"%s\": {", patterns ? "patternProperties" : "properties");
    for (int t = 0; t < 2; ++t)
        for (const ps_figure *f = at->tables[t]; f && f->name; ++f) {
            size_t length;
            bool section;
            const char *name = name_at(at, f, &length, &section);
            if (!name || is_pattern(name, length) != patterns || came_before(at, f, name, length))
                continue;
            printf("%s\n  ", between);
            between = ",";
            if (patterns)
                print_pattern(at, f, name, length);
            else
                printf("\"%.*s\"", (int)length, name);
            printf(": ");
            if (section)
                print_level(&(level){{at->tables[0], at->tables[1]}, name, length});
            else
                print_type(f);
        }
    printf("}");
}

static void print_level(const level *at)
{
    printf("{\"type\": \"object\", \"additionalProperties\": false, ");
    print_members(at, false);
    printf(", ");
    print_members(at, true);
    printf("}");
}

void ps_figures_print(const char *program, const ps_figure *table, bool schema)
{
    if (!schema) {
        print_rows(table);
        print_rows(common);
        return;
    }
    printf("{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
           "\"title\": \"what penstock-%s --json prints\",\n\"type\": \"object\",\n"
           "\"additionalProperties\": false,\n",
           program);
    const level top = {{table, common}, NULL, 0};
    print_members(&top, false);
    printf(",\n");
    print_members(&top, true);
    printf("}\n");
}
