/* penstock-terrain-import: elevation models become prisms with densities, and stations above
 * ground. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/terrain.h"
#include "preprocess/terrain_import/figure_table.h"
#include "preprocess/terrain_import/terrain.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "stage/plan.h"

static struct {
    double density, water, level, no_data, accuracy;
    ps_text_list layers;
    int gaps, coordinates, unit, positive;
    const char *variable, *stations, *places;
    int64_t every;
} chosen = {.density = 2670, .water = NAN, .no_data = NAN, .accuracy = 0.1, .every = 1};

static const ps_option options[] = {
    PS_REAL("density", &chosen.density, "RHO", -25000, 25000, PS_IDENTITY,
            "of the ground between --level and the model, kg/m3"),
    PS_REAL("water", &chosen.water, "RHO", 0, 25000, PS_IDENTITY,
            "of what fills the model up to --level where it lies below, kg/m3: 1025 unless there "
            "are layers; 0: dry land"),
    PS_REAL("level", &chosen.level, "METRES", -20000, 20000, PS_IDENTITY,
            "constant reference, the sea's"),
    PS_LIST("layer", &chosen.layers, "BOTTOM,RHO", PS_IDENTITY,
            "instead: a layer of this density below the model, or the layer before, down to a grid "
            "or a height in m; from above"),
    PS_CHOICE("gaps", &chosen.gaps, "refuse|omit|level", PS_IDENTITY,
              "cells without a height: omit gives them no mass, level the height of --level"),
    PS_REAL("no-data", &chosen.no_data, "VALUE", -1e38, 1e38, PS_IDENTITY,
            "a number, as it is stored, that stands for a gap, beside what files say"),
    PS_CHOICE("coordinates", &chosen.coordinates, "auto|projected|geographic", PS_IDENTITY,
              "m, or degrees; auto: as files say"),
    PS_CHOICE("height-unit", &chosen.unit, "auto|m|km|ft", PS_IDENTITY,
              "of heights; auto: as files say, else m"),
    PS_CHOICE("positive", &chosen.positive, "auto|up|down", PS_IDENTITY,
              "which way heights count, down: depths; auto: as files say, else up"),
    PS_TEXT("variable", &chosen.variable, "NAME", PS_IDENTITY, "of a NetCDF file of several grids"),
    PS_TEXT("stations", &chosen.stations, "above:HEIGHT", PS_IDENTITY,
            "stations so high (1m) above the ground or the water, at the middles of cells"),
    PS_INT("station-every", &chosen.every, "N", 1, 1000000, PS_IDENTITY,
           "at every N-th cell along both axes"),
    PS_TEXT("station-places", &chosen.places, "FILE", PS_IDENTITY,
            "instead at the rows x y of a file, in the coordinates of the model"),
    PS_REAL("accuracy", &chosen.accuracy, "MGAL", 1e-6, 1e6, PS_IDENTITY,
            "that a flat frame may cost a geographic model"),
    PS_OPTION_END};

static const ps_allowance allowances[] = {{"flags", "heights that are usual flags of gaps"},
                                          {"heights", "heights that the Earth does not have"},
                                          {NULL, NULL}};

/* ---- inputs ---- */

static reading gather(const ps_run *run)
{
    static const double units[] = {0, 1, 1000, 0.3048};
    return (reading){.run = run,
                     .variable = chosen.variable,
                     .coordinates = (coordinates)chosen.coordinates,
                     .height_unit = units[chosen.unit],
                     .positive = (positive)chosen.positive,
                     .has_no_data = !isnan(chosen.no_data),
                     .no_data = chosen.no_data};
}

static ps_status parse_layer(const char *text, char *bottom, size_t size, surface *out)
{
    const char *comma = strrchr(text, ',');
    if (!comma || comma == text || (size_t)(comma - text) >= size)
        return ps_fail(PS_USAGE, "--layer: \"%s\" is not BOTTOM,RHO", text);
    memcpy(bottom, text, (size_t)(comma - text));
    bottom[comma - text] = 0;
    if (ps_parse_real(comma + 1, &out->density) != PS_OK || !(fabs(out->density) <= 25000))
        return ps_fail(PS_USAGE, "--layer: \"%s\" does not end with a density in kg/m3", text);
    return PS_OK;
}

