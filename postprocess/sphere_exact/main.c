#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/history.h"
#include "formats/receivers.h"
#include "formats/surface_mesh.h"
#include "kernels/common/vec3.h"
#include "postprocess/sphere_exact/exact.h"
#include "runtime/memory.h"
#include "runtime/option_values.h"
#include "runtime/program.h"
#include "runtime/scope.h"
#include "stage/plan.h"
#include "stage/product.h"

static struct {
    int quantity;
    double radius, speed, dt, start, window, fmin, fmax;
    int64_t steps, count;
    bool half_step;
    const char *centre, *angles, *frequencies, *like, *mesh, *admittance;
    ps_text_list emitters;
    ps_receiver_words where;
} chosen = {.radius = 1, .window = 80, .centre = "0,0,0", .where = PS_RECEIVER_WORDS};

static const ps_option options[] = {
    PS_CHOICE("quantity", &chosen.quantity,
              "soft-density|soft-far|hard-surface|hard-far|soft-field|hard-field|uniform-density",
              PS_IDENTITY,
              "density -d_n u, surface pressure, far field, scattered field at points"),
    PS_REAL("radius", &chosen.radius, "METRES", 1e-9, 1e9, PS_IDENTITY, "radius, m"),
    PS_TEXT("centre", &chosen.centre, "X,Y,Z", PS_IDENTITY, "centre of the sphere, m"),
    PS_REAL("speed", &chosen.speed, "M/S", 0, 1e12, PS_IDENTITY, "wave speed (--like knows it)"),
    PS_LIST("emitter", &chosen.emitters, "TEXT", PS_IDENTITY,
            "as of tdbem-march: plane:dir=0,0,1:width=1e-3, uniform:width=1 (--like knows them)"),
    PS_TEXT("admittance", &chosen.admittance, "TEXT", PS_IDENTITY,
            "of a hard sphere that gives way: all:b0=X:pole=A,LAMBDA:pair=..., as of "
            "penstock-tdbem-march"),
    PS_TEXT("like", &chosen.like, "FILE", 0,
            "take axis, speed and emitters, of a trace its places too, from this history or trace"),
    PS_TEXT("mesh", &chosen.mesh, "MESH", 0,
            "channels: directions of its triangles (soft) or vertices (hard)"),
    PS_TEXT("angles", &chosen.angles, "A,B,...", PS_IDENTITY,
            "channels: angles to the direction of the wave, degrees"),
    PS_RECEIVER_POINT_OPTIONS(chosen.where),
    PS_RECEIVER_DIRECTION_OPTIONS(chosen.where),
    PS_REAL("dt", &chosen.dt, "SECONDS", 0, 1e9, PS_IDENTITY,
            "step: times are start + n dt, n = 1 .. steps"),
    PS_INT("steps", &chosen.steps, "N", 0, 1e12, PS_IDENTITY, "number of times"),
    PS_REAL("start", &chosen.start, "SECONDS", 0, 0, PS_IDENTITY,
            "time 0 of the steps (default 0)"),
    PS_FLAG("half-step", &chosen.half_step, PS_IDENTITY,
            "half a step earlier: where densities constant over a step stand"),
    PS_REAL("window", &chosen.window, "X", 10, 1e5, PS_IDENTITY, "period of the synthesis in R/c"),
    PS_TEXT("frequencies", &chosen.frequencies, "A,B,...", PS_IDENTITY,
            "instead of times: response to unit plane waves at these frequencies, Hz"),
    PS_REAL("fmin", &chosen.fmin, "HZ", 0, 1e12, PS_IDENTITY,
            "instead of times: from this frequency"),
    PS_REAL("fmax", &chosen.fmax, "HZ", 0, 1e12, PS_IDENTITY, "to this"),
    PS_INT("count", &chosen.count, "N", 0, 1e9, PS_IDENTITY, "in so many equal steps"),
    PS_OPTION_END};

/* Everything gathered before the computation; axis and receivers are owned. */
typedef struct plan {
    exact_task task;
    ps_receivers receivers;
    double *axis;
    int64_t samples;
    bool in_frequency;
    ps_trace_origin origin;
    ps_store *like, *mesh;
} plan;

static bool is_far(const plan *p)
{
    return p->task.quantity == EXACT_SOFT_FAR || p->task.quantity == EXACT_HARD_FAR;
}

static bool is_field(const plan *p)
{
    return p->task.quantity == EXACT_SOFT_FIELD || p->task.quantity == EXACT_HARD_FIELD;
}

