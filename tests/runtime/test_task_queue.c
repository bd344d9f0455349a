#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/scope.h"
#include "runtime/task_queue.h"
#include "tests/check.h"
#include "tests/support/cpu_device.h"

enum { PIECES = 12, WORDS = 64, TASKS = 400, ACCESSES_MAX = 4 };
enum { ANYWHERE, CPU_ONLY, BUCKETS };

static const ps_bucket buckets[BUCKETS] = {{0, 1, 0, 2}, {1, 0, -1, 0}};

/* A random program over pieces of memory. */
typedef struct step {
    int64_t number;
    int count, piece[ACCESSES_MAX];
    ps_access_mode mode[ACCESSES_MAX];
    bool cpu_only;
} step;

static step steps[TASKS];
static atomic_int executed[TASKS];

static void draw_steps(uint64_t seed)
{
    for (int t = 0; t < TASKS; ++t) {
        step *s = &steps[t];
        *s = (step){.number = t, .count = 1 + (int)(check_random(&seed) * ACCESSES_MAX)};
        s->cpu_only = check_random(&seed) < 0.3;
        for (int a = 0; a < s->count; ++a) {
            s->piece[a] = (int)(check_random(&seed) * PIECES);
            s->mode[a] = check_random(&seed) < 0.6 ? PS_READ : PS_READ_WRITE;
            for (int b = 0; b < a; ++b) /* a piece appears once */
                if (s->piece[a] == s->piece[b]) s->count = a--;
            if (a + 1 >= s->count) break;
        }
        if (check_random(&seed) < 0.5 && s->mode[0] != PS_READ) s->mode[0] = PS_WRITE;
    }
}

/* Every written word becomes a mix of all words read, in an order that cannot be exchanged. */
static void compute(const step *s, void *const *data)
{
    for (int w = 0; w < WORDS; ++w) {
        uint64_t mix = (uint64_t)s->number + 1;
        for (int a = 0; a < s->count; ++a)
            if (s->mode[a] & PS_READ) mix = mix * 6364136223846793005u + ((uint64_t *)data[a])[w];
        for (int a = 0; a < s->count; ++a)
            if (s->mode[a] & PS_WRITE) ((uint64_t *)data[a])[w] = mix + (uint64_t)a;
    }
}

static ps_status run_step(const ps_task_call *call)
{
    const step *s = call->arguments;
    atomic_fetch_add(&executed[s->number], 1);
    compute(s, call->data);
    return PS_OK;
}

/* The CPU device plays the GPU: its streams run at once. */
static const ps_codelet both = {"both", 0, run_step, run_step};
static const ps_codelet cpu_code = {"cpu", 1, run_step, NULL};

typedef struct fixture {
    ps_task_queue *queue;
    ps_device *devices[4];
    uint64_t memory[PIECES][WORDS];
    ps_task_data *data[PIECES];
} fixture;

static ps_task_queue_config base_config(fixture *f, int cpus, int gpus, int64_t pieces_on_device)
{
    return (ps_task_queue_config){.scheduling = {.buckets = buckets,
                                                 .bucket_count = BUCKETS,
                                                 .cpus = cpus,
                                                 .gpus = gpus,
                                                 .termination = PS_TERMINATION_NONE},
                                  .devices = f->devices,
                                  .device_memory = pieces_on_device * WORDS * 8,
                                  .calibrate = true,
                                  .own_cores = true,
                                  .keep_edges = true};
}

static void open_fixture(fixture *f, const ps_task_queue_config *config)
{
    check_ok(ps_task_queue_open(config, &f->queue));
    for (int p = 0; p < PIECES; ++p) {
        for (int w = 0; w < WORDS; ++w) f->memory[p][w] = (uint64_t)(p * WORDS + w);
        check_ok(ps_task_data_register(f->queue, f->memory[p], WORDS * 8, &f->data[p]));
    }
}

static void start(fixture *f, int cpus, int gpus, int64_t pieces_on_device)
{
    *f = (fixture){0};
    for (int g = 0; g < gpus; ++g) f->devices[g] = cpu_device();
    ps_task_queue_config config = base_config(f, cpus, gpus, pieces_on_device);
    open_fixture(f, &config);
}

static void leave(fixture *f)
{
    ps_task_queue_close(&f->queue);
    for (int g = 0; g < 4; ++g) ps_device_close(&f->devices[g]);
}

