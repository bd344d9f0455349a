/* The list of snapshots: JSON that ParaView reads, written and read back here alone. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/field.h"
#include "runtime/memory.h"
#include "runtime/output_file.h"
#include "runtime/path.h"

enum { PATH_BYTES = 4096 };

typedef struct series {
    int64_t count, time_room, name_room;
    double *times; /* ascending */
    char *names;   /* [count][PS_NAME_MAX] */
} series;

void ps_field_snapshot_path(const char *base, int64_t index, char *out)
{
    snprintf(out, PATH_BYTES, "%.4000s.%06lld.hdf", base, (long long)index);
}

void ps_field_series_path(const char *base, char *out)
{
    snprintf(out, PATH_BYTES, "%.4000s.hdf.series", base);
}

static char *name_at(const series *s, int64_t i) { return s->names + i * PS_NAME_MAX; }

static void remove_name(series *s, const char *name)
{
    for (int64_t i = 0; i < s->count; ++i) {
        if (strcmp(name_at(s, i), name) != 0) continue;
        size_t after = (size_t)(s->count - i - 1);
        memmove(s->times + i, s->times + i + 1, after * sizeof *s->times);
        memmove(name_at(s, i), name_at(s, i) + PS_NAME_MAX, after * PS_NAME_MAX);
        --s->count;
        return;
    }
}

/* Behind all entries that are not later. */
static ps_status insert(series *s, const char *name, double time)
{
    PS_TRY(ps_grow((void **)&s->times, &s->time_room, s->count + 1, sizeof *s->times,
                   "snapshot times"));
    PS_TRY(ps_grow((void **)&s->names, &s->name_room, (s->count + 1) * PS_NAME_MAX, 1,
                   "snapshot names"));
    int64_t at = s->count;
    while (at > 0 && s->times[at - 1] > time) --at;
    size_t after = (size_t)(s->count - at);
    memmove(s->times + at + 1, s->times + at, after * sizeof *s->times);
    memmove(name_at(s, at) + PS_NAME_MAX, name_at(s, at), after * PS_NAME_MAX);
    s->times[at] = time;
    memset(name_at(s, at), 0, PS_NAME_MAX);
    strncpy(name_at(s, at), name, PS_NAME_MAX - 1);
    ++s->count;
    return PS_OK;
}

/* An entry as it is written below, a line each. False for the other lines of the file. */
static bool parse_entry(const char *line, char name[PS_NAME_MAX], double *time)
{
    int end = 0;
    char format[96];
    snprintf(format, sizeof format, " { \"name\" : \"%%%d[^\"\\\\]\" , \"time\" : %%lf }%%n",
             PS_NAME_MAX - 1);
    return sscanf(line, format, name, time, &end) == 2 && end > 0 && isfinite(*time);
}

static ps_status read_list(const char *path, series *s)
{
    char line[PS_NAME_MAX + 256], name[PS_NAME_MAX];
    double time;
    bool ended = false;
    FILE *file = fopen(path, "r");
    if (!file && errno == ENOENT) return PS_OK;
    if (!file) return ps_path_unreadable(path);
    ps_status status = PS_OK;
    while (status == PS_OK && fgets(line, sizeof line, file)) {
        ended = strspn(line, "}\n ") == strlen(line);
        if (!strstr(line, "\"name\"")) continue;
        status = parse_entry(line, name, &time)
                     ? insert(s, name, time)
                     : ps_fail(PS_INVALID,
                               "%s: the entry %.80s is not understood; move the file "
                               "away",
                               path, line);
    }
    fclose(file);
    if (status == PS_OK && !ended)
        return ps_fail(PS_INVALID, "%s is cut short; move it away", path);
    return status;
}

static void print_list(FILE *file, const void *context)
{
    const series *s = context;
    fprintf(file, "{\n  \"file-series-version\" : \"1.0\",\n  \"files\" : [\n");
    for (int64_t i = 0; i < s->count; ++i)
        fprintf(file, "    { \"name\" : \"%s\", \"time\" : %.17g }%s\n", name_at(s, i), s->times[i],
                i + 1 < s->count ? "," : "");
    fprintf(file, "  ]\n}\n");
}

static void release(series *s)
{
    free(s->times);
    free(s->names);
}

ps_status ps_field_series_add(const char *series_path, const char *file, double time)
{
    const char *name = ps_path_last(file);
    series s = {0};
    if (!name[0] || strlen(name) >= PS_NAME_MAX || strpbrk(name, "\"\\\n") || !isfinite(time))
        return ps_fail(PS_INVALID, "%s: \"%s\" at time %g cannot be listed", series_path, name,
                       time);
    ps_status status = read_list(series_path, &s);
    if (status == PS_OK) {
        remove_name(&s, name);
        status = insert(&s, name, time);
    }
    if (status == PS_OK) status = ps_output_print(series_path, print_list, &s);
    release(&s);
    return status;
}

ps_status ps_field_series_read(const char *series_path, int64_t *count, double **times,
                               char **names)
{
    series s = {0};
    *count = 0;
    *times = NULL;
    *names = NULL;
    ps_status status = read_list(series_path, &s);
    if (status != PS_OK) {
        release(&s);
        return status;
    }
    *count = s.count;
    *times = s.times;
    *names = s.names;
    return PS_OK;
}

ps_status ps_field_series_save(const char *base, int64_t index, const ps_field_snapshot *snapshot)
{
    char path[PATH_BYTES], list[PATH_BYTES];
    ps_field_snapshot_path(base, index, path);
    ps_field_series_path(base, list);
    PS_TRY(ps_field_save(path, snapshot));
    return ps_field_series_add(list, path, snapshot->time);
}
