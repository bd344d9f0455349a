#include "formats/columns.h"

#include <stdlib.h>

#include "runtime/memory.h"

static int64_t row_bytes(const ps_column *x) { return x->width * (int64_t)ps_type_size(x->type); }

static void *values_of(const ps_column *x) { return x->at ? *(void *const *)x->at : x->data; }

static ps_status write_column(ps_store *store, const ps_column *x)
{
    ps_dataset_spec spec = {.name = x->name,
                            .type = x->type,
                            .rank = x->rank        ? x->rank
                                    : x->width > 1 ? 2
                                                   : 1,
                            .dims = {x->rows, x->width},
                            .units = x->units,
                            .description = x->description,
                            .dimensions = {x->dimensions[0], x->dimensions[1]}};
    return ps_store_write_array(store, &spec, values_of(x));
}

static ps_status expect(const ps_store *store, const ps_column *x)
{
    return ps_store_expect(store, x->name, x->type, x->rows, x->width);
}

static ps_status read_rows(ps_store *store, const ps_column *x, int64_t first)
{
    return ps_store_read_array(store, x->name, x->type, first, x->rows, x->rows * row_bytes(x),
                               values_of(x));
}

ps_status ps_columns_write(ps_store *store, const ps_column *columns, int count)
{
    for (const ps_column *x = columns; x < columns + count; ++x)
        if (x->rows > 0) PS_TRY(write_column(store, x));
    return PS_OK;
}

ps_status ps_columns_read(ps_store *store, const ps_column *columns, int count)
{
    for (const ps_column *x = columns; x < columns + count; ++x) {
        if (x->rows == 0) continue;
        PS_TRY(expect(store, x));
        PS_TRY(read_rows(store, x, 0));
    }
    return PS_OK;
}

ps_status ps_columns_load(ps_store *store, const ps_column *columns, int count)
{
    for (const ps_column *x = columns; x < columns + count; ++x)
        if (x->rows > 0) PS_TRY(expect(store, x));
    return ps_columns_load_part(store, columns, count, 0);
}

ps_status ps_columns_load_part(ps_store *store, const ps_column *columns, int count, int64_t first)
{
    PS_TRY(ps_columns_allocate(NULL, columns, count));
    for (const ps_column *x = columns; x < columns + count; ++x)
        if (x->rows > 0) PS_TRY(read_rows(store, x, first));
    return PS_OK;
}

ps_status ps_columns_allocate(ps_store *store, const ps_column *columns, int count)
{
    for (const ps_column *x = columns; x < columns + count; ++x)
        PS_TRY(ps_alloc((void **)x->at, x->rows, (size_t)row_bytes(x), x->name));
    return PS_OK;
}

ps_status ps_columns_release(ps_store *store, const ps_column *columns, int count)
{
    for (const ps_column *x = columns; x < columns + count; ++x) {
        free(values_of(x));
        *(void **)x->at = NULL;
    }
    return PS_OK;
}
