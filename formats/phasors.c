#include "formats/phasors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/log.h"
#include "runtime/memory.h"

struct ps_phasors {
    ps_store *store;
    ps_phasors_header header;
    int64_t chunk_rows;
    int ids[PS_PHASORS_FREQUENCIES_MAX][2];
};

static const char faces_name[] = "/elements/faces";

int ps_phasors_nodes(int order) { return (order + 1) * (order + 2) * (order + 3) / 6; }

ps_store *ps_phasors_store(ps_phasors *file) { return file->store; }
int64_t ps_phasors_chunk_rows(const ps_phasors *file) { return file->chunk_rows; }
const ps_phasors_header *ps_phasors_get_header(const ps_phasors *file) { return &file->header; }

static const char *name_of(int frequency, ps_phasors_field field, char out[PS_NAME_MAX])
{
    snprintf(out, PS_NAME_MAX, "/phasor_%03d/%s", frequency,
             field == PS_PHASORS_ELECTRIC ? "electric" : "magnetic");
    return out;
}

/* ---- checking ---- */

static ps_status check_frequencies(const ps_phasors_header *h)
{
    if (h->frequencies < 1 || h->frequencies > PS_PHASORS_FREQUENCIES_MAX)
        return ps_fail(PS_INVALID, "%d frequencies; there may be 1 to %d", h->frequencies,
                       PS_PHASORS_FREQUENCIES_MAX);
    for (int i = 0; i < h->frequencies; ++i) {
        if (!(h->frequency[i] > (i ? h->frequency[i - 1] : 0)) || !isfinite(h->frequency[i]))
            return ps_fail(PS_INVALID, "frequency %d of %d, %g Hz, is not positive and ascending",
                           i + 1, h->frequencies, h->frequency[i]);
        double size = hypot(h->source[i][0], h->source[i][1]);
        if (!(size > 0) || !isfinite(size))
            return ps_fail(PS_INVALID, "the source has nothing at %g Hz to refer the fields to",
                           h->frequency[i]);
    }
    return PS_OK;
}

static ps_status check_materials(const ps_phasors_header *h)
{
    if (h->materials < 1 || h->materials > PS_PHASORS_MATERIALS_MAX)
        return ps_fail(PS_INVALID, "%d materials; there may be 1 to %d", h->materials,
                       PS_PHASORS_MATERIALS_MAX);
    for (int m = 0; m < h->materials; ++m) {
        const ps_phasors_material *x = &h->material[m];
        if (!(x->eps > 0 && x->mu > 0 && x->sigma >= 0 && x->density >= 0) ||
            !isfinite(x->eps + x->mu + x->sigma + x->density))
            return ps_fail(PS_INVALID,
                           "material %d (tag %d, %s) has eps %g, mu %g, sigma %g, density %g; eps "
                           "and mu must be positive, the others not negative",
                           m, x->tag, x->name, x->eps, x->mu, x->sigma, x->density);
        for (int f = 0; f < h->frequencies && x->dispersive; ++f)
            if (!(h->sigma_at[f][m] >= 0) || !isfinite(h->eps_at[f][m] + h->sigma_at[f][m]))
                return ps_fail(PS_INVALID,
                               "material %d (tag %d, %s) has eps %g and sigma %g at %g Hz; sigma "
                               "must not be negative",
                               m, x->tag, x->name, h->eps_at[f][m], h->sigma_at[f][m],
                               h->frequency[f]);
        if (strchr(x->name, '\n'))
            return ps_fail(PS_INVALID, "the name of material %d has a line end", m);
    }
    return PS_OK;
}

static ps_status check_header(const ps_phasors_header *h)
{
    if (h->order < 1 || h->order > 4)
        return ps_fail(PS_INVALID, "order %d; 1 to 4 are known", h->order);
    if (h->rows < 0 || h->mesh_elements < 1 || h->rows > h->mesh_elements ||
        h->mesh_elements > INT32_MAX)
        return ps_fail(PS_INVALID, "%lld elements of a mesh of %lld", (long long)h->rows,
                       (long long)h->mesh_elements);
    PS_TRY(check_frequencies(h));
    return check_materials(h);
}

/* ---- writing ---- */

