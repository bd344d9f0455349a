/* hmatrix_read: an H-matrix read, whole or by chunks. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "formats/hmatrix_internal.h"
#include "runtime/chunk_plan.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

/* Parts kept open between sweeps; more are opened for every read. */
enum { OPEN_PARTS = 256 };

struct ps_hmatrix_file {
    ps_store *store;
    ps_hmatrix_header header;
    int64_t generation; /* of the parts */
    ps_cluster_tree tree[2];
    ps_cluster_leaves nodes;
    ps_hmatrix_arrays arrays;
    ps_hmatrix_leaf *leaves;
    ps_hmatrix_chunks chunks;
    ps_hmatrix_overview overview;
    int64_t *raw, *unpacked; /* [chunks] bytes, for streams */
    ps_store **part;         /* [chunks] open ones; NULL    */
    int64_t open;
    pthread_mutex_t lock; /* guards part and open */
};

/* ---- opening ---- */

static int64_t item_bytes(const ps_hmatrix_file *f)
{
    return f->header.precision == PS_SINGLE ? 4 : 8;
}

static ps_status read_trees(ps_hmatrix_file *f)
{
    PS_TRY(ps_hmatrix_header_get(f->store, &f->header));
    if (ps_store_has(f->store, "/", "generation"))
        PS_TRY(ps_store_get_int(f->store, "/", "generation", &f->generation));
    PS_TRY(ps_cluster_tree_get(f->store, "/test", &f->tree[0]));
    if (f->header.same)
        f->tree[1] = f->tree[0];
    else
        PS_TRY(ps_cluster_tree_get(f->store, "/trial", &f->tree[1]));
    return ps_cluster_leaves_get(f->store, &f->tree[0], &f->tree[1], f->header.symmetric,
                                 &f->nodes);
}

static ps_status read_arrays(ps_hmatrix_file *f)
{
    int64_t chunks;
    PS_TRY(ps_store_get_int(f->store, "/parts", "count", &chunks));
    if (chunks < 1 || chunks > f->nodes.count)
        return ps_fail(PS_INVALID, "%s: %lld chunks", ps_store_path(f->store), (long long)chunks);
    f->arrays = (ps_hmatrix_arrays){.leaves = f->nodes.count, .chunks = chunks};
    PS_TRY(ps_hmatrix_arrays_pass(f->store, &f->arrays, ps_columns_load));
    PS_TRY(PS_ALLOC(&f->leaves, f->nodes.count, "leaves of an H-matrix"));
    for (int64_t l = 0; l < f->nodes.count; ++l)
        f->leaves[l] = ps_cluster_leaf_at(&f->nodes, &f->tree[0], &f->tree[1], l);
    return PS_OK;
}

static ps_status fill_overview(ps_hmatrix_file *f)
{
    f->chunks = (ps_hmatrix_chunks){f->arrays.chunks, f->arrays.first};
    f->overview = (ps_hmatrix_overview){.shape = {.rows = f->tree[0].dofs,
                                                  .columns = f->tree[1].dofs,
                                                  .leaf_count = f->nodes.count,
                                                  .parts = f->header.wavenumber != 0 ? 2 : 1,
                                                  .symmetric = f->header.symmetric,
                                                  .precision = f->header.precision,
                                                  .leaves = f->leaves},
                                        .xxh3 = f->arrays.xxh3,
                                        .numbers = f->arrays.numbers,
                                        .stored = f->arrays.stored};
    PS_TRY(ps_hmatrix_init(&f->overview.shape));
    for (int64_t l = 0; l < f->nodes.count; ++l) {
        const ps_hmatrix_leaf *at = &f->leaves[l];
        int64_t m = at->row_end - at->row_begin, n = at->column_end - at->column_begin;
        int32_t rank = f->arrays.rank[l];
        if (rank < PS_RANK_DENSE || rank > (m < n ? m : n) || !(f->arrays.error[l] >= 0))
            return ps_fail(PS_INVALID, "%s: leaf %lld of %lld x %lld has rank %d, error %g",
                           ps_store_path(f->store), (long long)l, (long long)m, (long long)n, rank,
                           f->arrays.error[l]);
        f->overview.shape.blocks[l] = (ps_hmatrix_block){.rank = rank, .error = f->arrays.error[l]};
    }
    return PS_OK;
}

