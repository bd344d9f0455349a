#include "kernels/linear/panel.h"

#include "runtime/isa.h"

enum { WIDTH = 8 };

static void dot(ps_panel_shape shape, const double *v, const double *w, int64_t begin, int64_t end,
                double sum[2])
{
    double re[WIDTH] = {0}, im[WIDTH] = {0};
    const double *vi = v + shape.length, *wi = w + shape.length;
    int64_t i = begin, whole = begin + (end - begin) / WIDTH * WIDTH;
    for (; i < whole; i += WIDTH)
        for (int k = 0; k < WIDTH; ++k) {
            re[k] += v[i + k] * w[i + k];
            if (shape.parts == 1) continue;
            re[k] += vi[i + k] * wi[i + k];
            im[k] += v[i + k] * wi[i + k] - vi[i + k] * w[i + k];
        }
    for (int k = 0; i < end; ++i, ++k) {
        re[k] += v[i] * w[i];
        if (shape.parts == 1) continue;
        re[k] += vi[i] * wi[i];
        im[k] += v[i] * wi[i] - vi[i] * w[i];
    }
    for (int k = 0; k < WIDTH; ++k) {
        sum[0] += re[k];
        sum[1] += im[k];
    }
}

static void add(ps_panel_shape shape, const double *v, double complex factor, double *w,
                int64_t begin, int64_t end)
{
    const double a = creal(factor), b = cimag(factor);
    const double *vi = v + shape.length;
    double *wi = w + shape.length;
    if (shape.parts == 1)
#pragma omp simd
        for (int64_t i = begin; i < end; ++i) w[i] += a * v[i];
    else
#pragma omp simd
        for (int64_t i = begin; i < end; ++i) {
            w[i] += a * v[i] - b * vi[i];
            wi[i] += a * vi[i] + b * v[i];
        }
}

const struct ps_panel_functions PS_ISA_TABLE(ps_panel) = {.dot = dot, .add = add};
