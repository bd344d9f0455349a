/*
 * device_images: leaves of an H-matrix put into the form that products take as they are assembled,
 * in the memory of a device, where they stay.
 */
#ifndef PS_HBEM_SOLVE_DEVICE_IMAGES_H
#define PS_HBEM_SOLVE_DEVICE_IMAGES_H

#include "stage/hbem_assembly/leaf_backend.h"
#include "kernels/hbem/product_device.h"

typedef struct device_images device_images;

/* Of chunks [first_chunk, end_chunk) of shape, whose blocks get rank and error as leaves come; all
 * borrowed. budget: bytes of the device that the images may take; name: of the matrix, for errors.
 */
typedef struct device_images_config {
    ps_device *device;
    ps_hmatrix *shape;
    const ps_hmatrix_chunks *cuts;
    int64_t first_chunk, end_chunk, budget;
    const char *name;
} device_images_config;

ps_status device_images_open(const device_images_config *config, device_images **out);
void device_images_close(device_images **images); /* NULL is fine */

/* Leaves of a wave, and of a chunk that cores computed (not given back here); chunks ascending, one
 * call at a time. PS_EXHAUSTED beyond the budget. */
ps_status device_images_take_wave(device_images *images, const ps_leaf_wave *wave);
ps_status device_images_take_chunk(device_images *images, const ps_leaf_chunk *chunk);

/* Tells the work of products where all images are. Enqueues. */
ps_status device_images_locate(const device_images *images, const ps_product_device *work,
                               ps_stream *stream);
int64_t device_images_bytes(const device_images *images); /* taken so far */

#endif
