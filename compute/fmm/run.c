/* The run: what lies where, tasks into the queue, their records out of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/fmm/run.h"
#include "runtime/comm.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/progress.h"
#include "runtime/schedule_bound.h"

/* ---- before ---- */

static ps_status count_task(void *context, const fmm_task *task)
{
    fmm_run *r = context;
    int64_t bytes = 0;
    for (int a = 0; a < task->count; ++a) {
        fmm_pool_expect(r->pool, task->pieces[a]);
        bytes += fmm_pool_bytes(r->pool, task->pieces[a]);
    }
    if (bytes > r->largest_bytes) r->largest_bytes = bytes;
    r->flop[task->kind] += task->flop;
    ++r->tasks;
    return PS_OK;
}

/* What is sent together is in memory together. */
static ps_status count_transfers(void *context, const fmm_transfer *list, int64_t count)
{
    fmm_run *r = context;
    int64_t bytes = 0;
    for (int64_t i = 0; i < count; ++i) {
        fmm_pool_expect(r->pool, list[i].piece);
        bytes += fmm_pool_bytes(r->pool, list[i].piece);
    }
    if (bytes > r->largest_bytes) r->largest_bytes = bytes;
    return PS_OK;
}

static void count_on(void *context) { (void)context; }

static const fmm_visit counting = {count_task, count_transfers, count_on};

/* Operators that are too long for GPUs leave the work to the cores, unless GPUs were asked for. */
static ps_status open_gpus(fmm_run *r)
{
    PS_TRY(fmm_gpus_open(r->run, &r->work.gpus, &r->problem.gpus));
    if (r->problem.gpus == 0 || fmm_gpus_can(&r->problem) == PS_OK) return PS_OK;
    if (strncmp(r->run->device, "cuda", 4) == 0) return fmm_gpus_can(&r->problem);
    ps_info("on the cores alone: %s", ps_message());
    fmm_gpus_close(&r->work.gpus);
    r->problem.gpus = 0;
    return PS_OK;
}

/* Bound of all work by the forecasts, each kind as if it were one task: LP of kinds on GPUs. */
static ps_status forecast_bound(fmm_run *r, int gpu_kinds, double *seconds)
{
    double cpu[FMM_KINDS], gpu[FMM_KINDS];
    ps_bucket buckets[PS_BUCKETS_MAX];
    ps_schedule_bound bound;
    ps_task_times times = {FMM_KINDS, cpu, gpu, r->work.workers, r->problem.gpus};
    r->problem.leaves_at_once = gpu_kinds == FMM_GPU_DOWN;
    fmm_buckets(&r->problem, gpu_kinds, buckets);
    for (int k = 0; k < FMM_KINDS; ++k) {
        fmm_task task = {.kind = (fmm_kind)k, .flop = r->flop[k]};
        cpu[k] = buckets[k].cpu < 0 ? INFINITY : fmm_forecast(&r->problem, &task);
        gpu[k] = buckets[k].gpu < 0 ? INFINITY : fmm_gpu_forecast(&r->problem, &task);
    }
    r->problem.leaves_at_once = false;
    PS_TRY(ps_schedule_bound_find(&times, &bound));
    *seconds = bound.seconds;
    return PS_OK;
}

/* L2L and L2P run beside P2P on GPUs and take less than their forecasts: `down`, unless the bound
 * of `two` is clearly lower. */
static ps_status choose_kinds(fmm_run *r)
{
    static const double clearly = 0.97;
    double down, two;
    r->gpu_kinds = r->options->gpu_kinds;
    if (r->gpu_kinds != FMM_GPU_AUTO || r->problem.gpus == 0) return PS_OK;
    PS_TRY(forecast_bound(r, FMM_GPU_DOWN, &down));
    PS_TRY(forecast_bound(r, FMM_GPU_TWO, &two));
    r->gpu_kinds = two < clearly * down ? FMM_GPU_TWO : FMM_GPU_DOWN;
    return PS_OK;
}

/* Finished groups are kept where that was asked for and, as results then come all along the way, in
 * runs that will take long; where GPUs take part, which have less to do at a time then, much
 * longer. */
