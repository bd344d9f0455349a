/* penstock-gravity-anomaly: g_z on the top and at stations from a potential. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/box_field.h"
#include "formats/gravity_map.h"
#include "formats/number_file.h"
#include "kernels/schwarz/prism.h"
#include "postprocess/gravity_anomaly/gradient.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/output_file.h"
#include "runtime/program.h"
#include "runtime/report.h"

enum { STATION_NUMBERS = 5 };

static struct {
    const char *stations, *model, *profile, *table;
    bool elevations;
    double gravity;
} chosen = {.elevations = true, .gravity = PS_NEWTON};

static const ps_option options[] = {
    {"stations", PS_OPTION_TEXT, &chosen.stations, "FILE",
     "lines of x y elevation [observed in mGal [error]], m; a first line with their number alone "
     "is "
     "passed over",
     0, 0, PS_IDENTITY},
    {"elevations", PS_OPTION_FLAG, &chosen.elevations, NULL,
     "the third number is an elevation, -z; --no-elevations: it is z (down)", 0, 0, PS_IDENTITY},
    {"profile", PS_OPTION_TEXT, &chosen.profile, "X0,Y0,X1,Y1,Z,N",
     "or N stations on a line at depth Z, m", 0, 0, PS_IDENTITY},
    {"model", PS_OPTION_TEXT, &chosen.model, "FILE",
     "density model that the potential belongs to: where it is known, jumps of density beside a "
     "node "
     "cost no accuracy; at stations also the exact sums over its cells",
     0, 0, PS_IDENTITY},
    {"gravity", PS_OPTION_REAL, &chosen.gravity, "G", "with --model, m3 kg-1 s-2", 1e-12, 1e-9,
     PS_IDENTITY},
    {"table", PS_OPTION_TEXT, &chosen.table, "FILE.csv", "write the stations as a table, too", 0, 0,
     0},
    {NULL, PS_OPTION_FLAG, NULL, NULL, NULL, 0, 0, 0}};

typedef struct stations {
    int64_t count, capacity;
    double *rows; /* [count][4]: x y z observed (NaN: none) */
    bool observed;
} stations;

typedef struct anomaly {
    const ps_run *run;
    ps_box_field potential, model;
    stations points;
    ps_gravity_map map;
} anomaly;

/* ---- stations ---- */

static ps_status add_station(stations *s, const double row[4])
{
    PS_TRY(ps_grow((void **)&s->rows, &s->capacity, s->count + 1, 4 * sizeof *s->rows, "stations"));
    memcpy(s->rows + 4 * s->count++, row, 4 * sizeof *row);
    return PS_OK;
}

static ps_status read_stations(const char *path, stations *s)
{
    ps_number_file *file;
    double v[STATION_NUMBERS];
    int count;
    PS_TRY(ps_number_file_open(path, &file));
    ps_status status = PS_OK;
    while (status == PS_OK) {
        status = ps_number_file_line(file, v, STATION_NUMBERS, &count);
        if (status != PS_OK || count == 0) break;
        if (count == 1 && s->count == 0) continue; /* the number of stations */
        if (count < 3 || (s->count > 0 && s->observed != (count > 3))) {
            status = ps_fail(
                PS_INVALID,
                "%s line %lld: x y elevation, and observed values for all or none, are expected",
                path, (long long)ps_number_file_where(file));
            break;
        }
        s->observed = count > 3;
        status = add_station(s, (const double[4]){v[0], v[1], chosen.elevations ? -v[2] : v[2],
                                                  count > 3 ? v[3] : NAN});
    }
    ps_number_file_close(&file);
    if (status == PS_OK && s->count == 0) status = ps_fail(PS_INVALID, "%s: no stations", path);
    return status;
}

static ps_status make_profile(stations *s)
{
    double v[6];
    int count;
    ps_status status = ps_parse_reals(chosen.profile, ',', v, 6, &count);
    if (status != PS_OK) return ps_context(status, "--profile");
    if (count != 6 || !(v[5] >= 2 && v[5] <= 1e7) || v[5] != floor(v[5]))
        return ps_fail(PS_USAGE, "--profile: \"%s\" is not X0,Y0,X1,Y1,Z,N with N >= 2",
                       chosen.profile);
    for (int64_t i = 0; i < (int64_t)v[5]; ++i) {
        double t = (double)i / (v[5] - 1);
        PS_TRY(add_station(
            s, (const double[4]){v[0] + t * (v[2] - v[0]), v[1] + t * (v[3] - v[1]), v[4], NAN}));
    }
    return PS_OK;
}

