/* penstock-gravity-invert: densities or magnetisations of cells from gravity or magnetic anomalies.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compute/gravity_invert/figure_table.h"
#include "compute/gravity_invert/invert.h"
#include "formats/ubc.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/scope.h"

static struct {
    invert_options all;
    int field;
    int64_t order, height;
    const char *bounds, *lengths, *table, *ubc;
} chosen = {.all = {.target = 1,
                    .depth_power = -1,
                    .depth_offset = -1,
                    .inclination = NAN,
                    .declination = NAN,
                    .gravity = 6.67430e-11,
                    .accuracy = 1e-4,
                    .scale = 1000,
                    .limit = 2000,
                    .station_data = "stations",
                    .checkpoint_every = {.seconds = 60}}};

static const ps_option options[] = {
    PS_CHOICE(
        "field", &chosen.field, "gravity|magnetic|vector", PS_IDENTITY,
        "densities from gravity; magnetisations along the earth's field, or vectors, from the "
        "total field's anomaly"),
    PS_CHOICE(
        "component", &chosen.all.component, "g_z|g_x|g_y|xx|yy|zz|xy|xz|yz", PS_IDENTITY,
        "what was measured of gravity: g_z positive downwards, mGal; the others along x east, "
        "y north, z up, gradients in Eotvos"),
    PS_REAL("error", &chosen.all.error, "E", 0, 1e9, PS_IDENTITY,
            "of all values, where STATIONS has none; their unit"),
    PS_REAL("target", &chosen.all.target, "CHI2", 1e-6, 1e6, PS_IDENTITY,
            "chi2 a station that the model is to reach, to 1 %"),
    PS_REAL("regularisation", &chosen.all.regularisation, "BETA", 0, 1e300, PS_IDENTITY,
            "this one instead; 0: by --target"),
    PS_TEXT("bounds", &chosen.bounds, "LOW,HIGH", PS_IDENTITY,
            "of the values, kg/m3 or A/m; inf is none"),
    PS_TEXT("lengths", &chosen.lengths, "X,Y,Z", PS_IDENTITY,
            "over which values are alike, m; 0: two of the least widths"),
    PS_REAL("depth-power", &chosen.all.depth_power, "P", -1, 10, PS_IDENTITY,
            "of the depth weights; -1: 2 for g, 3 for gradients and magnetics; 0: none"),
    PS_REAL("depth-offset", &chosen.all.depth_offset, "Z0", -1, 1e6, PS_IDENTITY,
            "of the depth weights, m; -1: by the stations' heights"),
    PS_TEXT("active", &chosen.all.active, "FILE", PS_IDENTITY,
            "UBC-GIF model whose air (NaN or a usual flag) are the cells left out"),
    PS_TEXT("reference", &chosen.all.reference, "FILE", PS_IDENTITY,
            "UBC-GIF model that the result departs from as little as it can; 0 otherwise"),
    PS_REAL("scale", &chosen.all.scale, "FACTOR", 1e-30, 1e30, PS_IDENTITY,
            "of the values of --active and --reference to kg/m3 or A/m"),
    PS_REAL("inclination", &chosen.all.inclination, "DEGREES", -90, 90, PS_IDENTITY,
            "of the earth's field, positive downwards"),
    PS_REAL("declination", &chosen.all.declination, "DEGREES", -360, 360, PS_IDENTITY,
            "of the earth's field, east of north"),
    PS_REAL("accuracy", &chosen.all.accuracy, "ERROR", 1e-9, .1, PS_IDENTITY,
            "of the sums over prisms; at the end they are held against the errors"),
    PS_INT("order", &chosen.order, "L", 0, 12, PS_IDENTITY,
           "points an axis of the far field instead"),
    PS_INT("height", &chosen.height, "H", 0, 20, PS_IDENTITY,
           "of the trees; 1: direct sums; 0: of the least work"),
    PS_INT("limit", &chosen.all.limit, "N", 1, 1000000, 0, "products for one beta at most"),
    PS_REAL("gravity", &chosen.all.gravity, "G", 1e-12, 1e-9, PS_IDENTITY,
            "Newton's constant, m3 kg-1 s-2"),
    PS_TEXT("station-data", &chosen.all.station_data, "NAME", PS_IDENTITY,
            "dataset of an HDF5 file, [M][4 or 5]"),
    PS_TEXT("table", &chosen.table, "FILE.csv", PS_WRITES,
            "write stations and residuals as a table, too"),
    PS_TEXT("ubc", &chosen.ubc, "FILE", PS_WRITES,
            "write the model as a UBC-GIF file, too; air is nan"),
    PS_INTERVAL("checkpoint-every", &chosen.all.checkpoint_every, PS_EVERY, 0,
                "between checkpoints: 60s, 5min or 100steps (products); 0: only when stopped"),
    PS_OPTION_END};

static const ps_allowance allowances[] = {{"stations-inside", "stations inside of cells"},
                                          {"stations-outside", "stations beside the mesh"},
                                          {"units", "values that are too large for anomalies"},
                                          {"density", "densities beyond 25,000 kg/m3"},
                                          {NULL, NULL}};

/* A number, or infinity. */
static ps_status parse_bound(const char *text, double *out)
{
    bool below = text[0] == '-';
    if (strcmp(text + below, "inf") != 0) return ps_parse_real(text, out);
    *out = below ? -INFINITY : INFINITY;
    return PS_OK;
}

