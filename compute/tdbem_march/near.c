#include "compute/tdbem_march/near.h"

#include <stdlib.h>
#include <string.h>

#include "compute/tdbem_march/summation.h"
#include "kernels/common/reals.h"
#include "kernels/tdbem/near_build.h"
#include "runtime/chunk_plan.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"

enum { PACKED_PADDING = 3 }; /* packed values for a value: measured on spheres, 1 to 6.7 */

/* ---- two passes over the tiles ---- */

/* What the passes make, and how. */
typedef struct near_making {
    void (*take[2])(near_tally *tally, const ps_slice_product *tile); /* a pass */
    ps_status (*measure)(near_tally *tally);                          /* sets its figures */
    ps_status (*begin_filling)(near_tally *tally);                    /* allocates the matrices */
} near_making;

struct near_tally {
    const near_making *making;
    tiles whole;    /* opened for compressed rows; else nothing */
    tile_list list; /* the tiles that may hold near entries */
    int64_t *chosen, *raw, *unpacked, count;
    ps_chunk_stream_config config;
    ps_chunk_stream *stream; /* of the first pass, which keeps what it may */
    int pass;
    int64_t group, bytes, work, scratch_bytes, buffers;
    void *scratch;
    near_matrices near; /* by warps */
    ps_near_build build;
    ps_near rows; /* or as compressed rows */
};

static ps_status take_tile(void *context, int64_t chunk, const void *unpacked)
{
    near_tally *t = context;
    tile_view view;
    ps_slice_product product = {0};
    PS_TRY(tiles_view(&t->list, chunk, unpacked, &view, &product));
    t->making->take[t->pass](t, &product);
    return PS_OK;
}

static ps_status take_placed(near_tally *t, int64_t chunk)
{
    tile_view view;
    ps_slice_product product = {0};
    PS_TRY(tiles_view_near(&t->list, chunk, &view, &product));
    t->making->take[t->pass](t, &product);
    return PS_OK;
}

/* Tiles of the same rows, one after the other: a thread owns those rows. */
static ps_status take_rows(near_tally *t, int64_t first_row)
{
    for (int64_t c = 0; c < t->count; ++c) {
        int64_t row;
        PS_TRY(tiles_first_row(t->list.tiles, t->chosen[c], &row));
        if (row == first_row) PS_TRY(take_placed(t, c));
    }
    return PS_OK;
}

/* A pass over tiles that are placed, of whose near lags nothing is to be read or unpacked. */
static ps_status sweep_placed(near_tally *t)
{
    const tiles *all = t->list.tiles;
    ps_failure failure = {0};
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t c = 0; c < all->interval_first[1]; ++c) {
        int64_t row;
        ps_status status = tiles_first_row(all, c, &row);
        ps_note_failure(&failure, status == PS_OK ? take_rows(t, row) : status);
    }
    return ps_first_failure(&failure);
}

static ps_status sweep(near_tally *t)
{
    if (t->list.tiles->placed) return sweep_placed(t);
    return t->stream ? ps_chunk_stream_sweep(t->stream, take_tile, t) : PS_OK;
}

static ps_status choose_tiles(near_tally *t)
{
    const tiles *all = t->list.tiles;
    PS_TRY(PS_ALLOC(&t->chosen, all->count, "the near tiles"));
    PS_TRY(PS_ALLOC(&t->raw, all->count, "the near tiles"));
    PS_TRY(PS_ALLOC(&t->unpacked, all->count, "the near tiles"));
    for (int64_t k = 0; k < all->count && t->group > 1; ++k) {
        if (!tiles_may_be_near(all, k, t->group)) continue;
        t->chosen[t->count] = k;
        t->raw[t->count] = all->raw_bytes[k];
        t->unpacked[t->count++] = all->unpacked_bytes[k];
    }
    t->list.chosen = t->chosen;
    if (t->count > 0 && !all->in_memory)
        t->buffers = ps_chunk_padded(tiles_largest(t->raw, t->count)) +
                     ps_chunk_padded(tiles_largest(t->unpacked, t->count));
    t->config = (ps_chunk_stream_config){.chunk_count = t->count,
                                         .raw_bytes = t->raw,
                                         .unpacked_bytes = t->unpacked,
                                         .unpackers = summation_unpackers(),
                                         .in_place = tiles_in_place(all),
                                         .context = &t->list,
                                         .read = tiles_read,
                                         .unpack = tiles_unpack};
    return PS_OK;
}

