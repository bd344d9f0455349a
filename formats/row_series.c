#include "formats/row_series.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/first_failure.h"
#include "runtime/memory.h"

enum { BATCH_MOST = 16 };

static ps_status make_room(ps_store *store, const char *name, int64_t batch, ps_row_series *out)
{
    ps_dataset_info info;
    PS_TRY(ps_store_dataset(store, out->dataset, &info));
    out->store = store;
    out->rows = info.dims[0];
    out->width = info.dims[1];
    out->row_bytes = out->width * (int64_t)ps_type_size(info.type);
    out->chunk_rows = info.chunk_rows;
    out->batch = batch < info.chunk_count ? batch : info.chunk_count;
    return PS_ALLOC(&out->held, out->batch * out->chunk_rows * out->row_bytes, name);
}

ps_status ps_row_series_define(ps_store *store, const ps_dataset_spec *spec, ps_row_series *out)
{
    memset(out, 0, sizeof *out);
    int64_t threads = omp_get_max_threads();
    PS_TRY(ps_store_define(store, spec, &out->dataset));
    return make_room(store, spec->name, threads < BATCH_MOST ? threads : BATCH_MOST, out);
}

ps_status ps_row_series_find(ps_store *store, const char *name, ps_type type,
                             const int64_t shape[2], ps_row_series *out)
{
    ps_dataset_info info;
    memset(out, 0, sizeof *out);
    out->chunk = -1;
    PS_TRY(ps_store_find(store, name, &out->dataset));
    PS_TRY(ps_store_dataset(store, out->dataset, &info));
    if (info.type != type || info.rank != 2 || info.dims[0] != shape[0] || info.dims[1] != shape[1])
        return ps_fail(PS_INVALID, "%s: %s is not [%lld][%lld] of the type its header says",
                       ps_store_path(store), name, (long long)shape[0], (long long)shape[1]);
    return make_room(store, name, 1, out);
}

void ps_row_series_release(ps_row_series *series)
{
    free(series->held);
    memset(series, 0, sizeof *series);
}

static int64_t appended(const ps_row_series *s) { return s->chunk * s->chunk_rows + s->filled; }

static ps_status flush(ps_row_series *s)
{
    int64_t chunks = (s->filled + s->chunk_rows - 1) / s->chunk_rows;
    ps_failure failure = {0};
#pragma omp parallel for schedule(dynamic) if (chunks > 1)
    for (int64_t c = 0; c < chunks; ++c) {
        int64_t first = c * s->chunk_rows, left = s->filled - first;
        int64_t rows = left < s->chunk_rows ? left : s->chunk_rows;
        ps_note_failure(&failure, ps_store_write_chunk(s->store, s->dataset, s->chunk + c,
                                                       s->held + first * s->row_bytes,
                                                       rows * s->width, NULL));
    }
    s->chunk += chunks;
    s->filled = 0;
    return ps_first_failure(&failure);
}

ps_status ps_row_series_append(ps_row_series *s, int64_t count, const void *rows)
{
    const char *from = rows;
    if (appended(s) + count > s->rows)
        return ps_fail(PS_FAILED, "%s: more than %lld steps appended", ps_store_path(s->store),
                       (long long)s->rows);
    while (count) {
        int64_t room = s->batch * s->chunk_rows, fit = room - s->filled;
        if (fit > count) fit = count;
        memcpy(s->held + s->filled * s->row_bytes, from, (size_t)(fit * s->row_bytes));
        from += fit * s->row_bytes;
        s->filled += fit;
        count -= fit;
        if (s->filled == room) PS_TRY(flush(s));
    }
    return PS_OK;
}

ps_status ps_row_series_finish(ps_row_series *s)
{
    if (appended(s) != s->rows)
        return ps_fail(PS_FAILED, "%s: %lld of %lld steps appended", ps_store_path(s->store),
                       (long long)appended(s), (long long)s->rows);
    return flush(s);
}

ps_status ps_row_series_read(ps_row_series *s, int64_t row, const void **out)
{
    int64_t chunk = row / s->chunk_rows;
    if (row < 0 || row >= s->rows)
        return ps_fail(PS_FAILED, "%s: row %lld wanted of %lld", ps_store_path(s->store),
                       (long long)row, (long long)s->rows);
    if (s->chunk != chunk) {
        s->chunk = -1;
        PS_TRY(ps_store_read_chunk(s->store, s->dataset, chunk, s->chunk_rows * s->row_bytes,
                                   s->held));
        s->chunk = chunk;
    }
    *out = s->held + row % s->chunk_rows * s->row_bytes;
    return PS_OK;
}
