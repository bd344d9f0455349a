/*
 * mass_average_run: reads "NX NY NZ STEP MASS" and then a density and a power density a voxel
 * (kg/m3, W/m3; x fastest) from standard input, and writes a line a voxel: status (ps_mass_status),
 * value in W/kg and side of its cube in voxels.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/dgtd/mass_average.h"

int main(void)
{
    ps_mass_average x = {.step = 0};
    long long n[3];
    if (scanf("%lld %lld %lld %lf %lf", &n[0], &n[1], &n[2], &x.step, &x.mass) != 5) return 2;
    size_t count = (size_t)(n[0] * n[1] * n[2]);
    for (int c = 0; c < 3; ++c) x.size[c] = n[c];
    float *density = calloc(count, sizeof *density), *power = calloc(count, sizeof *power);
    for (size_t v = 0; v < count; ++v)
        if (scanf("%f %f", &density[v], &power[v]) != 2) return 2;
    x.density = density;
    x.sums = aligned_alloc(64, ((size_t)ps_mass_average_entries(x.size) * 32 + 63) / 64 * 64);
    x.value = calloc(count, sizeof *x.value);
    x.side = calloc(count, sizeof *x.side);
    x.status = calloc(count, 1);
    x.work = calloc(2 * count, sizeof *x.work);
    ps_mass_average_sum(&x, power);
    ps_mass_average_run(&x);
    for (size_t v = 0; v < count; ++v) printf("%d %.7g %.7g\n", x.status[v], x.value[v], x.side[v]);
    return 0;
}
