#include "kernels/linear/panel.h"

#include <string.h>

#include "runtime/isa.h"

PS_ISA_SELECT(struct ps_panel_functions, ps_panel)

enum { BLOCK = PS_PANEL_BLOCK, SLICES = PS_PANEL_SLICES };

int64_t ps_panel_scratch(int64_t v_count, int64_t w_count)
{
    return 2 * SLICES * v_count * w_count;
}

/* First row of a slice: whole blocks, spread evenly. */
static int64_t slice_begin(int64_t length, int64_t slice)
{
    int64_t begin = (length + BLOCK - 1) / BLOCK * slice / SLICES * BLOCK;
    return begin < length ? begin : length;
}

static int64_t block_end(int64_t begin, int64_t end)
{
    return begin + BLOCK < end ? begin + BLOCK : end;
}

/* Sums [w][v][2] over the rows of a slice. */
static void slice_dots(ps_panel_shape shape, ps_panel v, ps_panel w, int64_t slice, double *sums)
{
    int64_t end = slice_begin(shape.length, slice + 1);
    memset(sums, 0, (size_t)(2 * v.count * w.count) * sizeof *sums);
    for (int64_t b = slice_begin(shape.length, slice); b < end; b += BLOCK)
        for (int64_t i = 0; i < v.count; ++i)
            for (int64_t j = 0; j < w.count; ++j)
                ps_panel_select()->dot(shape, v.data + i * v.stride, w.data + j * w.stride, b,
                                       block_end(b, end), sums + 2 * (j * v.count + i));
}

void ps_panel_dots(ps_panel_shape shape, ps_panel v, ps_panel w, double complex *out,
                   double *scratch)
{
    int64_t count = v.count * w.count;
#pragma omp parallel for schedule(static)
    for (int64_t s = 0; s < SLICES; ++s) slice_dots(shape, v, w, s, scratch + 2 * s * count);
    for (int64_t e = 0; e < count; ++e) {
        double re = 0, im = 0;
        for (int64_t s = 0; s < SLICES; ++s) {
            re += scratch[2 * (s * count + e)];
            im += scratch[2 * (s * count + e) + 1];
        }
        out[e] = re + I * im;
    }
}

void ps_panel_add(ps_panel_shape shape, ps_panel v, const double complex *factor, ps_panel w)
{
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < shape.length; b += BLOCK)
        for (int64_t j = 0; j < w.count; ++j)
            for (int64_t i = 0; i < v.count; ++i)
                ps_panel_select()->add(shape, v.data + i * v.stride, factor[j * v.count + i],
                                       w.data + j * w.stride, b, block_end(b, shape.length));
}

void ps_panel_scale(ps_panel_shape shape, double factor, double *v)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < shape.parts * shape.length; ++i) v[i] *= factor;
}
