/* hmatrix_part: a chunk of leaves as a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "formats/checkpoint.h"
#include "formats/columns.h"
#include "formats/hmatrix_internal.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

enum { ALIGNMENT = 64, OPTIONS_MOST = 66000 /* characters of an identity */ };

static int64_t item_bytes(const ps_hmatrix *run) { return run->precision == PS_SINGLE ? 4 : 8; }

int64_t ps_hmatrix_padded(const ps_hmatrix *run, int64_t leaf, int64_t rank)
{
    int64_t step = ALIGNMENT / item_bytes(run);
    return (ps_hmatrix_numbers(run, leaf, rank) + step - 1) / step * step;
}

uint64_t ps_hmatrix_hash(const ps_hmatrix *run, int64_t leaf)
{
    int64_t numbers = ps_hmatrix_numbers(run, leaf, run->blocks[leaf].rank);
    return XXH3_64bits(run->blocks[leaf].values, (size_t)(numbers * item_bytes(run)));
}

/* ---- writing ---- */

/* Where the leaves of a run begin, in numbers. */
typedef struct layout {
    const ps_hmatrix *run;
    int64_t *start; /* [leaf_count + 1] */
} layout;

static int64_t leaf_with(const layout *at, int64_t number)
{
    return ps_range_of(at->start, at->run->leaf_count, number);
}

/* Numbers [first, first + count) of the values. */
static void make_numbers(const void *context, int64_t first, int64_t count, void *out)
{
    const layout *at = context;
    int64_t size = item_bytes(at->run), end = first + count;
    memset(out, 0, (size_t)(count * size));
    for (int64_t leaf = leaf_with(at, first); leaf < at->run->leaf_count && at->start[leaf] < end;
         ++leaf) {
        const ps_hmatrix_block *block = &at->run->blocks[leaf];
        int64_t begin = at->start[leaf];
        int64_t stop = begin + ps_hmatrix_numbers(at->run, leaf, block->rank);
        int64_t from = begin > first ? begin : first, to = stop < end ? stop : end;
        if (from < to)
            memcpy((char *)out + (from - first) * size,
                   (const char *)block->values + (from - begin) * size,
                   (size_t)((to - from) * size));
    }
}

static ps_status put_values(ps_store *store, const ps_hmatrix_part *part, const layout *at)
{
    int64_t numbers = at->start[at->run->leaf_count];
    PS_TRY(ps_store_put_int(store, "/", "chunk", part->chunk));
    PS_TRY(ps_store_put_int(store, "/", "first_leaf", part->first_leaf));
    PS_TRY(ps_store_put_int(store, "/", "leaves", part->leaf_count));
    PS_TRY(ps_store_put_int(store, "/", "numbers", numbers));
    if (numbers == 0) return PS_OK;
    ps_dataset_spec values = {.name = "/values",
                              .type = at->run->precision == PS_SINGLE ? PS_F32 : PS_F64,
                              .rank = 1,
                              .dims = {numbers},
                              .plain = part->plain,
                              .units = "m^3, m^4 or m^2",
                              .description = "leaf after leaf: dense, or U and V"};
    return ps_store_write_made(store, &values, make_numbers, at);
}

/* Memory of one part: columns, and where its leaves begin. */
typedef struct part_tables {
    int32_t *rank;
    double *error;
    int64_t *xxh3, *start;
} part_tables;

static void release_tables(part_tables *t) { PS_FREE(t->rank, t->error, t->xxh3, t->start); }

static ps_status pass_tables(ps_store *store, int64_t leaves, const part_tables *t,
                             ps_columns_pass *each)
{
    const ps_column columns[] = {
        {"/rank", "1", "-1: dense", PS_I32, leaves, 1, .at = &t->rank},
        {"/error", "1", "estimated, relative", PS_F64, leaves, 1, .at = &t->error},
        {"/xxh3", "1", "of each leaf's bytes", PS_I64, leaves, 1, .at = &t->xxh3}};
    return each(store, columns, PS_COLUMNS(columns));
}

static ps_status fill_tables(const ps_hmatrix *run, part_tables *t)
{
    PS_TRY(pass_tables(NULL, run->leaf_count, t, ps_columns_allocate));
    PS_TRY(PS_ALLOC(&t->start, run->leaf_count + 1, "tables of a chunk"));
    for (int64_t leaf = 0; leaf < run->leaf_count; ++leaf) {
        int64_t rank = run->blocks[leaf].rank;
        t->start[leaf + 1] = t->start[leaf] + ps_hmatrix_padded(run, leaf, rank);
    }
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t leaf = 0; leaf < run->leaf_count; ++leaf) {
        t->rank[leaf] = (int32_t)run->blocks[leaf].rank;
        t->error[leaf] = run->blocks[leaf].error;
        t->xxh3[leaf] = (int64_t)ps_hmatrix_hash(run, leaf);
    }
    return PS_OK;
}

