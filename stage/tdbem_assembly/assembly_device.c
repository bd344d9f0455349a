/*
 * Tiles on CUDA devices. A slot is a piece of device memory with a stream; threads take one, let it
 * compute their tile, and give it back once the tile is in their own memory. So devices compute
 * while other threads compress and write.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage/tdbem_assembly/slice_assembly.h"
#include "kernels/tdbem/interaction_device.h"
#include "runtime/comm.h"
#include "runtime/log.h"
#include "runtime/memory.h"

enum { DEVICES_MAX = 16, SLOTS_A_DEVICE = 4 };
/* What the programs and libraries of a device take, and what is left to others. */
static const double device_share = 0.9;

typedef struct device_slot {
    ps_stream *stream;
    ps_interaction_device work;
    bool busy;
} device_slot;

struct ps_assembly_devices {
    int count, slot_count;
    ps_device *device[DEVICES_MAX];
    void *triangles[DEVICES_MAX];
    int64_t budget; /* bytes of each */
    device_slot slots[DEVICES_MAX * SLOTS_A_DEVICE];
    pthread_mutex_t lock; /* guards busy */
    pthread_cond_t given_back;
};

/* ---- opening ---- */

static ps_status open_all(const ps_run *run, ps_assembly_devices *devices)
{
    int ordinal[DEVICES_MAX], count;
    PS_TRY(ps_device_list(run->device, ps_comm_local_rank(), ps_comm_local_size(), ordinal,
                          DEVICES_MAX, &count));
    devices->budget = run->device_memory > 0 ? run->device_memory : INT64_MAX;
    for (int d = 0; d < count; ++d) {
        PS_TRY(ps_device_open_ordinal(ordinal[d], &devices->device[devices->count++]));
        int64_t memory = ps_device_describe(devices->device[d]).memory_free;
        int64_t share = (int64_t)(device_share * (double)memory);
        if (share < devices->budget) devices->budget = share;
    }
    return PS_OK;
}

ps_status ps_assembly_devices_open(const ps_run *run, const ps_interaction *interaction,
                                   ps_assembly_devices **out)
{
    ps_assembly_devices *devices;
    *out = NULL;
    if (interaction->mirrors.count > 0) {
        if (ps_comm_rank() == 0)
            ps_info("the images of --mirror are assembled on cores, also where there are devices");
        return PS_OK;
    }
    PS_TRY(PS_ALLOC(&devices, 1, "devices"));
    pthread_mutex_init(&devices->lock, NULL);
    pthread_cond_init(&devices->given_back, NULL);
    ps_status status = open_all(run, devices);
    if (status != PS_OK || devices->count == 0)
        ps_assembly_devices_close(&devices);
    else
        *out = devices;
    return status;
}

void ps_assembly_devices_close(ps_assembly_devices **out)
{
    ps_assembly_devices *devices = *out;
    *out = NULL;
    if (!devices) return;
    for (int s = 0; s < devices->slot_count; ++s) {
        device_slot *slot = &devices->slots[s];
        ps_device *device = devices->device[s % devices->count];
        ps_stream_close(&slot->stream);
        ps_event_close(&slot->work.done);
        ps_device_free(device, slot->work.memory);
        ps_device_free_pinned(device, slot->work.tables);
    }
    for (int d = 0; d < devices->count; ++d) {
        ps_device_free(devices->device[d], devices->triangles[d]);
        ps_device_close(&devices->device[d]);
    }
    pthread_cond_destroy(&devices->given_back);
    pthread_mutex_destroy(&devices->lock);
    free(devices);
}

int ps_assembly_devices_count(const ps_assembly_devices *devices)
{
    return devices ? devices->count : 0;
}

ps_device *ps_assembly_devices_host(const ps_assembly_devices *devices)
{
    return devices->device[0];
}

/* ---- planning ---- */

static void widen(ps_interaction_side *most, const ps_interaction_side *side)
{
    if (side->unknowns > most->unknowns) most->unknowns = side->unknowns;
    if (side->widths > most->widths) most->widths = side->widths;
    if (side->slots > most->slots) most->slots = side->slots;
    if (side->most > most->most) most->most = side->most;
    if (side->triangles > most->triangles) most->triangles = side->triangles;
    if (side->shells > most->shells) most->shells = side->shells;
}

static int64_t triangle_bytes(const ps_interaction *interaction)
{
    return interaction->triangle_count * (int64_t)sizeof(ps_triangle);
}

static int64_t surface_bytes(const ps_interaction *interaction)
{
    return triangle_bytes(interaction) + (interaction->lined ? interaction->triangle_count : 0);
}

