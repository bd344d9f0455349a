#include "kernels/hbem/setup.h"

#include "kernels/hbem/strata.h"

ps_hbem_outline ps_hbem_outline_of(const ps_clusters *clusters)
{
    return (ps_hbem_outline){.vertices = clusters->vertices,
                             .triangles = clusters->triangles,
                             .vertex_count = clusters->vertex_count,
                             .triangle_count = clusters->triangle_count,
                             .space = {clusters->space[0], clusters->space[1]},
                             .same = clusters->same,
                             .body = clusters->body,
                             .turned = clusters->turned};
}

static int64_t padded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* Sizes of what the functions are on. */
static ps_hbem_surface body_of(const ps_hbem_outline *o)
{
    return o->body > 0 ? (ps_hbem_surface){o->body, o->triangle_count / 2, NULL, NULL}
                       : (ps_hbem_surface){o->vertex_count, o->triangle_count, NULL, NULL};
}

static int64_t dofs_of(const ps_hbem_outline *outline, int side)
{
    ps_hbem_surface sizes = body_of(outline);
    return ps_hbem_space_dofs(outline->space[side], &sizes);
}

static int64_t scratch_dofs(const ps_hbem_outline *outline)
{
    int64_t a = dofs_of(outline, 0), b = dofs_of(outline, 1);
    return a > b ? a : b;
}

static int64_t space_bytes(const ps_hbem_outline *outline, int side)
{
    int64_t items = 3 * outline->triangle_count;
    return padded(8 * (dofs_of(outline, side) + 1)) + padded(8 * items) + padded(4 * items);
}

int64_t ps_hbem_setup_bytes(const ps_hbem_outline *outline)
{
    return padded(outline->triangle_count * (int64_t)sizeof(ps_hbem_triangle)) +
           space_bytes(outline, 0) + (outline->same ? 0 : space_bytes(outline, 1)) +
           padded(4 * scratch_dofs(outline)) + padded(4 * outline->triangle_count) +
           padded(4 * dofs_of(outline, 0)) +
           ps_hbem_strata_bytes(outline->triangle_count, dofs_of(outline, 0), dofs_of(outline, 1));
}

static void *take(char **at, int64_t bytes)
{
    void *piece = *at;
    *at += padded(bytes);
    return piece;
}

ps_status ps_hbem_setup_init(ps_hbem_setup *setup, const ps_hbem_outline *outline, void *memory)
{
    char *at = memory;
    int64_t items = 3 * outline->triangle_count;
    setup->same = outline->same;
    ps_hbem_triangle *triangles =
        take(&at, outline->triangle_count * (int64_t)sizeof(ps_hbem_triangle));
    PS_TRY(ps_hbem_surface_init(&setup->surface, outline->vertices, outline->vertex_count,
                                outline->triangles, outline->triangle_count, triangles));
    setup->plane = take(&at, 4 * outline->triangle_count);
    setup->stratum = take(&at, 4 * dofs_of(outline, 0));
    for (int side = 0; side < (outline->same ? 1 : 2); ++side) {
        ps_hbem_space *space = &setup->space[side];
        ps_hbem_half half = {outline->body, outline->triangle_count / 2, side == 1, outline->turned};
        int64_t *start = take(&at, 8 * (dofs_of(outline, side) + 1));
        int64_t *item = take(&at, 8 * items);
        int32_t *dof_of = take(&at, 4 * items);
        if (outline->body > 0)
            ps_hbem_space_init_half(space, outline->space[side], &setup->surface, &half, start, item,
                                    dof_of);
        else
            ps_hbem_space_init(space, outline->space[side], &setup->surface, start, item, dof_of);
    }
    if (outline->same) setup->space[1] = setup->space[0];
    setup->scratch = take(&at, 4 * scratch_dofs(outline));
    setup->tables = at;
    return PS_OK;
}

void ps_hbem_setup_order(ps_hbem_setup *setup, const ps_cluster_tree trees[2])
{
    for (int side = 0; side < (setup->same ? 1 : 2); ++side)
        ps_hbem_space_reorder(&setup->space[side], trees[side].order, setup->scratch);
    ps_hbem_planes(&setup->surface, setup->plane, setup->tables);
    ps_hbem_strata(&setup->space[0], setup->plane, setup->stratum, setup->tables);
}