static ps_status save(ps_store *store, const ps_hmatrix_part *part, const ps_hmatrix *run)
{
    PS_SCOPED(release_tables) part_tables tables = {0};
    PS_TRY(fill_tables(run, &tables));
    if (part->clusters) PS_TRY(ps_store_add_input(store, "clusters", part->clusters));
    PS_TRY(pass_tables(store, run->leaf_count, &tables, ps_columns_write));
    return put_values(store, part, &(layout){run, tables.start});
}

static ps_store_identity identity_of(const ps_hmatrix_part *part)
{
    ps_store_identity own = *part->identity;
    own.format = PS_HMATRIX_PART_FORMAT;
    own.format_version = PS_HMATRIX_PART_VERSION;
    return own;
}

ps_status ps_hmatrix_part_save(const ps_hmatrix_part *part, const ps_hmatrix *run)
{
    char name[4096];
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    ps_store_identity identity = identity_of(part);
    identity.disk_estimate = ps_hmatrix_bytes(run);
    ps_store_part_path(part->path, part->generation, (int)part->chunk, name);
    PS_TRY(ps_path_check_output(part->path)); /* what joins the parts in the end */
    PS_TRY(ps_store_create(name, &identity, &store));
    PS_TRY(save(store, part, run));
    return ps_store_commit(&store);
}

/* ---- what is there ---- */

bool ps_hmatrix_part_exists(const char *path, int64_t generation, int64_t chunk)
{
    char name[4096];
    ps_store_part_path(path, generation, (int)chunk, name);
    return access(name, F_OK) == 0;
}

ps_status ps_hmatrix_part_open(const char *path, int64_t generation, int64_t chunk, ps_store **out)
{
    char name[4096];
    ps_store_part_path(path, generation, (int)chunk, name);
    return ps_store_open(name, PS_HMATRIX_PART_FORMAT, PS_HMATRIX_PART_VERSION, out);
}

static ps_status check_place(ps_store *store, const ps_hmatrix_part *part)
{
    int64_t chunk, first, leaves;
    PS_TRY(ps_store_get_int(store, "/", "chunk", &chunk));
    PS_TRY(ps_store_get_int(store, "/", "first_leaf", &first));
    PS_TRY(ps_store_get_int(store, "/", "leaves", &leaves));
    if (chunk == part->chunk && first == part->first_leaf && leaves == part->leaf_count)
        return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: chunk %lld with leaves %lld +%lld, where chunk %lld with leaves %lld +%lld "
                   "belongs",
                   ps_store_path(store), (long long)chunk, (long long)first, (long long)leaves,
                   (long long)part->chunk, (long long)part->first_leaf,
                   (long long)part->leaf_count);
}

ps_status ps_hmatrix_part_tables(ps_store *store, const ps_hmatrix_part *part, int32_t *rank,
                                 double *error, int64_t *xxh3)
{
    const part_tables tables = {rank, error, xxh3, NULL};
    PS_TRY(check_place(store, part));
    return pass_tables(store, part->leaf_count, &tables, ps_columns_read);
}

bool ps_hmatrix_part_done(const ps_hmatrix_part *part)
{
    char name[4096];
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    const char *role = "clusters";
    ps_store_identity identity = identity_of(part);
    ps_store_part_path(part->path, part->generation, (int)part->chunk, name);
    if (access(name, F_OK) != 0 ||
        !ps_store_matches(name, &identity, part->clusters ? 1 : 0, &role, &part->clusters) ||
        ps_hmatrix_part_open(part->path, part->generation, part->chunk, &store) != PS_OK)
        return false;
    return check_place(store, part) == PS_OK;
}

/* What a part is of, as lines NAME=VALUE, to `out` of OPTIONS_MOST bytes; not what was allowed,
 * which a refused run is told to add. */
static ps_status lines_of(const char *options, const char *clusters, char *out)
{
    size_t at = 0, length;
    for (const char *line = options; *line; line += length) {
        length = strcspn(line, "\n");
        length += line[length] == '\n';
        if (at + length >= OPTIONS_MOST)
            return ps_fail(PS_USAGE, "the options take too many characters to be compared");
        if (strncmp(line, "allow=", 6) == 0) continue;
        memcpy(out + at, line, length);
        at += length;
    }
    snprintf(out + at, OPTIONS_MOST - at, "input-clusters=%s\n", clusters);
    return PS_OK;
}

