#include "formats/subdomains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory.h"
#include "runtime/scope.h"

enum {
    NODES,
    ROW_LENGTH,
    COLUMNS,
    VALUES, /* of subdomains */
    SIDES,
    FACE_NODES,
    FACE_ROW_LENGTH,
    FACE_COLUMNS,
    MASS,
    STIFFNESS, /* of interfaces */
    DATASETS
};

typedef struct layout {
    const char *name, *units;
    ps_type type;
} layout;
static const layout layouts[DATASETS] = {
    {"/subdomains/nodes", "1", PS_I64},      {"/subdomains/row_length", "1", PS_I32},
    {"/subdomains/columns", "1", PS_I32},    {"/subdomains/values", "m", PS_F64},
    {"/interfaces/sides", "1", PS_I32},      {"/interfaces/nodes", "1", PS_I64},
    {"/interfaces/row_length", "1", PS_I32}, {"/interfaces/columns", "1", PS_I32},
    {"/interfaces/mass", "m2", PS_F64},      {"/interfaces/stiffness", "1", PS_F64}};

/* Chunks of a dataset and the values that one has room for. */
static void shape_of(const ps_subdomains_header *h, int dataset, int64_t shape[2])
{
    const int64_t room[DATASETS] = {h->rows_max,
                                    h->rows_max,
                                    h->entries_max,
                                    h->entries_max,
                                    2,
                                    h->face_rows_max,
                                    h->face_rows_max,
                                    h->face_entries_max,
                                    h->face_entries_max,
                                    h->face_entries_max};
    shape[0] = dataset < SIDES ? h->subdomains : h->interfaces;
    shape[1] = room[dataset];
}

/* ---- writing ---- */

static ps_status put_header(ps_subdomains *f)
{
    const ps_subdomains_header *h = &f->header;
    const int64_t sizes[4] = {h->rows_max, h->entries_max, h->face_rows_max, h->face_entries_max};
    PS_TRY(ps_store_put_ints(f->store, "/", "nodes", h->nodes, 3));
    PS_TRY(ps_store_put_reals(f->store, "/", "spacing", h->spacing, 3));
    PS_TRY(ps_store_put_real(f->store, "/", "lumped", h->lumped));
    PS_TRY(ps_store_put_int(f->store, "/", "subdomains", h->subdomains));
    PS_TRY(ps_store_put_int(f->store, "/", "interfaces", h->interfaces));
    PS_TRY(ps_store_put_ints(f->store, "/", "largest", sizes, 4));
    PS_TRY(ps_store_put_text(f->store, "/", "partition", h->partition));
    for (int d = 0; d < DATASETS; ++d) {
        int64_t shape[2];
        shape_of(h, d, shape);
        ps_dataset_spec spec = {.name = layouts[d].name,
                                .type = layouts[d].type,
                                .rank = 2,
                                .dims = {shape[0], shape[1]},
                                .chunk_rows = 1,
                                .units = layouts[d].units};
        PS_TRY(ps_store_define(f->store, &spec, &f->id[d]));
    }
    return PS_OK;
}

ps_status ps_subdomains_create(const char *path, const ps_store_identity *identity,
                               const ps_subdomains_header *header, ps_subdomains *out)
{
    *out = (ps_subdomains){.header = *header};
    PS_TRY(ps_store_create_as(path, identity, PS_SUBDOMAINS_FORMAT, PS_SUBDOMAINS_VERSION,
                              &out->store));
    ps_status status = put_header(out);
    if (status != PS_OK) ps_subdomains_close(out);
    return status;
}

static ps_status write_rows(ps_subdomains *f, int first, int64_t chunk, const int64_t *nodes,
                            const ps_csr *m)
{
    PS_SCOPED_MEMORY int32_t *length = NULL;
    PS_TRY(PS_ALLOC(&length, m->rows, "row lengths"));
    for (int64_t r = 0; r < m->rows; ++r)
        length[r] = (int32_t)(m->row_start[r + 1] - m->row_start[r]);
    PS_TRY(ps_store_write_chunk(f->store, f->id[first], chunk, nodes, m->rows, NULL));
    PS_TRY(ps_store_write_chunk(f->store, f->id[first + 1], chunk, length, m->rows, NULL));
    PS_TRY(ps_store_write_chunk(f->store, f->id[first + 2], chunk, m->columns, m->nnz, NULL));
    return ps_store_write_chunk(f->store, f->id[first + 3], chunk, m->values, m->nnz, NULL);
}

ps_status ps_subdomains_write(ps_subdomains *f, int64_t number, const ps_subdomain *s)
{
    return write_rows(f, NODES, number, s->nodes, &s->matrix);
}