static ps_status put_materials(ps_store *store, const ps_phasors_header *h)
{
    int64_t tags[PS_PHASORS_MATERIALS_MAX];
    double columns[4][PS_PHASORS_MATERIALS_MAX];
    static const char *const names[] = {"material_eps", "material_mu", "material_sigma",
                                        "material_density"};
    char text[PS_PHASORS_MATERIALS_MAX * sizeof h->material->name] = "";
    for (int m = 0; m < h->materials; ++m) {
        const ps_phasors_material *x = &h->material[m];
        tags[m] = x->tag;
        columns[0][m] = x->eps;
        columns[1][m] = x->mu;
        columns[2][m] = x->sigma;
        columns[3][m] = x->density;
        if (m) strcat(text, "\n");
        strcat(text, x->name);
    }
    PS_TRY(ps_store_put_ints(store, "/", "material_tags", tags, h->materials));
    for (int k = 0; k < 4; ++k)
        PS_TRY(ps_store_put_reals(store, "/", names[k], columns[k], h->materials));
    return ps_store_put_text(store, "/", "material_names", text);
}

static bool is_dispersive(const ps_phasors_header *h)
{
    bool any = false;
    for (int m = 0; m < h->materials; ++m) any |= h->material[m].dispersive;
    return any;
}

static void frequency_names(int frequency, char eps[PS_NAME_MAX], char sigma[PS_NAME_MAX])
{
    snprintf(eps, PS_NAME_MAX, "material_eps_%03d", frequency);
    snprintf(sigma, PS_NAME_MAX, "material_sigma_%03d", frequency);
}

/* What version 2 has more. */
static ps_status put_dispersive(ps_store *store, const ps_phasors_header *h)
{
    int64_t which[PS_PHASORS_MATERIALS_MAX];
    char eps[PS_NAME_MAX], sigma[PS_NAME_MAX];
    if (!is_dispersive(h)) return PS_OK;
    for (int m = 0; m < h->materials; ++m) which[m] = h->material[m].dispersive;
    PS_TRY(ps_store_put_ints(store, "/", "material_dispersive", which, h->materials));
    for (int f = 0; f < h->frequencies; ++f) {
        frequency_names(f, eps, sigma);
        PS_TRY(ps_store_put_reals(store, "/", eps, h->eps_at[f], h->materials));
        PS_TRY(ps_store_put_reals(store, "/", sigma, h->sigma_at[f], h->materials));
    }
    return PS_OK;
}

static ps_status put_header(ps_store *store, const ps_phasors_header *h)
{
    PS_TRY(ps_store_put_int(store, "/", "order", h->order));
    PS_TRY(ps_store_put_text(store, "/", "mesh_hash", h->mesh_hash));
    PS_TRY(ps_store_put_int(store, "/", "mesh_elements", h->mesh_elements));
    PS_TRY(ps_store_put_reals(store, "/", "frequencies", h->frequency, h->frequencies));
    PS_TRY(ps_store_put_reals(store, "/", "source", h->source[0], 2 * h->frequencies));
    PS_TRY(ps_store_put_text(store, "/", "source_units", h->source_units));
    PS_TRY(ps_store_put_int(store, "/", "magnetic", h->magnetic));
    if (h->unsettled >= 0) PS_TRY(ps_store_put_real(store, "/", "unsettled", h->unsettled));
    if (h->has_accepted)
        PS_TRY(ps_store_put_reals(store, "/", "accepted_power", h->accepted, h->frequencies));
    if (h->has_incident)
        PS_TRY(ps_store_put_reals(store, "/", "incident_power", h->incident, h->frequencies));
    PS_TRY(put_dispersive(store, h));
    return put_materials(store, h);
}

static ps_status define_all(ps_phasors *file)
{
    const ps_phasors_header *h = &file->header;
    char name[PS_NAME_MAX];
    for (int f = 0; f < h->frequencies; ++f)
        for (int k = 0; k < 1 + h->magnetic; ++k) {
            ps_dataset_spec spec = {.name = name_of(f, (ps_phasors_field)k, name),
                                    .type = PS_F32,
                                    .rank = 3,
                                    .dims = {h->rows, 6, ps_phasors_nodes(h->order)},
                                    .chunk_rows = file->chunk_rows,
                                    .units = k ? "A/m" : "V/m",
                                    .description = "Re x, y, z, Im x, y, z at the nodes"};
            PS_TRY(ps_store_define(file->store, &spec, &file->ids[f][k]));
        }
    return PS_OK;
}

