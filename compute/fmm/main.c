/* penstock-fmm: pairwise sums over an octree by the Chebyshev fast multipole method. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/fmm/adaptive.h"
#include "compute/fmm/figure_table.h"
#include "runtime/comm.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/scope.h"
#include "stage/product.h"

static fmm_options chosen = {.kernel = "inverse",
                             .parameter = 1,
                             .accuracy = -1,
                             .gradient = true,
                             .checkpoint_every = {.seconds = 60}};

static const ps_option options[] = {
    PS_TEXT(
        "kernel", &chosen.kernel, "NAME", PS_IDENTITY,
        "inverse (1/r), inverse-square, inverse-fourth, distance (r), exponential (exp(-b r)), "
        "yukawa (exp(-b r)/r), gaussian (exp(-b r^2)), square, fourth, user (user_kernel_body.h); "
        "stokeslet (velocities of forces), helmholtz (exp(i b r)/r of complex charges): "
        "penstock-particle-import --moments"),
    PS_REAL("parameter", &chosen.parameter, "B", -1e300, 1e300, PS_IDENTITY,
            "b of the kernels that have one"),
    PS_REAL("accuracy", &chosen.accuracy, "ACC", 0, PS_FMM_ORDER_MAX, PS_IDENTITY,
            "bound of the relative errors of potentials and gradients: digits, or an error (5, "
            "1e-5). The order is chosen, the results are compared with direct sums at samples, and "
            "the order is raised until they are within the bound; default 3e-4, unless --order or "
            "--epsilon are given, which promise nothing; 0: no bound"),
    PS_INT("order", &chosen.order, "L", 1, PS_FMM_ORDER_MAX, PS_IDENTITY,
           "interpolation points an axis (Acc of RR-8513); with --accuracy 0 or --epsilon 5"),
    PS_REAL("epsilon", &chosen.epsilon, "E", 0, 0.9, PS_IDENTITY,
            "truncation of the far-field operators; default 10^-L"),
    PS_CHOICE("precision", &chosen.precision, PS_FP64 "|" PS_FP32 "|mixed", PS_IDENTITY,
              "of the arithmetic; fp32: sums over many pairs stay fp64; mixed: only pairs of "
              "particles in fp32"),
    PS_CHOICE("basis", &chosen.basis, "common|plain", PS_IDENTITY,
              "far-field operators of a level in one basis, or each by itself"),
    PS_FLAG("gradient", &chosen.gradient, PS_IDENTITY, "write gradients, too (on; --no-gradient)"),
    PS_FLAG("hessian", &chosen.hessian, PS_IDENTITY,
            "write second derivatives, too: on cores, by an adaptive tree"),
    PS_INT("check", &chosen.check, "N", 0, 1e7, PS_IDENTITY,
           "compare N targets with direct sums and record the errors; 0: none"),
    PS_INT("workers", &chosen.workers, "N", 1, 4096, 0, "CPU workers; default --threads"),
    PS_CHOICE("scheduler", &chosen.scheduler, "heteroprio|eager", 0,
              "by the priorities of RR-8513, Table 3, or the oldest ready task first"),
    PS_CHOICE("gpu-kinds", &chosen.gpu_kinds, "auto|down|two|all|table", 0,
              "beside cores, GPUs take tasks of L2L and L2P (all of them), M2L and P2P; or of M2L "
              "and P2P; or of all kinds but the reduction; or of P2P and M2L as in RR-8513, Table "
              "3; auto: down, or two where its bound by the forecasts is 3 % lower"),
    PS_CHOICE(
        "pairs", &chosen.pairs, "auto|mutual|one-sided", 0,
        "pairs of particles of two groups: from both sides at once, with copies that are added "
        "later, or of each group by itself; auto: one-sided beside GPUs unless --gpu-kinds table"),
    PS_CHOICE("termination", &chosen.termination, "auto|none|bucket|kind|time|backlog|balance", 0,
              "beside GPUs: when CPU workers leave tasks to them (runtime/heteroprio.h); auto: "
              "balance with --gpu-kinds down and two, else backlog"),
    PS_TEXT("charges", &chosen.charges, "FILE", 0,
            "other charges: a particle file with the particles that OCTREE was built of, at the "
            "same places in the same order, and one or several charges of each"),
    PS_TEXT(
        "trace", &chosen.trace, "FILE", PS_WRITES,
        "write what became of every task, for penstock-plot gantt, penstock-inspect and --mapping"),
    PS_TEXT("mapping", &chosen.mapping, "FILE", 0,
            "run every task on the worker, and in the order, of this trace of the same run"),
    PS_INTERVAL("checkpoint-every", &chosen.checkpoint_every, PS_EVERY, 0,
                "keep the results of finished groups, of an adaptive tree of portions of the "
                "targets, in OUTPUT.groups until OUTPUT is there: in runs that will take long from "
                "60s, 5min on; 1step: of all; 0: of none"),
    PS_FLAG("journal", &chosen.journal, 0, NULL), /* as 1step */
    PS_CHOICE("tree", &chosen.tree, "auto|uniform|adaptive", PS_IDENTITY,
              "the tree of OCTREE, or one whose leaves lie on any level, made of its particles by "
              "the cores or a device of each rank, in memory or, of one rank, by stretches where "
              "memory does not hold it; auto: the latter for clustered particles, where it is "
              "clearly less work and can be had"),
    PS_TEXT("periodic", &chosen.periodic, "AXES", PS_IDENTITY,
            "the box repeats along these axes (x, xy, xyz): 1/r is summed over the lattice, with "
            "conducting surroundings (tin foil) if along all three; makes an adaptive tree"),
    PS_REAL("period", &chosen.period, "L", 0, 1e300, PS_IDENTITY,
            "its length along all of them, in the units of the particles"),
    PS_FLAG("background", &chosen.background, PS_IDENTITY,
            "of a charged box that repeats along three axes: a uniform charge neutralises it"),
    PS_CHOICE("resident", &chosen.resident, "auto|yes|no", 0,
              "evaluate all at once in the memory of one CUDA device: where --device has one and "
              "all fits, or else fail, or never"),
    PS_INT("devices", &chosen.devices, "N", 1, FMM_DEVICES_MAX, 0,
           "of an adaptive tree: share the targets between so many CUDA devices of this process, "
           "to the same bits (--device cuda:N: that one in the place of all, to try); default 1"),
    PS_OPTION_END};

