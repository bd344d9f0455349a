/* penstock-gravity-model: density contrasts on the cells of a structured grid. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "formats/columns_hdf5.h"
#include "formats/ubc.h"
#include "preprocess/gravity_model/figure_table.h"
#include "preprocess/gravity_model/model.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/plan.h"
#include "stage/product.h"

static struct {
    const char *nodes, *box, *ubc_mesh, *ubc_model, *bricks, *dataset;
    ps_text_list bodies;
    int preset, unit;
    double scale, air;
} chosen = {.dataset = "/bricks", .scale = 1000, .air = -INFINITY};

static const ps_option options[] = {
    PS_TEXT("nodes", &chosen.nodes, "NX,NY,NZ", PS_IDENTITY,
            "nodes of the grid; default: those of a uniform UBC mesh, else 101,101,31"),
    PS_TEXT("box", &chosen.box, "X0,X1,Y0,Y1,Z0,Z1", PS_IDENTITY,
            "its extent, z down; default: that of the UBC mesh, else 250 x 250 x 15 km about the "
            "origin"),
    PS_CHOICE("unit", &chosen.unit, "m|km", PS_IDENTITY, "of --box, --body and --bricks"),
    PS_LIST("body", &chosen.bodies, "BODY", PS_IDENTITY,
            "brick:X0,X1,Y0,Y1,Z0,Z1,D, ring:X,Y,R0,R1,Z0,Z1,D or ball:X,Y,Z,R,D with a density "
            "contrast D in kg/m3; may be given again"),
    PS_TEXT("bricks", &chosen.bricks, "FILE", PS_IDENTITY,
            "a table of bricks, x0 x1 y0 y1 z0 z1 density a line: text, CSV (also .gz) or HDF5"),
    PS_TEXT("dataset", &chosen.dataset, "NAME", PS_IDENTITY,
            "of the table [N][7] in an HDF5 file of bricks"),
    PS_CHOICE("preset", &chosen.preset, "none|chx-1", PS_IDENTITY,
              "chx-1: a synthetic crater of the size of Chicxulub"),
    PS_TEXT("ubc-mesh", &chosen.ubc_mesh, "FILE", PS_IDENTITY, "UBC-GIF mesh of bricks"),
    PS_TEXT("ubc-model", &chosen.ubc_model, "FILE", PS_IDENTITY, "UBC-GIF densities on that mesh"),
    PS_REAL("scale", &chosen.scale, "FACTOR", 0, 0, PS_IDENTITY,
            "from the densities of the UBC model to kg/m3; 1000: from g/cm3"),
    PS_REAL("air", &chosen.air, "VALUE", -1e30, 1e30, PS_IDENTITY,
            "values of the UBC model up to this are air, as NaN is: contrast 0. Without it the "
            "usual flags (-100, -999, -99999, ...) are recognised where they can be no densities; "
            "-1e30: there are none"),
    PS_OPTION_END};

static const ps_allowance allowances[] = {
    {"mass-outside", "bodies or bricks that reach out of the box; what is outside is left away"},
    {"density", "densities beyond 25,000 kg/m3"},
    {NULL, NULL}};

typedef struct model {
    body_list bodies;
    ps_ubc_model ubc;
    ps_rectilinear bricks; /* of it */
    bool has_bricks;
    ps_cells cells;
} model;

static double unit_length(void) { return chosen.unit ? 1000 : 1; }

/* ---- what there is ---- */

static ps_status read_hdf5_bricks(const char *path, body_list *out)
{
    enum { ROWS = 4096 };
    const char *const names[1] = {chosen.dataset};
    PS_SCOPED(ps_hdf5_columns_close) ps_hdf5_columns *file = NULL;
    PS_SCOPED_MEMORY double *rows = NULL;
    PS_TRY(ps_hdf5_columns_open(path, names, 1, &file));
    PS_TRY(PS_ALLOC(&rows, ROWS * 7, "bricks"));
    if (ps_hdf5_columns_width(file, 0) != 7)
        return ps_fail(PS_INVALID, "%s: %s has %d columns; x0 x1 y0 y1 z0 z1 density are expected",
                       path, chosen.dataset, ps_hdf5_columns_width(file, 0));
    for (int64_t at = 0; at < ps_hdf5_columns_rows(file); at += ROWS) {
        int64_t left = ps_hdf5_columns_rows(file) - at, count = left < ROWS ? left : ROWS;
        PS_TRY(ps_hdf5_columns_read(file, 0, at, count, rows));
        for (int64_t i = 0; i < count; ++i) {
            ps_body body = {.kind = PS_BODY_BRICK, .density = rows[7 * i + 6]};
            for (int k = 0; k < 6; ++k) body.size[k] = rows[7 * i + k] * unit_length();
            PS_TRY_IN(body_list_add(out, &body), "%s: row %lld", path, (long long)(at + i));
        }
    }
    return PS_OK;
}

