#include <stdio.h>
#include <stdlib.h>

#include "formats/field.h"
#include "postprocess/probe/probe.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/scope.h"

static ps_status make_grid(const probe_source *source, const ps_trace *trace, int32_t **owned,
                           ps_vtkhdf_grid *grid)
{
    *owned = NULL;
    if (trace->grid[0] > 1 && trace->grid[1] > 1) {
        *grid = (ps_vtkhdf_grid){
            .vertex_count = trace->channels, .cell_size = 3, .vertices = trace->places};
        PS_TRY(ps_field_plane_cells(trace->grid, &grid->cell_count, owned));
        grid->cells = *owned;
        return PS_OK;
    }
    if (trace->origin.basis == PS_TRACE_SAMPLES || trace->channels != source->unknowns)
        return ps_fail(PS_USAGE, "--snapshots: pictures are of one --plane or of --surface all");
    *grid = (ps_vtkhdf_grid){.vertex_count = source->mesh.vertex_count,
                             .cell_count = source->mesh.triangle_count,
                             .cell_size = 3,
                             .vertices = source->mesh.vertices,
                             .cells = source->mesh.triangles};
    return PS_OK;
}

/* "density -dn u" -> "density_-dn_u": names without blanks are easier to use in ParaView. */
static void field_name(const char *quantity, char out[64])
{
    snprintf(out, 64, "%s", quantity);
    for (char *at = out; *at; ++at)
        if (*at == ' ' || *at == '/') *at = '_';
}

ps_status probe_snapshots(const probe_source *source, const ps_trace *trace, const char *base,
                          int64_t every, const char *options)
{
    char name[64];
    PS_SCOPED_MEMORY int32_t *owned = NULL;
    PS_SCOPED_MEMORY float *values = NULL;
    ps_field field = {.name = name, .units = trace->units, .type = PS_F32, .components = 1};
    ps_field_snapshot snapshot = {.field_count = 1,
                                  .fields = &field,
                                  .creator = ps_version(),
                                  .options = options,
                                  .mesh_hash = source->mesh.content_hash};
    field_name(trace->quantity, name);
    PS_TRY(make_grid(source, trace, &owned, &snapshot.grid));
    PS_TRY(PS_ALLOC(&values, trace->channels, "a snapshot"));
    field.values = values;
    field.on_points = owned || source->hard;
    for (int64_t s = 0, index = 0; s < trace->samples; s += every, ++index) {
        for (int64_t c = 0; c < trace->channels; ++c)
            values[c] = (float)trace->real[s * trace->channels + c];
        snapshot.time = trace->axis[s];
        PS_TRY(ps_field_series_save(base, index, &snapshot));
    }
    return PS_OK;
}
