#include <math.h>

#include "runtime/heteroprio.h"
#include "runtime/scope.h"
#include "tests/check.h"

enum { NEAR, FAR, PLAIN }; /* kinds */
enum { NEAR_LARGE, FAR_ONE, NEAR_SMALL, PLAIN_ONE, BUCKETS };

/* CPU workers poll 3 1 2 0, GPU workers 0 2 1. */
static const ps_bucket table[BUCKETS] = {
    {NEAR, 7, 0, 10}, {FAR, 3, 2, 2}, {NEAR, 4, 1, 10}, {PLAIN, 0, -1, 0}};

static ps_heteroprio *open_of(const ps_bucket *buckets, int count, int cpus, int gpus,
                              ps_termination rule, ps_schedule_policy policy)
{
    ps_heteroprio *h;
    ps_heteroprio_config config = {.buckets = buckets,
                                   .bucket_count = count,
                                   .cpus = cpus,
                                   .gpus = gpus,
                                   .policy = policy,
                                   .termination = rule};
    check_ok(ps_heteroprio_open(&config, &h));
    return h;
}

static ps_heteroprio *open_with(int cpus, int gpus, ps_termination rule, ps_schedule_policy policy)
{
    return open_of(table, BUCKETS, cpus, gpus, rule, policy);
}

static void push(ps_heteroprio *h, int bucket, int64_t task)
{
    double gpu = bucket == FAR_ONE ? 0.5 : 0.1; /* so that s = 2 and 10 */
    check_ok(ps_heteroprio_push(h, bucket, &(ps_ready_task){task, 1, gpu, 0}));
}

static void pops(ps_heteroprio *h, ps_worker_kind kind, int count, const int64_t *expected)
{
    for (int i = 0; i < count; ++i) {
        assert_int_equal(ps_heteroprio_has(h, kind), expected[i] >= 0);
        assert_int_equal(ps_heteroprio_pop(h, kind, -1), expected[i]);
    }
}

static void by_priority_first_in_first_out(void **state)
{
    PS_SCOPED(ps_heteroprio_close)
    ps_heteroprio *h = open_with(1, 1, PS_TERMINATION_NONE, PS_SCHEDULE_HETEROPRIO);
    for (int round = 0; round < 40; ++round)
        for (int b = 0; b < BUCKETS; ++b) push(h, b, 100 * b + round);
    assert_int_equal(ps_heteroprio_waiting(h), 160);
    pops(h, PS_WORKER_CPU, 2, (int64_t[]){300, 301});
    pops(h, PS_WORKER_GPU, 2, (int64_t[]){0, 1});
    for (int i = 2; i < 40; ++i) pops(h, PS_WORKER_GPU, 1, (int64_t[]){i});
    pops(h, PS_WORKER_GPU, 2, (int64_t[]){200, 201});
    for (int i = 2; i < 40; ++i) pops(h, PS_WORKER_CPU, 1, (int64_t[]){300 + i});
    pops(h, PS_WORKER_CPU, 2, (int64_t[]){100, 101});
}

/* Buckets of one priority are one queue: in the order in which their tasks were pushed. */
static void equal_priorities_are_one_queue(void **state)
{
    static const ps_bucket equal[] = {{NEAR, 1, 1, 10}, {FAR, 0, 0, 2}, {NEAR, 2, 1, 10}};
    PS_SCOPED(ps_heteroprio_close)
    ps_heteroprio *h = open_of(equal, 3, 1, 1, PS_TERMINATION_NONE, PS_SCHEDULE_HETEROPRIO);
    for (int i = 0; i < 6; ++i) push(h, i % 2 ? 0 : 2, i);
    push(h, FAR_ONE, 6);
    pops(h, PS_WORKER_GPU, 3, (int64_t[]){6, 0, 1});
    pops(h, PS_WORKER_CPU, 2, (int64_t[]){3, 5});
    pops(h, PS_WORKER_GPU, 3, (int64_t[]){2, 4, -1});
}