static ps_status choose_journal(fmm_run *r)
{
    enum { LONGER = 10 };
    const fmm_options *o = r->options;
    double least = o->checkpoint_every.seconds / 2 * (r->problem.gpus ? LONGER : 1), seconds = 0;
    bool may = o->checkpoint_every.seconds > 0 && !o->trace && !o->mapping;
    if (may) PS_TRY(forecast_bound(r, r->gpu_kinds, &seconds));
    r->keeps = ps_comm_any(o->journal || seconds > least);
    r->problem.by_groups = r->keeps;
    if (!r->keeps || r->problem.ranks == 1) return PS_OK;
    PS_TRY(fmm_run_recount(r));
    r->whole_bytes = fmm_pool_whole(r->pool);
    return PS_OK;
}

ps_status fmm_run_prepare(fmm_run *r)
{
    r->groups = ps_octree_groups(r->problem.fmm.targets, r->problem.leaf);
    r->work.problem = &r->problem;
    if (r->attempts == 0) PS_TRY(fmm_lists_check(&r->problem));
    PS_TRY(open_gpus(r));
    int64_t left = r->run->threads - r->problem.gpus; /* a core drives each GPU */
    r->work.workers = (int)(r->options->workers ? r->options->workers : left > 1 ? left : 1);
    r->problem.workers = r->work.workers;
    PS_TRY(fmm_pairs_choose(r->options, &r->problem));
    PS_TRY(fmm_share_groups(&r->problem));
    PS_TRY(fmm_pool_open(&r->problem, &r->pool));
    PS_TRY(fmm_flow(&r->problem, r->pool, r->done, &counting, r));
    PS_TRY(choose_kinds(r));
    PS_TRY(choose_journal(r));
    r->whole_bytes = fmm_pool_whole(r->pool);
    PS_TRY(fmm_share_memory(r, 0, 0));
    bool in_core = r->pool_budget >= r->whole_bytes && r->problem.ranks == 1;
    if (!in_core || r->problem.by_groups) return PS_OK;
    r->problem.near_first = true;
    r->problem.leaves_at_once = r->problem.far && r->problem.gpus && r->gpu_kinds == FMM_GPU_DOWN;
    if (r->sink_budget) r->problem.reductions = FMM_PARTS;
    PS_TRY(fmm_run_recount(r));
    r->whole_bytes = fmm_pool_whole(r->pool);
    return PS_OK;
}

/* What an attempt at the octree's tree would prepare, and give back. */
static ps_status prepare_other(fmm_run *other, int64_t *least)
{
    PS_TRY(fmm_operators_build(other->options, other->problem.fmm.far, &other->problem));
    PS_TRY(fmm_run_prepare(other));
    *least = other->ledger.least;
    return PS_OK;
}

ps_status fmm_run_least(const fmm_run *r, int64_t *least)
{
    fmm_run other = *r;
    other.adaptive = NULL;
    other.problem.pairs = 0;
    other.problem.far = other.problem.leaf >= 2;
    other.attempts = 1; /* its lists were checked, or will be */
    ps_status status = prepare_other(&other, least);
    fmm_pool_close(&other.pool);
    fmm_gpus_close(&other.work.gpus);
    fmm_problem_forget(&other.problem);
    for (int l = 0; l < PS_OCTREE_LEVELS_MAX; ++l) free(other.problem.blocks[l]);
    ps_memory_trim();
    return status;
}

ps_status fmm_run_recount(fmm_run *r)
{
    fmm_pool_expect_none(r->pool);
    memset(r->flop, 0, sizeof r->flop);
    r->tasks = 0;
    return fmm_flow(&r->problem, r->pool, r->done, &counting, r);
}

/* ---- tasks ---- */

typedef struct inserter {
    fmm_run *run;
    ps_progress progress;
    ps_task_access *accesses;
    int64_t capacity, inserted, leaf_tasks;
    bool in_group; /* some of a leaf group's tasks are inserted, others are not */
    bool alone;    /* no other rank waits for what is inserted from here on */
} inserter;

