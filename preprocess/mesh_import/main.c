/* penstock-mesh-import: a mesh or geometry file becomes a checked, ordered mesh file. */
#include <string.h>
#include <sys/stat.h>

#include "formats/surface_mesh.h"
#include "formats/volume_mesh.h"
#include "preprocess/mesh_import/figure_table.h"
#include "preprocess/mesh_import/import.h"
#include "runtime/log.h"
#include "runtime/scope.h"
#include "stage/plan.h"
#include "stage/product.h"

#define PEAK_A_BYTE 3.0
#define LOADED_BYTES 6e7

static int kind = IMPORT_AUTO, unit, order = PS_CURVE_NONE;
static int64_t divide;
static double extra_scale = 1, size, weld = -1, gmsh_time = 3600;
static import_fineness longest;
static const char *within;
static bool orient, drop_duplicates, drop_degenerate, open_surface, allow_intersections;

static const ps_option options[] = {
    PS_CHOICE("kind", &kind, "auto|surface|volume", PS_IDENTITY,
              "what to take; auto: tetrahedra if there are any, else triangles"),
    PS_CHOICE("unit", &unit, "m|mm|cm|ft|in", PS_IDENTITY, "unit of the file's coordinates"),
    PS_REAL("scale", &extra_scale, "FACTOR", 1e-12, 1e12, PS_IDENTITY,
            "multiplies all coordinates, after --unit"),
    PS_REAL("size", &size, "METRES", 0, 1e12, PS_IDENTITY,
            "element size at which geometry is meshed"),
    PS_FLAG("orient", &orient, PS_IDENTITY,
            "turn triangles so that neighbours agree and normals point outwards; turn tetrahedra "
            "of negative volume"),
    PS_REAL("weld", &weld, "METRES", -1, 1e12, PS_IDENTITY,
            "merge vertices that are closer than this"),
    PS_FLAG("drop-duplicates", &drop_duplicates, PS_IDENTITY,
            "keep the first of cells that are given several times"),
    PS_FLAG("drop-degenerate", &drop_degenerate, PS_IDENTITY,
            "leave away cells that repeat a vertex or have no area"),
    PS_FLAG("open", &open_surface, PS_IDENTITY, "accept a surface that is not closed (a screen)"),
    PS_FLAG("allow-intersections", &allow_intersections, PS_IDENTITY,
            "do not look for triangles, or outer faces of tetrahedra, that cut through or overlap "
            "one another"),
    {"gmsh-time", PS_OPTION_SECONDS, &gmsh_time, "TIME",
     "CPU time that Gmsh's library may take to read a file or to mesh geometry", 1, 0, 0},
    PS_INT("divide", &divide, "N", 0, 6, PS_IDENTITY,
           "cut each tetrahedron into eight at the middles of its edges, so many times"),
    PS_REAL("longest-edge", &longest.length, "METRES", 0, 1e12, PS_IDENTITY,
            "bisect tetrahedra at their longest edges until no edge is longer (0: do not)"),
    PS_TEXT("within", &within, "X,Y,Z,R", PS_IDENTITY,
            "--longest-edge is for edges whose middles lie in this ball (metres)"),
    PS_CHOICE("order", &order, "none|morton|hilbert|random", PS_IDENTITY,
              "order vertices and cells along a space-filling curve (random: scattered, to compare "
              "with)"),
    PS_OPTION_END};

static import_options gather(const ps_run *run)
{
    static const double metres[] = {1, 1e-3, 1e-2, 0.3048, 0.0254};
    return (import_options){.run = run,
                            .time = gmsh_time,
                            .input = run->operands[0],
                            .output = run->output,
                            .kind = (import_kind)kind,
                            .unit = unit,
                            .scale = metres[unit] * extra_scale,
                            .size = size,
                            .weld = weld,
                            .orient = orient,
                            .drop_duplicates = drop_duplicates,
                            .drop_degenerate = drop_degenerate,
                            .open = open_surface,
                            .allow_intersections = allow_intersections,
                            .divide = divide,
                            .longest = longest,
                            .order = (ps_space_curve)order};
}

static ps_status read_within(void)
{
    int end = 0;
    if (!within) return PS_OK;
    if (sscanf(within, "%lf,%lf,%lf,%lf%n", longest.centre, longest.centre + 1, longest.centre + 2,
               &longest.radius, &end) != 4 ||
        within[end] || !(longest.radius > 0 && longest.radius < 1e12))
        return ps_fail(PS_USAGE, "--within %s: expected X,Y,Z,R with R > 0", within);
    return longest.length > 0
               ? PS_OK
               : ps_fail(PS_USAGE, "--within is for --longest-edge, which is not given");
}

/* A surface or a volume mesh: an output that is there says which of them it is. A .geo file may
 * include others, so that its own content does not tell. */
static ps_status identify(const import_input *input, ps_product *product)
{
    ps_store_identity volume;
    PS_TRY(ps_product_file(product, "input", input->name));
    product->open_ended = strcmp(input->suffix, ".geo") == 0;
    volume = product->identity;
    volume.format = PS_VOLUME_MESH_FORMAT;
    volume.format_version = PS_VOLUME_MESH_VERSION;
    if (product->path && ps_store_matches(product->path, &volume, 0, NULL, NULL))
        product->identity = volume;
    return PS_OK;
}