ps_status ps_assembly_devices_plan(const ps_assembly_devices *devices,
                                   const ps_interaction *interaction, int64_t side,
                                   ps_assembly_device_plan *out)
{
    ps_interaction_side most = {0};
    for (int64_t first = 0; first < interaction->unknowns; first += side) {
        int64_t rest = interaction->unknowns - first;
        ps_interaction_side own =
            ps_interaction_side_of(interaction, first, rest < side ? rest : side);
        widen(&most, &own);
    }
    ps_interaction_room room = ps_interaction_room_of(interaction, &most, &most, true);
    int64_t triangles = surface_bytes(interaction), budget = devices->budget - triangles;
    memset(out, 0, sizeof *out);
    out->table_bytes = room.tables;
    if (budget < room.least)
        return ps_fail(
            PS_EXHAUSTED,
            "--device-memory: %.0f MB hold no tile of %lld x %lld; %.0f MB are needed, or "
            "choose smaller --tile-rows, or --device cpu",
            (double)devices->budget / 1e6, (long long)side, (long long)side,
            (double)(room.least + triangles) / 1e6);
    out->slots = (int)(budget / room.whole < SLOTS_A_DEVICE ? budget / room.whole : SLOTS_A_DEVICE);
    if (out->slots < 1) out->slots = 1;
    out->slot_bytes = budget < room.whole ? budget : room.whole;
    out->bytes = triangles + out->slots * out->slot_bytes;
    return PS_OK;
}

int64_t ps_assembly_devices_room(const ps_assembly_devices *devices,
                                 const ps_assembly_device_plan *plan)
{
    return devices->budget - plan->bytes;
}

/* The triangles of a device, and behind them which of them are lined. */
static ps_status copy_surface(const ps_interaction *interaction, ps_device *device,
                              ps_stream *stream, void **out)
{
    int64_t bytes = triangle_bytes(interaction);
    PS_TRY(ps_device_alloc(device, surface_bytes(interaction), out));
    PS_TRY(ps_copy_to_device(stream, *out, interaction->triangles, bytes));
    if (interaction->lined)
        PS_TRY(ps_copy_to_device(stream, (char *)*out + bytes, interaction->lined,
                                 interaction->triangle_count));
    return ps_stream_wait(stream);
}

ps_status ps_assembly_devices_prepare(ps_assembly_devices *devices,
                                      const ps_interaction *interaction,
                                      const ps_assembly_device_plan *plan, ps_precision precision)
{
    for (int s = 0; s < plan->slots * devices->count; ++s) {
        int d = s % devices->count;
        device_slot *slot = &devices->slots[devices->slot_count++];
        PS_TRY(ps_stream_open(devices->device[d], &slot->stream));
        PS_TRY(ps_event_open(devices->device[d], &slot->work.done));
        PS_TRY(ps_device_alloc(devices->device[d], plan->slot_bytes, &slot->work.memory));
        PS_TRY(ps_device_alloc_pinned(devices->device[d], plan->table_bytes, &slot->work.tables));
        if (!devices->triangles[d])
            PS_TRY(copy_surface(interaction, devices->device[d], slot->stream,
                                &devices->triangles[d]));
        slot->work.interaction = interaction;
        slot->work.triangles = devices->triangles[d];
        slot->work.lined = (const uint8_t *)devices->triangles[d] + triangle_bytes(interaction);
        slot->work.precision = precision;
        slot->work.table_bytes = plan->table_bytes;
        slot->work.memory_bytes = plan->slot_bytes;
    }
    return PS_OK;
}

/* ---- computing ---- */

static device_slot *take_slot(ps_assembly_devices *devices)
{
    device_slot *slot = NULL;
    pthread_mutex_lock(&devices->lock);
    while (!slot) {
        for (int s = 0; s < devices->slot_count && !slot; ++s)
            if (!devices->slots[s].busy) slot = &devices->slots[s];
        if (!slot) pthread_cond_wait(&devices->given_back, &devices->lock);
    }
    slot->busy = true;
    pthread_mutex_unlock(&devices->lock);
    return slot;
}

static void give_back(ps_assembly_devices *devices, device_slot *slot)
{
    pthread_mutex_lock(&devices->lock);
    slot->busy = false;
    pthread_cond_signal(&devices->given_back);
    pthread_mutex_unlock(&devices->lock);
}

ps_status ps_assembly_devices_compute(ps_assembly_devices *devices, ps_interaction_tile *tile,
                                      ps_interaction_tile *mirror)
{
    device_slot *slot = take_slot(devices);
    ps_status status = ps_interaction_device_start(&slot->work, tile, mirror != NULL, slot->stream);
    if (status == PS_OK)
        status = ps_interaction_device_fetch(&slot->work, tile, mirror, slot->stream);
    give_back(devices, slot);
    return status;
}

ps_status ps_assembly_devices_time(ps_assembly_devices *devices, const ps_interaction_tile *tile,
                                   double *seconds)
{
    device_slot *slot = take_slot(devices);
    ps_status status = PS_OK;
    for (int round = 0; round < 2 && status == PS_OK; ++round) { /* the first warms up */
        double start = ps_clock();
        status = ps_interaction_device_start(&slot->work, tile, true, slot->stream);
        if (status == PS_OK) status = ps_stream_wait(slot->stream);
        *seconds = ps_clock() - start;
    }
    give_back(devices, slot);
    return status;
}
