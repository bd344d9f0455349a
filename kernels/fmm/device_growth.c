#include "kernels/fmm/device_growth.h"

#include "kernels/fmm/device_growth_cuda.h"
#include "runtime/sizes.h"

static ps_status room(void *self, int64_t bytes, void **out)
{
    ps_device_growth *g = self;
    if (g->used + ps_device_padded(bytes) > g->bytes)
        return ps_fail(PS_EXHAUSTED,
                       "an adaptive tree takes more than the %.2f GB of a device's "
                       "memory that it may have",
                       1e-9 * (double)g->bytes);
    *out = ps_device_part(g->block, &g->used, bytes);
    return PS_OK;
}

static ps_status each(void *self, ps_growth_step step, const ps_growth_arrays *arrays,
                      int64_t count)
{
    return ps_device_growth_each(((ps_device_growth *)self)->stream, step, arrays, count);
}

static ps_status scan(void *self, const int32_t *from, int32_t *to, int64_t count)
{
    ps_device_growth *g = self;
    int64_t bytes = 0, used = g->used;
    void *workspace = NULL;
    PS_TRY(ps_device_growth_scan(g->stream, from, to, count, NULL, &bytes));
    PS_TRY(room(self, bytes, &workspace));
    g->used = used; /* what comes later on the stream may take its place */
    return ps_device_growth_scan(g->stream, from, to, count, workspace, &bytes);
}

static ps_status sort(void *self, uint64_t **labels, int32_t **numbers, int64_t count, int bits)
{
    ps_device_growth *g = self;
    uint64_t *both[2] = {*labels, NULL};
    int32_t *pair[2] = {*numbers, NULL};
    int64_t bytes = 0;
    void *workspace = NULL;
    int current = 0;
    PS_TRY(room(self, count * (int64_t)sizeof **labels, (void **)&both[1]));
    PS_TRY(room(self, count * (int64_t)sizeof **numbers, (void **)&pair[1]));
    PS_TRY(ps_device_growth_sort(g->stream, both, pair, count, bits, NULL, &bytes, &current));
    PS_TRY(room(self, bytes, &workspace));
    PS_TRY(ps_device_growth_sort(g->stream, both, pair, count, bits, workspace, &bytes, &current));
    *labels = both[current];
    *numbers = pair[current];
    return PS_OK;
}

static ps_status zero(void *self, void *at, int64_t bytes)
{
    return ps_fill_zero(((ps_device_growth *)self)->stream, at, bytes);
}

static ps_status take(void *self, void *host, const void *from, int64_t bytes)
{
    ps_stream *stream = ((ps_device_growth *)self)->stream;
    PS_TRY(ps_copy_to_host(stream, host, from, bytes));
    return ps_stream_wait(stream);
}

static ps_status give(void *self, void *to, const void *host, int64_t bytes)
{
    ps_stream *stream = ((ps_device_growth *)self)->stream;
    PS_TRY(ps_copy_to_device(stream, to, host, bytes));
    return ps_stream_wait(stream);
}

ps_growth_engine ps_device_growth_engine(ps_device_growth *growth)
{
    return (ps_growth_engine){growth, each, scan, sort, zero, take, give, room};
}
