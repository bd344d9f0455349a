/* Leaves by a CUDA device, wave after wave of chunks. */
#include <stdio.h>
#include <stdlib.h>

#include "stage/hbem_assembly/leaf_waves.h"
#include "runtime/first_failure.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/program.h"

/* Ranks of far leaves have room for these: more is done by the cores. Laplace needs 20 at 1e-6.
 * WAVE_BYTES: expected of the chunks of a wave, which fills a device; of which several follow each
 * other, so that one is written while the next is computed. */
enum { RANK_LAPLACE = 64, RANK_WAVES = PS_HBEM_DEVICE_RANK_MAX, WAVE_BYTES = 1 << 30 };

int ps_leaf_waves_rank_limit(const cuda_backend *b)
{
    int most = b->op.wavenumber != 0 ? RANK_WAVES : RANK_LAPLACE;
    return b->base.assembly->max_rank < most ? (int)b->base.assembly->max_rank : most;
}

/* ---- memory ---- */

ps_status ps_leaf_waves_grow(cuda_backend *b, room *r, int64_t bytes)
{
    if (bytes <= r->bytes) return PS_OK;
    double start = ps_clock();
    ps_device_free(b->device, r->base);
    *r = (room){0};
    PS_TRY(ps_device_alloc(b->device, bytes, &r->base));
    r->bytes = bytes;
    b->allocating += ps_clock() - start;
    return PS_OK;
}

ps_status ps_leaf_waves_grow_pinned(cuda_backend *b, room *r, int64_t bytes)
{
    if (bytes <= r->bytes) return PS_OK;
    ps_device_free_pinned(b->device, r->base);
    *r = (room){0};
    PS_TRY(ps_device_alloc_pinned(b->device, bytes, &r->base));
    r->bytes = bytes;
    return PS_OK;
}

/* ---- waves ---- */

/* Numbers that the leaves of each chunk of [first, end) take at most: most[end - first]. */
static void bound_chunks(const cuda_backend *b, int64_t first, int64_t end, int64_t *most)
{
    const ps_hmatrix_leaf *leaves = b->base.assembly->leaves;
    int rank = ps_leaf_waves_rank_limit(b);
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t c = first; c < end; ++c) {
        most[c - first] = 0;
        for (int64_t l = b->chunks->first[c]; l < b->chunks->first[c + 1]; ++l)
            most[c - first] += ps_hbem_device_leaf_numbers(&b->op, &leaves[l], rank);
    }
}

/* By how much leaves together may pass what was expected of them: those of waves, which are cut by
 * the ranks that are expected, by 2 to 12 % where it was measured; ranks of Laplace's kernel are
 * known less well. Room that stays empty makes waves small, which wait for their largest leaves. */
static double slack(const cuda_backend *b) { return b->op.wavenumber != 0 ? 1.5 : 2; }

/* What a chunk may well take: ranks at the limit everywhere are many times those that there are. */
static int64_t likely(const cuda_backend *b, int64_t most)
{
    int64_t more = (int64_t)(slack(b) * (double)(b->chunk_bytes / b->item_bytes));
    return most < more ? most : more;
}

/* The end of the wave that begins at `chunk`: so many chunks that a device is full (all, where
 * values stay there), as the arena is likely to hold, and one at least. */
static int64_t wave_end(const cuda_backend *b, int64_t chunk, int64_t end, const int64_t *most,
                        int64_t *bytes)
{
    bool stays = b->taker->take_wave;
    int64_t fits = b->memory / (stays ? 2 : 4), numbers = likely(b, most[0]), at = 1;
    int64_t wanted = stays ? end : (WAVE_BYTES + b->chunk_bytes - 1) / b->chunk_bytes;
    while (chunk + at < end && at < wanted &&
           (numbers + likely(b, most[at])) * b->item_bytes <= fits)
        numbers += likely(b, most[at++]);
    if (at == 1) numbers = most[0];
    *bytes = numbers * b->item_bytes;
    if (*bytes > fits) *bytes = fits; /* of one chunk, whose ranks are lower */
    return chunk + at;
}

/* What leaves may take at most is many times what they do, and costs time to allocate: where there
 * is one arena, it begins with what they may well take. */
static int64_t first_arena(const cuda_backend *b, int64_t most)
{
    double few = 1.5 * (slack(b) * (double)b->expected) + (64 << 20);
    return b->expected > 0 && few < (double)most ? (int64_t)few : most;
}

