#include "kernels/schwarz/fast_device.h"

#include "kernels/common/reals.h"
#include "kernels/schwarz/device_kernels.h"
#include "runtime/sizes.h"

static ps_sine_table table_of(int64_t n)
{
    int64_t half = (n + 1) / 2, tiles = (half + 7) / 8;
    ps_sine_table t = {.n = n,
                       .steps = (int)((half + PS_SINE_DEPTH - 1) / PS_SINE_DEPTH),
                       .matrices = n % 2 == 0 ? 1 : 2};
    t.chunks = (int)((tiles + PS_SINE_TILES - 1) / PS_SINE_TILES);
    t.chunk_tiles = (int)((tiles + t.chunks - 1) / t.chunks);
    return t;
}

static ps_fast_device shape_of(ps_precision precision, const ps_slab *slab)
{
    int64_t my = slab->grid.nodes[1] - 2, mz = slab->grid.nodes[2] - 2;
    int64_t stride = (mz + PS_FAST_COLUMNS - 1) / PS_FAST_COLUMNS * PS_FAST_COLUMNS;
    return (ps_fast_device){.precision = precision,
                            .slab = *slab,
                            .my = my,
                            .mz = mz,
                            .stride = stride,
                            .sines = {table_of(my), table_of(mz)}};
}

/* Puts the tables into memory, unless that is NULL; their bytes. */
static int64_t lay_out(ps_fast_device *f, char *memory)
{
    int64_t modes = ps_device_padded(8 * f->my * f->stride), at = 0;
    for (int axis = 0; axis < 2; ++axis) {
        ps_sine_table *s = &f->sines[axis];
        if (memory) s->values = (double *)(memory + at);
        at += ps_device_padded(8 * ps_sine_table_size(s));
    }
    if (memory) {
        f->mu = (double *)(memory + at);
        f->inverse = (double *)(memory + at + modes);
        f->entry = memory + at + 2 * modes;
    }
    return at + 2 * modes + ps_device_padded(sizeof(ps_slab_entry));
}

int64_t ps_fast_device_bytes(ps_precision precision, const ps_slab *slab)
{
    ps_fast_device f = shape_of(precision, slab);
    return lay_out(&f, NULL);
}

ps_status ps_fast_device_make(ps_precision precision, const ps_slab *slab, void *memory,
                              ps_stream *stream, ps_fast_device *out)
{
    ps_slab_entry entry = {.planes = slab->grid.nodes[0], .trace = {-1, -1}, .sent = {-1, -1}};
    if (!ps_stream_handle(stream))
        return ps_fail(PS_FAILED, "direct solution on a device needs a CUDA device");
    PS_TRY(ps_slab_check(slab));
    *out = shape_of(precision, slab);
    lay_out(out, memory);
    for (int s = 0; s < 2; ++s) {
        entry.free[s] = slab->free[s];
        entry.p[s] = slab->p[s];
        entry.q[s] = slab->q[s];
    }
    PS_TRY(ps_copy_to_device(stream, out->entry, &entry, sizeof entry));
    return ps_fast_tables_cuda(out, stream);
}

int64_t ps_fast_device_workspace(ps_precision precision, const ps_slab *slab)
{
    ps_fast_device f = shape_of(precision, slab);
    return 2 * ps_device_padded(ps_real_bytes(precision) * slab->grid.nodes[0] * f.my * f.stride);
}

/* ---- transforms ---- */

/* Lines along z of all planes: of nodes, and of modes or what is between both transforms. */
static ps_line_places node_rows(const ps_fast_device *f)
{
    int64_t ny = f->slab.grid.nodes[1], nz = f->slab.grid.nodes[2];
    return (ps_line_places){.group = f->my, .batch = ny * nz, .step = nz, .next = 1};
}

static ps_line_places rows(const ps_fast_device *f)
{
    return (ps_line_places){
        .group = f->my, .batch = f->my * f->stride, .step = f->stride, .next = 1};
}

