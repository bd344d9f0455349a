/* Batches of right-hand sides: memory, the loop over steps, results. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/hbem_solve/solve.h"
#include "runtime/comm.h"
#include "runtime/first_failure.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/sizes.h"
#include "runtime/stop.h"

/* ---- memory ---- */

/* What is left of the device for chunks. */
static ps_status room_on_device(const solve_problem *p, int count, matrix *const *m, int64_t *out)
{
    *out = p->run->device_memory > 0 ? p->run->device_memory - p->systems_bytes : free_on_device(p);
    for (int i = 0; i < count; ++i)
        if (m[i]->device) *out -= device_matrix_fixed(m[i]->device);
    return *out > 0 ? PS_OK
                    : ps_fail(PS_EXHAUSTED, "vectors and tables leave nothing of --device-memory "
                                            "for the matrices: a smaller --batch helps");
}

/* Plans products on a device, of all matrices at once. */
static ps_status use_device(const solve_problem *p, int count, matrix *const *m, int64_t sides)
{
    ps_failure failure = {0};
#pragma omp parallel for num_threads(count)
    for (int i = 0; i < count; ++i)
        ps_note_failure(&failure, matrix_use_device(m[i], p->device, sides));
    return ps_first_failure(&failure);
}

/* Memory for each matrix of a group, by their sizes. */
typedef struct budget {
    int64_t host, device, bytes, sides;
} budget;

/* Opens a matrix, and reads what stays on a device. */
static ps_status open_matrix(matrix *m, const budget *b)
{
    double share = b->bytes > 0 ? (double)m->bytes / (double)b->bytes : 0;
    int64_t host = (int64_t)((double)b->host * share);
    if (!m->core && !m->device) host = ps_larger(host, matrix_least_bytes(m));
    PS_TRY(matrix_prepare(m, b->sides, host, (int64_t)((double)b->device * share)));
    return m->device ? device_matrix_load(m->device) : PS_OK;
}

/* All at once. */
static ps_status open_all(solve_problem *p, int count, matrix *const *m, const budget *b)
{
    double start = ps_clock();
    ps_failure failure = {0};
#pragma omp parallel for num_threads(count)
    for (int i = 0; i < count; ++i) ps_note_failure(&failure, open_matrix(m[i], b));
    PS_TRY(ps_first_failure(&failure));
    p->seconds[SECONDS_LOADING] += ps_clock() - start;
    return PS_OK;
}

/* Budget of each matrix of a group: what is left, by their sizes. */
static ps_status open_streams(solve_problem *p, const solve_group *group, int64_t sides)
{
    matrix *m[SLOTS];
    int count = group_matrices(p, group, m);
    budget b = {.host = p->room - batch_bytes(p, sides), .sides = sides};
    if (p->device && p->scene_count == 0) PS_TRY(use_device(p, count, m, sides));
    for (int i = 0; i < count; ++i) {
        b.host -= matrix_fixed_bytes(m[i], sides);
        if (m[i]->core && !p->device)
            b.host -= m[i]->bytes;
        else
            b.bytes += m[i]->bytes;
    }
    /* Streams of cores take their least then, which plan_memory has found room for. */
    if (b.host <= 0 && (p->device || p->scene_count > 0))
        return ps_fail(
            PS_EXHAUSTED,
            "vectors and sparse systems take %lld MiB and leave nothing of --host-memory "
            "for the matrices: a smaller --cycle or --batch, or --sparse iterative help",
            (long long)(batch_bytes(p, sides) >> 20));
    if (p->device && p->scene_count > 0) return PS_OK; /* they are there */
    if (p->device) PS_TRY(room_on_device(p, count, m, &b.device));
    return open_all(p, count, m, &b);
}

/* ---- one batch ---- */

typedef struct batch {
    solve_problem *p;
    equation *e;
    int64_t group, first, sides; /* loads [first, first + sides) */
    double *b, *data, *memory[PS_LOCKSTEP_PIECES];
    ps_lockstep_system system;
    ps_lockstep solver;
    batch_state state;
} batch;

static ps_status allocate(batch *t)
{
    int64_t doubles[PS_LOCKSTEP_PIECES];
    t->system = batch_system(t->p, t->sides);
    t->system.context = t->e;
    t->system.apply = equation_apply;
    t->system.precondition = equation_precondition;
    t->system.reduce = ps_comm_size() > 1 ? equation_reduce : NULL;
    ps_lockstep_memory(&t->system, &t->p->options.krylov, doubles);
    for (int i = 0; i < PS_LOCKSTEP_PIECES; ++i)
        PS_TRY(ps_alloc((void **)&t->memory[i], doubles[i], sizeof(double), "Krylov spaces"));
    PS_TRY(PS_ALLOC(&t->b, t->sides * problem_size(t->p), "right-hand sides"));
    PS_TRY(PS_ALLOC(&t->data, t->sides * equation_data_size(t->p), "boundary data"));
    t->system.b = t->b;
    ps_lockstep_options options = t->p->options.krylov;
    options.tolerance =
        weak_tolerance(t->p, t->p->groups[t->group].wavenumber, options.tolerance);
    return ps_lockstep_attach(&t->solver, &t->system, &options, t->memory);
}

