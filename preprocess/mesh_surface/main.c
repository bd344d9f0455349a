/* penstock-mesh-surface: closed surfaces of triangles for boundary-element runs. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/common/mesh_measure.h"
#include "kernels/common/suboff.h"
#include "preprocess/mesh_surface/figure_table.h"
#include "preprocess/mesh_surface/shapes.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/plan.h"
#include "stage/product.h"

typedef enum shape_kind { SPHERE, CUBE, LSHAPE, BOX, SUBOFF, SPHEROID } shape_kind;
enum { DIVISIONS_MAX = 16000, PLACES_MAX = INT32_MAX / 3 };

static struct {
    int shape;
    int64_t divisions;
    double edge, radius, scale, speed, frequency, wavenumber;
    const char *size, *centre;
} chosen = {.radius = 1, .scale = 1, .size = "1", .centre = "0,0,0", .speed = 1500};

static const ps_option options[] = {
    PS_CHOICE(
        "shape", &chosen.shape, "sphere|cube|lshape|box|suboff|spheroid", PS_IDENTITY,
        "ball; cube, L-shaped block and box of flat faces; bare hull of DARPA SUBOFF along x; "
        "spheroid about x, with edges of one length"),
    PS_INT("divisions", &chosen.divisions, "N", 1, DIVISIONS_MAX, PS_IDENTITY,
           "sphere: an octahedron's edges cut in N; flat faces: cells along the longest side"),
    PS_REAL("edge", &chosen.edge, "METRES", 1e-9, 1e9, PS_IDENTITY, "instead: about this edge, m"),
    PS_REAL("radius", &chosen.radius, "METRES", 1e-9, 1e9, PS_IDENTITY, "of the sphere, m"),
    PS_TEXT("size", &chosen.size, "M|X,Y,Z", PS_IDENTITY,
            "sides of cube, L-shape and box, or length and width of a spheroid, m"),
    PS_REAL("scale", &chosen.scale, "X", 1e-6, 1e6, PS_IDENTITY,
            "of the hull, whose model is 4.356 m long; 14.2 makes it 61.9 m"),
    PS_TEXT("centre", &chosen.centre, "X,Y,Z", PS_IDENTITY, "middle of the bounding box, m"),
    PS_REAL("frequency", &chosen.frequency, "HZ", 0, 1e12, 0,
            "say how many edges a wavelength has at this frequency"),
    PS_REAL("speed", &chosen.speed, "M/S", 1e-9, 1e12, 0, "of sound, with --frequency"),
    PS_REAL("wavenumber", &chosen.wavenumber, "1/M", 0, 1e12, 0, "instead of --frequency"),
    PS_OPTION_END};

/* The shape that was asked for, about the middle of its own box. */
typedef struct request {
    int64_t divisions; /* of the sphere */
    box_shape box;
    revolved_shape hull;
    double middle[3], centre[3];
    shape_size size;
} request;

/* ---- options ---- */

static double scaled_hull(double x) { return chosen.scale * ps_suboff_radius(x / chosen.scale); }

static double spheroid_size[2]; /* length, width */

static double spheroid_radius(double x)
{
    double from_end = x / spheroid_size[0];
    return spheroid_size[1] * sqrt(fmax(from_end * (1 - from_end), 0));
}

static ps_status read_spheroid(void)
{
    int count;
    if (ps_parse_reals(chosen.size, ',', spheroid_size, 2, &count) == PS_OK && count == 2 &&
        spheroid_size[0] > 0 && spheroid_size[1] > 0)
        return PS_OK;
    return ps_fail(PS_USAGE,
                   "--size %s: length and width of the spheroid are expected, as 0.14,0.02",
                   chosen.size);
}

static ps_status read_box(box_shape *box)
{
    double longest = 0;
    int count;
    if (ps_parse_reals(chosen.size, ',', box->size, 3, &count) != PS_OK ||
        (count != 1 && (count != 3 || chosen.shape == CUBE)))
        return ps_fail(PS_USAGE, "--size %s: one number%s is expected", chosen.size,
                       chosen.shape == CUBE ? "" : " or three, separated by commas,");
    for (int c = 0; c < 3; ++c) {
        if (count == 1) box->size[c] = box->size[0];
        if (!(box->size[c] > 0))
            return ps_fail(PS_USAGE, "--size %s: sides are positive", chosen.size);
        longest = fmax(longest, box->size[c]);
    }
    box->l_shape = chosen.shape == LSHAPE;
    double edge = chosen.divisions ? longest / (double)chosen.divisions : chosen.edge;
    for (int c = 0; c < 3; ++c) {
        double cells = ceil(box->size[c] / edge * (1 - 1e-12));
        if (cells > DIVISIONS_MAX)
            return ps_fail(PS_USAGE, "--edge: %.0f cells along a side, at most %d", cells,
                           DIVISIONS_MAX);
        box->cells[c] = cells < 1 ? 1 : (int64_t)cells;
        if (box->l_shape && c < 2) box->cells[c] += box->cells[c] % 2;
    }
    return PS_OK;
}