/* Within an arena of `most` bytes where the present one turns out too small. */
static ps_status compute(cuda_backend *b, wave *w, int64_t most)
{
    ps_status status = ps_leaf_wave_compute(b, w);
    if (status != PS_EXHAUSTED || b->there[PLACE_ARENA].bytes >= most) return status;
    ps_debug("%s: once more with %.2f GB for results", b->label, 1e-9 * (double)most);
    PS_TRY(ps_leaf_waves_grow(b, &b->there[PLACE_ARENA], most));
    return ps_leaf_wave_compute(b, w);
}

/* Computes the wave [chunk, *end) beside the handing over of the one before, and has it handed
 * over; half of it, and so on, where its values do not fit. */
static ps_status do_wave(cuda_backend *b, int64_t chunk, int64_t *end, int64_t most)
{
    wave *w = &b->waves[b->wave_count++ % 2];
    double start = ps_clock();
    w->chunk = chunk;
    w->end = *end;
    ps_status status = compute(b, w, most);
    while (status == PS_EXHAUSTED && w->end - chunk > 1) {
        w->end = chunk + (w->end - chunk) / 2;
        ps_debug("%s: once more with %lld chunks", b->label, (long long)(w->end - chunk));
        status = compute(b, w, most);
    }
    PS_TRY(status);
    *end = w->end;
    double done = ps_clock();
    b->base.computing += done - start;
    if (b->taker->take_wave) return ps_leaf_waves_hand_on_device(b, w);
    PS_TRY(ps_background_wait(&b->hand));
    b->waiting += ps_clock() - done;
    b->handing = w;
    return ps_background_start(&b->hand, ps_leaf_waves_hand_over, b,
                               "a thread that hands chunks over");
}

static ps_status do_waves(cuda_backend *b, int64_t first, int64_t end, const int64_t *most)
{
    int64_t largest = 0, bytes;
    for (int64_t chunk = first; chunk < end;) {
        chunk = wave_end(b, chunk, end, most + chunk - first, &bytes);
        largest = bytes > largest ? bytes : largest;
    }
    PS_TRY(ps_leaf_waves_grow(b, &b->there[PLACE_ARENA], first_arena(b, largest)));
    for (int64_t chunk = first, next; chunk < end; chunk = next) {
        next = wave_end(b, chunk, end, most + chunk - first, &bytes);
        PS_TRY(do_wave(b, chunk, &next, bytes));
    }
    return PS_OK;
}

static ps_status assemble(ps_leaf_backend *backend, const ps_hmatrix_chunks *chunks, int64_t first,
                          int64_t end, const ps_leaf_taker *taker)
{
    cuda_backend *b = (cuda_backend *)backend;
    int64_t *most;
    b->chunks = chunks;
    b->taker = taker;
    PS_TRY(PS_ALLOC(&most, end - first, "chunks"));
    bound_chunks(b, first, end, most);
    ps_failure failure = {0};
    ps_note_failure(&failure, do_waves(b, first, end, most));
    double start = ps_clock();
    ps_note_failure(&failure, ps_background_wait(&b->hand));
    b->waiting += ps_clock() - start;
    free(most);
    return ps_first_failure(&failure);
}

/* ---- opening and closing ---- */

static void free_device(cuda_backend *b)
{
    ps_leaf_tables_close(&b->tables);
    for (int i = 0; i < PLACES; ++i) ps_device_free(b->device, b->there[i].base);
    for (int i = 0; i <= PS_LEAF_CHUNKS_KEPT; ++i)
        ps_device_free_pinned(b->device, b->pinned[i].base);
}

static void close_cuda(ps_leaf_backend *backend)
{
    cuda_backend *b = (cuda_backend *)backend;
    ps_debug(
        "%s: %lld waves, computing %.3f s (allocating %.3f s), waiting for chunks to be handed "
        "over %.3f s (copying %.3f s); %lld leaves by the cores",
        b->label, (long long)b->wave_count, b->base.computing, b->allocating, b->waiting,
        b->copying, (long long)b->left);
    if (b->device) free_device(b);
    for (int w = 0; w < 2; ++w) ps_leaf_wave_release(b, &b->waves[w]);
    ps_event_close(&b->turn);
    ps_stream_close(&b->near);
    ps_stream_close(&b->copies);
    ps_stream_close(&b->stream);
    ps_device_close(&b->device);
    free(b->counts);
    free(b->close_first);
    free(b);
}

/* Pinned memory for chunks as they are expected to be, and half as much again: a device that is at
 * work keeps one that pins waiting. */
