/* Pictures of the fields while the run goes on (formats/field.h): <run>.000042.hdf is step 42; with
 * several ranks each writes its elements, <run>.rank0003.000042.hdf. At vertices the values of all
 * elements there are averaged. */
#include <stdlib.h>
#include <string.h>

#include "compute/dgtd_march/march.h"
#include "formats/field.h"
#include "kernels/dgtd/mesh.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* The node at each vertex of an element: barycentric coordinate 1. */
static void vertex_nodes(const ps_dgtd_reference *reference, int nodes[4])
{
    for (int n = 0; n < reference->nodes; ++n)
        for (int v = 0; v < 4; ++v)
            if (reference->index[n][v] == reference->order) nodes[v] = n;
}

enum { HELD_ELEMENTS = 512 };

/* Adds the shares of elements [first, end) to the values at their vertices. */
static void add_elements(const problem *p, const void *field, double unit, const int32_t *shares,
                         int64_t first, int64_t end, float *values)
{
    int nodes[4];
    vertex_nodes(&p->reference, nodes);
    for (int64_t r = first; r < end; ++r)
        for (int v = 0; v < 4; ++v) {
            int64_t e = p->told[r];
            int64_t at = p->domain.tetrahedra[4 * e + v];
            for (int c = 0; c < 3; ++c)
                values[3 * at + c] +=
                    (float)(unit * ps_dgtd_get(&p->system, field, e, c, nodes[v]) / shares[at]);
        }
}

static ps_status average(march *m, const int32_t *shares, float *electric, float *magnetic)
{
    const problem *p = m->problem;
    for (int64_t first = 0, end; first < p->told_count; first = end) {
        for (end = first + 1;
             end < p->told_count && p->told[end] < p->told[first] + HELD_ELEMENTS;)
            ++end;
        PS_TRY(march_hold(m, p->told[first], p->told[end - 1] + 1));
        add_elements(p, m->march.electric, 1, shares, first, end, electric);
        add_elements(p, m->march.magnetic, 1 / PS_DGTD_Z0, shares, first, end, magnetic);
    }
    march_release(m);
    return PS_OK;
}

/* Vertices of the elements in an order that makes volumes positive, and elements a vertex. */
static void orient(const problem *p, int32_t *cells, int32_t *shares)
{
    for (int64_t e = 0; e < p->told_count; ++e) {
        double tangents[3][3];
        int32_t *cell = cells + 4 * e;
        memcpy(cell, p->domain.tetrahedra + 4 * (int64_t)p->told[e], 4 * sizeof *cell);
        for (int v = 0; v < 4; ++v) ++shares[cell[v]];
        ps_dgtd_tangents(p->domain.vertices, cell, tangents);
        if (ps_dgtd_determinant(tangents) > 0) continue;
        int32_t last = cell[3];
        cell[3] = cell[2];
        cell[2] = last;
    }
}

static ps_status save(const march *m, const int32_t *cells, const float *electric,
                      const float *magnetic)
{
    const problem *p = m->problem;
    ps_field fields[] = {{"electric_field", "V/m", PS_F32, 3, true, electric},
                         {"magnetic_field", "A/m", PS_F32, 3, true, magnetic}};
    ps_field_snapshot snapshot = {.grid = {.vertex_count = p->domain.vertex_count,
                                           .cell_count = p->told_count,
                                           .cell_size = 4,
                                           .vertices = p->domain.vertices,
                                           .cells = cells,
                                           .single = true},
                                  .field_count = 2,
                                  .fields = fields,
                                  .time = (double)m->done * m->march.dt / PS_DGTD_C0,
                                  .creator = ps_version(),
                                  .options = m->run->record,
                                  .mesh_hash = p->header->mesh_hash};
    return ps_field_series_save(m->record.name, m->done, &snapshot);
}

ps_status snapshots_write(march *m)
{
    const problem *p = m->problem;
    PS_SCOPED_MEMORY int32_t *cells = NULL, *shares = NULL;
    PS_SCOPED_MEMORY float *electric = NULL, *magnetic = NULL;
    int64_t numbers = 3 * p->domain.vertex_count;
    PS_TRY(PS_ALLOC(&cells, 4 * p->told_count, "a snapshot"));
    PS_TRY(PS_ALLOC(&shares, p->domain.vertex_count, "a snapshot"));
    PS_TRY(PS_ALLOC(&electric, numbers, "a snapshot"));
    PS_TRY(PS_ALLOC(&magnetic, numbers, "a snapshot"));
    orient(p, cells, shares);
    PS_TRY(average(m, shares, electric, magnetic));
    return save(m, cells, electric, magnetic);
}
