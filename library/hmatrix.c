#include "library/penstock/hmatrix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/hmatrix.h"
#include "kernels/hbem/product_transposed.h"
#include "library/code.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/threads.h"

/* A plan with its arrays; made when it is first asked for. */
typedef struct planned {
    ps_hmatrix view; /* transposed alone */
    ps_product_plan plan;
    int64_t *arrays;
} planned;

struct penstock_hmatrix {
    ps_hmatrix_file *file;
    ps_hmatrix matrix;
    planned way[2]; /* as it is, transposed */
};

static ps_status load(const char *path, int64_t limit, penstock_hmatrix *m)
{
    PS_TRY(ps_hmatrix_open(path, &m->file));
    const ps_hmatrix *shape = &ps_hmatrix_file_overview(m->file)->shape;
    int64_t bytes = ps_hmatrix_bytes(shape);
    if (limit <= 0) limit = ps_memory_available();
    if (bytes > limit)
        return ps_fail(PS_EXHAUSTED,
                       "%s: its values take %.3g GB, %.3g GB may be used; solve with it by "
                       "penstock-hbem-solve, which streams it",
                       path, 1e-9 * (double)bytes, 1e-9 * (double)limit);
    return ps_hmatrix_load(m->file, &m->matrix);
}

penstock_status penstock_hmatrix_open(const char *path, int64_t memory_limit,
                                      penstock_hmatrix **out)
{
    ps_status status = PS_ALLOC(out, 1, "an H-matrix");
    if (status == PS_OK) status = ps_threads_check_default();
    if (status == PS_OK) status = load(path, memory_limit, *out);
    if (status != PS_OK) penstock_hmatrix_close(out);
    return code(status);
}

void penstock_hmatrix_close(penstock_hmatrix **matrix)
{
    penstock_hmatrix *m = *matrix;
    if (!m) return;
    for (int w = 0; w < 2; ++w) free(m->way[w].arrays);
    ps_hmatrix_release(&m->matrix);
    ps_hmatrix_close(&m->file);
    free(m);
    *matrix = NULL;
}

penstock_status penstock_hmatrix_info_of(const penstock_hmatrix *m, penstock_hmatrix_info *out)
{
    const ps_hmatrix_header *h = ps_hmatrix_file_header(m->file);
    *out = (penstock_hmatrix_info){.rows = m->matrix.rows,
                                   .columns = m->matrix.columns,
                                   .complex_numbers = m->matrix.parts == 2,
                                   .symmetric = m->matrix.symmetric,
                                   .wavenumber = h->wavenumber,
                                   .tolerance = h->tolerance,
                                   .leaves = m->matrix.leaf_count,
                                   .bytes = ps_hmatrix_bytes(&m->matrix)};
    snprintf(out->kernel, sizeof out->kernel, "%s", ps_hbem_kernel_name(h->kernel));
    snprintf(out->test_space, sizeof out->test_space, "%s", ps_hbem_space_name(h->space[0]));
    snprintf(out->trial_space, sizeof out->trial_space, "%s", ps_hbem_space_name(h->space[1]));
    memcpy(out->mesh_hash, h->mesh_hash, sizeof out->mesh_hash);
    return PENSTOCK_OK;
}

/* ---- products ---- */

static ps_status make_plan(penstock_hmatrix *m, int way)
{
    planned *p = &m->way[way];
    const ps_hmatrix *matrix = &m->matrix;
    if (p->arrays) return PS_OK;
    if (way) PS_TRY(ps_product_transposed_view(matrix, &p->view));
    if (way) matrix = &p->view;
    int64_t first = ps_product_segments(matrix) + 1;
    int64_t visits = way ? ps_product_transposed_visits(matrix) : ps_product_visits(matrix);
    PS_TRY(PS_ALLOC(&p->arrays, first + visits + 2 * matrix->leaf_count + 1, "plans of products"));
    (way ? ps_product_plan_transposed : ps_product_plan_init)(
        &p->plan, matrix, p->arrays, p->arrays + first, p->arrays + first + visits);
    return PS_OK;
}

/* From functions as in the mesh, parts together, to places of a tree, parts apart. */
static ps_status to_places(const ps_cluster_tree *tree, int parts, int64_t sides, const double *x,
                           double *to)
{
    int64_t n = tree->dofs;
    for (int64_t side = 0; side < sides; ++side)
        for (int64_t i = 0; i < n; ++i)
            for (int p = 0; p < parts; ++p) {
                double value = x[(side * n + tree->order[i]) * parts + p];
                if (!isfinite(value))
                    return ps_fail(PS_INVALID, "x: number %lld of vector %lld is not finite",
                                   (long long)tree->order[i], (long long)side);
                to[(side * parts + p) * n + i] = value;
            }
    return PS_OK;
}

static void from_places(const ps_cluster_tree *tree, int parts, int64_t sides, const double *from,
                        double *y)
{
    int64_t n = tree->dofs;
    for (int64_t side = 0; side < sides; ++side)
        for (int64_t i = 0; i < n; ++i)
            for (int p = 0; p < parts; ++p)
                y[(side * n + tree->order[i]) * parts + p] = from[(side * parts + p) * n + i];
}

static ps_status product(penstock_hmatrix *m, bool transposed, int64_t sides, const double *x,
                         double *y)
{
    int way = transposed && !m->matrix.symmetric ? 1 : 0, parts = m->matrix.parts;
    const ps_cluster_tree *tree[2] = {ps_hmatrix_tree(m->file, PS_SIDE_TEST),
                                      ps_hmatrix_tree(m->file, PS_SIDE_TRIAL)};
    const ps_cluster_tree *rows = tree[way], *columns = tree[!way];
    PS_SCOPED_MEMORY double *room = NULL;
    if (sides < 1) return ps_fail(PS_USAGE, "%lld vectors: one at least", (long long)sides);
    PS_TRY(make_plan(m, way));
    const ps_product_plan *plan = &m->way[way].plan;
    int64_t in = sides * parts * columns->dofs, out = sides * parts * rows->dofs;
    PS_TRY(PS_ALLOC(&room, in + out + ps_product_scratch(plan, sides), "a product"));
    PS_TRY(to_places(columns, parts, sides, x, room));
    ps_hmatrix_product(plan, sides, room, room + in, room + in + out);
    from_places(rows, parts, sides, room + in, y);
    return PS_OK;
}

penstock_status penstock_hmatrix_product(penstock_hmatrix *matrix, bool transposed, int64_t sides,
                                         const double *x, double *y)
{
    return code(product(matrix, transposed, sides, x, y));
}
