#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/field.h"
#include "postprocess/hbem_field/field.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/scope.h"

/* Real part, imaginary part and magnitude of values, as f32 fields. */
typedef struct picture {
    int64_t count;
    float *values; /* [3][count] */
    ps_field fields[3];
    ps_field_snapshot snapshot;
} picture;

static ps_status picture_open(picture *p, int64_t count, bool on_points, const char *units)
{
    static const char *const names[3] = {"magnitude", "real", "imaginary"};
    p->count = count;
    PS_TRY(PS_ALLOC(&p->values, 3 * count, "a picture"));
    for (int f = 0; f < 3; ++f)
        p->fields[f] = (ps_field){.name = names[f],
                                  .units = units,
                                  .type = PS_F32,
                                  .components = 1,
                                  .on_points = on_points,
                                  .values = p->values + f * count};
    p->snapshot.field_count = 3;
    p->snapshot.fields = p->fields;
    p->snapshot.creator = ps_version();
    return PS_OK;
}

static void picture_release(picture *p) { free(p->values); }

static ps_status picture_save(picture *p, const double *real, const double *imaginary,
                              const char *base, int64_t index)
{
    for (int64_t i = 0; i < p->count; ++i) {
        double im = imaginary ? imaginary[i] : 0;
        p->values[i] = (float)hypot(real[i], im);
        p->values[p->count + i] = (float)real[i];
        p->values[2 * p->count + i] = (float)im;
    }
    return ps_field_series_save(base, index, &p->snapshot);
}

ps_status field_plane_pictures(const field_source *source, const ps_trace *trace, const char *base,
                               const char *options)
{
    PS_SCOPED(picture_release)
    picture p = {.snapshot = {.options = options, .mesh_hash = source->header->mesh_hash}};
    PS_SCOPED_MEMORY int32_t *cells = NULL;
    ps_vtkhdf_grid *grid = &p.snapshot.grid;
    PS_TRY(picture_open(&p, trace->channels, true, trace->units));
    PS_TRY(ps_field_plane_cells(trace->grid, &grid->cell_count, &cells));
    grid->vertex_count = trace->channels;
    grid->cell_size = 3;
    grid->vertices = trace->places;
    grid->cells = cells;
    for (int64_t s = 0; s < trace->samples; ++s) {
        const double *im = trace->complex_values ? trace->imaginary + s * trace->channels : NULL;
        p.snapshot.time = trace->axis[s];
        PS_TRY(picture_save(&p, trace->real + s * trace->channels, im, base, s));
    }
    return PS_OK;
}

/* Values by vertex as they are; by triangle, or by its corners, as means of triangles. */
static void means_of_triangles(const ps_hbem_space *space, const double *from, double *to)
{
    for (int64_t t = 0; t < space->surface->triangle_count; ++t)
        to[t] = (from[space->dof_of[3 * t]] + from[space->dof_of[3 * t + 1]] +
                 from[space->dof_of[3 * t + 2]]) /
                3;
}

ps_status field_surface_pictures(field_source *source, int64_t incidence, double speed,
                                 const char *base, const char *options)
{
    ps_layer layer = source->header->unknown;
    const ps_hbem_space *space = &source->spaces[layer];
    bool points = space->kind == PS_SPACE_P1;
    int64_t parts = source->header->parts,
            count = points ? space->dofs : source->mesh.triangle_count;
    PS_SCOPED_MEMORY double *values = NULL, *shown = NULL;
    PS_SCOPED(picture_release)
    picture p = {.snapshot = {.options = options, .mesh_hash = source->header->mesh_hash}};
    PS_TRY(picture_open(&p, count, points, source->header->layer[layer].units));
    PS_TRY(PS_ALLOC(&values, parts * space->dofs, "densities"));
    PS_TRY(PS_ALLOC(&shown, parts * count, "densities"));
    p.snapshot.grid = ps_surface_mesh_grid(&source->mesh);
    for (int64_t f = 0; f < source->frequencies; ++f) {
        const field_entry *e = source->table[f * source->incidences + incidence];
        PS_TRY(ps_hbem_solution_get(&source->files[e->file], layer, e->index, values));
        for (int64_t part = 0; part < parts; ++part)
            if (points)
                memcpy(shown + part * count, values + part * count, (size_t)count * 8);
            else
                means_of_triangles(space, values + part * space->dofs, shown + part * count);
        p.snapshot.time = e->wavenumber * speed / (2 * M_PI);
        PS_TRY(picture_save(&p, shown, parts == 2 ? shown + count : NULL, base, f));
    }
    return PS_OK;
}