/* What only tasks need: gone before results are written. */
static void free_tasks(fmm_run *r)
{
    fmm_work *w = &r->work;
    ps_task_queue_close(&r->queue);
    if (r->pool) fmm_pool_empty(r->pool);
    for (int i = 0; w->scratch && i < w->workers; ++i) free(w->scratch[i]);
    free(w->scratch);
    w->scratch = NULL;
    ps_memory_trim();
}

/* ---- the journal ---- */

static ps_status restore_group(void *context, int64_t group, const fmm_sums *sums,
                               const double *values, int64_t count)
{
    fmm_run *r = context;
    PS_SCOPED_MEMORY int64_t *places = NULL;
    int64_t begin, targets;
    if (group < 0 || group >= r->groups)
        return ps_fail(PS_INVALID, "the journal has results of a group that is not there");
    PS_TRY(fmm_group_places(r, group, &begin, &targets, &places));
    if (count != 4 * r->problem.fmm.sides * targets)
        return ps_fail(PS_INVALID, "the journal has results of another size");
    if (!r->done[group]) PS_TRY(fmm_take_results(&r->work, group, places, values, sums));
    r->done[group] = 1;
    return PS_OK;
}

/* The order of this attempt is part of what the journal is of. */
static ps_status open_journal(fmm_run *r)
{
    char more[128];
    PS_SCOPED_MEMORY char *identity = NULL;
    snprintf(more, sizeof more, "used_order=%d\nused_epsilon=%.17g\n%s",
             r->problem.fmm.interpolation.order, r->problem.epsilon,
             r->adaptive ? "used_tree=adaptive\n" : "");
    PS_TRY(ps_product_identity(&r->product, more, &identity));
    return ps_journal_open(r->run, r->journal, r->problem.rank, identity,
                           r->options->checkpoint_every, &r->work.journal);
}

/* A run that is continued goes on with the order that it had come to. */
static ps_status continue_order(fmm_run *r)
{
    double used[2] = {0, 0}; /* order, epsilon */
    char order[64], epsilon[64];
    if (!(r->problem.accuracy > 0)) return PS_OK;
    if (r->problem.rank == 0 && !r->run->fresh &&
        ps_journal_value(r->journal, "used_order", order) &&
        ps_journal_value(r->journal, "used_epsilon", epsilon)) {
        used[0] = strtod(order, NULL);
        used[1] = strtod(epsilon, NULL);
    }
    PS_TRY(ps_comm_broadcast(used, sizeof used, 0));
    if (!(used[0] >= 1 && used[0] <= PS_FMM_ORDER_MAX && used[1] > 0)) return PS_OK;
    r->problem.epsilon = used[1];
    return ps_fmm_interpolation_init(&r->problem.fmm.interpolation, (int)used[0]);
}

