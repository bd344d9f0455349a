/* penstock-hbem-field: scattered fields, far fields and target strengths of solutions of integral
 * equations. */
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postprocess/hbem_field/figure_table.h"
#include "postprocess/hbem_field/field.h"
#include "runtime/comm.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/progress.h"
#include "runtime/report.h"
#include "runtime/scope.h"
#include "stage/plan.h"
#include "stage/product.h"

enum { SCATTERED, TOTAL, TARGET_STRENGTH };

static struct {
    ps_receiver_words where;
    const char *sphere, *centre, *incidence, *pictures, *surface;
    int64_t quadrature;
    int quantity, precision;
    bool monostatic;
    double distance, speed;
} chosen = {.where = PS_RECEIVER_WORDS, .centre = "0,0,0"};

static const ps_option options[] = {
    PS_CHOICE("quantity", &chosen.quantity, "scattered|total|target-strength", PS_IDENTITY,
              "scattered field (or, without waves, the potential), total field, or 20 log10 of "
              "R|u| and |F|"),
    PS_RECEIVER_POINT_OPTIONS(chosen.where),
    PS_RECEIVER_DIRECTION_OPTIONS(chosen.where),
    PS_TEXT("sphere", &chosen.sphere, "N1xN2", PS_IDENTITY,
            "far field in N1 x N2 directions all around, polar angles (i + 1/2) 180/N1 degrees"),
    PS_FLAG("monostatic", &chosen.monostatic, PS_IDENTITY,
            "each incident wave in the direction it comes from: a channel for each"),
    PS_REAL("distance", &chosen.distance, "R", 0, 1e15, PS_IDENTITY,
            "not the far field but points this far from the centre in those directions, m"),
    PS_TEXT("centre", &chosen.centre, "X,Y,Z", PS_IDENTITY, "from which --distance counts, m"),
    PS_TEXT(
        "incidence", &chosen.incidence, "I|all", PS_IDENTITY,
        "which of several incident waves (or right-hand sides), from 0; all: one after the other"),
    PS_REAL("speed", &chosen.speed, "M/S", 0, 1e12, PS_IDENTITY,
            "of sound: frequency = k speed/(2 pi); 0: that of the solutions, or 1500"),
    PS_INT("quadrature", &chosen.quadrature, "N", 0, 8, PS_IDENTITY,
           "N x N points a triangle; 0: 6 points of degree 4"),
    PS_CHOICE("precision", &chosen.precision, PS_FP64 "|" PS_FP32, PS_IDENTITY,
              "on a GPU; fp32: phases in fp64 all the same, errors of 1e-6"),
    PS_TEXT(
        "pictures", &chosen.pictures, "BASE", 0,
        "of one --plane: also BASE.000000.hdf ... and BASE.hdf.series for ParaView, by frequency"),
    PS_TEXT("surface", &chosen.surface, "BASE", 0, "also the density on the surface, the same way"),
    PS_OPTION_END};

typedef struct job {
    const ps_run *run;
    ps_device *device;
    field_source source;
    ps_receivers receivers;
    field_task task;
    double centre[3], speed;     /* m, m/s */
    int64_t inside, on, outside; /* points, as seen from a closed surface; 0 of directions */
} job;

/* ---- receivers ---- */

static ps_status add_monostatic(job *j)
{
    for (int64_t i = 0; i < j->source.incidences; ++i) {
        const double *d = j->source.directions[i];
        PS_TRY(ps_receivers_add(&j->receivers, true, (const double[3]){-d[0], -d[1], -d[2]}));
    }
    return PS_OK;
}

static ps_status add_receivers(job *j)
{
    ps_receivers *r = &j->receivers;
    PS_TRY(ps_receivers_add_words(r, &chosen.where));
    if (chosen.sphere) PS_TRY(ps_receivers_add_sphere(r, chosen.sphere));
    if (chosen.monostatic && r->count)
        return ps_fail(PS_USAGE, "--monostatic says where: leave out points and directions");
    if (chosen.monostatic) PS_TRY(add_monostatic(j));
    if (!r->count)
        return ps_fail(PS_USAGE, "say where: --at, --points, --plane, --direction, --directions, "
                                 "--sphere or --monostatic");
    if (chosen.distance > 0 && !r->far_field)
        return ps_fail(PS_USAGE, "--distance goes with directions; these are points already");
    return chosen.distance > 0 ? ps_receivers_move_out(r, chosen.distance, j->centre) : PS_OK;
}

/* ---- what fits together ---- */