/* What is stored of a chunk lies in its part, so the tables cannot ask for more memory than that.
 */
static ps_status check_stored(const ps_hmatrix_file *f, int64_t c)
{
    char name[4096];
    struct stat part;
    ps_store_part_path(ps_store_path(f->store), f->generation, (int)c, name);
    if (stat(name, &part) == 0 && f->arrays.stored[c] >= 0 && f->arrays.stored[c] <= part.st_size)
        return PS_OK;
    return ps_fail(PS_INVALID, "%s: chunk %lld stores %lld bytes, which its part does not hold",
                   ps_store_path(f->store), (long long)c, (long long)f->arrays.stored[c]);
}

static ps_status check_chunk(ps_hmatrix_file *f, int64_t c)
{
    int64_t first = f->chunks.first[c], end = f->chunks.first[c + 1], numbers = 0;
    bool good = first < end && end <= f->nodes.count && (c > 0 || first == 0) &&
                (c + 1 < f->chunks.count || end == f->nodes.count);
    for (int64_t l = first; good && l < end; ++l)
        numbers += ps_hmatrix_padded(&f->overview.shape, l, f->arrays.rank[l]);
    f->unpacked[c] = ps_padded(numbers * item_bytes(f)) + 128;
    good = good && numbers == f->arrays.numbers[c];
    if (good && ps_hmatrix_part_exists(ps_store_path(f->store), f->generation, c))
        return check_stored(f, c);
    if (good)
        return ps_fail(PS_INVALID,
                       "%s: the part file of chunk %lld is missing; it belongs beside it",
                       ps_store_path(f->store), (long long)c);
    return ps_fail(PS_INVALID, "%s: chunk %lld does not hold what its leaves, %lld to %lld, need",
                   ps_store_path(f->store), (long long)c, (long long)first, (long long)end);
}

static ps_status check_chunks(ps_hmatrix_file *f)
{
    PS_TRY(PS_ALLOC(&f->raw, f->chunks.count, "chunks of an H-matrix"));
    PS_TRY(PS_ALLOC(&f->unpacked, f->chunks.count, "chunks of an H-matrix"));
    PS_TRY(PS_ALLOC(&f->part, f->chunks.count, "chunks of an H-matrix"));
    for (int64_t c = 0; c < f->chunks.count; ++c) {
        PS_TRY(check_chunk(f, c));
        /* Stored pieces begin at multiples of 64 bytes; store chunks have at least 1 MiB. */
        f->raw[c] = ps_padded(f->arrays.stored[c]) +
                    64 * (f->arrays.numbers[c] * item_bytes(f) / (1 << 16) + 2);
    }
    return PS_OK;
}

ps_status ps_hmatrix_open(const char *path, ps_hmatrix_file **out)
{
    ps_hmatrix_file *f;
    *out = NULL;
    PS_TRY(PS_ALLOC(&f, 1, "H-matrix"));
    pthread_mutex_init(&f->lock, NULL);
    ps_status status = ps_store_open(path, PS_HMATRIX_FORMAT, PS_HMATRIX_VERSION, &f->store);
    if (status == PS_OK) status = read_trees(f);
    if (status == PS_OK) status = read_arrays(f);
    if (status == PS_OK) status = fill_overview(f);
    if (status == PS_OK) status = check_chunks(f);
    if (status != PS_OK) ps_hmatrix_close(&f);
    *out = f;
    return status;
}

void ps_hmatrix_close(ps_hmatrix_file **file)
{
    ps_hmatrix_file *f = *file;
    *file = NULL;
    if (!f) return;
    for (int64_t c = 0; f->part && c < f->chunks.count; ++c) ps_store_close(&f->part[c]);
    ps_store_close(&f->store);
    ps_cluster_tree_release(&f->tree[0]);
    if (!f->header.same) ps_cluster_tree_release(&f->tree[1]);
    ps_cluster_leaves_release(&f->nodes);
    ps_hmatrix_arrays_release(&f->arrays);
    ps_hmatrix_release(&f->overview.shape);
    pthread_mutex_destroy(&f->lock);
    PS_FREE(f->leaves, f->raw, f->unpacked, f->part, f);
}

