/* What the device files of the family and their *_cuda.cu share. Private to them. */
#ifndef PS_KERNELS_SCHWARZ_DEVICE_KERNELS_H
#define PS_KERNELS_SCHWARZ_DEVICE_KERNELS_H

#include "kernels/schwarz/fast_device.h"
#include "kernels/schwarz/grid.h"

/* ---- sine_tables_cuda.cu, sine_cuda.cu ---- */

/* Fills the tables of a solver. */
ps_status ps_fast_tables_cuda(const ps_fast_device *solver, ps_stream *stream);

static inline int64_t ps_sine_table_size(const ps_sine_table *s)
{
    return (int64_t)2 * s->chunks * s->steps * s->matrices * s->chunk_tiles * 64;
}

/*
 * Where line i begins, i / group * batch + i % group * step, and how far apart its values are.
 *
 * Between two transforms, rows of `count` values have their halves apart, the second one at an
 * aligned place: even modes and odd ones, or nodes from both ends. PS_MODES_APART: line i is that
 * of a mode, where the modes of a row lie so. PS_NODES_APART: it is what such a place of a row has,
 * and lies at its node. Lines beyond them are read as 0, and not written.
 */
enum { PS_IN_ORDER, PS_MODES_APART, PS_NODES_APART };
typedef struct ps_line_places {
    int64_t group, batch, step, next, count;
    int apart;
} ps_line_places;
/*
 * The sine transform of `lines` lines between n values and n modes. `along`: values of a line are
 * consecutive (next 1); what is written has its halves apart, in n rounded up to PS_FAST_COLUMNS
 * values, at even places of memory. Else lines are consecutive (step 1), in groups of an even
 * number.
 */
typedef struct ps_sine_transform {
    ps_sine_table sines;
    int64_t lines;
    const void *in;
    void *out;
    ps_line_places from, to;
    bool to_modes, along;
} ps_sine_transform;
/* PS_USAGE for 2^31 lines or more. */
ps_status ps_sine_transform_cuda(ps_precision precision, const ps_sine_transform *transform,
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
    int64_t slabs, rows;          /* rows: open planes, the most of a slab */
    const void *load;             /* NULL: none */
    const void *g;                /* NULL where no face has a trace */
    void *field, *factor, *out;
    double p, q; /* of S1 + S2 */
} ps_slab_sweep;
/* Solves all slabs in modes; `out`, unless NULL, gets what they send. */
ps_status ps_slab_sweep_cuda(const ps_slab_sweep *sweep, ps_stream *stream);

/* x = b on nodes that are fixed. */
ps_status ps_copy_fixed_cuda(ps_precision precision, const ps_slab *slab, const void *b, void *x,
                             ps_stream *stream);

#endif
