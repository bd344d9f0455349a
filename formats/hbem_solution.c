#include "formats/hbem_solution.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/columns.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

static const char *const layer_names[PS_LAYERS] = {"single", "double"};

/* Functions of a space of this name on a mesh; PS_INVALID for a name that is none. */
static ps_status space_size(const char *space, int64_t vertices, int64_t triangles, int64_t *out)
{
    *out = strcmp(space, "p0") == 0    ? triangles
           : strcmp(space, "p1") == 0  ? vertices
           : strcmp(space, "dp1") == 0 ? 3 * triangles
                                       : 0;
    return *out > 0 ? PS_OK : ps_fail(PS_INVALID, "\"%s\" is no space: p0, p1 and dp1 are", space);
}

/* Whether the file says of each solution what comes in. */
static bool has_sources(const ps_hbem_solution_header *h)
{
    return strcmp(h->problem, "helmholtz") == 0;
}

const char *const ps_hbem_medium_names[PS_HBEM_MEDIUM] = {"speed", "density", "fluid_speed",
                                                          "fluid_density"};

static bool present(const ps_hbem_solution_header *h, int layer)
{
    return h->layer[layer].factor != 0;
}

/* Checks the header and sets the sizes of its spaces. */
static ps_status check_header(ps_hbem_solution_header *h)
{
    for (int i = 0; i < PS_HBEM_MEDIUM; ++i)
        if (!(h->medium[i] >= 0 && h->medium[i] < 1e12))
            return ps_fail(PS_INVALID, "a %s of %g is none", ps_hbem_medium_names[i], h->medium[i]);
    if (h->parts < 1 || h->parts > 2 || h->count < 1)
        return ps_fail(PS_INVALID, "%lld solutions of %d parts", (long long)h->count, h->parts);
    for (int l = 0; l < PS_LAYERS; ++l) {
        if (!isfinite(h->layer[l].factor))
            return ps_fail(PS_INVALID, "the factor of the %s layer is %g", layer_names[l],
                           h->layer[l].factor);
        if (present(h, l))
            PS_TRY(space_size(h->layer[l].space, h->vertex_count, h->triangle_count,
                              &h->layer[l].dofs));
    }
    if (!present(h, (int)h->unknown))
        return ps_fail(PS_INVALID, "there is no %s layer, which is said to be the solution",
                       layer_names[h->unknown]);
    return PS_OK;
}

/* ---- writing ---- */

#define ENTRY "/solutions/solution"

/* What the functions of a space run over. */
static const char *over(const char *space)
{
    return strcmp(space, "p0") == 0   ? PS_VTKHDF_CELL
           : strcmp(space, "p1") == 0 ? PS_VTKHDF_POINT
                                      : PS_VTKHDF_CORNER;
}

static ps_dataset_spec layer_spec(const ps_hbem_solution_header *h, int layer,
                                  char name[PS_NAME_MAX])
{
    snprintf(name, PS_NAME_MAX, "/solutions/%s", layer_names[layer]);
    return (ps_dataset_spec){.name = name,
                             .type = PS_F64,
                             .rank = 3,
                             .dims = {h->count, h->parts, h->layer[layer].dofs},
                             .dimensions = {ENTRY, "/solutions/part", over(h->layer[layer].space)},
                             .chunk_rows = 1,
                             .units = h->layer[layer].units};
}

