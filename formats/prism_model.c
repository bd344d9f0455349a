#include "formats/prism_model.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

enum { ARRAYS = 9 };

typedef struct array {
    ps_dataset_spec spec;
    double **data;
} array;

static void list_arrays(ps_prism_model *m, array out[ARRAYS])
{
    const char *data = ps_prism_model_data_units(m);
    const array all[ARRAYS] = {
        {{"/edges/x", PS_F64, 1, {m->count[0] + 1}, .units = "m"}, &m->edges[0]},
        {{"/edges/y", PS_F64, 1, {m->count[1] + 1}, .units = "m"}, &m->edges[1]},
        {{"/edges/z", PS_F64, 1, {m->count[2] + 1}, .units = "m"}, &m->edges[2]},
        {{"/prisms", PS_F64, 2, {m->cells, m->width}, .units = ps_prism_model_units(m)},
         &m->prisms},
        {{"/stations/place", PS_F64, 2, {m->stations, 3}, .units = "m"}, &m->place},
        {{"/stations/observed", PS_F64, 1, {m->stations}, .units = data}, &m->observed},
        {{"/stations/error", PS_F64, 1, {m->stations}, .units = data}, &m->error},
        {{"/stations/computed", PS_F64, 1, {m->stations}, .units = data}, &m->computed},
        {{"/history", PS_F64, 2, {m->trials, 3}, .units = "1"}, &m->history}};
    memcpy(out, all, sizeof all);
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
    array arrays[ARRAYS];
    list_arrays(m, arrays);
    for (int k = 0; k < ARRAYS; ++k) free(*arrays[k].data);
    free(m->cell);
    *m = (ps_prism_model){0};
}

/* ---- writing ---- */

ps_status ps_prism_model_put(ps_store *store, const ps_prism_model *model)
{
    ps_prism_model m = *model;
    array arrays[ARRAYS];
    ps_dataset_spec cells = {.name = "/cells", .units = "1", .type = PS_I64, .rank = 1, .dims = {m.cells}};
    PS_TRY(ps_store_put_text(store, "/", "field", m.field));
    PS_TRY(ps_store_put_text(store, "/", "component", m.component));
    PS_TRY(ps_store_put_int(store, "/", "stations", m.stations));
    PS_TRY(ps_store_put_int(store, "/", "cells", m.cells));
    PS_TRY(ps_store_put_real(store, "/", "regularisation", m.regularisation));
    PS_TRY(ps_store_put_real(store, "/", "chi2", m.chi2));
    PS_TRY(ps_store_put_real(store, "/", "target", m.target));
    PS_TRY(ps_store_put_real(store, "/", "operator_error", m.operator_error));
    list_arrays(&m, arrays);
    for (int k = 0; k < ARRAYS; ++k)
        PS_TRY(ps_store_write_array(store, &arrays[k].spec, *arrays[k].data));
    return ps_store_write_array(store, &cells, m.cell);
}

/* ---- reading ---- */

static ps_status shape_of(const ps_store *store, const char *name, int rank, int64_t dims[2])
{
    int id;
    ps_dataset_info info;
    PS_TRY(ps_store_find(store, name, &id));
    PS_TRY(ps_store_dataset(store, id, &info));
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

static ps_status get_numbers(const ps_store *store, ps_prism_model *out)
{
    PS_TRY(ps_store_get_text(store, "/", "field", out->field, sizeof out->field));
    PS_TRY(ps_store_get_text(store, "/", "component", out->component, sizeof out->component));
    PS_TRY(ps_store_get_real(store, "/", "regularisation", &out->regularisation));
    PS_TRY(ps_store_get_real(store, "/", "chi2", &out->chi2));
    PS_TRY(ps_store_get_real(store, "/", "target", &out->target));
    return ps_store_get_real(store, "/", "operator_error", &out->operator_error);
}

static ps_status get_arrays(ps_store *store, ps_prism_model *out)
{
    array arrays[ARRAYS];
    list_arrays(out, arrays);
    for (int k = 0; k < ARRAYS; ++k) {
        const ps_dataset_spec *s = &arrays[k].spec;
        int64_t width = s->rank == 2 ? s->dims[1] : 1, size = s->dims[0] * width;
        PS_TRY(ps_store_expect(store, s->name, PS_F64, s->dims[0], width));
        PS_TRY(PS_ALLOC(arrays[k].data, size, "a model of prisms"));
        PS_TRY(ps_store_read_array(store, s->name, PS_F64, 0, s->dims[0],
                                   PS_ROOM(*arrays[k].data, size), *arrays[k].data));
    }
    PS_TRY(ps_store_expect(store, "/cells", PS_I64, out->cells, 1));
    PS_TRY(PS_ALLOC(&out->cell, out->cells, "a model of prisms"));
    return ps_store_read_array(store, "/cells", PS_I64, 0, out->cells,
                               PS_ROOM(out->cell, out->cells), out->cell);
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
    PS_TRY(get_numbers(store, out));
    PS_TRY(get_arrays(store, out));
    return check(store, out);
}

ps_status ps_prism_model_load(const char *path, ps_prism_model *out)
{
    ps_store *store = NULL;
    *out = (ps_prism_model){0};
    PS_TRY(ps_store_open(path, PS_PRISM_MODEL_FORMAT, PS_PRISM_MODEL_VERSION, &store));
    ps_status status = get(store, out);
    ps_store_close(&store);
    if (status != PS_OK) ps_prism_model_release(out);
    return status;
}
