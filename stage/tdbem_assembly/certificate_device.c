#include "stage/tdbem_assembly/certificate_device.h"

#include <stdlib.h>

#include "kernels/tdbem/passivity_device.h"
#include "runtime/memory.h"
#include "runtime/sizes.h"

struct certificate_device {
    certificate_squares squares;
    ps_device *device;
    ps_stream *stream;
    int64_t *offset; /* [tiles * tiles] */
    void *memory;
    ps_passivity_squares there;
};

/* Floats of a square at one angle. */
static int64_t block_size(const certificate_squares *s, const certificate_block *b)
{
    return b->values ? b->rows * b->slices * s->parts : 0;
}

/* Where the arrays are in device memory that begins at `memory`; their bytes. */
static int64_t lay_out(certificate_device *d, char *memory)
{
    const certificate_squares *s = &d->squares;
    int64_t used = 0, count = s->tiles * s->tiles, floats = 0;
    int64_t vector = s->parts * s->unknowns * (int64_t)sizeof(double);
    for (int64_t b = 0; b < count; ++b) {
        d->offset[b] = s->blocks[b].values ? floats : -1;
        floats += block_size(s, &s->blocks[b]);
    }
    d->there = (ps_passivity_squares){
        .unknowns = s->unknowns, .side = s->side, .tiles = s->tiles, .parts = s->parts};
    d->there.x = ps_device_part(memory, &used, vector);
    d->there.y = ps_device_part(memory, &used, vector);
    d->there.partial = ps_device_part(memory, &used, s->tiles * vector);
    d->there.offset = ps_device_part(memory, &used, count * (int64_t)sizeof(int64_t));
    d->there.values = ps_device_part(memory, &used, floats * (int64_t)sizeof(float));
    return used;
}

/* *fits: there was memory. */
static ps_status take(certificate_device *d, int64_t room, bool *fits)
{
    int64_t count = d->squares.tiles * d->squares.tiles, bytes;
    PS_TRY(PS_ALLOC(&d->offset, count, "the passivity certificate"));
    bytes = lay_out(d, NULL);
    *fits = bytes <= room;
    if (!*fits) return PS_OK;
    ps_status status = ps_device_alloc(d->device, bytes, &d->memory);
    *fits = status == PS_OK;
    if (!*fits) return status == PS_EXHAUSTED ? PS_OK : status;
    lay_out(d, d->memory);
    PS_TRY(ps_stream_open(d->device, &d->stream));
    return ps_copy_to_device(d->stream, (void *)d->there.offset, d->offset,
                             count * (int64_t)sizeof *d->offset);
}

ps_status certificate_device_open(ps_device *device, int64_t room,
                                  const certificate_squares *squares, certificate_device **out)
{
    bool fits = false;
    PS_TRY(PS_ALLOC(out, 1, "the passivity certificate"));
    (*out)->device = device;
    (*out)->squares = *squares;
    ps_status status = take(*out, room, &fits);
    if (status != PS_OK || !fits) certificate_device_close(out);
    return status;
}

void certificate_device_close(certificate_device **out)
{
    certificate_device *d = *out;
    *out = NULL;
    if (!d) return;
    ps_stream_close(&d->stream);
    ps_device_free(d->device, d->memory);
    free(d->offset);
    free(d);
}

ps_status certificate_device_load(certificate_device *d, int angle)
{
    const certificate_squares *s = &d->squares;
    for (int64_t b = 0; b < s->tiles * s->tiles; ++b) {
        const certificate_block *block = &s->blocks[b];
        int64_t entries = block->rows * block->slices;
        float *to = (float *)d->there.values + d->offset[b];
        for (int part = 0; block->values && part < s->parts; ++part)
            PS_TRY(ps_copy_to_device(d->stream, to + part * entries,
                                     block->values + (part * s->angles + angle) * entries,
                                     entries * (int64_t)sizeof *to));
    }
    return ps_stream_wait(d->stream);
}

ps_status certificate_device_multiply(certificate_device *d, const double *x, double *y)
{
    int64_t bytes = d->squares.parts * d->squares.unknowns * (int64_t)sizeof *x;
    PS_TRY(ps_copy_to_device(d->stream, d->there.x, x, bytes));
    PS_TRY(ps_passivity_product_cuda(&d->there, d->stream));
    PS_TRY(ps_copy_to_host(d->stream, y, d->there.y, bytes));
    return ps_stream_wait(d->stream);
}
