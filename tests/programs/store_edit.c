/* store_edit IN OUT DATASET INDEX VALUE: a copy of a store with one value of a dataset changed, its
 * hashes and statistics made anew: what no checksum notices. DATASET may be @NAME: an integer of
 * the root. Bytes (u8) are words of 8, integers unless VALUE has a point, "nan" or "inf" in it.
 * store_edit LOG OUT record:N WORD VALUE: the same of an append log, of words of its Nth record;
 * VALUE "cut": the record ends before this word. With STORE_EDIT_KEEPS in the environment datasets
 * keep their attributes, such as sums that a state tells of its numbers. @format_version is that of
 * the file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/append_log.h"
#include "formats/store.h"
#include "runtime/scope.h"
#include "tests/support/dataset_spec.h"

static ps_status copy_attribute(ps_store *from, ps_store *to, const char *object,
                                const ps_attribute *a)
{
    double reals[64];
    int64_t ints[64];
    char text[4096];
    static const char *const own[] = {"format",  "format_version", "creator",      "revision",
                                      "options", "uuid",           "content_hash", "created"};
    for (size_t i = 0; i < sizeof own / sizeof *own; ++i)
        if (strcmp(a->name, own[i]) == 0) return PS_OK;
    switch (a->kind) {
    case PS_ATTRIBUTE_INTS:
        PS_TRY(ps_store_get_ints(from, object, a->name, ints, (int)a->count));
        if (a->count == 1) return ps_store_put_int(to, object, a->name, ints[0]);
        return ps_store_put_ints(to, object, a->name, ints, (int)a->count);
    case PS_ATTRIBUTE_REALS:
        PS_TRY(ps_store_get_reals(from, object, a->name, reals, (int)a->count));
        if (a->count == 1) return ps_store_put_real(to, object, a->name, reals[0]);
        return ps_store_put_reals(to, object, a->name, reals, (int)a->count);
    case PS_ATTRIBUTE_TEXT:
        PS_TRY(ps_store_get_text(from, object, a->name, text, sizeof text));
        return ps_store_put_text(to, object, a->name, text);
    default:
        return PS_OK;
    }
}

static ps_status copy_attributes(ps_store *from, ps_store *to, const char *object)
{
    PS_SCOPED_MEMORY ps_attribute *list = NULL;
    int count;
    ps_status status = PS_OK;
    PS_TRY(ps_store_list_attributes(from, object, &list, &count));
    for (int a = 0; a < count && status == PS_OK; ++a)
        if (!ps_store_has(to, object, list[a].name))
            status = copy_attribute(from, to, object, &list[a]);
    return status;
}

static void change_word(void *data, int64_t at, const char *value)
{
    double real = atof(value);
    int64_t integer = atoll(value);
    memcpy((char *)data + 8 * at, strpbrk(value, ".n") ? (void *)&real : (void *)&integer, 8);
}

static void change(const ps_dataset_info *info, void *data, int64_t at, const char *value)
{
    if (info->type == PS_I64) ((int64_t *)data)[at] = atoll(value);
    if (info->type == PS_I32) ((int32_t *)data)[at] = (int32_t)atoll(value);
    if (info->type == PS_F64) ((double *)data)[at] = atof(value);
    if (info->type == PS_F32) ((float *)data)[at] = (float)atof(value);
    if (info->type == PS_U8) change_word(data, at, value);
}

/* Chunk after chunk; `index` counts values over all of them. */
static ps_status copy_dataset(ps_store *from, ps_store *to, int id, int64_t index,
                              const char *value)
{
    ps_dataset_info info;
    int own;
    PS_TRY(ps_store_dataset(from, id, &info));
    ps_dataset_spec spec = copied_spec(&info);
    PS_TRY(ps_store_define(to, &spec, &own));
    for (int64_t c = 0; c < info.chunk_count; ++c) {
        ps_chunk_info chunk;
        PS_SCOPED_MEMORY void *data = malloc((size_t)info.chunk_bytes + 64);
        PS_TRY(ps_store_chunk(from, id, c, &chunk));
        PS_TRY(ps_store_read_values(from, id, c, chunk.count * (int64_t)ps_type_size(info.type),
                                    data));
        if (index >= 0 && index < chunk.count) change(&info, data, index, value);
        index -= chunk.count;
        PS_TRY(ps_store_write_chunk(to, own, c, data, chunk.count, chunk.extras));
    }
    return getenv("STORE_EDIT_KEEPS") ? copy_attributes(from, to, info.name) : PS_OK;
}

