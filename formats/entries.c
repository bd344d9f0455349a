#include "formats/entries.h"

static bool is_empty(const ps_entry *e)
{
    switch (e->kind) {
    case PS_ENTRY_INT:
        return *(const int64_t *)e->at == 0;
    case PS_ENTRY_FLAG:
        return !*(const bool *)e->at;
    case PS_ENTRY_REAL:
        return *(const double *)e->at == 0;
    default:
        return *(const char *)e->at == 0;
    }
}

static ps_status put(ps_store *store, const char *object, const ps_entry *e)
{
    const double *real = e->at;
    const int64_t flag = e->kind == PS_ENTRY_FLAG && *(const bool *)e->at;
    const int64_t *whole = e->kind == PS_ENTRY_FLAG ? &flag : e->at;
    if (e->kind == PS_ENTRY_TEXT) return ps_store_put_text(store, object, e->name, e->at);
    if (e->kind == PS_ENTRY_REAL)
        return e->count < 0 ? ps_store_put_real(store, object, e->name, *real)
                            : ps_store_put_reals(store, object, e->name, real, e->count);
    return e->count < 0 ? ps_store_put_int(store, object, e->name, *whole)
                        : ps_store_put_ints(store, object, e->name, whole, e->count);
}

static ps_status get(const ps_store *store, const char *object, const ps_entry *e)
{
    const int count = e->count < 0 ? 1 : e->count;
    int64_t flag;
    if (e->kind == PS_ENTRY_TEXT) return ps_store_get_text(store, object, e->name, e->at, e->size);
    if (e->kind == PS_ENTRY_REAL) return ps_store_get_reals(store, object, e->name, e->at, count);
    if (e->kind == PS_ENTRY_INT) return ps_store_get_ints(store, object, e->name, e->at, count);
    PS_TRY(ps_store_get_int(store, object, e->name, &flag));
    *(bool *)e->at = flag != 0;
    return PS_OK;
}

ps_status ps_entries_put(ps_store *store, const char *object, const ps_entry *entries, int count)
{
    for (const ps_entry *e = entries; e < entries + count; ++e)
        if (!e->optional || !is_empty(e)) PS_TRY(put(store, object, e));
    return PS_OK;
}

ps_status ps_entries_get(ps_store *store, const char *object, const ps_entry *entries, int count)
{
    for (const ps_entry *e = entries; e < entries + count; ++e)
        if (!e->optional || ps_store_has(store, object, e->name)) PS_TRY(get(store, object, e));
    return PS_OK;
}
