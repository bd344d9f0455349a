/*
 * What a task costs beside its work: empty tasks through the task queue, insertion included, one
 * CPU worker. Independent ones, a chain, and a graph with two reads and a write each. The floor of
 * 2 us is the aim; processor seconds count the worker as well as the inserting thread.
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/task_queue.h"

enum { TASKS = 200000, PIECES = 1000, REPEATS = 3 };

static ps_status nothing(const ps_task_call *call) { return PS_OK; }

static const ps_codelet empty = {"empty", 0, nothing, NULL};
static const char *const names[3] = {"independent", "chain", "two reads and a write"};

static ps_status insert_all(ps_task_queue *queue, ps_task_data **data, int graph)
{
    for (int64_t t = 0; t < TASKS; ++t) {
        ps_task_access accesses[3] = {
            {data[graph == 0 ? t % PIECES : 0], graph == 0 ? PS_READ : PS_READ_WRITE},
            {data[(t * 7 + 1) % PIECES], PS_READ},
            {data[(t * 13 + 5) % PIECES], PS_READ}};
        if (graph == 2) accesses[0].data = data[t % PIECES];
        ps_task_spec spec = {.codelet = &empty,
                             .accesses = accesses,
                             .access_count = graph == 2 ? 3 : 1,
                             .arguments = &t,
                             .argument_bytes = sizeof t};
        PS_TRY(ps_task_insert(queue, &spec));
    }
    return ps_task_queue_wait(queue);
}

static ps_status measure(int graph, double *wall, double *processor)
{
    static ps_task_data *data[PIECES];
    static const ps_bucket bucket = {0, 0, -1, 0};
    ps_task_queue_config config = {
        .scheduling = {.buckets = &bucket, .bucket_count = 1, .cpus = 1}};
    ps_task_queue *queue;
    PS_TRY(ps_task_queue_open(&config, &queue));
    ps_status status = PS_OK;
    for (int p = 0; p < PIECES && status == PS_OK; ++p)
        status = ps_task_data_register(queue, NULL, 0, &data[p]);
    double start = ps_clock(), used = ps_processor_seconds();
    if (status == PS_OK) status = insert_all(queue, data, graph);
    *wall = ps_clock() - start;
    *processor = ps_processor_seconds() - used;
    ps_task_queue_close(&queue);
    return status;
}

static void record(const char *what, const char *graph, double seconds)
{
    double value = 1e6 * seconds / TASKS;
    printf("{\"case\": \"runtime-tasks\", \"quantity\": \"%s a task, %s\", \"value\": %.4f, "
           "\"unit\": \"us\", \"floor\": 2, \"fraction\": %.3f, \"size\": \"%d tasks\", "
           "\"device\": \"cpu\", \"revision\": \"%s\"}\n",
           what, graph, value, value / 2, TASKS, ps_revision());
}

int main(void)
{
    for (int graph = 0; graph < 3; ++graph) {
        double best[2] = {1e9, 1e9};
        for (int r = 0; r < REPEATS; ++r) {
            double wall, processor;
            if (measure(graph, &wall, &processor) != PS_OK) {
                fprintf(stderr, "bench_runtime_tasks: %s\n", ps_message());
                return 1;
            }
            if (wall < best[0]) best[0] = wall;
            if (processor < best[1]) best[1] = processor;
        }
        record("wall time", names[graph], best[0]);
        record("processor time", names[graph], best[1]);
    }
    return 0;
}
