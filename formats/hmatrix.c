/* hmatrix: the tables of an H-matrix, written. */
#include "formats/hmatrix.h"

#include <math.h>
#include <string.h>

#include "formats/columns.h"
#include "formats/hmatrix_internal.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

static const char *const precision_names[PS_PRECISION_COUNT] = {"f32", "f64"};

/* ---- the header ---- */

ps_status ps_hmatrix_header_put(ps_store *store, const ps_hmatrix_header *h)
{
    PS_TRY(ps_store_put_text(store, "/", "operator", ps_hbem_kernel_name(h->kernel)));
    PS_TRY(ps_store_put_text(store, "/", "test_space", ps_hbem_space_name(h->space[0])));
    PS_TRY(ps_store_put_text(store, "/", "trial_space", ps_hbem_space_name(h->space[1])));
    PS_TRY(ps_store_put_text(store, "/", "precision", precision_names[h->precision]));
    PS_TRY(ps_store_put_text(store, "/", "mode", h->mode));
    PS_TRY(ps_store_put_text(store, "/", "form", h->form));
    PS_TRY(ps_store_put_text(store, "/", "cluster_hash", h->cluster_hash));
    PS_TRY(ps_store_put_text(store, "/", "mesh_hash", h->mesh_hash));
    PS_TRY(ps_store_put_int(store, "/", "same", h->same));
    PS_TRY(ps_store_put_int(store, "/", "symmetric", h->symmetric));
    PS_TRY(ps_store_put_int(store, "/", "check_rows", h->check_rows));
    PS_TRY(ps_store_put_real(store, "/", "wavenumber", h->wavenumber));
    PS_TRY(ps_store_put_real(store, "/", "tolerance", h->tolerance));
    PS_TRY(ps_store_put_real(store, "/", "eta", h->eta));
    if (isfinite(h->row_sum_error))
        PS_TRY(ps_store_put_real(store, "/", "row_sum_error", h->row_sum_error));
    if (isfinite(h->entry_error))
        PS_TRY(ps_store_put_real(store, "/", "entry_error", h->entry_error));
    if (h->absorption > 0) PS_TRY(ps_store_put_real(store, "/", "absorption", h->absorption));
    if (h->image > 0) PS_TRY(ps_store_put_int(store, "/", "image", h->image));
    PS_TRY(ps_reflectors_put(store, &h->mirrors));
    return ps_store_put_real(store, "/", "rules", h->rules);
}

int ps_hmatrix_version(const ps_hmatrix_header *h)
{
    return h->absorption > 0 || h->mirrors.count > 0 ? PS_HMATRIX_VERSION : 1;
}

static ps_status get_names(const ps_store *store, ps_hmatrix_header *h)
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
    PS_TRY(ps_store_get_text(store, "/", "mode", h->mode, sizeof h->mode));
    PS_TRY(ps_store_get_text(store, "/", "form", h->form, sizeof h->form));
    PS_TRY(ps_store_get_text(store, "/", "cluster_hash", h->cluster_hash, sizeof h->cluster_hash));
    return ps_store_get_text(store, "/", "mesh_hash", h->mesh_hash, sizeof h->mesh_hash);
}