static ps_status insert_step(fixture *f, const step *s)
{
    ps_task_access accesses[ACCESSES_MAX];
    for (int a = 0; a < s->count; ++a)
        accesses[a] = (ps_task_access){f->data[s->piece[a]], s->mode[a]};
    ps_task_spec spec = {.codelet = s->cpu_only ? &cpu_code : &both,
                         .bucket = s->cpu_only ? CPU_ONLY : ANYWHERE,
                         .level = -1,
                         .group = s->number,
                         .cpu_seconds = 2e-6,
                         .gpu_seconds = s->number % 3 ? 1e-6 : 1e-3, /* short ones and long */
                         .accesses = accesses,
                         .access_count = s->count,
                         .arguments = s,
                         .argument_bytes = sizeof *s};
    return ps_task_insert(f->queue, &spec);
}

static void run_steps(fixture *f)
{
    for (int t = 0; t < TASKS; ++t) atomic_store(&executed[t], 0);
    for (int t = 0; t < TASKS; ++t) check_ok(insert_step(f, &steps[t]));
    check_ok(ps_task_queue_wait(f->queue));
    for (int p = 0; p < PIECES; ++p) check_ok(ps_task_data_fetch(f->queue, f->data[p]));
}

static void check_against_sequence(const fixture *f)
{
    static uint64_t memory[PIECES][WORDS];
    for (int p = 0; p < PIECES; ++p)
        for (int w = 0; w < WORDS; ++w) memory[p][w] = (uint64_t)(p * WORDS + w);
    for (int t = 0; t < TASKS; ++t) {
        void *data[ACCESSES_MAX];
        for (int a = 0; a < steps[t].count; ++a) data[a] = memory[steps[t].piece[a]];
        compute(&steps[t], data);
        assert_int_equal(atomic_load(&executed[t]), 1);
    }
    assert_memory_equal(memory, f->memory, sizeof memory);
}

static bool conflict(const step *x, const step *y)
{
    for (int a = 0; a < x->count; ++a)
        for (int b = 0; b < y->count; ++b)
            if (x->piece[a] == y->piece[b] && ((x->mode[a] | y->mode[b]) & PS_WRITE)) return true;
    return false;
}

/* Every edge is a conflict, and the edges together order every pair in conflict. */
static void check_edges(fixture *f)
{
    static bool reach[TASKS][TASKS];
    PS_SCOPED_MEMORY int64_t *first = NULL, *before = NULL;
    check_ok(ps_task_queue_edges(f->queue, &first, &before));
    memset(reach, 0, sizeof reach);
    for (int t = 0; t < TASKS; ++t)
        for (int64_t e = first[t]; e < first[t + 1]; ++e) {
            int64_t b = before[e];
            assert_true(b < t && conflict(&steps[b], &steps[t]));
            reach[t][b] = true;
            for (int64_t c = 0; c < b; ++c) reach[t][c] = reach[t][c] || reach[b][c];
        }
    for (int t = 0; t < TASKS; ++t)
        for (int b = 0; b < t; ++b)
            if (conflict(&steps[b], &steps[t])) assert_true(reach[t][b]);
}

/* Dependencies in time, and no two tasks of a worker at once. */
static void check_records(fixture *f, int workers)
{
    static ps_task_record records[TASKS];
    double last[16] = {0};
    int64_t by_order[TASKS] = {0};
    PS_SCOPED_MEMORY int64_t *first = NULL, *before = NULL;
    assert_int_equal(ps_task_queue_count(f->queue), TASKS);
    ps_task_queue_records(f->queue, records);
    check_ok(ps_task_queue_edges(f->queue, &first, &before));
    for (int t = 0; t < TASKS; ++t) {
        assert_in_range(records[t].worker, 0, workers - 1);
        by_order[records[t].order] = t;
        for (int64_t e = first[t]; e < first[t + 1]; ++e)
            check_at_most(records[before[e]].end, records[t].start);
    }
    for (int i = 0; i < TASKS; ++i) {
        const ps_task_record *r = &records[by_order[i]];
        check_at_most(last[r->worker], r->start);
        check_at_most(r->start, r->end);
        last[r->worker] = r->end;
    }
}

static void run_case(int cpus, int gpus, int64_t pieces, uint64_t seed)
{
    static fixture f;
    start(&f, cpus, gpus, pieces);
    draw_steps(seed);
    run_steps(&f);
    check_against_sequence(&f);
    check_edges(&f);
    check_records(&f, cpus + gpus);
    if (gpus && pieces < PIECES) assert_true(cpus || ps_task_queue_measure(f.queue).evictions > 0);
    leave(&f);
}

