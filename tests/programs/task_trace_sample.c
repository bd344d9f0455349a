/*
 * task_trace_sample FILE ACC [DAMAGE]: the simulated run of fmm guide 6 (9 cores, 3 GPUs, the rule
 * of StarPU) as a task trace. ACC 0: 60,000 short tasks on 16 + 4 workers instead. DAMAGE:
 * "overlap" lets a task run into the next one of its worker, "early" starts one before what it
 * waits for.
 */
#include <stdio.h>
#include <string.h>

#include "formats/task_trace.h"
#include "runtime/program.h"
#include "tests/support/fmm_schedule_case.h"
#include "tests/support/random.h"

enum { MANY = 60000 };

static const ps_task_kind kinds[CASE_KINDS] = {
    {"P2M", 0x0072b2, 2e9, 0}, {"M2M", 0x56b4e9, 2e9, 0},    {"L2L", 0xe69f00, 2e9, 0},
    {"M2L", 0x009e73, 0, 0},   {"P2P", 0xffffff, 2e9, 66e9}, {"L2P", 0xcc79a7, 2e9, 0}};

static void take_slots(const ps_schedule_problem *p, const ps_schedule_slot *slots,
                       ps_task_trace *trace)
{
    for (int64_t t = 0; t < p->times.count; ++t)
        trace->records[t] = (ps_task_record){.kind = fmm_case_buckets[p->buckets[t]].kind,
                                             .level = -1,
                                             .bucket = p->buckets[t],
                                             .worker = slots[t].worker,
                                             .group = t,
                                             .order = slots[t].order,
                                             .ready = slots[t].ready,
                                             .start = slots[t].start,
                                             .end = slots[t].end,
                                             .flop = 2e9 * p->times.cpu[t],
                                             .cpu_seconds = p->times.cpu[t],
                                             .gpu_seconds = p->times.gpu[t]};
}

static ps_status simulate(const ps_schedule_problem *p, ps_task_trace *trace)
{
    double makespan;
    PS_SCOPED_MEMORY ps_schedule_slot *slots = calloc((size_t)p->times.count, sizeof *slots);
    ps_heteroprio_config config =
        fmm_case_config(PS_TERMINATION_BUCKET, p->times.cpus, p->times.gpus);
    ps_status status = ps_schedule_simulate(p, &config, slots, &makespan);
    trace->cpus = p->times.cpus;
    trace->gpus = p->times.gpus;
    trace->count = p->times.count;
    trace->records = calloc((size_t)p->times.count, sizeof *trace->records);
    if (status == PS_OK) take_slots(p, slots, trace);
    return status;
}

static uint64_t seed = 4;

/* Short tasks of all kinds without dependencies. */
static ps_status simulate_many(ps_task_trace *trace)
{
    static double cpu[MANY], gpu[MANY];
    static int buckets[MANY];
    for (int t = 0; t < MANY; ++t) {
        buckets[t] = t * CASE_BUCKETS / MANY;
        cpu[t] = 1e-3 * (0.5 + congruence_uniform(&seed));
        gpu[t] = fmm_case_buckets[buckets[t]].gpu < 0 ? INFINITY : cpu[t] / 5;
    }
    ps_schedule_problem p = {.times = {MANY, cpu, gpu, 16, 4}, .buckets = buckets};
    return simulate(&p, trace);
}

static ps_status simulate_case(int accuracy, ps_task_trace *trace, fmm_case *c)
{
    fmm_case_init(c, accuracy);
    ps_schedule_problem p = fmm_case_problem(c, 9, 3);
    trace->first = c->first;
    trace->before = c->before;
    return simulate(&p, trace);
}

static void damage(ps_task_trace *trace, const char *how)
{
    int64_t t = trace->count - 1; /* an L2P: it waits for others */
    ps_task_record *r = &trace->records[t];
    if (strcmp(how, "overlap") == 0) trace->records[trace->before[0]].end += 10;
    if (strcmp(how, "early") == 0) {
        for (int64_t i = 0; i < trace->count; ++i) /* room for one more CPU worker, number 9 */
            trace->records[i].worker += trace->records[i].worker >= trace->cpus;
        r->worker = trace->cpus++;
        r->end -= r->start;
        r->start = 0;
    }
}

int main(int argc, char **argv)
{
    static fmm_case c;
    ps_task_trace trace = {.kind_count = CASE_KINDS};
    if (argc < 3) return 2;
    int accuracy = atoi(argv[2]);
    memcpy(trace.kinds, kinds, sizeof kinds);
    ps_status status = accuracy ? simulate_case(accuracy, &trace, &c) : simulate_many(&trace);
    if (argc > 3 && accuracy) damage(&trace, argv[3]);
    ps_store_identity identity = {
        .creator = "task_trace_sample", .revision = ps_revision(), .options = ""};
    if (status == PS_OK) status = ps_task_trace_save(argv[1], &trace, &identity);
    if (status != PS_OK) fprintf(stderr, "task_trace_sample: %s\n", ps_message());
    free(trace.records);
    fmm_case_release(&c);
    return status;
}