/* ---- the axis ---- */

static ps_status list_times(plan *p)
{
    p->samples = chosen.steps;
    PS_TRY(PS_ALLOC(&p->axis, p->samples, "times"));
    for (int64_t n = 0; n < p->samples; ++n)
        p->axis[n] = chosen.start + ((double)(n + 1) - (chosen.half_step ? .5 : 0)) * chosen.dt;
    return PS_OK;
}

static ps_status list_frequencies(plan *p)
{
    enum { MANY = 4096 };
    double list[MANY];
    int count = 0;
    p->in_frequency = true;
    if (chosen.frequencies) PS_TRY(ps_parse_measures(chosen.frequencies, "HZ", list, MANY, &count));
    if (!chosen.frequencies && !(chosen.fmax > chosen.fmin && chosen.count > 1))
        return ps_fail(PS_USAGE, "--fmin, --fmax, --count: a rising range and at least 2 values");
    p->samples = chosen.frequencies ? count : chosen.count;
    PS_TRY(PS_ALLOC(&p->axis, p->samples, "frequencies"));
    for (int64_t i = 0; i < p->samples; ++i)
        p->axis[i] = chosen.frequencies ? list[i]
                                        : chosen.fmin + (chosen.fmax - chosen.fmin) * (double)i /
                                                            (double)(chosen.count - 1);
    return PS_OK;
}

static ps_status settle_axis(plan *p)
{
    if (chosen.frequencies || chosen.count || chosen.fmax > 0) {
        free(p->axis);
        p->axis = NULL;
        return list_frequencies(p);
    }
    if (p->axis) return PS_OK; /* --like trace */
    if (!(chosen.dt > 0) || chosen.steps < 1)
        return ps_fail(PS_USAGE, "say --dt and --steps, --frequencies, or --like FILE");
    return list_times(p);
}

/* ---- --like ---- */

static void take_emitters(plan *p, int count, const char (*texts)[256])
{
    p->origin.emitter_count = count;
    memcpy(p->origin.emitters, texts, (size_t)count * sizeof *texts);
}

static ps_status like_history(plan *p)
{
    ps_history *history = NULL;
    PS_TRY(ps_history_open(chosen.like, &history));
    const ps_history_header *header = ps_history_header_of(history);
    chosen.dt = header->slices.dt;
    chosen.steps = chosen.steps ? chosen.steps : header->steps;
    if (!(chosen.speed > 0)) chosen.speed = header->slices.speed;
    chosen.half_step = header->slices.formulation != PS_SOUND_HARD;
    take_emitters(p, header->emitter_count, header->emitters);
    ps_history_close(&history);
    return PS_OK;
}

static ps_status like_trace(plan *p)
{
    PS_SCOPED(ps_trace_release) ps_trace trace = {0};
    PS_TRY(ps_trace_load(chosen.like, &trace));
    p->axis = trace.axis;
    p->samples = trace.samples;
    p->in_frequency = trace.in_frequency;
    p->receivers = (ps_receivers){.count = trace.channels,
                                  .places = trace.places,
                                  .far_field = trace.far_field,
                                  .grid = {trace.grid[0], trace.grid[1]}};
    trace.axis = trace.places = NULL;
    if (!(chosen.speed > 0)) chosen.speed = trace.origin.speed;
    p->origin = trace.origin;
    return PS_OK;
}

static ps_status take_like(plan *p, ps_product *product)
{
    if (!chosen.like) return PS_OK;
    PS_TRY(ps_store_open(chosen.like, NULL, 0, &p->like));
    PS_TRY(ps_product_input(product, "like", p->like));
    const char *format = ps_store_format(p->like);
    if (strcmp(format, PS_HISTORY_FORMAT) == 0) return like_history(p);
    if (strcmp(format, PS_TRACE_FORMAT) == 0) return like_trace(p);
    return ps_fail(PS_USAGE, "--like: %s is a %s, not a history or a trace", chosen.like, format);
}

/* ---- channels ---- */

/* Directions at given angles to the first emitter's, in one plane with it. */
static ps_status add_angles(plan *p)
{
    enum { MANY = 4096 };
    double angles[MANY], across[3];
    int count = 0, least = 0;
    const double *e = p->task.incident.emitters[0].place;
    PS_TRY(ps_parse_reals(chosen.angles, ',', angles, MANY, &count));
    for (int d = 1; d < 3; ++d)
        if (fabs(e[d]) < fabs(e[least])) least = d;
    double length = sqrt(1 - e[least] * e[least]);
    for (int d = 0; d < 3; ++d) across[d] = ((d == least) - e[least] * e[d]) / length;
    for (int i = 0; i < count; ++i) {
        double a = angles[i] * M_PI / 180, v[3];
        for (int d = 0; d < 3; ++d) v[d] = cos(a) * e[d] + sin(a) * across[d];
        PS_TRY(ps_receivers_add(&p->receivers, false, v));
    }
    return PS_OK;
}

