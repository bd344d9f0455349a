#include "formats/prism_model.h"

#include <string.h>

#include "formats/columns.h"
#include "formats/entries.h"
#include "runtime/scope.h"

static ps_status pass_arrays(ps_store *store, const ps_prism_model *m, ps_columns_pass *each)
{
    const char *data = ps_prism_model_data_units(m);
    const ps_column columns[] = {
        {"/edges/x", "m", NULL, PS_F64, m->count[0] + 1, 1, .at = &m->edges[0]},
        {"/edges/y", "m", NULL, PS_F64, m->count[1] + 1, 1, .at = &m->edges[1]},
        {"/edges/z", "m", NULL, PS_F64, m->count[2] + 1, 1, .at = &m->edges[2]},
        {"/prisms", ps_prism_model_units(m), NULL, PS_F64, m->cells, m->width, .at = &m->prisms},
        {"/stations/place", "m", NULL, PS_F64, m->stations, 3, .at = &m->place},
        {"/stations/observed", data, NULL, PS_F64, m->stations, 1, .at = &m->observed},
        {"/stations/error", data, NULL, PS_F64, m->stations, 1, .at = &m->error},
        {"/stations/computed", data, NULL, PS_F64, m->stations, 1, .at = &m->computed},
        {"/history", "1", NULL, PS_F64, m->trials, 3, .at = &m->history},
        {"/cells", "1", NULL, PS_I64, m->cells, 1, .at = &m->cell}};
    return each(store, columns, PS_COLUMNS(columns));
}

static ps_status pass_numbers(ps_store *store, const ps_prism_model *m, ps_entries_pass *each)
{
    const ps_entry entries[] = {
        PS_ENTRY("field", m->field),   PS_ENTRY("component", m->component),
        PS_ENTRY("chi2", m->chi2),     PS_ENTRY("regularisation", m->regularisation),
        PS_ENTRY("target", m->target), PS_ENTRY("operator_error", m->operator_error)};
    return each(store, "/", entries, PS_ENTRIES(entries));
}

static bool is_gravity(const ps_prism_model *m) { return strcmp(m->field, "gravity") == 0; }

const char *ps_prism_model_units(const ps_prism_model *m)
{
    return is_gravity(m) ? "kg/m3" : "A/m";
}

const char *ps_prism_model_data_units(const ps_prism_model *m)
{
    return !is_gravity(m) ? "nT" : strncmp(m->component, "g_", 2) == 0 ? "mGal" : "Eotvos";
}

void ps_prism_model_release(ps_prism_model *m)
{
    pass_arrays(NULL, m, ps_columns_release);
    *m = (ps_prism_model){0};
}

ps_status ps_prism_model_put(ps_store *store, const ps_prism_model *m)
{
    PS_TRY(pass_numbers(store, m, ps_entries_put));
    PS_TRY(ps_store_put_int(store, "/", "stations", m->stations));
    PS_TRY(ps_store_put_int(store, "/", "cells", m->cells));
    return pass_arrays(store, m, ps_columns_write);
}

/* ---- reading ---- */

static ps_status shape_of(const ps_store *store, const char *name, int rank, int64_t dims[2])
{
    ps_dataset_info info;
    PS_TRY(ps_store_describe(store, name, &info));
    if (info.rank != rank || info.dims[0] < 1)
        return ps_fail(PS_INVALID, "%s: %s has another shape than it should", ps_store_path(store),
                       name);
    dims[0] = info.dims[0];
    dims[1] = rank > 1 ? info.dims[1] : 1;
    return PS_OK;
}

static ps_status get_shapes(const ps_store *store, ps_prism_model *out)
{
    static const char *const edges[3] = {"/edges/x", "/edges/y", "/edges/z"};
    int64_t dims[2];
    for (int a = 0; a < 3; ++a) {
        PS_TRY(shape_of(store, edges[a], 1, dims));
        out->count[a] = dims[0] - 1;
        if (dims[0] < 2 || dims[0] > 1000001)
            return ps_fail(PS_INVALID, "%s: %s has %lld planes", ps_store_path(store), edges[a],
                           (long long)dims[0]);
    }
    PS_TRY(shape_of(store, "/prisms", 2, dims));
    out->cells = dims[0];
    if (dims[1] != 7 && dims[1] != 9)
        return ps_fail(PS_INVALID, "%s: /prisms has %lld columns, not 7 or 9", ps_store_path(store),
                       (long long)dims[1]);
    out->width = (int)dims[1];
    PS_TRY(shape_of(store, "/stations/place", 2, dims));
    out->stations = dims[0];
    PS_TRY(shape_of(store, "/history", 2, dims));
    out->trials = dims[0];
    return PS_OK;
}

static ps_status check(const ps_store *store, const ps_prism_model *m)
{
    int64_t all = m->count[0] * m->count[1] * m->count[2];
    for (int a = 0; a < 3; ++a)
        for (int64_t i = 0; i < m->count[a]; ++i)
            if (!(m->edges[a][i] < m->edges[a][i + 1]))
                return ps_fail(PS_INVALID, "%s: planes %lld and %lld along %c do not ascend",
                               ps_store_path(store), (long long)i, (long long)i + 1, "xyz"[a]);
    for (int64_t c = 0; c < m->cells; ++c)
        if (m->cell[c] < 0 || m->cell[c] >= all || (c > 0 && m->cell[c] <= m->cell[c - 1]))
            return ps_fail(PS_INVALID, "%s: /cells holds %lld in row %lld: %lld cells, ascending",
                           ps_store_path(store), (long long)m->cell[c], (long long)c,
                           (long long)all);
    return PS_OK;
}

static ps_status get(ps_store *store, ps_prism_model *out)
{
    PS_TRY(get_shapes(store, out));
    PS_TRY(pass_numbers(store, out, ps_entries_get));
    PS_TRY(pass_arrays(store, out, ps_columns_load));
    return check(store, out);
}

ps_status ps_prism_model_load(const char *path, ps_prism_model *out)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    *out = (ps_prism_model){0};
    PS_TRY(ps_store_open(path, PS_PRISM_MODEL_FORMAT, PS_PRISM_MODEL_VERSION, &store));
    ps_status status = get(store, out);
    if (status != PS_OK) ps_prism_model_release(out);
    return status;
}
