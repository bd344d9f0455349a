#include "compute/tdbem_march/near.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/tdbem_march/summation.h"
#include "kernels/tdbem/near_build.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

static int64_t item_size(ps_precision precision)
{
    return precision == PS_SINGLE ? sizeof(float) : sizeof(double);
}

/* ---- two passes over the tiles ---- */

/* What is filled, and how. */
typedef struct collection {
    tile_list list;
    void *target;
    void (*take[2])(void *target, const ps_slice_product *tile); /* a pass */
    /* Between the passes: allocates the matrices, of *bytes. */
    ps_status (*allocate)(void *target, int64_t memory, int64_t *bytes);
    int pass;
} collection;

static ps_status take_tile(void *context, int64_t chunk, const void *unpacked)
{
    const collection *c = context;
    tile_view view;
    ps_slice_product product = {0};
    PS_TRY(tiles_view(&c->list, chunk, unpacked, &view, &product));
    c->take[c->pass](c->target, &product);
    return PS_OK;
}

static ps_status check_room(int64_t group, int64_t bytes, int64_t memory)
{
    if (bytes <= memory) return PS_OK;
    return ps_fail(PS_EXHAUSTED,
                   "the near matrices of a group of %lld steps need %.1f MB, %.1f MB are left: "
                   "raise --host-memory by %.1f MB, and what --plan tells of buffers, or lower "
                   "--group",
                   (long long)group, (double)bytes / 1e6, (double)memory / 1e6,
                   (double)(bytes - memory) / 1e6);
}

/* The second pass of a stream that held all it could of the first, or, where the matrices need its
 * memory, of another one. */
static ps_status second_pass(ps_chunk_stream **stream, const ps_chunk_stream_config *config,
                             collection *c, int64_t left)
{
    if (config->host_memory > left) {
        ps_chunk_stream_config again = *config;
        again.host_memory = left;
        again.one_pass = true;
        ps_chunk_stream_close(stream);
        PS_TRY(ps_chunk_stream_open(&again, stream));
    }
    c->pass = 1;
    return ps_chunk_stream_sweep(*stream, take_tile, c);
}

/* Half of the memory keeps tiles for the second pass, if they can be streamed with that. */
static ps_status two_passes(const ps_chunk_stream_config *config, collection *c, int64_t memory)
{
    ps_chunk_stream_config first = *config;
    ps_chunk_stream *stream = NULL;
    int64_t bytes = 0;
    if (config->chunk_count == 0) return c->allocate(c->target, memory, &bytes);
    first.host_memory = memory / 2;
    ps_status status = ps_chunk_stream_open(&first, &stream);
    if (status == PS_EXHAUSTED) {
        first.host_memory = memory;
        status = ps_chunk_stream_open(&first, &stream);
    }
    if (status == PS_OK) status = ps_chunk_stream_sweep(stream, take_tile, c);
    if (status == PS_OK) status = c->allocate(c->target, memory, &bytes);
    if (status == PS_OK) status = second_pass(&stream, &first, c, memory - bytes);
    ps_chunk_stream_close(&stream);
    return status;
}

static ps_status collect(collection *c, int64_t group, int64_t memory)
{
    const tiles *t = c->list.tiles;
    int64_t *chosen = NULL, *raw = NULL, *unpacked = NULL, count = 0;
    ps_status status;
    PS_GUARD(status, done, PS_ALLOC(&chosen, t->count, "the near tiles"));
    PS_GUARD(status, done, PS_ALLOC(&raw, t->count, "the near tiles"));
    PS_GUARD(status, done, PS_ALLOC(&unpacked, t->count, "the near tiles"));
    for (int64_t k = 0; k < t->count && group > 1; ++k) {
        if (!tiles_may_be_near(t, k, group)) continue;
        chosen[count] = k;
        raw[count] = t->raw_bytes[k];
        unpacked[count++] = t->unpacked_bytes[k];
    }
    c->list.chosen = chosen;
    ps_chunk_stream_config config = {.chunk_count = count,
                                     .raw_bytes = raw,
                                     .unpacked_bytes = unpacked,
                                     .host_memory = memory,
                                     .unpackers = summation_unpackers(),
                                     .context = &c->list,
                                     .read = tiles_read,
                                     .unpack = tiles_unpack};
    status = two_passes(&config, c, memory);
done:
    free(chosen);
    free(raw);
    free(unpacked);
    return status;
}

/* ---- by warps ---- */

/* What passes work on, beside the matrices. */
static int64_t work_bytes(int64_t unknowns, int64_t group, ps_precision precision)
{
    return unknowns * group * (int64_t)sizeof(double) +
           ps_radiation_past_bytes(unknowns, group, precision);
}

typedef struct building {
    ps_near_build build;
    near_matrices *near;
} building;

static void take_warps(void *target, const ps_slice_product *tile)
{
    ps_near_build_take(&((building *)target)->build, tile);
}

