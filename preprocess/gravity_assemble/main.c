/* penstock-gravity-assemble: right-hand side with boundary values; matrices for others. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/box_field.h"
#include "formats/matrix_market.h"
#include "kernels/schwarz/boundary.h"
#include "kernels/schwarz/load.h"
#include "preprocess/gravity_assemble/figure_table.h"
#include "preprocess/gravity_assemble/subdomains.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/plan.h"

enum { BOUNDARY_PRISM, BOUNDARY_POINT, BOUNDARY_ZERO };
enum { MASS_AUTO, MASS_FOURTH, MASS_GALERKIN };

static struct {
    int boundary, source, mass;
    double gravity;
    const char *coarsen, *matrix, *face_mass, *face_stiffness;
    subdomains_request cut;
} chosen = {.gravity = PS_NEWTON, .cut = {.count = 8}};

static const ps_option options[] = {
    PS_CHOICE("boundary", &chosen.boundary, "prism|point-mass|zero", PS_IDENTITY,
              "values on the boundary: exact sums over all cells; those of one mass; zeros, which "
              "double g_z on the top and are for benchmarks"),
    PS_CHOICE("source", &chosen.source, "density|one", PS_IDENTITY,
              "4 pi G times the contrast, or 1 everywhere, for benchmarks"),
    PS_CHOICE(
        "mass", &chosen.mass, "auto|fourth-order|galerkin", PS_IDENTITY,
        "masses of the elements: half of them lumped, which makes potentials of fourth order, or "
        "those of trilinear elements; auto: the former, with --source one the latter"),
    PS_TEXT("coarsen", &chosen.coarsen, "CX,CY,CZ", PS_IDENTITY,
            "elements of so many cells of the model along x, y and z: densities in finer cells "
            "than the potential needs"),
    PS_REAL("gravity", &chosen.gravity, "G", 1e-12, 1e-9, PS_IDENTITY, "m3 kg-1 s-2"),
    PS_TEXT("matrix", &chosen.matrix, "FILE.mtx", PS_WRITES,
            "write the matrix, boundary nodes eliminated, for other programs"),
    PS_TEXT("face-mass", &chosen.face_mass, "FILE.mtx", PS_WRITES,
            "write the mass matrix of a face between slabs"),
    PS_TEXT("face-stiffness", &chosen.face_stiffness, "FILE.mtx", PS_WRITES,
            "write its tangential stiffness matrix"),
    PS_TEXT("subdomains", &chosen.cut.path, "FILE.h5", PS_WRITES,
            "cut the grid's elements into subdomains without overlap and write their matrices and "
            "those of the interfaces between them, for penstock-schwarz-solve --subdomains"),
    PS_INT("parts", &chosen.cut.count, "N", 2, 1 << 20, 0, "number of subdomains"),
    PS_CHOICE("partition", &chosen.cut.partition, "scotch|slabs", 0,
              "of any shape by Scotch, or slabs along x"),
    PS_OPTION_END};

typedef struct system {
    ps_box_field density;
    ps_q1_grid grid, fine; /* of the elements, of the cells */
    int64_t refine[3];     /* cells an element */
    int64_t nodes, cells;
    double *source, *u, *load; /* [cells], [nodes], [nodes] */
    subdomains_figures cut;
} system_data;

static void release(system_data *s)
{
    ps_box_field_close(&s->density);
    PS_FREE(s->source, s->u, s->load);
}

static int64_t memory_of(const system_data *s)
{
    return 8 * (s->cells + 2 * s->nodes) + (chosen.cut.path ? subdomains_memory(&s->grid) : 0);
}

static ps_need need_of(const system_data *s)
{
    bool sums =
        chosen.boundary == BOUNDARY_PRISM; /* over all cells, whose transforms take a field */
    return (ps_need){.arrays = memory_of(s) + (sums ? 8 * s->nodes : 0),
                     .writer = 8 * s->density.chunk_planes * s->density.plane,
                     .disk = 8 * s->nodes,
                     .seconds = 1e-7 * (double)s->nodes};
}

static ps_status parse_coarsen(int64_t out[3])
{
    double numbers[3] = {1, 1, 1};
    int count = 3;
    if (chosen.coarsen) {
        PS_TRY_IN(ps_parse_reals(chosen.coarsen, ',', numbers, 3, &count), "--coarsen");
    }
    for (int a = 0; a < 3; ++a) {
        if (count != 3 || !(numbers[a] >= 1 && numbers[a] <= 1e6) ||
            numbers[a] != floor(numbers[a]))
            return ps_fail(PS_USAGE, "--coarsen: \"%s\" is not three numbers of cells",
                           chosen.coarsen);
        out[a] = (int64_t)numbers[a];
    }
    return PS_OK;
}

