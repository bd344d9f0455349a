#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postprocess/probe/figure_table.h"
#include "postprocess/probe/probe.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/plan.h"
#include "stage/product.h"

enum { FIELD_SCATTERED, FIELD_TOTAL };

static struct {
    ps_receiver_words where;
    const char *surface, *snapshots;
    int64_t every;
    int field;
    bool mean, rate;
    double from, to;
} chosen = {.where = PS_RECEIVER_WORDS, .from = -1e300, .to = 1e300};

static const ps_option options[] = {
    PS_RECEIVER_POINT_OPTIONS(chosen.where),
    PS_RECEIVER_DIRECTION_OPTIONS(chosen.where),
    PS_TEXT("surface", &chosen.surface, "LIST", PS_IDENTITY,
            "densities at these unknowns (triangles or, sound-hard, vertices): 0,7,20-29 or all"),
    PS_FLAG("mean", &chosen.mean, PS_IDENTITY, "area-weighted mean of the densities"),
    PS_CHOICE("field", &chosen.field, "scattered|total", PS_IDENTITY,
              "scattered field, or with the incident field added"),
    PS_FLAG("rate", &chosen.rate, PS_IDENTITY,
            "in a flow: -rho d(phi)/dt of the sound's potential instead of its pressure, which is "
            "what source and receiver may be exchanged for"),
    PS_REAL("from", &chosen.from, "SECONDS", 0, 0, PS_IDENTITY, "first time; otherwise all"),
    PS_REAL("to", &chosen.to, "SECONDS", 0, 0, PS_IDENTITY, "last time; otherwise all"),
    PS_TEXT("snapshots", &chosen.snapshots, "BASE", 0,
            "also write BASE.000000.hdf ... and BASE.hdf.series for ParaView, of one --plane or of "
            "--surface all"),
    PS_INT("every", &chosen.every, "N", 0, 1e12, 0,
           "a snapshot every N samples; 0: a hundred in all"),
    PS_OPTION_END};

/* What is asked for, and what is known of it before the work. */
typedef struct task {
    probe_source source;
    ps_receivers receivers;
    int64_t *unknowns, unknown_count, unknown_capacity;
    probe_range range;
    bool surface;
} task;

/* ---- unknowns ---- */

static ps_status add_unknowns(task *t, int64_t first, int64_t last)
{
    if (first < 0 || last < first || last >= t->source.unknowns)
        return ps_fail(PS_USAGE, "--surface: %lld-%lld is outside of 0-%lld", (long long)first,
                       (long long)last, (long long)t->source.unknowns - 1);
    PS_TRY(ps_grow((void **)&t->unknowns, &t->unknown_capacity, t->unknown_count + last - first + 1,
                   sizeof *t->unknowns, "unknowns"));
    for (int64_t j = first; j <= last; ++j) t->unknowns[t->unknown_count++] = j;
    return PS_OK;
}

/* "0,7,20-29" or "all" */
static ps_status parse_surface(task *t)
{
    const char *at = chosen.surface;
    if (!at) return PS_OK;
    if (strcmp(at, "all") == 0) return add_unknowns(t, 0, t->source.unknowns - 1);
    for (;;) {
        char *end;
        int64_t first = strtoll(at, &end, 10), last = first;
        bool good = end != at && first >= 0;
        if (good && *end == '-') {
            at = end + 1;
            last = strtoll(at, &end, 10);
            good = end != at;
        }
        if (!good || (*end && *end != ','))
            return ps_fail(PS_USAGE, "--surface: \"%s\" is not a list as in 0,7,20-29 or all",
                           chosen.surface);
        PS_TRY(add_unknowns(t, first, last));
        if (!*end) return PS_OK;
        at = end + 1;
    }
}

static ps_status check_choice(const task *t)
{
    if (t->surface && t->receivers.count)
        return ps_fail(PS_USAGE, "--surface and --mean do not go with points or directions into "
                                 "one file; run the program once for each");
    if (!t->surface && !t->receivers.count)
        return ps_fail(PS_USAGE, "say where: --at, --points, --plane, --direction, --directions, "
                                 "--surface or --mean");
    bool whole = chosen.surface && strcmp(chosen.surface, "all") == 0 && !chosen.mean;
    bool plane = t->receivers.grid[0] > 1 && t->receivers.grid[1] > 1;
    bool pictures = t->surface ? whole : plane;
    if (chosen.snapshots && !pictures)
        return ps_fail(PS_USAGE, "--snapshots: pictures are of one --plane or of --surface all");
    if (chosen.field == FIELD_TOTAL && (t->surface || t->receivers.far_field || chosen.rate))
        return ps_fail(PS_USAGE, "--field total: only points have a total field");
    return PS_OK;
}