/* With a journal groups are let in a few at a time, so that results come all along the way and a
 * stop loses little. */
static ps_status hold_back(inserter *in)
{
    fmm_run *r = in->run;
    int64_t ahead = 4 * r->work.workers, done = -1;
    while (in->leaf_tasks - __atomic_load_n(&r->work.finished, __ATOMIC_RELAXED) > ahead)
        PS_TRY(ps_task_queue_progress(r->queue, &done));
    return PS_OK;
}

/* The first task of a group of leaves; P2P may have come before. */
static bool begins_group(const fmm_run *r, const fmm_task *task)
{
    return task->kind == FMM_P2P || task->kind == FMM_REDUCE ||
           (task->kind == FMM_M2L && task->level == r->problem.leaf);
}

/* Each GPU has an interval, as ranks have: what one of its tasks makes others want. */
static int place_of(const fmm_run *r, const fmm_task *task)
{
    bool of_sources = task->kind <= FMM_ENCODE;
    const ps_octree *tree = of_sources ? r->problem.fmm.sources : r->problem.fmm.targets;
    return (int)(task->group / fmm_place_groups(&r->problem, ps_octree_groups(tree, task->level)));
}

static ps_status insert_task(void *context, const fmm_task *task)
{
    inserter *in = context;
    fmm_run *r = in->run;
    bool begins = in->alone && !in->in_group && begins_group(r, task);
    if (r->work.journal && begins) PS_TRY(hold_back(in));
    in->in_group = task->kind != FMM_REDUCE && (in->in_group || begins);
    if (task->kind == FMM_REDUCE) ++in->leaf_tasks;
    PS_TRY(ps_grow((void **)&in->accesses, &in->capacity, task->count, sizeof *in->accesses,
                   "accesses of a task"));
    PS_TRY(fmm_pool_acquire(r->pool, task->pieces, task->modes, task->count, in->accesses));
    fmm_arguments arguments = {&r->work, task->level, task->part, task->group};
    ps_task_spec spec = {.codelet = &fmm_codelets[task->kind],
                         .bucket = fmm_bucket(&r->problem, task),
                         .place = place_of(r, task),
                         .level = task->level,
                         .group = task->group,
                         .cpu_seconds = fmm_forecast(&r->problem, task),
                         .gpu_seconds = fmm_gpu_forecast(&r->problem, task),
                         .flop = task->flop,
                         .accesses = in->accesses,
                         .access_count = task->count,
                         .arguments = &arguments,
                         .argument_bytes = sizeof arguments};
    ++in->inserted;
    return ps_task_insert(r->queue, &spec);
}

static void leave_others(void *context)
{
    inserter *in = context;
    in->alone = true;
    in->in_group = false;
}

static ps_status insert_transfers(void *context, const fmm_transfer *list, int64_t count)
{
    inserter *in = context;
    return count ? fmm_exchange(in->run, list, count) : PS_OK;
}

/* Until all are done, a line now and then. */
static ps_status wait_for_all(inserter *in)
{
    int64_t done = -1;
    do {
        PS_TRY(ps_task_queue_watch(in->run->queue, 0.05, &done));
        ps_progress_update(&in->progress, done);
    } while (done < in->inserted);
    return PS_OK;
}

static ps_termination termination_of(const fmm_run *r)
{
    if (r->options->termination) return (ps_termination)(r->options->termination - 1);
    return r->gpu_kinds <= FMM_GPU_TWO ? PS_TERMINATION_BALANCE : PS_TERMINATION_BACKLOG;
}

/* Direct sums of the samples, before anybody works; of several ranks each makes a part. */
static ps_status sum_checks(fmm_run *r)
{
    fmm_check *checks[] = {r->work.check, r->work.samples};
    int64_t memory = r->pool_budget;
    double start = ps_clock();
    for (int i = 0; i < 2; ++i)
        if (checks[i]) PS_TRY(fmm_check_sum(&r->problem, r->pool, memory, checks[i]));
    r->sample_seconds += ps_clock() - start;
    return PS_OK;
}

