/* hmatrix: the tables of an H-matrix, written. */
#include "formats/hmatrix.h"

#include <math.h>
#include <string.h>

#include "formats/entries.h"
#include "formats/hmatrix_internal.h"
#include "runtime/scope.h"

static const char *const precision_names[PS_PRECISION_COUNT] = {"f32", "f64"};

/* ---- the header ---- */

static ps_status pass_header(ps_store *store, const ps_hmatrix_header *h, ps_entries_pass *each)
{
    const ps_entry entries[] = {PS_ENTRY("mode", h->mode),
                                PS_ENTRY("form", h->form),
                                PS_ENTRY("cluster_hash", h->cluster_hash),
                                PS_ENTRY("mesh_hash", h->mesh_hash),
                                PS_ENTRY("same", h->same),
                                PS_ENTRY("symmetric", h->symmetric),
                                PS_ENTRY("check_rows", h->check_rows),
                                PS_ENTRY("wavenumber", h->wavenumber),
                                PS_ENTRY("tolerance", h->tolerance),
                                PS_ENTRY("eta", h->eta),
                                PS_ENTRY("rules", h->rules),
                                PS_ENTRY_OPTIONAL("absorption", h->absorption)};
    return each(store, "/", entries, PS_ENTRIES(entries));
}

ps_status ps_hmatrix_header_put(ps_store *store, const ps_hmatrix_header *h)
{
    PS_TRY(ps_store_put_text(store, "/", "operator", ps_hbem_kernel_name(h->kernel)));
    PS_TRY(ps_store_put_text(store, "/", "test_space", ps_hbem_space_name(h->space[0])));
    PS_TRY(ps_store_put_text(store, "/", "trial_space", ps_hbem_space_name(h->space[1])));
    PS_TRY(ps_store_put_text(store, "/", "precision", precision_names[h->precision]));
    PS_TRY(pass_header(store, h, ps_entries_put));
    if (isfinite(h->row_sum_error))
        PS_TRY(ps_store_put_real(store, "/", "row_sum_error", h->row_sum_error));
    if (isfinite(h->entry_error))
        PS_TRY(ps_store_put_real(store, "/", "entry_error", h->entry_error));
    if (h->image > 0) PS_TRY(ps_store_put_int(store, "/", "image", h->image));
    return ps_reflectors_put(store, &h->mirrors);
}

int ps_hmatrix_version(const ps_hmatrix_header *h)
{
    return h->absorption > 0 || h->mirrors.count > 0 ? PS_HMATRIX_VERSION : 1;
}

static ps_status get_names(ps_store *store, ps_hmatrix_header *h)
{
    char name[16];
    PS_TRY(ps_store_get_text(store, "/", "operator", name, sizeof name));
    PS_TRY(ps_hbem_kernel_parse(name, &h->kernel));
    PS_TRY(ps_store_get_text(store, "/", "test_space", name, sizeof name));
    PS_TRY(ps_hbem_space_parse(name, &h->space[0]));
    PS_TRY(ps_store_get_text(store, "/", "trial_space", name, sizeof name));
    PS_TRY(ps_hbem_space_parse(name, &h->space[1]));
    PS_TRY(ps_store_get_text(store, "/", "precision", name, sizeof name));
    h->precision = strcmp(name, "f32") == 0 ? PS_SINGLE : PS_DOUBLE;
    if (strcmp(name, precision_names[h->precision]) != 0)
        return ps_fail(PS_INVALID, "precision is \"%s\"; f32 or f64 expected", name);
    return pass_header(store, h, ps_entries_get);
}

static ps_status get_numbers(const ps_store *store, ps_hmatrix_header *h)
{
    h->row_sum_error = NAN;
    if (ps_store_has(store, "/", "row_sum_error"))
        PS_TRY(ps_store_get_real(store, "/", "row_sum_error", &h->row_sum_error));
    h->entry_error = NAN;
    if (ps_store_has(store, "/", "entry_error"))
        PS_TRY(ps_store_get_real(store, "/", "entry_error", &h->entry_error));
    bool finite =
        isfinite(h->wavenumber) && isfinite(h->tolerance) && isfinite(h->eta) && isfinite(h->rules);
    if (!finite || h->wavenumber < 0 || h->tolerance <= 0 || h->eta < 0 || h->rules < 0 ||
        (h->symmetric && !h->same) || (h->same && h->space[0] != h->space[1]))
        return ps_fail(PS_INVALID,
                       "wavenumber %g, tolerance %g, eta %g, rules %g, symmetric %d, "
                       "same %d: not those of an H-matrix",
                       h->wavenumber, h->tolerance, h->eta, h->rules, h->symmetric, h->same);
    return PS_OK;
}

/* Of waves: what is absorbed, and which image the trial functions are of. */
static ps_status get_medium(const ps_store *store, ps_hmatrix_header *h)
{
    int64_t image = 0;
    if (ps_store_has(store, "/", "image")) PS_TRY(ps_store_get_int(store, "/", "image", &image));
    PS_TRY(ps_reflectors_get(store, &h->mirrors));
    if (!(h->absorption >= 0 && h->absorption <= h->wavenumber))
        return ps_fail(PS_INVALID, "an absorption of %g Np/m at k = %g is none", h->absorption,
                       h->wavenumber);
    if (image < 0 || image >= ps_reflectors_images(&h->mirrors) || (image > 0 && h->same))
        return ps_fail(PS_INVALID, "image %lld of %d planes, same %d: not those of an H-matrix",
                       (long long)image, h->mirrors.count, h->same);
    h->image = (int)image;
    return PS_OK;
}

