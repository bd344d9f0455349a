#include "compute/hbem_solve/device_systems.h"

#include <stdlib.h>

#include "runtime/memory.h"

struct device_systems {
    ps_device *device;
    ps_stream *stream;
    void *memory;
    ps_shifted_device work;
};

static ps_status upload(device_systems *d, const ps_hbem_sparse *matrix)
{
    double *diagonal;
    PS_TRY(ps_device_alloc(d->device, ps_shifted_device_bytes(matrix), &d->memory));
    PS_TRY(ps_stream_open(d->device, &d->stream));
    PS_TRY(PS_ALLOC(&diagonal, 2 * matrix->dofs, "the diagonal of sparse systems"));
    ps_status status = ps_shifted_device_upload(matrix, diagonal, d->memory, d->stream, &d->work);
    free(diagonal);
    return status;
}

ps_status device_systems_open(ps_device *device, const ps_hbem_sparse *matrix,
                              const ps_shifted_options *options, device_systems **out)
{
    device_systems *d;
    *out = NULL;
    PS_TRY(PS_ALLOC(&d, 1, "sparse systems on a device"));
    d->device = device;
    ps_status status = upload(d, matrix);
    if (status != PS_OK) device_systems_close(&d);
    if (status != PS_OK) return status;
    d->work.tolerance = options->tolerance;
    d->work.limit = options->limit;
    *out = d;
    return PS_OK;
}

void device_systems_close(device_systems **handle)
{
    device_systems *d = *handle;
    if (!d) return;
    *handle = NULL;
    ps_stream_close(&d->stream);
    ps_device_free(d->device, d->memory);
    free(d);
}

ps_shifted_solver device_systems_solver(device_systems *d)
{
    return (ps_shifted_solver){&d->work, ps_shifted_device_solve};
}

int64_t device_systems_iterations(const device_systems *d) { return d->work.iterations; }
