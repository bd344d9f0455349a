#include "kernels/schwarz/fast_device.h"

#include "kernels/schwarz/device_kernels.h"
#include "runtime/sizes.h"

static int64_t size_of(ps_precision precision) { return precision == PS_SINGLE ? 4 : 8; }

/* For n values a line and `stored` modes. The pitch is 4 more than a multiple of 16, which keeps
 * lanes of a warp in different banks. */
static ps_sine_table table_of(int64_t n, int64_t stored)
{
    int64_t half = (n + 1) / 2, tiles = (stored + 15) / 16;
    ps_sine_table t = {.n = n, .steps = (int)((half + PS_SINE_DEPTH - 1) / PS_SINE_DEPTH)};
    t.chunks = (int)((tiles + PS_SINE_TILES - 1) / PS_SINE_TILES);
    t.chunk_tiles = (int)((tiles + t.chunks - 1) / t.chunks);
    t.pitch = (8 * t.chunk_tiles + 11) / 16 * 16 + 4;
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
                            .sines = {table_of(my, my), table_of(mz, stride)}};
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
    return 2 * ps_device_padded(size_of(precision) * slab->grid.nodes[0] * f.my * f.stride);
}

/* ---- transforms ---- */

/* Rows of modes: lines along z, and columns: lines along y, of all planes. */
static ps_line_places mode_rows(const ps_fast_device *f)
{
    return (ps_line_places){f->my, f->my * f->stride, f->stride, 1};
}

static ps_line_places mode_columns(const ps_fast_device *f)
{
    return (ps_line_places){f->stride, f->my * f->stride, 1, f->stride};
}

/* Every plane's lines along z, whose places are `from`, to rows of modes. */
static ps_status transform_z(const ps_fast_device *f, int64_t count, const void *in,
                             ps_line_places from, bool to_modes, void *out, ps_stream *stream)
{
    ps_sine_transform t = {.sines = f->sines[1],
                           .lines = count * f->my,
                           .stored = f->stride,
                           .group_stored = f->my,
                           .in = in,
                           .out = out,
                           .from = from,
                           .to = mode_rows(f),
                           .to_modes = to_modes,
                           .along = true};
    return ps_sine_transform_cuda(f->precision, &t, stream);
}

/* Columns of modes of every plane, to the first `stored` of the places `to`. */
static ps_status transform_y(const ps_fast_device *f, int64_t count, const void *in, bool to_modes,
                             void *out, ps_line_places to, int64_t stored, ps_stream *stream)
{
    ps_sine_transform t = {.sines = f->sines[0],
                           .lines = count * f->stride,
                           .stored = f->my,
                           .group_stored = stored,
                           .in = in,
                           .out = out,
                           .from = mode_columns(f),
                           .to = to,
                           .to_modes = to_modes};
    return ps_sine_transform_cuda(f->precision, &t, stream);
}

/* The first node that is not fixed by y and z. */
static int64_t corner(const ps_fast_device *f)
{
    return size_of(f->precision) * (f->slab.grid.nodes[2] + 1);
}

ps_status ps_fast_device_to_modes(const ps_fast_device *f, int64_t count, const void *nodes,
                                  void *modes, void *scratch, ps_stream *stream)
{
    int64_t ny = f->slab.grid.nodes[1], nz = f->slab.grid.nodes[2];
    ps_line_places rows = {f->my, ny * nz, nz, 1};
    if (count < 1) return PS_OK;
    PS_TRY(transform_z(f, count, (const char *)nodes + corner(f), rows, true, scratch, stream));
    return transform_y(f, count, scratch, true, modes, mode_columns(f), f->stride, stream);
}

ps_status ps_fast_device_to_nodes(const ps_fast_device *f, int64_t count, const void *modes,
                                  void *nodes, void *scratch, ps_stream *stream)
{
    int64_t ny = f->slab.grid.nodes[1], nz = f->slab.grid.nodes[2];
    ps_line_places columns = {f->stride, ny * nz, 1, nz};
    if (count < 1) return PS_OK;
    PS_TRY(transform_z(f, count, modes, mode_rows(f), false, scratch, stream));
    return transform_y(f, count, scratch, false, (char *)nodes + corner(f), columns, f->mz, stream);
}

/* ---- the whole ---- */

ps_status ps_fast_device_solve(const ps_fast_device *f, const void *b, void *x, void *workspace,
                               ps_stream *stream)
{
    int64_t size = size_of(f->precision), shift = f->slab.free[0] ? 0 : 1;
    int64_t plane = size * f->slab.grid.nodes[1] * f->slab.grid.nodes[2];
    int64_t modes = size * f->my * f->stride, open = ps_slab_open_planes(&f->slab);
    char *field = workspace, *scratch = field + ps_device_padded(modes * f->slab.grid.nodes[0]);
    /* Fixed planes of `field` are copied onto themselves. */
    if (!f->slab.free[0]) PS_TRY(ps_fill_zero(stream, field, modes));
    if (!f->slab.free[1])
        PS_TRY(ps_fill_zero(stream, field + (f->slab.grid.nodes[0] - 1) * modes, modes));
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