static ps_status gather_stations(anomaly *a)
{
    if (chosen.stations && chosen.profile)
        return ps_fail(PS_USAGE, "--stations and --profile: give one of them");
    if (chosen.stations) PS_TRY(read_stations(chosen.stations, &a->points));
    if (chosen.profile) PS_TRY(make_profile(&a->points));
    for (int64_t i = 0; i < a->points.count; ++i)
        for (int k = 0; k < 3; ++k) {
            const ps_box_field_header *h = &a->potential.header;
            double at = a->points.rows[4 * i + k], low = h->origin[k];
            double high = low + h->spacing[k] * (double)(h->nodes[k] - 1);
            if (!(at >= low - 1e-9 * h->spacing[k] && at <= high + 1e-9 * h->spacing[k]))
                return ps_fail(PS_INVALID,
                               "station %lld has %c = %g m; the box reaches from %g to %g m",
                               (long long)i + 1, "xyz"[k], at, low, high);
        }
    return PS_OK;
}

/* ---- g_z from the potential ---- */

static int64_t cell_of(double at, double origin, double h, int64_t nodes, double *rest)
{
    double t = (at - origin) / h;
    int64_t c = (int64_t)fmin(fmax(floor(t), 0), (double)(nodes - 2));
    *rest = fmin(fmax(t - (double)c, 0), 1);
    return c;
}

/* Between the nodes of the two planes of g. */
static double at_station(const gradient *g, const double *place, double x_rest)
{
    const ps_box_field_header *h = &g->potential->header;
    double rest[3] = {x_rest, 0, 0}, sum = 0;
    int64_t j = cell_of(place[1], h->origin[1], h->spacing[1], h->nodes[1], &rest[1]);
    int64_t k = cell_of(place[2], h->origin[2], h->spacing[2], h->nodes[2], &rest[2]);
    for (int c = 0; c < 8; ++c) {
        int d[3] = {c >> 2, c >> 1 & 1, c & 1};
        double weight = 1;
        for (int s = 0; s < 3; ++s) weight *= d[s] ? rest[s] : 1 - rest[s];
        if (weight > 0) sum += weight * gradient_node(g, d[0], j + d[1], k + d[2]);
    }
    return sum / PS_MILLIGAL;
}

static void fill_row(const gradient *g, int plane, int64_t ny, double *row)
{
    for (int64_t j = 0; j < ny; ++j) row[j] = gradient_node(g, plane, j, 0) / PS_MILLIGAL;
}

/* Two planes at a time; stations in the cells between them. */
static ps_status from_planes(anomaly *a, gradient *g)
{
    const ps_box_field_header *h = &a->potential.header;
    int64_t nx = h->nodes[0], ny = h->nodes[1];
    for (int64_t i = 0; i < nx - 1; ++i) {
        if (i > 0) PS_TRY(gradient_next(g));
        fill_row(g, 0, ny, a->map.map + i * ny);
        for (int64_t s = 0; s < a->map.stations; ++s) {
            double rest;
            if (cell_of(a->map.place[3 * s], h->origin[0], h->spacing[0], nx, &rest) == i)
                a->map.computed[s] = at_station(g, a->map.place + 3 * s, rest);
        }
    }
    fill_row(g, 1, ny, a->map.map + (nx - 1) * ny);
    return PS_OK;
}

static ps_status from_potential(anomaly *a)
{
    gradient g;
    ps_status status =
        gradient_open(&a->potential, chosen.model ? &a->model : NULL, chosen.gravity, &g);
    if (status == PS_OK) status = from_planes(a, &g);
    gradient_close(&g);
    return status;
}

/* ---- exact sums ---- */

/* Bricks of the cells of plane i, those of equal density one below the other as one; their number.
 */