static ps_status check_length(void)
{
    if (!chosen.divisions == !(chosen.edge > 0))
        return ps_fail(PS_USAGE, "say how fine: --edge M or --divisions N, one of the two");
    if (chosen.shape >= SUBOFF && chosen.divisions)
        return ps_fail(PS_USAGE, "--divisions: hull and spheroid take --edge");
    if (chosen.frequency > 0 && chosen.wavenumber > 0)
        return ps_fail(PS_USAGE, "--frequency and --wavenumber exclude each other");
    return PS_OK;
}

static ps_status read_sphere(request *q)
{
    double n = ceil(.5 * M_PI * chosen.radius / fmax(chosen.edge, 1e-9));
    q->divisions = chosen.divisions ? chosen.divisions : n < DIVISIONS_MAX ? (int64_t)n : 0;
    if (!q->divisions)
        return ps_fail(PS_USAGE, "--edge %g m is too short for a sphere of radius %g m",
                       chosen.edge, chosen.radius);
    q->size = sphere_size(q->divisions);
    return PS_OK;
}

static ps_status read_revolved(request *q)
{
    q->hull = (revolved_shape){
        .length = chosen.scale * ps_suboff_length(), .radius = scaled_hull, .edge = chosen.edge};
    if (chosen.shape == SPHEROID) {
        PS_TRY(read_spheroid());
        q->hull.length = spheroid_size[0];
        q->hull.radius = spheroid_radius;
    }
    q->middle[0] = .5 * q->hull.length;
    return revolved_plan(&q->hull, &q->size);
}

static ps_status read_request(request *q)
{
    PS_TRY(check_length());
    int count;
    if (ps_parse_reals(chosen.centre, ',', q->centre, 3, &count) != PS_OK || count != 3)
        return ps_fail(PS_USAGE, "--centre %s: X,Y,Z are expected", chosen.centre);
    if (chosen.shape == SPHERE)
        PS_TRY(read_sphere(q));
    else if (chosen.shape >= SUBOFF)
        PS_TRY(read_revolved(q));
    else {
        PS_TRY(read_box(&q->box));
        for (int c = 0; c < 3; ++c) q->middle[c] = .5 * q->box.size[c];
        q->size = box_size(&q->box);
    }
    if (q->size.triangles > PLACES_MAX)
        return ps_fail(PS_USAGE, "%" PRId64 " triangles; the format holds %d", q->size.triangles,
                       PLACES_MAX);
    return PS_OK;
}

/* ---- the mesh ---- */

static ps_status fill(const request *q, ps_surface_mesh *mesh)
{
    ps_status status = PS_OK;
    if (chosen.shape == SPHERE)
        sphere_fill(q->divisions, chosen.radius, mesh);
    else if (chosen.shape >= SUBOFF)
        revolved_fill(&q->hull, mesh);
    else
        status = box_fill(&q->box, mesh);
#pragma omp parallel for
    for (int64_t v = 0; v < mesh->vertex_count; ++v) {
        mesh->vertex_source[v] = (int32_t)v;
        for (int c = 0; c < 3; ++c) mesh->vertices[3 * v + c] += q->centre[c] - q->middle[c];
    }
#pragma omp parallel for
    for (int64_t t = 0; t < mesh->triangle_count; ++t) mesh->triangle_source[t] = (int32_t)t;
    mesh->closed = mesh->oriented = true;
    strcpy(mesh->order, "none");
    return status;
}

/* An edge of a closed surface has two triangles, which go along it in opposite directions. */
static void measure_edges(const ps_surface_mesh *mesh, ps_edge_figures *edges)
{
    ps_edge_figures_start(edges);
    for (int64_t t = 0; t < mesh->triangle_count; ++t)
        for (int l = 0; l < 3; ++l) {
            int32_t a = mesh->triangles[3 * t + l], b = mesh->triangles[3 * t + (l + 1) % 3];
            if (a < b)
                ps_edge_figures_add(edges, mesh->vertices + 3 * (int64_t)a,
                                    mesh->vertices + 3 * (int64_t)b);
        }
    ps_edge_figures_end(edges);
}

