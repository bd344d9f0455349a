/* dgtd_model: writing, and the header of a file that is read; domains are in dgtd_domain.c. */
#include "formats/dgtd_model.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "formats/columns.h"
#include "formats/dgtd_model_internal.h"
#include "formats/store_texts.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* ---- writing ---- */

/* Behind `ball`; rows are an attribute of their own. */
enum { LAYER_ROWS = 6, LAYER_VALUES = sizeof(ps_dgtd_layer) / sizeof(double) - 1 - LAYER_ROWS };

/* The layer as the attribute `matched_layer` has it. */
static ps_status put_layer(ps_store *store, const ps_dgtd_model *m)
{
    const ps_dgtd_layer *x = &m->header.layer;
    PS_TRY(ps_store_put_int(store, "/", "mesh_elements",
                            m->header.mesh_elements > 0 ? m->header.mesh_elements
                                                        : m->partition->elements));
    if (!m->layer) return ps_store_put_text(store, "/", "matched_layer", "none");
    PS_TRY(ps_store_put_text(store, "/", "matched_layer", x->ball ? "ball" : "box"));
    PS_TRY(ps_store_put_reals(store, "/", "matched_layer_values", x->inner[0], LAYER_VALUES));
    return ps_store_put_reals(store, "/", "matched_layer_rows", x->rows[0], LAYER_ROWS);
}

static ps_status put_header(ps_store *store, const ps_dgtd_model *m)
{
    const ps_dgtd_model_header *h = &m->header;
    PS_TRY(ps_store_put_int(store, "/", "polynomial_order", h->order));
    PS_TRY(ps_store_put_text(store, "/", "absorbing", h->averaged ? "averaged" : "paper"));
    PS_TRY(ps_store_put_text(store, "/", "flux",
                             h->upwind_layer ? "layer"
                             : h->upwind     ? "upwind"
                                             : "centred"));
    PS_TRY(ps_store_put_real(store, "/", "time_step", h->dt));
    PS_TRY(ps_store_put_real(store, "/", "time_step_seconds", h->dt / PS_DGTD_C0));
    PS_TRY(ps_store_put_real(store, "/", "limit_rule", h->dt_rule));
    PS_TRY(ps_store_put_real(store, "/", "limit_power", h->dt_power));
    if (h->upwind_layer) PS_TRY(ps_store_put_real(store, "/", "limit_layer", h->dt_layer));
    PS_TRY(ps_store_put_int(store, "/", "total_field", m->total != NULL));
    PS_TRY(put_layer(store, m));
    PS_TRY(ps_store_put_int(store, "/", "local_levels", m->reach ? h->local_levels : 0));
    PS_TRY(ps_store_put_int(store, "/", "media", h->media));
    PS_TRY(ps_store_put_int(store, "/", "sources", h->sources));
    return ps_store_put_lines(store, "media_names", h->media, m->media->name, sizeof *m->media);
}

static ps_status put_elements(ps_store *store, const ps_dgtd_model *m)
{
    int64_t n = m->partition->elements;
    const ps_column columns[] = {
        {"/mesh/matched_layer", "1", "1 in the perfectly matched layer", PS_U8, m->layer ? n : 0, 1,
         .at = &m->layer},
        {"/mesh/reach", "1", "levels of local steps: P + 16 Q; 255 closed", PS_U8, m->reach ? n : 0,
         1, .at = &m->reach},
        {"/mesh/kind", "1", "faces: 0 inner, 1 PEC, 2 PMC, 3 absorbing", PS_U8, n, 4,
         .at = &m->kinds},
        {"/mesh/material", "1", "medium", PS_U16, n, 1, .at = &m->material},
        {"/mesh/total", "1", "1 in the total-field region", PS_U8, m->total ? n : 0, 1,
         .at = &m->total}};
    return ps_columns_write(store, columns, PS_COLUMNS(columns));
}

ps_status ps_dgtd_model_save(const char *path, const ps_dgtd_model *model,
                             const ps_store_identity *identity, const ps_store *mesh)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_TRY(ps_store_create(path, identity, &store));
    PS_TRY(ps_store_add_input(store, "partition", mesh));
    PS_TRY(ps_partition_write(store, model->partition));
    PS_TRY(put_header(store, model));
    PS_TRY(put_elements(store, model));
    if (model->ports) PS_TRY(ps_dgtd_ports_write(store, model->ports));
    if (model->wires) PS_TRY(ps_dgtd_wires_write(store, model->wires));
    PS_TRY(ps_dgtd_tables_write(store, model));
    return ps_store_commit(&store);
}

