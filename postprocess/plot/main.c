/*
 * penstock-plot: pictures of the files of all stages, drawn by gnuplot.
 */
#include <string.h>

#include "postprocess/plot/plot.h"
#include "runtime/log.h"
#include "runtime/options.h"
#include "runtime/program.h"
#include "stage/plan.h"

typedef struct plot_kind {
    const char *name;
    plot_function draw;
    int64_t width, height; /* pixels, unless told otherwise; 0: the kind decides */
} plot_kind;

static const plot_kind kinds[] = {{"slice", plot_slice, 1000, 800},
                                  {"blocks", plot_blocks, 1000, 800},
                                  {"hmatrix", plot_hmatrix, 900, 800},
                                  {"lengths", plot_lengths, 900, 560},
                                  {"classes", plot_classes, 900, 560},
                                  {"trace", plot_trace, 1100, 620},
                                  {"spectrum", plot_spectrum, 1100, 620},
                                  {"polar", plot_polar, 980, 760},
                                  {"workers", plot_workers, 1000, 860},
                                  {"surface", plot_surface, 1280, 800},
                                  {"plane", plot_plane, 1280, 0},
                                  {"stages", plot_stages, 900, 600},
                                  {"gantt", plot_gantt, 1280, 0},
                                  {"rates", plot_rates, 1380, 0},
                                  {"intensity", plot_intensity, 900, 600},
                                  {"convergence", plot_convergence, 1000, 640},
                                  {"isolines", plot_isolines, 1240, 0},
                                  {"sparsity", plot_sparsity, 900, 860},
                                  {"gravity-map", plot_gravity_map, 900, 0},
                                  {"gravity-profile", plot_gravity_profile, 1000, 560},
                                  {"prism-model", plot_prism_model, 900, 1100},
                                  {"residuals", plot_residuals, 900, 800}};

static const char *output, *script;
static int64_t width, height;
static plot_request request = {.slice = -1, .azimuth = 215, .elevation = 25, .dynamic = 40};

static const ps_option options[] = {
    PS_TEXT("output", &output, "FILE", PS_WRITES,
            "the picture, .png, .svg or .pdf; of a view .html (required)"),
    PS_TEXT("title", &request.title, "TEXT", 0, "title above the picture"),
    PS_TEXT("labels", &request.labels, "A,B,...", 0, "names of the files in the legend"),
    PS_INT("width", &width, "PIXELS", 0, 16384, 0, "0: what suits the kind"),
    PS_INT("height", &height, "PIXELS", 0, 16384, 0, "0: what suits the kind"),
    PS_FLAG("log", &request.log, 0,
            "spectrum: logarithmic frequencies; lengths: logarithmic counts; convergence: factors; "
            "rates"),
    PS_TEXT("range", &request.range, "LARGEST|FROM,TO", 0,
            "plane, surface: values that the colours span, in SI units"),
    PS_TEXT("times", &request.times, "T,...", 0, "plane, surface: a panel for each time, s"),
    PS_TEXT("frequencies", &request.frequencies, "F,...", 0,
            "polar: a curve for each frequency, plane: a panel, Hz"),
    PS_TEXT("field", &request.field, "NAME", 0,
            "surface, view: which field (SAR, SAR_10g, magnitude, real, ...)"),
    PS_TEXT("channels", &request.channels, "C,...", 0,
            "trace, spectrum: which receivers, counted from 0"),
    PS_TEXT("x-range", &request.x_range, "FROM,TO", 0,
            "part of the axis; trace, spectrum, gantt: s or Hz; workers: iterations"),
    PS_FLAG("difference", &request.difference, 0,
            "trace: a second panel with the differences to the first file"),
    PS_REAL("dynamic", &request.dynamic, "DB", 5, 400, 0,
            "polar, spectrum, plane with --log: decibels shown below the largest"),
    PS_INT("slice", &request.slice, "J", -1, 2147483647, 0,
           "slice, blocks: which slice; -1: the middle one; prism-model: which layer, from below"),
    PS_INT("first-row", &request.first_row, "I", 0, 2147483647, 0,
           "slice, blocks, sparsity: first row shown"),
    PS_INT("rows", &request.row_count, "N", 0, 2147483647, 0,
           "slice, blocks, sparsity: rows shown; 0: all of a slice or a matrix, 96 of blocks"),
    PS_REAL("azimuth", &request.azimuth, "DEGREES", -360, 360, 0,
            "surface: the eye, seen from the body, from +x towards +y"),
    PS_REAL("elevation", &request.elevation, "DEGREES", -89, 89, 0,
            "surface: the eye above the horizon"),
    PS_TEXT("script", &script, "FILE", PS_WRITES,
            "keep the script for gnuplot, data included, here"),
    PS_OPTION_END};