ps_status ps_phasors_create(const char *path, const ps_store_identity *identity,
                            const ps_phasors_header *header, ps_phasors **out)
{
    *out = NULL;
    ps_status status = check_header(header);
    if (status != PS_OK) return ps_context(status, "%s", path);
    PS_TRY(PS_ALLOC(out, 1, "a file of phasors"));
    int64_t row_bytes = 24 * ps_phasors_nodes(header->order);
    (*out)->header = *header;
    (*out)->chunk_rows = (4 << 20) / row_bytes;
    ps_store_identity own = *identity;
    own.format = PS_PHASORS_FORMAT;
    own.format_version = is_dispersive(header) ? PS_PHASORS_VERSION : 1;
    own.disk_estimate =
        header->rows * (12 + row_bytes * header->frequencies * (1 + header->magnetic));
    status = ps_store_create(path, &own, &(*out)->store);
    if (status == PS_OK) status = put_header((*out)->store, header);
    if (status == PS_OK) status = define_all(*out);
    if (status != PS_OK) ps_phasors_close(out);
    return status;
}

ps_status ps_phasors_write_elements(ps_phasors *file, const int32_t *number,
                                    const int32_t *material)
{
    ps_dataset_spec spec = {.name = "/elements/number",
                            .type = PS_I32,
                            .rank = 1,
                            .dims = {file->header.rows},
                            .units = "1",
                            .description = "tetrahedron of the mesh file"};
    PS_TRY(ps_store_write_array(file->store, &spec, number));
    spec.name = "/elements/material";
    spec.description = "index into the table of materials";
    return ps_store_write_array(file->store, &spec, material);
}

ps_status ps_phasors_write_faces(ps_phasors *file, const uint8_t *faces)
{
    ps_dataset_spec spec = {.name = faces_name,
                            .type = PS_U8,
                            .rank = 2,
                            .dims = {file->header.rows, 4},
                            .units = "1",
                            .description = "conditions: 1 PEC, 2 PMC, 3 absorbing"};
    return ps_store_write_array(file->store, &spec, faces);
}

ps_status ps_phasors_write_chunk(ps_phasors *file, int frequency, ps_phasors_field field,
                                 int64_t chunk, const float *values)
{
    const ps_phasors_header *h = &file->header;
    int64_t count = h->rows - chunk * file->chunk_rows;
    if (frequency < 0 || frequency >= h->frequencies || (field && !h->magnetic))
        return ps_fail(PS_FAILED, "%s has no frequency %d of field %d", ps_store_path(file->store),
                       frequency, field);
    if (count > file->chunk_rows) count = file->chunk_rows;
    return ps_store_write_chunk(file->store, file->ids[frequency][field], chunk, values,
                                count * 6 * ps_phasors_nodes(h->order), NULL);
}

ps_status ps_phasors_commit(ps_phasors **file)
{
    ps_status status = ps_store_commit(&(*file)->store);
    ps_phasors_close(file);
    return status;
}

void ps_phasors_close(ps_phasors **file)
{
    if (!*file) return;
    ps_store_close(&(*file)->store);
    free(*file);
    *file = NULL;
}

/* ---- reading ---- */

/* The number of values of an attribute. PS_INVALID unless it has 1 to `most`. */
static ps_status count_of(const ps_store *store, const char *name, int most, int *out)
{
    ps_attribute *list;
    int count;
    *out = 0;
    PS_TRY(ps_store_list_attributes(store, "/", &list, &count));
    for (int i = 0; i < count; ++i)
        if (strcmp(list[i].name, name) == 0 && list[i].count <= most) *out = (int)list[i].count;
    free(list);
    return *out > 0 ? PS_OK
                    : ps_fail(PS_INVALID, "%s: attribute %s is missing or has more than %d values",
                              ps_store_path(store), name, most);
}

static void get_names(char *text, ps_phasors_header *h)
{
    char *line = text;
    for (int m = 0; m < h->materials && line; ++m) {
        char *end = strchr(line, '\n');
        if (end) *end = '\0';
        snprintf(h->material[m].name, sizeof h->material[m].name, "%.47s", line);
        line = end ? end + 1 : NULL;
    }
}