static ps_status parse_bounds(double out[2])
{
    char low[64];
    out[0] = -INFINITY, out[1] = INFINITY;
    if (!chosen.bounds) return PS_OK;
    size_t length = strcspn(chosen.bounds, ",");
    bool two = chosen.bounds[length] == ',' && length < sizeof low;
    if (two) {
        snprintf(low, sizeof low, "%.*s", (int)length, chosen.bounds);
        two = parse_bound(low, &out[0]) == PS_OK &&
              parse_bound(chosen.bounds + length + 1, &out[1]) == PS_OK;
    }
    if (two && out[0] < out[1] && (chosen.all.reference || (out[0] <= 0 && out[1] >= 0)))
        return PS_OK;
    return ps_fail(PS_USAGE,
                   "--bounds: \"%s\" is not LOW,HIGH with LOW < HIGH and the reference (0) between",
                   chosen.bounds);
}

enum { LENGTH_MOST = 1000000000 }; /* m */

static ps_status parse_lengths(double out[3])
{
    out[0] = out[1] = out[2] = 0;
    if (!chosen.lengths) return PS_OK;
    int count;
    PS_TRY_IN(ps_parse_reals(chosen.lengths, ',', out, 3, &count), "--lengths");
    for (int a = 0; a < 3; ++a)
        if (count != 3 || !(out[a] >= 0 && out[a] <= LENGTH_MOST))
            return ps_fail(PS_USAGE, "--lengths: \"%s\" is not X,Y,Z in m", chosen.lengths);
    return PS_OK;
}

static ps_status gather(inversion *v)
{
    v->options = chosen.all;
    v->options.field = (invert_field)chosen.field;
    v->options.order = (int)chosen.order;
    v->options.height = (int)chosen.height;
    PS_TRY(parse_bounds(v->options.bounds));
    PS_TRY(parse_lengths(v->options.lengths));
    if (v->options.depth_offset == 0)
        return ps_fail(PS_USAGE, "--depth-offset 0: cells at the top would weigh infinitely; -1 "
                                 "takes the stations' heights");
    if (chosen.ubc && v->options.field == FIELD_VECTOR)
        return ps_fail(PS_USAGE, "--ubc: a UBC-GIF model has one value a cell, not vectors");
    if (v->options.field == FIELD_GRAVITY) {
        if (isnan(v->options.inclination) && isnan(v->options.declination)) return PS_OK;
        return ps_fail(PS_USAGE, "--inclination and --declination are of magnetics: --field "
                                 "magnetic, or vector");
    }
    if (v->options.component != 0)
        return ps_fail(PS_USAGE, "--component is of gravity; magnetics are of the total field");
    if (isnan(v->options.inclination) || isnan(v->options.declination))
        return ps_fail(PS_USAGE, "--inclination and --declination of the earth's field are needed");
    return PS_OK;
}

/* ---- memory ---- */