static void release(batch *t)
{
    for (int i = 0; i < PS_LOCKSTEP_PIECES; ++i) free(t->memory[i]);
    PS_FREE(t->b, t->data);
}

static double worst_residual(const ps_lockstep *solver)
{
    double worst = 0;
    for (int64_t s = 0; s < solver->system->sides; ++s)
        worst = fmax(worst, solver->sides[s].residual);
    return worst;
}

static void tell(const batch *t)
{
    const ps_lockstep_progress *at = t->solver.progress;
    int64_t active = 0;
    for (int64_t s = 0; s < t->sides; ++s)
        active += !t->solver.sides[s].done && !t->solver.sides[s].resting;
    ps_info("k %.6g, sides %lld..%lld, product %lld: largest residual %.3e%s, %lld going on",
            t->p->groups[t->group].wavenumber, (long long)t->first,
            (long long)(t->first + t->sides - 1), (long long)at->products,
            worst_residual(&t->solver), at->closing ? " (estimated)" : "", (long long)active);
    solve_problem *p = t->p;
    int64_t batches = (p->load_count + p->batch - 1) / p->batch;
    double before = (double)(t->group * batches + t->first / p->batch);
    double part = ps_progress_of_residual(worst_residual(&t->solver), t->solver.options.tolerance);
    ps_progress_part(&p->progress, (before + part) / (double)(batches * p->group_count),
                     "product %lld, residual %.2e", (long long)at->products,
                     worst_residual(&t->solver));
}

/* Steps until all sides are done, or a wish to stop comes. */
static ps_status iterate(batch *t)
{
    solve_problem *p = t->p;
    while (!ps_lockstep_finished(&t->solver)) {
        if (ps_comm_any(p->products > 0 && ps_stop_requested())) { /* each run gets further */
            PS_TRY(state_save(&t->state));
            return ps_fail(PS_STOPPED, "stopped after %lld products; the same command continues",
                           (long long)p->products);
        }
        PS_TRY(ps_comm_agree(ps_lockstep_step(&t->solver)));
        ++p->products;
        tell(t);
        if (state_is_due(&t->state)) PS_TRY(state_save(&t->state));
    }
    return PS_OK;
}

/* values of the mesh's order from those of the matrices'. */
static void to_mesh_order(const solve_space *s, int parts, const double *from, double *to)
{
    int64_t n = s->space.dofs;
    for (int part = 0; part < parts; ++part)
        for (int64_t i = 0; i < n; ++i) to[part * n + s->order[i]] = from[part * n + i];
}

/* A side's solution, with its constants: in place, or in scratch. */
static ps_status finished(const batch *t, int64_t side, double *scratch, const double **out)
{
    const solve_problem *p = t->p;
    const double *x = t->solver.x + side * problem_size(p);
    *out = x;
    if (!finds_constants(p)) return PS_OK;
    memcpy(scratch, x, (size_t)problem_size(p) * sizeof *x);
    *out = scratch;
    return constants_add(p, scratch, t->data + side * equation_data_size(p));
}

/* What comes in, as the file says it. */
static void describe_load(const ps_hbem_load *load, ps_hbem_solution_entry *entry)
{
    entry->incident = load->kind == PS_LOAD_PLANE    ? PS_INCIDENT_PLANE
                      : load->kind == PS_LOAD_POINT  ? PS_INCIDENT_POINT
                      : load->kind == PS_LOAD_DIPOLE ? PS_INCIDENT_DIPOLE
                      : load->kind == PS_LOAD_TABLE  ? PS_INCIDENT_FILE
                                                     : PS_INCIDENT_NONE;
    double *to = load->kind == PS_LOAD_PLANE ? entry->direction : entry->source;
    memcpy(to, load->vector, sizeof load->vector); /* of the last two a number */
    if (entry->incident == PS_INCIDENT_DIPOLE) memcpy(to + 3, load->axis, sizeof load->axis);
}

/* Both traces of waves. */
static ps_status put_traces(const batch *t, int64_t side, double *numbers)
{
    solve_problem *p = t->p;
    int64_t index = t->group * p->load_count + t->first + side;
    const ps_hbem_solution_layer *layer = p->out.header.layer;
    double *pressure = layer[PS_LAYER_DOUBLE].factor != 0 ? numbers : NULL;
    double *flux = layer[PS_LAYER_SINGLE].factor != 0 ? numbers + problem_size(p) : NULL;
    PS_TRY(
        waves_traces(t->e, t->first + side, t->solver.x + side * problem_size(p), pressure, flux));
    if (pressure) PS_TRY(ps_hbem_solution_put(&p->out, PS_LAYER_DOUBLE, index, pressure));
    return flux ? ps_hbem_solution_put(&p->out, PS_LAYER_SINGLE, index, flux) : PS_OK;
}

