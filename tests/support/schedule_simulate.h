/*
 * schedule_simulate: the course of a run without running it. Discrete events over tasks with
 * known times and dependencies, scheduled by the very code of runtime/heteroprio; moving data
 * costs nothing.
 */
#ifndef PS_TESTS_SUPPORT_SCHEDULE_SIMULATE_H
#define PS_TESTS_SUPPORT_SCHEDULE_SIMULATE_H

#include <math.h>
#include <stdlib.h>

#include "runtime/heteroprio.h"
#include "runtime/memory.h"
#include "runtime/schedule_bound.h"
#include "runtime/scope.h"

typedef struct ps_schedule_problem {
    ps_task_times times;
    const int *buckets;    /* [count] of the scheduler's table                                */
    const int64_t *first;  /* [count + 1] NULL: no dependencies                               */
    const int64_t *before; /* before[first[t] .. first[t + 1]): what t waits for, all < t      */
} ps_schedule_problem;

/* What became of a task. Workers are numbered CPU workers first. */
typedef struct ps_schedule_slot {
    int worker;
    int64_t order;            /* of all tasks by the time they were taken, from 0             */
    double ready, start, end; /* s                                                            */
} ps_schedule_slot;

/* A running task; the heap gives the one that ends first, of equal ones the lower worker. */
typedef struct running {
    double end;
    int worker;
    int64_t task;
} running;

typedef struct simulation {
    const ps_schedule_problem *problem;
    ps_heteroprio *scheduler;
    ps_schedule_slot *slots;
    int64_t *pending;           /* [count] predecessors that have not ended     */
    int64_t *next_first, *next; /* successors: next[next_first[t] ..]           */
    running *heap;              /* [workers]                                    */
    int heap_count, workers, idle_count[PS_WORKER_KINDS];
    int *idle[PS_WORKER_KINDS]; /* stacks of workers without a task             */
    int64_t taken;
    double now;
} simulation;

/* ---- the heap ---- */

static bool sooner(const running *a, const running *b)
{
    return a->end != b->end ? a->end < b->end : a->worker < b->worker;
}

static void heap_put(simulation *s, running r)
{
    int at = s->heap_count++;
    for (; at > 0 && sooner(&r, &s->heap[(at - 1) / 2]); at = (at - 1) / 2)
        s->heap[at] = s->heap[(at - 1) / 2];
    s->heap[at] = r;
}

static running heap_take(simulation *s)
{
    running first = s->heap[0], last = s->heap[--s->heap_count];
    int at = 0;
    for (int child = 1; child < s->heap_count; child = 2 * at + 1) {
        if (child + 1 < s->heap_count && sooner(&s->heap[child + 1], &s->heap[child])) ++child;
        if (!sooner(&s->heap[child], &last)) break;
        s->heap[at] = s->heap[child];
        at = child;
    }
    s->heap[at] = last;
    return first;
}

/* ---- dependencies ---- */

static int64_t edge_count(const ps_schedule_problem *p)
{
    return p->first ? p->first[p->times.count] : 0;
}

static ps_status invert(simulation *s)
{
    const ps_schedule_problem *p = s->problem;
    int64_t n = p->times.count;
    for (int64_t t = 0; p->first && t < n; ++t)
        for (int64_t e = p->first[t]; e < p->first[t + 1]; ++e) {
            if (p->before[e] < 0 || p->before[e] >= t)
                return ps_fail(PS_INVALID, "task %lld waits for task %lld", (long long)t,
                               (long long)p->before[e]);
            ++s->pending[t];
            ++s->next_first[p->before[e] + 1];
        }
    for (int64_t t = 0; t < n; ++t) s->next_first[t + 1] += s->next_first[t];
    for (int64_t t = n - 1; p->first && t >= 0; --t) /* descending, so that lists ascend */
        for (int64_t e = p->first[t]; e < p->first[t + 1]; ++e)
            s->next[--s->next_first[p->before[e] + 1]] = t;
    return PS_OK;
}

/* After invert, the successors of t begin at next_first[t + 1]. */
static int64_t successors_end(const simulation *s, int64_t t)
{
    int64_t n = s->problem->times.count;
    return t + 2 <= n ? s->next_first[t + 2] : edge_count(s->problem);
}

static ps_ready_task ready_of(const simulation *s, int64_t t)
{
    const ps_task_times *times = &s->problem->times;
    return (ps_ready_task){t, times->cpus ? times->cpu[t] : INFINITY,
                           times->gpus ? times->gpu[t] : INFINITY, 0};
}

static ps_status make_ready(simulation *s, int64_t t)
{
    ps_ready_task ready = ready_of(s, t);
    s->slots[t].ready = s->now;
    return ps_heteroprio_push(s->scheduler, s->problem->buckets[t], &ready);
}

/* ---- events ---- */