static ps_status choose_incidence(job *j)
{
    int64_t all = j->source.incidences, first = 0;
    bool every = chosen.monostatic || (chosen.incidence && strcmp(chosen.incidence, "all") == 0);
    if (!every && !chosen.incidence && all > 1)
        return ps_fail(PS_USAGE,
                       "there are %" PRId64 " incident waves: say --incidence 0 .. %" PRId64
                       ", --incidence all or --monostatic",
                       all, all - 1);
    if (chosen.monostatic && chosen.incidence)
        return ps_fail(PS_USAGE, "--monostatic takes all incident waves: leave out --incidence");
    if (!every && chosen.incidence) {
        PS_TRY(ps_parse_int(chosen.incidence, &first));
        if (first < 0 || first >= all)
            return ps_fail(PS_USAGE, "--incidence %s: there are %" PRId64 ", from 0 on",
                           chosen.incidence, all);
    }
    j->task.first = first;
    j->task.count = every ? all : 1;
    return PS_OK;
}

/* Where the medium absorbs, nothing is left far away, and what is at a distance depends on it. */
static ps_status check_absorption(const job *j)
{
    if (!field_absorbs(&j->source)) return PS_OK;
    if (j->receivers.far_field || chosen.quantity == TARGET_STRENGTH)
        return ps_fail(PS_USAGE,
                       "far fields and target strengths are of media without absorption, which "
                       "leaves nothing far away: give points, or directions with --distance");
    return PS_OK;
}

static ps_status check_quantity(const job *j)
{
    bool far = j->receivers.far_field, wave = field_is_wave(&j->source);
    bool scattered = field_is_scattered(&j->source);
    if (far && !wave)
        return ps_fail(PS_USAGE, "a far field is of waves; %s has none: give points",
                       j->source.header->problem);
    if (!scattered && (chosen.quantity != SCATTERED || chosen.monostatic))
        return ps_fail(PS_USAGE,
                       "--quantity and --monostatic need an incident wave; problem %s has "
                       "none",
                       j->source.header->problem);
    bool planes = true;
    for (int64_t i = 0; i < j->source.incidences; ++i)
        planes = planes && j->source.incident[i]->incident == PS_INCIDENT_PLANE;
    if (!planes && (chosen.monostatic || chosen.quantity == TARGET_STRENGTH))
        return ps_fail(PS_USAGE, "--monostatic and target strengths are of plane waves; some of "
                                 "these solutions are of sources or of a body that vibrates");
    if (chosen.quantity == TOTAL && j->source.header->of_files)
        return ps_fail(PS_USAGE,
                       "--quantity total: the incident field of some solutions came from a "
                       "file and is known on the surface alone");
    if (chosen.quantity == TOTAL && far)
        return ps_fail(PS_USAGE, "--quantity total: only points have a total field");
    if (chosen.quantity == TARGET_STRENGTH && !far && !(chosen.distance > 0))
        return ps_fail(PS_USAGE, "--quantity target-strength is of directions, with or without "
                                 "--distance");
    if (chosen.pictures &&
        !(j->receivers.grid[0] > 1 && j->receivers.grid[1] > 1 && j->task.count == 1))
        return ps_fail(PS_USAGE, "--pictures: of one --plane and one incident wave");
    return PS_OK;
}

static ps_status check_planes(const job *j)
{
    const ps_receivers *r = &j->receivers;
    int64_t behind = field_behind(&j->source, r);
    if (behind == 0) return PS_OK;
    return ps_fail(PS_USAGE,
                   "%" PRId64 " of %" PRId64
                   " %s behind a mirror plane of the solution, where there "
                   "is no field: leave them out",
                   behind, r->count, r->far_field ? "directions point" : "points lie");
}

/* Points of a plane may lie where there is no field, so that it can cut through a body. */
static ps_status check_sides(const job *j, int64_t wrong, const char *where)
{
    static const char said[] = "%" PRId64 " of %" PRId64 " points lie %s, where there is no field";
    if (wrong == 0) return PS_OK;
    if (j->receivers.grid[0] == 0)
        return ps_refuse(j->run, "no-field", said, wrong, j->receivers.count, where);
    ps_warning(said, wrong, j->receivers.count, where);
    return PS_OK;
}

/* Points inside a closed surface, on it and outside: counts, and those where the solution has no
 * field. */