/* One side to the output; numbers[] is scratch, twice what is put. */
static ps_status put_side(const batch *t, int64_t side, double *numbers)
{
    solve_problem *p = t->p;
    const ps_lockstep_side *s = &t->solver.sides[side];
    int64_t index = t->group * p->load_count + t->first + side, data = equation_data_size(p);
    const ps_hbem_load *load = &p->loads[t->first + side];
    ps_layer unknown = p->out.header.unknown;
    ps_hbem_solution_entry entry = {.wavenumber = p->groups[t->group].wavenumber,
                                    .absorption = p->options.absorption,
                                    .residual = s->residual,
                                    .iterations = s->steps};
    describe_load(load, &entry);
    p->out.entries[index] = entry;
    const double *x;
    if (p->options.problem == PROBLEM_HARD) return put_traces(t, side, numbers);
    PS_TRY(finished(t, side, numbers + problem_size(p), &x));
    to_mesh_order(&p->spaces[p->unknown], p->parts, x, numbers);
    PS_TRY(ps_hbem_solution_put(&p->out, unknown, index, numbers));
    if (data == 0) return PS_OK;
    to_mesh_order(&p->spaces[p->data], p->parts, t->data + side * data, numbers);
    return ps_hbem_solution_put(&p->out, PS_LAYERS - 1 - unknown, index, numbers);
}

/* Tolerances of the wave numbers of a sweep differ, so the largest residual may be no miss. */
static void keep_miss(const batch *t, int64_t side)
{
    solve_miss *worst = &t->p->miss;
    const solve_miss own = {t->p->groups[t->group].wavenumber, t->solver.sides[side].residual,
                            t->solver.options.tolerance, 1 + worst->sides};
    bool more = worst->sides == 0 || own.residual * worst->wanted > worst->residual * own.wanted;
    if (more) *worst = own;
    worst->sides = own.sides;
}

static ps_status put_results(const batch *t)
{
    solve_problem *p = t->p;
    PS_SCOPED_MEMORY double *numbers = NULL;
    int64_t most =
        equation_data_size(p) > problem_size(p) ? equation_data_size(p) : problem_size(p);
    ps_status status = PS_OK;
    for (int64_t s = 0; s < t->sides; ++s) {
        const ps_lockstep_side *side = &t->solver.sides[s];
        p->converged = p->converged && side->converged;
        p->residual = fmax(p->residual, side->residual);
        if (!side->converged) keep_miss(t, s);
        if (side->steps < p->steps_least) p->steps_least = side->steps;
        if (side->steps > p->steps_most) p->steps_most = side->steps;
    }
    if (ps_comm_rank() > 0) return PS_OK;
    if (p->options.problem == PROBLEM_HARD) most = 6 * p->mesh.triangle_count; /* dp1 */
    PS_TRY(PS_ALLOC(&numbers, 2 * most, "a solution"));
    for (int64_t s = 0; s < t->sides && status == PS_OK; ++s) status = put_side(t, s, numbers);
    return status;
}

static ps_status run_batch(batch *t, int64_t number)
{
    solve_problem *p = t->p;
    bool found = false, done, alone = p->batch == p->load_count * p->group_count;
    PS_TRY(ps_comm_agree(allocate(t)));
    PS_TRY(state_open(p, number, &t->solver, &t->state, &found));
    if (found) ps_lockstep_reopen(&t->solver);
    done = found && ps_lockstep_finished(&t->solver);
    if (!done || equation_data_size(p) > 0) {
        ps_status status = equation_right_side(t->e, t->first, t->sides, t->b, t->data);
        PS_TRY(ps_comm_agree(status));
    }
    if (found)
        ps_info("batch %lld goes on after %lld products", (long long)number,
                (long long)t->solver.progress->products);
    else
        PS_TRY(ps_comm_agree(ps_lockstep_begin(&t->solver)));
    PS_TRY(iterate(t));
    PS_TRY(ps_comm_agree(put_results(t)));
    return done || (alone && p->converged) ? PS_OK : state_save(&t->state);
}

/* ---- all ---- */

/* Bytes that stayed in memory, of the device or of the host. */
static int64_t resident_bytes(const matrix *m)
{
    ps_device_stream_stats on_device = {0};
    ps_chunk_stream_stats stats = {0};
    if (m->device && device_matrix_stats(m->device, &on_device) == PS_OK)
        return on_device.bytes[PS_TIER_DEVICE] + on_device.bytes[PS_TIER_HOST];
    if (m->stream) ps_chunk_stream_get_stats(m->stream, &stats);
    return stats.resident_bytes;
}