static ps_status get_materials(const ps_store *store, ps_phasors_header *h)
{
    int64_t tags[PS_PHASORS_MATERIALS_MAX];
    double columns[4][PS_PHASORS_MATERIALS_MAX];
    static const char *const names[] = {"material_eps", "material_mu", "material_sigma",
                                        "material_density"};
    char text[PS_PHASORS_MATERIALS_MAX * sizeof h->material->name];
    PS_TRY(count_of(store, "material_tags", PS_PHASORS_MATERIALS_MAX, &h->materials));
    PS_TRY(ps_store_get_ints(store, "/", "material_tags", tags, h->materials));
    for (int k = 0; k < 4; ++k)
        PS_TRY(ps_store_get_reals(store, "/", names[k], columns[k], h->materials));
    PS_TRY(ps_store_get_text(store, "/", "material_names", text, sizeof text));
    for (int m = 0; m < h->materials; ++m)
        h->material[m] = (ps_phasors_material){
            (int)tags[m], columns[0][m], columns[1][m], columns[2][m], columns[3][m], "", false};
    get_names(text, h);
    return PS_OK;
}

static ps_status get_dispersive(const ps_store *store, ps_phasors_header *h)
{
    int64_t which[PS_PHASORS_MATERIALS_MAX];
    char eps[PS_NAME_MAX], sigma[PS_NAME_MAX];
    if (!ps_store_has(store, "/", "material_dispersive")) return PS_OK;
    PS_TRY(ps_store_get_ints(store, "/", "material_dispersive", which, h->materials));
    for (int f = 0; f < h->frequencies; ++f) {
        frequency_names(f, eps, sigma);
        PS_TRY(ps_store_get_reals(store, "/", eps, h->eps_at[f], h->materials));
        PS_TRY(ps_store_get_reals(store, "/", sigma, h->sigma_at[f], h->materials));
    }
    for (int m = 0; m < h->materials; ++m) h->material[m].dispersive = which[m] != 0;
    return PS_OK;
}

static ps_status get_header(const ps_store *store, ps_phasors_header *h)
{
    int64_t order, magnetic;
    PS_TRY(ps_store_get_int(store, "/", "order", &order));
    PS_TRY(ps_store_get_int(store, "/", "magnetic", &magnetic));
    PS_TRY(ps_store_get_int(store, "/", "mesh_elements", &h->mesh_elements));
    PS_TRY(ps_store_get_text(store, "/", "mesh_hash", h->mesh_hash, sizeof h->mesh_hash));
    PS_TRY(ps_store_get_text(store, "/", "source_units", h->source_units, sizeof h->source_units));
    h->order = order < 1 || order > 4 ? 0 : (int)order;
    h->magnetic = magnetic != 0;
    PS_TRY(count_of(store, "frequencies", PS_PHASORS_FREQUENCIES_MAX, &h->frequencies));
    PS_TRY(ps_store_get_reals(store, "/", "frequencies", h->frequency, h->frequencies));
    PS_TRY(ps_store_get_reals(store, "/", "source", h->source[0], 2 * h->frequencies));
    h->has_incident = ps_store_has(store, "/", "incident_power");
    if (h->has_incident) {
        PS_TRY(ps_store_get_reals(store, "/", "incident_power", h->incident, h->frequencies));
        for (int k = 0; k < h->frequencies; ++k)
            if (!isfinite(h->incident[k]) || h->incident[k] < 0)
                return ps_fail(PS_INVALID, "incident_power is no power");
    }
    h->has_accepted = ps_store_has(store, "/", "accepted_power");
    if (h->has_accepted) {
        PS_TRY(ps_store_get_reals(store, "/", "accepted_power", h->accepted, h->frequencies));
        for (int k = 0; k < h->frequencies; ++k)
            if (!isfinite(h->accepted[k]))
                return ps_fail(PS_INVALID, "accepted_power is not finite");
    }
    h->unsettled = -1;
    if (ps_store_has(store, "/", "unsettled")) {
        PS_TRY(ps_store_get_real(store, "/", "unsettled", &h->unsettled));
        if (!(h->unsettled >= 0) || !isfinite(h->unsettled))
            return ps_fail(PS_INVALID, "unsettled is %g; a share of the fields is expected",
                           h->unsettled);
    }
    PS_TRY(get_materials(store, h));
    return get_dispersive(store, h);
}