/* A GPU worker takes what is for its place, of all buckets of a priority, and then what is not; CPU
 * workers take the oldest. */
static void places(void **state)
{
    static const ps_bucket equal[] = {{NEAR, 1, 1, 10}, {NEAR, 1, 1, 10}};
    PS_SCOPED(ps_heteroprio_close)
    ps_heteroprio *h = open_of(equal, 2, 1, 2, PS_TERMINATION_NONE, PS_SCHEDULE_HETEROPRIO);
    for (int i = 0; i < 8; ++i)
        check_ok(ps_heteroprio_push(h, i % 2, &(ps_ready_task){i, 1, 0.1, i / 4}));
    assert_int_equal(ps_heteroprio_pop(h, PS_WORKER_GPU, 1), 4);
    assert_int_equal(ps_heteroprio_pop(h, PS_WORKER_GPU, 1), 5);
    assert_int_equal(ps_heteroprio_pop(h, PS_WORKER_CPU, -1), 0);
    assert_int_equal(ps_heteroprio_pop(h, PS_WORKER_GPU, 0), 1);
    for (int i = 6; i < 8; ++i) assert_int_equal(ps_heteroprio_pop(h, PS_WORKER_GPU, 1), i);
    for (int i = 2; i < 4; ++i) assert_int_equal(ps_heteroprio_pop(h, PS_WORKER_GPU, 1), i);
    assert_int_equal(ps_heteroprio_pop(h, PS_WORKER_GPU, 0), -1);
}

/* Of tasks between two forecasts the one of the highest priority, for the place alone. */
static void by_length(void **state)
{
    static const ps_bucket table_of_two[] = {{NEAR, 1, 0, 10}, {FAR, 1, 1, 10}};
    PS_SCOPED(ps_heteroprio_close)
    ps_heteroprio *h = open_of(table_of_two, 2, 1, 2, PS_TERMINATION_NONE, PS_SCHEDULE_HETEROPRIO);
    for (int i = 0; i < 4; ++i) {
        check_ok(ps_heteroprio_push(h, 0, &(ps_ready_task){i, 1, 0.125, i % 2}));
        check_ok(ps_heteroprio_push(h, 1, &(ps_ready_task){10 + i, 1, 2, i % 2}));
    }
    check_near(ps_heteroprio_gpu_backlog(h), 8.5, 0, 1e-15);
    assert_int_equal(ps_heteroprio_pop_between(h, 0, 1, 3), 10);
    assert_int_equal(ps_heteroprio_pop_between(h, 1, 0.125, 3), 1);
    assert_int_equal(ps_heteroprio_pop_between(h, 0, 0, 0.125), -1);
    assert_int_equal(ps_heteroprio_pop_between(h, 0, 1, 2), -1);
    assert_int_equal(ps_heteroprio_pop_between(h, 0, 2, 2.5), 12);
    assert_int_equal(ps_heteroprio_pop_between(h, 0, 2, 2.5), -1); /* others are for place 1 */
    check_near(ps_heteroprio_gpu_backlog(h), 4.375, 0, 1e-15);
}

/* s k = 20 for near and 4 for far tasks with 2 GPUs; the paper's "#tasks >= s #GPUs". */
static void rule_of_a_bucket(void **state)
{
    PS_SCOPED(ps_heteroprio_close)
    ps_heteroprio *h = open_with(4, 2, PS_TERMINATION_BUCKET, PS_SCHEDULE_HETEROPRIO);
    for (int i = 0; i < 5; ++i) push(h, FAR_ONE, i);
    for (int i = 0; i < 12; ++i) push(h, NEAR_LARGE, 100 + i);
    for (int i = 0; i < 12; ++i) push(h, NEAR_SMALL, 200 + i);
    pops(h, PS_WORKER_CPU, 3, (int64_t[]){0, 1, -1}); /* with 3 left the bucket counts as empty */
    pops(h, PS_WORKER_GPU, 1, (int64_t[]){100});
    for (int i = 0; i < 9; ++i) push(h, NEAR_LARGE, 112 + i);
    pops(h, PS_WORKER_CPU, 2, (int64_t[]){101, -1});
    push(h, PLAIN_ONE, 300);
    pops(h, PS_WORKER_CPU, 2, (int64_t[]){300, -1});
    for (int i = 0; i < 19 + 12 + 3; ++i) assert_true(ps_heteroprio_pop(h, PS_WORKER_GPU, -1) >= 0);
    assert_int_equal(ps_heteroprio_waiting(h), 0); /* the last task found a taker */
}

