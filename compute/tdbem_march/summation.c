#include "compute/tdbem_march/summation.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"
#include "runtime/program.h"

/* SMALL_TILE: products below which starting threads costs more than they save. */
enum { RUN_LEAST = 64, SMALL_TILE = 1 << 21 };

static size_t item_size(ps_precision precision)
{
    return precision == PS_SINGLE ? sizeof(float) : sizeof(double);
}

/* ---- near matrices ---- */

typedef struct collection {
    const tile_list *list;
    ps_near *near;
    void (*take)(ps_near *near, const ps_slice_product *tile);
} collection;

static ps_status take_tile(void *context, int64_t chunk, const void *unpacked)
{
    const collection *c = context;
    tile_view view;
    ps_slice_product product = {0};
    PS_TRY(tiles_view(c->list, chunk, unpacked, &view, &product));
    c->take(c->near, &product);
    return PS_OK;
}

static ps_status allocate_entries(ps_near *near, int64_t memory)
{
    int64_t entries = ps_near_starts(near);
    if (near_bytes(near) > memory)
        return ps_fail(PS_EXHAUSTED,
                       "the near matrices of a group of %lld steps need %.1f MB, %.1f MB are left: "
                       "raise --host-memory or lower --group",
                       (long long)near->group, (double)near_bytes(near) / 1e6,
                       (double)memory / 1e6);
    PS_TRY(PS_ALLOC(&near->columns, entries, "the near matrices"));
    return ps_alloc(&near->values, entries, item_size(near->precision), "the near matrices");
}

/* The second pass of a stream that held all it could of the first, or, where the matrices need its
 * memory, of another one. */
static ps_status fill(ps_chunk_stream **stream, const ps_chunk_stream_config *config,
                      collection *c, int64_t memory)
{
    if (config->host_memory + near_bytes(c->near) > memory) {
        ps_chunk_stream_config again = *config;
        again.host_memory = memory - near_bytes(c->near);
        again.one_pass = true;
        ps_chunk_stream_close(stream);
        PS_TRY(ps_chunk_stream_open(&again, stream));
    }
    c->take = ps_near_fill;
    PS_TRY(ps_chunk_stream_sweep(*stream, take_tile, c));
    ps_near_finish(c->near);
    return PS_OK;
}

/* Half of the memory keeps tiles for the second pass, if they can be streamed with that. */
static ps_status two_passes(const ps_chunk_stream_config *config, const tile_list *list,
                            int64_t memory, ps_near *near)
{
    collection c = {list, near, ps_near_count};
    ps_chunk_stream_config first = *config;
    ps_chunk_stream *stream = NULL;
    if (config->chunk_count == 0) return allocate_entries(near, memory);
    first.host_memory = memory / 2;
    ps_status status = ps_chunk_stream_open(&first, &stream);
    if (status == PS_EXHAUSTED) {
        first.host_memory = memory;
        status = ps_chunk_stream_open(&first, &stream);
    }
    if (status == PS_OK) status = ps_chunk_stream_sweep(stream, take_tile, &c);
    if (status == PS_OK) status = allocate_entries(near, memory);
    if (status == PS_OK) status = fill(&stream, &first, &c, memory);
    ps_chunk_stream_close(&stream);
    return status;
}

/* With many cores, as many as keep up with a fast disk. */
static int unpackers(void)
{
    int half = ps_processor_count() / 2;
    return half < 2 ? 2 : half > 8 ? 8 : half;
}

ps_status near_collect(tiles *t, int64_t group, int64_t memory, ps_near *near)
{
    *near =
        (ps_near){.unknowns = t->header.unknowns, .group = group, .precision = t->header.precision};
    int64_t *chosen = NULL, *raw = NULL, *unpacked = NULL, count = 0;
    ps_status status;
    PS_GUARD(status, done,
             PS_ALLOC(&near->row_start, (group - 1) * (near->unknowns + 1), "the near matrices"));
    PS_GUARD(status, done, PS_ALLOC(&chosen, t->count, "the near tiles"));
    PS_GUARD(status, done, PS_ALLOC(&raw, t->count, "the near tiles"));
    PS_GUARD(status, done, PS_ALLOC(&unpacked, t->count, "the near tiles"));
    for (int64_t k = 0; k < t->count && group > 1; ++k) {
        if (!tiles_may_be_near(t, k, group)) continue;
        chosen[count] = k;
        raw[count] = t->raw_bytes[k];
        unpacked[count++] = t->unpacked_bytes[k];
    }
    tile_list list = {t, chosen};
    ps_chunk_stream_config config = {.chunk_count = count,
                                     .raw_bytes = raw,
                                     .unpacked_bytes = unpacked,
                                     .host_memory = memory,
                                     .unpackers = unpackers(),
                                     .context = &list,
                                     .read = tiles_read,
                                     .unpack = tiles_unpack};
    status = two_passes(&config, &list, memory, near);
done:
    free(chosen);
    free(raw);
    free(unpacked);
    if (status != PS_OK) near_release(near);
    return status;
}

void near_release(ps_near *near)
{
    free(near->row_start);
    free(near->columns);
    free(near->values);
    memset(near, 0, sizeof *near);
}

static int64_t near_size(const ps_slice_header *header, int64_t group, double entries)
{
    double bytes = (double)((group - 1) * (header->unknowns + 1)) * sizeof(int64_t) +
                   entries * (double)(sizeof(int32_t) + item_size(header->precision));
    return (int64_t)bytes;
}

