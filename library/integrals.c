#include "library/penstock/integrals.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/common/mesh_measure.h"
#include "kernels/hbem/setup.h"
#include "library/code.h"
#include "runtime/first_failure.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/threads.h"
#include "stage/hbem_assembly/entry_check.h"
#include "stage/tdbem_assembly/retarded_problem.h"

/* ---- at one frequency ---- */

struct penstock_boundary {
    ps_surface_mesh mesh;
    ps_hbem_setup setup;
    ps_hbem_quadrature quadrature;
    ps_hbem_joint_point *points;
    ps_hbem_operator op;
    void *memory;
};

/* A checked copy. */
static ps_status copy_surface(const penstock_surface *s, ps_surface_mesh *mesh)
{
    PS_TRY(ps_surface_mesh_init(mesh, s->vertex_count, s->triangle_count));
    memcpy(mesh->vertices, s->vertices, (size_t)(3 * s->vertex_count) * sizeof *mesh->vertices);
    memcpy(mesh->triangles, s->triangles,
           (size_t)(3 * s->triangle_count) * sizeof *mesh->triangles);
    return ps_surface_mesh_check(mesh);
}

/* Whether the surface is closed once it is turned inside out. */
static ps_status is_turned(const ps_hbem_surface *surface, bool *out)
{
    PS_SCOPED_MEMORY ps_hbem_triangle *triangles = NULL;
    ps_hbem_surface other = *surface;
    PS_TRY(PS_ALLOC(&triangles, surface->triangle_count, "triangles turned round"));
    memcpy(triangles, surface->triangles, (size_t)surface->triangle_count * sizeof *triangles);
    for (int64_t t = 0; t < surface->triangle_count; ++t)
        for (int d = 0; d < 3; ++d) triangles[t].normal[d] = -triangles[t].normal[d];
    other.triangles = triangles;
    *out = ps_hbem_surface_check_closed(&other) == PS_OK;
    return PS_OK;
}

/* Of a closed surface that is turned inside out K and K' have the other sign. */
static ps_status check_normals(const penstock_boundary *b)
{
    bool turned, sided = b->op.kernel == PS_KERNEL_DLP || b->op.kernel == PS_KERNEL_ADLP;
    if (!sided || ps_hbem_surface_check_closed(&b->setup.surface) == PS_OK) return PS_OK;
    PS_TRY(is_turned(&b->setup.surface, &turned));
    return turned ? ps_fail(PS_INVALID, "the normals of the closed surface point inward: turn its "
                                        "triangles round")
                  : PS_OK;
}

static ps_status refuse_entries(const ps_hbem_operator *op, double tolerance)
{
    ps_hbem_entry_check check;
    double limit = ps_hbem_entry_check_limit(tolerance, tolerance);
    PS_TRY(ps_hbem_entry_check_run(op, limit, &check));
    if (check.error <= limit) return PS_OK;
    return ps_fail(PS_INVALID, PS_HBEM_ENTRY_CHECK_REFUSED,
                   PS_HBEM_ENTRY_CHECK_FIGURES(check, limit));
}

static ps_status open_boundary(const penstock_surface *surface,
                               const penstock_boundary_operator *choice, penstock_boundary *b)
{
    ps_hbem_outline outline = {0};
    double tolerance = choice->tolerance;
    if (!(tolerance >= 1e-6 && tolerance <= 0.1))
        return ps_fail(PS_USAGE, "tolerance %g: 1e-6 to 0.1 is possible", tolerance);
    PS_TRY(ps_hbem_kernel_parse(choice->kernel, &b->op.kernel));
    PS_TRY(ps_hbem_space_parse(choice->test_space, &outline.space[0]));
    PS_TRY(ps_hbem_space_parse(choice->trial_space, &outline.space[1]));
    PS_TRY(copy_surface(surface, &b->mesh));
    outline.vertices = b->mesh.vertices;
    outline.triangles = b->mesh.triangles;
    outline.vertex_count = surface->vertex_count;
    outline.triangle_count = surface->triangle_count;
    outline.same = outline.space[0] == outline.space[1];
    PS_TRY(ps_alloc_untouched(&b->memory, ps_hbem_setup_bytes(&outline), "the surface"));
    PS_TRY(ps_hbem_setup_init(&b->setup, &outline, b->memory));
    PS_TRY(PS_ALLOC(&b->points, ps_hbem_quadrature_points(tolerance), "rules"));
    ps_hbem_quadrature_init(&b->quadrature, tolerance, b->points);
    b->op.wavenumber = choice->wavenumber;
    b->op.test = &b->setup.space[0];
    b->op.trial = &b->setup.space[1];
    b->op.quadrature = &b->quadrature;
    b->op.far_precision = PS_DOUBLE;
    PS_TRY(ps_hbem_operator_check(&b->op));
    PS_TRY(check_normals(b));
    if (b->op.wavenumber != 0)
        PS_TRY(ps_hbem_check_wavelength(&b->setup.surface, b->op.wavenumber));
    return refuse_entries(&b->op, tolerance);
}

