/* dgtd_domain: the parts of one rank, with local vertices, halo slots and exchange lists. */
#include <stdlib.h>
#include <string.h>

#include "formats/columns.h"
#include "formats/dgtd_model_internal.h"
#include "runtime/compare.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

ps_status ps_dgtd_model_share(const ps_dgtd_model_file *file, int ranks, int64_t *rank_parts)
{
    const ps_dgtd_model_header *h = &file->header;
    if (ranks < 1 || h->parts < ranks)
        return ps_fail(PS_USAGE,
                       "%s has %lld parts for %d ranks: cut the mesh into as many with "
                       "penstock-mesh-partition --parts",
                       ps_store_path(file->store), (long long)h->parts, ranks);
    rank_parts[0] = 0;
    for (int64_t r = 1, q = 0; r <= ranks; ++r) {
        int64_t wanted = (int64_t)((double)h->elements * (double)r / ranks);
        int64_t last = h->parts - (ranks - r); /* one part at least for each rank to come */
        for (++q; q < last && file->part_start[q + 1] - wanted <= wanted - file->part_start[q];)
            ++q;
        rank_parts[r] = r == ranks ? h->parts : q;
    }
    return PS_OK;
}

/* ---- the halo ---- */

/* A face of an own element whose other side another rank has. */
typedef struct cut_face {
    int rank;
    int32_t own, other; /* 4 * element + face, in the file's numbers       */
    int32_t key;        /* of the two the one that the lower rank has      */
} cut_face;

static int compare_cuts(const void *a, const void *b)
{
    const cut_face *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

static bool is_foreign(const ps_dgtd_domain *d, int32_t link)
{
    return link >= 0 && (link / 4 < d->first || link / 4 >= d->first + d->elements);
}

static int64_t foreign_faces(const ps_dgtd_domain *d)
{
    int64_t count = 0;
    for (int64_t f = 0; f < 4 * d->elements; ++f) count += is_foreign(d, d->links[f]);
    return count;
}

/* links are still the file's: lists the elements of other ranks that they name. */
static ps_status list_halo(ps_dgtd_domain *d, int64_t faces)
{
    int64_t count = 0, kept = 0;
    PS_TRY(PS_ALLOC(&d->halo, faces, "the halo"));
    for (int64_t f = 0; f < 4 * d->elements; ++f)
        if (is_foreign(d, d->links[f])) d->halo[count++] = d->links[f] / 4;
    qsort(d->halo, (size_t)count, sizeof *d->halo, ps_compare_i32);
    for (int64_t i = 0; i < count; ++i)
        if (i == 0 || d->halo[i] != d->halo[i - 1]) d->halo[kept++] = d->halo[i];
    d->halo_count = kept;
    return PS_OK;
}

static int32_t halo_slot(const ps_dgtd_domain *d, int32_t element)
{
    const int32_t *at =
        bsearch(&element, d->halo, (size_t)d->halo_count, sizeof *d->halo, ps_compare_i32);
    return (int32_t)(d->halo_base + (at - d->halo));
}

static int rank_of(const ps_dgtd_model_file *file, const int64_t *rank_parts, int ranks,
                   int32_t element)
{
    int64_t part = ps_range_of(file->part_start, file->header.parts, element);
    return (int)ps_range_of(rank_parts, ranks, part);
}

static ps_status fill_neighbour(const ps_dgtd_domain *d, const cut_face *cuts, int64_t count,
                                ps_dgtd_neighbour *out)
{
    out->rank = cuts[0].rank;
    out->count = count;
    PS_TRY(PS_ALLOC(&out->send, count, "an exchange list"));
    PS_TRY(PS_ALLOC(&out->receive, count, "an exchange list"));
    for (int64_t i = 0; i < count; ++i) {
        out->send[i] = (int32_t)(cuts[i].own - 4 * d->first);
        out->receive[i] = 4 * halo_slot(d, cuts[i].other / 4) + cuts[i].other % 4;
    }
    return PS_OK;
}

static ps_status fill_neighbours(ps_dgtd_domain *d, const cut_face *cuts, int64_t count)
{
    int neighbours = 0;
    for (int64_t i = 0; i < count; ++i) neighbours += i == 0 || cuts[i].rank != cuts[i - 1].rank;
    PS_TRY(PS_ALLOC(&d->neighbours, neighbours, "exchange lists"));
    for (int64_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && cuts[end].rank == cuts[first].rank;) ++end;
        PS_TRY(fill_neighbour(d, cuts + first, end - first, d->neighbours + d->neighbour_count++));
    }
    return PS_OK;
}