static int64_t list_bricks(const anomaly *a, int64_t i, const double *density, ps_prism *out)
{
    const ps_box_field_header *h = &a->model.header;
    int64_t cz = a->model.shape[2], count = 0;
    for (int64_t c = 0; c < a->model.plane; ++c) {
        int64_t at[3] = {i, c / cz, c % cz};
        bool goes_on = at[2] > 0 && density[c] == density[c - 1];
        if (density[c] == 0) continue;
        ps_prism *brick = goes_on ? out + count - 1 : out + count++;
        brick->density = density[c];
        for (int k = 0; k < 3; ++k) {
            double low = h->origin[k] + (double)at[k] * h->spacing[k];
            if (!goes_on) brick->low[k] = low;
            brick->high[k] = low + h->spacing[k];
        }
    }
    return count;
}

static void add_bricks(const anomaly *a, int64_t count, const ps_prism *bricks)
{
#pragma omp parallel for schedule(dynamic, 8)
    for (int64_t s = 0; s < a->map.stations; ++s)
        for (int64_t b = 0; b < count; ++b)
            a->map.exact[s] +=
                ps_prism_vertical(bricks + b, a->map.place + 3 * s, chosen.gravity) / PS_MILLIGAL;
}

static ps_status exact_sums(anomaly *a)
{
    double *density = NULL;
    ps_prism *bricks = NULL;
    if (!a->map.exact) return PS_OK;
    ps_status status = PS_ALLOC(&density, a->model.plane, "densities");
    if (status == PS_OK) status = PS_ALLOC(&bricks, a->model.plane, "bricks");
    for (int64_t i = 0; i < a->model.shape[0] && status == PS_OK; ++i) {
        status = ps_box_field_read(&a->model, i, 1, density);
        if (status == PS_OK) add_bricks(a, list_bricks(a, i, density, bricks), bricks);
    }
    free(density);
    free(bricks);
    return status;
}

/* ---- results ---- */

typedef struct fit {
    double rms, correlation, mean;
} fit;

/* Of a against b; mean: of a - b. */
static fit compare(const double *a, const double *b, int64_t n)
{
    double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0, square = 0;
    for (int64_t i = 0; i < n; ++i) ma += a[i] / (double)n, mb += b[i] / (double)n;
    for (int64_t i = 0; i < n; ++i) {
        aa += (a[i] - ma) * (a[i] - ma);
        bb += (b[i] - mb) * (b[i] - mb);
        ab += (a[i] - ma) * (b[i] - mb);
        square += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return (fit){sqrt(square / (double)n), aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0, ma - mb};
}

static void report_fit(ps_report *r, const char *section, const double *a, const double *b,
                       int64_t n)
{
    fit f = compare(a, b, n);
    ps_report_section(r, section);
    ps_report_real(r, "rms", f.rms, "mGal");
    ps_report_real(r, "mean_difference", f.mean, "mGal");
    ps_report_real(r, "correlation", f.correlation, "");
}

static void report(const anomaly *a, double seconds)
{
    const ps_gravity_map *m = &a->map;
    ps_report *r = ps_report_new(a->run->json);
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < m->nodes[0] * m->nodes[1]; ++i) {
        low = fmin(low, m->map[i]);
        high = fmax(high, m->map[i]);
    }
    ps_report_real(r, "least", low, "mGal");
    ps_report_real(r, "largest", high, "mGal");
    ps_report_int(r, "stations", m->stations, "");
    ps_report_real(r, "time", seconds, "s");
    if (m->exact) report_fit(r, "potential_against_exact", m->computed, m->exact, m->stations);
    if (m->observed)
        report_fit(r, "potential_against_observed", m->computed, m->observed, m->stations);
    if (m->observed && m->exact)
        report_fit(r, "exact_against_observed", m->exact, m->observed, m->stations);
    ps_report_print(&r);
}

static void print_table(const ps_gravity_map *m, FILE *file)
{
    fprintf(file, "x,y,z,g_z%s%s\n", m->exact ? ",exact" : "", m->observed ? ",observed" : "");
    for (int64_t i = 0; i < m->stations; ++i) {
        const double *p = m->place + 3 * i;
        fprintf(file, "%.10g,%.10g,%.10g,%.9g", p[0], p[1], p[2], m->computed[i]);
        if (m->exact) fprintf(file, ",%.9g", m->exact[i]);
        if (m->observed) fprintf(file, ",%.9g", m->observed[i]);
        fprintf(file, "\n");
    }
}