/* What reading and checking need at most, measured a byte of uncompressed input
 * (specs/mesh_import.md), and what the process with Gmsh's library takes by being there. */
static ps_status plan(const import_input *input, const ps_run *run)
{
    struct stat info;
    if (stat(input->path, &info) != 0) return ps_fail(PS_INVALID, "%s is gone", input->name);
    double bytes = (double)info.st_size;
    bool geometry = import_is_geometry(input);
    double loaded = import_wants_gmsh(input) ? LOADED_BYTES : 0;
    const ps_need need = {
        .arrays = (int64_t)(loaded + PEAK_A_BYTE * bytes),
        .disk = 2 * (int64_t)info.st_size,
        .guessed = true,
        .seconds = 2e-8 * bytes,
        .needs =
            geometry ? "the mesh that Gmsh will make, on which memory and disk depend, too" : NULL};
    PS_SCOPED(ps_report_print) ps_report *report = ps_report_new(run);
    ps_report_int(report, "input", (int64_t)info.st_size);
    return ps_plan_take(run, &need, report);
}

static ps_status process(import_mesh *mesh, const import_options *o, const char *record,
                         const ps_run *run)
{
    import_figures figures = {0};
    bool volume =
        o->kind == IMPORT_VOLUME || (o->kind == IMPORT_AUTO && mesh->tetrahedra.count > 0);
    if (mesh->polygons > 0)
        ps_info("%s: %lld polygons were cut into triangles", o->input, (long long)mesh->polygons);
    if ((o->divide > 0 || o->longest.length > 0) && !volume)
        return ps_fail(PS_USAGE, "--%s is for tetrahedra; %s is a surface here",
                       o->divide > 0 ? "divide" : "longest-edge", o->input);
    import_find_step(mesh);
    PS_TRY(volume ? import_volume(mesh, o, &figures) : import_surface(mesh, o, &figures));
    if (figures.unused > 0)
        ps_info("%s: %lld vertices belong to no cell and were left away", o->input,
                (long long)figures.unused);
    import_scale(mesh, &figures, o->scale);
    PS_TRY(import_order(mesh, o->order));
    PS_TRY(import_measure(mesh, volume ? &mesh->tetrahedra : &mesh->triangles, &figures));
    PS_TRY(import_check_size(mesh, o, &figures));
    if (o->output) PS_TRY(import_save(mesh, o, &figures, record));
    import_report(mesh, o, &figures, run);
    return PS_OK;
}

static ps_status run_import(ps_run *run)
{
    PS_TRY(read_within());
    import_options o = gather(run);
    PS_SCOPED(import_input_release) import_input input = {.name = NULL};
    PS_SCOPED(import_mesh_release) import_mesh mesh;
    ps_product product;
    ps_product_init(run, PS_SURFACE_MESH_FORMAT, PS_SURFACE_MESH_VERSION, &product);
    import_mesh_init(&mesh);
    PS_TRY(import_input_open(o.input, &input));
    PS_TRY(identify(&input, &product));
    if (run->plan) return plan(&input, run);
    if (ps_product_is_up_to_date(&product)) return PS_OK;
    PS_TRY(import_read(&input, &o, &mesh));
    import_input_release(&input); /* the decompressed copy is not needed any longer */
    return process(&mesh, &o, product.options, run);
}

static const ps_allowance allowances[] = {
    {"rounded",
     "vertices that the precision of their file has moved by more than a hundredth of an edge"},
    {"units", "a UNV file that states other units than m, read as m"},
    {"geo-commands", "a .geo file, or what Gmsh takes for one, that runs programs or writes files"},
    {NULL, NULL}};

const ps_program ps_this_program = {
    .name = "mesh-import",
    .synopsis = "INPUT [OUTPUT]",
    .description =
        "Reads a surface or volume mesh (MSH 2 and 4, STL, VTK to 5.1, VTU, VTP, Abaqus, Nastran, "
        "MEDIT, OFF, OBJ, PLY, UNV, volume meshes of this program, also compressed as .gz or .zst) "
        "or meshes geometry (.geo, STEP, "
        "IGES, BREP; solids of an assembly are cut along one another) at --size, checks "
        "it, and writes a mesh file that ParaView opens. Without OUTPUT it only checks. A mesh "
        "that is not closed, not manifold, not oriented, or has coincident vertices, repeated or "
        "degenerate cells is refused with the places of the faults, unless the option that mends "
        "it is given: only what is asked is changed. Physical groups, properties, references, "
        "sets, cell data and solids become tags, with their names. Gmsh's library runs in a "
        "process that may read files, and no more: a file that starts a program, writes a file or "
        "uses the network there is refused.",
    .examples =
        "  penstock-mesh-import cessna.msh.gz cessna.hdf --unit ft --orient --order hilbert\n"
        "  penstock-mesh-import wing.step wing.hdf --size 0.05 --order hilbert\n"
        "  penstock-mesh-import --json head.msh.zst",
    .options = options,
    .figures = figure_table,
    .results = 4,
    .allowances = allowances,
    .run = run_import};
