/* The file, a table of the stations, a model for programs that read UBC-GIF. */
#include <math.h>
#include <stdio.h>

#include "compute/gravity_invert/invert.h"
#include "formats/ubc.h"
#include "runtime/memory.h"
#include "runtime/output_file.h"
#include "runtime/scope.h"

static const char *const component_names[] = {"g_z", "g_x", "g_y", "xx", "yy",
                                              "zz",  "xy",  "xz",  "yz", NULL};

static const char *const field_names[] = {"gravity", "magnetic", "vector"};

static ps_status fill_prisms(const inversion *v, int width, double **out)
{
    const invert_mesh *m = &v->mesh;
    PS_TRY(PS_ALLOC(out, width * m->cells, "prisms"));
    for (int64_t n = 0; n < m->cells; ++n) {
        double *row = *out + width * n;
        for (int a = 0; a < 3; ++a) {
            row[2 * a] = m->low[a][n];
            row[2 * a + 1] = m->high[a][n];
        }
        for (int w = 0; w < width - 6; ++w)
            row[6 + w] = v->parts > 1 ? v->model[w * m->cells + n]
                                      : (width > 7 ? v->direction[w] : 1) * v->model[n];
    }
    return PS_OK;
}

static ps_status put(const inversion *v, ps_prism_model *file, ps_store *store)
{
    PS_SCOPED_MEMORY double *prisms = NULL, *place = NULL;
    PS_TRY(fill_prisms(v, file->width, &prisms));
    PS_TRY(PS_ALLOC(&place, 3 * file->stations, "stations"));
    for (int64_t i = 0; i < file->stations; ++i)
        for (int d = 0; d < 3; ++d) place[3 * i + d] = v->stations.column[d][i];
    file->prisms = prisms;
    file->place = place;
    return ps_prism_model_put(store, file);
}

ps_status invert_save(inversion *v, ps_store **store)
{
    bool gravity = v->options.field == FIELD_GRAVITY;
    ps_prism_model file = {.cells = v->mesh.cells,
                           .stations = v->stations.count,
                           .trials = v->trials,
                           .width = gravity ? 7 : 9,
                           .regularisation = v->beta,
                           .chi2 = v->chi2,
                           .target = v->options.target * (double)v->stations.count,
                           .operator_error = v->operator_error,
                           .cell = v->mesh.cell,
                           .observed = v->stations.column[3],
                           .error = v->stations.column[4],
                           .computed = v->computed,
                           .history = v->history};
    snprintf(file.field, sizeof file.field, "%s", field_names[v->options.field]);
    snprintf(file.component, sizeof file.component, "%s",
             gravity ? component_names[v->options.component] : "total");
    for (int a = 0; a < 3; ++a) {
        file.count[a] = v->mesh.count[a];
        file.edges[a] = v->mesh.edges[a];
    }
    PS_TRY(put(v, &file, *store));
    return ps_store_commit(store);
}

static void print_table(FILE *file, const void *context)
{
    const inversion *v = context;
    double *const *s = v->stations.column;
    fputs("x,y,z,observed,error,computed,residual\n", file);
    for (int64_t i = 0; i < v->stations.count; ++i)
        fprintf(file, "%.17g,%.17g,%.17g,%.12g,%.6g,%.12g,%.6g\n", s[0][i], s[1][i], s[2][i],
                s[3][i], s[4][i], v->computed[i], s[3][i] - v->computed[i]);
}

ps_status invert_table(const inversion *v, const char *path)
{
    return ps_output_print(path, print_table, v);
}

ps_status invert_ubc(const inversion *v, const char *path)
{
    PS_SCOPED_MEMORY double *values = NULL;
    const invert_mesh *m = &v->mesh;
    const int64_t nz = m->count[2], all = m->count[0] * m->count[1] * nz;
    PS_TRY(PS_ALLOC(&values, all, "a model"));
    for (int64_t c = 0; c < all; ++c) {
        int64_t k = c % nz, n = m->number[c];
        values[c - k + (nz - 1 - k)] = n < 0 ? NAN : v->model[n];
    }
    return ps_ubc_write(path, &(ps_ubc_values){m->count, values, NAN});
}
