#include "kernels/dgtd/device_pml.h"

#include "kernels/common/reals.h"
#include "kernels/dgtd/device_kernels.h"
#include "runtime/sizes.h"

static int64_t state_bytes(const ps_dgtd_pml *host, const ps_dgtd_device *d)
{
    return host->rows * PS_DGTD_PML_STATES * ps_dgtd_group_bytes(d->order) / 3;
}

static int64_t lay_out(ps_dgtd_device_pml *x, const ps_dgtd_pml *host, int turned,
                       const ps_dgtd_device *d, char *memory)
{
    int64_t used = 0, rows = host->rows;
    x->groups = ps_device_part(memory, &used, rows * (int64_t)sizeof *x->groups);
    x->factors = ps_device_part(memory, &used, rows * PS_DGTD_PML_FACTORS * PS_DGTD_ALIGN);
    x->frames = ps_device_part(memory, &used, turned ? rows * 9 * PS_DGTD_ALIGN : 0);
    for (int k = 0; k < 2; ++k) x->state[k] = ps_device_part(memory, &used, state_bytes(host, d));
    x->former = ps_device_part(memory, &used, rows * ps_dgtd_group_bytes(d->order));
    if (!turned) x->frames = NULL;
    return used;
}

int64_t ps_dgtd_device_pml_bytes(const ps_dgtd_pml *host, ps_dgtd_pml_shape shape,
                                 const ps_dgtd_device *device)
{
    ps_dgtd_device_pml none;
    return lay_out(&none, host, shape == PS_DGTD_PML_BALL, device, NULL);
}

void ps_dgtd_device_pml_attach(ps_dgtd_device_pml *pml, const ps_dgtd_pml *host,
                               const ps_dgtd_device *device, void *memory)
{
    lay_out(pml, host, host->turned, device, memory);
    pml->host = host;
}

/* `count` numbers of the host as reals on the device, in single precision through workspace[count].
 * Waits. */
static ps_status copy_reals(const ps_dgtd_device *d, const double *from, int64_t count, float *work,
                            void *to, ps_stream *stream)
{
    bool narrow = d->precision == PS_SINGLE;
    for (int64_t i = 0; narrow && i < count; ++i) work[i] = (float)from[i];
    PS_TRY(ps_copy_to_device(stream, to, narrow ? (const void *)work : from,
                             count * ps_real_bytes(d->precision)));
    return ps_stream_wait(stream);
}

int64_t ps_dgtd_device_pml_work(const ps_dgtd_device_pml *x, const ps_dgtd_device *device)
{
    if (device->precision != PS_SINGLE) return 0;
    return x->host->rows * ps_dgtd_lanes(device->precision) * PS_DGTD_PML_FACTORS;
}

ps_status ps_dgtd_device_pml_upload(const ps_dgtd_device_pml *x, const ps_dgtd_device *device,
                                    float *work, ps_stream *stream)
{
    const ps_dgtd_pml *host = x->host;
    int64_t slots = host->rows * ps_dgtd_lanes(device->precision);
    PS_TRY(ps_copy_to_device(stream, x->groups, host->groups,
                             host->rows * (int64_t)sizeof *x->groups));
    PS_TRY(
        copy_reals(device, host->factors, slots * PS_DGTD_PML_FACTORS, work, x->factors, stream));
    if (x->frames) PS_TRY(copy_reals(device, host->frames, slots * 9, work, x->frames, stream));
    return ps_dgtd_device_pml_states(x, device, false, stream);
}

ps_status ps_dgtd_device_pml_states(const ps_dgtd_device_pml *x, const ps_dgtd_device *device,
                                    bool back, ps_stream *stream)
{
    for (int k = 0; k < 2; ++k)
        PS_TRY(ps_dgtd_device_move(x->state[k], x->host->state[k], state_bytes(x->host, device),
                                   back, stream));
    return ps_stream_wait(stream);
}

/* Rows of the parts that have some; which: of a field, or -1 to keep it. */
static ps_status launch(const ps_dgtd_device_pml *x, const ps_dgtd_device *device, int which,
                        void *field, const ps_dgtd_device_part *parts, int count, ps_stream *stream)
{
    ps_dgtd_pml_parts rows = {0};
    if (count > PS_DGTD_DEVICE_PARTS)
        return ps_fail(PS_FAILED, "%d parts of a half step; %d go at once", count,
                       PS_DGTD_DEVICE_PARTS);
    for (int k = 0; k < count; ++k) {
        int64_t first = ps_dgtd_pml_row(x->host, parts[k].begin);
        int64_t last = ps_dgtd_pml_row(x->host, parts[k].end);
        if (first >= last) continue;
        rows.begin[rows.count] = first;
        rows.end[rows.count++] = last;
    }
    return rows.count == 0 ? PS_OK : ps_dgtd_pml_cuda(x, device, &rows, which, field, stream);
}

ps_status ps_dgtd_device_pml_keep(const ps_dgtd_device_pml *x, const ps_dgtd_device *device,
                                  const void *field, const ps_dgtd_device_part *parts, int count,
                                  ps_stream *stream)
{
    return launch(x, device, -1, (void *)field, parts, count, stream);
}

ps_status ps_dgtd_device_pml_apply(const ps_dgtd_device_pml *x, const ps_dgtd_device *device,
                                   ps_dgtd_field which, void *field,
                                   const ps_dgtd_device_part *parts, int count, ps_stream *stream)
{
    return launch(x, device, (int)which, field, parts, count, stream);
}
