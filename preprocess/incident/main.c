/* penstock-incident: the loads of sounds on a mesh, step by step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/vec3.h"
#include "preprocess/incident/figure_table.h"
#include "preprocess/incident/incident.h"
#include "runtime/memory.h"
#include "runtime/progress.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"
#include "stage/plan.h"

static struct {
    ps_text_list sources, velocities, mirrors;
    const char *like, *samples, *panels, *flow;
    bool around;
    int64_t steps;
    double dt, speed, time, density;
    int formulation;
} chosen;

static const ps_option options[] = {
    PS_LIST("source", &chosen.sources, "TEXT", PS_IDENTITY,
            "a sound, up to 16 times: plane:dir=X,Y,Z, monopole:at=X,Y,Z or "
            "dipole:at=X,Y,Z:force=X,Y,Z; if it moves, :velocity=X,Y,Z and :turns=HZ "
            ":about=X,Y,Z:axis=X,Y,Z; then :width=SECONDS (:shape, :frequency, :delay as of "
            "tdbem-march --emitter), :frequency=HZ:ramp=SECONDS (0: constant) or :wave=FILE "
            "(:column=N :rate=HZ :delay=SECONDS), and :amplitude=PA (Pa m, Pa m^2)"),
    PS_LIST("velocity", &chosen.velocities, "TEXT", PS_IDENTITY,
            "the surface moves by itself, up to 16 times: all or a tag of the mesh, then "
            ":along=X,Y,Z (as a rigid body; else along its outward normals), the signal's parts as "
            "of --source, and :amplitude=M/S"),
    PS_REAL("density", &chosen.density, "KG/M3", 0, 1e9, PS_IDENTITY,
            "of the fluid, with --velocity"),
    PS_TEXT("samples", &chosen.samples, "FILE:quantity=KIND", PS_IDENTITY,
            "pressure, slope (d_n p), gradient or normal velocity at the mesh's vertices or "
            "centroids and equal times: text (time and values; places in :points=FILE) or HDF5 "
            "(points, time, KIND); :resample takes another rate"),
    PS_TEXT("panels", &chosen.panels, "FILE:pressure=FILE", PS_IDENTITY,
            "surface data of a flow code around what sounds (Ffowcs Williams and Hawkings): panels "
            "x,y,z,nx,ny,nz,area, pressures over times, :fluid=FILE velocities if fluid goes "
            "through, motion as of --source; or all in a CGNS file, :ambient=PA; needs --density"),
    PS_TEXT(
        "flow", &chosen.flow, "X,Y,Z", PS_IDENTITY,
        "the sources are in a uniform flow of this velocity (m/s), up to .3 of the speed of sound"),
    PS_TEXT("like", &chosen.like, "MATRIX", 0,
            "take step, speed and equation from this slice or block matrix"),
    PS_REAL("dt", &chosen.dt, "SECONDS", 0, 1e9, PS_IDENTITY, "step, without --like"),
    PS_REAL("speed", &chosen.speed, "M/S", 0, 1e12, PS_IDENTITY, "of sound, without --like"),
    PS_CHOICE("formulation", &chosen.formulation, "sound-soft-s|sound-soft-m|sound-hard",
              PS_IDENTITY, "equation, without --like"),
    PS_INT("steps", &chosen.steps, "N", 0, 1e9, PS_IDENTITY, "number of time steps"),
    PS_REAL("time", &chosen.time, "SECONDS", 0, 1e300, PS_IDENTITY,
            "time to cover, instead of --steps"),
    PS_FLAG("around", &chosen.around, PS_IDENTITY,
            "the closed rigid body turns that flow: sources and surface are taken to the time of "
            "Taylor's transformation, with errors of the order of the square of the Mach number"),
    PS_LIST(
        "mirror", &chosen.mirrors, "X,Y,Z:NX,NY,NZ:KIND", PS_IDENTITY,
        "plane through a point with a normal, rigid or soft, whose images of sources and panels "
        "come in, too; with --like its own"),
    PS_OPTION_END};

static const ps_allowance allowances[] = {
    {"short-pulse", "signals beyond what mesh and step resolve"},
    {"loud-start", "signals that are on the body already at t = 0"},
    {"inner-source", "sources that pass inside of a closed body"},
    {"close-source", "sources that come nearer to the surface than half an edge"},
    {NULL, NULL}};

typedef struct job {
    ps_surface_mesh mesh;
    ps_triangle *triangles;
    moving moving;
    sampled sampled; /* without a file: none */
    source_text panels;
    sampled heard; /* of the panels */
    ps_store *mesh_store, *like;
    source_text sources[SOURCES_MAX], velocities[SOURCES_MAX];
    int velocity_count;
    ps_sound sounds[SOURCES_MAX];
    int count;
    ps_sounds all;
    ps_load load;
    ps_incident none;
    ps_incident_header header;
    ps_surface_flow around; /* vertices 0: none */
    double largest;
} job;

