/*
 * P2P and M2L on GPUs (RR-8513, section 3.3), by the kernels of kernels/fmm/device_ops.h. A task
 * has the same outputs as on a CPU worker: P2P computes the pairs of the group and its augmented
 * leaves from both sides, one after the other, near results first, then the copies.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/fmm/fmm.h"
#include "kernels/fmm/device_ops.h"
#include "runtime/comm.h"
#include "runtime/memory.h"

enum { GPUS_MAX = 16, RESERVE = 256 << 20 /* bytes of a device that are left alone */ };

typedef struct gpu {
    ps_device *device;
    void *room; /* tables of sources, then what P2P needs; tasks of a device run one by one */
    void *blocks[PS_OCTREE_LEVELS_MAX];
    ps_fmm_device_table tables[PS_OCTREE_LEVELS_MAX];
} gpu;

struct fmm_gpus {
    int count;
    ps_device *devices[GPUS_MAX];
    gpu gpus[GPUS_MAX];
    ps_fmm_device_method method;
    int64_t table_bytes, room_bytes;
};

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
        char name[32];
        snprintf(name, sizeof name, "cuda:%d", ordinals[g]);
        PS_TRY(ps_device_open(name, 0, &(*out)->devices[g]));
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
        if (own->room) ps_device_free(own->device, own->room);
        for (int l = 0; l < PS_OCTREE_LEVELS_MAX; ++l)
            if (own->blocks[l]) ps_device_free(own->device, own->blocks[l]);
        ps_device_close(&gpus->devices[g]);
    }
    free(gpus);
    *out = NULL;
}

ps_device *const *fmm_gpus_devices(const fmm_gpus *gpus) { return gpus->devices; }

int64_t fmm_gpus_memory(const fmm_gpus *gpus, const ps_run *run)
{
    int64_t least = INT64_MAX;
    for (int g = 0; g < gpus->count; ++g) {
        int64_t free_bytes = ps_device_describe(gpus->devices[g]).memory_free - RESERVE;
        if (free_bytes < least) least = free_bytes;
    }
    least = least / ps_comm_local_size();
    return run->device_memory > 0 && run->device_memory < least ? run->device_memory : least;
}

/* ---- operators ---- */

/* Levels that share a table on the host share it here. */
static ps_status upload_tables(const fmm_problem *p, gpu *own)
{
    ps_stream *stream;
    ps_status status = PS_OK;
    PS_TRY(ps_stream_open(own->device, &stream));
    for (int l = 2; l <= p->leaf && status == PS_OK; ++l) {
        if (l > 2 && p->fmm.tables[l] == p->fmm.tables[l - 1])
            own->tables[l] = own->tables[l - 1];
        else
            status = fmm_operators_upload(p->fmm.tables[l], own->device, stream, &own->blocks[l],
                                          &own->tables[l]);
    }
    ps_stream_close(&stream);
    return status;
}

static int64_t rounded(int64_t bytes) { return (bytes + 255) / 256 * 256; }

static int64_t largest(int64_t a, int64_t b) { return a > b ? a : b; }

/* Room for the tables and the workspace of any task. PS_EXHAUSTED for groups that codes of 32 bits
 * cannot number. */
static ps_status measure_room(fmm_gpus *gpus, const fmm_problem *p)
{
    int64_t slots = 1, workspace = 0;
    for (int64_t g = 0; g < ps_octree_groups(p->fmm.targets, p->leaf); ++g) {
        fmm_near_layout l = fmm_near_layout_of(p, g);
        slots = largest(slots, l.slots);
        if (l.particles > INT32_MAX || l.augmented_particles > INT32_MAX)
            return ps_fail(PS_EXHAUSTED,
                           "a group of %lld particles is too large for a GPU; make groups smaller "
                           "(penstock-octree-build --group), or compute with --device cpu",
                           (long long)largest(l.particles, l.augmented_particles));
        workspace = largest(workspace, ps_fmm_device_p2p_workspace(l.cells, l.particles));
        workspace =
            largest(workspace, ps_fmm_device_p2p_workspace(l.augmented, l.augmented_particles));
    }
    for (int level = 2; level <= p->leaf; ++level) {
        const ps_group_list *list = &p->lists.far[level];
        for (int64_t g = 0; g < list->groups; ++g)
            slots = largest(slots, list->start[g + 1] - list->start[g]);
    }
    gpus->table_bytes = rounded(
        slots * (int64_t)largest(sizeof(ps_fmm_device_sources), sizeof(ps_fmm_device_vectors)));
    gpus->room_bytes = gpus->table_bytes + rounded(workspace);
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
        PS_TRY(ps_device_alloc(own->device, gpus->room_bytes, &own->room));
        if (p->far) PS_TRY(upload_tables(p, own));
    }
    return PS_OK;
}