enum { LEVEL_MOST = 7000000 }; /* m: the Earth's radius, and more */

/* names: what the paths of grids stay in. */
static ps_status read_layers(terrain *t, ps_product *product, const reading *how,
                             char names[][1000])
{
    char role[24];
    if (chosen.layers.count > LAYERS_MAX)
        return ps_fail(PS_USAGE, "%d layers; %d are taken", chosen.layers.count, LAYERS_MAX);
    for (int k = 0; k < chosen.layers.count; ++k) {
        surface *s = &t->layer[t->layers++];
        PS_TRY(parse_layer(chosen.layers.items[k], names[k], 1000, s));
        if (ps_parse_real(names[k], &s->level) == PS_OK) {
            if (fabs(s->level) <= LEVEL_MOST) continue;
            return ps_fail(PS_USAGE, "--layer: a bottom at %g m; %g at most", s->level,
                           (double)LEVEL_MOST);
        }
        snprintf(role, sizeof role, "layer%d", k + 1);
        PS_TRY(ps_product_file(product, role, names[k]));
        PS_TRY(elevation_read(names[k], how, &s->grid));
    }
    return PS_OK;
}

/* ---- what it takes, and the file ---- */

static int64_t stations_most(const terrain *t)
{
    return chosen.stations ? t->top.count[0] * t->top.count[1] : 0;
}

static ps_need need_of(const terrain *t)
{
    int64_t geographic = t->top.coordinates == COORDINATES_GEOGRAPHIC;
    int64_t rows = 8 * (PRISM_WIDTH * t->prisms + 3 * stations_most(t));
    return (ps_need){.arrays = rows + 8 * t->prisms * (1 + PRISM_WIDTH * geographic),
                     .writer = rows < 1 << 20 ? rows : 1 << 20,
                     .writers = t->run->threads,
                     .disk = rows,
                     .seconds = 1e-7 * (double)t->prisms * (geographic ? 25 : 1)};
}

static ps_status save(const terrain *t, const ps_product *product)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    bool geographic = t->top.coordinates == COORDINATES_GEOGRAPHIC;
    const ps_terrain file = {.prisms = t->prisms,
                             .stations = t->stations,
                             .prism = t->prism,
                             .station = t->station,
                             .columns = t->top.count[0],
                             .rows = t->top.count[1],
                             .origin = {t->origin[0], t->origin[1]},
                             .width = {t->width[0], t->width[1]},
                             .reference = t->top.reference,
                             .geographic = geographic,
                             .place = {t->place[0], t->place[1]},
                             .frame_error = t->error};
    PS_TRY(ps_product_create(product, need_of(t).disk, &store));
    PS_TRY(ps_terrain_put(store, &file));
    return ps_store_commit(&store);
}

static ps_report *describe(const terrain *t)
{
    ps_report *r = ps_report_new(t->run);
    double low = INFINITY, high = -INFINITY;
    for (int64_t c = 0; c < t->top.count[0] * t->top.count[1]; ++c) {
        low = fmin(low, t->top.height[c]);
        high = fmax(high, t->top.height[c]);
    }
    ps_report_int(r, "columns", t->top.count[0]);
    ps_report_int(r, "rows", t->top.count[1]);
    ps_report_text(r, "coordinates",
                   t->top.coordinates == COORDINATES_GEOGRAPHIC ? "geographic" : "projected");
    if (t->top.reference[0]) ps_report_text(r, "reference_system", t->top.reference);
    ps_report_reals(r, "origin", t->origin, 2);
    ps_report_reals(r, "cell", t->width, 2);
    ps_report_real(r, "lowest", low);
    ps_report_real(r, "highest", high);
    ps_report_int(r, "gaps", t->top.gaps);
    ps_report_int(r, "omitted", t->omitted);
    ps_report_int(r, "below_level", t->wet);
    ps_report_int(r, "prisms", t->prisms);
    return r;
}

