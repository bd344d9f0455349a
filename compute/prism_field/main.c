/* penstock-prism-field: gravity, its gradients or magnetic induction of prisms at stations. */
#include <math.h>
#include <stdlib.h>

#include "compute/prism_field/figure_table.h"
#include "compute/prism_field/field.h"
#include "formats/prism_field.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/plan.h"

static struct {
    int field;
    double accuracy, gravity;
    int64_t order, order_most, height;
    const char *prism_data, *station_data, *table;
} chosen = {.accuracy = 1e-5,
            .order_most = 12,
            .gravity = 6.67430e-11,
            .prism_data = "prisms",
            .station_data = "stations"};

static const ps_option options[] = {
    PS_CHOICE("field", &chosen.field, "gravity|gradients|magnetic", PS_IDENTITY,
              "V and g; these and the six second derivatives; B of prisms with a magnetisation"),
    PS_REAL("accuracy", &chosen.accuracy, "ERROR", 1e-9, .1, PS_IDENTITY,
            "relative error that the result has at most, by samples against direct sums"),
    PS_INT("order", &chosen.order, "L", 0, 12, PS_IDENTITY,
           "points an axis of the far field instead; the error is told"),
    PS_INT("order-most", &chosen.order_most, "L", 3, 12, PS_IDENTITY,
           "highest order that --accuracy may take: operators of order 12 cost half a minute"),
    PS_INT("height", &chosen.height, "H", 0, 20, PS_IDENTITY,
           "of the trees; 1: direct sums; 0: of the least work"),
    PS_REAL("gravity", &chosen.gravity, "G", 1e-12, 1e-9, PS_IDENTITY,
            "Newton's constant, m3 kg-1 s-2"),
    PS_TEXT("prism-data", &chosen.prism_data, "NAME", PS_IDENTITY,
            "dataset of an HDF5 file, [N][7 or 9]"),
    PS_TEXT("station-data", &chosen.station_data, "NAME", PS_IDENTITY, "likewise, [M][3]"),
    PS_TEXT("table", &chosen.table, "FILE.csv", PS_WRITES, "write the result as a table, too"),
    PS_OPTION_END};

static const ps_allowance allowances[] = {
    {"overlapping", "prisms that share volume, where their densities are added"},
    {"stations-inside", "stations inside of prisms"},
    {"units", "coordinates that look like degrees"},
    {NULL, NULL}};

static ps_status read_inputs(field *f)
{
    const char *const *path = f->run->operands;
    bool magnetic = f->kind == PS_PRISM_MAGNETIC;
    const int width = magnetic ? 9 : 7;
    static const char *const heavy[] = {PS_COLUMNS_BRICK(PS_METRES, "bottom", "top"),
                                        PS_COLUMN_DENSITY};
    static const char *const magnets[] = {PS_COLUMNS_BRICK(PS_METRES, "bottom", "top"), "mx:A/m",
                                          "my:A/m", "mz:A/m"};
    static const char *const places[] = {PS_COLUMN_X, PS_COLUMN_Y, PS_COLUMN_UP};
    const ps_columns columns = {magnetic ? magnets : heavy, width}, own = {places, 3};
    const ps_prism_row_form prisms = {
        chosen.prism_data, width, width,
        magnetic ? "x0 x1 y0 y1 z0 z1 mx my mz" : "x0 x1 y0 y1 z0 z1 density", &columns};
    const ps_prism_row_form stations = {chosen.station_data, 3, 3, "x y z", &own};
    PS_TRY(ps_prism_rows_read(path[0], &prisms, &f->prisms));
    PS_TRY(ps_prism_rows_read(path[1], &stations, &f->stations));
    PS_TRY(prisms_check(path[0], &f->prisms));
    PS_TRY(units_check(f));
    f->bodies = (ps_prism_bodies){
        .kind = f->kind, .prisms = f->prisms.count, .stations = f->stations.count};
    for (int d = 0; d < 3; ++d) {
        f->bodies.low[d] = f->prisms.column[2 * d];
        f->bodies.high[d] = f->prisms.column[2 * d + 1];
        f->bodies.place[d] = f->stations.column[d];
    }
    return PS_OK;
}

/* Bytes, about: tables, sorted copies, keys, three pieces a prism, vectors of an eighth as many
 * cells. */
static int64_t memory_of(const field *f)
{
    double points = pow(f->order > 0 ? f->order : 7, 3);
    return (int64_t)((double)f->prisms.count * (8. * 26 + 3 * 40 + 2 * points)) +
           f->stations.count * (8 * (10 + 3 * PS_PRISM_NUMBERS));
}

static double mass_of(const ps_prism_rows *c)
{
    double mass = 0;
    for (int64_t i = 0; i < c->count; ++i)
        mass += (c->column[1][i] - c->column[0][i]) * (c->column[3][i] - c->column[2][i]) *
                (c->column[5][i] - c->column[4][i]) * c->column[6][i];
    return mass;
}