/* An idle worker of this kind takes a task; *took says whether. */
static ps_status take_one(simulation *s, ps_worker_kind kind, bool *took)
{
    *took = false;
    int64_t t = s->idle_count[kind] ? ps_heteroprio_pop(s->scheduler, kind, -1) : -1;
    if (t < 0) return PS_OK;
    const ps_task_times *times = &s->problem->times;
    double seconds = kind == PS_WORKER_GPU ? times->gpu[t] : times->cpu[t];
    if (isinf(seconds))
        return ps_fail(PS_USAGE, "task %lld of bucket %d has no code for a %s worker", (long long)t,
                       s->problem->buckets[t], kind == PS_WORKER_GPU ? "GPU" : "CPU");
    ps_schedule_slot *slot = &s->slots[t];
    slot->worker = s->idle[kind][--s->idle_count[kind]];
    slot->order = s->taken++;
    slot->start = s->now;
    slot->end = s->now + seconds;
    heap_put(s, (running){slot->end, slot->worker, t});
    *took = true;
    return PS_OK;
}

static ps_status take_all(simulation *s)
{
    bool gpu = true, cpu = true;
    while (gpu || cpu) {
        PS_TRY(take_one(s, PS_WORKER_GPU, &gpu));
        if (!gpu) PS_TRY(take_one(s, PS_WORKER_CPU, &cpu));
    }
    return PS_OK;
}

/* All that ends at the next time at which anything ends. */
static ps_status complete(simulation *s)
{
    s->now = s->heap[0].end;
    while (s->heap_count && s->heap[0].end == s->now) {
        running r = heap_take(s);
        ps_worker_kind kind = r.worker < s->problem->times.cpus ? PS_WORKER_CPU : PS_WORKER_GPU;
        s->idle[kind][s->idle_count[kind]++] = r.worker;
        for (int64_t e = s->next_first[r.task + 1]; e < successors_end(s, r.task); ++e)
            if (--s->pending[s->next[e]] == 0) PS_TRY(make_ready(s, s->next[e]));
    }
    return PS_OK;
}

static ps_status run_all(simulation *s)
{
    int64_t n = s->problem->times.count;
    PS_TRY(invert(s));
    for (int w = s->workers - 1; w >= 0; --w) {
        ps_worker_kind kind = w < s->problem->times.cpus ? PS_WORKER_CPU : PS_WORKER_GPU;
        s->idle[kind][s->idle_count[kind]++] = w;
    }
    for (int64_t t = 0; t < n; ++t) {
        ps_ready_task ready = ready_of(s, t);
        ps_heteroprio_expect(s->scheduler, s->problem->buckets[t], &ready);
    }
    for (int64_t t = 0; t < n; ++t)
        if (s->pending[t] == 0) PS_TRY(make_ready(s, t));
    PS_TRY(take_all(s));
    while (s->heap_count) {
        PS_TRY(complete(s));
        PS_TRY(take_all(s));
    }
    if (s->taken < n)
        return ps_fail(PS_FAILED, "%lld of %lld tasks find no worker that takes them",
                       (long long)(n - s->taken), (long long)n);
    return PS_OK;
}

static ps_status allocate(simulation *s)
{
    int64_t n = s->problem->times.count;
    static const char what[] = "a simulated schedule";
    s->workers = s->problem->times.cpus + s->problem->times.gpus;
    PS_TRY(PS_ALLOC(&s->pending, n, what));
    PS_TRY(PS_ALLOC(&s->next_first, n + 1, what));
    PS_TRY(PS_ALLOC(&s->next, edge_count(s->problem), what));
    PS_TRY(PS_ALLOC(&s->heap, s->workers, what));
    PS_TRY(PS_ALLOC(&s->idle[PS_WORKER_CPU], s->workers, what));
    return PS_ALLOC(&s->idle[PS_WORKER_GPU], s->workers, what);
}

static void simulation_end(simulation *s)
{
    PS_FREE(s->pending, s->next_first, s->next, s->heap, s->idle[PS_WORKER_CPU],
            s->idle[PS_WORKER_GPU]);
    ps_heteroprio_close(&s->scheduler);
}

/* Fills slots[count] and the makespan (s). At equal times GPU workers poll first. Workers and
 * times of problem->times are used; cpus and gpus of `config` must be the same. PS_USAGE: they are
 * not, or a task that its worker has no code for; PS_INVALID: before[] does not precede;
 * PS_FAILED: a task finds no taker. O((n + edges) log n). */
static ps_status ps_schedule_simulate(const ps_schedule_problem *problem,
                                      const ps_heteroprio_config *config, ps_schedule_slot *slots,
                                      double *makespan)
{
    PS_SCOPED(simulation_end) simulation s = {.problem = problem, .slots = slots};
    if (config->cpus != problem->times.cpus || config->gpus != problem->times.gpus)
        return ps_fail(PS_USAGE, "a scheduler for %d + %d workers simulates %d + %d", config->cpus,
                       config->gpus, problem->times.cpus, problem->times.gpus);
    PS_TRY(ps_heteroprio_open(config, &s.scheduler));
    PS_TRY(allocate(&s));
    PS_TRY(run_all(&s));
    *makespan = s.now;
    return PS_OK;
}

#endif
