#include "kernels/schwarz/fast_device.h"

#include "kernels/schwarz/device_kernels.h"

enum { ALIGN = 256 };

static int64_t padded(int64_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }
static int64_t size_of(ps_precision precision) { return precision == PS_SINGLE ? 4 : 8; }

static ps_fast_device shape_of(ps_precision precision, const ps_slab *slab)
{
    int64_t my = slab->grid.nodes[1] - 2, mz = slab->grid.nodes[2] - 2;
    int64_t stride = (mz + PS_FAST_COLUMNS - 1) / PS_FAST_COLUMNS * PS_FAST_COLUMNS;
    return (ps_fast_device){
        .precision = precision, .slab = *slab, .my = my, .mz = mz, .stride = stride};
}

/* Puts the tables into memory, unless that is NULL; their bytes. */
static int64_t place(ps_fast_device *f, char *memory)
{
    int64_t size = size_of(f->precision), sine_y = padded(size * f->my * f->my);
    int64_t sine_z = padded(size * f->mz * f->stride), modes = padded(8 * f->my * f->stride);
    if (memory) {
        f->sine_y = memory;
        f->sine_z = memory + sine_y;
        f->mu = (double *)(memory + sine_y + sine_z);
        f->inverse = (double *)(memory + sine_y + sine_z + modes);
        f->entry = memory + sine_y + sine_z + 2 * modes;
    }
    return sine_y + sine_z + 2 * modes + padded(sizeof(ps_slab_entry));
}

int64_t ps_fast_device_bytes(ps_precision precision, const ps_slab *slab)
{
    ps_fast_device f = shape_of(precision, slab);
    return place(&f, NULL);
}

ps_status ps_fast_device_make(ps_precision precision, const ps_slab *slab, void *memory,
                              ps_stream *stream, ps_fast_device *out)
{
    ps_slab_entry entry = {.planes = slab->grid.nodes[0], .trace = {-1, -1}, .sent = {-1, -1}};
    if (!ps_stream_handle(stream))
        return ps_fail(PS_FAILED, "direct solution on a device needs a CUDA device");
    PS_TRY(ps_slab_check(slab));
    *out = shape_of(precision, slab);
    place(out, memory);
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
    return 2 * padded(size_of(precision) * slab->grid.nodes[0] * f.my * f.stride);
}

/* ---- transforms ---- */

/* Every plane's lines along z times the sines: rows of all planes, few columns. */
static ps_status transform_z(const ps_fast_device *f, int64_t count, const void *in,
                             ps_product_places rows, void *out, ps_stream *stream)
{
    ps_device_product p = {.m = count * f->my,
                           .n = f->stride,
                           .k = f->mz,
                           .used = f->stride,
                           .a = in,
                           .b = f->sine_z,
                           .c = out,
                           .a_rows = rows,
                           .b_columns = {f->stride, 0, 1},
                           .c_rows = {f->my, f->my * f->stride, f->stride},
                           .c_columns = {f->stride, 0, 1},
                           .b_step = f->stride};
    return ps_product_cuda(f->precision, &p, stream);
}

/* The sines times every plane: few rows, columns of all planes. `out` may have other places. */
static ps_status transform_y(const ps_fast_device *f, int64_t count, const void *in, void *out,
                             bool to_nodes, ps_stream *stream)
{
    int64_t ny = f->slab.grid.nodes[1], nz = f->slab.grid.nodes[2];
    ps_product_places modes = {f->stride, f->my * f->stride, 1}, nodes = {f->stride, ny * nz, 1};
    ps_device_product p = {.m = f->my,
                           .n = count * f->stride,
                           .k = f->my,
                           .used = to_nodes ? f->mz : f->stride,
                           .a = f->sine_y,
                           .b = in,
                           .c = out,
                           .a_rows = {f->my, 0, f->my},
                           .b_columns = modes,
                           .c_rows = {f->my, 0, to_nodes ? nz : f->stride},
                           .c_columns = to_nodes ? nodes : modes,
                           .b_step = f->stride,
                           .wide = true};
    return ps_product_cuda(f->precision, &p, stream);
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
    ps_product_places rows = {f->my, ny * nz, nz};
    if (count < 1) return PS_OK;
    PS_TRY(transform_z(f, count, (const char *)nodes + corner(f), rows, scratch, stream));
    return transform_y(f, count, scratch, modes, false, stream);
}

ps_status ps_fast_device_to_nodes(const ps_fast_device *f, int64_t count, const void *modes,
                                  void *nodes, void *scratch, ps_stream *stream)
{
    ps_product_places rows = {f->my, f->my * f->stride, f->stride};
    if (count < 1) return PS_OK;
    PS_TRY(transform_z(f, count, modes, rows, scratch, stream));
    return transform_y(f, count, scratch, (char *)nodes + corner(f), true, stream);
}

/* ---- the whole ---- */

ps_status ps_fast_device_solve(const ps_fast_device *f, const void *b, void *x, void *workspace,
                               ps_stream *stream)
{
    int64_t size = size_of(f->precision), shift = f->slab.free[0] ? 0 : 1;
    int64_t plane = size * f->slab.grid.nodes[1] * f->slab.grid.nodes[2];
    int64_t modes = size * f->my * f->stride, open = ps_slab_open_planes(&f->slab);
    char *field = workspace, *scratch = field + padded(modes * f->slab.grid.nodes[0]);
    /* Fixed planes of `field` are copied onto themselves. */
    if (!f->slab.free[0]) PS_TRY(ps_fill_zero(stream, field, modes));
    if (!f->slab.free[1])
        PS_TRY(ps_fill_zero(stream, field + (f->slab.grid.nodes[0] - 1) * modes, modes));
    PS_TRY(ps_fast_device_to_modes(f, open, (const char *)b + shift * plane, field + shift * modes,
                                   scratch, stream));
    ps_slab_sweep sweep = {.tables = f,
                           .entries = f->entry,
                           .slabs = 1,
                           .load = field,
                           .field = field,
                           .factor = scratch};
    PS_TRY(ps_slab_sweep_cuda(&sweep, stream));
    PS_TRY(ps_fast_device_to_nodes(f, open, field + shift * modes, (char *)x + shift * plane,
                                   scratch, stream));
    return b == x ? PS_OK : ps_copy_fixed_cuda(f->precision, &f->slab, b, x, stream);
}