static ps_status plan(const terrain *t)
{
    const ps_need need = need_of(t);
    PS_SCOPED(ps_report_print) ps_report *r = t->run->plan ? describe(t) : NULL;
    return ps_plan_take(t->run, &need, r);
}

static void report(const terrain *t)
{
    ps_report *r = describe(t);
    ps_report_real(r, "mass", t->mass);
    if (chosen.stations) ps_report_int(r, "stations", t->stations);
    if (t->samples) {
        ps_report_int(r, "samples", t->samples);
        ps_report_real(r, "frame_error", t->error);
    }
    ps_report_run(r, ps_memory_peak());
    ps_report_print(&r);
}

static void release(terrain *t)
{
    elevation_release(&t->top);
    for (int k = 0; k < t->layers; ++k) elevation_release(&t->layer[k].grid);
    PS_FREE(t->prism, t->cell, t->station);
}

static ps_status make(terrain *t, const ps_product *product)
{
    PS_TRY(terrain_make(t));
    if (chosen.stations) PS_TRY(stations_make(t, chosen.stations, chosen.every, chosen.places));
    if (chosen.stations && t->stations == 0)
        return ps_fail(PS_INVALID, "%s: no cell with a height is left for a station", t->top.path);
    if (t->top.coordinates == COORDINATES_GEOGRAPHIC) PS_TRY(curvature_check(t));
    PS_TRY(save(t, product));
    report(t);
    return PS_OK;
}

static ps_status run_import(ps_run *run)
{
    static char names[PS_TEXT_LIST_MAX][1000];
    PS_SCOPED(release)
    terrain t = {.run = run,
                 .gaps = (gap_rule)chosen.gaps,
                 .density = chosen.density,
                 .water = isnan(chosen.water) && chosen.layers.count == 0 ? 1025 : chosen.water,
                 .level = chosen.level,
                 .accuracy = chosen.accuracy};
    const reading how = gather(run);
    ps_product product;
    ps_product_init(run, PS_TERRAIN_FORMAT, PS_TERRAIN_VERSION, &product);
    if (!chosen.stations && (chosen.places || chosen.every > 1))
        return ps_fail(PS_USAGE, "--station-places and --station-every belong to --stations");
    PS_TRY(ps_product_file(&product, "model", run->operands[0]));
    if (chosen.places) PS_TRY(ps_product_file(&product, "places", chosen.places));
    PS_TRY(read_layers(&t, &product, &how, names));
    if (ps_product_is_up_to_date(&product)) return PS_OK;
    PS_TRY(elevation_read(run->operands[0], &how, &t.top));
    PS_TRY(terrain_check(&t));
    PS_TRY(plan(&t));
    return run->plan ? PS_OK : make(&t, &product);
}

const ps_program ps_this_program = {
    .name = "terrain-import",
    .results = 3,
    .synopsis = "MODEL OUTPUT",
    .description =
        "Makes prisms of an elevation model, one and more for each cell, and stations above "
        "its\n"
        "ground: NetCDF (COARDS, CF), GeoTIFF or ASCII grids, projected or in degrees. Land "
        "has\n"
        "--density between --level and the model, the sea --water less that; or --layer names\n"
        "surfaces and densities. Gaps are refused unless --gaps says what they are. OUTPUT is\n"
        "what penstock-prism-field takes as PRISMS and as STATIONS.",
    .examples = "  penstock-terrain-import dem.nc terrain.h5 --stations above:1m\n"
                "  penstock-prism-field terrain.h5 terrain.h5 field.h5\n"
                "  penstock-terrain-import top.tif basin.h5 --layer basement.tif,2200 --layer "
                "-10000,2670",
    .options = options,
    .figures = figure_table,
    .allowances = allowances,
    .run = run_import};
