/*
 * device_matrix: products on a CUDA device with the leaves of an H-matrix that are this rank's:
 * assembled and kept there, or read from files and kept, or streamed through it from host memory
 * and files (runtime/device_stream.h). Bits do not depend on which.
 */
#ifndef PS_HBEM_SOLVE_DEVICE_MATRIX_H
#define PS_HBEM_SOLVE_DEVICE_MATRIX_H

#include "compute/hbem_solve/device_images.h"
#include "formats/hmatrix.h"
#include "runtime/device_stream.h"

typedef struct device_matrix device_matrix;

typedef struct device_matrix_config {
    ps_device *device;             /* borrowed, as is all that follows                      */
    ps_hmatrix_file *file;         /* or                                                    */
    device_images *images;         /* assembled; of the two one is NULL                     */
    const char *name;              /* for messages                                          */
    const ps_hmatrix *shape;       /* of the whole                                          */
    const ps_hmatrix_chunks *cuts; /* likewise                                              */
    int64_t first_leaf, end_leaf;  /* of this rank                                          */
    int64_t first_chunk, chunks;   /* that hold them, at least one                          */
    int64_t sides;                 /* of a product at most                                  */
} device_matrix_config;

/* Makes the tables; local. */
ps_status device_matrix_open(const device_matrix_config *config, device_matrix **out);
void device_matrix_close(device_matrix **m); /* NULL is fine */

/* Bytes that are taken beside the chunks: on the device, and on the host. */
int64_t device_matrix_fixed(const device_matrix *m);
int64_t device_matrix_host_fixed(const device_matrix *m);

/* Allocates within these bytes, the fixed ones not counted, and starts reading. PS_EXHAUSTED as
 * ps_device_stream_open. */
ps_status device_matrix_start(device_matrix *m, int64_t host_memory, int64_t device_memory);
/* Where all chunks fit the device: waits until they are there. Different matrices may be loaded by
 * different threads at once. Otherwise nothing is done. */
ps_status device_matrix_load(device_matrix *m);

/* Enqueues y = A x[sides][parts][columns]; x may be changed on return. Chunks that do not stay on
 * the device are read meanwhile. */
ps_status device_matrix_multiply(device_matrix *m, int64_t sides, const double *x);
/* Waits, and copies y[sides][parts][rows]. */
ps_status device_matrix_fetch(device_matrix *m, double *y);

ps_status device_matrix_stats(device_matrix *m, ps_device_stream_stats *out);

#endif