static ps_status get_numbers(const ps_store *store, ps_hmatrix_header *h)
{
    int64_t same, symmetric;
    PS_TRY(ps_store_get_int(store, "/", "same", &same));
    PS_TRY(ps_store_get_int(store, "/", "symmetric", &symmetric));
    PS_TRY(ps_store_get_int(store, "/", "check_rows", &h->check_rows));
    PS_TRY(ps_store_get_real(store, "/", "wavenumber", &h->wavenumber));
    PS_TRY(ps_store_get_real(store, "/", "tolerance", &h->tolerance));
    PS_TRY(ps_store_get_real(store, "/", "eta", &h->eta));
    PS_TRY(ps_store_get_real(store, "/", "rules", &h->rules));
    h->row_sum_error = NAN;
    if (ps_store_has(store, "/", "row_sum_error"))
        PS_TRY(ps_store_get_real(store, "/", "row_sum_error", &h->row_sum_error));
    h->entry_error = NAN;
    if (ps_store_has(store, "/", "entry_error"))
        PS_TRY(ps_store_get_real(store, "/", "entry_error", &h->entry_error));
    h->same = same != 0;
    h->symmetric = symmetric != 0;
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
    if (ps_store_has(store, "/", "absorption"))
        PS_TRY(ps_store_get_real(store, "/", "absorption", &h->absorption));
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

ps_status ps_hmatrix_header_get(const ps_store *store, ps_hmatrix_header *header)
{
    memset(header, 0, sizeof *header);
    ps_status status = get_names(store, header);
    if (status == PS_OK) status = get_numbers(store, header);
    if (status == PS_OK) status = get_medium(store, header);
    return status == PS_OK ? PS_OK : ps_context(status, "%s", ps_store_path(store));
}

/* ---- arrays ---- */

ps_status ps_hmatrix_arrays_init(ps_hmatrix_arrays *a, int64_t leaves, int64_t chunks)
{
    *a = (ps_hmatrix_arrays){.leaves = leaves, .chunks = chunks};
    PS_TRY(PS_ALLOC(&a->rank, leaves, "tables of an H-matrix"));
    PS_TRY(PS_ALLOC(&a->error, leaves, "tables of an H-matrix"));
    PS_TRY(PS_ALLOC(&a->xxh3, leaves, "tables of an H-matrix"));
    PS_TRY(PS_ALLOC(&a->first, chunks + 1, "tables of an H-matrix"));
    PS_TRY(PS_ALLOC(&a->numbers, chunks, "tables of an H-matrix"));
    PS_TRY(PS_ALLOC(&a->stored, chunks, "tables of an H-matrix"));
    return PS_ALLOC(&a->content_hash, 16 * chunks, "tables of an H-matrix");
}

void ps_hmatrix_arrays_release(ps_hmatrix_arrays *a)
{
    PS_FREE(a->rank, a->error, a->xxh3, a->first, a->numbers, a->stored, a->content_hash);
    memset(a, 0, sizeof *a);
}

void ps_hmatrix_arrays_columns(const ps_hmatrix_arrays *a, void *out)
{
    ps_column columns[PS_HMATRIX_COLUMNS] = {
        {"/leaves/rank", "1", "-1: dense", PS_I32, a->leaves, 1, a->rank},
        {"/leaves/error", "1", "estimated, relative", PS_F64, a->leaves, 1, a->error},
        {"/leaves/xxh3", "1", "of each leaf's bytes", PS_I64, a->leaves, 1, a->xxh3},
        {"/parts/first_leaf", "1", "of each chunk", PS_I64, a->chunks + 1, 1, a->first},
        {"/parts/numbers", "1", "of each chunk", PS_I64, a->chunks, 1, a->numbers},
        {"/parts/stored", "1", "bytes of each chunk", PS_I64, a->chunks, 1, a->stored},
        {"/parts/content_hash", "1", "of each part", PS_U8, a->chunks, 16, a->content_hash}};
    memcpy(out, columns, sizeof columns);
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
    ps_column columns[PS_HMATRIX_COLUMNS];
    ps_hmatrix_arrays_columns(a, columns);
    if (generation > 0) PS_TRY(ps_store_put_int(store, "/", "generation", generation));
    if (clusters) PS_TRY(ps_store_add_input(store, "clusters", clusters));
    PS_TRY(ps_hmatrix_header_put(store, &t->header));
    PS_TRY(ps_cluster_tree_put(store, "/test", &t->tree[0]));
    if (!t->header.same) PS_TRY(ps_cluster_tree_put(store, "/trial", &t->tree[1]));
    PS_TRY(ps_cluster_leaves_put(store, &t->nodes));
    PS_TRY(ps_columns_write(store, columns, PS_HMATRIX_COLUMNS));
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
    PS_SCOPED(ps_hmatrix_arrays_release) ps_hmatrix_arrays arrays = {0};
    const ps_hmatrix_chunks *chunks = &tables->chunks;
    PS_TRY(ps_hmatrix_arrays_init(&arrays, tables->nodes.count, chunks->count));
    memcpy(arrays.first, chunks->first, (size_t)(chunks->count + 1) * sizeof *chunks->first);
    for (int64_t c = 0; c < chunks->count; ++c) PS_TRY(gather_part(path, generation, c, &arrays));
    PS_TRY(write_tables(path, identity, tables, &arrays, clusters, generation));
    ps_store_remove_old_parts(path, generation, chunks->count);
    return PS_OK;
}
