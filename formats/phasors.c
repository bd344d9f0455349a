#include "formats/phasors_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compare.h"
#include "runtime/first_failure.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

struct ps_phasors {
    ps_store *store;
    ps_phasors_header header;
    int64_t chunk_rows;
    int ids[PS_PHASORS_FREQUENCIES_MAX][2];
};

#define ELEMENT "/element"

/* Marks of elements, a byte each: what lies on their faces, where sources act. */
static const ps_dataset_spec marks[] = {
    {.name = "/elements/faces",
     .type = PS_U8,
     .rank = 2,
     .dims = {0, 4},
     .dimensions = {ELEMENT, "/face"},
     .units = "1",
     .description = "conditions: 1 PEC, 2 PMC, 3 absorbing"},
    {.name = "/elements/driven",
     .type = PS_U8,
     .rank = 1,
     .dimensions = {ELEMENT},
     .units = "1",
     .description = "1: a current, a port or a wire acts in it"}};

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

/* ---- writing ---- */

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
                                    .dimensions = {ELEMENT, "/component", "/node"},
                                    .chunk_rows = file->chunk_rows,
                                    .units = k ? "A/m" : "V/m",
                                    .description = "Re x, y, z, Im x, y, z at the nodes"};
            PS_TRY(ps_store_define(file->store, &spec, &file->ids[f][k]));
            PS_TRY(ps_store_put_real(file->store, name, "frequency", h->frequency[f]));
        }
    return PS_OK;
}

ps_status ps_phasors_create(const char *path, const ps_store_identity *identity,
                            const ps_phasors_header *header, ps_phasors **out)
{
    *out = NULL;
    ps_status status = phasors_check_header(header);
    if (status != PS_OK) return ps_context(status, "%s", path);
    PS_TRY(PS_ALLOC(out, 1, "a file of phasors"));
    int64_t row_bytes = 24 * ps_phasors_nodes(header->order);
    (*out)->header = *header;
    (*out)->chunk_rows = (4 << 20) / row_bytes;
    ps_store_identity own = *identity;
    own.format = PS_PHASORS_FORMAT;
    own.format_version = phasors_are_dispersive(header) ? PS_PHASORS_VERSION : 1;
    own.disk_estimate =
        header->rows * (12 + row_bytes * header->frequencies * (1 + header->magnetic));
    status = ps_store_create(path, &own, &(*out)->store);
    if (status == PS_OK) status = phasors_put_header((*out)->store, header);
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
                            .dimensions = {ELEMENT},
                            .units = "1",
                            .description = "tetrahedron of the mesh file"};
    PS_TRY(ps_store_write_array(file->store, &spec, number));
    spec.name = "/elements/material";
    spec.description = "index into the table of materials";
    return ps_store_write_array(file->store, &spec, material);
}

ps_status ps_phasors_write_marks(ps_phasors *file, ps_phasors_mark what, const uint8_t *bytes)
{
    ps_dataset_spec spec = marks[what];
    spec.dims[0] = file->header.rows;
    return ps_store_write_array(file->store, &spec, bytes);
}

