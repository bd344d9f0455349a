#include "formats/incident_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/entries.h"
#include "formats/row_series.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

struct ps_incident_file {
    ps_incident_header header;
    ps_store *store;
    ps_row_series loads;
};

static const char *const flow_names[] = {"flow_x", "flow_y", "flow_z"};

static bool flows(const ps_incident_header *h)
{
    return h->flow[0] != 0 || h->flow[1] != 0 || h->flow[2] != 0;
}

static ps_status check(const ps_incident_header *h)
{
    if (h->unknowns < 1 || h->steps < 1 || !(h->dt > 0) || !isfinite(h->dt) || !(h->speed > 0) ||
        !isfinite(h->speed) || h->space_points < 1 || h->time_points < 1)
        return ps_fail(PS_INVALID,
                       "an incident field of %lld unknowns, %lld steps of %g s at %g m/s by rules "
                       "of %lld and %lld points is none",
                       (long long)h->unknowns, (long long)h->steps, h->dt, h->speed,
                       (long long)h->space_points, (long long)h->time_points);
    return PS_OK;
}

static ps_status pass_numbers(ps_store *s, const ps_incident_header *h, ps_entries_pass *each)
{
    const ps_entry entries[] = {PS_ENTRY("unknowns", h->unknowns),
                                PS_ENTRY("steps", h->steps),
                                PS_ENTRY("space_points", h->space_points),
                                PS_ENTRY("time_points", h->time_points),
                                PS_ENTRY("dt", h->dt),
                                PS_ENTRY("speed", h->speed),
                                PS_ENTRY("mesh_uuid", h->mesh_uuid),
                                PS_ENTRY("mesh_hash", h->mesh_hash)};
    return each(s, "/", entries, PS_ENTRIES(entries));
}

static ps_status put_header(ps_store *s, const ps_incident_header *h)
{
    PS_TRY(ps_equation_put(s, h->formulation, h->combined, &h->mirrors));
    for (int k = 0; flows(h) && k < 3; ++k)
        PS_TRY(ps_store_put_real(s, "/", flow_names[k], h->flow[k]));
    return pass_numbers(s, h, ps_entries_put);
}

static ps_status get_header(ps_store *s, ps_incident_header *h)
{
    PS_TRY(ps_equation_get(s, &h->formulation, &h->combined, &h->mirrors));
    PS_TRY(pass_numbers(s, h, ps_entries_get));
    h->around = ps_store_version(s) > 2;
    for (int k = 0; ps_store_version(s) == 2 && k < 3; ++k) {
        PS_TRY(ps_store_get_real(s, "/", flow_names[k], &h->flow[k]));
        if (!isfinite(h->flow[k]))
            return ps_fail(PS_INVALID, "attribute %s is not finite", flow_names[k]);
    }
    return check(h);
}

static ps_status define(ps_incident_file *f)
{
    ps_dataset_spec spec = {.name = "/loads",
                            .type = PS_F64,
                            .rank = 2,
                            .dims = {f->header.steps, f->header.unknowns},
                            .units = f->header.formulation == PS_SOUND_HARD ? "Pa m s" : "Pa m^2",
                            .description = "l^n of step n = row + 1"};
    PS_TRY(put_header(f->store, &f->header));
    return ps_row_series_define(f->store, &spec, &f->loads);
}

ps_status ps_incident_file_create(const char *path, const ps_store_identity *identity,
                                  const ps_incident_header *header, ps_incident_file **out)
{
    PS_SCOPED(ps_incident_file_close) ps_incident_file *f = NULL;
    *out = NULL;
    PS_TRY(check(header));
    PS_TRY(PS_ALLOC(&f, 1, "an incident field"));
    f->header = *header;
    PS_TRY(ps_store_create_as(path, identity, PS_INCIDENT_FILE_FORMAT,
                              header->around  ? PS_INCIDENT_FILE_VERSION
                              : flows(header) ? 2
                                              : 1,
                              &f->store));
    PS_TRY(define(f));
    *out = f;
    f = NULL;
    return PS_OK;
}

ps_status ps_incident_file_append(ps_incident_file *f, const double *row)
{
    return ps_row_series_append(&f->loads, 1, row);
}

ps_status ps_incident_file_commit(ps_incident_file **out)
{
    ps_incident_file *f = *out;
    ps_status status = ps_row_series_finish(&f->loads);
    if (status == PS_OK) status = ps_store_commit(&f->store);
    ps_incident_file_close(out);
    return status;
}

ps_status ps_incident_file_open(const char *path, ps_incident_file **out)
{
    PS_SCOPED(ps_incident_file_close) ps_incident_file *f = NULL;
    *out = NULL;
    PS_TRY(PS_ALLOC(&f, 1, "an incident field"));
    PS_TRY(ps_store_open(path, PS_INCIDENT_FILE_FORMAT, PS_INCIDENT_FILE_VERSION, &f->store));
    PS_TRY_IN(get_header(f->store, &f->header), "%s", path);
    const int64_t shape[2] = {f->header.steps, f->header.unknowns};
    PS_TRY_IN(ps_row_series_find(f->store, "/loads", PS_F64, shape, &f->loads), "%s", path);
    *out = f;
    f = NULL;
    return PS_OK;
}

void ps_incident_file_close(ps_incident_file **field)
{
    if (!*field) return;
    ps_store_close(&(*field)->store);
    ps_row_series_release(&(*field)->loads);
    free(*field);
    *field = NULL;
}

const ps_incident_header *ps_incident_file_header(const ps_incident_file *f) { return &f->header; }

ps_store *ps_incident_file_store(ps_incident_file *f) { return f->store; }

int64_t ps_incident_file_bytes(const ps_incident_file *f)
{
    return 2 * f->loads.chunk_rows * f->loads.row_bytes; /* and as stored */
}

ps_status ps_incident_file_read(ps_incident_file *f, int64_t n, double *out)
{
    const void *row;
    PS_TRY(ps_row_series_read(&f->loads, n - 1, &row));
    memcpy(out, row, (size_t)f->loads.row_bytes);
    return PS_OK;
}
