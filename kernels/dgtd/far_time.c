#include "kernels/dgtd/far_time.h"

#include <math.h>

#include "kernels/common/vec3.h"

/* Bins beside those that interpolation and differences reach. */
enum { MARGIN = 4 };

double ps_dgtd_far_time_reach(const ps_dgtd_far_time *far)
{
    double reach = 0;
    for (int64_t d = 0; d < far->directions; ++d)
        for (int64_t q = 0; q < far->points; ++q)
            reach = fmax(reach, fabs(ps_dot3(far->direction[d], far->point[q])));
    return reach;
}

void ps_dgtd_far_time_bins(ps_dgtd_far_time *far, double reach, double end)
{
    double delay = far->index * reach;
    far->first = (int64_t)floor(-delay / far->step) - MARGIN;
    far->bins = (int64_t)ceil((end + delay) / far->step) + MARGIN - far->first + 1;
}

/* Weights of bins -1, 0, 1, 2 about a sample that is f of a step after bin 0. */
static void spread(double f, double w[4])
{
    double g = 1 - f;
    w[0] = -f * g * (1 + g) / 6;
    w[1] = g * (1 + f) * (1 + g) / 2;
    w[2] = f * (1 + f) * (1 + g) / 2;
    w[3] = -f * g * (1 + f) / 6;
}

/* What a point radiates in a direction: of E, e x (n x E) = n (e.E) - E (e.n); of H, Z times J less
 * what is along e, with v = n x H. */
static void radiate(const ps_dgtd_far_time *far, ps_dgtd_field field, const double e[3],
                    const double n[3], const double v[3], double out[3])
{
    double along = ps_dot3(e, v), facing = ps_dot3(e, n);
    for (int c = 0; c < 3; ++c)
        out[c] = field == PS_DGTD_E ? n[c] * along - v[c] * facing
                                    : far->impedance * (v[c] - e[c] * along);
}

void ps_dgtd_far_time_add(const ps_dgtd_far_time *far, ps_dgtd_field field, double t,
                          const double (*values)[3], double (*work)[3])
{
    const double(*v)[3] = field == PS_DGTD_E ? values : (const double(*)[3])work;
    double now = t / far->step - (double)far->first;
#pragma omp parallel
    {
        if (field == PS_DGTD_H) {
#pragma omp for schedule(static)
            for (int64_t q = 0; q < far->points; ++q) ps_cross3(far->normal[q], values[q], work[q]);
        }
#pragma omp for schedule(static)
        for (int64_t d = 0; d < far->directions; ++d) {
            const double *e = far->direction[d];
            double(*sums)[3] = far->sums + d * far->bins;
            for (int64_t q = 0; q < far->points; ++q) {
                double at = now - far->index / far->step * ps_dot3(e, far->point[q]),
                       below = floor(at), a[3], w[4];
                double(*bin)[3] = sums + (int64_t)below - 1;
                radiate(far, field, e, far->normal[q], v[q], a);
                spread(at - below, w);
                for (int k = 0; k < 4; ++k)
                    for (int c = 0; c < 3; ++c) bin[k][c] += w[k] * a[c];
            }
        }
    }
}

void ps_dgtd_far_time_field(const ps_dgtd_far_time *far, int64_t direction, int64_t bin,
                            double out[3])
{
    const double(*a)[3] = (const double(*)[3])far->sums + direction * far->bins + bin;
    double factor = -far->index / (4 * M_PI * 12 * far->step);
    for (int c = 0; c < 3; ++c) out[c] = factor * (8 * (a[1][c] - a[-1][c]) - (a[2][c] - a[-2][c]));
}
