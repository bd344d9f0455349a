#include "formats/history.h"

#include <stdlib.h>
#include <string.h>

#include "formats/row_series.h"
#include "formats/store_texts.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

struct ps_history {
    ps_store *store;
    ps_history_header header;
    ps_row_series densities;
};

static ps_status header_check(const ps_history_header *header)
{
    if (header->steps < 1 || header->slices.unknowns < 1)
        return ps_fail(PS_INVALID, "a history needs steps and unknowns, got %lld and %lld",
                       (long long)header->steps, (long long)header->slices.unknowns);
    if (header->emitter_count < 0 || header->emitter_count > 16)
        return ps_fail(PS_INVALID, "a history holds at most 16 emitters, got %d",
                       header->emitter_count);
    return PS_OK;
}

int ps_history_version(const ps_history_header *header)
{
    return header->flow ? PS_HISTORY_VERSION : header->lining_count > 0 ? 2 : 1;
}

static ps_status put_header(ps_store *store, const ps_history_header *header)
{
    PS_TRY(ps_slice_header_put(store, &header->slices));
    PS_TRY(ps_store_put_int(store, "/", "steps", header->steps));
    PS_TRY(ps_store_put_int(store, "/", "group", header->group));
    PS_TRY(ps_store_put_int(store, "/", "emitter_count", header->emitter_count));
    PS_TRY(ps_store_put_texts(store, "emitter", header->emitter_count, header->emitters[0],
                              sizeof header->emitters[0]));
    if (header->flow) PS_TRY(ps_surface_flow_put(header->flow, store));
    return ps_store_put_list(store, "lining", header->lining_count, header->linings[0],
                             sizeof header->linings[0]);
}

static ps_status get_header(ps_store *store, ps_history_header *header)
{
    int64_t emitters;
    PS_TRY(ps_slice_header_get(store, &header->slices));
    PS_TRY(ps_store_get_int(store, "/", "steps", &header->steps));
    PS_TRY(ps_store_get_int(store, "/", "group", &header->group));
    PS_TRY(ps_store_get_int(store, "/", "emitter_count", &emitters));
    header->emitter_count = emitters < 0 || emitters > 16 ? -1 : (int)emitters;
    PS_TRY(header_check(header));
    PS_TRY(ps_store_get_texts(store, "emitter", header->emitter_count, header->emitters[0],
                              sizeof header->emitters[0]));
    return ps_store_get_list(store, "lining", PS_HISTORY_LININGS, &header->lining_count,
                             header->linings[0], sizeof header->linings[0]);
}

static ps_type type_of(const ps_history_header *header)
{
    return header->slices.precision == PS_SINGLE ? PS_F32 : PS_F64;
}

/* ---- writing ---- */

/* Times of the rows: ends of steps, or the middle of those that densities are means of. */
static void make_times(const void *context, int64_t first, int64_t count, void *rows)
{
    const ps_slice_header *slices = context;
    double shift = slices->formulation == PS_SOUND_HARD ? 1 : .5;
    for (int64_t i = 0; i < count; ++i)
        ((double *)rows)[i] = ((double)(first + i) + shift) * slices->dt;
}

static ps_status put_times(ps_store *store, const ps_history_header *header)
{
    ps_dataset_spec spec = {.name = "/time",
                            .type = PS_F64,
                            .rank = 1,
                            .dims = {header->steps},
                            .units = "s",
                            .description = "of the rows of densities"};
    PS_TRY(ps_store_write_made(store, &spec, make_times, &header->slices));
    PS_TRY(ps_store_put_text(store, "/", "Conventions", "CF-1.8"));
    return ps_store_put_text(store, "/time", "standard_name", "time");
}

static ps_status define_densities(ps_history *history)
{
    const ps_slice_header *slices = &history->header.slices;
    ps_dataset_spec spec = {.name = "/densities",
                            .type = type_of(&history->header),
                            .rank = 2,
                            .dims = {history->header.steps, slices->unknowns},
                            .dimensions = {"/time", "/unknown"},
                            .units = slices->formulation == PS_SOUND_HARD ? "Pa" : "Pa/m",
                            .description =
                                "a^n of step n = row + 1; unknowns in the order of the mesh file"};
    PS_TRY(put_header(history->store, &history->header));
    PS_TRY(put_times(history->store, &history->header));
    return ps_row_series_define(history->store, &spec, &history->densities);
}

ps_status ps_history_create(const char *path, const ps_store_identity *identity,
                            const ps_history_header *header, ps_history **out)
{
    PS_SCOPED(ps_history_close) ps_history *history = NULL;
    *out = NULL;
    PS_TRY(header_check(header));
    PS_TRY(PS_ALLOC(&history, 1, "a history"));
    history->header = *header;
    PS_TRY(ps_store_create_as(path, identity, PS_HISTORY_FORMAT, ps_history_version(header),
                              &history->store));
    PS_TRY(define_densities(history));
    *out = history;
    history = NULL;
    return PS_OK;
}

ps_status ps_history_append(ps_history *history, int64_t count, const void *rows)
{
    return ps_row_series_append(&history->densities, count, rows);
}

ps_status ps_history_commit(ps_history **out)
{
    ps_history *history = *out;
    ps_status status = ps_row_series_finish(&history->densities);
    if (status == PS_OK) status = ps_store_commit(&history->store);
    ps_history_close(out);
    return status;
}

/* ---- reading ---- */

ps_status ps_history_open(const char *path, ps_history **out)
{
    PS_SCOPED(ps_history_close) ps_history *history = NULL;
    *out = NULL;
    PS_TRY(PS_ALLOC(&history, 1, "a history"));
    const ps_history_header *header = &history->header;
    PS_TRY(ps_store_open(path, PS_HISTORY_FORMAT, PS_HISTORY_VERSION, &history->store));
    PS_TRY_IN(get_header(history->store, &history->header), "%s", path);
    const int64_t shape[2] = {header->steps, header->slices.unknowns};
    PS_TRY_IN(ps_row_series_find(history->store, "/densities", type_of(header), shape,
                                 &history->densities),
              "%s", path);
    *out = history;
    history = NULL;
    return PS_OK;
}

const ps_history_header *ps_history_header_of(const ps_history *history)
{
    return &history->header;
}

ps_store *ps_history_store(ps_history *history) { return history->store; }

ps_status ps_history_read(ps_history *history, int64_t first, int64_t count, double *out)
{
    const ps_history_header *header = &history->header;
    if (first < 1 || count < 0 || first - 1 + count > header->steps)
        return ps_fail(PS_USAGE, "%s: steps %lld to %lld wanted, it holds 1 to %lld",
                       ps_store_path(history->store), (long long)first,
                       (long long)(first + count - 1), (long long)header->steps);
    int64_t n = header->slices.unknowns;
    for (int64_t i = 0; i < count; ++i, out += n) {
        const void *row;
        PS_TRY(ps_row_series_read(&history->densities, first - 1 + i, &row));
        if (header->slices.precision == PS_DOUBLE)
            memcpy(out, row, (size_t)n * sizeof *out);
        else
            for (int64_t j = 0; j < n; ++j) out[j] = ((const float *)row)[j];
    }
    return PS_OK;
}

void ps_history_close(ps_history **history)
{
    if (!*history) return;
    ps_store_close(&(*history)->store);
    ps_row_series_release(&(*history)->densities);
    free(*history);
    *history = NULL;
}