/* ---- reading ---- */

static ps_status get_choice(const ps_store *store, const char *name, const char *no,
                            const char *yes, bool *out)
{
    char text[32];
    PS_TRY(ps_store_get_text(store, "/", name, text, sizeof text));
    if (strcmp(text, no) != 0 && strcmp(text, yes) != 0)
        return ps_fail(PS_INVALID, "%s: %s is \"%s\", expected %s or %s", ps_store_path(store),
                       name, text, no, yes);
    *out = strcmp(text, yes) == 0;
    return PS_OK;
}

static ps_status get_sizes(const ps_store *store, ps_dgtd_model_header *h)
{
    int64_t order, total;
    PS_TRY(ps_store_get_int(store, "/", "polynomial_order", &order));
    PS_TRY(ps_store_get_int(store, "/", "total_field", &total));
    PS_TRY(ps_store_get_int(store, "/", "media", &h->media));
    PS_TRY(ps_store_get_int(store, "/", "sources", &h->sources));
    PS_TRY(ps_store_get_int(store, "/", "elements", &h->elements));
    PS_TRY(ps_store_get_int(store, "/", "vertices", &h->vertex_count));
    PS_TRY(ps_store_get_int(store, "/", "parts", &h->parts));
    PS_TRY(ps_store_get_int(store, "/", "layers", &h->layer_count));
    h->order = (int)order;
    h->has_total = total != 0;
    if (order < 1 || order > 4 || h->media < 1 || h->media > PS_DGTD_MEDIA_MAX || h->sources < 0 ||
        h->sources > PS_DGTD_SOURCES_MAX || h->parts < 1 || h->elements < h->parts ||
        h->elements >= (1 << 29) || h->vertex_count < 4 || h->vertex_count > INT32_MAX ||
        h->layer_count < 0 || h->layer_count > h->elements)
        return ps_fail(PS_INVALID,
                       "%s: order %lld, %lld media, %lld sources, %lld elements in "
                       "%lld parts: not those of a model",
                       ps_store_path(store), (long long)order, (long long)h->media,
                       (long long)h->sources, (long long)h->elements, (long long)h->parts);
    return PS_OK;
}

static bool layer_is_finite(const ps_dgtd_layer *x)
{
    double values[LAYER_VALUES + LAYER_ROWS];
    memcpy(values, (const char *)x + offsetof(ps_dgtd_layer, inner), sizeof values);
    for (int k = 0; k < LAYER_VALUES + LAYER_ROWS; ++k)
        if (!isfinite(values[k])) return false;
    return true;
}

/* Files of version 1 have no layer, those of version 2 no rows in it. */
static ps_status get_layer(const ps_store *store, ps_dgtd_model_header *h)
{
    ps_dgtd_layer *x = &h->layer;
    char shape[16];
    bool good = true;
    h->mesh_elements = h->elements;
    if (!ps_store_has(store, "/", "matched_layer")) return PS_OK;
    PS_TRY(ps_store_get_text(store, "/", "matched_layer", shape, sizeof shape));
    PS_TRY(ps_store_get_int(store, "/", "mesh_elements", &h->mesh_elements));
    h->has_layer = strcmp(shape, "none") != 0;
    x->ball = strcmp(shape, "ball") == 0;
    if (h->has_layer) {
        PS_TRY(ps_store_get_reals(store, "/", "matched_layer_values", x->inner[0], LAYER_VALUES));
        if (ps_store_has(store, "/", "matched_layer_rows"))
            PS_TRY(ps_store_get_reals(store, "/", "matched_layer_rows", x->rows[0], LAYER_ROWS));
        good = (x->ball || strcmp(shape, "box") == 0) && x->grading >= 1 && x->kappa >= 1 &&
               x->alpha > 0 && (!x->ball || (x->radius > 0 && x->thickness[0][0] > 0));
        for (int k = 0; k < 6; ++k)
            good = good && x->thickness[k / 3][k % 3] >= 0 && x->sigma[k / 3][k % 3] >= 0 &&
                   x->rows[k / 3][k % 3] >= 0;
        good = good && layer_is_finite(x);
    }
    if (!good || h->mesh_elements < 1 || h->mesh_elements > h->elements)
        return ps_fail(PS_INVALID, "%s: matched_layer is \"%s\" with values that no layer has",
                       ps_store_path(store), shape);
    return PS_OK;
}