static ps_status find_array(ps_phasors *file, const char *name, ps_type type, int rank, int *id)
{
    ps_dataset_info info;
    int nodes = ps_phasors_nodes(file->header.order);
    PS_TRY(ps_store_find(file->store, name, id));
    PS_TRY(ps_store_dataset(file->store, *id, &info));
    bool fits = info.type == type && info.rank == rank && info.dims[0] == file->header.rows &&
                (rank == 1 || (info.dims[1] == 6 && info.dims[2] == nodes));
    return fits ? PS_OK
                : ps_fail(PS_INVALID,
                          "%s does not have the type or shape that order %d and %lld "
                          "elements ask for",
                          name, file->header.order, (long long)file->header.rows);
}

static ps_status find_all(ps_phasors *file)
{
    int id;
    char name[PS_NAME_MAX];
    ps_dataset_info info;
    PS_TRY(ps_store_find(file->store, "/elements/number", &id));
    PS_TRY(ps_store_dataset(file->store, id, &info));
    file->header.rows = info.dims[0];
    PS_TRY(check_header(&file->header));
    PS_TRY(find_array(file, "/elements/number", PS_I32, 1, &id));
    PS_TRY(find_array(file, "/elements/material", PS_I32, 1, &id));
    for (int f = 0; f < file->header.frequencies; ++f)
        for (int k = 0; k < 1 + file->header.magnetic; ++k)
            PS_TRY(find_array(file, name_of(f, (ps_phasors_field)k, name), PS_F32, 3,
                              &file->ids[f][k]));
    PS_TRY(ps_store_dataset(file->store, file->ids[0][0], &info));
    file->chunk_rows = info.chunk_rows;
    return PS_OK;
}

ps_status ps_phasors_open(const char *path, ps_phasors **out)
{
    PS_TRY(PS_ALLOC(out, 1, "a file of phasors"));
    ps_status status = ps_store_open(path, PS_PHASORS_FORMAT, PS_PHASORS_VERSION, &(*out)->store);
    if (status == PS_OK) {
        status = get_header((*out)->store, &(*out)->header);
        if (status == PS_OK) status = find_all(*out);
        if (status == PS_OK) ps_phasors_choose(*out, 0);
        if (status != PS_OK) status = ps_context(status, "%s", path);
    }
    if (status != PS_OK) ps_phasors_close(out);
    return status;
}

ps_status ps_phasors_accepted(const ps_phasors *file, int frequency, double *out)
{
    const ps_phasors_header *h = &file->header;
    const double *source = h->source[frequency];
    if (!h->has_accepted)
        return ps_fail(PS_USAGE,
                       "%s does not say what power was accepted: the run had no ports (dgtd-setup "
                       "--port)",
                       ps_store_path(file->store));
    *out = h->accepted[frequency] / (source[0] * source[0] + source[1] * source[1]);
    if (*out > 0) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s: at %g Hz its ports take %g W out of the fields instead of giving some",
                   ps_store_path(file->store), h->frequency[frequency], -h->accepted[frequency]);
}

ps_status ps_phasors_incident(const ps_phasors *file, int frequency, double *out)
{
    const ps_phasors_header *h = &file->header;
    const double *source = h->source[frequency];
    if (!h->has_incident || h->incident[frequency] == 0)
        return ps_fail(PS_USAGE,
                       "%s does not say what power came into its ports at %g Hz: no port was driven, the mode of one has "
                       "its cut-off above, or it was made by an older dgtd-march",
                       ps_store_path(file->store), h->frequency[frequency]);
    *out = h->incident[frequency] / (source[0] * source[0] + source[1] * source[1]);
    return PS_OK;
}

void ps_phasors_choose(ps_phasors *file, int frequency)
{
    ps_phasors_header *h = &file->header;
    for (int m = 0; m < h->materials; ++m) {
        if (!h->material[m].dispersive) continue;
        h->material[m].eps = h->eps_at[frequency][m];
        h->material[m].sigma = h->sigma_at[frequency][m];
    }
}

