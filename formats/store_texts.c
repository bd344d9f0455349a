#include "formats/store_texts.h"

#include <stdio.h>
#include <string.h>

enum { NAME_ROOM = 64, LINES_ROOM = 60000 }; /* HDF5 takes attributes up to 64 KiB */

ps_status ps_store_put_texts(ps_store *store, const char *what, int count, const char *texts,
                             size_t stride)
{
    for (int i = 0; i < count; ++i) {
        char name[NAME_ROOM];
        snprintf(name, sizeof name, "%s_%d", what, i);
        PS_TRY(ps_store_put_text(store, "/", name, texts + (size_t)i * stride));
    }
    return PS_OK;
}

ps_status ps_store_get_texts(const ps_store *store, const char *what, int count, char *texts,
                             size_t stride)
{
    for (int i = 0; i < count; ++i) {
        char name[NAME_ROOM];
        snprintf(name, sizeof name, "%s_%d", what, i);
        PS_TRY(ps_store_get_text(store, "/", name, texts + (size_t)i * stride, stride));
    }
    return PS_OK;
}

ps_status ps_store_get_count(const ps_store *store, const char *name, int64_t least, int64_t most,
                             int *out)
{
    int64_t value;
    PS_TRY(ps_store_get_int(store, "/", name, &value));
    if (value < least || value > most)
        return ps_fail(PS_INVALID, "%s: %lld is not from %lld to %lld", name, (long long)value,
                       (long long)least, (long long)most);
    *out = (int)value;
    return PS_OK;
}

ps_status ps_store_put_list(ps_store *store, const char *what, int count, const char *texts,
                            size_t stride)
{
    char name[NAME_ROOM];
    snprintf(name, sizeof name, "%s_count", what);
    if (count == 0) return PS_OK;
    PS_TRY(ps_store_put_int(store, "/", name, count));
    return ps_store_put_texts(store, what, count, texts, stride);
}

ps_status ps_store_get_list(const ps_store *store, const char *what, int most, int *count,
                            char *texts, size_t stride)
{
    char name[NAME_ROOM];
    snprintf(name, sizeof name, "%s_count", what);
    *count = 0;
    if (!ps_store_has(store, "/", name)) return PS_OK;
    PS_TRY(ps_store_get_count(store, name, 1, most, count));
    return ps_store_get_texts(store, what, *count, texts, stride);
}

ps_status ps_store_put_lines(ps_store *store, const char *name, int64_t count, const char *texts,
                             size_t stride)
{
    char lines[LINES_ROOM] = "";
    size_t at = 0;
    for (int64_t i = 0; i < count; ++i, texts += stride) {
        size_t length = strlen(texts);
        if (at + length + 2 > sizeof lines)
            return ps_fail(PS_USAGE, "%s: the texts of %lld are too long together", name,
                           (long long)count);
        memcpy(lines + at, texts, length);
        at += length;
        lines[at++] = '\n';
    }
    return ps_store_put_text(store, "/", name, lines);
}

ps_status ps_store_get_lines(const ps_store *store, const char *name, int64_t count, char *texts,
                             size_t stride, size_t room)
{
    char lines[LINES_ROOM];
    const char *at = lines;
    PS_TRY(ps_store_get_text(store, "/", name, lines, sizeof lines));
    for (int64_t i = 0; i < count && *at; ++i, texts += stride) {
        size_t length = strcspn(at, "\n"), kept = length < room - 1 ? length : room - 1;
        memcpy(texts, at, kept);
        texts[kept] = 0;
        at += length + (at[length] == '\n');
    }
    return PS_OK;
}