static ps_status pin_places(void *backend)
{
    enum { PINNED_MOST = 256 << 20 };
    cuda_backend *b = backend;
    int64_t bytes = b->chunk_bytes + b->chunk_bytes / 2;
    if (bytes > PINNED_MOST) return PS_OK;
    for (int64_t p = 0; p <= PS_LEAF_CHUNKS_KEPT && p < b->planned; ++p)
        PS_TRY(ps_leaf_waves_grow_pinned(b, &b->pinned[p], bytes));
    return PS_OK;
}

static ps_status set_operator(cuda_backend *b, const ps_leaf_device *device)
{
    const ps_hbem_assembly *assembly = b->base.assembly;
    const ps_hbem_operator *op = assembly->op;
    if (!device->tables)
        PS_TRY(ps_leaf_tables_open(b->device, assembly, device->test, device->trial, &b->tables));
    b->op = ps_leaf_tables_operator(device->tables ? device->tables : b->tables);
    b->op.kernel = op->kernel;
    b->op.wavenumber = op->wavenumber;
    b->op.absorption = op->absorption;
    b->op.precision = op->far_precision;
    return PS_OK;
}

static ps_status open_device(cuda_backend *b, const ps_leaf_device *device)
{
    PS_TRY(ps_device_open(b->label, 0, &b->device));
    PS_TRY(ps_stream_open(b->device, &b->stream));
    PS_TRY(ps_stream_open_ahead(b->device, &b->copies));
    PS_TRY(ps_stream_open_ahead(b->device, &b->near));
    PS_TRY(ps_event_open(b->device, &b->turn));
    PS_TRY(ps_background_start(&b->hand, pin_places, b, "a thread that pins memory"));
    ps_failure failure = {0};
    ps_note_failure(&failure, set_operator(b, device));
    if (!ps_has_failed(&failure)) ps_note_failure(&failure, ps_hbem_device_load(&b->op, b->stream));
    ps_note_failure(&failure, ps_background_wait(&b->hand));
    PS_TRY(ps_first_failure(&failure));
    int64_t left = ps_device_describe(b->device).memory_free;
    b->memory = device->memory > 0 && device->memory < left ? device->memory : left;
    return PS_OK;
}

ps_status ps_leaf_backend_check_cuda(const ps_hbem_assembly *assembly, const ps_leaf_device *device)
{
    const ps_hbem_operator *op = assembly->op;
    ps_hbem_device_side side;
    if (op->quadrature->rule[0].count != 6)
        return ps_fail(PS_USAGE, "--rules: the device takes rules whose first one has 6 points");
    if (op->kernel == PS_KERNEL_HYPS && op->weak_far)
        return ps_fail(PS_USAGE, "--hyps weak is for the cores: --device cpu");
    PS_TRY(ps_hbem_device_side_count(op->test, device->test, NULL, &side));
    return device->trial == device->test
               ? PS_OK
               : ps_hbem_device_side_count(op->trial, device->trial, NULL, &side);
}

int64_t ps_leaf_backend_bytes_cuda(const ps_hbem_assembly *assembly, int64_t chunk_bytes)
{
    /* Of leaves in two waves: places, blocks, lists, ranges; of one: close pairs. */
    enum { BYTES_A_LEAF = 2 * (16 + 16 + 3 * 4 + 24) + 12, DRIVER_BYTES = 256 << 20 };
    int64_t leaves = assembly->leaf_count;
    return DRIVER_BYTES + BYTES_A_LEAF * leaves + (PS_LEAF_CHUNKS_KEPT + 1) * chunk_bytes;
}

ps_status ps_leaf_backend_open_cuda(const ps_hbem_assembly *assembly, const ps_hmatrix *shape,
                                    const ps_leaf_device *device, ps_leaf_backend **out)
{
    cuda_backend *b;
    *out = NULL;
    PS_TRY(PS_ALLOC(&b, 1, "a device"));
    snprintf(b->label, sizeof b->label, "cuda:%d", device->ordinal);
    b->base = (ps_leaf_backend){.name = b->label,
                                .kept = PS_LEAF_CHUNKS_KEPT,
                                .assemble = assemble,
                                .release = ps_leaf_waves_release_chunk,
                                .close = close_cuda,
                                .assembly = assembly,
                                .shape = shape};
    b->chunk_bytes = device->chunk_bytes;
    b->planned = device->chunks;
    b->expected = device->expected;
    b->item_bytes = assembly->op->far_precision == PS_SINGLE ? 4 : 8;
    ps_status status = open_device(b, device);
    if (status == PS_OK)
        *out = &b->base;
    else
        close_cuda(&b->base);
    return status;
}
