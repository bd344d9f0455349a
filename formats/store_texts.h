/*
 * store_texts: several attributes of the root at once (formats/store.h).
 */
#ifndef PS_FORMATS_STORE_TEXTS_H
#define PS_FORMATS_STORE_TEXTS_H

#include "formats/store.h"

/* `count` texts as the attributes WHAT_0, WHAT_1, ..., each `stride` bytes after the one before;
 * read ones have `stride` bytes. PS_INVALID where one is missing or longer. */
ps_status ps_store_put_texts(ps_store *store, const char *what, int count, const char *texts,
                             size_t stride);
ps_status ps_store_get_texts(const ps_store *store, const char *what, int count, char *texts,
                             size_t stride);
/* A number of things, from `least` to `most`; else PS_INVALID. */
ps_status ps_store_get_count(const ps_store *store, const char *name, int64_t least, int64_t most,
                             int *out);
/* Texts with their number as WHAT_count: written where there are any; read, a file without that
 * attribute has none, and one with it from 1 to `most`, else PS_INVALID. */
ps_status ps_store_put_list(ps_store *store, const char *what, int count, const char *texts,
                            size_t stride);
ps_status ps_store_get_list(const ps_store *store, const char *what, int most, int *count,
                            char *texts, size_t stride);
/* `count` texts of `room` bytes as the lines of one attribute; each lies `stride` bytes after the
 * one before. PS_USAGE if they are too long together. Read ones are cut to their room; there may be
 * fewer lines, and then the others stay as they are. */
ps_status ps_store_put_lines(ps_store *store, const char *name, int64_t count, const char *texts,
                             size_t stride);
ps_status ps_store_get_lines(const ps_store *store, const char *name, int64_t count, char *texts,
                             size_t stride, size_t room);

#endif
