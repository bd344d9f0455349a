#include "runtime/schedule_bound.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "runtime/memory.h"
#include "runtime/scope.h"

/* a/b with its task; what only GPUs run comes first, what only CPUs run last. */
typedef struct ranked {
    double ratio;
    int64_t task;
} ranked;

static int descending(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->ratio != y->ratio) return x->ratio > y->ratio ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

/* Times with a class that has no workers taken out. */
static double cpu_time(const ps_task_times *t, int64_t w) { return t->cpus ? t->cpu[w] : INFINITY; }
static double gpu_time(const ps_task_times *t, int64_t w) { return t->gpus ? t->gpu[w] : INFINITY; }

static ps_status check_times(const ps_task_times *t)
{
    if (t->cpus < 0 || t->gpus < 0 || t->cpus + t->gpus < 1)
        return ps_fail(PS_USAGE, "a bound for %d CPU and %d GPU workers", t->cpus, t->gpus);
    for (int64_t w = 0; w < t->count; ++w) {
        double a = cpu_time(t, w), b = gpu_time(t, w);
        if (!(a >= 0) || !(b >= 0))
            return ps_fail(PS_INVALID, "task %lld takes %g s or %g s", (long long)w, a, b);
        if (isinf(a) && isinf(b))
            return ps_fail(PS_INVALID, "no worker here has code for task %lld", (long long)w);
    }
    return PS_OK;
}

static double ratio_of(double a, double b)
{
    if (isinf(b)) return -1;
    if (isinf(a)) return INFINITY;
    return b > 0 ? a / b : a > 0 ? 1e300 : 0;
}

/* The certificate at a task with these times that is cut. */
static void cut_at(double a, double b, ps_schedule_bound *out, double m, double k)
{
    out->lambda = b > 0 ? 1 / (m + k * a / b) : 0;
    out->mu = b > 0 ? out->lambda * a / b : 1 / k;
}

/* The optimum from the ranking: tasks move to the GPUs until the loads meet. */
static void meet(const ps_task_times *t, const ranked *order, ps_schedule_bound *out)
{
    double cpu = 0, gpu = 0, m = t->cpus, k = t->gpus;
    int64_t i = 0;
    for (; i < t->count && isinf(order[i].ratio); ++i) gpu += t->gpu[order[i].task];
    for (int64_t n = i; n < t->count; ++n) cpu += t->cpu[order[n].task];
    *out = (ps_schedule_bound){.mu = k > 0 ? 1 / k : 0};
    bool met = gpu * m >= cpu * k && k > 0;
    for (; i < t->count && order[i].ratio >= 0 && !met; ++i) {
        double a = t->cpu[order[i].task], b = t->gpu[order[i].task], share = 1;
        met = (gpu + b) * m >= (cpu - a) * k;
        if (met) share = (cpu * k - gpu * m) / (a * k + b * m);
        if (met) cut_at(a, b, out, m, k);
        cpu -= share * a;
        gpu += share * b;
    }
    if (!met) out->lambda = 1 / m;
    if (!met) out->mu = 0;
    out->cpu_load = cpu;
    out->gpu_load = gpu;
    out->seconds = fmax(m > 0 ? cpu / m : 0, k > 0 ? gpu / k : 0);
}

ps_status ps_schedule_bound_find(const ps_task_times *times, ps_schedule_bound *out)
{
    PS_SCOPED_MEMORY ranked *order = NULL;
    PS_TRY(check_times(times));
    PS_TRY(PS_ALLOC(&order, times->count, "the tasks of a bound"));
    for (int64_t w = 0; w < times->count; ++w)
        order[w] = (ranked){ratio_of(cpu_time(times, w), gpu_time(times, w)), w};
    qsort(order, (size_t)times->count, sizeof *order, descending);
    meet(times, order, out);
    return PS_OK;
}

/* rate * seconds, infinite where there is no code, whatever the rate. */
static double priced(double rate, double seconds)
{
    return isinf(seconds) ? INFINITY : rate * seconds;
}

double ps_schedule_bound_value(const ps_task_times *times, double lambda, double mu)
{
    double sum = 0;
    for (int64_t w = 0; w < times->count; ++w)
        sum += fmin(priced(lambda, cpu_time(times, w)), priced(mu, gpu_time(times, w)));
    return sum;
}

ps_status ps_schedule_bound_check(const ps_task_times *times, const ps_schedule_bound *bound)
{
    double m = times->cpus, k = times->gpus, tolerance = 1e-10;
    double weight = m * bound->lambda + k * bound->mu;
    double value = ps_schedule_bound_value(times, bound->lambda, bound->mu);
    double room = bound->seconds * (1 + tolerance);
    if (!(bound->lambda >= 0 && bound->mu >= 0 && fabs(weight - 1) <= tolerance))
        return ps_fail(PS_FAILED, "lambda %g, mu %g are no certificate: m lambda + k mu is %.12g",
                       bound->lambda, bound->mu, weight);
    if (!(fabs(value - bound->seconds) <= tolerance * bound->seconds))
        return ps_fail(PS_FAILED, "the certificate proves %.12g s, not %.12g s", value,
                       bound->seconds);
    if (!(bound->cpu_load <= m * room && bound->gpu_load <= k * room))
        return ps_fail(PS_FAILED, "loads of %.12g s and %.12g s do not fit in %.12g s",
                       bound->cpu_load, bound->gpu_load, bound->seconds);
    return PS_OK;
}
