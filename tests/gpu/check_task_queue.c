/*
 * The task queue on a real device: a random program of copies (both classes) and sums (CPU) over
 * pinned pieces, with room for all of them and for a few, against the same program in sequence.
 * Every word must agree. Also the mapping of each run, replayed.
 */
#include <stdio.h>
#include <string.h>

#include "runtime/memory.h"
#include "runtime/task_queue.h"
#include "tests/support/random.h"
#include "tests/support/verdict.h"

enum { PIECES = 24, WORDS = 1 << 16, TASKS = 1500, BYTES = 8 * WORDS, FEW = 6 };
enum { ANYWHERE, CPU_ONLY, BUCKETS };

static const ps_bucket buckets[BUCKETS] = {{0, 1, 0, 0}, {1, 0, -1, 0}};
static ps_device *device;

typedef struct step {
    int number, from, to;
    bool half, sum; /* the first half of `from` becomes the second of `to`; or a sum of both */
} step;

static step steps[TASKS];

static void draw_steps(uint64_t seed)
{
    for (int t = 0; t < TASKS; ++t) {
        double kind = congruence_uniform(&seed);
        steps[t] = (step){.number = t, .from = (int)(congruence_uniform(&seed) * PIECES)};
        steps[t].to =
            (steps[t].from + 1 + (int)(congruence_uniform(&seed) * (PIECES - 1))) % PIECES;
        steps[t].half = kind < 0.4;
        steps[t].sum = kind > 0.8;
    }
}

static ps_status on_cpu(const ps_task_call *call)
{
    const step *s = call->arguments;
    const uint64_t *from = call->data[0];
    uint64_t *to = call->data[1];
    for (int w = 0; w < WORDS; ++w) {
        if (s->sum)
            to[w] = 3 * to[w] + from[w] + (uint64_t)s->number;
        else if (!s->half)
            to[w] = from[w];
        else if (w < WORDS / 2)
            to[w + WORDS / 2] = from[w];
    }
    return PS_OK;
}

static ps_status on_gpu(const ps_task_call *call)
{
    const step *s = call->arguments;
    char *to = call->data[1];
    return ps_copy_on_device(call->stream, s->half ? to + BYTES / 2 : to, call->data[0],
                             s->half ? BYTES / 2 : BYTES);
}

static const ps_codelet copy_code = {"copy", 0, on_cpu, on_gpu};
static const ps_codelet sum_code = {"sum", 1, on_cpu, NULL};

static void fill(uint64_t *memory)
{
    for (int i = 0; i < PIECES * WORDS; ++i) memory[i] = (uint64_t)i * 2654435761u;
}

static ps_status insert_all(ps_task_queue *queue, ps_task_data **data)
{
    for (int t = 0; t < TASKS; ++t) {
        const step *s = &steps[t];
        bool partly = s->half || s->sum;
        ps_task_access accesses[2] = {{data[s->from], PS_READ},
                                      {data[s->to], partly ? PS_READ_WRITE : PS_WRITE}};
        ps_task_spec spec = {.codelet = s->sum ? &sum_code : &copy_code,
                             .bucket = s->sum ? CPU_ONLY : ANYWHERE,
                             .group = t,
                             .cpu_seconds = 1e-4,
                             .gpu_seconds = steps[t].half ? 1e-5 : 1e-3, /* short ones and long */
                             .accesses = accesses,
                             .access_count = 2,
                             .arguments = s,
                             .argument_bytes = sizeof *s};
        PS_TRY(ps_task_insert(queue, &spec));
    }
    return ps_task_queue_wait(queue);
}

static ps_status run_in(ps_task_queue *queue, uint64_t *memory)
{
    ps_task_data *data[PIECES];
    for (int p = 0; p < PIECES; ++p)
        PS_TRY(ps_task_data_register(queue, memory + p * WORDS, BYTES, &data[p]));
    PS_TRY(insert_all(queue, data));
    for (int p = 0; p < PIECES; ++p) PS_TRY(ps_task_data_fetch(queue, data[p]));
    return PS_OK;
}

/* Runs the program with room for `pieces` on the device; records[TASKS] come out. */
static ps_status run(uint64_t *memory, int cpus, int pieces, const ps_task_mapping *mapping,
                     ps_task_record *records)
{
    ps_task_queue *queue;
    ps_task_queue_config config = {
        .scheduling = {.buckets = buckets, .bucket_count = BUCKETS, .cpus = cpus, .gpus = 1},
        .devices = &device,
        .device_memory = (int64_t)pieces * BYTES,
        .calibrate = true,
        .mapping = mapping};
    fill(memory);
    PS_TRY(ps_task_queue_open(&config, &queue));
    double start = ps_clock();
    ps_status status = run_in(queue, memory);
    double seconds = ps_clock() - start;
    ps_task_queue_figures f = ps_task_queue_measure(queue);
    int on_device = 0;
    ps_task_queue_records(queue, records);
    for (int t = 0; t < TASKS && status == PS_OK; ++t) on_device += records[t].worker >= cpus;
    printf("%2d CPU workers, room for %2d of %d pieces: %.4f s, %d of %d tasks on the device, "
           "%.1f MB up, %.1f MB down, %lld evictions\n",
           cpus, pieces, PIECES, seconds, on_device, TASKS, 1e-6 * (double)f.to_device_bytes,
           1e-6 * (double)f.to_host_bytes, (long long)f.evictions);
    ps_task_queue_close(&queue);
    return status;
}

static ps_status check_round(int round, void *memory)
{
    static uint64_t expected[PIECES * WORDS];
    static ps_task_record records[TASKS], again[TASKS];
    int cpus = 1 + round % 3 * 3, pieces = round % 2 ? FEW : PIECES;
    draw_steps(20 + (uint64_t)round);
    fill(expected);
    for (int t = 0; t < TASKS; ++t) {
        void *data[2] = {expected + steps[t].from * WORDS, expected + steps[t].to * WORDS};
        PS_TRY(on_cpu(&(ps_task_call){.data = data, .arguments = &steps[t]}));
    }
    PS_TRY(run(memory, cpus, pieces, NULL, records));
    if (memcmp(memory, expected, sizeof expected) != 0)
        return ps_fail(PS_FAILED, "round %d is not the sequence", round);
    PS_TRY(run(memory, cpus, pieces, &(ps_task_mapping){TASKS, records}, again));
    if (memcmp(memory, expected, sizeof expected) != 0)
        return ps_fail(PS_FAILED, "round %d, replayed, is not the sequence", round);
    for (int t = 0; t < TASKS; ++t)
        if (records[t].worker != again[t].worker)
            return ps_fail(PS_FAILED, "round %d, replayed: task %d moved", round, t);
    return PS_OK;
}

/* On the CPU device where there is no GPU. */
int main(void)
{
    void *memory = NULL;
    ps_status status = ps_device_open("auto", 0, &device);
    if (status == PS_OK) status = ps_device_alloc_pinned(device, (int64_t)PIECES * BYTES, &memory);
    for (int round = 0; round < 6 && status == PS_OK; ++round) status = check_round(round, memory);
    verdict_of(status, "check_task_queue");
    if (device) ps_device_free_pinned(device, memory);
    ps_device_close(&device);
    return verdict_end();
}