ps_status ps_phasors_write_chunks(ps_phasors *file, int frequency, ps_phasors_field field,
                                  int64_t first, int64_t chunks, const float *values)
{
    const ps_phasors_header *h = &file->header;
    int64_t width = 6 * ps_phasors_nodes(h->order);
    ps_failure failure = {0};
    if (frequency < 0 || frequency >= h->frequencies || (field && !h->magnetic))
        return ps_fail(PS_FAILED, "%s has no frequency %d of field %d", ps_store_path(file->store),
                       frequency, field);
#pragma omp parallel for schedule(dynamic) if (chunks > 1)
    for (int64_t c = first; c < first + chunks; ++c) {
        int64_t left = h->rows - c * file->chunk_rows;
        int64_t rows = left < file->chunk_rows ? left : file->chunk_rows;
        const float *from = values + (c - first) * file->chunk_rows * width;
        ps_note_failure(&failure, ps_store_write_chunk(file->store, file->ids[frequency][field], c,
                                                       from, rows * width, NULL));
    }
    return ps_first_failure(&failure);
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
    PS_TRY(phasors_check_header(&file->header));
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
    PS_SCOPED(ps_phasors_close) ps_phasors *file = NULL;
    *out = NULL;
    PS_TRY(PS_ALLOC(&file, 1, "a file of phasors"));
    PS_TRY(ps_store_open(path, PS_PHASORS_FORMAT, PS_PHASORS_VERSION, &file->store));
    PS_TRY_IN(phasors_get_header(file->store, &file->header), "%s", path);
    PS_TRY_IN(find_all(file), "%s", path);
    ps_phasors_choose(file, 0);
    *out = file;
    file = NULL;
    return PS_OK;
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

bool ps_phasors_ports_give(const ps_phasors *file, int frequency, double *out)
{
    return file->header.has_accepted && strcmp(file->header.source_units, "V") == 0 &&
           ps_phasors_accepted(file, frequency, out) == PS_OK;
}

ps_status ps_phasors_incident(const ps_phasors *file, int frequency, double *out)
{
    const ps_phasors_header *h = &file->header;
    const double *source = h->source[frequency];
    if (!h->has_incident || h->incident[frequency] == 0)
        return ps_fail(PS_USAGE,
                       "%s does not say what power came into its ports at %g Hz: no port was "
                       "driven, the mode of one has "
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

ps_status ps_phasors_check_settled(const ps_phasors *file, const ps_run *run)
{
    static const char said[] =
        "%s: the fields had not died away or become steady when they were transformed; %.2g of "
        "them (by the root of the electric energy) had not, and what is made of them is as "
        "uncertain. March on for longer (penstock-dgtd-march said how)";
    double share = file->header.unsettled;
    if (share > PS_PHASORS_WRONG)
        return ps_refuse(run, "unsettled", said, ps_store_path(file->store), share);
    if (share > PS_PHASORS_SETTLED) ps_warning(said, ps_store_path(file->store), share);
    if (share < 0)
        ps_info("%s does not say whether its fields had died away or become steady",
                ps_store_path(file->store));
    return PS_OK;
}

/* A tetrahedron that is there twice, -1: none. By order and not by marks: how large a mesh is, the
 * file only says. */
static ps_status find_twice(const int32_t *number, int64_t rows, int32_t *twice)
{
    PS_SCOPED_MEMORY int32_t *sorted = NULL;
    *twice = -1;
    PS_TRY(PS_ALLOC(&sorted, rows, "numbers of elements"));
    memcpy(sorted, number, (size_t)rows * sizeof *sorted);
    qsort(sorted, (size_t)rows, sizeof *sorted, ps_compare_i32);
    for (int64_t i = 1; i < rows; ++i)
        if (sorted[i] == sorted[i - 1]) *twice = sorted[i];
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

bool ps_phasors_has_marks(const ps_phasors *file, ps_phasors_mark what)
{
    return ps_store_has(file->store, marks[what].name, NULL);
}

ps_status ps_phasors_read_marks(ps_phasors *file, ps_phasors_mark what, uint8_t *bytes)
{
    int64_t rows = file->header.rows, width = marks[what].rank == 2 ? marks[what].dims[1] : 1;
    PS_TRY(ps_store_expect(file->store, marks[what].name, PS_U8, rows, width));
    return ps_store_read_array(file->store, marks[what].name, PS_U8, 0, rows,
                               PS_ROOM(bytes, width * rows), bytes);
}

ps_status ps_phasors_check_enclosed(const int64_t sides[2])
{
    if (sides[0] == 0) return PS_OK;
    return ps_fail(PS_USAGE,
                   "a source %s the surface of the far field: of %lld elements in which currents, "
                   "ports or wires act %lld are outside, and what those radiate is not in it. Take "
                   "all of them in by --around",
                   sides[1] > 0 ? "is cut by" : "lies outside of", (long long)(sides[0] + sides[1]),
                   (long long)sides[0]);
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
