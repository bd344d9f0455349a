/* penstock-transmission-optimize: transmission conditions of optimised Schwarz methods. */
#include <stdio.h>
#include <string.h>

#include "preprocess/transmission_optimize/figure_table.h"
#include "preprocess/transmission_optimize/optimize.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/plan.h"
#include "stage/product.h"

static struct {
    optimize_problem own;
    const char *nodes, *length, *range, *map_p, *map_q;
    double hx;
    int kind, symbol, method, mass;
} chosen = {.own = {.samples = 500, .seed = 1, .length_unit = "km"}};

static const ps_option options[] = {
    PS_TEXT("nodes", &chosen.nodes, "NX,NY,NZ", PS_IDENTITY,
            "nodes of the grid whose slabs (cut along x) are to be joined"),
    PS_TEXT("length", &chosen.length, "LX,LY,LZ", PS_IDENTITY, "its lengths; default 250,250,15"),
    PS_TEXT("range", &chosen.range, "KMIN,KMAX", PS_IDENTITY,
            "wave numbers, instead of those that belong to the grid"),
    PS_REAL("hx", &chosen.hx, "LENGTH", 0, 1e30, PS_IDENTITY,
            "with --range: element length across the face, for the discrete symbol"),
    PS_TEXT("length-unit", &chosen.own.length_unit, "UNIT", PS_IDENTITY,
            "of all lengths; recorded"),
    PS_CHOICE("kind", &chosen.kind, "all|oo0|oo0-two-sided|oo2|oo2-two-sided", PS_IDENTITY,
              "zeroth or second order; p and q of both sides equal or not"),
    PS_CHOICE("symbol", &chosen.symbol, "auto|discrete|continuous", PS_IDENTITY,
              "what trilinear elements see, or lambda = k; auto: discrete where hx is known"),
    PS_CHOICE("mass", &chosen.mass, "galerkin|fourth-order", PS_IDENTITY,
              "with --nodes: masses of the elements, as penstock-gravity-assemble --mass has them"),
    PS_CHOICE("method", &chosen.method, "search|closed", PS_IDENTITY,
              "CMA-ES, or the closed forms of the continuous symbol without overlap"),
    PS_REAL("overlap", &chosen.own.overlap, "LENGTH", 0, 1e30, PS_IDENTITY,
            "L in e^(-2 k L); 0: none"),
    PS_INT("samples", &chosen.own.samples, "N", 2, 1 << 20, PS_IDENTITY,
           "wave numbers, log-spaced"),
    PS_INT("seed", &chosen.own.seed, "S", 0, 1e18, PS_IDENTITY, "of the search"),
    PS_INT("map", &chosen.own.map, "N", 0, 2000, PS_IDENTITY,
           "N x N values of the factor for each kind, for isolines: over (p, k), (p1, p2), (p, q) "
           "and (p1, q1); 0: none"),
    PS_TEXT("map-p", &chosen.map_p, "FROM,TO", PS_IDENTITY,
            "ends of the maps in p; default: optimum / 10 .. x 10 (p1, p2: / 4 .. x 4)"),
    PS_TEXT("map-q", &chosen.map_q, "FROM,TO", PS_IDENTITY, "ends in q; optimum / 10 .. x 10"),
    PS_OPTION_END};

/* `count` numbers above `least` from an option's text. */
static ps_status numbers(const char *option, const char *text, double least, int count, double *out)
{
    int got = 0;
    PS_TRY_IN(ps_parse_reals(text, ',', out, count, &got), "--%s", option);
    for (int i = 0; i < got; ++i)
        if (!(out[i] > least)) got = -1;
    if (got == count) return PS_OK;
    return ps_fail(PS_USAGE, "--%s: \"%s\" is not %d numbers above %g", option, text, count, least);
}

static ps_status ascending(const char *option, const char *text, double out[2])
{
    if (!text) return PS_OK;
    PS_TRY(numbers(option, text, 0, 2, out));
    if (out[0] < out[1]) return PS_OK;
    return ps_fail(PS_USAGE, "--%s: \"%s\" is not FROM,TO with FROM < TO", option, text);
}

static ps_status gather_grid(optimize_problem *o)
{
    double nodes[3], length[3] = {250, 250, 15};
    int64_t count[3];
    if (chosen.hx > 0) return ps_fail(PS_USAGE, "--hx belongs to --range; --nodes has its own");
    PS_TRY(numbers("nodes", chosen.nodes, 1, 3, nodes));
    if (chosen.length) PS_TRY(numbers("length", chosen.length, 0, 3, length));
    for (int a = 0; a < 3; ++a) {
        count[a] = (int64_t)nodes[a];
        if ((double)count[a] != nodes[a])
            return ps_fail(PS_USAGE, "--nodes: \"%s\" are not whole numbers", chosen.nodes);
    }
    ps_status status = ps_q1_grid_make(count, length, &o->grid);
    o->grid.lumped = chosen.mass == 1 ? PS_LUMPED_FOURTH : 0;
    return status == PS_OK ? PS_OK : ps_context(status, "--nodes, --length");
}