static ps_status count_sides(job *j)
{
    const field_source *source = &j->source;
    int64_t inside = 0, on = 0, n = j->receivers.count;
    int side = field_side(source);
    if (j->receivers.far_field || chosen.distance > 0) return PS_OK;
    if (source->mirrors.count == 0 && ps_hbem_surface_check_closed(&source->surface) != PS_OK)
        return PS_OK;
#pragma omp parallel for reduction(+ : inside, on)
    for (int64_t i = 0; i < n; ++i) {
        int where = field_where(source, j->receivers.places + 3 * i);
        inside += where < 0;
        on += where == 0;
    }
    j->inside = inside;
    j->on = on;
    j->outside = n - inside - on;
    int64_t wrong = side > 0 ? inside : side < 0 ? j->outside : 0;
    if (on)
        ps_warning("%" PRId64 " of %" PRId64 " points lie on the surface: the values there are "
                   "limits from %s",
                   on, n,
                   side > 0   ? "outside"
                   : side < 0 ? "inside"
                              : "both sides");
    char where[32];
    snprintf(where, sizeof where, "%s the %s", side > 0 ? "inside" : "outside",
             field_is_scattered(source) ? "body" : "surface");
    return check_sides(j, wrong, where);
}

static ps_status check_converged(const job *j)
{
    for (int f = 0; f < j->source.file_count; ++f)
        if (!j->source.files[f].header.converged)
            PS_TRY(ps_refuse(j->run, "unconverged",
                             "%s holds iterates that did not converge, and fields of them are as "
                             "far off: let penstock-hbem-solve go on with a larger --limit",
                             ps_store_path(j->source.files[f].store)));
    return PS_OK;
}

/* The speed of sound: asked for, or of the solutions. */
static ps_status choose_speed(job *j)
{
    double told = j->source.medium[PS_HBEM_SPEED];
    if (chosen.speed > 0 && told > 0 && chosen.speed != told)
        return ps_fail(PS_USAGE,
                       "--speed %g: the solutions are of a medium with %g m/s; leave it out",
                       chosen.speed, told);
    j->speed = chosen.speed > 0 ? chosen.speed : told > 0 ? told : 1500;
    return PS_OK;
}

static ps_status open_solutions(job *j, ps_product *product)
{
    char role[PS_ROLE_MAX];
    int files = product->run->operand_count - (product->path != NULL);
    PS_TRY(field_source_open(&j->source, files, product->run->operands));
    for (int f = 0; f < files; ++f) {
        snprintf(role, sizeof role, f ? "solution_%d" : "solution", f);
        PS_TRY(ps_product_input(product, role, j->source.files[f].store));
    }
    return PS_OK;
}

static ps_status prepare(job *j, ps_product *product)
{
    const ps_run *run = product->run;
    product->open_ended = chosen.pictures || chosen.surface;
    PS_TRY(ps_parse_vector(chosen.centre, j->centre));
    PS_TRY(open_solutions(j, product));
    PS_TRY(choose_speed(j));
    PS_TRY(add_receivers(j));
    PS_TRY(check_planes(j));
    PS_TRY(field_check_distances(&j->source, &j->receivers));
    PS_TRY(check_absorption(j));
    PS_TRY(choose_incidence(j));
    PS_TRY(check_quantity(j));
    PS_TRY(ps_product_note(product, "receivers=%016llx",
                           (unsigned long long)ps_receivers_hash(&j->receivers)));
    j->task.source = &j->source;
    j->task.receivers = &j->receivers;
    j->task.total = chosen.quantity == TOTAL;
    j->task.backscatter = chosen.monostatic;
    j->task.quadrature = (int)chosen.quadrature;
    j->task.precision = chosen.precision ? PS_SINGLE : PS_DOUBLE;
    j->task.threads = omp_get_max_threads();
    int64_t need = field_memory(&j->task) + 16 * j->source.frequencies * field_channels(&j->task);
    if (need > run->host_memory)
        return ps_fail(PS_EXHAUSTED,
                       "--host-memory: %.0f MB are needed; take fewer receivers at a "
                       "time",
                       1e-6 * (double)need);
    return PS_OK;
}

/* ---- the trace ---- */

static void put_places(const job *j, ps_trace *trace)
{
    int64_t each = j->receivers.count;
    ps_receivers one = j->receivers;
    if (j->task.backscatter || j->task.count == 1) {
        ps_receivers_put(&one, trace);
        return;
    }
    for (int64_t i = 0; i < j->task.count; ++i)
        memcpy(trace->places + 3 * i * each, one.places, (size_t)(3 * each) * sizeof *one.places);
    trace->far_field = one.far_field;
}

