#include "formats/partition.h"

#include <math.h>
#include <string.h>

#include "formats/columns.h"
#include "formats/entries.h"

/* The last where there are layers. */
static ps_status pass_arrays(ps_store *store, const ps_partition *p, ps_columns_pass *each)
{
    const ps_column columns[] = {
        {"/parts/start", "1", "first element of each part", PS_I64, p->parts + 1, 1,
         .at = &p->part_start},
        {"/parts/interior", "1", "elements that come first and touch no other part", PS_I64,
         p->parts, 1, .at = &p->interior},
        {"/mesh/vertices", "m", "vertices", PS_F64, p->vertex_count, 3, .at = &p->vertices},
        {"/mesh/tetrahedra", "1", "vertices of each element, ascending", PS_I32, p->elements, 4,
         .at = &p->tetrahedra},
        {"/mesh/links", "1", "4 element + face of the other side, -1: none", PS_I32, p->elements, 4,
         .at = &p->links},
        {"/mesh/tag", "1", "physical group, 0 where none", PS_I32, p->elements, 1, .at = &p->tags},
        {"/mesh/source", "1", "row of the mesh file", PS_I32, p->elements, 1, .at = &p->source},
        {"/mesh/face", "1", "tagged faces: 4 element + face", PS_I32, p->face_count, 1,
         .at = &p->faces},
        {"/mesh/face_tag", "1", "physical group of the surface", PS_I32, p->face_count, 1,
         .at = &p->face_tags},
        {"/layers/start", "1", "first element of each layer", PS_I64, p->layer_count + 1, 1,
         .at = &p->layer_start},
    };
    return each(store, columns, PS_COLUMNS(columns) - (p->layer_count == 0));
}

ps_status ps_partition_allocate(ps_partition *p)
{
    ps_status status = pass_arrays(NULL, p, ps_columns_allocate);
    if (status != PS_OK) ps_partition_release(p);
    return status;
}

void ps_partition_release(ps_partition *p)
{
    pass_arrays(NULL, p, ps_columns_release);
    memset(p, 0, sizeof *p);
}

/* ---- checks ---- */

static ps_status check_starts(const char *what, const int64_t *start, int64_t count, int64_t end)
{
    for (int64_t i = 0; i <= count; ++i)
        if (i == 0 ? start[0] != 0 : start[i] <= start[i - 1])
            return ps_fail(PS_INVALID, "%s %lld begins at %lld", what, (long long)i,
                           (long long)start[i]);
    if (start[count] != end)
        return ps_fail(PS_INVALID, "the %ss end at element %lld of %lld", what,
                       (long long)start[count], (long long)end);
    return PS_OK;
}

static ps_status check_elements(const ps_partition *p)
{
    for (int64_t i = 0; i < 3 * p->vertex_count; ++i)
        if (!isfinite(p->vertices[i]))
            return ps_fail(PS_INVALID, "vertex %lld has a coordinate that is not a finite number",
                           (long long)(i / 3));
    for (int64_t e = 0; e < p->elements; ++e) {
        const int32_t *v = p->tetrahedra + 4 * e;
        if (v[0] < 0 || v[1] <= v[0] || v[2] <= v[1] || v[3] <= v[2] || v[3] >= p->vertex_count)
            return ps_fail(PS_INVALID,
                           "element %lld has vertices %d %d %d %d: they ascend within "
                           "0 .. %lld",
                           (long long)e, v[0], v[1], v[2], v[3], (long long)p->vertex_count - 1);
    }
    return PS_OK;
}

static ps_status check_links(const ps_partition *p)
{
    for (int64_t f = 0; f < 4 * p->elements; ++f) {
        int32_t link = p->links[f];
        if (link == -1) continue;
        if (link < 0 || link >= 4 * p->elements || link / 4 == f / 4 || p->links[link] != f)
            return ps_fail(PS_INVALID,
                           "face %d of element %lld is linked to face %d of element "
                           "%d, which is not linked back",
                           (int)(f % 4), (long long)(f / 4), link % 4, link / 4);
    }
    for (int64_t i = 0; i < p->face_count; ++i)
        if (p->faces[i] < 0 || p->faces[i] >= 4 * p->elements ||
            (i > 0 && p->faces[i] <= p->faces[i - 1]))
            return ps_fail(PS_INVALID, "tagged face %lld is %d: they ascend within 0 .. %lld",
                           (long long)i, p->faces[i], 4 * (long long)p->elements - 1);
    return PS_OK;
}