static ps_status plan(const field *f)
{
    double pairs = (double)f->stations.count * fmin((double)f->prisms.count, 2000);
    const ps_need need = {.arrays = memory_of(f) + (2 << 20), /* and a tree */
                          .disk = 8 * f->stations.count * (3 + ps_prism_kind_numbers(f->kind)),
                          .seconds = 1e-7 * pairs / (double)f->run->threads};
    PS_SCOPED(ps_report_print) ps_report *r = f->run->plan ? ps_report_new(f->run) : NULL;
    ps_report_int(r, "prisms", f->prisms.count);
    ps_report_int(r, "stations", f->stations.count);
    return ps_plan_take(f->run, &need, r);
}

static void report_reached(ps_report *r, const field *f)
{
    if (f->samples == 0) return;
    ps_report_int(r, "samples", f->samples);
    if (f->kind == PS_PRISM_MAGNETIC) {
        ps_report_real(r, "reached_induction", f->reached[0]);
    } else {
        ps_report_real(r, "reached_potential", f->reached[0]);
        ps_report_real(r, "reached_attraction", f->reached[1]);
        if (f->kind == PS_PRISM_TENSOR) ps_report_real(r, "reached_gradients", f->reached[2]);
    }
    ps_report_real(r, "reached_largest", f->largest);
}

static void report(const field *f)
{
    const ps_prism_sum_figures *n = &f->figures;
    ps_report *r = ps_report_new(f->run);
    ps_report_int(r, "prisms", f->prisms.count);
    ps_report_int(r, "stations", f->stations.count);
    ps_report_int(r, "stations_inside", f->inside);
    if (f->kind != PS_PRISM_GRAVITY) ps_report_int(r, "stations_on_edges", f->undefined);
    if (f->kind != PS_PRISM_MAGNETIC) ps_report_real(r, "mass", mass_of(&f->prisms));
    ps_report_int(r, "height", n->height);
    if (n->height > 2) {
        ps_report_int(r, "order", n->order);
        ps_report_int(r, "pieces", n->pieces);
    }
    ps_report_int(r, "near_pairs", n->near_pairs);
    report_reached(r, f);
    ps_report_run(r, ps_memory_peak());
    ps_report_section(r, "seconds");
    ps_report_real(r, "moments", n->moments);
    ps_report_real(r, "transfer", n->transfer);
    ps_report_real(r, "near", n->near);
    ps_report_print(&r);
}

static void release(field *f)
{
    ps_prism_sum_close(&f->sum);
    ps_device_close(&f->device);
    ps_prism_rows_release(&f->prisms);
    ps_prism_rows_release(&f->stations);
    for (int k = 0; k < PS_PRISM_NUMBERS; ++k) free(f->result[k]);
}

static ps_status run_field(ps_run *run)
{
    PS_SCOPED(release)
    field f = {.run = run,
               .kind = (ps_prism_kind)chosen.field,
               .gravity = chosen.gravity,
               .accuracy = chosen.order > 0 ? 0 : chosen.accuracy,
               .epsilon = pow(10, -(double)chosen.order),
               .order = (int)chosen.order,
               .order_most = (int)chosen.order_most,
               .height = (int)chosen.height};
    ps_product product;
    ps_product_init(run, PS_PRISM_FIELD_FORMAT, PS_PRISM_FIELD_VERSION, &product);
    product.open_ended = chosen.table != NULL;
    PS_TRY(ps_product_file(&product, "prisms", run->operands[0]));
    PS_TRY(ps_product_file(&product, "stations", run->operands[1]));
    if (ps_product_is_up_to_date(&product)) return PS_OK;
    PS_TRY(read_inputs(&f));
    PS_TRY(ps_path_end_watch());
    PS_TRY(plan(&f));
    if (run->plan) return PS_OK;
    PS_TRY(ps_device_open(run->device, 0, &f.device));
    PS_TRY(field_compute(&f));
    PS_TRY(field_save(&f, &product));
    if (chosen.table) PS_TRY(field_table(&f, chosen.table));
    report(&f);
    return PS_OK;
}

const ps_program ps_this_program = {
    .name = "prism-field",
    .results = 3,
    .synopsis = "PRISMS STATIONS OUTPUT",
    .description =
        "Gravity (V in m2/s2, g = grad V in mGal, second derivatives in Eotvos) or magnetic\n"
        "induction (nT) of rectangular prisms at stations anywhere, on the ground and inside, "
        "too:\n"
        "closed forms near, the fast multipole method far. PRISMS has a line x0 x1 y0 y1 z0 "
        "z1\n"
        "density for each (m, kg/m3), or x0 .. z1 mx my mz (A/m); STATIONS x y z. Text, plain "
        "or by\n"
        "gzip, or HDF5. Components are along the files' axes: where z points up, g_z is "
        "negative\n"
        "above mass. The result is written only if it is as accurate as asked.",
    .examples = "  penstock-prism-field terrain.txt stations.txt field.h5 --table field.csv\n"
                "  penstock-prism-field model.h5 flight.txt tensor.h5 --field gradients "
                "--accuracy 1e-4\n"
                "  penstock-prism-field dykes.txt flight.txt magnetic.h5 --field magnetic",
    .options = options,
    .figures = figure_table,
    .allowances = allowances,
    .run = run_field};