static void rule_of_a_kind(void **state)
{
    PS_SCOPED(ps_heteroprio_close)
    ps_heteroprio *h = open_with(4, 2, PS_TERMINATION_KIND, PS_SCHEDULE_HETEROPRIO);
    for (int i = 0; i < 12; ++i) push(h, NEAR_LARGE, 100 + i);
    for (int i = 0; i < 9; ++i) push(h, NEAR_SMALL, 200 + i);
    pops(h, PS_WORKER_CPU, 3, (int64_t[]){200, 201, -1});
}

/* A CPU needs 1 s; the GPUs need 0.1/2 s for each near task: 20 of them outlast it, as s k says. */
static void rule_of_time(void **state)
{
    PS_SCOPED(ps_heteroprio_close)
    ps_heteroprio *h = open_with(4, 2, PS_TERMINATION_TIME, PS_SCHEDULE_HETEROPRIO);
    for (int i = 0; i < 19; ++i) push(h, NEAR_SMALL, i);
    pops(h, PS_WORKER_CPU, 1, (int64_t[]){-1});
    check_ok(ps_heteroprio_push(h, NEAR_LARGE, &(ps_ready_task){99, 40, 4, 0}));
    pops(h, PS_WORKER_CPU, 2, (int64_t[]){0, 1}); /* a long task counts for more than one */
}

/* Four times what a CPU needs, 1 s, is twice 2 GPUs' share: 1.5 s of far tasks do not make that,
 * but do with the near ones that GPUs poll first. */
static void rule_of_the_backlog(void **state)
{
    PS_SCOPED(ps_heteroprio_close)
    ps_heteroprio *h = open_with(4, 2, PS_TERMINATION_BACKLOG, PS_SCHEDULE_HETEROPRIO);
    for (int i = 0; i < 3; ++i) push(h, FAR_ONE, i);
    pops(h, PS_WORKER_CPU, 1, (int64_t[]){-1});
    for (int i = 0; i < 26; ++i) push(h, NEAR_LARGE, 100 + i);
    pops(h, PS_WORKER_CPU, 2, (int64_t[]){0, -1});
}

static void no_rule_without_gpus(void **state)
{
    for (int rule = PS_TERMINATION_NONE; rule <= PS_TERMINATION_BALANCE; ++rule) {
        PS_SCOPED(ps_heteroprio_close)
        ps_heteroprio *h = open_with(1, 0, (ps_termination)rule, PS_SCHEDULE_HETEROPRIO);
        push(h, NEAR_LARGE, 1);
        push(h, FAR_ONE, 2);
        pops(h, PS_WORKER_CPU, 3, (int64_t[]){2, 1, -1});
    }
}

static void eager_takes_the_oldest(void **state)
{
    PS_SCOPED(ps_heteroprio_close)
    ps_heteroprio *h = open_with(1, 1, PS_TERMINATION_BUCKET, PS_SCHEDULE_EAGER);
    push(h, PLAIN_ONE, 1);
    push(h, NEAR_LARGE, 2);
    push(h, FAR_ONE, 3);
    push(h, PLAIN_ONE, 4);
    pops(h, PS_WORKER_GPU, 1, (int64_t[]){2});
    pops(h, PS_WORKER_CPU, 2, (int64_t[]){1, 3});
    pops(h, PS_WORKER_GPU, 1, (int64_t[]){-1});
    pops(h, PS_WORKER_CPU, 2, (int64_t[]){4, -1});
}

/* Near tasks prove slower on the GPU than forecast, s = 4, and far ones faster, s = 20: GPU workers
 * then poll far tasks first (fmm guide 7), large near ones still before small. */