static ps_status find_kind(const char *name, const plot_kind **out)
{
    const char *nearest = kinds[0].name;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        if (strcmp(kinds[i].name, name) == 0) {
            *out = &kinds[i];
            return PS_OK;
        }
        if (ps_word_distance(kinds[i].name, name) < ps_word_distance(nearest, name))
            nearest = kinds[i].name;
    }
    return ps_fail(
        PS_USAGE,
        "there is no kind of picture \"%s\"; did you mean \"%s\"? Kinds: slice, "
        "blocks, hmatrix, lengths, classes, trace, spectrum, polar, workers, surface, "
        "view, plane, stages, "
        "gantt, rates, intensity, convergence, isolines, sparsity, gravity-map, gravity-profile, "
        "prism-model, residuals",
        name, nearest);
}

static ps_status run_plot(ps_run *run)
{
    const plot_kind *kind = NULL;
    canvas c;
    bool view = strcmp(run->operands[0], "view") == 0;
    if (!view) PS_TRY(find_kind(run->operands[0], &kind));
    if (!output) return ps_fail(PS_USAGE, "--output FILE.png, .svg, .pdf or .html is missing");
    request.files = run->operands + 1;
    request.file_count = run->operand_count - 1;
    if (run->plan) return ps_plan_reading(run, request.files, request.file_count);
    if (view) {
        PS_TRY(plot_view(&request, output));
        ps_info("%s written", output);
        return PS_OK;
    }
    PS_TRY(canvas_open(&c, output, width ? width : kind->width, height ? height : kind->height));
    ps_status status = kind->draw(&request, &c);
    if (status != PS_OK) {
        canvas_discard(&c);
        return status;
    }
    PS_TRY(canvas_finish(&c, script));
    ps_info("%s written", output);
    return PS_OK;
}

const ps_program ps_this_program = {
    .name = "plot",
    .synopsis = "KIND FILE... --output PICTURE",
    .description =
        "Draws a picture, PNG, SVG or PDF, through gnuplot, or a page. Kinds:\n"
        "  slice            structure of one slice (row x k), from a slice matrix\n"
        "  blocks           the blocks over that structure, from a block matrix\n"
        "  hmatrix          blocks and ranks of an H-matrix, or the blocks of a cluster tree\n"
        "  lengths          histogram of the lengths of row-vectors, from slice matrices\n"
        "  classes          elements and updates by class of step, from a model of dgtd-setup\n"
        "  trace            signals over time, from traces\n"
        "  spectrum         levels over frequency, from traces made by penstock-spectrum or\n"
        "                   penstock-dgtd-ports, and from Touchstone files (.s2p), as points\n"
        "  polar            levels over angle at chosen frequencies, from such traces of a far "
        "field\n"
        "  plane            the field on a plane as a colour map, from a trace of a plane\n"
        "  surface          the density on the surface at a time, from MESH and HISTORY; or, from "
        "FIELD, a field of triangles, or one on the skin of the tetrahedra where it is above 0\n"
        "  view             mesh, regions and fields as a page that a browser turns: a mesh, MESH "
        "and "
        "HISTORY, or FIELD... of one surface at several times\n"
        "  workers          shares of time and intervals of workers over the iterations, from the "
        "log that a run leaves beside its output, OUTPUT.workers.h5\n"
        "  stages           shares of wall time of runs, from such logs or from reports made with "
        "--json\n"
        "  gantt            who did what when, from the task trace of a run\n"
        "  rates            flop/s of sums over particles and of their bounds over the order, a "
        "panel "
        "for each height, and the least times, from reports of penstock-fmm made with --json\n"
        "  intensity        flop per word of M2L over the columns that are processed together, "
        "from "
        "such reports of several orders\n"
        "  convergence      factor over the wave number, from transmission conditions\n"
        "  isolines         the factor over the coefficients, a panel for each kind, from "
        "transmission "
        "conditions with maps\n"
        "  sparsity         where a matrix has entries, from a file of the Matrix Market, or from "
        "a "
        "load or a potential on a box, whose elements' matrix it is\n"
        "  gravity-map      g_z on the top, from a gravity map\n"
        "  gravity-profile  its stations\n"
        "  prism-model      a layer and a section of a model of prisms\n"
        "  residuals        what is left of the values at its stations\n"
        "Colours are chosen to be told apart by the colour-blind; no light changes them. --script "
        "keeps the script.",
    .examples = "  penstock-plot trace computed.h5 exact.h5 --difference --output trace.png\n"
                "  penstock-plot surface mesh.hdf run.h5 --times 0.05 --output surface.png\n"
                "  penstock-plot surface sar.hdf --field SAR_10g --output sar.png\n"
                "  penstock-plot view mesh.hdf run.h5 --output run.html\n"
                "  penstock-plot sparsity load.hdf --rows 2000 --output pattern.png\n"
                "  penstock-plot workers run.workers.h5 --x-range 1,40 --output workers.png",
    .reads_only = true,
    .options = options,
    .operands_least = 1,
    .run = run_plot};
