#include "postprocess/gravity_anomaly/gradient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/schwarz/load.h"
#include "runtime/memory.h"

static ps_status match(gradient *g)
{
    const ps_box_field_header *u = &g->potential->header, *m = &g->model->header;
    for (int a = 0; a < 3; ++a) {
        double length = u->spacing[a] * (double)(u->nodes[a] - 1), slack = 1e-9 * length;
        int64_t cells = m->nodes[a] - 1, elements = u->nodes[a] - 1;
        g->refine[a] = cells / elements;
        if (cells % elements != 0 || fabs(u->origin[a] - m->origin[a]) > slack ||
            fabs(m->spacing[a] * (double)cells - length) > slack)
            return ps_fail(
                PS_INVALID,
                "%s has %lld cells from %g m on along %c, %s %lld elements from %g m on: "
                "give the model that the potential belongs to",
                ps_store_path(g->model->store), (long long)cells, m->origin[a], "xyz"[a],
                ps_store_path(g->potential->store), (long long)elements, u -> origin[a]);
    }
    return PS_OK;
}

/* Weight of sub-cell t of an element for the node at its beginning or its end. */
static double weight_of(const gradient *g, int axis, int64_t t, bool end)
{
    double at = ((double)t + .5) / (double)g->refine[axis];
    return end ? at : 1 - at;
}

/* Adds a plane of cells to the lines beside, as the hat functions of their nodes weigh them. */
static void add_cells(const gradient *g, double weight, double *source)
{
    int64_t ny = g->potential->header.nodes[1], nz = g->potential->header.nodes[2];
    int64_t ry = g->refine[1], rz = g->refine[2], cz = (nz - 1) * rz;
    for (int64_t c = 0; c < (ny - 1) * ry; ++c)
        for (int end = 0; end < 2; ++end) {
            int64_t j = c / ry + end;
            double w = weight * weight_of(g, 1, c % ry, end) * (j == 0 || j == ny - 1 ? 2 : 1);
            for (int64_t k = 0; k < cz; ++k)
                source[j * (nz - 1) + k / rz] += w * g->cells[c * cz + k];
        }
}

/* What lies about plane i of the nodes. */
static ps_status read_source(gradient *g, int64_t i, double *source)
{
    static const double pi = 3.14159265358979323846;
    const int64_t *n = g->potential->header.nodes, *r = g->refine;
    double scale = 4 * pi * g->gravity / (double)(r[0] * r[1] * r[2]);
    memset(source, 0, (size_t)(n[1] * (n[2] - 1)) * sizeof *source);
    if (i == 0 || i == n[0] - 1) scale *= 2;
    for (int64_t t = -r[0]; t < r[0]; ++t) {
        int64_t plane = i * r[0] + t;
        if (plane < 0 || plane >= g->model->shape[0]) continue;
        PS_TRY(ps_box_field_read(g->model, plane, 1, g->cells));
        add_cells(g, scale * weight_of(g, 0, t < 0 ? t + r[0] : t, t < 0), source);
    }
    return PS_OK;
}

/* Plane g->first + which of both. */
static ps_status read_plane(gradient *g, int which)
{
    const int64_t *n = g->potential->header.nodes;
    int64_t plane = n[1] * n[2], sources = n[1] * (n[2] - 1);
    PS_TRY(ps_box_field_read(g->potential, g->first + which, 1, g->u + which * plane));
    return g->model ? read_source(g, g->first + which, g->source + which * sources) : PS_OK;
}

ps_status gradient_open(ps_box_field *potential, ps_box_field *model, double gravity, gradient *out)
{
    const int64_t *n = potential->header.nodes;
    *out = (gradient){.potential = potential, .model = model, .gravity = gravity};
    if (model) {
        PS_TRY(match(out));
        PS_TRY(PS_ALLOC(&out->source, 2 * n[1] * (n[2] - 1), "planes of sources"));
        PS_TRY(PS_ALLOC(&out->cells, model->plane, "a plane of the model"));
    }
    PS_TRY(PS_ALLOC(&out->u, 2 * n[1] * n[2], "planes of the potential"));
    for (int which = 0; which < 2; ++which) PS_TRY(read_plane(out, which));
    return PS_OK;
}

ps_status gradient_next(gradient *g)
{
    const int64_t *n = g->potential->header.nodes;
    int64_t plane = n[1] * n[2], sources = n[1] * (n[2] - 1);
    memcpy(g->u, g->u + plane, (size_t)plane * sizeof *g->u);
    if (g->model) memcpy(g->source, g->source + sources, (size_t)sources * sizeof *g->source);
    ++g->first;
    return read_plane(g, 1);
}

double gradient_node(const gradient *g, int plane, int64_t j, int64_t k)
{
    const ps_box_field_header *h = &g->potential->header;
    int64_t nz = h->nodes[2], line = plane * h->nodes[1] + j;
    return ps_gradient_at(&(ps_gradient_line){g->u + line * nz,
                                              g->model ? g->source + line * (nz - 1) : NULL, nz,
                                              h->spacing[2]},
                          k);
}

void gradient_close(gradient *g)
{
    free(g->u);
    free(g->source);
    free(g->cells);
}