static ps_status get_flux(const ps_store *store, ps_dgtd_model_header *h)
{
    char text[16];
    PS_TRY(ps_store_get_text(store, "/", "flux", text, sizeof text));
    h->upwind_layer = h->has_layer && strcmp(text, "layer") == 0;
    if (!h->upwind_layer) return get_choice(store, "flux", "centred", "upwind", &h->upwind);
    h->upwind = true;
    PS_TRY(ps_store_get_real(store, "/", "limit_layer", &h->dt_layer));
    return h->dt_layer > 0
               ? PS_OK
               : ps_fail(PS_INVALID, "%s: limit_layer is %g m", ps_store_path(store), h->dt_layer);
}

/* Files of versions 1 to 3 have none. */
static ps_status get_local(const ps_store *store, ps_dgtd_model_header *h)
{
    int64_t levels = 0;
    if (ps_store_has(store, "/", "local_levels"))
        PS_TRY(ps_store_get_int(store, "/", "local_levels", &levels));
    if (levels < 0 || levels > PS_DGTD_MODEL_LEVELS)
        return ps_fail(PS_INVALID, "%s: %lld levels of local steps, expected 0 to %d",
                       ps_store_path(store), (long long)levels, PS_DGTD_MODEL_LEVELS);
    h->local_levels = (int)levels;
    return PS_OK;
}

static ps_status get_header(const ps_store *store, ps_dgtd_model_header *h)
{
    PS_TRY(get_sizes(store, h));
    PS_TRY(get_layer(store, h));
    PS_TRY(get_local(store, h));
    PS_TRY(get_choice(store, "absorbing", "paper", "averaged", &h->averaged));
    PS_TRY(get_flux(store, h));
    PS_TRY(ps_store_get_real(store, "/", "time_step", &h->dt));
    PS_TRY(ps_store_get_real(store, "/", "limit_rule", &h->dt_rule));
    PS_TRY(ps_store_get_real(store, "/", "limit_power", &h->dt_power));
    PS_TRY(ps_store_get_text(store, "/", "mesh_uuid", h->mesh_uuid, sizeof h->mesh_uuid));
    PS_TRY(ps_store_get_text(store, "/", "mesh_hash", h->mesh_hash, sizeof h->mesh_hash));
    if (ps_store_has(store, "/", "tag_names"))
        PS_TRY(ps_store_get_text(store, "/", "tag_names", h->tag_names, sizeof h->tag_names));
    strncpy(h->uuid, ps_store_uuid(store), sizeof h->uuid - 1);
    PS_TRY(ps_store_content_hash(store, h->content_hash));
    if (!(h->dt > 0) || !isfinite(h->dt) || !(h->dt_rule > 0) || !(h->dt_power >= 0))
        return ps_fail(PS_INVALID, "%s: a time step of %g m", ps_store_path(store), h->dt);
    return PS_OK;
}

bool ps_dgtd_medium_is_passive(const ps_dgtd_medium *x)
{
    bool good = true;
    for (const ps_dgtd_pole *p = x->poles; p < x->poles + x->pole_count; ++p)
        good = good && p->strength > 0 && isfinite(p->strength) && isfinite(p->rate) &&
               isfinite(p->frequency) &&
               (p->kind == PS_DGTD_DEBYE ? p->rate > 0 : p->frequency > 0 && p->rate >= 0);
    if (!x->anisotropic) return good;
    const double *t = x->tensor;
    double two = t[0] * t[1] - t[3] * t[3];
    double three = two * t[2] - t[0] * t[5] * t[5] - t[1] * t[4] * t[4] + 2 * t[3] * t[4] * t[5];
    return good && t[0] > 0 && two > 0 && three > 0 && isfinite(three);
}

