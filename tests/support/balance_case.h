/*
 * balance_case: the simulation of Table 1 of Bramas, Coulaud, Sylvand (2014): workers with virtual
 * times (a factor times the sum of the costs of their interval), balanced by ps_worker_balance,
 * against the optimum over all contiguous intervals. The costs and the factors are those of the
 * guide, as the paper gives no numbers.
 */
#ifndef PS_TESTS_SUPPORT_BALANCE_CASE_H
#define PS_TESTS_SUPPORT_BALANCE_CASE_H

#include <math.h>
#include <stdint.h>

#include "runtime/scope.h"
#include "runtime/worker_balance.h"
#include "tests/support/random.h"

enum {
    BALANCE_WORKERS = 6,
    BALANCE_ITEMS = 10000,
    BALANCE_ITERATIONS = 40,
    BALANCE_COSTS = 5,
    BALANCE_FACTORS = 5
};

static const char *const balance_cost_names[BALANCE_COSTS] = {"up-down", "up-up", "up", "random",
                                                              "stable"};
static const char *const balance_factor_names[BALANCE_FACTORS] = {"equal", "1..6", "one 10",
                                                                  "1, 10", "random"};

/* before[k]: sum of the costs of the items before k, k = 0 .. BALANCE_ITEMS. */
static inline void balance_costs(int kind, uint64_t seed, double *before)
{
    before[0] = 0;
    for (int k = 0; k < BALANCE_ITEMS; ++k) {
        double x = (double)k / (BALANCE_ITEMS - 1);
        double shape[BALANCE_COSTS] = {1 - fabs(2 * x - 1), fmod(2 * x, 1), x, check_random(&seed),
                                       0};
        before[k + 1] = before[k] + 1 + 9 * shape[kind];
    }
}

static inline void balance_factors(int kind, uint64_t seed, double *factors)
{
    for (int i = 0; i < BALANCE_WORKERS; ++i) {
        double kinds[BALANCE_FACTORS] = {1, i + 1, i == 0 ? 10 : 1, i % 2 ? 10 : 1,
                                         1 + 9 * check_random(&seed)};
        factors[i] = kinds[kind];
    }
}

/* The end of the longest interval from `begin` on whose costs do not exceed `limit`. */
static inline int balance_reach(const double *before, int begin, double limit)
{
    int low = begin, high = BALANCE_ITEMS;
    while (low < high) {
        int middle = low + (high - low + 1) / 2;
        if (before[middle] - before[begin] <= limit)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The smallest largest time over all contiguous intervals, by bisection on it. */
static inline double balance_optimum(const double *before, const double *factors)
{
    double low = 0, high = before[BALANCE_ITEMS] * factors[0];
    while (high - low > 1e-12 * high) {
        double middle = low + (high - low) / 2;
        int begin = 0;
        for (int i = 0; i < BALANCE_WORKERS; ++i)
            begin = balance_reach(before, begin, middle / factors[i]);
        if (begin == BALANCE_ITEMS)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Virtual times with the intervals as they are; returns the largest. */
static inline double balance_times(const ps_worker_balance *balance, const double *before,
                                   const double *factors, double *seconds)
{
    double largest = 0;
    for (int i = 0; i < BALANCE_WORKERS; ++i) {
        int64_t first, end;
        ps_worker_balance_interval(balance, i, &first, &end);
        seconds[i] = factors[i] * (before[end] - before[first]);
        largest = fmax(largest, seconds[i]);
    }
    return largest;
}

typedef struct balance_outcome {
    double optimum;
    double equal, last, rolled_back; /* largest times: at the start, in the last iteration, at the
                                        end */
} balance_outcome;

typedef struct balance_case {
    int costs, factors; /* indices into the names */
    uint64_t seed;
} balance_case;

/* BALANCE_ITERATIONS of one case, by the published rule alone if `plain`. */
static inline ps_status balance_simulate(const balance_case *item, bool plain, balance_outcome *out)
{
    static double before[BALANCE_ITEMS + 1];
    double factors[BALANCE_WORKERS], seconds[BALANCE_WORKERS];
    PS_SCOPED(ps_worker_balance_close) ps_worker_balance *balance = NULL;
    ps_worker_balance_config config = {.workers = BALANCE_WORKERS,
                                       .items = BALANCE_ITEMS,
                                       .iterations = BALANCE_ITERATIONS,
                                       .plain = plain};
    *out = (balance_outcome){.optimum = 0};
    balance_costs(item->costs, item->seed, before);
    balance_factors(item->factors, item->seed + 1, factors);
    out->optimum = balance_optimum(before, factors);
    PS_TRY(ps_worker_balance_open(&config, &balance));
    for (int n = 0; n < BALANCE_ITERATIONS; ++n) {
        out->last = balance_times(balance, before, factors, seconds);
        if (n == 0) out->equal = out->last;
        PS_TRY(ps_worker_balance_update(balance, seconds));
    }
    out->rolled_back = balance_times(balance, before, factors, seconds);
    return PS_OK;
}

/* What a time costs over the optimum, percent. */
static inline double balance_extra(const balance_outcome *outcome, double time)
{
    return 100 * (time / outcome->optimum - 1);
}

#endif