ps_store *ps_hmatrix_store(ps_hmatrix_file *file) { return file->store; }

const ps_hmatrix_header *ps_hmatrix_file_header(const ps_hmatrix_file *file)
{
    return &file->header;
}

const ps_cluster_tree *ps_hmatrix_tree(const ps_hmatrix_file *file, ps_cluster_side side)
{
    return &file->tree[side];
}

const ps_hmatrix_chunks *ps_hmatrix_file_chunks(const ps_hmatrix_file *file)
{
    return &file->chunks;
}

const ps_hmatrix_overview *ps_hmatrix_file_overview(const ps_hmatrix_file *file)
{
    return &file->overview;
}

void ps_hmatrix_values_hash(const ps_hmatrix_file *file, char *out)
{
    size_t bytes = (size_t)file->arrays.leaves * sizeof *file->arrays.xxh3;
    snprintf(out, 17, "%016" PRIx64, (uint64_t)XXH3_64bits(file->arrays.xxh3, bytes));
}

/* ---- chunks ---- */

void ps_hmatrix_chunk_bytes(const ps_hmatrix_file *file, int64_t chunk, int64_t *raw,
                            int64_t *unpacked)
{
    *raw = file->raw[chunk];
    *unpacked = file->unpacked[chunk];
}

static ps_status open_part(ps_hmatrix_file *f, int64_t chunk, ps_store **out)
{
    char hash[17];
    PS_TRY(ps_hmatrix_part_open(ps_store_path(f->store), f->generation, chunk, out));
    ps_status status = ps_store_content_hash(*out, hash);
    if (status == PS_OK && memcmp(hash, f->arrays.content_hash + 16 * chunk, 16) != 0)
        status = ps_fail(PS_INVALID, "%s: is a part of another H-matrix than %s",
                         ps_store_path(*out), ps_store_path(f->store));
    if (status != PS_OK) ps_store_close(out);
    return status;
}

/* The part of a chunk, opened if need be. */
static ps_status use_part(ps_hmatrix_file *f, int64_t chunk, ps_store **out)
{
    pthread_mutex_lock(&f->lock);
    *out = f->part[chunk];
    pthread_mutex_unlock(&f->lock);
    if (*out) return PS_OK;
    PS_TRY(open_part(f, chunk, out));
    pthread_mutex_lock(&f->lock);
    f->part[chunk] = *out;
    ++f->open;
    pthread_mutex_unlock(&f->lock);
    return PS_OK;
}

/* Where too many are open. */
static void leave_part(ps_hmatrix_file *f, int64_t chunk)
{
    PS_SCOPED(ps_store_close) ps_store *closed = NULL;
    pthread_mutex_lock(&f->lock);
    if (f->open > OPEN_PARTS) {
        closed = f->part[chunk];
        f->part[chunk] = NULL;
        --f->open;
    }
    pthread_mutex_unlock(&f->lock);
}

/* Hands the pieces of a chunk's values to `take`: piece, its place in stored form, in numbers. */
typedef struct piece {
    ps_store *store;
    int id;
    int64_t number, raw_offset, raw_end, value_offset, value_bytes;
} piece;

static ps_status for_pieces(ps_hmatrix_file *f, int64_t chunk,
                            ps_status (*take)(const piece *p, void *memory), void *memory)
{
    piece p = {0};
    ps_dataset_info info;
    ps_chunk_info stored;
    if (f->arrays.numbers[chunk] == 0) return PS_OK;
    PS_TRY(use_part(f, chunk, &p.store));
    PS_TRY(ps_store_find(p.store, "/values", &p.id));
    PS_TRY(ps_store_dataset(p.store, p.id, &info));
    if (info.type != (f->header.precision == PS_SINGLE ? PS_F32 : PS_F64) || info.rank != 1 ||
        info.dims[0] != f->arrays.numbers[chunk])
        return ps_fail(PS_INVALID, "%s: /values is not what the tables say",
                       ps_store_path(p.store));
    for (p.number = 0; p.number < info.chunk_count; ++p.number) {
        PS_TRY(ps_store_chunk(p.store, p.id, p.number, &stored));
        p.raw_end = p.raw_offset + ps_padded(stored.stored_bytes);
        if (p.raw_end > f->raw[chunk])
            return ps_fail(PS_INVALID, "%s: stored values are larger than the tables say",
                           ps_store_path(p.store));
        int64_t first = p.number * info.chunk_rows, left = info.dims[0] - first;
        p.value_offset = first * item_bytes(f);
        p.value_bytes = (left < info.chunk_rows ? left : info.chunk_rows) * item_bytes(f);
        PS_TRY(take(&p, memory));
        p.raw_offset = p.raw_end;
    }
    return PS_OK;
}