static ps_status check_values(const ps_dgtd_model_file *file)
{
    const ps_dgtd_model_header *h = &file->header;
    for (int64_t i = 0; i < h->media; ++i) {
        const ps_dgtd_medium *x = file->media + i;
        if (!(x->eps > 0) || !(x->mu > 0) || !(x->sigma >= 0) || !(x->density >= 0) ||
            !isfinite(x->eps + x->mu + x->sigma + x->density))
            return ps_fail(PS_INVALID,
                           "%s: medium of tag %d has eps %g, mu %g, sigma %g, "
                           "density %g",
                           ps_store_path(file->store), x->tag, x->eps, x->mu, x->sigma, x->density);
        if (!ps_dgtd_medium_is_passive(x) || !(x->band[0] >= 0) || !isfinite(x->band[1]))
            return ps_fail(PS_INVALID,
                           "%s: medium of tag %d has poles that are not passive, a tensor that is "
                           "not positive definite, or no band",
                           ps_store_path(file->store), x->tag);
    }
    for (int64_t i = 0; i < h->sources; ++i) {
        const ps_dgtd_source *x = file->sources + i;
        double sum = x->amplitude + x->centre + x->width + x->omega + x->radius;
        for (int c = 0; c < 3; ++c)
            sum += x->axis[c] + x->polarisation[c] + x->origin[c] + x->extent[c];
        if ((unsigned)x->kind > PS_DGTD_SOURCE_MODE || x->shape < 0 || x->shape > 1 ||
            !isfinite(sum) || (x->kind != PS_DGTD_SOURCE_MODE && !(x->width > 0)))
            return ps_fail(PS_INVALID,
                           "%s: source %lld is of kind %d and shape %d, or has values "
                           "that no source has",
                           ps_store_path(file->store), (long long)i, (int)x->kind, x->shape);
    }
    return PS_OK;
}

static ps_status get_tables(ps_dgtd_model_file *file)
{
    const ps_dgtd_model_header *h = &file->header;
    PS_TRY(PS_ALLOC(&file->media, h->media, "media"));
    PS_TRY(PS_ALLOC(&file->sources, h->sources, "sources"));
    PS_TRY(ps_dgtd_tables_read(file->store, h, file->media, file->sources));
    PS_TRY(ps_store_get_lines(file->store, "media_names", h->media, file->media->name,
                              sizeof *file->media, sizeof file->media->name));
    return check_values(file);
}

/* Sibling arrays have the sizes of the header, so that a rank may read any rows of theirs. */
static ps_status check_arrays(const ps_dgtd_model_file *file)
{
    const ps_dgtd_model_header *h = &file->header;
    const ps_store *s = file->store;
    PS_TRY(ps_store_expect(s, "/mesh/vertices", PS_F64, h->vertex_count, 3));
    PS_TRY(ps_store_expect(s, "/mesh/tetrahedra", PS_I32, h->elements, 4));
    PS_TRY(ps_store_expect(s, "/mesh/links", PS_I32, h->elements, 4));
    PS_TRY(ps_store_expect(s, "/mesh/kind", PS_U8, h->elements, 4));
    PS_TRY(ps_store_expect(s, "/mesh/material", PS_U16, h->elements, 1));
    PS_TRY(ps_store_expect(s, "/mesh/source", PS_I32, h->elements, 1));
    if (h->local_levels > 0) PS_TRY(ps_store_expect(s, "/mesh/reach", PS_U8, h->elements, 1));
    if (h->has_layer) PS_TRY(ps_store_expect(s, "/mesh/matched_layer", PS_U8, h->elements, 1));
    return h->has_total ? ps_store_expect(s, "/mesh/total", PS_U8, h->elements, 1) : PS_OK;
}

static ps_status get_starts(ps_dgtd_model_file *file)
{
    const ps_dgtd_model_header *h = &file->header;
    const ps_column columns[] = {
        {"/parts/start", NULL, NULL, PS_I64, h->parts + 1, 1, .at = &file->part_start},
        {"/parts/interior", NULL, NULL, PS_I64, h->parts, 1, .at = &file->interior}};
    PS_TRY(ps_columns_load(file->store, columns, PS_COLUMNS(columns)));
    bool good = file->part_start[0] == 0 && file->part_start[h->parts] == h->elements;
    for (int64_t q = 0; q < h->parts; ++q) {
        int64_t first = file->part_start[q], end = file->part_start[q + 1];
        good = good && first >= 0 && first < end && file->interior[q] >= 0 &&
               file->interior[q] <= end - first;
    }
    if (!good)
        return ps_fail(PS_INVALID, "%s: /parts does not cut %lld elements into %lld parts",
                       ps_store_path(file->store), (long long)h->elements, (long long)h->parts);
    return PS_OK;
}

/* A vector a face, or one at each node of a face of this order. */
static ps_status check_port_nodes(const ps_dgtd_model_file *f)
{
    int64_t p = f->header.order;
    if (f->ports.count == 0 || f->ports.nodes == 1 || f->ports.nodes == (p + 1) * (p + 2) / 2)
        return PS_OK;
    return ps_fail(PS_INVALID, "%s: modes at %d nodes a face, of order %lld",
                   ps_store_path(f->store), f->ports.nodes, (long long)p);
}

