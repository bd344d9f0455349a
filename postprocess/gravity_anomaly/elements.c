/* g_z from the potential of the elements: at nodes of the top, and between nodes at stations. */
#include <math.h>

#include "kernels/schwarz/prism.h"
#include "postprocess/gravity_anomaly/anomaly.h"
#include "runtime/scope.h"

static int64_t cell_of(double at, double origin, double h, int64_t nodes, double *rest)
{
    double t = (at - origin) / h;
    int64_t c = (int64_t)fmin(fmax(floor(t), 0), (double)(nodes - 2));
    *rest = fmin(fmax(t - (double)c, 0), 1);
    return c;
}

/* Between the nodes of the two planes of g. */
static double at_station(const gradient *g, const double *place, double x_rest)
{
    const ps_box_field_header *h = &g->potential->header;
    double rest[3] = {x_rest, 0, 0}, sum = 0;
    int64_t j = cell_of(place[1], h->origin[1], h->spacing[1], h->nodes[1], &rest[1]);
    int64_t k = cell_of(place[2], h->origin[2], h->spacing[2], h->nodes[2], &rest[2]);
    for (int c = 0; c < 8; ++c) {
        int d[3] = {c >> 2, c >> 1 & 1, c & 1};
        double weight = 1;
        for (int s = 0; s < 3; ++s) weight *= d[s] ? rest[s] : 1 - rest[s];
        if (weight > 0) sum += weight * gradient_node(g, d[0], j + d[1], k + d[2]);
    }
    return sum / PS_MILLIGAL;
}

static void fill_row(const gradient *g, int plane, int64_t ny, double *row)
{
    for (int64_t j = 0; j < ny; ++j) row[j] = gradient_node(g, plane, j, 0) / PS_MILLIGAL;
}

/* Two planes at a time; stations in the cells between them. */
static ps_status from_planes(anomaly *a, gradient *g)
{
    const ps_box_field_header *h = &a->potential.header;
    int64_t nx = h->nodes[0], ny = h->nodes[1];
    for (int64_t s = 0; s < a->map.stations; ++s) a->map.elements[s] = NAN;
    for (int64_t i = 0; i < nx - 1; ++i) {
        if (i > 0) PS_TRY(gradient_next(g));
        fill_row(g, 0, ny, a->map.map_elements + i * ny);
        for (int64_t s = 0; s < a->map.stations; ++s) {
            double rest;
            const double *place = a->map.place + 3 * s;
            if (cell_of(place[0], h->origin[0], h->spacing[0], nx, &rest) == i && in_box(h, place))
                a->map.elements[s] = at_station(g, place, rest);
        }
    }
    fill_row(g, 1, ny, a->map.map_elements + (nx - 1) * ny);
    return PS_OK;
}

ps_status elements_values(anomaly *a)
{
    PS_SCOPED(gradient_close) gradient g = {0};
    PS_TRY(gradient_open(&a->potential, a->model.store ? &a->model : NULL, a->gravity, &g));
    return from_planes(a, &g);
}
