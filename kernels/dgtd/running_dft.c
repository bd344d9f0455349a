#include "kernels/dgtd/running_dft.h"

#include <math.h>

#include "kernels/common/reals.h"

enum { THREADED_GROUPS = 64 };

/* Values of a field in a group. */
static int64_t group_values(const ps_dgtd_system *system)
{
    return 3 * (int64_t)system->reference->nodes * ps_dgtd_lanes(system->precision);
}

size_t ps_dgtd_dft_bytes(const ps_dgtd_system *system, int frequencies)
{
    return (size_t)(2 * frequencies * system->groups * group_values(system) *
                    ps_real_bytes(system->precision));
}

static void add_f32(float *restrict sums, const float *restrict field, float factor, int64_t count)
{
    for (int64_t i = 0; i < count; ++i) sums[i] += factor * field[i];
}

static void add_f64(double *restrict sums, const double *restrict field, double factor,
                    int64_t count)
{
    for (int64_t i = 0; i < count; ++i) sums[i] += factor * field[i];
}

void ps_dgtd_dft_factors(const double *omegas, int frequencies, double scale, double t,
                         double *factors)
{
    for (int f = 0; f < frequencies; ++f) {
        factors[2 * f] = scale * cos(omegas[f] * t);
        factors[2 * f + 1] = -scale * sin(omegas[f] * t);
    }
}

void ps_dgtd_dft_add(const ps_dgtd_system *system, const void *field, const double *omegas,
                     int frequencies, double scale, double t, int64_t begin, int64_t end,
                     void *sums)
{
    int64_t count = group_values(system), rows = 2 * (int64_t)frequencies;
    double factors[2 * PS_DGTD_DFT_FREQUENCIES];
    ps_dgtd_dft_factors(omegas, frequencies, scale, t, factors);
#pragma omp parallel for schedule(static) if (end - begin > THREADED_GROUPS)
    for (int64_t g = begin; g < end; ++g)
        for (int64_t r = 0; r < rows; ++r) {
            double factor = factors[r];
            int64_t to = (g * rows + r) * count;
            if (system->precision == PS_SINGLE)
                add_f32((float *)sums + to, (const float *)field + g * count, (float)factor, count);
            else
                add_f64((double *)sums + to, (const double *)field + g * count, factor, count);
        }
}

double ps_dgtd_dft_get(const ps_dgtd_system *system, const void *sums, int frequencies,
                       int frequency, int part, int64_t slot, int component, int node)
{
    int lanes = ps_dgtd_lanes(system->precision), nodes = system->reference->nodes;
    int64_t row = slot / lanes * 2 * frequencies + 2 * frequency + part;
    int64_t at = row * group_values(system) + (component * nodes + node) * lanes + slot % lanes;
    return ps_real_at(system->precision, sums, at);
}
