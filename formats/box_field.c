#include "formats/box_field.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/store_scales.h"
#include "formats/vtkhdf.h"

static void dataset_name(const ps_box_field_header *h, char out[PS_NAME_MAX])
{
    snprintf(out, PS_NAME_MAX, "/VTKHDF/%s/%s", h->cells ? "CellData" : "PointData", h->quantity);
}

/* Chunks of about 1 MiB over this many planes. */
static void set_chunks(ps_box_field *f, int64_t planes)
{
    f->shape[0] = planes;
    f->plane = f->shape[1] * f->shape[2];
    f->chunk_planes = (1 << 20) / (int64_t)sizeof(double) / f->plane;
    if (f->chunk_planes < 1) f->chunk_planes = 1;
    if (f->chunk_planes > planes) f->chunk_planes = planes;
    f->chunks = (planes + f->chunk_planes - 1) / f->chunk_planes;
}

/* Shape and chunks; PS_INVALID for what is no grid. */
static ps_status set_shape(ps_box_field *f, const char *path)
{
    const ps_box_field_header *h = &f->header;
    int64_t room = INT64_MAX / (int64_t)sizeof(double);
    for (int a = 0; a < 3; ++a) {
        if (h->nodes[a] < 2 || h->nodes[a] > room || !(h->spacing[a] > 0) ||
            !isfinite(h->origin[a] + h->spacing[a]))
            return ps_fail(PS_INVALID,
                           "%s: axis %c of the grid has %lld nodes, %g m apart, from %g m", path,
                           "xyz"[a], (long long)h -> nodes[a], h -> spacing[a], h -> origin[a]);
        f->shape[a] = h->nodes[a] - (h->cells ? 1 : 0);
        room /= h->nodes[a];
    }
    set_chunks(f, f->shape[0]);
    return PS_OK;
}

/* ---- writing ---- */

/* /x, /y, /z of the values, which are at nodes or in the middle of cells. A part of a file has
 * none: they belong to the whole. */
static ps_status put_axes(ps_box_field *f, const char *dataset)
{
    const ps_box_field_header *h = &f->header;
    const double shift = h->cells ? .5 : 0;
    double origin[3] = {h->origin[0], h->origin[1], h->origin[2]};
    PS_TRY(ps_store_put_text(f->store, "/", "Conventions", "CF-1.8"));
    PS_TRY(ps_store_put_text(f->store, dataset, "long_name", h->quantity));
    for (int a = 0; a < 3; ++a) origin[a] += shift * h->spacing[a];
    return ps_store_put_axes(f->store, origin, h->spacing, f->shape);
}

static ps_status put_header(ps_box_field *f)
{
    const ps_box_field_header *h = &f->header;
    char name[PS_NAME_MAX];
    dataset_name(h, name);
    ps_dataset_spec spec = {.name = name,
                            .type = PS_F64,
                            .rank = 3,
                            .dims = {f->shape[0], f->shape[1], f->shape[2]},
                            .dimensions = {"/x", "/y", "/z"},
                            .chunk_rows = f->chunk_planes,
                            .units = h->units,
                            .description = "x slowest, z (down) fastest"};
    PS_TRY(ps_store_define(f->store, &spec, &f->dataset));
    const ps_vtkhdf_image image = {{h->nodes[0], h->nodes[1], h->nodes[2]},
                                   {h->origin[0], h->origin[1], h->origin[2]},
                                   {h->spacing[0], h->spacing[1], h->spacing[2]}};
    PS_TRY(ps_vtkhdf_put_image(f->store, &image));
    PS_TRY(ps_store_put_ints(f->store, "/", "nodes", h->nodes, 3));
    PS_TRY(ps_store_put_reals(f->store, "/", "origin", h->origin, 3));
    PS_TRY(ps_store_put_reals(f->store, "/", "spacing", h->spacing, 3));
    PS_TRY(ps_store_put_text(f->store, "/", "quantity", h->quantity));
    PS_TRY(ps_store_put_text(f->store, "/", "centring", h->cells ? "cells" : "points"));
    return f->shape[0] == h->nodes[0] - (h->cells ? 1 : 0) ? put_axes(f, name) : PS_OK;
}

ps_status ps_box_field_create(const char *path, const ps_store_identity *identity,
                              const ps_box_field_header *header, ps_box_field *out)
{
    return ps_box_field_create_part(path, identity, header, 0,
                                    header->nodes[0] - (header->cells ? 1 : 0), out);
}

ps_status ps_box_field_create_part(const char *path, const ps_store_identity *identity,
                                   const ps_box_field_header *header, int64_t first, int64_t end,
                                   ps_box_field *out)
{
    ps_store_identity own = *identity;
    memset(out, 0, sizeof *out);
    out->header = *header;
    PS_TRY(set_shape(out, path));
    if (first < 0 || end <= first || end > out->shape[0])
        return ps_fail(PS_USAGE, "%s: a part of planes %lld to %lld of %lld", path,
                       (long long)first, (long long)end, (long long)out->shape[0]);
    set_chunks(out, end - first);
    own.format = PS_BOX_FIELD_FORMAT;
    own.format_version = PS_BOX_FIELD_VERSION;
    if (!own.disk_estimate) own.disk_estimate = out->shape[0] * out->plane * 8;
    PS_TRY(ps_store_create(path, &own, &out->store));
    ps_status status = put_header(out);
    if (status != PS_OK) ps_box_field_close(out);
    return status;
}

