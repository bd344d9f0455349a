/*
 * P2P on GPUs (RR-8513, section 3.3). A task has the same outputs as on a CPU worker: the pairs of
 * the group and its augmented leaves are computed from both sides, one after the other, near
 * results first, then the copies.
 */
#include <stdlib.h>

#include "compute/fmm/gpu.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

static ps_fmm_device_leaves leaves_of(const gpu_scene *s, int64_t cells, int64_t particles,
                                      const uint64_t *keys, const int32_t *start,
                                      const double *rows, double *results)
{
    return (ps_fmm_device_leaves){.cells = cells,
                                  .particles = particles,
                                  .keys = keys,
                                  .box = s->p->header->box,
                                  .level = s->p->leaf,
                                  .set = {rows, particles, start},
                                  .potential = results,
                                  .gradient = results + s->p->fmm.sides * particles};
}

/* The sources of each slot, from the accesses from `from` on. */
static ps_status upload_sources(const gpu_scene *s, const ps_task_call *call,
                                const fmm_near_layout *l, int from, const int32_t *start,
                                ps_fmm_device_sources *own)
{
    PS_SCOPED_MEMORY ps_fmm_device_sources *table = NULL;
    PS_TRY(PS_ALLOC(&table, l->slots, "a table of sources"));
    for (int64_t i = 0; i < l->slots; ++i) {
        int64_t group = fmm_near_slot(s->p, s->group, i);
        table[i] = (ps_fmm_device_sources){
            call->data[from + i], ps_octree_group_particles(s->p->fmm.sources, group), start};
        start += ps_octree_group_cells(s->p->fmm.sources, s->p->leaf, group) + 1;
    }
    if (l->slots) *own = table[0];
    return ps_copy_to_device(call->stream, s->room, table, l->slots * (int64_t)sizeof *table);
}

ps_status fmm_gpu_p2p(const ps_task_call *call)
{
    gpu_scene s = gpu_scene_of(call);
    fmm_near_layout l = fmm_near_layout_of(s.p, s.group);
    bool augmented = l.augmented > 0;
    int particles = augmented ? 2 : 1, sources = s.p->same ? particles : particles + 1;
    int behind = sources + (int)l.slots; /* lists, then packed particles */
    const char *lists = call->data[behind];
    char *workspace = s.room + s.gpus->table_bytes;
    ps_fmm_device_sources own = {0};
    ps_fmm_device_p2p near = {
        .targets =
            leaves_of(&s, l.cells, l.particles, (const uint64_t *)(lists + l.keys),
                      (const int32_t *)(lists + l.start), call->data[particles], call->data[0]),
        .near = (const int32_t *)(lists + l.near),
        .sources = {.table = (const void *)s.room, .shift = fmm_code_shift(s.p)},
        .workspace = workspace};
    PS_TRY(upload_sources(&s, call, &l, sources, (const int32_t *)(lists + l.slot_start), &own));
    PS_TRY(ps_fmm_device_p2p_run(&s.gpus->method, &near, call->stream));
    if (!augmented) return PS_OK;
    ps_fmm_device_p2p copies = {.targets = leaves_of(&s, l.augmented, l.augmented_particles,
                                                     (const uint64_t *)(lists + l.augmented_keys),
                                                     (const int32_t *)(lists + l.augmented_start),
                                                     call->data[behind + 1], call->data[1]),
                                .near = (const int32_t *)(lists + l.augmented_near),
                                .sources = {.one = own},
                                .workspace = workspace};
    return ps_fmm_device_p2p_run(&s.gpus->method, &copies, call->stream);
}