static ps_status add_mesh(plan *p)
{
    PS_SCOPED(ps_surface_mesh_release) ps_surface_mesh mesh = {0};
    double centre[3];
    PS_TRY(ps_parse_vector(chosen.centre, centre));
    PS_TRY(ps_surface_mesh_load(chosen.mesh, &mesh));
    exact_quantity quantity = p->task.quantity;
    bool cells = quantity == EXACT_SOFT_DENSITY || quantity == EXACT_UNIFORM_DENSITY;
    int64_t count = cells ? mesh.triangle_count : mesh.vertex_count;
    for (int64_t i = 0; i < count; ++i) {
        double v[3];
        const int32_t *corner = mesh.triangles + 3 * i;
        for (int d = 0; d < 3; ++d) {
            double sum = 0;
            for (int k = 0; cells && k < 3; ++k) sum += mesh.vertices[3 * corner[k] + d] / 3;
            v[d] = (cells ? sum : mesh.vertices[3 * i + d]) - centre[d];
        }
        PS_TRY(ps_receivers_add(&p->receivers, false, v));
    }
    return PS_OK;
}

static ps_status add_chosen(plan *p, ps_product *product)
{
    ps_receivers *r = &p->receivers;
    PS_TRY(ps_receivers_add_words(r, &chosen.where));
    if (chosen.angles) PS_TRY(add_angles(p));
    if (chosen.mesh) {
        PS_TRY(ps_store_open(chosen.mesh, NULL, 0, &p->mesh));
        PS_TRY(ps_product_input(product, "mesh", p->mesh));
        PS_TRY(add_mesh(p));
    }
    if (!r->count && p->task.quantity == EXACT_UNIFORM_DENSITY)
        PS_TRY(ps_receivers_add_direction(r, "0,0"));
    if (!r->count)
        return ps_fail(PS_USAGE, "say where: --mesh, --angles, --at, --points, --plane, "
                                 "--direction, --directions or --like TRACE");
    return PS_OK;
}

/* Surface quantities stand at points of the sphere, far fields at unit directions. */
static void place_channels(plan *p)
{
    for (int64_t c = 0; !is_field(p) && c < p->receivers.count; ++c) {
        double *v = p->receivers.places + 3 * c;
        double length = ps_norm3(v);
        for (int d = 0; d < 3; ++d) v[d] /= length > 0 ? length : 1;
    }
    p->receivers.far_field = is_far(p);
}

/* ---- the task ---- */

static ps_status take_incident(plan *p)
{
    ps_incident *incident = &p->task.incident;
    if (!(chosen.speed > 0)) return ps_fail(PS_USAGE, "--speed is missing");
    if (chosen.emitters.count > PS_EMITTERS_MAX)
        return ps_fail(PS_USAGE, "--emitter: at most %d of them", PS_EMITTERS_MAX);
    const char *texts[PS_EMITTERS_MAX];
    int count = chosen.emitters.count ? chosen.emitters.count : p->origin.emitter_count;
    for (int i = 0; i < count; ++i) {
        texts[i] = chosen.emitters.count ? chosen.emitters.items[i] : p->origin.emitters[i];
        PS_TRY(ps_emitter_parse(texts[i], &incident->emitters[i]));
        if (isnan(incident->emitters[i].delay) && !p->in_frequency)
            return ps_fail(PS_USAGE, "--emitter %s: say its delay", texts[i]);
    }
    incident->count = count;
    incident->speed = chosen.speed;
    return count ? PS_OK : ps_fail(PS_USAGE, "--emitter is missing");
}