/* Lines along y likewise. */
static ps_line_places node_columns(const ps_fast_device *f)
{
    int64_t ny = f->slab.grid.nodes[1], nz = f->slab.grid.nodes[2];
    return (ps_line_places){.group = f->stride,
                            .batch = ny * nz,
                            .step = 1,
                            .next = nz,
                            .count = f->mz,
                            .apart = PS_NODES_APART};
}

static ps_line_places columns(const ps_fast_device *f, int apart)
{
    return (ps_line_places){.group = f->stride,
                            .batch = f->my * f->stride,
                            .step = 1,
                            .next = f->stride,
                            .count = f->mz,
                            .apart = apart};
}

/* The first node that is not fixed by y and z. */
static int64_t corner(const ps_fast_device *f)
{
    return ps_real_bytes(f->precision) * (f->slab.grid.nodes[2] + 1);
}

/* Transforms `count` planes along z and then along y; what both directions share is set here. */
static ps_status transform(const ps_fast_device *f, int64_t count, ps_sine_transform z,
                           ps_sine_transform y, void *scratch, ps_stream *stream)
{
    if (count < 1) return PS_OK;
    z.sines = f->sines[1];
    z.lines = count * f->my;
    z.to = rows(f);
    z.along = true;
    y.sines = f->sines[0];
    y.lines = count * f->stride;
    z.out = scratch;
    y.in = scratch;
    PS_TRY(ps_sine_transform_cuda(f->precision, &z, stream));
    return ps_sine_transform_cuda(f->precision, &y, stream);
}

ps_status ps_fast_device_to_modes(const ps_fast_device *f, int64_t count, const void *nodes,
                                  void *modes, void *scratch, ps_stream *stream)
{
    ps_sine_transform z = {
        .in = (const char *)nodes + corner(f), .from = node_rows(f), .to_modes = true};
    ps_sine_transform y = {.out = modes,
                           .from = columns(f, PS_MODES_APART),
                           .to = columns(f, PS_IN_ORDER),
                           .to_modes = true};
    return transform(f, count, z, y, scratch, stream);
}

ps_status ps_fast_device_to_nodes(const ps_fast_device *f, int64_t count, const void *modes,
                                  void *nodes, void *scratch, ps_stream *stream)
{
    ps_sine_transform z = {.in = modes, .from = rows(f)};
    ps_sine_transform y = {
        .out = (char *)nodes + corner(f), .from = columns(f, PS_IN_ORDER), .to = node_columns(f)};
    return transform(f, count, z, y, scratch, stream);
}

/* ---- the whole ---- */

ps_status ps_fast_device_solve(const ps_fast_device *f, const void *b, void *x, void *workspace,
                               ps_stream *stream)
{
    int64_t size = ps_real_bytes(f->precision), shift = f->slab.free[0] ? 0 : 1;
    int64_t plane = size * f->slab.grid.nodes[1] * f->slab.grid.nodes[2];
    int64_t modes = size * f->my * f->stride, open = ps_slab_open_planes(&f->slab);
    char *field = workspace, *scratch = field + ps_device_padded(modes * f->slab.grid.nodes[0]);
    PS_TRY(ps_fast_device_to_modes(f, open, (const char *)b + shift * plane, field + shift * modes,
                                   scratch, stream));
    ps_slab_sweep sweep = {.tables = f,
                           .entries = f->entry,
                           .slabs = 1,
                           .rows = open,
                           .load = field,
                           .field = field,
                           .factor = scratch};
    PS_TRY(ps_slab_sweep_cuda(&sweep, stream));
    PS_TRY(ps_fast_device_to_nodes(f, open, field + shift * modes, (char *)x + shift * plane,
                                   scratch, stream));
    return b == x ? PS_OK : ps_copy_fixed_cuda(f->precision, &f->slab, b, x, stream);
}