static ps_status gather_bodies(model *m)
{
    for (int i = 0; i < chosen.bodies.count; ++i) {
        ps_body body;
        PS_TRY(parse_body(chosen.bodies.items[i], unit_length(), &body));
        PS_TRY_IN(body_list_add(&m->bodies, &body), "--body %s", chosen.bodies.items[i]);
    }
    if (chosen.preset == 1) PS_TRY(add_chx1(&m->bodies));
    if (!chosen.bricks) return PS_OK;
    return ps_is_hdf5(chosen.bricks) ? read_hdf5_bricks(chosen.bricks, &m->bodies)
                                     : read_bricks(chosen.bricks, unit_length(), &m->bodies);
}

/* The bricks of a model in memory; air weighs nothing. */
static void take_bricks(model *m)
{
    const int64_t *n = m->ubc.count;
    for (int64_t c = 0; c < n[0] * n[1] * n[2]; ++c)
        if (isnan(m->ubc.values[c])) m->ubc.values[c] = 0;
    m->bricks = (ps_rectilinear){.count = {n[0], n[1], n[2]},
                                 .edges = {m->ubc.edges[0], m->ubc.edges[1], m->ubc.edges[2]},
                                 .density = m->ubc.values};
}

static ps_status gather(model *m)
{
    if (!chosen.ubc_mesh != !chosen.ubc_model)
        return ps_fail(PS_USAGE, "--ubc-mesh and --ubc-model belong together");
    PS_TRY(gather_bodies(m));
    if (chosen.ubc_mesh) {
        ps_ubc_request request = {.mesh = chosen.ubc_mesh,
                                  .model = chosen.ubc_model,
                                  .scale = chosen.scale,
                                  .most = PS_DENSITY_MOST,
                                  .air = chosen.air,
                                  .air_given = isfinite(chosen.air)};
        PS_TRY(ps_ubc_read(&request, &m->ubc));
        take_bricks(m);
        if (m->ubc.flagged)
            ps_warning("%s: %lld cells have the value %g, a usual flag, and are taken for air; "
                       "--air says otherwise",
                       chosen.ubc_model, (long long)m->ubc.flagged, m->ubc.flag);
        m->has_bricks = true;
    }
    if (m->bodies.count || m->has_bricks) return PS_OK;
    return ps_fail(PS_USAGE, "there is no density: give --body, --bricks, --preset or --ubc-mesh "
                             "with --ubc-model");
}

/* ---- the grid ---- */

/* Nodes that fit an axis of the UBC mesh: its own if its widths are equal, else of the finest. */
static int64_t natural_nodes(const ps_rectilinear *bricks, int axis)
{
    const double *e = bricks->edges[axis];
    int64_t n = bricks->count[axis];
    double least = INFINITY;
    for (int64_t i = 0; i < n; ++i) least = fmin(least, e[i + 1] - e[i]);
    return 1 + (int64_t)llround((e[n] - e[0]) / least);
}

/* Edges between grid lines: cells there get means of the bricks, which keep masses but not steps.
 */
static void tell_of_means(const model *m)
{
    for (int a = 0; a < 3; ++a) {
        double farthest = 0, h = m->cells.grid.spacing[a];
        for (int64_t i = 0; i <= m->bricks.count[a]; ++i) {
            double at = (m->bricks.edges[a][i] - m->cells.origin[a]) / h;
            bool inside = at > 0 && at < (double)(m->cells.grid.nodes[a] - 1);
            if (inside) farthest = fmax(farthest, fabs(at - round(at)) * h);
        }
        if (farthest > 1e-6 * h)
            ps_warning(
                "bricks of the UBC mesh end up to %.4g m beside the planes of the grid along "
                "%c: cells there get their mean density; more --nodes follow the bricks "
                "better",
                farthest, "xyz"[a]);
    }
}

/* Bodies that are narrow beside cells become as wide as these: masses stay, fields near by do not.
 */