static ps_status make_halo(const ps_dgtd_model_file *file, const int64_t *rank_parts, int ranks,
                           int rank, ps_dgtd_domain *d)
{
    int64_t faces = foreign_faces(d), count = 0;
    PS_SCOPED_MEMORY cut_face *cuts = NULL;
    PS_TRY(list_halo(d, faces));
    PS_TRY(PS_ALLOC(&cuts, faces, "the halo"));
    for (int64_t f = 0; f < 4 * d->elements; ++f) {
        int32_t own = (int32_t)(4 * d->first + f), other = d->links[f];
        if (other < 0) continue;
        if (!is_foreign(d, other)) {
            d->links[f] = (int32_t)(other - 4 * d->first);
            continue;
        }
        int to = rank_of(file, rank_parts, ranks, other / 4);
        cuts[count++] = (cut_face){to, own, other, rank < to ? own : other};
        d->links[f] = 4 * halo_slot(d, other / 4) + other % 4;
    }
    qsort(cuts, (size_t)count, sizeof *cuts, compare_cuts);
    return fill_neighbours(d, cuts, count);
}

/* ---- elements and vertices ---- */

static ps_status check_elements(const ps_dgtd_model_file *file, const ps_dgtd_domain *d)
{
    for (int64_t e = 0; e < d->elements; ++e) {
        const int32_t *v = d->tetrahedra + 4 * e;
        bool good = v[0] >= 0 && v[0] < v[1] && v[1] < v[2] && v[2] < v[3] &&
                    v[3] < file->header.vertex_count && d->material[e] < file->header.media;
        for (int f = 0; f < 4; ++f) {
            int32_t link = d->links[4 * e + f];
            int64_t own = link - 4 * d->first; /* a link within this rank is answered */
            good &= d->kinds[4 * e + f] <= 3 && link >= -1 && link < 4 * file->header.elements &&
                    (link < 0 || link / 4 != d->first + e) &&
                    (link < 0) == (d->kinds[4 * e + f] != 0) &&
                    (link < 0 || own < 0 || own >= 4 * d->elements ||
                     d->links[own] == 4 * (d->first + e) + f);
        }
        if (!good)
            return ps_fail(PS_INVALID,
                           "%s: element %lld has vertices %d %d %d %d, material %d or "
                           "links that no element has",
                           ps_store_path(file->store), (long long)(d->first + e), v[0], v[1], v[2],
                           v[3], d->material[e]);
    }
    return PS_OK;
}

/* Keeps the vertices of own elements: numbers ascend, so those of an element still do. */
static ps_status take_vertices(const ps_dgtd_model_file *file, ps_dgtd_domain *d)
{
    int64_t all = file->header.vertex_count, kept = 0;
    PS_SCOPED_MEMORY int32_t *local = NULL;
    PS_SCOPED_MEMORY double *vertices = NULL;
    PS_TRY(PS_ALLOC(&local, all, "vertex numbers"));
    PS_TRY(PS_ALLOC(&vertices, 3 * all, "mesh vertices"));
    PS_TRY(ps_store_read_array(file->store, "/mesh/vertices", PS_F64, 0, all,
                               PS_ROOM(vertices, 3 * all), vertices));
    for (int64_t i = 0; i < 4 * d->elements; ++i) local[d->tetrahedra[i]] = 1;
    for (int64_t v = 0; v < all; ++v) d->vertex_count += local[v];
    PS_TRY(PS_ALLOC(&d->vertices, 3 * d->vertex_count, "mesh vertices"));
    PS_TRY(PS_ALLOC(&d->vertex_numbers, d->vertex_count, "vertex numbers"));
    for (int64_t v = 0; v < all; ++v) {
        if (!local[v]) continue;
        memcpy(d->vertices + 3 * kept, vertices + 3 * v, 3 * sizeof *vertices);
        d->vertex_numbers[kept] = (int32_t)v;
        local[v] = (int32_t)kept++;
    }
    for (int64_t i = 0; i < 4 * d->elements; ++i) d->tetrahedra[i] = local[d->tetrahedra[i]];
    return PS_OK;
}

static ps_status read_rows(const ps_dgtd_model_file *file, ps_dgtd_domain *d)
{
    int64_t count = d->elements;
    const ps_column columns[] = {
        {"/mesh/tetrahedra", NULL, NULL, PS_I32, count, 4, .at = &d->tetrahedra},
        {"/mesh/links", NULL, NULL, PS_I32, count, 4, .at = &d->links},
        {"/mesh/kind", NULL, NULL, PS_U8, count, 4, .at = &d->kinds},
        {"/mesh/material", NULL, NULL, PS_U16, count, 1, .at = &d->material},
        {"/mesh/source", NULL, NULL, PS_I32, count, 1, .at = &d->source}};
    PS_TRY(ps_columns_load_part(file->store, columns, PS_COLUMNS(columns), d->first));
    return check_elements(file, d);
}