/* What is taken after the inputs, as specs/prism_sum.md counts the sums. */
static void fill_ledger(const inversion *v, ps_ledger *ledger)
{
    double points = pow(v->options.order > 0 ? v->options.order : 7, 3);
    ps_ledger_open(ledger, v->run);
    ps_ledger_add(ledger, PS_ROOM_HOST, "sums over prisms",
                  (int64_t)((double)v->mesh.cells * (8. * 16 + 2 * points)) +
                      v->stations.count * (8 * (10 + 4 * PS_PRISM_NUMBERS)));
    search_count(v, ledger);
    ps_ledger_add(ledger, PS_ROOM_HOST, "model", 8 * v->length * (3 + (chosen.bounds ? 2 : 0)));
    ps_ledger_add(
        ledger, PS_ROOM_DISK, "output",
        8 * (v->mesh.cells * (v->options.field == FIELD_GRAVITY ? 8 : 10) + v->stations.count * 6));
}

static void report_plan(const inversion *v, const ps_ledger *ledger)
{
    ps_report *r = ps_report_new(v->run);
    ps_report_int(r, "stations", v->stations.count);
    ps_report_int(r, "cells", v->mesh.cells);
    ps_report_int(r, "unknowns", v->length);
    ps_report_text(r, "time_needs", "how many products the values take to be explained");
    ps_ledger_report(ledger, v->run, r);
    ps_report_print(&r);
}

/* ---- results ---- */

static void report_fit(ps_report *r, const inversion *v)
{
    double *const *s = v->stations.column, squares = 0, largest = 0;
    for (int64_t i = 0; i < v->stations.count; ++i) {
        double off = s[3][i] - v->computed[i];
        squares += off * off;
        largest = fmax(largest, fabs(off) / s[4][i]);
    }
    ps_report_real(r, "chi2", v->chi2);
    ps_report_real(r, "chi2_target", v->options.target * (double)v->stations.count);
    ps_report_real(r, "residual_rms", sqrt(squares / (double)v->stations.count));
    ps_report_real(r, "residual_largest", largest);
}

static void report_model(ps_report *r, const inversion *v)
{
    double least = INFINITY, most = -INFINITY, mass = 0;
    int64_t held = 0;
    const invert_mesh *m = &v->mesh;
    for (int64_t i = 0; i < v->length; ++i) {
        const int64_t n = i % m->cells;
        least = fmin(least, v->model[i]);
        most = fmax(most, v->model[i]);
        held += v->model[i] == v->options.bounds[0] || v->model[i] == v->options.bounds[1];
        mass += v->model[i] * (m->high[0][n] - m->low[0][n]) * (m->high[1][n] - m->low[1][n]) *
                (m->high[2][n] - m->low[2][n]);
    }
    ps_report_real(r, "least_value", least);
    ps_report_real(r, "largest_value", most);
    if (chosen.bounds) ps_report_int(r, "at_bounds", held);
    if (v->options.field == FIELD_GRAVITY) ps_report_real(r, "mass", mass);
}

static void report(const inversion *v)
{
    ps_report *r = ps_report_new(v->run);
    ps_report_int(r, "stations", v->stations.count);
    ps_report_int(r, "stations_inside", v->inside);
    ps_report_int(r, "cells", v->mesh.cells);
    ps_report_real(r, "depth_offset", v->options.depth_offset);
    ps_report_int(r, "height", v->figures.height);
    if (v->figures.height > 2) ps_report_int(r, "order", v->figures.order);
    ps_report_int(r, "near_pairs", v->figures.near_pairs);
    report_fit(r, v);
    ps_report_real(r, "regularisation", v->beta);
    ps_report_int(r, "trials", v->trials);
    ps_report_int(r, "products", v->products);
    report_model(r, v);
    ps_report_real(r, "operator_error", v->operator_error);
    ps_report_int(r, "samples", v->samples);
    ps_report_run(r, ps_memory_peak());
    ps_report_print(&r);
}

/* ---- all ---- */

/* The sums of the result, held against direct ones. */
static ps_status evaluate(inversion *v)
{
    double *const *s = v->stations.column;
    PS_TRY(operator_of_model(v, v->model, v->computed));
    v->chi2 = 0;
    for (int64_t i = 0; i < v->stations.count; ++i) {
        double off = (s[3][i] - v->computed[i]) / s[4][i];
        v->chi2 += off * off;
    }
    if (!isfinite(v->chi2)) return ps_fail(PS_FAILED, "the field of the result is not finite");
    double target = v->options.target * (double)v->stations.count;
    if (v->options.regularisation > 0 && v->chi2 > 1.01 * target)
        ps_warning("--regularisation %g leaves chi2 at %.4g, %.4g is --target: the model does not "
                   "explain the values within their errors",
                   v->options.regularisation, v->chi2, target);
    return operator_check(v, v->model, v->computed);
}