ps_status ps_subdomains_write_face(ps_subdomains *f, int64_t number, const ps_subdomain_face *face)
{
    PS_TRY(ps_store_write_chunk(f->store, f->id[SIDES], number, face->sides, 2, NULL));
    PS_TRY(write_rows(f, FACE_NODES, number, face->nodes, &face->mass));
    return ps_store_write_chunk(f->store, f->id[STIFFNESS], number, face->stiffness, face->mass.nnz,
                                NULL);
}

ps_status ps_subdomains_commit(ps_subdomains *f)
{
    ps_status status = ps_store_commit(&f->store);
    *f = (ps_subdomains){.store = NULL};
    return status;
}

void ps_subdomains_close(ps_subdomains *f)
{
    ps_store_close(&f->store);
    *f = (ps_subdomains){.store = NULL};
}

/* ---- reading ---- */

/* Sizes that others are computed from. */
static ps_status check_grid(const ps_subdomains *f, const int64_t sizes[4])
{
    const ps_subdomains_header *h = &f->header;
    bool good = h->subdomains >= 1 && h->interfaces >= 0 && h->lumped >= 0 && isfinite(h->lumped);
    for (int a = 0; a < 3; ++a)
        good = good && h->nodes[a] >= 2 && h->nodes[a] <= 1 << 20 && h->spacing[a] > 0 &&
               isfinite(h->spacing[a]);
    for (int s = 0; s < 4; ++s) good = good && sizes[s] >= 0 && sizes[s] <= INT32_MAX;
    return good ? PS_OK
                : ps_fail(PS_INVALID,
                          "%s: %lld x %lld x %lld nodes, %lld subdomains: not those of subdomains",
                          ps_store_path(f->store), (long long)h->nodes[0], (long long)h->nodes[1],
                          (long long)h->nodes[2], (long long)h->subdomains);
}

static ps_status get_header(ps_subdomains *f)
{
    ps_subdomains_header *h = &f->header;
    int64_t sizes[4];
    PS_TRY(ps_store_get_ints(f->store, "/", "nodes", h->nodes, 3));
    PS_TRY(ps_store_get_reals(f->store, "/", "spacing", h->spacing, 3));
    if (ps_store_has(f->store, "/", "lumped"))
        PS_TRY(ps_store_get_real(f->store, "/", "lumped", &h->lumped));
    PS_TRY(ps_store_get_int(f->store, "/", "subdomains", &h->subdomains));
    PS_TRY(ps_store_get_int(f->store, "/", "interfaces", &h->interfaces));
    PS_TRY(ps_store_get_ints(f->store, "/", "largest", sizes, 4));
    PS_TRY(ps_store_get_text(f->store, "/", "partition", h->partition, sizeof h->partition));
    PS_TRY(check_grid(f, sizes));
    h->rows_max = sizes[0], h->entries_max = sizes[1];
    h->face_rows_max = sizes[2], h->face_entries_max = sizes[3];
    for (int d = 0; d < DATASETS; ++d) {
        ps_dataset_info info;
        int64_t shape[2];
        shape_of(h, d, shape);
        PS_TRY(ps_store_find(f->store, layouts[d].name, &f->id[d]));
        PS_TRY(ps_store_dataset(f->store, f->id[d], &info));
        if (info.type != layouts[d].type || info.rank != 2 || info.dims[0] != shape[0] ||
            info.dims[1] != shape[1] || info.chunk_rows != 1)
            return ps_fail(PS_INVALID, "%s: %s has another shape than the header says",
                           ps_store_path(f->store), layouts[d].name);
    }
    return PS_OK;
}

ps_status ps_subdomains_open(const char *path, ps_subdomains *out)
{
    *out = (ps_subdomains){.store = NULL};
    PS_TRY(ps_store_open(path, PS_SUBDOMAINS_FORMAT, PS_SUBDOMAINS_VERSION, &out->store));
    ps_status status = get_header(out);
    if (status != PS_OK) ps_subdomains_close(out);
    return status;
}

static ps_status count_of(const ps_subdomains *f, int dataset, int64_t chunk, int64_t *out)
{
    ps_chunk_info info;
    PS_TRY(ps_store_chunk(f->store, f->id[dataset], chunk, &info));
    *out = info.count;
    return PS_OK;
}

