#include "formats/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/store_format.h"
#include "runtime/memory.h"
#include "runtime/output_file.h"
#include "runtime/path.h"
#include "runtime/scope.h"

enum { CHECKPOINT_VERSION = 1, PATH_SIZE = 4096 };
static const char checkpoint_format[] = "penstock-checkpoint";

void ps_checkpoint_path(const char *run, int64_t generation, char *out)
{
    snprintf(out, PATH_SIZE, "%s.%06lld.h5", run, (long long)generation);
}

/* ---- sums: what an array had in memory, which no hash of the file is made from ---- */

typedef struct sums {
    double sum, squares;
} sums;

enum { BLOCK = 256, LANES = 8 };

/* Integers of arrays of bytes are those of their bytes. */
static void widen(const ps_checkpoint_array *a, int64_t first, int count, double out[BLOCK])
{
    const float *single = (const float *)a->data + first;
    const double *real = (const double *)a->data + first;
    const int64_t *whole = (const int64_t *)a->data + first;
    const unsigned char *byte = (const unsigned char *)a->data + first;
    if (a->type == PS_F32)
        for (int i = 0; i < count; ++i) out[i] = single[i];
    else if (a->type == PS_F64)
        for (int i = 0; i < count; ++i) out[i] = real[i];
    else if (a->type == PS_I64)
        for (int i = 0; i < count; ++i) out[i] = (double)whole[i];
    else
        for (int i = 0; i < count; ++i) out[i] = a->type == PS_U8 ? byte[i] : 0;
}

/* Lanes make the order, whatever the compiler does. */
static sums sums_of(const ps_checkpoint_array *a)
{
    double x[BLOCK], sum[LANES] = {0}, squares[LANES] = {0};
    for (int64_t at = 0; at < a->count; at += BLOCK) {
        int count = a->count - at < BLOCK ? (int)(a->count - at) : BLOCK;
        widen(a, at, count, x);
        for (int i = count; i < BLOCK; ++i) x[i] = 0;
        for (int i = 0; i < BLOCK; i += LANES)
            for (int l = 0; l < LANES; ++l) {
                sum[l] += x[i + l];
                squares[l] += x[i + l] * x[i + l];
            }
    }
    for (int l = 1; l < LANES; ++l) {
        sum[0] += sum[l];
        squares[0] += squares[l];
    }
    return (sums){sum[0], squares[0]};
}

static ps_status put_sums(ps_store *store, const ps_checkpoint_array *array)
{
    sums own = sums_of(array);
    if (!isfinite(own.squares)) return PS_OK;
    PS_TRY(ps_store_put_real(store, array->name, "sum", own.sum));
    return ps_store_put_real(store, array->name, "squares", own.squares);
}

/* To rounding, as another processor may have continued the run. Files of older versions have none.
 */
static ps_status check_sums(const ps_store *store, const ps_checkpoint_array *array)
{
    static const double rounding = 1e-12;
    sums had, has = sums_of(array);
    if (!ps_store_has(store, array->name, "squares")) return PS_OK;
    PS_TRY(ps_store_get_real(store, array->name, "sum", &had.sum));
    PS_TRY(ps_store_get_real(store, array->name, "squares", &had.squares));
    double size = sqrt((double)array->count * had.squares); /* bounds the sum of magnitudes */
    if (fabs(has.squares - had.squares) <= rounding * had.squares &&
        fabs(has.sum - had.sum) <= rounding * size)
        return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: the numbers of %s add up to %.10g, their squares to %.10g; they were %.10g "
                   "and %.10g when the run wrote them, so the file was changed since: remove it to "
                   "go on from an older state, or begin anew with --fresh",
                   ps_store_path(store), array->name, has.sum, has.squares, had.sum, had.squares);
}

/* ---- writing ---- */

static ps_status put_array(ps_store *store, const ps_checkpoint_array *array)
{
    if (array->count == 0) return PS_OK;
    ps_dataset_spec spec = {.name = array->name,
                            .type = array->type,
                            .rank = 1,
                            .dims = {array->count},
                            .units = array->units};
    PS_TRY(ps_store_write_array(store, &spec, array->data));
    return put_sums(store, array);
}