penstock_status penstock_boundary_open(const penstock_surface *surface,
                                       const penstock_boundary_operator *op,
                                       penstock_boundary **out)
{
    ps_status status = PS_ALLOC(out, 1, "a boundary operator");
    if (status == PS_OK) status = ps_threads_check_default();
    if (status == PS_OK) status = open_boundary(surface, op, *out);
    if (status != PS_OK) penstock_boundary_close(out);
    return code(status);
}

void penstock_boundary_close(penstock_boundary **boundary)
{
    penstock_boundary *b = *boundary;
    if (!b) return;
    ps_surface_mesh_release(&b->mesh);
    free(b->points);
    free(b->memory);
    free(b);
    *boundary = NULL;
}

void penstock_boundary_size(const penstock_boundary *boundary, int64_t *rows, int64_t *columns)
{
    *rows = boundary->op.test->dofs;
    *columns = boundary->op.trial->dofs;
}

/* A block of a larger one, whose values [rows][columns][parts] begin at `to`. */
typedef struct piece {
    ps_hbem_range rows, columns;
    double *to;
    int64_t stride;
} piece;

static ps_status compute_piece(const ps_hbem_operator *op, const piece *p)
{
    int parts = ps_hbem_parts(op);
    int64_t m = p->rows.end - p->rows.begin, n = p->columns.end - p->columns.begin;
    int64_t bytes = 8 * parts * m * n + 64 + ps_hbem_entries_bytes(op, p->rows, p->columns);
    PS_SCOPED_MEMORY void *memory = NULL;
    double *values;
    PS_TRY(ps_alloc_untouched(&memory, bytes, "entries"));
    ps_hbem_workspace workspace = {.base = memory, .bytes = bytes};
    PS_TRY(ps_hbem_take(&workspace, 8 * parts * m * n, &values));
    PS_TRY(ps_hbem_near_block(op, p->rows, p->columns, &workspace, values));
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
            for (int part = 0; part < parts; ++part)
                p->to[(i * p->stride + j) * parts + part] = values[(part * n + j) * m + i];
    return PS_OK;
}

static ps_status check_range(const char *what, int64_t begin, int64_t end, int64_t count)
{
    if (0 <= begin && begin <= end && end <= count) return PS_OK;
    return ps_fail(PS_USAGE, "%s %lld to %lld: there are %lld", what, (long long)begin,
                   (long long)end, (long long)count);
}

/* Which piece an entry is in changes no bits: pairs of triangles are integrated alone. */
static ps_status entries(const penstock_boundary *b, ps_hbem_range rows, ps_hbem_range columns,
                         double *values)
{
    enum { ROWS = 64, COLUMNS = 64 };
    int parts = ps_hbem_parts(&b->op);
    PS_TRY(check_range("rows", rows.begin, rows.end, b->op.test->dofs));
    PS_TRY(check_range("columns", columns.begin, columns.end, b->op.trial->dofs));
    ps_failure failure = {0};
    int64_t width = columns.end - columns.begin;
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (int64_t i = rows.begin; i < rows.end; i += ROWS)
        for (int64_t j = columns.begin; j < columns.end; j += COLUMNS) {
            if (ps_has_failed(&failure)) continue;
            piece p = {{i, i + ROWS < rows.end ? i + ROWS : rows.end},
                       {j, j + COLUMNS < columns.end ? j + COLUMNS : columns.end},
                       values + ((i - rows.begin) * width + j - columns.begin) * parts,
                       width};
            ps_note_failure(&failure, compute_piece(&b->op, &p));
        }
    return ps_first_failure(&failure);
}

penstock_status penstock_boundary_entries(const penstock_boundary *boundary, int64_t row_begin,
                                          int64_t row_end, int64_t column_begin, int64_t column_end,
                                          double *values)
{
    return code(entries(boundary, (ps_hbem_range){row_begin, row_end},
                        (ps_hbem_range){column_begin, column_end}, values));
}

/* ---- retarded ---- */

struct penstock_retarded {
    ps_retarded_problem problem;
};

static ps_status parse_formulation(const char *name, int *out)
{
    for (int f = PS_SOUND_SOFT_S; f <= PS_SOUND_HARD; ++f)
        if (strcmp(name, ps_formulation_name((ps_formulation)f)) == 0) {
            *out = f;
            return PS_OK;
        }
    return ps_fail(PS_USAGE, "formulation %s: sound-soft-s, sound-soft-m and sound-hard are known",
                   name);
}