/* Edges a wavelength, mean and least. */
static void report_waves(ps_report *r, const ps_edge_figures *edges)
{
    double k =
        chosen.wavenumber > 0 ? chosen.wavenumber : 2 * M_PI * chosen.frequency / chosen.speed;
    if (!(k > 0)) return;
    ps_report_real(r, "wavelength", 2 * M_PI / k);
    ps_report_real(r, "edges_per_wavelength", 2 * M_PI / k / edges->mean);
    ps_report_real(r, "edges_per_wavelength_min", 2 * M_PI / k / edges->max);
}

static ps_status report_mesh(ps_report *r, const ps_surface_mesh *mesh)
{
    static const double origin[3] = {0, 0, 0};
    PS_SCOPED_MEMORY int32_t *part = NULL;
    PS_SCOPED_MEMORY int64_t *histogram = NULL;
    ps_edge_figures edges;
    ps_cell_figures cells;
    double volume = 0;
    PS_TRY(PS_ALLOC(&histogram, PS_QUALITY_BINS, "mesh figures"));
    PS_TRY(PS_ALLOC(&part, mesh->triangle_count, "mesh figures"));
    ps_cells_measure(mesh->vertices, mesh->triangles, mesh->triangle_count, 3, histogram, &cells);
    ps_parts_volumes(mesh->vertices, mesh->triangles, mesh->triangle_count, part, NULL, origin, 1,
                     &volume);
    measure_edges(mesh, &edges);
    ps_report_real(r, "area", cells.size_sum);
    ps_report_real(r, "volume", volume);
    ps_report_real(r, "edge_min", edges.min);
    ps_report_real(r, "edge_mean", edges.mean);
    ps_report_real(r, "edge_max", edges.max);
    ps_report_real(r, "quality_min", cells.quality_min);
    ps_report_real(r, "quality_mean", cells.quality_mean);
    report_waves(r, &edges);
    return PS_OK;
}

static ps_status make(const request *q, const ps_run *run, ps_report *r)
{
    PS_SCOPED(ps_surface_mesh_release) ps_surface_mesh mesh = {0};
    double start = ps_clock();
    PS_TRY(ps_surface_mesh_init(&mesh, q->size.vertices, q->size.triangles));
    PS_TRY(fill(q, &mesh));
    double made = ps_clock();
    PS_TRY(ps_surface_mesh_save(run->output, &mesh, ps_version(), run->record));
    double saved = ps_clock();
    PS_TRY(report_mesh(r, &mesh));
    ps_report_run(r, ps_memory_peak());
    ps_report_real(r, "making", made - start);
    ps_report_real(r, "writing", saved - made);
    return PS_OK;
}

static void release(request *q) { revolved_release(&q->hull); }

static ps_status run_surface(ps_run *run)
{
    PS_SCOPED(release) request q = {0};
    ps_product product;
    ps_product_init(run, PS_SURFACE_MESH_FORMAT, PS_SURFACE_MESH_VERSION, &product);
    PS_TRY(read_request(&q));
    if (ps_product_is_up_to_date(&product)) return PS_OK;
    PS_SCOPED(ps_report_discard) ps_report *r = ps_report_new(run);
    ps_report_int(r, "vertices", q.size.vertices);
    ps_report_int(r, "triangles", q.size.triangles);
    const ps_need need = {.arrays = 52 * q.size.vertices + 24 * q.size.triangles,
                          .writer = 256 << 10,
                          .disk = 24 * q.size.vertices + 25 * q.size.triangles,
                          .seconds = 5e-7 * (double)q.size.triangles};
    ps_status status = ps_plan_take(run, &need, r);
    if (status == PS_OK && !run->plan) status = make(&q, run, r);
    if (status == PS_OK || run->plan) ps_report_print(&r);
    return status;
}

const ps_program ps_this_program = {
    .name = "mesh-surface",
    .synopsis = "OUTPUT",
    .description =
        "Makes closed surfaces of triangles with outward normals: a sphere from the "
        "octahedron, bodies of flat faces, spheroids, and the bare hull of DARPA SUBOFF by "
        "its published profile, bow at the lower x. Reports area, volume, edges, qualities "
        "and, with --frequency or --wavenumber, edges a wavelength.",
    .examples =
        "  penstock-mesh-surface sphere.hdf --divisions 16\n"
        "  penstock-mesh-surface block.hdf --shape lshape --size 2 --edge 0.1\n"
        "  penstock-mesh-surface fish.hdf --shape spheroid --size 0.14,0.02 --edge 2e-3\n"
        "  penstock-mesh-surface hull.hdf --shape suboff --scale 14.2 --edge 0.11 --frequency 1000",
    .options = options,
    .figures = figure_table,
    .run = run_surface};
