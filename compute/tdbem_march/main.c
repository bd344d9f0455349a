/*
 * penstock-tdbem-march: marching on in time with slice or block matrices.
 */
#include <stdio.h>
#include <string.h>

#include "compute/tdbem_march/figure_table.h"
#include "compute/tdbem_march/march.h"
#include "compute/tdbem_march/team.h"
#include "kernels/common/reals.h"
#include "runtime/comm.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "runtime/stop.h"
#include "stage/product.h"

static march_options options = {.group = 8,
                                .checkpoint_every = {.seconds = 600},
                                .balance = 12,
                                .assembling = ASSEMBLING_DEFAULTS};

static const ps_option table[] = {
    PS_INT("steps", &options.steps, "N", 1, 1e9, PS_IDENTITY, "number of time steps"),
    PS_REAL("time", &options.time, "SECONDS", 1e-300, 1e300, PS_IDENTITY,
            "time to cover, instead of --steps"),
    PS_LIST("emitter", &options.emitters, "TEXT", PS_IDENTITY,
            "what comes in, up to 16 times: plane:dir=X,Y,Z, point:at=X,Y,Z or uniform, then "
            ":width=SECONDS and, if wanted, :shape=gaussian|derivative|ricker|modulated|step, "
            ":frequency=HZ (modulated), :delay=SECONDS, :amplitude=PA"),
    PS_TEXT(
        "incident", &options.incident, "FILE", 0,
        "what comes in, instead of --emitter: loads that penstock-incident made for this mesh and "
        "step"),
    PS_INT("group", &options.group, "N", 1, PS_GROUP_MAX, PS_IDENTITY,
           "steps computed in one sweep (8, 16, 32)"),
    PS_TEXT("far", &options.far, "FILE", 0,
            "the far lags, where MATRIX holds the near ones (penstock-slice-block --k-from, "
            "--k-below): swept once in many steps"),
    PS_INT("far-group", &options.far_group, "N", 0, 1e6, PS_IDENTITY,
           "steps computed in one sweep over the far lags: a multiple of --group, at most the "
           "first far lag; 0: as many as that allows"),
    PS_LIST(
        "lining", &options.linings, "FILE", 0,
        "what a part of the surface adds where it gives way (penstock-slice-assemble --lining), "
        "up to 4 times; of a mesh alone it is assembled, --admittance says where"),
    PS_LIST("admittance", &options.admittances, "TEXT", PS_IDENTITY,
            "of that part, WHERE as --lining said it: "
            "WHERE:b0=X:pole=A,LAMBDA:pair=ReA,ImA,ReLAMBDA,ImLAMBDA, rho c v/p = b0 + sum "
            "A/(s+lambda), or WHERE:impedance=Z for p/(rho c v); refused unless passive"),
    PS_CHOICE("solver", &options.solver, "cg|cholesky", PS_IDENTITY, "how M^0 is solved"),
    PS_REAL("tolerance", &options.tolerance, "X", 0, 0.1, PS_IDENTITY,
            "relative residual of conjugate gradients; 0: 1e-12 for double data, 1e-7 for single"),
    PS_REAL("solve-tolerance", &options.tolerance, "X", 0, 0.1, 0, NULL),
    PS_INTERVAL("checkpoint-every", &options.checkpoint_every, PS_EVERY, 0,
                "between checkpoints: 60s, 5min or 1000steps; 0: only when stopped"),
    PS_INT("snapshots", &options.snapshots, "N", 0, 1e9, 0,
           "write the surface densities of every N-th step for ParaView, beside OUTPUT; 0: none"),
    PS_FLAG("project-mean", &options.project_mean, PS_IDENTITY,
            "sound-hard closed bodies: once the loads are over, take the drifting mean out"),
    PS_CHOICE("cpu-worker", &options.cpu_worker, "auto|on|off", 0,
              "with GPUs: do the cores take a part of the sums? auto: if the blocks exceed the "
              "GPUs' memory"),
    PS_CHOICE("symmetric", &options.assembling.symmetric, "auto|on|off", 0,
              "do tiles above the diagonal stand for those below it, in half of the memory? auto: "
              "where the whole would not stay in memory"),
    PS_INT("balance", &options.balance, "N", 0, 10000, 0,
           "groups in which the parts of several workers may be moved; 0: equal parts that stay"),
    PS_CHOICE(
        "formulation", &options.assembling.assembly.scene.formulation,
        "sound-soft-s|sound-soft-m|sound-hard", PS_IDENTITY,
        "of a mesh that is given alone; this and the following as in penstock-slice-assemble"),
    PS_REAL("dt", &options.assembling.assembly.scene.dt, "SECONDS", 0, 1e30, PS_IDENTITY,
            "time step; or give --courant"),
    PS_REAL("courant", &options.assembling.assembly.scene.courant, "H_OVER_D", 0, 1e30, PS_IDENTITY,
            "mean edge / (speed dt), sets the time step"),
    PS_REAL("speed", &options.assembling.assembly.scene.speed, "M/S", 1e-30, 1e30, PS_IDENTITY,
            "speed of sound c"),
    PS_CHOICE("points", &options.assembling.rule, "auto|3|6|7|12", PS_IDENTITY,
              "points of the outer rule on a triangle"),
    PS_CHOICE("precision", &options.assembling.assembly.precision, PS_FP32 "|" PS_FP64, PS_IDENTITY,
              "of the values of k >= 1"),
    PS_CHOICE("values", &options.assembling.halves, "same|f16", PS_IDENTITY,
              "of a mesh that is given alone: f16: halves with a power of two as scale for each "
              "row-vector, as in penstock-slice-block"),
    PS_FLAG("screen", &options.assembling.assembly.scene.screen, PS_IDENTITY,
            "sound-hard: the surface may be open, a thin rigid screen"),
    PS_TEXT(
        "combined", &options.assembling.combined, "ALPHA|auto", PS_IDENTITY,
        "sound-hard closed bodies: the combined field equation (Burton-Miller), without interior "
        "resonances; .25 is usual, .1 for thin bodies (auto); 0: none"),
    PS_LIST("mirror", &options.assembling.assembly.scene.mirror, "X,Y,Z:NX,NY,NZ:KIND", PS_IDENTITY,
            "a rigid or soft plane beyond which there is no fluid; with a matrix: its own"),
    PS_OPTION_END};

