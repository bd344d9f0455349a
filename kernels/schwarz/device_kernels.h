/* What the device files of the family and their *_cuda.cu share. Private to them. */
#ifndef PS_KERNELS_SCHWARZ_DEVICE_KERNELS_H
#define PS_KERNELS_SCHWARZ_DEVICE_KERNELS_H

#include "kernels/schwarz/fast_device.h"
#include "kernels/schwarz/krylov_device.h"
#include "kernels/schwarz/vectors_device.h"

/* ---- vectors_cuda.cu ---- */

ps_status ps_vector_scale_cuda(ps_precision precision, int64_t n, double alpha, void *x,
                               ps_stream *stream);
ps_status ps_vector_axpy_cuda(ps_precision precision, int64_t n, double alpha, const void *x,
                              void *y, ps_stream *stream);
ps_status ps_vector_multiply_cuda(ps_precision precision, int64_t n, const void *x, void *y,
                                  ps_stream *stream);
typedef struct ps_device_sum {
    ps_precision precision;
    bool difference; /* (x - y)^2, not x y */
    int64_t n;
    const void *x, *y;
    void *workspace;
} ps_device_sum;
ps_status ps_vector_sum_cuda(const ps_device_sum *sum, ps_stream *stream);
/* r = b - y, to fp32; x += d and d = 0, d in fp32. */
ps_status ps_vector_narrow_difference_cuda(int64_t n, const double *b, const double *y, float *r,
                                           ps_stream *stream);
ps_status ps_vector_add_wide_cuda(int64_t n, float *d, double *x, ps_stream *stream);
ps_status ps_stencil_multiply_cuda(ps_precision precision, const ps_slab_stencil *stencil,
                                   const void *x, void *y, int64_t planes, ps_stream *stream);

/* ---- krylov_cuda.cu ---- */

/* The vectors of a method on the device; names as in krylov_team.h. */
typedef struct ps_krylov_device_vectors {
    const void *b, *scale;
    void *x, *r, *p, *q, *z, *w, *h, *u;
} ps_krylov_device_vectors;

/* A pass: what A multiplies and where the product goes are NULL without one. */
typedef struct ps_krylov_device_pass {
    const ps_krylov_device_system *system;
    ps_krylov_device_vectors vectors;
    ps_krylov_pass pass;
    const void *in;
    void *out;
    int64_t rows, planes;
    ps_krylov_state *state; /* device memory, as the rest */
    double *partial;
    unsigned *ticket;
} ps_krylov_device_pass;

/* Blocks of the largest launch of a pass, for `partial`: 3 doubles each. */
int64_t ps_krylov_blocks_cuda(const ps_krylov_device_system *system, int64_t rows, int64_t planes);
/* Enqueues the pass; it runs if the state asks for it, and ends with the step. */
ps_status ps_krylov_pass_cuda(const ps_krylov_device_pass *pass, ps_stream *stream);
/* PS_CG_DIRECTION and PS_CG_ADVANCE with a stencil, without q: vectors.p is what is made from
 * `in`, the direction before. */
ps_status ps_krylov_cg_cuda(const ps_krylov_device_pass *pass, ps_stream *stream);
/* x = b on fixed rows of a stencil. */
ps_status ps_krylov_fixed_cuda(const ps_krylov_device_system *system, ps_stream *stream);

/* What is enqueued on the stream between the two becomes a graph. */
ps_status ps_krylov_capture_begin_cuda(ps_stream *stream);
ps_status ps_krylov_capture_end_cuda(ps_stream *stream, void **graph);
ps_status ps_krylov_graph_launch_cuda(void *graph, ps_stream *stream);
void ps_krylov_graph_drop_cuda(void *graph);

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