static ps_status open_queue(fmm_run *r)
{
    static const ps_schedule_policy policies[] = {PS_SCHEDULE_HETEROPRIO, PS_SCHEDULE_EAGER};
    ps_bucket buckets[PS_BUCKETS_MAX];
    ps_task_mapping mapping = {r->mapping.count, r->mapping.records};
    ps_task_queue_config config = {
        .scheduling = {.buckets = buckets,
                       .bucket_count = fmm_buckets(&r->problem, r->gpu_kinds, buckets),
                       .cpus = r->work.workers,
                       .gpus = r->problem.gpus,
                       .policy = policies[r->options->scheduler],
                       .termination = termination_of(r),
                       .keep_order = r->gpu_kinds != FMM_GPU_TABLE},
        .calibrate = true,
        .own_cores = r->problem.gpus > 0 && r->problem.ranks == 1,
        .keep_edges = r->options->trace != NULL,
        .mapping = r->mapping.count ? &mapping : NULL};
    if (r->problem.gpus) {
        PS_TRY(fmm_gpus_prepare(r->work.gpus, &r->problem));
        config.devices = fmm_gpus_devices(r->work.gpus);
        config.device_memory = fmm_gpus_memory(r->work.gpus, r->run, r->whole_bytes);
    }
    if (r->pool_budget >= r->whole_bytes)
        PS_TRY(fmm_pool_load(r->pool, r->problem.gpus ? config.devices[0] : NULL));
    PS_TRY(sum_checks(r));
    PS_TRY(ps_task_queue_open(&config, &r->queue));
    return fmm_pool_start(r->pool, r->queue, r->pool_budget, r->run->output);
}

static ps_status open_scratch(fmm_run *r)
{
    PS_TRY(PS_ALLOC(&r->work.scratch, r->work.workers, "room for workers"));
    for (int w = 0; w < r->work.workers; ++w)
        PS_TRY(ps_alloc_untouched((void **)&r->work.scratch[w], fmm_scratch_bytes(&r->problem),
                                  "room for a worker"));
    return PS_OK;
}

/* Rates on GPUs are those of all tasks of a kind: the record of one that ran beside others says
 * nothing of its own. */
static void set_gpu_rates(ps_task_trace *trace)
{
    for (int k = 0; k < FMM_KINDS; ++k) {
        double flop = 0, seconds = 0;
        for (int64_t t = 0; t < trace->count; ++t) {
            const ps_task_record *record = &trace->records[t];
            if (record->kind != k || record->worker < trace->cpus) continue;
            flop += record->flop;
            seconds += record->end - record->start;
        }
        trace->kinds[k].gpu_rate = seconds > 0 ? flop / seconds : 0;
    }
}

static ps_status take_records(fmm_run *r)
{
    r->trace.cpus = r->work.workers;
    r->trace.gpus = r->problem.gpus;
    r->trace.kind_count = FMM_KINDS;
    r->trace.count = ps_task_queue_count(r->queue);
    PS_TRY(PS_ALLOC(&r->trace.records, r->trace.count, "the trace"));
    ps_task_queue_records(r->queue, r->trace.records);
    set_gpu_rates(&r->trace);
    if (!r->options->trace) return PS_OK;
    return ps_task_queue_edges(r->queue, &r->trace.first, &r->trace.before);
}

ps_status fmm_run_tasks(fmm_run *r)
{
    inserter in = {.run = r, .alone = r->problem.ranks == 1};
    PS_TRY(open_scratch(r));
    PS_TRY(open_queue(r));
    double start = ps_clock();
    ps_progress_start(&in.progress, "computing", "tasks", 0, r->tasks);
    const fmm_visit inserting = {insert_task, insert_transfers, leave_others};
    ps_status status = fmm_flow(&r->problem, r->pool, r->done, &inserting, &in);
    free(in.accesses);
    if (status == PS_OK) status = wait_for_all(&in);
    ps_progress_end(&in.progress);
    r->seconds = ps_clock() - start;
    if (status == PS_OK) status = take_records(r);
    return status;
}
