#include "compute/hbem_solve/device_systems.h"

#include <stdlib.h>
#include <string.h>

#include "compute/hbem_solve/factors.h"
#include "kernels/hbem/factor_device.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

struct device_systems {
    ps_device *device;
    ps_stream *stream;
    void *memory;
    ps_shifted_device work;
    const ps_pencil *matrix;
    dissected dissected;
    void *factor_memory; /* NULL: no factors */
    ps_factor_device factor;
};

static ps_status upload(device_systems *d, const ps_pencil *matrix)
{
    PS_SCOPED_MEMORY double *diagonal = NULL;
    PS_TRY(ps_device_alloc(d->device, ps_shifted_device_bytes(matrix), &d->memory));
    PS_TRY(ps_stream_open(d->device, &d->stream));
    PS_TRY(PS_ALLOC(&diagonal, 2 * matrix->dofs, "the diagonal of sparse systems"));
    return ps_shifted_device_upload(matrix, diagonal, d->memory, d->stream, &d->work);
}

ps_status device_systems_open(ps_device *device, const ps_pencil *matrix,
                              const ps_shifted_options *options, device_systems **out)
{
    device_systems *d;
    *out = NULL;
    PS_TRY(PS_ALLOC(&d, 1, "sparse systems on a device"));
    d->device = device;
    d->matrix = matrix;
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
    ps_device_free(d->device, d->factor_memory);
    dissected_close(&d->dissected);
    free(d);
}

ps_shifted_solver device_systems_solver(device_systems *d)
{
    return (ps_shifted_solver){.context = &d->work, .solve = ps_shifted_device_solve};
}

/* ---- factors ---- */

/* Memory for the factors, and while they are made. */
static ps_status make_factors(device_systems *d, const int64_t *firsts)
{
    void *scratch = NULL;
    int64_t need = ps_factor_device_bytes(&d->factor) + ps_factor_device_scratch(&d->factor);
    int64_t have = ps_device_describe(d->device).memory_free;
    if (need > have)
        return ps_fail(PS_EXHAUSTED,
                       "sparse factors take %lld MiB of the device, which has %lld free; use "
                       "--sparse iterative",
                       (long long)(need >> 20), (long long)(have >> 20));
    PS_TRY(ps_device_alloc(d->device, ps_factor_device_bytes(&d->factor), &d->factor_memory));
    ps_status status = ps_device_alloc(d->device, ps_factor_device_scratch(&d->factor), &scratch);
    if (status == PS_OK)
        status = ps_factor_device_make(&d->factor, d->matrix, firsts, d->factor_memory, scratch);
    ps_device_free(d->device, scratch);
    return status;
}

ps_status device_systems_factorise(device_systems *d, int count, const double (*shifts)[2])
{
    PS_SCOPED_MEMORY int64_t *firsts = NULL;
    PS_TRY(dissected_open(d->matrix, &d->dissected));
    PS_TRY(PS_ALLOC(&firsts, ps_factor_device_firsts(&d->dissected.d), "sparse factors"));
    PS_TRY(ps_factor_device_measure(&d->dissected.d, count, firsts, &d->factor));
    d->factor.stream = d->stream;
    memcpy(d->factor.shift, shifts, (size_t)count * sizeof *shifts);
    return make_factors(d, firsts);
}

int64_t device_systems_factor_bytes(const device_systems *d)
{
    return d->factor_memory ? d->factor.count * d->dissected.d.numbers * 16 : 0;
}

int64_t device_systems_bytes(const device_systems *d)
{
    return ps_shifted_device_bytes(d->matrix) +
           (d->factor_memory ? ps_factor_device_bytes(&d->factor) : 0);
}

static ps_status combine(void *context, int64_t sides, const double (*weight)[2], const double *b,
                         double *y)
{
    return ps_factor_device_apply(context, sides, weight, b, y);
}

ps_shifted_solver device_systems_factors(device_systems *d)
{
    return (ps_shifted_solver){.context = &d->factor, .combine = combine};
}

int64_t device_systems_iterations(const device_systems *d) { return d->work.iterations; }