static ps_status write_table(const ps_gravity_map *m)
{
    ps_output *output;
    FILE *file = NULL;
    PS_TRY(ps_output_begin(chosen.table, &output));
    ps_status status = ps_output_stream(output, &file);
    if (status == PS_OK) {
        print_table(m, file);
        if (ferror(file) | fclose(file))
            status = ps_fail(PS_EXHAUSTED, "%s: cannot be written whole", chosen.table);
    }
    if (status == PS_OK) return ps_output_commit(&output);
    ps_output_discard(&output);
    return status;
}

static ps_status open_inputs(anomaly *a)
{
    PS_TRY(ps_box_field_open(a->run->operands[0], "potential", &a->potential));
    const ps_box_field_header *h = &a->potential.header;
    for (int k = 0; k < 3; ++k)
        if (h->nodes[k] < 3 && k > 0)
            return ps_fail(PS_INVALID, "%s: %lld nodes along %c; 3 are needed", a->run->operands[0],
                           (long long)h->nodes[k], "xyz"[k]);
    if (chosen.model) PS_TRY(ps_box_field_open(chosen.model, "density", &a->model));
    PS_TRY(gather_stations(a));
    const int64_t nodes[2] = {h->nodes[0], h->nodes[1]};
    PS_TRY(ps_gravity_map_init(&a->map, nodes, a->points.count, chosen.model && a->points.count > 0,
                               a->points.observed));
    memcpy(a->map.origin, h->origin, sizeof h->origin);
    memcpy(a->map.spacing, h->spacing, sizeof h->spacing);
    for (int64_t i = 0; i < a->points.count; ++i) {
        memcpy(a->map.place + 3 * i, a->points.rows + 4 * i, 3 * sizeof(double));
        if (a->map.observed) a->map.observed[i] = a->points.rows[4 * i + 3];
    }
    return PS_OK;
}

static ps_status save(const anomaly *a)
{
    ps_store *store = NULL;
    ps_store_identity identity = {PS_GRAVITY_MAP_FORMAT, PS_GRAVITY_MAP_VERSION, ps_version(),
                                  ps_revision(),         a->run->record,         0};
    PS_TRY(ps_store_create(a->run->operands[1], &identity, &store));
    ps_status status = ps_store_add_input(store, "potential", a->potential.store);
    if (status == PS_OK && chosen.model)
        status = ps_store_add_input(store, "model", a->model.store);
    if (status == PS_OK) status = ps_gravity_map_put(store, &a->map);
    if (status == PS_OK) return ps_store_commit(&store);
    ps_store_close(&store);
    return status;
}

static ps_status work(anomaly *a)
{
    double start = ps_clock();
    PS_TRY(open_inputs(a));
    PS_TRY(from_potential(a));
    PS_TRY(exact_sums(a));
    PS_TRY(save(a));
    if (chosen.table) PS_TRY(write_table(&a->map));
    report(a, ps_clock() - start);
    return PS_OK;
}

static ps_status run_anomaly(ps_run *run)
{
    anomaly a = {.run = run};
    ps_status status = work(&a);
    ps_box_field_close(&a.potential);
    ps_box_field_close(&a.model);
    ps_gravity_map_release(&a.map);
    free(a.points.rows);
    return status;
}

int main(int argc, char **argv)
{
    static const ps_program program = {
        .name = "gravity-anomaly",
        .synopsis = "POTENTIAL OUTPUT",
        .description =
            "Vertical attraction g_z in mGal, positive above excess mass, from a potential: on "
            "the\n"
            "top of the box and at stations or along a profile; with the density model also the\n"
            "exact sums, with observations the residuals.",
        .examples = "  penstock-gravity-anomaly potential.hdf map.h5\n"
                    "  penstock-gravity-anomaly potential.hdf map.h5 --stations field.grv --model "
                    "model.hdf\n"
                    "  penstock-gravity-anomaly potential.hdf line.h5 --profile 0,0,124e3,0,0,125 "
                    "--table line.csv",
        .options = options,
        .operands_min = 2,
        .operands_max = 2,
        .run = run_anomaly};
    return ps_main(&program, argc, argv);
}
