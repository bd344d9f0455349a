/* penstock-gravity-anomaly: g_z on the top and at stations, of a model and of its potential. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "postprocess/gravity_anomaly/figure_table.h"
#include "postprocess/gravity_anomaly/anomaly.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/plan.h"
#include "stage/product.h"

static struct {
    const char *stations, *model, *profile, *table;
    bool elevations;
    double gravity;
} chosen = {.elevations = true};

static const ps_option options[] = {
    PS_TEXT("stations", &chosen.stations, "FILE", PS_IDENTITY,
            "lines of x y elevation [observed in mGal [error]], m; a first line with their number "
            "alone is passed over"),
    PS_FLAG("elevations", &chosen.elevations, PS_IDENTITY,
            "the third number is an elevation, -z; --no-elevations: it is z (down)"),
    PS_TEXT("profile", &chosen.profile, "X0,Y0,X1,Y1,Z,N", PS_IDENTITY,
            "or N stations on a line at depth Z, m"),
    PS_TEXT("model", &chosen.model, "FILE", PS_IDENTITY,
            "density model that the potential belongs to, recognised by its contents; default: the "
            "file of the name that the potential records, beside it"),
    PS_REAL("gravity", &chosen.gravity, "G", 1e-12, 1e-9, PS_IDENTITY,
            "must be the constant that the load was made with, which goes with the files; default: "
            "that one"),
    PS_TEXT("table", &chosen.table, "FILE.csv", PS_WRITES, "write the stations as a table, too"),
    PS_OPTION_END};

static const ps_allowance allowances[] = {
    {"elements-only", "no model: the elements' values alone, off by an amount that nobody knows"},
    {"stations-outside", "stations outside of the box, by the sums over the model's cells"},
    {"station-units", "stations whose coordinates look like degrees or km"},
    {"unconverged", "the potential of a solve that did not converge"},
    {NULL, NULL}};

static void station_list_release(station_list *list) { free(list->rows); }

static ps_status gather_stations(station_list *out)
{
    if (chosen.stations && chosen.profile)
        return ps_fail(PS_USAGE, "--stations and --profile: give one of them");
    if (chosen.table && !chosen.stations && !chosen.profile)
        return ps_fail(PS_USAGE, "--table is of stations: give --stations or --profile");
    if (chosen.stations) return stations_read(chosen.stations, chosen.elevations, out);
    return chosen.profile ? stations_on_line(chosen.profile, out) : PS_OK;
}

static ps_status make_map(anomaly *a, const station_list *stations)
{
    const ps_box_field_header *h = &a->potential.header;
    const int64_t nodes[2] = {h->nodes[0], h->nodes[1]};
    bool exact = a->model.store != NULL;
    PS_TRY(ps_gravity_map_init(&a->map, nodes, stations->count, exact, stations->observed));
    memcpy(a->map.origin, h->origin, sizeof h->origin);
    memcpy(a->map.spacing, h->spacing, sizeof h->spacing);
    for (int64_t i = 0; i < stations->count; ++i) {
        memcpy(a->map.place + 3 * i, stations->rows + 4 * i, 3 * sizeof(double));
        if (a->map.observed) a->map.observed[i] = stations->rows[4 * i + 3];
    }
    return PS_OK;
}

/* Of the potential's planes, maps, stations and sums. */
static int64_t memory_of(const anomaly *a, const station_list *stations)
{
    const ps_box_field_header *h = &a->potential.header;
    int64_t top = h->nodes[0] * h->nodes[1], planes = 8 * h->nodes[1] * h->nodes[2];
    return 8 * (2 * top + planes + a->model.plane + 10 * stations->count) + exact_memory(a);
}

static ps_status open_inputs(anomaly *a, ps_product *product)
{
    PS_SCOPED(station_list_release) station_list stations = {0};
    const char *path = a->run->operands[0];
    PS_TRY(ps_box_field_open(path, "potential", &a->potential));
    const ps_box_field_header *h = &a->potential.header;
    for (int k = 1; k < 3; ++k)
        if (h->nodes[k] < 3)
            return ps_fail(PS_INVALID, "%s: %lld nodes along %c; 3 are needed", path,
                           (long long)h->nodes[k], "xyz"[k]);
    if (h->cells) return ps_fail(PS_INVALID, "%s: potentials of nodes are expected", path);
    PS_TRY(bind_model(a, chosen.model, chosen.gravity));
    if (chosen.stations) PS_TRY(ps_product_file(product, "stations_file", chosen.stations));
    PS_TRY(gather_stations(&stations));
    PS_TRY(stations_check(a, &stations));
    a->memory = memory_of(a, &stations);
    if (a->memory > a->run->host_memory)
        return ps_fail(PS_EXHAUSTED, "this takes at least %lld MiB, --host-memory allows %lld MiB",
                       (long long)(a->memory >> 20), (long long)(a->run->host_memory >> 20));
    PS_TRY(make_map(a, &stations));
    PS_TRY(ps_product_input(product, "potential", a->potential.store));
    return a->model.store ? ps_product_input(product, "model", a->model.store) : PS_OK;
}