static ps_status allocate_warps(void *target, int64_t memory, int64_t *bytes)
{
    building *b = target;
    ps_packed_near *packed = &b->near->packed;
    PS_TRY(ps_near_build_measure(&b->build));
    *bytes = ps_packed_near_bytes(packed);
    int64_t work = work_bytes(packed->unknowns, packed->group, packed->precision);
    PS_TRY(check_room(packed->group, *bytes + work, memory));
    PS_TRY(ps_alloc_untouched(&b->near->memory, *bytes, "the near matrices"));
    ps_packed_near_attach(packed, b->near->memory);
    ps_near_build_fill(&b->build);
    b->near->bytes = *bytes + work;
    return PS_OK;
}

static ps_status build(tiles *t, int64_t memory, near_matrices *out)
{
    const ps_packed_near *p = &out->packed;
    building b = {.near = out};
    PS_SCOPED_MEMORY void *scratch = NULL;
    int64_t bytes = ps_near_build_bytes(p->unknowns, p->group, p->precision);
    PS_TRY(check_room(p->group, bytes, memory));
    PS_TRY(ps_alloc_untouched(&scratch, bytes, "building the near matrices"));
    ps_near_build_init(&b.build, &out->packed, scratch);
    collection c = {.list = {t, NULL},
                    .target = &b,
                    .take = {take_warps, take_warps},
                    .allocate = allocate_warps};
    PS_TRY(collect(&c, p->group, memory - bytes));
    ps_near_build_finish(&b.build);
    return PS_OK;
}

ps_status near_open(tiles *t, int64_t group, int64_t memory, const void *recent, near_matrices *out)
{
    int64_t rows = t->header.unknowns;
    ps_precision precision = t->header.precision;
    memset(out, 0, sizeof *out);
    out->packed = (ps_packed_near){.unknowns = rows, .group = group, .precision = precision};
    PS_TRY(build(t, memory, out));
    out->radiation = (ps_radiation){.near = &out->packed, .recent = recent};
    PS_TRY(PS_ALLOC(&out->radiation.owed, rows * group, "the radiation"));
    return ps_alloc_untouched(&out->radiation.past, ps_radiation_past_bytes(rows, group, precision),
                              "the radiation");
}

void near_close(near_matrices *near)
{
    free(near->memory);
    free(near->radiation.owed);
    free(near->radiation.past);
    memset(near, 0, sizeof *near);
}

/* Bytes of an entry with its share of padding and heads: measured on spheres, h/D = 1 and 4, groups
 * of 4 to 32, it grows with the way across 32 rows' patch of the surface, in steps of a group. */
static double entry_bytes(const ps_slice_header *header, int64_t group, double area)
{
    double across = sqrt(PS_NEAR_ROWS * area / (double)header->unknowns);
    double groups = across / ((double)group * header->dt * header->speed);
    return (double)item_size(header->precision) * (1 + 1.9 * fmin(groups, 3));
}

int64_t near_guess(const tiles *t, int64_t group, double area)
{
    const ps_slice_header *header = &t->header;
    /* Elements reach beyond their centres: about an edge of an equilateral triangle further. */
    double edge = sqrt(4 / sqrt(3) * area / (double)header->unknowns);
    double reach = (double)group * header->dt * header->speed + edge;
    double share = fmin(1, M_PI * reach * reach / area);
    double entries = share * (double)t->values_owned;
    return (int64_t)(entries * entry_bytes(header, group, area)) +
           work_bytes(header->unknowns, group, header->precision);
}

/* ---- as compressed rows ---- */

static int64_t rows_bytes(const ps_near *near)
{
    return (near->group - 1) * (near->unknowns + 1) * (int64_t)sizeof(int64_t) +
           ps_near_entries(near) * ((int64_t)sizeof(int32_t) + item_size(near->precision));
}

static void count_rows(void *target, const ps_slice_product *tile) { ps_near_count(target, tile); }
static void fill_rows(void *target, const ps_slice_product *tile) { ps_near_fill(target, tile); }

static ps_status allocate_rows(void *target, int64_t memory, int64_t *bytes)
{
    ps_near *near = target;
    int64_t entries = ps_near_starts(near);
    *bytes = rows_bytes(near);
    PS_TRY(check_room(near->group, *bytes, memory));
    PS_TRY(PS_ALLOC(&near->columns, entries, "the near matrices"));
    return ps_alloc(&near->values, entries, (size_t)item_size(near->precision),
                    "the near matrices");
}

ps_status near_collect(tiles *t, int64_t group, int64_t memory, ps_near *near)
{
    *near =
        (ps_near){.unknowns = t->header.unknowns, .group = group, .precision = t->header.precision};
    collection c = {.list = {t, NULL},
                    .target = near,
                    .take = {count_rows, fill_rows},
                    .allocate = allocate_rows};
    ps_status status =
        PS_ALLOC(&near->row_start, (group - 1) * (near->unknowns + 1), "the near matrices");
    if (status == PS_OK) status = collect(&c, group, memory);
    if (status == PS_OK) ps_near_finish(near);
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
