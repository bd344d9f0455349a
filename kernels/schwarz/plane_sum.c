#include "kernels/schwarz/plane_sum.h"

#include <string.h>

#ifdef PS_WITH_FFTW
#include <fftw3.h>

struct ps_plane_sum {
    int64_t cells[2];
    int64_t rows, columns, bins; /* of a transform, real, and of its complex form */
    bool filled[PS_PLANE_SLOTS]; /* planes that are not empty */
    double *real[PS_PLANE_SLOTS];
    fftw_complex *planes[PS_PLANE_SLOTS][3], *sums[2]; /* densities 0 and 1, table; place 0, 1 */
    fftw_plan forward, backward;
};

/* The least length >= n with factors 2, 3, 5 alone; even. */
static int64_t good_length(int64_t n)
{
    for (n += n % 2;; n += 2) {
        int64_t rest = n;
        for (int f = 2; f <= 5; f += f == 2 ? 1 : 2)
            while (rest % f == 0) rest /= f;
        if (rest == 1) return n;
    }
}

static ps_plane_sum measure(const int64_t cells[2])
{
    ps_plane_sum f = {.cells = {cells[0], cells[1]},
                      .rows = good_length(2 * cells[0] + 1),
                      .columns = good_length(2 * cells[1] + 1)};
    f.bins = f.rows * (f.columns / 2 + 1);
    return f;
}

int64_t ps_plane_sum_bytes(const int64_t cells[2])
{
    ps_plane_sum f = measure(cells);
    return PS_PLANE_SLOTS * (8 * f.rows * f.columns + 48 * f.bins) + 32 * f.bins;
}

static bool allocate(ps_plane_sum *f)
{
    bool sound = true;
    for (int s = 0; s < PS_PLANE_SLOTS; ++s) {
        sound = sound && (f->real[s] = fftw_alloc_real((size_t)(f->rows * f->columns)));
        for (int k = 0; k < 3; ++k)
            sound = sound && (f->planes[s][k] = fftw_alloc_complex((size_t)f->bins));
    }
    for (int k = 0; k < 2; ++k) sound = sound && (f->sums[k] = fftw_alloc_complex((size_t)f->bins));
    if (!sound) return false;
    f->forward = fftw_plan_dft_r2c_2d((int)f->rows, (int)f->columns, f->real[0], f->planes[0][0],
                                      FFTW_ESTIMATE);
    f->backward =
        fftw_plan_dft_c2r_2d((int)f->rows, (int)f->columns, f->sums[0], f->real[0], FFTW_ESTIMATE);
    return f->forward && f->backward;
}

ps_status ps_plane_sum_open(const int64_t cells[2], ps_plane_sum **out)
{
    ps_plane_sum shape = measure(cells);
    *out = fftw_malloc(sizeof **out);
    if (*out) **out = shape;
    if (!*out || !allocate(*out)) {
        ps_plane_sum_close(out);
        return ps_fail(PS_EXHAUSTED, "no memory for sums over planes of cells: %lld bytes",
                       (long long)ps_plane_sum_bytes(cells));
    }
    for (int k = 0; k < 2; ++k)
        memset((*out)->sums[k], 0, (size_t)shape.bins * sizeof *(*out)->sums[k]);
    return PS_OK;
}

void ps_plane_sum_close(ps_plane_sum **sum)
{
    ps_plane_sum *f = *sum;
    *sum = NULL;
    if (!f) return;
    for (int s = 0; s < PS_PLANE_SLOTS; ++s) {
        fftw_free(f->real[s]);
        for (int k = 0; k < 3; ++k) fftw_free(f->planes[s][k]);
    }
    fftw_free(f->sums[0]);
    fftw_free(f->sums[1]);
    if (f->forward) fftw_destroy_plan(f->forward);
    if (f->backward) fftw_destroy_plan(f->backward);
    fftw_free(f);
}