static ps_status put_all(ps_store *store, const ps_checkpoint *checkpoint)
{
    PS_TRY(ps_store_put_int(store, "/", "step", checkpoint->step));
    PS_TRY(ps_store_put_text(store, "/", "run", checkpoint->uuid));
    if (checkpoint->part != 0) PS_TRY(ps_store_put_int(store, "/", "part", checkpoint->part));
    if (checkpoint->log != 0) PS_TRY(ps_store_put_int(store, "/", "log", (int64_t)checkpoint->log));
    for (int i = 0; i < checkpoint->array_count; ++i)
        PS_TRY(put_array(store, &checkpoint->arrays[i]));
    return PS_OK;
}

ps_status ps_checkpoint_save(const char *run, int64_t generation, const ps_checkpoint *checkpoint)
{
    char path[PATH_SIZE];
    ps_checkpoint_path(run, generation, path);
    ps_store_identity identity = {.format = checkpoint_format,
                                  .format_version = CHECKPOINT_VERSION,
                                  .creator = "penstock",
                                  .revision = "",
                                  .options = checkpoint->identity};
    for (int i = 0; i < checkpoint->array_count; ++i)
        identity.disk_estimate +=
            checkpoint->arrays[i].count * (int64_t)ps_type_size(checkpoint->arrays[i].type);
    ps_store *store;
    PS_TRY(ps_store_create(path, &identity, &store));
    ps_status status = put_all(store, checkpoint);
    if (status == PS_OK)
        status = ps_store_commit(&store);
    else
        ps_store_close(&store);
    return status;
}

/* ---- reading ---- */

static ps_status get_array(ps_store *store, const ps_checkpoint_array *array)
{
    if (array->count == 0) return PS_OK;
    int id;
    ps_dataset_info info;
    PS_TRY(ps_store_find(store, array->name, &id));
    PS_TRY(ps_store_dataset(store, id, &info));
    if (info.type != array->type || info.dims[0] != array->count)
        return ps_fail(
            PS_INVALID, "%s: %s holds %lld items, not the %lld expected; --fresh begins anew",
            ps_store_path(store), array->name, (long long)info.dims[0], (long long)array->count);
    PS_TRY(ps_store_read_array(store, array->name, array->type, 0, array->count,
                               array->count * (int64_t)ps_type_size(array->type), array->data));
    return check_sums(store, array);
}

/* Of states that a run has side by side one is never taken for another. */
static ps_status check_part(const ps_store *store, int64_t part)
{
    int64_t stored = 0;
    if (ps_store_has(store, "/", "part")) PS_TRY(ps_store_get_int(store, "/", "part", &stored));
    if (stored == part) return PS_OK;
    return ps_fail(PS_INVALID, "%s: is the state of part %lld of the run, not of part %lld",
                   ps_store_path(store), (long long)stored, (long long)part);
}

/* Opens a generation of this part of some run, which is told. */
static ps_status open_part(const char *run, int64_t generation, int64_t part,
                           char uuid[PS_RUN_UUID_SIZE], ps_store **store)
{
    char path[PATH_SIZE];
    ps_checkpoint_path(run, generation, path);
    PS_TRY(ps_store_open(path, checkpoint_format, CHECKPOINT_VERSION, store));
    ps_status status = ps_store_get_text(*store, "/", "run", uuid, PS_RUN_UUID_SIZE);
    if (status == PS_OK) status = check_part(*store, part);
    if (status != PS_OK) ps_store_close(store);
    return status;
}

/* Opens a generation of this part of the run `uuid`. */
static ps_status open_of(const char *run, int64_t generation, const char *uuid, int64_t part,
                         ps_store **store)
{
    char stored[PS_RUN_UUID_SIZE];
    PS_TRY(open_part(run, generation, part, stored, store));
    if (strcmp(stored, uuid) == 0) return PS_OK;
    ps_status status = ps_fail(PS_INVALID, "%s: belongs to another run (%s, not %s)",
                               ps_store_path(*store), stored, uuid);
    ps_store_close(store);
    return status;
}