static ps_status gather(optimize_problem *o)
{
    double range[2] = {0, 0};
    *o = chosen.own;
    o->closed = chosen.method == 1;
    o->kind = chosen.kind ? chosen.kind - 1 : PS_TRANSMISSION_KINDS;
    if (!chosen.nodes == !chosen.range)
        return ps_fail(PS_USAGE, "give the grid, --nodes NX,NY,NZ --length LX,LY,LZ, or the wave "
                                 "numbers, --range KMIN,KMAX");
    if (chosen.nodes)
        PS_TRY(gather_grid(o));
    else
        o->grid.spacing[0] = chosen.hx;
    PS_TRY(ascending("range", chosen.range, range));
    PS_TRY(ascending("map-p", chosen.map_p, o->map_p));
    PS_TRY(ascending("map-q", chosen.map_q, o->map_q));
    o->k_min = range[0];
    o->k_max = range[1];
    o->discrete = chosen.symbol == 0 ? o->grid.spacing[0] > 0 && !o->closed : chosen.symbol == 1;
    if (o->discrete && !(o->grid.spacing[0] > 0))
        return ps_fail(PS_USAGE, "--symbol discrete with --range needs --hx");
    if (o->closed && (o->discrete || o->overlap > 0))
        return ps_fail(PS_USAGE, "--method closed: the closed forms are those of the continuous "
                                 "symbol without overlap");
    if (o->map == 1) return ps_fail(PS_USAGE, "--map: at least 2 values an axis");
    if (strlen(o->length_unit) > 7)
        return ps_fail(PS_USAGE, "--length-unit: \"%s\" is longer than 7 letters", o->length_unit);
    return PS_OK;
}

static void report(const ps_transmission_file *f, const ps_run *run)
{
    ps_report *r = ps_report_new(run);
    char unit[32];
    snprintf(unit, sizeof unit, "1/%s", f->length_unit);
    ps_report_text(r, "symbol", f->discrete ? "discrete" : "continuous");
    ps_report_quantity(r, "k_min", f->k_min, unit);
    ps_report_quantity(r, "k_max", f->k_max, unit);
    for (int i = 0; i < f->conditions; ++i) {
        ps_report_section(r, f->kinds[i]);
        ps_report_quantity(r, "p1", f->coefficients[i][0], unit);
        ps_report_quantity(r, "q1", f->coefficients[i][1], f->length_unit);
        ps_report_quantity(r, "p2", f->coefficients[i][2], unit);
        ps_report_quantity(r, "q2", f->coefficients[i][3], f->length_unit);
        ps_report_real(r, "factor", f->factor[i]);
        ps_report_int(r, "evaluations", f->evaluations[i]);
    }
    ps_report_run(r, ps_memory_peak());
    ps_report_print(&r);
}

static ps_status run_optimize(ps_run *run)
{
    PS_SCOPED(ps_transmission_file_release) ps_transmission_file file = {.conditions = 0};
    optimize_problem problem;
    ps_product product;
    ps_product_init(run, PS_TRANSMISSION_FORMAT, PS_TRANSMISSION_VERSION, &product);
    PS_TRY(gather(&problem));
    if (ps_product_is_up_to_date(&product)) return PS_OK;
    const ps_need need = {
        .arrays = 1 << 20, .disk = 1 << 20, .needs = "how many evaluations each search will take"};
    PS_TRY(ps_plan_tell(run, &need));
    if (run->plan) return PS_OK;
    PS_TRY(optimize(&problem, &file));
    PS_TRY(ps_transmission_save(product.path, &file, &product.identity));
    report(&file, run);
    return PS_OK;
}

const ps_program ps_this_program = {
    .name = "transmission-optimize",
    .synopsis = "OUTPUT",
    .description =
        "Finds the coefficients p and q of the transmission conditions of an optimised Schwarz "
        "method without overlap, for slabs of a structured grid of trilinear elements or for a "
        "range of wave numbers: the least largest factor (Magoules, Cheik Ahamed, Putanowicz 2015, "
        "eqs 4 and 5) by CMA-ES, of the continuous symbol or of what the elements see. Draw the "
        "result with penstock-plot convergence and isolines.",
    .examples =
        "  penstock-transmission-optimize conditions.h5 --nodes 264,264,286 --length "
        "250,250,15\n"
        "  penstock-transmission-optimize table11.h5 --range 0.017386,4.415 --overlap 0.02462\n"
        "  penstock-transmission-optimize c.h5 --range 0.0175,3.1416 --map 120",
    .options = options,
    .figures = figure_table,
    .run = run_optimize};
