#include <stdlib.h>
#include <unistd.h>

#include "formats/task_trace.h"
#include "tests/check.h"

enum { TASKS = 5 };
static const char path[] = "test_task_trace.h5";
static const ps_store_identity identity = {.creator = "test", .revision = "r", .options = ""};

/* Two CPU workers and a GPU; task 4 waits for 1 and 3. Kind 0 has code for both, kind 1 for CPUs.
 */
static ps_task_record records[TASKS];
static int64_t first[TASKS + 1] = {0, 0, 0, 0, 1, 3}, before[3] = {0, 1, 3};

static ps_task_trace sample(void)
{
    static const int worker[TASKS] = {0, 1, 2, 0, 2}, kind[TASKS] = {0, 1, 0, 1, 0};
    static const double start[TASKS] = {0, 0, 0.5, 2, 5.25}, end[TASKS] = {2, 4, 1, 5, 5.75};
    ps_task_trace trace = {.run = "run", .cpus = 2, .gpus = 1, .kind_count = 2, .count = TASKS};
    trace.kinds[0] = (ps_task_kind){"near", 0xffffff, 0, 100};
    trace.kinds[1] = (ps_task_kind){"far", 0x8c8c8c, 0, 0};
    for (int t = 0; t < TASKS; ++t)
        records[t] = (ps_task_record){.kind = kind[t],
                                      .level = t,
                                      .bucket = 7,
                                      .worker = worker[t],
                                      .group = (int64_t)1 << 40,
                                      .order = t,
                                      .ready = start[t] - (t == 2 ? 0.25 : 0),
                                      .start = start[t],
                                      .end = end[t],
                                      .waited = t == 2 ? 0.25 : 0,
                                      .bytes = 3 * t,
                                      .flop = kind[t] ? 6 : 40,
                                      .cpu_seconds = 1,
                                      .gpu_seconds = kind[t] ? INFINITY : 0.25};
    trace.records = records;
    trace.first = first;
    trace.before = before;
    return trace;
}

static void comes_back(void **state)
{
    ps_task_trace trace = sample(), back;
    check_ok(ps_task_trace_save(path, &trace, &identity));
    check_ok(ps_task_trace_load(path, &back));
    assert_int_equal(back.count, TASKS);
    assert_int_equal(back.cpus, 2);
    assert_int_equal(back.gpus, 1);
    assert_string_equal(back.kinds[1].name, "far");
    assert_int_equal(back.kinds[1].colour, 0x8c8c8c);
    check_near(back.kinds[0].gpu_rate, 100, 0, 0);
    assert_memory_equal(back.records, records, sizeof records);
    assert_memory_equal(back.first, first, sizeof first);
    assert_memory_equal(back.before, before, sizeof before);
    ps_task_trace_release(&back);
    trace.first = trace.before = NULL;
    check_ok(ps_task_trace_save(path, &trace, &identity));
    check_ok(ps_task_trace_load(path, &back));
    assert_null(back.first);
    ps_task_trace_release(&back);
    unlink(path);
}

/* Near tasks took 2 s where 1 s was forecast on the CPU, and 0.5 where 0.25 on the GPU. */
static void measured_times(void **state)
{
    static const double lp_cpu[TASKS] = {2, 4, 2, 3, 2}, lp_gpu[TASKS] = {0.5, 0, 0.5, 0, 0.5};
    static const double best_cpu[TASKS] = {2, 3, 2, 3, 2}, best_gpu[TASKS] = {0.4, 0, 0.4, 0, 0.4};
    double cpu[TASKS], gpu[TASKS];
    ps_task_trace trace = sample();
    for (int best = 0; best < 2; ++best) {
        ps_task_trace_times(&trace, best, cpu, gpu);
        for (int t = 0; t < TASKS; ++t) {
            check_near(cpu[t], best ? best_cpu[t] : lp_cpu[t], 0, 1e-15);
            if (records[t].kind)
                assert_true(isinf(gpu[t]));
            else
                check_near(gpu[t], best ? best_gpu[t] : lp_gpu[t], 0, 1e-15);
        }
    }
    records[2].end = 0.75; /* what tasks of a kind took on a GPU is shared by their forecasts */
    records[4].end = 6;
    records[4].gpu_seconds = 0.75;
    ps_task_trace_times(&trace, false, cpu, gpu);
    check_near(gpu[2], 0.25, 0, 1e-15);
    check_near(gpu[4], 0.75, 0, 1e-15);
    records[2].end = 1.25;
    records[4].end = 5.5;
    ps_task_trace_times(&trace, false, cpu, gpu);
    check_near(gpu[2], 0.25, 0, 1e-15);
    check_near(gpu[4], 0.75, 0, 1e-15);
}