/* Half of the memory keeps tiles for the second pass, if they can be streamed with that. Whatever
 * there is, a tile at a time is counted, so that a refusal knows what is needed. */
static ps_status count_tiles(near_tally *t, int64_t memory)
{
    PS_TRY(choose_tiles(t));
    if (t->count > 0 && !t->list.tiles->placed) {
        t->config.host_memory = (memory - t->scratch_bytes) / 2;
        if (t->config.host_memory < t->buffers) t->config.host_memory = t->buffers;
        PS_TRY(ps_chunk_stream_open(&t->config, &t->stream));
    }
    PS_TRY(sweep(t));
    return t->making->measure(t);
}

static ps_status check_room(const near_tally *t, int64_t memory)
{
    int64_t bytes = near_least(t);
    if (bytes <= memory) return PS_OK;
    return ps_fail(PS_EXHAUSTED,
                   "the near matrices of a group of %lld steps need %.1f MB, %.1f MB are left: "
                   "raise --host-memory by %.1f MB or lower --group",
                   (long long)t->group, (double)bytes / 1e6, (double)memory / 1e6,
                   (double)(bytes - memory) / 1e6);
}

/* The stream that held all it could of the first pass, or, where the matrices need its memory,
 * another one. */
static ps_status fill_tiles(near_tally *t, int64_t memory)
{
    PS_TRY(check_room(t, memory));
    int64_t left = memory - t->bytes - t->work - t->scratch_bytes;
    if (t->stream && t->config.host_memory > left && !t->config.in_place) {
        t->config.host_memory = left;
        t->config.one_pass = true;
        ps_chunk_stream_close(&t->stream);
        PS_TRY(ps_chunk_stream_open(&t->config, &t->stream));
    }
    PS_TRY(t->making->begin_filling(t));
    t->pass = 1;
    return sweep(t);
}

int64_t near_bytes(const near_tally *t) { return t->bytes + t->work; }

int64_t near_least(const near_tally *t)
{
    return t->bytes + t->work + t->scratch_bytes + t->buffers;
}

void near_forget(near_tally **tally)
{
    near_tally *t = *tally;
    if (!t) return;
    ps_chunk_stream_close(&t->stream);
    tiles_close(&t->whole);
    PS_FREE(t->chosen, t->raw, t->unpacked, t->scratch);
    near_close(&t->near);
    near_release(&t->rows);
    free(t);
    *tally = NULL;
}

/* ---- by warps ---- */

/* What passes over the matrices work on, beside them. */
static int64_t work_bytes(int64_t unknowns, int64_t group, ps_precision precision)
{
    return unknowns * group * (int64_t)sizeof(double) +
           ps_radiation_past_bytes(unknowns, group, precision);
}

static void take_warps(near_tally *t, const ps_slice_product *tile)
{
    ps_near_build_take(&t->build, tile);
}

static ps_status measure_warps(near_tally *t)
{
    const ps_packed_near *packed = &t->near.packed;
    PS_TRY(ps_near_build_measure(&t->build));
    t->bytes = ps_packed_near_bytes(packed);
    t->work = work_bytes(packed->unknowns, packed->group, packed->precision);
    return PS_OK;
}

static ps_status fill_warps(near_tally *t)
{
    PS_TRY(ps_alloc_untouched(&t->near.memory, t->bytes, "the near matrices"));
    ps_packed_near_attach(&t->near.packed, t->near.memory);
    ps_near_build_fill(&t->build);
    return PS_OK;
}

static const near_making warps = {{take_warps, take_warps}, measure_warps, fill_warps};

static ps_status begin(const near_making *making, int64_t group, near_tally **out)
{
    PS_TRY(PS_ALLOC(out, 1, "the near matrices"));
    (*out)->making = making;
    (*out)->group = group;
    return PS_OK;
}

