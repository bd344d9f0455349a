#include "postprocess/gravity_anomaly/anomaly.h"

#include <math.h>
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

/* Adds the layer of elements between node planes i and i + 1 to what lies about both; one at the
 * end of the box has no other layer. */
static ps_status add_layer(gradient *g, int64_t i, double *before, double *behind)
{
    static const double pi = 3.14159265358979323846;
    const int64_t *n = g->potential->header.nodes, *r = g->refine;
    double scale = 4 * pi * g->gravity / (double)(r[0] * r[1] * r[2]);
    double ends[2] = {i == 0 ? 2 * scale : scale, i == n[0] - 2 ? 2 * scale : scale};
    for (int64_t t = 0; t < r[0]; ++t) {
        PS_TRY(ps_box_field_read(g->model, i * r[0] + t, 1, g->cells));
        add_cells(g, ends[0] * weight_of(g, 0, t, false), before);
        add_cells(g, ends[1] * weight_of(g, 0, t, true), behind);
    }
    return PS_OK;
}

static int64_t sources(const gradient *g)
{
    const int64_t *n = g->potential->header.nodes;
    return n[1] * (n[2] - 1);
}

/* Plane first + 1 of the potential, and the layer behind it, if there is one. */
static ps_status read_ahead(gradient *g)
{
    const int64_t *n = g->potential->header.nodes;
    int64_t plane = n[1] * n[2], size = sources(g);
    PS_TRY(ps_box_field_read(g->potential, g->first + 1, 1, g->u + plane));
    if (!g->model || g->first + 2 >= n[0]) return PS_OK;
    memset(g->source + 2 * size, 0, (size_t)size * sizeof *g->source);
    return add_layer(g, g->first + 1, g->source + size, g->source + 2 * size);
}

ps_status gradient_open(ps_box_field *potential, ps_box_field *model, double gravity, gradient *out)
{
    const int64_t *n = potential->header.nodes;
    *out = (gradient){.potential = potential, .model = model, .gravity = gravity};
    if (model) {
        PS_TRY(match(out));
        PS_TRY(PS_ALLOC(&out->source, 3 * sources(out), "planes of sources"));
        PS_TRY(PS_ALLOC(&out->cells, model->plane, "a plane of the model"));
        PS_TRY(add_layer(out, 0, out->source, out->source + sources(out)));
    }
    PS_TRY(PS_ALLOC(&out->u, 2 * n[1] * n[2], "planes of the potential"));
    PS_TRY(ps_box_field_read(potential, 0, 1, out->u));
    return read_ahead(out);
}

ps_status gradient_next(gradient *g)
{
    const int64_t *n = g->potential->header.nodes;
    int64_t plane = n[1] * n[2], size = sources(g);
    memcpy(g->u, g->u + plane, (size_t)plane * sizeof *g->u);
    if (g->model) memmove(g->source, g->source + size, (size_t)(2 * size) * sizeof *g->source);
    ++g->first;
    return read_ahead(g);
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

void gradient_close(gradient *g) { PS_FREE(g->u, g->source, g->cells); }