static void calibration_turns_the_order(void **state)
{
    int order[PS_BUCKETS_MAX];
    PS_SCOPED(ps_heteroprio_close)
    ps_heteroprio *h = open_with(4, 1, PS_TERMINATION_BUCKET, PS_SCHEDULE_HETEROPRIO);
    for (int b = 0; b < BUCKETS; ++b) push(h, b, b);
    ps_heteroprio_observe(h, NEAR_LARGE, PS_WORKER_GPU, 0.1, 0.25);
    ps_heteroprio_calibrate(h);
    check_near(ps_heteroprio_speedup(h, NEAR_LARGE), 10, 0, 0); /* seen on one side only */
    ps_heteroprio_observe(h, NEAR_SMALL, PS_WORKER_CPU, 2, 2);
    ps_heteroprio_observe(h, FAR_ONE, PS_WORKER_CPU, 1, 2);
    ps_heteroprio_observe(h, FAR_ONE, PS_WORKER_GPU, 0.5, 0.1);
    ps_heteroprio_calibrate(h);
    check_near(ps_heteroprio_speedup(h, NEAR_LARGE), 4, 0, 1e-14);
    check_near(ps_heteroprio_speedup(h, NEAR_SMALL), 4, 0, 1e-14);
    check_near(ps_heteroprio_speedup(h, FAR_ONE), 20, 0, 1e-14);
    assert_int_equal(ps_heteroprio_order(h, PS_WORKER_GPU, order), 3);
    assert_int_equal(order[0], FAR_ONE);
    assert_int_equal(order[1], NEAR_LARGE);
    assert_int_equal(order[2], NEAR_SMALL);
    assert_int_equal(ps_heteroprio_order(h, PS_WORKER_CPU, order), 4);
    assert_int_equal(order[0], PLAIN_ONE);
}

static void wrong_use(void **state)
{
    ps_heteroprio *h;
    ps_heteroprio_config config = {.buckets = table, .bucket_count = BUCKETS};
    check_fails(ps_heteroprio_open(&config, &h), PS_USAGE, "0 CPU and 0 GPU workers");
    config.gpus = 1;
    config.bucket_count = 1000;
    check_fails(ps_heteroprio_open(&config, &h), PS_USAGE, "1000 buckets");
    h = open_with(0, 1, PS_TERMINATION_NONE, PS_SCHEDULE_HETEROPRIO);
    check_fails(ps_heteroprio_push(h, PLAIN_ONE, &(ps_ready_task){1, 1, 1, 0}), PS_USAGE,
                "no worker here");
    check_fails(ps_heteroprio_push(h, 4, &(ps_ready_task){1, 1, 1, 0}), PS_USAGE, "bucket 4 of 4");
    ps_heteroprio_close(&h);
    ps_heteroprio_close(&h);
}

/* 4 s that only two CPU workers can do, and ten tasks of 1 s there, 0.5 s on the GPU: with n of
 * them on the cores, (4 + n)/2 <= (10 - n)/2 allows three. */
static void rule_of_balance(void **state)
{
    PS_SCOPED(ps_heteroprio_close)
    ps_heteroprio *h = open_with(2, 1, PS_TERMINATION_BALANCE, PS_SCHEDULE_HETEROPRIO);
    for (int i = 0; i < 4; ++i)
        ps_heteroprio_expect(h, PLAIN_ONE, &(ps_ready_task){i, 1, INFINITY, 0});
    for (int i = 0; i < 10; ++i) {
        ps_heteroprio_expect(h, FAR_ONE, &(ps_ready_task){100 + i, 1, 0.5, 0});
        push(h, FAR_ONE, 100 + i);
    }
    pops(h, PS_WORKER_CPU, 4, (int64_t[]){100, 101, 102, -1});
    pops(h, PS_WORKER_GPU, 2, (int64_t[]){103, 104});
    push(h, PLAIN_ONE, 0);
    pops(h, PS_WORKER_CPU, 2, (int64_t[]){0, -1});
}