static void job_release(job *j)
{
    for (int i = 0; i < j->count; ++i) free(j->sources[i].recording.samples);
    for (int i = 0; i < j->velocity_count; ++i) free(j->velocities[i].recording.samples);
    moving_release(&j->moving);
    sampled_release(&j->sampled);
    sampled_release(&j->heard);
    free(j->triangles);
    ps_surface_flow_release(&j->around);
    ps_surface_mesh_release(&j->mesh);
    ps_store_close(&j->mesh_store);
    ps_store_close(&j->like);
}

/* ---- what is asked for ---- */

static ps_status parse_sources(job *j)
{
    int given = chosen.sources.count + chosen.velocities.count + (chosen.samples != NULL) +
                (chosen.panels != NULL);
    bool moves = chosen.velocities.count > 0 || chosen.panels;
    if (chosen.panels) PS_TRY(panels_parse(chosen.panels, &j->panels));
    if (chosen.samples) {
        PS_TRY(sampled_parse(chosen.samples, &j->sampled));
        moves |= j->sampled.quantity == SAMPLED_VELOCITY;
    }
    if (given == 0 || chosen.sources.count > SOURCES_MAX || chosen.velocities.count > SOURCES_MAX)
        return ps_fail(PS_USAGE,
                       "--source and --velocity are given up to %d times each, one, --samples or "
                       "--panels at least, as in --source monopole:at=0,0,5:wave=engine.wav",
                       SOURCES_MAX);
    if (moves != (chosen.density > 0))
        return ps_fail(PS_USAGE,
                       "velocities and panels need the fluid's --density (kg/m^3), nothing else "
                       "does");
    for (int i = 0; i < chosen.sources.count; ++i)
        PS_TRY(source_parse(chosen.sources.items[i], &j->sources[i]));
    j->count = chosen.sources.count;
    for (int i = 0; i < chosen.velocities.count; ++i)
        PS_TRY(velocity_parse(chosen.velocities.items[i], &j->velocities[i]));
    j->velocity_count = chosen.velocities.count;
    return PS_OK;
}

static ps_status settle_flow(job *j)
{
    if (!chosen.flow) return PS_OK;
    if (chosen.samples || chosen.panels || chosen.velocities.count > 0)
        return ps_fail(PS_USAGE,
                       "--flow is of --source alone: --samples, --panels and --velocity are "
                       "in fluid at rest");
    return around_parse(chosen.flow, &j->header);
}

static ps_status settle_around(const ps_run *run, job *j)
{
    if (!chosen.around) return PS_OK;
    if (!chosen.flow)
        return ps_fail(PS_USAGE, "--around is of --flow about closed sound-hard bodies");
    return around_settle(run, &j->mesh, j->sources, j->count, &j->header, &j->around);
}

