#include "kernels/dgtd/device_media.h"

#include <string.h>

#include "kernels/common/reals.h"
#include "runtime/sizes.h"

static int64_t state_bytes(const ps_dgtd_dispersion *host, const ps_dgtd_device *d)
{
    return host->vectors * ps_dgtd_group_bytes(d->order);
}

static int64_t lay_out(ps_dgtd_device_media *x, const ps_dgtd_dispersion *host,
                       const ps_dgtd_device *d, char *memory)
{
    int64_t used = 0, laws = host->law_count;
    x->counts = ps_device_part(memory, &used, laws * 2 * (int64_t)sizeof *x->counts);
    x->laws = ps_device_part(memory, &used, laws * PS_DGTD_LAW_REALS * ps_real_bytes(d->precision));
    x->law_of = ps_device_part(memory, &used, d->materials * (int64_t)sizeof *x->law_of);
    x->row_of = ps_device_part(memory, &used, d->groups * (int64_t)sizeof *x->row_of);
    x->first = ps_device_part(memory, &used, (host->rows + 1) * (int64_t)sizeof *x->first);
    x->state = ps_device_part(memory, &used, state_bytes(host, d));
    return used;
}

int64_t ps_dgtd_device_media_bytes(const ps_dgtd_dispersion *host, const ps_dgtd_device *device)
{
    ps_dgtd_device_media none;
    return lay_out(&none, host, device, NULL);
}

void ps_dgtd_device_media_attach(ps_dgtd_device_media *x, const ps_dgtd_dispersion *host,
                                 const ps_dgtd_device *device, void *memory)
{
    lay_out(x, host, device, memory);
    x->host = host;
}

/* Waits, as the numbers are turned into reals on the way. */
static ps_status copy_law(const ps_dgtd_device_media *x, const ps_dgtd_device *d, int64_t k,
                          ps_stream *stream)
{
    const ps_dgtd_law *law = x->host->laws + k;
    const int32_t counts[2] = {law->states, law->pairs};
    double wide[PS_DGTD_LAW_REALS];
    float narrow[PS_DGTD_LAW_REALS];
    int64_t bytes = PS_DGTD_LAW_REALS * ps_real_bytes(d->precision);
    memcpy(wide, law->k, sizeof law->k);
    memcpy(wide + 6, law->m, sizeof law->m);
    memcpy(wide + 12, law->factor, sizeof law->factor);
    for (int i = 0; i < PS_DGTD_LAW_REALS; ++i) narrow[i] = (float)wide[i];
    PS_TRY(ps_copy_to_device(stream, x->counts + 2 * k, counts, (int64_t)sizeof counts));
    PS_TRY(ps_copy_to_device(stream, (char *)x->laws + k * bytes,
                             d->precision == PS_SINGLE ? (const void *)narrow : wide, bytes));
    return ps_stream_wait(stream);
}

ps_status ps_dgtd_device_media_upload(const ps_dgtd_device_media *x, const ps_dgtd_device *device,
                                      ps_stream *stream)
{
    const ps_dgtd_dispersion *host = x->host;
    for (int64_t k = 0; k < host->law_count; ++k) PS_TRY(copy_law(x, device, k, stream));
    PS_TRY(ps_copy_to_device(stream, x->law_of, host->law_of,
                             device->materials * (int64_t)sizeof *x->law_of));
    PS_TRY(ps_copy_to_device(stream, x->row_of, host->row_of,
                             device->groups * (int64_t)sizeof *x->row_of));
    PS_TRY(ps_copy_to_device(stream, x->first, host->first,
                             (host->rows + 1) * (int64_t)sizeof *x->first));
    return ps_dgtd_device_media_states(x, device, false, stream);
}

ps_status ps_dgtd_device_media_states(const ps_dgtd_device_media *x, const ps_dgtd_device *device,
                                      bool back, ps_stream *stream)
{
    PS_TRY(
        ps_dgtd_device_move(x->state, x->host->state, state_bytes(x->host, device), back, stream));
    return ps_stream_wait(stream);
}