/* LP: 7 s of far tasks on two CPU workers; the near ones take the GPU 1.5 s. LP~: 6 s. */
static void figures(void **state)
{
    ps_task_summary sum;
    ps_worker_times workers[3];
    ps_task_trace trace = sample();
    check_ok(ps_task_trace_summarise(&trace, &sum));
    check_near(sum.makespan, 5.75, 0, 1e-15);
    check_near(sum.lp.seconds, 3.5, 0, 1e-15);
    check_near(sum.lp_best.seconds, 3, 0, 1e-15);
    check_ok(ps_task_trace_workers(&trace, &sum, workers));
    assert_int_equal(workers[0].tasks, 2);
    check_near(workers[0].busy, 5, 0, 1e-15);
    check_near(workers[2].busy, 1, 0, 1e-15);
    check_near(workers[2].waited, 0.25, 0, 1e-15);
    check_near(workers[2].idle, 4.5, 0, 1e-15);
    check_near(workers[2].overhead, 0, 0, 1e-15);
    check_near(workers[2].bytes, 18, 0, 1e-15);
    records[2].ready -= 0.125; /* it could have begun with it by then */
    check_ok(ps_task_trace_workers(&trace, &sum, workers));
    check_near(workers[2].overhead, 0.125, 0, 1e-15);
    check_near(workers[2].idle, 4.375, 0, 1e-15);
}

static void what_could_not_have_been(void **state)
{
    ps_task_trace trace = sample();
#define impossible(place, value, text)                                                             \
    check_fails_if(place, value, ps_task_trace_verify(&trace), PS_INVALID, text)
    check_ok(ps_task_trace_verify(&trace));
    impossible(records[3].start, 1.5, "worker 0 runs tasks 0 and 3 at once");
    impossible(records[2].end, 5.5, "worker 2 runs tasks 2 and 4 at once");
    impossible(records[4].start, 4.5, "task 4 starts before task 3");
    impossible(records[4].order, 2, "worker 2 runs tasks");
    records[2].end = 5.5;
    records[4].end = records[4].start; /* what took no time ran beside the other */
    check_ok(ps_task_trace_verify(&trace));
}

static ps_status save_and_load(const ps_task_trace *trace)
{
    ps_task_trace back;
    check_ok(ps_task_trace_save(path, trace, &identity));
    ps_status status = ps_task_trace_load(path, &back);
    ps_task_trace_release(&back);
    unlink(path);
    return status;
}

static void what_is_refused(void **state)
{
    int64_t forward[3] = {0, 1, 4}, crooked[TASKS + 1] = {0, 2, 1, 1, 1, 3};
    ps_task_trace trace = sample();
#define refused(place, value, text)                                                                \
    check_fails_if(place, value, save_and_load(&trace), PS_INVALID, text)
    refused(records[1].kind, 2, "task 1 is of kind 2 of 2");
    refused(records[2].worker, 3, "worker 3 of 3");
    refused(records[2].end, 0.25, "task 2: impossible times");
    refused(trace.before, forward, "do not point back");
    refused(trace.first, crooked, "do not point back");
    refused(trace.cpus, -1, "are no workers");
    check_fails_if(trace.kind_count, 0, ps_task_trace_save(path, &trace, &identity), PS_USAGE,
                   "0 kinds");
}