int64_t near_bytes(const ps_near *near)
{
    ps_slice_header header = {.unknowns = near->unknowns, .precision = near->precision};
    return near_size(&header, near->group, (double)ps_near_entries(near));
}

int64_t near_guess(const tiles *t, int64_t group, double area)
{
    double reach = (double)group * t->header.dt * t->header.speed;
    double share = fmin(1, M_PI * reach * reach / area);
    return near_size(&t->header, group, share * (double)t->values_owned);
}

/* ---- sweeps ---- */

int64_t summation_sums_bytes(const ps_slice_header *header, int64_t group)
{
    return header->unknowns * group * (int64_t)item_size(header->precision);
}

ps_status summation_open(tiles *t, const window *past, int64_t group, int64_t memory,
                         summation *out)
{
    *out = (summation){.list = {t, NULL}, .window = past, .group = group};
    PS_TRY(
        ps_alloc(&out->sums, t->header.unknowns * group, item_size(past->precision), "the sums"));
    if (t->count == 0) return PS_OK;
    out->threads = omp_get_max_threads();
    PS_TRY(PS_ALLOC(&out->bounds, out->threads + 1, "the rows of threads"));
    PS_TRY(tiles_split_rows(t, out->threads, out->bounds, &out->row_tiles));
    out->run = 8 * out->row_tiles > RUN_LEAST ? 8 * out->row_tiles : RUN_LEAST;
    PS_TRY(PS_ALLOC(&out->views, out->run, "a run of tiles"));
    PS_TRY(PS_ALLOC(&out->products, out->run, "a run of tiles"));
    ps_chunk_stream_config config = {.chunk_count = t->count,
                                     .raw_bytes = t->raw_bytes,
                                     .unpacked_bytes = t->unpacked_bytes,
                                     .host_memory = memory,
                                     .unpackers = unpackers(),
                                     .context = &out->list,
                                     .read = tiles_read,
                                     .unpack = tiles_unpack};
    return ps_chunk_stream_open(&config, &out->stream);
}

void summation_close(summation *s)
{
    ps_chunk_stream_close(&s->stream);
    free(s->sums);
    free(s->bounds);
    free(s->views);
    free(s->products);
    s->sums = NULL;
    s->bounds = NULL;
    s->views = NULL;
    s->products = NULL;
}

static ps_status set_product(const summation *s, int64_t chunk, const void *unpacked,
                             tile_view *view, ps_slice_product *product)
{
    const window *w = s->window;
    *product = (ps_slice_product){.past = w->data,
                                  .past_stride = w->stride,
                                  .past_origin = w->origin,
                                  .group = s->group,
                                  .sums = s->sums,
                                  .sums_stride = s->group};
    return tiles_view(&s->list, chunk, unpacked, view, product);
}

/* One tile, its own rows cut between the threads. */
static ps_status add_tile(const summation *s, const tile_view *view, ps_slice_product product)
{
    int64_t values = s->list.tiles->slices ? view->slices.value_count : view->blocks.value_count;
    for (int64_t g0 = 0; g0 < s->group; g0 += PS_GROUP_MAX) {
        product.group = s->group - g0 < PS_GROUP_MAX ? s->group - g0 : PS_GROUP_MAX;
        product.past_origin = s->window->origin + g0;
        product.sums = (char *)s->sums + (size_t)g0 * item_size(s->window->precision);
        PS_TRY(ps_slice_product_tile(&product, s->window->precision,
                                     values * product.group < SMALL_TILE ? 1 : 0));
    }
    return PS_OK;
}

/* A run of tiles: where they cover all rows twice, threads own rows of all of them together. */
static ps_status add_tiles(void *context, int64_t first, int64_t count, const void *const *unpacked)
{
    summation *s = context;
    s->stopped = s->stoppable && ps_stop_requested();
    if (s->stopped) return ps_fail(PS_FAILED, "stopped on request");
    for (int64_t k = 0; k < count; ++k)
        PS_TRY(set_product(s, first + k, unpacked[k], &s->views[k], &s->products[k]));
    if (count >= 2 * s->row_tiles)
        return ps_slice_product_tiles(s->products, count, s->window->precision, s->bounds,
                                      s->threads);
    for (int64_t k = 0; k < count; ++k) PS_TRY(add_tile(s, &s->views[k], s->products[k]));
    return PS_OK;
}

ps_status summation_sweep(summation *s)
{
    memset(s->sums, 0, (size_t)(s->window->unknowns * s->group) * item_size(s->window->precision));
    if (!s->stream) return PS_OK;
    double start = ps_clock();
    PS_TRY(ps_chunk_stream_sweep_runs(s->stream, s->run, add_tiles, s));
    s->seconds += ps_clock() - start;
    ++s->sweeps;
    return PS_OK;
}

static double sum_at(const summation *s, int64_t at)
{
    return s->window->precision == PS_SINGLE ? (double)((const float *)s->sums)[at]
                                             : ((const double *)s->sums)[at];
}

void summation_get(const summation *s, int64_t g, double *out)
{
    int64_t n = s->window->unknowns;
#pragma omp parallel for schedule(static) if (n > 65536)
    for (int64_t i = 0; i < n; ++i) out[i] = sum_at(s, i * s->group + g);
}

void summation_add(const summation *s, int64_t g, double *out)
{
    int64_t n = s->window->unknowns;
#pragma omp parallel for schedule(static) if (n > 65536)
    for (int64_t i = 0; i < n; ++i) out[i] += sum_at(s, i * s->group + g);
}
