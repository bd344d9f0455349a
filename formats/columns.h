/*
 * columns: a format's whole arrays as a table, from which they are written and read alike.
 */
#ifndef PS_FORMATS_COLUMNS_H
#define PS_FORMATS_COLUMNS_H

#include "formats/store.h"

typedef struct ps_column {
    const char *name, *units, *description;
    ps_type type;
    int64_t rows, width; /* [rows][width]; a column of no rows is not in the file */
    void *data;
} ps_column;

ps_status ps_columns_write(ps_store *store, const ps_column *columns, int count);
/* PS_INVALID unless each is there with its type, rows and width; to be asked before memory is taken
 * for what a file only announces. `data` is not looked at. */
ps_status ps_columns_expect(const ps_store *store, const ps_column *columns, int count);
/* PS_INVALID as above. */
ps_status ps_columns_read(ps_store *store, const ps_column *columns, int count);

#endif