/* Of a wave of 1 Pa, of a source's strength (Pa m, Pa m2), or of velocities in m/s; "mixed" for
 * incidences that are not alike. */
static void name_values(const job *j, ps_trace *trace)
{
    static const char *const units[PS_INCIDENT_KINDS][2] = {[PS_INCIDENT_PLANE] = {"1", "m"},
                                                            [PS_INCIDENT_POINT] = {"1/m", "1"},
                                                            [PS_INCIDENT_DIPOLE] = {"1/m2", "1/m"},
                                                            [PS_INCIDENT_NONE] = {"Pa", "Pa m"},
                                                            [PS_INCIDENT_FILE] = {"Pa", "Pa m"}};
    field_entry *const *of = j->source.incident + j->task.first;
    bool far = j->receivers.far_field, alike = true;
    const char *how = of[0]->incident == PS_INCIDENT_NONE ? "radiated" : "scattered";
    for (int64_t i = 1; i < j->task.count; ++i) alike &= of[i]->incident == of[0]->incident;
    if (!alike)
        ps_warning("these incidences are waves, sources or vibrations side by side, whose fields "
                   "have other units each: --incidence takes one");
    snprintf(trace->units, sizeof trace->units, "%s",
             alike ? units[of[0]->incident][far] : "mixed");
    snprintf(trace->quantity, sizeof trace->quantity, "%s %s",
             chosen.quantity == TOTAL ? "total" : how, far ? "far field" : "pressure");
}

static void describe(const job *j, ps_trace *trace)
{
    strcpy(trace->quantity, "potential");
    strcpy(trace->units, "1");
    if (field_is_scattered(&j->source)) name_values(j, trace);
    trace->in_frequency = true;
    trace->origin.speed = j->speed;
    trace->origin.mirrors = j->source.mirrors;
    for (int64_t f = 0; f < trace->samples; ++f)
        trace->axis[f] = j->source.wavenumbers[f] * j->speed / (2 * M_PI);
    put_places(j, trace);
}

static ps_status evaluate(const job *j, ps_trace *trace)
{
    ps_progress progress;
    ps_status status = PS_OK;
    ps_progress_start(&progress, "summing", "frequencies", 0, trace->samples);
    for (int64_t f = 0; status == PS_OK && f < trace->samples; ++f) {
        double *im = trace->complex_values ? trace->imaginary + f * trace->channels : NULL;
        status = field_evaluate(&j->task, f, trace->real + f * trace->channels, im);
        ps_progress_update(&progress, f + 1);
    }
    ps_progress_end(&progress);
    for (int64_t i = 0; status == PS_OK && i < trace->samples * trace->channels; ++i)
        if (!isfinite(trace->real[i]) || (trace->complex_values && !isfinite(trace->imaginary[i])))
            status = ps_fail(PS_FAILED, "the field of channel %" PRId64 " is not finite",
                             i % trace->channels);
    return status;
}

/* Kernel values of the whole job. */
static double evaluations(const job *j)
{
    int64_t points = chosen.quadrature ? chosen.quadrature * chosen.quadrature : 6;
    int64_t batches = (j->task.count + 7) / 8, layers = 0;
    for (int l = 0; l < PS_LAYERS; ++l) layers += j->source.header->layer[l].factor != 0;
    int64_t targets = chosen.monostatic ? 8 : (j->receivers.count + 7) / 8 * 8;
    return (double)(layers * points * j->source.mesh.triangle_count * batches) * (double)targets *
           (double)j->source.frequencies;
}

static void report_task(const job *j, ps_report *r)
{
    ps_report_int(r, "triangles", j->source.mesh.triangle_count);
    ps_report_int(r, "incidences", j->task.count);
    ps_report_int(r, "frequencies", j->source.frequencies);
    ps_report_int(r, "channels", field_channels(&j->task));
    ps_report_real(r, "evaluations", evaluations(j));
}

static void report(const job *j, const ps_run *run, const ps_trace *trace)
{
    double peak = -INFINITY;
    for (int64_t i = 0; i < trace->samples * trace->channels; ++i)
        peak = fmax(peak, trace->complex_values ? hypot(trace->real[i], trace->imaginary[i])
                                                : trace->real[i]);
    ps_report *r = ps_report_new(run);
    report_task(j, r);
    ps_report_int(r, "points_inside", j->inside);
    ps_report_int(r, "points_on_surface", j->on);
    ps_report_int(r, "points_outside", j->outside);
    ps_report_int(r, "memory", field_memory(&j->task));
    ps_report_quantity(r, "largest_value", peak, trace->units);
    ps_report_run(r, ps_memory_peak());
    ps_report_print(&r);
}