ps_status ps_checkpoint_check(const char *run, int64_t generation, const char *uuid, int64_t part,
                              int64_t *step, uint64_t *log)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_verify_result verdict;
    int64_t recorded = 0;
    PS_TRY(open_of(run, generation, uuid, part, &store));
    PS_TRY(ps_store_verify(store, true, &verdict));
    PS_TRY(ps_store_get_int(store, "/", "step", step));
    if (ps_store_has(store, "/", "log")) PS_TRY(ps_store_get_int(store, "/", "log", &recorded));
    *log = (uint64_t)recorded;
    if (*step >= 1) return PS_OK;
    return ps_fail(PS_INVALID, "%s: is a state after %lld steps, which no run writes",
                   ps_store_path(store), (long long)*step);
}

ps_status ps_checkpoint_load(const char *run, int64_t generation, ps_checkpoint *checkpoint)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_TRY(open_of(run, generation, checkpoint->uuid, checkpoint->part, &store));
    PS_TRY(ps_store_get_int(store, "/", "step", &checkpoint->step));
    for (int i = 0; i < checkpoint->array_count; ++i)
        PS_TRY(get_array(store, &checkpoint->arrays[i]));
    return PS_OK;
}

ps_status ps_checkpoint_identity(const char *run, int64_t generation, int64_t part,
                                 char uuid[PS_RUN_UUID_SIZE], char **identity)
{
    enum { TEXT = 1 << 16 };
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_TRY(open_part(run, generation, part, uuid, &store));
    ps_status status = PS_ALLOC(identity, TEXT, "the identity of a run");
    if (status == PS_OK) status = ps_store_get_text(store, "/", "options", *identity, TEXT);
    if (status != PS_OK) free(*identity);
    return status;
}

/* ---- the files of a run ---- */

/* The generation that this name in the run's folder stands for; -1: none. *temporary: it ends
 * with .tmp, left by a crash. */
static int64_t generation_of(const char *base, const char *name, bool *temporary)
{
    size_t length = strlen(base);
    if (strncmp(name, base, length) || name[length] != '.') return -1;
    name += length + 1;
    size_t digits = strspn(name, "0123456789");
    if (digits < 6 || digits > 18 || strncmp(name + digits, ".h5", 3)) return -1;
    const char *rest = name + digits + 3;
    char whole[32];
    int64_t pid;
    snprintf(whole, sizeof whole, "%.*s", (int)digits + 3, name);
    *temporary = ps_output_is_temporary(whole, name, &pid);
    return *rest == 0 || *temporary ? strtoll(name, NULL, 10) : -1;
}

