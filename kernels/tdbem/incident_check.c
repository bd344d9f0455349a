#include "kernels/tdbem/incident_check.h"

#include <math.h>

#include "kernels/common/mesh_measure.h"

ps_band ps_band_of(double edge, double dt, double speed)
{
    double longest = fmax(edge / speed, dt);
    return (ps_band){.6 / longest, fmin(M_PI / dt, 4 * speed / edge)};
}

/* |F|^2 of the pulse, or of a step's slope. */
static double density(const ps_emitter *emitter, double w)
{
    double re, im;
    if (emitter->shape == PS_PULSE_STEP) return exp(-w * w * emitter->width * emitter->width / 2);
    ps_pulse_spectrum(emitter, w, &re, &im);
    return re * re + im * im;
}

double ps_pulse_energy_above(const ps_emitter *emitter, double w)
{
    enum { POINTS = 20000 };
    double end = 2 * M_PI * emitter->frequency + 12 / emitter->width, all = 0, above = 0;
    for (int i = 0; i < POINTS; ++i) {
        double at = end * (i + .5) / POINTS, d = density(emitter, at);
        all += d;
        if (at > w) above += d;
    }
    return all > 0 ? above / all : 0;
}

bool ps_is_inside(const ps_surface_mesh *mesh, const ps_reflectors *mirrors, const double x[3])
{
    const double whole = 1 - 1e-6; /* turns about points that screens do not reach */
    double turns = 0;
    if (!mesh->closed && mirrors->count == 0) return false;
    for (int m = 0; m < ps_reflectors_images(mirrors); ++m) {
        double y[3];
        ps_reflectors_point(mirrors, m, x, y);
        turns += ps_winding_number(mesh->vertices, mesh->triangles, mesh->triangle_count, NULL,
                                   NULL, 0, y);
    }
    return fabs(turns) > (mesh->closed ? .5 : whole);
}

double ps_emitter_peak(const ps_emitter *emitter, double speed, int64_t count, const double *points)
{
    double first = INFINITY;
    for (int64_t p = 0; p < count; ++p)
        first = fmin(first, ps_emitter_arrival(emitter, speed, points + 3 * p, NULL).retardation);
    return first;
}

double ps_emitter_start(const ps_emitter *emitter, double speed, int64_t count,
                        const double *points)
{
    return ps_pulse_tail(emitter->shape,
                         ps_emitter_peak(emitter, speed, count, points) / emitter->width);
}