/* Numbers that stopped being finite are no result. */
static ps_status check_result(const anomaly *a)
{
    const ps_gravity_map *m = &a->map;
    const double *const maps[2] = {m->map_elements, m->map};
    for (int which = 0; which < 2; ++which)
        for (int64_t i = 0; maps[which] && i < m->nodes[0] * m->nodes[1]; ++i)
            if (!isfinite(maps[which][i]))
                return ps_fail(PS_FAILED, "g_z at node (%lld, %lld) of the top is %g",
                               (long long)(i / m->nodes[1]), (long long)(i % m->nodes[1]),
                               maps[which][i]);
    for (int64_t i = 0; m->exact && i < m->stations; ++i)
        if (!isfinite(m->exact[i]))
            return ps_fail(PS_FAILED, "g_z at station %lld is %g", (long long)i + 1, m->exact[i]);
    return PS_OK;
}

static ps_status save(const anomaly *a, const ps_product *product)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_TRY(ps_product_create(product, 0, &store));
    PS_TRY(ps_store_put_real(store, "/", "gravity", a->gravity));
    PS_TRY(ps_gravity_map_put(store, &a->map));
    return ps_store_commit(&store);
}

static ps_status plan(const anomaly *a)
{
    PS_SCOPED(ps_report_print) ps_report *r = a->run->plan ? ps_report_new(a->run) : NULL;
    ps_report_int(r, "stations", a->map.stations);
    if (a->model.store)
        ps_report_real(r, "station_cell_pairs",
                       (double)a->map.stations * (double)(a->model.shape[0] * a->model.plane));
    double cells = a->model.store ? (double)(a->model.shape[0] * a->model.plane) : 0;
    const ps_need need = {.arrays = a->memory + (1 << 20),
                          .more = 8 * (int64_t)cells, /* all layers at once */
                          .disk = 8 * (2 * a->map.nodes[0] * a->map.nodes[1] + 6 * a->map.stations),
                          .seconds = 1e-7 * cells + 3e-8 * cells * (double)a->map.stations /
                                                        (double)a->run->threads};
    return ps_plan_take(a->run, &need, r);
}

static void release(anomaly *a)
{
    ps_box_field_close(&a->potential);
    ps_box_field_close(&a->model);
    ps_gravity_map_release(&a->map);
}

static ps_status run_anomaly(ps_run *run)
{
    PS_SCOPED(release) anomaly a = {.run = run};
    ps_product product;
    ps_product_init(run, PS_GRAVITY_MAP_FORMAT, PS_GRAVITY_MAP_VERSION, &product);
    product.open_ended = chosen.table != NULL;
    PS_TRY(open_inputs(&a, &product));
    if (ps_product_is_up_to_date(&product)) return PS_OK;
    PS_TRY(plan(&a));
    if (run->plan) return PS_OK;
    PS_TRY(elements_values(&a));
    PS_TRY(exact_map(&a));
    PS_TRY(exact_stations(&a));
    PS_TRY(check_result(&a));
    warn_of_doubts(&a);
    PS_TRY(save(&a, &product));
    if (chosen.table) PS_TRY(write_table(chosen.table, &a.map));
    report_figures(&a);
    return PS_OK;
}

const ps_program ps_this_program = {
    .name = "gravity-anomaly",
    .results = 4,
    .synopsis = "POTENTIAL OUTPUT",
    .description =
        "Vertical attraction g_z in mGal, positive above excess mass, on the top of the box and at "
        "stations or along a profile: exact sums over the cells of the density model that the "
        "potential belongs to and, beside them, what the elements of the potential give. Says how "
        "far the elements are off, and the residuals of observations.",
    .examples = "  penstock-gravity-anomaly potential.hdf map.h5\n"
                "  penstock-gravity-anomaly potential.hdf map.h5 --stations field.grv --model "
                "model.hdf\n"
                "  penstock-gravity-anomaly potential.hdf line.h5 --profile 0,0,124e3,0,0,125 "
                "--table line.csv",
    .options = options,
    .figures = figure_table,
    .allowances = allowances,
    .run = run_anomaly};