ps_status ps_hmatrix_part_check(const ps_hmatrix_part *part)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_SCOPED_MEMORY char *text = NULL;
    char had[17] = "", is[17] = "";
    PS_TRY(ps_alloc_buffer((void **)&text, 3 * (int64_t)OPTIONS_MOST, "options of a part"));
    char *options = text, *stored = text + OPTIONS_MOST, *now = stored + OPTIONS_MOST;
    if (ps_hmatrix_part_open(part->path, part->generation, part->chunk, &store) != PS_OK ||
        ps_store_get_text(store, "/", "options", options, OPTIONS_MOST) != PS_OK)
        return PS_OK; /* none, or a damaged one: it is made anew */
    if (part->clusters) {
        PS_TRY(ps_store_content_hash(part->clusters, is));
        if (ps_store_get_text(store, "/inputs/clusters", "content_hash", had, sizeof had) != PS_OK)
            return PS_OK;
    }
    PS_TRY(lines_of(options, had, stored));
    PS_TRY(lines_of(part->identity->options, is, now));
    return ps_identity_check(part->path, stored, now);
}

/* ---- reading one without tables ---- */

/* Ranks and errors to run->blocks; *numbers: of all values. */
static ps_status read_blocks(ps_store *store, const ps_hmatrix_part *part, const part_tables *t,
                             ps_hmatrix *run, int64_t *numbers)
{
    int64_t stored;
    *numbers = 0;
    PS_TRY(ps_hmatrix_part_tables(store, part, t->rank, t->error, t->xxh3));
    for (int64_t l = 0; l < run->leaf_count; ++l) {
        const ps_hmatrix_leaf *at = &run->leaves[l];
        int64_t m = at->row_end - at->row_begin, n = at->column_end - at->column_begin;
        if (t->rank[l] < PS_RANK_DENSE || t->rank[l] > (m < n ? m : n))
            return ps_fail(PS_INVALID, "%s: leaf %lld has rank %d", ps_store_path(store),
                           (long long)(part->first_leaf + l), (int)t->rank[l]);
        run->blocks[l] = (ps_hmatrix_block){.rank = t->rank[l], .error = t->error[l]};
        t->start[l] = *numbers;
        *numbers += ps_hmatrix_padded(run, l, t->rank[l]);
    }
    PS_TRY(ps_store_get_int(store, "/", "numbers", &stored));
    if (stored == *numbers) return PS_OK;
    return ps_fail(PS_INVALID, "%s: %lld numbers, its leaves have %lld", ps_store_path(store),
                   (long long)stored, (long long)*numbers);
}

static ps_status read_values(ps_store *store, const part_tables *t, int64_t numbers,
                             ps_hmatrix *run, void **values)
{
    int64_t size = item_bytes(run);
    PS_TRY(ps_alloc_untouched(values, numbers * size + ALIGNMENT, "values of a part"));
    if (numbers > 0)
        PS_TRY(ps_store_read_array(store, "/values", size == 4 ? PS_F32 : PS_F64, 0, numbers,
                                   numbers * size, *values));
    for (int64_t l = 0; l < run->leaf_count; ++l) {
        run->blocks[l].values = (char *)*values + t->start[l] * size;
        if (ps_hmatrix_hash(run, l) != (uint64_t)t->xxh3[l])
            return ps_fail(PS_INVALID, "%s: leaf %lld of it has other bytes than it was saved with",
                           ps_store_path(store), (long long)l);
    }
    return PS_OK;
}

static ps_status load(const ps_hmatrix_part *part, ps_hmatrix *run, void **values)
{
    PS_SCOPED(release_tables) part_tables t = {0};
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    int64_t numbers;
    PS_TRY(ps_hmatrix_part_open(part->path, part->generation, part->chunk, &store));
    PS_TRY(pass_tables(NULL, run->leaf_count, &t, ps_columns_allocate));
    PS_TRY(PS_ALLOC(&t.start, run->leaf_count, "tables of a part"));
    PS_TRY(read_blocks(store, part, &t, run, &numbers));
    return read_values(store, &t, numbers, run, values);
}

ps_status ps_hmatrix_part_load(const ps_hmatrix_part *part, ps_hmatrix *run, void **values)
{
    *values = NULL;
    ps_status status = load(part, run, values);
    if (status == PS_OK) return PS_OK;
    free(*values);
    *values = NULL;
    return status;
}
