/* The inputs of a run, and whether they belong together. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/tdbem_march/march.h"
#include "compute/tdbem_march/team.h"
#include "runtime/comm.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/scope.h"

static ps_status read_options(const march_options *options, double speed, ps_incident *out)
{
    out->speed = speed;
    if (options->emitters.count == 0 && !options->incident)
        return ps_fail(PS_USAGE, "what comes in? Give --emitter, as in --emitter "
                                 "plane:dir=0,0,1:shape=gaussian:width=1e-3, or --incident FILE");
    if (options->emitters.count > 0 && options->incident)
        return ps_fail(PS_USAGE, "give --emitter or --incident, not both: penstock-incident takes "
                                 "emitters as --source, too");
    if (options->emitters.count > PS_EMITTERS_MAX)
        return ps_fail(PS_USAGE, "--emitter may be given %d times, not %d", PS_EMITTERS_MAX,
                       options->emitters.count);
    if (options->tolerance > 0 && options->tolerance < 1e-15)
        return ps_fail(PS_USAGE,
                       "--tolerance: %g is beyond what double numbers can tell; give "
                       "1e-15 or more, or 0",
                       options->tolerance);
    for (int i = 0; i < options->emitters.count; ++i)
        PS_TRY(ps_emitter_parse(options->emitters.items[i], &out->emitters[i]));
    out->count = options->emitters.count;
    return PS_OK;
}

static ps_status count_steps(const march_options *options, double dt, int64_t *out)
{
    if ((options->steps > 0) == (options->time > 0))
        return ps_fail(PS_USAGE, "how long? Give either --steps N or --time SECONDS");
    double steps = options->steps > 0 ? (double)options->steps : ceil(options->time / dt - 1e-9);
    if (!(steps >= 1 && steps < 1e9))
        return ps_fail(PS_USAGE, "--time %g is %g steps of %g s: expected 1 to 1e9", options->time,
                       steps, dt);
    *out = (int64_t)steps;
    return PS_OK;
}

static ps_status check_belonging(const problem *p)
{
    const ps_slice_header *header = &p->tiles.header;
    bool hard = header->formulation == PS_SOUND_HARD;
    int64_t there = hard ? p->mesh.vertex_count : p->mesh.triangle_count;
    if (header->mesh_hash[0] && strcmp(header->mesh_hash, p->mesh.content_hash))
        return ps_fail(PS_INVALID,
                       "%s was assembled from another mesh than %s (content %s, not %s): give that "
                       "mesh, or assemble again",
                       p->matrix, p->mesh_name, header->mesh_hash, p->mesh.content_hash);
    if (header->unknowns != there)
        return ps_fail(PS_INVALID,
                       "%s has %lld unknowns, %s has %lld %s: they do not belong together",
                       p->matrix, (long long)header->unknowns, p->mesh_name, (long long)there,
                       hard ? "vertices" : "triangles");
    if (!p->assembling && p->m0.rows != header->unknowns)
        return ps_fail(PS_INVALID, "%s: M^0 has %lld rows, not %lld", p->matrix,
                       (long long)p->m0.rows, (long long)header->unknowns);
    for (int i = 0; hard && i < p->incident.count; ++i)
        if (p->incident.emitters[i].kind == PS_EMITTER_UNIFORM)
            return ps_fail(PS_USAGE,
                           "--emitter uniform has no gradient: it makes no load on the "
                           "sound-hard matrix %s",
                           p->matrix);
    return PS_OK;
}

/* Area of a triangle, m^2. */
static double triangle_area(const ps_surface_mesh *mesh, int64_t triangle)
{
    const int32_t *corners = mesh->triangles + 3 * triangle;
    const double *a = mesh->vertices + 3 * corners[0], *b = mesh->vertices + 3 * corners[1];
    const double *c = mesh->vertices + 3 * corners[2];
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
        int l = (k + 1) % 3;
        double n = (b[k] - a[k]) * (c[l] - a[l]) - (b[l] - a[l]) * (c[k] - a[k]);
        sum += n * n;
    }
    return sqrt(sum) / 2;
}

static ps_status weigh_surface(problem *p)
{
    const ps_surface_mesh *mesh = &p->mesh;
    bool hard = p->tiles.header.formulation == PS_SOUND_HARD;
    PS_TRY(PS_ALLOC(&p->weights, p->tiles.header.unknowns, "the areas"));
    for (int64_t t = 0; t < mesh->triangle_count; ++t) {
        double area = triangle_area(mesh, t);
        p->area += area;
        if (!hard) p->weights[t] = area;
        for (int a = 0; hard && a < 3; ++a) p->weights[mesh->triangles[3 * t + a]] += area / 3;
    }
    for (int64_t i = 0; i < p->tiles.header.unknowns; ++i) p->weights[i] /= p->area;
    return PS_OK;
}