static ps_status put_header(ps_hbem_solution *f, const ps_surface_mesh *mesh)
{
    const ps_hbem_solution_header *h = &f->header;
    ps_vtkhdf_grid grid = ps_surface_mesh_grid(mesh);
    char name[PS_NAME_MAX];
    PS_TRY(ps_vtkhdf_put_grid(f->store, &grid));
    PS_TRY(ps_store_put_text(f->store, "/", "problem", h->problem));
    PS_TRY(ps_store_put_text(f->store, "/", "unknown", layer_names[h->unknown]));
    PS_TRY(ps_store_put_text(f->store, "/", "mesh_hash", h->mesh_hash));
    for (int i = 0; i < PS_HBEM_MEDIUM; ++i)
        if (h->medium[i] > 0)
            PS_TRY(ps_store_put_real(f->store, "/", ps_hbem_medium_names[i], h->medium[i]));
    PS_TRY(ps_reflectors_put(f->store, &h->mirrors));
    for (int l = 0; l < PS_LAYERS; ++l) {
        snprintf(name, sizeof name, "%s_factor", layer_names[l]);
        PS_TRY(ps_store_put_real(f->store, "/", name, h->layer[l].factor));
        if (!present(h, l)) continue;
        snprintf(name, sizeof name, "%s_space", layer_names[l]);
        PS_TRY(ps_store_put_text(f->store, "/", name, h->layer[l].space));
        ps_dataset_spec spec = layer_spec(h, l, name);
        PS_TRY(ps_store_define(f->store, &spec, &f->dataset[l]));
    }
    return PS_OK;
}

int ps_hbem_solution_version(const ps_hbem_solution_header *h)
{
    bool plain = h->mirrors.count == 0 && !h->absorbs && !h->of_files;
    return plain ? 1 : PS_HBEM_SOLUTION_VERSION;
}

ps_status ps_hbem_solution_create(const char *path, const ps_store_identity *identity,
                                  const ps_hbem_solution_header *header,
                                  const ps_surface_mesh *mesh, ps_hbem_solution *out)
{
    memset(out, 0, sizeof *out);
    out->header = *header;
    out->header.vertex_count = mesh->vertex_count;
    out->header.triangle_count = mesh->triangle_count;
    ps_status status = check_header(&out->header);
    if (status != PS_OK) return ps_context(status, "%s", path);
    PS_TRY(PS_ALLOC(&out->entries, header->count, "entries of solutions"));
    status = ps_store_create_as(path, identity, PS_HBEM_SOLUTION_FORMAT,
                                ps_hbem_solution_version(header), &out->store);
    if (status == PS_OK) status = put_header(out, mesh);
    if (status != PS_OK) ps_hbem_solution_close(out);
    return status;
}

/* The three numbers of a triangle of a p0 or dp1 space as their mean, or a vertex's number. */
static double shown_number(const char *space, const double *values, int64_t i)
{
    return strcmp(space, "dp1") == 0 ? (values[3 * i] + values[3 * i + 1] + values[3 * i + 2]) / 3
                                     : values[i];
}

enum { SHOW_REAL, SHOW_IMAGINARY, SHOW_MAGNITUDE };

/* One picture of the unknown for ParaView; numbers[items] is scratch. */
static ps_status show(ps_hbem_solution *f, int what, const double *values, float *numbers)
{
    static const char *const names[] = {"real", "imaginary", "magnitude"};
    const ps_hbem_solution_layer *layer = &f->header.layer[f->header.unknown];
    bool points = strcmp(layer->space, "p1") == 0;
    int64_t items = points ? f->header.vertex_count : f->header.triangle_count;
    char name[PS_NAME_MAX];
    for (int64_t i = 0; i < items; ++i) {
        double re = shown_number(layer->space, values, i);
        double im = f->header.parts > 1 ? shown_number(layer->space, values + layer->dofs, i) : 0;
        numbers[i] = (float)(what == SHOW_REAL ? re : what == SHOW_IMAGINARY ? im : hypot(re, im));
    }
    snprintf(name, sizeof name, "/VTKHDF/%s/%s", points ? "PointData" : "CellData",
             f->header.parts > 1 ? names[what] : "value");
    ps_dataset_spec spec = {.name = name,
                            .type = PS_F32,
                            .rank = 1,
                            .dims = {items},
                            .dimensions = {points ? PS_VTKHDF_POINT : PS_VTKHDF_CELL},
                            .units = layer->units};
    return ps_store_write_array(f->store, &spec, numbers);
}

