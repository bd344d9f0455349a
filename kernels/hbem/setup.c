#include "kernels/hbem/setup.h"

#include "kernels/hbem/strata.h"
#include "runtime/sizes.h"

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

/* Where things are in the memory of a setup; their bytes. */
static int64_t lay_out(const ps_hbem_outline *outline, void *memory, ps_hbem_setup *s)
{
    int64_t used = 0, items = 3 * outline->triangle_count;
    s->surface.triangles = ps_host_part(
        memory, &used, outline->triangle_count * (int64_t)sizeof *s->surface.triangles);
    s->plane = ps_host_part(memory, &used, 4 * outline->triangle_count);
    s->stratum = ps_host_part(memory, &used, 4 * dofs_of(outline, 0));
    for (int side = 0; side < (outline->same ? 1 : 2); ++side) {
        s->space[side].start = ps_host_part(memory, &used, 8 * (dofs_of(outline, side) + 1));
        s->space[side].item = ps_host_part(memory, &used, 8 * items);
        s->space[side].dof_of = ps_host_part(memory, &used, 4 * items);
    }
    s->scratch = ps_host_part(memory, &used, 4 * scratch_dofs(outline));
    s->tables = memory ? (char *)memory + used : NULL;
    return used +
           ps_hbem_strata_bytes(outline->triangle_count, dofs_of(outline, 0), dofs_of(outline, 1));
}

int64_t ps_hbem_setup_bytes(const ps_hbem_outline *outline)
{
    ps_hbem_setup setup;
    return lay_out(outline, NULL, &setup);
}

ps_status ps_hbem_setup_init(ps_hbem_setup *setup, const ps_hbem_outline *outline, void *memory)
{
    lay_out(outline, memory, setup);
    setup->same = outline->same;
    PS_TRY(ps_hbem_surface_init(&setup->surface, outline->vertices, outline->vertex_count,
                                outline->triangles, outline->triangle_count,
                                setup->surface.triangles));
    for (int side = 0; side < (outline->same ? 1 : 2); ++side) {
        ps_hbem_space *s = &setup->space[side];
        ps_hbem_half half = {outline->body, outline->triangle_count / 2, side == 1,
                             outline->turned};
        if (outline->body > 0)
            ps_hbem_space_init_half(s, outline->space[side], &setup->surface, &half, s->start,
                                    s->item, s->dof_of);
        else
            ps_hbem_space_init(s, outline->space[side], &setup->surface, s->start, s->item,
                               s->dof_of);
    }
    if (outline->same) setup->space[1] = setup->space[0];
    return PS_OK;
}

void ps_hbem_setup_order(ps_hbem_setup *setup, const ps_cluster_tree trees[2])
{
    for (int side = 0; side < (setup->same ? 1 : 2); ++side)
        ps_hbem_space_reorder(&setup->space[side], trees[side].order, setup->scratch);
    ps_hbem_planes(&setup->surface, setup->plane, setup->tables);
    ps_hbem_strata(&setup->space[0], setup->plane, setup->stratum, setup->tables);
}