/* Nodes of the grid, ascending. */
static ps_status check_nodes(const ps_subdomains *f, int64_t rows, const int64_t *nodes)
{
    const int64_t *n = f->header.nodes;
    for (int64_t r = 0; r < rows; ++r)
        if (nodes[r] < 0 || nodes[r] >= n[0] * n[1] * n[2] || (r && nodes[r] <= nodes[r - 1]))
            return ps_fail(PS_INVALID,
                           "%s: node %lld of a subdomain is no node of the grid, or "
                           "not in order",
                           ps_store_path(f->store), (long long)nodes[r]);
    return PS_OK;
}

static ps_status fill_rows(ps_subdomains *f, int first, int64_t chunk, int64_t *nodes, ps_csr *m)
{
    PS_SCOPED_MEMORY int32_t *length = NULL;
    PS_TRY(PS_ALLOC(&length, m->rows, "row lengths"));
    PS_TRY(
        ps_store_read_values(f->store, f->id[first + 1], chunk, PS_ROOM(length, m->rows), length));
    for (int64_t r = 0; r < m->rows; ++r)
        m->row_start[r + 1] = m->row_start[r] + (length[r] > 0 ? length[r] : 0);
    PS_TRY(ps_store_read_values(f->store, f->id[first], chunk, PS_ROOM(nodes, m->rows), nodes));
    PS_TRY(ps_store_read_values(f->store, f->id[first + 2], chunk, PS_ROOM(m->columns, m->nnz),
                                m->columns));
    PS_TRY(ps_store_read_values(f->store, f->id[first + 3], chunk, PS_ROOM(m->values, m->nnz),
                                m->values));
    PS_TRY(check_nodes(f, m->rows, nodes));
    if (m->row_start[m->rows] != m->nnz)
        return ps_fail(PS_INVALID, "%s: rows of %s %lld have %lld entries, %lld are there",
                       ps_store_path(f->store), layouts[first].name, (long long)chunk,
                       (long long)m->row_start[m->rows], (long long)m->nnz);
    PS_TRY_IN(ps_csr_check(m, m->rows), "%s", ps_store_path(f->store));
    return PS_OK;
}

static ps_status read_rows(ps_subdomains *f, int first, int64_t chunk, int64_t **nodes, ps_csr *m)
{
    int64_t rows, entries;
    PS_TRY(count_of(f, first, chunk, &rows));
    PS_TRY(count_of(f, first + 2, chunk, &entries));
    PS_TRY(PS_ALLOC(nodes, rows, "a subdomain"));
    PS_TRY(ps_csr_init(m, rows, entries));
    return fill_rows(f, first, chunk, *nodes, m);
}

ps_status ps_subdomains_read(ps_subdomains *f, int64_t number, ps_subdomain *out)
{
    memset(out, 0, sizeof *out);
    ps_status status = read_rows(f, NODES, number, &out->nodes, &out->matrix);
    if (status != PS_OK) ps_subdomain_release(out);
    return status;
}

static ps_status read_face(ps_subdomains *f, int64_t number, ps_subdomain_face *out)
{
    PS_TRY(read_rows(f, FACE_NODES, number, &out->nodes, &out->mass));
    PS_TRY(PS_ALLOC(&out->stiffness, out->mass.nnz, "an interface"));
    PS_TRY(ps_store_read_values(f->store, f->id[STIFFNESS], number,
                                PS_ROOM(out->stiffness, out->mass.nnz), out->stiffness));
    PS_TRY(ps_store_read_values(f->store, f->id[SIDES], number, sizeof out->sides, out->sides));
    for (int64_t e = 0; e < out->mass.nnz; ++e)
        if (!isfinite(out->stiffness[e]))
            return ps_fail(PS_INVALID, "%s: interface %lld is not finite", ps_store_path(f->store),
                           (long long)number);
    if (out->sides[0] < 0 || out->sides[0] >= out->sides[1] ||
        out->sides[1] >= f->header.subdomains)
        return ps_fail(PS_INVALID, "%s: interface %lld lies between subdomains %d and %d",
                       ps_store_path(f->store), (long long)number, out->sides[0], out->sides[1]);
    return PS_OK;
}

ps_status ps_subdomains_read_face(ps_subdomains *f, int64_t number, ps_subdomain_face *out)
{
    memset(out, 0, sizeof *out);
    ps_status status = read_face(f, number, out);
    if (status != PS_OK) ps_subdomain_face_release(out);
    return status;
}

void ps_subdomain_release(ps_subdomain *s)
{
    free(s->nodes);
    ps_csr_release(&s->matrix);
    memset(s, 0, sizeof *s);
}

void ps_subdomain_face_release(ps_subdomain_face *face)
{
    free(face->nodes);
    free(face->stiffness);
    ps_csr_release(&face->mass);
    memset(face, 0, sizeof *face);
}
