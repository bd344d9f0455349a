/* Stations, mesh, reference: what they must be. */
#include <math.h>
#include <stdlib.h>

#include "compute/gravity_invert/invert.h"
#include "formats/ubc.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"

/* ---- the mesh ---- */

void invert_mesh_release(invert_mesh *m)
{
    for (int a = 0; a < 3; ++a) {
        PS_FREE(m->edges[a], m->low[a], m->high[a]);
    }
    free(m->cell);
    free(m->number);
    *m = (invert_mesh){0};
}

static int64_t all_cells(const invert_mesh *m) { return m->count[0] * m->count[1] * m->count[2]; }

/* Depths that ascend become elevations that do. */
static ps_status take_edges(const ps_ubc_model *ubc, invert_mesh *m)
{
    for (int a = 0; a < 3; ++a) {
        const int64_t n = m->count[a] = ubc->count[a];
        PS_TRY(PS_ALLOC(&m->edges[a], n + 1, "a mesh"));
        for (int64_t i = 0; i <= n; ++i)
            m->edges[a][i] = a < 2 ? ubc->edges[a][i] : 0 - ubc->edges[a][n - i];
    }
    double all = (double)m->count[0] * (double)m->count[1] * (double)m->count[2];
    if (all > 2e9) return ps_fail(PS_INVALID, "the mesh has %.3g cells; 2e9 at most", all);
    return PS_OK;
}

/* Of cell (x, y, z up) in the order of the files, z down. */
static int64_t in_file(const invert_mesh *m, int64_t cell)
{
    int64_t k = cell % m->count[2];
    return cell - k + (m->count[2] - 1 - k);
}

static ps_status count_cells(const ps_ubc_model *active, invert_mesh *m)
{
    const int64_t all = all_cells(m);
    PS_TRY(PS_ALLOC(&m->number, all, "a mesh"));
    for (int64_t c = 0; c < all; ++c) {
        bool air = active->values && isnan(active->values[in_file(m, c)]);
        m->number[c] = air ? -1 : m->cells++;
    }
    return PS_OK;
}

static ps_status take_cells(invert_mesh *m)
{
    PS_TRY(PS_ALLOC(&m->cell, m->cells, "cells"));
    for (int64_t c = 0; c < all_cells(m); ++c)
        if (m->number[c] >= 0) m->cell[m->number[c]] = c;
    for (int a = 0; a < 3; ++a) {
        PS_TRY(PS_ALLOC(&m->low[a], m->cells, "cells"));
        PS_TRY(PS_ALLOC(&m->high[a], m->cells, "cells"));
    }
    for (int64_t n = 0; n < m->cells; ++n) {
        int64_t c = m->cell[n], at[3] = {c / m->count[2] / m->count[1],
                                         c / m->count[2] % m->count[1], c % m->count[2]};
        for (int a = 0; a < 3; ++a) {
            m->low[a][n] = m->edges[a][at[a]];
            m->high[a][n] = m->edges[a][at[a] + 1];
        }
    }
    return PS_OK;
}

static ps_status read_ubc(const inversion *v, const char *model, ps_ubc_model *out)
{
    ps_ubc_request request = {.mesh = v->run->operands[1],
                              .model = model,
                              .scale = v->options.scale,
                              .most = PS_DENSITY_MOST};
    PS_TRY(ps_ubc_read(&request, out));
    if (out->flagged)
        ps_warning("%s: %lld cells have the value %g, a usual flag, and are taken for air", model,
                   (long long)out->flagged, out->flag);
    return PS_OK;
}

static ps_status read_mesh(inversion *v)
{
    PS_SCOPED(ps_ubc_release) ps_ubc_model ubc = {.air = 0};
    PS_TRY(read_ubc(v, v->options.active, &ubc));
    if (v->options.active && ubc.air == 0)
        return ps_fail(PS_INVALID,
                       "%s: no cell is air there: air is NaN or a usual flag; where 0 stands for "
                       "what is left out, as in files of active cells, write nan instead",
                       v->options.active);
    PS_TRY(take_edges(&ubc, &v->mesh));
    PS_TRY(count_cells(&ubc, &v->mesh));
    if (v->mesh.cells == 0) return ps_fail(PS_INVALID, "%s: all cells are air", v->options.active);
    return take_cells(&v->mesh);
}