static ps_status show_all(ps_hbem_solution *f, const double *values)
{
    const ps_hbem_solution_header *h = &f->header;
    PS_SCOPED_MEMORY float *numbers = NULL;
    ps_status status = PS_OK;
    PS_TRY(PS_ALLOC(&numbers, h->vertex_count + h->triangle_count, "numbers to be shown"));
    for (int what = 0; what < (h->parts > 1 ? 3 : 1) && status == PS_OK; ++what)
        status = show(f, what, values, numbers);
    return status;
}

ps_status ps_hbem_solution_put(ps_hbem_solution *file, ps_layer layer, int64_t index,
                               const double *values)
{
    const ps_hbem_solution_header *h = &file->header;
    int64_t count = h->parts * h->layer[layer].dofs;
    for (int64_t i = 0; i < count; ++i)
        if (!isfinite(values[i]))
            return ps_fail(PS_FAILED, "%s: value %lld of the %s layer of solution %lld is %g",
                           ps_store_path(file->store), (long long)(i % h->layer[layer].dofs),
                           layer_names[layer], (long long)index, values[i]);
    if (index == 0 && layer == h->unknown) PS_TRY(show_all(file, values));
    return ps_store_write_chunk(file->store, file->dataset[layer], index, values, count, NULL);
}

/* Entries as the file has them; the absorption and what comes in only where there is any. */
typedef struct columns {
    double *wavenumber, *residual, (*direction)[3], *absorption, (*source)[6];
    int64_t *iterations, *incident;
} columns;

static void release_columns(columns *c)
{
    PS_FREE(c->wavenumber, c->residual, c->direction, c->absorption, c->source, c->iterations,
            c->incident);
}

static ps_status pass_columns(const ps_hbem_solution *f, const columns *c, bool absorbs,
                              ps_columns_pass *each)
{
    int64_t n = f->header.count, sources = has_sources(&f->header) ? n : 0;
    const ps_column list[] = {
        {"/solutions/wavenumber", "rad/m", NULL, PS_F64, n, 1, &c->wavenumber,
         .dimensions = {ENTRY}},
        {"/solutions/residual", "1", NULL, PS_F64, n, 1, &c->residual, .dimensions = {ENTRY}},
        {"/solutions/direction", "1", NULL, PS_F64, n, 3, &c->direction,
         .dimensions = {ENTRY, "/solutions/xyz"}},
        {"/solutions/iterations", "1", NULL, PS_I64, n, 1, &c->iterations, .dimensions = {ENTRY}},
        {"/solutions/absorption", "Np/m", NULL, PS_F64, absorbs ? n : 0, 1, &c->absorption,
         .dimensions = {ENTRY}},
        {"/solutions/incident", "1", NULL, PS_I64, sources, 1, &c->incident, .dimensions = {ENTRY}},
        {"/solutions/source", "m", NULL, PS_F64, sources, 6, &c->source,
         .dimensions = {ENTRY, "/solutions/coordinate"}}};
    return each(f->store, list, PS_COLUMNS(list));
}

static ps_status put_columns(const ps_hbem_solution *f)
{
    PS_SCOPED(release_columns) columns c = {0};
    PS_TRY(pass_columns(f, &c, f->header.absorbs, ps_columns_allocate));
    for (int64_t i = 0; i < f->header.count; ++i) {
        const ps_hbem_solution_entry *e = &f->entries[i];
        c.wavenumber[i] = e->wavenumber;
        c.residual[i] = e->residual;
        memcpy(c.direction[i], e->direction, sizeof e->direction);
        c.iterations[i] = e->iterations;
        if (f->header.absorbs) c.absorption[i] = e->absorption;
        if (!has_sources(&f->header)) continue;
        c.incident[i] = e->incident;
        memcpy(c.source[i], e->source, sizeof e->source);
    }
    PS_TRY(pass_columns(f, &c, f->header.absorbs, ps_columns_write));
    return ps_store_put_int(f->store, "/", "converged", f->header.converged);
}