/* ---- the run ---- */

static ps_status open_work(fmm_run *r)
{
    const fmm_problem *p = &r->problem;
    PS_TRY(PS_ALLOC(&r->work.sums, r->groups * FMM_PARTS * p->fmm.sides, "sums of groups"));
    if (p->rank) return PS_OK; /* rank 0 has the results */
    if (fmm_adaptive_is_straight(r)) {
        PS_TRY(fmm_make_result(r));
        return fmm_sink_open_straight(p->header->count[1], &p->sum, r->file, &r->work.sink);
    }
    return fmm_sink_open(p->header->count[1], &p->sum, r->sink_budget, r->run->output,
                         &r->work.sink);
}

/* Once for all attempts, on all ranks. */
static ps_status open_checks(fmm_run *r)
{
    const fmm_problem *p = &r->problem;
    double start = ps_clock();
    if (r->options->check && !r->work.check)
        PS_TRY(fmm_check_open(p, r->options->check, &r->work.check));
    if (p->accuracy > 0 && !r->work.samples)
        PS_TRY(fmm_samples_open(p, fmm_samples_wanted(p), &r->work.samples));
    ps_memory_trim(); /* tiles that were read */
    r->sample_seconds += ps_clock() - start;
    return PS_OK;
}

static ps_status load_mapping(fmm_run *r)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", r->options->mapping);
    if (r->problem.ranks > 1) ps_store_part_path(r->options->mapping, 0, r->problem.rank, path);
    PS_TRY(ps_task_trace_load(path, &r->mapping));
    if (r->keeps || r->pool_budget < r->whole_bytes)
        return ps_fail(PS_USAGE,
                       "--mapping needs all groups in memory and no journal: a worker may "
                       "have to wait for a task that has no room yet");
    if (r->mapping.count != r->tasks || r->mapping.cpus != r->work.workers ||
        r->mapping.gpus != r->problem.gpus)
        return ps_fail(PS_INVALID,
                       "%s: a trace of %lld tasks on %d CPU and %d GPU workers; this run has %lld "
                       "tasks on %d CPU and %d GPU workers",
                       path, (long long)r->mapping.count, r->mapping.cpus, r->mapping.gpus,
                       (long long)r->tasks, r->work.workers, r->problem.gpus);
    return PS_OK;
}

static ps_status restore(fmm_run *r)
{
    if (!r->keeps) return PS_OK;
    int64_t items = r->adaptive ? fmm_adaptive_items(r) : r->groups;
    PS_TRY(PS_ALLOC(&r->done, items, "groups that are done"));
    ps_status status = PS_OK;
    if (r->problem.rank == 0) {
        status = open_journal(r);
        if (status == PS_OK)
            status = fmm_journal_replay(r->work.journal, r->problem.fmm.sides,
                                        r->adaptive ? fmm_adaptive_restore : restore_group, r);
    }
    PS_TRY(ps_comm_agree(status));
    PS_TRY(ps_comm_broadcast(r->done, items, 0));
    if (r->problem.rank) status = open_journal(r);
    PS_TRY(ps_comm_agree(status));
    for (int64_t g = 0; g < items; ++g) r->restored += r->done[g] > 0;
    if (r->restored)
        ps_info("%lld of %lld groups are done already", (long long)r->restored, (long long)items);
    return r->adaptive ? fmm_adaptive_restored(r) : PS_OK;
}

/* Rank 0 holds the samples against what was asked; all ranks learn what is to be done. */
static ps_status judge(fmm_run *r, bool *again)
{
    fmm_problem *p = &r->problem;
    fmm_reached before = r->reached;
    ps_status status = PS_OK;
    struct {
        int64_t again, order;
        double epsilon;
    } next = {0, 0, 0};
    if (!r->work.samples) return PS_OK;
    if (p->rank == 0) {
        r->reached = fmm_samples_errors(p, r->work.samples, r->options->gradient);
        next.again = ps_fmm_excess(&r->reached, p->accuracy) > 1;
        if (next.again) status = fmm_accuracy_raise(&r->reached, r->attempts ? &before : NULL, p);
        next.order = p->fmm.interpolation.order;
        next.epsilon = p->epsilon;
    }
    PS_TRY(ps_comm_agree(status));
    PS_TRY(ps_comm_broadcast(&next, sizeof next, 0));
    ++r->attempts;
    *again = next.again != 0;
    if (!*again) return PS_OK;
    p->epsilon = next.epsilon;
    if (p->rank == 0)
        ps_info("errors are up to %.3g of potentials and %.3g of gradients, %.3g is asked: once "
                "more with order %d",
                r->reached.potential, r->reached.gradient, p->accuracy, (int)next.order);
    return ps_fmm_interpolation_init(&p->fmm.interpolation, (int)next.order);
}

