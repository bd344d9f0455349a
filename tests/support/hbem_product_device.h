/*
 * hbem_product_device: an H-matrix in the memory of a device, for checks and benchmarks of
 * products.
 */
#ifndef PS_TESTS_SUPPORT_HBEM_PRODUCT_DEVICE_H
#define PS_TESTS_SUPPORT_HBEM_PRODUCT_DEVICE_H

#include "tests/support/random_hmatrix.h"

typedef struct product_place {
    ps_stream *stream;
    ps_product_device d;
    void *tables, *vectors, *images;
} product_place;

static inline void *product_copy(product_place *p, const void *from, int64_t bytes)
{
    void *to;
    must(ps_device_alloc(ps_stream_device(p->stream), bytes + 256, &to));
    if (from) must(ps_copy_to_device(p->stream, to, from, bytes));
    must(ps_stream_wait(p->stream));
    return to;
}

/* Tables of the host, and images (NULL: random bits are there already) go to the device. */
static inline void product_place_open(product_place *p, const ps_product_tables *tables,
                                      const void *memory, const void *images, int64_t sides,
                                      ps_stream *stream)
{
    *p = (product_place){.stream = stream, .d = {.tables = *tables, .sides = sides}};
    p->tables = product_copy(p, memory, tables->device_bytes);
    p->images = product_copy(p, images, tables->chunk_at[tables->chunks]);
    ps_product_device_tables(&p->d, tables, p->tables);
    p->vectors = product_copy(p, NULL, ps_product_device_attach(&p->d, sides, NULL));
    ps_product_device_attach(&p->d, sides, p->vectors);
}

static inline void product_place_close(product_place *p)
{
    ps_device *device = ps_stream_device(p->stream);
    ps_device_free(device, p->tables);
    ps_device_free(device, p->images);
    ps_device_free(device, p->vectors);
}

#endif