/* Rank 0 writes what all have computed. */
static ps_status write_all(job *j, const ps_product *product, ps_trace *trace)
{
    PS_TRY(ps_product_put_trace(product, trace));
    if (chosen.pictures)
        PS_TRY(field_plane_pictures(&j->source, trace, chosen.pictures, product->options));
    if (chosen.surface)
        PS_TRY(field_surface_pictures(&j->source, j->task.first, j->speed, chosen.surface,
                                      product->options));
    report(j, product->run, trace);
    return PS_OK;
}

static ps_status make_trace(job *j, const ps_product *product)
{
    PS_SCOPED(ps_trace_release) ps_trace trace = {0};
    ps_status status = PS_OK;
    bool first = ps_comm_rank() == 0;
    if (first) {
        status = count_sides(j);
        if (status == PS_OK) status = check_converged(j);
    }
    PS_TRY(ps_comm_agree(status));
    PS_TRY(ps_trace_init(&trace, j->source.frequencies, field_channels(&j->task),
                         field_is_wave(&j->source)));
    describe(j, &trace);
    status = evaluate(j, &trace);
    if (status == PS_OK && chosen.quantity == TARGET_STRENGTH)
        ps_trace_to_target_strength(&trace, chosen.distance > 0 ? chosen.distance : 1);
    if (status == PS_OK && first) status = write_all(j, product, &trace);
    return ps_comm_agree(status);
}

static ps_status open_device(job *j)
{
    PS_TRY(ps_device_open(j->run->device, ps_comm_local_rank(), &j->device));
    if (ps_device_describe(j->device).kind != PS_DEVICE_CUDA) return PS_OK;
    return ps_stream_open(j->device, &j->task.stream);
}

static ps_status plan(const job *j)
{
    int64_t values = 2 * field_channels(&j->task) * j->source.frequencies;
    const ps_need need = {.arrays = 16 * values + (1 << 20),
                          .disk = 8 * values,
                          .seconds = 2e-9 * evaluations(j) / j->task.threads};
    PS_SCOPED(ps_report_print) ps_report *r = j->run->plan ? ps_report_new(j->run) : NULL;
    if (r) report_task(j, r);
    return ps_plan_take(j->run, &need, r);
}

static void release(job *j)
{
    ps_stream_close(&j->task.stream);
    ps_device_close(&j->device);
    field_source_close(&j->source);
    ps_receivers_release(&j->receivers);
}

static ps_status run_field(ps_run *run)
{
    PS_SCOPED(release) job j = {.run = run};
    ps_product product;
    ps_product_init(run, PS_TRACE_FORMAT, PS_TRACE_VERSION, &product);
    PS_TRY(ps_comm_agree(prepare(&j, &product)));
    if (ps_product_is_up_to_date(&product)) return PS_OK;
    PS_TRY(ps_comm_agree(ps_comm_rank() == 0 ? plan(&j) : PS_OK));
    if (run->plan) return PS_OK;
    PS_TRY(ps_comm_agree(open_device(&j)));
    return make_trace(&j, &product);
}

static const ps_allowance allowances[] = {
    {"no-field", "points on the side of the surface where there is no field"},
    {"unconverged", "solutions that did not converge"},
    {NULL, NULL}};

const ps_program ps_this_program = {
    .name = "hbem-field",
    .results = 5,
    .synopsis = "SOLUTION... OUTPUT",
    .description =
        "Sums the fields of the densities that penstock-hbem-solve found: the scattered or total "
        "pressure at points, planes and distant circles, the far field lim r e^{-ikr} u, and "
        "target strengths, bistatic or monostatic, directly over the surface. Waves of 1 Pa come "
        "in. Solutions of several wavenumbers, in one file or more, become a spectrum. Writes a "
        "trace, which penstock-plot, -compare and others read.",
    .examples =
        "  penstock-hbem-field hull.hdf ts.h5 --quantity target-strength --directions 3600 \\\n"
        "      --plane-normal 0,0,1 --distance 20000\n"
        "  penstock-hbem-field sweep.hdf back.h5 --monostatic --quantity target-strength\n"
        "  penstock-hbem-field run.hdf cut.h5 --quantity total --plane "
        "'-3,0,-3;6,0,0;0,0,6;61x61'",
    .options = options,
    .figures = figure_table,
    .allowances = allowances,
    .run = run_field,
    .parallel = true};