static void tell_of_spread(const model *m)
{
    int64_t spread = 0, widest = 0;
    double worst = 1.5; /* a ball of four cells takes 1.25 */
    int axis = 0;
    for (int64_t b = 0; b < m->bodies.count; ++b) {
        int along = 0;
        double own = body_spread(&m->bodies.bodies[b], &m->cells, &along);
        spread += own > 1.5;
        if (!(own > worst)) continue;
        worst = own;
        widest = b;
        axis = along;
    }
    if (spread > 0)
        ps_warning(
            "%lld of %lld bodies are spread over cells of the grid that they do not fill: body "
            "%lld becomes %.3g times as wide along %c, where cells are %.4g m. Masses are kept, "
            "fields near by are not: give more --nodes, or a --box whose planes meet its ends",
            (long long)spread, (long long)m->bodies.count, (long long)widest + 1, worst,
            "xyz"[axis], m -> cells.grid.spacing[axis]);
}

static ps_status gather_box(const model *m, double box[6])
{
    static const double usual[6] = {-125e3, 125e3, -125e3, 125e3, 0, 15e3}, least = 1e-20;
    int count;
    if (!chosen.box) {
        for (int a = 0; a < 3; ++a) {
            const double *e = m->bricks.edges[a];
            box[2 * a] = m->has_bricks ? e[0] : usual[2 * a];
            box[2 * a + 1] = m->has_bricks ? e[m->bricks.count[a]] : usual[2 * a + 1];
        }
        return PS_OK;
    }
    PS_TRY_IN(ps_parse_reals(chosen.box, ',', box, 6, &count), "--box");
    for (int a = 0; a < 3; ++a)
        if (count != 6 || !(box[2 * a] < box[2 * a + 1]) ||
            !(fmax(fabs(box[2 * a]), fabs(box[2 * a + 1])) <= PS_UBC_MOST))
            return ps_fail(PS_USAGE,
                           "--box: \"%s\" is not X0,X1,Y0,Y1,Z0,Z1 with ascending pairs within %g",
                           chosen.box, PS_UBC_MOST);
    for (int i = 0; i < 6; ++i) box[i] *= unit_length();
    for (int a = 0; a < 3; ++a) {
        double side = box[2 * a + 1] - box[2 * a];
        if (!(side >= least))
            return ps_fail(PS_USAGE,
                           "--box: a side of %g m: volumes and potentials are numbers of fp64 for "
                           "sides of %g m and more",
                           side, least);
    }
    return PS_OK;
}

static ps_status gather_grid(model *m)
{
    double box[6], nodes[3] = {101, 101, 31}, length[3];
    int64_t counts[3];
    int count = 3;
    PS_TRY(gather_box(m, box));
    for (int a = 0; a < 3 && m->has_bricks; ++a) nodes[a] = (double)natural_nodes(&m->bricks, a);
    if (chosen.nodes) {
        PS_TRY_IN(ps_parse_reals(chosen.nodes, ',', nodes, 3, &count), "--nodes");
    }
    for (int a = 0; a < 3; ++a) {
        counts[a] = (int64_t)nodes[a];
        length[a] = box[2 * a + 1] - box[2 * a];
        m->cells.origin[a] = box[2 * a];
        if (count != 3 || !(nodes[a] >= 3 && nodes[a] <= 1e6) || nodes[a] != (double)counts[a])
            return ps_fail(PS_USAGE, "--nodes: \"%s\" is not three numbers of nodes from 3 to 10^6",
                           chosen.nodes);
    }
    return ps_q1_grid_make(counts, length, &m->cells.grid);
}

/* ---- mass outside of the box ---- */

/* Sizes of masses, |density| x volume: contrasts of either sign must not hide each other. */
static void mass_sizes(const model *m, double *all, double *within, int64_t *outside)
{
    double box[3][2];
    for (int a = 0; a < 3; ++a) {
        box[a][0] = m->cells.origin[a];
        box[a][1] = box[a][0] + m->cells.grid.spacing[a] * (double)(m->cells.grid.nodes[a] - 1);
    }
    *all = *within = 0;
    *outside = 0;
    if (m->has_bricks) ps_rectilinear_sizes(&m->bricks, box, all, within);
    for (int64_t b = 0; b < m->bodies.count; ++b) {
        double size = fabs(ps_body_mass(&m->bodies.bodies[b]));
        double share = ps_body_share(&m->bodies.bodies[b], box);
        *all += size;
        *within += size * share;
        *outside += share < 1;
    }
}