/* Step, speed and equation: of a matrix, or given. */
static ps_status settle_grid(job *j)
{
    ps_slice_header s = {
        .formulation = (ps_formulation)chosen.formulation, .dt = chosen.dt, .speed = chosen.speed};
    PS_TRY(ps_reflectors_parse("--mirror", chosen.mirrors.count, chosen.mirrors.items, &s.mirrors));
    ps_reflectors_face(&s.mirrors, j->mesh.vertex_count, j->mesh.vertices);
    if (chosen.like &&
        (chosen.dt > 0 || chosen.speed > 0 || chosen.formulation || chosen.mirrors.count > 0))
        return ps_fail(PS_USAGE, "--dt, --speed, --formulation and --mirror are those of --like: "
                                 "leave them out");
    if (chosen.like) {
        PS_TRY(ps_store_open(chosen.like, NULL, 0, &j->like));
        PS_TRY_IN(ps_slice_header_get(j->like, &s), "--like %s", chosen.like);
        if (s.mesh_hash[0] && strcmp(s.mesh_hash, j->mesh.content_hash) != 0)
            return ps_fail(PS_INVALID, "%s was assembled from another mesh (content %s, not %s)",
                           chosen.like, s.mesh_hash, j->mesh.content_hash);
    } else if (!(chosen.dt > 0 && chosen.speed > 0)) {
        return ps_fail(PS_USAGE, "give --like MATRIX, or --dt, --speed and --formulation");
    }
    if ((chosen.steps > 0) == (chosen.time > 0))
        return ps_fail(PS_USAGE, "how long? Give either --steps N or --time SECONDS");
    double steps = chosen.steps > 0 ? (double)chosen.steps : ceil(chosen.time / s.dt - 1e-9);
    if (!(steps >= 1 && steps < 1e9)) return ps_fail(PS_USAGE, "%g steps are not 1 to 1e9", steps);
    bool hard = s.formulation == PS_SOUND_HARD;
    if (s.mirrors.count > 0 && (chosen.samples || chosen.velocities.count > 0))
        return ps_fail(PS_USAGE,
                       "--velocity and --samples do not go with planes that mirror: their images "
                       "are not made");
    j->header =
        (ps_incident_header){.formulation = s.formulation,
                             .combined = s.combined,
                             .steps = (int64_t)steps,
                             .unknowns = hard ? j->mesh.vertex_count : j->mesh.triangle_count,
                             .dt = s.dt,
                             .speed = s.speed,
                             .space_points = PS_LOAD_SPACE_POINTS,
                             .time_points = PS_LOAD_TIME_POINTS,
                             .mirrors = s.mirrors};
    snprintf(j->header.mesh_uuid, sizeof j->header.mesh_uuid, "%s", j->mesh.uuid);
    snprintf(j->header.mesh_hash, sizeof j->header.mesh_hash, "%s", j->mesh.content_hash);
    return settle_flow(j);
}

static double mean_edge(const ps_surface_mesh *mesh)
{
    double sum = 0;
    for (int64_t n = 0; n < 3 * mesh->triangle_count; ++n) {
        const int32_t *t = mesh->triangles;
        sum += ps_distance3(mesh->vertices + 3 * (int64_t)t[n],
                            mesh->vertices + 3 * (int64_t)t[n % 3 == 2 ? n - 2 : n + 1]);
    }
    return sum / (3 * (double)mesh->triangle_count);
}

/* When the signal begins: quiet on the whole body at t = 0 unless a delay says otherwise. */
static void settle_start(const job *j, source_text *s)
{
    ps_signal *g = &s->sound.signal;
    double first = 0;
    if (s->delayed && g->kind == PS_SIGNAL_PULSE) g->pulse.delay = s->delay;
    if (s->sound.kind == PS_SOUND_PLANE) {
        first = INFINITY;
        for (int64_t v = 0; v < j->mesh.vertex_count; ++v)
            first = fmin(first, ps_dot3(s->sound.place, j->mesh.vertices + 3 * v));
    }
    if (g->kind == PS_SIGNAL_PULSE && !s->delayed) {
        ps_incident one = {1, {g->pulse}, j->header.speed};
        one.emitters[0].delay = NAN;
        ps_incident_settle(&one, 0, NULL); /* from a delay of 0 on, in its own time */
        g->pulse.delay = one.emitters[0].delay - first / j->header.speed;
    }
    if (g->kind == PS_SIGNAL_RECORDED && !s->delayed) g->start = -first / j->header.speed;
    /* The front of a tone touches the body at t = 0. */
    if (g->kind == PS_SIGNAL_TONE && s->sound.kind == PS_SOUND_PLANE)
        for (int k = 0; k < 3; ++k) s->sound.centre[k] = first * s->sound.place[k];
}

/* Reads the wave that it names, if any, and finds when it begins. */
static ps_status settle_signal(const job *j, source_text *s, double top, const char *name,
                               ps_product *product)
{
    if (s->wave[0]) {
        PS_TRY(ps_product_file(product, name, s->wave));
        PS_TRY(recording_read(s, top));
    }
    settle_start(j, s);
    return PS_OK;
}