/* Links of an interior element stay in its part; with layers all links within the part stay in
 * neighbouring layers. */
static ps_status check_order(const ps_partition *p)
{
    for (int64_t q = 0, layer = 0; q < p->parts; ++q) {
        int64_t first = p->part_start[q], end = p->part_start[q + 1];
        if (p->interior[q] < 0 || p->interior[q] > end - first)
            return ps_fail(PS_INVALID, "part %lld has %lld interior elements of %lld", (long long)q,
                           (long long)p->interior[q], (long long)(end - first));
        for (int64_t e = first; e < end; ++e) {
            while (p->layer_count && e >= p->layer_start[layer + 1]) ++layer;
            for (int f = 0; f < 4; ++f) {
                int32_t link = p->links[4 * e + f];
                bool inside = link >= 0 && link / 4 >= first && link / 4 < end;
                if (e < first + p->interior[q] && link >= 0 && !inside)
                    return ps_fail(PS_INVALID, "interior element %lld touches another part",
                                   (long long)e);
                if (inside && p->layer_count &&
                    (link / 4 >=
                         p->layer_start[layer + 2 <= p->layer_count ? layer + 2 : p->layer_count] ||
                     link / 4 < p->layer_start[layer > 0 ? layer - 1 : 0]))
                    return ps_fail(PS_INVALID,
                                   "element %lld of layer %lld touches element %d, "
                                   "which is not in a neighbouring layer",
                                   (long long)e, (long long)layer, link / 4);
            }
        }
    }
    return PS_OK;
}

ps_status ps_partition_check(const ps_partition *p)
{
    PS_TRY(check_starts("part", p->part_start, p->parts, p->elements));
    if (p->layer_count) PS_TRY(check_starts("layer", p->layer_start, p->layer_count, p->elements));
    PS_TRY(check_elements(p));
    PS_TRY(check_links(p));
    return check_order(p);
}

/* ---- files ---- */

static ps_status pass_header(ps_store *store, const ps_partition *p, ps_entries_pass *each)
{
    const ps_entry entries[] = {PS_ENTRY("parts", p->parts),
                                PS_ENTRY("elements", p->elements),
                                PS_ENTRY("vertices", p->vertex_count),
                                PS_ENTRY("tagged_faces", p->face_count),
                                PS_ENTRY("layers", p->layer_count),
                                PS_ENTRY("components", p->components),
                                PS_ENTRY("method", p->method),
                                PS_ENTRY("order", p->order),
                                PS_ENTRY("mesh_uuid", p->mesh_uuid),
                                PS_ENTRY("mesh_hash", p->mesh_hash),
                                PS_ENTRY_OPTIONAL("tag_names", p->tag_names)};
    return each(store, "/", entries, PS_ENTRIES(entries));
}

ps_status ps_partition_write(ps_store *store, const ps_partition *p)
{
    PS_TRY(pass_header(store, p, ps_entries_put));
    return pass_arrays(store, p, ps_columns_write);
}

static ps_status get_header(ps_store *store, ps_partition *p)
{
    PS_TRY(pass_header(store, p, ps_entries_get));
    if (p->parts < 1 || p->elements < p->parts || p->elements >= (1 << 29) || p->vertex_count < 4 ||
        p->vertex_count > INT32_MAX || p->face_count < 0 || p->face_count > 4 * p->elements ||
        p->layer_count < 0 || p->layer_count > p->elements)
        return ps_fail(PS_INVALID,
                       "%s: %lld parts, %lld elements, %lld vertices, %lld tagged "
                       "faces, %lld layers: not those of a partition",
                       ps_store_path(store), (long long)p->parts, (long long)p->elements,
                       (long long)p->vertex_count, (long long)p->face_count,
                       (long long)p->layer_count);
    return PS_OK;
}

static ps_status read_all(ps_store *store, ps_partition *out)
{
    PS_TRY(get_header(store, out));
    PS_TRY(ps_partition_allocate(out));
    PS_TRY(pass_arrays(store, out, ps_columns_read));
    PS_TRY_IN(ps_partition_check(out), "%s", ps_store_path(store));
    return PS_OK;
}

ps_status ps_partition_read(ps_store *store, ps_partition *out)
{
    memset(out, 0, sizeof *out);
    ps_status status = read_all(store, out);
    if (status != PS_OK) ps_partition_release(out);
    return status;
}
