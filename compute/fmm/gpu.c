/* Devices for tasks on GPU workers: operators there, and room for tables and workspaces. */
#include <stdlib.h>

#include "compute/fmm/gpu.h"
#include "runtime/comm.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"

enum { RESERVE = 256 << 20 /* bytes of a device that are left alone */ };

/* ---- opening ---- */

ps_status fmm_gpus_open(const ps_run *run, fmm_gpus **out, int *count)
{
    int ordinals[GPUS_MAX];
    *count = 0;
    *out = NULL;
    PS_TRY(ps_device_list(run->device, ps_comm_local_rank(), ps_comm_local_size(), ordinals,
                          GPUS_MAX, count));
    if (*count == 0) return PS_OK;
    PS_TRY(PS_ALLOC(out, 1, "GPUs"));
    for (int g = 0; g < *count; ++g) {
        PS_TRY(ps_device_open_ordinal(ordinals[g], &(*out)->devices[g]));
        (*out)->gpus[g].device = (*out)->devices[g];
        ++(*out)->count;
    }
    return PS_OK;
}

void fmm_gpus_close(fmm_gpus **out)
{
    fmm_gpus *gpus = *out;
    if (!gpus) return;
    for (int g = 0; g < gpus->count; ++g) {
        gpu *own = &gpus->gpus[g];
        if (own->rooms) ps_device_free(own->device, own->rooms);
        for (int l = 0; l < PS_OCTREE_LEVELS_MAX; ++l)
            if (own->blocks[l]) ps_device_free(own->device, own->blocks[l]);
        ps_device_close(&gpus->devices[g]);
    }
    free(gpus);
    *out = NULL;
}

ps_device *const *fmm_gpus_devices(const fmm_gpus *gpus) { return gpus->devices; }

int64_t fmm_gpus_memory(const fmm_gpus *gpus, const ps_run *run, int64_t pieces)
{
    int64_t least = pieces + pieces / 4 + RESERVE; /* what is free falls into pieces */
    for (int g = 0; g < gpus->count; ++g) {
        int64_t free_bytes = ps_device_describe(gpus->devices[g]).memory_free - RESERVE;
        if (free_bytes / ps_comm_local_size() < least) least = free_bytes / ps_comm_local_size();
    }
    return run->device_memory > 0 && run->device_memory < least ? run->device_memory : least;
}

/* ---- operators ---- */

/* Levels that share a table on the host share it here. */
static ps_status upload_tables(const fmm_problem *p, gpu *own)
{
    PS_SCOPED(ps_stream_close) ps_stream *stream = NULL;
    PS_TRY(ps_stream_open(own->device, &stream));
    for (int l = 2; l <= p->leaf; ++l) {
        if (l > 2 && p->fmm.tables[l] == p->fmm.tables[l - 1])
            own->tables[l] = own->tables[l - 1];
        else
            PS_TRY(
                fmm_operators_upload(p->fmm.tables[l], stream, &own->blocks[l], &own->tables[l]));
    }
    return PS_OK;
}

/* Particles of a group are numbered by 32 bits there. */
static ps_status check_group(int64_t particles)
{
    if (particles <= INT32_MAX) return PS_OK;
    return ps_fail(PS_EXHAUSTED,
                   "a group of %lld particles is too large for a GPU; make groups smaller "
                   "(penstock-octree-build --group), or compute with --device cpu",
                   (long long)particles);
}

/* Room for the tables and the workspace of any task. PS_EXHAUSTED for groups that codes of 32 bits
 * cannot number. */
static ps_status measure_room(fmm_gpus *gpus, const fmm_problem *p)
{
    int64_t slots = 1, workspace = 0;
    for (int64_t g = 0; g < ps_octree_groups(p->fmm.targets, p->leaf); ++g) {
        fmm_near_layout l = fmm_near_layout_of(p, g);
        slots = ps_larger(slots, l.slots);
        PS_TRY(check_group(ps_larger(l.particles, l.augmented_particles)));
        workspace = ps_larger(workspace, ps_fmm_device_p2p_workspace(l.cells, l.particles));
        workspace =
            ps_larger(workspace, ps_fmm_device_p2p_workspace(l.augmented, l.augmented_particles));
    }
    for (int64_t g = 0; g < ps_octree_groups(p->fmm.sources, p->leaf); ++g)
        PS_TRY(check_group(ps_octree_group_particles(p->fmm.sources, g)));
    for (int level = 2; level <= p->leaf; ++level) {
        const ps_group_list *list = &p->lists.far[level];
        for (int64_t g = 0; g < list->groups; ++g)
            slots = ps_larger(slots, list->start[g + 1] - list->start[g]);
        slots = ps_larger(slots, PS_FMM_DEVICE_CHILDREN + 1); /* groups of children of a group */
    }
    gpus->table_bytes = ps_device_padded(
        slots * (int64_t)ps_larger(sizeof(ps_fmm_device_sources), sizeof(ps_fmm_device_vectors)));
    gpus->room_bytes = gpus->table_bytes + ps_device_padded(workspace);
    if (slots <= INT32_MAX >> fmm_code_shift(p)) return PS_OK;
    return ps_fail(PS_EXHAUSTED,
                   "a group has %lld source groups, too many for a GPU; make groups "
                   "larger or compute with --device cpu",
                   (long long)slots);
}

ps_status fmm_gpus_can(const fmm_problem *p)
{
    ps_fmm_device_table unused;
    for (int l = 2; l <= p->leaf; ++l)
        PS_TRY(ps_fmm_device_table_pack(p->fmm.tables[l], NULL, &unused));
    return PS_OK;
}

ps_status fmm_gpus_prepare(fmm_gpus *gpus, const fmm_problem *p)
{
    gpus->method = (ps_fmm_device_method){.sides = p->fmm.sides,
                                          .far = p->fmm.far,
                                          .near = p->fmm.near,
                                          .function = p->fmm.function,
                                          .interpolation = p->fmm.interpolation};
    PS_TRY(measure_room(gpus, p));
    for (int g = 0; g < gpus->count; ++g) {
        gpu *own = &gpus->gpus[g];
        PS_TRY(
            ps_device_alloc(own->device, PS_TASK_LANES * gpus->room_bytes, (void **)&own->rooms));
        if (p->far) PS_TRY(upload_tables(p, own));
    }
    return PS_OK;
}

/* ---- tasks ---- */

gpu_scene gpu_scene_of(const ps_task_call *call)
{
    const fmm_arguments *a = call->arguments;
    const fmm_gpus *gpus = a->work->gpus;
    const gpu *own = &gpus->gpus[call->worker - a->work->workers];
    return (gpu_scene){.call = call,
                       .gpus = gpus,
                       .p = a->work->problem,
                       .own = own,
                       .room = own->rooms + call->lane * gpus->room_bytes,
                       .level = a->level,
                       .group = a->group};
}