static ps_status prepare(plan *p, ps_product *product)
{
    p->task.quantity = (exact_quantity)chosen.quantity;
    p->task.radius = chosen.radius;
    p->task.window = chosen.window;
    PS_TRY(ps_parse_vector(chosen.centre, p->task.centre));
    char where[PS_WHERE_MAX];
    p->task.lined = chosen.admittance != NULL;
    if (p->task.lined) PS_TRY(ps_admittance_parse(chosen.admittance, where, &p->task.beta));
    PS_TRY(take_like(p, product));
    PS_TRY(settle_axis(p));
    PS_TRY(take_incident(p));
    PS_TRY(add_chosen(p, product));
    place_channels(p);
    PS_TRY(ps_product_note(product, "receivers=%016llx",
                           (unsigned long long)ps_receivers_hash(&p->receivers)));
    p->task.channels = p->receivers.count;
    p->task.places = p->receivers.places;
    if (p->in_frequency && p->task.quantity == EXACT_UNIFORM_DENSITY)
        return ps_fail(PS_USAGE, "--quantity uniform-density is known in time only");
    return exact_check(&p->task);
}

static void describe(const plan *p, ps_trace *trace)
{
    static const struct {
        const char *quantity, *units, *per_unit;
    } names[EXACT_QUANTITIES] = {{"density -dn u", "Pa/m", "1/m"},
                                 {"scattered far field", "Pa m", "m"},
                                 {"total pressure on the surface", "Pa", "1"},
                                 {"scattered far field", "Pa m", "m"},
                                 {"scattered pressure", "Pa", "1"},
                                 {"scattered pressure", "Pa", "1"},
                                 {"density -dn u", "Pa/m", "1/m"}};
    ps_receivers_put(&p->receivers, trace);
    if (!is_far(p) && !is_field(p))
        for (int64_t i = 0; i < 3 * trace->channels; ++i)
            trace->places[i] = trace->places[i] * chosen.radius + p->task.centre[i % 3];
    memcpy(trace->axis, p->axis, (size_t)p->samples * sizeof *p->axis);
    trace->in_frequency = p->in_frequency;
    strcpy(trace->quantity, names[chosen.quantity].quantity);
    strcpy(trace->units,
           p->in_frequency ? names[chosen.quantity].per_unit : names[chosen.quantity].units);
    trace->origin.speed = chosen.speed;
    trace->origin.dt = chosen.dt;
    trace->origin.emitter_count = p->in_frequency ? 0 : p->task.incident.count;
    for (int i = 0; i < trace->origin.emitter_count; ++i)
        ps_emitter_print(&p->task.incident.emitters[i], trace->origin.emitters[i], 256);
}

static ps_status compute_and_save(const plan *p, const ps_product *product)
{
    PS_SCOPED(ps_trace_release) ps_trace trace = {0};
    PS_TRY(ps_trace_init(&trace, p->samples, p->receivers.count, p->in_frequency));
    describe(p, &trace);
    PS_TRY(p->in_frequency
               ? exact_in_frequency(&p->task, p->samples, p->axis, trace.real, trace.imaginary)
               : exact_in_time(&p->task, p->samples, p->axis, trace.real));
    return ps_product_put_trace(product, &trace);
}

static void release(plan *p)
{
    ps_store_close(&p->like);
    ps_store_close(&p->mesh);
    ps_receivers_release(&p->receivers);
    free(p->axis);
}

static ps_status run_sphere_exact(ps_run *run)
{
    PS_SCOPED(release) plan p = {.samples = 0};
    ps_product product;
    ps_product_init(run, PS_TRACE_FORMAT, PS_TRACE_VERSION, &product);
    PS_TRY(prepare(&p, &product));
    if (ps_product_is_up_to_date(&product)) return PS_OK;
    int64_t values = p.samples * p.receivers.count;
    const ps_need need = {.arrays = 32 * values + (1 << 20), /* and padded signals */
                          .disk = (p.in_frequency ? 16 : 8) * values,
                          .seconds = 1e-6 * (double)values};
    PS_TRY(ps_plan_tell(run, &need));
    if (run->plan) return PS_OK;
    return compute_and_save(&p, &product);
}

const ps_program ps_this_program = {
    .name = "sphere-exact",
    .synopsis = "OUTPUT",
    .description =
        "Writes exact solutions for a sound-soft or sound-hard sphere hit by plane pulses (Mie "
        "series and Fourier synthesis) as a trace, to compare whole files with. With --like the "
        "times, speed, emitters and, of a trace, the receivers are those of another file.",
    .examples = "  penstock-sphere-exact exact.h5 --like run.h5 --mesh mesh.h5 --quantity "
                "soft-density\n"
                "  penstock-sphere-exact far.h5 --quantity soft-far --like probed-far.h5\n"
                "  penstock-sphere-exact mie.h5 --quantity hard-far --speed 343 --radius 0.1 \\\n"
                "      --emitter plane:dir=0,0,1:width=1 --angles 0,90,180 --frequencies 100,200",
    .options = options,
    .run = run_sphere_exact};
