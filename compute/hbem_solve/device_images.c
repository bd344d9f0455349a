#include "compute/hbem_solve/device_images.h"

#include <stdlib.h>

#include "kernels/common/reals.h"
#include "kernels/hbem/product_images.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

/* Images of consecutive chunks in one piece of device memory. */
typedef struct piece {
    int64_t first, count, bytes; /* chunks, from the first of the images */
    char *base;
} piece;

struct device_images {
    device_images_config config;
    ps_hmatrix view; /* the leaves of these chunks */
    int64_t item_bytes, *chunk_first;
    ps_product_tables tables; /* tiles alone */
    int32_t *marks, *host_map[2];
    void *map[2];
    ps_stream *stream;
    piece *pieces;
    int64_t piece_count, piece_room, bytes;
};

/* ---- opening ---- */

static ps_status make_tiles(device_images *m)
{
    const device_images_config *c = &m->config;
    int64_t count = c->end_chunk - c->first_chunk, first = c->cuts->first[c->first_chunk];
    m->view = *c->shape;
    m->view.leaves += first;
    m->view.blocks += first;
    m->view.leaf_count = c->cuts->first[c->end_chunk] - first;
    m->item_bytes = ps_real_bytes(c->shape->precision);
    PS_TRY(PS_ALLOC(&m->chunk_first, count + 1, "chunks of an H-matrix"));
    for (int64_t i = 0; i <= count; ++i)
        m->chunk_first[i] = c->cuts->first[c->first_chunk + i] - first;
    PS_TRY(PS_ALLOC(&m->marks, ps_product_marks(&m->view), "tiles of an H-matrix"));
    ps_product_tiles_measure(&m->tables, &m->view, count, m->chunk_first, m->marks);
    return PS_OK;
}

static ps_status send_maps(device_images *m)
{
    PS_TRY(ps_stream_open(m->config.device, &m->stream));
    for (int side = 0; side < 2; ++side) {
        int64_t functions = side ? m->view.columns : m->view.rows;
        PS_TRY(PS_ALLOC(&m->host_map[side], functions, "places of functions"));
        ps_product_place_map(&m->tables, side, m->host_map[side]);
        PS_TRY(ps_copy_to_new(m->stream, m->host_map[side], 4 * functions, &m->map[side]));
    }
    return PS_OK;
}

ps_status device_images_open(const device_images_config *config, device_images **out)
{
    PS_TRY(PS_ALLOC(out, 1, "an H-matrix on a device"));
    (*out)->config = *config;
    ps_status status = make_tiles(*out);
    if (status == PS_OK) status = send_maps(*out);
    if (status != PS_OK) device_images_close(out);
    return status;
}

void device_images_close(device_images **images)
{
    device_images *m = *images;
    *images = NULL;
    if (!m) return;
    for (int64_t p = 0; p < m->piece_count; ++p)
        ps_device_free(m->config.device, m->pieces[p].base);
    for (int side = 0; side < 2; ++side) {
        ps_device_free(m->config.device, m->map[side]);
        free(m->host_map[side]);
    }
    ps_stream_close(&m->stream);
    PS_FREE(m->pieces, m->chunk_first, m->marks, m);
}

/* ---- memory ---- */

/* Bytes of each leaf's image, and where those of `count` chunks begin: at[leaves of them]. Returns
 * the bytes of all. */
static int64_t place_leaves(const device_images *m, int64_t chunk, int64_t count, int64_t *at)
{
    int64_t bytes = 0, first = m->chunk_first[chunk];
    for (int64_t c = chunk; c < chunk + count; ++c) {
        for (int64_t l = m->chunk_first[c]; l < m->chunk_first[c + 1]; ++l) {
            at[l - first] = bytes;
            bytes += ps_product_leaf_bytes(&m->tables, l);
        }
        bytes = ps_device_padded(bytes);
    }
    return bytes;
}

static ps_status too_large(const device_images *m, int64_t more)
{
    return ps_fail(PS_EXHAUSTED,
                   "%s: the device has %.2f GB for it, it takes more than %.2f: give more "
                   "--device-memory, or write it to files by penstock-hmatrix-assemble, which are "
                   "streamed",
                   m->config.name, 1e-9 * (double)m->config.budget,
                   1e-9 * (double)(m->bytes + more));
}

/* A piece of zeros for chunks. */
static ps_status take_piece(device_images *m, int64_t chunk, int64_t count, int64_t bytes)
{
    if (m->bytes + bytes > m->config.budget) return too_large(m, bytes);
    PS_TRY(ps_grow((void **)&m->pieces, &m->piece_room, m->piece_count + 1, sizeof *m->pieces,
                   "pieces of an H-matrix"));
    piece *own = &m->pieces[m->piece_count];
    *own = (piece){.first = chunk, .count = count, .bytes = bytes};
    PS_TRY(ps_device_alloc(m->config.device, bytes, (void **)&own->base));
    ++m->piece_count;
    m->bytes += bytes;
    return ps_fill_zero(m->stream, own->base, bytes);
}

/* ---- leaves ---- */