static ps_status read_piece(const piece *p, void *memory)
{
    return ps_store_read_stored(p->store, p->id, p->number, p->raw_end - p->raw_offset,
                                (char *)memory + p->raw_offset);
}

ps_status ps_hmatrix_read_raw(ps_hmatrix_file *file, int64_t chunk, void *raw)
{
    return for_pieces(file, chunk, read_piece, raw);
}

typedef struct decoding {
    const char *raw;
    char *out;
} decoding;

static ps_status decode_piece(const piece *p, void *memory)
{
    decoding *d = memory;
    return ps_store_decode_values(p->store, p->id, p->number, d->raw + p->raw_offset,
                                  p->value_bytes, d->out + p->value_offset);
}

ps_status ps_hmatrix_unpack(ps_hmatrix_file *file, int64_t chunk, const void *raw, void *unpacked)
{
    decoding d = {raw, unpacked};
    int64_t bytes = file->arrays.numbers[chunk] * item_bytes(file);
    PS_TRY(for_pieces(file, chunk, decode_piece, &d));
    memset((char *)unpacked + bytes, 0, (size_t)(file->unpacked[chunk] - bytes));
    if (file->arrays.numbers[chunk] > 0) leave_part(file, chunk);
    return PS_OK;
}

void ps_hmatrix_view(const ps_hmatrix_file *f, int64_t chunk, const void *unpacked,
                     ps_hmatrix_block *blocks, ps_hmatrix *out)
{
    int64_t first = f->chunks.first[chunk], count = f->chunks.first[chunk + 1] - first, at = 0;
    *out = f->overview.shape;
    out->leaf_count = count;
    out->leaves = f->leaves + first;
    out->blocks = blocks;
    for (int64_t l = 0; l < count; ++l) {
        blocks[l] = f->overview.shape.blocks[first + l];
        blocks[l].values = (char *)unpacked + at * item_bytes(f);
        at += ps_hmatrix_padded(out, l, blocks[l].rank);
    }
}

int64_t ps_hmatrix_most_leaves(const ps_hmatrix_file *f)
{
    int64_t most = 0;
    for (int64_t c = 0; c < f->chunks.count; ++c) {
        int64_t count = f->chunks.first[c + 1] - f->chunks.first[c];
        most = count > most ? count : most;
    }
    return most;
}

static ps_status stream_read(void *context, int64_t chunk, void *raw)
{
    return ps_hmatrix_read_raw(context, chunk, raw);
}

static ps_status stream_unpack(void *context, int64_t chunk, const void *raw, void *unpacked)
{
    return ps_hmatrix_unpack(context, chunk, raw, unpacked);
}

void ps_hmatrix_stream_config(ps_hmatrix_file *file, int64_t host_memory,
                              ps_chunk_stream_config *config)
{
    *config = (ps_chunk_stream_config){.chunk_count = file->chunks.count,
                                       .raw_bytes = file->raw,
                                       .unpacked_bytes = file->unpacked,
                                       .host_memory = host_memory,
                                       .context = file,
                                       .read = stream_read,
                                       .unpack = stream_unpack};
}

/* ---- the whole ---- */

typedef ps_status (*with_chunk)(void *context, int64_t first_leaf, const ps_hmatrix *chunk);

/* A pass over all chunks. */
typedef struct passing {
    ps_hmatrix_file *file;
    ps_hmatrix_block *blocks; /* of a chunk */
    with_chunk take;
    void *context;
} passing;

static ps_status pass_chunk(void *context, int64_t chunk, const void *unpacked)
{
    passing *p = context;
    ps_hmatrix view;
    ps_hmatrix_view(p->file, chunk, unpacked, p->blocks, &view);
    return p->take(p->context, p->file->chunks.first[chunk], &view);
}