static void count_bytes(solve_problem *p, const solve_group *group)
{
    matrix *m[SLOTS];
    int count = group_matrices(p, group, m);
    for (int i = 0; i < count; ++i) {
        p->resident += resident_bytes(m[i]);
        p->sweep_bytes += m[i]->bytes;
        matrix_close_products(m[i]);
    }
}

/* Row sums of Laplace's operators that were assembled here: by one product of K and of W; of K' the
 * sums over columns, where its leaves are on the host. */
static ps_status check_sums(solve_problem *p, const solve_group *group)
{
    matrix *m[SLOTS];
    int count = group_matrices(p, group, m);
    for (int i = 0; i < count && p->scene_count > 0 && group->wavenumber == 0; ++i) {
        ps_hbem_kernel kernel = m[i]->header->kernel;
        if (kernel != PS_KERNEL_SLP && (kernel != PS_KERNEL_ADLP || !m[i]->device))
            PS_TRY(matrix_check_sums(p, m[i]));
    }
    return PS_OK;
}

/* The equation, and its matrices where they are assembled. */
static ps_status open_equation(solve_problem *p, const solve_group *group, equation *e)
{
    assembling a;
    ps_failure failure = {0};
    ps_progress progress;
    ps_progress_start(&progress, "preparing matrices", "", 0, 0);
    ps_note_failure(&failure, assembling_start(&a, p, group, p->batch));
    if (!ps_has_failed(&failure)) ps_note_failure(&failure, equation_open(p, group, p->batch, e));
    ps_note_failure(&failure, assembling_wait(&a));
    ps_progress_end(&progress);
    return ps_first_failure(&failure);
}

static batch batch_at(solve_problem *p, equation *e, int64_t group, int64_t number)
{
    batch t = {.p = p, .e = e, .group = group, .first = number * p->batch, .sides = p->batch};
    if (t.first + t.sides > p->load_count) t.sides = p->load_count - t.first;
    return t;
}

/* Whether an earlier run finished a batch. */
static ps_status look_at_batch(batch *t, int64_t number, bool *finished)
{
    PS_TRY(ps_comm_agree(allocate(t)));
    PS_TRY(state_open(t->p, number, &t->solver, &t->state, finished));
    if (*finished) ps_lockstep_reopen(&t->solver);
    *finished = *finished && ps_lockstep_finished(&t->solver);
    return PS_OK;
}

/* Whether all of a wave number is: then nothing is assembled for it. */
static ps_status look_at_group(solve_problem *p, int64_t group, bool *finished)
{
    int64_t batches = (p->load_count + p->batch - 1) / p->batch;
    equation none = {.p = p, .group = &p->groups[group]};
    *finished = p->options.problem == PROBLEM_HARD && p->group_count > 1;
    for (int64_t b = 0; *finished && b < batches; ++b) {
        batch t = batch_at(p, &none, group, b);
        ps_status status = look_at_batch(&t, group * batches + b, finished);
        release(&t);
        PS_TRY(status);
    }
    return PS_OK;
}

/* The equation of a wave number, with its matrices unless only results are to be written. */
static ps_status open_group(solve_problem *p, const solve_group *at, bool finished, equation *e)
{
    if (finished) return ps_comm_agree(equation_open(p, at, p->batch, e));
    PS_TRY(ps_comm_agree(open_equation(p, at, e)));
    PS_TRY(ps_comm_agree(open_streams(p, at, p->batch)));
    PS_TRY(check_sums(p, at));
    return long_wave_check(e);
}

static ps_status run_group(solve_problem *p, int64_t group)
{
    const solve_group *at = &p->groups[group];
    int64_t batches = (p->load_count + p->batch - 1) / p->batch;
    equation e = {0};
    bool finished;
    PS_TRY(look_at_group(p, group, &finished));
    if (!finished && p->products > 0 && ps_comm_any(ps_stop_requested()))
        return ps_fail(PS_STOPPED,
                       "stopped after %lld of %d wave numbers; the same command continues",
                       (long long)group, p->group_count);
    ps_status status = open_group(p, at, finished, &e);
    for (int64_t b = 0; status == PS_OK && b < batches; ++b) {
        batch t = batch_at(p, &e, group, b);
        status = run_batch(&t, group * batches + b);
        release(&t);
    }
    equation_close(&e);
    count_bytes(p, at);
    return status;
}

ps_status solve_batches(solve_problem *p)
{
    ps_status status = PS_OK;
    p->converged = true;
    p->steps_least = INT64_MAX;
    ps_progress_start(&p->progress, "solving", "", 0, 0);
    for (int g = 0; g < p->group_count && status == PS_OK; ++g) status = run_group(p, g);
    ps_progress_end(&p->progress);
    return status;
}
