#include "kernels/tdbem/load.h"

#include <math.h>
#include <string.h>

#include "kernels/tdbem/quadrature.h"

#define LEAF static
#include "kernels/tdbem/incident_body.h"
#include "kernels/tdbem/load_body.h"
#undef LEAF

enum { THREADED = 4096 };

int64_t ps_load_unknowns(const ps_load *load)
{
    return load->formulation == PS_SOUND_HARD ? load->mesh->vertex_count
                                              : load->mesh->triangle_count;
}

int64_t ps_load_workspace(const ps_load *load)
{
    return load->formulation == PS_SOUND_HARD ? 3 * load->mesh->triangle_count : 0;
}

static wave wave_of(const ps_load *load)
{
    wave w = {.formulation = load->formulation,
              .dt = load->dt,
              .pressure = load->combined > 0 ? load->combined / load->incident->speed : 0,
              .incident = *load->incident};
    if (ps_triangle_rule_init(SPACE_POINTS, &w.rule) != PS_OK)
        w.rule.count = 0; /* there is such a rule */
    memcpy(w.node, ps_gauss3_node, sizeof w.node);
    memcpy(w.weight, ps_gauss3_weight, sizeof w.weight);
    return w;
}

static void evaluate_hard(const ps_surface_mesh *mesh, const wave *w, int64_t n, double *out,
                          double *corners)
{
#pragma omp parallel for schedule(static) if (mesh->triangle_count > THREADED)
    for (int64_t i = 0; i < mesh->triangle_count; ++i) {
        panel t = panel_of(mesh->vertices, mesh->triangles, i);
        panel_slopes(w, &t, n, corners + 3 * i);
    }
    memset(out, 0, (size_t)mesh->vertex_count * sizeof *out);
    for (int64_t c = 0; c < 3 * mesh->triangle_count; ++c) out[mesh->triangles[c]] += corners[c];
}

void ps_load_evaluate(const ps_load *load, int64_t n, double *out, double *workspace)
{
    const ps_surface_mesh *mesh = load->mesh;
    const wave w = wave_of(load);
    if (load->formulation == PS_SOUND_HARD) {
        evaluate_hard(mesh, &w, n, out, workspace);
        return;
    }
    int64_t count = mesh->triangle_count;
#pragma omp parallel for schedule(static) if (count > THREADED)
    for (int64_t i = 0; i < count; ++i) {
        panel t = panel_of(mesh->vertices, mesh->triangles, i);
        out[i] = -panel_pressure(&w, &t, n);
    }
}