bool ps_plane_sum_density(ps_plane_sum *f, int slot, int place, const double *from,
                          const int64_t stride[2])
{
    bool any = false;
    double *real = f->real[slot];
    fftw_complex *out = f->planes[slot][place];
    memset(real, 0, (size_t)(f->rows * f->columns) * sizeof *real);
    for (int64_t j = 0; j < f->cells[0]; ++j)
        for (int64_t k = 0; k < f->cells[1]; ++k) {
            double value = from[j * stride[0] + k * stride[1]];
            real[j * f->columns + k] = value;
            any |= value != 0;
        }
    if (any)
        fftw_execute_dft_r2c(f->forward, real, out);
    else
        memset(out, 0, (size_t)f->bins * sizeof *out);
    return any;
}

/* Where the distance of `offset` cells on either side of a node stands: n - c = offset + 1 for a
 * cell before the node, -offset behind it. */
static int64_t wrapped(int64_t n, int64_t length) { return n < 0 ? n + length : n; }

void ps_plane_sum_table(ps_plane_sum *f, int slot, const ps_plane_axes *axes, int64_t layer,
                        ps_cell_function *value)
{
    const double *h = axes->spacing;
    double *real = f->real[slot];
    memset(real, 0, (size_t)(f->rows * f->columns) * sizeof *real);
    for (int64_t j = 0; j < f->cells[0]; ++j)
        for (int64_t k = 0; k < f->cells[1]; ++k) {
            double d[3];
            d[axes->axis] = (double)layer * h[axes->axis];
            d[axes->b] = (double)j * h[axes->b];
            d[axes->c] = (double)k * h[axes->c];
            double v = value(d, h);
            int64_t row[2] = {wrapped(-j, f->rows), j + 1};
            int64_t column[2] = {wrapped(-k, f->columns), k + 1};
            for (int s = 0; s < 4; ++s) real[row[s >> 1] * f->columns + column[s & 1]] = v;
        }
    fftw_execute_dft_r2c(f->forward, real, f->planes[slot][2]);
    f->filled[slot] = true;
}

void ps_plane_sum_add(ps_plane_sum *f, int slots, int places)
{
#pragma omp parallel for schedule(static)
    for (int64_t m = 0; m < f->bins; ++m)
        for (int s = 0; s < slots; ++s) {
            if (!f->filled[s]) continue;
            const double *t = f->planes[s][2][m];
            for (int place = 0; place < places; ++place) {
                const double *d = f->planes[s][place][m];
                f->sums[place][m][0] += t[0] * d[0] - t[1] * d[1];
                f->sums[place][m][1] += t[0] * d[1] + t[1] * d[0];
            }
        }
    for (int s = 0; s < slots; ++s) f->filled[s] = false;
}

const double *ps_plane_sum_values(ps_plane_sum *f, int place, int64_t *row, int64_t *size)
{
    *row = f->columns;
    *size = f->rows * f->columns;
    fftw_execute_dft_c2r(f->backward, f->sums[place], f->real[0]);
    return f->real[0];
}

#else

struct ps_plane_sum {
    int64_t cells[2];
};

int64_t ps_plane_sum_bytes(const int64_t cells[2]) { return 0; }

ps_status ps_plane_sum_open(const int64_t cells[2], ps_plane_sum **out)
{
    *out = NULL;
    return ps_fail(PS_FAILED, "sums over planes of cells need FFTW, without which this was built");
}

void ps_plane_sum_close(ps_plane_sum **sum) { *sum = NULL; }

bool ps_plane_sum_density(ps_plane_sum *f, int slot, int place, const double *from,
                          const int64_t stride[2])
{
    return false;
}

void ps_plane_sum_table(ps_plane_sum *f, int slot, const ps_plane_axes *axes, int64_t layer,
                        ps_cell_function *value)
{
}

void ps_plane_sum_add(ps_plane_sum *f, int slots, int places) {}

const double *ps_plane_sum_values(ps_plane_sum *f, int place, int64_t *row, int64_t *size)
{
    *row = *size = 1;
    return NULL;
}

#endif
