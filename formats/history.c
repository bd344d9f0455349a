#include "formats/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"

struct ps_history {
    ps_store *store;
    ps_history_header header;
    int dataset;
    int64_t chunk_rows, row_bytes;
    char *rows;     /* a chunk: being filled, or the one read last */
    int64_t filled; /* writing: rows in it */
    int64_t chunk;  /* writing: the next to write; reading: the one held, -1: none */
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

static ps_status put_header(ps_store *store, const ps_history_header *header)
{
    PS_TRY(ps_slice_header_put(store, &header->slices));
    PS_TRY(ps_store_put_int(store, "/", "steps", header->steps));
    PS_TRY(ps_store_put_int(store, "/", "group", header->group));
    PS_TRY(ps_store_put_int(store, "/", "emitter_count", header->emitter_count));
    for (int i = 0; i < header->emitter_count; ++i) {
        char name[32];
        snprintf(name, sizeof name, "emitter_%d", i);
        PS_TRY(ps_store_put_text(store, "/", name, header->emitters[i]));
    }
    return PS_OK;
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
    for (int i = 0; i < header->emitter_count; ++i) {
        char name[32];
        snprintf(name, sizeof name, "emitter_%d", i);
        PS_TRY(
            ps_store_get_text(store, "/", name, header->emitters[i], sizeof header->emitters[i]));
    }
    return PS_OK;
}

/* Reads the dataset's shape and makes room for a chunk. */
static ps_status find_densities(ps_history *history)
{
    const ps_history_header *header = &history->header;
    ps_dataset_info info;
    PS_TRY(ps_store_find(history->store, "/densities", &history->dataset));
    PS_TRY(ps_store_dataset(history->store, history->dataset, &info));
    ps_type type = header->slices.precision == PS_SINGLE ? PS_F32 : PS_F64;
    if (info.type != type || info.rank != 2 || info.dims[0] != header->steps ||
        info.dims[1] != header->slices.unknowns)
        return ps_fail(PS_INVALID, "%s: /densities is not [%lld][%lld] of the type its header says",
                       ps_store_path(history->store), (long long)header->steps,
                       (long long)header->slices.unknowns);
    history->chunk_rows = info.chunk_rows;
    history->row_bytes = header->slices.unknowns * (int64_t)ps_type_size(type);
    return PS_ALLOC(&history->rows, history->chunk_rows * history->row_bytes,
                    "a chunk of a history");
}

/* ---- writing ---- */

static ps_status define_densities(ps_history *history)
{
    const ps_slice_header *slices = &history->header.slices;
    ps_dataset_spec spec = {.name = "/densities",
                            .type = slices->precision == PS_SINGLE ? PS_F32 : PS_F64,
                            .rank = 2,
                            .dims = {history->header.steps, slices->unknowns},
                            .units = slices->formulation == PS_SOUND_HARD ? "Pa" : "Pa/m",
                            .description =
                                "a^n of step n = row + 1; unknowns in the order of the mesh file"};
    int id;
    PS_TRY(put_header(history->store, &history->header));
    PS_TRY(ps_store_define(history->store, &spec, &id));
    return find_densities(history);
}

ps_status ps_history_create(const char *path, const ps_store_identity *identity,
                            const ps_history_header *header, ps_history **out)
{
    ps_history *history;
    *out = NULL;
    PS_TRY(header_check(header));
    PS_TRY(PS_ALLOC(&history, 1, "a history"));
    history->header = *header;
    ps_store_identity full = *identity;
    full.format = PS_HISTORY_FORMAT;
    full.format_version = PS_HISTORY_VERSION;
    ps_status status = ps_store_create(path, &full, &history->store);
    if (status == PS_OK) status = define_densities(history);
    if (status == PS_OK)
        *out = history;
    else
        ps_history_close(&history);
    return status;
}

static ps_status flush_rows(ps_history *history)
{
    if (history->filled == 0) return PS_OK;
    PS_TRY(ps_store_write_chunk(history->store, history->dataset, history->chunk, history->rows,
                                history->filled * history->header.slices.unknowns, NULL));
    ++history->chunk;
    history->filled = 0;
    return PS_OK;
}

ps_status ps_history_append(ps_history *history, int64_t count, const void *rows)
{
    const char *from = rows;
    if (history->chunk * history->chunk_rows + history->filled + count > history->header.steps)
        return ps_fail(PS_FAILED, "%s: more than %lld steps appended",
                       ps_store_path(history->store), (long long)history->header.steps);
    while (count) {
        int64_t fit = history->chunk_rows - history->filled;
        if (fit > count) fit = count;
        memcpy(history->rows + history->filled * history->row_bytes, from,
               (size_t)(fit * history->row_bytes));
        from += fit * history->row_bytes;
        history->filled += fit;
        count -= fit;
        if (history->filled == history->chunk_rows) PS_TRY(flush_rows(history));
    }
    return PS_OK;
}

ps_status ps_history_commit(ps_history **out)
{
    ps_history *history = *out;
    int64_t held = history->chunk * history->chunk_rows + history->filled;
    ps_status status = PS_OK;
    if (held != history->header.steps)
        status =
            ps_fail(PS_FAILED, "%s: %lld of %lld steps appended", ps_store_path(history->store),
                    (long long)held, (long long)history->header.steps);
    if (status == PS_OK) status = flush_rows(history);
    if (status == PS_OK) status = ps_store_commit(&history->store);
    ps_history_close(out);
    return status;
}

/* ---- reading ---- */

ps_status ps_history_open(const char *path, ps_history **out)
{
    ps_history *history;
    *out = NULL;
    PS_TRY(PS_ALLOC(&history, 1, "a history"));
    history->chunk = -1;
    ps_status status = ps_store_open(path, PS_HISTORY_FORMAT, PS_HISTORY_VERSION, &history->store);
    if (status == PS_OK) {
        status = get_header(history->store, &history->header);
        if (status == PS_OK) status = find_densities(history);
        if (status != PS_OK) status = ps_context(status, "%s", path);
    }
    if (status == PS_OK)
        *out = history;
    else
        ps_history_close(&history);
    return status;
}

const ps_history_header *ps_history_header_of(const ps_history *history)
{
    return &history->header;
}

ps_store *ps_history_store(ps_history *history) { return history->store; }

static ps_status hold_chunk(ps_history *history, int64_t chunk)
{
    if (history->chunk == chunk) return PS_OK;
    history->chunk = -1;
    PS_TRY(ps_store_read_chunk(history->store, history->dataset, chunk,
                               history->chunk_rows * history->row_bytes, history->rows));
    history->chunk = chunk;
    return PS_OK;
}

static void widen_row(const ps_history *history, int64_t row, double *out)
{
    int64_t n = history->header.slices.unknowns;
    const char *from = history->rows + row * history->row_bytes;
    if (history->header.slices.precision == PS_DOUBLE) {
        memcpy(out, from, (size_t)history->row_bytes);
        return;
    }
    const float *single = (const float *)from;
    for (int64_t i = 0; i < n; ++i) out[i] = single[i];
}

ps_status ps_history_read(ps_history *history, int64_t first, int64_t count, double *out)
{
    const ps_history_header *header = &history->header;
    if (first < 1 || count < 0 || first - 1 + count > header->steps)
        return ps_fail(PS_USAGE, "%s: steps %lld to %lld wanted, it holds 1 to %lld",
                       ps_store_path(history->store), (long long)first,
                       (long long)(first + count - 1), (long long)header->steps);
    for (int64_t i = 0; i < count; ++i) {
        int64_t row = first - 1 + i;
        PS_TRY(hold_chunk(history, row / history->chunk_rows));
        widen_row(history, row % history->chunk_rows, out + i * header->slices.unknowns);
    }
    return PS_OK;
}

void ps_history_close(ps_history **history)
{
    if (!*history) return;
    ps_store_close(&(*history)->store);
    free((*history)->rows);
    free(*history);
    *history = NULL;
}