/* Gives all ranks what rank 0 has read from the record. */
static ps_status share_state(march *m, int64_t step)
{
    int64_t item = ps_real_bytes(m->window.precision);
    PS_TRY(ps_comm_broadcast(&step, sizeof step, 0));
    m->first = m->done = step;
    if (step == 0) return PS_OK;
    PS_TRY(ps_comm_broadcast(&m->figures, sizeof m->figures, 0));
    PS_TRY(ps_comm_broadcast(m->window.data, m->window.unknowns * m->window.stride * item, 0));
    if (m->linings.states > 0)
        PS_TRY(ps_comm_broadcast(m->linings.state, m->linings.states * 8, 0));
    for (int64_t back = 1; back <= 2; ++back)
        window_step(&m->window, back, m->solver.last[back - 1]);
    return PS_OK;
}

/* GPUs leave the cores idle. A run that is continued has its first steps in the log. */
static ps_status write_behind(march *m, int64_t step)
{
    ps_history_header header;
    if (!m->team || m->team->with_cpu || step > 0) return PS_OK;
    problem_history_header(m->problem, m->options, &header);
    return record_write_behind(&m->record, m->product, &header, &m->problem->velocity);
}

static ps_status begin(march *m, record *named)
{
    int64_t step = 0;
    ps_status status = PS_OK;
    m->record = *named;
    memset(named, 0, sizeof *named);
    ps_state_spec spec = record_spec(&m->record, m->run, m->options->checkpoint_every);
    if (ps_comm_rank() == 0)
        status = record_linings(&m->record, m->linings.state, m->linings.states);
    if (ps_comm_rank() == 0 && status == PS_OK)
        status = record_open(&m->record, &spec, &m->window, &m->figures, &step);
    if (ps_comm_rank() == 0 && status == PS_OK) status = write_behind(m, step);
    PS_TRY(ps_comm_agree(status));
    ps_stop_defer();
    PS_TRY(share_state(m, step));
    return m->team && m->done > 0 ? ps_comm_agree(team_restore(m->team)) : PS_OK;
}

static ps_status save_workers(const march *m)
{
    double stages[STAGES];
    march_stages(m, stages);
    return workers_save(&m->workers, stages, m->record.run, m->record.state.uuid, m->first,
                        &m->product->identity);
}

static ps_status finish(march *m)
{
    PS_TRY(save_workers(m));
    if (m->stopped)
        return ps_fail(PS_STOPPED,
                       "stopped after step %lld of %lld; the same command continues from there",
                       (long long)m->done, (long long)m->problem->steps);
    ps_status status = solver_check_sizes(m->problem->tiles.header.precision, &m->figures);
    double since = ps_clock();
    m->hopeless = status != PS_OK;
    PS_TRY(status);
    if (ps_comm_rank() == 0) {
        ps_history_header header;
        problem_history_header(m->problem, m->options, &header);
        status = record_finish(&m->record, m->product, &header, &m->problem->velocity);
    }
    m->clock.writing = ps_clock() - since;
    return ps_comm_agree(status);
}