ps_status near_count_warps(tiles *from, int64_t group, int64_t memory, near_tally **out)
{
    int64_t rows = from->header.unknowns;
    ps_precision precision = from->header.precision;
    PS_TRY(begin(&warps, group, out));
    near_tally *t = *out;
    t->list.tiles = from;
    t->near.packed = (ps_packed_near){.unknowns = rows, .group = group, .precision = precision};
    t->scratch_bytes = ps_near_build_bytes(rows, group, precision);
    PS_TRY(ps_alloc_untouched(&t->scratch, t->scratch_bytes, "building the near matrices"));
    ps_near_build_init(&t->build, &t->near.packed, t->scratch);
    return count_tiles(t, memory);
}

ps_status near_open(near_tally **tally, int64_t memory, const void *recent, near_matrices *out)
{
    near_tally *t = *tally;
    const ps_packed_near *p = &out->packed;
    ps_status status = fill_tiles(t, memory);
    if (status == PS_OK) {
        ps_near_build_finish(&t->build);
        *out = t->near;
        t->near = (near_matrices){.memory = NULL};
        out->bytes = near_bytes(t);
        out->radiation = (ps_radiation){.near = p, .recent = recent};
    }
    near_forget(tally);
    PS_TRY(status);
    PS_TRY(PS_ALLOC(&out->radiation.owed, p->unknowns * p->group, "the radiation"));
    return ps_alloc_untouched(&out->radiation.past,
                              ps_radiation_past_bytes(p->unknowns, p->group, p->precision),
                              "the radiation");
}

void near_close(near_matrices *near)
{
    PS_FREE(near->memory, near->radiation.owed, near->radiation.past);
    memset(near, 0, sizeof *near);
}

/* ---- as compressed rows ---- */

static int64_t row_start_count(const ps_near *near)
{
    return (near->group - 1) * (near->unknowns + 1);
}

static void count_rows(near_tally *t, const ps_slice_product *tile)
{
    ps_near_count(&t->rows, tile);
}

static void fill_rows(near_tally *t, const ps_slice_product *tile) { ps_near_fill(&t->rows, tile); }

/* Root.c packs them on the host: as many values again, with their padding. */
static ps_status measure_rows(near_tally *t)
{
    int64_t entries = ps_near_starts(&t->rows), item = ps_real_bytes(t->rows.precision);
    t->bytes = entries * ((int64_t)sizeof(int32_t) + item);
    t->work = PACKED_PADDING * entries * item;
    return PS_OK;
}

/* Left as it comes: every entry that was counted is filled, by the threads that own its rows.
 * Zeros written before, by one thread, took longer than the filling. */
static ps_status begin_rows(near_tally *t)
{
    ps_near *near = &t->rows;
    int64_t entries = ps_near_entries(near);
    PS_TRY(ps_alloc_buffer((void **)&near->columns, entries * (int64_t)sizeof *near->columns,
                           "the near matrices"));
    return ps_alloc_buffer(&near->values, entries * ps_real_bytes(near->precision),
                           "the near matrices");
}

static const near_making compressed = {{count_rows, fill_rows}, measure_rows, begin_rows};

ps_status near_count_rows(const char *matrix, tiles *from, int64_t group, int64_t memory,
                          near_tally **out)
{
    PS_TRY(begin(&compressed, group, out));
    near_tally *t = *out;
    if (!from->in_memory) PS_TRY(tiles_open_whole(matrix, &t->whole));
    t->list.tiles = from->in_memory ? from : &t->whole;
    t->rows = (ps_near){
        .unknowns = from->header.unknowns, .group = group, .precision = from->header.precision};
    t->scratch_bytes = row_start_count(&t->rows) * (int64_t)sizeof *t->rows.row_start;
    PS_TRY(PS_ALLOC(&t->rows.row_start, row_start_count(&t->rows), "the near matrices"));
    return count_tiles(t, memory);
}

ps_status near_collect(near_tally **tally, int64_t memory, ps_near *near)
{
    near_tally *t = *tally;
    ps_status status = fill_tiles(t, memory);
    *near = (ps_near){.row_start = NULL};
    if (status == PS_OK) {
        ps_near_finish(&t->rows);
        *near = t->rows;
        t->rows = (ps_near){.row_start = NULL};
    }
    near_forget(tally);
    return status;
}

void near_release(ps_near *near)
{
    PS_FREE(near->row_start, near->columns, near->values);
    memset(near, 0, sizeof *near);
}