static ps_status settle_velocities(const ps_run *run, job *j, const check_of *c,
                                   ps_product *product)
{
    double top = ps_band_of(c->edge, c->dt, c->speed).usable;
    char name[32];
    bool samples = j->sampled.values && j->sampled.quantity == SAMPLED_VELOCITY;
    if (j->velocity_count == 0 && !samples) return PS_OK;
    if (j->header.formulation != PS_SOUND_HARD || !j->mesh.closed)
        return ps_fail(PS_INVALID,
                       "--velocity is of closed bodies and sound-hard matrices: %s is "
                       "%s, %s",
                       run->operands[0], j->mesh.closed ? "closed" : "open",
                       ps_formulation_name(j->header.formulation));
    for (int i = 0; i < j->velocity_count; ++i) {
        snprintf(name, sizeof name, "velocity-wave-%d", i);
        PS_TRY(settle_signal(j, &j->velocities[i], top, name, product));
        PS_TRY(check_velocity(run, c, &j->velocities[i]));
    }
    PS_SCOPED(ps_surface_velocity_release) ps_surface_velocity more = {.modes = 0};
    if (samples) PS_TRY(sampled_velocity(&j->sampled, chosen.density, &more));
    const moving_parts parts = {&j->mesh,          j->triangles, j->velocities,
                                j->velocity_count, &more,        chosen.density};
    return moving_init(&parts, &j->header, &j->moving);
}

static ps_status settle_samples(const ps_run *run, job *j, const check_of *c, ps_product *product)
{
    sampled *s = &j->sampled;
    PS_TRY(PS_ALLOC(&j->triangles, j->mesh.triangle_count, "triangles"));
    PS_TRY(ps_triangles_init(j->mesh.vertices, j->mesh.triangles, j->mesh.triangle_count,
                             j->triangles));
    double top = ps_band_of(c->edge, c->dt, c->speed).usable;
    if (chosen.panels) {
        PS_TRY(ps_product_file(product, "panels", j->panels.where));
        PS_TRY(ps_product_file(product, "panels-pressure", j->panels.wave));
        if (j->panels.fluid[0]) PS_TRY(ps_product_file(product, "panels-fluid", j->panels.fluid));
    }
    if (!s->file[0]) return PS_OK;
    PS_TRY(ps_product_file(product, "samples", s->file));
    if (s->points[0]) PS_TRY(ps_product_file(product, "samples-points", s->points));
    return sampled_read(run, &j->header, &j->mesh, j->triangles, top, s);
}

/* The combined field equation takes pressures beside normal slopes, which samples do not tell. */
static ps_status check_combined(const job *j)
{
    if (j->header.combined == 0) return PS_OK;
    bool samples = j->sampled.file[0] && j->sampled.quantity != SAMPLED_VELOCITY;
    if (!samples && !chosen.panels) return PS_OK;
    return ps_fail(PS_INVALID,
                   "%s is of the combined field equation, for which loads are made of sources and "
                   "velocities: for other --samples and --panels assemble without --combined",
                   chosen.like);
}

static ps_status settle_sources(const ps_run *run, job *j, ps_product *product)
{
    check_of c = {.mesh = &j->mesh,
                  .edge = mean_edge(&j->mesh),
                  .dt = j->header.dt,
                  .speed = j->header.speed,
                  .duration = (double)j->header.steps * j->header.dt,
                  .mirrors = &j->header.mirrors,
                  .flow = j->header.flow};
    double top = ps_band_of(c.edge, c.dt, c.speed).usable;
    PS_TRY(check_combined(j));
    for (int i = 0; i < j->count; ++i) {
        source_text *s = &j->sources[i];
        char name[24];
        snprintf(name, sizeof name, "wave-%d", i);
        PS_TRY(settle_signal(j, s, top, name, product));
        PS_TRY(around_delay(&j->mesh, &j->around, c.speed, s));
        PS_TRY(check_source(run, &c, s));
        j->sounds[i] = ps_sound_in_flow(&s->sound, j->header.flow);
    }
    j->all = (ps_sounds){.count = j->count,
                         .sounds = j->sounds,
                         .mirrors = j->header.mirrors,
                         .flow = {j->header.flow[0], j->header.flow[1], j->header.flow[2]},
                         .speed = c.speed,
                         .edge = c.edge};
    if (j->header.mirrors.count > 0) PS_TRY(check_mirrors(&c));
    j->load =
        (ps_load){j->header.formulation, &j->mesh, &j->none, j->header.dt, j->header.combined};
    PS_TRY(settle_samples(run, j, &c, product));
    return settle_velocities(run, j, &c, product);
}