static void cpu_workers(void **state)
{
    for (int cpus = 1; cpus <= 8; ++cpus) run_case(cpus, 0, 0, (uint64_t)cpus);
}

static void mixed_workers(void **state)
{
    for (int round = 0; round < 12; ++round)
        run_case(1 + round % 3, 1 + round % 4, round % 2 ? PIECES : 5, 100 + (uint64_t)round);
}

/* GPU workers alone, with room for as little as one task's data. */
static void eviction(void **state)
{
    static fixture f;
    for (int gpus = 1; gpus <= 2; ++gpus) {
        start(&f, 0, gpus, ACCESSES_MAX);
        draw_steps(7);
        for (int t = 0; t < TASKS; ++t) steps[t].cpu_only = false;
        run_steps(&f);
        check_against_sequence(&f);
        check_records(&f, gpus);
        assert_true(ps_task_queue_measure(f.queue).evictions > 0);
        leave(&f);
    }
}

/* A task that the device has no room for runs on a CPU worker, or is refused by name. */
static void too_large(void **state)
{
    static fixture f;
    for (int cpus = 0; cpus < 2; ++cpus) {
        start(&f, cpus, 1, 1);
        step s = {.count = 2, .piece = {0, 1}, .mode = {PS_READ, PS_READ_WRITE}};
        executed[0] = 0;
        check_ok(insert_step(&f, &s));
        if (cpus)
            check_ok(ps_task_queue_wait(f.queue));
        else
            check_fails(ps_task_queue_wait(f.queue), PS_EXHAUSTED, "raise --device-memory");
        assert_int_equal(executed[0], cpus);
        leave(&f);
    }
}

static ps_status fail_step(const ps_task_call *call)
{
    return ps_fail(PS_INVALID, "the number %d is not liked", *(const int *)call->arguments);
}

static void failure_ends_the_run(void **state)
{
    static const ps_codelet bad = {"bad", 0, fail_step, fail_step};
    for (int gpus = 0; gpus < 2; ++gpus) {
        static fixture f;
        start(&f, gpus ? 0 : 2, gpus, PIECES);
        int number = 13, after = 0;
        ps_task_access access = {f.data[0], PS_READ_WRITE};
        ps_task_spec spec = {.codelet = &bad,
                             .bucket = ANYWHERE,
                             .level = 4,
                             .group = 2,
                             .accesses = &access,
                             .access_count = 1,
                             .arguments = &number,
                             .argument_bytes = sizeof number};
        check_ok(ps_task_insert(f.queue, &spec));
        step s = {.number = 1, .count = 1, .mode = {PS_READ}}; /* waits for it, so never runs */
        executed[1] = 0;
        for (int i = 0; i < 50 && after == 0; ++i) after = insert_step(&f, &s);
        check_fails(ps_task_queue_wait(f.queue), PS_INVALID,
                    "task 0 (bad, level 4, group 2): the number 13 is not liked");
        check_fails(insert_step(&f, &s), PS_INVALID, "13 is not liked");
        assert_int_equal(executed[1], 0);
        leave(&f);
    }
}

/* The records of a run, given as the mapping: every worker has the same tasks in the same order. */
static void fixed_mapping(void **state)
{
    static fixture f;
    static ps_task_record once[TASKS], again[TASKS];
    f = (fixture){.devices = {cpu_device()}};
    draw_steps(5);
    ps_task_mapping mapping = {TASKS, once};
    for (int run = 0; run < 4; ++run) {
        ps_task_queue_config config = base_config(&f, 3, 1, 6);
        if (run) config.mapping = &mapping;
        open_fixture(&f, &config);
        run_steps(&f);
        check_against_sequence(&f);
        ps_task_queue_records(f.queue, run ? again : once);
        for (int t = 0; t < TASKS && run; ++t) {
            assert_int_equal(again[t].worker, once[t].worker);
            for (int b = 0; b < t; ++b)
                if (once[b].worker == once[t].worker)
                    assert_int_equal(once[b].order < once[t].order,
                                     again[b].order < again[t].order);
        }
        if (run == 3)
            check_fails(insert_step(&f, &steps[0]), PS_USAGE, "the mapping is one of 400 tasks");
        ps_task_queue_close(&f.queue);
    }
    ps_device_close(&f.devices[0]);
}

typedef struct tree_arguments {
    fixture *f;
    int depth;
    atomic_int *leaves;
} tree_arguments;

static ps_status grow_tree(const ps_task_call *call);
static const ps_codelet tree_code = {"tree", 0, grow_tree, NULL};

