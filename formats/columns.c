#include "formats/columns.h"

ps_status ps_columns_write(ps_store *store, const ps_column *columns, int count)
{
    for (int c = 0; c < count; ++c) {
        const ps_column *x = columns + c;
        ps_dataset_spec spec = {.name = x->name,
                                .type = x->type,
                                .rank = x->width > 1 ? 2 : 1,
                                .dims = {x->rows, x->width},
                                .units = x->units,
                                .description = x->description};
        if (x->rows > 0) PS_TRY(ps_store_write_array(store, &spec, x->data));
    }
    return PS_OK;
}

static ps_status read_column(ps_store *store, const ps_column *x)
{
    int id;
    ps_dataset_info info;
    PS_TRY(ps_store_find(store, x->name, &id));
    PS_TRY(ps_store_dataset(store, id, &info));
    if (info.type != x->type || info.dims[0] != x->rows ||
        (info.rank > 1 ? info.dims[1] : 1) != x->width)
        return ps_fail(PS_INVALID,
                       "%s: %s has not the type and the %lld rows of %lld that the sizes tell",
                       ps_store_path(store), x->name, (long long)x->rows, (long long)x->width);
    return ps_store_read_array(store, x->name, x->type, 0, x->rows, x->data);
}

ps_status ps_columns_read(ps_store *store, const ps_column *columns, int count)
{
    for (int c = 0; c < count; ++c)
        if (columns[c].rows > 0) PS_TRY(read_column(store, columns + c));
    return PS_OK;
}