ps_status ps_hbem_solution_commit(ps_hbem_solution *file)
{
    ps_status status = put_columns(file);
    if (status == PS_OK) status = ps_store_commit(&file->store);
    ps_hbem_solution_close(file);
    return status;
}

void ps_hbem_solution_close(ps_hbem_solution *file)
{
    ps_store_close(&file->store);
    free(file->entries);
    memset(file, 0, sizeof *file);
}

/* ---- reading ---- */

/* The space and units of a layer, and its dataset, whose shape must be that of the header. */
static ps_status find_layer(ps_hbem_solution *f, int l)
{
    ps_hbem_solution_header *h = &f->header;
    ps_hbem_solution_layer *layer = &h->layer[l];
    ps_dataset_info info;
    char name[PS_NAME_MAX];
    snprintf(name, sizeof name, "%s_space", layer_names[l]);
    PS_TRY(ps_store_get_text(f->store, "/", name, layer->space, sizeof layer->space));
    PS_TRY(space_size(layer->space, h->vertex_count, h->triangle_count, &layer->dofs));
    snprintf(name, sizeof name, "/solutions/%s", layer_names[l]);
    PS_TRY(ps_store_find(f->store, name, &f->dataset[l]));
    PS_TRY(ps_store_dataset(f->store, f->dataset[l], &info));
    snprintf(layer->units, sizeof layer->units, "%s", info.units);
    if (h->count == 0) {
        h->count = info.dims[0];
        h->parts = info.rank == 3 ? (int)info.dims[1] : 0;
    }
    if (info.rank == 3 && info.type == PS_F64 && info.chunk_rows == 1 && info.dims[0] == h->count &&
        info.dims[1] == h->parts && info.dims[2] == layer->dofs)
        return PS_OK;
    return ps_fail(PS_INVALID, "%s does not have the shape [%lld][%d][%lld] of the space %s", name,
                   (long long)h->count, h->parts, (long long)layer->dofs, layer->space);
}

static ps_status get_header(ps_hbem_solution *f)
{
    ps_hbem_solution_header *h = &f->header;
    char unknown[16], name[PS_NAME_MAX];
    int64_t converged;
    PS_TRY(ps_vtkhdf_get_sizes(f->store, 3, &h->vertex_count, &h->triangle_count));
    PS_TRY(ps_store_get_text(f->store, "/", "problem", h->problem, sizeof h->problem));
    PS_TRY(ps_store_get_text(f->store, "/", "unknown", unknown, sizeof unknown));
    PS_TRY(ps_store_get_text(f->store, "/", "mesh_hash", h->mesh_hash, sizeof h->mesh_hash));
    PS_TRY(ps_store_get_int(f->store, "/", "converged", &converged));
    h->converged = converged != 0;
    h->unknown = strcmp(unknown, layer_names[0]) == 0 ? PS_LAYER_SINGLE : PS_LAYER_DOUBLE;
    if (strcmp(unknown, layer_names[h->unknown]) != 0)
        return ps_fail(PS_INVALID, "\"%s\" is no layer: single and double are", unknown);
    for (int l = 0; l < PS_LAYERS; ++l) {
        snprintf(name, sizeof name, "%s_factor", layer_names[l]);
        PS_TRY(ps_store_get_real(f->store, "/", name, &h->layer[l].factor));
        if (present(h, l)) PS_TRY(find_layer(f, l));
    }
    PS_TRY(ps_reflectors_get(f->store, &h->mirrors));
    for (int i = 0; i < PS_HBEM_MEDIUM; ++i)
        if (ps_store_has(f->store, "/", ps_hbem_medium_names[i]))
            PS_TRY(ps_store_get_real(f->store, "/", ps_hbem_medium_names[i], &h->medium[i]));
    return check_header(h);
}