static ps_status open_far(const march_options *options, problem *p)
{
    if (!options->far && options->far_group > 0)
        return ps_fail(PS_USAGE, "--far-group is for runs with --far");
    if (!options->far) return far_not_needed(p->matrix, &p->tiles);
    PS_TRY(far_open(options->far, p->matrix, &p->tiles, &p->far));
    return far_set_group(&p->far, options->far_group, options->group);
}

/* Loads of another mesh, step, speed, equation or rule would be taken for those of this run. */
static ps_status check_recorded(const problem *p, const char *path)
{
    const ps_incident_header *h = ps_incident_file_header(p->recorded);
    const ps_slice_header *s = &p->tiles.header;
    if (strcmp(h->mesh_hash, p->mesh.content_hash) != 0)
        return ps_fail(PS_INVALID,
                       "%s holds loads of another mesh than %s (content %s, not %s): make it again "
                       "with penstock-incident",
                       path, p->mesh_name, h->mesh_hash, p->mesh.content_hash);
    if (h->formulation != s->formulation || h->unknowns != s->unknowns ||
        (h->combined > 0) != (s->combined > 0))
        return ps_fail(PS_INVALID, "%s holds loads of %s with %lld unknowns, %s is %s with %lld",
                       path, ps_equation_name(h->formulation, h->combined), (long long)h->unknowns,
                       p->matrix, ps_equation_name(s->formulation, s->combined),
                       (long long)s->unknowns);
    if (h->combined != s->combined)
        return ps_fail(PS_INVALID, "%s holds loads of --combined %g, %s has %g: make it again",
                       path, h->combined, p->matrix, s->combined);
    if (h->dt != s->dt || h->speed != s->speed)
        return ps_fail(PS_INVALID,
                       "%s holds loads of steps of %.17g s at %.17g m/s, %s has %.17g s and %.17g "
                       "m/s: make it again, with --like %s",
                       path, h->dt, h->speed, p->matrix, s->dt, s->speed, p->matrix);
    char ours[256], theirs[256];
    ps_reflectors_print(&s->mirrors, ours, sizeof ours);
    ps_reflectors_print(&h->mirrors, theirs, sizeof theirs);
    if (!ps_reflectors_same(&h->mirrors, &s->mirrors, s->speed * s->dt))
        return ps_fail(PS_INVALID,
                       "%s holds loads with the images of %s, %s was assembled with %s: make it "
                       "again, with --like %s",
                       path, theirs, p->matrix, ours, p->matrix);
    if (h->space_points != PS_LOAD_SPACE_POINTS || h->time_points != PS_LOAD_TIME_POINTS)
        return ps_fail(PS_INVALID, "%s was made by rules of %lld and %lld points, not %d and %d",
                       path, (long long)h->space_points, (long long)h->time_points,
                       PS_LOAD_SPACE_POINTS, PS_LOAD_TIME_POINTS);
    if (h->steps < p->steps)
        return ps_fail(PS_INVALID,
                       "%s holds loads of %lld steps, %lld are to be marched: make it longer, or "
                       "march less; what comes in later is not known",
                       path, (long long)h->steps, (long long)p->steps);
    return PS_OK;
}

static ps_status open_recorded(const ps_run *run, const march_options *options, problem *p)
{
    if (!options->incident) return PS_OK;
    PS_TRY(ps_incident_file_open(options->incident, &p->recorded));
    PS_TRY(check_recorded(p, options->incident));
    const ps_incident_header *h = ps_incident_file_header(p->recorded);
    PS_TRY(march_check_flow(run, h, options->incident));
    if (h->around && p->linings.count > 0)
        return ps_fail(PS_USAGE,
                       "%s is in the time of a flow about the body, in which walls that give way "
                       "answer otherwise: leave the lining or --around out",
                       options->incident);
    if (h->around)
        PS_TRY(ps_surface_flow_get(ps_incident_file_store(p->recorded), p->mesh.vertex_count,
                                   &p->flow));
    PS_TRY(ps_surface_velocity_get(ps_incident_file_store(p->recorded), h->steps, &p->velocity));
    ps_surface_velocity_shorten(&p->velocity, p->steps);
    if (p->velocity.modes == 0 || p->velocity.triangle_count == p->mesh.triangle_count)
        return PS_OK;
    return ps_fail(PS_INVALID, "%s moves %lld triangles, %s has %lld", options->incident,
                   (long long)p->velocity.triangle_count, p->mesh_name,
                   (long long)p->mesh.triangle_count);
}

