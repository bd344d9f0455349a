/* Volume meshes of our own, to be divided, scaled or ordered anew. */
#include <string.h>

#include "formats/volume_mesh.h"
#include "preprocess/mesh_import/import.h"
#include "runtime/scope.h"

static ps_status take_cells(import_cells *cells, int64_t count, const int32_t *vertices,
                            const int32_t *tags)
{
    for (int64_t i = 0; i < count; ++i)
        PS_TRY(import_add_cell(cells, vertices + cells->size * i, tags[i], i + 1));
    return PS_OK;
}

ps_status import_read_own(const import_input *input, import_mesh *mesh)
{
    PS_SCOPED(ps_volume_mesh_release) ps_volume_mesh own = {.vertex_count = 0};
    PS_TRY(ps_volume_mesh_load(input->path, &own));
    for (int64_t v = 0; v < own.vertex_count; ++v) {
        PS_TRY(import_add_vertices(mesh, 1, own.vertices + 3 * v));
        PS_TRY(import_add_vertex_number(mesh, v + 1));
    }
    PS_TRY(take_cells(&mesh->tetrahedra, own.tetrahedron_count, own.tetrahedra, own.tags));
    PS_TRY(take_cells(&mesh->triangles, own.triangle_count, own.triangles, own.triangle_tags));
    memcpy(mesh->tag_names, own.tag_names, sizeof mesh->tag_names);
    return PS_OK;
}