static ps_status prepare(const ps_run *run, job *j, ps_product *product)
{
    PS_TRY(parse_sources(j));
    PS_TRY(ps_surface_mesh_load(run->operands[0], &j->mesh));
    PS_TRY(ps_store_open(run->operands[0], PS_SURFACE_MESH_FORMAT, INT32_MAX, &j->mesh_store));
    PS_TRY(settle_grid(j));
    PS_TRY(settle_around(run, j));
    PS_TRY(ps_product_input(product, "mesh", j->mesh_store));
    if (j->like) PS_TRY(ps_product_input(product, "like", j->like));
    return settle_sources(run, j, product);
}

/* ---- the file ---- */

static ps_status fill(job *j, ps_incident_file *field, double *row, double *work)
{
    ps_progress progress;
    ps_progress_start(&progress, "loads", "steps", 0, j->header.steps);
    for (int64_t n = 1; n <= j->header.steps; ++n) {
        ps_sounds_load(&j->all, &j->load, n, row, work);
        moving_add_load(&j->moving, n, row);
        sampled_add_load(&j->sampled, n, row);
        sampled_add_load(&j->heard, n, row);
        for (int64_t i = 0; i < j->header.unknowns; ++i) {
            if (!isfinite(row[i]))
                return ps_fail(PS_FAILED, "the load of unknown %lld at step %lld is not finite",
                               (long long)i, (long long)n);
            j->largest = fmax(j->largest, fabs(row[i]));
        }
        PS_TRY(ps_incident_file_append(field, row));
        ps_progress_update(&progress, n);
    }
    ps_progress_end(&progress);
    return PS_OK;
}

static panels_of panels_for(const ps_run *run, const job *j)
{
    return (panels_of){run,
                       &j->header,
                       &j->mesh,
                       j->triangles,
                       ps_band_of(j->all.edge, j->header.dt, j->header.speed).usable,
                       chosen.density};
}

static ps_status make_file(job *j, const ps_product *product)
{
    PS_SCOPED_MEMORY double *row = NULL;
    PS_SCOPED_MEMORY double *work = NULL;
    PS_SCOPED(ps_incident_file_close) ps_incident_file *field = NULL;
    PS_TRY(PS_ALLOC(&row, j->header.unknowns, "a step"));
    PS_TRY(PS_ALLOC(&work, ps_load_workspace(&j->load) + 1, "a step"));
    PS_TRY(ps_incident_file_create(product->path, &product->identity, &j->header, &field));
    ps_store *store = ps_incident_file_store(field);
    PS_TRY(ps_product_record(product, store));
    PS_TRY(ps_store_put_int(store, "/", "source_count", j->count));
    for (int i = 0; i < j->count; ++i) {
        char name[24];
        snprintf(name, sizeof name, "source_%d", i);
        PS_TRY(ps_store_put_text(store, "/", name, j->sources[i].text));
    }
    for (int i = 0; i < j->velocity_count; ++i) {
        char name[32];
        snprintf(name, sizeof name, "velocity_%d", i);
        PS_TRY(ps_store_put_text(store, "/", name, j->velocities[i].text));
    }
    PS_TRY(ps_surface_velocity_put(&j->moving.velocity, store));
    PS_TRY(ps_surface_flow_put(&j->around, store));
    PS_TRY(moving_make_weights(&j->moving));
    const panels_of of = panels_for(product->run, j);
    if (chosen.panels) PS_TRY(panels_sample(&of, &j->panels, &j->heard));
    PS_TRY(fill(j, field, row, work));
    return ps_incident_file_commit(&field);
}