ps_status problem_load(const problem *p, int64_t n, double *out, double *work)
{
    if (p->recorded) return ps_incident_file_read(p->recorded, n, out);
    ps_load_evaluate(&p->load, n, out, work);
    return PS_OK;
}

/* A mesh, where the matrix is expected: it is assembled in memory. */
static ps_status is_mesh(const char *path, bool *out)
{
    PS_SCOPED(ps_store_close) ps_store *store = NULL;
    PS_TRY(ps_store_open(path, NULL, INT32_MAX, &store));
    *out = strcmp(ps_store_format(store), PS_SURFACE_MESH_FORMAT) == 0;
    return PS_OK;
}

/* The matrix, and the name of the mesh. */
static ps_status open_matrix(const ps_run *run, const march_options *options, problem *p)
{
    bool alone;
    p->matrix = run->operands[0];
    PS_TRY(is_mesh(p->matrix, &alone));
    p->mesh_name = run->operands[alone ? 0 : 1];
    if (!alone) {
        PS_TRY(assembling_not_needed(&options->assembling));
        PS_TRY(tiles_open(p->matrix, ps_comm_rank(), ps_comm_size(), &p->tiles));
        PS_TRY(linings_refuse_matrix(p->matrix, &p->tiles.header));
        PS_TRY(open_far(options, p));
        return linings_open(&options->linings, &options->admittances, p->matrix, &p->tiles,
                            &p->linings);
    }
    if (options->far || options->far_group > 0)
        return ps_fail(PS_USAGE,
                       "--far is for matrices in files: %s is a mesh, of which all lags are "
                       "assembled",
                       p->matrix);
    if (options->linings.count > 0)
        return ps_fail(PS_USAGE,
                       "--lining is for matrices in files: of the mesh %s linings are assembled as "
                       "well, --admittance tells which; leave --lining out",
                       p->matrix);
    PS_TRY(PS_ALLOC(&p->assembling, 1, "the assembly"));
    assembling_options how = options->assembling;
    how.group = options->group;
    how.host_too = options->cpu_worker == CPU_WORKER_ON || options->solver == SOLVER_CHOLESKY;
    PS_TRY(assembling_open(run, &how, p->assembling, &p->tiles));
    return linings_plan(run, &how, &options->admittances, &p->linings);
}

ps_status problem_operands(ps_run *run)
{
    bool alone;
    PS_TRY(is_mesh(run->operands[0], &alone));
    int most = alone ? 2 : 3;
    if (run->operand_count > most || run->operand_count < most - (run->plan ? 1 : 0))
        return ps_fail(PS_USAGE, "%s arguments: %s is a %s: give %s",
                       run->operand_count > most ? "too many" : "too few", run->operands[0],
                       alone ? "mesh" : "matrix", alone ? "MESH OUTPUT" : "MATRIX MESH OUTPUT");
    run->output = run->operand_count == most ? run->operands[most - 1] : NULL;
    return run->output ? ps_path_check_spared(run->output) : PS_OK;
}

/* One device alone, which holds what the ledger has for it and partial sums. */
static ps_status find_target(const ps_run *run, const march_options *options,
                             const march_plan *plan, const problem *p, assembling_target *out)
{
    int ordinals[TEAM_DEVICES], count;
    const ps_ledger *l = &plan->ledger;
    *out = (assembling_target){.group = options->group};
    if (plan->devices != 1 || options->cpu_worker == CPU_WORKER_ON) return PS_OK;
    PS_TRY(team_devices(run, p, ordinals, &count));
    out->alone = count == 1;
    out->ordinal = ordinals[0];
    out->fixed = ps_ledger_now(l, "past") + 2 * ps_ledger_now(l, "sums") +
                 ps_ledger_most(l, "near_matrices") + ps_ledger_now(l, "solver") +
                 device_summation_fixed(&p->tiles.header, options->group);
    for (int q = 0; q < p->linings.count; ++q)
        out->fixed += p->linings.each[q].assembling->plan.kept_bytes / 16 * 17 +
                      device_summation_fixed(&p->tiles.header, options->group);
    return PS_OK;
}