static ps_status compute(fmm_run *r, bool *again)
{
    if (r->options->mapping) PS_TRY(ps_comm_agree(load_mapping(r)));
    PS_TRY(open_work(r));
    PS_TRY(ps_comm_agree(open_checks(r)));
    PS_TRY(restore(r));
    if (r->restored && !r->adaptive) PS_TRY(fmm_run_recount(r));
    r->work.finished = 0;
    r->missed = false;
    PS_TRY(r->adaptive   ? fmm_adaptive_run(r)
           : r->resident ? fmm_resident_run(r)
                         : fmm_run_tasks(r));
    PS_TRY(ps_comm_sum_f64((double *)r->work.sums, r->groups * FMM_PARTS * r->problem.fmm.sides *
                                                       (int64_t)(sizeof(fmm_sums) / 8)));
    if (r->problem.rank == 0 && !r->missed) PS_TRY(fmm_sink_check(r->work.sink));
    PS_TRY(judge(r, again));
    if (*again) return PS_OK;
    if (r->options->trace) PS_TRY(fmm_save_trace(r));
    if (r->problem.rank) return PS_OK;
    free_tasks(r);
    fmm_adaptive_leave(r);
    PS_TRY(fmm_write_result(r));
    return fmm_report(r);
}

/* What is of one attempt. */
static void close_attempt(fmm_run *r, bool done)
{
    fmm_work *w = &r->work;
    fmm_resident_close(r);
    fmm_adaptive_empty(r);
    free_tasks(r);
    fmm_pool_close(&r->pool);
    fmm_gpus_close(&w->gpus);
    fmm_sink_close(&w->sink);
    ps_fmm_result_close(&r->file);
    ps_journal_close(&w->journal, done);
    PS_FREE(w->sums, r->done);
    ps_task_trace_release(&r->trace);
    ps_task_trace_release(&r->mapping);
    *w = (fmm_work){.check = w->check, .samples = w->samples};
    r->done = NULL;
    r->tasks = r->restored = r->largest_bytes = 0;
    memset(r->flop, 0, sizeof r->flop);
    fmm_problem_forget(&r->problem);
}

static void close_run(fmm_run *r, bool done)
{
    close_attempt(r, done);
    fmm_adaptive_close(r);
    fmm_source_release(&r->source);
    fmm_check_close(&r->work.check);
    fmm_check_close(&r->work.samples);
    fmm_problem_release(&r->problem);
}

/* Operators for the device or, if there is none or all does not fit, for the cores. */
static ps_status choose_device(fmm_run *r)
{
    PS_TRY(fmm_adaptive_choose(r));
    if (r->adaptive) return fmm_adaptive_operators(r);
    if (r->options->devices > 1)
        return ps_fail(PS_USAGE,
                       "--devices %d is of an adaptive tree, and the octree's is used%s%s",
                       (int)r->options->devices, r->uniform_because ? ": " : " here",
                       r->uniform_because ? r->uniform_because : "");
    PS_TRY(fmm_resident_open(r));
    if (r->resident) {
        PS_TRY(fmm_operators_build(r->options, PS_DOUBLE, &r->problem));
        PS_TRY(fmm_resident_plan(r));
    }
    return r->resident ? PS_OK : fmm_operators_build(r->options, r->problem.fmm.far, &r->problem);
}

static ps_status prepare(fmm_run *r)
{
    if (r->adaptive) {
        PS_TRY(fmm_adaptive_prepare(r));
        if (r->adaptive) return PS_OK;
        PS_TRY(choose_device(r)); /* too little memory: operators of the octree's levels */
    }
    return r->resident ? fmm_resident_prepare(r) : fmm_run_prepare(r);
}

/* One that an earlier run has left is gone on from, whatever is asked for. */
static void find_journal(fmm_run *r)
{
    char tree[64];
    if (chosen.journal) chosen.checkpoint_every = (ps_interval){.steps = 1};
    bool there = r->problem.rank == 0 && ps_journal_is_there(r->journal) && !r->run->fresh;
    bool adaptive = there && ps_journal_value(r->journal, "used_tree", tree);
    r->left = ps_comm_any(adaptive) ? FMM_LEFT_ADAPTIVE
              : ps_comm_any(there)  ? FMM_LEFT_UNIFORM
                                    : FMM_LEFT_NONE;
    chosen.journal |=
        chosen.checkpoint_every.steps > 0 || r->left != FMM_LEFT_NONE || r->run->restart;
}

