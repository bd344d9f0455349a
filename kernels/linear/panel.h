/*
 * panel: products and sums of a few long vectors, real or complex, as Krylov methods need them.
 *
 * A vector has `parts` parts of `length` numbers one after the other: 1 for real vectors, 2 for
 * real and imaginary parts. Sums are taken over fixed blocks and slices of rows and added in their
 * order: bits depend neither on the number of threads nor on the other vectors of a panel.
 */
#ifndef PS_KERNELS_LINEAR_PANEL_H
#define PS_KERNELS_LINEAR_PANEL_H

#include <complex.h>
#include <stdint.h>

enum { PS_PANEL_BLOCK = 256, PS_PANEL_SLICES = 64 };

/* Vectors of a panel: number i begins at data + i * stride. */
typedef struct ps_panel {
    double *data;
    int64_t count, stride;
} ps_panel;

typedef struct ps_panel_shape {
    int parts;
    int64_t length;
} ps_panel_shape;

/* Doubles of scratch of ps_panel_dots for v and w of these counts. */
int64_t ps_panel_scratch(int64_t v_count, int64_t w_count);

/* out[w][v] = v^H w. flops: 2 a number of v x w, 8 where complex; bytes: v once, w once. */
void ps_panel_dots(ps_panel_shape shape, ps_panel v, ps_panel w, double complex *out,
                   double *scratch);

/* w_i += sum_j factor[i][j] v_j */
void ps_panel_add(ps_panel_shape shape, ps_panel v, const double complex *factor, ps_panel w);

/* v *= factor */
void ps_panel_scale(ps_panel_shape shape, double factor, double *v);

/* Of the instruction sets: rows [begin, end) of one v and one w. */
struct ps_panel_functions {
    /* sum += v^H w */
    void (*dot)(ps_panel_shape shape, const double *v, const double *w, int64_t begin, int64_t end,
                double sum[2]);
    /* w += factor v */
    void (*add)(ps_panel_shape shape, const double *v, double complex factor, double *w,
                int64_t begin, int64_t end);
};

#endif