/* Calls visit for every generation file of the run, in the folder's order. */
static ps_status each_file(const char *run,
                           ps_status (*visit)(void *context, const char *path, int64_t generation,
                                              bool temporary),
                           void *context)
{
    const char *base = ps_path_last(run);
    char folder[PATH_SIZE], path[2 * PATH_SIZE];
    ps_path_folder(run, folder, sizeof folder);
    DIR *entries = opendir(folder);
    if (!entries) return ps_fail(PS_FAILED, "%s: %s", folder, strerror(errno));
    ps_status status = PS_OK;
    for (struct dirent *entry; status == PS_OK && (entry = readdir(entries));) {
        bool temporary = false;
        int64_t generation = generation_of(base, entry->d_name, &temporary);
        if (generation < 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        status = visit(context, path, generation, temporary);
    }
    closedir(entries);
    return status;
}

typedef struct generation_list {
    int64_t *numbers, count, capacity;
} generation_list;

static ps_status add_generation(void *context, const char *path, int64_t generation, bool temporary)
{
    generation_list *list = context;
    if (temporary) return PS_OK;
    PS_TRY(ps_grow((void **)&list->numbers, &list->capacity, list->count + 1, sizeof *list->numbers,
                   "the list of checkpoints"));
    list->numbers[list->count++] = generation;
    return PS_OK;
}

static int newest_first(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

ps_status ps_checkpoint_list(const char *run, int64_t **generations, int64_t *count)
{
    generation_list list = {0};
    *generations = NULL;
    *count = 0;
    ps_status status = each_file(run, add_generation, &list);
    if (status != PS_OK) {
        free(list.numbers);
        return status;
    }
    if (list.count) qsort(list.numbers, (size_t)list.count, sizeof *list.numbers, newest_first);
    *generations = list.numbers;
    *count = list.count;
    return PS_OK;
}

bool ps_checkpoint_is_newer(const char *path)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    return ps_store_open(path, NULL, 0, &store) == PS_OK &&
           strcmp(ps_store_format(store), checkpoint_format) == 0 &&
           ps_store_version(store) > CHECKPOINT_VERSION;
}

static ps_status cannot_remove(const char *path)
{
    return ps_fail(PS_FAILED, "%s: cannot be removed: %s", path, strerror(errno));
}

ps_status ps_checkpoint_remove(const char *path)
{
    if (ps_store_is_other(path, checkpoint_format)) return PS_OK;
    return unlink(path) != 0 && errno != ENOENT ? cannot_remove(path) : PS_OK;
}

static ps_status remove_older(void *context, const char *path, int64_t generation, bool temporary)
{
    int64_t oldest_kept = *(const int64_t *)context;
    if (temporary && unlink(path) != 0 && errno != ENOENT) return cannot_remove(path);
    return temporary || generation >= oldest_kept ? PS_OK : ps_checkpoint_remove(path);
}

ps_status ps_checkpoint_prune(const char *run, int64_t keep)
{
    int64_t *generations, count;
    PS_TRY(ps_checkpoint_list(run, &generations, &count));
    int64_t oldest_kept = keep == 0 ? INT64_MAX : count > keep ? generations[keep - 1] : 0;
    free(generations);
    return each_file(run, remove_older, &oldest_kept);
}

/* ---- identity ---- */

/* A line "name=value" at `text`, which may be its end (then all is empty). */
typedef struct identity_line {
    const char *text, *value;
    int name, length, value_length;
} identity_line;

static identity_line line_at(const char *text)
{
    identity_line line = {.text = text};
    line.length = (int)strcspn(text, "\n");
    line.name = (int)strcspn(text, "=\n");
    line.value = text + line.name + (line.name < line.length);
    line.value_length = (int)(text + line.length - line.value);
    return line;
}

static bool same_name(const identity_line *a, const identity_line *b)
{
    return a->name == b->name && !strncmp(a->text, b->text, (size_t)a->name);
}

/* Whether a line of that name is in `text`. */
static bool comes_later(const identity_line *line, const char *text)
{
    for (identity_line at = line_at(text); at.length > 0; at = line_at(at.text + at.length + 1)) {
        if (same_name(line, &at)) return true;
        if (!at.text[at.length]) break;
    }
    return false;
}

ps_status ps_identity_check(const char *run, const char *stored, const char *now)
{
    identity_line had = line_at(stored), is = line_at(now);
    while (had.length == is.length && !strncmp(had.text, is.text, (size_t)had.length)) {
        if (!had.text[had.length] || !is.text[is.length]) break;
        had = line_at(had.text + had.length + 1);
        is = line_at(is.text + is.length + 1);
    }
    if (!strcmp(had.text, is.text)) return PS_OK;
    if (!same_name(&had, &is)) { /* one of them has a line more: name that, without a value */
        if (had.length == 0 || comes_later(&had, is.text))
            had = (identity_line){.text = is.text, .value = "", .name = is.name};
        else
            is.value_length = 0;
    }
    return ps_fail(
        PS_USAGE,
        "the unfinished run %s had %.*s \"%.*s\", now it is \"%.*s\": continue with what "
        "it had, or begin anew with --fresh",
        run, had.name, had.text, had.value_length, had.value, is.value_length, is.value);
}