/* One at a time from the host. */
static ps_status send_leaf(device_images *m, int64_t leaf, const void *values, char *to)
{
    int64_t count = ps_product_moves_count(&m->tables, leaf);
    int64_t bytes = ps_product_leaf_bytes(&m->tables, leaf);
    PS_SCOPED_MEMORY ps_product_move *moves = NULL;
    PS_SCOPED_MEMORY void *image = NULL;
    PS_TRY(PS_ALLOC(&moves, count, "a leaf"));
    PS_TRY(ps_alloc(&image, bytes, 1, "a leaf"));
    ps_product_moves_fill(&m->tables, leaf, 0, 0, moves);
    ps_product_images images = {.item_bytes = (int)m->item_bytes,
                                .count = count,
                                .moves = moves,
                                .map = {m->host_map[0], m->host_map[1]},
                                .from = values,
                                .to = image};
    PS_TRY(ps_product_images_run(&images, NULL));
    PS_TRY(ps_copy_to_device(m->stream, to, image, bytes));
    return ps_stream_wait(m->stream);
}

/* Moves of the wave's leaves that are on the device; from: in its arena. NULL: counts. */
static int64_t list_moves(const device_images *m, const ps_leaf_wave *wave, int64_t first,
                          const int64_t *at, ps_product_move *moves)
{
    int64_t count = 0;
    for (int64_t l = 0; l < wave->run->leaf_count; ++l) {
        if (wave->run->blocks[l].values || wave->run->blocks[l].rank == 0) continue;
        if (moves)
            ps_product_moves_fill(&m->tables, first + l, wave->places[l].from,
                                  at[l] / m->item_bytes, moves + count);
        count += ps_product_moves_count(&m->tables, first + l);
    }
    return count;
}

static ps_status move_leaves(device_images *m, const ps_leaf_wave *wave, int64_t first,
                             const int64_t *at)
{
    ps_device *device = m->config.device;
    ps_product_move *moves = NULL;
    void *there = NULL;
    int64_t count = list_moves(m, wave, first, at, NULL);
    int64_t bytes = count * (int64_t)sizeof *moves;
    PS_TRY(PS_ALLOC(&moves, count, "moves of leaves"));
    list_moves(m, wave, first, at, moves);
    ps_status status = ps_device_alloc(device, bytes, &there);
    if (status == PS_OK) status = ps_copy_to_device(m->stream, there, moves, bytes);
    ps_product_images images = {.item_bytes = (int)m->item_bytes,
                                .count = count,
                                .moves = there,
                                .map = {m->map[0], m->map[1]},
                                .from = wave->arena,
                                .to = m->pieces[m->piece_count - 1].base};
    if (status == PS_OK) status = ps_product_images_run(&images, m->stream);
    if (status == PS_OK) status = ps_stream_wait(m->stream);
    ps_device_free(device, there);
    free(moves);
    return status;
}

/* Room for chunks whose blocks are `run`, and their leaves' places in it. */
static ps_status make_room(device_images *m, int64_t chunk, int64_t end, const ps_hmatrix *run,
                           int64_t **at)
{
    int64_t local = chunk - m->config.first_chunk, first = m->chunk_first[local];
    for (int64_t l = 0; l < run->leaf_count; ++l) {
        m->view.blocks[first + l] = run->blocks[l];
        m->view.blocks[first + l].values = NULL;
    }
    PS_TRY(PS_ALLOC(at, run->leaf_count, "leaves of an H-matrix"));
    return take_piece(m, local, end - chunk, place_leaves(m, local, end - chunk, *at));
}

/* Leaves that are on the host. */
static ps_status send_leaves(device_images *m, int64_t first, const ps_hmatrix *run,
                             const int64_t *at)
{
    char *base = m->pieces[m->piece_count - 1].base;
    for (int64_t l = 0; l < run->leaf_count; ++l)
        if (run->blocks[l].values && run->blocks[l].rank != 0)
            PS_TRY(send_leaf(m, first + l, run->blocks[l].values, base + at[l]));
    return ps_stream_wait(m->stream);
}

ps_status device_images_take_wave(device_images *m, const ps_leaf_wave *wave)
{
    int64_t first = m->chunk_first[wave->chunk - m->config.first_chunk];
    PS_SCOPED_MEMORY int64_t *at = NULL;
    PS_TRY(make_room(m, wave->chunk, wave->end, wave->run, &at));
    PS_TRY(move_leaves(m, wave, first, at));
    return send_leaves(m, first, wave->run, at);
}

ps_status device_images_take_chunk(device_images *m, const ps_leaf_chunk *chunk)
{
    int64_t first = m->chunk_first[chunk->chunk - m->config.first_chunk];
    PS_SCOPED_MEMORY int64_t *at = NULL;
    PS_TRY(make_room(m, chunk->chunk, chunk->chunk + 1, &chunk->run, &at));
    return send_leaves(m, first, &chunk->run, at);
}

/* ---- use ---- */

ps_status device_images_locate(const device_images *m, const ps_product_device *work,
                               ps_stream *stream)
{
    for (int64_t p = 0; p < m->piece_count; ++p)
        PS_TRY(ps_product_device_locate(work, m->pieces[p].first, m->pieces[p].count,
                                        m->pieces[p].base, stream));
    return PS_OK;
}

int64_t device_images_bytes(const device_images *m) { return m->bytes; }