/* Values that cells can only have at densities of no ground are noise, or not of these cells. */
static ps_status check_densities(const inversion *v)
{
    double most = 0;
    if (v->options.field != FIELD_GRAVITY) return PS_OK;
    for (int64_t i = 0; i < v->length; ++i)
        most = fabs(v->model[i]) > fabs(most) ? v->model[i] : most;
    if (!(fabs(most) > PS_DENSITY_MOST)) return PS_OK;
    return ps_refuse(
        v->run, "density",
        "the values are fitted with densities of up to %.4g kg/m3, and nothing has more "
        "than %g: errors too small for their noise, another unit, or masses beside the "
        "mesh; --bounds keeps to what is possible",
        most, PS_DENSITY_MOST);
}

static ps_status compute(inversion *v, const ps_product *product)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL; /* begun, as it keeps others out of the run */
    PS_TRY(ps_product_create(product, 0, &store));
    PS_TRY(operator_open(v));
    PS_TRY(search_run(v, product));
    PS_TRY(evaluate(v));
    PS_TRY(check_densities(v));
    if (chosen.table) PS_TRY(invert_table(v, chosen.table));
    if (chosen.ubc) PS_TRY(invert_ubc(v, chosen.ubc));
    PS_TRY(invert_save(v, &store));
    report(v);
    return search_tidy(v, product);
}

static void release(inversion *v)
{
    operator_close(v);
    smooth_release(&v->smooth);
    invert_mesh_release(&v->mesh);
    ps_prism_rows_release(&v->stations);
    PS_FREE(v->reference, v->low, v->high);
}

static ps_status name_inputs(ps_product *product, const ps_run *run)
{
    PS_TRY(ps_product_file(product, "stations", run->operands[0]));
    PS_TRY(ps_product_file(product, "mesh", run->operands[1]));
    if (chosen.all.active) PS_TRY(ps_product_file(product, "active_file", chosen.all.active));
    if (chosen.all.reference)
        PS_TRY(ps_product_file(product, "reference_file", chosen.all.reference));
    return PS_OK;
}

static ps_status run_invert(ps_run *run)
{
    PS_SCOPED(release) inversion v = {.run = run};
    ps_product product;
    ps_ledger ledger;
    ps_product_init(run, PS_PRISM_MODEL_FORMAT, PS_PRISM_MODEL_VERSION, &product);
    product.open_ended = chosen.table || chosen.ubc;
    PS_TRY(gather(&v));
    PS_TRY(name_inputs(&product, run));
    if (ps_product_is_up_to_date(&product)) return search_tidy(&v, &product);
    PS_TRY(invert_read(&v));
    PS_TRY(ps_path_end_watch());
    PS_TRY(smooth_make(&v));
    fill_ledger(&v, &ledger);
    if (run->plan) report_plan(&v, &ledger);
    PS_TRY(ps_ledger_check(&ledger, run->host_memory, "a coarser mesh"));
    if (run->plan) return PS_OK;
    return compute(&v, &product);
}

const ps_program ps_this_program = {
    .name = "gravity-invert",
    .results = 2,
    .saves = true,
    .synopsis = "STATIONS MESH OUTPUT",
    .description =
        "Densities (kg/m3) or magnetisations (A/m) of the cells of a UBC-GIF mesh from gravity "
        "or\n"
        "magnetic anomalies at stations: the smallest and smoothest model, weighted by depth, "
        "that\n"
        "fits the values within their errors (chi2 a station = 1), between bounds if asked. "
        "Sums over\n"
        "prisms and their transpose are by the fast multipole method; no matrix is stored. "
        "STATIONS has\n"
        "a line x y z value error for each: m, z upwards; mGal positive downwards, Eotvos or "
        "nT. The\n"
        "file has the model as prisms, which penstock-prism-field takes, stations and "
        "residuals;\n"
        "penstock-plot prism-model and residuals draw it.",
    .examples =
        "  penstock-gravity-invert stations.grv mesh.msh model.h5 --active topography.mod\n"
        "  penstock-gravity-invert stations.txt mesh.msh model.h5 --error .05 --bounds 0,400\n"
        "  penstock-gravity-invert flight.txt mesh.msh model.h5 --field magnetic --inclination "
        "61 --declination -2",
    .options = options,
    .figures = figure_table,
    .allowances = allowances,
    .run = run_invert};
