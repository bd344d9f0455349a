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
    PS_TRY(ps_store_expect(store, x->name, x->type, x->rows, x->width));
    return ps_store_read_array(store, x->name, x->type, 0, x->rows,
                               x->rows * x->width * (int64_t)ps_type_size(x->type), x->data);
}

ps_status ps_columns_expect(const ps_store *store, const ps_column *columns, int count)
{
    for (int c = 0; c < count; ++c)
        if (columns[c].rows > 0)
            PS_TRY(ps_store_expect(store, columns[c].name, columns[c].type, columns[c].rows,
                                   columns[c].width));
    return PS_OK;
}

ps_status ps_columns_read(ps_store *store, const ps_column *columns, int count)
{
    for (int c = 0; c < count; ++c)
        if (columns[c].rows > 0) PS_TRY(read_column(store, columns + c));
    return PS_OK;
}