ps_status problem_assemble(const ps_run *run, const march_options *options, const march_plan *plan,
                           problem *p)
{
    assembling_target target;
    if (!p->assembling) return PS_OK;
    PS_TRY(find_target(run, options, plan, p, &target));
    PS_TRY(assembling_run(run, p->assembling, &target, &p->tiles, &p->m0));
    PS_TRY(linings_assemble(run, &p->tiles, &p->linings));
    march_tell_passivity(p);
    return PS_OK;
}

static ps_status open_inputs(const ps_run *run, const march_options *options, problem *p)
{
    PS_TRY(read_options(options, 1, &p->incident)); /* bad options first, files later */
    PS_TRY(open_matrix(run, options, p));
    const ps_slice_header *header = &p->tiles.header;
    p->incident.speed = header->speed;
    PS_TRY(count_steps(options, header->dt, &p->steps));
    PS_TRY(ps_surface_mesh_load(p->mesh_name, &p->mesh));
    PS_TRY(ps_store_open(p->mesh_name, "penstock-surface-mesh", INT32_MAX, &p->mesh_store));
    if (!p->assembling) PS_TRY(tiles_load_m0(&p->tiles, &p->m0));
    PS_TRY(check_belonging(p));
    PS_TRY(linings_check_mesh(&p->linings, &p->mesh));
    bool unsymmetric = header->combined > 0 || p->linings.count > 0;
    PS_TRY(solver_choose(options->solver, unsymmetric, &p->solver));
    if (options->project_mean && unsymmetric)
        return ps_fail(PS_USAGE,
                       "--project-mean takes the drift of rigid bodies out, which the combined "
                       "field equation does not have, and linings not so evenly: leave it out");
    ps_incident_settle(&p->incident, p->mesh.vertex_count, p->mesh.vertices);
    p->emitters = p->incident.count;
    PS_TRY(ps_incident_add_images(&p->incident, &header->mirrors));
    p->load = (ps_load){header->formulation, &p->mesh, &p->incident, header->dt, header->combined};
    PS_TRY(open_recorded(run, options, p));
    if (!p->assembling) march_tell_passivity(p);
    PS_TRY(march_check_incoming(run, p));
    p->tolerance = options->tolerance > 0           ? options->tolerance
                   : header->precision == PS_SINGLE ? 1e-7
                                                    : 1e-12;
    return weigh_surface(p);
}

ps_status problem_open(const ps_run *run, const march_options *options, problem *out)
{
    memset(out, 0, sizeof *out);
    return ps_comm_agree(open_inputs(run, options, out));
}

tiles *problem_swept(problem *p) { return p->symmetric ? &p->upper : &p->tiles; }

void problem_release(problem *p)
{
    near_forget(&p->near);
    symmetric_close(&p->upper);
    tiles_close(&p->tiles);
    if (p->assembling) assembling_close(p->assembling);
    free(p->assembling);
    far_close(&p->far);
    linings_close(&p->linings);
    ps_surface_mesh_release(&p->mesh);
    ps_store_close(&p->mesh_store);
    ps_csr_release(&p->m0);
    ps_incident_file_close(&p->recorded);
    ps_surface_velocity_release(&p->velocity);
    ps_surface_flow_release(&p->flow);
    free(p->weights);
    memset(p, 0, sizeof *p);
}

ps_status problem_inputs(const problem *p, ps_product *product)
{
    if (!p->assembling) PS_TRY(ps_product_input(product, "matrix", tiles_store(&p->tiles)));
    PS_TRY(ps_product_input(product, "mesh", p->mesh_store));
    PS_TRY(linings_inputs(&p->linings, product));
    if (p->recorded)
        PS_TRY(ps_product_input(product, "incident", ps_incident_file_store(p->recorded)));
    return p->far.group > 0 ? ps_product_input(product, "far", tiles_store(&p->far.tiles)) : PS_OK;
}

void problem_history_header(const problem *p, const march_options *options, ps_history_header *out)
{
    *out = (ps_history_header){.slices = p->tiles.header,
                               .steps = p->steps,
                               .group = options->group,
                               .emitter_count = p->emitters};
    if (p->flow.vertices > 0) out->flow = &p->flow;
    linings_describe(&p->linings, out);
    for (int i = 0; i < p->emitters; ++i)
        ps_emitter_print(&p->incident.emitters[i], out->emitters[i], sizeof out->emitters[i]);
}