void ps_box_field_chunk(const ps_box_field *field, int64_t chunk, int64_t *first, int64_t *end)
{
    *first = chunk * field->chunk_planes;
    *end = *first + field->chunk_planes;
    if (*end > field->shape[0]) *end = field->shape[0];
}

static ps_status refuse_value(const ps_box_field *f, int64_t index, double value)
{
    return ps_fail(PS_INVALID, "%s: the %s at (%lld, %lld, %lld) is %g", ps_store_path(f->store),
                   f->header.quantity, (long long)(index / f->plane),
                   (long long)(index % f->plane / f->shape[2]), (long long)(index % f->shape[2]),
                   value);
}

ps_status ps_box_field_write(ps_box_field *field, int64_t chunk, const double *values)
{
    int64_t first, end;
    ps_box_field_chunk(field, chunk, &first, &end);
    int64_t count = (end - first) * field->plane;
    for (int64_t i = 0; i < count; ++i)
        if (!isfinite(values[i])) return refuse_value(field, first * field->plane + i, values[i]);
    return ps_store_write_chunk(field->store, field->dataset, chunk, values, count, NULL);
}

ps_status ps_box_field_commit(ps_box_field *field)
{
    ps_status status = ps_store_commit(&field->store);
    memset(field, 0, sizeof *field);
    return status;
}

void ps_box_field_close(ps_box_field *field)
{
    ps_store_close(&field->store);
    memset(field, 0, sizeof *field);
}

/* ---- reading ---- */

static ps_status get_header(ps_box_field *f)
{
    ps_box_field_header *h = &f->header;
    char centring[16];
    PS_TRY(ps_store_get_ints(f->store, "/", "nodes", h->nodes, 3));
    PS_TRY(ps_store_get_reals(f->store, "/", "origin", h->origin, 3));
    PS_TRY(ps_store_get_reals(f->store, "/", "spacing", h->spacing, 3));
    PS_TRY(ps_store_get_text(f->store, "/", "quantity", h->quantity, sizeof h->quantity));
    PS_TRY(ps_store_get_text(f->store, "/", "centring", centring, sizeof centring));
    h->cells = strcmp(centring, "cells") == 0;
    if (!h->cells && strcmp(centring, "points") != 0)
        return ps_fail(PS_INVALID, "%s: values at \"%s\"; cells and points are known",
                       ps_store_path(f->store), centring);
    return PS_OK;
}

/* The table of chunks counts what is not finite: a look that costs nothing. */
static ps_status refuse_non_finite(const ps_box_field *f, const char *name)
{
    int64_t count = 0;
    for (int64_t c = 0; c < f->chunks; ++c) {
        ps_chunk_info info;
        PS_TRY(ps_store_chunk(f->store, f->dataset, c, &info));
        count += info.non_finite;
    }
    if (count == 0) return PS_OK;
    return ps_fail(PS_INVALID, "%s: %lld values of %s are not finite", ps_store_path(f->store),
                   (long long)count, name);
}

static ps_status find_values(ps_box_field *f)
{
    char name[PS_NAME_MAX];
    ps_dataset_info info;
    const char *path = ps_store_path(f->store);
    PS_TRY(set_shape(f, path));
    dataset_name(&f->header, name);
    PS_TRY(ps_store_find(f->store, name, &f->dataset));
    PS_TRY(ps_store_dataset(f->store, f->dataset, &info));
    snprintf(f->header.units, sizeof f->header.units, "%s", info.units);
    bool fits = info.rank == 3 && info.type == PS_F64 && info.chunk_rows > 0;
    for (int a = 0; a < 3; ++a) fits = fits && info.dims[a] == f->shape[a];
    if (!fits)
        return ps_fail(PS_INVALID,
                       "%s: %s has another shape than the grid of %lld x %lld x %lld nodes", path,
                       name, (long long)f->header.nodes[0], (long long)f->header.nodes[1],
                       (long long)f->header.nodes[2]);
    f->chunk_planes = info.chunk_rows;
    f->chunks = info.chunk_count;
    return refuse_non_finite(f, name);
}

ps_status ps_box_field_open(const char *path, const char *quantity, ps_box_field *out)
{
    memset(out, 0, sizeof *out);
    PS_TRY(ps_store_open(path, PS_BOX_FIELD_FORMAT, PS_BOX_FIELD_VERSION, &out->store));
    ps_status status = get_header(out);
    if (status == PS_OK && quantity && strcmp(quantity, out->header.quantity) != 0)
        status = ps_fail(PS_INVALID, "%s holds the quantity \"%s\"; wanted is \"%s\"", path,
                         out->header.quantity, quantity);
    if (status == PS_OK) status = find_values(out);
    if (status != PS_OK) ps_box_field_close(out);
    return status;
}

ps_status ps_box_field_read(ps_box_field *field, int64_t first, int64_t count, double *values)
{
    char name[PS_NAME_MAX];
    if (first < 0 || count < 0 || first + count > field->shape[0])
        return ps_fail(PS_USAGE, "planes %lld to %lld of %s, which has %lld", (long long)first,
                       (long long)(first + count), ps_store_path(field->store),
                       (long long)field->shape[0]);
    dataset_name(&field->header, name);
    return ps_store_read_array(field->store, name, PS_F64, first, count,
                               PS_ROOM(values, count * field->plane), values);
}