/* In the order of the chunks; the next ones are read and unpacked meanwhile, a few at a time. */
static ps_status for_chunks(ps_hmatrix_file *f, with_chunk take, void *context)
{
    enum { AT_ONCE = 4 };
    passing p = {.file = f, .take = take, .context = context};
    ps_chunk_stream_config config;
    ps_chunk_stream *stream;
    int64_t raw = 0, unpacked = 0;
    for (int64_t c = 0; c < f->chunks.count; ++c) {
        raw = f->raw[c] > raw ? f->raw[c] : raw;
        unpacked = f->unpacked[c] > unpacked ? f->unpacked[c] : unpacked;
    }
    int64_t memory = AT_ONCE * (ps_chunk_padded(raw) + ps_chunk_padded(unpacked));
    ps_hmatrix_stream_config(f, memory, &config);
    config.one_pass = true;
    PS_TRY(PS_ALLOC(&p.blocks, ps_hmatrix_most_leaves(f), "a chunk's leaves"));
    ps_status status = ps_chunk_stream_open(&config, &stream);
    if (status == PS_OK) status = ps_chunk_stream_sweep(stream, pass_chunk, &p);
    ps_chunk_stream_close(&stream);
    free(p.blocks);
    return status;
}

static ps_status keep_leaf(const ps_hmatrix *chunk, int64_t leaf, ps_hmatrix_block *to)
{
    int64_t bytes = ps_hmatrix_numbers(chunk, leaf, chunk->blocks[leaf].rank) *
                    (chunk->precision == PS_SINGLE ? 4 : 8);
    *to = chunk->blocks[leaf];
    to->values = NULL;
    PS_TRY(ps_alloc_untouched(&to->values, bytes, "a block of an H-matrix"));
    memcpy(to->values, chunk->blocks[leaf].values, (size_t)bytes);
    return PS_OK;
}

static ps_status keep_chunk(void *context, int64_t first, const ps_hmatrix *chunk)
{
    ps_hmatrix *out = context;
    ps_failure failure = {0};
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t l = 0; l < chunk->leaf_count; ++l)
        ps_note_failure(&failure, keep_leaf(chunk, l, &out->blocks[first + l]));
    return ps_first_failure(&failure);
}

ps_status ps_hmatrix_load(ps_hmatrix_file *file, ps_hmatrix *out)
{
    *out = file->overview.shape;
    PS_TRY(ps_hmatrix_init(out));
    ps_status status = for_chunks(file, keep_chunk, out);
    if (status != PS_OK) ps_hmatrix_release(out);
    return status;
}

/* ---- verification ---- */

static ps_status check_leaves(void *context, int64_t first, const ps_hmatrix *chunk)
{
    const ps_hmatrix_file *f = context;
    int64_t bad = chunk->leaf_count;
#pragma omp parallel for schedule(dynamic, 64) reduction(min : bad)
    for (int64_t l = 0; l < chunk->leaf_count; ++l)
        if ((int64_t)ps_hmatrix_hash(chunk, l) != f->arrays.xxh3[first + l])
            bad = l < bad ? l : bad;
    return bad == chunk->leaf_count
               ? PS_OK
               : ps_fail(PS_INVALID, "%s: the values of leaf %lld differ from its hash",
                         ps_store_path(f->store), (long long)(first + bad));
}

static ps_status verify_store(ps_store *store, bool deep, ps_verify_result *total)
{
    ps_verify_result own = {0};
    ps_status status = ps_store_verify(store, deep, &own);
    total->chunks += own.chunks;
    total->bad_chunks += own.bad_chunks;
    total->bytes += own.bytes;
    if (!total->first_problem[0])
        memcpy(total->first_problem, own.first_problem, sizeof total->first_problem);
    return status;
}

ps_status ps_hmatrix_verify(ps_hmatrix_file *file, bool deep, ps_verify_result *result)
{
    ps_status status = PS_OK;
    for (int64_t c = 0; c < file->chunks.count; ++c) {
        ps_store *part = NULL;
        ps_status own = open_part(file, c, &part);
        if (own == PS_OK) own = verify_store(part, deep, result);
        ps_store_close(&part);
        if (status == PS_OK) status = own;
    }
    if (status == PS_OK && deep) status = for_chunks(file, check_leaves, file);
    return status;
}
