/* What the device files of the family and their *_cuda.cu share. Private to them. */
#ifndef PS_KERNELS_SCHWARZ_DEVICE_KERNELS_H
#define PS_KERNELS_SCHWARZ_DEVICE_KERNELS_H

#include "kernels/schwarz/fast_device.h"
#include "kernels/schwarz/grid.h"

/* ---- sine_cuda.cu ---- */

/* Fills the tables of a solver. */
ps_status ps_fast_tables_cuda(const ps_fast_device *solver, ps_stream *stream);

/* Where element i of a row or column of a matrix lies: i / group * batch + i % group * step. */
typedef struct ps_product_places {
    int64_t group, batch, step;
} ps_product_places;
/* c[m][n] = sum_k a[m][k] b[k][n]. Columns beyond `used` of a group of c are not written. */
typedef struct ps_device_product {
    int64_t m, n, k, used;
    const void *a, *b;
    void *c;
    ps_product_places a_rows, b_columns, c_rows, c_columns;
    int64_t b_step; /* from row to row of b; columns of a are consecutive */
    bool wide;      /* few rows, many columns; else the other way round */
} ps_device_product;
ps_status ps_product_cuda(ps_precision precision, const ps_device_product *product,
                          ps_stream *stream);

/* ---- slab_cuda.cu ---- */

/* A slab: its planes are `load` .. of the loads and `field` .. of the fields; traces that act on
 * its faces, whose loads are halved then, and that it sends; -1: none. */
typedef struct ps_slab_entry {
    int64_t planes, load, field;
    int64_t free[2], trace[2], sent[2];
    double p[2], q[2];
} ps_slab_entry;

typedef struct ps_slab_sweep {
    const ps_fast_device *tables;
    const ps_slab_entry *entries; /* device memory, as the rest */
    int64_t slabs;
    const void *load; /* NULL: none */
    const void *g;    /* NULL where no face has a trace */
    void *field, *factor, *out;
    double p, q; /* of S1 + S2 */
} ps_slab_sweep;
/* Solves all slabs in modes; `out`, unless NULL, gets what they send. */
ps_status ps_slab_sweep_cuda(const ps_slab_sweep *sweep, ps_stream *stream);

/* x = b on nodes that are fixed. */
ps_status ps_copy_fixed_cuda(ps_precision precision, const ps_slab *slab, const void *b, void *x,
                             ps_stream *stream);

#endif
