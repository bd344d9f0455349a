#include "compute/tdbem_march/summation.h"

#include <omp.h>
#include <string.h>

#include "kernels/common/reals.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/stop.h"

/* SMALL_TILE: products below which starting threads costs more than they save. */
enum { RUN_LEAST = 64, SMALL_TILE = 1 << 21 };

/* ---- sweeps ---- */

/* With many cores, as many as keep up with a fast disk. */
int summation_unpackers(void)
{
    int half = ps_processor_count() / 2;
    return half < 2 ? 2 : half > 8 ? 8 : half;
}

int64_t summation_sums_bytes(const ps_slice_header *header, int64_t group)
{
    return header->unknowns * group * ps_real_bytes(header->precision);
}

ps_status summation_open(tiles *t, const window *past, int64_t group, int64_t memory, int spared,
                         summation *out)
{
    *out = (summation){.list = {t, NULL}, .window = past, .group = group};
    PS_TRY(ps_alloc(&out->sums, t->header.unknowns * group, ps_real_bytes(past->precision),
                    "the sums"));
    if (t->count == 0) return PS_OK;
    out->threads = omp_get_max_threads() > spared ? omp_get_max_threads() - spared : 1;
    PS_TRY(PS_ALLOC(&out->bounds, out->threads + 1, "the rows of threads"));
    PS_TRY(tiles_split_rows(t, out->threads, out->bounds, &out->row_tiles));
    out->run = 8 * out->row_tiles > RUN_LEAST ? 8 * out->row_tiles : RUN_LEAST;
    PS_TRY(PS_ALLOC(&out->views, out->run, "a run of tiles"));
    PS_TRY(PS_ALLOC(&out->products, out->run, "a run of tiles"));
    ps_chunk_stream_config config = {.chunk_count = t->count,
                                     .raw_bytes = t->raw_bytes,
                                     .unpacked_bytes = t->unpacked_bytes,
                                     .host_memory = memory,
                                     .unpackers = summation_unpackers(),
                                     .in_place = tiles_in_place(t),
                                     .context = &out->list,
                                     .read = tiles_read,
                                     .unpack = tiles_unpack};
    return ps_chunk_stream_open(&config, &out->stream);
}

void summation_close(summation *s)
{
    ps_chunk_stream_close(&s->stream);
    PS_FREE(s->sums, s->bounds, s->views, s->products);
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
        product.sums = (char *)s->sums + (size_t)g0 * ps_real_bytes(s->window->precision);
        PS_TRY(ps_slice_product_tile(&product, s->window->precision,
                                     values * product.group < SMALL_TILE ? 1 : s->threads));
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
    memset(s->sums, 0,
           (size_t)(s->window->unknowns * s->group) * ps_real_bytes(s->window->precision));
    if (!s->stream) return PS_OK;
    double start = ps_clock();
    PS_TRY(ps_chunk_stream_sweep_runs(s->stream, s->run, add_tiles, s));
    s->seconds += ps_clock() - start;
    ++s->sweeps;
    return PS_OK;
}

void summation_get(const summation *s, int64_t g, double *out)
{
    int64_t n = s->window->unknowns;
#pragma omp parallel for schedule(static) if (n > 65536)
    for (int64_t i = 0; i < n; ++i)
        out[i] = ps_real_at(s->window->precision, s->sums, i * s->group + g);
}

void summation_add(const summation *s, int64_t g, double *out)
{
    int64_t n = s->window->unknowns;
#pragma omp parallel for schedule(static) if (n > 65536)
    for (int64_t i = 0; i < n; ++i)
        out[i] += ps_real_at(s->window->precision, s->sums, i * s->group + g);
}