static ps_status open_retarded(const penstock_surface *surface, const ps_retarded_options *options,
                               penstock_retarded *r)
{
    ps_surface_mesh mesh = {0};
    ps_status status = copy_surface(surface, &mesh);
    if (status != PS_OK) {
        ps_surface_mesh_release(&mesh);
        return status;
    }
    PS_SCOPED_MEMORY int32_t *part = NULL; /* all are one */
    double volume, origin[3] = {mesh.vertices[0], mesh.vertices[1], mesh.vertices[2]};
    status = PS_ALLOC(&part, mesh.triangle_count, "parts of a surface");
    if (status == PS_OK) {
        ps_parts_volumes(mesh.vertices, mesh.triangles, mesh.triangle_count, part, NULL, origin, 1,
                         &volume);
        mesh.oriented = volume > 0;
        return ps_retarded_problem_init(&mesh, options, &r->problem);
    }
    ps_surface_mesh_release(&mesh);
    return status;
}

penstock_status penstock_retarded_open(const penstock_surface *surface, const char *formulation,
                                       double dt, double speed, int points, penstock_retarded **out)
{
    ps_retarded_options options = {.dt = dt, .speed = speed, .points = points};
    ps_status status = PS_ALLOC(out, 1, "retarded potentials");
    if (status == PS_OK) status = ps_threads_check_default();
    if (status == PS_OK) status = parse_formulation(formulation, &options.formulation);
    if (status == PS_OK && !(dt > 0 && speed > 0))
        status = ps_fail(PS_USAGE, "dt %g and speed %g must be above 0", dt, speed);
    if (status == PS_OK) status = open_retarded(surface, &options, *out);
    if (status != PS_OK) penstock_retarded_close(out);
    return code(status);
}

void penstock_retarded_close(penstock_retarded **retarded)
{
    if (!*retarded) return;
    ps_retarded_problem_release(&(*retarded)->problem);
    free(*retarded);
    *retarded = NULL;
}

void penstock_retarded_size(const penstock_retarded *retarded, int64_t *unknowns, int64_t *lags)
{
    *unknowns = retarded->problem.interaction.unknowns;
    *lags = ps_interaction_k_bound(&retarded->problem.interaction);
}

/* The block as a tile, whose slices are the columns. */
static ps_status tile_of(const penstock_retarded *r, const penstock_retarded_block *b,
                         ps_interaction_tile *tile)
{
    int64_t n = r->problem.interaction.unknowns;
    PS_TRY(check_range("rows", b->row_begin, b->row_end, n));
    PS_TRY(check_range("columns", b->column_begin, b->column_end, n));
    *tile = (ps_interaction_tile){.first_row = b->row_begin,
                                  .rows = b->row_end - b->row_begin,
                                  .first_slice = b->column_begin,
                                  .slices = b->column_end - b->column_begin,
                                  .values = b->values,
                                  .value_capacity = b->capacity};
    return PS_OK;
}

int64_t penstock_retarded_bound(const penstock_retarded *retarded,
                                const penstock_retarded_block *block)
{
    ps_interaction_tile t;
    if (tile_of(retarded, block, &t) != PS_OK || t.rows == 0 || t.slices == 0) return 0;
    return ps_interaction_value_bound(&retarded->problem.interaction, t.first_row, t.rows,
                                      t.first_slice, t.slices);
}

/* What a tile takes beside its values, in one piece, and the workspace. */
static ps_status compute_tile(const ps_interaction *interaction, ps_interaction_tile *tile,
                              char *memory, int64_t workspace_bytes)
{
    int64_t entries = tile->rows * tile->slices;
    tile->near_values = (double *)(memory + workspace_bytes);
    tile->near_rows = (int32_t *)(tile->near_values + entries);
    tile->near_columns = tile->near_rows + entries;
    tile->starts = (uint16_t *)(tile->near_columns + entries);
    tile->lengths = tile->starts + entries;
    return ps_interaction_compute(interaction, tile, memory, workspace_bytes);
}

static ps_status compute_block(const penstock_retarded *r, penstock_retarded_block *block)
{
    const ps_interaction *interaction = &r->problem.interaction;
    ps_interaction_tile t;
    PS_SCOPED_MEMORY void *memory = NULL;
    PS_TRY(tile_of(r, block, &t));
    block->count = 0;
    if (t.rows == 0 || t.slices == 0) return PS_OK;
    int64_t entries = t.rows * t.slices;
    int64_t bytes =
        ps_interaction_workspace(interaction, t.first_row, t.rows, t.first_slice, t.slices);
    bytes = (bytes + 63) / 64 * 64;
    PS_TRY(ps_alloc_untouched(&memory, bytes + 20 * entries, "entries"));
    PS_TRY(compute_tile(interaction, &t, memory, bytes));
    for (int64_t e = 0; e < entries; ++e) {
        block->zero[e] = 0;
        block->first[e] = t.lengths[e] ? t.starts[e] : 0;
        block->lengths[e] = t.lengths[e];
    }
    for (int64_t e = 0; e < t.near_count; ++e)
        block->zero[(t.near_columns[e] - t.first_slice) * t.rows + t.near_rows[e] - t.first_row] =
            t.near_values[e];
    block->count = t.value_count;
    return PS_OK;
}

penstock_status penstock_retarded_entries(const penstock_retarded *retarded,
                                          penstock_retarded_block *block)
{
    return code(compute_block(retarded, block));
}