/* ---- tasks ---- */

typedef struct scene {
    fmm_gpus *gpus;
    const fmm_problem *p;
    const gpu *own;
    int level;
    int64_t group;
} scene;

static scene scene_of(const ps_task_call *call)
{
    const fmm_arguments *a = call->arguments;
    fmm_gpus *gpus = a->work->gpus;
    return (scene){gpus, a->work->problem, &gpus->gpus[call->worker - a->work->workers], a->level,
                   a->group};
}

static int64_t cells_of(const ps_octree *tree, int level, int64_t group)
{
    int64_t first, end;
    ps_octree_group(tree, level, group, &first, &end);
    return end - first;
}

static int64_t particles_of(const ps_octree *tree, int64_t group)
{
    int64_t first, end;
    ps_octree_group(tree, tree->height - 1, group, &first, &end);
    return tree->particle_start[end] - tree->particle_start[first];
}

ps_status fmm_gpu_m2l(const ps_task_call *call)
{
    scene s = scene_of(call);
    const ps_group_list *list = &s.p->lists.far[s.level];
    fmm_far_layout l = fmm_far_layout_of(s.p, s.level, s.group);
    int64_t slots = list->start[s.group + 1] - list->start[s.group];
    const char *lists = call->data[1 + slots];
    ps_fmm_device_vectors *table;
    PS_TRY(PS_ALLOC(&table, slots, "a table of sources"));
    for (int64_t i = 0; i < slots; ++i)
        table[i] = (ps_fmm_device_vectors){
            call->data[1 + i],
            cells_of(s.p->fmm.sources, s.level, list->items[list->start[s.group] + i]) *
                s.p->fmm.tables[s.level]->length};
    ps_fmm_device_m2l m2l = {.far = {.cells = l.cells,
                                     .blocks = l.blocks,
                                     .order = (const int32_t *)(lists + l.order),
                                     .octant_start = (const int32_t *)(lists + l.octant_start),
                                     .block = (const int32_t *)(lists + l.block),
                                     .sources = (const int32_t *)(lists + l.sources)},
                             .sources = {.table = s.own->room, .shift = fmm_code_shift(s.p)},
                             .locals = {call->data[0], l.cells * s.p->fmm.interpolation.points},
                             .factor = s.p->fmm.factors[s.level]};
    /* the copy has taken what is not pinned when it returns */
    ps_status status =
        ps_copy_to_device(call->stream, s.own->room, table, slots * (int64_t)sizeof *table);
    free(table);
    if (status != PS_OK) return status;
    return ps_fmm_device_m2l_run(&s.gpus->method, &s.own->tables[s.level], &m2l, call->stream);
}

static ps_fmm_device_leaves leaves_of(const scene *s, int64_t cells, int64_t particles,
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
static ps_status upload_sources(const scene *s, const ps_task_call *call, const fmm_near_layout *l,
                                int from, const int32_t *start, ps_fmm_device_sources *own)
{
    ps_fmm_device_sources *table;
    PS_TRY(PS_ALLOC(&table, l->slots, "a table of sources"));
    for (int64_t i = 0; i < l->slots; ++i) {
        int64_t group = fmm_near_slot(s->p, s->group, i);
        table[i] = (ps_fmm_device_sources){call->data[from + i],
                                           particles_of(s->p->fmm.sources, group), start};
        start += cells_of(s->p->fmm.sources, s->p->leaf, group) + 1;
    }
    if (l->slots) *own = table[0];
    ps_status status =
        ps_copy_to_device(call->stream, s->own->room, table, l->slots * (int64_t)sizeof *table);
    free(table);
    return status;
}

ps_status fmm_gpu_p2p(const ps_task_call *call)
{
    scene s = scene_of(call);
    fmm_near_layout l = fmm_near_layout_of(s.p, s.group);
    bool augmented = l.augmented > 0;
    int particles = augmented ? 2 : 1, sources = s.p->same ? particles : particles + 1;
    int behind = sources + (int)l.slots; /* lists, then packed particles */
    const char *lists = call->data[behind];
    char *workspace = (char *)s.own->room + s.gpus->table_bytes;
    ps_fmm_device_sources own = {0};
    ps_fmm_device_p2p near = {.targets = leaves_of(&s, l.cells, l.particles,
                                                   (const uint64_t *)(lists + l.keys),
                                                   (const int32_t *)(lists + l.start),
                                                   call->data[particles], call->data[0]),
                              .near = (const int32_t *)(lists + l.near),
                              .sources = {.table = s.own->room, .shift = fmm_code_shift(s.p)},
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
