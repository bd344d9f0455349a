#include <stdlib.h>

#include "runtime/schedule_bound.h"
#include "tests/check.h"

enum { TASKS = 9, ROUNDS = 300 };

static double draw(uint64_t *seed) { return 0.1 + 10 * check_random(seed); }

/* The best integral schedule on identical workers a class, by all assignments to a class and the
 * mean load of each: the linear program with tasks whole. It is not below the bound, and above it
 * by no more than the task that is cut. */
static double whole_tasks(const ps_task_times *t)
{
    double best = INFINITY;
    for (int set = 0; set < 1 << t->count; ++set) {
        double cpu = 0, gpu = 0;
        for (int w = 0; w < t->count; ++w) {
            if (set >> w & 1)
                gpu += t->gpu[w];
            else
                cpu += t->cpu[w];
        }
        if (!t->cpus && cpu > 0) continue;
        if (!t->gpus && gpu > 0) continue;
        double load = fmax(t->cpus ? cpu / t->cpus : 0, t->gpus ? gpu / t->gpus : 0);
        best = fmin(best, load);
    }
    return best;
}

/* The largest value over all certificates: the dual function is concave and piecewise linear with
 * corners where lambda a_w = mu b_w, so its corners and ends are enough. */
static double best_certificate(const ps_task_times *t)
{
    double best = 0, m = t->cpus, k = t->gpus;
    if (m > 0) best = fmax(best, ps_schedule_bound_value(t, 1 / m, 0));
    if (k > 0) best = fmax(best, ps_schedule_bound_value(t, 0, 1 / k));
    for (int64_t w = 0; w < t->count && m > 0 && k > 0; ++w) {
        double a = t->cpu[w], b = t->gpu[w];
        if (isinf(a) || isinf(b)) continue;
        double lambda = b / (m * b + k * a);
        best = fmax(best, ps_schedule_bound_value(t, lambda, lambda * a / b));
    }
    return best;
}

static void fill(double *cpu, double *gpu, int round, uint64_t *seed)
{
    for (int w = 0; w < TASKS; ++w) {
        cpu[w] = draw(seed);
        gpu[w] = round % 3 == 0 ? cpu[w] / draw(seed) : draw(seed);
        if (round % 4 == 1 && w % 3 == 0) gpu[w] = INFINITY;
        if (round % 5 == 2 && w % 4 == 1) cpu[w] = INFINITY;
    }
}

static void equals_brute_force(void **state)
{
    uint64_t seed = 3;
    for (int round = 0; round < ROUNDS; ++round) {
        double cpu[TASKS], gpu[TASKS], largest = 0;
        ps_schedule_bound bound;
        fill(cpu, gpu, round, &seed);
        ps_task_times t = {TASKS, cpu, gpu, 1 + round % 4, 1 + round % 3};
        check_ok(ps_schedule_bound_find(&t, &bound));
        check_ok(ps_schedule_bound_check(&t, &bound));
        check_near(bound.seconds, best_certificate(&t), 0, 1e-12);
        for (int w = 0; w < TASKS; ++w) largest = fmax(largest, fmin(cpu[w], gpu[w]));
        double whole = whole_tasks(&t);
        check_at_most(bound.seconds * (1 - 1e-12), whole);
        check_at_most(whole, bound.seconds + largest);
    }
}

static void one_class(void **state)
{
    double some[3] = {1, 2, 6}, none[3] = {INFINITY, INFINITY, INFINITY};
    /* the other class: not there, or idle */
    const ps_task_times cases[4] = {
        {3, some, none, 2, 0}, {3, some, none, 2, 5}, {3, none, some, 0, 3}, {3, none, some, 7, 3}};
    for (int i = 0; i < 4; ++i) {
        ps_schedule_bound bound;
        check_ok(ps_schedule_bound_find(&cases[i], &bound));
        check_near(bound.seconds, i < 2 ? 4.5 : 3, 0, 1e-15);
        check_ok(ps_schedule_bound_check(&cases[i], &bound));
    }
}

/* 2 tasks of 4 s or 1 s on one of each: x of them on the GPU, x = (2 - x) 4, T = 1.6. */
static void by_hand(void **state)
{
    double a[2] = {4, 4}, b[2] = {1, 1};
    ps_task_times t = {2, a, b, 1, 1}, empty = {0, NULL, NULL, 1, 1};
    ps_schedule_bound bound;
    check_ok(ps_schedule_bound_find(&t, &bound));
    check_near(bound.seconds, 1.6, 0, 1e-15);
    check_near(bound.lambda, 0.2, 0, 1e-15);
    check_near(bound.mu, 0.8, 0, 1e-15);
    check_ok(ps_schedule_bound_find(&empty, &bound));
    check_near(bound.seconds, 0, 0, 0);
}

static void zeros(void **state)
{
    double a[4] = {0, 1, 0, 2}, b[4] = {0, 0, 3, 1};
    ps_task_times t = {4, a, b, 1, 1};
    ps_schedule_bound bound;
    check_ok(ps_schedule_bound_find(&t, &bound));
    check_ok(ps_schedule_bound_check(&t, &bound));
    check_near(bound.seconds, 2.0 / 3, 0, 1e-12);
}

static void wrong_is_found(void **state)
{
    double a[2] = {4, 4}, b[2] = {1, 1}, bad[2] = {4, NAN}, none[2] = {INFINITY, 1};
    ps_task_times t = {2, a, b, 1, 1}, broken = {2, bad, b, 1, 1}, lost = {2, none, none, 1, 1};
    ps_schedule_bound bound;
    check_fails(ps_schedule_bound_find(&broken, &bound), PS_INVALID, "task 1");
    check_fails(ps_schedule_bound_find(&lost, &bound), PS_INVALID, "no worker here");
    check_ok(ps_schedule_bound_find(&t, &bound));
#define REFUSED(field, text)                                                                       \
    check_fails_if(bound.field, 1.001 * bound.field, ps_schedule_bound_check(&t, &bound),          \
                   PS_FAILED, text)
    REFUSED(seconds, "proves");
    REFUSED(mu, "no certificate");
    REFUSED(gpu_load, "do not fit");
#undef REFUSED
}