static ps_status read_reference(inversion *v)
{
    PS_SCOPED(ps_ubc_release) ps_ubc_model ubc = {.air = 0};
    const invert_mesh *m = &v->mesh;
    if (!v->options.reference) return PS_OK;
    if (v->parts > 1)
        return ps_fail(PS_USAGE, "--reference: a UBC-GIF model has one value a cell, not vectors");
    PS_TRY(read_ubc(v, v->options.reference, &ubc));
    PS_TRY(PS_ALLOC(&v->reference, m->cells, "a reference"));
    for (int64_t n = 0; n < m->cells; ++n) {
        double value = v->reference[n] = ubc.values[in_file(m, m->cell[n])];
        if (isnan(value))
            return ps_fail(
                PS_INVALID,
                "%s: the cell from %.10g, %.10g, %.10g is air there and not in the mesh: "
                "give it with --active, too",
                v->options.reference, m->low[0][n], m->low[1][n], m->low[2][n]);
        if (value < v->options.bounds[0] || value > v->options.bounds[1])
            return ps_fail(PS_INVALID, "%s: the value %g lies outside of --bounds %g,%g",
                           v->options.reference, value, v->options.bounds[0], v->options.bounds[1]);
    }
    return PS_OK;
}

/* ---- stations ---- */

static const double error_least = 1e-100; /* its square is still a number */

static ps_status take_errors(inversion *v)
{
    ps_prism_rows *s = &v->stations;
    const char *path = v->run->operands[0];
    bool own = s->width == 5;
    if (own && v->options.error > 0)
        return ps_fail(PS_USAGE, "--error: %s has errors of its own", path);
    if (!own && !(v->options.error > 0))
        return ps_fail(PS_USAGE, "%s has no errors: give --error, the same for all", path);
    if (!own) PS_TRY(PS_ALLOC(&s->column[4], s->count, "errors"));
    for (int64_t i = 0; i < s->count; ++i) {
        if (!own) s->column[4][i] = v->options.error;
        if (!(s->column[4][i] > error_least))
            return ps_fail(PS_INVALID,
                           "%s: the error of station %lld is %g: errors are positive; leave out "
                           "what is not known",
                           path, (long long)i + 1, s->column[4][i]);
    }
    return PS_OK;
}

/* Anomalies are far below these; absolute gravity and other units are not. */
static ps_status check_values(const inversion *v)
{
    static const double most[3] = {1000, 1e5, 1e6}; /* mGal, Eotvos, nT */
    int kind = v->options.field != FIELD_GRAVITY ? 2 : v->options.component > 2 ? 1 : 0;
    const double *d = v->stations.column[3];
    for (int64_t i = 0; i < v->stations.count; ++i)
        if (fabs(d[i]) > most[kind])
            return ps_refuse(v->run, "units",
                             "%s: station %lld has the value %g: anomalies in %s are expected, "
                             "below %g",
                             v->run->operands[0], (long long)i + 1, d[i],
                             kind == 0   ? "mGal"
                             : kind == 1 ? "Eotvos"
                                         : "nT",
                             most[kind]);
    return PS_OK;
}

static ps_status check_places(const inversion *v)
{
    const invert_mesh *m = &v->mesh;
    double *const *s = v->stations.column;
    int64_t outside = 0, first = -1;
    for (int64_t i = 0; i < v->stations.count; ++i) {
        bool in = true;
        for (int a = 0; a < 2; ++a)
            in = in && s[a][i] >= m->edges[a][0] && s[a][i] <= m->edges[a][m->count[a]];
        if (!in && outside++ == 0) first = i;
    }
    if (outside == 0) return PS_OK;
    return ps_refuse(v->run, "stations-outside",
                     "%lld of %lld stations lie beside the mesh: station %lld at %.10g, %.10g; the "
                     "mesh reaches from %.10g to %.10g and %.10g to %.10g. Are all in m, in one "
                     "projection? What is below such stations is put into cells elsewhere",
                     (long long)outside, (long long)v->stations.count, (long long)first + 1,
                     s[0][first], s[1][first], m->edges[0][0], m->edges[0][m->count[0]],
                     m->edges[1][0], m->edges[1][m->count[1]]);
}

ps_status invert_read(inversion *v)
{
    static const char *const names[] = {PS_COLUMN_X, PS_COLUMN_Y, PS_COLUMN_UP, PS_COLUMN_VALUE,
                                        PS_COLUMN_ERROR};
    const ps_columns columns = {names, 5};
    const ps_prism_row_form form = {v->options.station_data, 4, 5, "x y z value, and an error,",
                                    &columns};
    PS_TRY(ps_prism_rows_read(v->run->operands[0], &form, &v->stations));
    PS_TRY(take_errors(v));
    PS_TRY(check_values(v));
    PS_TRY(read_mesh(v));
    v->parts = v->options.field == FIELD_VECTOR ? 3 : 1;
    v->length = v->parts * v->mesh.cells;
    PS_TRY(check_places(v));
    return read_reference(v);
}
