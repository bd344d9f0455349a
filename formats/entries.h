/*
 * entries: the attributes of a header as a table, by which they are written and read alike:
 *
 *     static ps_status pass(ps_store *store, const header *h, ps_entries_pass *each)
 *     {
 *         const ps_entry entries[] = {PS_ENTRY("steps", h->steps), PS_ENTRY("dt", h->dt)};
 *         return each(store, "/", entries, PS_ENTRIES(entries));
 *     }
 *     PS_TRY(pass(store, h, ps_entries_put)); // or ps_entries_get: then *h is written to
 */
#ifndef PS_FORMATS_ENTRIES_H
#define PS_FORMATS_ENTRIES_H

#include "formats/store.h"

typedef enum ps_entry_kind {
    PS_ENTRY_INT,  /* int64_t, one or an array of them    */
    PS_ENTRY_FLAG, /* bool, as 0 or 1                     */
    PS_ENTRY_REAL, /* double, one or an array of them     */
    PS_ENTRY_TEXT  /* an array of char, ended by 0        */
} ps_entry_kind;

typedef struct ps_entry {
    const char *name;
    ps_entry_kind kind;
    int count;     /* of the values of an array; -1: one value */
    bool optional; /* not in the file where it is 0 or ""      */
    void *at;
    size_t size;
} ps_entry;

/* Of a variable, whose type tells the kind. Optional ones stay as they are where a file that is
 * read does not have them. */
#define PS_ENTRY(name, variable) PS_ENTRY_OF(name, false, variable)
#define PS_ENTRY_OPTIONAL(name, variable) PS_ENTRY_OF(name, true, variable)

#define PS_ENTRY_OF(name, optional, variable)                                                      \
    {                                                                                              \
        (name), PS_ENTRY_KIND(variable), PS_ENTRY_COUNT(variable), (optional),                     \
            (void *)&(variable), sizeof(variable)                                                  \
    }
#define PS_ENTRY_KIND(variable)                                                                    \
    _Generic((variable),                                                                           \
        int64_t: PS_ENTRY_INT,                                                                     \
        int64_t *: PS_ENTRY_INT,                                                                   \
        const int64_t *: PS_ENTRY_INT,                                                             \
        bool: PS_ENTRY_FLAG,                                                                       \
        double: PS_ENTRY_REAL,                                                                     \
        double *: PS_ENTRY_REAL,                                                                   \
        const double *: PS_ENTRY_REAL,                                                             \
        char *: PS_ENTRY_TEXT,                                                                     \
        const char *: PS_ENTRY_TEXT)
#define PS_ENTRY_COUNT(variable)                                                                   \
    _Generic((variable), int64_t                                                                   \
             : -1, bool                                                                            \
             : -1, double                                                                          \
             : -1, default                                                                         \
             : (int)(sizeof(variable) / 8))
#define PS_ENTRIES(entries) ((int)(sizeof(entries) / sizeof *(entries)))

typedef ps_status ps_entries_pass(ps_store *store, const char *object, const ps_entry *entries,
                                  int count);
ps_entries_pass ps_entries_put, ps_entries_get;

#endif