/* The last tasks are for the GPU: it would have done all before a core has done two. */
static void balance_at_the_end(void **state)
{
    PS_SCOPED(ps_heteroprio_close)
    ps_heteroprio *h = open_with(2, 1, PS_TERMINATION_BALANCE, PS_SCHEDULE_HETEROPRIO);
    for (int i = 0; i < 5; ++i) {
        ps_heteroprio_expect(h, FAR_ONE, &(ps_ready_task){i, 1, 0.5, 0});
        push(h, FAR_ONE, i);
    }
    pops(h, PS_WORKER_CPU, 1, (int64_t[]){0});
    pops(h, PS_WORKER_GPU, 1, (int64_t[]){1});
    pops(h, PS_WORKER_CPU, 1, (int64_t[]){-1}); /* 1.5 s are left for the GPU, less than 2 */
    pops(h, PS_WORKER_GPU, 3, (int64_t[]){2, 3, 4});
}

/* Far tasks (s = 2) are polled first, near ones (s = 10) wait. Once two CPU workers have time for
 * all far ones that are left, the GPU leaves them: 1 s each, 0.5 s on the GPU, whose near ones take
 * 6.4 s. A far one that only the GPU takes, 0.5 s, changes nothing of that. */
static void balance_leaves_to_cpus(void **state)
{
    static const ps_bucket far_first[] = {{NEAR, 1, 2, 10}, {FAR, 0, 1, 2}, {FAR, -1, 0, 0}};
    static const ps_ready_task top = {200, INFINITY, 0.5, 0};
    PS_SCOPED(ps_heteroprio_close)
    ps_heteroprio *h = open_of(far_first, 3, 2, 1, PS_TERMINATION_BALANCE, PS_SCHEDULE_HETEROPRIO);
    ps_heteroprio_expect(h, 2, &top);
    check_ok(ps_heteroprio_push(h, 2, &top));
    for (int i = 0; i < 16; ++i) {
        ps_ready_task task = {i, 1, 0.5, 0}, near = {100 + i, 4, 0.4, 0};
        ps_heteroprio_expect(h, 1, &task);
        ps_heteroprio_expect(h, 0, &near);
        check_ok(ps_heteroprio_push(h, 1, &task));
        check_ok(ps_heteroprio_push(h, 0, &near));
    }
    /* with n far ones left: n / 2 <= 6.9 + (16 - n) / 2 from n = 14 on */
    pops(h, PS_WORKER_GPU, 4, (int64_t[]){200, 0, 1, 100});
    pops(h, PS_WORKER_CPU, 2, (int64_t[]){2, 3});
    pops(h, PS_WORKER_GPU, 1, (int64_t[]){101});
}

/* Of far tasks that would take a CPU worker longer than half of what waits takes the GPU nothing is
 * left to it: it may not take them, and they would wait for the end. */
static void balance_leaves_nothing_too_long(void **state)
{
    static const ps_bucket far_first[] = {{NEAR, 1, 1, 10}, {FAR, 0, 0, 2}};
    PS_SCOPED(ps_heteroprio_close)
    ps_heteroprio *h = open_of(far_first, 2, 8, 1, PS_TERMINATION_BALANCE, PS_SCHEDULE_HETEROPRIO);
    for (int i = 0; i < 8; ++i) {
        ps_ready_task task = {i, 2, 1, 0}, near = {100 + i, 4, 0.4, 0};
        if (i < 2) ps_heteroprio_expect(h, 1, &task);
        if (i < 2) check_ok(ps_heteroprio_push(h, 1, &task));
        ps_heteroprio_expect(h, 0, &near);
        check_ok(ps_heteroprio_push(h, 0, &near));
    }
    /* waiting: 2 + 3.2 s, then less than the 4 s that a CPU worker asks for */
    pops(h, PS_WORKER_GPU, 4, (int64_t[]){100, 101, 102, 103});
    pops(h, PS_WORKER_GPU, 1, (int64_t[]){0});
}