ps_status ps_dgtd_model_open(const char *path, ps_dgtd_model_file **out)
{
    PS_SCOPED(ps_dgtd_model_close) ps_dgtd_model_file *f = NULL;
    *out = NULL;
    PS_TRY(PS_ALLOC(&f, 1, "a model file"));
    PS_TRY(ps_store_open(path, PS_DGTD_MODEL_FORMAT, PS_DGTD_MODEL_VERSION, &f->store));
    PS_TRY(get_header(f->store, &f->header));
    PS_TRY(check_arrays(f));
    PS_TRY(get_starts(f));
    PS_TRY(get_tables(f));
    PS_TRY(ps_dgtd_ports_read(f->store, f->header.elements, &f->ports));
    PS_TRY(check_port_nodes(f));
    PS_TRY(ps_dgtd_wires_read(f->store, &f->ports, &f->wires));
    *out = f;
    f = NULL;
    return PS_OK;
}

void ps_dgtd_model_close(ps_dgtd_model_file **file)
{
    if (!*file) return;
    ps_store_close(&(*file)->store);
    free((*file)->part_start), free((*file)->interior);
    free((*file)->media), free((*file)->sources);
    ps_dgtd_ports_release(&(*file)->ports);
    ps_dgtd_wires_release(&(*file)->wires);
    free(*file);
    *file = NULL;
}

const ps_dgtd_model_header *ps_dgtd_model_head(const ps_dgtd_model_file *f) { return &f->header; }
const ps_dgtd_medium *ps_dgtd_model_media(const ps_dgtd_model_file *f) { return f->media; }
const ps_dgtd_source *ps_dgtd_model_sources(const ps_dgtd_model_file *f) { return f->sources; }
const ps_dgtd_ports *ps_dgtd_model_ports(const ps_dgtd_model_file *f) { return &f->ports; }
const ps_dgtd_wires *ps_dgtd_model_wires(const ps_dgtd_model_file *f) { return &f->wires; }
const int64_t *ps_dgtd_model_part_start(const ps_dgtd_model_file *f) { return f->part_start; }
const int64_t *ps_dgtd_model_interior(const ps_dgtd_model_file *f) { return f->interior; }
ps_store *ps_dgtd_model_store(const ps_dgtd_model_file *f) { return f->store; }

/* Into `hash`: of media the chunks' hashes, of elements sums of integers, which do not depend on
 * the partition. */
static ps_status fold_dataset(const ps_store *store, int id, const ps_dataset_info *info,
                              bool of_media, uint64_t *hash)
{
    double sums[2] = {0};
    for (int64_t c = 0; c < info->chunk_count; ++c) {
        ps_chunk_info chunk;
        PS_TRY(ps_store_chunk(store, id, c, &chunk));
        sums[0] += chunk.sum, sums[1] += chunk.sum_squares;
        if (of_media) *hash = XXH3_64bits_withSeed(&chunk.xxh3, sizeof chunk.xxh3, *hash);
    }
    if (!of_media) *hash = XXH3_64bits_withSeed(sums, sizeof sums, *hash);
    return PS_OK;
}

ps_status ps_dgtd_model_body_hash(const ps_dgtd_model_file *file, char out[17])
{
    static const char *const of_mesh[] = {"/mesh/kind", "/mesh/material", "/mesh/matched_layer"};
    const ps_dgtd_model_header *h = &file->header;
    const double of_header[] = {h->order,       h->upwind,      h->averaged,    h->layer.grading,
                                h->layer.kappa, h->layer.alpha, h->layer.radius};
    uint64_t hash = XXH3_64bits(of_header, sizeof of_header);
    for (int d = 0; d < ps_store_dataset_count(file->store); ++d) {
        ps_dataset_info info;
        PS_TRY(ps_store_dataset(file->store, d, &info));
        bool of_media = strncmp(info.name, "/media/", 7) == 0, counts = of_media;
        for (size_t k = 0; k < sizeof of_mesh / sizeof *of_mesh; ++k)
            counts |= strcmp(info.name, of_mesh[k]) == 0;
        if (counts) PS_TRY(fold_dataset(file->store, d, &info, of_media, &hash));
    }
    snprintf(out, 17, "%016" PRIx64, hash);
    return PS_OK;
}