static ps_status tell(const ps_run *run, const job *j)
{
    ps_report *r = ps_report_new(run);
    double mach = ps_norm3(j->around.velocity) / j->header.speed, cut = j->sampled.cut;
    bool recorded = j->sampled.file[0];
    for (int i = 0; i < j->velocity_count; ++i) {
        cut = fmax(cut, j->velocities[i].recording.cut);
        recorded |= j->velocities[i].wave[0] != 0;
    }
    for (int i = 0; i < j->count; ++i) {
        mach = fmax(mach, ps_sound_speed(&j->sounds[i]) / j->header.speed);
        cut = fmax(cut, j->sources[i].recording.cut);
        recorded |= j->sources[i].wave[0] != 0;
    }
    ps_report_int(r, "unknowns", j->header.unknowns);
    ps_report_int(r, "steps", j->header.steps);
    ps_report_int(r, "sources", j->count);
    ps_report_int(r, "velocity_modes", j->moving.velocity.modes);
    ps_report_quantity(r, "largest_load", j->largest,
                       j->header.formulation == PS_SOUND_HARD ? "Pa m s" : "Pa m^2");
    ps_report_real(r, "mach_number", mach);
    if (recorded) {
        ps_report_real(r, "kept_below",
                       ps_band_of(j->all.edge, j->header.dt, j->header.speed).usable / (2 * M_PI));
        ps_report_real(r, "cut_energy", cut);
    }
    ps_report_run(r, ps_memory_peak());
    ps_report_print(&r);
    return PS_OK;
}

static ps_status run_incident(ps_run *run)
{
    PS_SCOPED(job_release) job j = {.count = 0};
    ps_product product;
    int version = chosen.around ? PS_INCIDENT_FILE_VERSION : chosen.flow ? 2 : 1;
    ps_product_init(run, PS_INCIDENT_FILE_FORMAT, version, &product);
    PS_TRY(prepare(run, &j, &product));
    if (ps_product_is_up_to_date(&product)) return PS_OK;
    int64_t row = 8 * j.header.unknowns;
    int64_t chunk = ps_smaller(row * j.header.steps, ps_larger(row, 4 << 20));
    double points = 21. * (double)j.mesh.triangle_count * j.count * (double)j.header.steps;
    points += moving_work(&j.moving);
    const panels_of of = panels_for(run, &j);
    int64_t heard = chosen.panels ? panels_bytes(&of, &j.panels) : 0;
    const ps_need need = {.arrays = row + chunk + 8 * ps_load_workspace(&j.load) +
                                    moving_bytes(&j.moving) + heard,
                          .writer = chunk,
                          .disk = row * j.header.steps,
                          .seconds = 5e-7 * points / (double)run->threads};
    PS_TRY(ps_plan_tell(run, &need));
    if (!run->plan) PS_TRY(make_file(&j, &product));
    return run->plan ? PS_OK : tell(run, &j);
}

const ps_program ps_this_program = {
    .name = "incident",
    .synopsis = "MESH OUTPUT",
    .description =
        "Writes the loads that sounds put on the mesh in every step, for penstock-tdbem-march "
        "--incident: recorded signals, sources that move and turn, dipoles, planes that mirror. "
        "Recordings (WAV, or tables of time and value) are low-passed to what mesh and step take; "
        "what that leaves out is told. Sources that meet the body, are faster than .95 of sound, "
        "begin before t = 0 or send what mesh and step do not resolve are refused. With --flow the "
        "sources are in a uniform flow, which the body turns with --around; without it the march "
        "refuses their loads unless allowed. With --velocity the surface itself sounds: the loads "
        "of a prescribed normal velocity.",
    .examples =
        "  penstock-incident hull.h5 hull.sound.h5 --like hull.slices.h5 --steps 2000 \\\n"
        "      --source monopole:at=0,0,30:wave=engine.wav:amplitude=2\n"
        "  penstock-incident hull.h5 rotor.h5 --like hull.slices.h5 --time .5 \\\n"
        "      --source dipole:at=2,0,1:about=0,0,1:axis=0,0,1:turns=20:force=0,0,1:frequency=0"
        ":ramp=.1\n"
        "  penstock-incident hull.h5 hum.h5 --like hull.slices.h5 --time .5 --density 1000 \\\n"
        "      --velocity engine-room:frequency=80:ramp=.05:amplitude=1e-3",
    .options = options,
    .figures = figure_table,
    .allowances = allowances,
    .run = run_incident};