static ps_status insert_tree(const tree_arguments *arguments)
{
    ps_task_spec spec = {.codelet = &tree_code,
                         .bucket = CPU_ONLY,
                         .arguments = arguments,
                         .argument_bytes = sizeof *arguments};
    return ps_task_insert(arguments->f->queue, &spec);
}

static ps_status grow_tree(const ps_task_call *call)
{
    tree_arguments a = *(const tree_arguments *)call->arguments;
    if (a.depth-- == 0) {
        atomic_fetch_add(a.leaves, 1);
        return PS_OK;
    }
    PS_TRY(insert_tree(&a));
    return insert_tree(&a);
}

static void tasks_insert_tasks(void **state)
{
    static fixture f;
    atomic_int leaves = 0;
    start(&f, 4, 0, 0);
    tree_arguments root = {&f, 10, &leaves};
    check_ok(insert_tree(&root));
    check_ok(ps_task_queue_wait(f.queue));
    assert_int_equal(leaves, 1024);
    assert_int_equal(ps_task_queue_count(f.queue), 2047);
    ps_task_queue_close(&f.queue);
}

static void wrong_use(void **state)
{
    static fixture f;
    f = (fixture){0};
    ps_task_queue_config config = base_config(&f, 0, 0, 0);
    check_fails(ps_task_queue_open(&config, &f.queue), PS_USAGE, "0 CPU and 0 GPU workers");
    config.scheduling.gpus = 1;
    check_fails(ps_task_queue_open(&config, &f.queue), PS_USAGE, "without device 0");
    f.devices[0] = cpu_device();
    check_fails(ps_task_queue_open(&config, &f.queue), PS_USAGE, "no memory on its devices");
    config.device_memory = 1000;
    config.lookahead = 99;
    check_fails(ps_task_queue_open(&config, &f.queue), PS_USAGE, "at most 16");
    config.lookahead = 1;
    open_fixture(&f, &config);
    step s = {.count = 1, .mode = {PS_READ}, .cpu_only = true};
    check_fails(insert_step(&f, &s), PS_USAGE, "no worker here takes");
    ps_task_spec spec = {.codelet = &cpu_code, .bucket = ANYWHERE};
    check_fails(ps_task_insert(f.queue, &spec), PS_USAGE, "has no code for GPU workers");
    check_ok(ps_task_queue_wait(f.queue)); /* nothing was inserted */
    check_ok(ps_task_data_release(f.queue, &f.data[0]));
    assert_null(f.data[0]);
    leave(&f);
}

/* Tasks let in as others get done: progress is seen, ends with the last one, and tells of failures.
 */
static ps_status count_or_fail(const ps_task_call *call)
{
    const int64_t *number = call->arguments;
    atomic_fetch_add(&executed[0], 1);
    return *number == 70 ? ps_fail(PS_INVALID, "task 70 is bad") : PS_OK;
}

static void progress(void **state)
{
    static const ps_codelet codelet = {"some", 0, count_or_fail, NULL};
    static fixture f;
    for (int failing = 0; failing < 2; ++failing) {
        ps_task_queue_config config = base_config(&f, 2, 0, 0);
        int64_t done = -1, count = failing ? 100 : 60;
        ps_status status = PS_OK;
        check_ok(ps_task_queue_open(&config, &f.queue));
        check_ok(ps_task_queue_progress(f.queue, &done));
        assert_true(done == 0);
        atomic_store(&executed[0], 0);
        for (int64_t t = 0; t < count && status == PS_OK; ++t) {
            while (status == PS_OK && t - done > 3) {
                int64_t before = done;
                status = ps_task_queue_progress(f.queue, &done);
                assert_true(status != PS_OK || done > before);
            }
            ps_task_spec spec = {.codelet = &codelet,
                                 .bucket = CPU_ONLY,
                                 .arguments = &t,
                                 .argument_bytes = sizeof t};
            if (status == PS_OK) status = ps_task_insert(f.queue, &spec);
        }
        while (status == PS_OK && done < count)
            status = failing ? ps_task_queue_progress(f.queue, &done)
                             : ps_task_queue_watch(f.queue, 0.01, &done);
        assert_int_equal(status, failing ? PS_INVALID : PS_OK);
        if (!failing) assert_true(done == 60);
        ps_task_queue_close(&f.queue); /* tasks that were taken before the bad one end first */
        assert_true(atomic_load(&executed[0]) >= (failing ? 71 : 60));
    }
}
