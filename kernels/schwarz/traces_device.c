#include "kernels/schwarz/traces_device.h"

#include <string.h>

int64_t ps_traces_device_bytes(int64_t vectors, int64_t traces)
{
    return 8 * vectors * traces * (PS_TRACES_PIECES + 1);
}

static ps_status on_cuda(ps_stream *stream)
{
    if (ps_stream_handle(stream)) return PS_OK;
    return ps_fail(PS_FAILED, "traces on a device need a CUDA device");
}

/* Sums by piece, then by trace, which lie behind them. */
static ps_status dots(void *context, int64_t count, const double *a, const double *b, double *parts)
{
    const ps_traces_device *d = context;
    const double *sums = (const double *)d->memory + count * d->traces * PS_TRACES_PIECES;
    memset(parts, 0, (size_t)(count * d->all) * sizeof *parts);
    if (d->traces == 0) return PS_OK;
    PS_TRY(on_cuda(d->stream));
    PS_TRY(ps_traces_dots_cuda(d, count, a, b));
    PS_TRY(ps_copy_to_host(d->stream, d->sums, sums, 8 * count * d->traces));
    PS_TRY(ps_stream_wait(d->stream));
    for (int64_t v = 0; v < count; ++v)
        memcpy(parts + v * d->all + d->first, d->sums + v * d->traces,
               (size_t)d->traces * sizeof *parts);
    return PS_OK;
}

static ps_status add(void *context, int64_t count, const double *factors, const double *a,
                     double *y)
{
    const ps_traces_device *d = context;
    if (d->traces == 0 || count == 0) return PS_OK;
    PS_TRY(on_cuda(d->stream));
    return ps_traces_add_cuda(d, count, factors, a, y);
}

static ps_status subtract(void *context, const double *x, double *y)
{
    const ps_traces_device *d = context;
    if (d->traces == 0) return PS_OK;
    PS_TRY(on_cuda(d->stream));
    return ps_traces_subtract_cuda(d, x, y);
}

static ps_status divide(void *context, double by, double *x)
{
    const ps_traces_device *d = context;
    if (d->traces == 0) return PS_OK;
    PS_TRY(on_cuda(d->stream));
    return ps_traces_divide_cuda(d, by, x);
}

ps_interface_vectors ps_traces_device_vectors(ps_traces_device *device, double *basis)
{
    return (ps_interface_vectors){device, basis, dots, add, subtract, divide};
}

ps_status ps_traces_device_gather(const ps_traces_modes *modes, const double *r, ps_stream *stream)
{
    if (modes->count == 0 || modes->traces == 0) return PS_OK;
    PS_TRY(on_cuda(stream));
    return ps_traces_modes_cuda(modes, true, (double *)r, stream);
}

ps_status ps_traces_device_scatter(const ps_traces_modes *modes, double *r, ps_stream *stream)
{
    if (modes->count == 0 || modes->traces == 0) return PS_OK;
    PS_TRY(on_cuda(stream));
    return ps_traces_modes_cuda(modes, false, r, stream);
}

ps_status ps_traces_device_solve_low(const ps_traces_low *low, ps_stream *stream)
{
    if (low->count == 0) return PS_OK;
    PS_TRY(on_cuda(stream));
    return ps_traces_low_cuda(low, stream);
}