/* ---- what there is to do ---- */

/* Points of a plane may lie where there is no field, so that it can cut through a body. */
static ps_status check_field(const task *t, const ps_run *run, const char *what, int64_t count,
                             int64_t first)
{
    static const char said[] = "%lld of %lld %s %s (the first: number %lld at %g,%g,%g)";
    const char *which = t->receivers.far_field ? "directions" : "points";
    const double *x = t->receivers.places + 3 * first;
    long long wrong = count, all = t->receivers.count, at = first;
    if (count > 0 && t->receivers.grid[0] == 0)
        return ps_refuse(run, "no-field", said, wrong, all, which, what, at, x[0], x[1], x[2]);
    if (count > 0) ps_warning(said, wrong, all, which, what, at, x[0], x[1], x[2]);
    return PS_OK;
}

static ps_status check_places(const task *t, const ps_run *run)
{
    int64_t first, count;
    if (t->surface) return PS_OK;
    count = probe_count_beyond(&t->source, &t->receivers, &first);
    PS_TRY(check_field(t, run, "lie beyond the plane that mirrors, where there is no fluid", count,
                       first));
    if (t->receivers.far_field) return PS_OK;
    count = probe_count_inside(&t->source, &t->receivers, &first);
    PS_TRY(check_field(t, run, "lie inside the body, where the sum of layers is not a field", count,
                       first));
    count = probe_count_on(&t->source, &t->receivers, &first);
    if (count)
        ps_warning("%lld of %lld points lie on the surface, where a rigid body's field jumps, and "
                   "what is written is the limit of either side (--surface gives the pressure "
                   "there; the first: number %lld)",
                   (long long)count, (long long)t->receivers.count, (long long)first);
    return PS_OK;
}

/* Of a history in the time of a flow, or at rest. */
static ps_status settle_flow(task *t)
{
    if (t->source.flow.vertices > 0 && chosen.field == FIELD_TOTAL)
        return ps_fail(PS_USAGE, "--field total: in a flow there is the scattered field alone");
    if (t->source.flow.vertices > 0) return probe_flow_range(&t->source, &t->receivers, &t->range);
    if (!chosen.rate) return PS_OK;
    return ps_fail(PS_USAGE, "--rate is of histories in a flow: at rest it is the pressure");
}

static ps_status prepare(task *t, ps_product *product)
{
    const ps_run *run = product->run;
    PS_TRY(ps_receivers_add_words(&t->receivers, &chosen.where));
    t->surface = chosen.surface || chosen.mean;
    PS_TRY(check_choice(t));
    PS_TRY(probe_source_open(&t->source, run->operands[0], run->operands[1]));
    PS_TRY(parse_surface(t));
    PS_TRY(ps_product_note(product, "receivers=%016llx",
                           (unsigned long long)ps_receivers_hash(&t->receivers)));
    PS_TRY(ps_product_input(product, "history", ps_history_store(t->source.history)));
    PS_TRY(ps_product_input(product, "mesh", t->source.mesh_store));
    product->open_ended = chosen.snapshots != NULL;
    double from = chosen.from <= -1e300 ? -INFINITY : chosen.from;
    double to = chosen.to >= 1e300 ? INFINITY : chosen.to;
    PS_TRY(probe_range_find(&t->source, t->surface ? NULL : &t->receivers, from, to, &t->range));
    return settle_flow(t);
}

static int64_t channel_count(const task *t)
{
    return t->surface ? t->unknown_count + chosen.mean : t->receivers.count;
}

/* ---- doing it ---- */

static void describe(const task *t, ps_trace *trace)
{
    bool hard = t->source.hard;
    const char *quantity, *units = "Pa";
    ps_trace_basis basis = PS_TRACE_SAMPLES;
    if (t->surface) {
        quantity = hard ? "total pressure on the surface" : "density -dn u";
        units = hard ? "Pa" : "Pa/m";
        basis = hard ? PS_TRACE_HAT : PS_TRACE_STEP_MEAN;
    } else if (t->receivers.far_field) {
        quantity = "scattered far field";
        units = "Pa m";
    } else {
        quantity = chosen.rate                   ? "scattered -rho d(phi)/dt"
                   : chosen.field == FIELD_TOTAL ? "total pressure"
                                                 : "scattered pressure";
    }
    if (!t->surface) ps_receivers_put(&t->receivers, trace);
    snprintf(trace->quantity, sizeof trace->quantity, "%s", quantity);
    snprintf(trace->units, sizeof trace->units, "%s", units);
    probe_source_describe(&t->source, basis, &trace->origin);
}

