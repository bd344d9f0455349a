/* The arrays of the host and the state on a GPU: at the start, for people and files, and for
 * checkpoints, which hold it as it is. */
#include "compute/dgtd_march/device_state.h"

static void *host_of(const device_state *x, ps_dgtd_field field)
{
    const ps_dgtd_march *m = x->setup.march;
    return field == PS_DGTD_E ? m->electric : m->magnetic;
}

ps_status device_state_put(void *opened)
{
    device_state *x = opened;
    for (int field = 0; field < 2; ++field) {
        PS_TRY(ps_dgtd_device_put(&x->system, field_of(x, field), host_of(x, field), 0,
                                  x->system.groups, x->stream));
        PS_TRY(ps_fill_zero(x->stream, x->sums[field], x->sums_bytes));
    }
    return ps_stream_wait(x->stream);
}

/* Sums as values at nodes, as many groups at a time as the scratch memory takes. */
static ps_status get_sums(device_state *x, int field)
{
    int64_t count = x->sums_bytes / x->group_bytes, most = SCRATCH_BYTES / x->group_bytes;
    for (int64_t at = 0; at < count; at += most) {
        int64_t some = count - at < most ? count - at : most, bytes = some * x->group_bytes;
        const char *from = (const char *)x->sums[field] + at * x->group_bytes;
        PS_TRY(ps_dgtd_device_convert(&x->system, x->system.to_nodes, from, x->scratch, 0, some,
                                      x->stream));
        PS_TRY(ps_copy_to_host(x->stream, (char *)x->setup.sums[field] + at * x->group_bytes,
                               x->scratch, bytes));
        PS_TRY(ps_stream_wait(x->stream));
    }
    return PS_OK;
}

ps_status device_state_get(void *opened)
{
    device_state *x = opened;
    for (int field = 0; field < 2; ++field) {
        PS_TRY(ps_dgtd_device_get(&x->system, field_of(x, field), host_of(x, field), 0,
                                  x->system.groups, x->scratch, SCRATCH_BYTES, x->stream));
        PS_TRY(get_sums(x, field));
    }
    return ps_stream_wait(x->stream);
}

ps_status device_state_save(void *opened)
{
    device_state *x = opened;
    for (int field = 0; field < 2; ++field) {
        PS_TRY(ps_copy_to_host(x->stream, host_of(x, field), field_of(x, field), x->own_bytes));
        PS_TRY(ps_copy_to_host(x->stream, x->setup.sums[field], x->sums[field], x->sums_bytes));
    }
    return ps_stream_wait(x->stream);
}

ps_status device_state_load(void *opened)
{
    device_state *x = opened;
    for (int field = 0; field < 2; ++field) {
        PS_TRY(ps_copy_to_device(x->stream, field_of(x, field), host_of(x, field), x->own_bytes));
        PS_TRY(ps_copy_to_device(x->stream, x->sums[field], x->setup.sums[field], x->sums_bytes));
    }
    return ps_stream_wait(x->stream);
}