void ps_phasors_warn_unsettled(const ps_phasors *file)
{
    double share = file->header.unsettled;
    if (share < 0)
        ps_info("%s does not say whether its fields had died away or become steady",
                ps_store_path(file->store));
    else if (share > PS_PHASORS_SETTLED)
        ps_warning("%s: the fields had not died away or become steady when they were transformed; "
                   "%.2g of them (by the root of the electric energy) had not, and what is made "
                   "of them is as uncertain. March on for longer (penstock-dgtd-march said how)",
                   ps_store_path(file->store), share);
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* A tetrahedron that is there twice, -1: none. By order and not by marks: how large a mesh is, the
 * file only says. */
static ps_status find_twice(const int32_t *number, int64_t rows, int32_t *twice)
{
    int32_t *sorted;
    *twice = -1;
    PS_TRY(PS_ALLOC(&sorted, rows, "numbers of elements"));
    memcpy(sorted, number, (size_t)rows * sizeof *sorted);
    qsort(sorted, (size_t)rows, sizeof *sorted, by_number);
    for (int64_t i = 1; i < rows; ++i)
        if (sorted[i] == sorted[i - 1]) *twice = sorted[i];
    free(sorted);
    return PS_OK;
}

ps_status ps_phasors_read_elements(ps_phasors *file, int32_t *number, int32_t *material)
{
    const ps_phasors_header *h = &file->header;
    int32_t twice;
    PS_TRY(ps_store_read_array(file->store, "/elements/number", PS_I32, 0, h->rows,
                               PS_ROOM(number, h->rows), number));
    PS_TRY(ps_store_read_array(file->store, "/elements/material", PS_I32, 0, h->rows,
                               PS_ROOM(material, h->rows), material));
    PS_TRY(find_twice(number, h->rows, &twice));
    for (int64_t i = 0; i < h->rows; ++i)
        if (number[i] < 0 || number[i] >= h->mesh_elements || number[i] == twice ||
            material[i] < 0 || material[i] >= h->materials)
            return ps_fail(PS_INVALID,
                           "%s: element %lld is tetrahedron %d of %lld, material %d of %d: out of "
                           "range, or a tetrahedron twice",
                           ps_store_path(file->store), (long long)i, number[i],
                           (long long)h->mesh_elements, material[i], h->materials);
    return PS_OK;
}

bool ps_phasors_has_faces(const ps_phasors *file)
{
    ps_dataset_info info;
    for (int id = 0; id < ps_store_dataset_count(file->store); ++id)
        if (ps_store_dataset(file->store, id, &info) == PS_OK && strcmp(info.name, faces_name) == 0)
            return true;
    return false;
}

ps_status ps_phasors_read_faces(ps_phasors *file, uint8_t *faces)
{
    int id;
    ps_dataset_info info;
    PS_TRY(ps_store_find(file->store, faces_name, &id));
    PS_TRY(ps_store_dataset(file->store, id, &info));
    if (info.type != PS_U8 || info.rank != 2 || info.dims[0] != file->header.rows ||
        info.dims[1] != 4)
        return ps_fail(PS_INVALID, "%s: %s is not four bytes an element",
                       ps_store_path(file->store), faces_name);
    return ps_store_read_array(file->store, faces_name, PS_U8, 0, file->header.rows,
                               PS_ROOM(faces, 4 * file->header.rows), faces);
}

/* values (Re, Im) / source, in place. */
static void divide(float *values, int64_t rows, int part, const double source[2])
{
    double norm = source[0] * source[0] + source[1] * source[1];
    double a = source[0] / norm, b = -source[1] / norm;
    if (a == 1 && b == 0) return;
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < rows; ++r) {
        float *re = values + 2 * part * r, *im = re + part;
        for (int i = 0; i < part; ++i) {
            double x = re[i], y = im[i];
            re[i] = (float)(a * x - b * y);
            im[i] = (float)(a * y + b * x);
        }
    }
}

ps_status ps_phasors_read_rows(ps_phasors *file, int frequency, ps_phasors_field field,
                               int64_t first, int64_t count, float *values)
{
    const ps_phasors_header *h = &file->header;
    char name[PS_NAME_MAX];
    if (frequency < 0 || frequency >= h->frequencies || (field && !h->magnetic))
        return ps_fail(PS_INVALID, "%s has no %s field at frequency number %d",
                       ps_store_path(file->store), field ? "magnetic" : "electric", frequency);
    PS_TRY(ps_store_read_array(file->store, name_of(frequency, field, name), PS_F32, first, count,
                               PS_ROOM(values, count * 6 * ps_phasors_nodes(h->order)), values));
    divide(values, count, 3 * ps_phasors_nodes(h->order), h->source[frequency]);
    return PS_OK;
}