/* The grids of the cells and of the elements. */
static ps_status set_grids(const char *path, system_data *s)
{
    double length[3];
    int64_t nodes[3];
    const ps_box_field_header *h = &s->density.header;
    PS_TRY(parse_coarsen(s->refine));
    for (int a = 0; a < 3; ++a) {
        length[a] = h->spacing[a] * (double)(h->nodes[a] - 1);
        nodes[a] = (h->nodes[a] - 1) / s->refine[a] + 1;
        if ((h->nodes[a] - 1) % s->refine[a] != 0)
            return ps_fail(PS_USAGE, "--coarsen %s: the %lld cells of %s along %c are no multiple",
                           chosen.coarsen, (long long)h->nodes[a] - 1, path, "xyz"[a]);
    }
    PS_TRY(ps_q1_grid_make(h->nodes, length, &s->fine));
    PS_TRY(ps_q1_grid_make(nodes, length, &s->grid));
    if (chosen.mass == MASS_FOURTH || (chosen.mass == MASS_AUTO && chosen.source == 0))
        s->grid.lumped = PS_LUMPED_FOURTH;
    return PS_OK;
}

static ps_status read_model(const char *path, const ps_run *run, system_data *s)
{
    PS_TRY(ps_box_field_open(path, "density", &s->density));
    if (!s->density.header.cells)
        return ps_fail(PS_INVALID, "%s: its densities are not those of cells", path);
    PS_TRY(set_grids(path, s));
    s->nodes = ps_q1_grid_size(&s->grid);
    s->cells = s->density.shape[0] * s->density.plane;
    if (run->plan) return PS_OK;
    const ps_need need = need_of(s);
    PS_TRY(ps_plan_take(run, &need, NULL));
    PS_TRY(PS_ALLOC(&s->source, s->cells, "densities"));
    PS_TRY(PS_ALLOC(&s->u, s->nodes, "boundary values"));
    PS_TRY(PS_ALLOC(&s->load, s->nodes, "loads"));
    return ps_box_field_read(&s->density, 0, s->density.shape[0], s->source);
}

/* ---- boundary values ---- */

/* Mass of the model about its centre. */
static void point_mass(system_data *s)
{
    const int64_t *n = s->fine.nodes;
    const double *h = s->fine.spacing;
    double mass = 0, weight = 0, centre[3] = {0}, volume = h[0] * h[1] * h[2];
    for (int64_t c = 0; c < s->cells; ++c) {
        int64_t at[3] = {c / s->density.plane, c % s->density.plane / (n[2] - 1), c % (n[2] - 1)};
        double m = s->source[c] * volume, size = m < 0 ? -m : m;
        mass += m;
        weight += size;
        for (int a = 0; a < 3; ++a) centre[a] += size * ((double)at[a] + .5) * h[a];
    }
    for (int a = 0; a < 3; ++a) centre[a] = weight > 0 ? centre[a] / weight : 0;
    n = s->grid.nodes, h = s->grid.spacing;
    for (int64_t row = 0; row < s->nodes; ++row) {
        int64_t at[3] = {row / (n[1] * n[2]), row / n[2] % n[1], row % n[2]};
        double point[3];
        for (int a = 0; a < 3; ++a) point[a] = (double)at[a] * h[a];
        s->u[row] = ps_sphere_potential(mass, centre, point, chosen.gravity);
    }
}

static ps_status set_boundary(system_data *s)
{
    if (chosen.boundary == BOUNDARY_PRISM)
        return ps_boundary_potential(
            &(ps_boundary_model){s->fine, {s->refine[0], s->refine[1], s->refine[2]}, s->source},
            chosen.gravity, s->u);
    if (chosen.boundary == BOUNDARY_POINT) point_mass(s);
    return PS_OK;
}

static ps_status assemble(system_data *s)
{
    static const double pi = 3.14159265358979323846;
    ps_slab whole = ps_slab_whole(&s->grid);
    ps_slab_stencil stencil;
    ps_slab_stencil_make(&whole, &stencil);
    PS_TRY(set_boundary(s));
    if (chosen.source == 1)
        for (int64_t c = 0; c < s->cells; ++c) s->source[c] = 1;
    double scale = chosen.source == 1 ? 1 : 4 * pi * chosen.gravity;
    PS_TRY(ps_load_set_cells(&s->grid, s->refine, s->source, scale, s->load));
    ps_load_lift(&stencil, s->u, s->load);
    return PS_OK;
}

/* ---- output ---- */