/* A run that fails by itself would fail again: nothing of it is worth keeping. Trouble from
 * outside, a full disk say, leaves what the same command continues from. */
static void clean_up(march *m, ps_status status)
{
    bool hopeless = status == PS_FAILED && m->hopeless;
    if (ps_comm_rank() != 0 || !m->record.state.begun || status == PS_STOPPED) return;
    if (hopeless) workers_remove(m->record.run, m->record.state.uuid);
    ps_state_fail(&m->record.state, status, hopeless);
}

static ps_status march_through(const ps_product *product, problem *p, const march_plan *plan,
                               record *named)
{
    march m;
    ps_status status = march_open(product->run, &options, p, plan, &m);
    m.product = product;
    if (status == PS_OK) status = begin(&m, named);
    if (status == PS_OK) status = m.team ? team_run(&m) : march_run(&m);
    if (status == PS_OK) status = finish(&m);
    if (status == PS_OK || status == PS_STOPPED) march_report(&m, plan);
    char text[2048];
    snprintf(text, sizeof text, "%s", ps_message());
    if (status != PS_OK) clean_up(&m, status);
    march_close(&m);
    return status == PS_OK ? PS_OK : ps_fail(status, "%s", text);
}

static ps_status plan_and_march(const ps_run *run, problem *p)
{
    march_plan plan;
    PS_SCOPED(record_close) record named = {.identity = NULL};
    ps_product product;
    ps_history_header header;
    problem_history_header(p, &options, &header);
    ps_product_init(run, PS_HISTORY_FORMAT, ps_history_version(&header), &product);
    PS_TRY(problem_inputs(p, &product));
    if (product.path) PS_TRY(record_name(&named, &product));
    if (ps_product_is_up_to_date(&product)) {
        ps_state_spec spec = record_spec(&named, run, options.checkpoint_every);
        return ps_comm_rank() == 0 ? ps_state_tidy(&spec) : PS_OK;
    }
    ps_status status = plan_make(run, &options, p, &plan);
    if (run->plan && ps_comm_rank() == 0) {
        ps_status printed = plan_print(run, &options, p, &plan);
        status = status == PS_OK ? printed : status;
    }
    PS_TRY(ps_comm_agree(status));
    if (!run->plan && p->assembling) {
        PS_TRY(problem_assemble(run, &options, &plan, p));
        PS_TRY(plan_make(run, &options, p, &plan));
    }
    return run->plan ? PS_OK : march_through(&product, p, &plan, &named);
}

static ps_status run_program(ps_run *run)
{
    PS_SCOPED(problem_release) problem p = {.mesh_store = NULL};
    PS_TRY(problem_operands(run));
    PS_TRY(problem_open(run, &options, &p));
    return plan_and_march(run, &p);
}

const ps_program ps_this_program = {
    .name = "tdbem-march",
    .results = 1,
    .streams = true,
    .saves = true,
    .parallel = true,
    .counts = true,
    .synopsis = "[MATRIX] MESH OUTPUT",
    .description =
        "Marches the transient boundary-element system sum_k M^k a^{n-k} = l^n on in time and "
        "writes the densities of all steps. MATRIX is a slice or a block matrix, MESH the surface "
        "mesh it was assembled from; without MATRIX it is assembled into memory, where it must "
        "fit, "
        "with the same densities. Several steps share one sweep over the matrix; what does not "
        "fit in --host-memory is streamed from the disk in every sweep, with the same results to "
        "the bit. With --far the near lags stay in memory, and the far ones are swept once in "
        "--far-group steps. Checkpoints and a log of all steps are kept beside OUTPUT until it is "
        "complete; after an interruption of any kind the same command continues to the same bits. "
        "OUTPUT.workers.h5 (without the suffix of OUTPUT) says how long each stage and each worker "
        "took.",
    .examples =
        "  penstock-tdbem-march hull.slices.h5 hull.h5 hull.history.h5 --steps 2000 \\\n"
        "      --emitter plane:dir=1,0,0:shape=ricker:width=2e-3\n"
        "  penstock-tdbem-march hull.h5 hull.history.h5 --formulation sound-hard --courant 2 \\\n"
        "      --steps 2000 --emitter plane:dir=1,0,0:shape=ricker:width=2e-3\n"
        "  mpirun -n 4 penstock-tdbem-march hull.blocks.h5 hull.h5 out.h5 --time 0.5 --group 16 "
        "\\\n"
        "      --emitter point:at=0,0,30:width=1e-3 --host-memory 8G --checkpoint-every 15min",
    .options = table,
    .figures = figure_table,
    .allowances = march_allowances,
    .operands_least = 1,
    .run = run_program};
