#include "kernels/dgtd/device_upwind.h"

#include "kernels/common/reals.h"
#include "kernels/dgtd/device_kernels.h"
#include "runtime/sizes.h"

static int64_t group_bytes(const ps_dgtd_device *d)
{
    return ps_dgtd_device_field_bytes(d, 0) / (d->groups > 0 ? d->groups : 1);
}

static int64_t own_bytes(const ps_dgtd_device *d)
{
    return d->materials * ps_real_bytes(d->precision);
}
static int64_t other_bytes(const ps_dgtd_device *d) { return d->groups * 4 * PS_DGTD_ALIGN; }

void ps_dgtd_device_upwind_shape(ps_dgtd_device_upwind *out, const ps_dgtd_device *device,
                                 int64_t halo_slots, int windowed)
{
    int64_t lanes = ps_dgtd_lanes(device->precision);
    out->groups = device->groups + (halo_slots + lanes - 1) / lanes;
    out->windowed = windowed;
}

int64_t ps_dgtd_device_upwind_place(ps_dgtd_device_upwind *x, const ps_dgtd_device *device,
                                    void *memory)
{
    int64_t used = 0;
    for (int field = 0; field < 2 && !x->windowed; ++field)
        x->former[field] = ps_device_part(memory, &used, x->groups * group_bytes(device));
    x->other = ps_device_part(memory, &used, other_bytes(device));
    x->own = ps_device_part(memory, &used, own_bytes(device));
    return used;
}

ps_status ps_dgtd_device_upwind_upload(const ps_dgtd_device_upwind *x, const ps_dgtd_device *device,
                                       const ps_dgtd_upwind *host, ps_stream *stream)
{
    PS_TRY(ps_copy_to_device(stream, x->own, host->own, own_bytes(device)));
    PS_TRY(ps_copy_to_device(stream, x->other, host->other, other_bytes(device)));
    return ps_stream_wait(stream);
}

static ps_status keep(const ps_dgtd_device_upwind *x, const ps_dgtd_device *device,
                      ps_dgtd_field field, const void *from, int64_t begin, int64_t end,
                      ps_stream *stream)
{
    int64_t size = group_bytes(device);
    return ps_copy_on_device(stream, (char *)x->former[field] + begin * size,
                             (const char *)from + begin * size, (end - begin) * size);
}

ps_status ps_dgtd_device_upwind_start(const ps_dgtd_device_upwind *x, const ps_dgtd_device *device,
                                      const void *electric, ps_stream *stream)
{
    return keep(x, device, PS_DGTD_E, electric, 0, x->groups, stream);
}

ps_status ps_dgtd_device_upwind_halo(const ps_dgtd_device_upwind *x, const ps_dgtd_device *device,
                                     ps_dgtd_field field, const void *source, ps_stream *stream)
{
    if (x->groups == device->groups) return PS_OK;
    return keep(x, device, field == PS_DGTD_E ? PS_DGTD_H : PS_DGTD_E, source, device->groups,
                x->groups, stream);
}

ps_status ps_dgtd_device_upwind_apply(const ps_dgtd_device_upwind *x, const ps_dgtd_device *device,
                                      ps_dgtd_field field, void *target, const void *source,
                                      const ps_dgtd_device_part *parts, int count,
                                      ps_stream *stream)
{
    const ps_dgtd_device_sweep sweep = {device, field,          target,
                                        source, .parts = parts, .count = count};
    ps_dgtd_field other = field == PS_DGTD_E ? PS_DGTD_H : PS_DGTD_E;
    for (int k = 0; k < count; ++k)
        PS_TRY(keep(x, device, other, source, parts[k].begin, parts[k].end, stream));
    return ps_dgtd_upwind_cuda(&sweep, x, stream);
}