static ps_status write_load(const system_data *s, const ps_product *product)
{
    ps_box_field_header header = s->density.header;
    PS_SCOPED(ps_box_field_close) ps_box_field out = {.store = NULL};
    memcpy(header.nodes, s->grid.nodes, sizeof header.nodes);
    memcpy(header.spacing, s->grid.spacing, sizeof header.spacing);
    header.cells = false;
    strcpy(header.quantity, "load");
    strcpy(header.units, "m3/s2");
    PS_TRY(ps_box_field_create(product->path, &product->identity, &header, &out));
    PS_TRY(ps_product_record(product, out.store));
    PS_TRY(ps_store_put_real(out.store, "/", "gravity", chosen.gravity));
    PS_TRY(ps_store_put_real(out.store, "/", "lumped", s->grid.lumped));
    PS_TRY(ps_store_put_text(out.store, "/", "source", chosen.source ? "one" : "density"));
    for (int64_t c = 0; c < out.chunks; ++c) {
        int64_t first, end;
        ps_box_field_chunk(&out, c, &first, &end);
        PS_TRY(ps_box_field_write(&out, c, s->load + first * out.plane));
    }
    return ps_box_field_commit(&out);
}

static ps_status export_matrix(const system_data *s)
{
    ps_slab whole = ps_slab_whole(&s->grid);
    ps_slab_stencil stencil;
    PS_SCOPED(ps_csr_release) ps_csr matrix = {0};
    ps_slab_stencil_make(&whole, &stencil);
    PS_TRY(ps_stencil_assemble(&stencil, &matrix));
    return ps_matrix_market_save(chosen.matrix, &matrix, true,
                                 "Q1 stiffness, Dirichlet nodes as rows of the identity; m");
}

static ps_status export_face(const system_data *s, const char *path, double p, double q)
{
    PS_SCOPED(ps_csr_release) ps_csr matrix = {0};
    PS_TRY(ps_face_assemble(&s->grid, p, q, &matrix));
    return ps_matrix_market_save(path, &matrix, true, "face between slabs, rows j nz + k");
}

static ps_status export_all(system_data *s, const ps_product *product)
{
    if (chosen.cut.path) PS_TRY(subdomains_write(product, &s->grid, &chosen.cut, &s->cut));
    if (chosen.matrix) PS_TRY(export_matrix(s));
    if (chosen.face_mass) PS_TRY(export_face(s, chosen.face_mass, 1, 0));
    if (chosen.face_stiffness) PS_TRY(export_face(s, chosen.face_stiffness, 0, 1));
    return PS_OK;
}

static ps_status report(const system_data *s, const ps_run *run)
{
    const ps_need need = need_of(s);
    ps_status status = PS_OK;
    ps_row_figures rows = ps_q1_grid_row_figures(&s->grid);
    ps_report *r = ps_report_new(run);
    ps_report_ints(r, "nodes", s->grid.nodes, 3);
    ps_report_int(r, "unknowns", s->nodes);
    ps_report_text(r, "mass", s->grid.lumped > 0 ? "fourth-order" : "galerkin");
    ps_report_int(r, "entries", rows.entries);
    ps_report_real(r, "mean_row", rows.mean);
    ps_report_real(r, "row_deviation", rows.deviation);
    if (run->plan) status = ps_plan_take(run, &need, r);
    if (!run->plan && chosen.cut.path) {
        ps_report_int(r, "interfaces", s->cut.interfaces);
        ps_report_int(r, "interface_nodes", s->cut.interface_nodes);
        ps_report_int(r, "cross_points", s->cut.cross_points);
        ps_report_real(r, "imbalance", s->cut.imbalance);
    }
    if (!run->plan) ps_report_run(r, ps_memory_peak());
    ps_report_print(&r);
    return status;
}

static ps_status run_assemble(ps_run *run)
{
    PS_SCOPED(release) system_data s = {.source = NULL};
    ps_product product;
    ps_product_init(run, PS_BOX_FIELD_FORMAT, PS_BOX_FIELD_VERSION, &product);
    PS_TRY(read_model(run->operands[0], run, &s));
    PS_TRY(ps_product_input(&product, "model", s.density.store));
    if (!run->plan) {
        PS_TRY(export_all(&s, &product));
        if (ps_product_is_up_to_date(&product) && !chosen.cut.path) return PS_OK;
        PS_TRY(assemble(&s));
        PS_TRY(write_load(&s, &product));
    }
    return report(&s, run);
}

const ps_program ps_this_program = {
    .name = "gravity-assemble",
    .results = 2,
    .synopsis = "MODEL LOAD",
    .description =
        "Assembles what belongs to -Laplace Phi = 4 pi G drho on the grid of a density model: "
        "loads of trilinear elements, boundary values (exact sums over all cells, by default) and "
        "what they contribute. The matrix itself is eight numbers, which penstock-schwarz- solve "
        "makes anew; --matrix and the others write it out for other programs.",
    .examples = "  penstock-gravity-assemble crater.hdf load.hdf\n"
                "  penstock-gravity-assemble box.hdf load.hdf --source one --boundary zero "
                "--matrix A.mtx",
    .options = options,
    .figures = figure_table,
    .run = run_assemble};