/* More than a millionth of it. */
static ps_status check_mass(const model *m, const ps_run *run, double *lost)
{
    double all, within;
    int64_t outside;
    mass_sizes(m, &all, &within, &outside);
    *lost = all > within ? all - within : 0;
    if (!(*lost > 1e-6 * all)) return PS_OK;
    return ps_refuse(
        run, "mass-outside",
        "%.4g %% of the mass (%.4g of %.4g kg, without signs) lies outside of the box "
        "from %.8g,%.8g,%.8g to %.8g,%.8g,%.8g m, %lld of %lld bodies in whole or in "
        "part%s: give a --box that holds it",
        100 * *lost / all, *lost, all, m->cells.origin[0], m->cells.origin[1], m->cells.origin[2],
        m->cells.origin[0] + m->cells.grid.spacing[0] * (double)(m->cells.grid.nodes[0] - 1),
        m->cells.origin[1] + m->cells.grid.spacing[1] * (double)(m->cells.grid.nodes[1] - 1),
        m->cells.origin[2] + m->cells.grid.spacing[2] * (double)(m->cells.grid.nodes[2] - 1),
        (long long)outside, (long long)m->bodies.count,
        m->has_bricks ? ", or bricks of the UBC model" : "");
}

/* ---- writing ---- */

typedef struct totals {
    double least, largest, mass; /* of the cells */
    double lost;                 /* size of the mass outside, kg */
} totals;

/* workspace: `size` doubles for each thread. */
static void fill_planes(const model *m, int64_t first, int64_t end, double *values,
                        double *workspace, int64_t size)
{
    int64_t plane = (m->cells.grid.nodes[1] - 1) * (m->cells.grid.nodes[2] - 1);
    memset(values, 0, (size_t)((end - first) * plane) * sizeof *values);
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = first; i < end; ++i) {
        double *here = values + (i - first) * plane;
        double *own = workspace + omp_get_thread_num() * size;
        if (m->has_bricks) ps_rectilinear_add(&m->cells, &m->bricks, i, here, own);
        for (int64_t b = 0; b < m->bodies.count; ++b)
            ps_body_add(&m->cells, &m->bodies.bodies[b], i, here);
    }
}

static void add_totals(const double *values, int64_t count, totals *t)
{
    for (int64_t i = 0; i < count; ++i) {
        t->least = fmin(t->least, values[i]);
        t->largest = fmax(t->largest, values[i]);
        t->mass += values[i];
    }
}

static ps_status write_cells(const model *m, ps_box_field *field, totals *t)
{
    PS_SCOPED_MEMORY double *workspace = NULL;
    PS_SCOPED_MEMORY double *values = NULL;
    int64_t size = m->has_bricks ? ps_rectilinear_workspace(&m->bricks, &m->cells) : 1;
    const double *h = m->cells.grid.spacing;
    PS_TRY(PS_ALLOC(&values, field->chunk_planes * field->plane, "planes of a model"));
    PS_TRY(PS_ALLOC(&workspace, size * omp_get_max_threads(), "planes of a model"));
    t->least = INFINITY;
    t->largest = -INFINITY;
    for (int64_t c = 0; c < field->chunks; ++c) {
        int64_t first, end;
        ps_box_field_chunk(field, c, &first, &end);
        fill_planes(m, first, end, values, workspace, size);
        add_totals(values, (end - first) * field->plane, t);
        PS_TRY(ps_box_field_write(field, c, values));
    }
    t->mass *= h[0] * h[1] * h[2];
    return PS_OK;
}

/* What no rock has is another unit. */
static ps_status check_densities(const ps_run *run, const totals *t)
{
    double most = fmax(fabs(t->least), fabs(t->largest));
    if (!(most > PS_DENSITY_MOST)) return PS_OK;
    return ps_refuse(run, "density",
                     "densities reach from %g to %g kg/m3; nothing is above %g: check units "
                     "(--scale for UBC models) and flags of air (--air)",
                     t->least, t->largest, PS_DENSITY_MOST);
}

enum { CHUNK_BYTES = 1 << 20 };

/* What is written, chunk by chunk. */
static ps_need need_of(const model *m)
{
    const int64_t *n = m->cells.grid.nodes;
    int64_t plane = 8 * (n[1] - 1) * (n[2] - 1), bytes = (n[0] - 1) * plane;
    int64_t chunk = bytes < CHUNK_BYTES ? bytes : CHUNK_BYTES > plane ? CHUNK_BYTES : plane;
    return (ps_need){
        .arrays = chunk, .writer = chunk, .disk = bytes, .seconds = 1e-8 * (double)bytes};
}

