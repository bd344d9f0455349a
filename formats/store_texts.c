#include "formats/store_texts.h"

#include <stdio.h>

enum { NAME_ROOM = 64 };

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
