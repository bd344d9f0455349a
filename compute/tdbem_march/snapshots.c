/* Pictures of the surface while the run goes on (formats/field.h): <run>.000042.hdf is step 42. */
#include "compute/tdbem_march/march.h"
#include "formats/field.h"
#include "kernels/common/reals.h"

/* Time that the densities of step n belong to: sound-soft ones are means over the step. */
static double time_of(const march *m, int64_t n)
{
    const ps_slice_header *header = &m->problem->tiles.header;
    return ((double)n - (header->formulation == PS_SOUND_HARD ? 0 : 0.5)) * header->dt;
}

static ps_status save_snapshot(const march *m, int64_t n, const void *densities)
{
    const ps_surface_mesh *mesh = &m->problem->mesh;
    bool hard = m->problem->tiles.header.formulation == PS_SOUND_HARD;
    ps_field field = {.name = hard ? "total_pressure" : "density",
                      .units = hard ? "Pa" : "Pa/m",
                      .type = m->window.precision == PS_SINGLE ? PS_F32 : PS_F64,
                      .components = 1,
                      .on_points = hard,
                      .values = densities};
    ps_field_snapshot snapshot = {.grid = {.vertex_count = mesh->vertex_count,
                                           .cell_count = mesh->triangle_count,
                                           .cell_size = 3,
                                           .vertices = mesh->vertices,
                                           .cells = mesh->triangles,
                                           .single = true},
                                  .field_count = 1,
                                  .fields = &field,
                                  .time = time_of(m, n),
                                  .creator = ps_version(),
                                  .options = m->run->record,
                                  .mesh_hash = mesh->content_hash};
    return ps_field_series_save(m->record.run, n, &snapshot);
}

ps_status march_snapshots(const march *m, int64_t count)
{
    int64_t item = ps_real_bytes(m->window.precision), every = m->options->snapshots;
    for (int64_t g = 0; g < count && every > 0; ++g) {
        int64_t n = m->done - count + 1 + g;
        if (n % every == 0)
            PS_TRY(save_snapshot(m, n, (const char *)m->recent + g * m->window.unknowns * item));
    }
    return PS_OK;
}