/* Operators, memory, the sums; *again: with another order. */
static ps_status attempt(fmm_run *r, bool *again)
{
    PS_TRY(choose_device(r));
    ps_status status = prepare(r);
    if (r->run->plan && r->problem.rank == 0) {
        ps_status told = fmm_report_plan(r);
        status = status == PS_OK ? told : status;
    }
    if (status != PS_OK || r->run->plan) return status;
    return compute(r, again);
}

/* An attempt at a higher order may be more than memory or kernels allow, which the first one was
 * not: then the accuracy is what cannot be had. */
static ps_status attempt_again(fmm_run *r, bool *again)
{
    fmm_reached reached = r->reached;
    ps_status status = attempt(r, again);
    if (status != PS_USAGE && status != PS_EXHAUSTED) return status;
    return ps_context(
        PS_INACCURATE,
        "an accuracy of %.3g is not reached, errors were up to %.3g of potentials and "
        "%.3g of gradients, and a higher order is not possible; nothing is written",
        r->problem.accuracy, reached.potential, reached.gradient);
}

static ps_status do_run(fmm_run *r)
{
    bool again = false;
    PS_TRY(fmm_problem_open(r->run, r->options, &r->problem));
    fmm_source_init(&r->source, &r->problem);
    ps_product_init(r->run, PS_FMM_RESULT_FORMAT, fmm_result_version(r), &r->product);
    PS_TRY(ps_product_input(&r->product, r->problem.header->sorted ? "octree" : "particles",
                            ps_octree_file_store(r->problem.file)));
    if (r->problem.charge_file)
        PS_TRY(
            ps_product_input(&r->product, "charges", ps_particles_store(r->problem.charge_file)));
    r->product.open_ended = r->options->trace != NULL; /* a trace is of a run */
    if (!r->run->plan) {
        snprintf(r->journal, sizeof r->journal, "%.4080s.groups", r->run->output);
        if (ps_product_is_up_to_date(&r->product)) return ps_journal_tidy(r->journal, &r->product);
        find_journal(r);
        PS_TRY(continue_order(r));
    }
    PS_TRY(fmm_charges_load(r->run, &r->problem));
    PS_TRY(attempt(r, &again));
    while (again) {
        close_attempt(r, true);
        again = false;
        PS_TRY(attempt_again(r, &again));
    }
    return PS_OK;
}

static ps_status run_fmm(ps_run *run)
{
    fmm_run r = {.run = run, .options = &chosen, .started = ps_clock()};
    char text[2048];
    ps_status status = do_run(&r);
    bool done = status == PS_OK || status == PS_INACCURATE;
    if (!done && r.work.journal)
        ps_info("groups done so far are kept; once that is mended, the same command continues");
    snprintf(text, sizeof text, "%s", ps_message());
    close_run(&r, done);
    return status == PS_OK ? PS_OK : ps_fail(status, "%s", text);
}

static const ps_allowance allowances[] = {
    {"charged", "a net charge in a box that repeats along one or two axes"}, {NULL, NULL}};

const ps_program ps_this_program = {
    .name = "fmm",
    .results = 7,
    .synopsis = "OCTREE OUTPUT",
    .description =
        "Sums the interactions of all particles of OCTREE by the Chebyshev fast multipole method "
        "and writes potentials and gradients in the caller's order (specs/fmm_result.md). Work is "
        "cut into tasks over groups of cells; what does not fit --host-memory is kept on the disk "
        "and streamed, with the same results to the bit. With a CUDA device whose memory holds "
        "everything, all is evaluated there at once. The time is printed beside the bound that no "
        "schedule of these tasks can beat. OCTREE may be a file of particles: then an adaptive "
        "tree of them is made in memory, and nothing is sorted into a file.",
    .examples = "  penstock-fmm tree.h5 result.h5 --accuracy 5 --check 1000\n"
                "  penstock-fmm galaxy.h5 result.h5\n"
                "  penstock-fmm tree.h5 result.h5 --kernel yukawa --parameter 2 --order 7 \\\n"
                "      --host-memory 4G\n"
                "  penstock-fmm tree.h5 result.h5 --trace trace.h5\n"
                "  penstock-plot gantt trace.h5 --output gantt.png",
    .options = options,
    .allowances = allowances,
    .figures = figure_table,
    .run = run_fmm,
    .parallel = true,
    .counts = true};