static ps_status compute(const task *t, const ps_run *run, ps_trace *trace)
{
    int64_t memory = run->host_memory - 8 * trace->samples * trace->channels;
    if (memory <= 0)
        return ps_fail(PS_EXHAUSTED,
                       "--host-memory: the trace alone takes %.0f MB; take fewer receivers or a "
                       "part of the time (--from, --to)",
                       8e-6 * (double)(trace->samples * trace->channels));
    describe(t, trace);
    if (t->surface)
        return probe_surface(&t->source, t->unknowns, t->unknown_count, chosen.mean, &t->range,
                             trace);
    if (t->source.flow.vertices > 0)
        return probe_flow_fields(&t->source, &t->receivers, chosen.rate, &t->range, memory, trace);
    return probe_fields(&t->source, &t->receivers, chosen.field == FIELD_TOTAL, &t->range, memory,
                        trace);
}

enum { STRETCH_BYTES = 2 << 20 };

/* The history is read a stretch at a time, and the trace made in memory. */
static ps_need need_of(const task *t)
{
    int64_t values = t->range.count * channel_count(t);
    double pairs = (double)values * (double)t->source.mesh.triangle_count;
    return (ps_need){
        .arrays = 8 * values + STRETCH_BYTES, .disk = 8 * values, .seconds = 2e-9 * pairs};
}

static ps_status report(const task *t, const ps_run *run, const ps_trace *trace)
{
    const ps_need need = need_of(t);
    ps_status status = PS_OK;
    double peak = 0;
    for (int64_t i = 0; trace && i < trace->samples * trace->channels; ++i)
        peak = fmax(peak, fabs(trace->real[i]));
    ps_report *r = ps_report_new(run);
    ps_report_int(r, "channels", channel_count(t));
    ps_report_int(r, "samples", t->range.count);
    ps_report_real(r, "first_time", (double)t->range.first * t->source.dt);
    ps_report_real(r, "trace_bytes", 8.0 * (double)(t->range.count * channel_count(t)));
    if (trace) ps_report_quantity(r, "largest_value", peak, trace->units);
    if (trace)
        ps_report_run(r, ps_memory_peak());
    else
        status = ps_plan_take(run, &need, r);
    ps_report_print(&r);
    return status;
}

static ps_status make_trace(const task *t, const ps_product *product)
{
    PS_SCOPED(ps_trace_release) ps_trace trace = {0};
    PS_TRY(check_places(t, product->run));
    PS_TRY(ps_trace_init(&trace, t->range.count, channel_count(t), false));
    PS_TRY(compute(t, product->run, &trace));
    PS_TRY(ps_product_put_trace(product, &trace));
    if (chosen.snapshots)
        PS_TRY(probe_snapshots(&t->source, &trace, chosen.snapshots,
                               chosen.every ? chosen.every : (trace.samples + 99) / 100,
                               product->options));
    return report(t, product->run, &trace);
}

static void release(task *t)
{
    probe_source_close(&t->source);
    ps_receivers_release(&t->receivers);
    free(t->unknowns);
}

static ps_status run_probe(ps_run *run)
{
    PS_SCOPED(release) task t = {.surface = false};
    ps_product product;
    ps_product_init(run, PS_TRACE_FORMAT, PS_TRACE_VERSION, &product);
    PS_TRY(prepare(&t, &product));
    if (ps_product_is_up_to_date(&product)) return PS_OK;
    if (!run->plan) return make_trace(&t, &product);
    return report(&t, run, NULL);
}

static const ps_allowance allowances[] = {
    {"no-field", "points inside of the body or beyond a plane that mirrors"}, {NULL, NULL}};

const ps_program ps_this_program = {
    .name = "probe",
    .results = 2,
    .streams = true,
    .synopsis = "HISTORY MESH OUTPUT",
    .description =
        "Takes fields from the densities that penstock-tdbem-march left: the scattered or total "
        "pressure at points and planes, the far field lim r u(r e, tau + r/c) in directions, or "
        "the densities themselves at unknowns and their mean. Writes a trace; the history is "
        "streamed within --host-memory, beside some 20 MB of the program.",
    .examples = "  penstock-probe run.h5 mesh.h5 near.h5 --at 2,0,0 --at 0,0,-3 --field total\n"
                "  penstock-probe run.h5 mesh.h5 far.h5 --directions 72 --plane-normal 0,1,0\n"
                "  penstock-probe run.h5 mesh.h5 cut.h5 --plane '-3,0,-3;6,0,0;0,0,6;61x61'\n"
                "  penstock-probe run.h5 mesh.h5 mean.h5 --mean",
    .options = options,
    .figures = figure_table,
    .allowances = allowances,
    .run = run_probe};
