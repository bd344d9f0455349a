#include "kernels/linear/arnoldi.h"

#include <math.h>
#include <string.h>

int64_t ps_arnoldi_numbers(int64_t restart)
{
    return 2 * (restart + 1) * restart + 2 * restart + 2 * (restart + 1) + restart;
}

void ps_arnoldi_attach(ps_arnoldi *a, int64_t restart, double *numbers)
{
    a->rows = restart + 1;
    a->h = (double complex *)numbers;
    a->sine = a->h + a->rows * restart;
    a->rest = a->sine + restart;
    a->cosine = (double *)(a->rest + a->rows);
}

void ps_arnoldi_begin(const ps_arnoldi *a, double norm) { a->rest[0] = norm; }

/* Turns column k upper triangular, and the right-hand side with it. */
static void turn_column(const ps_arnoldi *a, int64_t k)
{
    double complex *column = a->h + k * a->rows;
    for (int64_t j = 0; j < k; ++j) {
        double complex u = column[j], v = column[j + 1];
        column[j] = a->cosine[j] * u + a->sine[j] * v;
        column[j + 1] = a->cosine[j] * v - conj(a->sine[j]) * u;
    }
    double upper = cabs(column[k]), lower = creal(column[k + 1]), size = hypot(upper, lower);
    double complex phase = upper > 0 ? column[k] / upper : 1;
    a->cosine[k] = size > 0 ? upper / size : 1;
    a->sine[k] = size > 0 ? phase * lower / size : 0;
    column[k] = phase * size;
    column[k + 1] = 0;
    a->rest[k + 1] = -conj(a->sine[k]) * a->rest[k];
    a->rest[k] *= a->cosine[k];
}

ps_status ps_arnoldi_extend(const ps_arnoldi *a, int64_t k, double *residual)
{
    const ps_vector_space *space = a->space;
    ps_panel former = {a->basis.data, k + 1, a->basis.stride};
    double *next = former.data + (k + 1) * former.stride;
    double complex *column = a->h + k * a->rows, square;
    memset(column, 0, (size_t)(k + 1) * sizeof *column);
    for (int turn = 0; turn < 2; ++turn) {
        PS_TRY(space->dots(space->context, former, next, a->scratch));
        for (int64_t j = 0; j <= k; ++j) {
            column[j] += a->scratch[j];
            a->scratch[j] = -a->scratch[j];
        }
        PS_TRY(space->add(space->context, former, a->scratch, next));
    }
    PS_TRY(space->dots(space->context, (ps_panel){next, 1, 0}, next, &square));
    double norm = sqrt(creal(square));
    column[k + 1] = norm;
    if (norm > 0) PS_TRY(space->divide(space->context, norm, next));
    turn_column(a, k);
    *residual = isfinite(norm) ? cabs(a->rest[k + 1]) : norm;
    return PS_OK;
}

ps_status ps_arnoldi_update(const ps_arnoldi *a, int64_t count, double *x)
{
    double complex *y = a->scratch;
    for (int64_t i = count - 1; i >= 0; --i) {
        y[i] = a->rest[i];
        for (int64_t j = i + 1; j < count; ++j) y[i] -= a->h[j * a->rows + i] * y[j];
        y[i] = a->h[i * a->rows + i] != 0 ? y[i] / a->h[i * a->rows + i] : 0;
    }
    ps_panel basis = {a->basis.data, count, a->basis.stride};
    return a->space->add(a->space->context, basis, y, x);
}