ps_status ps_hmatrix_header_get(ps_store *store, ps_hmatrix_header *header)
{
    memset(header, 0, sizeof *header);
    PS_TRY_IN(get_names(store, header), "%s", ps_store_path(store));
    PS_TRY_IN(get_numbers(store, header), "%s", ps_store_path(store));
    PS_TRY_IN(get_medium(store, header), "%s", ps_store_path(store));
    return PS_OK;
}

/* ---- arrays ---- */

ps_status ps_hmatrix_arrays_pass(ps_store *store, const ps_hmatrix_arrays *a, ps_columns_pass *each)
{
    const ps_column columns[] = {
        {"/leaves/rank", "1", "-1: dense", PS_I32, a->leaves, 1, .at = &a->rank},
        {"/leaves/error", "1", "estimated, relative", PS_F64, a->leaves, 1, .at = &a->error},
        {"/leaves/xxh3", "1", "of each leaf's bytes", PS_I64, a->leaves, 1, .at = &a->xxh3},
        {"/parts/first_leaf", "1", "of each chunk", PS_I64, a->chunks + 1, 1, .at = &a->first},
        {"/parts/numbers", "1", "of each chunk", PS_I64, a->chunks, 1, .at = &a->numbers},
        {"/parts/stored", "1", "bytes of each chunk", PS_I64, a->chunks, 1, .at = &a->stored},
        {"/parts/content_hash", "1", "of each part", PS_U8, a->chunks, 16, .at = &a->content_hash}};
    return each(store, columns, PS_COLUMNS(columns));
}

void ps_hmatrix_arrays_release(ps_hmatrix_arrays *a)
{
    ps_hmatrix_arrays_pass(NULL, a, ps_columns_release);
}

/* ---- commit ---- */

static int64_t stored_bytes(ps_store *store)
{
    int id;
    ps_dataset_info info;
    ps_chunk_info chunk;
    int64_t bytes = 0;
    if (ps_store_find(store, "/values", &id) != PS_OK) return 0;
    if (ps_store_dataset(store, id, &info) != PS_OK) return 0;
    for (int64_t c = 0; c < info.chunk_count; ++c)
        if (ps_store_chunk(store, id, c, &chunk) == PS_OK) bytes += chunk.stored_bytes;
    return bytes;
}

static ps_status gather_part(const char *path, int64_t generation, int64_t chunk,
                             ps_hmatrix_arrays *a)
{
    char hash[17];
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    int64_t first = a->first[chunk];
    ps_hmatrix_part part = {.path = path,
                            .chunk = chunk,
                            .first_leaf = first,
                            .leaf_count = a->first[chunk + 1] - first,
                            .generation = generation};
    PS_TRY(ps_hmatrix_part_open(path, generation, chunk, &store));
    ps_status status =
        ps_hmatrix_part_tables(store, &part, a->rank + first, a->error + first, a->xxh3 + first);
    if (status == PS_OK) status = ps_store_get_int(store, "/", "numbers", &a->numbers[chunk]);
    if (status == PS_OK) status = ps_store_content_hash(store, hash);
    if (status == PS_OK) memcpy(a->content_hash + 16 * chunk, hash, 16);
    a->stored[chunk] = stored_bytes(store);
    return status;
}

static ps_status put_all(ps_store *store, const ps_hmatrix_tables *t, const ps_hmatrix_arrays *a,
                         ps_store *clusters, int64_t generation)
{
    if (generation > 0) PS_TRY(ps_store_put_int(store, "/", "generation", generation));
    if (clusters) PS_TRY(ps_store_add_input(store, "clusters", clusters));
    PS_TRY(ps_hmatrix_header_put(store, &t->header));
    PS_TRY(ps_cluster_tree_put(store, "/test", &t->tree[0]));
    if (!t->header.same) PS_TRY(ps_cluster_tree_put(store, "/trial", &t->tree[1]));
    PS_TRY(ps_cluster_leaves_put(store, &t->nodes));
    PS_TRY(ps_hmatrix_arrays_pass(store, a, ps_columns_write));
    return ps_store_put_int(store, "/parts", "count", a->chunks);
}

static ps_status write_tables(const char *path, const ps_store_identity *identity,
                              const ps_hmatrix_tables *tables, const ps_hmatrix_arrays *arrays,
                              ps_store *clusters, int64_t generation)
{
    ps_store_identity own = *identity;
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    own.format = PS_HMATRIX_FORMAT;
    own.format_version = ps_hmatrix_version(&tables->header);
    own.disk_estimate = 0;
    PS_TRY(ps_store_create(path, &own, &store));
    PS_TRY(put_all(store, tables, arrays, clusters, generation));
    return ps_store_commit(&store);
}

ps_status ps_hmatrix_commit(const char *path, const ps_store_identity *identity,
                            const ps_hmatrix_tables *tables, ps_store *clusters, int64_t generation)
{
    const ps_hmatrix_chunks *chunks = &tables->chunks;
    PS_SCOPED(ps_hmatrix_arrays_release)
    ps_hmatrix_arrays arrays = {.leaves = tables->nodes.count, .chunks = chunks->count};
    PS_TRY(ps_hmatrix_arrays_pass(NULL, &arrays, ps_columns_allocate));
    memcpy(arrays.first, chunks->first, (size_t)(chunks->count + 1) * sizeof *chunks->first);
    for (int64_t c = 0; c < chunks->count; ++c) PS_TRY(gather_part(path, generation, c, &arrays));
    PS_TRY(write_tables(path, identity, tables, &arrays, clusters, generation));
    ps_store_remove_old_parts(path, generation, chunks->count);
    return PS_OK;
}