/* The attributes of the group that a dataset is in; those of the root are there. */
static ps_status copy_group(ps_store *from, ps_store *to, int id)
{
    ps_dataset_info info;
    PS_TRY(ps_store_dataset(from, id, &info));
    char *slash = strrchr(info.name, '/');
    if (!slash || slash == info.name) return PS_OK;
    *slash = 0;
    return copy_attributes(from, to, info.name);
}

static ps_status edit(ps_store *from, ps_store *to, char **argv)
{
    int found = -1;
    if (strcmp(argv[3], "@format_version") == 0)
        found = -1;
    else if (argv[3][0] == '@')
        PS_TRY(ps_store_put_int(to, "/", argv[3] + 1, atoll(argv[5])));
    else
        PS_TRY(ps_store_find(from, argv[3], &found));
    PS_TRY(copy_attributes(from, to, "/"));
    for (int id = 0; id < ps_store_dataset_count(from); ++id) {
        PS_TRY(copy_dataset(from, to, id, id == found ? atoll(argv[4]) : -1, argv[5]));
        PS_TRY(copy_group(from, to, id));
    }
    return PS_OK;
}

static ps_status edit_store(char **argv)
{
    enum { OPTIONS = 1 << 16 };
    PS_SCOPED(ps_store_close) ps_store *from = NULL, *to = NULL;
    PS_SCOPED_MEMORY char *options = calloc(OPTIONS, 1);
    PS_TRY(ps_store_open(argv[1], NULL, 0, &from));
    PS_TRY(ps_store_get_text(from, "/", "options", options, OPTIONS));
    ps_store_identity identity = {
        ps_store_format(from), ps_store_version(from), "store_edit", "-", options, 0};
    if (strcmp(argv[3], "@format_version") == 0) identity.format_version = atoi(argv[5]);
    PS_TRY(ps_store_create(argv[2], &identity, &to));
    PS_TRY(edit(from, to, argv));
    return ps_store_commit(&to);
}

typedef struct log_edit {
    ps_append_log *to;
    int64_t record, word, at;
    const char *value;
} log_edit;

static ps_status copy_record(void *context, int64_t first, int64_t count, const void *payload,
                             int64_t bytes)
{
    log_edit *e = context;
    PS_SCOPED_MEMORY char *own = malloc((size_t)bytes + 8);
    memcpy(own, payload, (size_t)bytes);
    if (e->at++ == e->record) {
        if (8 * e->word + 8 > bytes)
            return ps_fail(PS_USAGE, "the record has %lld bytes", (long long)bytes);
        if (strcmp(e->value, "cut") == 0)
            bytes = 8 * e->word;
        else
            change_word(own, e->word, e->value);
    }
    return ps_append_log_append(e->to, count, own, bytes);
}

static ps_status edit_log(char **argv)
{
    PS_SCOPED(ps_append_log_close) ps_append_log *from = NULL, *to = NULL;
    log_edit e = {
        .record = atoll(argv[3] + strlen("record:")), .word = atoll(argv[4]), .value = argv[5]};
    PS_TRY(ps_append_log_open(argv[1], &from));
    PS_TRY(
        ps_append_log_create(argv[2], ps_append_log_uuid(from), ps_append_log_identity(from), &to));
    e.to = to;
    PS_TRY(ps_append_log_replay(from, 0, copy_record, &e));
    return e.at > e.record ? PS_OK
                           : ps_fail(PS_USAGE, "%s has %lld records", argv[1], (long long)e.at);
}

int main(int argc, char **argv)
{
    if (argc != 6) return PS_USAGE;
    ps_status status = strncmp(argv[3], "record:", 7) == 0 ? edit_log(argv) : edit_store(argv);
    if (status != PS_OK) fprintf(stderr, "store_edit: %s\n", ps_message());
    return status;
}
