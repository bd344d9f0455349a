#include "compute/tdbem_march/device_symmetric.h"

#include <stdlib.h>

#include "compute/tdbem_march/held.h"
#include "kernels/common/reals.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

/* Scratch memory of a round: that which device_summation_fixed counts, and no less than a round of
 * a small device takes. */
static const int64_t scratch_least = (int64_t)16 << 20;

struct symmetric_batch {
    ps_symmetric_plan plan;
    void *table, *host_table;
};

static int64_t room_of(const device_summation *s)
{
    const ps_past_window *w = s->config.window;
    int64_t item = ps_real_bytes(w->precision);
    return ps_larger(scratch_least, DEVICE_PARTIAL_SUMS * w->unknowns * s->pass * item);
}

static ps_status upload(device_summation *s, const ps_symmetric_tile *list, int32_t *work,
                        symmetric_batch *b)
{
    PS_TRY(device_summation_scratch(s, b->plan.scratch_bytes));
    PS_TRY(ps_alloc(&b->host_table, b->plan.table_bytes, 1, "a table of tiles"));
    ps_symmetric_table(&b->plan, list, work, b->host_table);
    s->table_bytes += b->plan.table_bytes;
    return ps_copy_to_new(s->config.stream, b->host_table, b->plan.table_bytes, &b->table);
}

static ps_status open_batch(device_summation *s, const ps_symmetric_tile *list, int64_t count,
                            symmetric_batch **out)
{
    const ps_block_header *header = ps_block_matrix_header(s->config.share->blocks);
    PS_SCOPED_MEMORY int32_t *work = NULL;
    int64_t unknowns = s->config.window->unknowns;
    PS_TRY(PS_ALLOC(&work, unknowns + 1, "a batch of tiles"));
    PS_TRY(PS_ALLOC(out, 1, "a batch of tiles"));
    ps_status status = ps_symmetric_plan_make(header, unknowns, s->pass, room_of(s), list, count,
                                              work, &(*out)->plan);
    if (status == PS_OK) status = upload(s, list, work, *out);
    if (status != PS_OK) symmetric_batch_close(s, out);
    return status;
}

ps_status symmetric_batch_open(device_summation *s, const ps_batch_images *images,
                               symmetric_batch **out)
{
    PS_SCOPED_MEMORY ps_symmetric_tile *list = NULL;
    *out = NULL;
    PS_TRY(PS_ALLOC(&list, images->count, "the tiles of a batch"));
    for (int64_t c = 0; c < images->count; ++c) {
        tile_view view;
        ps_slice_product product = {0};
        PS_TRY(tiles_view(&s->list, images->first + c, images->images[c], &view, &product));
        list[c] =
            ps_symmetric_tile_at(&view.blocks, images->images[c], images->offsets[c], product.both);
    }
    return open_batch(s, list, images->count, out);
}

ps_status symmetric_batch_held(device_summation *s, int64_t first, int64_t count,
                               symmetric_batch **out)
{
    const tiles *share = s->config.share;
    PS_SCOPED_MEMORY ps_symmetric_tile *list = NULL;
    *out = NULL;
    PS_TRY(PS_ALLOC(&list, count, "the tiles of a device"));
    for (int64_t k = 0; k < count; ++k)
        list[k] = held_tile(share->held, tiles_index(share, first + k), share->both[first + k]);
    return open_batch(s, list, count, out);
}

void symmetric_batch_close(device_summation *s, symmetric_batch **out)
{
    symmetric_batch *b = *out;
    *out = NULL;
    if (!b) return;
    s->table_bytes -= b->table ? b->plan.table_bytes : 0;
    ps_device_free(s->config.device, b->table);
    PS_FREE(b->host_table, b);
}

ps_status symmetric_batch_compute(const device_summation *s, const symmetric_batch *b,
                                  const void *base, ps_stream *stream)
{
    const ps_past_window *w = s->config.window;
    int64_t item = ps_real_bytes(w->precision);
    for (int64_t pass = 0; pass < s->config.group; pass += s->pass) {
        ps_symmetric_memory memory = {
            .table = b->table,
            .host_table = b->host_table,
            .scratch = s->scratch,
            .base = base ? base : held_base(s->config.share->held),
            .past = w->data,
            .past_stride = w->stride,
            .past_origin = w->origin + pass,
            .sums = (char *)s->sums + pass * item,
            .sums_stride = s->config.group,
        };
        PS_TRY(ps_symmetric_run(&b->plan, &memory, stream));
    }
    return PS_OK;
}