static ps_status get_source(const columns *c, int64_t i, ps_hbem_solution_entry *e)
{
    if (c->incident[i] < 0 || c->incident[i] >= PS_INCIDENT_KINDS)
        return ps_fail(PS_INVALID, "solution %lld: %lld is no kind of incident field", (long long)i,
                       (long long)c->incident[i]);
    e->incident = (ps_hbem_incident)c->incident[i];
    memcpy(e->source, c->source[i], sizeof e->source);
    for (int k = 0; k < 6; ++k)
        if (!isfinite(e->source[k]))
            return ps_fail(PS_INVALID, "solution %lld: its source is not finite", (long long)i);
    return PS_OK;
}

static ps_status get_entries(ps_hbem_solution *f)
{
    PS_SCOPED(release_columns) columns c = {0};
    bool absorbs = ps_store_has(f->store, "/solutions/absorption", NULL);
    PS_TRY(pass_columns(f, &c, absorbs, ps_columns_load));
    PS_TRY(PS_ALLOC(&f->entries, f->header.count, "entries of solutions"));
    for (int64_t i = 0; i < f->header.count; ++i) {
        ps_hbem_solution_entry *e = &f->entries[i];
        *e = (ps_hbem_solution_entry){.wavenumber = c.wavenumber[i],
                                      .residual = c.residual[i],
                                      .iterations = c.iterations[i],
                                      .incident = c.wavenumber[i] > 0 ? PS_INCIDENT_PLANE
                                                                      : PS_INCIDENT_NONE};
        memcpy(e->direction, c.direction[i], sizeof e->direction);
        if (has_sources(&f->header)) PS_TRY(get_source(&c, i, e));
        if (absorbs) e->absorption = c.absorption[i];
        if (!(e->absorption >= 0 && e->absorption < 1e9))
            return ps_fail(PS_INVALID, "solution %lld: an absorption of %g Np/m is none",
                           (long long)i, e->absorption);
        f->header.absorbs |= e->absorption > 0;
        f->header.of_files |= e->incident == PS_INCIDENT_FILE;
    }
    return PS_OK;
}

ps_status ps_hbem_solution_open(const char *path, ps_hbem_solution *out)
{
    memset(out, 0, sizeof *out);
    PS_TRY(ps_store_open(path, PS_HBEM_SOLUTION_FORMAT, PS_HBEM_SOLUTION_VERSION, &out->store));
    ps_status status = get_header(out);
    if (status == PS_OK) status = get_entries(out);
    if (status == PS_OK) return PS_OK;
    ps_hbem_solution_close(out);
    return ps_context(status, "%s", path);
}

ps_status ps_hbem_solution_get(ps_hbem_solution *file, ps_layer layer, int64_t index,
                               double *values)
{
    const ps_hbem_solution_header *h = &file->header;
    if (index < 0 || index >= file->header.count || !present(&file->header, (int)layer))
        return ps_fail(PS_USAGE, "%s has no %s layer of a solution %lld",
                       ps_store_path(file->store), layer_names[layer], (long long)index);
    return ps_store_read_chunk(file->store, file->dataset[layer], index,
                               PS_ROOM(values, h->parts * h->layer[layer].dofs), values);
}

ps_status ps_hbem_solution_mesh(ps_hbem_solution *file, ps_surface_mesh *out)
{
    const ps_hbem_solution_header *h = &file->header;
    PS_TRY(ps_surface_mesh_init(out, h->vertex_count, h->triangle_count));
    ps_status status =
        ps_vtkhdf_get_f64(file->store, "/VTKHDF/Points", out->vertex_count, 3, out->vertices);
    if (status == PS_OK)
        status = ps_vtkhdf_get_i32(file->store, "/VTKHDF/Connectivity", 3 * out->triangle_count, 1,
                                   out->triangles);
    if (status == PS_OK) status = ps_surface_mesh_check(out);
    if (status == PS_OK) return PS_OK;
    ps_surface_mesh_release(out);
    return ps_context(status, "%s", ps_store_path(file->store));
}