/* A number of each own element, and then of those of the halo: *out has halo_base + halo_count of
 * `width` bytes. */
static ps_status read_with_halo(const ps_dgtd_model_file *file, const ps_dgtd_domain *d,
                                const char *path, ps_type type, int64_t width, void **out)
{
    const int64_t count = d->halo_count > 0 ? file->header.elements : 0;
    PS_SCOPED_MEMORY char *all = NULL;
    PS_TRY(ps_alloc(out, d->halo_base + d->halo_count, (size_t)width, path));
    PS_TRY(ps_store_read_array(file->store, path, type, d->first, d->elements, d->elements * width,
                               *out));
    if (count == 0) return PS_OK;
    PS_TRY(ps_alloc((void **)&all, count, (size_t)width, path));
    PS_TRY(ps_store_read_array(file->store, path, type, 0, count, count * width, all));
    for (int64_t i = 0; i < d->halo_count; ++i)
        memcpy((char *)*out + (d->halo_base + i) * width, all + d->halo[i] * width, (size_t)width);
    return PS_OK;
}

/* What an element says of itself has to be within the levels, and Q no less than P. */
static ps_status check_reach(const ps_dgtd_model_file *file, const ps_dgtd_domain *d)
{
    for (int64_t e = 0; e < d->elements; ++e)
        if (d->reach[e] < 255 &&
            (d->reach[e] / 16 > file->header.local_levels || d->reach[e] % 16 > d->reach[e] / 16))
            return ps_fail(PS_INVALID, "%s: element %lld takes part in levels %d and %d of %d",
                           ps_store_path(file->store), (long long)(d->first + e), d->reach[e] % 16,
                           d->reach[e] / 16, file->header.local_levels);
    return PS_OK;
}

/* What is known of elements of the halo, too. */
static ps_status read_kinds_of_elements(const ps_dgtd_model_file *file, ps_dgtd_domain *d)
{
    const ps_dgtd_model_header *h = &file->header;
    if (d->halo_count > 0) {
        free(d->material);
        d->material = NULL;
        PS_TRY(read_with_halo(file, d, "/mesh/material", PS_U16, 2, (void **)&d->material));
    }
    if (h->has_total) PS_TRY(read_with_halo(file, d, "/mesh/total", PS_U8, 1, (void **)&d->total));
    if (h->has_layer)
        PS_TRY(read_with_halo(file, d, "/mesh/matched_layer", PS_U8, 1, (void **)&d->layer));
    if (h->local_levels == 0) return PS_OK;
    PS_TRY(read_with_halo(file, d, "/mesh/reach", PS_U8, 1, (void **)&d->reach));
    return check_reach(file, d);
}

ps_status ps_dgtd_model_load(ps_dgtd_model_file *file, const int64_t *rank_parts, int ranks,
                             int rank, int lanes, ps_dgtd_domain *out)
{
    memset(out, 0, sizeof *out);
    out->first_part = rank_parts[rank];
    out->end_part = rank_parts[rank + 1];
    out->first = file->part_start[out->first_part];
    out->elements = file->part_start[out->end_part] - out->first;
    out->halo_base = (out->elements + lanes - 1) / lanes * lanes;
    ps_status status = read_rows(file, out);
    if (status == PS_OK) status = take_vertices(file, out);
    if (status == PS_OK) status = make_halo(file, rank_parts, ranks, rank, out);
    if (status == PS_OK && 4 * (out->halo_base + out->halo_count) > INT32_MAX)
        status = ps_fail(PS_EXHAUSTED, "%s: %lld elements for one rank; use more ranks",
                         ps_store_path(file->store), (long long)out->elements);
    if (status == PS_OK) status = read_kinds_of_elements(file, out);
    if (status != PS_OK) ps_dgtd_domain_release(out);
    return status;
}

void ps_dgtd_domain_release(ps_dgtd_domain *d)
{
    for (int n = 0; n < d->neighbour_count; ++n) {
        free(d->neighbours[n].send);
        free(d->neighbours[n].receive);
    }
    PS_FREE(d->neighbours, d->vertices, d->vertex_numbers, d->tetrahedra, d->links, d->kinds,
            d->material, d->total, d->layer, d->source, d->reach, d->halo);
    memset(d, 0, sizeof *d);
}
