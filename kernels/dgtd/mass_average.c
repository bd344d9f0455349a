#include "kernels/dgtd/mass_average.h"

#include <math.h>
#include <string.h>

#include "runtime/isa.h"

PS_ISA_SELECT(ps_mass_average_functions, ps_mass_average)

int64_t ps_mass_average_entries(const int64_t size[3])
{
    return (size[0] + 1) * (size[1] + 1) * (size[2] + 1);
}

/* sums[0] += sums[-stride] along a line of `count` entries. */
static void add_up(double (*sums)[4], int64_t count, int64_t stride)
{
    for (int64_t i = 1; i < count; ++i)
        for (int q = 0; q < 4; ++q) sums[i * stride][q] += sums[(i - 1) * stride][q];
}

/* Entry (i+1, j+1, k+1) gets voxel (i, j, k); entries of index 0 stay 0. */
static void fill_row(const ps_mass_average *x, const float *power, int64_t j, int64_t k)
{
    int64_t nx = x->size[0] + 1, ny = x->size[1] + 1, row = x->size[0] * (j + x->size[1] * k);
    double volume = x->step * x->step * x->step;
    double(*out)[4] = x->sums + nx * (j + 1 + ny * (k + 1)) + 1;
    for (int64_t i = 0; i < x->size[0]; ++i) {
        double density = x->density[row + i];
        if (!(density > 0)) continue;
        out[i][0] = density * volume;
        out[i][1] = power[row + i] * volume;
        out[i][2] = 1;
    }
    add_up(out - 1, nx, 1);
}

void ps_mass_average_sum(const ps_mass_average *x, const float *power)
{
    int64_t nx = x->size[0] + 1, ny = x->size[1] + 1, nz = x->size[2] + 1;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < nz; ++k) memset(x->sums + nx * ny * k, 0, (size_t)(nx * ny) * 32);
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < x->size[2]; ++k) {
        for (int64_t j = 0; j < x->size[1]; ++j) fill_row(x, power, j, k);
        for (int64_t i = 0; i < nx; ++i) add_up(x->sums + nx * ny * (k + 1) + i, ny, nx);
    }
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < ny; ++j)
        for (int64_t i = 0; i < nx; ++i) add_up(x->sums + nx * j + i, nz, nx * ny);
}

/* Which extents there are: present[half], half <= most. */
static int64_t list_halves(const ps_mass_average *x, uint8_t present[PS_MASS_HALVES])
{
    int64_t voxels = x->size[0] * x->size[1] * x->size[2], most = 0;
    memset(present, 0, PS_MASS_HALVES);
    for (int64_t v = 0; v < voxels; ++v) {
        if (x->status[v] != PS_MASS_CENTRE) continue;
        int64_t half = ps_mass_half(x->side[v]);
        present[half] = 1;
        most = half > most ? half : most;
    }
    return most;
}

/* Shells about a voxel that hold less than the mass whatever tissue is in them. */
static int64_t count_core(const ps_mass_average *x)
{
    int64_t voxels = x->size[0] * x->size[1] * x->size[2];
    float densest = 0;
    for (int64_t v = 0; v < voxels; ++v) densest = fmaxf(densest, x->density[v]);
    double least = cbrt(x->mass / densest) / x->step; /* side, in voxels */
    return least > 1 && least < 1e9 ? (int64_t)((least - 1) / 2) : 0;
}

void ps_mass_average_run(const ps_mass_average *given)
{
    ps_mass_average counted = *given;
    const ps_mass_average *x = &counted;
    counted.core = count_core(given);
    const ps_mass_average_functions *rows = ps_mass_average_select();
    int64_t lines = x->size[1] * x->size[2];
    uint8_t present[PS_MASS_HALVES];
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t r = 0; r < lines; ++r) rows->centres(x, r % x->size[1], r / x->size[1]);
    int64_t most = list_halves(x, present);
    for (int64_t half = 0; half <= most; ++half)
        for (int axis = 0; axis < 3 && present[half]; ++axis) {
#pragma omp parallel for schedule(static)
            for (int64_t r = 0; r < lines; ++r)
                rows->spread[axis](x, half, r % x->size[1], r / x->size[1]);
        }
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t r = 0; r < lines; ++r) rows->faces(x, r % x->size[1], r / x->size[1]);
}