static ps_status report(const model *m, const totals *t, const ps_run *run)
{
    const ps_need need = need_of(m);
    ps_status status = PS_OK;
    const ps_q1_grid *g = &m->cells.grid;
    double mass = m->has_bricks ? ps_rectilinear_mass(&m->bricks) : 0;
    ps_report *r = ps_report_new(run);
    for (int64_t b = 0; b < m->bodies.count; ++b) mass += ps_body_mass(&m->bodies.bodies[b]);
    ps_report_ints(r, "nodes", g->nodes, 3);
    ps_report_reals(r, "spacing", g->spacing, 3);
    ps_report_reals(r, "origin", m->cells.origin, 3);
    ps_report_int(r, "unknowns", ps_q1_grid_size(g));
    ps_report_int(r, "bodies", m->bodies.count);
    if (m->has_bricks) ps_report_int(r, "air_cells", m->ubc.air);
    ps_report_real(r, "mass_of_model", mass);
    ps_report_real(r, "mass_outside", t->lost);
    if (!run->plan) {
        ps_report_real(r, "mass_on_grid", t->mass);
        ps_report_real(r, "least_density", t->least);
        ps_report_real(r, "largest_density", t->largest);
        ps_report_run(r, ps_memory_peak());
    } else {
        status = ps_plan_take(run, &need, r);
    }
    ps_report_print(&r);
    return status;
}

static ps_status write_model(const model *m, const ps_product *product, totals *t)
{
    PS_SCOPED(ps_box_field_close) ps_box_field field = {.store = NULL};
    ps_box_field_header header = {.cells = true, .quantity = "density", .units = "kg/m3"};
    memcpy(header.nodes, m->cells.grid.nodes, sizeof header.nodes);
    memcpy(header.origin, m->cells.origin, sizeof header.origin);
    memcpy(header.spacing, m->cells.grid.spacing, sizeof header.spacing);
    PS_TRY(ps_box_field_create(product->path, &product->identity, &header, &field));
    PS_TRY(write_cells(m, &field, t));
    PS_TRY(check_densities(product->run, t));
    return ps_box_field_commit(&field);
}

static ps_status record_files(ps_product *product)
{
    if (chosen.bricks) PS_TRY(ps_product_file(product, "bricks_file", chosen.bricks));
    if (!chosen.ubc_mesh || !chosen.ubc_model) return PS_OK; /* which is refused */
    PS_TRY(ps_product_file(product, "ubc_mesh_file", chosen.ubc_mesh));
    return ps_product_file(product, "ubc_model_file", chosen.ubc_model);
}

static void release(model *m)
{
    ps_ubc_release(&m->ubc);
    free(m->bodies.bodies);
}

static ps_status run_model(ps_run *run)
{
    PS_SCOPED(release) model m = {.has_bricks = false};
    ps_product product;
    totals t = {0};
    ps_product_init(run, PS_BOX_FIELD_FORMAT, PS_BOX_FIELD_VERSION, &product);
    PS_TRY(record_files(&product));
    PS_TRY(gather(&m));
    PS_TRY(gather_grid(&m));
    if (ps_product_is_up_to_date(&product)) return PS_OK;
    if (m.has_bricks) tell_of_means(&m);
    tell_of_spread(&m);
    PS_TRY(check_mass(&m, run, &t.lost));
    const ps_need need = need_of(&m);
    if (!run->plan) PS_TRY(ps_plan_take(run, &need, NULL));
    if (!run->plan) PS_TRY(write_model(&m, &product, &t));
    return report(&m, &t, run);
}

const ps_program ps_this_program = {
    .name = "gravity-model",
    .results = 3,
    .synopsis = "OUTPUT",
    .description = "Puts density contrasts onto the cells of a structured grid (z down), keeping "
                   "masses: bricks, rings and balls, tables of bricks, UBC-GIF models, a built-in "
                   "crater. A file for ParaView, and the input of penstock-gravity-assemble.",
    .examples = "  penstock-gravity-model crater.hdf --preset chx-1 --nodes 251,251,61\n"
                "  penstock-gravity-model prism.hdf --unit km --body brick:-5,5,-5,5,2,6,-300\n"
                "  penstock-gravity-model field.hdf --ubc-mesh mesh.msh --ubc-model model.mod.gz",
    .options = options,
    .figures = figure_table,
    .allowances = allowances,
    .run = run_model};
